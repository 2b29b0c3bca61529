"""Read sparse vectors: an id, and weights of terms. Files are JSON lines, Parquet with a map, or SciPy's `.npz` with ids.

Terms are numbered by a table that the caller keeps, so that several files share their terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.errors import InputError
from sublex.forms.frames import arrow
from sublex.readers.lines import refuse, whole_lines
from sublex.readers.source import FileSource
from sublex.tools.strings import end_to_end
from sublex.vectors.batch import ROWS_PER_BATCH
from sublex.vectors.json_lines import BYTES, ID_NAMES, TEXT_NAMES, VECTOR_NAMES, scanned

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SparseBatch(NamedTuple):
    """The weights of some documents or queries: a row of `rows` (float32) for each of `ids`, with ascending columns.

    A column is the number of a term in the table `terms`. `texts` has the texts of queries, if the file has them.
    """

    ids: Sequence[str]
    rows: csr_array
    place: str
    terms: Interner
    texts: Sequence[str] = ()


def read_sparse_lines(path: str, terms: Interner, texts: bool = False) -> Iterator[SparseBatch]:
    """Yield the sparse vectors of a file of JSON lines, plain or compressed. New terms are added to `terms`."""
    with FileSource(path).open() as stream:
        for line, data in whole_lines(stream, BYTES, refuse(path)):
            for batch in scanned(data, path, line, texts):
                if batch.names is None:
                    raise InputError(
                        f"{batch.place}: the vector is a list of numbers; sparse vectors are objects of weights."
                    )
                if not batch.data.isascii():
                    _expect_utf8(batch.data, path)
                begins, ends = np.ascontiguousarray(batch.names.T)
                numbers = terms.add(np.frombuffer(batch.data, np.uint8), begins, ends - begins)
                yield sparse_batch(batch.ids, batch.sizes, numbers, batch.numbers, terms, path, batch.texts)


def _expect_utf8(data: bytes, path: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; save it as UTF-8.") from None


def sparse_batch(
    ids: Sequence[str],
    sizes: np.ndarray,
    numbers: np.ndarray,
    weights: np.ndarray,
    terms: Interner,
    place: str,
    texts: Sequence[str] = (),
) -> SparseBatch:
    """Return weights as a batch. Raise InputError for a weight that is not above 0, or a term that a row has twice.

    `numbers` and `weights` have the number of the term and the weight of each entry, row after row. `sizes` has the
    number of entries of each row.
    """
    from scipy.sparse import csr_array

    row = np.repeat(np.arange(len(ids)), sizes)
    bad = ~(weights > 0) | ~np.isfinite(weights)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"{place}: the weight of {_term(terms, numbers[at])} in {ids[row[at]]} is {float(weights[at]):g}; weights are "
            "finite and above 0, so leave it out."
        )
    keys = row << 32 | numbers
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(again):
        at = int(order[again[0]])
        raise InputError(
            f"{place}: {_term(terms, numbers[at])} comes twice in {ids[row[at]]}; give each term one weight."
        )
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    rows = csr_array((weights[order], numbers[order], starts), shape=(len(ids), terms.size))
    return SparseBatch(ids, rows, place, terms, texts)


def _term(terms: Interner, number: int) -> str:
    return terms.strings()[int(number)]


def read_sparse_parquet(path: str, terms: Interner, memory: int, texts: bool = False) -> Iterator[SparseBatch]:
    """Yield the sparse vectors of a Parquet file, whose column of vectors maps terms to weights."""
    from sublex.vectors.parquet import opened, texts_of

    pyarrow = arrow()
    with opened(path, memory) as file:
        columns = file.schema_arrow.names
        ids, vectors, words = (
            next((name for name in known if name in columns), None) for known in (ID_NAMES, VECTOR_NAMES, TEXT_NAMES)
        )
        if ids is None or vectors is None or not pyarrow.types.is_map(file.schema_arrow.field(vectors).type):
            raise InputError(
                f"{path} needs a column {ID_NAMES[0]}, and a column {VECTOR_NAMES[0]} that maps terms to weights."
            )
        wanted = [ids, vectors, *([words] if words and texts else [])]
        for batch in file.iter_batches(ROWS_PER_BATCH, columns=wanted):
            names = texts_of(batch.column(ids), path)
            column = batch.column(vectors)
            if column.null_count:
                raise InputError(f"{path} has a document without a vector; leave it out.")
            keys, items = column.keys, column.items
            sizes = np.diff(column.offsets.to_numpy())
            if items.null_count or len(keys) != int(sizes.sum()):
                raise InputError(f"{path} has a weight that is empty; correct it.")
            encoded = [key.encode() for key in texts_of(keys, path)]
            data, lengths = end_to_end(encoded)
            numbers = terms.add(data, np.cumsum(lengths) - lengths, lengths)
            weights = items.to_numpy(zero_copy_only=False).astype(np.float32)
            found = texts_of(batch.column(words), path) if words and texts else ()
            yield sparse_batch(names, sizes, numbers, weights, terms, path, found)


def read_sparse_npz(path: str, terms: Interner, ids_file: str | None, memory: int) -> Iterator[SparseBatch]:
    """Yield the rows of a sparse matrix that SciPy saved, with the arrays `docnos` and `terms` beside it."""
    from sublex.vectors.npy import read_arrays

    arrays: dict[str, Any] = read_arrays(path, ("data", "indices", "indptr", "shape"), ids_file, memory)
    ids, names = arrays["ids"], arrays["terms"]
    data, indices, indptr = arrays["data"], arrays["indices"], arrays["indptr"]
    plain = all(each.ndim == 1 for each in (data, indices, indptr))
    fits = plain and len(indptr) == len(ids) + 1 and len(data) == len(indices) and indptr[0] == 0
    fits = fits and bool((np.diff(indptr) >= 0).all()) and int(indptr[-1]) == len(data)
    if not fits or (len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < len(names)):
        raise InputError(f"{path} is no matrix of sparse rows with one id for each row and a term for each column.")
    try:
        encoded, lengths = end_to_end([name.encode() for name in names])
    except UnicodeEncodeError as error:
        raise InputError(f"{path} has the term {error.object!r} with half of a surrogate pair; correct it.") from None
    known = terms.add(encoded, np.cumsum(lengths) - lengths, lengths)
    if len(np.unique(known)) < len(known):
        raise InputError(f"{path} has two columns of one term; join them.")
    for begin in range(0, len(ids), ROWS_PER_BATCH):
        end = min(begin + ROWS_PER_BATCH, len(ids))
        part = slice(int(indptr[begin]), int(indptr[end]))
        with np.errstate(over="ignore"):
            weights = np.asarray(data[part], np.float32)
        sizes = np.diff(indptr[begin : end + 1]).astype(np.int64)
        yield sparse_batch(ids[begin:end], sizes, known[np.asarray(indices[part])], weights, terms, path)
