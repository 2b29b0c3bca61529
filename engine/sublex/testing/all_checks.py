"""A table of the checks of all kinds, and the choice of the checks for a plugin or a component."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sublex.errors import InputError, PluginError, SublexError, UnknownName
from sublex.language import plugins
from sublex.language.plugins import Plugin, Registration, Registry
from sublex.operations import Operation
from sublex.testing import (
    analyzers,
    encoders,
    expanders,
    filters,
    operations,
    rankers,
    readers,
    registrations,
    representations,
    smoothers,
)
from sublex.testing.subject import Subject, call_of, kind_of
from sublex.tools.messages import in_short, nearest

# The checks of each kind of component. Back ends and retrievers need indexes of their engines, and experiments need their
# data, so only their declarations are checked.
CHECKS_OF: dict[str, tuple[Callable[[Subject], None], ...]] = {
    "reader": readers.CHECKS,
    "analyzer": analyzers.CHECKS,
    "ranker": rankers.CHECKS,
    "expander": expanders.CHECKS,
    "filter": filters.CHECKS,
    "smoother": smoothers.CHECKS,
    "representation": representations.CHECKS,
    "retriever": (),
    "reranker": encoders.RERANKER_CHECKS,
    "encoder": encoders.CHECKS,
    "backend": (),
    "experiment": (),
}


class Check(NamedTuple):
    """A check of a thing that a plugin registers. Call it with a new folder, where it may build indexes.

    `thing` is the name of the thing, such as "ranker mine". `subject` makes the argument of the check's function.
    """

    thing: str
    function: Callable[[Any], None]
    subject: Callable[[Path], Any]

    def __call__(self, folder: str | os.PathLike[str]) -> None:
        self.function(self.subject(Path(folder)))

    def __str__(self) -> str:
        return f"{self.thing}: {self.function.__name__}"

    @property
    def description(self) -> str:
        """The sentence that says what the check expects."""
        return (self.function.__doc__ or self.function.__name__).split("\n")[0]

    @property
    def is_needed(self) -> bool:
        """Whether a failure of this check makes the other checks of the thing useless."""
        return self.function in registrations.COMPONENT


def checks(*names: str) -> list[Check]:
    """Return the checks of plugins or components.

    A name is the name of a plugin, for all its components, or the expression of a component, such as "mine(k=8)".
    Values that the expression does not give are defaults. Raise `UnknownName` if no plugin and no component has a name,
    `InputError` for wrong values, and `PluginError` if a plugin failed to load.
    """
    registry = plugins.load()
    whole = [plugin for plugin in registry.plugins if plugin.name in names]
    parts = [_named(registry, name) for name in names if name not in {plugin.name for plugin in whole}]
    found: list[Check] = []
    for plugin in {plugin.name: plugin for plugin in (*whole, *(plugin for plugin, *_ in parts))}.values():
        if plugin.error:
            raise PluginError(f"Plugin {plugin.name} failed to load ({plugin.error}).")
        found += [Check(f"plugin {plugin.name}", function, _just(plugin)) for function in registrations.PLUGIN]
        given = {registration[:2]: expression for _, registration, expression in parts}
        registered = plugin.registered if plugin in whole else [each for each in plugin.registered if each[:2] in given]
        for registration in registered:
            expression = given.get(registration[:2], f"{plugin.name}:{registration.name}")
            found += _of_component(registration, expression, registration[:2] in given)
        found += _of_operations(registry, plugin) if plugin in whole else ()
    return found


def _just(thing: Any) -> Callable[[Path], Any]:
    """Return a function that ignores the folder that it gets, and returns `thing`."""
    return lambda folder: thing


def _named(registry: Registry, expression: str) -> tuple[Plugin, Registration, str]:
    """Return the plugin and the registration of the component that an expression names. Its values are checked."""
    kind, call = kind_of(expression), call_of(expression)
    known = {plugin.name for plugin in registry.plugins} | {
        each.name for p in registry.plugins for each in p.registered
    }
    if not kind:
        hint = nearest(call.name, sorted(known))
        raise UnknownName(
            f"No plugin and no component {call.name} is installed; {hint}{'T' if hint else 't'}o install a package of yours: "
            "pip install -e FOLDER. To see all plugins: sublex plugins"
        )
    registration = registry.find(kind, call.name)
    registry.resolve(kind, call)
    return registry.plugin(registration.plugin), registration, expression


def _of_component(registration: Registration, expression: str, is_given: bool) -> Iterator[Check]:
    """Yield the checks of a component. If required values are missing, only its declaration is checked."""
    is_complete = is_given or all(param.default is not ... for param in registration.params)
    functions = (*registrations.COMPONENT, *CHECKS_OF[registration.kind]) if is_complete else registrations.UNCHECKED
    thing = f"{registration.kind} {expression.removeprefix(f'{registration.plugin}:')}"
    for function in functions:
        yield Check(thing, function, lambda folder: Subject(expression, folder, registration.kind))


def _of_operations(registry: Registry, plugin: Plugin) -> Iterator[Check]:
    """Yield the checks of the operations that a plugin registers."""
    found: list[Operation] = []
    for implementing, implementation in registry.hook("register_operations"):
        if implementing is plugin:
            try:
                implementation(register=found.append)
            except Exception as error:
                reason = str(error).rstrip(".") if isinstance(error, SublexError) else in_short(error)
                raise PluginError(f"Plugin {plugin.name} could not add its operations: {reason}.") from error
    for operation in found:
        if not isinstance(operation, Operation):
            raise InputError(
                f"Plugin {plugin.name} registers {operation!r} as an operation; decorate it by sublex.operations.operation."
            )
        for function in operations.CHECKS:
            yield Check(f"operation {operation.name}", function, _just(operation))
