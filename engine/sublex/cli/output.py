"""Finding an index by name, and printing: tables, JSON, progress."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from sublex.errors import InputError
from sublex.messages import counted
from sublex.tables import Table

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def home() -> Path:
    """Where bare index names live."""
    if os.environ.get("SUBLEX_INDEXES"):
        return Path(os.environ["SUBLEX_INDEXES"])
    if Path("indexes").is_dir():
        return Path("indexes")
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(data) / "sublex" / "indexes"


def index_path(name: str) -> Path:
    """The folder that a path or a bare name means; a name with a slash is a path, and an index of that name here goes first."""
    if not name.strip() or "\x00" in name:
        raise InputError("An index needs a name or a path.")
    here = os.sep in name or name in (".", "..") or os.path.isfile(os.path.join(name, "index.json"))
    path = Path(name) if here else home() / name
    try:
        os.stat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"No file system takes a name as long as {name[:30]}…; choose a shorter one.") from None
    return path


def format_option(*choices: str) -> Callable[[Any], Any]:
    """The option --format; the first choice is the default."""
    return click.option(
        "--format", "form", type=click.Choice(choices), default=choices[0], show_default=True, help="Output."
    )


def plain(value: Any) -> str:
    """A cell as text; control characters of the data cannot steer the terminal."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return clean(str(value))


def clean(text: str) -> str:
    """Text without control characters."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def table(rows: Sequence[Sequence[Any]], head: Sequence[str] = ()) -> None:
    """Aligned columns, numbers to the right."""
    cells = [[plain(value) for value in row] for row in rows]
    numeric = [all(isinstance(row[k], (int, float)) for row in rows) for k in range(len(rows[0]))] if rows else []
    lines = ([list(head)] if head else []) + cells
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))] if lines else []
    for line in lines:
        padded = (
            c.rjust(w) if n else c.ljust(w)
            for c, w, n in zip(line, widths, numeric or [False] * len(widths), strict=True)
        )
        click.echo(folded("  ".join(padded).rstrip(), sum(widths[:-1]) + 2 * (len(widths) - 1)))


def folded(text: str, indent: int) -> str:
    """A line as a terminal shows it best, its continuations indented; elsewhere as it is."""
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or indent > width - 20:
        return text
    return click.wrap_text(text, width, "", " " * indent)


def draw(drawn: Table, form: str = "table") -> None:
    """A table of figures, for the terminal or in a form to paste."""
    if form != "table":
        click.echo(getattr(drawn, form)(), nl=False)
        return
    cells = [[clean(cell) for cell in row] for row in (drawn.head, *drawn.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for place, row in enumerate(cells, -1):
        line = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padded = cell.ljust(width) if column < drawn.labels else cell.rjust(width)
            line.append(click.style(padded, bold=True) if (place, column) in drawn.bold else padded)
        click.echo("  ".join(line).rstrip())


def emit(form: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Records as a table, as JSON or as CSV."""
    if form == "json":
        show_json([dict(zip(head, row, strict=True)) for row in rows])
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
    else:
        table(rows, head)


def _stamp(path: Path) -> list[int]:
    """What is another after every commit."""
    manifest = path / "index.json"
    return [manifest.stat().st_ino, manifest.stat().st_mtime_ns] if manifest.exists() else []


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Whoever interrupts what happens here hears that nothing has changed, and how to go on."""
    from sublex.index.journal import resumable

    before = _stamp(path)
    try:
        yield
    except KeyboardInterrupt:
        if _stamp(path) != before:
            raise
        more = ", and the same command with --resume goes on with the build" if resumable(path) else ""
        raise KeyboardInterrupt(f"the index is as it was before{more}") from None


def show_json(value: Any) -> None:
    """A value as JSON, which knows no NaN and no infinity."""
    click.echo(json.dumps(_finite(value), ensure_ascii=False, indent=1, default=_plainly))


def _plainly(value: Any) -> Any:
    """What plugins may say of themselves: NumPy's numbers and arrays as Python's, anything else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show_help(context: click.Context) -> None:
    """The help of a group of commands that is called without one."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def say_uncovered(pipeline: Any) -> None:
    """Which models of a pipeline lack documents."""
    for name, documents in pipeline.uncovered.items():
        say(f"{name} has no opinion on {counted(documents, 'document')} that it does not cover.")


def say(text: str) -> None:
    """Tell the person, not the program that may read the output."""
    click.echo(clean(text), err=True)


def say_if_compiling() -> None:
    """One line when the first kernel has to be compiled: only Numba knows which are, and where it keeps them."""
    from numba.core import event

    class Listener(event.Listener):
        """Says it once."""

        said = False

        def on_start(self, event: Any) -> None:
            if not self.said:
                say("Compiling kernels, which happens once and may take half a minute.")
            self.said = True

        def on_end(self, event: Any) -> None:
            """Nothing is said."""

    event.register("numba:compile", Listener())


@contextmanager
def progress(what: str, unit: str = "documents", total: int | None = None) -> Iterator[Callable[..., None]]:
    """A counter on a terminal, nothing elsewhere; it is told what is done and, where that is not known before, of how much."""
    if not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.completed:,}} {unit}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total, rate="")
    begin, before = time.monotonic(), -1

    def advance(done: int, total: int | None = total) -> None:
        nonlocal before
        rate = done / max(time.monotonic() - begin, 1e-9)
        finished = done == before and unit == "documents"
        bar.update(task, total=total, completed=done, rate="merging and writing" if finished else f"{rate:,.0f}/s")
        before = done
        # What is said before the first documents are there stands above no bar.
        bar.start()

    try:
        yield advance
    finally:
        bar.stop()
