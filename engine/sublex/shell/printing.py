"""Print the result of a line: as lines for people, JSON, CSV, or lines of a TREC run, on standard output or to a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import NamedTuple

import click

from sublex.display.hits import HEAD
from sublex.errors import InputError
from sublex.faces.output import print_lines, print_shown, say
from sublex.forms.lines import Line, Shown
from sublex.forms.values import to_json
from sublex.shell.session import Session
from sublex.tools.outputs import without_links

# A function that prints lines for people.
Printer = Callable[[Sequence[Line]], None]


class QueryId(NamedTuple):
    """The id of a query in a run.

    `in_pipe` says whether the query came from a pipe. Its result as JSON is then printed on one line.
    """

    qid: str = "1"
    in_pipe: bool = False


ONLY = QueryId()


def print_result(session: Session, shown: Shown | None, printer: Printer = print_lines, topic: QueryId = ONLY) -> None:
    """Print the result of a line in the format of the session. With `:out`, print it to the file."""
    if shown is None:
        return
    if session.out is None:
        _print(session, shown, printer, topic)
    else:
        try:
            file = open(session.out, "a", encoding="utf-8", errors="backslashreplace", opener=without_links)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"Cannot write {session.out}: {error.strerror}.") from None
        with file, redirect_stdout(file):
            _print(session, shown, print_lines, topic)


def _print(session: Session, shown: Shown, printer: Printer, topic: QueryId) -> None:
    form = session.settings.format
    has_hits = tuple(shown.head) == HEAD
    if has_hits and form == "json" and topic.in_pipe and session.query is not None:
        click.echo(to_json({"qid": topic.qid, "query": session.query.text, **shown.data}))
    elif not has_hits and topic.in_pipe and form in ("trec", "json"):
        # Programs read a run or a stream of JSON, so output of commands, which is for people, goes elsewhere.
        say(*(each.text for each in shown.lines))
    else:
        print_shown(shown, form if shown.offers(form) else "table", printer)
    say(*map(session.worded, shown.notes))
