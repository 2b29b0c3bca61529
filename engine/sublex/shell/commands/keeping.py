"""Commands that keep results and queries: snapshots of hits, saved queries, the lines of the session."""

from __future__ import annotations

import os

from sublex.display.versus import Ranking, versus
from sublex.errors import InputError
from sublex.forms.lines import Shown, line, records
from sublex.pipeline.weighted import weighted_query
from sublex.shell.arguments import exactly, needed
from sublex.shell.registry import Theme
from sublex.shell.saved import Saved, read_saved, write_saved
from sublex.shell.session import Session
from sublex.tools.files import replace_file
from sublex.tools.messages import counted, unknown

command = Theme("Keep results and queries")


@command("[NAME]")
def snapshot(session: Session, rest: str) -> Shown:
    """Remember the last hits under a name, to compare with later ones by :diff. Without NAME, list the names."""
    if not rest and not session.snapshots:
        raise InputError("There are no snapshots; :snapshot NAME keeps the last hits.")
    if not rest:
        return records(("snapshot", "hits"), [(name, len(docnos)) for name, docnos in session.snapshots.items()])
    session.asked()
    assert session.answer is not None
    session.snapshots[rest] = session.answer.hits.docnos
    return Shown(lambda: [line(f"{rest} holds {counted(len(session.snapshots[rest]), 'hit')}")])


@command("NAME", completes="snapshot")
def diff(session: Session, rest: str) -> Shown:
    """Compare the last hits with a snapshot: how far each document rose or fell, which are new or gone."""
    if not session.snapshots:
        raise InputError("Write :snapshot NAME first.")
    if needed(rest, ":diff NAME") not in session.snapshots:
        raise InputError(unknown("snapshot", rest, session.snapshots))
    session.asked()
    assert session.answer is not None
    return versus([Ranking(rest, session.snapshots[rest]), Ranking("now", session.answer.hits.docnos)])


@command("NAME")
def save(session: Session, rest: str) -> Shown:
    """Save the last query with its expression under a name, for this session and later ones."""
    (name,) = exactly(rest, 1, ":save NAME")
    session.asked()
    assert session.query is not None
    expression = str(session.pipeline(session.used))
    saved = Saved(session.query.text, session.is_weighted(), expression, os.path.abspath(session.path), session.like)
    write_saved({**read_saved(), name: saved})
    return Shown(lambda: [line(f"{name} is saved: {saved.query}  by {expression}")])


@command("[NAME]", completes="saved")
def queries(session: Session, rest: str) -> Shown:
    """List the saved queries, or ask one of them again, by its own expression."""
    saved = read_saved()
    if not saved:
        raise InputError("There are no saved queries; :save NAME keeps one.")
    if not rest:
        return records(
            ("name", "query", "expression", "index"), [(n, s.query, s.expression, s.path) for n, s in saved.items()]
        )
    if rest not in saved:
        raise InputError(unknown("saved query", rest, saved))
    chosen = saved[rest]
    session.settings.expression = str(session.pipeline(chosen.expression))
    return session.search(weighted_query(chosen.query) if chosen.weighted else chosen.query, like=chosen.like)


@command("NAME", completes="saved")
def unsave(session: Session, rest: str) -> Shown:
    """Delete a saved query."""
    saved = read_saved()
    if needed(rest, ":unsave NAME") not in saved:
        raise InputError(unknown("saved query", rest, saved) if saved else "There are no saved queries.")
    write_saved({name: query for name, query in saved.items() if name != rest})
    return Shown(lambda: [line(f"{rest} is deleted")])


@command("FILE", completes="file")
def history(session: Session, rest: str) -> Shown:
    """Write the lines of this session to a file; `sublex shell INDEX --replay FILE` runs them again."""
    (path,) = exactly(rest, 1, ":history FILE")
    lines = [text for text in session.lines if not text.startswith(":history")]
    replace_file(session.new_file(path), "".join(f"{text}\n" for text in lines).encode(errors="surrogatepass"))
    return Shown(lambda: [line(f"{path} has {counted(len(lines), 'line')}")])
