"""Weights by bursts: words that occur several times in the documents that hold them count more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sublex.contracts.base import Context, Query
from sublex.language.parameters import Declared, parameter


@dataclass(frozen=True)
class Burst(Declared):
    """The query with the weight of each term multiplied by (cf / df) to the power of `power`.

    cf / df is the mean number of occurrences of a term in the documents that hold it. Words that come in bursts tell what a
    document is about (S. Katz, Distribution of content words and phrases in text and language modelling, 1996). Terms that
    no document holds keep their weights. No term is added.
    """

    docs: ClassVar[int] = 0

    power: float = parameter(0.5, "The power of cf / df; 0 leaves the query as it is.", (0, 100))

    def expand(self, query: Query, context: Context) -> Query:
        numbers = np.array(context.numbers([term for term, _, _ in query.terms]), np.int64)
        factors, known = np.ones(len(numbers)), numbers >= 0
        df, cf = context.stats(numbers[known])
        factors[known] = (cf / df) ** self.power
        terms = zip(query.terms, factors.tolist(), strict=True)
        return query._replace(terms=tuple(term._replace(weight=term.weight * factor) for term, factor in terms))


EXPANDERS = (Burst,)
