"""Finding the best documents for a query by the sketches of their vectors, without scoring all documents.

A sketch gives an estimate of each score with a bound of its error. Documents with high estimates are scored first; then those that may reach
the worst of the best. So the documents, scores and ties are those of scoring all. `find=approximate` looks only into the clusters nearest
to the query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sublex.representations.sketch import LARGEST_CODE, Sketch
from sublex.scores import NO_OPINION

# The share of the documents that `find=approximate` looks at.
SHARE = 0.1
# Scores differ from cosines by less than this, by the contract of `cosines`.
SLACK = 1e-5
# With more than this share of all documents wanted, all are scored.
MOST_WANTED = 0.25
# Returns the scores of documents.
Score = Callable[[np.ndarray], np.ndarray]


class Sketched(NamedTuple):
    """A segment with its sketch, if it has one: the number of its first document, and which documents are deleted.

    `live` tells whether the document at each place of the sketch is live.
    """

    base: int
    dead: np.ndarray
    sketch: Sketch | None
    live: np.ndarray


def sketched(base: int, dead: np.ndarray, sketch: Sketch | None) -> Sketched:
    """Return a segment, given which of its documents are deleted, with its sketch."""
    return Sketched(base, dead, sketch, np.zeros(0, np.bool_) if sketch is None else ~dead[sketch.docs])


class Ranges(NamedTuple):
    """The places of a segment that a query looks at, in ranges, with the estimates of their scores; `-inf` for deleted documents.

    `norm`, `tail` and `slack` bound the error of an estimate, as `kernels.reaching` says.
    """

    segment: Sketched
    begins: np.ndarray
    ends: np.ndarray
    estimates: np.ndarray
    norm: float
    tail: float
    slack: float


def find(
    segments: Sequence[Sketched], query: np.ndarray, score: Score, depth: int, exact: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return documents with their scores; among them are the `depth` live ones with the highest scores, and all that tie with the last.

    Without `exact` a few of them may be missing. Return None if it is better to score all documents.
    """
    from sublex.representations import kernels

    length = float(np.linalg.norm(query))
    docs = sum(len(segment.dead) for segment in segments)
    if not 0 < length < np.inf or depth > MOST_WANTED * docs or not any(segment.sketch for segment in segments):
        return None
    counts = np.zeros(kernels.BUCKETS, np.int64)
    looked = [_estimated(segment, query / length, exact, counts) for segment in segments if segment.sketch]
    reached = np.flatnonzero(np.cumsum(counts[::-1]) >= depth)
    lowest = len(counts) - 1 - int(reached[0]) if len(reached) else 0
    others = [segment.base + np.flatnonzero(~segment.dead) for segment in segments if not segment.sketch]
    first = np.concatenate([*others, *(_high(ranges, lowest) for ranges in looked)])
    scores = score(first)
    least = np.partition(scores, len(scores) - depth)[len(scores) - depth] if len(scores) >= depth else NO_OPINION
    second = np.concatenate([_reaching(ranges, lowest, float(least)) for ranges in looked])
    return np.concatenate([first, second]), np.concatenate([scores, score(second)])


def _estimated(segment: Sketched, unit: np.ndarray, exact: bool, counts: np.ndarray) -> Ranges:
    """Return the places of a segment that a query of norm 1 looks at, with the estimates of their scores."""
    from sublex.representations import kernels

    sketch = segment.sketch
    assert sketch is not None
    entries = sketch.projected(unit)
    levels = min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (LARGEST_CODE * len(entries)))
    scale = max(float(np.abs(entries).max()) / levels, np.finfo(np.float32).tiny)
    rounded = np.rint(entries / scale)
    begins, ends = _ranges(sketch, entries, exact)
    estimates = np.empty(int((ends - begins).sum()), np.float32)
    kernels.estimate(
        sketch.codes, rounded.astype(np.int16), sketch.scales, segment.live, begins, ends, scale, estimates, counts
    )
    # q·x = p·y + the product of what the projection leaves out of both, and p·y - p̂·ŷ = p·(y - ŷ) + (p - p̂)·ŷ.
    lost = float(np.linalg.norm(entries - rounded * scale))
    norm = float(np.linalg.norm(entries))
    tail = float(np.sqrt(max(0.0, 1.0 - norm * norm))) + SLACK
    return Ranges(segment, begins, ends, estimates, norm + lost, tail, lost + SLACK)


def _ranges(sketch: Sketch, entries: np.ndarray, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranges of places to look at: all places, or the clusters nearest to the query."""
    if exact:
        return sketch.starts[:1], sketch.starts[-1:]
    order = np.argsort(-(sketch.centroids @ entries.astype(np.float32)), kind="stable")
    looked = np.cumsum(np.diff(sketch.starts)[order])
    nearest = order[: int(np.searchsorted(looked, SHARE * len(sketch.docs))) + 1]
    return sketch.starts[nearest], sketch.starts[nearest + 1]


def _high(ranges: Ranges, lowest: int) -> np.ndarray:
    """Return the documents with estimates in the bucket `lowest` or a higher one."""
    from sublex.representations import kernels

    places = np.empty(len(ranges.estimates), np.int64)
    count = kernels.in_high_buckets(ranges.estimates, ranges.begins, ranges.ends, lowest, places)
    return _docs(ranges, places[:count])


def _reaching(ranges: Ranges, lowest: int, least: float) -> np.ndarray:
    """Return the documents with lower estimates whose scores may be `least` or more."""
    from sublex.representations import kernels

    places = np.empty(len(ranges.estimates), np.int64)
    sketch = ranges.segment.sketch
    assert sketch is not None
    count = kernels.reaching(
        ranges.estimates, ranges.begins, ranges.ends, lowest, sketch.errors, sketch.tails,
        ranges.norm, ranges.tail, ranges.slack, least, places,
    )  # fmt: skip
    return _docs(ranges, places[:count])


def _docs(ranges: Ranges, places: np.ndarray) -> np.ndarray:
    """Return the documents at places of a segment, ascending."""
    assert ranges.segment.sketch is not None
    return ranges.segment.base + np.sort(ranges.segment.sketch.docs[places]).astype(np.int64)
