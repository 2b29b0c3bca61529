"""Check the arguments of the public functions, so that a mistake ends in one sentence and not in a traceback."""

from __future__ import annotations

import numbers
import operator
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sublex.errors import InputError

# The largest number of characters of a value that a message shows.
SHOWN = 60


def shown(value: Any) -> str:
    """Return a value and its type for a message, such as "None" or "3 (int)"."""
    if value is None:
        return "None"
    try:
        printed = " ".join(repr(value).split())
    except Exception:
        return f"an object of type {type(value).__name__}"
    printed = printed if len(printed) <= SHOWN else f"{printed[: SHOWN - 1]}…"
    return f"{printed} ({type(value).__name__})"


def text(value: Any, name: str) -> str:
    """Return a text; raise InputError for a value that is not a text.

    `name` names the argument at the start of the message.
    """
    if isinstance(value, str):
        return str(value)
    raise InputError(f"{name} is {shown(value)}; give a text.")


def optional_text(value: Any, name: str) -> str | None:
    """Return a text or None; raise InputError for another value."""
    return None if value is None else text(value, name)


def choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return a text that is one of some choices; raise InputError for another value."""
    if value in choices:
        return str(value)
    raise InputError(f"{name} is {shown(value)}; give {' or '.join(choices)}.")


def whole(value: Any, name: str, least: int = 1) -> int:
    """Return a whole number of at least `least`; raise InputError for another value."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(f"{name} is {shown(value)}; give a whole number, at least {least}.")
    if number < least:
        raise InputError(f"{name}={number} should be at least {least}.")
    return number


def number(value: Any, name: str) -> float:
    """Return a number; raise InputError for a value that is not a number."""
    if isinstance(value, numbers.Real):
        with suppress(OverflowError):
            return float(value)
    raise InputError(f"{name} is {shown(value)}; give a number.")


def threads(workers: Any) -> int:
    """Return the number of threads: `workers`, or one per core if it is None. Raise InputError for another value."""
    return os.cpu_count() or 1 if workers in (None, 0) else whole(workers, "workers")


def file_path(value: Any, name: str) -> str:
    """Return a path as text; raise InputError for a value that is not a path, or for an empty path."""
    if isinstance(value, (str, os.PathLike)) and os.fspath(value):
        path = os.fsdecode(value)
        with suppress(UnicodeEncodeError):
            if b"\0" not in os.fsencode(path):
                return path
        raise InputError(f"{name} is {shown(value)}, which has a character that no path has; give another.")
    raise InputError(f"{name} is {shown(value)}; give a path.")
