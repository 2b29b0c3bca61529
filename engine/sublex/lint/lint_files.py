"""Lint files of a collection, topics, judgements and runs: each file alone, then all of them together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from sublex.contracts.base import Report
from sublex.errors import InputError
from sublex.lint import reader_faults
from sublex.lint.check_qrels import check_qrels
from sublex.lint.check_rows import check_lines
from sublex.lint.check_run import check_run
from sublex.lint.check_together import check_together
from sublex.lint.check_topics import check_topics
from sublex.lint.findings import ERROR, Finding, as_sentence, notes_as_findings
from sublex.lint.located import Ids, Located
from sublex.lint.read_collection import CollectionDocnos
from sublex.lint.reader_faults import Reported
from sublex.readers.signatures import BOM
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.trec.detect import detect_kind
from sublex.trec.kinds import COLLECTION, KINDS, QRELS, TOPICS
from sublex.trec.qrels_reader import read_judgements
from sublex.trec.rows import UTF16
from sublex.trec.run_reader import read_hits
from sublex.trec.topic_formats import read_records

BOM_TEXT = (
    "The file begins with a byte order mark: trec_eval takes it for part of the first topic id and does not recognise that topic; "
    "save the file as UTF-8 without a byte order mark."
)


class LintedFile(NamedTuple):
    """A file, its kind (empty if unknown), and a summary of its contents, such as "3 hits of 2 topics (six columns)"."""

    file: str
    kind: str
    what: str


class LintResult(NamedTuple):
    """The files in the given order, and the findings in the order of files and lines."""

    files: tuple[LintedFile, ...]
    findings: tuple[Finding, ...]


def lint(
    paths: Sequence[str | os.PathLike[str]], known: Ids | None = None, wanted: Mapping[str, str] | None = None
) -> LintResult:
    """Check files, each alone and all together.

    `known` are the docnos of an index, from `index_docnos`; the documents must be among them. `wanted` maps paths to
    kinds: "collection", "topics", "qrels" or "run". The kinds of other files are detected. Raise InputError for a file
    that does not exist or cannot be opened, and for an unknown kind.
    """
    kinds = wanted or {}
    names = [os.fspath(path) for path in paths]
    for kind in kinds.values():
        if kind not in KINDS:
            raise InputError(f"No kind of file {kind}; there are {', '.join(KINDS)}.")
    for path in names:
        if path != "-" and not os.path.exists(path):
            raise InputError(f"No file or folder {path}.")
        if os.path.isfile(path):
            FileSource(path).open().close()
    contents = _Contents()
    files, alone = [], []
    for path in names:
        file, findings = _lint_file(contents, path, kinds.get(path, ""))
        files.append(file)
        alone += findings
    together = contents.check_together(known)
    # With judgements, a finding says how ties change AP. It replaces the finding about ties in the run alone.
    with_ap = {finding.file for finding in together if finding.rule == "tie"}
    alone = [finding for finding in alone if finding.rule != "tie" or finding.file not in with_ap]
    places = {name: place for place, name in enumerate(reversed(names))}
    ordered = sorted(alone + together, key=lambda finding: (-places.get(finding.file, -1), finding.line))
    return LintResult(tuple(files), tuple(ordered))


class _Contents:
    """The contents of the files read so far, for the checks of files together."""

    def __init__(self) -> None:
        self.runs: list[Located] = []
        self.qrels: list[Located] = []
        self.topics: list[Ids] = []
        self.collection = CollectionDocnos()

    def lint(self, source: FileSource, kind: str) -> tuple[str, list[Finding]]:
        """Read and check one file of this `kind`. Return a summary of its contents in words, and the findings about it."""
        if kind == COLLECTION:
            return self.collection.lint(source)
        path, listen, report = source.path, Reported(source.path), Report()
        if kind == TOPICS:
            form, records = read_records(source, listen, report)
            checked, ids = check_topics(records, path)
            self.topics.append(ids)
            findings = listen.findings(reader_faults.TOPICS) + checked + notes_as_findings(path, report)
            return f"{counted(len(records), 'topic')} ({form})", findings
        has_bom = source.head().startswith(BOM)
        if kind == QRELS:
            qrels, lines = read_judgements(source, listen)
            located, noun, form = Located(qrels, path, lines), "judgement", qrels.format
            self.qrels.append(located)
            findings = listen.findings(reader_faults.QRELS) + check_qrels(located)
        else:
            file = read_hits(source, listen, report, detailed=True)
            checked, located = check_lines(file, path)
            noun, form = "hit", file.layout.name
            self.runs.append(located)
            findings = listen.findings(reader_faults.RUN) + checked + check_run(located)
        if has_bom and form != "json":
            findings.insert(0, Finding.at(path, [1], "encoding", ERROR, BOM_TEXT))
        what = f"{counted(len(located.lines), noun)} of {counted(len(located.columns), 'topic')}"
        return f"{what} ({form})", findings

    def check_together(self, known: Ids | None) -> list[Finding]:
        """Return the findings about all files together.

        If there are several files of qrels or topics, each is checked in turn.
        """
        findings = self.collection.check()
        collection = self.collection.docnos() if self.collection.files else None
        docnos = [ids for ids in (known, collection) if ids]
        for qrels, topics, ids in product(self.qrels or (None,), self.topics or (None,), docnos or (None,)):
            findings += check_together(self.runs, qrels, topics, ids)
        return list(dict.fromkeys(findings))


def _lint_file(contents: _Contents, path: str, wanted: str) -> tuple[LintedFile, list[Finding]]:
    """Read and check one file. If it cannot be read as any kind, return a finding about this."""

    def refused(what: str, line: int, rule: str, text: str) -> tuple[LintedFile, list[Finding]]:
        return LintedFile(path, "", what), [Finding.at(path, [line], rule, ERROR, text)]

    source = FileSource(path)
    try:
        head = source.head()
        if not head and not os.path.isdir(path):
            return refused("nothing", 0, "empty", "The file is empty.")
        if head.startswith(UTF16):
            text = "The file is UTF-16, which trec_eval and Sublex read as text full of NUL bytes; save it as UTF-8."
            return refused("UTF-16", 1, "encoding", text)
        kind = wanted if wanted and not os.path.isdir(path) else detect_kind(source)
        if not kind:
            text = (
                "The file looks like no collection, topics, qrels or run, so it was not checked; if it is one of them, say which, "
                "as in --as topics=FILE."
            )
            return refused("of no known form", 0, "form", text)
        what, findings = contents.lint(source, kind)
        return LintedFile(path, kind, what), findings
    except InputError as error:
        return refused("unreadable", 0, "unreadable", as_sentence(str(error)))
