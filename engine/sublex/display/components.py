"""Show the parts of expressions: the list of components, or one component with its parameters and its literature."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sublex.errors import InputError, UnknownName
from sublex.forms.lines import Line, Shown, Span, line
from sublex.tools.messages import Message, Step, nearest

if TYPE_CHECKING:
    from sublex.contracts.base import Param
    from sublex.language.plugins import Registry

# The kinds in the order of the list. Analyzers and readers are too many for the list, so users find them by name.
KINDS = ("ranker", "expander", "representation", "filter", "smoother", "retriever", "reranker", "encoder", "normaliser")
BY_NAME = (*KINDS, "analyzer", "reader", "backend")
TYPES = {
    float: "number", int: "whole number", bool: "true or false", str: "word", tuple: "list", object: "any value",
}  # fmt: skip
# The width of the columns before a description in the list.
INDENT = 20
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class Described(NamedTuple):
    """The shown facts about a component. `source` is the paragraph of its docstring that cites the literature."""

    name: str
    kind: str
    plugin: str
    distribution: str
    description: str
    source: str
    params: Sequence[Param]


def components(registry: Registry) -> Shown:
    """Return the list of all components as Shown."""
    listed = list(_described(registry, KINDS))
    return Shown(lambda: _list_lines(listed, registry), lambda: [_as_json(component) for component in listed])


def component(registry: Registry, name: str) -> Shown:
    """Return all about one component as Shown.

    `name` is the name of the component, or a call such as BM25(k1=1). The values of a call replace the defaults.

    Raise UnknownName if no component has this name.
    """
    found = _called(name, registry) if "(" in name else _find(name, registry)

    def lines() -> Iterator[Line]:
        for place, described in enumerate(found):
            if place:
                yield line()
            yield from _lines(described)

    return Shown(lines, lambda: [_as_json(described) for described in found])


def _called(text: str, registry: Registry) -> list[Described]:
    """Return the component of a call, with the values of the call in place of the defaults.

    Raise InputError for wrong values.
    """
    from sublex.language.expression import Call
    from sublex.language.parser import parse

    call = parse(text)
    if not isinstance(call, Call):
        raise InputError(f"{text} is not one component; name one of its parts.")
    (described, *_) = _find(call.name, registry)
    if described.kind == "normaliser":
        return [described]
    kind = "component" if described.kind in KINDS else described.kind
    values = registry.resolve(kind, call).values
    params = [replace(param, default=values[param.name]) for param in described.params]
    return [described._replace(name=str(registry.resolve(kind, call)), params=params)]


def _described(registry: Registry, kinds: Sequence[str]) -> Iterator[Described]:
    """Yield the components of these kinds, by kind and name."""
    for kind in kinds:
        if kind == "normaliser":
            yield from _normalisers()
        listed = [r for plugin in registry.plugins for r in plugin.registered if r.kind == kind]
        for r in sorted(listed, key=lambda r: r.name.lower()):
            paragraphs = _paragraphs(r.factory)
            source = next(filter(_YEAR.search, paragraphs), "") or _source_of_module(r.factory)
            description = "\n\n".join(paragraph for paragraph in paragraphs if paragraph != source)
            yield Described(r.name, kind, r.plugin, registry.version(r), description, source, r.params)


def _normalisers() -> Iterator[Described]:
    from sublex.contracts.base import VERSION
    from sublex.contracts.scores import NORMALISERS

    for name, function in NORMALISERS.items():
        description = "\n\n".join(_paragraphs(function))
        yield Described(name, "normaliser", "", f"sublex {VERSION}", description, "", ())


def _paragraphs(thing: object) -> list[str]:
    """Return the paragraphs of the docstring of a class, a function or a module, each on one line."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in (inspect.getdoc(thing) or "").split("\n\n")]
    # The docstring of a class says what the class is; the docstring of a function says what it returns.
    return [re.sub(r"^Return (.)", lambda match: match[1].upper(), each) for each in paragraphs if each]


def _source_of_module(factory: Callable[..., Any]) -> str:
    """Return the paragraph that cites the literature in the docstring of a class's module.

    The result is empty for a function, because several functions share a module.
    """
    if not inspect.isclass(factory):
        return ""
    module = sys.modules.get(factory.__module__)
    return next(filter(_YEAR.search, _paragraphs(module)), "") if module else ""


