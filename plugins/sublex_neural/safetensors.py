"""Read the arrays of a safetensors file with NumPy alone. The header is checked before any array is made.

The file begins with the length of its header in 8 bytes, little-endian. Then come the header in JSON, and the values:
https://github.com/huggingface/safetensors, "Format".
"""

from __future__ import annotations

import math
import mmap
import struct
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex_neural.files import json_of, open_file

DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1",
    "BF16": "<u2", "BOOL": "?",
}  # fmt: skip
# The most bytes of a header, and the most axes of an array.
LONGEST_HEADER = 1 << 24
MOST_AXES = 8


def read_arrays(path: str) -> dict[str, np.ndarray]:
    """Return the arrays of a file by name, memory-mapped and read-only. Arrays in BF16 are converted to float32.

    Raise `InputError` if the header does not fit the rest of the file.
    """
    with open_file(path) as file:
        size = file.seek(0, 2)
        if size < 8:
            raise _damaged(path, "it has fewer than 8 bytes")
        file.seek(0)
        (length,) = struct.unpack("<Q", file.read(8))
        if length > min(size - 8, LONGEST_HEADER):
            raise _damaged(path, f"it claims a header of {length:,} bytes, and has {size:,} bytes in all")
        header = json_of(file.read(length), path)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = 8 + length
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    spans = {name: _span(name, entry, size - begin, path) for name, entry in entries.items()}
    ends = 0
    for first, last in sorted((span[2], span[3]) for span in spans.values()):
        if first < ends:
            raise _damaged(path, "two of its arrays overlap")
        ends = last
    return {name: _array(data, begin, *span) for name, span in spans.items()}


def _span(name: str, entry: Any, size: int, path: str) -> tuple[str, tuple[int, ...], int, int]:
    """Return the type and the shape of an array, and the begin and the end of its values, as the header states them.

    They are checked against the size of the file.
    """
    if not isinstance(entry, dict):
        raise _damaged(path, f"it does not describe the array {name[:60]!r}")
    kind, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(kind, str) or kind not in DTYPES:
        raise InputError(
            f"{path} has the array {name[:60]!r} of the type {str(kind)[:20]}, which Sublex does not read."
        )
    if not (isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2) or not all(
        type(number) is int and 0 <= number < 1 << 62 for number in (*shape, *offsets)
    ):
        raise _damaged(path, f"it gives the array {name[:60]!r} no shape and place in whole numbers")
    first, last = offsets
    if not first <= last <= size or len(shape) > MOST_AXES:
        raise _damaged(path, f"the array {name[:60]!r} lies outside of the file")
    # An array without values may claim any size beside a 0.
    claimed = math.prod(shape) if math.prod(size or 1 for size in shape) < 1 << 59 else -1
    if claimed * np.dtype(DTYPES[kind]).itemsize != last - first:
        raise _damaged(path, f"the shape of the array {name[:60]!r} does not fit its {last - first:,} bytes")
    return kind, tuple(shape), first, last


def _array(data: mmap.mmap, begin: int, kind: str, shape: tuple[int, ...], first: int, last: int) -> np.ndarray:
    """Return an array of the file. `begin` is the place of the first value."""
    dtype = np.dtype(DTYPES[kind])
    array = np.frombuffer(data, dtype, (last - first) // dtype.itemsize, begin + first).reshape(shape)
    if kind == "BF16":  # The upper half of a float32.
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def _damaged(path: str, reason: str) -> InputError:
    return InputError(f"{path} is no sound safetensors file: {reason}.")
