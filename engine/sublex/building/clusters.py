"""Building a cluster of new documents: its shards are built by processes side by side, or cut from one build if there is little.

`sublex.building.joining` makes a cluster of indexes that exist.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import Popen
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
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.index.directory import Directory
from sublex.index.entries import AnalyzerEntry, SegmentEntry, ShardEntry
from sublex.index.manifest import MANIFEST, SEGMENTS, new_manifest, read_manifest_in
from sublex.index.schema import SchemaMismatch, as_json, record_of
from sublex.index.segment import Segment
from sublex.index.shards import MOST_SHARDS, shard_name
from sublex.readers.batch import BATCH_BYTES
from sublex.tools.child_processes import end_child, start_child
from sublex.tools.strings import Strings
from sublex.tools.workers import Workers

# Each shard gets at least this number of batches of the input; otherwise one process builds all shards.
LEAST_BATCHES = 4
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
    parts = [_Part(folder, shard.name) for shard in shards]
    missing = [part for part in parts if part.outcome() is None]
    done = {part.name: part.docs() for part in parts}
    try:
        for k, part in enumerate(parts):
            if part in missing:
                given = {"share": [k, len(parts)], "workers": max(1, threads // len(parts)), "resume": resume}
                part.start(options._asdict() | given)

        def advance(name: str, docs: int) -> None:
            done[name] = docs
            progress(sum(done.values()))

        listeners = [Thread(target=part.listen, args=(advance,), daemon=True) for part in missing]
        for listener in listeners:
            listener.start()
        for listener in listeners:
            listener.join()
    finally:
        for part in missing:
            part.end()
    for part in missing:
        part.expect_result()
    return _collected(folder, parts, shards)


def _collected(
    folder: Directory, parts: Sequence[_Part], shards: Sequence[ShardEntry]
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


class _Part:
    """A shard in the making: an index in the folder of the build, and the process that builds it."""

    def __init__(self, folder: Directory, name: str):
        self.folder, self.name = folder, name
        self._child: Popen[bytes] | None = None
        self._result: dict[str, Any] = {}

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

    def start(self, task: dict[str, Any]) -> None:
        """Start the process."""
        # A part without its outcome is built again, or resumed.
        if (self.folder / self.name).has(MANIFEST):
            (self.folder / self.name).remove()
        task |= {"path": str((self.folder / self.name).path)}
        self._child = start_child("sublex.building.part_process", "main")
        assert self._child.stdin
        with suppress(BrokenPipeError):
            self._child.stdin.write(json.dumps(task).encode() + b"\n")
            self._child.stdin.flush()

    def listen(self, advance: Callable[[str, int], None]) -> None:
        """Read the lines of the process until it ends."""
        assert self._child and self._child.stdout
        with suppress(OSError, ValueError):
            for line in self._child.stdout:
                said = json.loads(line)
                if "docs" in said:
                    advance(self.name, said["docs"])
                else:
                    self._result = said
        self._child.wait()

    def end(self) -> None:
        """End the process if it runs."""
        if self._child:
            end_child(self._child)

    def expect_result(self) -> None:
        """Store the outcome that the process gave. Raise an error if it gave none."""
        assert self._child
        if "outcome" in self._result:
            self.folder.replace(f"{self.name}.json", json.dumps(self._result["outcome"]).encode())
        elif "error" in self._result:
            raise InputError(f"Shard {self.name} was not built: {self._result['error']}")
        else:
            raise IndexProblem(
                f"The process that builds shard {self.name} ended before it was done (exit code {self._child.returncode}); "
                "run the command again, with resume to go on."
            )
