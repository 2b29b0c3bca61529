"""Expression trees: the nodes of a pipeline, or of one component with its parameters, and how they are printed.

The printed form of a tree is its identity. Two trees are equal when their printed forms are equal, and `parser.py` parses a
printed form back to the tree. This file does not know the components: `plugins.py` looks up names and checks parameters.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import singledispatch
from numbers import Integral
from typing import Any, ClassVar

from sublex.errors import InputError
from sublex.tools.copies import Uncopied

NAME = re.compile(r"[^\W\d][\w.:/-]*")
# The pattern of names that users give to expressions. A name has no slash, dot or colon, as paths and `plugin:name` have.
GIVEN_NAME = re.compile(r"[^\W\d][\w-]{0,63}")
NORMALISERS = ("minmax", "zscore", "rank", "raw", "rrf")
# The functions of `sublex` that make Python parts. A Python part prints as one of these words with a name in parentheses.
PYTHON_WORDS = ("ranker", "finder", "keep", "expander", "rerank", "encoder", "learned")
KEYWORDS = {"true": True, "false": False, "inf": math.inf, "-inf": -math.inf}
Change = Callable[[Any], Any]


def _refused(instead: str) -> Callable[..., Any]:
    """Return the method of an operator that expressions do not have; `instead` says what to write."""

    def operator(*operands: object) -> Any:
        raise InputError(f"Expressions have the operators >>, +, * and % alone; {instead}.")

    return operator


class Expression(Uncopied):
    """A node of an expression tree, a dataclass whose fields are its children and names.

    The operators `a >> b`, `a + b`, `0.3 * a` and `a % 200` build the tree that the parser builds for the same text, and
    `a * 0.3` is `0.3 * a`.
    """

    # The precedence of the node's operator. A node within an operator of higher precedence is printed in parentheses.
    binds: ClassVar[int]
    __array_ufunc__ = None  # A NumPy number times an expression calls `__rmul__` below.

    def children(self) -> Iterable[Any]:
        """Return everything that the node contains, in reading order: expressions, numbers, tuples, texts."""
        for value in (getattr(self, part.name) for part in fields(self)):  # type: ignore[arg-type]
            yield from value if isinstance(value, tuple) else (value,)

    def map(self, change: Change) -> Expression:
        """Return a copy of the node in which `change` is applied to each child, in reading order. Names stay unchanged."""

        def changed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(change, value))
            return value if isinstance(value, str) else change(value)

        return type(self)(*(changed(getattr(self, part.name)) for part in fields(self)))  # type: ignore[arg-type]

    def __rshift__(self, other: object) -> Expression:
        return chain((self, operand(other, ">>")))

    def __rrshift__(self, other: object) -> Expression:
        return chain((operand(other, ">>"), self))

    def __add__(self, other: object) -> Expression:
        return Blend((*(self.parts if isinstance(self, Blend) else (self,)), operand(other, "+")))

    def __radd__(self, other: object) -> Expression:
        return operand(other, "+") + self

    def __rmul__(self, weight: Any) -> Expression:
        return Weighted(operand(weight, "*") if isinstance(weight, str) else weight, self)

    __mul__ = __rmul__
    __sub__ = __rsub__ = __neg__ = _refused("to subtract, give a negative weight, as in a + -0.5 * b")
    __and__ = __rand__ = _refused("to apply two filters, write one after the other, as in a >> b")
    __pow__ = __xor__ = __rxor__ = _refused("write that as a formula, as in sublex.ranker(f)")
    __or__ = __ror__ = _refused("for one filter or another, write a function with both conditions")
    __invert__ = _refused("for the opposite of a filter, write a function, as in lambda document: not f(document)")

    def __mod__(self, depth: Any) -> Expression:
        return Cut(self, depth)

    def normalised(self, normaliser: str) -> Expression:
        """Return the expression with its scores on a common scale: `a.normalised("raw")` is `raw(a)` in a text."""
        if normaliser not in NORMALISERS:
            raise InputError(f"No normaliser {normaliser}; there are {', '.join(NORMALISERS)}.")
        return Call(normaliser, (self,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


@singledispatch
def operand(value: object, operator: str) -> Any:
    """Return the expression for a value beside an operator. Before `*` and after `%`, a text such as `{0..1}` is a range.

    `operands.py` registers how texts and functions become expressions.
    """
    raise NotImplementedError


@operand.register
def _(value: Expression, operator: str) -> Expression:
    return value


@dataclass(frozen=True)
class Range:
    """A range of numbers for `sublex tune` to try: an interval, `{0..1}`, or a choice, `{1,2,5}`."""

    values: tuple[float, ...]
    interval: bool = False

    def __post_init__(self) -> None:
        ends = self.values if self.values and all(map(math.isfinite, self.values)) else ()
        if not ends or (self.interval and (len(ends) != 2 or not 0 < ends[1] - ends[0] < math.inf)):
            raise InputError(f"{self} is not a range such as {{0..1}} or {{1,2,5}}.")

    def __str__(self) -> str:
        return "{" + (".." if self.interval else ",").join(map(print_value, self.values)) + "}"


@dataclass(frozen=True, eq=False)
class Call(Expression):
    """A component that is named by a text such as `name(value, parameter=value)`.

    A value is a number, a truth value, a text, a tuple, a `Range` or an expression. `plugins.Component` is a resolved
    call: it also has the registration of the component.
    """

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

    def children(self) -> Iterable[Any]:
        return (*self.args, *self.params.values())

    def map(self, change: Change) -> Call:
        args = tuple(change(value) for value in self.args)
        return Call(self.name, args, {name: change(value) for name, value in self.params.items()})


@dataclass(frozen=True, eq=False)
class Cut(Expression):
    """The first `depth` hits of an expression, `expression % depth`.

    With the depth 0, a part of a blend finds nothing, and scores what the other parts find.
    """

    binds = 3
    expression: Expression
    depth: int | Range

    def __post_init__(self) -> None:
        if isinstance(self.depth, str):
            object.__setattr__(self, "depth", operand(self.depth, "%"))
        if isinstance(self.depth, Range):
            return
        whole = isinstance(self.depth, Integral) and not isinstance(self.depth, bool)
        if not whole or self.depth < 0:
            raise InputError(f"The depth in % {self.depth} should be a whole number, 0 or above.")
        object.__setattr__(self, "depth", int(self.depth))

    def __str__(self) -> str:
        return f"{_within(self.expression, 4)} % {self.depth}"


@dataclass(frozen=True, eq=False)
class Weighted(Expression):
    """An expression with a weight in a blend, `weight*expression`."""

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
        """Return the weight times the first `depth` hits. In texts, `0.3*a % 200` means `0.3*(a % 200)`, unlike in Python."""
        return Weighted(self.weight, Cut(self.expression, depth))


@dataclass(frozen=True, eq=False)
class Blend(Expression):
    """A sum of the scores of several parts, `a + b + c`."""

    binds = 1
    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        return " + ".join(_within(part, 2) for part in self.parts)


@dataclass(frozen=True, eq=False)
class Chain(Expression):
    """A sequence of stages, `a >> b >> c`. Each stage gets the query and the hits of the stage before it.

    The function `chain` makes objects of this class.
    """

    binds = 0
    stages: tuple[Expression, ...]

    def __str__(self) -> str:
        return " >> ".join(_within(stage, 1) for stage in self.stages)


@dataclass(frozen=True, eq=False)
class Normalised(Expression):
    """An expression with its scores brought to a common scale, `zscore(expression)`.

    The parser reads such a text as a `Call`; the registry makes a `Normalised` of the call.
    """

    binds = 4
    normaliser: str
    expression: Expression

    def __str__(self) -> str:
        return f"{self.normaliser}({self.expression})"


def chain(stages: Iterable[Expression]) -> Expression:
    """Return a chain of the stages. Chains among them are flattened, and a single stage is returned as it is."""
    flat: list[Expression] = []
    for stage in stages:
        flat += stage.stages if isinstance(stage, Chain) else [stage]
    return flat[0] if len(flat) == 1 else Chain(tuple(flat))


def print_value(value: Any) -> str:
    """Return a value as it is written between the parentheses of a call."""
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


def python_object(word: str) -> str:
    """Return the message for a text that contains a printed Python part, such as `ranker(f)`: no text can name its object."""
    thing = "function" if word == "rerank" else "object"
    return f"{word}(…) stands for a Python {thing}, which a text cannot name; make the expression in Python by sublex.{word}."


def shortest(number: float) -> float:
    """Return a number as a person writes it: 7, not 7.0."""
    return int(number) if abs(number) < 1e15 and number == int(number) else number


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and every expression within it, outer ones first, in reading order."""
    return (node for node in _contents(expression) if isinstance(node, Expression))


