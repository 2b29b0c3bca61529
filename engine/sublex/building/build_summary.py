"""The summary of a build: how many documents were read and indexed, and which documents were left out or are unusual."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from sublex.contracts.base import Problem, Report
from sublex.forms.parts import InParts, Part
from sublex.forms.tables import Table
from sublex.index.entries import Count
from sublex.tools.messages import counted

# If the share of documents without terms is greater than this, the summary has a warning.
MANY_EMPTY = 0.05
# The largest number of names of fields that the summary shows for a role.
SHOWN_FIELDS = 10
# The largest number of docnos or records in a row of the table, and of characters of each.
SHOWN_IDS, LONGEST_ID = 3, 60
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def visible(text: str) -> str:
    """Return text on one line: control characters, tabs and line ends are written as Python escapes."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def _first(entries: Iterable[str], number: int = SHOWN_IDS) -> str:
    """Return the first few docnos or malformed records, each on one line and cut where it is long."""
    head = list(islice(map(visible, entries), number + 1))
    short = (entry if len(entry) < LONGEST_ID else f"{entry[: LONGEST_ID - 3]}…" for entry in head[:number])
    return ", ".join(short) + (", …" if len(head) > number else "")


class Outcome(NamedTuple):
    """A `BuildSummary` as the journal of a build stores it. Each malformed record is a list of JSON values."""

    read: Count
    indexed: Count
    empty: list[str]
    duplicate: list[str]
    white_space: list[str]
    problems: list[list[object]]
    notes: dict[str, Count]
    fields: dict[str, Count]


@dataclass(repr=False)
class BuildSummary(InParts):
    """Numbers of documents, and the docnos behind them.

    `read` and `indexed` are numbers of documents. `empty` lists the docnos of documents that were indexed without a
    term. `duplicate` lists docnos that occurred before, and `white_space` lists docnos with white space. `problems`
    lists malformed records. `notes` maps each sentence of the readers to the number of times that they reported it, and
    `fields` maps each field to the number of times that they used it.
    """

    read: int = 0
    indexed: int = 0
    empty: list[str] = field(default_factory=list)
    duplicate: list[str] = field(default_factory=list)
    white_space: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    fields: dict[str, int] = field(default_factory=dict)

    def add_report(self, report: Report) -> None:
        """Add the problems, notes and fields that a reader reported."""
        Report(problems=self.problems, notes=self.notes, fields=self.fields).merge(report)

    def note(self, text: str, times: int = 1) -> None:
        """Add a sentence for the user. If the sentence is there already, only its count rises."""
        self.add_report(Report(notes={text: times}))

    def rows(self) -> list[tuple[str, int, list[str]]]:
        """Return the rows of the summary's table: (label, count, docnos or malformed records)."""
        return [
            ("read", self.read + len(self.problems), []),
            ("indexed", self.indexed, []),
            ("empty (indexed, but no terms)", len(self.empty), self.empty),
            ("duplicate docno", len(self.duplicate), self.duplicate),
            ("malformed (left out)", len(self.problems), list(map(str, self.problems))),
            ("docno with white space", len(self.white_space), self.white_space),
        ]

    def table(self) -> list[tuple[str, int, str]]:
        """Return the rows of the summary's table with the first few docnos or malformed records as text."""
        return [(label, count, _first(listed)) for label, count, listed in self.rows()]

    def parts(self) -> list[Part]:
        """Return the table and the remarks."""
        rows = [[label, f"{count:,}", listed] for label, count, listed in self.table()]
        return [Table(["documents", "number", "the first of them"], rows, 3), *self.remarks()]

    def __repr__(self) -> str:
        counts = {"read": self.read + len(self.problems), "indexed": self.indexed, "duplicate": len(self.duplicate)}
        counts["malformed"] = len(self.problems)
        return f"<{', '.join(f'{count:,} {label}' for label, count in counts.items())}>"

    def warnings(self, holder: str, duplicates_chosen: bool = False) -> list[str]:
        """Return warnings for Python code: the documents that were left out, the readers' notes, and many empty documents.

        `holder` names the object that holds this summary. `duplicates_chosen` says that the user chose a rule for documents
        with known docnos; then no warning counts them.
        """
        left_out = {"a docno that came before": [] if duplicates_chosen else self.duplicate}
        left_out["a fault"] = [str(problem) for problem in self.problems]
        reasons = [f"{len(those):,} for {why} ({_first(those, 1)})" for why, those in left_out.items() if those]
        count = sum(map(len, left_out.values()))
        sentence = (
            f"{counted(count, 'document')} of {self.read + len(self.problems):,} left out: {' and '.join(reasons)}"
        )
        return [*([f"{sentence}; {holder} lists them."] if reasons else []), *self._notes(), *self._empties()]

    def _notes(self) -> list[str]:
        return [f"{note} ({times:,} times)." if times > 1 else f"{note}." for note, times in self.notes.items()]

    def _empties(self) -> list[str]:
        if len(self.empty) <= MANY_EMPTY * self.read:
            return []
        share = len(self.empty) / self.read
        return [
            f"Warning: {share:.0%} of the documents give no terms; is the text in another field, or the analyzer wrong?"
        ]

    def remarks(self) -> list[str]:
        """Return sentences for the user: the readers' notes, the fields used, and a warning about many empty documents."""
        remarks = self._notes()
        roles: dict[str, list[str]] = {}
        for key in self.fields:
            role, name = key.split("=", 1)
            roles.setdefault(role, []).append(name)
        if roles:
            parts = (f"{role} from {', '.join(names[:SHOWN_FIELDS])}" for role, names in roles.items())
            remarks.append(f"Fields: {'; '.join(parts)}.")
        return remarks + self._empties()

    def listing(self) -> str:
        """Return a text with a line for each document that the table's rows list.

        A line is the row's label, a tab and the docno.
        """
        return "".join(f"{label}\t{visible(entry)}\n" for label, _, listed in self.rows() for entry in listed)

    def outcome(self) -> Outcome:
        """Return the summary in the form in which the journal of a build stores it."""
        return Outcome(**(vars(self) | {"problems": list(map(list, self.problems))}))

    @classmethod
    def of(cls, outcome: Outcome) -> BuildSummary:
        """Return the summary that a journal holds."""
        members: dict[str, Any] = outcome._asdict()
        return cls(**(members | {"problems": [Problem(*problem) for problem in members["problems"]]}))
