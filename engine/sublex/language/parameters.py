"""Parameters of components: declare them, match them with the values that a user wrote, and print them.

A built-in component declares its parameters as the fields of a frozen dataclass, a plugin as a list of `Param`.
`matched` turns a parsed call such as `BM25(k1=0.9)` into a checked value for every parameter; `canonical_call` turns
the values back into the call that is printed. Names of components are resolved elsewhere, in `plugins.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from sublex.contracts.base import Folder, Param, Resource, Vectors
from sublex.errors import InputError
from sublex.language.expression import NORMALISERS, Call, Expression, Range, print_value, shortest
from sublex.language.parser import parse
from sublex.tools.messages import ALL, near_names, nearest

# A function that resolves an expression. It is called for values of parameters that are expressions.
Canonical = Callable[[Expression], Expression]
# Words for messages: the values that a user may write for each type.
WANTED = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "a word or a text in quotes",
    Resource: "a path in quotes or the name of a resource",
    Folder: "a path in quotes",
    Vectors: "the name of vectors of the index",
    tuple: "a list, as in [a, b]",
    Expression: "an expression",
}


def parameter(
    default: Any, help: str, range: tuple[Any, ...] | None = None, type: type | None = None, **options: Any
) -> Any:
    """Return a dataclass field that declares a parameter of a component. `help` and `range` are as in `Param`.

    `type` is the type of the parameter; by default it is that of `default`, or float for the default None. `options`
    are further arguments of `dataclasses.field`.
    """
    kind = _type_of(default) if type is None else type
    return field(default=default, metadata={"type": kind, "help": help, "range": range}, **options)


def _type_of(default: Any) -> type:
    return float if default is None else type(default)


def params(component: type[Declared]) -> tuple[Param, ...]:
    """Return the parameters of a dataclass for its registration, keyword-only fields last."""
    declared = sorted((f for f in fields(component) if f.metadata), key=lambda f: bool(f.kw_only))
    return tuple(Param(f.name, default=f.default, **f.metadata) for f in declared)


@dataclass(frozen=True)
class Declared:
    """The base of components whose parameters are dataclass fields.

    The values of the parameters are checked on construction, so Python code gets the same errors as expressions do. The
    printed form names all parameters that differ from their defaults, so it identifies the component.
    """

    def __post_init__(self) -> None:
        name, declared = type(self).__name__, params(type(self))
        values = {param.name: getattr(self, param.name) for param in declared}
        for key, value in matched(Call(name, (), values), declared, lambda inner: inner, {}).items():
            object.__setattr__(self, key, value)

    def __str__(self) -> str:
        return printed(type(self).__name__, params(type(self)), vars(self))

    def refuse(self, *names: str, reason: str) -> None:
        """Raise `InputError` if the value of a parameter in `names` differs from its default.

        The message says that the parameter has no effect, followed by `reason`.
        """
        for param in params(type(self)):
            if param.name in names and getattr(self, param.name) != param.default:
                raise InputError(f"{type(self).__name__}: {param.name} has no effect {reason}; leave it out.")


def matched(call: Call, params: Sequence[Param], canonical: Canonical, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return a checked value of the declared type for every parameter, in the declared order.

    A value comes from `call`. If `call` has none, it comes from `profile`; without both, it is the declared default. Raise
    `InputError` for unknown parameters, for values of a wrong type or out of range, and for values without an effect.
    """
    names = [param.name for param in params]
    if len(call.args) > len(names) and call.name in NORMALISERS:
        parts = " + ".join(f"{call.name}({print_value(value)})" for value in call.args)
        raise InputError(f"{call.name} takes one expression; to add up several, write {parts}.")
    if len(call.args) > len(names):
        raise InputError(f"{call.name} was given too many values ({len(call.args)}); {_takes(names)}.")
    written = dict(zip(names, call.args, strict=False))
    for key, value in call.params.items():
        if key not in names:
            hint = nearest(key, names) or _by_help(key, params)
            takes = _takes(names, key)
            raise InputError(
                f"{call.name} has no parameter {key}; {hint}{takes[0].upper() if hint else takes[0]}{takes[1:]}."
            )
        if key in written:
            raise InputError(f"{call.name} gives {key} twice, by its place and by its name; drop one.")
        written[key] = value
    chosen = {param.name: param.default for param in params} | dict(profile) | written
    values = {param.name: typed(call.name, param, chosen[param.name], canonical) for param in params}
    for param in params:
        if (
            param.only
            and param.name in written
            and values[param.name] != param.default
            and values[param.only[0]] not in param.only[1]
        ):
            other, value = param.only[0], values[param.only[0]]
            raise InputError(
                f"{call.name}: {param.name} has no effect with {other}={print_value(value)}; leave it out."
            )
    return values


