"""Changing an index: create, add, delete, merge. Each takes the lock, prepares files aside and commits in one step."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.base import Document, Report
from sublex.errors import IndexProblem, InputError, SublexError
from sublex.index import kernels
from sublex.index.build import JOURNAL, SEGMENT, Building, Progress, Settings
from sublex.index.format import FolderWriter, smallest, sync
from sublex.index.manifest import (
    BUILDING,
    FITTED,
    FORMAT,
    MANIFEST,
    RESOURCES,
    SEGMENTS,
    Manifest,
    commit,
    locked,
    next_segment,
    read_manifest,
    remove_leftovers,
)
from sublex.index.merge import live_docnos, merge
from sublex.index.outcome import Outcome
from sublex.index.segment import Segment
from sublex.readers import SourceReader
from sublex.readers.batch import MakeBatch, batches
from sublex.readers.source import files_below
from sublex.workers import Workers

PARTS = ("text", "terms")
CROWD = 8


class Input(NamedTuple):
    """Where documents come from: sources with their readers, or documents at hand."""

    sources: Sequence[SourceReader] = ()
    documents: Iterable[Document] = ()
    strict: bool = False
    notes: Report | None = None

    def makers(self) -> Iterator[MakeBatch]:
        """The documents as batches to be made."""
        report = Report(self.strict)
        for source, _, reader in self.sources:
            if hasattr(reader, "batches"):
                yield from reader.batches(source, report)
            else:
                yield from batches(reader.read(source, report), report)
        if not self.sources:
            yield from batches(self.documents, report)

    def identity(self) -> list[Any] | None:
        """What must be unchanged for a build to be resumed; None for what cannot be read twice."""
        if not self.sources or any(chosen.source.path == "-" for chosen in self.sources):
            return None
        return [[chosen.name, path, *_stamp(path)] for chosen in self.sources for path in _files(chosen.source.path)]


def _files(path: str) -> list[str]:
    return list(files_below(path)) if os.path.isdir(path) else [path]


def _stamp(path: str) -> list[int]:
    if not os.path.exists(path):
        return []
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]


def create(
    root: Path,
    given: Input,
    settings: Settings,
    analyzer: Manifest,
    profile: str,
    progress: Progress,
    overwrite: bool = False,
    resume: bool = False,
) -> Outcome:
    """Build an index of the input; an existing one is replaced only with `overwrite`, and only at the end."""
    with locked(root, "index", create=True):
        old = replaceable(root, overwrite)
        identity = given.identity()
        if resume and identity is None:
            raise InputError("Standard input cannot be read again, so --resume cannot go on; start again without it.")
        if old or not os.path.exists(root / MANIFEST):
            remove_leftovers(root, old or {"segments": []}, building=not resume)
        elif not resume:
            shutil.rmtree(root / BUILDING, ignore_errors=True)
        new: Manifest = {
            "format": FORMAT,
            "generation": old["generation"] + 1 if old else 1,
            "analyzer": analyzer,
            "profile": profile,
            "store": sorted(settings.store),
            "segments": [],
        }
        if old and old.get(RESOURCES):
            new[RESOURCES] = old[RESOURCES]
        sources = None if identity is None else [identity, analyzer, new["store"]]
        with _aside(root):
            building = Building(root / BUILDING, settings)
            building.outcome.take(given.notes or Report())
            if resume:
                building.resume(json.loads(json.dumps(sources)))
            entry = building.run(given.makers(), progress, sources)
            if not entry["docs"]:
                raise InputError(_nothing(building.outcome))
            building.outcome.indexed = entry["docs"]
            gone = sorted(one["expression"] for one in (old or {}).get(FITTED, {}).values())
            if gone:
                note = f"Fitted to what was replaced, and gone with it: {', '.join(gone)}; run sublex fit again"
                building.outcome.take(Report(notes={note: 1}))
            _publish(root, new, entry)
            _list(root, building.outcome)
    return building.outcome


def replaceable(root: Path, overwrite: bool) -> Manifest | None:
    """The manifest of the index to be replaced, if there is one that can be read; without `overwrite` there must be none."""
    if not os.path.exists(root / MANIFEST):
        return None
    if not overwrite:
        read_manifest(root)
        raise IndexProblem(f"{root} is already an index; --overwrite replaces it, and sublex add adds to it.")
    with suppress(SublexError):
        return read_manifest(root)
    return None


def _nothing(outcome: Outcome) -> str:
    many = len(outcome.problems)
    which = f"first of {many:,} malformed records" if many > 1 else "malformed record"
    return f"There is no document to index{f'; the {which} is {outcome.problems[0]}' if many else ''}."


# Called before a segment is committed, with the new manifest and the entries of the segments that it replaces.
BeforeCommit = Callable[[Manifest, Sequence[Manifest]], None]


def do_nothing(new: Manifest, replaced: Sequence[Manifest]) -> None:
    """Nothing comes with a segment."""


def add(
    root: Path,
    given: Input,
    settings: Callable[[Manifest], Settings],
    progress: Progress,
    before_commit: BeforeCommit = do_nothing,
) -> Outcome:
    """Add documents as a segment of their own; docnos already there are treated by the settings' rule."""
    with locked(root, "add"):
        old = read_manifest(root)
        remove_leftovers(root, old)
        segments = _segments(root, old)
        with _aside(root):
            chosen = settings(old)
            building = Building(root / BUILDING, chosen, (live_docnos(segment) for segment in segments))
            building.outcome.take(given.notes or Report())
            entry = building.run(given.makers(), progress)
            building.outcome.indexed = entry["docs"] - len(building.superseded)
            if not building.outcome.read:
                raise InputError(_nothing(building.outcome))
            if entry["docs"]:
                new = old | {"generation": old["generation"] + 1, "segments": list(old["segments"])}
                if building.replaced:
                    _kill(segments, building.replaced, new)
                if building.superseded:
                    made = Segment(root / BUILDING / SEGMENT, entry)
                    entry["deleted"] = _write_losses(made, np.array(building.superseded), new["generation"])
                _publish(root, new, entry, before_commit)
            _list(root, building.outcome)
        settled = read_manifest(root)
        with suppress(SublexError, OSError):
            number = _crowded([segment["docs"] for segment in settled["segments"]])
            _merge_last(root, settled, number, chosen.workers, before_commit)
    return building.outcome


