"""The condition of a query: the documents that it allows, as the keep function of a mask."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.contracts.operators import Condition
from sublex.index.snapshot import Snapshot
from sublex.retrieval.term_table import TermTable


class Holding:
    """Says of documents whether a condition holds. The postings of its terms are read when it is first asked."""

    def __init__(self, condition: Condition, term_table: TermTable, snapshot: Snapshot):
        self.condition, self.term_table, self.snapshot = condition, term_table, snapshot

    def __call__(self, docs: np.ndarray) -> np.ndarray:
        """Return for each live document whether the condition holds."""
        return self._holds[docs]

    @cached_property
    def _holds(self) -> np.ndarray:
        return self._of(self.condition)

    def _of(self, part: Condition | str) -> np.ndarray:
        """Return for each document of the snapshot whether a condition or a term holds."""
        if not isinstance(part, Condition):
            return self._of_term(part)
        if part.kind == "not":
            return ~self._of(part.parts[0])
        found = np.full(int(self.snapshot.bases[-1]), part.kind == "all")
        for inner in part.parts:
            if part.kind == "all":
                found &= self._of(inner)
            else:
                found |= self._of(inner)
        return found

    def _of_term(self, term: str) -> np.ndarray:
        found = np.zeros(int(self.snapshot.bases[-1]), bool)
        for k, base in enumerate(self.snapshot.bases[:-1].tolist()):
            found[base + self.term_table.postings(term, k)[0]] = True
        return found
