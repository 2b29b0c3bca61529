"""Answer lines without a prompt: those of `-c` and `--replay`, and those of a pipe, which may begin with the id of a topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sublex.faces.output import say
from sublex.shell.failures import Failed, Interrupted, attempt
from sublex.shell.printing import QueryId, print_result
from sublex.shell.registry import is_command
from sublex.shell.session import Session


class Entry(NamedTuple):
    """A line to answer, and the topic under which its hits are printed."""

    topic: QueryId
    text: str


def answer_lines(session: Session, lines: Iterable[str], stream: Iterable[str] | None) -> bool:
    """Answer lines, and then those of a stream if there is one; return whether all went well.

    After a failure, one sentence is printed, and the next line is answered.
    """
    good = True
    for entry in _entries(lines, stream):
        # In a pipe each query is answered once, whatever changes after it.
        session.answers_again, session.qid = not entry.topic.in_pipe, entry.topic.qid
        try:
            shown = attempt(session, entry.text)
        except Interrupted:
            # Without a prompt to return to, an interrupt ends the command.
            raise KeyboardInterrupt from None
        except Failed as failure:
            say(f"sublex: {failure}")
            good = False
            continue
        print_result(session, shown, topic=entry.topic)
        if session.ended:
            break
    return good


def _entries(lines: Iterable[str], stream: Iterable[str] | None) -> Iterator[Entry]:
    """Yield lines with the ids of their topics: the id before a tab in a stream, else the number of the query."""
    number = 0
    for text in lines:
        number += not is_command(text) and bool(text.strip())
        yield Entry(QueryId(str(number)), text)
    for text in stream or ():
        text = text.rstrip("\r\n")
        if not text.strip():
            continue
        qid, tab, query = text.partition("\t")
        number += not is_command(text)
        if tab and qid.split() == [qid] and not is_command(text):
            yield Entry(QueryId(qid, True), query)
        else:
            yield Entry(QueryId(str(number), True), text)
