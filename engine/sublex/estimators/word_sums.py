"""Base classes and helpers for representations that score a document by a sum over pairs of a query word and a document word.

`WordSums` stores one number for each document, the norm of its vector. It scores documents by the stored terms of the
index. The plugins `lsi`, `vectors` and `fisher` derive from this class. The functions here help any plugin that reads
terms to implement `fit`, `load` and `explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.fitted import Corpus, CountTransform, Representation, Store, Stored, View, Weights
from sublex.contracts.stored import Declared, Json, Numbers
from sublex.errors import IndexCorrupt, InputError
from sublex.estimators.bags import Bag
from sublex.estimators.blocks import Blocks
from sublex.estimators.linear import Shares

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Progress = Callable[[int, int], None]
# The number of document words that an explanation lists for each query word; the other words are added up in one part.
LISTED_WORDS = 8
# The declaration of a model's terms. It gives the name "words" to their number, for other declarations.
VOCABULARY: Mapping[str, Declared] = {"vocabulary": Json(list[str], "words", distinct=True)}
# The declaration of a row that is the norm of a document's vector.
NORM = Numbers((), "f4", 0)


class WordValues:
    """The values of words for a query. A value is computed when it is first asked for.

    `words` is the number of words. `compute(words, values)` sets `values[word]` for each of some distinct words. The
    value of a word must not depend on the other words of the call.
    """

    def __init__(self, words: int, compute: Callable[[np.ndarray, np.ndarray], None]):
        self._compute, self._values, self._known = compute, np.zeros(words), np.zeros(words, np.bool_)

    def __call__(self, words: np.ndarray) -> np.ndarray:
        """Return the values of the words with these numbers. The numbers must be distinct."""
        new = words[~self._known[words]]
        self._compute(new, self._values)
        self._known[new] = True
        return self._values[words]


class WordSums(Representation):
    """A representation that stores the norm of each document's vector, and gives every word a value for a query.

    A score is the cosine of two vectors that are sums over words. Subclasses implement `word_values` and set:

    * `estimator`, which has `norms(rows)`, `transform(rows)` and `shares(query_row, document_row)`;
    * `vectors_name`, the name of the vectors in explanations;
    * `transform_counts`, a function applied to term counts before they are summed, or None.
    """

    row_shape: tuple[int, ...] | None = ()
    cosines = True
    vectors_name = "vectors"
    transform_counts: CountTransform | None = None
    estimator: Any

    def word_values(self, row: csr_array) -> tuple[Weights, float]:
        """Return the values of the words of the vocabulary for a query, float64, and the norm of the query's vector.

        `row` is the query's sparse row of weights. A word's value is the amount that one occurrence adds to the dot product of the
        query's vector and a document's vector. The values are an array, or a function of words' numbers such as `WordValues`.
        """
        raise NotImplementedError

    def encode_documents(self, inputs: csr_array) -> np.ndarray:
        """Return the norms of the documents' vectors, float32."""
        return self.estimator.norms(inputs).astype(np.float32)

    def transform(self, inputs: csr_array) -> np.ndarray:
        """Return the documents' vectors, one row for each document."""
        return self.estimator.transform(inputs)

    def encode_queries(self, inputs: csr_array) -> list[Any]:
        """Return for each query a tuple: its sparse row, the values of words, and the norm of its vector."""
        return [(inputs[[k]], *self.word_values(inputs[[k]])) for k in range(inputs.shape[0])]

    def query_vector(self, query: Any) -> np.ndarray:
        """Return the query's vector."""
        vector: np.ndarray = self.estimator.transform(query[0])[0]
        return vector

    def score(self, query: Any, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the cosine of the query's vector with each document's vector; -inf if either vector has norm 0."""
        _, values, query_norm = query
        norms = query_norm * view.map_rows(lambda rows: np.asarray(rows, np.float64), docs)
        sums = view.dot(values, docs, self.transform_counts)
        return np.divide(sums, norms, out=np.full(len(sums), -np.inf), where=norms > 0)

    def word_vectors(self) -> np.ndarray | None:
        """Return the estimator's word vectors, one row for each word of the vocabulary. Return None if it has no word vectors."""
        return getattr(self.estimator, "vectors", None)

    def explain(self, query: Any, view: View, doc: int) -> Explanation:
        """Return a cosine as a sum over pairs of a query word and a document word."""
        shares = self.estimator.shares(query[0], view.terms(np.array([doc])))
        parts = explain_pairs(shares, self.vocabulary, view.surface)
        label = f"cosine of the {self.vectors_name} of query and document, by pairs of words"
        return Explanation(sum(part.value for part in parts), label, "sum", parts)


class BagSums(WordSums):
    """A `WordSums` over an estimator that is a `Bag`. `stored` names the estimator's attributes that `save` writes."""

    estimator: Bag
    stored: tuple[str, ...] = ("vectors", "weights")

    def save(self, store: Store) -> None:
        """Store the vocabulary and the estimator's attributes."""
        store.put("vocabulary", list(self.vocabulary))
        for name in self.stored:
            store.put(name, getattr(self.estimator, name))

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name.

        The values are the vocabulary, a vector and a weight for each word of the vocabulary, and other vectors.
        """
        shapes = {"vectors": ("words", None), "weights": ("words",)}
        return {**VOCABULARY, **{name: Numbers(shapes.get(name, (None,)), "f") for name in self.stored}}

    def load(self, store: Stored) -> None:
        """Restore the vocabulary and the estimator's attributes."""
        self.vocabulary = store.get("vocabulary")
        for name in self.stored:
            # Kernels are compiled for float64.
            setattr(self.estimator, name, np.ascontiguousarray(store.get(name), np.float64))

    def word_values(self, row: csr_array) -> tuple[Weights, float]:
        """Return the values of words for a query, and the norm of the query's vector.

        A word's value is its weight times the dot product of its vector and the query's vector.
        """
        from sublex.estimators.bag_kernels import similarities

        query = (self.estimator.weighted(self.estimator.rows(row)) @ self.estimator.vectors)[0]

        def compute(words: np.ndarray, values: np.ndarray) -> None:
            # BLAS may round the product of a word differently when the call has other words too. This kernel always
            # adds in the same order.
            similarities(words, self.estimator.vectors, query, values)
            values[words] *= self.estimator.weights[words]

        return WordValues(len(self.vocabulary), compute), float(np.linalg.norm(query))


def check_model(consistent: bool | np.bool_) -> None:
    """Raise `IndexCorrupt` unless the parts of a stored model fit each other.

    `load` calls it for conditions that `declares` cannot express. Kernels do not check bounds.
    """
    if not consistent:
        raise IndexCorrupt("The parts of the model do not fit each other; fit it again.")


def frequent_terms(corpus: Corpus, min_df: int, max_share: float = 1.0) -> list[str]:
    """Return the terms that occur in at least `min_df` documents and in at most the share `max_share` of all."""
    df = np.zeros(len(corpus.vocabulary), np.int64)
    for block in corpus.blocks():
        df += np.bincount(block.indices, minlength=len(df))
    chosen = np.flatnonzero((df >= min_df) & (df <= max_share * len(corpus.docs)))
    return [corpus.vocabulary[k] for k in chosen.tolist()]


def count_blocks(corpus: Corpus, vocabulary: Sequence[str], progress: Progress = lambda done, total: None) -> Blocks:
    """Return a function that yields the term counts of a corpus over a vocabulary, as blocks of sparse rows.

    Estimators call the function once for each pass over the data. `progress` gets the number of documents done in the
    pass, and their total.
    """
    numbers = corpus.recode(vocabulary)

    def blocks() -> Iterator[csr_array]:
        from scipy.sparse import csr_array

        done = 0
        for block in corpus.blocks():
            columns = numbers[block.indices]
            known = columns >= 0
            starts = np.append(0, np.cumsum(known))[block.indptr]
            shape = (block.shape[0], len(vocabulary))
            counts = csr_array((block.data[known], columns[known], starts), shape=shape)
            counts.sort_indices()
            done += block.shape[0]
            progress(done, len(corpus.docs))
            yield counts

    return blocks


def count_matrix(corpus: Corpus, vocabulary: Sequence[str]) -> csr_array:
    """Return the term counts of a corpus over a vocabulary, as a matrix of documents by words."""
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(list(count_blocks(corpus, vocabulary)())))


