"""Answer lines without a prompt: those of `--replay`, of `-c` and of a pipe. A line of a pipe may begin with a topic's id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sublex.faces.output import say, show
from sublex.shell.failures import Failed, Interrupted, attempt
from sublex.shell.printing import QueryId, print_result
from sublex.shell.registry import is_command
from sublex.shell.session import Session
from sublex.tools.messages import one_line


class Entry(NamedTuple):
    """A line to answer, and the topic under which its hits are printed. If `is_echoed`, the line itself is also printed."""

    topic: QueryId
    text: str
    is_echoed: bool = False


def answer_lines(
    session: Session, lines: Iterable[str], stream: Iterable[str] | None, replayed: Sequence[str] = ()
) -> bool:
    """Answer replayed lines, then `lines`, then those of a stream, if any.

    Return whether all went well. After a failure, one sentence is printed, and the next line is answered. A replayed
    line is printed before its answer, as at the prompt. For results in the forms of programs, it goes to standard
    error.
    """
    good = True
    for entry in _entries(replayed, lines, stream):
        if entry.is_echoed:
            echo = one_line(f"{session.path.name}> {entry.text}")
            (show if session.settings.format == "table" else say)(echo)
        # In a pipe, each query is answered only once, even if the expression changes later.
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


def _entries(replayed: Sequence[str], lines: Iterable[str], stream: Iterable[str] | None) -> Iterator[Entry]:
    """Yield lines with the ids of their topics.

    In a stream, the id is before a tab; without one, it is the number of the query.
    """
    number = 0
    for place, text in enumerate([*replayed, *lines]):
        number += not is_command(text) and bool(text.strip())
        yield Entry(QueryId(str(number)), text, place < len(replayed))
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
