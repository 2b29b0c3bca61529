"""Show the progress of a long operation as a bar, if standard error is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sublex.faces.work import current, is_given_up


@contextmanager
def progress(label: str, unit: str = "documents", total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a bar with a count and a rate, and yield the function that advances it.

    Call that function as `advance(done)`, or as `advance(done, total)` where the total is known only later. Without a
    terminal it does nothing.
    """
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
    task = bar.add_task(label, total=total, rate="")
    begin, previous = time.monotonic(), -1
    if work := current():
        work.when_given_up(bar.stop)

    def advance(done: int, total: int | None = total) -> None:
        nonlocal previous
        if is_given_up():
            raise KeyboardInterrupt
        # A build reports the same count twice when it has read all documents and begins to merge and write them.
        reading_ended = done == previous and unit == "documents"
        rate = done / max(time.monotonic() - begin, 1e-9)
        bar.update(task, total=total, completed=done, rate="merging and writing" if reading_ended else f"{rate:,.0f}/s")
        previous = done
        # The bar appears with the first count, so that messages printed before it do not break it.
        bar.start()

    try:
        yield advance
    finally:
        bar.stop()
