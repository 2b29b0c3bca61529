"""Pieces of messages: the nearest known name, a command to type, a number with its noun, an error on one line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

# Characters shown of what a plugin says when it fails.
LONGEST = 300


def nearest(name: str, names: Iterable[str]) -> str:
    """A question for the middle of a message: did you mean this one?"""
    import difflib

    known = {other.lower(): other for other in names}
    near = [known[other] for other in difflib.get_close_matches(name.lower(), known, 1)]
    return f"did you mean {near[0]}? " if near else ""


def unknown(what: str, name: str, names: Iterable[str]) -> str:
    """A name that is none of the known ones, and what there is."""
    known = list(names)
    hint = nearest(name, known)
    return f"No {what} {name or repr(name)}; {hint}{'T' if hint else 't'}here are: {', '.join(known)}."


def command(*words: object) -> str:
    """A command of Sublex as it is typed; a path of one word gets ./ before it, or it would be taken for a bare name."""
    bare = [isinstance(word, os.PathLike) and os.sep not in str(word) for word in words]
    return shlex.join(
        ["sublex", *(f"./{word}" if alone else str(word) for word, alone in zip(words, bare, strict=True))]
    )


def counted(number: int, what: str) -> str:
    """A number with its noun: 1 topic, 2 topics."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def in_short(error: BaseException) -> str:
    """An error of any kind on one line."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
