"""Messages about values that a condition asks for, although no live document has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.contracts.columns import Column, comparisons_in, documents_of
from sublex.contracts.comparisons import ColumnTest, printed_value
from sublex.tools.messages import cut, near_names, nearest

if TYPE_CHECKING:
    from sublex.index.snapshot import Snapshot

# The number of the most frequent texts of a column with which a missing text is compared.
COMPARED = 1_000
# The largest number of missing values that messages name.
MOST = 5


def missing_values(snapshot: Snapshot, condition: Any) -> list[str]:
    """Return a sentence for each value, or range of values, in a condition that no live document has; at most MOST.

    All columns of the condition have to be columns of the index.
    """
    found: dict[str, None] = {}
    for comparison in dict.fromkeys(comparisons_in(condition)):
        column = snapshot.column(comparison.column)
        for one in _values_of(comparison):
            if not _any_live(snapshot, documents_of(one, column)):
                found[_sentence(one, column, snapshot)] = None
            if len(found) == MOST:
                return list(found)
    return list(found)


def has_values(snapshot: Snapshot, comparison: ColumnTest) -> bool:
    """Return whether a live document passes a comparison of a column of the index."""
    return _any_live(snapshot, documents_of(comparison, snapshot.column(comparison.column)))


def _any_live(snapshot: Snapshot, docs: np.ndarray) -> bool:
    """Return whether one of the documents of a mask is live."""
    return bool(docs.any() and _live(snapshot)[docs].any())


def _live(snapshot: Snapshot) -> np.ndarray:
    """Return the mask of the live documents."""
    return ~np.concatenate([np.empty(0, bool), *(segment.dead for segment in snapshot.segments)])


def _values_of(comparison: ColumnTest) -> Iterator[ColumnTest]:
    """Yield the comparisons that should each find documents: one for each value of a list, none for an excluded one."""
    if comparison.relation == "in":
        yield from (ColumnTest(comparison.column, "=", (value,)) for value in comparison.values)
    elif comparison.relation != "!=":
        yield comparison


def _sentence(missing: ColumnTest, column: Column, snapshot: Snapshot) -> str:
    """Return the sentence about a comparison that no live document passes."""
    live = column.rows(np.flatnonzero(_live(snapshot)))
    values, counts = live.counts()
    if not len(values):
        return f"No document has a value in the column {missing.column}."
    is_one = missing.relation == "="
    asked = printed_value(missing.values[0]) if is_one else str(missing).partition(":")[2]
    begins = missing.relation == "begins"
    what = "the value" if is_one else "a value like" if begins else "a value in"
    begin = f"No document has {what} {cut(asked)} in the column {missing.column}; "
    if column.kind != "text":
        return f"{begin}its values are from {live.shown(values[0])} to {live.shown(values[-1])}."
    known = [str(live.shown(value)) for value in values[np.argsort(-counts, kind="stable")[:COMPARED]]]
    hint = nearest(str(missing.values[0]), known) if is_one else ""
    return f"{begin}{hint.strip() or cut(f'its values are {near_names(asked, known)}')}" + ("" if hint else ".")
