"""Place the words of a small graph: each connected part by the distances in the graph, then the parts side by side in
rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

# Pixels: the length of an edge, the height of a line of words, the space between words side by side, and the space
# between parts.
EDGE, LINE, BESIDE, GAP = 95.0, 26.0, 34.0, 26.0
# The number of steps of stress majorisation, and the largest number of rounds in which overlapping words are moved
# apart.
STEPS, ROUNDS = 200, 400


def place_words(
    widths: Sequence[float], edges: Sequence[tuple[int, int]], width: float, phrases: Sequence[tuple[int, int]] = ()
) -> tuple[np.ndarray, float]:
    """Return the middle of each word in pixels, and the height of the drawing. No two words overlap.

    `widths` has the widths of the words, `edges` has pairs of word numbers, and `width` is the width of the drawing.
    `phrases` has those edges whose first word should stand to the left of the second; most of them do.
    """
    size, wide = len(widths), np.asarray(widths, np.float64)
    first, second = np.array(edges, np.int64).reshape(-1, 2).T
    adjacent = csr_array((np.ones(len(first)), (first, second)), shape=(size, size))
    count, part = connected_components(adjacent, directed=False)
    places = np.zeros((size, 2))
    boxes = []
    for number in range(count):
        words = np.flatnonzero(part == number)
        inside = adjacent[words][:, words]
        own = np.array([pair for pair in phrases if part[pair[0]] == number], np.int64).reshape(-1, 2)
        ordered = np.searchsorted(words, own).tolist()
        points = _by_distances(shortest_path(inside, directed=False, unweighted=True))
        points = _spread(_in_reading_order(points, ordered), wide[words])
        low = (points - np.stack([wide[words], np.full(len(words), LINE)], axis=1) / 2).min(axis=0)
        high = (points + np.stack([wide[words], np.full(len(words), LINE)], axis=1) / 2).max(axis=0)
        places[words] = points - low
        boxes.append((float(high[1] - low[1]), float(high[0] - low[0]), words))
    x = y = GAP
    row = 0.0
    for tall, broad, words in sorted(boxes, key=lambda box: (-box[0], -box[1], box[2][0])):
        if x > GAP and x + broad + GAP > width:
            x, y, row = GAP, y + row + GAP, 0.0
        places[words] += (x, y)
        x, row = x + broad + GAP, max(row, tall)
    return places, y + row + GAP


def _by_distances(distances: np.ndarray) -> np.ndarray:
    """Return points for words whose distances on the plane are close to `distances`, which count edges.

    The method is stress majorisation (Gansner, Koren and North 2004).
    """
    size = len(distances)
    if size == 1:
        return np.zeros((1, 2))
    wanted = distances * EDGE
    weights = np.divide(1, wanted**2, out=np.zeros_like(wanted), where=wanted > 0)
    angles = 2 * np.pi * np.arange(size) / size
    points = EDGE * np.sqrt(size) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(STEPS):
        apart = points[:, None] - points
        lengths = np.sqrt((apart**2).sum(axis=2))
        pull = weights * np.divide(wanted, lengths, out=np.zeros_like(lengths), where=lengths > 1e-9)
        points = inverse @ (np.diag(pull.sum(axis=1)) - pull) @ points
    return points


def _in_reading_order(points: np.ndarray, phrases: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the points, turned so that the longer side is horizontal and the words of phrases stand from left to
    right.

    The drawing is mirrored if that is better. Then two words change places where that leaves fewer wrong pairs.
    """
    centred = points - points.mean(axis=0)
    points = centred @ np.linalg.svd(centred, full_matrices=True)[2].T

    def wrong(placed: np.ndarray) -> int:
        return sum(placed[first, 0] >= placed[second, 0] for first, second in phrases)

    mirrored = points * (-1, 1)
    points = mirrored if wrong(mirrored) < wrong(points) else points
    for first, second in phrases:
        swapped = points.copy()
        swapped[[first, second]] = points[[second, first]]
        if wrong(swapped) < wrong(points):
            points = swapped
    return points


def _spread(points: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Return the points after overlapping words were moved apart. `widths` are the widths of the words.

    Two words that overlap are moved apart along the axis on which the shorter move is enough.
    """
    for _ in range(ROUNDS):
        moved = False
        for i in range(len(points)):
            for j in range(i):
                apart = points[i] - points[j]
                missing = np.array([(widths[i] + widths[j]) / 2 + BESIDE, LINE]) - np.abs(apart)
                if (missing > 1e-6).all():
                    axis = int(missing[1] < missing[0])
                    shift = missing[axis] / 2 * (1.0 if apart[axis] >= 0 else -1.0)
                    points[i, axis] += shift
                    points[j, axis] -= shift
                    moved = True
        if not moved:
            break
    return points
