"""Building a segment from batches of documents: tokenize, count, spill when memory runs out, merge.

Batches pass through in order, their heavy work done by threads. The result depends on the documents alone, never on the
number of workers or the memory.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.analysis.tokens import RawTokens, tokenize
from sublex.base import Analyzer
from sublex.errors import IndexCorrupt, InputError
from sublex.index import texts
from sublex.index.docnos import write_docnos
from sublex.index.format import FolderWriter, allow_many_files, replace_file, sync
from sublex.index.inverter import Inverter, Part
from sublex.index.manifest import BUILDING
from sublex.index.merge import TextWriter, merge
from sublex.index.outcome import Outcome
from sublex.index.segment import Segment
from sublex.readers.batch import Batch, MakeBatch
from sublex.workers import Workers

JOURNAL = "journal.json"
SEGMENT = "segment"
_SPACE = re.compile(r"\s")
Progress = Callable[[int], None]


class Settings(NamedTuple):
    """What a segment is built with. `duplicates` says what a docno met before means: error, first or last."""

    analyzer: Analyzer
    store: frozenset[str]
    workers: int
    memory: int
    duplicates: str


class _Counted(NamedTuple):
    batch: Batch
    keep: np.ndarray
    numbers: np.ndarray
    part: Part
    blocks: texts.Blocks | None


class Building:
    """One build. `folder` holds what is unfinished; `known` are the docnos of documents already in the index."""

    def __init__(self, folder: Path, settings: Settings, known: Iterable[tuple[np.ndarray, np.ndarray]] = ()):
        self.folder, self.settings = folder, settings
        self.outcome = Outcome()
        self.replaced: list[str] = []
        self.superseded: list[int] = []
        self._spills: list[dict[str, Any]] = []
        self._batches = self._docs = 0
        self._docnos = Interner()
        self._doc_of: dict[int, int] = {}
        for docnos, sizes in known:
            self._meet(docnos, np.cumsum(sizes, dtype=np.int64))

    def run(self, makers: Iterable[MakeBatch], progress: Progress, sources: Any = None) -> dict[str, Any]:
        """Index every batch; the segment's manifest entry without its name, its files in `folder / "segment"`.

        `sources` identifies the input to a later `resume`; None where it cannot be read again.
        """
        with Workers(self.settings.workers) as workers:
            prepared = workers.map(_prepare, islice(makers, self._batches, None))
            done = False
            while not done:
                with FolderWriter(self.folder / f"spill-{len(self._spills):04}") as folder:
                    held = _Held(folder, self.settings)
                    done = self._fill(held, workers, prepared, progress)
                    if done:
                        progress(self._docs)
                    only = done and not self._spills
                    entry = held.write(workers, spill=not only)
                if only:
                    os.rename(folder.path, self.folder / SEGMENT)
                    return entry
                self._spills.append(entry)
                self._save_journal(sources)
            return self._merge(workers)

    def _fill(
        self, held: _Held, workers: Workers, prepared: Iterator[tuple[Batch, RawTokens]], progress: Progress
    ) -> bool:
        """Take batches in until memory or input ends; whether it was the input."""
        done = False

        def jobs() -> Iterator[Callable[[], _Counted]]:
            nonlocal done
            # The table of docnos stays from spill to spill; however large it grows, a quarter is left for what can be spilled.
            room = max(self.settings.memory - self._docnos.nbytes, self.settings.memory // 4)
            while held.inverter.nbytes + held.nbytes < room or not held.inverter.docs:
                found = next(prepared, None)
                if found is None:
                    done = True
                    return
                self._batches += 1
                yield self._job(held.inverter, *found)

        for counted in workers.map(_call, jobs()):
            held.take(counted, self.outcome)
            self._docs += int(counted.keep.sum())
            progress(self._docs)
        return done

    def _job(self, run: Inverter, batch: Batch, tokens: RawTokens) -> Callable[[], _Counted]:
        """What must happen in order happens here; the returned rest may run in any thread."""
        self.outcome.take(batch.report)
        keep = self._keep(batch)
        self.outcome.read += len(batch)
        numbers = run.number(batch.text, tokens)
        counter = run.counter(tokens, keep, numbers)
        store = "text" in self.settings.store
        return lambda: _Counted(batch, keep, numbers, counter(), texts.compress(batch, keep) if store else None)

    def _meet(self, docnos: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of docnos, and which of them are met for the first time."""
        sizes = np.diff(ends, prepend=0)
        before = self._docnos.size
        numbers = self._docnos.add(docnos, ends - sizes, sizes.astype(np.int32))
        return numbers, numbers > np.maximum.accumulate(np.concatenate(([before - 1], numbers)))[:-1]

    def _keep(self, batch: Batch) -> np.ndarray:
        """Which documents of a batch are indexed, by the rule for docnos met before."""
        numbers, new = self._meet(batch.docnos, batch.docno_ends)
        if len(batch.docnos) and (batch.docnos.min() <= 32 or batch.docnos.max() >= 128):
            self.outcome.white_space += [d for d in map(batch.docno, range(len(batch))) if _SPACE.search(d)]
        repeated = np.flatnonzero(~new).tolist()
        self.outcome.duplicate += [batch.docno(k) for k in repeated]
        if self.settings.duplicates == "last":
            for k, number in enumerate(numbers.tolist()):
                if number in self._doc_of:
                    self.superseded.append(self._doc_of[number])
                elif not new[k]:
                    self.replaced.append(batch.docno(k))
                self._doc_of[number] = self.outcome.read + k
            return np.ones(len(batch), np.bool_)
        if repeated and self.settings.duplicates == "error":
            raise InputError(
                f"Document {self.outcome.duplicate[0]} is there twice, so nothing was added; "
                "choose --duplicates first to keep the older text or last to take the newer."
            )
        return new

    def _merge(self, workers: Workers) -> dict[str, Any]:
        """One segment of all spills."""
        allow_many_files()
        segments = [Segment(self.folder / spill["name"], spill) for spill in self._spills]
        with FolderWriter(self.folder / SEGMENT) as folder:
            return merge(segments, folder, workers.map) | {"data": folder.finish()}

    # An interrupted build.

    def _save_journal(self, sources: Any) -> None:
        journal = {"sources": sources, "batches": self._batches, "docs": self._docs, "spills": self._spills}
        sync(self.folder)
        replace_file(self.folder / JOURNAL, json.dumps(journal | {"outcome": self.outcome.to_json()}).encode())

    def resume(self, sources: Any) -> int:
        """Take up the interrupted build that `folder` holds, if its sources are the same; how many documents it has."""
        path = self.folder / JOURNAL
        try:
            journal = json.loads(path.read_bytes())
            same = sources is not None and journal["sources"] == sources
            self._batches, self._docs, self._spills = journal["batches"], journal["docs"], journal["spills"]
            self.outcome = Outcome.from_json(journal["outcome"])
        except FileNotFoundError:
            self._clear()
            return 0
        except (ValueError, KeyError, TypeError):
            raise IndexCorrupt(f"{path} is damaged: start again without --resume.") from None
        if not same:
            raise InputError(
                "The sources or settings changed since the build was interrupted: start again without --resume."
            )
        for spill in self._spills:
            docnos, sizes = Segment(self.folder / spill["name"], spill).docnos.arrays()
            self._meet(docnos, np.cumsum(sizes))
        self._clear()
        return self._docs

    def _clear(self) -> None:
        """Remove what an interrupted build had not finished."""
        for left in self.folder.iterdir():
            if left.is_dir() and left.name not in {spill["name"] for spill in self._spills}:
                shutil.rmtree(left)