def ranges(expression: Expression) -> list[Range]:
    """Return all ranges of an expression, in reading order."""
    return [node for node in _contents(expression) if isinstance(node, Range)]


def fill(expression: Expression, numbers: Iterable[float]) -> Expression:
    """Return the expression with its ranges replaced by numbers, in reading order."""
    following = iter(numbers)

    def filled(value: Any) -> Any:
        if isinstance(value, Range):
            return next(following)
        if isinstance(value, tuple):
            return tuple(map(filled, value))
        return value.map(filled) if isinstance(value, Expression) else value

    return filled(expression)


def no_ranges(expression: Expression) -> Expression:
    """Return the expression unchanged. Raise InputError if it contains a range."""
    if found := ranges(expression):
        raise InputError(
            f"{expression} contains the range {found[0]}; ranges are for sublex tune, so write a number there."
        )
    return expression


def _contents(value: Any) -> Iterator[Any]:
    if isinstance(value, (Range, Expression)):
        yield value
    inside = value.children() if isinstance(value, Expression) else value if isinstance(value, tuple) else ()
    for child in inside:
        yield from _contents(child)


def _plain(value: Any) -> Any:
    """Return a value with each call without parameters replaced by its name.

    A single word may be the name of a component or a text: only the declaration of the parameter decides this.
    """
    if isinstance(value, (tuple, list)):
        return tuple(map(_plain, value))
    return value.name if type(value) is Call and not value.args and not value.params else value


def _within(inner: Expression, least: int) -> str:
    return str(inner) if inner.binds >= least else f"({inner})"
