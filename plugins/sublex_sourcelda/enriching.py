"""Add words to labels that have only a few words.

The new words come from documents that have at least two of the label's words. Of these, the documents with the best
BM25 scores are taken. Words that are more frequent in them than in the collection join the label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sublex.estimators.sparse_rows import lengths

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Words are taken from at most `DOCUMENTS` documents. If fewer than `FEWEST` documents match, no words are added.
DOCUMENTS, FEWEST = 50, 5
# The largest number of words that join a label, the least number of the documents that a word must be in, and the least
# share of them.
WORDS, LEAST_DF, LEAST_SHARE = 60, 2, 0.05
# The sum of the counts of an enriched label, and the share of this sum that belongs to the label's own words.
TOTAL, OWN = 200, 0.3
# The parameters of BM25.
K1, B = 0.9, 0.4


class Enriched(NamedTuple):
    """Counts of sources by words, after enrichment.

    For each source, `known` has the number of its own distinct words, and `added` the number of words that joined them.
    `matching` has the number of documents with at least two of the source's own words, or with one if there is only
    one.
    """

    counts: csr_array
    known: np.ndarray
    matching: np.ndarray
    added: np.ndarray


def enrich(matrix: csr_array, sources: csr_array, below: int) -> Enriched:
    """Add words to each source that has fewer than `below` distinct words, and return the sources.

    `matrix` has the counts of documents by words. A source is not changed if fewer than `FEWEST` documents match it.
    """
    from scipy.sparse import csr_array

    rows, columns = matrix.tocsr(), matrix.tocsc()
    words = np.bincount(columns.indices, columns.data, rows.shape[0])
    usual = np.asarray(rows.sum(axis=0)).ravel() / max(1.0, rows.sum())
    known, matching, added = (np.zeros(sources.shape[0], np.int64) for _ in range(3))
    parts = []
    for number in range(sources.shape[0]):
        row = sources[[number]]
        own = row.data > 0
        terms, counts = row.indices[own], row.data[own].astype(np.float64)
        known[number] = len(terms)
        scores, hits = scores_of(columns, words, terms)
        match = np.flatnonzero(hits >= min(2, len(terms)))
        matching[number] = len(match)
        if len(terms) >= below or len(match) < FEWEST:
            parts.append(row)
            continue
        best = match[np.argsort(-scores[match], kind="stable")[:DOCUMENTS]]
        more = words_of(rows[best], scores[best], usual)
        total = np.zeros(rows.shape[1])
        total[: len(more)] = more * (1 - OWN)
        total[terms] += OWN * counts / counts.sum()
        parts.append(csr_array(np.ceil(total * TOTAL)[None, :]))
        added[number] = parts[-1].nnz - len(terms)
    starts = np.append(0, np.cumsum([part.nnz for part in parts]))
    data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
    return Enriched(csr_array((data.astype(np.float64), indices, starts), shape=sources.shape), known, matching, added)


def scores_of(columns: csr_array, words: np.ndarray, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the BM25 score of each document for the query `terms`, and the number of these terms in the document.

    `columns` has the counts of documents by words, as sparse columns, and `words` the length of each document.
    """
    scores, hits = np.zeros(len(words)), np.zeros(len(words), np.int64)
    norms = K1 * (1 - B + B * words / max(words.mean(), 1e-9))
    for term in terms.tolist():
        part = slice(columns.indptr[term], columns.indptr[term + 1])
        docs, counts = columns.indices[part], columns.data[part]
        idf = np.log(1 + (len(words) - len(docs) + 0.5) / (len(docs) + 0.5))
        scores[docs] += idf * counts / (counts + norms[docs])
        hits[docs] += 1
    return scores, hits


def words_of(rows: csr_array, scores: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return a weight for each word, computed from some documents and their scores. The weights add up to 1, or are all
    0.

    The weight of a word is its part of the Kullback-Leibler divergence between the documents, weighted by their scores,
    and the collection. `usual` has the probability of each word in the collection.
    """
    weights = scores / np.maximum(lengths(rows), 1)
    chances = weights @ rows
    chances = chances / max(chances.sum(), 1e-300)
    df = np.bincount(rows.indices, minlength=rows.shape[1])
    typical = (chances > usual) & (df >= max(LEAST_DF, LEAST_SHARE * rows.shape[0]))
    parts = np.zeros(len(usual))
    parts[typical] = chances[typical] * np.log(chances[typical] / usual[typical])
    parts[np.argsort(-parts, kind="stable")[WORDS:]] = 0
    return parts / max(parts.sum(), 1e-300)
