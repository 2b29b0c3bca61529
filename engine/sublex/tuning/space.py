"""The settings of an expression with ranges: find the ranges, and choose the numbers to try for each.

A `TunedRange` is a range with facts about the number that replaces it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import Param
from sublex.errors import InputError
from sublex.language.expression import (
    NORMALISERS,
    Blend,
    Call,
    Chain,
    Cut,
    Expression,
    Range,
    Weighted,
    chain,
    shortest,
)
from sublex.language.plugins import Component, Defaults, Registry
from sublex.language.python_parts import PythonPart
from sublex.pipeline.stages.stage import DEPTH

# The largest number of settings of a search.
MOST = 10_000
# The numbers of significant digits of evenly spaced numbers and of randomly drawn numbers. Digits are counted from the
# width of the interval.
EVEN, DRAWN = 6, 4


class TunedRange(NamedTuple):
    """A range in an expression, and facts about the number that will replace the range.

    `name` is shown to users. If `whole` is true, only whole numbers are allowed. `default` is the number to use without
    the range. `limits` are the lowest and the highest allowed number. `parameter` is true for a parameter of a
    component, and false for a weight or a depth. A change of a weight or a depth takes less time, because it needs no
    new searcher.
    """

    name: str
    range: Range
    whole: bool
    default: float | None
    limits: tuple[Any, ...] = ()
    parameter: bool = False


def ranges_of(expression: Expression, registry: Registry, defaults: Defaults) -> list[TunedRange]:
    """Return the ranges of an expression in reading order, with distinct names.

    Raise InputError for a range where no number may stand.
    """
    found = list(_ranges_in(expression, _nowhere, registry, defaults))
    if not found:
        raise InputError(f"{expression} has no range to tune; write one in place of a number, as in BM25(b={{0..1}}).")
    names: list[str] = []
    for tuned in found:
        same = (f"{tuned.name} ({n})" for n in itertools.count(2))
        names.append(next(name for name in itertools.chain([tuned.name], same) if name not in names))
    return [tuned._replace(name=name) for tuned, name in zip(found, names, strict=True)]


def grid(tuned_ranges: Sequence[TunedRange], steps: int) -> list[tuple[float, ...]]:
    """Return all combinations of numbers. The last range changes fastest. An interval gives `steps` evenly spaced numbers."""
    if steps < 2:
        raise InputError(f"steps={steps} should be at least 2: an interval has two ends.")
    choices = [_even(tuned, steps) for tuned in tuned_ranges]
    count = math.prod(map(len, choices))
    if count > MOST:
        raise InputError(
            f"This grid has {count:,} settings, and {MOST:,} is the most; draw some by a random search, or take fewer steps."
        )
    return list(itertools.product(*choices))


def sample(tuned_ranges: Sequence[TunedRange], samples: int, seed: int) -> list[tuple[float, ...]]:
    """Return combinations of numbers drawn uniformly.

    For the same seed, a smaller sample is the beginning of a larger sample.
    """
    if not 1 <= samples <= MOST:
        raise InputError(f"samples={samples} should lie between 1 and {MOST:,}.")
    chances = np.random.default_rng([seed, 1]).random((samples, len(tuned_ranges))).tolist()
    return [tuple(map(_drawn, tuned_ranges, row)) for row in chances]


def without_ranges(node: Any, registry: Registry) -> Any:
    """Return the expression without its ranges.

    A parameter with a range is left out, so it gets its default. A weight with a range becomes 1, and a cut `% {…}`
    becomes `DEPTH`. All other numbers stay.
    """

    def inner(part: Any) -> Any:
        return without_ranges(part, registry) if isinstance(part, Expression) else part

    match node:
        case Weighted(weight=Range(), expression=part) | Cut(depth=Range(), expression=part):
            return inner(part)
        case Chain(stages=stages):
            return chain(map(inner, stages))
        case Component():
            return node
        case Call(args=args, params=params) if any(map(_holds_range, args)):
            names = [param.name for param in _registered(node, registry)[1]]
            return without_ranges(Call(node.name, (), dict(zip(names, args, strict=False)) | params), registry)
        case Call(params=params):
            kept = {name: value for name, value in params.items() if not _holds_range(value)}
            return Call(node.name, node.args, kept).map(inner)
    return node.map(inner)


def distance(tuned_ranges: Sequence[TunedRange], values: Sequence[float]) -> float:
    """Return the sum of the distances of `values` from the defaults of their ranges.

    Each distance is divided by the width of the range. A range without a default adds 0.
    """
    return sum(
        abs(value - tuned.default) / ((max(tuned.range.values) - min(tuned.range.values)) or 1)
        for tuned, value in zip(tuned_ranges, values, strict=True)
        if tuned.default is not None
    )


def at_end(tuned_ranges: Sequence[TunedRange], values: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the ranges whose number is at an end of the range.

    Ends that are limits of the range do not count. The best number may lie beyond the end.
    """
    return tuple(
        tuned.name
        for tuned, value in zip(tuned_ranges, values, strict=True)
        if value in (min(tuned.range.values), max(tuned.range.values)) and value not in tuned.limits
    )


# Finding the ranges.

Place = Callable[[Range], TunedRange]


