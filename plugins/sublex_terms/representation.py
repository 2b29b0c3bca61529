"""tf·idf on an index: it stores the norm of each document's vector, and reads everything else from the index's own terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Explanation, Statistics
from sublex.contracts.fitted import Corpus, Cost, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared, Numbers
from sublex.errors import InputError
from sublex.estimators.bags import damped
from sublex.estimators.word_sums import NORM, VOCABULARY
from sublex_terms.model import idf, norms, weighted

# What fitting costs: seconds on one core for each posting of the index, and bytes for each word and for each document.
SECONDS, WORD, DOCUMENT = 1.5e-7, 20, 4


class TermsQuery(NamedTuple):
    """A query: the numbers of its words, their weights, and the norm of its vector."""

    words: np.ndarray
    weights: np.ndarray
    norm: float


class TermsRepresentation(Representation):
    """Cosines of tf·idf vectors. A document without a word of the query has no score.

    The weights ln(N / df) are those of the fit. Words that occur in fewer than `min_df` documents of the fit, or in all of
    them, are left out.
    """

    version = 1
    row_values = NORM
    idfs: np.ndarray

    def __init__(self, *, min_df: int):
        self.min_df = min_df

    def cost(self, collection: Statistics, terms: int) -> Cost:
        """Return the time of two passes over all postings, and the bytes of the words and of a norm for each document."""
        return Cost(SECONDS * collection.postings, WORD * terms + DOCUMENT * collection.docs)

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Count in how many documents each word occurs."""
        df, docs, done = np.zeros(len(corpus.vocabulary), np.int64), len(corpus.docs), 0
        for block in corpus.blocks():
            df += np.bincount(block.indices, minlength=len(df))
            done += block.shape[0]
            job.progress(done, docs, "documents")
        chosen = np.flatnonzero((df >= self.min_df) & (df < docs) & (df > 0))
        if not len(chosen):
            raise InputError(
                f"terms: no word is in {self.min_df:,} or more of {docs:,} documents, but not in all; lower min_df."
            )
        self.vocabulary = [corpus.vocabulary[word] for word in chosen.tolist()]
        self.idfs = idf(df[chosen], docs)

    def save(self, store: Store) -> None:
        """Store the words and their weights."""
        store.put("vocabulary", list(self.vocabulary))
        store.put("idfs", self.idfs)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declarations of the words and of their weights, which are above 0."""
        return {**VOCABULARY, "idfs": Numbers(("words",), "f8", 1e-16, 100)}

    def load(self, store: Stored) -> None:
        """Restore the words and their weights."""
        self.vocabulary, self.idfs = store.get("vocabulary"), store.get("idfs")

    def encode_documents(self, inputs: csr_array) -> np.ndarray:
        """Return the norms of the documents' vectors, float32."""
        return norms(self.transform(inputs)).astype(np.float32)

    def transform(self, inputs: csr_array) -> csr_array:
        """Return the weights of the documents' words, as sparse rows of documents by words."""
        return weighted(inputs, self.idfs)

    def column_names(self) -> Sequence[str]:
        """Return the words, which name the columns of the vectors."""
        return self.vocabulary

    def encode_queries(self, inputs: csr_array) -> list[TermsQuery]:
        """Return a `TermsQuery` for each query: its words, their tf-idf weights, and the norm of these weights."""
        rows = weighted(inputs, self.idfs)
        spans = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), norms(rows).tolist(), strict=True)
        return [TermsQuery(rows.indices[begin:end], rows.data[begin:end], norm) for begin, end, norm in spans]

    def score(self, query: TermsQuery, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the cosine of the query's vector with each document's; -inf for a document without a word of the query."""
        lengths = query.norm * view.map_rows(lambda rows: np.asarray(rows, np.float64), docs)
        sums, is_there = np.zeros(len(lengths)), np.zeros(len(lengths), np.bool_)
        # For a few documents the counts of all words are read at once; for all of them, one word after another.
        several = None if docs is None else view.counts_of(query.words, docs)
        for place, word in enumerate(query.words.tolist()):
            counts = view.counts(word) if several is None else several[place]
            sums += query.weights[place] * self.idfs[word] * damped(counts)
            is_there |= counts > 0
        return np.divide(sums, lengths, out=np.full(len(sums), -np.inf), where=is_there & (lengths > 0))

    def explain(self, query: TermsQuery, view: View, doc: int) -> Explanation:
        """Explain the cosine of a document: the contribution of each word that it shares with the query adds up to the cosine."""
        counts = view.counts_of(query.words, np.array([doc]))[:, 0]
        norm = float(view.rows(np.array([doc]))[0])
        parts, missing = [], []
        for word, weight, count in zip(query.words.tolist(), query.weights.tolist(), counts.tolist(), strict=True):
            surface = view.surface(self.vocabulary[word])
            if count == 0:
                missing.append(surface)
                continue
            own = float(damped(count) * self.idfs[word]) / norm
            factors = (
                Explanation(weight / query.norm, "weight in the query, (1 + ln tf) · ln(N / df), by the norm of all"),
                Explanation(own, f"weight in the document, where tf = {count:g}, by the norm of all"),
            )
            parts.append(Explanation(weight / query.norm * own, surface, "product", factors))
        parts.sort(key=lambda part: -part.value)
        evidence = {"not in this document": missing} if missing else {}
        total = sum(part.value for part in parts)
        return Explanation(total, "cosine of tf·idf, by shared words", "sum", tuple(parts), evidence)

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the number of words, and the least and the largest idf."""
        return {
            "words": len(self.vocabulary),
            "least idf": round(float(self.idfs.min()), 3),
            "largest idf": round(float(self.idfs.max()), 3),
        }
