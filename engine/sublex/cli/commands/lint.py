"""The command that checks data files: lint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sublex.cli import completion
from sublex.cli.lookup import open_index
from sublex.cli.options import examples, format_option
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.faces.compiling import say_if_compiling
from sublex.faces.output import print_json, print_table
from sublex.tools.messages import counted, one_line

if TYPE_CHECKING:
    from sublex.lint import Finding, LintResult


@click.command(
    epilog=examples("sublex lint documents.jsonl topics.trec qrels.txt bm25.run", "sublex lint qrels.txt --index demo")
)
@click.argument("files", nargs=-1, metavar="FILE...", shell_complete=completion.files)
@click.option(
    "--index", "name", metavar="INDEX", shell_complete=completion.indexes, help="Check that docnos are in this index."
)
@click.option(
    "--as",
    "kinds",
    metavar="KIND=FILE",
    multiple=True,
    help="Check FILE as a collection, topics, qrels or run, and do not detect its type; may be given several times.",
)
@format_option("table", "json")
@verbose_option
@click.pass_context
def lint(context: click.Context, files: tuple[str, ...], name: str | None, kinds: tuple[str, ...], form: str) -> None:
    """Find faults in collections, topic files, qrels and runs.

    Each file is checked alone and against the others. Sublex detects the type of a file from its content. The exit code
    is 1 if something is found.
    """
    from sublex.lint import index_docnos, lint

    kind_of_file = dict(_kind_of_file(option) for option in kinds)
    paths = list(dict.fromkeys([*files, *kind_of_file]))
    if not paths:
        raise click.UsageError("Name at least one file.", context)
    say_if_compiling("number-terms lint")
    docnos = index_docnos(open_index(name)) if name else None
    with step("Checked the files"):
        linted = lint(paths, docnos, kind_of_file)
    if form == "json":
        print_json({part: [record._asdict() for record in records] for part, records in linted._asdict().items()})
    else:
        _print(linted)
    if linted.findings:
        context.exit(1)


def _kind_of_file(option: str) -> tuple[str, str]:
    """Return the file and the kind of an option --as KIND=FILE."""
    kind, equals, path = option.partition("=")
    if not equals:
        raise InputError(f"--as {option} names no file; write for example --as topics=queries.jsonl.")
    return path, kind


def _print(linted: LintResult) -> None:
    """Print the files with their types, then the findings, then how many there are."""
    print_table([(file.file, file.kind or "unknown", file.what) for file in linted.files])
    click.echo()
    if not linted.findings:
        several = len(linted.files) > 1
        click.echo("The files are sound, alone and together." if several else "The file is sound.")
        return
    for finding in linted.findings:
        place = f"{finding.file}:{finding.line}" if finding.line else finding.file
        severity = click.style(finding.severity, bold=finding.severity == "error")
        click.echo(f"{one_line(place)}  {severity}  {finding.rule}")
        click.echo(f"    {one_line(finding.text)}{_occurrences(finding)}")
    errors = sum(finding.severity == "error" for finding in linted.findings)
    click.echo(f"\n{counted(errors, 'error')}, {counted(len(linted.findings) - errors, 'note')}")


def _occurrences(finding: Finding) -> str:
    """Return how often a finding occurs and on which other lines; empty if it occurs once."""
    if finding.times < 2:
        return ""
    where = ""
    if finding.more:
        lines = ", ".join(map(str, finding.more))
        rest = finding.times - 1 - len(finding.more)
        where = f": also on line{'s' * (len(finding.more) > 1)} {lines}" + (f" and {rest:,} more" if rest else "")
    return f" ({finding.times:,} times{where})"
