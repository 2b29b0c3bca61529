"""Bounds of the impacts of terms in a segment. With these bounds, kernels skip documents that cannot be among the best."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property

import numpy as np

from sublex.index.format import ComponentFolder

# For each k of these, the k-th best impact of each term is kept.
LEVELS = (10, 100, 1000)


class ImpactBounds:
    """Three arrays of float32 that kernels read: `least`, `most` and `kth`.

    `least` and `most` have the least and the greatest impact of each term; for a term without postings, the least is
    above the greatest. `kth` has a row for each k of `LEVELS`: each term's k-th best impact, or -inf for fewer than k
    postings.
    """

    def __init__(self, least: np.ndarray, most: np.ndarray, kth: np.ndarray):
        self.least, self.most, self.kth = least, most, kth

    @classmethod
    def unknown(cls, terms: int) -> ImpactBounds:
        """Return the bounds of this number of terms, none of which is known yet."""
        shape = len(LEVELS), terms
        return cls(
            np.full(terms, np.inf, np.float32), np.full(terms, -np.inf, np.float32), np.full(shape, -np.inf, np.float32)
        )

    @classmethod
    def stored(cls, folder: ComponentFolder, terms: int) -> ImpactBounds:
        """Return the bounds that a folder stores.

        Raise IndexCorrupt if their dtypes or sizes do not fit this number of terms.
        """
        for name, count in (("least", terms), ("most", terms), ("kth", terms * len(LEVELS))):
            folder.expect(name, ("<f4",), count)
        return cls(folder["least"].all(), folder["most"].all(), folder["kth"].all().reshape(len(LEVELS), terms))

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays to store, by name."""
        return {"least": self.least, "most": self.most, "kth": self.kth}

    def largest(self, terms: np.ndarray | slice) -> float:
        """Return the largest absolute value of an impact of some terms."""
        return max(float(self.most[terms].max(initial=0)), -float(self.least[terms].min(initial=0)))

    def near(self, depth: int) -> np.ndarray:
        """Return for each term an estimate of its impact at rank `depth`; -inf if there is none.

        It is the k-th best impact for the largest k of LEVELS up to `depth`, or for the smallest k if all are larger.
        There is none for a depth of at least the last of LEVELS.
        """
        level = bisect_right(LEVELS, depth)
        return self.kth[max(0, level - 1)] if level < len(LEVELS) else self._no_kth

    def best(self, k: int) -> np.ndarray:
        """Return for each term a lower bound of its k-th best impact; -inf if no bound is known."""
        level = bisect_left(LEVELS, k)
        return self.kth[level] if level < len(LEVELS) else self._no_kth

    @cached_property
    def _no_kth(self) -> np.ndarray:
        return np.full(len(self.least), -np.inf, np.float32)

    def copy(self, terms: np.ndarray, other: ImpactBounds, others: np.ndarray) -> None:
        """Copy the bounds of the terms `others` in `other` to the terms `terms` here."""
        self.least[terms], self.most[terms] = other.least[others], other.most[others]
        self.kth[:, terms] = other.kth[:, others]
