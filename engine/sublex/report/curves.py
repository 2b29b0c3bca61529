"""Compute the curves of a report: precision by recall, nDCG by cutoff, and measures by a parameter that the systems vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sublex.errors import SublexError
from sublex.evaluation.comparison import Comparison
from sublex.evaluation.run_evaluation import evaluate
from sublex.language.expression import NORMALISERS, Call, Chain, Cut, Expression, Weighted
from sublex.language.parser import parse
from sublex.language.plugins import Registry

RECALL_LEVELS = tuple(k / 10 for k in range(11))
CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100)


class Curve(NamedTuple):
    """The line of one system."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


def precision_and_gain(comparison: Comparison) -> tuple[list[Curve], list[Curve]]:
    """Return two curves per system, as means over all topics: interpolated precision by recall, and nDCG by cutoff."""
    names = [f"IPrec@{level:.1f}" for level in RECALL_LEVELS] + [f"nDCG@{cutoff}" for cutoff in CUTOFFS]
    precision, gain = [], []
    for system in comparison.systems:
        means = evaluate(comparison.qrels, system.run, names, system.name, comparison.qids).mean
        values = tuple(means.values())
        precision.append(Curve(system.name, RECALL_LEVELS, values[: len(RECALL_LEVELS)]))
        gain.append(Curve(system.name, CUTOFFS, values[len(RECALL_LEVELS) :]))
    return precision, gain


class Sweep(NamedTuple):
    """The parameter in which the systems differ, its values in ascending order, and the position of each value's system."""

    parameter: str
    values: tuple[float, ...]
    systems: tuple[int, ...]


def sweep(names: Sequence[str], registry: Registry) -> Sweep | None:
    """Return the numeric parameter in which three or more expressions differ, as a `Sweep`; None if they differ in anything else."""
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
    """Return all values in an expression, defaults included, keyed by their path: {(0, 1, "BM25", "k1"): 1.2}."""
    parts: Sequence[Any]
    settings: dict[tuple, Any]
    if isinstance(expression, Call) and expression.name not in NORMALISERS:
        resolved = registry.resolve("component", expression)
        return {(expression.name, name): value for name, value in resolved.values.items()} or {(expression.name,): None}
    if isinstance(expression, Call):
        parts, settings = expression.args, {(expression.name,): None}
    elif isinstance(expression, Cut):
        parts, settings = (expression.expression,), {("depth",): expression.depth}
    elif isinstance(expression, Weighted):
        parts, settings = (expression.expression,), {(f"weight of {expression.expression}",): expression.weight}
    else:
        parts = expression.stages if isinstance(expression, Chain) else getattr(expression, "parts", ())
        settings = {(type(expression).__name__,): None}
    for place, part in enumerate(parts):
        settings |= {(place, *inner): value for inner, value in _settings(part, registry).items()}
    return settings
