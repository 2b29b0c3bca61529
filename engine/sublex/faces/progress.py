"""Show the progress of a long operation as a bar, if standard error is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sublex.faces.work import current, is_given_up
from sublex.tools.messages import one_line


@contextmanager
def progress(label: str, unit: str = "documents", total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a bar with a count and a rate, and yield the function that advances the bar.

    Call the function as `advance(done)`, or as `advance(done, total)` if the total is known only later. A third
    argument changes the unit that is counted. Without a terminal, the function does nothing.
    """
    if not sys.stderr.isatty():
        yield lambda done, total=None, unit=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        # Brackets in an expression must not be read as markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(one_line(label), total=total, count="", rate="")
    # `counted` is the unit, `previous` the last number, and `latest` the time of that number. The rate is measured from
    # `begin`: the start or, after a change of the unit, the last number in the earlier unit.
    counted, previous = unit, -1
    begin = latest = time.monotonic()
    if work := current():
        work.when_given_up(bar.stop)

    def advance(done: int, total: int | None = total, unit: str | None = None) -> None:
        nonlocal begin, latest, counted, previous
        if is_given_up():
            raise KeyboardInterrupt
        if done < previous or (unit and unit != counted):
            begin, counted = latest, unit or counted
        # The total of a build is not known. When the build has read all documents and begins to merge and write them,
        # it reports the same count twice.
        reading_ended = done == previous and counted == "documents" and total is None
        latest = time.monotonic()
        rate = done / max(latest - begin, 1e-9)
        count = f"{done:,} {counted}" if total is None else f"{done:,} of {total:,} {counted}"
        said = "merging and writing" if reading_ended else f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.2g}/s"
        bar.update(task, total=total, completed=done, count=count, rate=said)
        previous = done
        # The bar appears with the first count, so that messages printed before it do not break it.
        bar.start()

    try:
        yield advance
    finally:
        bar.stop()
