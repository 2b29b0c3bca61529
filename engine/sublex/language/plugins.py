"""The plugin registry: loads plugins and looks up names. No other file turns a name into an object.

Each plugin is loaded, checked and called separately. If a plugin fails, its error becomes one sentence, and the other
plugins still work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import Distribution, EntryPoint, entry_points
from threading import RLock
from typing import Any, NamedTuple

import pluggy

from sublex.contracts import hookspecs
from sublex.contracts.base import Folder, Param, Resource
from sublex.errors import InputError, PluginError, SublexError, UnknownName, is_out_of_memory
from sublex.language.expression import (
    KEYWORDS,
    NAME,
    NORMALISERS,
    PYTHON_WORDS,
    Call,
    Expression,
    Normalised,
    python_object,
    walk,
)
from sublex.language.parameters import canonical_call, matched, typed
from sublex.language.parser import parse_call
from sublex.language.profiles import Defaults
from sublex.tools.confinement import refused_file, refused_folder
from sublex.tools.messages import Message, Step, in_short, unknown

# The version of the plugin contract; a plugin declares it as `sublex_api`.
API = 3
# The group of the entry points of plugins.
GROUP = "sublex"
STAGES = ("fit", "encode", "query")
KINDS = (
    "reader", "analyzer", "ranker", "expander", "filter", "smoother", "representation", "retriever", "reranker", "encoder",
    "backend", "experiment",
)  # fmt: skip
# The kinds of components that an expression can contain. Their names must differ across kinds. The kind `component`
# means any of them.
COMPONENTS = ("ranker", "expander", "representation", "filter", "smoother", "retriever", "reranker", "encoder")
# The kinds whose calls need the names of parameters. Only the value of a required parameter may stand without its name.
BY_NAME = ("reader", "analyzer")
# Words of the expression language, which no component may have as its name.
RESERVED = {*NORMALISERS, *KEYWORDS, *PYTHON_WORDS}
# The name that stands in the place of a plugin's name for a Python object of the user.
PYTHON = "Python"
# The names of modules of built-in plugins begin with this text.
BUILT_IN = "sublex."
EVERY_KIND = frozenset(KINDS)
# The modules of built-in plugins that are loaded when a name of one of their kinds is looked up.
BUILT_IN_KINDS = {
    "sublex.readers": {"reader"}, "sublex.analysis": {"analyzer"}, "sublex.rankers": {"ranker"},
    "sublex.expanders": {"expander"}, "sublex.filters": {"filter", "smoother"},
}  # fmt: skip
NO_DEFAULTS: Defaults = {}
# The parameters of a normaliser.
NORMALISED = (Param("x", Expression, ...),)


class Registration(NamedTuple):
    """A component as a plugin registered it: its kind, its name, the plugin, its factory and the declared parameters."""

    kind: str
    name: str
    plugin: str
    factory: Callable[..., Any]
    params: tuple[Param, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Component(Call):
    """A resolved call: the component that it names, with a value for every parameter.

    `args` and `params` are in canonical form: the required values, and the values that differ from the declared
    defaults.
    """

    registration: Registration
    values: dict[str, Any]

    @property
    def kind(self) -> str:
        """The kind of the component, such as "ranker"."""
        return self.registration.kind

    def children(self) -> Iterable[Any]:
        return self.values.values()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call that names the component. It is resolved again when it is unpickled."""
        name = f"{self.registration.plugin}:{self.registration.name}"
        return _resolved, (self.kind, Call(name, self.args, self.params))

    def resolved(self, canonical: Callable[[Expression], Expression]) -> Component:
        """Return the component unchanged: the expressions in its parameters are already resolved."""
        return self

    def make(self) -> Any:
        """Return a new object from the component's factory."""
        return self.registration.factory(**self.values)


def components_in(node: Expression) -> Iterator[Component]:
    """Yield the components of a resolved expression, also those that are parameters of other components."""
    return (part for part in walk(node) if isinstance(part, Component))


@dataclass
class Plugin:
    """An entry point of the group `sublex`: its distribution, its hooks and its registrations, or the error of loading it."""

    name: str
    module: str
    distribution: str = ""
    version: str = ""
    api: Any = None
    hooks: list[str] = field(default_factory=list)
    registered: list[Registration] = field(default_factory=list)
    error: str = ""


@cache
def _name_and_version(distribution: Distribution) -> tuple[str, str]:
    """Return the name and the version of a distribution. They are read from a file, once for all its entry points."""
    metadata = distribution.metadata
    return metadata["Name"], metadata["Version"]


