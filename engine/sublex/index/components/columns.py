"""Columns: typed values of stored fields, by document.

Component `columns` lists the names and types of the columns, such as `year:int`, ascending. The values of column k are
`column<k>_values`; `docs/format.md` describes the components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from sublex.contracts.columns import EPOCH, KINDS, Column
from sublex.contracts.fields import is_name
from sublex.index.components.strings import StringsReader, StringsWriter
from sublex.index.entries import MOST_DOCS
from sublex.index.format import UNSIGNED, ComponentFolder, FolderWriter, with_smallest_dtype
from sublex.index.offsets import starts_of
from sublex.tools.strings import Strings, end_to_end

# For each type of column, NumPy's type of its values in memory.
DTYPES: dict[str, type] = {"int": np.int64, "float": np.float64, "date": np.int32, "text": np.int32}
# For each type of column, NumPy's types in which its values may be stored.
STORED = {"int": ("<i8",), "float": ("<f8",), "date": ("<i4",), "text": UNSIGNED}
# The first and the last day of the years 1 to 9999, as days since 1970-01-01.
FIRST_DAY, LAST_DAY = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH
NO_WORDS = Strings.joined(np.empty(0, np.uint8), np.empty(0, np.int64))


class ColumnsWriter:
    """Writes the columns of a segment, one after the other. `kinds` has the type of each by its name."""

    def __init__(self, folder: FolderWriter, kinds: Mapping[str, str]):
        self._folder, self._places = folder, {name: place for place, name in enumerate(sorted(kinds))}
        listed = [f"{name}:{kinds[name]}".encode() for name in self._places]
        StringsWriter(folder, "column").add(*end_to_end(listed))

    def write(self, name: str, column: Column) -> None:
        """Write the values of all documents in one column."""
        prefix = f"column{self._places[name]}"
        is_text = column.kind == "text"
        self._folder.put(f"{prefix}_values", with_smallest_dtype(column.values) if is_text else column.values)
        counts = value_counts(column)
        if (counts != 1).any():
            self._folder.put(f"{prefix}_counts", with_smallest_dtype(counts))
        if is_text:
            StringsWriter(self._folder, f"{prefix}_word").add(*end_to_end(_words(column)))


class ColumnsReader:
    """Reads columns. `kinds` has the type of each by its name."""

    def __init__(self, folder: ComponentFolder, docs: int):
        self._folder, self._docs = folder, docs
        self.kinds: dict[str, str] = {}
        names = StringsReader(folder, "column")
        for listed in names.texts():
            name, _, kind = listed.rpartition(":")
            if not is_name(name) or kind not in KINDS or (self.kinds and name <= list(self.kinds)[-1]):
                raise folder["columns"].damaged(f"lists {listed!r}, which is no column")
            self.kinds[name] = kind
        self._read: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """Return a column, which is read and checked at the first call."""
        if name not in self._read:
            self._read[name] = self._checked(f"column{list(self.kinds).index(name)}", self.kinds[name])
        return self._read[name]

    def _checked(self, prefix: str, kind: str) -> Column:
        """Return the column of type `kind` whose components begin with `prefix`; raise `IndexCorrupt` if they disagree."""
        folder, name = self._folder, f"{prefix}_values"
        folder.expect(name, STORED[kind])
        stored = folder[name]
        starts = None
        if (counted := f"{prefix}_counts") in folder:
            folder.expect(counted, UNSIGNED, self._docs)
            starts = starts_of(folder[counted].numbers(MOST_DOCS))
            if starts[-1] != len(stored):
                raise folder[counted].damaged(f"does not count {len(stored):,} values")
        else:
            folder.expect(name, STORED[kind], self._docs)
        words = self._words(prefix) if kind == "text" else NO_WORDS
        values = stored.numbers(MOST_DOCS) if kind == "text" else stored.all()
        if kind == "text" and len(values) and int(values.max()) >= len(words):
            raise stored.damaged(f"has a value beyond {len(words):,} texts")
        if kind == "date" and len(values) and (values.min() < FIRST_DAY or values.max() > LAST_DAY):
            raise stored.damaged("has a day of no year from 1 to 9999")
        if kind == "float" and not np.isfinite(values).all():
            raise stored.damaged("has a value that is no number")
        values = values.astype(DTYPES[kind], copy=False)
        if starts is not None and not _ascend(values, starts):
            raise stored.damaged("has values of a document that do not ascend")
        return Column(kind, starts, values, words)

    def _words(self, prefix: str) -> Strings:
        reader = StringsReader(self._folder, f"{prefix}_word")
        words = Strings.joined(*reader.arrays())
        listed = words.tobytes()
        if any(a >= b for a, b in zip(listed, listed[1:], strict=False)):
            raise self._folder[f"{prefix}_words"].damaged("has texts that do not ascend")
        return words


def _ascend(values: np.ndarray, starts: np.ndarray) -> bool:
    """Return whether the values of each document ascend and are distinct."""
    steps = values[1:] > values[:-1]
    # The first value of a document may be lower than the last value of the document before it.
    firsts = starts[(starts > 0) & (starts < len(values))]
    steps[firsts - 1] = True
    return bool(steps.all())


def value_counts(column: Column) -> np.ndarray:
    """Return the number of values of each document."""
    return np.ones(column.docs, np.int64) if column.starts is None else np.diff(column.starts)


def _words(column: Column) -> list[bytes]:
    return Strings.of(column.words).tobytes()


def joined(columns: Sequence[Column]) -> Column:
    """Return the values of all documents of several columns of one type, in their order.

    The words of the result are all words of the columns.
    """
    if len(columns) == 1:
        return columns[0]
    values, words = [column.values for column in columns], NO_WORDS
    if columns[0].kind == "text":
        lists = [_words(column) for column in columns]
        ordered = sorted(set().union(*lists))
        codes = {word: code for code, word in enumerate(ordered)}
        words = Strings.joined(*end_to_end(ordered))
        renumbered = [np.fromiter(map(codes.__getitem__, own), np.int32, len(own)) for own in lists]
        values = [own[codes] for own, codes in zip(renumbered, values, strict=True)]
    starts = None
    if any(column.starts is not None for column in columns):
        starts = starts_of(np.concatenate([value_counts(column) for column in columns]))
    return Column(columns[0].kind, starts, np.concatenate(values), words)


def without_unused(column: Column) -> Column:
    """Return the column without the words that no document has."""
    if column.kind != "text":
        return column
    used, values = np.unique(column.values, return_inverse=True)
    return replace(column, values=values.astype(np.int32), words=Strings.of(column.words).take(used))
