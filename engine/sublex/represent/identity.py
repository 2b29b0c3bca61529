"""What a fitted model is called: its name and a hash of everything that fitting depends on."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import xxhash

from sublex.base import Resource
from sublex.errors import InputError
from sublex.expression import Call, Expression, print_value
from sublex.fitted import Representation
from sublex.parser import parse
from sublex.plugins import Registry, Resolved
from sublex.represent.resources import Resources


class Identity(NamedTuple):
    """The names of a model and of its rows, and the expressions that fit the one and encode the other."""

    model: str
    rows: str
    expression: str
    encoded: str


class Namer:
    """Names the models of an index."""

    def __init__(self, registry: Registry, resources: Resources):
        self.registry, self.resources = registry, resources

    def resolve(self, expression: Expression | str) -> Resolved:
        """A component that is fitted, from its expression."""
        call = parse(expression) if isinstance(expression, str) else expression
        if not isinstance(call, Call):
            raise InputError(
                f"{expression} is not one component; name a representation, such as lsi(e=100), by itself."
            )
        return self.registry.resolve("representation", call)

    def identity(self, resolved: Resolved, made: Representation) -> Identity:
        """Fit parameters, what resources hold, the model's version and the models it depends on make the model; encode parameters its rows.

        Query parameters are in neither, so changing them never refits.
        """
        name, params = resolved.registration.name, resolved.registration.params
        values = {
            stage: {p.name: self._printed(p.type, resolved.values[p.name]) for p in params if p.stage == stage}
            for stage in ("fit", "encode")
        }
        models = [self.model_of(dependency) for dependency in made.depends()]
        fitted = _hash([resolved.registration.plugin, name, made.version, values["fit"], models])
        encoded = _hash([fitted, values["encode"]])
        call = resolved.call
        both = values["fit"] | values["encode"]
        expressions = (
            str(Call(call.name, call.args, {p: value for p, value in call.params.items() if p in kept}))
            for kept in (values["fit"], both)
        )
        return Identity(f"{name}-{fitted}", f"rows-{encoded}", *expressions)

    def model_of(self, expression: Expression | str) -> str:
        """The name of the model that an expression stands for."""
        resolved = self.resolve(expression)
        return self.identity(resolved, resolved.make()).model

    def used(self, resolved: Resolved) -> list[str]:
        """The registered resources that a component names."""
        given = {resolved.values[p.name] for p in resolved.registration.params if p.type is Resource}
        return sorted(given & self.resources.entries.keys())

    def _printed(self, of: type, value: Any) -> str:
        return self.resources.hash(value) if of is Resource and value is not None else print_value(value)


def _hash(parts: list[Any]) -> str:
    return xxhash.xxh3_64_hexdigest(json.dumps(parts, sort_keys=True).encode())