class Registry:
    """The loaded plugins, and the names that they registered."""

    def __init__(self, points: Iterable[EntryPoint]):
        self._points = list(points)
        self._loaded: dict[int, Plugin] = {}
        self._absent: list[Plugin] = []
        self._lock = RLock()
        self._manager = pluggy.PluginManager("sublex")
        self._manager.add_hookspecs(hookspecs)
        # The registrations by kind, and by name in small letters.
        self._names: dict[tuple[str, str], list[Registration]] = {}

    @property
    def plugins(self) -> list[Plugin]:
        """All plugins, including those that failed to load."""
        self._load_for(KINDS)
        return [*(self._loaded[place] for place in range(len(self._points))), *self._absent]

    @property
    def modules(self) -> list[str]:
        """The names of the plugins' modules. No plugin is loaded for this."""
        return [point.module for point in self._points]

    def plugin(self, name: str) -> Plugin:
        """Return the loaded plugin of this name, such as the `plugin` of a `Registration`."""
        return next(plugin for plugin in [*self._loaded.values(), *self._absent] if plugin.name == name)

    def miss(self, name: str, error: str) -> None:
        """Add a plugin that the user wants but that is not installed; `error` is the sentence about it."""
        self._absent.append(Plugin(name, "", error=error))

    def _load_for(self, kinds: Iterable[str]) -> None:
        """Load the plugins that may register one of these kinds.

        A built-in plugin registers its own kinds. Any other plugin may register all kinds.
        """
        wanted = set(kinds)
        # Several threads may look up names at once, but a plugin is loaded only once.
        with self._lock:
            for place, point in enumerate(self._points):
                if place not in self._loaded and (BUILT_IN_KINDS.get(point.value, EVERY_KIND) & wanted):
                    self._loaded[place] = self._load(point)

    def _registrations(self, kind: str, name: str) -> list[Registration]:
        """Return all registrations of a name, whatever its case, in the order of the plugins."""
        self._load_for(_kinds(kind))
        order = [point.name for point in self._points]
        word = name.casefold()
        return [
            registration
            for known_kind in _kinds(kind)
            for registration in sorted(
                self._names.get((known_kind, word), ()), key=lambda found: order.index(found.plugin)
            )
        ]

    def _load(self, point: EntryPoint) -> Plugin:
        """Return the plugin of an entry point, with its registrations or with its error."""
        plugin = Plugin(point.name, point.value)
        if point.dist:
            plugin.distribution, plugin.version = _name_and_version(point.dist)
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
            if is_out_of_memory(error):
                raise MemoryError from error
            plugin.error = str(error) if isinstance(error, PluginError) else in_short(error)
            if self._manager.has_plugin(point.name):
                self._manager.unregister(name=point.name)
            return plugin
        for registration in plugin.registered:
            self._names.setdefault((registration.kind, registration.name.casefold()), []).append(registration)
        return plugin

    def _register(
        self, plugin: Plugin, kind: str, name: str, factory: Callable[..., Any], params: Iterable[Param] = ()
    ) -> None:
        """Add a component to a plugin. Raise PluginError for a name or parameters that the contract does not allow."""
        if kind in COMPONENTS and name in RESERVED:
            raise PluginError(f"it registers the {kind} {name}, a word with another meaning in expressions")
        params = tuple(params)
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise PluginError(f"it registers the {kind} {name!r}, which is not a valid name")
        if not all(isinstance(param, Param) and param.stage in STAGES for param in params):
            raise PluginError(f"a parameter of {name} is not a Param with one of the stages {', '.join(STAGES)}")
        if len({param.name for param in params}) < len(params):
            raise PluginError(f"two parameters of {name} have the same name")
        unknown = {param.only[0] for param in params if param.only} - {param.name for param in params}
        if unknown:
            raise PluginError(
                f"a parameter of {name} has an effect only with {min(unknown)}, which is no parameter of {name}"
            )
        plugin.registered.append(Registration(kind, name, plugin.name, factory, params))

    def names(self, kind: str) -> list[str]:
        """Return all names of a kind, in alphabetical order."""
        self._load_for(_kinds(kind))
        found = (
            registration
            for (named_kind, _), those in self._names.items()
            if named_kind in _kinds(kind)
            for registration in those
        )
        return sorted({registration.name for registration in found})

    def find(self, kind: str, name: str) -> Registration:
        """Return the registration of `name` or `plugin:name`, whatever its case.

        A name in the same case is preferred to names in another case. Raise UnknownName if no name fits, or if several fit
        equally well.
        """
        plugin, _, short = name.rpartition(":")
        alike = [r for r in self._registrations(kind, short) if plugin.casefold() in ("", r.plugin.casefold())]
        exact = [r for r in alike if name in (r.name, f"{r.plugin}:{r.name}")]
        registrations = exact or alike
        if len(registrations) == 1:
            return registrations[0]
        if registrations:
            differ = len({r.name for r in registrations}) > 1
            choices = " or ".join(r.name if differ else f"{r.plugin}:{r.name}" for r in registrations)
            raise UnknownName(f"Several plugins offer the {kind} {name}; write {choices}.")
        raise UnknownName(self._unknown(kind, name))

    def knows(self, kind: str, name: str) -> bool:
        """Return whether a component or a plugin that failed to load has this name, whatever its case."""
        plugin, _, short = name.rpartition(":")
        if any(plugin.casefold() in ("", r.plugin.casefold()) for r in self._registrations(kind, short)):
            return True
        return any(failed.error and failed.name.casefold() == name.casefold() for failed in self.plugins)

    def _has(self, name: str) -> bool:
        """Return whether a component is registered under exactly this name."""
        return any(registration.name == name for registration in self._registrations("component", name))

    def version(self, registration: Registration) -> str:
        """Return the name and version of the distribution that registered a component; "Python" for a user's object."""
        if registration.plugin == PYTHON:
            return PYTHON
        plugin = self.plugin(registration.plugin)
        return f"{plugin.distribution} {plugin.version}".strip()

    def _unknown(self, kind: str, name: str) -> str:
        """Return the message for an unknown name.

        The message lists the plugins that failed to load, because one of them may have the unknown name.
        """
        if name in PYTHON_WORDS:
            return python_object(name)
        failed = [plugin for plugin in self.plugins if plugin.error]
        for plugin in failed:
            if plugin.name in (name, name.partition(":")[0]):
                return f"No {kind} {name}: plugin {plugin.name} failed to load ({plugin.error})."
        known = [*self.names(kind), *(NORMALISERS if kind == "component" else ())]
        message = unknown(
            kind,
            name,
            known,
            Step("backends" if kind == "backend" else "plugins" if kind == "experiment" else "components"),
        )
        names = ", ".join(plugin.name for plugin in failed)
        return (
            Message(message, " These plugins failed to load (see ", Step("plugins"), f"): {names}.")
            if failed
            else message
        )

    def make(self, kind: str, text: str) -> Any:
        """Return the object that a printed form such as `english(stop=none)` describes."""
        return self.resolve(kind, parse_call(text, unnamed=True)).make()

    def print_of(self, kind: str, made: Any, name: str, params: Mapping[str, Any]) -> str:
        """Return the printed form of an object that was made from `name` and `params`: its own `str` if it has one, or the call."""
        has_own = type(made).__str__ is not object.__str__
        return str(made) if has_own else str(self.resolve(kind, Call(name, (), dict(params))))

    def by_name(self, kind: str, call: Call) -> dict[str, Any]:
        """Return the values of a call by the names of its parameters. A wrong name, or too many values, is kept for later checks."""
        names = [param.name for param in self.find(kind, call.name).params]
        return dict(zip(names, call.args, strict=False)) | dict(call.params)

    def build(self, kind: str, name: str, params: Mapping[str, Any], args: Iterable[Any] = ()) -> Any:
        """Return the object with this name and these parameters.

        The parameters are checked against the declared ones.
        """
        return self.resolve(kind, Call(name, tuple(args), dict(params))).make()

    def resolve(self, kind: str, call: Call, defaults: Defaults = NO_DEFAULTS) -> Component:
        """Look up a call and give every parameter a value: from the call, or from `defaults`, or the declared default.

        `defaults` are ranking defaults by component, such as `{"BM25": {"k1": 0.9}}`. A resolved call is returned as it is.
        """
        if isinstance(call, Component):
            return call.resolved(lambda part: self.resolve_all(part, defaults))
        registration = self.find(kind, call.name)
        if kind in BY_NAME and len(call.args) > sum(p.default is ... for p in registration.params):
            raise InputError(
                f"Cannot read '{call}': expected parameter=value; write it as name or name(parameter=value, parameter=value)."
            )

        def inner(expression: Expression) -> Expression:
            return self.resolve_all(expression, defaults)

        values = matched(call, registration.params, inner, defaults.get(registration.name, {}))
        _refuse_files(call, registration.params, values)
        unique = [r.name for r in self._registrations(kind, registration.name)].count(registration.name) == 1
        name = registration.name if unique else f"{registration.plugin}:{registration.name}"
        declared = [
            (p, ... if p.default is ... else typed(name, p, p.default, self.resolve_all)) for p in registration.params
        ]
        canonical = canonical_call(name, declared, values)
        return Component(canonical.name, canonical.args, canonical.params, registration=registration, values=values)

    def resolve_all(self, expression: Expression, defaults: Defaults = NO_DEFAULTS) -> Expression:
        """Return the expression with every call resolved: its leaves are `Component`s, and its printed form is canonical."""

        def inner(value: Any) -> Any:
            return self.resolve_all(value, defaults) if isinstance(value, Expression) else value

        if not isinstance(expression, Call):
            return expression.map(inner)
        if expression.name.lower() in NORMALISERS and not self._has(expression.name):
            return Normalised(expression.name.lower(), matched(expression, NORMALISED, inner, {})["x"])
        return self.resolve("component", expression, defaults)

    def print_in(self, resolved: Expression, defaults: Defaults) -> str:
        """Return the text of a resolved expression. Values that equal the declared default or `defaults` are left out."""

        def plain(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(plain, value))
            if not isinstance(value, Component) or value.registration.plugin == PYTHON:
                return value.map(plain) if isinstance(value, Expression) else value
            own = defaults.get(value.registration.name, {})
            declared = [(p, own.get(p.name, p.default)) for p in value.registration.params]
            written = canonical_call(value.name, declared, value.values) if own else value
            args = tuple(map(plain, written.args))
            return Call(written.name, args, {name: plain(given) for name, given in written.params.items()})

        return str(plain(resolved))

    def hook(self, name: str) -> list[tuple[Plugin, Callable[..., Any]]]:
        """Return each plugin that implements a hook, with a function that takes all arguments of the hook by name.

        The function passes only the arguments that the plugin declares. The caller must handle the errors of each
        function separately.
        """
        # All plugins are loaded, because any of them may implement the hook.
        named = {plugin.name: plugin for plugin in self.plugins}
        implementations = getattr(self._manager.hook, name).get_hookimpls()
        return [(named[each.plugin_name], partial(_call, each)) for each in implementations]

    def call_all(self, name: str, register: Callable[..., None], what: str) -> list[str]:
        """Have each plugin register what it adds by a hook. Return a sentence for each plugin that failed.

        `what` is a word for what the hook adds, such as "panels".
        """
        failures = []
        for plugin, implementation in self.hook(name):
            try:
                implementation(register=register)
            except Exception as error:
                if is_out_of_memory(error):
                    raise MemoryError from error
                reason = str(error).rstrip(".") if isinstance(error, SublexError) else in_short(error)
                failures.append(f"Plugin {plugin.name} could not add its {what}: {reason}.")
        return failures


