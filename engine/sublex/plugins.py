"""Loading plugins and resolving names: the only place that turns a name into an object.

Each plugin is loaded, checked and called by itself; what goes wrong becomes its one sentence and hurts nobody else.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

import pluggy

from sublex import hookspecs
from sublex.base import Param
from sublex.errors import InputError, PluginError, UnknownName
from sublex.spec import Spec, parse, print_value

API = 1
GROUP = "sublex"
KINDS = ("reader", "analyzer", "ranker", "expander")
OWN = "sublex."


class Registration(NamedTuple):
    """Something a plugin registered under a name."""

    kind: str
    name: str
    plugin: str
    factory: Callable[..., Any]
    params: tuple[Param, ...]


@dataclass
class Plugin:
    """One entry point: where it comes from, what it did, or why it failed."""

    name: str
    module: str
    distribution: str = ""
    version: str = ""
    hooks: list[str] = field(default_factory=list)
    registered: list[Registration] = field(default_factory=list)
    error: str = ""


class Registry:
    """Every plugin and every name, resolved on demand."""

    def __init__(self, points: Iterable[EntryPoint]):
        self.plugins: list[Plugin] = []
        self._manager = pluggy.PluginManager("sublex")
        self._manager.add_hookspecs(hookspecs)
        self._names: dict[tuple[str, str], list[Registration]] = {}
        for point in points:
            self.plugins.append(self._load(point))

    def _load(self, point: EntryPoint) -> Plugin:
        plugin = Plugin(point.name, point.value)
        if point.dist:
            plugin.distribution, plugin.version = point.dist.name, point.dist.version
        try:
            module = point.load()
            api = getattr(module, "sublex_api", None)
            if api != API:
                raise PluginError(f"it is written for plugin API {api}, and this Sublex has {API}")
            self._manager.register(module, point.name)
            self._manager.check_pending()
            plugin.hooks = [caller.name for caller in self._manager.get_hookcallers(module) or []]
            for kind in KINDS:
                if f"register_{kind}s" in plugin.hooks:
                    getattr(module, f"register_{kind}s")(register=partial(self._register, plugin, kind))
        except Exception as error:
            plugin.error = f"{type(error).__name__}: {error}" if not isinstance(error, PluginError) else str(error)
            if self._manager.has_plugin(point.name):
                self._manager.unregister(name=point.name)
            return plugin
        for registration in plugin.registered:
            self._names.setdefault((registration.kind, registration.name), []).append(registration)
        return plugin

    def _register(
        self, plugin: Plugin, kind: str, name: str, factory: Callable[..., Any], params: Iterable[Param] = ()
    ) -> None:
        plugin.registered.append(Registration(kind, name, plugin.name, factory, tuple(params)))

    def names(self, kind: str) -> list[str]:
        """All names of a kind."""
        return sorted(name for of, name in self._names if of == kind)

    def find(self, kind: str, name: str) -> Registration:
        """What `name` or `plugin:name` stands for."""
        plugin, _, short = name.rpartition(":")
        found = [r for r in self._names.get((kind, short), []) if plugin in ("", r.plugin)]
        if len(found) == 1:
            return found[0]
        if found:
            choices = " or ".join(f"{r.plugin}:{r.name}" for r in found)
            raise UnknownName(f"Several plugins offer the {kind} {name}; write {choices}.")
        raise UnknownName(self._unknown(kind, name))

    def _unknown(self, kind: str, name: str) -> str:
        for plugin in self.plugins:
            if plugin.error and name.startswith((plugin.name, f"{plugin.name}:")):
                return f"No {kind} {name}: plugin {plugin.name} failed to load ({plugin.error})."
        names = self.names(kind)
        return f"No {kind} {name}; {nearest(name, names)}There are: {', '.join(names)}."

    def make(self, kind: str, text: str) -> Any:
        """The object a printed form such as `english(stop=none)` stands for."""
        spec = parse(text)
        return self.build(kind, spec.name, spec.params)

    def build(self, kind: str, name: str, params: dict[str, Any]) -> Any:
        """The object of this name with these parameters, checked against what was declared."""
        registration = self.find(kind, name)
        check(name, registration.params, params)
        return registration.factory(**params)

    def hook(self, name: str) -> list[tuple[Plugin, Callable[..., Any]]]:
        """The implementations of a hook, to be called one by one."""
        named = {plugin.name: plugin for plugin in self.plugins}
        return [(named[impl.plugin_name], impl.function) for impl in getattr(self._manager.hook, name).get_hookimpls()]


def nearest(name: str, names: Iterable[str]) -> str:
    """A question for the middle of a message: did you mean this one?"""
    near = difflib.get_close_matches(name, list(names), 1, 0.5)
    return f"did you mean {near[0]}? " if near else ""


def check(name: str, params: Iterable[Param], values: Mapping[str, Any]) -> None:
    """Refuse values that were not declared, or are of the wrong type, or out of range."""
    declared = {param.name: param for param in params}
    for key, value in values.items():
        if key not in declared:
            known = f"it takes {', '.join(declared)}" if declared else "it takes none"
            hint = nearest(key, declared)
            raise InputError(
                f"{name} has no parameter {key}; {hint}{known[0].upper() if hint else known[0]}{known[1:]}."
            )
        _check(name, declared[key], value)


def _check(name: str, param: Param, value: Any) -> None:
    fits = isinstance(value, param.type) or (param.type is float and type(value) is int)
    if not fits or (isinstance(value, bool) and param.type is not bool):
        raise InputError(f"{name}: {param.name}={print_value(value)} should be of type {param.type.__name__}.")
    if not param.range:
        return
    if param.type in (int, float):
        low, high = param.range
        if not low <= value <= high:
            raise InputError(f"{name}: {param.name}={value} lies outside {low} to {high}.")
    elif value not in param.range:
        hint = nearest(str(value), map(str, param.range))
        known = ", ".join(map(str, param.range))
        raise InputError(
            f"{name}: {param.name}={value} is {f'unknown; {hint}There are: ' if hint else 'none of '}{known}."
        )


def printed(name: str, params: Iterable[Param], values: dict[str, Any]) -> str:
    """The printed form: every parameter that differs from its default."""
    return str(Spec(name, {p.name: values[p.name] for p in params if values.get(p.name, p.default) != p.default}))


def load() -> Registry:
    """All installed plugins, or the built-ins and those named in SUBLEX_PLUGINS (by entry point, comma-separated)."""
    wanted = os.environ.get("SUBLEX_PLUGINS")
    names = None if wanted is None else {name.strip() for name in wanted.split(",")}
    points = sorted(entry_points(group=GROUP), key=lambda point: (not point.value.startswith(OWN), point.name))
    return Registry(p for p in points if names is None or p.value.startswith(OWN) or p.name in names)
