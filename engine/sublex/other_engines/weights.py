"""Read weights of terms from indexes of other engines and from CIFF files.

Their frequencies are the weights. The files list documents by term; this module lists terms by document.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.foreign import PostingsSource
from sublex.errors import InputError, contract
from sublex.language.plugins import Registry
from sublex.other_engines.ciff.ciff_file import CiffFile
from sublex.other_engines.postings_check import ReceivedDocuments, ReceivedPostings
from sublex.tools.strings import end_to_end
from sublex.vectors.batch import ROWS_PER_BATCH, VectorsBatch
from sublex.vectors.given import batches_of
from sublex.vectors.read import reads_folder
from sublex.vectors.sparse import SparseBatch, sparse_batch

# The endings of CIFF files, which may be compressed.
ENDINGS = (".ciff", ".ciff.gz", ".ciff.bz2", ".ciff.xz", ".ciff.zst")
# The working memory per posting, in bytes, while lists are turned into documents.
BYTES_PER_POSTING = 32
# A back end and a path, as in lucene:PATH and lucene(field=body):PATH.
NAMED = re.compile(r"(\w+)(\([^)]*\))?:(.+)", re.DOTALL)


class WeightsPlace(NamedTuple):
    """The place of weights that are frequencies: a path, and the expression of the back end.

    A CIFF file has the back end "".
    """

    backend: str
    path: str


def vectors_of(given: Any, ids: Any, memory: int, registry: Registry) -> Iterator[VectorsBatch | SparseBatch]:
    """Yield vectors that a user gives, as `batches_of` does. Files may also be CIFF files and indexes of other engines."""
    files = [given] if isinstance(given, (str, os.PathLike)) else given
    places = [_place(file, registry) for file in files] if isinstance(files, (list, tuple)) else []
    if not any(places):
        yield from batches_of(given, ids, memory)
        return
    terms = Interner()
    for file, place in zip(files, places, strict=True):
        if place is None:
            yield from batches_of(file, ids, memory, terms=terms)
            continue
        with _opened(place, registry) as source:
            yield from read_weights(source, terms, memory)


def _place(file: Any, registry: Registry) -> WeightsPlace | None:
    """Return the place of weights that are frequencies; None for other files."""
    if not isinstance(file, (str, os.PathLike)):
        return None
    path = os.fspath(file)
    if not isinstance(path, str):
        return None
    if path.lower().endswith(ENDINGS):
        return WeightsPlace("", path)
    named = NAMED.fullmatch(path)
    if named and named[1] in registry.names("backend") and not os.path.exists(path):
        return WeightsPlace(named[1] + (named[2] or ""), os.path.realpath(os.path.expanduser(named[3])))
    if os.path.isdir(path) and not reads_folder(path):
        return next(
            (WeightsPlace(name, path) for name in registry.names("backend") if _knows(registry, name, path)), None
        )
    return None


def _knows(registry: Registry, name: str, path: str) -> bool:
    """Return whether a folder is an index of a back end that reads weights without running code from the folder."""
    with contract("back end", name):
        backend = registry.build("backend", name, {})
        if backend.runs_code or not hasattr(backend, "open_weights"):
            return False
        try:
            backend.state(path)
        except InputError:
            return False
        return True


@contextmanager
def _opened(place: WeightsPlace, registry: Registry) -> Iterator[PostingsSource]:
    """Open a CIFF file, or an index of another engine, to read its frequencies."""
    if not place.backend:
        with CiffFile(place.path) as file:
            yield file
        return
    with contract("back end", place.backend):
        backend = registry.make("backend", place.backend)
        if not hasattr(backend, "open_weights"):
            raise InputError(f"The back end {place.backend} reads no weights; export the index as CIFF or JSON lines.")
        missing = backend.missing()
        if missing:
            raise InputError(missing)
        source = backend.open_weights(place.path)
    with closing(source), contract("back end", place.backend):
        yield source


def read_weights(source: PostingsSource, terms: Interner, memory: int) -> Iterator[SparseBatch]:
    """Yield the documents of a source with their frequencies as weights. New terms are added to `terms`."""
    from scipy.sparse import csr_array

    received = ReceivedPostings(source)
    columns, docs, weights = _postings(received, terms, memory)
    docnos: list[str] = []
    for data, sizes in ReceivedDocuments(source, received).batches():
        ends = np.cumsum(sizes).tolist()
        text = data.tobytes()
        docnos += [text[end - size : end].decode() for size, end in zip(sizes.tolist(), ends, strict=True)]
    order = np.argsort(docs, kind="stable")
    starts = np.searchsorted(docs[order], np.arange(len(docnos) + 1))
    rows = csr_array((weights[order], columns[order], starts), shape=(len(docnos), terms.size))
    for begin in range(0, len(docnos), ROWS_PER_BATCH):
        end = min(begin + ROWS_PER_BATCH, len(docnos))
        part = slice(int(starts[begin]), int(starts[end]))
        sizes = np.diff(starts[begin : end + 1])
        yield sparse_batch(docnos[begin:end], sizes, rows.indices[part], rows.data[part], terms, received.name)


def _postings(received: ReceivedPostings, terms: Interner, memory: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three arrays with an item for each posting: the number of its term in `terms`, its document, its weight.

    Weights are float32. Raise InputError if the postings need more than `memory` bytes.
    """
    parts: list[Sequence[np.ndarray]] = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))]
    number = 0
    for batch in received.batches(lambda terms: None):
        number += len(batch.docs)
        if number * BYTES_PER_POSTING > memory:
            raise InputError(
                f"The postings of {received.name} take more than {memory >> 20:,} MB of memory; allow more (--memory)."
            )
        data, lengths = end_to_end(batch.terms)
        numbers = terms.add(data, np.cumsum(lengths) - lengths, lengths)
        parts.append((np.repeat(numbers, batch.df), batch.docs.copy(), batch.tfs.astype(np.float32)))
    columns, docs, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    return columns, docs, weights
