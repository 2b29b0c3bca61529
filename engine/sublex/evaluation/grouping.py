"""Group the topics of a comparison by a property, a field, the labels of a fitted model, or a dictionary of Python code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.evaluation.topic_properties import PROPERTIES, Facts, Value, field_of, label_of
from sublex.tools.arguments import shown
from sublex.tools.messages import counted

# Users group by the name of a property, field or model, or by a dictionary from topic ids to groups.
By = str | Mapping[str, Any]
# The default number of groups of numbers, and the highest number of groups of texts.
GROUPS, MOST = 3, 30
# The name of the group of topics without a value, such as topics that lack a field; the prefix of the name of a field.
NONE, FIELD = "none", "field:"
# The name of a grouping that Python code gives.
GIVEN = "group"


class Grouping(NamedTuple):
    """Topics in groups: the name of the property, the names of the groups, and for each topic the number of its group."""

    by: str
    names: tuple[str, ...]
    numbers: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """The number of topics of each group."""
        return np.bincount(self.numbers, minlength=len(self.names))


def grouping(by: By, facts: Facts, groups: int = GROUPS) -> Grouping:
    """Return the topics in groups. `by` names a property, a field or a fitted model with labels, or maps ids to groups.

    Numbers make `groups` groups of about equal size; equal numbers are in one group. Each distinct text is a group. The topics
    without a value make the last group. Raise InputError for an unknown name, and for too many groups.
    """
    if groups < 2:
        raise InputError(f"{counted(groups, 'group')} cannot be compared; ask for 2 or more.")
    if not isinstance(by, str):
        if not isinstance(by, Mapping):
            raise InputError(f"The topics are grouped by {shown(by)}; give a name, or a dictionary from ids to groups.")
        return grouped(GIVEN, [_plain(by.get(qid)) for qid in facts.qids], groups)
    return grouped(by, _values(by, facts), groups)


def _plain(value: Any) -> Value:
    """Convert a value from Python code to a number, a text or None."""
    if value is None or isinstance(value, str):
        return value or None
    return float(value) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else str(value)


def _values(by: str, facts: Facts) -> list[Value]:
    """Return the value of each topic."""
    if by in PROPERTIES:
        return PROPERTIES[by](facts)
    if by.startswith(FIELD):
        return field_of(facts, by, by.removeprefix(FIELD))
    fields = list(dict.fromkeys(name for topic in facts.topics or () for name in topic.fields))
    if by in fields:
        return field_of(facts, by, by)
    index = facts.index
    if index is None and "(" in by:
        facts.need_index(by)
    if index is None or (by.isidentifier() and by not in (*index.registry.names("representation"), *index.names)):
        known = ", ".join([*PROPERTIES, *fields])
        raise InputError(
            f"Topics cannot be grouped by {by or 'nothing'}; there are {known}, and models of an index, such as 'lda(k=20)'."
        )
    return label_of(facts, by)


def grouped(by: str, values: Sequence[Value], groups: int) -> Grouping:
    """Put topics with these values into groups. Texts that are numbers, as in fields, count as numbers."""
    numbers = [_number(value) for value in values]
    is_number = all((number is None) == (value is None) for number, value in zip(numbers, values, strict=True))
    names, places = _cut(numbers, groups) if is_number else _distinct(by, values)
    return Grouping(by, names, places)


def _number(value: Value) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _cut(values: Sequence[float | None], groups: int) -> tuple[tuple[str, ...], np.ndarray]:
    """Return groups of numbers, cut at quantiles.

    Equal numbers share a group. Topics without a number make the last group.
    """
    known = np.sort([value for value in values if value is not None])
    groups = min(groups, max(2, len(known)))
    cuts = np.unique(known[[len(known) * cut // groups for cut in range(1, groups)]]) if len(known) else known
    places = np.array([np.searchsorted(cuts, v, "right") if v is not None else len(cuts) + 1 for v in values], np.int64)
    used, places = np.unique(places, return_inverse=True)
    names = []
    for number, original in enumerate(used.tolist()):
        inside = [value for value, place in zip(values, places, strict=True) if place == number and value is not None]
        names.append(_range(min(inside), max(inside)) if original <= len(cuts) else NONE)
    return tuple(names), places


def _range(low: float, high: float) -> str:
    texts = [f"{value:,.0f}" if value == int(value) else f"{value:.4g}" for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} to {texts[1]}"


def _distinct(by: str, values: Sequence[Value]) -> tuple[tuple[str, ...], np.ndarray]:
    """Return a group for each text, the largest first. Topics without a text make the last group."""
    texts = [None if value is None else str(value) for value in values]
    counts: dict[str, int] = {}
    for text in texts:
        if text is not None:
            counts[text] = counts.get(text, 0) + 1
    # A field such as the description has a different text for each topic, so it makes no groups.
    if len(counts) > MOST or (by != GIVEN and len(counts) > max(2, len(values) // 2)):
        raise InputError(
            f"{by} has {len(counts):,} different texts for {counted(len(values), 'topic')}; group by what several topics share."
        )
    names = sorted(counts, key=lambda text: (-counts[text], text))
    places = {text: place for place, text in enumerate(names)}
    is_left = None in texts
    numbers = np.array([len(names) if text is None else places[text] for text in texts], np.int64)
    return (*names, *[NONE] * is_left), numbers
