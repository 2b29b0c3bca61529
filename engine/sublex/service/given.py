"""The files that a server was given when it was started: topics, judgements and runs, which requests choose by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import sublex
from sublex.errors import InputError
from sublex.service.problems import Refused
from sublex.tools.messages import near_names, nearest

if TYPE_CHECKING:
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics

# What a kind of file is called in a sentence, and the option that gives it.
WORDS = {
    "topics": ("topic file", "--topics"),
    "judgements": ("file of judgements", "--qrels"),
    "runs": ("run file", "--run"),
    "files": ("file", "--topics FILE, --qrels FILE or --run"),
}


class GivenFiles:
    """Files by kind and name, each read when it is first asked for, and again when it has changed."""

    def __init__(
        self, topics: Sequence[str] = (), judgements: Sequence[str] = (), runs: Sequence[str] = (), judge: str = ""
    ):
        self.judge = judge
        judgements = (*([judge] if judge else []), *judgements)
        self.paths = {"topics": _named(topics), "judgements": _named(judgements), "runs": _named(runs)}
        self.paths["files"] = _named([path for named in self.paths.values() for path in named.values()])
        self._read: dict[tuple[str, str], tuple[Any, Any]] = {}
        self._lock = Lock()

    def names(self, kind: str) -> list[str]:
        """Return the names of the files of a kind."""
        return list(self.paths[kind])

    def usual(self, kind: str) -> list[str]:
        """Return the names of the files of a kind, in the order in which a request without a name tries them.

        The file into which users judge comes last, so that their judgements do not change the figures of a shared link.
        """
        named = self.paths[kind]
        return sorted(named, key=lambda name: named[name] == self.judge)

    def path(self, kind: str, name: str) -> str:
        """Return the path of a file; that of the usual one for an empty name. Raise Refused for a name that no file has."""
        found = self.paths[kind]
        what, option = WORDS[kind]
        if not found:
            raise Refused(404, f"This server has no {what}; start it with {option} FILE.")
        if not name:
            return found[self.usual(kind)[0]]
        if name not in found:
            hint = nearest(name, found)
            known = f"{'T' if hint else 't'}here are: {near_names(name, found)}"
            raise Refused(404, f"This server has no {what} {name[:80]!r}; {hint}{known}.")
        return found[name]

    @property
    def places(self) -> dict[str, str]:
        """The names of all files by path."""
        return {path: name for name, path in self.paths["files"].items()}

    def topics(self, name: str = "") -> Topics:
        """Return the topics of a file."""
        return self._once("topics", name, sublex.read_topics)

    def judgements(self, name: str = "") -> Qrels | None:
        """Return the judgements of a file; None for a file to which nobody has written yet."""
        path = self.path("judgements", name)
        if path == self.judge and not (os.path.exists(path) and os.path.getsize(path)):
            return None
        return self._once("judgements", name, sublex.read_qrels)

    def runs(self, names: Sequence[str]) -> list[Any]:
        """Return the runs of files as systems of a comparison, named by their tags if these differ."""
        from sublex.evaluation.systems import System

        runs = [(name, self._once("runs", name, sublex.read_run)) for name in names]
        tags = [run.tag for _, run in runs]
        return [System(run.tag if run.tag and tags.count(run.tag) == 1 else name, run) for name, run in runs]

    def _once(self, kind: str, name: str, read: Callable[[str], Any]) -> Any:
        path = self.path(kind, name)
        try:
            status = os.stat(path)
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None
        version = status.st_ino, status.st_size, status.st_mtime_ns
        with self._lock:
            known = self._read.get((kind, path))
        if known is None or known[0] != version:
            known = version, read(path)
            with self._lock:
                self._read[kind, path] = known
        return known[1]


def _named(paths: Sequence[str]) -> dict[str, str]:
    """Return paths by the names of their files. Of two files with one name, the second is called by its path."""
    named: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        name = Path(path).name
        named[name if name not in named else path] = path
    return named
