"""Read a file of vectors: the format is detected from the first bytes of the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sublex.errors import InputError
from sublex.readers.signatures import BOM
from sublex.readers.source import FileSource
from sublex.tools.plain_files import open_plain
from sublex.vectors import faiss, flex, npy
from sublex.vectors.batch import VectorsBatch

if TYPE_CHECKING:
    from sublex.analysis.interner import Interner
    from sublex.vectors.sparse import SparseBatch

# Endings of files that hold pickled objects, which Sublex never loads.
PICKLED = (".pkl", ".pt", ".pth", ".bin", ".ckpt", ".joblib")
ZIP, PARQUET = b"PK\x03\x04", b"PAR1"


def read_vectors(
    path: str, ids_file: str | None = None, memory: int = 4 << 30, texts: bool = False
) -> Iterator[VectorsBatch]:
    """Yield the vectors of a file in batches, in the order of the file.

    `ids_file` has the ids of a `.npy` file, one on each line. `memory` is the largest number of bytes that ids, or a
    part of a Parquet file, may take. With `texts`, batches have the texts of queries, if the file has them.
    """
    if os.path.isdir(path):
        if faiss.is_faiss(path):
            return faiss.read_faiss(path, memory)
        if flex.is_flex(path):
            return flex.read_flex(path, memory)
        raise InputError(
            f"{path} is a folder without the files {faiss.INDEX} and {faiss.IDS}, as Pyserini writes them, and without "
            f"{flex.META} and {flex.VECTORS}, as PyTerrier does, and no Lucene index."
        )
    head = _head(path)
    if head.startswith(npy.MAGIC):
        return npy.read_npy(path, ids_file, memory)
    if path.lower().endswith(PICKLED) or head[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        raise InputError(
            f"{path} is a file of pickled Python objects, which can run any code when they are loaded; save vectors as .npz."
        )
    if head.startswith(ZIP):
        return npy.read_npz(path, ids_file, memory)
    if ids_file is not None:
        raise InputError(f"{path} has its own ids; leave the file of ids out.")
    if head.startswith(PARQUET):
        from sublex.vectors.parquet import read_parquet

        return read_parquet(path, memory, texts)
    if FileSource(path).head().removeprefix(BOM).lstrip()[:1] == b"{":
        from sublex.vectors.json_lines import read_json_lines

        return read_json_lines(path, texts)
    raise InputError(f"{path} is no file of vectors; give .npy, .npz, JSON lines or Parquet.")


def reads_folder(path: str) -> bool:
    """Return whether `read_vectors` reads a folder."""
    return faiss.is_faiss(path) or flex.is_flex(path)


def read_either(
    path: str, terms: Interner, ids_file: str | None = None, memory: int = 4 << 30, texts: bool = False
) -> Iterator[VectorsBatch | SparseBatch]:
    """Yield the vectors of a file as `read_vectors` does, or as `read_sparse` does if they are weights of terms."""
    return (
        read_sparse(path, terms, ids_file, memory, texts)
        if _is_sparse(path, memory)
        else read_vectors(path, ids_file, memory, texts)
    )


def _is_sparse(path: str, memory: int) -> bool:
    """Return whether a file has weights of terms, judged by its arrays, its column of vectors or its first line."""
    if os.path.isdir(path):
        return False
    head = _head(path)
    if head.startswith(ZIP):
        return npy.has_arrays(path, ("indptr", "indices"))
    if head.startswith(PARQUET):
        from sublex.vectors.parquet import has_maps

        return has_maps(path, memory)
    if head.startswith(npy.MAGIC) or path.lower().endswith(PICKLED):
        return False
    if FileSource(path).head().removeprefix(BOM).lstrip()[:1] != b"{":
        return False
    from sublex.vectors.json_lines import begins_with_object

    return begins_with_object(path)


def read_sparse(
    path: str, terms: Interner, ids_file: str | None = None, memory: int = 4 << 30, texts: bool = False
) -> Iterator[SparseBatch]:
    """Yield the sparse vectors of a file in batches. `terms` numbers the terms; `read_vectors` describes the other arguments."""
    from sublex.vectors import sparse

    head = _head(path)
    if head.startswith(ZIP):
        return sparse.read_sparse_npz(path, terms, ids_file, memory)
    if ids_file is not None:
        raise InputError(f"{path} has its own ids; leave the file of ids out.")
    if head.startswith(PARQUET):
        return sparse.read_sparse_parquet(path, terms, memory, texts)
    if FileSource(path).head().removeprefix(BOM).lstrip()[:1] == b"{":
        return sparse.read_sparse_lines(path, terms, texts)
    raise InputError(f"{path} is no file of sparse vectors; give JSON lines, Parquet or .npz.")


def _head(path: str) -> bytes:
    try:
        with open_plain(path) as stream:
            return stream.read(64)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
