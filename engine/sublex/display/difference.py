"""Show why one document is ranked above another: the words and parts of their scores, and the difference that each makes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from sublex.contracts.base import Explanation
from sublex.forms.lines import Line, Shown, Span, line, table_lines

HEAD = ("difference", "part", "word")


class Unit(NamedTuple):
    """A word or another part of a score: the component that adds it, its label, and what it adds to the score."""

    part: str
    label: str
    value: float


def difference(one: Explanation, other: Explanation, docnos: tuple[str, str], query: str) -> Shown:
    """Return the difference of two scores for one query as Shown, the parts that make most of it first."""
    parts: dict[tuple[str, str], list[float]] = {}
    for side, tree in enumerate((one, other)):
        for unit in units(tree):
            parts.setdefault((unit.part, unit.label), [0.0, 0.0])[side] += unit.value
    # The score of a document that is not found is minus infinity, and no part of it counts.
    finite = ((name, values) for name, values in parts.items() if all(map(math.isfinite, values)))
    rows = [(a - b, part, label, a, b) for (part, label), (a, b) in finite if a != b]
    rows.sort(key=lambda row: -abs(row[0]))
    head = (*HEAD, *docnos)

    def lines() -> Iterator[Line]:
        yield _verdict(one.value, other.value, docnos, query)
        if not rows:
            return
        yield line()
        cells = [(f"{gap:+.6g}", part, label, f"{a:.6g}", f"{b:.6g}") for gap, part, label, a, b in rows]
        # Only a blend has several parts.
        several = any(part for _, part, *_ in rows)
        shown = [place for place in range(len(head)) if several or place != 1]
        right = [place not in (1, 2) for place in shown]
        yield from table_lines([[row[place] for place in shown] for row in cells], [head[p] for p in shown], right)

    return Shown(lines, lambda: [dict(zip(head, row, strict=True)) for row in rows], head, rows)


def _verdict(one: float, other: float, docnos: tuple[str, str], query: str) -> Line:
    """Return the sentence that compares two scores; a document that is not found has the score minus infinity."""
    first, second = (Span(docno, "docno") for docno in docnos)
    if one == other:
        state = "have the same score for" if math.isfinite(one) else "are not found for"
        return line(first, " and ", second, f" {state} {query}", indent=0)
    if not math.isfinite(one - other):
        found, missing = (second, first) if one < other else (first, second)
        return line(found, f" is found for {query}, and ", missing, " is not", indent=0)
    return line(
        first, f" is {abs(one - other):.6g} {'above' if one > other else 'below'} ", second, f" for {query}", indent=0
    )


def units(node: Explanation, factor: float = 1.0, part: str = "") -> Iterator[Unit]:
    """Yield the parts of a score that people compare: words, or topics, below the components that are blended."""
    counted = [inner for inner in node.parts if inner.kind != "evidence"]
    if node.kind == "scaled" and len(counted) == 3:
        inner, scale, offset = counted
        yield from units(inner, factor * scale.value, part)
        yield Unit(part, "offset", factor * offset.value)
    elif _is_weighted(node):
        weight, inner = counted
        yield from units(inner, factor * weight.value, node.label)
    elif node.kind == "sum" and counted:
        for inner in counted:
            if inner.kind == "scaled" or _is_weighted(inner):
                yield from units(inner, factor, part)
            else:
                yield Unit(part, inner.label.partition(": ")[0], factor * inner.value)
    elif node.kind != "evidence":
        yield Unit(part, node.label, factor * node.value)


def _is_weighted(node: Explanation) -> bool:
    """Return whether a node is a part of a blend: a weight times a normalised score."""
    return node.kind == "product" and len(node.parts) == 2 and node.parts[0].label == "weight"
