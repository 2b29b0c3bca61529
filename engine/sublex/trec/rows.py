"""Read the rows of runs and judgements, and report the faults of a file to a listener.

A reader that finds a fault reports the fault to the listener, leaves the line out and reads on. The listener decides
what happens. The listener `refuse` raises InputError; the listener of `sublex.lint` collects all faults of a file.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sublex.contracts.base import NO_FIELDS, Report
from sublex.errors import InputError
from sublex.readers import lines
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.columns import first_repeated

# The layout of a file is detected from this number of lines.
LINES_READ = 200
# To detect the layout, a line is split into at most this number of cells. Every layout has fewer columns.
CELLS_READ = 8
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# Texts that C and Python read as infinity or NaN.
NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
# The byte order marks of UTF-16.
UTF16 = (b"\xff\xfe", b"\xfe\xff")
# Names of columns in the header lines of qrels and runs.
HEADINGS = {
    "qid", "query", "query_id", "query-id", "queryid", "topic", "topic_id", "docno", "docid", "doc_id", "doc-id", "corpus-id",
    "document", "rank", "score", "rel", "relevance", "label", "grade", "judgment", "judgement", "tag",
}  # fmt: skip


class Fault(NamedTuple):
    """A kind of fault, and the numbers of the lines with this fault, ascending.

    In JSON, the number is 0.

    `refusal` is the error message about the first of these lines; it is empty if Sublex accepts files with this fault.
    `about` has facts about the first line, for other messages.
    """

    kind: str
    lines: Sequence[int] | np.ndarray
    refusal: str = ""
    about: Mapping[str, Any] = NO_FIELDS


# A function that takes the faults of one part of a file, in any order.
Listener = Callable[[Sequence[Fault]], object]


def refuse(faults: Sequence[Fault]) -> None:
    """Raise InputError about the first fault that Sublex does not accept. Ignore other faults."""
    refused = [fault for fault in faults if fault.refusal]
    if refused:
        raise InputError(min(refused, key=lambda fault: fault.lines[0]).refusal)


class Rows(NamedTuple):
    """Hits or judgements in the order of the file: `topics` are places in `qids`, and `docs` places in `docnos`.

    `values` are their scores or grades, and `lines` their lines.
    """

    qids: list[str]
    docnos: Strings
    topics: np.ndarray
    docs: np.ndarray
    values: np.ndarray
    lines: np.ndarray

    def without(self, rows: np.ndarray) -> Rows:
        """Return all rows except the rows at the places `rows`."""
        return Rows(*self[:2], *(np.delete(column, rows) for column in self[2:])) if len(rows) else self


def pieces_of_text(
    stream: BinaryIO, path: str, size: int, listen: Listener, report: Report
) -> Iterator[tuple[int, bytes]]:  # fmt: skip
    """Yield a file in pieces of about `size` bytes.

    A piece is whole lines in UTF-8, with the number of its first line.

    Report lines that are not UTF-8 and lines with a NUL byte. Raise InputError for a file in UTF-16.
    """
    for first, data in lines.whole_lines(stream, size, lines.refuse(path)):
        if first == 1 and (data[:2] in UTF16 or (len(data) > 20 and not any(data[1:20:2]))):
            raise InputError(f"{path} is in UTF-16; save it as UTF-8.")
        text = lines.utf8_lines(data, path, report)
        if text is not data:
            pairs = zip(data.split(b"\n"), text.split(b"\n"), strict=True)
            listen([Fault("encoding", [first + k for k, (before, after) in enumerate(pairs) if before != after])])
        if b"\0" in text:
            buf = np.frombuffer(text, np.uint8)
            at = np.searchsorted(np.flatnonzero(buf == ord("\n")), np.flatnonzero(buf == 0))
            refusal = (
                f"{path}:{first + at[0]}: the line has a NUL byte, at which trec_eval cuts an id; remove the byte."
            )
            listen([Fault("nul", first + np.unique(at), refusal)])
        yield first, text


def first_rows(data: bytes) -> list[list[bytes]]:
    """Return the cells of the first lines that are neither blank nor comments.

    Only the first cells of a long line are returned.
    """
    rows = (line.split(None, CELLS_READ) for line in io.BytesIO(data))
    return list(islice((cells for cells in rows if cells and cells[0][:1] != b"#"), LINES_READ))


def is_number(cell: bytes) -> bool:
    """Return whether C and Python read a text as a number, finite or not."""
    return bool(NUMBER.fullmatch(cell) or NOT_FINITE.fullmatch(cell))


def miscounted(
    path: str, columns: Sequence[str], expected: str, lines: np.ndarray, counts: np.ndarray
) -> list[Fault]:  # fmt: skip
    """Return the faults of lines that have fewer or more cells than `columns` has names.

    `counts` has the cells per line.
    """
    faults = []
    for kind, wrong in (("few columns", counts < len(columns)), ("many columns", counts > len(columns))):
        if wrong.any():
            what = f"{counted(int(counts[wrong][0]), 'column')} where {len(columns)} should be"
            refusal = f"{path}:{lines[wrong][0]}: {what}; {expected}."
            faults.append(Fault(kind, lines[wrong], refusal, {"what": f"{what}, {' '.join(columns)}"}))
    return faults


def header(line: int, cells: Sequence[str], refusal: str) -> list[Fault]:
    """Return the fault of a header: a first row whose cells are names of columns. Return [] for any other row."""
    facts = {"names": " ".join(cells)[:80], "first": cells[0][:40]}
    return [] if HEADINGS.isdisjoint(map(str.lower, cells)) else [Fault("header", [line], refusal, facts)]


def report_repeated(
    rows: Rows, path: str, listen: Listener, refusal: Callable[[Mapping[str, Any]], str]
) -> np.ndarray:  # fmt: skip
    """Report documents that a topic has more than once, and return the places of the repeated rows.

    `refusal` makes the message about a document that is repeated with another score or grade. It is called with `qid`,
    `docno`, `value` and `line` of the row, `value_before` and `line_before` of the earlier row, and `where`, which
    begins the message.
    """
    earlier, later = first_repeated(rows.topics, rows.docs)
    differs = rows.values[earlier] != rows.values[later]
    for kind, chosen in (("same number", ~differs), ("other number", differs)):
        if chosen.any():
            before, again = int(earlier[chosen][0]), int(later[chosen][0])
            line = int(rows.lines[again])
            about = {
                "where": f"{path}:{line}: " if line else f"{path}: " if path else "", "line": line,
                "qid": rows.qids[rows.topics[again]], "docno": rows.docnos[int(rows.docs[again])],
                "value": rows.values[again], "value_before": rows.values[before], "line_before": int(rows.lines[before]),
            }  # fmt: skip
            listen([Fault(kind, rows.lines[later[chosen]], refusal(about) if kind == "other number" else "", about)])
    return later
