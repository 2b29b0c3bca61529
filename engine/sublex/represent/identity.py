"""What a fitted model is called: its name and a hash of everything that fitting depends on."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import xxhash

from sublex.expression import Call, Expression, print_value
from sublex.fitted import Representation
from sublex.plugins import Registry, Resolved


class Identity(NamedTuple):
    """The names of a model and of its rows, and the expressions that fit the one and encode the other."""

    model: str
    rows: str
    expression: str
    encoded: str


def identity(resolved: Resolved, made: Representation, registry: Registry) -> Identity:
    """Fit parameters, the model's version and the models that it depends on make the model; encode parameters its rows.

    Query parameters are in neither, so changing them never refits.
    """
    name, params = resolved.registration.name, resolved.registration.params
    values = {
        stage: {p.name: resolved.values[p.name] for p in params if p.stage == stage} for stage in ("fit", "encode")
    }
    models = [model_of(dependency, registry) for dependency in made.depends()]
    fitted = _hash([resolved.registration.plugin, name, made.version, _printed(values["fit"]), models])
    encoded = _hash([fitted, _printed(values["encode"])])
    call = resolved.call
    first = {p: value for p, value in call.params.items() if p in values["fit"]}
    both = {p: value for p, value in call.params.items() if p in values["fit"] or p in values["encode"]}
    expressions = (str(Call(call.name, (), kept)) for kept in (first, both))
    return Identity(f"{name}-{fitted}", f"rows-{encoded}", *expressions)


def model_of(expression: Expression, registry: Registry) -> str:
    """The name of the model that an expression stands for."""
    resolved = resolve(expression, registry)
    return identity(resolved, resolved.make(), registry).model


def resolve(expression: Expression | str, registry: Registry) -> Resolved:
    """A component that is fitted, from its expression."""
    call = Call(expression) if isinstance(expression, str) else expression
    assert isinstance(call, Call)
    return registry.resolve("representation", call)


def _printed(values: dict[str, Any]) -> dict[str, str]:
    return {name: print_value(value) for name, value in values.items()}


def _hash(parts: list[Any]) -> str:
    return xxhash.xxh3_64_hexdigest(json.dumps(parts, sort_keys=True).encode())
