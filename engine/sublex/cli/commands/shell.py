"""The command that starts the shell: shell."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sublex.cli import completion
from sublex.cli.options import examples, hits_option, index_argument, profile_option, ranker_option, uncovered_option
from sublex.cli.output import say
from sublex.errors import InputError

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.shell.session import Session


@click.command(
    epilog=examples(
        "sublex shell demo",
        "sublex shell demo -c 'cranes by the river' -c ':explain 1'",
        "sublex shell demo --format trec -c 'cranes by the river'",
    )
)
@index_argument
@ranker_option
@hits_option(10)
@profile_option
@uncovered_option
@click.option(
    "-c", "commands", multiple=True, metavar="LINE", help="Run this line and end; may be given several times."
)
@click.option("--replay", metavar="FILE", shell_complete=completion.files, help="Run the lines of this file first.")
@click.option("--plain", is_flag=True, help="Print no colours, bars and toolbar, and complete nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json", "csv", "trec")),
    show_default="table",
    help="How results are printed.",
)
@click.pass_context
def shell(
    context: click.Context, name: str, ranker: str | None, k: int, profile: str | None, allow_uncovered: bool,
    commands: tuple[str, ...], replay: str | None, plain: bool, form: str | None,
) -> None:  # fmt: skip
    """Talk to an index: type queries and commands at a prompt.

    A line is a query; a line that begins with a colon is a command, and :help lists them. In a pipe, each line is a query,
    QID and QUERY with a tab between them, or a command. The settings are read from ~/.config/sublex/shell.toml.
    """
    from sublex.index.lookup import existing_path
    from sublex.shell.settings import read_settings

    settings = read_settings()
    settings.expression = ranker or settings.expression
    settings.profile, settings.allow_uncovered = profile or settings.profile, allow_uncovered
    given = context.get_parameter_source("k") != click.core.ParameterSource.DEFAULT
    settings.k = k if given else settings.k
    settings.format = form or settings.format
    interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and not commands
    draws = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    settings.bars = settings.bars and interactive and draws and not plain
    path = existing_path(name)
    if not (path / "index.json").is_file():
        # The error for a missing index says what is there.
        _open(path, allow_uncovered)
    lines = _replayed(replay)
    if interactive:
        from sublex.shell.prompt import talk

        talk(lambda: _session(path, settings, allow_uncovered), path.name, settings, lines, plain)
        return
    if isinstance(sys.stdin, io.TextIOWrapper):
        # A file from elsewhere may begin with a byte order mark and hold bytes that are no UTF-8.
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="replace")
    if not _batch(_session(path, settings, allow_uncovered), [*lines, *commands], None if commands else sys.stdin):
        context.exit(2)


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


def _batch(session: Session, lines: list[str], stream: object) -> bool:
    from sublex.cli.compiling import say_if_compiling
    from sublex.shell.batch import answer_lines
    from sublex.shell.commands import add_plugins

    say_if_compiling("analyze search explain", session.index)
    say(*add_plugins(session.commands, session.index.registry))
    return answer_lines(session, lines, stream)  # type: ignore[arg-type]


def _replayed(file: str | None) -> list[str]:
    """Return the lines of a file that `:history` wrote, or any lines of queries and commands."""
    if file is None:
        return []
    try:
        return Path(file).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError as error:
        raise InputError(f"Cannot read {file}: {error.strerror}.") from None
