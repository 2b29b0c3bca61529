"""Complete command lines in a shell: names of indexes, of components and of their parameters, and files.

Click calls these functions for each TAB. They import no compiler. An error gives no completions and no message.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from sublex.faces.continuations import begins, continuations_of
from sublex.tools.messages import shell_word

if TYPE_CHECKING:
    from sublex.index.entries import Manifest

# The shell sets this variable when it asks for completions.
VARIABLE = "_SUBLEX_COMPLETE"
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def is_completing() -> bool:
    """Return whether this process was started by a shell to complete a command line."""
    return os.environ.get(VARIABLE, "").endswith("_complete")


def complete_quietly(cli: click.Command) -> int:
    """Print the completions that the shell asks for, and return the exit code. If anything fails, print nothing."""
    with open(os.devnull, "w") as null, contextlib.redirect_stderr(null), contextlib.suppress(Exception, SystemExit):
        cli(prog_name="sublex", standalone_mode=False)
    return 0


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return an item that tells the shell to complete the name of a file by itself."""
    return [CompletionItem(incomplete, type="file")]


def indexes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an index, in any case, or the path of a folder."""
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
    """Complete the last word of an expression: a component, a name, a fitted model, a parameter or its value."""
    from sublex.language import plugins
    from sublex.language.names import built_in

    manifest = _manifest(context)
    word, continuations = continuations_of(incomplete, plugins.load(), manifest.columns if manifest else {})
    before = incomplete[: len(incomplete) - len(word)]
    found = [(text, help) for text, help in continuations if begins(text, word)]
    if "raw" in dict(continuations):
        # Besides components, offer names of expressions, those of the index and the built-in ones, and fitted models.
        there = built_in(manifest.names if manifest else {})
        found += [(text, help) for text, help in {**there, **_known(context)}.items() if begins(text, word)]
    return [CompletionItem(_as_typed(before + text), help=help) for text, help in found]


def models(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a name or a fitted model of the index on the command line, or any other expression."""
    found = [(text, help) for text, help in _known(context).items() if begins(text, incomplete)]
    if not found:
        return expressions(context, parameter, incomplete)
    return [CompletionItem(_as_typed(text), help=help) for text, help in found]


def columns(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a column of the index that the command line names."""
    manifest = _manifest(context)
    names = manifest.columns if manifest else {}
    return [CompletionItem(name, help=kind) for name, kind in names.items() if begins(name, incomplete)]


def columns_and_models(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a column or a fitted model of the index that the command line names."""
    return columns(context, parameter, incomplete) or models(context, parameter, incomplete)


def given_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a name that the index gives to an expression."""
    manifest = _manifest(context)
    names = manifest.names if manifest else {}
    return [CompletionItem(name, help=text) for name, text in names.items() if begins(name, incomplete)]


def _manifest(context: click.Context) -> Manifest | None:
    """Return the manifest of the index that the command line names; None without an index that can be read."""
    from sublex.errors import SublexError
    from sublex.index.lookup import existing_path
    from sublex.index.manifest import read_manifest

    # If the value of an option is still being typed, click leaves all words in `args`.
    words = [context.params.get("index_name"), *(context.params.get("files") or ()), *context.args]
    try:
        return read_manifest(existing_path(next((word for word in words if word), "")))
    except SublexError:
        return None


def _known(context: click.Context) -> dict[str, str]:
    """Return the names and the fitted models of the index; an empty dictionary if no index can be read."""
    from sublex.representations.stored_models import expressions_of

    manifest = _manifest(context)
    if manifest is None:
        return {}
    fitted = [text for entry in manifest.fitted.values() for text in expressions_of(entry)]
    known = {**manifest.names, **dict.fromkeys(fitted, "fitted")}
    # A shell may run commands that a hostile index puts between quotes.
    return {text: help for text, help in known.items() if not _RISKY.search(text)}


# Characters that have a meaning for a shell within quotes, or that end the quotes.
_RISKY = re.compile(r"[\"'`$\\!\x00-\x1f]")


def _as_typed(text: str) -> str:
    """Return a text in the form for the shell, in quotes if necessary, as in a printed command.

    bash inserts a completion without changes, so the text needs quotes, unless the user has typed the first quote.
    Other shells add quotes themselves.
    """
    begun = re.search(r"""(?:^|\s)["'][^"']*\Z""", os.environ.get("COMP_WORDS", ""))
    whole = text.count("(") == text.count(")")
    return shell_word(text) if os.environ.get(VARIABLE, "").startswith("bash") and not begun and whole else text


# The functions that complete parameters, by the name that a parameter declares.
COMPLETIONS: dict[str, Complete] = {
    "index": indexes, "file": files, "index or file": index_or_file, "profile": profiles,
    "expression": expressions, "model": models, "column": columns, "column or model": columns_and_models,
    "name": given_names, "fittable": expressions, "expander": expressions,
    "component": named("component", "analyzer", "reader"), "analyzer": named("analyzer"), "reader": named("reader"),
    "backend": named("backend"), "representation": named("representation"),
}  # fmt: skip
