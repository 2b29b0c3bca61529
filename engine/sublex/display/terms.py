"""Show terms of an index, with their frequencies and the form in which documents mostly write them."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from sublex.contracts.operators import operator
from sublex.errors import InputError
from sublex.forms.lines import Shown, records

if TYPE_CHECKING:
    from sublex.pipeline.index import Index

HEAD = ("term", "df", "cf", "written")
WILDCARDS = frozenset("*?[")


def terms(index: Index, pattern: str, number: int | None) -> Shown:
    """Return the terms that match a pattern as Shown: all of them, or the first `number`."""
    matches = list(islice(index.terms(pattern), None if number is None else min(number, sys.maxsize)))
    notes = [] if matches else [_no_term(index, pattern)]
    shown = records(HEAD, matches, notes)
    # Without a term, there is no head to show either.
    return shown if matches else Shown(list, lambda: shown.data, HEAD, [], notes)


def _no_term(index: Index, pattern: str) -> str:
    analyzed = index.analyze(pattern)
    is_raw = WILDCARDS.isdisjoint(pattern) and analyzed not in ([], [pattern])
    is_raw = is_raw and not operator(pattern)
    hint = f"; the analyzer makes {pattern!r} into {' '.join(analyzed)!r}" if is_raw else ""
    return f"No term of {index.path} fits {pattern or repr(pattern)}{hint}."


def words(index: Index, text: str) -> Shown:
    """Return the statistics of each term that the analyzer makes of a text as Shown, or those of a printed operator.

    Raise InputError if no term is indexed.
    """
    if operator(text):
        known = index.term(text)
        return records(
            HEAD, [known] if known else [], [] if known else [f"No document of {index.path} contains {text}."]
        )
    analyzed = list(dict.fromkeys(index.analyze(text)))
    if not analyzed:
        raise InputError(f"The analyzer leaves no term of {text!r}.")
    found = [term for term in map(index.snapshot.term, analyzed) if term]
    written = {term: word for word in reversed(text.split()) for term in index.analyze(word)}
    missing = ", ".join(written.get(term, term) for term in analyzed if index.snapshot.term(term) is None)
    return records(HEAD, found, [f"No document of {index.path} contains {missing}."] if missing else [])
