"""Print what commands return: tables, JSON, CSV and messages.

Results go to standard output; messages for the user go to standard error. Controls in texts of the data are replaced, so
that no document, name or path can steer the terminal or begin a line of its own.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from sublex.messages import STEERING, clean_lines, counted, one_line
from sublex.tables import Table, as_csv

if TYPE_CHECKING:
    import numpy as np

    from sublex.pipeline.pipeline import Pipeline

# Characters that JSON may hold as they are, but that steer a terminal or end its line.
_ESCAPED = re.compile(f"[{STEERING}\x85\u2028\u2029]")
# The formats of comma-separated values.
CSV = ("csv", "spreadsheet")
# Columns of the terminal that must remain for the text beside an indent; with fewer, a line is not wrapped.
LEAST_TEXT = 20


def say(*messages: str) -> None:
    """Print messages for the user on standard error, apart from the output that a program may read."""
    for message in messages:
        click.echo(clean_lines(message), err=True)


def show(text: str) -> None:
    """Print a line of the result on standard output, whatever names and paths it holds."""
    click.echo(one_line(text))


def say_uncovered(pipeline: Pipeline) -> None:
    """Print a message for each fitted model of a pipeline that does not cover all documents."""
    for name, documents in pipeline.uncovered.items():
        say(f"{name} has no opinion on {counted(documents, 'document')} that it does not cover.")


def print_help(context: click.Context) -> None:
    """Print the help of a command group that is called without a subcommand."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def as_text(value: Any) -> str:
    """Return a value as the text of a table cell, without control characters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return one_line(str(value))


def print_table(
    rows: Sequence[Sequence[Any]],
    head: Sequence[str] = (),
    right: Sequence[bool] | None = None,
    bold: Collection[tuple[int, int]] = (),
) -> None:
    """Print rows of cells as aligned columns, under a head if there is one.

    `right` tells which columns are aligned to the right; by default, these are the columns that hold only numbers.
    `bold` names cells as (row, column). On a terminal, a last column of text is wrapped.
    """
    lines = [[as_text(cell) for cell in row] for row in ([head, *rows] if head else rows)]
    if not lines:
        return
    places = range(len(lines[0]))
    if right is None:
        right = [bool(rows) and all(isinstance(row[place], (int, float)) for row in rows) for place in places]
    widths = [max(len(line[place]) for line in lines) for place in places]
    indent = sum(widths[:-1]) + 2 * (len(widths) - 1)
    for number, line in enumerate(lines, -1 if head else 0):
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ]
        styled = [click.style(cell, bold=True) if (number, k) in bold else cell for k, cell in enumerate(cells)]
        text = "  ".join(styled).rstrip()
        click.echo(text if right[-1] else wrapped(text, indent))


def print_figures(table: Table, form: str = "table") -> None:
    """Print a table of figures: aligned for the terminal, or as "csv", "spreadsheet", "markdown", "latex" or "html"."""
    if form == "table":
        right = [column >= table.labels for column in range(len(table.head))]
        print_table(table.rows, table.head, right, table.bold)
    else:
        click.echo(getattr(table, form)(), nl=False)


def print_records(form: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print records with the fields of `head` as "table", "json", "csv" or "spreadsheet"."""
    if form == "json":
        print_json([dict(zip(head, row, strict=True)) for row in rows])
    elif form in CSV:
        click.echo(as_csv(head, rows, len(head) if form == "spreadsheet" else 0), nl=False)
    else:
        print_table(rows, head)


def print_run(parts: Iterable[np.ndarray]) -> None:
    """Write the lines of a run, given as bytes, to standard output; a terminal gets them without controls."""
    for part in parts:
        lines = part.tobytes()
        if sys.stdout.isatty():
            lines = "".join(f"{one_line(line)}\n" for line in lines.decode(errors="replace").split("\n")[:-1]).encode()
        click.echo(lines, nl=False)


def wrapped(text: str, indent: int) -> str:
    """Return a line wrapped to the width of the terminal, with continuation lines indented.

    The line is returned unchanged if standard output is not a terminal, or if the indent leaves too little room.
    """
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or indent > width - LEAST_TEXT:
        return text
    return click.wrap_text(text, width, "", " " * indent)


def print_json(value: Any) -> None:
    """Print a value as JSON; see `to_json`."""
    click.echo(to_json(value, indent=1))


def to_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON text.

    NaN and infinities become null, NumPy's numbers and arrays become numbers and lists, and any other object that JSON
    does not know, such as an object that a plugin returns, becomes its `str`. Characters that steer a terminal are escaped.
    """
    text = json.dumps(_jsonable(value), ensure_ascii=False, indent=indent, default=str)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _jsonable(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _jsonable(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
