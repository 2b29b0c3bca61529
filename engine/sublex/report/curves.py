"""Compute the curves of a report: precision by recall, nDCG by cutoff, and measures by a parameter of the systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sublex.errors import SublexError
from sublex.evaluation.comparison import Comparison
from sublex.evaluation.run_evaluation import evaluate
from sublex.language.expression import NORMALISERS, Call, Cut, Expression, Weighted
from sublex.language.parser import parse
from sublex.language.plugins import Registry

RECALL_LEVELS = tuple(k / 10 for k in range(11))
CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100)


class SystemCurve(NamedTuple):
    """The points of one system's curve."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


def precision_and_gain(comparison: Comparison) -> tuple[list[SystemCurve], list[SystemCurve]]:
    """Return two curves per system: interpolated precision by recall, and nDCG by cutoff.

    Points are means over all topics.
    """
    names = [f"IPrec@{level:.1f}" for level in RECALL_LEVELS] + [f"nDCG@{cutoff}" for cutoff in CUTOFFS]
    precision, gain = [], []
    for system in comparison.systems:
        means = evaluate(comparison.qrels, system.run, names, system.name, comparison.qids).mean
        values = tuple(means.values())
        precision.append(SystemCurve(system.name, RECALL_LEVELS, values[: len(RECALL_LEVELS)]))
        gain.append(SystemCurve(system.name, CUTOFFS, values[len(RECALL_LEVELS) :]))
    return precision, gain


class Sweep(NamedTuple):
    """The parameter in which systems differ.

    `values` are in ascending order. For each value, `systems` has the position of the system with this value.
    """

    parameter: str
    values: tuple[float, ...]
    systems: tuple[int, ...]


def sweep(names: Sequence[str], registry: Registry) -> Sweep | None:
    """Return the numeric parameter in which three or more expressions differ. Return None if they differ in anything else."""
    try:
        settings = [_settings(parse(name), registry) for name in names]
    except SublexError:
        # A name that is not an expression is the name of a run file.
        return None
    if len(names) < 3 or len({tuple(setting) for setting in settings}) > 1:
        return None
    varying = [place for place in settings[0] if len({setting[place] for setting in settings}) > 1]
    values = [setting[varying[0]] for setting in settings] if len(varying) == 1 else []
    if not values or not all(type(value) in (int, float) for value in values):
        return None
    order = sorted(range(len(values)), key=values.__getitem__)
    return Sweep(varying[0][-1], tuple(values[k] for k in order), tuple(order))


def _settings(expression: Expression, registry: Registry) -> dict[tuple, Any]:
    """Return all values in an expression, with defaults, by their path, such as {(0, 1, "BM25", "k1"): 1.2}."""
    settings: dict[tuple, Any] = {(type(expression).__name__,): None}
    # In a normaliser, a component without parameters is a string and not an Expression.
    parts: Iterable[Any] = expression.children() if isinstance(expression, Expression) else ()
    match expression:
        case Call(name=name, args=parts) if name in NORMALISERS:
            settings = {(name,): None}
        case Call(name=name):
            values = registry.resolve("component", expression).values
            return {(name, parameter): value for parameter, value in values.items()} or {(name,): None}
        case Cut(expression=inner, depth=depth):
            parts, settings = (inner,), {("depth",): depth}
        case Weighted(expression=inner, weight=weight):
            parts, settings = (inner,), {(f"weight of {inner}",): weight}
    for place, part in enumerate(parts):
        settings |= {(place, *inner): value for inner, value in _settings(part, registry).items()}
    return settings
