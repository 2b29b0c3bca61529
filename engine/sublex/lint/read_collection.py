"""Read the files of a collection to their end in spite of faults.

Collect all docnos, and findings about documents.

Documents are streamed; only docnos and the places of faults stay in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.base import Document, Report
from sublex.language import plugins
from sublex.lint.check_ids import check_clashes, check_names, number
from sublex.lint.findings import ERROR, NOTE, Finding, notes_as_findings, show_id
from sublex.lint.located import Ids
from sublex.readers import choose_readers, detect_reader
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.tools.strings import Strings

# The number of docnos that are numbered in one call.
BATCH = 1 << 13


class CollectionDocnos:
    """The docnos of a collection of one or more files, with the file and line where each docno occurs first."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._table = Interner()
        # Arrays that together have a row for each docno. A row is the position of the docno's file in `files`, and its
        # line.
        self._places: list[np.ndarray] = [np.empty((0, 2), np.int64)]

    def docnos(self) -> Ids:
        """Return all docnos read so far."""
        places = np.concatenate(self._places)
        return Ids(self._table.strings(), self.files[0] if len(self.files) == 1 else "the collection", places[:, 1])

    def lint(self, source: FileSource) -> tuple[str, list[Finding]]:
        """Read and check one more file or folder. Return a summary of its contents in words, and the findings about it."""
        documents, forms, findings = 0, [], []
        registry, notes = plugins.load(), Report()
        known = detect_reader(source, registry, None)
        for chosen in [known] if known else choose_readers([source.path], registry, None, notes):
            self.files.append(chosen.source.path)
            report, faults = Report(), _FileFaults()
            for batch in _batches(chosen.documents(report), report, faults):
                self._add(batch, faults)
            documents += faults.documents
            forms.append(chosen.name)
            first = self._first_place(faults.repeated[0][1]) if faults.repeated else ""
            findings += faults.findings(chosen.source.path, report, first)
        findings += notes_as_findings(source.path, notes)
        return f"{counted(documents, 'document')} ({', '.join(dict.fromkeys(forms))})", findings

    def check(self) -> list[Finding]:
        """Return the findings about the docnos of each file, and about docnos of all files that are almost equal."""
        ids, files = self.docnos(), np.concatenate(self._places)[:, 0]
        findings: list[Finding] = []
        for place, path in enumerate(self.files):
            mine = np.flatnonzero(files == place)
            findings += check_names(Ids(ids.strings.take(mine), path, ids.lines[mine]), "docno")
        # With several files, a line number alone does not identify a line.
        lines = ids.lines if len(self.files) < 2 else np.zeros_like(ids.lines)
        return findings + list(check_clashes(ids._replace(lines=lines), "docno"))

    def _add(self, batch: list[tuple[str, int]], faults: _FileFaults) -> None:
        """Number the docnos of a batch. Record the places of new docnos, and report the other docnos as repeated."""
        known = self._table.size
        numbers = number(self._table, Strings.of(docno for docno, _ in batch))
        lines = np.array([line for _, line in batch], np.int64)
        values, at = np.unique(numbers, return_index=True)
        first = np.zeros(len(numbers), np.bool_)
        first[at[values >= known]] = True
        self._places.append(np.stack([np.full(first.sum(), len(self.files) - 1), lines[first]], axis=1))
        faults.repeated += zip(lines[~first].tolist(), numbers[~first].tolist(), strict=True)

    def _first_place(self, number: int) -> str:
        """Return a clause that names a docno and says where it first stands: "b is already on line 2 of one"."""
        file, line = np.concatenate(self._places)[number]
        other = "" if file == len(self.files) - 1 else self.files[file]
        where = f"on line {line}" if line else "in the file"
        if other:
            where = f"on line {line} of {other}" if line else f"in {other}"
        return f"{show_id(self.docnos().strings[number])} is already {where}"


def _batches(
    documents: Iterable[Document], report: Report, faults: _FileFaults
) -> Iterator[list[tuple[str, int]]]:  # fmt: skip
    """Yield the docnos and lines of documents in batches, and inspect each document."""
    batch: list[tuple[str, int]] = []
    for document in documents:
        faults.inspect(document, report)
        batch.append((document.docno, report.line))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


class _FileFaults:
    """The faults of the documents in one file."""

    def __init__(self) -> None:
        self.documents = 0
        # For each repeated docno: its line, and its number in the table of docnos.
        self.repeated: list[tuple[int, int]] = []
        # The line and docno of each document without text, and of each document with a NUL byte.
        self.empty: list[tuple[int, str]] = []
        self.nul: list[tuple[int, str]] = []
        # For each note of the reader: the line of the document after which the note first appeared.
        self.note_lines: dict[str, int] = {}

    def inspect(self, document: Document, report: Report) -> None:
        """Look for faults in one document. Record the document's line for new notes.

        New notes are those that the reader has made since the previous document.
        """
        self.documents += 1
        docno, line = document.docno, report.line
        if len(report.notes) > len(self.note_lines):
            for note in report.notes:
                self.note_lines.setdefault(note, line)
        if not document.text.strip() and not document.title.strip():
            self.empty.append((line, docno))
        if "\0" in docno or "\0" in document.text:
            self.nul.append((line, docno))

    def findings(self, path: str, report: Report, first_place: str) -> list[Finding]:
        """Return the faults as findings. `first_place` returns a clause about the earlier place of a repeated docno."""
        findings = []
        if report.problems:
            lines = [problem.line for problem in report.problems]
            text = f"The record is malformed, so an index leaves it out: {report.problems[0].reason}."
            findings.append(Finding.at(path, lines, "record", ERROR, text))
        if self.repeated:
            text = f"{first_place}: an index holds each docno once, so it leaves one of the two out or is not built; keep one."
            findings.append(Finding.at(path, [line for line, _ in self.repeated], "duplicate", ERROR, text))
        for documents, rule, text in (
            (self.empty, "empty", "has no text, so no query finds it"),
            (self.nul, "nul", "has a NUL byte, at which many programs end a text; remove the byte"),
        ):
            if documents:
                lines = [line for line, _ in documents]
                findings.append(Finding.at(path, lines, rule, NOTE, f"{show_id(documents[0][1])} {text}."))
        return findings + notes_as_findings(path, report, self.note_lines)
