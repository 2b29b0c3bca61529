"""The indexes of a server: the current generation of each, and those before it that are still held for pages of hits."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import sublex
from sublex.errors import IndexProblem
from sublex.faces.reading import QueryReader
from sublex.faces.vocabulary import Vocabulary
from sublex.index.manifest import MANIFEST
from sublex.service.limits import GENERATIONS, HELD
from sublex.service.problems import Refused
from sublex.tools.confinement import Confinement, confined
from sublex.tools.messages import near_names, nearest

if TYPE_CHECKING:
    from sublex.pipeline.index import Index


class Generation:
    """One generation of an index, opened. `until` is the time until which it is kept; None for the current one."""

    def __init__(self, index: Index):
        self.index = index
        self.until: float | None = None
        self.number = index.generation
        self.confinement = Confinement(frozenset(index.resources))
        # Made before any request, because the analyzer of an index may have been made by the names of files.
        self.analyzer = index.analyzer
        self.path = str(index.path)
        self._lock = Lock()

    @cached_property
    def covering(self) -> Index:
        """The index in a form that also ranks with models that do not cover all documents."""
        return self.index.uncovered()

    @cached_property
    def reader(self) -> QueryReader:
        """The reader that shows how queries are read."""
        return QueryReader(self.index.snapshot)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the index in order, sorted when they are first asked for."""
        with self._lock:
            return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.index.snapshot)


class HeldIndex:
    """An index that a server has, by its path. `now` opens the next generation when there is one."""

    def __init__(self, name: str, path: Path, clock: Callable[[], float] = time.monotonic):
        self.name, self.path, self._clock = name, path, clock
        self._manifest = os.path.join(path, MANIFEST)
        self._lock = Lock()
        self._seen: tuple[int, int] | None = None
        self._held: list[Generation] = []
        self.now()

    @property
    def is_current(self) -> bool:
        """Whether the last opened generation is still the one on disk, judged by the manifest's inode and time."""
        return bool(self._held) and _version(self._manifest) == self._seen

    @property
    def last(self) -> Generation:
        """The generation that was opened last."""
        return self._held[-1]

    def now(self) -> Generation:
        """Return the current generation. While the index cannot be read, raise IndexProblem that says why."""
        if self.is_current:
            return self._held[-1]
        with self._lock:
            seen = _version(self._manifest)
            if self._held and seen == self._seen:
                return self._held[-1]
            if self._held and seen is None:
                raise IndexProblem(f"{self.path} is no index any more; older links show what it was.")
            with confined(None):
                opened = Generation(sublex.open(self.path))
            if self._held and opened.number == self._held[-1].number and _same(opened, self._held[-1]):
                self._seen = seen
                return self._held[-1]
            if self._held:
                self._held[-1].until = self._clock() + HELD
            self._held, self._seen = [*self._held, opened], seen
            self._drop()
            return opened

    def generation(self, number: int | None) -> Generation:
        """Return the generation with a number, or the current one. Raise Refused for one that is not held."""
        if number is None:
            return self.now()
        self._drop()
        for each in self._held:
            if each.number == number:
                return each
        now = self.now().number
        if now == number:
            return self._held[-1]
        if number > now:
            raise Refused(404, f"{self.name} has no generation {number} yet; it is at {now}.", parameter="generation")
        raise Refused(
            410, f"Generation {number} of {self.name} is not held any more; it is at {now}.", parameter="generation"
        )

    def _drop(self) -> None:
        """Drop the generations whose time is over, and the oldest ones if there are too many."""
        now = self._clock()
        self._held = [each for each in self._held[-GENERATIONS:] if each.until is None or each.until > now]


class HeldIndexes(Mapping[str, HeldIndex]):
    """The indexes of a server by name. Requests without the name of an index use the first one."""

    def __init__(self, indexes: Mapping[str, HeldIndex]):
        self._indexes = dict(indexes)

    def __getitem__(self, name: str) -> HeldIndex:
        """Return an index; the first for an empty name. Raise Refused for a name that is not served."""
        if not name:
            return next(iter(self._indexes.values()))
        if name not in self._indexes:
            hint = nearest(name, self._indexes)
            known = f"{'T' if hint else 't'}his server has: {near_names(name, self._indexes)}"
            raise Refused(404, f"No index {name[:80]!r}; {hint}{known}.", parameter="index")
        return self._indexes[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._indexes)

    def __len__(self) -> int:
        return len(self._indexes)


def _same(one: Generation, other: Generation) -> bool:
    return one.index.snapshot.identity == other.index.snapshot.identity


def _version(manifest: str) -> tuple[int, int] | None:
    """Return the inode and modification time of a manifest, which change with every commit; None without a manifest."""
    try:
        status = os.stat(manifest)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def held(names: Mapping[str, Path]) -> HeldIndexes:
    """Open indexes by name."""
    return HeldIndexes({name: HeldIndex(name, path) for name, path in names.items()})
