"""Records and the protocols of the plug-in kinds. Nothing here does work or imports anything heavy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, Protocol, runtime_checkable

from sublex.errors import InputError

NO_FIELDS: Mapping[str, Any] = {}


class Document(NamedTuple):
    """One document: the user's id, an optional title, the text, and any other fields to store."""

    docno: str
    text: str
    title: str = ""
    fields: Mapping[str, Any] = NO_FIELDS

    @property
    def contents(self) -> str:
        """What is indexed: title, newline, text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class Problem(NamedTuple):
    """A record that could not be read: where, and why."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass
class Report:
    """What a reader noticed: malformed records, notes a user should see, the fields it took."""

    strict: bool = False
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    fields: dict[str, int] = field(default_factory=dict)

    def malformed(self, file: str, line: int, reason: str) -> None:
        """Record a malformed record; under `strict` it ends the build."""
        problem = Problem(file, line, reason)
        if self.strict:
            raise InputError(f"{problem} (--strict stops here).")
        self.problems.append(problem)

    def note(self, text: str, times: int = 1) -> None:
        """Say something once, with how often it happened."""
        self.notes[text] = self.notes.get(text, 0) + times

    def used(self, role: str, name: str, times: int = 1) -> None:
        """Count that the collection's field `name` served as `role` (docno, title or text)."""
        key = f"{role}={name}"
        self.fields[key] = self.fields.get(key, 0) + times

    def merge(self, other: Report) -> None:
        """Add what another report holds."""
        self.problems += other.problems
        for mine, theirs in ((self.notes, other.notes), (self.fields, other.fields)):
            for key, times in theirs.items():
                mine[key] = mine.get(key, 0) + times


class Source(Protocol):
    """A file, folder, dataset name or standard input that a reader reads."""

    path: str

    def open(self) -> BinaryIO:
        """The bytes, decompressed, as a stream."""
        ...


@runtime_checkable
class Reader(Protocol):
    """Turns the files of one format into documents, one at a time."""

    def detect(self, path: str, head: bytes) -> bool:
        """Whether this looks like the reader's format; `head` is empty for a folder or a dataset name."""
        ...

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Stream the documents of one source; malformed records go to the report."""
        ...


@runtime_checkable
class Analyzer(Protocol):
    """Turns raw tokens into terms, the same for documents and queries.

    It may also have `batch(tokens)`, many tokens at once (see `sublex.analysis.tokens.terms_of`); `settings()`, the
    `{"name": …, "params": {…}}` to store in place of what the user wrote; `versions()`, of the parts that shape terms;
    and `stages(text)` for `sublex analyze`.
    """

    def terms(self, token: str) -> list[str]:
        """The terms of one raw token; depends on the token alone, so it is asked once for each distinct one."""
        ...


@dataclass(frozen=True)
class Param:
    """One declared parameter of a plug-in."""

    name: str
    type: type
    default: Any
    stage: str = "query"
    range: tuple[Any, ...] | None = None
    help: str = ""