def _call(implementation: pluggy.HookImpl, **given: Any) -> None:
    implementation.function(**{name: given[name] for name in implementation.argnames})


def _refuse_files(call: Call, params: Iterable[Param], values: Mapping[str, Any]) -> None:
    """Raise InputError for a call that names a file, while a request is answered: its sender may name no files."""
    for param in params:
        value = values[param.name]
        if param.type is Folder and value is not None and (refusal := refused_folder(str(call))):
            raise InputError(refusal)
        if param.type is Resource and value is not None and (refusal := refused_file(str(call), str(value))):
            raise InputError(refusal)


def _kinds(kind: str) -> tuple[str, ...]:
    """Return the kinds that `kind` stands for: all kinds of components for "component", otherwise the kind alone."""
    return COMPONENTS if kind == "component" else (kind,)


@cache
def shared() -> Registry:
    """Return the registry of the installed plugins that all unpickled objects share."""
    return load()


def _resolved(kind: str, call: Call) -> Component:
    """Return the component that an unpickled call names."""
    return shared().resolve(kind, call)


def load(builtin: bool = True) -> Registry:
    """Return the registry of the installed plugins.

    If the variable SUBLEX_PLUGINS lists entry points, separated by commas, only these and the built-in plugins are
    used. With `builtin=False`, the built-in plugins, which import NumPy, are left out.
    """
    wanted = os.environ.get("SUBLEX_PLUGINS")
    names = None if wanted is None else {name.strip() for name in wanted.split(",")}
    points = sorted(entry_points(group=GROUP), key=lambda point: (not point.value.startswith(BUILT_IN), point.name))
    registry = Registry(
        p for p in points if (builtin if p.value.startswith(BUILT_IN) else names is None or p.name in names)
    )
    for name in sorted((names or set()) - {"", *(point.name for point in points)}):
        registry.miss(name, "SUBLEX_PLUGINS lists it, but no plugin of this name is installed")
    return registry
