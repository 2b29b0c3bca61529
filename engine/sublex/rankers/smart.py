"""SMART's weighting schemes, as in `lnc.ltc`: three letters for documents, a dot, and three letters for queries.

The letters of each side name the term-frequency weight, the document-frequency weight and the normalisation. They
follow C. D. Manning, P. Raghavan and H. Schütze, Introduction to information retrieval, 2008, section 6.4.3; d and u
follow A. Singhal et al., TREC-7 and SIGIR 1996. Two letters are not allowed for documents, because the index does not give
rankers the numbers for them: `a` needs the document's highest frequency, and `b` as normalisation its size in bytes.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.errors import InputError
from sublex.rankers.explanations import document_frequency, leaf, product, term_frequency
from sublex.rankers.weighting_model import Formula


class Letter(NamedTuple):
    """The weight that a letter stands for: a function that computes the weight, and its written formula."""

    compute: Formula
    formula: str


# The functions get a frequency, the `mean` and the `highest` frequency in the text, and a function `log` that computes
# 1 + log x in the scheme's base.
TERM_FREQUENCY = {
    "n": Letter(lambda tf, mean, highest, log: tf, "tf"),
    "l": Letter(lambda tf, mean, highest, log: log(tf), "1 + log tf"),
    "L": Letter(lambda tf, mean, highest, log: log(tf) / log(mean), "(1 + log tf) / (1 + log mean tf)"),
    "d": Letter(lambda tf, mean, highest, log: log(log(tf)), "1 + log(1 + log tf)"),
    "b": Letter(lambda tf, mean, highest, log: np.ones_like(tf), "1"),
    "a": Letter(lambda tf, mean, highest, log: 0.5 + 0.5 * tf / highest, "0.5 + 0.5 tf / max tf"),
}
# The functions divide natural logarithms by `unit` to get logarithms of the scheme's base.
DOCUMENT_FREQUENCY = {
    "n": Letter(lambda df, docs, unit: np.ones_like(df, dtype=np.float64), "1"),
    "t": Letter(lambda df, docs, unit: np.log(docs / df) / unit, "log(N / df)"),
    "p": Letter(lambda df, docs, unit: np.log(np.maximum((docs - df) / df, 1)) / unit, "max(0, log((N - df) / df))"),
}
# In these functions, `squares` is the sum of squared weights, and `pivot` the mean number of distinct terms in a
# document.
NORMALISATION = {
    "n": Letter(lambda *_: 1.0, "1"),
    "c": Letter(lambda squares, *_: 1 / np.sqrt(np.where(squares > 0, squares, 1)), "1 / sqrt(sum of squares)"),
    "u": Letter(
        lambda squares, unique, pivot, slope: 1 / ((1 - slope) * pivot + slope * unique),
        "1 / ((1 - slope) mean unique + slope unique)",
    ),
}


class Scheme(NamedTuple):
    """A SMART scheme: the letters for documents and for queries, the slope of u, and the base of the logarithms."""

    document: str
    query: str
    slope: float
    base: float

    @classmethod
    def parse(cls, text: str, slope: float, base: float) -> Scheme:
        """Return the scheme that a text such as `lnc.ltc` names. Raise `InputError` for any other text."""
        document, _, query = text.partition(".")
        for letters, frequencies in ((document, "nlLdb"), (query, TERM_FREQUENCY)):
            allowed = (frequencies, DOCUMENT_FREQUENCY, NORMALISATION)
            if len(letters) != 3 or any(letter not in known for letter, known in zip(letters, allowed, strict=True)):
                raise InputError(
                    f"TFIDF: smart={text} is no scheme such as lnc.ltc; each part is a letter of n l L d b (in queries "
                    "also a), one of n t p and one of n c u."
                )
        return cls(document, query, slope, base)

    def score(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> Any:
        """Return the weights of a term in documents."""
        return self._unnormalised(tf, doc, term, collection) * self._normalisation(self.document, doc, collection)

    def norm_part(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> Any:
        """Return the squares of a term's weights in documents, before normalisation.

        The squares of all terms of a document add up to the document's squared norm.
        """
        return self._unnormalised(tf, doc, term, collection) ** 2

    def weight(self, qtf: np.ndarray, term: TermStats, collection: Statistics) -> np.ndarray:
        """Return the weights of the query's terms by the letters for queries.

        A negative `qtf` gives a negative weight.
        """
        if not np.any(qtf):
            return qtf
        size = np.abs(qtf)
        highest, mean = size.max(), size.mean()
        weights = np.sign(qtf) * TERM_FREQUENCY[self.query[0]].compute(size, mean, highest, self._log)
        weights = weights * self._document_frequency(self.query, term, collection)
        query = DocStats(size, np.asarray(size.size), (weights**2).sum())
        return weights * self._normalisation(self.query, query, collection)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics, label: str) -> Explanation:
        """Return the weight of a term in a document, with its factors, under the label `label`.

        The term's weight in the query is not among the factors.
        """
        t, d, n = tuple(self.document)
        value = TERM_FREQUENCY[t].compute(np.float64(tf), doc.length / doc.unique, 1.0, self._log)
        parts = [term_frequency(value, tf, doc, collection, TERM_FREQUENCY[t].formula)]
        if d != "n":
            value = self._document_frequency(self.document, term, collection)
            parts.append(document_frequency(value, term, collection, DOCUMENT_FREQUENCY[d].formula))
        if n != "n":
            value, formula = self._normalisation(self.document, doc, collection), NORMALISATION[n].formula
            parts.append(leaf(value, f"length: {doc.unique:g} distinct words", formula, squares=doc.norm))
        return product(label, *parts)

    def _unnormalised(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> Any:
        frequency = TERM_FREQUENCY[self.document[0]].compute(tf, doc.length / doc.unique, 1.0, self._log)
        return frequency * self._document_frequency(self.document, term, collection)

    def _document_frequency(self, letters: str, term: TermStats, collection: Statistics) -> Any:
        return DOCUMENT_FREQUENCY[letters[1]].compute(term.df, collection.docs, math.log(self.base))

    def _normalisation(self, letters: str, text: DocStats, collection: Statistics) -> Any:
        pivot = collection.postings / max(collection.docs, 1)
        return NORMALISATION[letters[2]].compute(text.norm, text.unique, pivot, self.slope)

    def _log(self, x: Any) -> Any:
        # Fractional frequencies below 1 are returned unchanged, because 1 + log x is below 0 for small x.
        return np.where(x < 1, x, 1 + np.log(np.maximum(x, 1)) / math.log(self.base))
