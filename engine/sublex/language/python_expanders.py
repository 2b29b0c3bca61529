"""Expanders that a user writes in Python without a plugin: functions from a query to a weighted query, and objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sublex.errors import InputError
from sublex.language.python_parts import PythonPart, check_called, make_part
from sublex.tools.arguments import whole


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PythonExpander(PythonPart):
    """A Python function `f(query, context)` that makes a new query. `sublex.expander` documents it.

    `thing` is the function, or an object with the method `expand` of `sublex.contracts.base.Expander`. `docs` is the number
    of documents that it learns from. One thread at a time calls the function.
    """

    word = "expander"
    docs: int = 0


def expander(
    function: Callable[..., Any], docs: int = 0, name: str | None = None, version: object = None
) -> PythonExpander:
    """Return an expander as a part of an expression. `sublex.expander` documents the parameters."""
    if is_expander(function):
        docs = docs or function.docs  # type: ignore[attr-defined]
    elif not callable(function):
        raise InputError(
            f"sublex.expander takes a function f(query, context), not a value of type {type(function).__name__}."
        )
    else:
        check_called("expander", function, "query", "context")
    return make_part(PythonExpander, "expander", function, name, version, docs=whole(docs, "docs", 0))


def is_expander(thing: object) -> bool:
    """Return whether an object has the method `expand`, as expanders do."""
    return callable(getattr(thing, "expand", None)) and hasattr(thing, "docs") and not isinstance(thing, type)
