"""dCoT on an index.

For a text, x are the counts of its words. h are the values of the prototypes in the last layer, minus the values for an
empty text. The stored row of a document has h scaled to norm 1 (its direction), then the norm of h, then the norm of x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Explanation
from sublex.contracts.fitted import Corpus, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared, Numbers
from sublex.estimators.word_sums import VOCABULARY, check_model, frequent_counts
from sublex_dcot.model import DCoT, Share

# The number of prototypes in an explanation, and the number of the document's words for each prototype.
LISTED_PROTOTYPES, LISTED_WORDS = 10, 5


class MappedQuery(NamedTuple):
    """An encoded query.

    `direction` are the values of the prototypes, scaled to norm 1, and `length` is the norm before the scaling. `x` are
    the counts of the query's words as a sparse row, or their logarithms, and `words` is the norm of `x`.
    """

    direction: np.ndarray
    length: float
    x: csr_array
    words: float


class DCoTRepresentation(Representation):
    """Scores documents by cosine. The vector of a text is h: the values of the prototypes, minus the values for an
    empty text.

    With `words` above 0, the vector also has the counts x of the words, multiplied by `words`: it is [words · x; h].
    Words that occur in more than the share `max_df` of the documents are left out.
    """

    version = 2

    def __init__(self, *, max_df: float, words: float, find: str, **params: Any):
        self.estimator, self.max_df, self.words = DCoT(**params), max_df, words
        # With `words` above 0, the vectors also have an entry for each word, so scores are not cosines of short
        # vectors.
        self.cosines, self.find = words == 0, find

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Learn the maps from the counts of the words that are neither too rare nor too common."""
        # Words in nearly all documents would become prototypes, and every document evokes them.
        self.vocabulary, matrix = frequent_counts("dcot", corpus, self.estimator.min_df, self.max_df)
        # The maps of deeper layers are not learned by columns.
        progress = partial(job.progress, unit="columns" if self.estimator.layers == 1 else "steps")
        self.estimator.fit(matrix, workers=job.workers, progress=progress)

    def save(self, store: Store) -> None:
        """Store the vocabulary, the columns in use, the numbers of steps and the maps."""
        fitted = self.estimator
        store.put("vocabulary", list(self.vocabulary))
        store.put("words", fitted.words_)
        store.put("steps", np.asarray(fitted.steps_))
        for layer, W in enumerate(fitted.W_):
            store.put(f"W{layer}", W)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name.

        The model has the numbers of the words in use, and for each layer a map to the r prototypes.
        """
        types = np.dtype(self.estimator.storage).str[1:]
        return {
            **VOCABULARY,
            "words": Numbers(("used",), "i4", 0, below="words"),
            "steps": Numbers((None,), "i4"),
            "W0": Numbers(("used + 1", "r"), types),
            **{f"W{layer}": Numbers(("r + 1", "r"), types) for layer in range(1, self.estimator.layers)},
        }

    def load(self, store: Stored) -> None:
        """Restore the model."""
        fitted = self.estimator
        self.vocabulary = store.get("vocabulary")
        fitted.columns_, fitted.words_, fitted.steps_ = len(self.vocabulary), store.get("words"), store.get("steps")
        fitted.W_ = [store.get(f"W{layer}") for layer in range(fitted.layers)]
        used, r = len(fitted.words_), fitted.W_[0].shape[1]
        check_model(0 < r <= used and len(fitted.steps_) > 0)
        fitted.place_ = np.full(fitted.columns_, -1, np.int32)
        fitted.place_[fitted.words_] = np.arange(used)
        self.row_values = Numbers((r + 2,), "f4")

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the number of prototypes, the most frequent prototypes, and the number of steps of conjugate
        gradients.
        """
        first = [view.surface(self.vocabulary[word]) for word in self.estimator.prototypes_[:10].tolist()]
        steps = int(np.max(self.estimator.steps_))
        return {
            "prototypes": len(self.estimator.prototypes_),
            "the most frequent": first,
            "steps of conjugate gradients": steps,
        }

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes: counts and their copies, the first map, and the blocks of the
        solver.
        """
        terms = len(corpus.vocabulary)
        return 48 * int(corpus.lengths.sum()) + 4 * terms * self.estimator.r + 8 * 10 * terms * 32 * job.workers

    def transform(self, inputs: csr_array) -> np.ndarray:
        """Return the values of the prototypes for each document: a row with the values of all layers, one layer after
        another.

        The values for an empty document are not subtracted, and the rows are not scaled.
        """
        return self.estimator.transform(inputs)

    def encode_documents(self, inputs: csr_array) -> np.ndarray:
        """Return a row for each document (float32): h scaled to norm 1, then the norm of h, then the norm of x.

        The docstring of the module explains h and x.
        """
        directions, lengths = _directions(self._above(inputs))
        return np.hstack([directions, lengths, self._lengths(inputs)]).astype(np.float32)

    def document_vectors(self, inputs: csr_array) -> np.ndarray:
        """Return h for each document, scaled to norm 1: the values of the prototypes in the last layer, minus those for
        an empty document.
        """
        return _directions(self._above(inputs))[0]

    def query_vector(self, query: MappedQuery) -> np.ndarray:
        """Return the vector of an encoded query, scaled to norm 1."""
        return query.direction

    def encode_queries(self, inputs: csr_array) -> list[MappedQuery]:
        """Return the encoded queries.

        The words of negative weight in a query are encoded as a text of their own. The values of the prototypes for
        this text are subtracted from those for the other words.
        """
        # The model reads counts, which are never negative.
        above = self._above(inputs.maximum(0)) - self._above((-inputs).maximum(0))
        directions, lengths = _directions(above)
        return [
            MappedQuery(direction, float(length), self._x(inputs[[k]]), float(words))
            for k, (direction, length, words) in enumerate(
                zip(directions, lengths[:, 0], self._lengths(inputs)[:, 0], strict=True)
            )
        ]

    def score(self, query: MappedQuery, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of the query with documents. A cosine is -inf if the vector of the query or of the
        document has norm 0.
        """
        rows = view.rows(docs, slice(-2, None))
        evoked = view.products(np.append(query.direction, (0.0, 0.0)), docs)
        if self.words == 0:
            # A text that evokes nothing has no direction.
            return np.where((rows[:, -2] > 0) & (query.length > 0), evoked, -np.inf)
        values = np.zeros(len(self.vocabulary))
        values[query.x.indices] = query.x.data
        shared = view.dot(values, docs, np.log1p if self.estimator.log else None)
        lengths = self._norms(query, rows)
        sums = self.words**2 * shared + evoked * np.float64(query.length) * rows[:, -2]
        return np.divide(sums, lengths, out=np.full(len(rows), -np.inf), where=lengths > 0)

    def explain(self, query: MappedQuery, view: View, doc: int) -> Explanation:
        """Return the parts of the cosine of a query and a document.

        There is one part for each prototype, with the words of the document that raised the prototype. With `words`
        above 0, there is also one part for each shared word.
        """
        row, terms = np.asarray(view.rows(np.array([doc])), np.float64), view.terms(np.array([doc]))
        products = row[0, :-2] * query.direction.astype(np.float64)
        parts: list[Explanation] = []
        if self.words:
            norm = self._norms(query, row)[0] or 1.0
            products *= query.length * row[0, -2] / norm
            shared = query.x.multiply(self._x(terms)).tocoo()
            parts = [
                Explanation(self.words**2 * value / norm, view.surface(self.vocabulary[word]))
                for word, value in zip(shared.coords[1].tolist(), shared.data.tolist(), strict=True)
            ]
        order = np.argsort(-np.abs(products), kind="stable")
        best = order[:LISTED_PROTOTYPES]
        parts += [
            self._prototype(k, float(products[k]), shares, view)
            for k, (_, shares) in zip(best.tolist(), self.estimator.raised(terms, best, LISTED_WORDS), strict=True)
        ]
        rest = order[LISTED_PROTOTYPES:]
        if len(rest):
            parts.append(Explanation(float(products[rest].sum()), f"{len(rest):,} other prototypes"))
        by = "by shared words and prototypes" if self.words else "by prototypes"
        total = sum(part.value for part in parts)
        return Explanation(total, f"cosine of what query and document evoke, {by}", "sum", tuple(parts))

    def _prototype(self, place: int, value: float, shares: Sequence[Share], view: View) -> Explanation:
        """Return the part of an explanation for one prototype: the amount `value` that it adds to a cosine.

        `place` is the number of the prototype. `shares` are the words of the document that raised the prototype in the
        first layer, with their shares.
        """
        raised_by = {
            view.surface(self.vocabulary[share.word]): round(share.share, 4) for share in shares if share.share > 0
        }
        label = view.surface(self.vocabulary[self.estimator.prototypes_[place]])
        return Explanation(value, label, evidence={"raised by": raised_by} if raised_by else {})

    def _above(self, inputs: csr_array) -> np.ndarray:
        """Return h for each text: the values of the prototypes in the last layer, minus the values for an empty text."""
        return (self.estimator.transform(inputs) - self.estimator.empty_)[:, -self.estimator.W_[-1].shape[1] :]

    def _norms(self, query: MappedQuery, rows: np.ndarray) -> np.ndarray:
        """Return for each document the product of two norms: of the query's vector [words · x; h], and of the
        document's.

        `rows` are the stored rows of the documents. Their last two columns are the norms of h and of x.
        """
        query_length = np.hypot(self.words * query.words, query.length)
        return query_length * np.hypot(self.words * rows[:, -1].astype(np.float64), rows[:, -2].astype(np.float64))

    def _x(self, inputs: csr_array) -> csr_array:
        """Return x for each text: its counts or, if the model uses logarithms, log(1 + |count|) with the sign of the
        count.
        """
        return inputs.sign().multiply(abs(inputs).log1p()).tocsr() if self.estimator.log else inputs

    def _lengths(self, inputs: csr_array) -> np.ndarray:
        """Return the norm of x for each text, as a column."""
        x = self._x(inputs)
        return np.sqrt(x.multiply(x).sum(axis=1)).reshape(-1, 1)


def _directions(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows scaled to norm 1, and the norms before the scaling, as a column. Rows of zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), lengths
