"""Character n-grams on an index: the model stores the counts of each document's n-grams, and the engine keeps posting
lists of their weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Explanation, Statistics, TextWords
from sublex.contracts.fitted import Corpus, Cost, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared, Json, Numbers
from sublex.estimators.word_sums import check_model
from sublex_chars.model import NGramCounter, NGramSpace, without

# An explanation lists at most LISTED_WORDS words of the document for each word of the query, and at most LISTED_GRAMS
# n-grams that two words share.
LISTED_WORDS, LISTED_GRAMS = 8, 6
# Fitting takes at most this number of bytes for each term of the index.
BYTES_PER_TERM = 4096
# What fitting costs for each posting of the index: seconds on one core, and bytes of rows and posting lists.
SECONDS, BYTES = 3.5e-6, 40


class NgramQuery(NamedTuple):
    """A query: the weights of its n-grams by their numbers, and its words in lower case with their frequencies."""

    weights: dict[int, float]
    words: dict[str, int]


class CharsRepresentation(Representation):
    """BM25 over the character n-grams of words.

    Stop words are left out. A query is read without the terms that expanders added.
    """

    version = 1
    reads = "words"
    sums = True
    space: NGramSpace

    def __init__(self, *, n: int, min_df: int, k1: float, b: float):
        self.n, self.min_df, self.k1, self.b = n, min_df, k1, b

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes for the n-grams of all words."""
        return BYTES_PER_TERM * len(corpus.vocabulary)

    def cost(self, collection: Statistics, terms: int) -> Cost:
        """Return the time that it takes to count the n-grams of all documents, and the bytes of the rows and posting
        lists.
        """
        return Cost(SECONDS * collection.postings, BYTES * collection.postings)

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Count the n-grams of all documents, and keep those that occur in `min_df` documents or more."""
        counter, words = NGramCounter(self.n), corpus.words()
        job.progress(0, len(corpus.docs), "documents")
        for block in words.blocks(job.map):
            counter.read(words.surfaces, *without(block.terms < 0, block.surfaces, block.ends))
            job.progress(counter.texts, len(corpus.docs), "documents")
        self._take(counter.space(self.min_df))

    def _take(self, space: NGramSpace) -> None:
        self.space = space
        self.row_values = Numbers((len(space.grams),), "u1", 1, sparse=True)

    def save(self, store: Store) -> None:
        """Store the n-grams with the numbers of documents that have them, the number of all documents, and the mean length."""
        store.put("grams", self.space.grams)
        store.put("df", self.space.df.astype(np.int32))
        store.put("docs", np.array([self.space.docs]))
        store.put("mean_length", np.array([self.space.mean_length]))

    def declares(self) -> Mapping[str, Declared]:
        """Return the declarations of the n-grams and of the statistics."""
        return {
            "grams": Json(list[str], "grams", distinct=True),
            "df": Numbers(("grams",), "i4", 1),
            "docs": Numbers((1,), "i8", 1, 1 << 40),
            "mean_length": Numbers((1,), "f8", 1e-10),
        }

    def load(self, store: Stored) -> None:
        """Restore the n-grams and the statistics."""
        (docs,), (mean_length,) = store.get("docs").tolist(), store.get("mean_length").tolist()
        check_model(len(store.get("grams")) > 0)
        self._take(NGramSpace(self.n, store.get("grams"), store.get("df"), docs, mean_length))

    def encode_documents(self, inputs: TextWords) -> csr_array:
        """Return the counts of the documents' n-grams, as sparse rows of documents by n-grams."""
        return self.space.counts(inputs.surfaces, *without(_is_stop(inputs), inputs.words, inputs.ends))

    def transform(self, inputs: TextWords) -> csr_array:
        """Return the weights of the documents' n-grams, as sparse rows of documents by n-grams (float32)."""
        return self.posting_weights(self.encode_documents(inputs))

    def document_vectors(self, inputs: TextWords) -> csr_array:
        """Return the weights of the documents' n-grams times their idf, by which documents are compared with each other."""
        rows = self.transform(inputs)
        return csr_array((rows.data * self.space.idfs[rows.indices], rows.indices, rows.indptr), shape=rows.shape)

    def column_names(self) -> Sequence[str]:
        """Return the n-grams, which name the columns of the rows."""
        return self.space.grams

    def posting_weights(self, rows: csr_array) -> csr_array:
        """Return the weights of the documents' n-grams: the saturated counts (float32), without the idf.

        `rows` has the counts, as `encode_documents` returns them.
        """
        return self.space.weights(rows, self.k1, self.b)

    def encode_queries(self, inputs: TextWords) -> list[NgramQuery]:
        """Return an `NgramQuery` for each query: its words with their frequencies, and the weights of their n-grams."""
        words = [_frequencies(inputs[k : k + 1]) for k in range(len(inputs))]
        return [NgramQuery(self.space.query(own), own) for own in words]

    def query_weights(self, query: NgramQuery) -> Mapping[int, float]:
        """Return the weights of a query's n-grams, by the numbers of the n-grams."""
        return query.weights

    def explain(self, query: NgramQuery, view: View, doc: int) -> Explanation:
        """Return the score as a sum over the words of the query.

        The part of a query word lists the words of the document that share n-grams with it. If several words of the
        document have the same n-gram, the amount that the n-gram adds is divided among them, in proportion to its
        occurrences in each.
        """
        row = self.posting_weights(view.rows(np.array([doc])))
        weights = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        holders = self._holders(view.words(doc), query)
        parts = [self._part(word, count, weights, holders) for word, count in query.words.items()]
        found = sorted((part for part in parts if part.parts), key=lambda part: -part.value)
        missing = [part.label for part in parts if not part.parts]
        evidence = {"no n-gram in this document": missing} if missing else {}
        return Explanation(
            sum(part.value for part in found), "n-grams, by words that share them", "sum", tuple(found), evidence
        )

    def _holders(self, text: TextWords, query: NgramQuery) -> dict[int, Counter[str]]:
        """Return for each n-gram of the query the document's words that have it, with the number of its occurrences in
        each.
        """
        holders: dict[int, Counter[str]] = {}
        for word, count in _frequencies(text).items():
            for gram in self.space.of_word(word):
                if gram in query.weights:
                    holders.setdefault(gram, Counter())[word] += count
        return holders

    def _part(
        self, word: str, count: int, weights: Mapping[int, float], holders: Mapping[int, Counter[str]]
    ) -> Explanation:
        """Return the amount that the query word `word` adds to the score, divided among the words of the document.

        `count` is the word's frequency in the query. `weights` has the weights of the document's n-grams, and `holders`
        is the result of `_holders`.
        """
        values, shared = Counter[str](), dict[str, dict[str, None]]()
        for gram in self.space.of_word(word):
            if gram not in weights or gram not in holders:
                continue
            value = count * self.space.idf(gram) * weights[gram] / holders[gram].total()
            for holder, occurrences in holders[gram].items():
                values[holder] += value * occurrences  # type: ignore[assignment]
                shared.setdefault(holder, {})[self.space.grams[gram]] = None
        listed = values.most_common()
        parts = [
            Explanation(value, holder, evidence={"shared": _some(list(shared[holder]))})
            for holder, value in listed[:LISTED_WORDS]
        ]
        if rest := listed[LISTED_WORDS:]:
            parts.append(Explanation(sum(value for _, value in rest), f"{len(rest):,} other words"))
        return Explanation(sum(part.value for part in parts), word, "sum", tuple(parts))

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the number of n-grams, and the mean number of distinct n-grams of a document."""
        sizes = view.map_rows(lambda rows: np.diff(rows.indptr))
        return {
            "n-grams": len(self.space.grams),
            "distinct n-grams of a document, on average": round(float(sizes.mean()), 1),
            "length of a document in n-grams, on average": round(self.space.mean_length, 1),
        }


def _is_stop(texts: TextWords) -> np.ndarray:
    """Return for each occurrence of a word in `texts` whether the word is a stop word."""
    return np.array([not term for term in texts.terms], np.bool_)[texts.words]


def _frequencies(texts: TextWords) -> dict[str, int]:
    """Return the words of texts in lower case with their frequencies, without stop words, in the order of appearance."""
    words = texts.words[~_is_stop(texts)].tolist()
    return dict(Counter(texts.surfaces[word].lower() for word in words))


def _some(grams: list[str]) -> str:
    """Return the first few n-grams as text."""
    more = len(grams) - LISTED_GRAMS
    return " ".join(grams[:LISTED_GRAMS]) + (f" and {more} more" if more > 0 else "")
