"""The filter NAME. `sublex --help` imports this module, so import heavy packages in functions."""

from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Param
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [Param("least", int, 50, range=(0, 10**9), help="the least number of words")]


@dataclass
class Longer:
    """Keeps documents of at least a number of words. Name the source of your method here."""

    least: int

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return for each document whether it is long enough."""
        return np.array([vector.tfs.sum() >= self.least for vector in context.term_vectors(docs)], bool)


@hookimpl
def register_filters(register: Register) -> None:
    """Register NAME."""
    register("NAME", Longer, PARAMS)
