"""Stored impacts: the impacts of chosen rankers on disk, as derived data that can be deleted and made again.

For each segment, all rankers share the stored documents of postings, which take two bytes a posting. Each ranker has
codes of impacts, of one or two bytes. `coding` describes both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from sublex.contracts.base import VERSION
from sublex.errors import IndexCorrupt, IndexProblem, SublexError
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot

if TYPE_CHECKING:
    from sublex.retrieval.searcher import Searcher

DECLARED = "declared.json"
# Returns the searcher of a ranker, given by its printed form.
SearcherOf = Callable[[str], "Searcher"]


def impacts_folder(snapshot: Snapshot, ranker: str, code: str) -> Directory:
    """Return the folder of a ranker's impacts, named by the documents, the ranker and the versions of the code."""
    return _folder(snapshot, "impacts", [VERSION, code, snapshot.fingerprint, ranker])


def documents_folder(snapshot: Snapshot, segment: Segment) -> Directory:
    """Return the folder of a segment's document numbers, named by the segment and Sublex's version."""
    return _folder(snapshot, "documents", [VERSION, segment.entry.data.checksum])


def _folder(snapshot: Snapshot, kind: str, parts: list[str]) -> Directory:
    key = xxhash.xxh3_128_hexdigest(json.dumps(parts).encode())
    return derived.folder_of(snapshot.path) / f"{kind}-{key}"


def declared(root: Path) -> list[str]:
    """Return the rankers whose impacts are stored and made again after every commit; none when the list cannot be read."""
    try:
        names = json.loads(derived.folder_of(root).read(DECLARED))
    except (OSError, ValueError, RecursionError, IndexCorrupt):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def keep(snapshot: Snapshot, rankers: Sequence[str], searcher_of: SearcherOf) -> None:
    """Declare these rankers, given by their printed forms, in place of others, and store their impacts alone.

    Without rankers, all derived data is removed.
    """
    folder = derived.folder_of(snapshot.path)
    if rankers:
        try:
            folder.make()
            folder.replace(DECLARED, json.dumps(list(rankers)).encode())
        except OSError as error:
            raise IndexProblem(f"Cannot store impacts in {folder.path}: {error.strerror or error}.") from None
    else:
        folder.remove()
    problems: list[str] = []
    refresh(snapshot, searcher_of, problems.append)
    if problems:
        raise IndexProblem(problems[0])


def refresh(snapshot: Snapshot, searcher_of: SearcherOf, say: Callable[[str], None]) -> None:
    """Store the impacts of the declared rankers. The index is committed by now, so a failure is only reported."""
    kept = {documents_folder(snapshot, segment) for segment in snapshot.segments}
    for name in declared(snapshot.path):
        try:
            searcher = searcher_of(name)
            searcher.store()
            kept.add(searcher.folder)
        except SublexError as error:
            say(f"The impacts of {name} cannot be stored. {error}")
    derived.remove_all_but(snapshot.path, kept)


def sizes(snapshot: Snapshot, searcher_of: SearcherOf) -> dict[str, int]:
    """Return the bytes on disk of each declared ranker's impacts, and of the document numbers that they share."""
    folders: dict[str, list[Directory]] = {}
    for name in declared(snapshot.path):
        with suppress(SublexError):
            folders[name] = [searcher_of(name).folder]
    if folders:
        folders["documents"] = [documents_folder(snapshot, segment) for segment in snapshot.segments]
    return {name: sum(folder.nbytes() for folder in group) for name, group in folders.items()}
