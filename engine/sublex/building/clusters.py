"""Building a cluster of new documents: its shards are built by processes side by side, or cut from one build if there is little.

`sublex.building.joining` makes a cluster of indexes that exist.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.building.build_settings import BuildSettings
from sublex.building.build_summary import BuildSummary, Outcome
from sublex.building.deletions import with_tombstones
from sublex.building.document_source import DocumentSource
from sublex.building.journal import BuildJournal, read_journal, write_journal
from sublex.building.merge import live_docnos, merge_segments
from sublex.building.segment_builder import SEGMENT, Progress, SegmentBuilder
from sublex.building.segment_share import shares
from sublex.building.writer import make_index
from sublex.contracts.base import Report
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index.directory import Directory
from sublex.index.entries import AnalyzerEntry, SegmentEntry, ShardEntry
from sublex.index.lock import is_being_written
from sublex.index.manifest import MANIFEST, SEGMENTS, new_manifest, read_manifest_in
from sublex.index.schema import SchemaMismatch, as_json, record_of
from sublex.index.segment import Segment
from sublex.index.shards import MOST_SHARDS, shard_name
from sublex.readers.batch import BATCH_BYTES
from sublex.tools.child_processes import end_child, start_child
from sublex.tools.strings import Strings
from sublex.tools.workers import Workers

# Processes build shards side by side if the input has at least this number of batches for each shard. For a smaller
# input, one process builds an index, which is then cut into shards.
LEAST_BATCHES = 4
# The seconds that a build waits for a process of an interrupted build.
PATIENCE = 20.0
# The generation in the name of tombstones of documents that an earlier shard has too.
NO_GENERATION = 0


class PartOptions(NamedTuple):
    """The options of `build_index` with which each process builds its shard, as JSON has them."""

    sources: list[str]
    reader: str | None
    profile: str
    analyzer: str | None
    columns: dict[str, str]
    store: list[str]
    fields: list[str]
    memory: int
    strict: bool


def build_cluster(
    root: Path,
    source: DocumentSource,
    options: PartOptions | None,
    shards: int,
    settings: BuildSettings,
    analyzer: AnalyzerEntry,
    profile: str,
    progress: Progress,
    overwrite: bool = False,
    resume: bool = False,
) -> BuildSummary:
    """Build a cluster of `shards` shards, and return the summary of the build.

    `options` are those of the processes; without them, as for documents in memory, this process builds alone.
    """
    if not 1 <= shards <= MOST_SHARDS:
        raise InputError(f"A cluster of {shards:,} shards cannot be built; give 1 to {MOST_SHARDS:,}.")
    entries = tuple(ShardEntry(shard_name(k + 1), 1) for k in range(shards))
    new = new_manifest(
        profile, settings.store, analyzer, columns=settings.columns, fields=settings.fields, shards=entries
    )
    apart = options is not None and _input_bytes(source) >= shards * LEAST_BATCHES * BATCH_BYTES
    if resume and not apart:
        raise InputError("So small a build is not resumed; start again without resume.")
    key = [source.identity(), as_json(analyzer), new.store, dict(new.columns), new.fields, shards]

    def write(folder: Directory) -> tuple[list[SegmentEntry], BuildSummary]:
        if not apart:
            return _divided(folder, source, settings, entries, progress)
        assert options
        return _apart(folder, options, json.loads(json.dumps(key)), settings.workers, entries, progress, resume)

    return make_index(root, "cluster build", new, write, overwrite, resume)


def _input_bytes(source: DocumentSource) -> int:
    """Return the bytes of the source's files, 0 if it has other sources than files."""
    found = source.identity()
    return 0 if found is None or any(len(each) < 4 for each in found) else sum(size for _, _, size, _ in found)


def _divided(
    folder: Directory, source: DocumentSource, settings: BuildSettings, shards: Sequence[ShardEntry], progress: Progress
) -> tuple[list[SegmentEntry], BuildSummary]:
    """Build one segment of all documents, and cut it into the segments of the shards, in the order of the documents."""
    builder = SegmentBuilder(folder, settings)
    builder.summary.add_report(source.report or Report())
    entry = builder.run(source.batch_makers(), progress)
    if entry.docs < len(shards):
        raise InputError(f"There are {entry.docs:,} documents to index, too few for {len(shards):,} shards.")
    builder.columns.refuse_missing()
    builder.summary.indexed = entry.docs
    whole, found = [Segment(folder / SEGMENT, entry)], []
    with Workers(settings.workers) as pool:
        for k, (shard, share) in enumerate(zip(shards, shares(whole, len(shards)), strict=True)):
            found.append(merge_segments([*share], folder / f"{SEGMENT}-{k}", pool)._replace(shard=shard.name))
    return found, builder.summary


