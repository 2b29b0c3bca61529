"""What the curves of a report show: precision over recall, nDCG by cutoff, and a parameter that systems differ in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sublex import plugins
from sublex.errors import SublexError
from sublex.evaluation.comparison import Comparison
from sublex.evaluation.run_evaluation import evaluate
from sublex.expression import NORMALISERS, Call, Chain, Cut, Expression, Weighted
from sublex.parser import parse

RECALL = tuple(k / 10 for k in range(11))
CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100)


class Curve(NamedTuple):
    """A system's line."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


def precision_and_gain(comparison: Comparison) -> tuple[list[Curve], list[Curve]]:
    """Interpolated precision at eleven levels of recall, and nDCG at growing cutoffs, of each system over all topics."""
    names = [f"IPrec@{level:.1f}" for level in RECALL] + [f"nDCG@{cutoff}" for cutoff in CUTOFFS]
    precision, gain = [], []
    for system in comparison.systems:
        found = evaluate(comparison.qrels, system.run, names, system.name, comparison.qids).mean
        values = tuple(found.values())
        precision.append(Curve(system.name, RECALL, values[: len(RECALL)]))
        gain.append(Curve(system.name, CUTOFFS, values[len(RECALL) :]))
    return precision, gain


class Sweep(NamedTuple):
    """Systems that are one expression but for a number: its name, its values in ascending order, and whose they are."""

    parameter: str
    values: tuple[float, ...]
    systems: tuple[int, ...]


def sweep(names: Sequence[str]) -> Sweep | None:
    """The one number that three expressions or more differ in, if that is all they differ in."""
    registry = plugins.load()
    try:
        described = [_described(parse(name), registry) for name in names]
    except SublexError:
        # Among them is a run that others made.
        return None
    if len(names) < 3 or len({tuple(numbers) for numbers in described}) > 1:
        return None
    varying = [place for place in described[0] if len({numbers[place] for numbers in described}) > 1]
    values = [numbers[varying[0]] for numbers in described] if len(varying) == 1 else []
    if not values or not all(type(value) in (int, float) for value in values):
        return None
    order = sorted(range(len(values)), key=values.__getitem__)
    return Sweep(varying[0][-1], tuple(values[k] for k in order), tuple(order))


def _described(expression: Expression, registry: plugins.Registry) -> dict[tuple, Any]:
    """Everything that an expression says, defaults included, each at its place: (0, 1, "BM25", "k1"): 1.2."""
    parts: Sequence[Any]
    own: dict[tuple, Any]
    if isinstance(expression, Call) and expression.name not in NORMALISERS:
        resolved = registry.resolve("component", expression)
        return {(expression.name, name): value for name, value in resolved.values.items()} or {(expression.name,): None}
    if isinstance(expression, Call):
        parts, own = expression.args, {(expression.name,): None}
    elif isinstance(expression, Cut):
        parts, own = (expression.expression,), {("depth",): expression.depth}
    elif isinstance(expression, Weighted):
        parts, own = (expression.expression,), {(f"weight of {expression.expression}",): expression.weight}
    else:
        parts = expression.stages if isinstance(expression, Chain) else getattr(expression, "parts", ())
        own = {(type(expression).__name__,): None}
    for place, part in enumerate(parts):
        own |= {(place, *where): value for where, value in _described(part, registry).items()}
    return own
