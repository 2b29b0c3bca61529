"""What a fitted model is called: its name and a hash of everything that fitting depends on."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import xxhash

from sublex.base import Resource
from sublex.errors import IndexProblem, InputError, PluginError, UnknownName, contract
from sublex.expression import Call, Expression, print_value
from sublex.fitted import Fitted, Representation
from sublex.messages import command
from sublex.parser import parse, parse_call
from sublex.plugins import Registry, Resolved
from sublex.representations.inputs import READINGS
from sublex.representations.resources import Resources


class Identity(NamedTuple):
    """The names of a model and of its rows, and the expressions that fit the one and encode the other."""

    kind: str
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
        try:
            return self.registry.resolve("component", call)
        except UnknownName:
            self.look_for(call)
            return self.registry.resolve("representation", call)

    def look_for(self, expression: Expression) -> None:
        """Say it when an expression names a model of the index whose plugin is not there, or fails."""
        names, known = names_in(expression), self.registry.names("component")
        for name, entry in self.resources.fitted.items():
            if (gone := parse_call(entry["expression"]).name) in names and gone not in known:
                raise IndexProblem(
                    f"{entry['expression']} was fitted by a plugin that is not installed, or fails (see sublex plugins); "
                    f"mend that, or run: {command('forget', self.resources.root, name)}"
                )

    def identity(self, resolved: Resolved, made: Fitted, known: dict[str, str] | None = None) -> Identity:
        """Fit parameters, what resources hold, the model's version and the models it depends on make the model; encode parameters its rows.

        Query parameters are in neither, so changing them never refits.
        """
        name, params = resolved.registration.name, resolved.registration.params
        with contract(resolved.registration.kind, resolved.call):
            depends = tuple(made.depends())
        if resolved.call in depends:
            raise PluginError(f"{resolved.call} says that it depends on itself.")
        known = {} if known is None else known
        models = [self.model_of(dependency, known) for dependency in depends]
        values = {
            stage: {
                p.name: self._printed(p.type, resolved.values[p.name], depends, known)
                for p in params
                if p.stage == stage
            }
            for stage in ("fit", "encode")
        }
        fitted = _hash([resolved.registration.plugin, name, made.version, values["fit"], models])
        encoded = _hash([fitted, values["encode"]])
        call = resolved.call
        both = values["fit"] | values["encode"]
        expressions = (
            str(Call(call.name, call.args, {p: value for p, value in call.params.items() if p in kept}))
            for kept in (values["fit"], both)
        )
        folder = re.sub(r"[^\w-]", "_", name)
        return Identity(resolved.registration.kind, f"{folder}-{fitted}", f"rows-{encoded}", *expressions)

    def model_of(self, expression: Expression | str, known: dict[str, str] | None = None) -> str:
        """The name of the model that an expression stands for; `known` has those met before."""
        known = {} if known is None else known
        if (text := str(expression)) not in known:
            resolved = self.resolve(expression)
            known[text] = self.identity(resolved, self.make(resolved), known).model
        return known[text]

    def make(self, resolved: Resolved) -> Fitted:
        """The model itself, unfitted."""
        with contract(resolved.registration.kind, resolved.call):
            made = resolved.make()
        if not isinstance(made, Fitted):
            raise InputError(f"{resolved.call} has nothing that is fitted; name a representation, such as lsi(e=100).")
        if isinstance(made, Representation) and made.reads not in READINGS:
            raise PluginError(f"{resolved.call} reads {made.reads}; representations read {' or '.join(READINGS)}.")
        return made

    def used(self, resolved: Resolved) -> dict[str, str]:
        """The resources that a component names, and what stands for their content."""
        given = [resolved.values[p.name] for p in resolved.registration.params if p.type is Resource]
        return {text: self.resources.hash(text) for text in given if text is not None}

    def _printed(self, of: type, value: Any, depends: Sequence[Expression], known: dict[str, str]) -> str:
        if of is Resource and value is not None:
            return self.resources.hash(value)
        # A model stands for its expression, which may name a file that lies elsewhere by now.
        return self.model_of(value, known) if value in depends else print_value(value)


def names_in(expression: Expression) -> set[str]:
    """The names of all components in an expression."""
    found: set[str] = set()

    def look(node: Any) -> Any:
        if isinstance(node, Expression):
            if isinstance(node, Call):
                found.add(node.name)
            node.map(look)
        return node

    look(expression)
    return found


def _hash(parts: list[Any]) -> str:
    return xxhash.xxh3_64_hexdigest(json.dumps(parts, sort_keys=True).encode())
