"""Complete the end of an expression that is being typed, by components, parameters and their values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sublex.errors import UnknownName

if TYPE_CHECKING:
    from sublex.contracts.base import Param
    from sublex.language.plugins import Registry

_NAME_AT_END = re.compile(r"[\w.:/-]*\Z")
_CALL_AT_END = re.compile(r"([^\W\d][\w.:/-]*)\s*\Z")


def continuations_of(text: str, registry: Registry) -> tuple[str, list[tuple[str, str]]]:
    """Return the word at the end of an expression, and the texts that may replace it, each with its help."""
    word = _NAME_AT_END.search(text)[0]  # type: ignore[index]
    return word, list(_continuations(text[: len(text) - len(word)], word, registry))


def _continuations(before: str, word: str, registry: Registry) -> Iterator[tuple[str, str]]:
    """Yield the texts that may stand after `before` in an expression, each with its help."""
    from sublex.language.expression import NORMALISERS, Expression

    params, mark = _params_at(before, registry), before.rstrip()[-1:]
    if params and mark in ("(", ","):
        yield from _parameters([param for param in params if begins(param.name, word)])
        return
    if params and mark == "=":
        name = _CALL_AT_END.search(before.rstrip()[:-1])
        param = next((param for param in params if name and param.name == name[1]), None)
        if param and param.type is not Expression:
            yield from ((value, "") for value in _choices(param))
            return
    yield from ((name, "") for name in [*registry.names("component"), *NORMALISERS])


def _params_at(before: str, registry: Registry) -> Sequence[Param]:
    """Return the parameters of the component in whose parentheses a text ends; none outside of parentheses."""
    opened: list[str] = []
    for place, character in enumerate(before):
        if character == "(":
            name = _CALL_AT_END.search(before[:place])
            opened.append(name[1] if name else "")
        elif character == ")" and opened:
            opened.pop()
    if not opened or not opened[-1]:
        return ()
    try:
        return registry.find("component", opened[-1]).params
    except UnknownName:
        return ()


def _parameters(params: Sequence[Param]) -> Iterator[tuple[str, str]]:
    """Yield `name=` for each parameter.

    A single parameter is also yielded with its default, or the shell would add a space.
    """
    from sublex.language.expression import print_value

    for param in params:
        yield f"{param.name}=", param.help
    if len(params) == 1 and params[0].default is not ... and params[0].default is not None:
        yield f"{params[0].name}={print_value(params[0].default)}", params[0].help


def _choices(param: Param) -> list[str]:
    """Return the values that a parameter can take, if they can be listed."""
    if param.type is bool:
        return ["true", "false"]
    return [end for end in param.range or () if isinstance(end, str)]


def begins(name: str, incomplete: Any) -> bool:
    return name.casefold().startswith(str(incomplete).casefold())
