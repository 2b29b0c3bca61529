"""Show terms of an index, with their frequencies and the form that documents mostly write."""

from __future__ import annotations

import sys
from itertools import islice
from typing import TYPE_CHECKING

from sublex.contracts.operators import Operator, operator, within
from sublex.errors import InputError
from sublex.forms.lines import Shown, records

if TYPE_CHECKING:
    from sublex.pipeline.index import Index

HEAD = ("term", "df", "cf", "written")
WILDCARDS = frozenset("*?[")


def terms(index: Index, pattern: str, number: int | None) -> Shown:
    """Return as Shown the terms that match a pattern: all of them, or the first `number`."""
    matches = list(islice(index.terms(pattern), None if number is None else min(number, sys.maxsize)))
    notes = [] if matches else [_no_term(index, pattern)]
    shown = records(HEAD, matches, notes)
    # If there are no terms, show no head.
    return shown if matches else Shown(list, lambda: shown.data, HEAD, [], notes)


def _no_term(index: Index, pattern: str) -> str:
    analyzed = index.analyze(pattern)
    is_raw = WILDCARDS.isdisjoint(pattern) and analyzed not in ([], [pattern])
    is_raw = is_raw and not operator(pattern)
    hint = f"; the analyzer makes {pattern!r} into {' '.join(analyzed)!r}" if is_raw else ""
    return f"No term of {index.path} fits {pattern or repr(pattern)}{hint}."


def words(index: Index, text: str) -> Shown:
    """Return as Shown the statistics of each term that the analyzer makes of a text, or of a printed operator.

    A word may have the name of a field before it, as in `title:cell`; it then stands for the word within the field.
    Raise InputError if no term is indexed.
    """
    if operator(text):
        known = index.term(text)
        return records(
            HEAD, [known] if known else [], [] if known else [f"No document of {index.path} contains {text}."]
        )
    terms = analyzed_terms(index, text)
    if not terms:
        raise InputError(f"The analyzer leaves no term of {text!r}.")
    stats = {term: index.term(term) if isinstance(term, Operator) else index.snapshot.term(term) for term in terms}
    found = [term for term in stats.values() if term]
    written = {term: word for word in reversed(text.split()) for term in analyzed_terms(index, word)}
    missing = ", ".join(written.get(term, term) for term in terms if stats[term] is None)
    return records(HEAD, found, [f"No document of {index.path} contains {missing}."] if missing else [])


def analyzed_terms(index: Index, text: str) -> list[str]:
    """Return the distinct terms of a text. Any word of the text may name a field."""
    words = text.split()
    fields = [word.partition(":")[0] for word in words]
    if not any(":" in word and field in index.fields for word, field in zip(words, fields, strict=True)):
        return list(dict.fromkeys(index.analyze(text)))
    found: dict[str, None] = {}
    for word, field in zip(words, fields, strict=True):
        named = ":" in word and field in index.fields
        for term in index.analyze(word.partition(":")[2] if named else word):
            found[within(field, term) if named else term] = None
    return list(found)
