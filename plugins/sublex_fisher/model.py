"""Fisher vectors of documents, which are bags of embedded words.

S. Clinchant and F. Perronnin, Aggregating continuous word embeddings for information retrieval, CVSC 2013. The word vectors x_t are
assumed to be drawn from a mixture of Gaussians with shares θ, means μ and standard deviations σ. A document's vector is the gradient of its
log-likelihood by the means, G_i = θ_i^(-1/2) Σ_t γ_t(i) (x_t - μ_i) / σ_i (equation 8). Documents are compared by cosine.

The gradient is a sum over occurrences of words. So the mixture is fitted to the distinct words, each weighted by its
number of occurrences. Only one number is stored for a document, the norm of its vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators import linear
from sublex.estimators.bags import SummedVectors
from sublex.estimators.blocks import Blocks, blocks_of, in_order, one_thread, random, rows_of, spans, totals
from sublex.estimators.estimator import Estimator
from sublex_fisher import gmm

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Documents per block of dense vectors.
DENSE_DOCUMENTS = 1 << 8
# Words per block of posteriors.
WORDS_PER_BLOCK = 1 << 12
# Smaller posteriors are stored as 0, because they are too small to change a float64 sum with larger ones.
NEGLIGIBLE = 1e-20


class Gammas(NamedTuple):
    """The posteriors of words, without zeros: word w belongs to Gaussian `of[g]` with probability `values[g]`.

    g runs from `begins[w]` to `begins[w + 1]`. The names of the fields are also names of stored arrays, so they must
    not change.
    """

    begins: np.ndarray
    of: np.ndarray
    values: np.ndarray


class Fisher(Estimator, SummedVectors):
    """Fisher vectors as an estimator with scikit-learn's interface.

    Parameters
    ----------
    words : array of shape (words, e), or an `LSI`
        A vector for each word; zeros or NaN for words without a vector. If an `LSI` is not fitted, a copy of it is
        fitted to the same documents.
    k : int
        The number of Gaussians.
    idf : bool
        Whether words are weighted by ln(N/df). The paper does not weight them.
    power : float above 0
        Each entry keeps its sign, and its magnitude is raised to this power. The paper uses 1. For other powers see F.
        Perronnin, J. Sánchez and T. Mensink, Improving the Fisher kernel for large-scale image classification, ECCV
        2010.
    l2 : bool
        Whether `transform` returns vectors of norm 1, as in the same article.
    variance : bool
        Whether the vector also holds the gradient by the standard deviations. The vector is then twice as wide.
    starts : int
        The number of random starts of EM. The mixture with the highest likelihood is kept.
    seed : int
        Determines the starts, and the documents that are drawn.
    documents : int
        The number of documents from which the mixture is learned, drawn by chance; 0 for all.

    Attributes
    ----------
    x : array of shape (words, e), the word vectors in the mixture's standard units, 0 for words without a vector
    mixture : the fitted `gmm.Mixture`
    gammas : the posteriors of the words, `Gammas`
    weights : array of shape (words,), the factor of each word; a word has the same factor in every document
    counts : array of shape (words,), the number of occurrences of each word
    likelihoods : the mean log-likelihood that each start reached
    """

    def __init__(
        self,
        words: Any,
        k: int = 16,
        idf: bool = False,
        power: float = 1.0,
        l2: bool = False,
        variance: bool = False,
        starts: int = 5,
        seed: int = 0,
        documents: int = 0,
    ):
        self.documents = documents
        self.words, self.k, self.idf, self.power = words, k, idf, power
        self.l2, self.variance, self.starts, self.seed = l2, variance, starts, seed
        self.x: np.ndarray = np.zeros(0)

    def fit(
        self, matrix: csr_array | Blocks, workers: int = 1, progress: gmm.Progress = lambda done, total: None
    ) -> Fisher:
        """Fit to counts of documents by words, and return the estimator.

        `matrix` is a matrix, a list of blocks of rows, or a function that returns the blocks.
        """
        if not self.power > 0:
            raise InputError(f"Fisher: power={self.power} must be above 0.")
        blocks = blocks_of(matrix)
        docs, self.counts, df = totals(blocks)
        vectors = self._vectors(blocks, workers)
        if len(vectors) != len(df):
            raise InputError(f"Fisher: {len(vectors):,} words have vectors, but the matrix has {len(df):,} columns.")
        known = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        self.weights = np.log(np.maximum(docs, 1) / np.maximum(df, 1)) if self.idf else np.ones(len(df))
        if not (self.counts * known).any():
            raise InputError("Fisher: no word of the documents has a vector.")
        counts = self._drawn(blocks, docs) if 0 < self.documents < docs else self.counts
        if not (counts * known).any():
            raise InputError(f"Fisher: no word of {self.documents:,} drawn documents has a vector; draw more.")
        fitted, self.likelihoods = gmm.fit(
            vectors[known], counts[known], self.k,
            starts=self.starts, seed=self.seed, workers=workers, progress=progress,
        )  # fmt: skip
        self.mixture = fitted.mixture
        self.x = np.zeros(vectors.shape)
        self.x[known] = self.mixture.standard(vectors[known])
        self.gammas = _gammas(self.mixture, self.x, known, workers)
        return self

    def _drawn(self, blocks: Blocks, docs: int) -> np.ndarray:
        """Return the number of occurrences of each word in `documents` random documents. `docs` is the number of all
        documents.
        """
        drawn = np.zeros(docs, bool)
        drawn[random(self.seed, docs).permutation(docs)[: self.documents]] = True
        begin, found = 0, np.zeros(len(self.counts))
        for block in blocks():
            rows = block[np.flatnonzero(drawn[begin : begin + block.shape[0]])]
            found += np.bincount(rows.indices, rows.data, len(found))
            begin += block.shape[0]
        return found

    def transform(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """Return the Fisher vectors of documents, float64, one row for each. A row holds one part for each Gaussian."""
        vectors = super().transform(matrix, workers)
        if self.l2:
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors /= np.where(norms > 0, norms, 1.0)
        return vectors

    def scores(self, query: Any, matrix: csr_array, norms: np.ndarray | None = None, workers: int = 1) -> np.ndarray:
        """Return the cosines of a query with documents, float64; 0 where the vector of the query or of the document has
        norm 0.

        `query` is a vector of weights over the vocabulary. `norms` is the result of the method `norms` for `matrix`;
        without the argument, the norms are computed. With a power other than 1, the vectors of all documents in
        `matrix` are computed, which is slow.
        """
        rows = self.rows(matrix)
        query_vector = self._vector(linear.query_of(query, len(self.x)))
        norms = self.norms(rows, workers) if norms is None else norms
        if self.power == 1:
            sums = linear.sums(rows, self._valuer(query_vector), self.weights, workers)
        else:
            sums = np.empty(rows.shape[0])
            for span, vectors in self.blocks(rows, workers):
                sums[span] = (vectors * query_vector).sum(axis=1)
        return linear.cosines(sums, float(np.sqrt((query_vector * query_vector).sum())), norms)

    def shares(self, query: Any, row: csr_array) -> linear.Shares:
        """Return the shares of all pairs of a query word and a document word in the cosine of a query and a document.

        A share is the dot product of the Fisher vectors of the two words (see `word_map`), times the weight of the
        query word and the count of the document word, divided by the norms of query and document. `query` has weights
        over the vocabulary, and `row` the counts of the document. Raise `InputError` for a power other than 1.
        """
        if self.power != 1:
            raise InputError(
                f"Fisher: with power={self.power} a score is no sum over words; only power=1 can be taken apart."
            )
        query_row, document = linear.query_of(query, len(self.x)), self.rows(row)
        norm = float(np.prod([np.linalg.norm(self._vector(r)) for r in (query_row, document)]))
        return linear.shares(
            query_row, document, self.word_map(query_row.indices), self.word_map(document.indices), norm
        )

    def word_map(self, words: np.ndarray) -> np.ndarray:
        """Return a vector for each of `words`: Φ in equation 10 of the paper.

        It is the Fisher vector, with power 1, of a document that has only this word.
        """
        from scipy.sparse import csr_array

        places = np.arange(len(words) + 1)
        alone = csr_array((np.ones(len(words)), words, places), shape=(len(words), len(self.x)))
        return np.vstack([np.zeros((0, self.width)), *(part for _, part in self.blocks(alone, 1, power=1.0))])

    def similarities(self, query_vector: np.ndarray, words: np.ndarray, values: np.ndarray) -> None:
        """Set values[w] for each word w of `words` to the dot product of a query's Fisher vector and the word's
        (equation 10).

        The Fisher vector of a word is that of a document that has only this word.
        """
        self._valuer(query_vector)(words, values)

    def topics(self, number: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Return the most frequent words of each Gaussian, and their shares, as two arrays with a row for each
        Gaussian.

        Words are column numbers, at most `number` for each Gaussian. The places of missing words hold -1. The share of
        a word is its part of the occurrences of all words in the Gaussian.
        """
        names = np.full((len(self.mixture.shares), number), -1)
        shares = np.zeros(names.shape)
        words = np.repeat(np.arange(len(self.x)), np.diff(self.gammas.begins))
        weights = self.counts[words] * self.gammas.values
        for k in range(len(names)):
            entries = np.flatnonzero((self.gammas.of == k) & (weights > 0))
            best = entries[np.argsort(-weights[entries], kind="stable")[:number]]
            names[k, : len(best)] = words[best]
            shares[k, : len(best)] = weights[best] / weights[entries].sum()
        return names, shares

    @property
    def width(self) -> int:
        """The number of entries of a document's vector."""
        return self.mixture.means.size * (2 if self.variance else 1)

    def _vectors(self, blocks: Blocks, workers: int) -> np.ndarray:
        """Return the word vectors.

        If `words` is an `LSI` that is not fitted, a copy of it is fitted to `blocks`. The `LSI` itself is not changed.
        """
        if not hasattr(self.words, "get_params"):
            vectors = np.asarray(self.words, np.float64)
        elif self.words.vectors.ndim == 2:
            vectors = self.words.vectors
        else:
            vectors = type(self.words)(**self.words.get_params()).fit(blocks, workers).vectors
        if vectors.ndim != 2:
            raise InputError(f"Fisher: words must have a row for each word, not {vectors.ndim} dimensions.")
        return vectors

    def rows(self, matrix: Any) -> csr_array:
        """Return a matrix as sparse rows. Raise `InputError` before `fit`, or if the matrix has another number of words
        than the model.
        """
        if self.x.ndim < 2:
            raise InputError("Fisher: not fitted yet; call fit first.")
        return rows_of(matrix, len(self.x))

    def _vector(self, row: csr_array) -> np.ndarray:
        return next(part for _, part in self.blocks(row, 1))[0]

    def blocks(self, rows: csr_array, workers: int, power: float | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the Fisher vectors of the documents in `rows` block by block: a slice of `rows`, and the vectors of
        these documents.

        Entries are raised to `power`, which is by default the power of the estimator.
        """
        from sublex_fisher.fisher_kernels import fisher

        power = self.power if power is None else power
        theta, mu, variances = self.mixture[:3]
        model = (self.weights, self.x, *self.gammas, theta, mu, np.sqrt(variances))

        def vectors(span: slice) -> tuple[slice, np.ndarray]:
            block = np.empty((span.stop - span.start, self.width))
            fisher(rows.indptr, rows.indices, rows.data, span.start, *model, block)
            return span, block if power == 1 else np.sign(block) * np.abs(block) ** power

        return in_order(vectors, spans(rows.shape[0], DENSE_DOCUMENTS), workers)

    def _valuer(self, query_vector: np.ndarray) -> linear.Valuer:
        """Return a function that computes the dot products of `query_vector` with the Fisher vectors of given words.

        For each Gaussian, the product is a quadratic form in the vector of the word. The forms are weighted by the
        word's posteriors and added.
        """
        from sublex_fisher.fisher_kernels import similarities

        theta, mu, variances = self.mixture[:3]
        roots, halves = np.sqrt(theta)[:, None], query_vector.reshape(-1, *mu.shape)
        lines = halves[0] / np.sqrt(variances) / roots
        constants = -(lines * mu).sum(axis=1)
        squares = np.zeros((0, mu.shape[1]))
        if self.variance:
            squares = halves[1] / variances / roots / np.sqrt(2)
            lines = lines - 2 * squares * mu
            constants = constants + (squares * (mu * mu - variances)).sum(axis=1)
        form = (self.x, *self.gammas, squares, lines, constants)
        return lambda words, values: similarities(words, *form, values)


def _gammas(mixture: gmm.Mixture, x: np.ndarray, known: np.ndarray, workers: int) -> Gammas:
    """Return the posteriors of the words for which `known` is true, without posteriors below `NEGLIGIBLE`.

    `x` are the word vectors in standard units.
    """

    def sparse_posteriors(span: slice) -> tuple[np.ndarray, ...]:
        posteriors = mixture.posteriors(x[span])
        posteriors[(posteriors < NEGLIGIBLE) | ~known[span, None]] = 0.0
        places = np.nonzero(posteriors)
        return (posteriors != 0).sum(axis=1), places[1], posteriors[places]

    with one_thread():
        parts = list(in_order(sparse_posteriors, spans(len(x), WORDS_PER_BLOCK), workers))
    numbers, of, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Gammas(np.concatenate(([0], np.cumsum(numbers))), of, values)
