"""The columns of a segment while it is built: values are read from the documents' fields, and collected by column.

`read_columns` does the expensive work for one batch and may run in any thread; `ColumnsCollector.add` takes the results in order.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.columns import KINDS, Column, days_of
from sublex.contracts.fields import expect_name
from sublex.errors import InputError
from sublex.index.components.columns import DTYPES, NO_WORDS, ColumnsWriter, value_counts
from sublex.index.format import FolderWriter
from sublex.index.offsets import starts_of
from sublex.index.segment import Segment
from sublex.language.conditions import KEYWORDS
from sublex.readers.batch import Batch, encode
from sublex.tools.arguments import shown
from sublex.tools.messages import in_short
from sublex.tools.strings import Strings, end_to_end

# The type of a column if the user gives no type.
_DEFAULT = "text"
_WHOLE = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_LEAST, _MOST = -(2**63), 2**63 - 1
# A float holds every whole number below this number exactly.
_EXACT = 2.0**53
# The number of bytes that a distinct text takes in memory in addition to its own bytes.
_BYTES_PER_WORD = 150
# If a column has no value, a message names fields of the first documents of a batch. Here are the number of documents, and the
# largest number of names.
_DOCUMENTS, _NAMED = 100, 12
# The largest number of characters of a value that a message shows.
_LONGEST = 60


def columns_of(given: str | Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    """Return the types of columns by their names. Users give columns as "year:int,category", as a list, or as a mapping.

    Raise `InputError` if a name or a type cannot be that of a column.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        if any(name in ("id", "text", "title") and kind not in KINDS for name, kind in given.items()):
            raise InputError(
                "columns= names typed columns of the index, such as 'year:int'; "
                f"say by roles={dict(given)!r} which fields hold the id, the text and the title."
            )
        pairs = list(given.items())
    elif isinstance(given, Iterable):
        items = given.split(",") if isinstance(given, str) else list(given)
        pairs = []
        for item in items:
            if not isinstance(item, str):
                raise InputError(f"A column is {shown(item)}; give a name and a type, such as 'year:int'.")
            if item.strip():
                name, colon, kind = item.partition(":")
                pairs.append((name.strip(), kind.strip() if colon else _DEFAULT))
    else:
        raise InputError(f"The columns are {shown(given)}; give names and types, such as 'year:int,category'.")
    columns: dict[str, str] = {}
    for name, kind in pairs:
        expect_name(name, "column", columns)
        if name.lower() in KEYWORDS or ".." in name:
            raise InputError(
                f"A column cannot have the name {name}, which has another meaning in conditions; give the field another name."
            )
        if kind not in KINDS:
            raise InputError(f"The column {name} has the type {shown(kind)}; the types are {', '.join(KINDS)}.")
        columns[name] = kind
    return columns


class First(NamedTuple):
    """An example for messages, such as a batch's first faulty value: the document's docno, and the value as JSON."""

    docno: str
    value: str


class BatchColumn(NamedTuple):
    """The values of a batch's documents in one column.

    `counts` has the number of values of each indexed document. The values of a document are distinct and ascend. For a
    column of texts, `values` are places in `words`, which ascend by their bytes. `faulty` is the number of values that
    do not have the column's type. `first` is the first value with this type, and `first_faulty` the first one without
    it.
    """

    counts: np.ndarray
    values: np.ndarray
    words: list[bytes]
    first: First | None
    faulty: int
    first_faulty: First | None


class BatchColumns(NamedTuple):
    """The columns of a batch by name.

    If a column has no value in the batch, `fields` has the names of the fields of the first documents, for a message.
    """

    columns: dict[str, BatchColumn]
    fields: frozenset[str]


def read_columns(batch: Batch, keep: np.ndarray, kinds: Mapping[str, str]) -> BatchColumns:
    """Read the columns of the documents that the mask `keep` selects. `kinds` has the type of each column by its name."""
    docs = np.flatnonzero(keep).tolist()
    records = _records(batch, docs)
    columns = {
        name: _read_column([record.get(name) for record in records], kind, lambda k: batch.docno(docs[k]))
        for name, kind in kinds.items()
    }
    lacking = any(not column.counts.any() for column in columns.values())
    return BatchColumns(columns, frozenset().union(*records[:_DOCUMENTS]) if lacking else frozenset())


