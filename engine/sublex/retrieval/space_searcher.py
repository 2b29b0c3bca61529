"""The searcher of a term space: finds the best documents by posting lists of weights.

A term space is a set of terms beside the words of the index, such as the terms of learned sparse weights. A term is the
number of a column of the documents' rows. A score is a sum over the terms of the query: the query's weight of the term times
the document's weight. It is exact, and it does not depend on segments or threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from sublex.contracts.scores import LARGEST_SCORE, SURE_WEIGHT, expect_weights
from sublex.index.snapshot import Snapshot
from sublex.retrieval.searcher import Searcher, WeightedTerms
from sublex.retrieval.weight_lists import WeightLists


class SpaceTerms:
    """The terms of a space; for a `SpaceSearcher`, it takes the place of a `TermTable`.

    The number of a term is the number of its column, in all segments. `df` has the number of documents with each term.
    `places` has each term's place in the order in which a score is summed: rare terms come first, and terms of equal df
    are in the order of their numbers. A term that no live document has gets -1.
    """

    def __init__(self, lists: Sequence[WeightLists]):
        counts = [each.df for each in lists]
        self.df = np.sum(counts, axis=0)
        self.places = np.empty(len(self.df), np.int64)
        self.places[np.argsort(self.df, kind="stable")] = np.arange(len(self.df))
        self.places[self.df == 0] = -1
        # If no document of a segment has a term, the term's list there is empty, and is not read.
        self.ordinals = [np.where(own > 0, np.arange(len(own)), -1) if len(lists) > 1 else None for own in counts]


class SpaceSearcher(Searcher):
    """Ranks the documents of one snapshot by posting lists of weights. `lists` has the posting lists of each segment.

    Queries are dictionaries from the numbers of columns to weights.
    """

    def __init__(self, snapshot: Snapshot, lists: Sequence[WeightLists]):
        # There is no ranker: the weights are the impacts.
        self.snapshot, self.term_table = snapshot, SpaceTerms(lists)  # type: ignore[assignment]
        self._lists = list(lists)

    @cached_property
    def impacts(self) -> list[Any]:
        """The posting lists of each segment."""
        return self._lists

    def _weighted(self, queries: Sequence[Mapping[int, float]]) -> WeightedTerms:  # type: ignore[override]
        """Return the terms of all queries, each query's in the order in which its score is summed."""
        sizes = [*map(len, queries)]
        terms = np.fromiter(chain.from_iterable(queries), np.int64, sum(sizes))
        weights = np.fromiter(chain.from_iterable(query.values() for query in queries), np.float64, len(terms))
        places = self.term_table.places[terms]  # type: ignore[attr-defined]
        # The number of a query is in the upper bits, and the place of a term in the lower bits. So one sort sorts the terms of
        # all queries.
        keys = places + np.repeat(np.arange(len(sizes), dtype=np.int64) << 32, sizes)
        known = (places >= 0) & (weights != 0)
        if not known.all():
            terms, weights, keys = terms[known], weights[known], keys[known]
        order = keys.argsort()
        terms, weights, ends = terms[order], weights[order], np.cumsum(np.bincount(keys >> 32, minlength=len(sizes)))
        magnitudes = np.abs(weights)
        total, least = float(magnitudes.sum()), float(magnitudes.min(initial=1.0))
        if not (total <= LARGEST_SCORE and least >= SURE_WEIGHT):
            expect_weights(weights.tolist())
        return WeightedTerms(ends, terms, weights, total, least, None)