def typed(name: str, param: Param, value: Any, canonical: Canonical) -> Any:
    """Return the value that a user gave for a parameter, in the declared type. `canonical` resolves an expression.

    Raise `InputError`, which names the component `name`, if the value does not fit the declaration `param`.
    """
    if value is ...:
        raise InputError(f"{name} needs the parameter {param.name}, as in {name}({param.name}=…).")
    if value is None and param.default is None:
        return None
    shown = f"{name}: {param.name}={print_value(value)}"
    items = value if isinstance(value, tuple) else (value,)
    if any(isinstance(item, Range) for item in items):
        raise InputError(f"{shown} is a range; ranges are for sublex tune, so write a number there.")
    if param.type is Expression and isinstance(value, (str, Expression)):
        return canonical(parse(value) if isinstance(value, str) else value)
    if any(isinstance(item, Expression) for item in items):
        raise InputError(f"{shown} is an expression; put it in quotes if it is a text.")
    if not _fits(param.type, value):
        wanted = WANTED.get(param.type, f"of type {param.type.__name__.lower()}")
        raise InputError(f"{shown} has to be {wanted}.")
    for item in items:
        _check_range(name, param, item)
    return float(value) if param.type is float else value


def printed(name: str, params: Iterable[Param], values: Mapping[str, Any]) -> str:
    """Return the printed form of a component, such as `fisher(k=4)`.

    Required values come first, without names, then `name=value` for each parameter that differs from its default.
    """
    return str(canonical_call(name, [(param, param.default) for param in params], values))


def canonical_call(name: str, declared: Iterable[tuple[Param, Any]], values: Mapping[str, Any]) -> Call:
    """Return a call in canonical form; `declared` pairs each parameter with its resolved default."""
    args: list[Any] = []
    differing: dict[str, Any] = {}
    for param, default in declared:
        value = values.get(param.name, default)
        written = shortest(value) if param.type is float and isinstance(value, float) else value
        if default is ... and not differing:
            args.append(written)
        elif value != default:
            differing[param.name] = written
    return Call(name, tuple(args), differing)


def _by_help(word: str, params: Sequence[Param]) -> str:
    """Return "did you mean …? " with the parameter whose help contains `word`; an empty string if no help does."""
    found = next((param for param in params if word.lower() in param.help.lower().split()), None)
    return f"did you mean {found.name} ({found.help})? " if found else ""


def _takes(names: Sequence[str], name: str = "") -> str:
    return f"it takes {near_names(name, names)}" if names else "it takes none"


def _fits(declared: type, value: Any) -> bool:
    # In Python a truth value is an int, too; NaN is a float that no parameter accepts.
    if isinstance(value, bool):
        return declared in (bool, object)
    if isinstance(value, float) and math.isnan(value):
        return False
    return isinstance(value, str if declared in (Resource, Folder, Vectors) else declared) or (
        declared is float and isinstance(value, int)
    )


def _check_range(name: str, param: Param, value: Any) -> None:
    if not param.range:
        return
    shown = f"{name}: {param.name}={print_value(value)}"
    if not all(isinstance(end, (int, float)) for end in param.range):
        if value not in param.range:
            hint = nearest(str(value), map(str, param.range))
            unlike = "is none of" if len(param.range) <= ALL else "is unknown; there are:"
            wrong = f"is unknown; {hint}There are:" if hint else unlike
            raise InputError(f"{shown} {wrong} {near_names(str(value), map(str, param.range))}.")
        return
    low, high = param.range
    if isinstance(value, (int, float)) and low <= value <= high and not (param.open and value in (low, high)):
        return
    if high == math.inf:
        raise InputError(f"{shown} should be {'above' if param.open else 'at least'} {low}.")
    raise InputError(f"{shown} lies outside {low} to {high}{', both excluded' if param.open else ''}.")
