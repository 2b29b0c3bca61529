"""The kinds of files, and the sentence for a file of one kind that is given for another, as when two arguments are swapped."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from sublex.errors import InputError
from sublex.readers.source import FileSource

P = ParamSpec("P")
T = TypeVar("T")

RUN, QRELS, TOPICS, COLLECTION = "run", "qrels", "topics", "collection"
KINDS = (COLLECTION, TOPICS, QRELS, RUN)
# What a message calls them.
_CALLED = {RUN: "a run", QRELS: "judgements", TOPICS: "topics"}


def reads(kind: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return the decorator of a function that reads files of a kind and raises `InputError` for others.

    The path is the first argument of the function. If the file is of another kind, the error says so.
    """

    def decorated(read: Callable[P, T]) -> Callable[P, T]:
        @wraps(read)
        def read_or_say(*args: P.args, **options: P.kwargs) -> T:
            try:
                return read(*args, **options)
            except InputError as error:
                path = os.fspath((args or tuple(options.values()))[0])  # type: ignore[call-overload]
                other = _CALLED.get(_kind_of(path))
                if other is None or other == _CALLED[kind]:
                    raise
                said = f"{path} looks like {other}, and not like {_CALLED[kind]}; are two files swapped?"
                raise InputError(f"{said} {error}") from None

        return read_or_say

    return decorated


def _kind_of(path: str) -> str:
    """Return the kind of a file; "" for a file that cannot be read, and for anything but a file."""
    from sublex.trec.detect import detect_kind

    try:
        return detect_kind(FileSource(path)) if os.path.isfile(path) else ""
    except InputError:
        return ""
