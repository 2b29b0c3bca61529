"""Feedback: the documents of a first retrieval, their terms, and term statistics, as an expander or a filter sees them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sublex.base import Statistics, TermStats, TermVector
from sublex.retrieval.hits import Hits
from sublex.retrieval.term_table import TermTable


class Feedback:
    """The context of one query for an expander or a filter; implements `sublex.base.Context`."""

    def __init__(self, hits: Hits, term_table: TermTable):
        self.hits, self.term_table = hits, term_table
        self.docs, self.scores = hits.docs, hits.scores

    @cached_property
    def collection(self) -> Statistics:
        """The statistics of the collection."""
        return self.hits.snapshot.statistics

    @property
    def live_docs(self) -> np.ndarray:
        """The numbers of all live documents."""
        return self.hits.snapshot.corpus.docs

    def term_vectors(self, docs: np.ndarray) -> list[TermVector]:
        """Return the terms of each document with their frequencies."""
        return [self.term_table.vector(doc) for doc in docs.tolist()]

    def stats(self, terms: np.ndarray) -> TermStats:
        """Return the document and collection frequencies of terms, given by their numbers."""
        return TermStats(*(values[terms] for values in self.term_table.stats))

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """Return the number of each term, -1 for a term that no live document contains."""
        return self.term_table.numbers(terms)

    def names(self, numbers: np.ndarray) -> list[str]:
        """Return the terms with these numbers."""
        return self.term_table.names(numbers)
