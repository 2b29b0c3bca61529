"""The journal of a build records its state after each spill, so that an interrupted build can be resumed.

A spill is a segment with the documents read so far, written because the memory was full.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from sublex.building.build_summary import BuildSummary, Outcome
from sublex.errors import IndexCorrupt, InputError
from sublex.index.directory import Directory
from sublex.index.entries import Count, Docs, SegmentEntry
from sublex.index.manifest import BUILDING
from sublex.index.schema import as_json, record_of

JOURNAL = "journal.json"


class BuildJournal(NamedTuple):
    """The state of a build: the numbers of batches read and of documents indexed, the spills, and the outcome so far.

    `sources` identifies the input and the settings; None means that the input cannot be read a second time. `batches`
    and `docs` count what the spills contain.
    """

    sources: object
    batches: Count
    docs: Docs
    spills: list[SegmentEntry]
    outcome: Outcome


def write_journal(folder: Directory, journal: BuildJournal) -> None:
    """Write the journal of the build in this folder, after its spills are on the disk."""
    folder.sync()
    folder.replace(JOURNAL, json.dumps(as_json(journal)).encode())


def read_journal(folder: Directory, sources: Any) -> tuple[BuildJournal, BuildSummary] | None:
    """Return the journal of the build in this folder and the summary in it, or None if there is no journal.

    Raises `InputError` if `sources` is None or differs from the sources in the journal, and `IndexCorrupt` if the
    journal is damaged.
    """
    try:
        journal = record_of(json.loads(folder.read(JOURNAL)), BuildJournal)
        summary = BuildSummary.of(journal.outcome)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, RecursionError):
        raise IndexCorrupt(f"{folder.path / JOURNAL} is damaged: start again without resume.") from None
    if sources is None or journal.sources != sources:
        raise InputError("The sources or settings changed since the build was interrupted: start again without resume.")
    return journal, summary


def resumable(root: Path) -> bool:
    """Return whether an interrupted build of the index at `root` can be resumed."""
    try:
        return json.loads((Directory(root) / BUILDING).read(JOURNAL))["sources"] is not None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, IndexCorrupt):
        return False
