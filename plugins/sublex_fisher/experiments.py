"""The experiment on clusters of the paper on Fisher vectors: how well clusters of documents agree with their labels.

A document is a row of weights, log counts times idf, scaled to length 1. The words are those of two documents or more.
LSI has the leading singular vectors of these rows, and the Fisher vectors use the word vectors of this LSI. In each
run, spherical k-means puts the rows into as many clusters as there are labels, from a new random start. PLSA puts each
document into its likeliest topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from sublex.contracts.experiments import ExperimentWork
from sublex.errors import InputError
from sublex.estimators.bags import damped
from sublex.estimators.svd import truncated_svd
from sublex_fisher.model import Fisher

# Words in fewer documents are left out.
RARE = 2
# The largest number of steps of k-means, and of PLSA.
STEPS, PLSA_STEPS = 100, 100
# The number of words for whose pairs Yule's measure is computed, which are the most frequent ones; and the number of
# Gaussians over their vectors.
YULE_WORDS, YULE_GAUSSIANS = 8_000, 32


class LabelClusters:
    """Agreement of clusters of documents with the documents' labels: adjusted Rand index (ARI) and normalised mutual
    information (NMI).

    `lda` is a model of topics; its clusters are the documents with the same likeliest topic. With `yule`, words also
    get vectors of this width by Yule's measure. Documents are then also compared as the means of these vectors, and as
    Fisher vectors over them.
    """

    measures = ("ARI", "NMI")
    needs_index = True

    def __init__(self, *, label: str, width: int, gaussians: Sequence[Any], plsa: bool, lda: Any, yule: int, runs: int):
        for k in gaussians:
            if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= 1024:
                raise InputError(f"gaussians has {k!r}; give numbers from 1 to 1,024.")
        self.label, self.width, self.gaussians, self.plsa = label, width, tuple(gaussians), plsa
        self.lda, self.yule = lda, yule
        self.units = tuple(f"run {number}" for number in range(1, runs + 1))
        self.cases = (
            *(f"FV, K = {k}" for k in self.gaussians), "LSI", *(["PLSA"] if plsa else []), *(["LDA"] if lda is not None else []),
            *([f"FV of Yule vectors, K = {YULE_GAUSSIANS}", "mean of Yule vectors"] if yule else []),
        )  # fmt: skip
        self._fixed: dict[str, Any] = {}

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return both measures for each kind of rows, in the run that `unit` names."""
        fixed, seed, found = self._of(work), self.units.index(unit), {}
        truth, rows = fixed["truth"], fixed["rows"]
        clusters = int(truth.max()) + 1
        for done, case in enumerate(self.cases):
            work.progress(done, len(self.cases), "kinds of rows")
            if case == "PLSA":
                own = plsa_clusters(fixed["counts"], clusters, seed)
            elif case == "LDA":
                own = fixed["LDA"]
            else:
                own = spherical_means(self._vectors(case, fixed, rows, seed, work.workers), clusters, seed)
            found[case] = [adjusted_rand(own, truth), mutual_information(own, truth)]
        return found

    def _vectors(self, case: str, fixed: Mapping[str, Any], rows: csr_array, seed: int, workers: int) -> np.ndarray:
        """Return the rows of the case `case`, such as "LSI", which k-means clusters.

        `fixed` is the result of `_of`, and `rows` has the weighted rows of the documents.
        """
        words = fixed["Yule"] if "Yule" in case else fixed["words"]
        if "FV" not in case:
            return rows @ words
        gaussians = int(case.rpartition(" ")[2])
        return Fisher(words, k=gaussians, seed=seed).fit(rows, workers=workers).transform(rows, workers)

    def _of(self, work: ExperimentWork) -> dict[str, Any]:
        """Return the data that all runs share: labels, counts, weighted rows, and vectors of words."""
        if self._fixed:
            return self._fixed
        labels = [str(document.fields.get(self.label) or "") for document in work.index.documents()]
        known = np.flatnonzero([bool(label) for label in labels])
        names, truth = np.unique([labels[k] for k in known], return_inverse=True)
        if len(names) < 2:
            raise InputError(
                f"{work.index.path} has {len(names)} labels in the field {self.label}; name another field by label."
            )
        counts = csr_array(work.index.corpus.matrix()[known], dtype=np.float64)
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        counts = csr_array(counts[:, np.flatnonzero(df >= RARE)])
        rows = weighted(counts)
        found = {"truth": truth, "counts": counts, "rows": rows}
        found["words"] = truncated_svd(rows, self.width, powers=3, workers=work.workers).vectors
        if self.lda is not None:
            topics = work.vectors(self.lda)
            found["LDA"] = (topics.toarray() if issparse(topics) else topics)[known].argmax(axis=1)
        if self.yule:
            found["Yule"] = yule_vectors(counts, self.yule)
        self._fixed = found
        return found


def weighted(counts: csr_array) -> csr_array:
    """Return the rows of counts as weights, log counts times idf, scaled to length 1. Rows of zeros stay zeros."""
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    damp = csr_array((damped(counts.data), counts.indices, counts.indptr), shape=counts.shape)
    rows = csr_array(damp @ diags_array(np.log(counts.shape[0] / np.maximum(df, 1))))
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return csr_array(diags_array(np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)) @ rows)


