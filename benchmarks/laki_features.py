"""Texts as vectors by LAKI and by other models of the same collection, for the scripts that compare them.

All models are learned from the documents of one index, without labels. What takes long (the SVD, LDA, dCoT) is kept in a folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, hstack

import sublex
from sublex.estimators.bags import damped
from sublex.estimators.svd import truncated_svd
from sublex_dcot.model import DCoT
from sublex_laki.estimator import encode
from sublex_laki.representation import LEAST_IN_QUERY
from sublex_lda.model import LDA

WORKERS = 2
# The widths of LSI that are tried, the topics of LDA and its sweeps, and the prototypes of dCoT.
WIDTHS, TOPICS, SWEEPS, PROTOTYPES = (50, 100, 200), 100, 500, 500
# The largest share of documents that have a word of LDA and dCoT, and the fewest documents that have any word.
COMMON, RARE = 0.1, 2
# Sweeps of Gibbs sampling for LAKI.
GIBBS = 2000


class Job:
    """The conditions of work on a collection, as the engine gives them to a model."""

    workers = WORKERS

    def progress(self, done: int, total: int, unit: str = "") -> None:
        """Ignore progress."""

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, one after the other, as a fit's job does on several threads."""
        return map(work, items)


class Counts:
    """Counts of the documents of a collection by words or by units, and the models that are learned from them."""

    def __init__(self, name: str, matrix: csr_array, work: Path):
        self.name, self._work = name, work
        df = np.bincount(matrix.indices, minlength=matrix.shape[1])
        self.kept = np.flatnonzero(df >= RARE)
        self.whole = matrix
        self.matrix = csr_array(matrix[:, self.kept], dtype=np.float64)
        self.idf = np.log(matrix.shape[0] / df[self.kept])
        self.frequent = np.flatnonzero(df[self.kept] <= COMMON * matrix.shape[0])

    def tfidf(self, rows: csr_array) -> csr_array:
        """Return counts as (1 + log(count)) * idf."""
        damp = csr_array((damped(rows.data), rows.indices, rows.indptr), shape=rows.shape)
        return csr_array(damp @ _diagonal(self.idf))

    @cached_property
    def lsi(self) -> np.ndarray:
        """The vectors of LSI by columns, the greatest singular value first."""
        return self._kept(
            "lsi", lambda: truncated_svd(self.tfidf(self.matrix), max(WIDTHS), powers=3, workers=WORKERS)[0]
        )

    def lsi_of(self, rows: csr_array) -> dict[str, np.ndarray]:
        """Return the vectors of texts by LSI, of each width."""
        vectors = self.tfidf(rows) @ self.lsi
        return {f"{width} dimensions": vectors[:, :width] for width in WIDTHS}

    def lda_of(self, rows: csr_array) -> dict[str, np.ndarray]:
        """Return the topics of texts."""
        frequent = csr_array(rows[:, self.frequent])
        theta = self.lda.theta(frequent, WORKERS) * (frequent.sum(axis=1) > 0)[:, None]
        return {"shares": theta, "roots": np.sqrt(theta)}

    def dcot_of(self, rows: csr_array) -> dict[str, Any]:
        """Return the prototypes of texts, less those of an empty text, and the same beside the words."""
        frequent = csr_array(rows[:, self.frequent])
        h = self.dcot.transform(frequent) - self.dcot.transform(csr_array((1, len(self.frequent))))
        return {"h": h, "words and h": csr_array(hstack([unit(self.tfidf(rows)), unit(h)]))}

    @cached_property
    def lda(self) -> LDA:
        """LDA of the words that are not too common."""
        model = LDA(TOPICS, iterations=SWEEPS)
        counts = self.matrix[:, self.frequent]
        tokens = self._kept(
            f"lda{TOPICS}-{SWEEPS}", lambda: _dense(LDA(TOPICS, iterations=SWEEPS).fit(counts, WORKERS).word_topics_)
        )
        return model.restore(tokens, np.full(TOPICS, model.alpha))

    @cached_property
    def dcot(self) -> DCoT:
        """DCoT of the words that are not too common, with log counts and p = 0.7."""
        return DCoT(PROTOTYPES, 1, 0.7, True, RARE).fit(self.matrix[:, self.frequent], workers=WORKERS)

    def _kept(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Return an array from the folder, or make it and keep it there."""
        path = self._work / f"{self.name}-{name}.npy"
        if not path.exists():
            np.save(path, make())
        return np.asarray(np.load(path))


class Features:
    """Texts as vectors. `model` names a fitted `laki` of the index; `work` is the folder of what is kept."""

    def __init__(self, index: sublex.Index, model: str, work: Path):
        loaded = index.representation(model)
        self.laki, self._inputs, self._analyze = loaded.model, loaded.inputs, index.analyze
        work.mkdir(parents=True, exist_ok=True)
        self._numbers = {term: number for number, term in enumerate(index.corpus.vocabulary)}
        self.by_word = Counts("words", index.corpus.matrix(), work)
        everything, codes = type(self.laki.units).of(self.laki.units.phrases), self.laki.units.codes
        path = work / "units.npz"
        if not path.exists():
            found = everything.of_corpus(index.corpus, Job())
            np.savez(path, data=found.data, indices=found.indices, indptr=found.indptr)
        stored = np.load(path)
        shape = (len(index.corpus.docs), len(everything))
        units = csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=shape)
        self.by_unit = Counts("units", units[:, codes], work)

    def words(self, texts: list[str]) -> csr_array:
        """Return the counts of the words of texts."""
        rows = [Counter(self._numbers[t] for t in self._analyze(text) if t in self._numbers) for text in texts]
        places = np.append(0, np.cumsum([len(row) for row in rows]))
        data = [float(count) for row in rows for count in row.values()]
        indices = [number for row in rows for number in row]
        counts = csr_array((data, indices, places), shape=(len(texts), len(self._numbers)))
        return csr_array(counts[:, self.by_word.kept])

    def units(self, texts: list[str]) -> csr_array:
        """Return the counts of the content units of texts."""
        return csr_array(self.laki.units.of_texts(self._inputs.of_texts(texts)))

    def families(self, texts: list[str]) -> dict[str, Callable[[], dict[str, Any]]]:
        """Return for each kind of features a function that gives its variants, by name."""
        words, units = self.words(texts), self.units(texts)
        known = csr_array(units[:, self.by_unit.kept])
        phrases = self.laki.network.phrases
        weights = self.by_unit.tfidf(known)[:, np.searchsorted(self.by_unit.kept, phrases)]
        return {
            "words (BoW)": lambda: {"tf-idf": self.by_word.tfidf(words), "0 or 1": _ones(words)},
            "mentioned keyphrases (EKM)": lambda: {"tf-idf": csr_array(weights), "0 or 1": _ones(units[:, phrases])},
            "LSI of words": lambda: self.by_word.lsi_of(words),
            "LSI of units": lambda: self.by_unit.lsi_of(known),
            "LDA of words": lambda: self.by_word.lda_of(words),
            "LDA of units": lambda: self.by_unit.lda_of(known),
            "dCoT": lambda: self.by_word.dcot_of(words),
            "LAKI": lambda: scaled(self.keyphrases(units)),
            "LAKI, evoked units": lambda: self.evoked(units),
            "LAKI, propagation": lambda: scaled(self.together(units)),
            "LAKI, propagation, absent=all": lambda: scaled(self.together(units, length=0.0)),
            "LAKI, Gibbs sampling": lambda: scaled(self.together(units, method="gibbs", sweeps=GIBBS)),
        }

    def keyphrases(self, units: csr_array, least: float = LEAST_IN_QUERY) -> csr_array:
        """Return the probabilities of the keyphrases as the model's own inference finds them."""
        return self.laki.encode_units(units, least)

    def together(self, units: csr_array, **options: Any) -> csr_array:
        """Return the probabilities of the keyphrases, given all others: by propagation if the options say nothing else."""
        options = {
            "most": self.laki.params.most,
            "length": self.laki.length,
            "workers": WORKERS,
        } | options
        return encode(self.laki.capped, units, **options)

    def evoked(self, units: csr_array) -> dict[str, csr_array]:
        """Return for each unit the expected number of keyphrases that turn it on, and the roots of these numbers."""
        silhouettes = csr_array(self.laki.capped.silhouettes)
        silhouettes.data = -np.expm1(-silhouettes.data)
        found = csr_array(self.keyphrases(units) @ silhouettes)
        return {"expected": found, "roots": found.sqrt()}


def scaled(chances: csr_array) -> dict[str, csr_array]:
    """Return probabilities as they are, their roots, and as the released program of LAKI writes them."""
    small = np.clip(chances.data, 1e-12, 0.1)
    written = np.where(chances.data >= 0.1, 0.5 + (chances.data - 0.1) * 5 / 9, np.log(0.1) / (2 * np.log(small)))
    shape = {"shape": chances.shape}
    return {
        "probabilities": chances,
        "roots": chances.sqrt(),
        "as released": csr_array((written, chances.indices, chances.indptr), **shape),
    }


def unit(rows: Any) -> Any:
    """Return rows of length 1: a dense array as an array, a sparse one as the matrix class that scikit-learn reads."""
    if isinstance(rows, np.ndarray):
        lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return csr_matrix(_diagonal(np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)) @ rows)


def _diagonal(values: np.ndarray) -> csr_array:
    number = len(values)
    return csr_array((values, np.arange(number), np.arange(number + 1)), shape=(number, number))


def _ones(rows: csr_array) -> csr_array:
    return csr_array((rows > 0).astype(np.float64))


def _dense(values: Any) -> np.ndarray:
    return np.asarray(values.todense() if hasattr(values, "todense") else values)
