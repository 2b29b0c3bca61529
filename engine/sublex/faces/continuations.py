"""Complete the end of an expression that a user types, by components, parameters, values and columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sublex.errors import UnknownName

if TYPE_CHECKING:
    from sublex.contracts.base import Param
    from sublex.language.plugins import Registry

_NAME_AT_END = re.compile(r"[\w.:/-]*\Z")
_CALL_AT_END = re.compile(r"([^\W\d][\w.:/-]*)\s*\Z")
# Three patterns: the begin of a condition of the filter `where` whose quotation mark is still open, a place for a
# column in the condition, and the begin of the column of `sort`.
_CONDITION = re.compile(r"""\bwhere\(\s*(?:condition\s*=\s*)?(?:"([^"]*)|'([^']*))\Z""", re.IGNORECASE)
_COLUMN_NEXT = re.compile(r"(?:\A|(?<!in)(?<!in )\(|\b(?:and|or|not))\s*\Z", re.IGNORECASE)
_SORT = re.compile(r"""\bsort\(\s*(?:column\s*=\s*)?["']?\Z""", re.IGNORECASE)


def continuations_of(text: str, registry: Registry, columns: Mapping[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """Return the word at the end of an expression, and the texts that may replace it, each with its help.

    `columns` has the columns of the index, for `where` and `sort`, with their types.
    """
    word = _NAME_AT_END.search(text)[0]  # type: ignore[index]
    before = text[: len(text) - len(word)]
    named = [(name, f"column ({kind})") for name, kind in columns.items() if begins(name, word)]
    if condition := _CONDITION.search(before):
        return word, named if _COLUMN_NEXT.search(condition[1] or condition[2] or "") else []
    return word, (named if _SORT.search(before) else []) + list(_continuations(before, word, registry))


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
    """Return the parameters of the component whose parentheses are still open at the end of a text, if any."""
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

    If there is only one parameter, it is also yielded with its default; a single choice would make the shell add a
    space.
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
