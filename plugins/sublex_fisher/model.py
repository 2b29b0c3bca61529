"""The Fisher vector of a document, a bag of embedded words.

S. Clinchant and F. Perronnin, Aggregating continuous word embeddings for information retrieval, CVSC 2013. The words' vectors x_t
are taken for drawn from a mixture of Gaussians with shares θ, means μ and deviations σ; a document is the gradient of its
log-likelihood by the means, G_i = θ_i^(-1/2) Σ_t γ_t(i) (x_t - μ_i) / σ_i (equation 8), compared by cosine. It is a sum over
occurrences, so the mixture is fitted to the distinct words, each counted as often as it occurs, and a document needs one number, its norm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators import gmm, linear
from sublex.estimators.bags import Sums
from sublex.estimators.blocks import Blocks, blocks_of, in_order, one_thread, rows_of, spans, totals

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Documents whose dense vectors are held at a time, and words whose posteriors are.
ROWS = 1 << 8
WORDS = 1 << 12
# A posterior below this cannot change a sum of doubles that has others in it.
NEGLIGIBLE = 1e-20


class Gammas(NamedTuple):
    """The posteriors of words, the zeros left out: where each word's begin, of which Gaussian each is, and the values."""

    begins: np.ndarray
    of: np.ndarray
    values: np.ndarray


