"""Commands that keep results and queries: snapshots of hits, saved queries, the lines of the session."""

from __future__ import annotations

import os
from typing import Annotated

from sublex.display.versus import versus
from sublex.errors import InputError
from sublex.forms.lines import Shown, line, records
from sublex.operations import Needs, operation, positional
from sublex.operations.parameters import DataFile
from sublex.pipeline.side_by_side import NamedRanking
from sublex.pipeline.weighted import weighted_query
from sublex.shell.saved import Saved, read_saved, write_saved
from sublex.shell.session import Session
from sublex.tools.files import replace_file
from sublex.tools.messages import counted, unknown

Kept = Annotated[str, positional("NAME", completes="snapshot")]
SavedName = Annotated[str, positional("NAME", completes="saved")]


@operation(needs=Needs.SESSION)
def snapshot(session: Session, name: Kept = "") -> Shown:
    """Remember the last hits under a name, to compare with later ones by :diff. Without NAME, list the names."""
    if not name and not session.snapshots:
        raise InputError("There are no snapshots; :snapshot NAME keeps the last hits.")
    if not name:
        return records(("snapshot", "hits"), [(kept, len(docnos)) for kept, docnos in session.snapshots.items()])
    session.asked()
    assert session.answer is not None
    session.snapshots[name] = session.answer.hits.docnos
    return Shown(lambda: [line(f"{name} holds {counted(len(session.snapshots[name]), 'hit')}")])


@operation(needs=Needs.SESSION)
def diff(session: Session, name: Kept) -> Shown:
    """Compare the last hits with a snapshot: how far each document rose or fell, which are new or gone."""
    if not session.snapshots:
        raise InputError("Write :snapshot NAME first.")
    if name not in session.snapshots:
        raise InputError(unknown("snapshot", name, session.snapshots))
    session.asked()
    assert session.answer is not None
    return versus([NamedRanking(name, session.snapshots[name]), NamedRanking("now", session.answer.hits.docnos)])


@operation(needs=Needs.SESSION)
def save(session: Session, name: SavedName) -> Shown:
    """Save the last query with its expression under a name, for this session and later ones."""
    session.asked()
    assert session.query is not None
    expression = str(session.pipeline(session.used))
    language = "plain" if session.query.tree is None else "query"
    place = os.path.abspath(session.path)
    saved = Saved(session.asked_text(), session.is_weighted(), expression, place, session.like, language)
    write_saved({**read_saved(), name: saved})
    return Shown(lambda: [line(f"{name} is saved: {saved.query}  by {expression}")])


@operation(needs=Needs.SESSION)
def queries(session: Session, name: SavedName = "") -> Shown:
    """List the saved queries, or ask one of them again, by its own expression."""
    saved = read_saved()
    if not saved:
        raise InputError("There are no saved queries; :save NAME keeps one.")
    if not name:
        return records(
            ("name", "query", "expression", "index"), [(n, s.query, s.expression, s.path) for n, s in saved.items()]
        )
    if name not in saved:
        raise InputError(unknown("saved query", name, saved))
    chosen = saved[name]
    session.settings.expression = str(session.pipeline(chosen.expression))
    if not chosen.weighted:
        session.settings.language = chosen.language
    return session.search(weighted_query(chosen.query) if chosen.weighted else chosen.query, like=chosen.like)


@operation(needs=Needs.SESSION)
def unsave(session: Session, name: SavedName) -> Shown:
    """Delete a saved query."""
    saved = read_saved()
    if name not in saved:
        raise InputError(unknown("saved query", name, saved) if saved else "There are no saved queries.")
    write_saved({kept: query for kept, query in saved.items() if kept != name})
    return Shown(lambda: [line(f"{name} is deleted")])


@operation(needs=Needs.SESSION)
def history(session: Session, file: DataFile) -> Shown:
    """Write the lines of this session to a file; `sublex shell INDEX --replay FILE` runs them again."""
    lines = [text for text in session.lines if not text.startswith(":history")]
    # Bytes that are not UTF-8 come from a terminal as surrogates, and are written unchanged.
    replace_file(session.new_file(file), "".join(f"{text}\n" for text in lines).encode(errors="surrogateescape"))
    return Shown(lambda: [line(f"{file} has {counted(len(lines), 'line')}")])
