"""Stored impacts: the impacts of chosen rankers, the declared rankers, on disk. Every commit stores them anew.

Stored impacts are derived data, which can be deleted and computed again. Each segment has one file with the documents
of all postings, in two bytes for each posting; all rankers share this file. Each ranker also has a file with codes of
impacts, mostly one or two bytes for each posting. `coding` describes both files.
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

# The file with the printed forms of the declared rankers.
DECLARED = "declared.json"
# A function that takes the printed form of a ranker and returns its searcher.
SearcherOf = Callable[[str], "Searcher"]


def impacts_folder(snapshot: Snapshot, ranker: str, code: str) -> Directory:
    """Return the folder of a ranker's impacts.

    The folder's name depends on the documents of the snapshot, the ranker, and two versions: the version of Sublex and
    `code`, which names the distribution of the ranker and its version.
    """
    return _folder(snapshot, "impacts", [VERSION, code, snapshot.fingerprint, ranker])


def documents_folder(snapshot: Snapshot, segment: Segment) -> Directory:
    """Return the folder of the document numbers of a segment.

    The folder's name depends on the segment and on the version of Sublex.
    """
    return _folder(snapshot, "documents", [VERSION, segment.entry.data.checksum])


def _folder(snapshot: Snapshot, kind: str, parts: list[str]) -> Directory:
    key = xxhash.xxh3_128_hexdigest(json.dumps(parts).encode())
    return derived.folder_of(snapshot.path) / f"{kind}-{key}"


def declared(root: Path) -> list[str]:
    """Return the printed forms of the declared rankers; [] if there are none, or if the list is unreadable."""
    try:
        names = json.loads(derived.folder_of(root).read(DECLARED))
    except (OSError, ValueError, RecursionError, IndexCorrupt):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def keep(snapshot: Snapshot, rankers: Sequence[str], searcher_of: SearcherOf) -> None:
    """Store the impacts of `rankers`, and of no other rankers, now and after every commit.

    `rankers` has the printed forms of rankers. If it is empty, all derived data is removed.
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
    """Store the impacts of the declared rankers, and remove all other derived data.

    If a ranker's impacts cannot be stored, `say` gets a message. No error is raised, because the index is committed
    already.
    """
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
    """Return the bytes on disk of each declared ranker's impacts, and of the document numbers, named "documents"."""
    folders: dict[str, list[Directory]] = {}
    for name in declared(snapshot.path):
        with suppress(SublexError):
            folders[name] = [searcher_of(name).folder]
    if folders:
        folders["documents"] = [documents_folder(snapshot, segment) for segment in snapshot.segments]
    return {name: sum(folder.nbytes() for folder in group) for name, group in folders.items()}