def spherical_means(rows: np.ndarray, clusters: int, seed: int) -> np.ndarray:
    """Return the cluster of each row by spherical k-means. The first centres are random rows."""
    return _spherical(rows, clusters, seed)[0]


def _spherical(rows: np.ndarray, clusters: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cluster of each row by spherical k-means, and the centres of the clusters.

    An empty cluster gets the row that is furthest from its own centre.
    """
    rows = unit(np.asarray(rows))
    centres = rows[np.random.default_rng(seed).choice(len(rows), clusters, replace=False)]
    of = np.full(len(rows), -1)
    for _ in range(STEPS):
        near = rows @ centres.T
        new = near.argmax(axis=1)
        sizes = np.bincount(new, minlength=clusters)
        furthest = iter(np.argsort(near.max(axis=1), kind="stable").tolist())
        for empty in np.flatnonzero(sizes == 0).tolist():
            new[next(furthest)] = empty
        if (new == of).all():
            break
        of = new
        members = csr_array((np.ones(len(rows), rows.dtype), (of, np.arange(len(rows)))), shape=(clusters, len(rows)))
        centres = unit(members @ rows)
    return of, centres


def unit(rows: np.ndarray) -> np.ndarray:
    """Return the rows scaled to length 1. Rows of zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def plsa_clusters(counts: csr_array, topics: int, seed: int, steps: int = PLSA_STEPS) -> np.ndarray:
    """Return the likeliest topic of each document by PLSA (T. Hofmann, 1999).

    PLSA is fitted by expectation maximisation from a random start. `counts` has documents by words.
    """
    chance, (documents, words) = np.random.default_rng(seed), counts.shape
    theta, phi = chance.dirichlet(np.ones(topics), documents), chance.dirichlet(np.ones(words), topics).T
    row = np.repeat(np.arange(documents), np.diff(counts.indptr))
    for _ in range(steps):
        norms = np.maximum(np.einsum("ik,ik->i", theta[row], phi[counts.indices]), 1e-300)
        ratios = csr_array((counts.data / norms, counts.indices, counts.indptr), shape=counts.shape)
        theta, phi = theta * (ratios @ phi), phi * (ratios.T @ theta)
        theta /= np.maximum(theta.sum(axis=1, keepdims=True), 1e-300)
        phi /= np.maximum(phi.sum(axis=0), 1e-300)
    found: np.ndarray = theta.argmax(axis=1)
    return found


def yule_vectors(counts: csr_array, clusters: int) -> np.ndarray:
    """Return a vector with `clusters` entries for each word, computed from Yule's measure of pairs of words.

    The rows of Yule's measure are clustered by spherical k-means. A word's vector has its entries in the centres of the
    clusters. Only the `YULE_WORDS` most frequent words have vectors; the vectors of other words are zeros.
    """
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.sort(np.argsort(-df, kind="stable")[:YULE_WORDS])
    centres = _spherical(yule(counts[:, kept]), clusters, 0)[1]
    found = np.zeros((counts.shape[1], clusters))
    found[kept] = centres.T
    return found


def yule(counts: csr_array) -> np.ndarray:
    """Return Yule's coefficient of colligation of each pair of words, (√(ad) - √(bc)) / (√(ad) + √(bc)).

    a is the number of documents with both words, b and c are the numbers of documents with one of them alone, and d is
    the number of documents with neither. `counts` has documents by words.
    """
    occurs = csr_array((np.ones(counts.nnz, np.float32), counts.indices, counts.indptr), shape=counts.shape)
    both = (occurs.T @ occurs).toarray()
    alone = both.diagonal().copy()
    first, second = alone[:, None] - both, alone[None] - both
    kept = np.sqrt(both * (counts.shape[0] - both - first - second))
    crossed = np.sqrt(first * second)
    total = kept + crossed
    return np.divide(kept - crossed, total, out=np.zeros_like(total), where=total > 0)


def _table(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    found = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(found, (a, b), 1)
    return found


def adjusted_rand(a: np.ndarray, b: np.ndarray) -> float:
    """Return the adjusted Rand index of two partitions, each given as the cluster of every item (L. Hubert and P.
    Arabie, 1985).
    """
    table = _table(a, b)

    def pairs(numbers: Any) -> float:
        return float((numbers * (numbers - 1) / 2).sum())

    together, one, other = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected, most = one * other / pairs(np.array([len(a)])), (one + other) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def mutual_information(a: np.ndarray, b: np.ndarray) -> float:
    """Return the normalised mutual information of two partitions: their mutual information, divided by the mean of
    their entropies. A partition is given as the cluster of every item.
    """
    shares = _table(a, b) / len(a)

    def entropy(p: np.ndarray) -> float:
        return -float((p[p > 0] * np.log(p[p > 0])).sum())

    one, other = entropy(shares.sum(axis=1)), entropy(shares.sum(axis=0))
    if one + other == 0:
        return 1.0
    return 2 * (one + other - entropy(shares)) / (one + other)
