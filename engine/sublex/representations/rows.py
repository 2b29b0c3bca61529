"""The rows that a model gives to documents: dense or sparse, one a document, kept by segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sublex.errors import IndexCorrupt, PluginError
from sublex.fitted import Rows
from sublex.index.format import FolderWriter
from sublex.representations.model_store import StoreReader, StoreWriter

ROWS = "rows"


def write_rows(path: Path, parts: Iterable[Rows]) -> Mapping[str, Any]:
    """Keep the rows of a segment, which come some at a time; what the manifest must say of them."""
    with FolderWriter(path) as folder:
        store = StoreWriter(folder)
        store.put_rows(ROWS, parts)
        return store.finish()


def rows_in(path: Path, entry: Mapping[str, Any]) -> Rows:
    """The rows of a segment."""
    rows = StoreReader(path, entry).get(ROWS)
    if not hasattr(rows, "shape") or not rows.shape:
        raise IndexCorrupt(f"{path} is damaged; fit it again.")
    return rows


def read_rows(path: Path, entry: Mapping[str, Any], docs: int) -> Rows:
    """The rows of a segment of so many documents."""
    rows = rows_in(path, entry)
    if rows.shape[0] != docs:
        raise IndexCorrupt(f"{path} has rows for {rows.shape[0]:,} documents of {docs:,}; fit it again.")
    return rows


def checked_rows(rows: Any, docs: int, name: str) -> Rows:
    """What a plugin gave as rows, if it is that."""
    shape = getattr(rows, "shape", None) or (type(rows).__name__,)
    if shape[0] != docs or len(shape) > 2 or 0 in shape[1:]:
        raise PluginError(f"{name} encoded {docs:,} documents as {shape}, and not as one row a document.")
    if hasattr(rows, "tocsr"):
        from scipy.sparse import csr_array

        rows = csr_array(rows)
        if rows.nnz and not 0 <= rows.indices.min() <= rows.indices.max() < rows.shape[1]:
            raise PluginError(f"{name} encoded documents as sparse rows with columns beyond {rows.shape[1]:,}.")
    values = rows.data if hasattr(rows, "indptr") else np.asarray(rows)
    if values.dtype.kind not in "fiu":
        raise PluginError(f"{name} encoded documents as {values.dtype}; rows are of whole numbers or floats.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise PluginError(f"{name} encoded documents as numbers that are not finite.")
    return rows if hasattr(rows, "indptr") else values


def kind_of_rows(rows: Rows) -> tuple[Any, ...]:
    """What all rows of a model have in common."""
    return hasattr(rows, "indptr"), rows.dtype, rows.shape[1:]


def zero_rows(like: Rows, docs: int) -> Rows:
    """Rows of zeros, for documents that have none."""
    if hasattr(like, "indptr"):
        from scipy.sparse import csr_array

        return csr_array((docs, like.shape[1]), dtype=like.dtype)
    return np.zeros((docs, *like.shape[1:]), like.dtype)


def stacked(parts: Sequence[Rows]) -> Rows:
    """Rows under one another."""
    if len(parts) == 1:
        return parts[0]
    if hasattr(parts[0], "indptr"):
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack(parts))
    return np.concatenate(parts)
