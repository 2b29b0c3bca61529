"""The filter NAME. `sublex --help` imports this module, so import heavy packages in functions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import Context, Param
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("field", str, "year", help="the stored field that holds the number"),
    Param("first", int, 2000, help="the least number"),
    Param("last", int, 9999, help="the largest number"),
]


@dataclass
class Between:
    """Keeps documents in which a stored field has a number in a range. Name the source of your method here."""

    field: str
    first: int
    last: int

    # The answer for a document depends on this document alone. So the engine asks only once, and then searches only
    # documents that pass.
    per_document = True

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return for each document whether its number is in the range; False for a document without a number."""
        return np.array([self._fits(document.fields.get(self.field)) for document in context.documents(docs)], bool)

    def _fits(self, value: Any) -> bool:
        try:
            return self.first <= int(value) <= self.last
        except (TypeError, ValueError):
            return False


@hookimpl
def register_filters(register: Register) -> None:
    """Register NAME."""
    register("NAME", Between, PARAMS)
