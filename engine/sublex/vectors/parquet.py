"""Read vectors from Parquet: a column of ids, and a column of lists of numbers. It needs the package pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.forms.frames import arrow
from sublex.tools.plain_files import open_plain
from sublex.vectors.batch import ROWS_PER_BATCH, Repeated, VectorsBatch, expect_numbers, expect_sizes, expect_width
from sublex.vectors.json_lines import ID_NAMES, TEXT_NAMES, TOKEN_NAMES, VECTOR_NAMES

# The bytes that a value takes in memory, by its type in the file. A value of another type takes 8.
BYTES = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4}


@contextmanager
def opened(path: str, memory: int) -> Iterator[Any]:
    """Open a Parquet file and yield it. Errors of pyarrow, also those in the block, become InputErrors that name the file."""
    pyarrow = arrow()
    try:
        with open_plain(path) as stream:
            file = pyarrow.parquet.ParquetFile(stream)
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise InputError(f"{path} has two columns of one name; give each another.")
            _expect_memory(file.metadata, memory, path)
            yield file
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is damaged or cut short ({str(error).splitlines()[0][:200]}); write it again."
        ) from None


def read_parquet(path: str, memory: int, texts: bool = False) -> Iterator[VectorsBatch]:
    """Yield the vectors of a Parquet file, a batch of rows at a time.

    With `texts`, batches have the texts of queries.
    """
    pyarrow = arrow()
    width = 0
    with opened(path, memory) as file:
        columns = file.schema_arrow.names
        ids, vectors = _column(columns, ID_NAMES, path), _column(columns, VECTOR_NAMES, path)
        words = next((name for name in TEXT_NAMES if name in columns), None) if texts else None
        tokens = next((name for name in TOKEN_NAMES if name in columns), None)
        wanted = [ids, vectors, *(name for name in (words, tokens) if name)]
        for batch in file.iter_batches(ROWS_PER_BATCH, columns=wanted):
            names = texts_of(batch.column(ids), path)
            column, sizes = _matrices(batch.column(vectors), names, path, pyarrow)
            rows = _rows(column, names if sizes is None else Repeated(names, sizes), path, pyarrow)
            if width and rows.shape[1] != width:
                raise InputError(
                    f"{path}: the vector of {names[0]} has {rows.shape[1]:,} numbers, and others {width:,}."
                )
            width = rows.shape[1]
            found = texts_of(batch.column(words), path) if words else ()
            of_rows: list[str] = []
            if tokens and sizes is not None:
                of_rows = _tokens(batch.column(tokens), names, sizes, path, pyarrow)
            yield VectorsBatch(names, rows, path, texts=found, sizes=sizes, tokens=of_rows)


def has_maps(path: str, memory: int) -> bool:
    """Return whether the column of vectors of a Parquet file maps terms to weights."""
    pyarrow = arrow()
    with opened(path, memory) as file:
        schema = file.schema_arrow
        name = next((name for name in VECTOR_NAMES if name in schema.names), None)
        return name is not None and bool(pyarrow.types.is_map(schema.field(name).type))


def _column(columns: list[str], names: tuple[str, ...], path: str) -> str:
    found = next((name for name in names if name in columns), None)
    if found is None:
        raise InputError(
            f"{path} has the columns {', '.join(columns[:8]) or 'none'}; it needs {ID_NAMES[0]} and {VECTOR_NAMES[0]}."
        )
    return found


def _expect_memory(metadata: Any, memory: int, path: str) -> None:
    """Raise InputError if a part of the file that is read at once claims more than `memory` bytes.

    Many equal values may take only a few bytes in the file, so the numbers of values count too.
    """
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = [group.column(place) for place in range(group.num_columns)]
        values = sum(BYTES.get(column.physical_type, 8) * column.num_values for column in columns)
        claimed = max(group.total_byte_size, values)
        if claimed > memory:
            raise InputError(
                f"A row group of {path} takes {claimed >> 20:,} MB and memory allows {memory >> 20:,}; allow more (--memory)."
            )


def texts_of(column: Any, path: str) -> list[str]:
    """Return a column as texts. Raise InputError unless it holds texts or whole numbers."""
    values = column.to_pylist()
    if not all(isinstance(value, (str, int)) and not isinstance(value, bool) for value in values):
        raise InputError(f"{path} has an id that is no text; correct it.")
    return list(map(str, values))


def _is_list(kind: Any, pyarrow: Any) -> bool:
    types = pyarrow.types
    return any(check(kind) for check in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _sizes(column: Any, names: Sequence[str]) -> np.ndarray:
    """Return the sizes of the lists in a column. No list of the column may be missing."""
    if hasattr(column.type, "list_size"):
        return np.full(len(names), column.type.list_size)
    return np.asarray(column.value_lengths().to_numpy(zero_copy_only=False))


def _matrices(column: Any, names: list[str], path: str, pyarrow: Any) -> tuple[Any, np.ndarray | None]:
    """Return the rows of the matrices in a column, and the number of rows of each matrix.

    If the column holds no matrices, return the column itself, and None.
    """
    if not _is_list(column.type, pyarrow) or not _is_list(column.type.value_type, pyarrow):
        return column, None
    if column.null_count:
        missing = names[next(place for place, value in enumerate(column.is_valid().to_pylist()) if not value)]
        raise InputError(f"{path}: {missing} has no matrix; leave it out.")
    rows = column.flatten()
    return rows, expect_sizes(_sizes(column, names), names, len(rows), path)


def _tokens(column: Any, names: list[str], sizes: np.ndarray, path: str, pyarrow: Any) -> list[str]:
    """Return the tokens of matrices, end to end.

    Raise InputError if a matrix has another number of tokens than of rows.
    """
    if not _is_list(column.type, pyarrow) or column.null_count or column.flatten().null_count:
        raise InputError(f"{path} has tokens that are no lists of texts; leave the column out.")
    wrong = np.flatnonzero(_sizes(column, names) != sizes)
    if len(wrong):
        raise InputError(
            f"{path}: {names[int(wrong[0])]} has another number of tokens than of rows; give each row one."
        )
    return texts_of(column.flatten(), path)


def _rows(column: Any, names: Sequence[str], path: str, pyarrow: Any) -> np.ndarray:
    """Return a column of lists of equal size as an array of rows."""
    kind = column.type
    if not _is_list(kind, pyarrow):
        raise InputError(f"{path} has vectors of the type {kind}; dense vectors are lists of numbers.")
    if column.null_count:
        missing = names[next(place for place, value in enumerate(column.is_valid().to_pylist()) if not value)]
        raise InputError(f"{path}: {missing} has no vector; leave it out.")
    values = column.flatten()
    if values.null_count:
        raise InputError(f"{path} has a vector with an empty place; correct it.")
    if not (pyarrow.types.is_integer(values.type) or pyarrow.types.is_floating(values.type)):
        raise InputError(f"{path} has lists of the type {values.type}; vectors are lists of whole numbers or floats.")
    numbers = values.to_numpy(zero_copy_only=False)
    expect_numbers(numbers.dtype, path)
    sizes = _sizes(column, names)
    if len(sizes) and (sizes != sizes[0]).any():
        wrong = int(np.argmax(sizes != sizes[0]))
        if names[wrong] == names[0]:
            raise InputError(
                f"{path}: the matrix of {names[0]} has rows of {int(sizes[0]):,} and of {int(sizes[wrong]):,} numbers; all "
                "must be alike."
            )
        raise InputError(
            f"{path}: the vector of {names[wrong]} has {int(sizes[wrong]):,} numbers, and that of {names[0]} "
            f"{int(sizes[0]):,}; all must be alike."
        )
    width = int(sizes[0]) if len(sizes) else 0
    expect_width(width, path)
    return np.asarray(numbers).reshape(len(names), width)
