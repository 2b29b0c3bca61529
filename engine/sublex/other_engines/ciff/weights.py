"""Weights of terms in CIFF files, whose frequencies are the weights: documents of a term become the terms of a document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sublex.analysis.interner import Interner
from sublex.errors import InputError
from sublex.other_engines.ciff.ciff_file import CiffFile
from sublex.tools.strings import end_to_end
from sublex.vectors.batch import ROWS_PER_BATCH, VectorsBatch
from sublex.vectors.given import batches_of
from sublex.vectors.sparse import SparseBatch, sparse_batch

# The endings of CIFF files, which may be compressed.
ENDINGS = (".ciff", ".ciff.gz", ".ciff.bz2", ".ciff.xz", ".ciff.zst")
# Bytes of the working memory for a posting, while the lists are turned into documents.
BYTES_PER_POSTING = 32


def vectors_of(given: Any, ids: Any, memory: int) -> Iterator[VectorsBatch | SparseBatch]:
    """Yield vectors that a user gives, as `batches_of` does; the files may be CIFF files, too."""
    files = [given] if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(files, (list, tuple)) or not any(_is_ciff(file) for file in files):
        yield from batches_of(given, ids, memory)
        return
    terms = Interner()
    for file in files:
        yield from (
            read_weights(os.fspath(file), terms, memory)
            if _is_ciff(file)
            else batches_of(file, ids, memory, terms=terms)
        )


def _is_ciff(file: Any) -> bool:
    return isinstance(file, (str, os.PathLike)) and str(file).lower().endswith(ENDINGS)


def read_weights(path: str, terms: Interner, memory: int) -> Iterator[SparseBatch]:
    """Yield the documents of a CIFF file with their frequencies as weights. New terms are added to `terms`."""
    from scipy.sparse import csr_array

    with CiffFile(path) as file:
        columns, docs, weights = _postings(file, terms, memory)
        docnos: list[str] = []
        for batch in file.documents():
            docnos += list(batch.docnos)
    order = np.argsort(docs, kind="stable")
    starts = np.searchsorted(docs[order], np.arange(len(docnos) + 1))
    rows = csr_array((weights[order], columns[order], starts), shape=(len(docnos), terms.size))
    for begin in range(0, len(docnos), ROWS_PER_BATCH):
        end = min(begin + ROWS_PER_BATCH, len(docnos))
        part = slice(int(starts[begin]), int(starts[end]))
        sizes = np.diff(starts[begin : end + 1])
        yield sparse_batch(docnos[begin:end], sizes, rows.indices[part], rows.data[part], terms, path)


def _postings(file: CiffFile, terms: Interner, memory: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of the term, the document and the weight (float32) of each posting."""
    parts: list[Sequence[np.ndarray]] = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))]
    number = 0
    for batch in file.postings():
        number += len(batch.docs)
        if number * BYTES_PER_POSTING > memory:
            raise InputError(
                f"The postings of {file.name} take more than {memory >> 20:,} MB of memory; allow more (--memory)."
            )
        if len(batch.docs) and not 0 <= int(batch.docs.min()) <= int(batch.docs.max()) < file.docs:
            raise InputError(f"{file.name} is damaged: a posting names a document that the file does not have.")
        data, lengths = end_to_end(batch.terms)
        try:
            data.tobytes().decode()
        except UnicodeDecodeError:
            raise InputError(f"{file.name} is damaged: a term is not UTF-8.") from None
        numbers = terms.add(data, np.cumsum(lengths) - lengths, lengths)
        parts.append((np.repeat(numbers, batch.df), batch.docs.copy(), batch.tfs.astype(np.float32)))
    columns, docs, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    return columns, docs, weights
