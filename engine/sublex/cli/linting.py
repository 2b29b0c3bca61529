"""Checking files: lint."""

from __future__ import annotations

import json

import click

from sublex.cli.output import clean, format_option, index_path, say_if_compiling, table
from sublex.errors import InputError


@click.command()
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--index", "index_name", metavar="INDEX", help="Docnos must be of this index.")
@click.option(
    "--as", "given", metavar="KIND=FILE", multiple=True,
    help="Check FILE as collection, topics, qrels or run, whatever it looks like; may be given several times.",
)  # fmt: skip
@format_option("table", "json")
@click.pass_context
def lint(
    context: click.Context, files: tuple[str, ...], index_name: str | None, given: tuple[str, ...], form: str
) -> None:
    """Find faults in collections, topics, qrels and runs.

    Each is looked at alone and against the others.

    What each file is, is told by its content. The exit code is 1 when something was found.
    """
    import sublex
    from sublex.lint import index_docnos, lint

    wanted = dict(_wanted(option) for option in given)
    paths = list(dict.fromkeys([*files, *wanted]))
    if not paths:
        raise click.UsageError("Name at least one file.", context)
    say_if_compiling()
    known = index_docnos(sublex.open(index_path(index_name))) if index_name else None
    linted = lint(paths, known, wanted)
    if form == "json":
        shown = {name: [one._asdict() for one in records] for name, records in linted._asdict().items()}
        click.echo(json.dumps(shown, ensure_ascii=False, indent=1))
    else:
        _print(linted)
    if linted.findings:
        context.exit(1)


def _wanted(option: str) -> tuple[str, str]:
    kind, equals, path = option.partition("=")
    if not equals:
        raise InputError(f"--as {option} names no file; write for example --as topics=queries.jsonl.")
    return path, kind


def _print(linted) -> None:
    """The files with what they are, then the findings."""
    table([(one.file, one.kind or "unknown", one.what) for one in linted.files])
    click.echo()
    if not linted.findings:
        several = len(linted.files) > 1
        click.echo("The files are sound, alone and together." if several else "The file is sound.")
        return
    for one in linted.findings:
        where = f"{one.file}:{one.line}" if one.line else one.file
        click.echo(f"{clean(where)}  {click.style(one.severity, bold=one.severity == 'error')}  {one.rule}")
        click.echo(f"    {clean(one.text)}{_more(one)}")
    errors = sum(one.severity == "error" for one in linted.findings)
    notes = len(linted.findings) - errors
    click.echo(f"\n{errors:,} error{'s' * (errors != 1)}, {notes:,} note{'s' * (notes != 1)}")


def _more(one) -> str:
    """How often it was found, and where else."""
    if one.times < 2:
        return ""
    lines = ", ".join(map(str, one.more))
    rest = one.times - 1 - len(one.more)
    where = (
        f": also on line{'s' * (len(one.more) > 1)} {lines}" + (f" and {rest:,} more" if rest else "") if lines else ""
    )
    return f" ({one.times:,} times{where})"
