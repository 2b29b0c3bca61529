"""Show why one document is ranked above another: the words and other parts of both scores, and their differences."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sublex.contracts.base import Explanation
from sublex.forms.lines import Line, Shown, Span, line, table_lines
from sublex.pipeline.difference import gaps

HEAD = ("difference", "part", "word")


def difference(one: Explanation, other: Explanation, docnos: tuple[str, str], query: str) -> Shown:
    """Return the difference of the scores of two documents for one query as Shown, given their explanations and docnos.

    The parts with the largest differences come first.
    """
    rows = gaps(one, other)
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
    """Return the sentence that compares the scores of two documents; -inf means that the document was not found."""
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
