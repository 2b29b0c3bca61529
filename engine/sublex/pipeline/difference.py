"""Compare two explanations: list the words and other parts of two scores, and how far each part differs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from sublex.contracts.base import Explanation


class ScorePart(NamedTuple):
    """A word or another part of a score: the component that adds it, its label, and the amount that it adds."""

    part: str
    label: str
    value: float


class PartDifference(NamedTuple):
    """A part in which two scores differ: the difference, the part's component and label, and the part's two values."""

    difference: float
    part: str
    label: str
    one: float
    other: float


def gaps(one: Explanation, other: Explanation) -> list[PartDifference]:
    """Return the parts in which two scores for one query differ, in descending order of the absolute difference."""
    parts: dict[tuple[str, str], list[float]] = {}
    for side, tree in enumerate((one, other)):
        for unit in units(tree):
            parts.setdefault((unit.part, unit.label), [0.0, 0.0])[side] += unit.value
    # A document that was not found has the score minus infinity, so parts with infinite values are left out.
    finite = ((name, values) for name, values in parts.items() if all(map(math.isfinite, values)))
    found = [PartDifference(a - b, part, label, a, b) for (part, label), (a, b) in finite if a != b]
    return sorted(found, key=lambda gap: -abs(gap.difference))


def units(node: Explanation, factor: float = 1.0, part: str = "") -> Iterator[ScorePart]:
    """Yield the parts of a score by which a person would explain it, such as one for each word or each topic.

    For a blend, these are the parts of each of its components. `factor` multiplies their values; `part` is the
    label of the component that contains the node.
    """
    counted = [inner for inner in node.parts if inner.kind != "evidence"]
    if node.kind == "scaled" and len(counted) == 3:
        inner, scale, offset = counted
        yield from units(inner, factor * scale.value, part)
        yield ScorePart(part, "offset", factor * offset.value)
    elif _is_weighted(node):
        weight, inner = counted
        yield from units(inner, factor * weight.value, node.label)
    elif node.kind == "sum" and counted:
        for inner in counted:
            if inner.kind == "scaled" or _is_weighted(inner):
                yield from units(inner, factor, part)
            else:
                yield ScorePart(part, inner.label.partition(": ")[0], factor * inner.value)
    elif node.kind != "evidence":
        yield ScorePart(part, node.label, factor * node.value)


def _is_weighted(node: Explanation) -> bool:
    """Return whether a node is a part of a blend: a weight times a normalised score."""
    return node.kind == "product" and len(node.parts) == 2 and node.parts[0].label == "weight"
