"""Dense cohorts of terms (dCoT).

Z. Xu, M. Chen, K. Weinberger and F. Sha, An alternative text representation to TF-IDF and Bag-of-Words, 2013
(arXiv:1301.6770). The prototypes are the most frequent words. The method learns a linear map that predicts the
prototypes of a document from an incomplete document, in which each word was removed with probability p. The map is
exact for infinitely many such removals. Letters and equation numbers are the paper's: x are the counts of words, W is
the map, S the scatter matrix, E[P] and E[Q] are the expectations (5) and (6), and h is the representation. No matrix of
words by words is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, one_thread, spans
from sublex.estimators.estimator import Estimator
from sublex_dcot import dcot_kernels
from sublex_dcot.maps import Progress, deeper_map, first_map

# Documents per block of dense rows.
DENSE_DOCUMENTS = 1024
STORAGE = {"float32": np.float32, "float64": np.float64}


class Share(NamedTuple):
    """A word of a document, and its share in a prototype.

    `share` is the amount that the word adds to the prototype's value before the tanh of the first layer: the count of
    the word times the map's entry for this word and prototype.
    """

    word: int
    share: float


class Evoked(NamedTuple):
    """A prototype that a document evokes.

    `value` is the value of the prototype for the document, minus its value for an empty document. `raised` is the sum
    of the shares of all words of the document in the prototype (see `Share`). `shares` are the words with the largest
    shares.
    """

    prototype: int
    value: float
    raised: float
    shares: tuple[Share, ...]


@dataclass(eq=False)
class DCoT(Estimator):
    """dCoT as an estimator with scikit-learn's interface: maps counts x to h = tanh(W [x; 1]), one entry per prototype.

    Parameters
    ----------
    r : int
        The number of prototypes, which are the most frequent words. There are fewer if the vocabulary is smaller.
    layers : int
        The number of maps. Each map after the first is learned from the values h of the layer before.
    p : float between 0 and 1
        The probability with which a word is removed.
    log : bool
        Whether x is log(1 + count) in place of the count.
    min_df : int
        Words in fewer documents are left out.
    tol : float between 0 and 1
        The tolerance of conjugate gradients, which compute W; see `conjugate_gradients.solve`.
    storage : "float32" or "float64"
        The type of W and h.

    Attributes
    ----------
    words_ : the columns in use, most frequent first; the first r of them are the prototypes
    W_ : list with the transposed map of each layer: one row for each input, and the bias in the last row
    steps_ : the steps of conjugate gradients for each column of the first layer's map

    The method uses no random numbers.
    """

    r: int = 500
    layers: int = 1
    p: float = 0.9
    log: bool = False
    min_df: int = 2
    tol: float = 1e-7
    storage: str = "float32"

    def fit(self, matrix: Any, y: Any = None, *, workers: int = 1, progress: Progress | None = None) -> DCoT:
        """Learn the maps from a matrix of counts, documents by words, and return the estimator.

        The result is the same, to the byte, for any number of workers. `progress` is called with two numbers, the
        columns done and all columns, and may raise an exception to end the work.
        """
        self._check()
        x = self._counts(matrix)
        self.columns_ = x.shape[1]
        self.words_ = _frequent_columns(x, self.min_df)
        self.place_ = np.full(self.columns_, -1, np.int32)
        self.place_[self.words_] = np.arange(len(self.words_))
        r = min(self.r, len(self.words_))
        with one_thread():
            W, self.steps_ = first_map(_plain(x[:, self.words_]), r, self._type, self.p, self.tol, workers, progress)
            self.W_ = [W]
            for _ in range(1, self.layers):
                self.W_.append(self._next(x, workers, progress))
        return self

    def transform(self, matrix: Any, workers: int = 1) -> np.ndarray:
        """Return the values of the prototypes for each document: h^1 … h^l in one row, which are the values in each of
        the l layers (equation 7).

        A row does not depend on the other documents.
        """
        x = self._counts(self._fitted(matrix))
        width = self.W_[0].shape[1]
        out = np.empty((x.shape[0], width * len(self.W_)), self.W_[0].dtype)

        def work(rows: slice) -> None:
            for k, h in enumerate(self._encode(x, rows)):
                out[rows, k * width : (k + 1) * width] = h

        for _ in in_order(work, spans(len(out), DENSE_DOCUMENTS), workers):
            pass
        return out

    @property
    def prototypes_(self) -> np.ndarray:
        """The columns of the prototypes in the fitted matrix. The values of a layer have the same order."""
        return self.words_[: self.W_[0].shape[1]]

    @property
    def empty_(self) -> np.ndarray:
        """The row that `transform` returns for a document without words. It comes from the biases alone."""
        return self.transform(csr_array((1, self.columns_)))[0]

    def concatenation(self, matrix: Any, weights: Sequence[float] = (), workers: int = 1) -> csr_array:
        """Return a row for each document as a sparse matrix: its counts x, and then its values h^1 … h^l in each layer
        (equation 8).

        Each of these l + 1 blocks is multiplied by its number in `weights`, which is 1 by default.
        """
        h = self.transform(matrix, workers)
        x = self._counts(matrix)
        weights = self._weights(weights)
        width = self.W_[0].shape[1]
        dense = h * np.repeat(np.asarray(weights[1:], h.dtype), width)
        return csr_array(hstack([(x * weights[0]).astype(h.dtype), csr_array(dense)], format="csr"))

    def score(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the cosines of queries and documents as a matrix of queries by documents; 0 for texts without words.

        `queries` and `rows` (of the documents) are results of `transform`. The row of an empty document is subtracted
        from each row before the cosine is computed.
        """
        empty = self.empty_
        return _cosines(queries - empty, rows - empty)

    def score_concatenation(
        self, queries: Any, matrix: Any, rows: np.ndarray | None = None, weights: Sequence[float] = (), workers: int = 1
    ) -> np.ndarray:
        """Return the cosines of queries and documents as a matrix of queries by documents. Both are rows as
        `concatenation` makes them.

        The values of an empty document in each layer are subtracted first. Then each block of a row is multiplied by
        its number in `weights`, which is 1 by default. `queries` and `matrix` hold counts. `rows` is the result of
        `transform(matrix)`; without `rows`, it is computed.
        """
        weights = self._weights(weights)
        scale = np.repeat(np.asarray(weights[1:]), self.W_[0].shape[1])
        empty = self.empty_
        q, d = (self._counts(counts) * weights[0] for counts in (queries, matrix))
        rows = self.transform(matrix, workers) if rows is None else rows
        g, h = ((encoded - empty) * scale for encoded in (self.transform(queries, workers), rows))
        lengths = [np.sqrt((a.multiply(a)).sum(axis=1) + (b * b).sum(axis=1)) for a, b in ((q, g), (d, h))]
        return _divided((q @ d.T).toarray() + g @ h.T, *lengths)

    def explain(self, row: Any, prototypes: int = 10, words: int = 5, layer: int = 0) -> list[Evoked]:
        """Return the prototypes that a document evokes most, the strongest first. There are at most `prototypes`.

        A document evokes a prototype by the value of the prototype in `layer`, minus its value for an empty document.
        Each prototype comes with the words of the document that have the largest shares in the prototype, at most
        `words`.

        `layer` counts from 1; 0 is the last layer. The shares of words always come from the first layer.
        """
        if not 0 <= layer <= len(self.W_):
            raise InputError(f"There is no layer {layer}; there are {len(self.W_)}.")
        width = self.W_[0].shape[1]
        begin = ((layer or len(self.W_)) - 1) * width
        value = (self.transform(row)[0] - self.empty_)[begin : begin + width].astype(np.float64)
        best = np.argsort(-value, kind="stable")[:prototypes]
        return [
            Evoked(int(self.words_[j]), float(value[j]), *raised)
            for j, raised in zip(best.tolist(), self.raised(row, best, words), strict=True)
        ]

    def raised(self, row: Any, prototypes: np.ndarray, words: int = 5) -> list[tuple[float, tuple[Share, ...]]]:
        """Return two things for each of `prototypes`: the sum of the shares of a document's words in it, and the
        largest shares.

        The shares are those of the first layer (see `Share`). `row` has the document's counts. `prototypes` are places
        in the order of `prototypes_`. At most `words` shares are returned for each prototype.
        """
        x = self._counts(self._fitted(row))
        if x.shape[0] != 1:
            raise InputError(f"One document is explained at a time, not {x.shape[0]}.")
        place = self.place_[x.indices]
        known = place >= 0
        columns = x.indices[known]
        shares = x.data[known, None] * self.W_[0][place[known]][:, prototypes].astype(np.float64)
        best = np.argsort(-shares, axis=0, kind="stable")[:words]
        return [
            (float(shares[:, k].sum()), tuple(Share(int(columns[i]), float(shares[i, k])) for i in best[:, k]))
            for k in range(len(prototypes))
        ]

    @property
    def _type(self) -> type:
        return STORAGE[self.storage]

    def _check(self) -> None:
        for name in ("r", "layers", "min_df"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise InputError(f"DCoT's {name} is {value}; it must be a whole number of at least 1.")
        if not 0 < self.p < 1:
            raise InputError(f"DCoT's p is {self.p}; it must lie between 0 and 1, both excluded.")
        if not 0 < self.tol < 1:
            raise InputError(f"DCoT's tol is {self.tol}; it must lie between 0 and 1, both excluded.")
        if self.storage not in STORAGE:
            raise InputError(f"DCoT's storage is {self.storage}; it may be {' or '.join(STORAGE)}.")

    def _counts(self, matrix: Any) -> csr_array:
        """Return a matrix of counts as sparse rows. With `log`, each count is replaced by log(1 + count)."""
        x = _plain(matrix)
        if not (np.isfinite(x.data) & (x.data >= 0)).all():
            raise InputError("DCoT learns from counts; the matrix has an entry that is negative or not finite.")
        return csr_array((np.log1p(x.data), x.indices, x.indptr), shape=x.shape) if self.log else x

    def _fitted(self, matrix: Any) -> Any:
        if not hasattr(self, "W_"):
            raise InputError("DCoT has learned nothing yet; call fit first.")
        if np.shape(matrix)[-1] != self.columns_:
            raise InputError(f"The matrix has {np.shape(matrix)[-1]} words; DCoT was fitted on {self.columns_}.")
        return matrix

    def _weights(self, weights: Sequence[float]) -> Sequence[float]:
        if weights and len(weights) != len(self.W_) + 1:
            raise InputError(f"{len(self.W_) + 1} weights are needed, for x and each layer; there are {len(weights)}.")
        return weights or (1.0,) * (len(self.W_) + 1)

    def _encode(self, x: csr_array, rows: slice) -> list[np.ndarray]:
        """Return for each layer the values of the prototypes for the documents x[rows]."""
        encoded: list[np.ndarray] = []
        for W in self.W_:
            h = np.empty((rows.stop - rows.start, W.shape[1]), W.dtype)
            if encoded:
                dcot_kernels.affine_dense(encoded[-1], W, h)
            else:
                part = x[rows]
                indptr, indices = (array.astype(np.int32, copy=False) for array in (part.indptr, part.indices))
                dcot_kernels.affine(indptr, indices, part.data.astype(W.dtype), self.place_, W, h)
            encoded.append(np.tanh(h, out=h))
        return encoded

    def _next(self, x: csr_array, workers: int, progress: Progress | None) -> np.ndarray:
        """Return the transposed map of the next layer. It is learned from the values in the last layer that has a map.

        The scatter matrix of these values is small, so the equations are solved directly.
        """
        size = self.W_[0].shape[1] + 1
        S = np.zeros((size, size))

        def work(rows: slice) -> np.ndarray:
            h = self._encode(x, rows)[-1].astype(np.float64)
            h = np.concatenate([h, np.ones((len(h), 1))], axis=1)
            return h.T @ h

        blocks = spans(x.shape[0], DENSE_DOCUMENTS)
        for done, part in enumerate(in_order(work, blocks, workers), 1):
            S += part
            if progress:
                progress(done, len(blocks))
        return deeper_map(S, self.p).astype(self._type)


def _plain(matrix: Any) -> csr_array:
    """Return a matrix as sparse rows of float64 in SciPy's canonical form. The argument is not changed."""
    x = csr_array(matrix, dtype=np.float64)
    if x.ndim != 2:
        raise InputError("DCoT needs a matrix, of documents by words.")
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


def _frequent_columns(x: csr_array, least: int) -> np.ndarray:
    """Return the columns of the words that occur in at least `least` documents, the most frequent words first."""
    frequent = np.bincount(x.indices[x.data > 0], minlength=x.shape[1]) >= least
    if not frequent.any():
        raise InputError(
            f"DCoT has nothing to learn from: no word is in {least:,} or more of the {x.shape[0]:,} documents."
        )
    order = np.argsort(-np.bincount(x.indices, x.data, x.shape[1]), kind="stable")
    return order[frequent[order]].astype(np.int32)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the cosines of the rows of a with the rows of b."""
    return _divided(a @ b.T, np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))


def _divided(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return `products`, dot products of rows, divided by the lengths of both rows, which `left` and `right` have.

    Where a length is 0, the result is 0.
    """
    lengths = np.outer(left, right)
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
