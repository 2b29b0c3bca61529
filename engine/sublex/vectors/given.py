"""Vectors as people give them in Python: files, arrays with ids, dictionaries and data frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sublex.analysis.interner import Interner
from sublex.errors import InputError
from sublex.forms.frames import is_frame
from sublex.tools import arguments
from sublex.tools.messages import counted
from sublex.tools.strings import end_to_end
from sublex.vectors.batch import VectorsBatch, expect_shape, expect_sizes, expect_width
from sublex.vectors.read import read_either
from sublex.vectors.sparse import SparseBatch, sparse_batch

# The columns of a data frame, in the order in which they are looked for.
ID_COLUMNS = ("docno", "qid", "id", "_id", "docid", "doc_id")
ROW_COLUMNS = ("vector", "embedding", "row", "doc_vec", "query_vec", "toks", "query_toks")
TEXT_COLUMNS = ("query", "text")


def batches_of(
    given: Any, ids: Any = None, memory: int = 4 << 30, texts: bool = False, terms: Interner | None = None
) -> Iterator[VectorsBatch | SparseBatch]:
    """Yield vectors that a user gives, in batches.

    `given` is a file, several files, an array of two dimensions with `ids`, a dictionary from ids to vectors, or a
    data frame. A matrix, in place of a vector, is an array of two dimensions or a list of lists; a list of matrices
    needs `ids`. For a `.npy` file, `ids` may name the file of ids. With `texts`, batches have the texts of queries. A
    sparse vector may be a dictionary from terms to weights; `terms` numbers these terms.
    """
    terms = Interner() if terms is None else terms
    if isinstance(given, (str, os.PathLike)):
        file = None if ids is None else arguments.file_path(ids, "The file of ids")
        yield from read_either(arguments.file_path(given, "The file"), terms, file, memory, texts)
    elif is_frame(given):
        yield _of_frame(given, terms)
    elif isinstance(given, Mapping):
        yield _of_values(list(map(_id, given)), list(given.values()), "The dictionary", terms)
    elif hasattr(given, "shape") and hasattr(given, "dtype"):
        if ids is None:
            raise InputError("The array has no ids; give them: ids=[…], one for each row.")
        rows, names = _of_array(given), _ids(ids)
        if rows.ndim == 3:
            yield _of_lists(names, _one_each(rows, names, "The array"), "The array")
            return
        if len(names) != len(rows):
            raise InputError(
                f"The array has {counted(len(rows), 'row')} and {counted(len(names), 'id')}; give each row one."
            )
        yield VectorsBatch(names, rows, "The array", mapped=True)
    elif isinstance(given, Sequence) and given and isinstance(given[0], (list, np.ndarray)) and ids is not None:
        names = _ids(ids)
        yield _of_lists(names, _one_each(given, names, "The list"), "The list")
    elif (
        isinstance(given, Iterable) and (files := list(given)) and all(isinstance(f, (str, os.PathLike)) for f in files)
    ):
        for file in files:
            yield from batches_of(file, ids, memory, texts, terms)
    else:
        raise InputError(
            f"The vectors are {arguments.shown(given)}; give a file, an array with ids, a dictionary or a data frame."
        )


def _of_array(given: Any) -> np.ndarray:
    """Return what a user gives as an array of two dimensions, or of three for matrices.

    Raise InputError for other arrays.
    """
    if hasattr(given, "tocsr"):
        raise InputError("The array is sparse; dense vectors are rows of an array of numbers, as toarray() returns.")
    if np.ma.is_masked(given):
        raise InputError(
            "The array has masked places, and vectors have a number in each place; fill or leave them out."
        )
    rows = np.asarray(given)
    if rows.dtype.hasobject:
        raise InputError("The array holds Python objects; vectors are whole numbers or floats.")
    if rows.ndim != 3:
        expect_shape(rows.shape, "The array")
    return rows


def _ids(given: Any) -> list[str]:
    """Return ids as texts. Raise InputError if the value is not a list of ids."""
    if isinstance(given, (str, bytes, os.PathLike)) or not isinstance(given, Iterable):
        raise InputError(f"The ids are {arguments.shown(given)}; give a list, with one id for each row.")
    return list(map(_id, given))


def _id(value: Any) -> str:
    """Return an id as text. Whole numbers are ids too."""
    if isinstance(value, (str, int, np.integer)) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"An id is {arguments.shown(value)}; ids are texts.")


def _one_each(items: Any, ids: Sequence[str], place: str) -> Sequence[Any]:
    if len(items) != len(ids):
        raise InputError(f"{place} has {len(items):,} matrices and {len(ids):,} ids; give each matrix one.")
    return list(items)


def _of_frame(frame: Any, terms: Interner) -> VectorsBatch | SparseBatch:
    names = list(map(str, frame.columns))
    chosen = [
        next((name for name in known if name in names), None) for known in (ID_COLUMNS, ROW_COLUMNS, TEXT_COLUMNS)
    ]
    ids, rows, texts = chosen
    if ids is None or rows is None:
        raise InputError(
            f"The DataFrame has the columns {', '.join(names) or 'none'}; it needs {ID_COLUMNS[0]} and {ROW_COLUMNS[0]}."
        )
    batch = _of_values(list(map(_id, frame[ids].to_list())), frame[rows].to_list(), "The DataFrame", terms)
    return batch if texts is None else batch._replace(texts=list(map(str, frame[texts].to_list())))


def _of_values(ids: Sequence[str], values: Sequence[Any], place: str, terms: Interner) -> VectorsBatch | SparseBatch:
    """Return vectors as a batch. If the first is a dictionary, all must be dictionaries from terms to weights."""
    if not values or not isinstance(values[0], Mapping):
        return _of_lists(ids, values, place)
    for name, value in zip(ids, values, strict=True):
        if not isinstance(value, Mapping):
            raise InputError(f"{place}: the vector of {name} is no dictionary of weights, and others are.")
        for term, weight in value.items():
            if not isinstance(term, str) or not isinstance(weight, (int, float, np.number)) or isinstance(weight, bool):
                shown = f"{arguments.shown(term)} has {arguments.shown(weight)}"
                raise InputError(f"{place}: in the vector of {name}, {shown}; weights are numbers of terms.")
    sizes = np.fromiter(map(len, values), np.int64, len(values))
    try:
        data, lengths = end_to_end([term.encode() for value in values for term in value])
    except UnicodeEncodeError:
        raise InputError(f"{place}: a term has half of a surrogate pair, which is no character.") from None
    numbers = terms.add(data, np.cumsum(lengths) - lengths, lengths)
    with np.errstate(over="ignore"):
        weights = np.array([min(float(weight), 1e300) for value in values for weight in value.values()], np.float64)
        return sparse_batch(ids, sizes, numbers, weights.astype(np.float32), terms, place)


def _of_lists(ids: Sequence[str], vectors: Sequence[Any], place: str) -> VectorsBatch:
    """Return vectors, given as sequences of numbers, as a batch. If the first one is a matrix, all must be matrices."""
    try:
        arrays = [_array(vector) for vector in vectors]
    except (ValueError, TypeError):
        raise InputError(
            f"{place} has a vector that is no list of numbers, or a matrix with rows of two widths."
        ) from None
    if arrays and arrays[0].ndim == 2:
        return _of_matrices(ids, arrays, place)
    for qid, array in zip(ids, arrays, strict=True):
        if array.ndim != 1 or array.dtype.kind not in "fiu":
            raise InputError(f"{place}: the vector of {qid} is no list of numbers.")
        expect_width(len(array), f"{place}: {qid}")
        if len(array) != len(arrays[0]):
            raise InputError(
                f"{place}: the vector of {qid} has {counted(len(array), 'number')}, and the first {len(arrays[0]):,}; all must be alike."
            )
    return VectorsBatch(ids, np.array(arrays) if arrays else np.zeros((0, 1)), place, mapped=True)


def _array(vector: Any) -> np.ndarray:
    """Return a vector or a matrix as an array of numbers. In data frames, a matrix is an array of arrays."""
    array = np.asarray(vector)
    return np.stack(list(array)) if array.dtype == object and array.ndim == 1 and len(array) else array


def _of_matrices(ids: Sequence[str], arrays: Sequence[np.ndarray], place: str) -> VectorsBatch:
    width = arrays[0].shape[1]
    for name, array in zip(ids, arrays, strict=True):
        if array.ndim != 2 or array.dtype.kind not in "fiu":
            empty = array.size == 0
            raise InputError(
                f"{place}: the matrix of {name} is {'empty; leave it out' if empty else 'no matrix of numbers'}."
            )
        expect_width(array.shape[1], f"{place}: {name}")
        if array.shape[1] != width:
            raise InputError(
                f"{place}: the matrix of {name} has rows of {array.shape[1]:,} numbers, and the first {width:,}; all must "
                "be alike."
            )
    rows = np.concatenate(arrays)
    sizes = expect_sizes(np.fromiter(map(len, arrays), np.int64, len(arrays)), ids, len(rows), place)
    return VectorsBatch(ids, rows, place, mapped=True, sizes=sizes)
