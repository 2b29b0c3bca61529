"""Complete command lines in a shell: names of indexes, of components and of their parameters, and files.

Click asks these functions for each TAB. They import no compiler, and whatever goes wrong gives no completions and no message.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from sublex.errors import UnknownName

if TYPE_CHECKING:
    from sublex.contracts.base import Param
    from sublex.language.plugins import Registry

# Set by the shell that asks for completions.
VARIABLE = "_SUBLEX_COMPLETE"
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_NAME_AT_END = re.compile(r"[\w.:/-]*\Z")
_CALL_AT_END = re.compile(r"([^\W\d][\w.:/-]*)\s*\Z")


def is_completing() -> bool:
    """Return whether this process was started by a shell to complete a command line."""
    return os.environ.get(VARIABLE, "").endswith("_complete")


def complete_quietly(cli: click.Command) -> int:
    """Print the completions that the shell asks for, and nothing else, whatever fails; return the exit code."""
    with open(os.devnull, "w") as null, contextlib.redirect_stderr(null), contextlib.suppress(Exception, SystemExit):
        cli(prog_name="sublex", standalone_mode=False)
    return 0


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return an item that tells the shell to complete the name of a file by itself."""
    return [CompletionItem(incomplete, type="file")]


def indexes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an index, whatever its case, or the path of a folder."""
    from sublex.index.lookup import known_indexes

    names = [path.name for path in known_indexes() if _begins(path.name, incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="dir")]


def index_or_file(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the first of several arguments as an index or a file, and the others as files."""
    if not context.params.get(parameter.name or ""):
        found = [item for item in indexes(context, parameter, incomplete) if item.type == "plain"]
        if found:
            return found
    return files(context, parameter, incomplete)


def named(*kinds: str) -> Complete:
    """Return a function that completes the names of components of these kinds."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from sublex.language import plugins

        registry = plugins.load()
        names = [name for kind in kinds for name in registry.names(kind)]
        return [CompletionItem(name) for name in names if _begins(name, incomplete)]

    return complete


def profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a profile."""
    from sublex.language.profiles import PROFILES

    return [CompletionItem(name) for name in PROFILES if _begins(name, incomplete)]


def expressions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last word of an expression: a component, or within parentheses a parameter or its value."""
    from sublex.language import plugins

    word, continuations = continuations_of(incomplete, plugins.load())
    before = incomplete[: len(incomplete) - len(word)]
    return [CompletionItem(before + text, help=help) for text, help in continuations if _begins(text, word)]


def continuations_of(text: str, registry: Registry) -> tuple[str, list[tuple[str, str]]]:
    """Return the name at the end of an expression, and the texts that may stand in its place, each with its help."""
    word = _NAME_AT_END.search(text)[0]  # type: ignore[index]
    return word, list(_continuations(text[: len(text) - len(word)], word, registry))


def _continuations(before: str, word: str, registry: Registry) -> Iterator[tuple[str, str]]:
    """Yield the texts that may stand after `before` in an expression, each with its help."""
    from sublex.language.expression import NORMALISERS, Expression

    params, mark = _params_at(before, registry), before.rstrip()[-1:]
    if params and mark in ("(", ","):
        yield from _parameters([param for param in params if _begins(param.name, word)])
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
    """Yield `name=` for each parameter. A single one comes with its default, too, so that the shell adds no space after =."""
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


def _begins(name: str, incomplete: Any) -> bool:
    return name.casefold().startswith(str(incomplete).casefold())