def frequent_counts(name: str, corpus: Corpus, min_df: int, max_share: float) -> tuple[list[str], csr_array]:
    """Return the terms of `frequent_terms`, and the counts of these terms as a matrix of documents by terms.

    Raise `InputError` if there are no such terms. The message names the component `name` and its parameters `min_df`
    and `max_df`.
    """
    vocabulary = frequent_terms(corpus, min_df, max_share)
    if not vocabulary:
        raise InputError(
            f"{name}: no word is in {min_df:,} or more of {len(corpus.docs):,} documents and in no more than {max_share:.0%} of them; "
            "lower min_df, or raise max_df."
        )
    return vocabulary, count_matrix(corpus, vocabulary)


def explain_pairs(shares: Shares, vocabulary: Sequence[str], surface: Callable[[str], str]) -> tuple[Explanation, ...]:
    """Return a part of an explanation for each query word, with subparts for the words of the document.

    The parts add up to the score.
    """
    parts = []
    for place, word in enumerate(shares.query.tolist()):
        values = shares.values[place]
        order = np.argsort(-np.abs(values), kind="stable")
        listed, rest = order[:LISTED_WORDS], order[LISTED_WORDS:]
        pairs = [Explanation(float(values[k]), surface(vocabulary[int(shares.document[k])])) for k in listed]
        if len(rest):
            pairs.append(Explanation(float(values[rest].sum()), f"{len(rest):,} other words"))
        parts.append(Explanation(float(values.sum()), surface(vocabulary[word]), "sum", tuple(pairs)))
    return tuple(parts)
