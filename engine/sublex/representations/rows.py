"""The rows that a model gives to documents.

A document has a dense row, a sparse row or a matrix; rows are stored by segment. The module writes, reads and checks
rows; it does not compute them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sublex.contracts.fitted import Representation, Rows
from sublex.contracts.stored import ANY_TYPE, Numbers, Sizes
from sublex.errors import IndexCorrupt, PluginError
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import FolderWriter
from sublex.representations.model_store import StoreReader, StoreWriter
from sublex.vectors.matrices import Matrices

# The name under which a store holds the rows of a segment.
ROWS_VALUE = "rows"
# Rows of finite numbers, of any shape and type.
ANY_ROWS = Numbers(None, ANY_TYPE, sparse=None, matrices=None)


def write_rows(directory: Directory, blocks: Iterable[Rows]) -> FolderEntry:
    """Write the rows of a segment, given in blocks, and return the manifest's entry for them."""
    with FolderWriter(directory) as folder:
        store = StoreWriter(folder)
        store.put_rows(ROWS_VALUE, blocks)
        return store.finish()


def rows_in(directory: Directory, entry: FolderEntry, declared: Numbers = ANY_ROWS) -> Rows:
    """Return all rows in a folder. `entry` is the result of `write_rows`.

    Raise `IndexCorrupt` if the rows do not fit `declared`, the declaration of one row.
    """
    shape = declared.shape if declared.shape is None else (None, *declared.shape)
    rows = StoreReader(directory, entry).checked(ROWS_VALUE, declared._replace(shape=shape), Sizes())
    if not rows.shape:
        raise IndexCorrupt(f"{directory.path / ROWS_VALUE}.npy has no row for each document; fit it again.")
    return rows


def read_rows(directory: Directory, entry: FolderEntry, docs: int, declared: Numbers = ANY_ROWS) -> Rows:
    """Return the rows of a segment of `docs` documents, as `rows_in` does.

    Raise `IndexCorrupt` unless there is one row for each document, and all fit `declared`.
    """
    rows = rows_in(directory, entry, declared)
    if rows.shape[0] != docs:
        raise IndexCorrupt(f"{directory.path} has rows for {rows.shape[0]:,} documents of {docs:,}; fit it again.")
    return rows


def declared_rows(model: Representation) -> Numbers:
    """Return a model's declaration of its rows. Without a declaration, rows may have any finite numbers."""
    return model.row_values or ANY_ROWS._replace(shape=model.row_shape)


def checked_rows(rows: Any, docs: int, name: str) -> Rows:
    """Check and return rows that a plugin made. Raise `PluginError` unless they are valid rows of `docs` documents.

    `name` is the plugin's, for the message. Sparse rows come back in compressed form.
    """
    shape = getattr(rows, "shape", None) or (type(rows).__name__,)
    if shape[0] != docs or len(shape) > 2 or 0 in shape[1:]:
        raise PluginError(f"{name} encoded {docs:,} documents as {shape}, and not as one row per document.")
    if hasattr(rows, "tocsr"):
        from scipy.sparse import csr_array

        rows = csr_array(rows)
        if rows.nnz and not 0 <= rows.indices.min() <= rows.indices.max() < rows.shape[1]:
            raise PluginError(f"{name} encoded documents as sparse rows with columns beyond {rows.shape[1]:,}.")
    has_data = hasattr(rows, "indptr") or isinstance(rows, Matrices)
    values = rows.data if has_data else np.asarray(rows)
    if values.dtype.kind not in "fiu":
        raise PluginError(f"{name} encoded documents as {values.dtype}; rows must hold whole numbers or floats.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise PluginError(f"{name} encoded documents as numbers that are not finite.")
    return rows if has_data else values


def kind_of_rows(rows: Rows) -> tuple[Any, ...]:
    """Return the properties that all rows of a model share.

    The properties are: sparse or not, matrices or not, with tokens or not, the type, and the width.
    """
    has_matrices = isinstance(rows, Matrices)
    return hasattr(rows, "indptr"), has_matrices, has_matrices and rows.tokens is not None, rows.dtype, rows.shape[1:]


def zero_rows(like: Rows, docs: int) -> Rows:
    """Return rows of zeros for `docs` documents, of the kind of `like`."""
    if hasattr(like, "indptr"):
        from scipy.sparse import csr_array

        return csr_array((docs, like.shape[1]), dtype=like.dtype)
    if isinstance(like, Matrices):
        return Matrices.of_sizes(
            like.data[:0], np.zeros(docs, np.int64), None if like.tokens is None else like.tokens[:0]
        )
    return np.zeros((docs, *like.shape[1:]), like.dtype)


def stacked(blocks: Sequence[Rows]) -> Rows:
    """Return blocks of rows as one."""
    if len(blocks) == 1:
        return blocks[0]
    if hasattr(blocks[0], "indptr"):
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack(blocks))
    if isinstance(blocks[0], Matrices):
        return Matrices.stacked(blocks)
    return np.concatenate(blocks)
