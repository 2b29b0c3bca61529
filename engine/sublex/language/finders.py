"""Functions that find: Python functions from a query to documents with scores."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sublex.errors import InputError
from sublex.language.python_parts import PythonPart, check_called, make_part


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Finder(PythonPart):
    """A Python function `f(query)` that finds documents and scores them. `sublex.finder` documents it.

    One thread at a time calls the function. `known_in` has the paths of two kinds of indexes: those in which the function
    has found a document, and those for which a warning has said that it found none.
    """

    word = "finder"
    cache: Path | None = None
    known_in: set[str] = field(default_factory=set, repr=False)


def finder(
    function: Callable[[str], Any],
    name: str | None = None,
    version: object = None,
    cache: str | os.PathLike[str] | None = None,
) -> Finder:
    """Return a function that finds documents as a part of an expression. `sublex.finder` documents the parameters."""
    if not callable(function):
        raise InputError(f"sublex.finder takes a function f(query), not a value of type {type(function).__name__}.")
    check_called("finder", function, "query")
    part = make_part(Finder, "finder", function, name, version, cache=None if cache is None else Path(cache))
    part.refuse_cache(cache)
    return part
