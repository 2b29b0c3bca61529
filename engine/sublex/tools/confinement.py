"""Limits on requests to a server: a request cannot read a file that it names, and cannot change an index.

A face that answers strangers runs each request in `confined`. Before the engine turns a name into a file, or takes the lock
of an index, it asks this module. So the limits hold for operations of plugins too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from sublex.tools.messages import near_names


class Confinement(NamedTuple):
    """The resources that expressions may name, and whether the index may be changed."""

    resources: Collection[str] = ()
    may_change: bool = False


_now: ContextVar[Confinement | None] = ContextVar("confinement", default=None)


@contextmanager
def confined(by: Confinement | None) -> Iterator[None]:
    """Run a block in which expressions may name no files except `by.resources`. With None, the block has no limits."""
    token = _now.set(by)
    try:
        yield
    finally:
        _now.reset(token)


def refused_folder(written: str) -> str:
    """Return why a call that names a folder is refused; "" if it is not. `written` is the call as the user wrote it."""
    return "" if _now.get() is None else f"{written} names a folder, and a request cannot name one."


def refused_path(written: str) -> str:
    """Return why a call that names a file by its path alone is refused; "" if it is not."""
    return "" if _now.get() is None else f"{written} names a file, and a request cannot name one."


def refused_file(written: str, name: str) -> str:
    """Return why a call that names a file or resource `name` is refused; "" if it is not."""
    by = _now.get()
    if by is None or name in by.resources:
        return ""
    known = f"it has {near_names(name, sorted(by.resources))}" if by.resources else "it has none"
    return f"{written} names what is no resource of the index, and a request cannot name files; {known}."


def may_change() -> bool:
    """Return whether an index may be changed."""
    by = _now.get()
    return by is None or by.may_change
