"""The expander NAME. `sublex --help` imports this module, so import heavy packages in functions."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Param, Query, QueryTerm
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("docs", int, 10, range=(1, 1000), help="the number of feedback documents"),
    Param("terms", int, 10, range=(1, 1000), help="the number of terms to add"),
    Param("beta", float, 0.4, range=(0, 10), help="the weight of the best term that is added"),
]


@dataclass
class ChiSquared:
    """Adds terms by chi-squared: those that are much more frequent in the first documents than in the whole collection.

    C. Carpineto, R. de Mori, G. Romano, B. Bigi: An information-theoretic approach to automatic query expansion. ACM
    Transactions on Information Systems 19(1), 2001.
    """

    docs: int
    terms: int
    beta: float

    def expand(self, query: Query, context: Context) -> Query:
        """Return the query with the terms of highest chi-squared. If no documents were found, return the query itself."""
        counts: Counter[int] = Counter()
        # There may be more documents than the expander asks for.
        for vector in context.term_vectors(context.docs[: self.docs]):
            counts.update(dict(zip(vector.terms.tolist(), vector.tfs.tolist(), strict=True)))
        if not counts:
            return query
        numbers = np.array(sorted(counts))
        found = np.array([counts[number] for number in numbers.tolist()], np.float64)
        expected = context.stats(numbers).cf / context.collection.tokens
        values = (found / found.sum() - expected) ** 2 / expected
        # If values are equal, the terms with the lowest numbers are taken.
        best = np.argsort(-values, kind="stable")[: self.terms]
        weights = self.beta * values[best] / max(values[best[0]], 1e-300)
        added = (
            QueryTerm(term, weight, "NAME")
            for term, weight in zip(context.names(numbers[best]), weights.tolist(), strict=True)
        )
        return Query(query.text, (*query.terms, *added))


@hookimpl
def register_expanders(register: Register) -> None:
    """Register NAME."""
    register("NAME", ChiSquared, PARAMS)
