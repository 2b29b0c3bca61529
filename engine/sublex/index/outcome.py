"""What became of the documents a build read: the table every build ends with."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sublex.base import Problem, Report

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def visible(text: str) -> str:
    """Text on one line: tabs, line ends and their like as they are written in Python."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


@dataclass
class Outcome:
    """Counts, and the ids behind them."""

    read: int = 0
    indexed: int = 0
    empty: list[str] = field(default_factory=list)
    duplicate: list[str] = field(default_factory=list)
    white_space: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    fields: dict[str, int] = field(default_factory=dict)

    def take(self, report: Report) -> None:
        """Add what a reader reported."""
        Report(problems=self.problems, notes=self.notes, fields=self.fields).merge(report)

    def rows(self) -> list[tuple[str, int, list[str]]]:
        """What, how many, which."""
        return [
            ("read", self.read + len(self.problems), []),
            ("indexed", self.indexed, []),
            ("empty (indexed, but no terms)", len(self.empty), self.empty),
            ("duplicate docno", len(self.duplicate), self.duplicate),
            ("malformed (left out)", len(self.problems), list(map(str, self.problems))),
            ("docno with white space", len(self.white_space), self.white_space),
        ]

    def remarks(self) -> list[str]:
        """What a user should know beside the counts."""
        said = [f"{note} ({times:,} times)." if times > 1 else f"{note}." for note, times in self.notes.items()]
        roles: dict[str, list[str]] = {}
        for key in self.fields:
            role, name = key.split("=", 1)
            roles.setdefault(role, []).append(name)
        if roles:
            said.append(
                "Fields: " + "; ".join(f"{role} from {', '.join(names[:10])}" for role, names in roles.items()) + "."
            )
        if len(self.empty) > 0.05 * self.read:
            share = len(self.empty) / self.read
            said.append(
                f"Warning: {share:.0%} of the documents give no terms; is the text in another field, or the analyzer wrong?"
            )
        return said

    def write(self, path: Path) -> None:
        """List every document that a row speaks of, one a line."""
        lines = [f"{what}\t{visible(which)}\n" for what, _, listed in self.rows() for which in listed]
        path.write_text("".join(lines), encoding="utf-8", errors="replace")

    def to_json(self) -> dict[str, Any]:
        """For the journal of a build."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outcome:
        """From the journal of a build."""
        return cls(**(data | {"problems": [Problem(*problem) for problem in data["problems"]]}))
