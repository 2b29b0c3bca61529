"""Find the fitted model for an expression: the one that it names in full, or else the only one with its values.

A search by `lda` uses the model with the defaults if that is fitted, and otherwise the only fitted `lda`. The values in
the expression have to match: `lda(k=50)` never means a model with another k. Fitting does not use this module, so `fit
lda` always fits the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sublex.contracts.fitted import Representation
from sublex.errors import IndexProblem, SublexError
from sublex.language.expression import Call, Expression
from sublex.language.names import declared_by, given_by, rewritten
from sublex.language.parser import parse
from sublex.language.plugins import Component, Defaults
from sublex.representations.identity import Namer
from sublex.representations.stored_models import LISTED_MODELS, expressions_of
from sublex.tools.messages import Message, Step


class Matching:
    """Finds the fitted model for an incomplete expression such as `lda`.

    `is_fitted` tells whether a resolved component is of a kind that has to be fitted. `notes` has a sentence for each
    model that was taken although its own expression differs.
    """

    def __init__(self, namer: Namer, is_fitted: Callable[[Expression], bool], defaults: Defaults):
        self.namer, self.registry, self.is_fitted, self.defaults = namer, namer.registry, is_fitted, defaults
        self.fitted, self.root = namer.resources.fitted, namer.resources.root
        self.notes: list[str] = []

    def apply(self, expression: Expression) -> Expression:
        """Replace each model of an expression that is not fitted by the only fitted model that matches.

        Raise IndexProblem if several match; the message lists them.
        """
        return rewritten(expression, self.registry, self._meaning) if self.fitted else expression

    def _meaning(self, call: Call) -> Expression | None:
        """Return the call that replaces `call`: that of the model to take.

        None leaves the call and goes on in its values.
        """
        component = None
        try:
            given = given_by(call, self.registry)
            lacking = [p.name for p in declared_by(call, self.registry) if p.default is ... and p.name not in given]
            if not lacking:
                component = self.registry.resolve("component", call, self.defaults)
                if not self.is_fitted(component):
                    return None
                if self._is_there(component):
                    return self._with_query_values(call, component)
            matching = self._matching(call, lacking)
        except SublexError:
            # The composer raises this error again, with the whole message.
            return None
        if len(matching) > 1:
            raise IndexProblem(self._several(call, list(matching)))
        if not matching:
            return component and self._with_query_values(call, component)
        [(text, found)] = matching.items()
        taken = self._with_query_values(call, found)
        instead = ""
        if component is not None:
            named = f"{component} itself is" if component.params or component.args else "its defaults are"
            instead = f"; {named} not fitted"
        self.notes.append(f"{call} means {text} here, the only fitted model that matches{instead}.")
        return taken

    def _is_there(self, component: Component) -> bool:
        """Return whether the model of a component is fitted, by any version of its plugin.

        If the version is another one, an error follows when the model is loaded.
        """
        model = self.namer.make(component)
        identity = self.namer.identity(component, model)
        entry = self.fitted.get(identity.model)
        if entry is None:
            return any(entry.expression == identity.expression for entry in self.fitted.values())
        return not isinstance(model, Representation) or identity.rows in entry.rows

    def _matching(self, call: Call, lacking: Sequence[str]) -> dict[str, Component]:
        """Return the fitted models that have the values of a call, by their expressions.

        `lacking` names the parameters without a default that the call does not give.
        """
        registration, found = self.registry.find("component", call.name), dict[str, Component]()
        for name, entry in self.fitted.items():
            for text in expressions_of(entry):
                try:
                    other = self.namer.resolve(text)
                    if other.registration != registration:
                        continue
                    filled = Call(call.name, call.args, call.params | {name: other.values[name] for name in lacking})
                    component = self.registry.resolve("component", filled, self.defaults)
                    if self._fits(call, component, other) and self.namer.model_of(other) == name:
                        found[text] = other
                except SublexError:
                    continue
        return dict(sorted(found.items()))

    def _fits(self, call: Call, component: Component, other: Component) -> bool:
        """Return whether a fitted component has the values of a call.

        Values for queries are ignored, because they change no model.
        """
        for name, (param, value) in given_by(call, self.registry).items():
            if param.stage == "query":
                continue
            if param.type is Expression and isinstance(other.values[name], Component):
                inner = parse(value) if isinstance(value, str) else value
                if not isinstance(inner, Call) or not self._is_of(inner, other.values[name]):
                    return False
            elif component.values[name] != other.values[name]:
                return False
        return True

    def _is_of(self, call: Call, other: Component) -> bool:
        """Return whether `call`, a value in another call, has the component and the values of a fitted component."""
        component = self.registry.resolve("component", call)
        return other.registration == component.registration and self._fits(call, component, other)

    def _with_query_values(self, call: Call, component: Component) -> Call:
        """Return a fitted component as a call with the values of the user's `call` for parameters of the stage "query".

        These values may name models, which are replaced likewise.
        """
        given = given_by(call, self.registry)
        queried: dict[str, Any] = {name: value for name, (param, value) in given.items() if param.stage == "query"}
        for name, value in queried.items():
            if given[name][0].type is Expression and isinstance(value, (str, Expression)):
                queried[name] = self.apply(parse(value) if isinstance(value, str) else value)
        places = [param.name for param in component.registration.params]
        args = tuple(queried.pop(name, value) for name, value in zip(places, component.args, strict=False))
        return Call(component.name, args, component.params | queried)

    def _several(self, call: Call, texts: list[str]) -> str:
        listed = ", ".join(texts[:LISTED_MODELS]) + (
            f" and {len(texts) - LISTED_MODELS:,} more" * (len(texts) > LISTED_MODELS)
        )
        state = (
            f"{call} matches {len(texts):,} fitted models of {self.root.name}, and it names none in full: {listed}. "
        )
        return Message(state, "Write one of them, or name it: ", Step("name", self.root, "NAME", texts[0]))
