"""What an expander may look at: the first documents found for a query, their terms, and the statistics of terms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sublex.base import Statistics, TermStats, TermVector
from sublex.retrieval.hits import Hits
from sublex.retrieval.term_table import TermTable


class Feedback:
    """The context of one query's expansion."""

    def __init__(self, hits: Hits, term_table: TermTable):
        self.hits, self.term_table = hits, term_table
        self.docs, self.scores = hits.docs, hits.scores

    @cached_property
    def collection(self) -> Statistics:
        """The statistics of the index."""
        return self.hits.index.statistics

    @property
    def live_docs(self) -> np.ndarray:
        """All documents of the index."""
        return self.hits.index.corpus.docs

    def term_vectors(self, docs: np.ndarray) -> list[TermVector]:
        """The terms of documents."""
        return [self.term_table.vector(doc) for doc in docs.tolist()]

    def stats(self, terms: np.ndarray) -> TermStats:
        """Document and collection frequencies, as arrays."""
        return TermStats(*(values[terms] for values in self.term_table.stats))

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """The numbers of terms, -1 for those that no document holds."""
        return self.term_table.numbers(terms)

    def names(self, numbers: np.ndarray) -> list[str]:
        """The terms of numbers."""
        return self.term_table.names(numbers)
