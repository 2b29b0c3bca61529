"""Show why a document is not among the hits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sublex.forms.lines import Line, Shown, Span, line, table_lines

if TYPE_CHECKING:
    from sublex.pipeline.absence import Absence
    from sublex.pipeline.pipeline import Pipeline


def absence(found: Absence, pipeline: Pipeline) -> Shown:
    """Return why a document is not among the hits of a pipeline as Shown."""
    last = found.stages[-1]
    data = {
        "docno": found.docno,
        "rank": last.rank or None,
        "found": last.found,
        "words": [word._asdict() for word in found.words],
        "stages": [{"after": str(s.expression), "rank": s.rank or None, "found": s.found} for s in found.stages],
        "changes": found.changes,
    }
    return Shown(lambda: _lines(found, pipeline), lambda: data)


def _lines(found: Absence, pipeline: Pipeline) -> Iterator[Line]:
    *stages, last = found.stages
    place = f"at rank {last.rank:,} of {last.found:,}" if last.rank else f"not among the {last.found:,} found"
    shown = f" is {place} by {pipeline}; the hits shown end at rank {found.k:,}"
    yield line(Span(found.docno, "docno"), shown, indent=0)
    yield line()
    rows = [
        (word, round(weight, 4), tf or ("missing" if df else "in no document")) for word, weight, tf, df in found.words
    ]
    yield from table_lines(rows, ("word", "weight", "in the document"), [False, True, True])
    for stage in stages:
        where = f"at rank {stage.rank:,} of {stage.found:,}" if stage.rank else f"dropped; {stage.found:,} are left"
        yield line(f"after {stage.expression}: {where}", indent=2)
    for change in found.changes:
        yield line(change, indent=2)
