"""Files of a collection, topics, judgements and runs: each alone, then against each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from sublex.errors import InputError
from sublex.lint.check_together import check_together
from sublex.lint.detect import COLLECTION, KINDS, LAYOUTS, QRELS, TOPICS, Kind, kind_of
from sublex.lint.findings import ERROR, Finding, Ids, Placed, finding, sentence
from sublex.lint.read_collection import Collection
from sublex.readers.source import FileSource

UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Looked(NamedTuple):
    """A file, what it was taken for, and what it holds."""

    file: str
    kind: str
    what: str


class Linted(NamedTuple):
    """The files in their order, and all that was found in them."""

    files: tuple[Looked, ...]
    findings: tuple[Finding, ...]


class _Parts:
    """What the files hold, kept for the checks against each other."""

    def __init__(self) -> None:
        self.runs: list[Placed] = []
        self.qrels: list[Placed] = []
        self.topics: list[Ids] = []
        self.collection = Collection()

    def look(self, source: FileSource, kind: Kind) -> tuple[str, list[Finding]]:
        """Read one file of this kind: what it holds, and what is wrong with it."""
        from sublex.lint.read_qrels import lint_qrels
        from sublex.lint.read_run import lint_run
        from sublex.lint.read_topics import lint_topics

        if kind.name == COLLECTION:
            return self.collection.lint(source)
        if kind.name == TOPICS:
            what, found, ids = lint_topics(source)
            self.topics.append(ids)
        elif kind.name == QRELS:
            what, found, given = lint_qrels(source, kind.form)
            self.qrels.append(given)
        else:
            what, found, given = lint_run(source, LAYOUTS[kind.form])
            self.runs.append(given)
        return f"{what} ({kind.form})", found

    def together(self, known: Ids | None) -> list[Finding]:
        """All against each other; several judgements or topic files each in turn."""
        found = self.collection.check()
        collection = self.collection.docnos() if self.collection.files else None
        docnos = [ids for ids in (known, collection) if ids]
        for qrels, topics, ids in product(self.qrels or (None,), self.topics or (None,), docnos or (None,)):
            found += check_together(self.runs, qrels, topics, ids)
        return list(dict.fromkeys(found))


def lint(
    paths: Sequence[str | os.PathLike[str]], known: Ids | None = None, wanted: Mapping[str, str] | None = None
) -> Linted:
    """Check these files; `known` are an index's docnos, `wanted` the kinds of files that are not to be guessed."""
    names = [os.fspath(path) for path in paths]
    for name in (wanted or {}).values():
        if name not in KINDS:
            raise InputError(f"No kind of file {name}; there are {', '.join(KINDS)}.")
    for path in names:
        if path != "-" and not os.path.exists(path):
            raise InputError(f"No file or folder {path}.")
        if os.path.isfile(path):
            FileSource(path).open().close()
    parts = _Parts()
    looked, found = [], []
    for path in names:
        one, more = _look(parts, path, (wanted or {}).get(path, ""))
        looked.append(one)
        found += more
    together = parts.together(known)
    # With judgements at hand a run's ties are told with what they do to AP.
    told = {one.file for one in together if one.rule == "tie"}
    found = [one for one in found if one.rule != "tie" or one.file not in told]
    return Linted(tuple(looked), tuple(_ordered(found + together, names)))


def _look(parts: _Parts, path: str, wanted: str) -> tuple[Looked, list[Finding]]:
    source = FileSource(path)
    try:
        head = source.head()
        if not head and not os.path.isdir(path):
            return Looked(path, "", "nothing"), [finding(path, [0], "empty", ERROR, "The file is empty.")]
        if head.startswith(UTF16):
            text = "The file is UTF-16: to trec_eval and Sublex it is full of NUL bytes; save it as UTF-8."
            return Looked(path, "", "UTF-16"), [finding(path, [1], "encoding", ERROR, text)]
        kind = kind_of(source, wanted)
        if not kind.name:
            text = (
                "The file shows no form of a collection, topics, qrels or a run: nothing of it was checked; "
                "if it is one of them, name it, as in --as topics=FILE."
            )
            return Looked(path, "", "of no known form"), [finding(path, [0], "form", ERROR, text)]
        what, found = parts.look(source, kind)
        return Looked(path, kind.name, what), found
    except InputError as error:
        return Looked(path, "", "unreadable"), [finding(path, [0], "unreadable", ERROR, sentence(str(error)))]


def _ordered(found: Iterable[Finding], names: Sequence[str]) -> list[Finding]:
    places = {name: place for place, name in enumerate(reversed(names))}
    return sorted(found, key=lambda one: (-places.get(one.file, -1), one.line))
