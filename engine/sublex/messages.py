"""Pieces of messages: the nearest known name, a command to type, a number with its noun, an error on one line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

# Characters of an exception's message that are shown; a plugin's exception may have a very long one.
LONGEST = 300
# How like a known name is to another that it is suggested: 2 times the matching characters, over all characters.
LEAST_LIKENESS = 0.6


def nearest(name: str, names: Iterable[str]) -> str:
    """Return "did you mean …? " with the known name most like `name`, or an empty string if none is like it.

    Of several names that are equally like it, the first is returned.
    """
    from difflib import SequenceMatcher

    def likeness(known: str) -> float:
        return SequenceMatcher(None, known.lower(), name.lower()).ratio()

    best = max(names, key=likeness, default="")
    return f"did you mean {best}? " if best and likeness(best) >= LEAST_LIKENESS else ""


def unknown(what: str, name: str, names: Iterable[str]) -> str:
    """Return the sentence for an unknown name: what was looked for, the nearest known name, and all known names."""
    known = list(names)
    hint = nearest(name, known)
    return f"No {what} {name or repr(name)}; {hint}{'T' if hint else 't'}here are: {', '.join(known)}."


def command(*words: object) -> str:
    """Return a Sublex command as a user types it, quoted for the shell.

    A path without a slash is written with ./ in front, because Sublex takes a bare word for the name of an index.
    """
    return shlex.join(["sublex", *map(_argument, words)])


def _argument(word: object) -> str:
    is_bare_path = isinstance(word, os.PathLike) and os.sep not in str(word)
    return f"./{word}" if is_bare_path else str(word)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 topic" or "2 topics"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def in_short(error: BaseException) -> str:
    """Return the type and the message of an exception on one line, cut after 300 characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
