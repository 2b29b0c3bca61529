"""The ranker NAME. `sublex --help` imports this module, so import heavy packages in functions."""

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Param, Ranker, Statistics, TermStats
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("s", float, 0.5, range=(0, 1), help="how much the length of documents counts"),
    Param("k", float, 0.35, range=(0, 2), help="how much the rarity of terms counts"),
]


class F2EXP(Ranker):
    """F2-EXP: the rarity of a term times a share that grows with its frequency.

    The formula was designed to fulfil axioms. H. Fang, C. Zhai: An exploration of axiomatic approaches to information
    retrieval. SIGIR 2005.
    """

    # The statistics of documents that `score` reads. All others are NaN.
    reads = ("length",)
    # Properties of the scores that `sublex plugin test` checks in addition to those of every ranker.
    claims = ("rises with tf", "falls with length", "falls with df")

    def __init__(self, s: float, k: float):
        self.s, self.k = s, k

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        """Return the scores of postings."""
        return self._rarity(term, collection) * self._share(tf, doc, collection)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        """Return one score as a product of two parts."""
        rarity, share = self._rarity(term, collection), self._share(tf, doc, collection)
        parts = (
            Explanation(float(rarity), f"rarity: in {term.df:.0f} of {collection.docs} documents"),
            Explanation(float(share), f"share: {tf:.0f} times among {doc.length:.0f} words"),
        )
        return Explanation(float(rarity * share), "NAME", "product", parts)

    def _rarity(self, term, collection):
        return ((collection.docs + 1) / term.df) ** self.k

    def _share(self, tf, doc, collection):
        return tf / (tf + self.s + self.s * doc.length / collection.mean_length)


@hookimpl
def register_rankers(register: Register) -> None:
    """Register NAME."""
    register("NAME", F2EXP, PARAMS)
