"""dCoT on an index: a document's row is h of its last layer less that of an empty document, at length 1, then that length and x's."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from sublex.base import Explanation
from sublex.errors import InputError
from sublex.fitted import Representation
from sublex.word_sums import counts, frequent, sound
from sublex_dcot.model import DCoT

# The prototypes that an explanation names, and the words of the document that it names for each.
PROTOTYPES, WORDS = 10, 5


class Asked(NamedTuple):
    """A query: the direction and the length of what it evokes, x as a sparse row, and the length of that."""

    direction: np.ndarray
    length: float
    x: Any
    words: float


class DCoTRepresentation(Representation):
    """Cosines of what query and document evoke; with `words` of [x; h], x times this weight."""

    version = 2

    def __init__(
        self,
        r: int = 500,
        layers: int = 1,
        p: float = 0.9,
        log: bool = False,
        min_df: int = 2,
        max_df: float = 0.1,
        words: float = 0.0,
    ):
        self.estimator, self.max_df, self.words = DCoT(r, layers, p, log, min_df), max_df, words

    def fit(self, corpus, job):
        # Words that are everywhere would be the first prototypes, and everything evokes them.
        least = self.estimator.min_df
        self.vocabulary = frequent(corpus, least, self.max_df)
        if not self.vocabulary:
            raise InputError(
                f"dcot: no word is in {least:,} or more of {len(corpus.docs):,} documents and in no more than {self.max_df:.0%} of them; "
                "lower min_df, or raise max_df."
            )
        matrix = csr_array(vstack(list(counts(corpus, self.vocabulary)())))
        self.estimator.fit(matrix, workers=job.workers, progress=job.progress)

    def save(self, store):
        fitted = self.estimator
        store.put("vocabulary", list(self.vocabulary))
        store.put("words", fitted.words_)
        store.put("steps", np.asarray(fitted.steps_))
        for layer, W in enumerate(fitted.W_):
            store.put(f"W{layer}", W)

    def load(self, store):
        fitted = self.estimator
        self.vocabulary = store.get("vocabulary")
        fitted.columns_, fitted.words_, fitted.steps_ = len(self.vocabulary), store.get("words"), store.get("steps")
        words = fitted.words_
        sound(
            words.dtype.kind == "i"
            and 0 < len(words) <= fitted.columns_
            and 0 <= words.min() <= words.max() < fitted.columns_
        )
        fitted.place_ = np.full(fitted.columns_, -1, np.int32)
        fitted.place_[fitted.words_] = np.arange(len(fitted.words_))
        fitted.W_ = [store.get(f"W{layer}") for layer in range(fitted.layers)]
        r = fitted.W_[0].shape[-1]
        sound(fitted.W_[0].shape == (len(words) + 1, r) and all(W.shape == (r + 1, r) for W in fitted.W_[1:]))
        sound(0 < r <= len(words))

    def describe(self, view):
        first = [view.surface(self.vocabulary[word]) for word in self.estimator.prototypes_[:10].tolist()]
        steps = int(np.max(self.estimator.steps_))
        return {
            "prototypes": len(self.estimator.prototypes_),
            "the most frequent": first,
            "steps of conjugate gradients": steps,
        }

    def estimate(self, corpus, job):
        # The counts with what is made of them, W, and what conjugate gradients hold of some columns.
        terms = len(corpus.vocabulary)
        return 48 * int(corpus.lengths.sum()) + 4 * terms * self.estimator.r + 8 * 10 * terms * 32 * job.workers

    def transform(self, inputs):
        return self.estimator.transform(inputs)

    def encode_documents(self, inputs):
        directions, lengths = _directions(self._above(inputs))
        return np.hstack([directions, lengths, self._lengths(inputs)]).astype(np.float32)

    def encode_queries(self, inputs):
        # What is not wanted evokes the opposite: counts, which the model reads, are never negative.
        above = self._above(inputs.maximum(0)) - self._above((-inputs).maximum(0))
        directions, lengths = _directions(above)
        return [
            Asked(direction, float(length), self._tamed(inputs[[k]]), float(own))
            for k, (direction, length, own) in enumerate(
                zip(directions, lengths[:, 0], self._lengths(inputs)[:, 0], strict=True)
            )
        ]

    def score(self, query, view, docs=None):
        rows = view.rows(docs, slice(-2, None))
        evoked = view.products(np.append(query.direction, (0.0, 0.0)), docs)
        if self.words == 0:
            # What evokes nothing has no direction.
            return np.where((rows[:, -2] > 0) & (query.length > 0), evoked, -np.inf)
        values = np.zeros(len(self.vocabulary))
        values[query.x.indices] = query.x.data
        shared = view.dot(values, docs, np.log1p if self.estimator.log else None)
        lengths = self._norms(query, rows)
        sums = self.words**2 * shared + evoked * np.float64(query.length) * rows[:, -2]
        return np.divide(sums, lengths, out=np.full(len(rows), -np.inf), where=lengths > 0)

    def explain(self, query, view, doc):
        row, terms = np.asarray(view.rows(np.array([doc])), np.float64), view.terms(np.array([doc]))
        products = row[0, :-2] * query.direction.astype(np.float64)
        parts = []
        if self.words:
            norm = self._norms(query, row)[0] or 1.0
            products *= query.length * row[0, -2] / norm
            shared = query.x.multiply(self._tamed(terms)).tocoo()
            parts = [
                Explanation(self.words**2 * value / norm, view.surface(self.vocabulary[word]))
                for word, value in zip(shared.coords[1].tolist(), shared.data.tolist(), strict=True)
            ]
        order = np.argsort(-np.abs(products), kind="stable")
        best = order[:PROTOTYPES]
        parts += [
            self._prototype(k, float(products[k]), shares, view)
            for k, (_, shares) in zip(best.tolist(), self.estimator.raised(terms, best, WORDS), strict=True)
        ]
        rest = order[PROTOTYPES:]
        if len(rest):
            parts.append(Explanation(float(products[rest].sum()), f"{len(rest):,} other prototypes"))
        what = "by shared words and prototypes" if self.words else "by prototypes"
        total = sum(part.value for part in parts)
        return Explanation(total, f"cosine of what query and document evoke, {what}", "sum", tuple(parts))

    def _prototype(self, place, value, shares, view):
        """What a prototype adds, and the words of the document that raised it in the first layer."""
        told = {view.surface(self.vocabulary[share.word]): round(share.share, 4) for share in shares if share.share > 0}
        label = view.surface(self.vocabulary[self.estimator.prototypes_[place]])
        return Explanation(value, label, evidence={"raised by": told} if told else {})

    def _above(self, inputs):
        return (self.estimator.transform(inputs) - self.estimator.empty_)[:, -self.estimator.W_[-1].shape[1] :]

    def _norms(self, query, rows):
        """The lengths of [x; h] of the query, x times its weight, times those of documents."""
        own = np.hypot(self.words * query.words, query.length)
        return own * np.hypot(self.words * rows[:, -1].astype(np.float64), rows[:, -2].astype(np.float64))

    def _tamed(self, inputs):
        """x: counts, or their logarithms."""
        return inputs.sign().multiply(abs(inputs).log1p()).tocsr() if self.estimator.log else inputs

    def _lengths(self, inputs):
        """The lengths of x."""
        x = self._tamed(inputs)
        return np.sqrt(x.multiply(x).sum(axis=1)).reshape(-1, 1)


def _directions(rows):
    """Rows of length 1, or of zeros, and the lengths that they had."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), lengths
