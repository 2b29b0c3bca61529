"""The operation that checks data files: lint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from sublex.errors import InputError
from sublex.forms.lines import Line, Shown, Span, line, table_lines
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, option, positional
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.lint import Finding, LintResult


@operation(needs=Needs.ANY_INDEX, faces=("cli", "service"), index_help="Check that docnos are in this index.")
def lint(
    context: OperationContext,
    files: Annotated[tuple[str, ...], positional("FILE", completes="file", given="files")] = (),
    kinds: Annotated[tuple[str, ...], option("--as", metavar="KIND=FILE", completes="file")] = (),
) -> Shown:
    """Find faults in collections, topic files, qrels and runs.

    Each file is checked alone and against the others. Sublex detects the type of a file from its content. The exit code
    is 1 if something is found.

    Args:
        kinds: Check FILE as a collection, topics, qrels or run, and do not detect its type; may be given several times.

    Examples:
        sublex lint documents.jsonl topics.trec qrels.txt bm25.run
        sublex lint qrels.txt --index demo
    """
    from sublex.lint import index_docnos, lint

    kind_of_file = dict(_kind_of_file(option) for option in kinds)
    paths = list(dict.fromkeys([*files, *kind_of_file]))
    if not paths:
        raise InputError("Name at least one file.")
    context.prepare("number-terms lint")
    docnos = index_docnos(context.index) if context.has_index else None
    with context.step("Checked the files"):
        linted = lint(paths, docnos, kind_of_file)
    data = {part: [record._asdict() for record in records] for part, records in linted._asdict().items()}
    return Shown(lambda: _lines(linted), lambda: data, code=bool(linted.findings))


def _kind_of_file(option: str) -> tuple[str, str]:
    """Return the file and the kind of an option --as KIND=FILE."""
    kind, equals, path = option.partition("=")
    if not equals:
        raise InputError(f"--as {option} names no file; write for example --as topics=queries.jsonl.")
    return path, kind


def _lines(linted: LintResult) -> Iterator[Line]:
    """Yield the files with their types, then the findings, and then the number of findings."""
    yield from table_lines([(file.file, file.kind or "unknown", file.what) for file in linted.files])
    yield line()
    if not linted.findings:
        several = len(linted.files) > 1
        yield line("The files are sound, alone and together." if several else "The file is sound.")
        return
    for finding in linted.findings:
        place = f"{finding.file}:{finding.line}" if finding.line else finding.file
        severity = Span(finding.severity, "heading" if finding.severity == "error" else "")
        yield line(f"{place}  ", severity, f"  {finding.rule}")
        yield line(f"    {finding.text}{_occurrences(finding)}")
    errors = sum(finding.severity == "error" for finding in linted.findings)
    yield line()
    yield line(f"{counted(errors, 'error')}, {counted(len(linted.findings) - errors, 'note')}")


def _occurrences(finding: Finding) -> str:
    """Return a text on how often a finding occurs, and on which other lines. It is empty if the finding occurs once."""
    if finding.times < 2:
        return ""
    where = ""
    if finding.more:
        lines = ", ".join(map(str, finding.more))
        rest = finding.times - 1 - len(finding.more)
        where = f": also on line{'s' * (len(finding.more) > 1)} {lines}" + (f" and {rest:,} more" if rest else "")
    return f" ({finding.times:,} times{where})"
