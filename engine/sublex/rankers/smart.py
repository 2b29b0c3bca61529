"""SMART's weighting schemes: three letters for documents, three for queries, as in `lnc.ltc`: frequency, rarity, normalisation.

Letters as in C. D. Manning, P. Raghavan and H. Schütze, Introduction to information retrieval, 2008, section 6.4.3; d and u by
A. Singhal et al., TREC-7 and SIGIR 1996. A document's `a` would need its highest frequency and `b` its bytes, which are not at hand.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sublex.base import DocStats, Explanation, Statistics, TermStats
from sublex.errors import InputError
from sublex.rankers.weighting_model import Formula, frequency, leaf, product, rarity


class Letter(NamedTuple):
    """A formula and how people write it."""

    of: Formula
    formula: str


# `log` is 1 + log x; `mean` and `most` are the mean and the highest frequency in the text.
FREQUENCY = {
    "n": Letter(lambda tf, mean, most, log: tf, "tf"),
    "l": Letter(lambda tf, mean, most, log: log(tf), "1 + log tf"),
    "L": Letter(lambda tf, mean, most, log: log(tf) / log(mean), "(1 + log tf) / (1 + log mean tf)"),
    "d": Letter(lambda tf, mean, most, log: log(log(tf)), "1 + log(1 + log tf)"),
    "b": Letter(lambda tf, mean, most, log: np.ones_like(tf), "1"),
    "a": Letter(lambda tf, mean, most, log: 0.5 + 0.5 * tf / most, "0.5 + 0.5 tf / max tf"),
}
# `unit` turns natural logarithms into those of the base.
RARITY = {
    "n": Letter(lambda df, docs, unit: np.ones_like(df, dtype=np.float64), "1"),
    "t": Letter(lambda df, docs, unit: np.log(docs / df) / unit, "log(N / df)"),
    "p": Letter(lambda df, docs, unit: np.log(np.maximum((docs - df) / df, 1)) / unit, "max(0, log((N - df) / df))"),
}
# `squares` is the sum of squared weights; `pivot` the mean number of distinct terms in a document.
NORMALISATION = {
    "n": Letter(lambda squares, unique, pivot, slope: 1.0, "1"),
    "c": Letter(
        lambda squares, unique, pivot, slope: 1 / np.sqrt(np.where(squares > 0, squares, 1)), "1 / sqrt(sum of squares)"
    ),
    "u": Letter(
        lambda squares, unique, pivot, slope: 1 / ((1 - slope) * pivot + slope * unique),
        "1 / ((1 - slope) mean unique + slope unique)",
    ),
}


class Scheme(NamedTuple):
    """The documents' letters, the queries' letters, the slope of u and the base of the logarithms."""

    document: str
    query: str
    slope: float
    base: float

    @classmethod
    def parse(cls, text: str, slope: float, base: float) -> Scheme:
        """Read `lnc.ltc`."""
        document, _, query = text.partition(".")
        for letters, frequencies in ((document, "nlLdb"), (query, FREQUENCY)):
            known = (frequencies, RARITY, NORMALISATION)
            if len(letters) != 3 or any(letter not in of for letter, of in zip(letters, known, strict=True)):
                raise InputError(
                    f"TFIDF: smart={text} is no scheme such as lnc.ltc; each part is a letter of n l L d b (in queries also a), "
                    "one of n t p and one of n c u."
                )
        return cls(document, query, slope, base)

    def score(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> Any:
        """A term's weight in documents."""
        return self._plain(tf, doc, term, collection) * self._normal(self.document, doc, collection)

    def norm_part(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> Any:
        """What a term adds to a document's sum of squares."""
        return self._plain(tf, doc, term, collection) ** 2

    def weight(self, qtf: np.ndarray, term: TermStats, collection: Statistics) -> np.ndarray:
        """The terms' weights in the query; what is negative stays negative."""
        if not np.any(qtf):
            return qtf
        size = np.abs(qtf)
        most, mean = size.max(), size.mean()
        weights = np.sign(qtf) * FREQUENCY[self.query[0]].of(size, mean, most, self._log)
        weights = weights * self._rarity(self.query, term, collection)
        query = DocStats(size, np.asarray(size.size), (weights**2).sum())
        return weights * self._normal(self.query, query, collection)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics, label: str) -> Explanation:
        """The documents' side; the queries' is in the weight."""
        often, rare, normal = tuple(self.document)
        value = FREQUENCY[often].of(np.float64(tf), doc.length / doc.unique, 1.0, self._log)
        parts = [frequency(value, tf, doc, collection, FREQUENCY[often].formula)]
        if rare != "n":
            value = self._rarity(self.document, term, collection)
            parts.append(rarity(value, term, collection, RARITY[rare].formula))
        if normal != "n":
            value, formula = self._normal(self.document, doc, collection), NORMALISATION[normal].formula
            parts.append(leaf(value, f"length: {doc.unique:g} distinct words", formula, squares=doc.norm))
        return product(label, *parts)

    def _plain(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> Any:
        often = FREQUENCY[self.document[0]].of(tf, doc.length / doc.unique, 1.0, self._log)
        return often * self._rarity(self.document, term, collection)

    def _normal(self, letters: str, text: DocStats, collection: Statistics) -> Any:
        pivot = collection.postings / max(collection.docs, 1)
        return NORMALISATION[letters[2]].of(text.norm, text.unique, pivot, self.slope)

    def _rarity(self, letters: str, term: TermStats, collection: Statistics) -> Any:
        return RARITY[letters[1]].of(term.df, collection.docs, math.log(self.base))

    def _log(self, x: Any) -> Any:
        # Below 1, where 1 + log x would soon be negative, a fractional frequency counts as it is.
        return np.where(x < 1, x, 1 + np.log(np.maximum(x, 1)) / math.log(self.base))
