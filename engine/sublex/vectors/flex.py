"""Read the vectors of a FlexIndex, the folder in which PyTerrier's package pyterrier_dr keeps them.

It has `vecs.f4` with float32 numbers, `docnos.npids`, and `pt_meta.json` with the width and the number of vectors.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sublex.errors import InputError
from sublex.tools.plain_files import open_plain
from sublex.vectors.batch import VectorsBatch, expect_width
from sublex.vectors.npids import read_npids

META, VECTORS, IDS = "pt_meta.json", "vecs.f4", "docnos.npids"
# The largest size in bytes of the file of settings.
LONGEST_META = 1 << 20


def is_flex(folder: str) -> bool:
    """Return whether a folder has the files of a FlexIndex."""
    return all((Path(folder) / name).is_file() for name in (META, VECTORS))


def read_flex(folder: str, memory: int) -> Iterator[VectorsBatch]:
    """Yield the vectors of a folder, mapped from its file.

    `memory` is the largest number of bytes that the docnos may take.
    """
    path = str(Path(folder) / VECTORS)
    count, width = _sizes(str(Path(folder) / META))
    expect_width(width, path)
    try:
        with open_plain(path) as stream:
            size = os.fstat(stream.fileno()).st_size
            if size != 4 * count * width:
                raise InputError(
                    f"{folder} claims {count:,} vectors of {width:,} numbers and has {size:,} bytes of them; is it whole?"
                )
            ids = read_npids(str(Path(folder) / IDS), count, memory)
            rows = np.memmap(stream, "<f4", "r", 0, (count, width)) if count else np.zeros((0, width), np.float32)  # type: ignore[call-overload]
            yield VectorsBatch(ids, rows, path, mapped=True)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None


def _sizes(path: str) -> tuple[int, int]:
    """Return the number of vectors and their width, which the file `pt_meta.json` states."""
    try:
        with open_plain(path) as stream:
            found = json.loads(stream.read(LONGEST_META))
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is no sound JSON; write the index of PyTerrier again.") from None
    if not isinstance(found, dict) or (found.get("type"), found.get("format")) != ("dense_index", "flex"):
        raise InputError(
            f"{path} describes no FlexIndex of PyTerrier, which has the type dense_index and the format flex."
        )
    count, width = found.get("doc_count"), found.get("vec_size")
    if type(count) is not int or type(width) is not int or count < 0:
        raise InputError(f"{path} gives no doc_count and no vec_size; write the index of PyTerrier again.")
    return count, width