def resumable(root: Path) -> bool:
    """Whether an interrupted build of this index can go on where it stopped."""
    try:
        return json.loads((root / BUILDING / JOURNAL).read_bytes())["sources"] is not None
    except (OSError, ValueError, KeyError):
        return False


class _Held:
    """What a build holds in memory, and the texts it has written: a segment in the making."""

    def __init__(self, folder: FolderWriter, settings: Settings):
        self.settings, self._folder = settings, folder
        self.inverter = Inverter(settings.analyzer)
        self._texts = TextWriter(self._folder) if "text" in settings.store else None
        self._docnos: list[tuple[np.ndarray, np.ndarray]] = []
        self.nbytes = 0

    def take(self, counted: _Counted, outcome: Outcome) -> None:
        """Add a counted batch."""
        batch = counted.batch
        kept = np.flatnonzero(counted.keep)
        outcome.empty += [batch.docno(k) for k in kept[counted.part.lengths == 0].tolist()]
        sizes = np.diff(batch.docno_ends, prepend=0)
        self._docnos.append((batch.docnos[np.repeat(counted.keep, sizes)], sizes[kept]))
        self.nbytes += self._docnos[-1][0].nbytes + self._docnos[-1][1].nbytes
        self.inverter.add(counted.part, counted.numbers)
        if self._texts and counted.blocks:
            self._texts.add(np.frombuffer(counted.blocks.data, np.uint8), counted.blocks.sizes, counted.blocks.counts)

    def write(self, workers: Workers, spill: bool) -> dict[str, Any]:
        """Write everything; the manifest's entry."""
        with workers.beside(lambda: write_docnos(self._folder, self._docnos)):
            counts = self.inverter.write(self._folder, workers, "terms" in self.settings.store, spill)
        if self._texts:
            self._texts.finish()
        return {"name": self._folder.path.name} | counts | {"data": self._folder.finish()}


def _prepare(make: MakeBatch) -> tuple[Batch, RawTokens]:
    batch = make()
    return batch, tokenize(batch.text, batch.text_ends)


def _call(job: Callable[[], _Counted]) -> _Counted:
    return job()
