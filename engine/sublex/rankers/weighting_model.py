"""The base class of the built-in rankers. `explanations.py` has the functions that build their explanations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Ranker, Statistics, TermStats
from sublex.language.parameters import Declared, parameter

# The factor that turns natural logarithms into logarithms to base 2.
LOG2_E = 1 / math.log(2)
# A function that computes a formula for numbers or for arrays of numbers.
Formula = Callable[..., Any]


@dataclass(frozen=True)
class WeightingModel(Declared, Ranker):
    """A built-in ranker: a frozen dataclass whose fields are its parameters.

    By default, the length is the only statistic of a document that it reads.
    """

    reads = ("length",)

    lengths: str = parameter(
        "exact",
        "Document lengths: exact, or rounded to one byte as Lucene stores them.",
        ("exact", "lucene"),
        kw_only=True,
    )

    def value(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> float:
        """Return the score of one posting; `doc` and `term` hold numbers."""
        return float(self.score(np.asarray(tf, dtype=np.float64), doc, term, collection))
