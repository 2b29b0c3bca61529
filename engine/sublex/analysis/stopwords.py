"""Lists of stop words: Lucene's English one, none, or the user's file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from sublex.errors import InputError

# The 33 words of Lucene's EnglishAnalyzer.
LUCENE = """a an and are as at be but by for if in into is it no not of on or such that the their then there these they
this to was will with"""
NAMES = ("none", "lucene")
_CHOICES = f"there are {', '.join(NAMES)}, or name a file with one word a line"


class StopWords(NamedTuple):
    """A named set of words, lower-cased."""

    name: str
    words: frozenset[str]


def load(choice: Any) -> StopWords:
    """A list by its name, from a file with one word a line, or from an index's stored settings."""
    if choice == "none":
        return StopWords("none", frozenset())
    if choice == "lucene":
        return StopWords("lucene", frozenset(LUCENE.split()))
    if isinstance(choice, Mapping):
        return StopWords(choice["name"], frozenset(choice["words"]))
    if not isinstance(choice, str):
        raise InputError(f"stop={choice} is not a list; {_CHOICES}.")
    try:
        with open(choice, encoding="utf-8-sig") as file:
            words = (line.partition("#")[0].strip().lower() for line in file)
            return StopWords(os.path.basename(choice), frozenset(filter(None, words)))
    except UnicodeDecodeError:
        reason: str | None = "it is not UTF-8"
    except OSError as error:
        reason = error.strerror
    except ValueError:
        reason = "no file can have that name"
    raise InputError(f"No stop list {choice} ({reason}); {_CHOICES}.")
