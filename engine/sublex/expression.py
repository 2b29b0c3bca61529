"""Expressions as trees: what a pipeline, or one component with its parameters, is made of, and how it is printed.

The printed form is the identity: trees are equal when their prints are, and a print parses back to the tree (`parser.py`).
Nothing here knows what a name stands for; `plugins.py` resolves names, and checks parameters against what was declared.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sublex.errors import InputError

NAME = re.compile(r"[^\W\d][\w.:/-]*")
NORMALISERS = ("minmax", "zscore", "rank", "raw")
KEYWORDS = {"true": True, "false": False, "inf": math.inf, "-inf": -math.inf}
Change = Callable[[Any], Any]


class Expression:
    """Any node; `a >> b`, `a + b`, `0.3 * a` and `a % 200` in Python give what the parser gives for the same text."""

    # How tightly a node binds; one that binds less tightly than its place allows is printed in parentheses.
    binds: ClassVar[int]
    __array_ufunc__ = None  # NumPy's numbers leave the multiplication to us.

    def map(self, change: Change) -> Expression:
        """The same node with `change` applied to everything it holds, in reading order."""
        raise NotImplementedError

    def __rshift__(self, other: object) -> Expression:
        return chain((self, other)) if isinstance(other, Expression) else NotImplemented

    def __add__(self, other: object) -> Expression:
        return Blend((self, other)) if isinstance(other, Expression) else NotImplemented

    def __rmul__(self, weight: Any) -> Expression:
        return Weighted(weight, self)

    def __mod__(self, depth: Any) -> Expression:
        return Cut(self, depth)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True)
class Range:
    """`{0..1}`, an interval, or `{1,2,5}`, a choice: stands where `sublex tune` is to put a number."""

    values: tuple[float, ...]
    interval: bool = False

    def __post_init__(self) -> None:
        ends = self.values if self.values and all(map(math.isfinite, self.values)) else ()
        if not ends or (self.interval and (len(ends) != 2 or not 0 < ends[1] - ends[0] < math.inf)):
            raise InputError(f"{self} is no range such as {{0..1}} or {{1,2,5}}.")

    def __str__(self) -> str:
        return "{" + (".." if self.interval else ",").join(map(print_value, self.values)) + "}"


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """`name(value, parameter=value)`. A value is a number, truth value, text, tuple, Range or expression."""

    binds = 4
    name: str
    args: tuple[Any, ...] = ()
    params: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", tuple(map(_plain, self.args)))
        object.__setattr__(self, "params", {name: _plain(value) for name, value in self.params.items()})

    def __str__(self) -> str:
        named = (f"{name}={print_value(value)}" for name, value in self.params.items())
        inside = ", ".join([*map(print_value, self.args), *named])
        return f"{self.name}({inside})" if inside else self.name

    def map(self, change: Change) -> Call:
        args = tuple(change(value) for value in self.args)
        return Call(self.name, args, {name: change(value) for name, value in self.params.items()})


@dataclass(frozen=True, eq=False)
class Cut(Expression):
    """`expression % depth`: the first `depth` hits."""

    binds = 3
    expression: Expression
    depth: int | Range

    def __post_init__(self) -> None:
        whole = isinstance(self.depth, int) and not isinstance(self.depth, bool) and self.depth > 0
        if not whole and not isinstance(self.depth, Range):
            raise InputError(f"% {self.depth} should be a whole number above 0.")

    def __str__(self) -> str:
        return f"{_within(self.expression, 4)} % {self.depth}"

    def map(self, change: Change) -> Cut:
        return Cut(change(self.expression), change(self.depth))


@dataclass(frozen=True, eq=False)
class Weighted(Expression):
    """`weight*expression`."""

    binds = 2
    weight: float | Range
    expression: Expression

    def __post_init__(self) -> None:
        if isinstance(self.weight, Range):
            return
        try:
            weight = float(self.weight)
        except (TypeError, ValueError, OverflowError):
            weight = math.nan
        if isinstance(self.weight, (str, bool)) or not math.isfinite(weight):
            raise InputError(f"The weight {self.weight} should be a finite number.")
        object.__setattr__(self, "weight", shortest(weight))

    def __str__(self) -> str:
        return f"{print_value(self.weight)}*{_within(self.expression, 3)}"

    def __mod__(self, depth: Any) -> Expression:
        """As in the text `0.3*a % 200`, where `%` binds more tightly; Python reads both from left to right."""
        return Weighted(self.weight, Cut(self.expression, depth))

    def map(self, change: Change) -> Weighted:
        return Weighted(change(self.weight), change(self.expression))


@dataclass(frozen=True, eq=False)
class Blend(Expression):
    """`a + b + c`: parts whose scores are added."""

    binds = 1
    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        return " + ".join(_within(part, 2) for part in self.parts)

    def __add__(self, other: object) -> Expression:
        return Blend((*self.parts, other)) if isinstance(other, Expression) else NotImplemented

    def map(self, change: Change) -> Blend:
        return Blend(tuple(map(change, self.parts)))


@dataclass(frozen=True, eq=False)
class Chain(Expression):
    """`a >> b >> c`: stages, each working on what the one before it found; made by `chain`."""

    binds = 0
    stages: tuple[Expression, ...]

    def __str__(self) -> str:
        return " >> ".join(_within(stage, 1) for stage in self.stages)

    def map(self, change: Change) -> Chain:
        return Chain(tuple(map(change, self.stages)))


def chain(stages: Iterable[Expression]) -> Expression:
    """Stages one after the other; chains among them are taken apart, and one stage stands for itself."""
    flat: list[Expression] = []
    for stage in stages:
        flat += stage.stages if isinstance(stage, Chain) else [stage]
    return flat[0] if len(flat) == 1 else Chain(tuple(flat))


def print_value(value: Any) -> str:
    """A value as it is written between the parentheses of a call."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, (int, Range, Expression)):
        return str(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(print_value, value))}]"
    text = str(value)
    return text if NAME.fullmatch(text) and text not in KEYWORDS else json.dumps(text, ensure_ascii=False)


def shortest(number: float) -> float:
    """The number as a person writes it: 7, not 7.0."""
    return int(number) if abs(number) < 1e15 and number == int(number) else number


def ranges(expression: Expression) -> list[Range]:
    """All ranges of an expression, in reading order."""
    found: list[Range] = []

    def note(given: Range) -> Range:
        found.append(given)
        return given

    _each_range(expression, note)
    return found


def fill(expression: Expression, numbers: Iterable[float]) -> Expression:
    """The expression with its ranges replaced by numbers, in reading order."""
    following: Iterator[float] = iter(numbers)
    return _each_range(expression, lambda _: next(following))


def no_ranges(expression: Expression) -> Expression:
    """The expression itself; it is refused if it holds a range."""
    for found in ranges(expression):
        raise InputError(f"{expression} holds the range {found}; ranges are for sublex tune, so write a number there.")
    return expression


def _each_range(value: Any, change: Callable[[Range], Any]) -> Any:
    if isinstance(value, Range):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_each_range(item, change) for item in value)
    return value.map(lambda inner: _each_range(inner, change)) if isinstance(value, Expression) else value


def _plain(value: Any) -> Any:
    """As a value, a call of nothing is its bare name: only the declared parameter says which is meant."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_plain, value))
    return value.name if isinstance(value, Call) and not value.args and not value.params else value


def _within(inner: Expression, least: int) -> str:
    return str(inner) if inner.binds >= least else f"({inner})"
