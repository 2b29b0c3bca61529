"""Load lists of stop words: Lucene's English list, an empty list, or a file of the user."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from sublex.errors import IndexCorrupt, InputError
from sublex.tools.plain_files import open_plain

# The 33 words of Lucene's EnglishAnalyzer.
LUCENE = """a an and are as at be but by for if in into is it no not of on or such that the their then there these they
this to was will with"""
NAMES = ("none", "lucene")
# The largest number of bytes of a user's file of stop words.
MOST_BYTES = 1 << 24
_FILES_ALLOWED: ContextVar[bool] = ContextVar("files of stop words", default=True)
_CHOICES = f"use {' or '.join(NAMES)}, or name a file with one word a line"


class StopWords(NamedTuple):
    """A set of lower-case words, and the name of the set."""

    name: str
    words: frozenset[str]


@contextmanager
def without_files() -> Iterator[None]:
    """Refuse to read lists from files within this block.

    An index stores the words of a user's list, and not the path of the file. So a path in an index comes from an attacker,
    and may lead to any file.
    """
    token = _FILES_ALLOWED.set(False)
    try:
        yield
    finally:
        _FILES_ALLOWED.reset(token)


def load(choice: Any) -> StopWords:
    """Return the list with this name, or read it from a file with one word a line.

    `choice` may also be a mapping with `name` and `words`: an index stores the words of a user's file in this form.
    """
    if choice == "none":
        return StopWords("none", frozenset())
    if choice == "lucene":
        return StopWords("lucene", frozenset(LUCENE.split()))
    if isinstance(choice, Mapping):
        return StopWords(choice["name"], frozenset(choice["words"]))
    if not isinstance(choice, str):
        raise InputError(f"stop={choice} is not a list of stop words; {_CHOICES}.")
    if not _FILES_ALLOWED.get():
        raise IndexCorrupt("The analyzer of the index names a file outside the index; rebuild the index.")
    try:
        with open_plain(choice) as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise InputError(f"The stop list {choice} has more than {MOST_BYTES:,} bytes; {_CHOICES}.")
        words = (line.partition("#")[0].strip().lower() for line in text.decode("utf-8-sig").splitlines())
        return StopWords(os.path.basename(choice), frozenset(filter(None, words)))
    except UnicodeDecodeError:
        reason: str | None = "it is not UTF-8"
    except OSError as error:
        reason = error.strerror
    except ValueError:
        reason = "no file can have that name"
    raise InputError(f"No stop list {choice} ({reason}); {_CHOICES}.")