def _apart(
    folder: Directory, options: PartOptions, key: Any, threads: int, shards: Sequence[ShardEntry], progress: Progress,
    resume: bool,
) -> tuple[list[SegmentEntry], BuildSummary]:  # fmt: skip
    """Build each shard by a process of its own, as an index in the folder of the build. Return their segments."""
    if not (resume and read_journal(folder, key)):
        for inner in folder.folders():
            inner.remove()
        write_journal(folder, BuildJournal(key, 0, 0, [], BuildSummary().outcome()))
    parts = [_ShardBuild(folder, shard.name) for shard in shards]
    missing = deque((place, part) for place, part in enumerate(parts) if part.outcome() is None)
    done = {part.name: part.docs() for part in parts}

    def advance(name: str, docs: int) -> None:
        done[name] = docs
        progress(sum(done.values()))

    # A process builds one shard after another, because the start of a process takes as long as some thousand documents.
    number = min(threads, len(missing))
    given = {"workers": max(1, threads // max(1, number)), "resume": resume, "number": len(parts)}
    builders: list[_Builder] = []
    try:
        # If one does not start, the list has those before it.
        builders.extend(_Builder(missing, options._asdict() | given, advance) for _ in range(number))
        for builder in builders:
            builder.thread.start()
        for builder in builders:
            builder.thread.join()
    finally:
        # Nothing is left to build, so that a builder whose process ends does not begin another part.
        missing.clear()
        for builder in builders:
            end_child(builder.child)
    for builder in builders:
        if builder.problem:
            raise builder.problem
    return _collected(folder, parts, shards)


def _collected(
    folder: Directory, parts: Sequence[_ShardBuild], shards: Sequence[ShardEntry]
) -> tuple[list[SegmentEntry], BuildSummary]:
    """Move the segments of finished parts to the folder of the build, and mark documents that an earlier part has as deleted."""
    outcomes = []
    for part in parts:
        outcome = part.outcome()
        assert outcome
        outcomes.append(BuildSummary.of(outcome))
    summary, docnos, found = BuildSummary(), Interner(), []
    for part, shard, own in zip(parts, shards, outcomes, strict=True):
        (entry,) = read_manifest_in(folder / part.name).segments
        segment = Segment(folder / part.name / SEGMENTS / entry.name, entry)
        data, sizes = live_docnos(segment)
        known = docnos.size
        numbers = docnos.add(data, np.cumsum(sizes) - sizes, sizes.astype(np.int32))
        is_new = np.zeros(len(sizes), np.bool_)
        # The docnos of one part are distinct, so a number from `known` on occurs once.
        is_new[numbers >= known] = True
        repeated = np.flatnonzero(~is_new)
        if len(repeated):
            names = Strings.joined(data, sizes)
            summary.duplicate += [str(names[k]) for k in repeated.tolist()]
            # An interrupted step may have left this folder.
            (segment.directory / f"deleted-{NO_GENERATION}").remove()
            entry = with_tombstones(segment, repeated, NO_GENERATION)
        found.append((entry, shard))
        summary.read += own.read
        summary.indexed += own.indexed - len(repeated)
        summary.empty += own.empty
        summary.duplicate += own.duplicate
        summary.white_space += own.white_space
        summary.problems += own.problems
        for mine, theirs in ((summary.notes, own.notes), (summary.fields, own.fields)):
            for name, times in theirs.items():
                mine[name] = mine.get(name, 0) + times
    entries = []
    for part, (entry, shard) in zip(parts, found, strict=True):
        (folder / part.name / SEGMENTS / entry.name).move(folder / f"{SEGMENT}-{part.name}")
        entries.append(entry._replace(name=f"{SEGMENT}-{part.name}", shard=shard.name))
    return entries, summary


class _ShardBuild:
    """A shard in the making: an index in the folder of the build."""

    def __init__(self, folder: Directory, name: str):
        self.folder, self.name = folder, name

    def outcome(self) -> Outcome | None:
        """Return the outcome of the finished build of this part, None if it is unfinished."""
        with suppress(OSError, ValueError, RecursionError, SchemaMismatch, IndexCorrupt, IndexProblem):
            if (self.folder / self.name).has(MANIFEST):
                return record_of(json.loads(self.folder.read(f"{self.name}.json")), Outcome)
        return None

    def docs(self) -> int:
        """Return the number of documents of a finished part, 0 if it is unfinished."""
        outcome = self.outcome()
        return outcome.indexed if outcome else 0

    def path(self) -> str:
        """Return the path of the part, at which a process builds an index. A finished index without an outcome is removed."""
        own = self.folder / self.name
        # The process of a build whose parent was killed ends when it next reports.
        until = time.monotonic() + PATIENCE
        while is_being_written(own.path) and time.monotonic() < until:
            time.sleep(0.1)
        if own.has(MANIFEST):
            own.remove()
        return str(own.path)

    def keep(self, outcome: Any) -> None:
        """Store the outcome of the build."""
        self.folder.replace(f"{self.name}.json", json.dumps(outcome).encode())


class _Builder:
    """A process that builds parts, one after another, and the thread that gives it the parts and reads its answers."""

    def __init__(
        self, missing: deque[tuple[int, _ShardBuild]], task: dict[str, Any], advance: Callable[[str, int], None]
    ):
        self._missing, self._task, self._advance = missing, task, advance
        self.problem: SublexError | None = None
        self.child = start_child("sublex.building.part_process", "main")
        self.thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        with suppress(IndexError):
            while not self.problem:
                place, part = self._missing.popleft()
                try:
                    self._build(place, part)
                except (OSError, ValueError, KeyError, TypeError) as error:
                    self.problem = IndexProblem(f"Shard {part.name} cannot be built ({error}).")

    def _build(self, place: int, part: _ShardBuild) -> None:
        """Have the process build a part, and store its outcome."""
        assert self.child.stdin and self.child.stdout
        task = self._task | {"path": part.path(), "share": [place, self._task["number"]]}
        with suppress(BrokenPipeError):
            self.child.stdin.write(json.dumps(task).encode() + b"\n")
            self.child.stdin.flush()
        for line in self.child.stdout:
            said = json.loads(line)
            if "outcome" in said:
                part.keep(said["outcome"])
                return
            if "error" in said:
                self.problem = InputError(f"Shard {part.name} was not built: {said['error']}")
                return
            self._advance(part.name, said["docs"])
        self.problem = IndexProblem(
            f"The process that builds shard {part.name} ended before it was done; "
            "run the command again, with resume to go on."
        )
