"""Loading plugins and resolving names: the only place that turns a name into an object.

Each plugin is loaded, checked and called by itself; what goes wrong becomes its one sentence and hurts nobody else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

import pluggy

from sublex import hookspecs
from sublex.base import Param
from sublex.errors import PluginError, UnknownName
from sublex.expression import KEYWORDS, NAME, NORMALISERS, Call, Expression
from sublex.messages import in_short, unknown
from sublex.parameters import canonical_call, matched, typed
from sublex.parser import parse_call

API = 2
GROUP = "sublex"
STAGES = ("fit", "encode", "query")
KINDS = ("reader", "analyzer", "ranker", "expander", "filter", "representation")
# The kinds that expressions are made of share one namespace; `component` stands for any of them.
COMPONENTS = ("ranker", "expander", "representation", "filter")
RESERVED = {*NORMALISERS, *KEYWORDS}
OWN = "sublex."
Defaults = Mapping[str, Mapping[str, Any]]
NO_DEFAULTS: Defaults = {}
_NORMALISED = (Param("x", Expression, ...),)


class Registration(NamedTuple):
    """Something a plugin registered under a name."""

    kind: str
    name: str
    plugin: str
    factory: Callable[..., Any]
    params: tuple[Param, ...]


class Resolved(NamedTuple):
    """A call with its registration, the value of every parameter, and the call as it is printed."""

    registration: Registration
    values: dict[str, Any]
    call: Call

    def make(self) -> Any:
        """The object itself."""
        return self.registration.factory(**self.values)

    def __str__(self) -> str:
        return str(self.call)

    def __hash__(self) -> int:
        return hash(self.call)


@dataclass
class Plugin:
    """One entry point: where it comes from, what it did, or why it failed."""

    name: str
    module: str
    distribution: str = ""
    version: str = ""
    api: Any = None
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
            plugin.api = getattr(module, "sublex_api", None)
            if plugin.api != API:
                raise PluginError(f"its sublex_api is {plugin.api!r}, and this Sublex has {API}")
            self._manager.register(module, point.name)
            self._manager.check_pending()
            plugin.hooks = [caller.name for caller in self._manager.get_hookcallers(module) or []]
            for kind in KINDS:
                if f"register_{kind}s" in plugin.hooks:
                    getattr(module, f"register_{kind}s")(register=partial(self._register, plugin, kind))
        except (Exception, SystemExit) as error:
            plugin.error = str(error) if isinstance(error, PluginError) else in_short(error)
            if self._manager.has_plugin(point.name):
                self._manager.unregister(name=point.name)
            return plugin
        for registration in plugin.registered:
            self._names.setdefault((registration.kind, registration.name), []).append(registration)
        return plugin

    def _register(
        self, plugin: Plugin, kind: str, name: str, factory: Callable[..., Any], params: Iterable[Param] = ()
    ) -> None:
        if kind in COMPONENTS and name in RESERVED:
            raise PluginError(f"it registers the {kind} {name}, a word that expressions have for something else")
        params = tuple(params)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise PluginError(f"it registers the {kind} {name!r}, which is no name")
        if not all(isinstance(param, Param) and param.stage in STAGES for param in params):
            raise PluginError(f"a parameter of {name} is no Param of one of the stages {', '.join(STAGES)}")
        if len({param.name for param in params}) < len(params):
            raise PluginError(f"{name} has two parameters of one name")
        plugin.registered.append(Registration(kind, name, plugin.name, factory, params))

    def names(self, kind: str) -> list[str]:
        """All names of a kind."""
        return sorted({name for of, name in self._names if of in _kinds(kind)})

    def find(self, kind: str, name: str) -> Registration:
        """What `name` or `plugin:name` stands for."""
        plugin, _, short = name.rpartition(":")
        found = [r for of in _kinds(kind) for r in self._names.get((of, short), []) if plugin in ("", r.plugin)]
        if len(found) == 1:
            return found[0]
        if found:
            choices = " or ".join(f"{r.plugin}:{r.name}" for r in found)
            raise UnknownName(f"Several plugins offer the {kind} {name}; write {choices}.")
        raise UnknownName(self._unknown(kind, name))

    def version(self, registration: Registration) -> str:
        """The distribution that something comes from, and its version."""
        plugin = next(plugin for plugin in self.plugins if plugin.name == registration.plugin)
        return f"{plugin.distribution} {plugin.version}".strip()

    def _unknown(self, kind: str, name: str) -> str:
        for plugin in self.plugins:
            if plugin.error and name.startswith((plugin.name, f"{plugin.name}:")):
                return f"No {kind} {name}: plugin {plugin.name} failed to load ({plugin.error})."
        return unknown(kind, name, [*self.names(kind), *(NORMALISERS if kind == "component" else ())])

    def make(self, kind: str, text: str) -> Any:
        """The object a printed form such as `english(stop=none)` stands for."""
        return self.resolve(kind, parse_call(text)).make()

    def build(self, kind: str, name: str, params: Mapping[str, Any], args: Iterable[Any] = ()) -> Any:
        """The object of this name with these parameters, checked against what was declared."""
        return self.resolve(kind, Call(name, tuple(args), dict(params))).make()

    def resolve(self, kind: str, call: Call, profile: Defaults = NO_DEFAULTS) -> Resolved:
        """What a call stands for; the profile has defaults by component, as in `{"BM25": {"k1": 0.9}}`."""
        found = self.find(kind, call.name)

        def canonical(inner: Expression) -> Expression:
            return self.canonical(inner, profile)

        values = matched(call, found.params, canonical, profile.get(found.name, {}))
        alone = sum(len(self._names.get((of, found.name), [])) for of in _kinds(kind)) == 1
        name = found.name if alone else f"{found.plugin}:{found.name}"
        own = [... if p.default is ... else typed(name, p, p.default, self.canonical) for p in found.params]
        declared = list(zip(found.params, own, strict=True))
        return Resolved(found, values, canonical_call(name, declared, values))

    def canonical(self, expression: Expression, profile: Defaults = NO_DEFAULTS) -> Expression:
        """The expression with every call resolved: its print has what differs from the defaults, as declared."""

        def inside(value: Any) -> Any:
            return self.canonical(value, profile) if isinstance(value, Expression) else value

        if not isinstance(expression, Call):
            return expression.map(inside)
        if expression.name in NORMALISERS:
            values = matched(expression, _NORMALISED, inside, {})
            return canonical_call(expression.name, [(param, ...) for param in _NORMALISED], values)
        return self.resolve("component", expression, profile).call

    def hook(self, name: str) -> list[tuple[Plugin, Callable[..., Any]]]:
        """The implementations of a hook, to be called one by one."""
        named = {plugin.name: plugin for plugin in self.plugins}
        return [(named[impl.plugin_name], impl.function) for impl in getattr(self._manager.hook, name).get_hookimpls()]


def _kinds(kind: str) -> tuple[str, ...]:
    return COMPONENTS if kind == "component" else (kind,)


def load(builtin: bool = True) -> Registry:
    """All installed plugins, or the built-ins and those named in SUBLEX_PLUGINS (by entry point, comma-separated).

    With `builtin=False` the built-in plugins, which import NumPy, are left out.
    """
    wanted = os.environ.get("SUBLEX_PLUGINS")
    names = None if wanted is None else {name.strip() for name in wanted.split(",")}
    points = sorted(entry_points(group=GROUP), key=lambda point: (not point.value.startswith(OWN), point.name))
    registry = Registry(p for p in points if (builtin if p.value.startswith(OWN) else names is None or p.name in names))
    for name in sorted((names or set()) - {"", *(point.name for point in points)}):
        registry.plugins.append(Plugin(name, "", error="SUBLEX_PLUGINS names it, and no such plugin is installed"))
    return registry
