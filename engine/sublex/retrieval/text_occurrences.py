"""The occurrences of operators in one text, for passages. Postings of whole segments are in `operators.py`.

`docs/operators.md` defines occurrences. In this file, operators within a window may share a position. Postings do not allow
this, so a passage may mark a few more words.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sublex.contracts.operators import GAP, Operator, OperatorKind

# The first and the last position of an occurrence.
Interval = tuple[int, int]


def occurrences(part: str, places: Mapping[str, Sequence[int]], field: str = "text") -> list[Interval]:
    """Return the occurrences of a term or an operator in a text, ascending. No occurrence contains another one.

    `places` has the positions of each term in the text, ascending. `field` is the field from which the text comes.
    """
    if not isinstance(part, Operator):
        return [(place, place) for place in places.get(part, ())]
    if part.kind is OperatorKind.FIELD:
        return occurrences(part.parts[0], places, field) if part.field == field else []
    if part.kind is OperatorKind.SYNONYMS:
        return _least(interval for inner in part.parts for interval in occurrences(inner, places, field))
    if part.kind is OperatorKind.WINDOW:
        return _within(part, places, field)
    return _in_order(part, places, field)


def _in_order(part: Operator, places: Mapping[str, Sequence[int]], field: str) -> list[Interval]:
    found, gaps = list[Interval](), 0
    for place, inner in enumerate(part.parts):
        if inner is GAP:
            gaps += 1
            continue
        own = occurrences(inner, places, field)
        found = _after(found, own, gaps + 1, (gaps + 1) * part.width) if place else own
        gaps = 0
    return found


def _after(before: Sequence[Interval], then: Sequence[Interval], least: int, most: int) -> list[Interval]:
    """Return the intervals that begin with an interval of `before` and end with an interval of `then`.

    The interval of `then` begins `least` to `most` positions after the end of the interval of `before`.
    """
    ends = [end for _, end in before]
    found = []
    for begin, end in then:
        nearest = bisect_right(ends, begin - least) - 1
        if nearest >= 0 and ends[nearest] >= begin - most:
            found.append((before[nearest][0], end))
    return _least(found)


def _within(part: Operator, places: Mapping[str, Sequence[int]], field: str) -> list[Interval]:
    wanted = [(occurrences(inner, places, field), number) for inner, number in Counter(part.parts).items()]
    begins = [[begin for begin, _ in own] for own, _ in wanted]
    found = []
    for first in sorted({begin for each in begins for begin in each}):
        lasts = [bisect_left(each, first) + number - 1 for each, (_, number) in zip(begins, wanted, strict=True)]
        if any(last >= len(own) for last, (own, _) in zip(lasts, wanted, strict=True)):
            break
        end = max(own[last][1] for last, (own, _) in zip(lasts, wanted, strict=True))
        if end - first < part.width:
            found.append((first, end))
    return _least(found)


def _least(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the intervals that contain no other interval, ascending."""
    kept = list[Interval]()
    for begin, end in sorted(set(intervals), key=lambda interval: (-interval[0], interval[1])):
        if not kept or end < kept[-1][1]:
            kept.append((begin, end))
    return kept[::-1]
