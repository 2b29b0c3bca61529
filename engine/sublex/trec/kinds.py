"""The kinds of files, and the error message for a file of the wrong kind, as when two arguments are swapped."""

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
# The names of the kinds in messages.
_CALLED = {RUN: "a run", QRELS: "judgements", TOPICS: "topics"}


def reads(kind: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator for a function that reads files of a kind. Its first argument is the path.

    If the function raises `InputError` and the file is of another kind, the message of the error says so.
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
    """Return the kind of a file; "" if the path is not a file or cannot be read."""
    from sublex.trec.detect import detect_kind

    try:
        return detect_kind(FileSource(path)) if os.path.isfile(path) else ""
    except InputError:
        return ""
