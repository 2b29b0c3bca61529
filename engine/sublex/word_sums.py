"""What plugins share whose scores are sums over pairs of a query's word and a document's word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.base import Explanation
from sublex.errors import IndexCorrupt
from sublex.estimators.bags import Bag
from sublex.estimators.blocks import Blocks
from sublex.estimators.linear import Shares
from sublex.fitted import Corpus, Of, Representation, Store, Stored, View

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Progress = Callable[[int, int], None]
# So many words of the document are named for each word of the query.
NAMED = 8


class WordSums(Representation):
    """A representation that stores one number a document, its norm, and values words for a query.

    Its `estimator` has `norms(rows)` and `shares(query, row)`; `of` is what counts are taken for.
    """

    compared = "vectors"
    of: Of | None = None
    estimator: Any

    def valued(self, row: csr_array) -> tuple[np.ndarray, float]:
        """What an occurrence of each word adds for a query, before the document's norm divides it; and the query's norm."""
        raise NotImplementedError

    def encode_documents(self, inputs: csr_array) -> np.ndarray:
        """The norms."""
        return self.estimator.norms(inputs).astype(np.float32)

    def transform(self, inputs: csr_array) -> np.ndarray:
        """The documents' vectors."""
        return self.estimator.transform(inputs)

    def encode_queries(self, inputs: csr_array) -> list[Any]:
        """Rows with what they make of words."""
        return [(inputs[[k]], *self.valued(inputs[[k]])) for k in range(inputs.shape[0])]

    def score(self, query: Any, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Cosines."""
        _, values, norm = query
        lengths = norm * np.asarray(view.rows(docs), np.float64)
        sums = view.dot(values, docs, self.of)
        return np.divide(sums, lengths, out=np.full(len(sums), -np.inf), where=lengths > 0)

    def word_vectors(self) -> np.ndarray | None:
        """Those of the estimator, where it has some."""
        return getattr(self.estimator, "vectors", None)

    def explain(self, query: Any, view: View, doc: int) -> Explanation:
        """The pairs of words that add up to a cosine."""
        shares = self.estimator.shares(query[0], view.terms(np.array([doc])))
        parts = pairs(shares, self.vocabulary, view.surface)
        label = f"cosine of the {self.compared} of query and document, by pairs of words"
        return Explanation(sum(part.value for part in parts), label, "sum", parts)


class BagSums(WordSums):
    """Sums of words' vectors: the estimator is a `Bag`, of which the parts in `kept` are stored."""

    estimator: Bag
    kept: tuple[str, ...] = ("vectors", "weights")

    def save(self, store: Store) -> None:
        """Vocabulary and estimator."""
        store.put("vocabulary", list(self.vocabulary))
        for name in self.kept:
            store.put(name, getattr(self.estimator, name))

    def load(self, store: Stored) -> None:
        """The same again."""
        self.vocabulary = store.get("vocabulary")
        for name in self.kept:
            setattr(self.estimator, name, store.get(name))
        words, vectors = len(self.vocabulary), self.estimator.vectors
        sound(vectors.ndim == 2 and len(vectors) == words and self.estimator.weights.shape == (words,))

    def valued(self, row: csr_array) -> tuple[np.ndarray, float]:
        """The products of the words' vectors with the query's, times their weights."""
        asked = self.estimator.transform(row)[0]
        return self.estimator.weights * (self.estimator.vectors @ asked), float(np.linalg.norm(asked))


def sound(holds: bool) -> None:
    """Refuse a kept model whose parts do not fit each other: kernels would read beside them."""
    if not holds:
        raise IndexCorrupt("The parts of the model do not fit each other; fit it again.")


def frequent(corpus: Corpus, least: int, most: float = 1.0) -> list[str]:
    """The terms that are in so many documents or more, and in no more than a share of all."""
    df = np.zeros(len(corpus.vocabulary), np.int64)
    for block in corpus.blocks():
        df += np.bincount(block.indices, minlength=len(df))
    return [corpus.vocabulary[k] for k in np.flatnonzero((df >= least) & (df <= most * len(corpus.docs))).tolist()]


def counts(corpus: Corpus, vocabulary: Sequence[str], progress: Progress = lambda done, total: None) -> Blocks:
    """The blocks of a corpus over a vocabulary, to be read as often as need be."""
    places = corpus.recode(vocabulary)

    def blocks() -> Iterator[csr_array]:
        from scipy.sparse import csr_array

        done = 0
        for block in corpus.blocks():
            found = places[block.indices]
            known = found >= 0
            starts = np.append(0, np.cumsum(known))[block.indptr]
            made = csr_array((block.data[known], found[known], starts), shape=(block.shape[0], len(vocabulary)))
            made.sort_indices()
            done += block.shape[0]
            progress(done, len(corpus.docs))
            yield made

    return blocks


def pairs(shares: Shares, vocabulary: Sequence[str], surface: Callable[[str], str]) -> tuple[Explanation, ...]:
    """What each word of the query adds, and through which words of the document; the parts add up."""
    made = []
    for place, word in enumerate(shares.query.tolist()):
        own = shares.values[place]
        order = np.argsort(-np.abs(own), kind="stable")
        best, rest = order[:NAMED], order[NAMED:]
        parts = [Explanation(float(own[k]), surface(vocabulary[int(shares.document[k])])) for k in best]
        if len(rest):
            parts.append(Explanation(float(own[rest].sum()), f"{len(rest):,} other words"))
        made.append(Explanation(float(own.sum()), surface(vocabulary[word]), "sum", tuple(parts)))
    return tuple(made)