def _records(batch: Batch, docs: list[int]) -> list[dict[str, Any]]:
    """Return the stored fields of documents of a batch, which are given by their places in the batch."""
    data, ends = batch.extra.tobytes(), batch.extra_ends.tolist()
    pieces = [data[ends[doc - 1] if doc else 0 : ends[doc]] or b"{}" for doc in docs]
    with suppress(ValueError, RecursionError):
        # It is several times faster to read one JSON array than to read its items one by one.
        records = json.loads(b"[" + b",".join(pieces) + b"]")
        if len(records) == len(docs):
            return records
    records = []
    for doc, piece in zip(docs, pieces, strict=True):
        try:
            records.append(json.loads(piece))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"The fields of document {batch.docno(doc)} cannot be read ({in_short(error)}); nothing was indexed."
            ) from None
    return records


def _read_column(given: list[Any], kind: str, docno: Callable[[int], str]) -> BatchColumn:
    """Convert the values of one field to a column of the type `kind`.

    `given` has the field's value, or list of values, of each document, and `docno` returns the docno at a place in it.
    """
    convert = _CONVERTERS[kind]
    values: list[Any] = []
    counts = np.zeros(len(given), np.int64)
    first = first_faulty = None
    faulty = 0
    # Many documents have the same texts, such as the name of a category.
    known: dict[str, Any] = {}
    for place, one in enumerate(given):
        if one is None:
            continue
        if type(one) is str and one in known:
            counts[place] = 1
            values.append(known[one])
            continue
        found = []
        for item in one if type(one) is list else (one,):
            if item is None or item != item or (type(item) is str and not item.strip()):
                continue
            value = convert(item)
            if value is None:
                faulty += 1
                first_faulty = first_faulty or First(docno(place), _shown(item))
            else:
                found.append(value)
        if len(found) > 1:
            found = sorted(set(found))
        if found and not first:
            first = First(docno(place), _shown(one))
        counts[place] = len(found)
        values += found
        if type(one) is str and found:
            known[one] = found[0]
    words: list[bytes] = []
    if kind == "text":
        words = sorted(set(values))
        codes = {word: code for code, word in enumerate(words)}
        values = [codes[value] for value in values]
    return BatchColumn(counts, np.array(values, DTYPES[kind]), words, first, faulty, first_faulty)


