"""The searcher of a term space: finds the best documents by posting lists of weights.

A term space is a set of terms beside the words of the index, such as those of learned sparse weights. A term is the number of
a column of the documents' rows. A score is the sum, over the terms of the query, of the query's weight times the document's.
It is exact, and it does not depend on segments or threads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sublex.contracts.base import TermStats
from sublex.index.snapshot import Snapshot
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.weight_lists import WeightLists


class SpaceTerms:
    """The terms of a space in place of a `TermTable`: the number of a term is that of its column, in all segments."""

    def __init__(self, lists: Sequence[WeightLists]):
        counts = [each.df for each in lists]
        self._df = np.sum(counts, axis=0).astype(np.float64)
        self.words, self.df = len(self._df), memoryview(self._df)
        # The list of a term that no document of a segment has is empty, and not read.
        self.ordinals = [np.where(own > 0, np.arange(len(own)), -1) if len(lists) > 1 else None for own in counts]

    def find(self, terms: Collection[int], alone: bool = True) -> tuple[list[int], None]:
        """Return the number of each term, -1 for a term that no live document has; there are no operators."""
        df = self.df
        return [term if df[term] else -1 for term in terms], None

    def stats_of(self, numbers: np.ndarray, operators: Sequence[Any] = ()) -> TermStats:
        """Return the number of documents that have each term, as both frequencies."""
        return TermStats(self._df[numbers], self._df[numbers])


class SpaceSearcher(Searcher):
    """Ranks the documents of one snapshot by posting lists of weights; `lists` has those of each segment.

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

    @cached_property
    def _weighs(self) -> bool:
        return False

    def order(self, query: Mapping[int, float]) -> list[int]:
        """Return the terms of a query that some document has, in the order in which their parts are added up."""
        numbers, _ = self.term_table.find(list(query))  # type: ignore[misc,arg-type]
        return [number for _, number, _ in self._known(query, numbers, None)]  # type: ignore[arg-type]