class Fisher(Sums):
    """Estimator with scikit-learn's habits. After `fit`: `x`, the words' vectors in standard units; `mixture`; `gammas`; `weights`,
    a word's factor in every document; `counts`, its occurrences; `likelihoods` of all starts.

    `words` holds a row for each word, of zeros or not-a-numbers where it has none, or is an `LSI`, fitted to the same documents unless
    it is already. Off, as in the paper, are: `idf`, words weighted by ln(N/df); `power`, each entry brought to this power, its sign
    kept, and `l2`, exported vectors of length 1 (F. Perronnin, J. Sánchez and T. Mensink, ECCV 2010); `variance`, the gradient by the
    deviations too.
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
    ):
        self.words, self.k, self.idf, self.power = words, k, idf, power
        self.l2, self.variance, self.starts, self.seed = l2, variance, starts, seed
        self.x = np.zeros(0)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name."""
        names = ("words", "k", "idf", "power", "l2", "variance", "starts", "seed")
        return {name: getattr(self, name) for name in names}

    def fit(
        self, matrix: csr_array | Blocks, workers: int = 1, progress: gmm.Progress = lambda done, total: None
    ) -> Fisher:
        """Fit to counts of documents by terms: a matrix, a list of blocks of rows, or a function that returns them."""
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
        found, self.likelihoods = gmm.fit(
            vectors[known], self.counts[known], self.k,
            starts=self.starts, seed=self.seed, workers=workers, progress=progress,
        )  # fmt: skip
        self.mixture = found.mixture
        self.x = np.zeros(vectors.shape)
        self.x[known] = self.mixture.standard(vectors[known])
        self.gammas = _gammas(self.mixture, self.x, known, workers)
        return self

    def transform(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """The vectors of documents, dense: the Gaussians' parts one after another, one row for each document."""
        made = super().transform(matrix, workers)
        if self.l2:
            norms = np.linalg.norm(made, axis=1, keepdims=True)
            made /= np.where(norms > 0, norms, 1.0)
        return made

    def scores(self, query: Any, matrix: csr_array, norms: np.ndarray | None = None, workers: int = 1) -> np.ndarray:
        """The cosines of a query, a vector over the vocabulary, with the documents in these rows; `norms` are those of the rows.

        With a power the vectors of all these documents have to be made, which is slow.
        """
        rows = self.rows(matrix)
        asked = self._vector(linear.query_of(query, len(self.x)))
        norms = self.norms(rows, workers) if norms is None else norms
        if self.power == 1:
            found = linear.sums(rows, self._similar_to(asked), self.weights, workers)
        else:
            found = np.empty(rows.shape[0])
            for span, part in self.blocks(rows, workers):
                found[span] = (part * asked).sum(axis=1)
        return linear.cosines(found, float(np.sqrt((asked * asked).sum())), norms)

    def shares(self, query: Any, row: csr_array) -> linear.Shares:
        """What each pair of a query's word and a document's word adds to the score, c_w c_v <Φ_w, Φ_v> over the norms."""
        if self.power != 1:
            raise InputError(
                f"Fisher: with power={self.power} a score is no sum over words; only power=1 can be taken apart."
            )
        asked, held = linear.query_of(query, len(self.x)), self.rows(row)
        norm = float(np.prod([np.linalg.norm(self._vector(r)) for r in (asked, held)]))
        return linear.shares(asked, held, self.word_map(asked.indices), self.word_map(held.indices), norm)

    def word_map(self, words: np.ndarray) -> np.ndarray:
        """Φ of some words (equation 10), a row each: the vector of a document that is this word alone."""
        from scipy.sparse import csr_array

        places = np.arange(len(words) + 1)
        alone = csr_array((np.ones(len(words)), words, places), shape=(len(words), len(self.x)))
        return np.vstack([np.zeros((0, self.width)), *(part for _, part in self.blocks(alone, 1, power=1.0))])

    def similarities(self, asked: np.ndarray, words: np.ndarray, values: np.ndarray) -> None:
        """Put <F_q, Φ_w> of some words at their places among the values, for the vector of a query."""
        self._similar_to(asked)(words, values)

    def topics(self, number: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The words that name each Gaussian, the most frequent there first, and their shares in it; -1 where there are no more."""
        names = np.full((len(self.mixture.shares), number), -1)
        shares = np.zeros(names.shape)
        words = np.repeat(np.arange(len(self.x)), np.diff(self.gammas.begins))
        weights = self.counts[words] * self.gammas.values
        for k in range(len(names)):
            own = np.flatnonzero((self.gammas.of == k) & (weights > 0))
            best = own[np.argsort(-weights[own], kind="stable")[:number]]
            names[k, : len(best)] = words[best]
            shares[k, : len(best)] = weights[best] / weights[own].sum()
        return names, shares

    @property
    def width(self) -> int:
        """How many entries a document's vector has."""
        return self.mixture.means.size * (2 if self.variance else 1)

    def _vectors(self, blocks: Blocks, workers: int) -> np.ndarray:
        """The words' vectors; an LSI that is not fitted yet is left as it is, and one like it fitted."""
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
        if self.x.ndim < 2:
            raise InputError("Fisher: not fitted yet; call fit first.")
        return rows_of(matrix, len(self.x))

    def _vector(self, row: csr_array) -> np.ndarray:
        return next(part for _, part in self.blocks(row, 1))[0]

    def blocks(self, rows: csr_array, workers: int, power: float | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """The vectors of a few documents at a time, with where they belong; brought to another power, if one is given."""
        from sublex_fisher.kernels import fisher

        power = self.power if power is None else power
        theta, mu, variances = self.mixture[:3]
        model = (self.weights, self.x, *self.gammas, theta, mu, np.sqrt(variances))

        def vectors(span: slice) -> tuple[slice, np.ndarray]:
            made = np.empty((span.stop - span.start, self.width))
            fisher(rows.indptr, rows.indices, rows.data, span.start, *model, made)
            return span, made if power == 1 else np.sign(made) * np.abs(made) ** power

        return in_order(vectors, spans(rows.shape[0], ROWS), workers)

    def _similar_to(self, asked: np.ndarray) -> linear.Valuer:
        """What values words by <F_q, Φ_w>: for each Gaussian a quadratic form in x_w, times γ."""
        from sublex_fisher.kernels import similarities

        theta, mu, variances = self.mixture[:3]
        roots, halves = np.sqrt(theta)[:, None], asked.reshape(-1, *mu.shape)
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
    """The posteriors of the known words, those that are negligible left out."""

    def some(span: slice) -> tuple[np.ndarray, ...]:
        found = mixture.posteriors(x[span])
        found[(found < NEGLIGIBLE) | ~known[span, None]] = 0.0
        places = np.nonzero(found)
        return (found != 0).sum(axis=1), places[1], found[places]

    with one_thread():
        parts = list(in_order(some, spans(len(x), WORDS), workers))
    numbers, of, values = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Gammas(np.concatenate(([0], np.cumsum(numbers))), of, values)
