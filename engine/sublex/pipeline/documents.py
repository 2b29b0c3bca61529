"""The live documents of an index as an iterator, or their docnos and columns as a DataFrame or a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sublex.contracts.base import Document
from sublex.contracts.columns import Column
from sublex.errors import InputError
from sublex.forms.frames import arrow, data_frame
from sublex.index.components.columns import value_counts
from sublex.index.snapshot import Snapshot
from sublex.tools.arguments import file_path, shown
from sublex.tools.files import replacing
from sublex.tools.outputs import expect_replaceable
from sublex.tools.strings import Strings

# The name of the ids in tables.
DOCNO = "docno"


class LiveDocuments(Iterator[Document]):
    """An iterator over the live stored documents of an index, in the order in which they were indexed.

    `to_pandas` and `to_parquet` return docnos and the requested columns; they do not need stored texts.
    """

    def __init__(self, snapshot: Snapshot, columns: str | Iterable[str] | None = None):
        """Prepare to read the documents of a snapshot, with these columns or, by default, with all columns."""
        names = list(snapshot.columns) if columns is None else columns
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",")]
        if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
            raise InputError(f"The columns are {shown(columns)}; give names, such as 'year,category'.")
        self.columns = list(dict.fromkeys(names))
        for name in self.columns:
            snapshot.need_column(name)
        self._snapshot, self._documents = snapshot, snapshot.documents()

    def __next__(self) -> Document:
        return next(self._documents)

    def __len__(self) -> int:
        """Return the number of all live documents."""
        return len(self._snapshot)

    def __repr__(self) -> str:
        return f"<{len(self):,} documents of {self._snapshot.path}>"

    @cached_property
    def _live(self) -> np.ndarray:
        return np.flatnonzero(~np.concatenate([segment.dead for segment in self._snapshot.segments]))

    def _read(self) -> tuple[list[str], dict[str, Column]]:
        """Return the docnos and the columns of all live documents."""
        docnos = self._snapshot.all_docnos.take(self._live).tolist()
        columns = {name: self._snapshot.column(name).rows(self._live) for name in self.columns}
        # The whole column may have missing or several values only in deleted documents, so look at the live ones.
        one = [name for name, column in columns.items() if (value_counts(column) == 1).all()]
        return docnos, columns | {name: replace(columns[name], starts=None) for name in one}

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each document: its docno, and its value in each column.

        Dates become datetime64, and whole numbers with missing values Int64. A missing value is NaT, NaN, None or NA.
        If a document has several values in a column, the column has a list for each document. pandas must be installed.
        """
        docnos, columns = self._read()
        frame = data_frame({DOCNO: docnos} | {name: _cells(column) for name, column in columns.items()})
        missing = [n for n, c in columns.items() if c.kind == "int" and frame[n].dtype == object and not _several(c)]
        return frame.astype(dict.fromkeys(missing, "Int64"))

    def to_parquet(self, file: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a Parquet file with a row for each document: its docno, and its value in each column.

        The columns have the types int64, double, date32 and string. A missing value is null. If a document has several
        values in a column, the column has a list for each document. `overwrite` replaces a file that is there. pyarrow must be
        installed.
        """
        path = Path(file_path(file, "The file"))
        pyarrow = arrow()
        expect_replaceable(path, overwrite)
        docnos, columns = self._read()
        arrays = {name: _arrow_array(pyarrow, column) for name, column in columns.items()}
        table = pyarrow.table({DOCNO: pyarrow.array(docnos, pyarrow.string())} | arrays)
        try:
            with replacing(path) as stream:
                pyarrow.parquet.write_table(table, stream)
        except OSError as error:
            raise InputError(f"Cannot write {path}: {error.strerror or error}; choose another place.") from None


def _several(column: Column) -> bool:
    return bool((value_counts(column) > 1).any())


def _cells(column: Column) -> Any:
    """Return a column for a DataFrame: an array with an entry for each document, or a list of values for each."""
    values: Any = column.values
    if column.kind == "text":
        values = np.array([*Strings.of(column.words).tolist(), None], object)[values]
    if column.kind == "date":
        values = values.astype("datetime64[D]").astype("datetime64[s]")
    if column.starts is None:
        return values
    if _several(column):
        return [part.tolist() for part in np.split(_listed(column, values), column.starts[1:-1])]
    there = np.flatnonzero(np.diff(column.starts))
    if column.kind == "date":
        cells = np.full(column.docs, np.datetime64("NaT"), values.dtype)
    elif column.kind == "float":
        cells = np.full(column.docs, np.nan)
    else:
        cells = np.full(column.docs, None, object)
    cells[there] = values
    return cells


def _listed(column: Column, values: np.ndarray) -> np.ndarray:
    """Return the values of a column for lists: an array of `datetime.date` for dates, otherwise `values`."""
    return column.values.astype("datetime64[D]").astype(object) if column.kind == "date" else values


def _arrow_array(pyarrow: Any, column: Column) -> Any:
    """Return a column as an array of pyarrow with an entry for each document."""
    values = pyarrow.array(column.values)
    if column.kind == "date":
        values = values.cast(pyarrow.date32())
    if column.kind == "text":
        values = pyarrow.array(Strings.of(column.words).tolist(), pyarrow.string()).take(values)
    if column.starts is None:
        return values
    if _several(column):
        return pyarrow.LargeListArray.from_arrays(column.starts, values)
    places = np.where(np.diff(column.starts) > 0, column.starts[:-1], -1)
    return values.take(pyarrow.array(places, mask=places < 0))
