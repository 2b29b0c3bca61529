"""Commands that control the session: help, formats, files, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from sublex.faces.work import terminal_of_another
from sublex.forms.lines import Line, Shown, Span, line, table_lines
from sublex.operations import Needs, Operation, operation, positional
from sublex.operations.parameters import OVERWRITE_HELP
from sublex.shell.arguments import usage_of
from sublex.shell.registry import BARE
from sublex.shell.session import Session
from sublex.tools.messages import counted
from sublex.tools.outputs import without_links

# The width of the usage of a command in the list, in columns.
USAGE = 20


@operation("help", Needs.SESSION)
def show_help(session: Session, command: Annotated[str, positional("COMMAND", completes="command")] = "") -> Shown:
    """List the commands, or describe one."""
    if command:
        return _described(session.commands.find(command.lstrip(":")))
    data = {each.shell: {"usage": usage_of(each), "help": each.help} for each in session.commands}
    return Shown(lambda: _list(session), lambda: data)


def _described(command: Operation) -> Shown:
    """Return the help of a command as Shown: its usage, its docstring, and the options that may stand before its arguments."""
    options = [each for each in command.parameters if each.flags and not each.hidden and not each.bare]
    rows = [(", ".join(each.flags or ()), each.help) for each in options]
    if command.file:
        rows += [("-o, --output", command.helps.get("output", "")), ("--overwrite", OVERWRITE_HELP)]
    more = [line(), *table_lines(rows)] if rows else []
    usage = line(Span(usage_of(command), "heading"))
    return Shown(lambda: [usage, *_paragraphs(command.help.split("\n\n")), *more], lambda: command.help)


def _paragraphs(paragraphs: list[str]) -> Iterator[Line]:
    for paragraph in paragraphs:
        yield line()
        yield line(" ".join(paragraph.split()), indent=0)


def _list(session: Session) -> Iterator[Line]:
    yield line(
        "A line is a query. A line that begins with a colon is a command; two colons begin a query with a colon, or one of "
        f"the words {', '.join(BARE[:-1])} and {BARE[-1]}, which alone mean commands at the prompt.",
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
    yield line(
        "Numbers refer to the last results. :help COMMAND says more; :? is :help, and :q is :quit. Ctrl-D ends the session.",
        indent=0,
    )


@operation("format", Needs.SESSION)
def choose_format(session: Session, form: Annotated[str, positional("table | json | csv | trec")] = "") -> Shown:
    """Show results as tables, JSON, CSV or lines of a TREC run. Without an argument, show the format."""
    if form:
        session.settings.change("format", form)
    return Shown(lambda: [line(f"format {session.settings.format}")], lambda: session.settings.format)


@operation(needs=Needs.SESSION)
def out(session: Session, file: Annotated[str, positional("FILE", completes="file")] = "") -> None:
    """Write the following results to a file; without FILE, show them here again."""
    session.out = session.new_file(file) if file else None
    if session.out:
        open(session.out, "wb", opener=without_links).close()
    session.say(f"Results go to {file}." if file else "Results are shown here.")


@operation(needs=Needs.SESSION)
def timing(session: Session, state: Annotated[str, positional("on | off")] = "on") -> Shown:
    """Show the time of each line, or stop showing it."""
    session.settings.change("timing", state)
    return Shown(lambda: [line(f"timing {'on' if session.settings.timing else 'off'}")])


@operation(needs=Needs.SESSION)
def edit(session: Session) -> Shown | None:
    """Write the last query anew in your editor ($EDITOR), and ask it."""
    import click

    with terminal_of_another():
        text = click.edit(session.query.text if session.query else "")
    return None if text is None else session.run(" ".join(text.split()))


@operation(needs=Needs.SESSION)
def reopen(session: Session) -> Shown:
    """Open the index again, as it is after the last commit of another process."""
    session.reopen()
    index = session.index
    documents = counted(len(index), "document")
    return Shown(lambda: [line(f"{session.path}: generation {index.generation}, {documents}")])


@operation("quit", Needs.SESSION)
def end(session: Session) -> None:
    """End the session; Ctrl-D does so too."""
    session.ended = True
