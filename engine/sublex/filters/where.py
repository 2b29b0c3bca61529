"""The filter `where`: keeps the documents whose columns meet a condition, such as `year >= 2015`."""

from __future__ import annotations

import numpy as np

from sublex.contracts.base import Context
from sublex.contracts.columns import HasColumns, check, comparisons_in, meeting
from sublex.language.conditions import parse_condition


class Where:
    """Keeps the documents that meet a condition on columns."""

    per_document = True

    def __init__(self, condition: str):
        self.condition = parse_condition(condition)
        # The columns that the filter reads, in order. An explanation shows the document's values in these columns.
        self.columns = tuple(dict.fromkeys(comparison.column for comparison in comparisons_in(self.condition)))

    def check(self, index: HasColumns) -> None:
        """Raise InputError if an index lacks a column of the condition, or if the column cannot have a value of the condition."""
        check(self.condition, index)

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return whether each of the documents meets the condition."""
        return meeting(self.condition, lambda name: context.column(name).rows(docs))