def _shown(value: Any) -> str:
    """Return a value as JSON on one line, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# Functions that return a field's value as a value of a column, or None if it does not have the type of the column.


def _whole(value: Any) -> int | None:
    if type(value) is str:
        text = value.strip()
        value = int(text) if _WHOLE.fullmatch(text) else _number(text)
    if type(value) is float and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    return value if type(value) is int and _LEAST <= value <= _MOST else None


def _number(value: Any) -> float | None:
    if type(value) is str:
        value = float(value) if _NUMBER.fullmatch(value.strip()) else None
    elif type(value) is int:
        value = float(value) if value.bit_length() < 1000 else None
    # Adding 0.0 makes 0.0 of -0.0, so that both count as one value.
    return value + 0.0 if type(value) is float and math.isfinite(value) else None


def _day(value: Any) -> int | None:
    # A whole number may mean a year, such as 2015, or a day, such as 20150314.
    days = days_of(str(value)) if type(value) in (str, int) else None
    return days[0] if days else None


def _text(value: Any) -> bytes | None:
    if type(value) is str:
        return encode(value.strip())
    return json.dumps(value).encode() if type(value) in (bool, int, float) else None


_CONVERTERS: dict[str, Callable[[Any], Any]] = {"int": _whole, "float": _number, "date": _day, "text": _text}


def _likely_type(kind: str, first: First | None, faulty: First) -> str:
    """Return the type that a column should have instead of `kind`, for the message about its faulty values.

    `first` is its first value of the type `kind`, and `faulty` its first value of another type.
    """
    try:
        values = [json.loads(each.value) for each in (faulty, first) if each]
    except ValueError:
        # The value was too long, so it was cut and is no longer JSON.
        return "text"
    others = ("float", "date") if kind == "int" else ("date", "int", "float")
    fitting = (o for o in others if o != kind and all(_CONVERTERS[o](value) is not None for value in values))
    return next(fitting, "text")


class _ColumnValues:
    """The values of one column in memory."""

    def __init__(self, kind: str):
        self.kind = kind
        self.codes: dict[bytes, int] = {}
        self.counts: list[np.ndarray] = [np.empty(0, np.uint8)]
        self.values: list[np.ndarray] = [np.empty(0, DTYPES[kind])]
        self.nbytes = 0

    def add(self, part: BatchColumn) -> None:
        """Append the values of a batch."""
        counts, values = part.counts.astype(np.min_scalar_type(part.counts.max(initial=0))), part.values
        if self.kind == "text":
            known = len(self.codes)
            own = [self.codes.setdefault(word, len(self.codes)) for word in part.words]
            values = np.array(own, np.int32)[values]
            new = len(self.codes) - known
            if new:
                # Each new word of a batch is counted with the average length of the batch's words.
                self.nbytes += new * (_BYTES_PER_WORD + sum(map(len, part.words)) // len(part.words))
        self.counts.append(counts)
        self.values.append(values)
        # The factor 2 is there because the parts are joined when they are written.
        self.nbytes += 2 * (counts.nbytes + values.nbytes)

    def column(self) -> Column:
        """Return the column of all documents."""
        counts, values, words = np.concatenate(self.counts), np.concatenate(self.values), NO_WORDS
        if self.kind == "text":
            ordered = sorted(self.codes)
            ranks = np.empty(len(ordered), np.int32)
            ranks[np.fromiter(map(self.codes.__getitem__, ordered), np.int64, len(ordered))] = np.arange(len(ordered))
            # Within its batch, the values of a document ascend by their texts. So they ascend by these ranks too.
            values, words = ranks[values], Strings.joined(*end_to_end(ordered))
        return Column(self.kind, None if (counts == 1).all() else starts_of(counts), values, words)


class ColumnsCollector:
    """Collects the columns of a segment in memory, and writes them. `kinds` has their types by name."""

    def __init__(self, folder: FolderWriter, kinds: Mapping[str, str]):
        self._folder, self._kinds = folder, kinds
        self._collected = {name: _ColumnValues(kind) for name, kind in kinds.items()}

    @property
    def nbytes(self) -> int:
        """The memory, in bytes, that the columns take."""
        return sum(collected.nbytes for collected in self._collected.values())

    def add(self, batch: BatchColumns) -> None:
        """Append the values of the next documents."""
        for name, collected in self._collected.items():
            collected.add(batch.columns[name])

    def finish(self) -> None:
        """Write all columns."""
        writer = ColumnsWriter(self._folder, self._kinds)
        for name in sorted(self._collected):
            writer.write(name, self._collected.pop(name).column())


class ColumnCounts:
    """Counts the values of each column during a build, and refuses a column with values of two types.

    `kinds` has the types of columns by name.
    """

    def __init__(self, kinds: Mapping[str, str]):
        self._kinds = kinds
        self._values = dict.fromkeys(kinds, 0)
        self._faulty = dict.fromkeys(kinds, 0)
        self._first: dict[str, First | None] = dict.fromkeys(kinds)
        self._first_faulty: dict[str, First | None] = dict.fromkeys(kinds)
        self._fields: set[str] = set()

    def add(self, batch: BatchColumns) -> None:
        """Count the values of the next batch."""
        for name, column in batch.columns.items():
            self._values[name] += len(column.values)
            self._faulty[name] += column.faulty
            self._first[name] = self._first[name] or column.first
            self._first_faulty[name] = self._first_faulty[name] or column.first_faulty
        self._fields |= batch.fields

    def add_known(self, segment: Segment) -> None:
        """Count the values of a segment that this build wrote before it was interrupted."""
        for name in self._kinds:
            column = segment.column(name)
            self._values[name] += len(column.values)
            if len(column.values) and not self._first[name]:
                doc = int(np.flatnonzero(value_counts(column))[0])
                self._first[name] = First(segment.docno(doc), _shown(column.shown(column.values[0])))

    def refuse_two_types(self) -> None:
        """Raise InputError if a column has values of another type than its own."""
        for name, kind in self._kinds.items():
            bad, good = self._faulty[name], self._values[name]
            first, faulty = self._first[name], self._first_faulty[name]
            if faulty:
                right = (
                    f"{good:,} are {KINDS[kind]}, the first {first.value} in document {first.docno}" if first else ""
                )
                remedy = (
                    f"build the index with {name}:{_likely_type(kind, first, faulty)}"
                    if kind != "text"
                    else "leave out the column"
                )
                others = f"{bad:,} are not, the first {faulty.value} in document {faulty.docno}"
                raise InputError(
                    f"Of {good + bad:,} values of the column {name}:{kind}, {right or f'none are {KINDS[kind]}'}, and "
                    f"{others}; nothing was indexed: correct the values, or {remedy}."
                )

    def refuse_missing(self) -> None:
        """Raise InputError if no document has a value in some column."""
        for name, values in self._values.items():
            if not values:
                fields = sorted(self._fields)
                listed = ", ".join(fields[:_NAMED]) + ", …" * (len(fields) > _NAMED)
                known = f"the stored fields are {listed}" if fields else "the documents have no stored fields"
                raise InputError(
                    f"No document has a value in the stored field {name}, so it makes no column and nothing was indexed; "
                    f"{known}."
                )
