"""Collections, streamed: only docnos are kept, for telling that one comes twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from sublex import plugins
from sublex.analysis.interner import Interner
from sublex.base import Document, Report
from sublex.lint.check_ids import check_clashes, check_names, number
from sublex.lint.findings import ERROR, NOTE, Finding, Ids, counted, finding, sentence, shown
from sublex.readers import choose_readers, detect_reader
from sublex.readers.source import FileSource
from sublex.strings import Strings

# So many docnos are numbered at once.
BATCH = 1 << 13


class Collection:
    """The docnos of one collection, which may be several files, and where each was first seen."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._table = Interner()
        # For each docno, in pieces, the place of its file and the line.
        self._places: list[np.ndarray] = [np.empty((0, 2), np.int64)]

    def docnos(self) -> Ids:
        """All docnos so far."""
        places = np.concatenate(self._places)
        return Ids(self._table.strings(), self.files[0] if len(self.files) == 1 else "the collection", places[:, 1])

    def lint(self, source: FileSource) -> tuple[str, list[Finding]]:
        """Read one more file or folder: what it holds, and what is wrong with it."""
        documents, forms, found = 0, [], []
        registry, notes = plugins.load(), Report()
        known = detect_reader(source, registry, None)
        for chosen in [known] if known else choose_readers([source.path], registry, None, notes):
            self.files.append(chosen.source.path)
            report, seen = Report(), _Seen()
            for batch in _batches(chosen.reader.read(chosen.source, report), report, seen):
                self._add(batch, seen)
            documents += seen.documents
            forms.append(chosen.name)
            found += seen.said(self, chosen.source.path, report)
        found += _notes(source.path, notes, {})
        return f"{counted(documents, 'document')} ({', '.join(dict.fromkeys(forms))})", found

    def check(self) -> list[Finding]:
        """What is doubtful about the docnos, of each file and of all together."""
        ids, files = self.docnos(), np.concatenate(self._places)[:, 0]
        found: list[Finding] = []
        for place, path in enumerate(self.files):
            mine = np.flatnonzero(files == place)
            found += check_names(Ids(ids.strings.take(mine), path, ids.lines[mine]), "docno")
        # Lines of several files say nothing together.
        lines = ids.lines if len(self.files) < 2 else np.zeros_like(ids.lines)
        return found + list(check_clashes(ids._replace(lines=lines), "docno"))

    def _add(self, batch: list[tuple[str, int]], seen: _Seen) -> None:
        known = self._table.size
        numbers = number(self._table, Strings.of(docno for docno, _ in batch))
        lines = np.array([line for _, line in batch], np.int64)
        values, at = np.unique(numbers, return_index=True)
        first = np.zeros(len(numbers), np.bool_)
        first[at[values >= known]] = True
        self._places.append(np.stack([np.full(first.sum(), len(self.files) - 1), lines[first]], axis=1))
        seen.repeated += zip(lines[~first].tolist(), numbers[~first].tolist(), strict=True)

    def said(self, number: int) -> str:
        """A docno by its number, and where it was first seen."""
        file, line = np.concatenate(self._places)[number]
        where = f"on line {line}" if line else "before"
        other = "" if file == len(self.files) - 1 else f" of {self.files[file]}" if line else f" in {self.files[file]}"
        return f"{shown(self.docnos().strings[number])} is there already {where}{other}"


def _batches(documents: Iterable[Document], report: Report, seen: _Seen) -> Iterator[list[tuple[str, int]]]:
    """Docnos and their lines, some at a time, of documents that have been looked at."""
    held: list[tuple[str, int]] = []
    for document in documents:
        seen.look(document, report)
        held.append((document.docno, report.line))
        if len(held) == BATCH:
            yield held
            held = []
    yield held


class _Seen:
    """What was noticed in one file: the lines, and the first docno of each kind."""

    def __init__(self) -> None:
        self.documents = 0
        self.repeated: list[tuple[int, int]] = []
        self.empty: list[tuple[int, str]] = []
        self.nul: list[tuple[int, str]] = []
        self.notes: dict[str, int] = {}

    def look(self, document: Document, report: Report) -> None:
        """At one document, and at what the reader noted since the one before."""
        self.documents += 1
        docno, line = document.docno, report.line
        if len(report.notes) > len(self.notes):
            for note in report.notes:
                self.notes.setdefault(note, line)
        if not document.text.strip() and not document.title.strip():
            self.empty.append((line, docno))
        if "\0" in docno or "\0" in document.text:
            self.nul.append((line, docno))

    def said(self, collection: Collection, path: str, report: Report) -> list[Finding]:
        """All of it as findings."""
        found = []
        if report.problems:
            lines = [problem.line for problem in report.problems]
            text = f"The record is malformed and left out of an index: {report.problems[0].reason}."
            found.append(finding(path, lines, "record", ERROR, text))
        if self.repeated:
            text = (
                f"{collection.said(self.repeated[0][1])}: an index holds each docno once, so one of the two is left out or the "
                "build refused."
            )
            found.append(finding(path, [line for line, _ in self.repeated], "duplicate", ERROR, text))
        for listed, rule, text in (
            (self.empty, "empty", "has no text: no query finds it"),
            (self.nul, "nul", "holds a NUL byte, at which many programs end a text"),
        ):
            if listed:
                lines = [line for line, _ in listed]
                found.append(finding(path, lines, rule, NOTE, f"{shown(listed[0][1])} {text}."))
        return found + _notes(path, report, self.notes)


def _notes(path: str, report: Report, lines: Mapping[str, int]) -> list[Finding]:
    found = []
    for note, times in report.notes.items():
        text = note.removeprefix(f"{path}: ")
        rule = "encoding" if "Latin-1" in note else "reader"
        found.append(finding(path, [lines.get(note, 0)], rule, NOTE, sentence(text), times))
    return found
