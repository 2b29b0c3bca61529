"""Filters that a user writes in Python without a plugin: functions from a document to true or false, and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sublex.errors import InputError
from sublex.language.python_parts import SharedPart, make_part


class PythonFilter(SharedPart):
    """A Python function `f(document)` that says which documents to keep. `sublex.keep` documents it.

    `thing` is the function. It may also be an object with the method `keep` of `sublex.contracts.base.Filter`. One thread at
    a time calls it.
    """

    word = "keep"


def keep(function: Callable[..., Any], name: str | None = None, version: object = None) -> PythonFilter:
    """Return a filter as a part of an expression. `sublex.keep` documents the parameters."""
    if not callable(function) and not is_filter(function):
        raise InputError(f"sublex.keep takes a function f(document), not a value of type {type(function).__name__}.")
    return make_part(PythonFilter, "filter", function, name, version)


def is_filter(thing: object) -> bool:
    """Return whether an object has the method of filters."""
    return callable(getattr(thing, "keep", None)) and not isinstance(thing, type)
