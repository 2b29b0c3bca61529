"""Weighted queries as text: terms of the index and operators, each with a weight, as in `crane^1 river^0.5`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import Operator, quoted, read_head, unescaped, written_operator
from sublex.contracts.scores import expect_weights
from sublex.errors import InputError
from sublex.language.expression import print_value, shortest
from sublex.tools.messages import cut

# A phrase in quotation marks, which weighted terms must not have.
_QUOTED = re.compile(r'(?:^|\s)("[^"\s]+\s[^"]*")(?=[\s^]|$)')


def weighted_query(text: str) -> Query:
    """Return the query for a text of weighted terms.

    Raise InputError for a weight that is not a finite number.

    Terms are written as `sublex terms` lists them, and operators as they print, as in `#1('river','bank')^0.5`. A term's
    weight follows the last ^; without ^, the weight is 1. A term of the index that looks like an operator stands in quotes.
    """
    if phrase := _QUOTED.search(text):
        raise InputError(
            f"Weighted terms have no phrase {cut(phrase[1])}; write it as `sublex analyze --language query` prints it, "
            "for example #1('river','bank')^0.5."
        )
    terms = []
    for word in text.split():
        term, caret, number = (word, "", "") if written_operator(word) else word.rpartition("^")
        try:
            weight = float(number) if caret else 1.0
        except ValueError:
            weight = math.nan
        if not math.isfinite(weight) or (caret and not term):
            raise InputError(f"{word} is not a term with a weight; write for example crane^1 river^0.5.")
        expect_weights([weight])
        written = term if caret else word
        found = written_operator(written)
        if not found and read_head(written):
            raise InputError(
                f"{cut(written)} is not an operator as Sublex prints it; write for example #1('river','bank')^0.5 or "
                "#uw8('bank','river')."
            )
        inner = _inner(written)
        terms.append(QueryTerm(found or (inner if _stands_in_quotes(inner) else written), weight))
    if not terms:
        raise InputError("There is no term in the query; write for example crane^1 river^0.5.")
    return query_of(terms)


def query_of(terms: Iterable[QueryTerm]) -> Query:
    """Return the query of these weighted terms. Its text is their printed form; `weighted_query` reads the text back."""
    kept = tuple(terms)
    return Query(" ".join(f"{_printed(term.term)}^{print_value(shortest(term.weight))}" for term in kept), kept)


def _printed(term: str) -> str:
    return quoted(term) if not isinstance(term, Operator) and _stands_in_quotes(term) else term


def _inner(text: str) -> str:
    """Return the term that a text in quotes stands for, "" for a text without quotes."""
    return unescaped(text[1:-1]) if len(text) > 2 and text[0] == text[-1] == "'" else ""


def _stands_in_quotes(term: str) -> bool:
    """Return whether a term must be quoted. Without quotes, it would be read as an operator or as a quoted term."""
    return bool(read_head(term)) or (bool(inner := _inner(term)) and _stands_in_quotes(inner))
