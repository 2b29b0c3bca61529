"""The command that describes what expressions are made of: components."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from sublex.cli import completion
from sublex.cli.options import examples, format_option
from sublex.cli.output import print_json, wrapped
from sublex.errors import UnknownName
from sublex.messages import nearest, one_line

if TYPE_CHECKING:
    from sublex.base import Param
    from sublex.plugins import Registry

# The kinds in the order in which they are listed. Analyzers and readers are found by name only, because there are so many.
KINDS = ("ranker", "expander", "representation", "filter", "normaliser")
BY_NAME = (*KINDS, "analyzer", "reader")
TYPES = {
    float: "number", int: "whole number", bool: "true or false", str: "word", tuple: "list", object: "any value",
}  # fmt: skip
# Columns before a description in the list.
INDENT = 20
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


class Described(NamedTuple):
    """A component as the command shows it; `source` is the paragraph of its description that cites the literature."""

    name: str
    kind: str
    plugin: str
    distribution: str
    description: str
    source: str
    params: Sequence[Param]


@click.command(epilog=examples("sublex components", "sublex components BM25", "sublex components --format json"))
@click.argument("name", required=False, shell_complete=completion.named("component", "analyzer", "reader"))
@format_option("table", "json")
def components(name: str | None, form: str) -> None:
    """List what expressions are made of, or describe one component.

    These are the rankers, expanders, representations, filters and normalisers. The list has the parameters of each with
    their defaults and ranges, and the literature. NAME may also be an analyzer or a reader.
    """
    from sublex import plugins

    registry = plugins.load()
    if name is None:
        listed = list(_described(registry, KINDS))
        if form == "json":
            print_json([_as_json(component) for component in listed])
        else:
            _print_list(listed, registry)
        return
    found = _find(name, registry)
    if form == "json":
        print_json([_as_json(component) for component in found])
        return
    for place, component in enumerate(found):
        click.echo("\n" * (place > 0), nl=False)
        _print(component)


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
    from sublex import __version__
    from sublex.scores import NORMALISERS

    for name, function in NORMALISERS.items():
        description = "\n\n".join(_paragraphs(function))
        yield Described(name, "normaliser", "", f"sublex {__version__}", description, "", ())


def _paragraphs(thing: object) -> list[str]:
    """Return the paragraphs of the docstring of a class, a function or a module, each on one line."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in (inspect.getdoc(thing) or "").split("\n\n")]
    # The docstring of a class names it; that of a function says what it returns.
    return [re.sub(r"^Return (.)", lambda match: match[1].upper(), each) for each in paragraphs if each]


def _source_of_module(factory: Callable[..., Any]) -> str:
    """Return the paragraph of a module's docstring that cites the literature; empty for functions, which share modules."""
    if not inspect.isclass(factory):
        return ""
    module = sys.modules.get(factory.__module__)
    return next(filter(_YEAR.search, _paragraphs(module)), "") if module else ""


def _find(name: str, registry: Registry) -> list[Described]:
    """Return the components of this name, whatever its case and kind. Raise UnknownName, with the most similar one."""
    plugin, _, short = name.casefold().rpartition(":")
    everything = list(_described(registry, BY_NAME))
    found = [each for each in everything if each.name.casefold() == short and plugin in ("", each.plugin.casefold())]
    if found:
        return found
    hint = nearest(name, [each.name for each in everything])
    raise UnknownName(
        f"No component {name or repr(name)}; {hint}{'T' if hint else 't'}o list all components: sublex components"
    )


def _print_list(listed: Sequence[Described], registry: Registry) -> None:
    kind = ""
    for component in listed:
        if component.kind != kind:
            click.echo("\n" * bool(kind) + click.style(f"{component.kind.capitalize()}s", bold=True))
            kind = component.kind
        first = component.description.split("\n\n")[0]
        _print_line(f"  {component.name:<{INDENT - 4}}  {first}")
        for line in (", ".join(map(_signature, component.params)), component.source):
            if line:
                _print_line(f"{'':<{INDENT}}{line}")
    click.echo()
    for kind in ("analyzer", "reader"):
        _print_line(f"{kind.capitalize()}s: {', '.join(registry.names(kind))}", 2)
    click.echo("sublex components NAME describes one.")


def _print_line(text: str, indent: int = INDENT) -> None:
    click.echo(wrapped(one_line(text), indent))


def _signature(param: Param) -> str:
    """Return a parameter with its default and its range, as in `b=0.75 (0 to 1)`."""
    shown = param.name if param.default is ... or param.default is None else f"{param.name}={_value(param.default)}"
    return f"{shown} ({allowed})" if (allowed := _range(param)) else shown


def _value(value: Any) -> str:
    from sublex.expression import print_value

    return print_value(value)


def _range(param: Param) -> str:
    """Return the values that a parameter takes; empty if it takes all of its type."""
    if not param.range:
        return ""
    if not all(isinstance(end, (int, float)) for end in param.range):
        return ", ".join(map(str, param.range))
    low, high = param.range
    if high == math.inf:
        return f"above {low:g}" if param.open else f"at least {low:g}"
    return f"{low:,} to {high:,}{', both excluded' if param.open else ''}"


def _print(component: Described) -> None:
    """Print all about one component."""
    article = "an" if component.kind[0] in "aeiou" else "a"
    click.echo(
        f"{click.style(one_line(component.name), bold=True)}, {article} {component.kind} of {component.distribution}"
    )
    for paragraph in filter(None, (*component.description.split("\n\n"), component.source)):
        click.echo()
        _print_line(paragraph, 0)
    for param in component.params:
        click.echo()
        need = "required" if param.default is ... else "optional" if param.default is None else ""
        value = "" if need else f"={_value(param.default)}"
        facts = [_type(param), _range(param), need, _stage(param)]
        _print_line(f"  {param.name}{value} ({'; '.join(filter(None, facts))})", 6)
        if param.help:
            _print_line(f"      {param.help}", 6)


def _stage(param: Param) -> str:
    """Return what a change of a parameter of a fitted model costs; empty if it costs nothing."""
    return {"fit": "changes the fit", "encode": "changes the rows of documents"}.get(param.stage, "")


def _type(param: Param) -> str:
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
