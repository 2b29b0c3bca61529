"""The condition of a query: the documents that it allows, as the keep function of a mask."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.contracts.columns import documents_of
from sublex.contracts.comparisons import ColumnTest
from sublex.contracts.operators import Condition
from sublex.index.snapshot import Snapshot
from sublex.retrieval.term_table import TermTable


class ConditionKeep:
    """Return for each document whether it meets the condition. Postings and columns are read on the first call."""

    def __init__(self, condition: Condition, term_table: TermTable, snapshot: Snapshot):
        self.condition, self.term_table, self.snapshot = condition, term_table, snapshot

    def __call__(self, docs: np.ndarray) -> np.ndarray:
        """Return for each live document whether it meets the condition."""
        return self._meets[docs]

    @cached_property
    def _meets(self) -> np.ndarray:
        kept = np.ones(int(self.snapshot.bases[-1]), bool)
        self._narrow(self.condition, kept, True)
        return kept

    def _narrow(self, part: Condition | ColumnTest | str, kept: np.ndarray, holds: bool) -> None:
        """Set `kept` to false for the documents that do not match a condition, a comparison or a term.

        If `holds` is false, set it to false for those that do. `kept` has a bool for each document.
        """
        if not isinstance(part, Condition):
            found = self._documents(part)
            if holds:
                found = found[kept[found]]
                kept[:] = False
            kept[found] = holds
        elif part.kind == "not":
            self._narrow(part.parts[0], kept, not holds)
        elif (part.kind == "all") == holds:
            # Documents must match all parts, or no part.
            for inner in part.parts:
                if kept.any():
                    self._narrow(inner, kept, holds)
        else:
            # Documents must match at least one part, or fail at least one part. `rest` has the documents without such a
            # part so far.
            rest = kept.copy()
            for inner in part.parts:
                if rest.any():
                    self._narrow(inner, rest, not holds)
            kept ^= rest

    def _documents(self, term: ColumnTest | str) -> np.ndarray:
        """Return the documents that a comparison allows, or the live documents that hold a term."""
        if isinstance(term, ColumnTest):
            return np.flatnonzero(documents_of(term, self.snapshot.column(term.column)))
        bases = self.snapshot.bases[:-1].tolist()
        return np.concatenate(
            [np.empty(0, np.int64), *(self.term_table.postings(term, k)[0] + base for k, base in enumerate(bases))]
        )
