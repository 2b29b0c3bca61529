"""Python functions as expanders: make a weighted query of the result of a user's function."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import Context, Query, QueryTerm
from sublex.contracts.operators import Operator
from sublex.errors import PluginError, contract
from sublex.index.snapshot import Snapshot
from sublex.language.python_expanders import PythonExpander, is_expander
from sublex.language.python_parts import called
from sublex.tools.arguments import shown


class GivenExpander:
    """A user's function or object as an `Expander` on one snapshot."""

    def __init__(self, part: PythonExpander, snapshot: Snapshot):
        self.part, self.snapshot, self.docs = part, snapshot, part.docs

    def expand(self, query: Query, context: Context) -> Query:
        """Call the function, and return its result as a query."""
        part = self.part
        with part.call() as thing, contract("expander", called(part, query.text)):
            expand = thing.expand if is_expander(thing) else thing
            given = expand(query, context)
        if isinstance(given, Query):
            return self._named(query, given)
        if isinstance(given, str):
            return self._of_terms(query, given, ((term, 1.0) for term in self.snapshot.analyze(given)))
        if isinstance(given, Mapping):
            return self._of_terms(query, query.text, self._terms(given))
        raise PluginError(
            f"The expander {part.name} gave {shown(given)}; return a query, a dictionary from terms to weights, or a text."
        )

    def _terms(self, weights: Mapping[Any, Any]) -> Iterable[tuple[str, float]]:
        """Yield the terms of words, each with the word's weight.

        A term of the index and an operator stay as they are. Any other word is analysed like a word of a query.
        """
        for word, weight in weights.items():
            if not isinstance(word, str):
                raise PluginError(f"The expander {self.part.name} gave the term {shown(word)}; terms are texts.")
            number = float(weight) if isinstance(weight, (int, float, np.number)) else math.nan
            if not math.isfinite(number):
                raise PluginError(
                    f"The expander {self.part.name} gave {word} the weight {shown(weight)}; weights are finite numbers."
                )
            is_term = isinstance(word, Operator) or self.snapshot.term(word)
            for term in [word] if is_term else self.snapshot.analyze(word):
                yield term, number

    def _of_terms(self, query: Query, text: str, weights: Iterable[tuple[str, float]]) -> Query:
        return self._named(query, Query(text, tuple(QueryTerm(term, weight) for term, weight in weights)))

    def _named(self, query: Query, made: Query) -> Query:
        """Return the new query, in which each term that the old query lacks has the expander's name as its origin."""
        own = {term.term for term in query.terms}
        terms = []
        for term in made.terms:
            if not isinstance(term, QueryTerm) or not isinstance(term.term, str):
                raise PluginError(
                    f"The expander {self.part.name} gave {shown(term)} as a term; terms are sublex.contracts.base.QueryTerm."
                )
            is_new = term.origin == "query" and term.term not in own
            terms.append(term._replace(origin=self.part.name) if is_new else term)
        return made._replace(terms=tuple(terms))
