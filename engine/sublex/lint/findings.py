"""The record of a fault that a check finds, and pieces of its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sublex.contracts.base import NO_FIELDS, Report

ERROR, NOTE = "error", "note"
# A finding names at most this number of further lines.
LISTED = 4
# A finding shows at most this number of characters of an id.
ID_LENGTH = 60


class Finding(NamedTuple):
    """A fault that one rule found in a file: its first line, a text, and the number of times it was found.

    The line is 0 if the file has no lines.

    `severity` is "error" if the fault changes or prevents measures, and "note" otherwise. `more` has the numbers of
    some further lines with the fault.
    """

    file: str
    line: int
    rule: str
    severity: str
    text: str
    times: int = 1
    more: tuple[int, ...] = ()

    @classmethod
    def at(cls, file: str, lines: Any, rule: str, severity: str, text: str, times: int | None = None) -> Finding:
        """Return a finding about these lines. The text describes the first line. `times` defaults to the number of lines."""
        listed = [int(line) for line in lines[: LISTED + 1]]
        more = tuple(line for line in listed[1:] if line)
        return cls(file, listed[0] if listed else 0, rule, severity, text, len(lines) if times is None else times, more)


def show_id(text: str) -> str:
    """Return an id for a message: shortened if it is long, and quoted if it is empty or has spaces or unprintable characters."""
    text = text if len(text) <= ID_LENGTH else f"{text[:ID_LENGTH]}…"
    return text if text and text.isprintable() and " " not in text else repr(text)


def show_ids(texts: Sequence[str], most: int = 3) -> str:
    """Return at most `most` of several ids as a text for a message."""
    first = ", ".join(show_id(text) for text in texts[:most])
    return f"{first}, …" if len(texts) > most else first


def as_sentence(text: str) -> str:
    """Return a text with a capital letter at its beginning and a full stop at its end."""
    first = text.split(" ")[0]
    capital = text[:1].upper() if first.isalpha() else text[:1]
    return f"{capital}{text[1:].removesuffix('.')}."


def notes_as_findings(path: str, report: Report, lines: Mapping[str, int] = NO_FIELDS) -> list[Finding]:
    """Return the notes of a reader as findings; `lines` has the line of each note whose line is known."""
    return [
        Finding.at(
            path, [lines.get(note, 0)], "encoding" if "Latin-1" in note else "reader", NOTE,
            as_sentence(note.removeprefix(f"{path}: ")), times,
        )
        for note, times in report.notes.items()
    ]  # fmt: skip
