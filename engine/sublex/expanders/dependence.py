"""Dependence models: a query with operators for words that stand near one another in the query.

D. Metzler and W. B. Croft, A Markov random field model for term dependencies, SIGIR 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import ClassVar, NamedTuple

from sublex.contracts.base import Context, Query, QueryTerm
from sublex.contracts.operators import DEEPEST, MOST_NESTED, Operator, least_width, ordered, window
from sublex.language.parameters import Declared, parameter

# A window has this number of positions for each of its words, so 8 positions for two words.
POSITIONS = 4
# The largest number of subsets of a query's words that get operators.
MOST_SUBSETS = 1_000


class PlacedTerm(NamedTuple):
    """A word or an operator of the query, at one place, with its weight there."""

    term: str
    weight: float


@dataclass(frozen=True)
class Dependence(Declared):
    """The base of dependence models. `subsets` says which words of the query depend on one another.

    D. Metzler and W. B. Croft, A Markov random field model for term dependencies, SIGIR 2005, with the weights of Indri.

    The new query has three groups: the terms of the query; `#1` of each subset whose words are neighbours; and `#uw` of
    every subset, with 4 positions for each word. A member of a group has the group's weight, times the mean weight of
    its words in the query. With `normalise`, this is divided by the number of members.

    Words are neighbours if they stand side by side among the terms of the original query. An operator of the query counts
    as one word. A subset is left out if no document holds one of its words, or if it has more than 6 words and one of them
    is an operator.
    """

    docs: ClassVar[int] = 0

    words: float = parameter(0.85, "The weight of the query's words.", (0, 1000))
    ordered: float = parameter(0.1, "The weight of neighbours in their order.", (0, 1000))
    window: float = parameter(0.05, "The weight of words within a window.", (0, 1000))
    normalise: bool = parameter(
        True, "Whether the weights of a group are divided by its size, as Indri does and Anserini does not."
    )

    def subsets(self, words: int) -> Iterator[tuple[int, ...]]:
        """Yield the subsets of a query with `words` words, each as the ascending places of its words.

        If there are too many subsets, the first ones are used.
        """
        raise NotImplementedError

    def expand(self, query: Query, context: Context) -> Query:
        units = _units(query, context.original or query)
        if len(units) < 2:
            return query
        operators = {place for place, (term, _) in enumerate(units) if isinstance(term, Operator)}
        fitting = (own for own in self.subsets(len(units)) if len(own) <= MOST_NESTED or operators.isdisjoint(own))
        subsets = [*islice(fitting, MOST_SUBSETS)]
        neighbours = [subset for subset in subsets if subset[-1] - subset[0] < len(subset)]
        unknown = _unknown(units, context)
        added: dict[str, float] = {}
        for weight, group, make in ((self.ordered, neighbours, ordered), (self.window, subsets, _window)):
            share = self._share(weight, len(group))
            for subset in group:
                if unknown.isdisjoint(subset):
                    operator = make([units[place].term for place in subset])
                    mean = sum([units[place].weight for place in subset]) / len(subset)
                    added[operator] = added.get(operator, 0.0) + share * mean
        factor = self._share(self.words, len(units))
        words = [QueryTerm(term, factor * weight, origin) for term, weight, origin in query.terms]
        name = type(self).__name__
        return query._replace(
            terms=(*words, *[QueryTerm(term, weight, name) for term, weight in added.items() if weight])
        )

    def _share(self, weight: float, members: int) -> float:
        return weight / members if self.normalise else weight


def _units(query: Query, original: Query) -> list[PlacedTerm]:
    """Return the terms of the original query in order, with their weights in the query.

    The places of a repeated term share its weight. Terms without weight are left out, and so are operators that are nested
    too deep to be a part of another operator.
    """
    weights = query.weights()
    places = [term.term for term in original.terms if weights.get(term.term)]
    kept = [term for term in places if not isinstance(term, Operator) or term.depth < DEEPEST]
    times: dict[str, int] = {}
    for term in kept:
        times[term] = times.get(term, 0) + 1
    return [PlacedTerm(term, weights[term] / times[term]) for term in kept]


def _unknown(units: list[PlacedTerm], context: Context) -> set[int]:
    """Return the places of the words that are in no document."""
    words = {place: term for place, (term, _) in enumerate(units) if not isinstance(term, Operator)}
    return {place for place, number in zip(words, context.numbers([*words.values()]), strict=True) if number < 0}


def _window(parts: list[str]) -> str:
    return window(parts, POSITIONS * sum(map(least_width, parts)))


@dataclass(frozen=True)
class SDM(Dependence):
    """The sequential dependence model: each word of the query depends on the next word.

    D. Metzler and W. B. Croft, A Markov random field model for term dependencies, SIGIR 2005.
    """

    def subsets(self, words: int) -> Iterator[tuple[int, ...]]:
        """Yield the pairs of neighbours."""
        return ((place, place + 1) for place in range(words - 1))


@dataclass(frozen=True)
class FDM(Dependence):
    """The full dependence model: all words of the query depend on one another, in subsets of at most `size` words.

    D. Metzler and W. B. Croft, A Markov random field model for term dependencies, SIGIR 2005.

    If a query has more than 1,000 subsets, the model takes the 1,000 subsets whose words stand closest together in the query.
    """

    size: int = parameter(6, "The most words of a subset.", (2, 10))

    def subsets(self, words: int) -> Iterator[tuple[int, ...]]:
        """Yield the subsets of 2 to `size` words, ordered by the distance from the first word to the last, and then by size."""
        for distance in range(1, words):
            for size in range(2, min(self.size, distance + 1) + 1):
                for first in range(words - distance):
                    for inner in combinations(range(first + 1, first + distance), size - 2):
                        yield first, *inner, first + distance


EXPANDERS = (SDM, FDM)