def _find(name: str, registry: Registry) -> list[Described]:
    """Return the components with this name, in any case and of any kind. Raise UnknownName, with the most similar name."""
    plugin, _, short = name.casefold().rpartition(":")
    everything = list(_described(registry, BY_NAME))
    found = [each for each in everything if each.name.casefold() == short and plugin in ("", each.plugin.casefold())]
    if found:
        return found
    hint = nearest(name, [each.name for each in everything])
    problem = f"No component {name or repr(name)}; {hint}{'T' if hint else 't'}o list all components: "
    raise UnknownName(Message(problem, Step("components")))


def _list_lines(listed: Sequence[Described], registry: Registry) -> Iterator[Line]:
    kind = ""
    for component in listed:
        if component.kind != kind:
            if kind:
                yield line()
            yield line(Span(f"{component.kind.capitalize()}s", "heading"))
            kind = component.kind
        first = component.description.split("\n\n")[0]
        yield line(f"  {component.name:<{INDENT - 4}}  {first}", indent=INDENT)
        for text in (", ".join(map(_signature, component.params)), component.source):
            if text:
                yield line(f"{'':<{INDENT}}{text}", indent=INDENT)
    yield line()
    for kind in ("analyzer", "reader"):
        yield line(f"{kind.capitalize()}s: {', '.join(registry.names(kind))}", indent=2)
    yield line("The same command with a name describes one of them.")


def _signature(param: Param) -> str:
    """Return a parameter with its default and its range, as in `b=0.75 (0 to 1)`."""
    shown = param.name if param.default is ... or param.default is None else f"{param.name}={_value(param.default)}"
    return f"{shown} ({allowed})" if (allowed := _range(param)) else shown


def _value(value: Any) -> str:
    from sublex.language.expression import print_value

    return print_value(value)


def _range(param: Param) -> str:
    """Return the values that a parameter allows; empty if it allows all values of its type."""
    if not param.range:
        return ""
    if not all(isinstance(end, (int, float)) for end in param.range):
        return ", ".join(map(str, param.range))
    low, high = param.range
    if high == math.inf:
        return f"above {low:g}" if param.open else f"at least {low:g}"
    return f"{low:,} to {high:,}{', both excluded' if param.open else ''}"


def _lines(component: Described) -> Iterator[Line]:
    """Yield all about one component."""
    article = "an" if component.kind[0] in "aeiou" else "a"
    yield line(Span(component.name, "heading"), f", {article} {component.kind} of {component.distribution}")
    for paragraph in filter(None, (*component.description.split("\n\n"), component.source)):
        yield line()
        yield line(paragraph, indent=0)
    for param in component.params:
        yield line()
        need = "required" if param.default is ... else "optional" if param.default is None else ""
        value = "" if need else f"={_value(param.default)}"
        facts = [_type(param), _range(param), need, _stage(param), _only(param)]
        yield line(f"  {param.name}{value} ({'; '.join(filter(None, facts))})", indent=6)
        if param.help:
            yield line(f"      {param.help}", indent=6)


def _only(param: Param) -> str:
    """Return the values of another parameter for which this one has an effect; "" if it always has an effect."""
    if param.only is None:
        return ""
    other, values = param.only
    return f"only with {other}={' or '.join(map(_value, values))}" if None not in values else f"only without {other}"


def _stage(param: Param) -> str:
    """Return the work after a change of this parameter of a fitted model, such as a new fit; "" if there is none."""
    return {"fit": "changes the fit", "encode": "changes the rows of documents"}.get(param.stage, "")


def _type(param: Param) -> str:
    if param.type is object and param.range:
        return "number or list"
    return TYPES.get(param.type, param.type.__name__.lower())


def _as_json(component: Described) -> dict[str, Any]:
    params = [
        {
            "name": param.name,
            "type": _type(param),
            "required": param.default is ...,
            "default": None if param.default is ... else param.default,
            "range": list(param.range) if param.range else None,
            "open": param.open,
            "stage": param.stage,
            "help": param.help,
        }
        for param in component.params
    ]
    return component._asdict() | {"params": params}
