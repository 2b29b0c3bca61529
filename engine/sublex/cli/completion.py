"""Complete command lines in a shell: names of indexes, of components and of their parameters, and files.

Click asks these functions for each TAB. They import no compiler, and whatever goes wrong gives no completions and no message.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from sublex.faces.continuations import begins, continuations_of

# Set by the shell that asks for completions.
VARIABLE = "_SUBLEX_COMPLETE"
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


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

    names = [path.name for path in known_indexes() if begins(path.name, incomplete)]
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
        return [CompletionItem(name) for name in names if begins(name, incomplete)]

    return complete


def profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a profile."""
    from sublex.language.profiles import PROFILES

    return [CompletionItem(name) for name in PROFILES if begins(name, incomplete)]


def expressions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last word of an expression: a component, or within parentheses a parameter or its value."""
    from sublex.language import plugins

    word, continuations = continuations_of(incomplete, plugins.load())
    before = incomplete[: len(incomplete) - len(word)]
    return [CompletionItem(before + text, help=help) for text, help in continuations if begins(text, word)]


# What completes a parameter, by what the parameter declares. The fitted models of an index are not looked up for a TAB.
COMPLETIONS: dict[str, Complete] = {
    "index": indexes, "file": files, "index or file": index_or_file, "profile": profiles,
    "expression": expressions, "model": expressions, "fittable": expressions, "expander": expressions,
    "component": named("component", "analyzer", "reader"), "analyzer": named("analyzer"), "reader": named("reader"),
    "backend": named("backend"), "representation": named("representation"),
}  # fmt: skip
