"""Docnos on disk: their bytes, and the documents in the order of these bytes, by which ties are broken and docnos are found."""

from __future__ import annotations

import numpy as np

from sublex.index.format import FolderWriter, smallest

# Docnos up to this length are sorted as big-endian words, which is fast.
SHORT = 64
ROWS = 1 << 16


def write_docnos(folder: FolderWriter, pieces: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Write docnos given in pieces, each an arena and sizes."""
    arena = np.concatenate([np.empty(0, np.uint8), *(arena for arena, _ in pieces)])
    sizes = np.concatenate([np.empty(0, np.int64), *(sizes for _, sizes in pieces)])
    folder.put("docnos", arena)
    folder.put("docno_sizes", smallest(sizes))
    folder.put("docno_order", smallest(byte_order(arena, sizes)))


def byte_order(arena: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The places of the strings in ascending order of their bytes; equal ones keep theirs."""
    starts = np.cumsum(sizes) - sizes
    longest = int(sizes.max()) if len(sizes) else 0
    if longest > SHORT:
        data, bounds = arena.tobytes(), list(zip(starts.tolist(), (starts + sizes).tolist(), strict=True))
        strings = [data[begin:end] for begin, end in bounds]
        return np.fromiter(sorted(range(len(strings)), key=strings.__getitem__), np.int64, len(strings))
    width = max(8, -(-longest // 8) * 8)
    words = np.zeros((len(sizes), width), np.uint8)
    columns = np.arange(width)
    for row in range(0, len(sizes), ROWS):
        inside = columns < sizes[row : row + ROWS, None]
        words[row : row + ROWS][inside] = arena[starts[row] : starts[row] + int(inside.sum())]
    keys = words.view(">u8").astype(np.uint64)
    return np.lexsort((sizes, *keys.T[::-1]))
