"""Feedback: gives expanders and filters the documents of a first retrieval, their terms, and statistics of terms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import NO_FIELDS, JudgedDocnos, JudgedDocuments, Query, TermStats, TermVector
from sublex.contracts.columns import Column
from sublex.errors import InputError
from sublex.language.functions import StoredDocument
from sublex.retrieval.hits import Hits
from sublex.retrieval.operators import OperatorCache
from sublex.retrieval.term_table import TermTable
from sublex.tools.strings import read_only


class Feedback:
    """The context of one query for an expander or a filter. It implements `sublex.contracts.base.Context`.

    `models` has the fitted models that the parameters of the expander or filter name, by their expressions. `name` is
    the printed form of the expander or filter, for messages. `original` is the query before all expanders. `judged` has
    the docnos that the user judged for the query; those that the index lacks are left out.
    """

    def __init__(
        self, hits: Hits, term_table: TermTable, models: Mapping[str, Any] = NO_FIELDS, name: str = "a stage",
        original: Query | None = None, judged: JudgedDocnos | None = None,
    ):  # fmt: skip
        self.hits, self.term_table, self._models, self.name = hits, term_table, models, name
        self.original = original
        self.judged = None if judged is None else JudgedDocuments(*(self._numbers_of(docnos) for docnos in judged))
        # These arrays are read-only, because a plugin or a user's function could otherwise change the snapshot or the hits.
        self.docs, self.scores = read_only(hits.docs), read_only(hits.scores)
        self.collection = hits.snapshot.statistics
        # The caches from which this context took numbers of operators. The term table may use a newer cache by now.
        self._operators: list[OperatorCache] = []

    def _numbers_of(self, docnos: Collection[str]) -> np.ndarray:
        """Return the numbers of the documents with these docnos, ascending, without those that the index lacks."""
        return read_only(self.hits.snapshot.docs_of(docnos))

    def numbers(self, terms: Collection[str]) -> list[int]:
        """Return the number of each term; -1 for a term that no live document contains. A term may be an operator."""
        found = self.term_table.find(terms)
        assert found is not None
        numbers, operators = found
        if operators is not None and operators not in self._operators:
            self._operators.append(operators)
        return numbers

    def names(self, numbers: np.ndarray) -> list[str]:
        """Return the terms with these numbers."""
        return self.term_table.names(numbers, self._operators)

    @property
    def live_docs(self) -> np.ndarray:
        """The numbers of all live documents."""
        return read_only(self.hits.snapshot.corpus.docs)

    def documents(self, docs: np.ndarray) -> list[StoredDocument]:
        """Return the stored documents with these numbers. Each is read when its text or fields are first asked for."""
        return self.hits.snapshot.on_demand(docs, f"{self.name} reads")

    def term_vectors(self, docs: np.ndarray) -> list[TermVector]:
        """Return the terms of each document with their frequencies."""
        return self.term_table.vectors(docs)

    def stats(self, terms: np.ndarray) -> TermStats:
        """Return the document and collection frequencies of terms, given by their numbers."""
        return self.term_table.stats_of(np.asarray(terms), self._operators)

    def frequencies(self, term: str, docs: np.ndarray) -> np.ndarray:
        """Return the frequency of a term, which may be an operator, in each of these documents."""
        return self.term_table.frequencies(term, docs)

    def surface(self, term: str) -> str:
        """Return the most frequent written form of a term; the term itself when no live document contains it."""
        return self.hits.snapshot.corpus.surface(term)

    def column(self, name: str) -> Column:
        """Return a column of the index. Raise InputError if the index has no column of this name."""
        return self.hits.snapshot.column(name)

    def model(self, expression: Any) -> Any:
        """Return the fitted model that a parameter names.

        Raise InputError for an expression that is not a fitted model.
        """
        found = self._models.get(str(expression))
        if found is None:
            raise InputError(
                f"{expression} is not a model that is fitted to an index; name one, for example lda(k=20)."
            )
        return found
