"""Dense cohort of terms: Z. Xu, M. Chen, K. Weinberger and F. Sha, An alternative text representation to TF-IDF and
Bag-of-Words, 2013 (arXiv:1301.6770).

A linear map is learned that predicts the frequent words of a document from what is left of it when each word is removed with
probability p, in the limit of infinitely many such removals. The letters and equation numbers are the paper's: x counts of words,
W the map, S the scatter matrix, P and Q the expectations of (5) and (6), h the representation. No matrix of words by words is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, hstack

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, one_thread, spans
from sublex_dcot import kernels
from sublex_dcot.maps import Progress, deeper_map, first_map

# Documents encoded together.
ROWS = 1024
STORAGE = {"float32": np.float32, "float64": np.float64}


class Share(NamedTuple):
    """A word and what it adds to a prototype before the tanh of the first layer: W[prototype, word] x[word]."""

    word: int
    share: float


class Evoked(NamedTuple):
    """A prototype that a document evokes: its h less that of an empty document, and the words that raised it most.

    `raised` is W x of the first layer without the bias, which is the sum of the shares of all words of the document.
    """

    prototype: int
    value: float
    raised: float
    shares: tuple[Share, ...]


@dataclass(eq=False)
class DCoT:
    """Counts of words to h = tanh(W [x; 1]): an entry for each of r prototypes, the words that occur most often.

    `layers` maps are learned, each from the h before it; `p` is the probability that a word is removed; with `log` x is
    log(1 + count). Words in fewer than `min_df` documents are left out. `tol` is how exactly W is solved for, `storage` the
    type of W and h. Nothing is left to chance.

    After `fit`: `words_`, the columns in use, most frequent first, of which the first r are the prototypes; `W_`, for each layer
    W' with a row for each input and the bias in the last; `steps_`, how many steps the first layer's columns took.
    """

    r: int = 500
    layers: int = 1
    p: float = 0.9
    log: bool = False
    min_df: int = 1
    tol: float = 1e-7
    storage: str = "float32"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **params: Any) -> DCoT:
        """Change parameters, as scikit-learn's searches do."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"DCoT has no parameter {name}; it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def fit(self, matrix: Any, y: Any = None, *, workers: int = 1, progress: Progress | None = None) -> DCoT:
        """Learn from the counts of a matrix of documents by words; the same bytes for any number of workers."""
        self._check()
        x = self._counts(matrix)
        self.columns_ = x.shape[1]
        self.words_ = _frequent(x, self.min_df)
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
        """A row [h^1 … h^l] for each document, by (7); what stands in a row does not depend on the other rows."""
        x = self._counts(self._fitted(matrix))
        width = self.W_[0].shape[1]
        out = np.empty((x.shape[0], width * len(self.W_)), self.W_[0].dtype)

        def work(rows: slice) -> None:
            for k, h in enumerate(self._encode(x, rows)):
                out[rows, k * width : (k + 1) * width] = h

        for _ in in_order(work, spans(len(out), ROWS), workers):
            pass
        return out

    @property
    def prototypes_(self) -> np.ndarray:
        """The columns of the prototypes, in the order of h."""
        return self.words_[: self.W_[0].shape[1]]

    @property
    def empty_(self) -> np.ndarray:
        """The row of a document without words, which the biases alone make."""
        return self.transform(csr_array((1, self.columns_)))[0]

    def concatenation(self, matrix: Any, weights: Sequence[float] = (), workers: int = 1) -> csr_array:
        """[x; h^1; …; h^l] of (8) as sparse rows, each block multiplied by its weight, or by 1."""
        h = self.transform(matrix, workers)
        x = self._counts(matrix)
        weights = self._weights(weights)
        width = self.W_[0].shape[1]
        dense = h * np.repeat(np.asarray(weights[1:], h.dtype), width)
        return csr_array(hstack([(x * weights[0]).astype(h.dtype), csr_array(dense)], format="csr"))

    def score(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Cosines of h less that of an empty document, queries by rows, both as `transform` made them; 0 for an empty one."""
        empty = self.empty_
        return _cosines(queries - empty, rows - empty)

    def score_concatenation(
        self, queries: Any, matrix: Any, rows: np.ndarray | None = None, weights: Sequence[float] = (), workers: int = 1
    ) -> np.ndarray:
        """Cosines of [x; h^1; …; h^l], each h less that of an empty document, each block times its weight, or 1."""
        weights = self._weights(weights)
        scale = np.repeat(np.asarray(weights[1:]), self.W_[0].shape[1])
        empty = self.empty_
        q, d = (self._counts(one) * weights[0] for one in (queries, matrix))
        rows = self.transform(matrix, workers) if rows is None else rows
        g, h = ((one - empty) * scale for one in (self.transform(queries, workers), rows))
        lengths = [np.sqrt((a.multiply(a)).sum(axis=1) + (b * b).sum(axis=1)) for a, b in ((q, g), (d, h))]
        return _divided((q @ d.T).toarray() + g @ h.T, *lengths)

    def explain(self, row: Any, prototypes: int = 10, words: int = 5, layer: int = 0) -> list[Evoked]:
        """The prototypes that one document evokes most, by h less that of an empty document, and why.

        `layer` counts from 1, 0 is the last; the shares are always of the first.
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
        """Of some prototypes, by their places in h, how far one document's words raise them in the first layer, and which most."""
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
        """The matrix as rows of x."""
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
        """h^1 … h^l of some documents."""
        found = []
        for W in self.W_:
            h = np.empty((rows.stop - rows.start, W.shape[1]), W.dtype)
            if found:
                kernels.affine_dense(found[-1], W, h)
            else:
                part = x[rows]
                kernels.affine(part.indptr, part.indices, part.data.astype(W.dtype), self.place_, W, h)
            found.append(np.tanh(h, out=h))
        return found

    def _next(self, x: csr_array, workers: int, progress: Progress | None) -> np.ndarray:
        """The map of one more layer, solved directly: its scatter matrix is small."""
        size = self.W_[0].shape[1] + 1
        S = np.zeros((size, size))

        def work(rows: slice) -> np.ndarray:
            h = self._encode(x, rows)[-1].astype(np.float64)
            h = np.concatenate([h, np.ones((len(h), 1))], axis=1)
            return h.T @ h

        blocks = spans(x.shape[0], ROWS)
        for done, part in enumerate(in_order(work, blocks, workers), 1):
            S += part
            if progress:
                progress(done, len(blocks))
        return deeper_map(S, self.p).astype(self._type)


def _plain(matrix: Any) -> csr_array:
    """A matrix as sparse rows of float64, each column once and in order; the matrix itself stays as it is."""
    x = csr_array(matrix, dtype=np.float64)
    if x.ndim != 2:
        raise InputError("DCoT needs a matrix, of documents by words.")
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


def _frequent(x: csr_array, least: int) -> np.ndarray:
    """The columns of words in enough documents, those with the greatest sums first."""
    there = np.bincount(x.indices[x.data > 0], minlength=x.shape[1]) >= least
    if not there.any():
        raise InputError(
            f"DCoT has nothing to learn from: no word is in {least:,} or more of the {x.shape[0]:,} documents."
        )
    order = np.argsort(-np.bincount(x.indices, x.data, x.shape[1]), kind="stable")
    return order[there[order]].astype(np.int32)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cosines of the rows of one matrix with those of another."""
    return _divided(a @ b.T, np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))


def _divided(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Products of rows over their lengths; 0 where a length is 0."""
    lengths = np.outer(left, right)
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
