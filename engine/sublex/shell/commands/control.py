"""Commands that control the session: help, formats, files, and the end."""

from __future__ import annotations

from collections.abc import Iterator

from sublex.cli.work import terminal_of_another
from sublex.forms.lines import Line, Shown, Span, line
from sublex.shell.arguments import usage_of
from sublex.shell.registry import Theme
from sublex.shell.session import Session
from sublex.tools.messages import counted

command = Theme("The session")
# Columns of the usage of a command in the list.
USAGE = 20


@command("[COMMAND]", name="help", completes="command")
def show_help(session: Session, rest: str) -> Shown:
    """List the commands, or describe one."""
    if rest:
        found = session.commands.find(rest.split()[0].lstrip(":"))
        paragraphs = found.help.split("\n\n")
        return Shown(lambda: [line(Span(usage_of(found), "heading")), *_paragraphs(paragraphs)], lambda: found.help)
    commands = list(session.commands)
    data = {each.name: {"usage": usage_of(each), "help": each.help} for each in commands}
    return Shown(lambda: _list(session), lambda: data)


def _paragraphs(paragraphs: list[str]) -> Iterator[Line]:
    for paragraph in paragraphs:
        yield line()
        yield line(" ".join(paragraph.split()), indent=0)


def _list(session: Session) -> Iterator[Line]:
    yield line(
        "A line is a query. A line that begins with a colon is a command; two colons begin a query with a colon.",
        indent=0,
    )
    commands = list(session.commands)
    for section in dict.fromkeys(each.section for each in commands):
        yield line()
        yield line(Span(section, "heading"))
        for each in commands:
            if each.section == section:
                yield line(f"  {usage_of(each):<{USAGE}}  {each.summary}", indent=USAGE + 4)
    yield line()
    yield line("Numbers refer to the last results. :help COMMAND says more. Ctrl-D ends the session.", indent=0)


@command("[table | json | csv | trec]", name="format")
def choose_format(session: Session, rest: str) -> Shown:
    """Show results as tables, JSON, CSV or lines of a TREC run. Without an argument, show the format."""
    if rest:
        session.settings.change("format", rest)
    return Shown(lambda: [line(f"format {session.settings.format}")], lambda: session.settings.format)


@command("[FILE]", completes="file")
def out(session: Session, rest: str) -> None:
    """Write the following results to a file; without FILE, show them here again."""
    session.out = session.new_file(rest) if rest else None
    if session.out:
        session.out.write_bytes(b"")
    session.say(f"Results go to {rest}." if rest else "Results are shown here.")


@command("on | off")
def timing(session: Session, rest: str) -> Shown:
    """Show the time of each line, or stop showing it."""
    session.settings.change("timing", rest or "on")
    return Shown(lambda: [line(f"timing {'on' if session.settings.timing else 'off'}")])


@command()
def edit(session: Session, rest: str) -> Shown | None:
    """Write the last query anew in your editor ($EDITOR), and ask it."""
    import click

    with terminal_of_another():
        text = click.edit(session.query.text if session.query else rest)
    return None if text is None else session.run(" ".join(text.split()))


@command()
def reopen(session: Session, rest: str) -> Shown:
    """Open the index again, as it is after the last commit of another process."""
    session.reopen()
    index = session.index
    documents = counted(len(index), "document")
    return Shown(lambda: [line(f"{session.path}: generation {index.generation}, {documents}")])


@command(name="quit")
def end(session: Session, rest: str) -> None:
    """End the session; Ctrl-D does so too."""
    session.ended = True
