"""Read the arguments of a shell command: words, in quotes where they hold blanks, and ranks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from sublex.errors import InputError

if TYPE_CHECKING:
    from sublex.shell.registry import Command


def words_of(text: str) -> list[str]:
    """Return the words of a text; quotes keep blanks together. Raise InputError for a quote that is not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        raise InputError(f"A quote in {text} is not closed.") from None


def unquoted(text: str) -> str:
    """Return an expression without the quotes around it, which the command line needs and the shell does not."""
    inside = text[1:-1]
    return inside if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in inside else text


def exactly(text: str, number: int, usage: str) -> list[str]:
    """Return the words of a text if there are so many; otherwise raise InputError with the usage of the command."""
    words = words_of(text)
    if len(words) != number:
        raise InputError(f"Write {usage}.")
    return words


def needed(text: str, usage: str) -> str:
    """Return a text that must not be empty; otherwise raise InputError with the usage of the command."""
    if not text:
        raise InputError(f"Write {usage}.")
    return text


def whole(word: str, usage: str) -> int:
    """Return a whole number from 0; otherwise raise InputError with the usage of the command."""
    if not word.lstrip("-").isdecimal():
        raise InputError(f"{word} is not a whole number; write {usage}.")
    return int(word)


def usage_of(command: Command) -> str:
    """Return how a command is typed."""
    return f":{command.name} {command.usage}".rstrip()