def _crowded(sizes: list[int]) -> int:
    """How many of the last segments should become one, so that their number stays logarithmic however small the additions.

    A segment's level is the logarithm of its size; segments up to some level are merged when that lifts them above it.
    """
    levels = [math.floor(math.log(max(size, 1), CROWD)) for size in sizes]
    for level in range(max(levels, default=0), -1, -1):
        run = 0
        while run < len(sizes) and levels[-1 - run] <= level:
            run += 1
        if run >= CROWD and sum(sizes[-run:]) >= CROWD ** (level + 1):
            return run
    return 1


def delete(root: Path, docnos: Sequence[str]) -> int:
    """Delete documents; an unknown docno leaves everything as it was. How many documents are left."""
    with locked(root, "delete"):
        old = read_manifest(root)
        remove_leftovers(root, old)
        new = old | {"generation": old["generation"] + 1, "segments": list(old["segments"])}
        _kill(_segments(root, old), docnos, new)
        commit(root, new)
        remove_leftovers(root, new)
        return new["statistics"]["docs"]


def merge_all(root: Path, workers: int, before_commit: BeforeCommit = do_nothing) -> int:
    """Make all segments one, without what was deleted; how many there were."""
    with locked(root, "merge"):
        old = read_manifest(root)
        remove_leftovers(root, old)
        if any(segment.get("deleted") for segment in old["segments"]) or len(old["segments"]) > 1:
            _merge_last(root, old, len(old["segments"]), workers, before_commit, always=True)
        return len(old["segments"])


