"""The journal of a build: how far a build has come after each spill, so that an interrupted build can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from sublex.building.build_summary import BuildSummary
from sublex.errors import IndexCorrupt, InputError
from sublex.index.directory import Directory
from sublex.index.manifest import BUILDING
from sublex.index.schema import JOURNAL as JOURNAL_SCHEMA
from sublex.index.schema import expect

JOURNAL = "journal.json"


class Journal(NamedTuple):
    """The state of a build: batches read, documents indexed, the spills' entries, and the summary so far.

    `sources` identifies input and settings; None means that the input cannot be read a second time.
    """

    sources: Any
    batches: int
    docs: int
    spills: list[dict[str, Any]]
    summary: BuildSummary


def write_journal(folder: Directory, journal: Journal) -> None:
    """Write the journal of the build in this folder, after its spills are on the disk."""
    folder.sync()
    values = journal._asdict()
    # On disk the summary is called "outcome".
    values["outcome"] = values.pop("summary").to_json()
    folder.replace(JOURNAL, json.dumps(values).encode())


def read_journal(folder: Directory, sources: Any) -> Journal | None:
    """Return the journal of the build in this folder, or None if there is none.

    Raises `InputError` if `sources` differ from those of the interrupted build.
    """
    path = folder.path / JOURNAL
    try:
        values = json.loads(folder.read(JOURNAL))
        expect(values, JOURNAL_SCHEMA)
        journal = Journal(
            values["sources"],
            values["batches"],
            values["docs"],
            values["spills"],
            BuildSummary.from_json(values["outcome"]),
        )
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, RecursionError):
        raise IndexCorrupt(f"{path} is damaged: start again without resume.") from None
    if sources is None or journal.sources != sources:
        raise InputError("The sources or settings changed since the build was interrupted: start again without resume.")
    return journal


def resumable(root: Path) -> bool:
    """Return whether an interrupted build of the index at `root` can be resumed."""
    try:
        return json.loads((Directory(root) / BUILDING).read(JOURNAL))["sources"] is not None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, IndexCorrupt):
        return False
