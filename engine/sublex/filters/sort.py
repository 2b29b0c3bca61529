"""The stage `sort`: orders hits by the values of a column, such as by year."""

from __future__ import annotations

import numpy as np

from sublex.contracts.base import Context
from sublex.contracts.columns import HasColumns


class Sort:
    """Orders hits by their least values in a column, ascending; or by their greatest values, descending.

    Documents without a value come last. Documents with equal values stay in order.
    """

    per_document = False

    def __init__(self, column: str, descending: bool):
        self.column, self.descending = column, descending
        self.columns = (column,)

    def check(self, index: HasColumns) -> None:
        """Raise InputError if an index lacks the column."""
        index.need_column(self.column)

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Keep all documents."""
        return np.ones(len(docs), bool)

    def order(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return the places of the documents in their new order."""
        return context.column(self.column).rows(docs).order(self.descending)
