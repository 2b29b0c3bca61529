"""Read the vectors of a folder that Pyserini writes: a flat index of Faiss in `index`, and its docnos in `docid`.

Faiss itself is not needed. Only flat indexes are read, because other kinds of indexes change the vectors.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sublex.errors import InputError
from sublex.tools.plain_files import open_plain
from sublex.vectors.batch import VectorsBatch, expect_width
from sublex.vectors.npy import read_ids

INDEX, IDS = "index", "docid"
# The codes of flat indexes for inner products, for L2, and for other metrics.
FLAT = (b"IxFI", b"IxF2", b"IxFl")
# The header: the width, the number of vectors, two numbers without a meaning, whether the index is trained, and the metric.
HEADER = struct.Struct("<iqqq?i")
SIZE = struct.Struct("<Q")
# A metric with a number above this has an argument, a float32, after the header.
PLAIN_METRICS = 1


def is_faiss(folder: str) -> bool:
    """Return whether a folder has the files `index` and `docid`."""
    return all((Path(folder) / name).is_file() for name in (INDEX, IDS))


def read_faiss(folder: str, memory: int) -> Iterator[VectorsBatch]:
    """Yield the vectors of a folder, mapped from its file.

    `memory` is the largest number of bytes that the docnos may take.
    """
    path = str(Path(folder) / INDEX)
    ids = read_ids(str(Path(folder) / IDS), memory)
    try:
        with open_plain(path) as stream:
            size = Path(path).stat().st_size
            code = stream.read(4)
            if code not in FLAT:
                raise InputError(
                    f"{path} is no flat index of Faiss, and only those keep the vectors; give the vectors themselves."
                )
            head = stream.read(HEADER.size)
            if len(head) < HEADER.size:
                raise InputError(f"{path} is cut short; copy it again.")
            width, count, _, _, _, metric = HEADER.unpack(head)
            if metric > PLAIN_METRICS:
                stream.read(4)
            expect_width(width, path)
            raw = stream.read(SIZE.size)
            numbers = SIZE.unpack(raw)[0] if len(raw) == SIZE.size else -1
            begin = stream.tell()
            if count < 0 or numbers != count * width or size - begin != 4 * numbers:
                raise InputError(
                    f"{path} claims {count:,} vectors of {width:,} numbers and has {max(0, size - begin):,} bytes of them; "
                    "is it whole?"
                )
            if len(ids) != count:
                raise InputError(f"{folder} has {count:,} vectors and {len(ids):,} docnos; copy it again.")
            rows = np.memmap(stream, "<f4", "r", begin, (count, width)) if count else np.zeros((0, width), np.float32)  # type: ignore[call-overload]
            yield VectorsBatch(ids, rows, path, mapped=True)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
