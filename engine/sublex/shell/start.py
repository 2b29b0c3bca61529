"""The operation of the command line that starts the shell."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from sublex.errors import InputError
from sublex.faces.output import say
from sublex.forms.lines import Shown
from sublex.operations import Needs, OperationContext, operation, option
from sublex.operations.parameters import AllowUncovered, Profile, Ranker

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.shell.session import Session


@operation(needs=Needs.PATH, faces=("cli",), forms=("table",))
def shell(
    context: OperationContext,
    ranker: Ranker = None,
    k: Annotated[int | None, option("-k", least=1, shown="10")] = None,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    commands: Annotated[tuple[str, ...], option("-c", metavar="LINE")] = (),
    replay: Annotated[str | None, option(metavar="FILE", completes="file")] = None,
    plain: bool = False,
    format: Annotated[Literal["table", "json", "csv", "trec"] | None, option(shown="table")] = None,
) -> Shown:
    """Talk to an index: type queries and commands at a prompt.

    A line is a query; a line that begins with a colon is a command, and :help lists them. In a pipe, each line is a query
    or a command; a query may have the id of its topic and a tab before it. The settings are read from ~/.config/sublex/shell.toml.

    Args:
        k: Maximum number of documents per query.
        commands: Run this line and end; may be given several times.
        replay: Print and run the lines of this file first.
        plain: Print no colours, bars and toolbar, and complete nothing.
        format: How results are printed.

    Examples:
        sublex shell demo
        sublex shell demo -c 'cranes by the river' -c ':explain 1'
        sublex shell demo --format trec -c 'cranes by the river'
    """
    from sublex.shell.settings import read_settings

    settings = read_settings()
    settings.expression = ranker or settings.expression
    settings.profile, settings.allow_uncovered = profile or settings.profile, allow_uncovered
    settings.k = k or settings.k
    settings.format = format or settings.format
    interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and not commands
    draws = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    settings.bars = settings.bars and interactive and draws and not plain
    path = context.path
    if not (path / "index.json").is_file():
        # The error message for a missing index names the indexes that exist.
        _open(path, allow_uncovered)
    lines = _replayed(replay)
    if interactive:
        from sublex.shell.prompt import talk

        talk(lambda: _session(path, settings, allow_uncovered), path.name, settings, lines, plain)
        return Shown(list)
    if isinstance(sys.stdin, io.TextIOWrapper):
        # A file from another program may begin with a byte order mark and have bytes that are not UTF-8.
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
    good = _batch(_session(path, settings, allow_uncovered), lines, commands, None if commands else sys.stdin)
    return Shown(list, code=0 if good else 2)


def _session(path: Path, settings: object, allow_uncovered: bool) -> Session:
    from sublex.shell.commands import built_in
    from sublex.shell.session import Session

    return Session(lambda: _open(path, allow_uncovered), path, built_in(), settings, say)  # type: ignore[arg-type]


def _open(path: Path, allow_uncovered: bool) -> Index:
    import sublex

    index = sublex.open(path, allow_uncovered)
    if index.attachment and index.attachment.problem:
        say(index.attachment.problem)
    return index


def _batch(session: Session, replayed: list[str], commands: Sequence[str], stream: object) -> bool:
    from sublex.faces.compiling import say_if_compiling
    from sublex.shell.batch import answer_lines
    from sublex.shell.commands import add_plugins

    say_if_compiling("analyze search explain", session.index)
    say(*add_plugins(session.commands, session.index.registry))
    return answer_lines(session, commands, stream, replayed)  # type: ignore[arg-type]


def _replayed(file: str | None) -> list[str]:
    """Return the lines of a file of queries and commands, such as `:history` writes."""
    if file is None:
        return []
    try:
        # A query may contain characters at which `str.splitlines` would split.
        with Path(file).open(encoding="utf-8", errors="surrogateescape") as lines:
            return [line.removesuffix("\n") for line in lines]
    except OSError as error:
        raise InputError(f"Cannot read {file}: {error.strerror}.") from None
