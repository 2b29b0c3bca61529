"""Show facets: the values of a column or the labels of a fitted model, and how many of the documents found have each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sublex.contracts.base import ValueCount
from sublex.forms.lines import Shown, line, table_lines
from sublex.tools.messages import counted, cut

if TYPE_CHECKING:
    from sublex.pipeline.facets import Facets

LABELS, VALUES = ("documents", "number", "label"), ("documents", "value")


def facets(found: Sequence[Facets], number: int) -> Shown:
    """Return the `number` most frequent values and labels of several columns and models as Shown."""
    tables = [_table(each, number) for each in found]
    if len(tables) == 1:
        return tables[0]
    lines = [text for table in tables for text in (line(), *table.lines)][1:]
    return Shown(lambda: lines, lambda: {"facets": [table.data for table in tables]})


def _table(found: Facets, number: int) -> Shown:
    """Return the facets of one column or model as Shown."""
    is_column = found.of_column
    head = VALUES if is_column else LABELS
    rows: list[tuple[Any, ...]] = [
        (each.docs, each.value) if isinstance(each, ValueCount) else (each.docs, each.number, each.label)
        for each in found.facets[:number]
    ]
    number_of = counted(found.counted, "document")
    which = f"All {number_of} found" if found.is_all else f"The first {number_of} found"
    title = line(f"{which}, by {found.of}:" if is_column else f"{which}, by the labels of {found.of}:")
    without = [line(f"{found.missing:,} without {found.of}")] if found.missing else []
    data: dict[str, Any] = {"of": found.of, "counted": found.counted, "all": found.is_all}
    data |= {"missing": found.missing} if is_column else {}
    data["facets"] = [dict(zip(head, row, strict=True)) for row in rows]
    # A year is shown without a comma, and a long text is cut.
    shown = [(docs, *(cut(str(each)) for each in rest)) for docs, *rest in rows] if is_column else rows
    return Shown(lambda: [title, *table_lines(shown, head), *without], lambda: data, head, rows)