def _merge_last(
    root: Path, old: Manifest, number: int, workers: int, before_commit: BeforeCommit = do_nothing, always: bool = False
) -> None:
    """Commit a generation in which the last segments are one."""
    if number < 2 and not always:
        return
    with _aside(root), Workers(workers) as pool, FolderWriter(root / BUILDING / SEGMENT) as folder:
        entry = merge(_segments(root, old)[-number:], folder, pool.map) | {"data": folder.finish()}
        new = old | {"generation": old["generation"] + 1, "segments": old["segments"][:-number]}
        _publish(root, new, entry, before_commit, old["segments"][-number:])


def _segments(root: Path, manifest: Manifest) -> list[Segment]:
    return [Segment(root / SEGMENTS / entry["name"], entry) for entry in manifest["segments"]]


@contextmanager
def _aside(root: Path) -> Iterator[None]:
    """A folder for unfinished files; after a failure it stays only when a build can go on from it."""
    folder = root / BUILDING
    folder.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        if not (folder / JOURNAL).exists():
            shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _publish(
    root: Path,
    new: Manifest,
    entry: dict[str, Any],
    before_commit: BeforeCommit = do_nothing,
    replaced: Sequence[Manifest] = (),
) -> None:
    """Move the finished segment to its place and commit a manifest that names it."""
    name = next_segment(root)
    place = root / SEGMENTS / name
    place.parent.mkdir(exist_ok=True)
    os.rename(root / BUILDING / SEGMENT, place)
    sync(place.parent)
    new["segments"] = [*new["segments"], entry | {"name": name}]
    before_commit(new, replaced)
    commit(root, new)
    remove_leftovers(root, new)


def _list(root: Path, outcome: Outcome) -> None:
    """Leave a file that names what was odd; the index is committed, so this must not fail."""
    with suppress(OSError):
        outcome.write(root / "last-build.tsv")


def _kill(segments: list[Segment], docnos: Iterable[str], new: Manifest) -> None:
    """Mark documents as deleted in the new manifest."""
    doomed: list[list[int]] = [[] for _ in segments]
    for docno in dict.fromkeys(docnos):
        places = [(k, doc) for k, segment in enumerate(segments) if (doc := segment.find_docno(docno)) is not None]
        if not places:
            raise InputError(f"No document {docno or repr(docno)} in the index, so nothing was deleted.")
        doomed[places[0][0]].append(places[0][1])
    for k, (segment, docs) in enumerate(zip(segments, doomed, strict=True)):
        if docs:
            dead = np.union1d(np.flatnonzero(segment.dead), docs)
            new["segments"][k] = dict(segment.entry) | {"deleted": _write_losses(segment, dead, new["generation"])}


def _write_losses(segment: Segment, dead: np.ndarray, generation: int) -> dict[str, Any]:
    """Which documents are dead, and what each term loses by that: statistics stay exact without touching the postings."""
    mask = np.zeros(segment.docs, np.bool_)
    mask[dead] = True
    df, cf = np.zeros(len(segment.terms), np.int64), np.zeros(len(segment.terms), np.int64)
    for begin, end in segment.spans(1 << 20):
        counts = segment.df[begin:end].astype(np.int64)
        kernels.losses(*segment.postings(begin, end), counts, mask, df[begin:end], cf[begin:end])
    terms = np.flatnonzero(df)
    with FolderWriter(segment.path / f"deleted-{generation}") as folder:
        for name, values in (("docs", np.flatnonzero(mask)), ("terms", terms), ("df", df[terms]), ("cf", cf[terms])):
            folder.put(name, smallest(values))
        entry = {"name": folder.path.name, "docs": int(mask.sum()), "tokens": int(cf.sum()), "postings": int(df.sum())}
        return entry | {"data": folder.finish()}
