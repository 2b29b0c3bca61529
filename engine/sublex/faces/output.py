"""Print what commands return: tables, JSON, CSV and messages.

Results go to standard output, and messages for the user go to standard error. Control characters in texts of the data
are replaced, so that no document, name or path can send commands to the terminal or begin a new line.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from sublex.errors import InputError
from sublex.faces.work import is_given_up
from sublex.forms.lines import Line, Shown, figure_lines, table_lines, wrapped
from sublex.forms.tables import Table, as_csv
from sublex.forms.values import to_json
from sublex.tools.messages import clean_lines, one_line

if TYPE_CHECKING:
    import numpy as np


# The output formats with comma-separated values.
CSV = ("csv", "spreadsheet")
# The styles that a terminal shows in bold. It shows all others plain.
BOLD = frozenset(("docno", "match", "best", "heading"))


def say(*messages: str) -> None:
    """Print messages for the user on standard error, so that they do not mix with output that a program may read."""
    for message in () if is_given_up() else messages:
        click.echo(clean_lines(message), err=True)


def show(text: str) -> None:
    """Print a line of the result on standard output. Control characters in names and paths are replaced."""
    click.echo(one_line(text))


def print_shown(shown: Shown, form: str = "table", printer: Callable[[Sequence[Line]], None] | None = None) -> None:
    """Print a result in a form.

    The form "table" prints the lines of the result. The other forms are "json", "csv", "spreadsheet" and the forms in
    `shown.forms`.

    The caller prints the notes of the result. Raise InputError for a form that the result does not have.
    """
    if form == "table" and form not in shown.forms:
        (printer or print_lines)(shown.lines)
    elif not shown.offers(form):
        raise InputError(f"This result has no form {form}; choose table or json.")
    elif form in shown.forms:
        _print_parts(shown.forms[form]())
    elif form == "json":
        print_json(shown.data)
    else:
        click.echo(as_csv(shown.head, shown.rows, len(shown.head) if form == "spreadsheet" else 0), nl=False)


def _print_parts(parts: str | Iterable[str | np.ndarray]) -> None:
    """Print a text, or its parts, which may be bytes. On a terminal, control characters in bytes are replaced."""
    for part in (parts,) if isinstance(parts, str) else parts:
        if isinstance(part, str):
            click.echo(part, nl=False)
            sys.stdout.flush()
        else:
            print_run([part])


def terminal_width() -> int:
    """Return the number of columns of the terminal; without a terminal, a very large number."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines in the styles of the terminal, wrapped to its width. Without a terminal, print their plain text."""
    width = terminal_width()
    for long in lines:
        for row in wrapped(long, width):
            click.echo("".join(click.style(text, bold=True) if style in BOLD else text for text, style in row.spans))


def print_table(
    rows: Sequence[Sequence[Any]],
    head: Sequence[str] = (),
    right: Sequence[bool] | None = None,
    bold: Collection[tuple[int, int]] = (),
) -> None:
    """Print rows of cells as aligned columns; see `table_lines`."""
    print_lines(table_lines(rows, head, right, bold))


def print_figures(table: Table, form: str = "table") -> None:
    """Print a table of figures: aligned for the terminal, or as "csv", "spreadsheet", "markdown", "latex" or "html"."""
    if form == "table":
        print_lines(figure_lines(table))
    else:
        click.echo(getattr(table, form)(), nl=False)


def print_run(parts: Iterable[np.ndarray]) -> None:
    """Write the lines of a run, given as bytes, to standard output. On a terminal, control characters are replaced."""
    for part in parts:
        lines = part.tobytes()
        if sys.stdout.isatty():
            lines = "".join(f"{one_line(line)}\n" for line in lines.decode(errors="replace").split("\n")[:-1]).encode()
        click.echo(lines, nl=False)


def print_json(value: Any) -> None:
    """Print a value as JSON; see `to_json`."""
    click.echo(to_json(value, indent=1))
