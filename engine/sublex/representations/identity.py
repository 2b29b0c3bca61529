"""Identities: the names under which fitted models and their rows are stored.

A name has the component's name and a hash of everything that fitting depends on. So equal names mean equal models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from sublex.contracts.base import Resource, Vectors
from sublex.contracts.fitted import Fittable, Representation, Smoother
from sublex.errors import IndexProblem, InputError, PluginError, UnknownName, contract
from sublex.index.entries import Manifest, ResourceEntry, VectorsEntry
from sublex.index.schema import ABSENT
from sublex.language.expression import Call, Expression, print_value, walk
from sublex.language.known_encoders import with_known_encoders
from sublex.language.names import called_by, written_out
from sublex.language.parser import parse
from sublex.language.plugins import Component, Registry, load
from sublex.representations.inputs import READINGS
from sublex.representations.learned_files import with_learned_models
from sublex.representations.resources import Resources
from sublex.tools.messages import Message, Step, nearest


class ModelIdentity(NamedTuple):
    """The names of a fitted component.

    `model` and `rows` are the names of the folders of its model and of its rows. `expression` has only the parameters
    that change the model, and `encoded` also those that change the rows.
    """

    kind: str
    model: str
    rows: str
    expression: str
    encoded: str


class Namer:
    """Resolves components that are fitted, and computes their identities for one index.

    `registry` has the plugins; without it they are loaded. `manifest` and `other_resources` are passed to `Resources`.
    """

    def __init__(
        self,
        root: Path,
        manifest: Manifest | None,
        registry: Registry | None = None,
        other_resources: Mapping[str, ResourceEntry] = ABSENT,
    ):
        self.registry, self.resources = registry or load(), Resources(root, manifest, other_resources)
        self.names: Mapping[str, str] = manifest.names if manifest else ABSENT
        self.vectors: Mapping[str, VectorsEntry] = manifest.vectors if manifest else ABSENT

    def written_out(self, expression: Expression) -> Expression:
        """Return an expression with the names of the index replaced by their expressions."""
        known = {**self.resources.entries, **self.resources.other_entries}
        # Names of the user's encoders are replaced last. So a name in an index can never stand for a folder.
        whole = with_known_encoders(written_out(expression, self.names, self.registry, known), self.registry)
        # Models in files come after these, so a name in an index can never stand for such a file either.
        return with_learned_models(whole, self.registry)

    def called_by(self, expression: Expression) -> str:
        """Return the name of the index, or the built-in name, that an expression is; "" for another expression."""
        return called_by(expression, self.names, self.registry)

    def resolve(self, expression: Expression | str) -> Component:
        """Return the component that an expression names. Raise InputError if the expression is not a single component."""
        call = self.written_out(parse(expression) if isinstance(expression, str) else expression)
        if not isinstance(call, Call):
            raise InputError(
                f"{expression} is not a single component; name one representation, for example lsi(e=100)."
            )
        try:
            return self.registry.resolve("component", call)
        except UnknownName:
            self.look_for(call)
            return self.registry.resolve("representation", call)

    def look_for(self, expression: Expression) -> None:
        """Raise IndexProblem if a plugin in the expression no longer works, and a model of this index was fitted by it.

        The message names the plugin as the cause.
        """
        names = {node.name for node in walk(expression) if isinstance(node, Call)}
        known = self.registry.names("component")
        for name, entry in self.resources.fitted.items():
            if (plugin := entry.expression.partition("(")[0]) in names and plugin not in known:
                lost = f"{entry.expression} was fitted by a plugin that is not installed or fails to load (see sublex plugins)."
                step = Step("forget", self.resources.root, name)
                raise IndexProblem(Message(lost, " Repair the plugin, or run: ", step))

    def identity(self, component: Component, model: Fittable, known: dict[str, str] | None = None) -> ModelIdentity:
        """Return the identity of a component, given its unfitted model.

        The name of the model depends on the parameters of the stage "fit", the content of resources, the model's
        version, and the models that it needs. The name of the rows also depends on the parameters of the stage
        "encode". Parameters of the stage "query" change neither name. `known` caches the names of models, by their
        expressions.
        """
        with contract(component.kind, component):
            depends = tuple(model.depends())
        if component in depends:
            raise PluginError(f"{component} says that it depends on itself.")
        self._expect_kind(component)
        known = {} if known is None else known
        models = [self.model_of(dependency, known) for dependency in depends]
        values = {
            stage: {
                p.name: self._printed(p.type, component.values[p.name], depends, known)
                for p in component.registration.params
                if p.stage == stage
            }
            for stage in ("fit", "encode")
        }
        name = component.registration.name
        fitted = _hash([component.registration.plugin, name, model.version, values["fit"], models])
        encoded = _hash([fitted, values["encode"]])
        expressions = (
            str(Call(component.name, component.args, {p: v for p, v in component.params.items() if p in kept}))
            for kept in (values["fit"], values["fit"] | values["encode"])
        )
        folder = re.sub(r"[^\w-]", "_", name)
        return ModelIdentity(component.kind, f"{folder}-{fitted}", f"rows-{encoded}", *expressions)

    def _expect_kind(self, component: Component) -> None:
        """Raise InputError if a component names vectors of the index by which only another component can rank."""
        for param in component.registration.params:
            name = component.values[param.name]
            entry = self.vectors.get(name) if param.type is Vectors else None
            if entry is not None and entry.kind != component.registration.name:
                raise InputError(f"The vectors {name} are ranked by {entry.kind}({name}), and not by {component}.")

    def model_of(self, expression: Expression | str, known: dict[str, str] | None = None) -> str:
        """Return the name of the model of an expression. `known` caches the names that earlier calls returned."""
        known = {} if known is None else known
        if (text := str(expression)) not in known:
            component = self.resolve(expression)
            known[text] = self.identity(component, self.make(component), known).model
        return known[text]

    def make(self, component: Component) -> Fittable:
        """Return the unfitted model of a component. Raise InputError when the component is not fitted."""
        with contract(component.kind, component):
            model = component.make()
        if component.kind == "smoother" and not isinstance(model, Smoother):
            raise PluginError(f"The smoother {component} does not subclass sublex.contracts.fitted.Smoother.")
        if not isinstance(model, Fittable):
            raise InputError(f"{component} needs no fit; name a model that needs one, for example lsi(e=100).")
        if isinstance(model, Representation) and model.reads not in READINGS:
            raise PluginError(f"{component} reads {model.reads}; representations read {' or '.join(READINGS)}.")
        return model

    def used(self, component: Component) -> dict[str, str]:
        """Return the resources and the vectors in a component, each with the hash of its content."""
        given = [(p.type, component.values[p.name]) for p in component.registration.params]
        files = {text: self.resources.hash(text) for kind, text in given if kind is Resource and text is not None}
        return files | {text: self.hash_of_vectors(text) for kind, text in given if kind is Vectors}

    def hash_of_vectors(self, name: str) -> str:
        """Return the hash of vectors of the index. Raise IndexProblem for an unknown name."""
        if name not in self.vectors:
            root = self.resources.root
            hint = nearest(name, self.vectors)
            raise IndexProblem(
                Message(
                    f"{root.name} has no vectors {name}{'; ' + hint if hint else '. '}To add them: ",
                    Step("vectors add", root, name),
                    " FILE",
                )
            )
        return self.vectors[name].hash

    def _printed(self, declared: type, value: Any, depends: Sequence[Expression], known: dict[str, str]) -> str:
        """Return the text that stands for a parameter's value in the hash of an identity.

        For a resource, it is the hash of the content. For a model in `depends`, it is the name of that model.
        """
        if declared is Resource and value is not None:
            return self.resources.hash(value)
        if declared is Vectors:
            # Equal vectors under two names make two models, so that each model can be removed alone.
            return f"{value} {self.hash_of_vectors(value)}"
        # A file that the expression names may have moved since the fit. The name of the model stays the same.
        return self.model_of(value, known) if value in depends else print_value(value)


def _hash(parts: list[Any]) -> str:
    return xxhash.xxh3_64_hexdigest(json.dumps(parts, sort_keys=True).encode())
