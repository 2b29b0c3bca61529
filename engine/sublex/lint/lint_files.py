"""Lint files of a collection, topics, judgements and runs: each file alone, then all of them together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from sublex.errors import InputError
from sublex.lint.check_together import check_together
from sublex.lint.detect import COLLECTION, KINDS, LAYOUTS, QRELS, TOPICS, Kind, detect_kind
from sublex.lint.findings import ERROR, Finding, as_sentence
from sublex.lint.located import Ids, Located
from sublex.lint.read_collection import Collection
from sublex.readers.source import FileSource

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class LintedFile(NamedTuple):
    """A file, its kind (empty if unknown), and what it holds in words: "3 hits of 2 topics (six columns)"."""

    file: str
    kind: str
    what: str


class LintResult(NamedTuple):
    """The files in the order given, and the findings by file and line."""

    files: tuple[LintedFile, ...]
    findings: tuple[Finding, ...]


def lint(
    paths: Sequence[str | os.PathLike[str]], known: Ids | None = None, wanted: Mapping[str, str] | None = None
) -> LintResult:
    """Check files, each alone and all together.

    `known` are the docnos of an index, from `index_docnos`; documents must be among them. `wanted` maps paths to kinds
    ("collection", "topics", "qrels" or "run") for files whose kind is not to be detected. Raise InputError for a file that does
    not exist or cannot be opened, and for an unknown kind.
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
    # Judgements show what ties do to AP; that finding replaces the one about ties alone.
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
        self.collection = Collection()

    def lint(self, source: FileSource, kind: Kind) -> tuple[str, list[Finding]]:
        """Read and check one file of this kind; return what it holds in words, and the findings about it."""
        from sublex.lint.read_qrels import lint_qrels
        from sublex.lint.read_run import lint_run
        from sublex.lint.read_topics import lint_topics

        if kind.name == COLLECTION:
            return self.collection.lint(source)
        if kind.name == TOPICS:
            what, findings, ids = lint_topics(source)
            self.topics.append(ids)
        elif kind.name == QRELS:
            what, findings, located = lint_qrels(source, kind.form)
            self.qrels.append(located)
        else:
            what, findings, located = lint_run(source, LAYOUTS[kind.form])
            self.runs.append(located)
        return f"{what} ({kind.form})", findings

    def check_together(self, known: Ids | None) -> list[Finding]:
        """Return the findings about all files together; each of several qrels or topic files is checked in turn."""
        findings = self.collection.check()
        collection = self.collection.docnos() if self.collection.files else None
        docnos = [ids for ids in (known, collection) if ids]
        for qrels, topics, ids in product(self.qrels or (None,), self.topics or (None,), docnos or (None,)):
            findings += check_together(self.runs, qrels, topics, ids)
        return list(dict.fromkeys(findings))


def _lint_file(contents: _Contents, path: str, wanted: str) -> tuple[LintedFile, list[Finding]]:
    """Read one file; a file that cannot be read as any kind is itself a finding."""

    def refused(what: str, line: int, rule: str, text: str) -> tuple[LintedFile, list[Finding]]:
        return LintedFile(path, "", what), [Finding.at(path, [line], rule, ERROR, text)]

    source = FileSource(path)
    try:
        head = source.head()
        if not head and not os.path.isdir(path):
            return refused("nothing", 0, "empty", "The file is empty.")
        if head.startswith(UTF16_MARKS):
            text = "The file is UTF-16, which trec_eval and Sublex read as text full of NUL bytes; save it as UTF-8."
            return refused("UTF-16", 1, "encoding", text)
        kind = detect_kind(source, wanted)
        if not kind.name:
            text = (
                "The file looks like no collection, topics, qrels or run, so it was not checked; if it is one of them, say which, "
                "as in --as topics=FILE."
            )
            return refused("of no known form", 0, "form", text)
        what, findings = contents.lint(source, kind)
        return LintedFile(path, kind.name, what), findings
    except InputError as error:
        return refused("unreadable", 0, "unreadable", as_sentence(str(error)))