def _ranges_in(node: Any, place: Place, registry: Registry, defaults: Defaults) -> Iterator[TunedRange]:
    def within(part: Any, place: Place = _nowhere) -> Iterator[TunedRange]:
        return _ranges_in(part, place, registry, defaults)

    match node:
        case Range():
            yield place(node)
        case tuple():
            for item in node:
                yield from within(item, place)
        case Weighted(weight=weight, expression=part):
            yield from within(weight, lambda given: TunedRange(f"weight of {_short(part)}", given, False, 1.0, (0,)))
            yield from within(part)
        case Cut(expression=part, depth=depth):
            yield from within(part)
            yield from within(
                depth, lambda given: _whole(TunedRange(f"depth of {_short(part)}", given, True, DEPTH, (1,)))
            )
        case Blend(parts=parts) | Chain(stages=parts):
            yield from within(parts)
        case Call(args=args, params=params):
            registered, accepted = _registered(node, registry)
            own, declared = defaults.get(registered, {}), {param.name: param for param in accepted}
            # Values after those of the declared parameters have no name. Resolving the expression raises an error for
            # them.
            places = itertools.chain(declared, map(str, itertools.count()))
            given = {**dict(zip(places, args, strict=False)), **params}
            fields = given.get("fields", declared["fields"].default if "fields" in declared else ())
            for name, value in given.items():
                param = declared.get(name)
                for item, shown in _items(name, value, fields):
                    yield from within(item, _parameter(node.name, param, name, shown, value, own))


def _items(name: str, value: Any, fields: Any) -> Iterator[tuple[Any, str]]:
    """Yield the items of a parameter, each with its name.

    In a list with an item per field, a name is "b of title", for example.
    """
    if not isinstance(value, tuple):
        yield value, name
        return
    places = fields if isinstance(fields, tuple) and len(fields) == len(value) else range(1, len(value) + 1)
    for item, place in zip(value, places, strict=True):
        yield item, f"{name} of {place}" if places is fields else f"{name} {place}"


def _registered(call: Call, registry: Registry) -> tuple[str, tuple[Param, ...]]:
    """Return the name and the parameters of the component or the normaliser that a call names."""
    if isinstance(call, Component):
        return call.name, call.registration.params
    if call.name.lower() in NORMALISERS:
        return call.name, (Param("x", Expression, ...),)
    found = registry.find("component", call.name)
    return found.name, found.params


def _parameter(component: str, param: Param | None, name: str, shown: str, value: Any, own: Any) -> Place:
    """Return a function that makes the tuned range of a parameter, or of an item of its list. `shown` is its name.

    `value` is the value of the parameter: the range itself, or a list with ranges. `own` has the profile's defaults of
    the component. `param` may be None: resolving the expression raises an error for an undeclared parameter.
    """

    def place(given: Range) -> TunedRange:
        listed = value is not given
        if param and not _takes_number(param, listed):
            choices = "true, false" if param.type is bool else ", ".join(map(str, param.range or ()))
            instead = f"one of {choices}" if choices else "a value"
            raise InputError(f"{component}: {name}={given} is a range, and {name} takes no number; write {instead}.")
        default = own.get(name, param.default) if param and not listed else None
        known = float(default) if isinstance(default, (int, float)) and math.isfinite(default) else None
        whole, limits = (param.type is int, param.range or ()) if param else (False, ())
        tuned = TunedRange(shown, given, whole, known, limits, True)
        return _whole(tuned, f"{component}: {name}=")

    return place


def _takes_number(param: Param, listed: bool) -> bool:
    if any(isinstance(end, str) for end in param.range or ()):
        return False
    return param.type in ((tuple, object) if listed else (int, float, object))


def _nowhere(given: Range) -> TunedRange:
    raise InputError(f"The range {given} stands where no number is allowed; put it in the place of a number.")


def _whole(tuned: TunedRange, before: str = "% ") -> TunedRange:
    if tuned.whole and any(value != int(value) for value in tuned.range.values):
        raise InputError(f"{before}{tuned.range} should have whole numbers only.")
    return tuned


def _short(part: Expression) -> str:
    """Return a name for the weight or the depth of an expression: the name of its component, or its whole normaliser."""
    while not isinstance(part, Call):
        match part:
            case Weighted(expression=inner) | Cut(expression=inner):
                part = inner
            case _:
                return str(part)
    if isinstance(part, PythonPart):
        return f"{part.word}({part.name})"
    return str(part) if part.name in NORMALISERS else part.name


def _holds_range(value: Any) -> bool:
    return isinstance(value, Range) or (isinstance(value, tuple) and any(map(_holds_range, value)))


# Choosing numbers.


def _even(tuned: TunedRange, steps: int) -> list[float]:
    numbers = list(tuned.range.values)
    if tuned.range.interval:
        low, high = numbers
        numbers = np.linspace(low, high, steps).tolist()
        numbers = [round(number) if tuned.whole else _rounded(number, tuned.range, EVEN) for number in numbers]
    return list(dict.fromkeys(map(shortest, numbers)))


def _drawn(tuned: TunedRange, chance: float) -> float:
    values = tuned.range.values
    if not tuned.range.interval:
        return shortest(values[int(chance * len(values))])
    low, high = values
    if tuned.whole:
        return int(low) + int(chance * (int(high) - int(low) + 1))
    return shortest(_rounded(low + chance * (high - low), tuned.range, DRAWN))


def _rounded(number: float, interval: Range, digits: int) -> float:
    """Round a number to `digits` digits, counted from the width of the interval, and keep it within the interval."""
    low, high = interval.values
    places = digits - 1 - math.floor(math.log10(high - low))
    return min(max(round(number, places), low), high)
