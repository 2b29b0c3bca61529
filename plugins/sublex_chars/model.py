"""BM25 over the character n-grams of words: cut words into n-grams, count these, and weight the counts.

P. McNamee and J. Mayfield, Character n-gram tokenization for European language text retrieval, Information Retrieval 7, 2004.
A list has the distinct words (`surfaces`). Texts lie end to end in one array: for each occurrence of a word, the index of
the word in this list (`words`). `ends` has the end of each text in this array. This module knows nothing about indexes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError

# The character that stands before and after each word.
MARK = "_"
# The type of stored counts, and the largest count.
COUNT = np.uint8
MOST_COUNT = int(np.iinfo(COUNT).max)


def ngrams(word: str, n: int) -> list[str]:
    """Return the character n-grams of a word, which is put in lower case and gets the mark `_` at either end.

    A word with fewer than n characters, marks included, is a single n-gram.
    """
    marked = f"{MARK}{word.lower()}{MARK}"
    return [marked[begin : begin + n] for begin in range(max(1, len(marked) - n + 1))]


class NGramCounter:
    """Counts in how many texts each n-gram occurs, and numbers the n-grams by their first appearance.

    `read` is called with the same list of distinct words each time. The list may have grown since the last call, at its
    end.
    """

    def __init__(self, n: int):
        self.n = n
        self._numbers: dict[str, int] = {}
        self._words: list[np.ndarray] = []
        self._matrix = csr_array((0, 1), dtype=np.int32)
        # For each n-gram, the number of texts that have it; for each word, its number of occurrences.
        self.df, self.cf = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.texts = 0

    def read(self, surfaces: Sequence[str], words: np.ndarray, ends: np.ndarray) -> None:
        """Count the n-grams of some texts. The docstring of the module explains the arguments."""
        numbers = self._numbers
        for word in surfaces[len(self._words) :]:
            own = [numbers.setdefault(gram, len(numbers)) for gram in ngrams(word, self.n)]
            self._words.append(np.array(own, np.int32))
        if self._matrix.shape[0] < len(self._words):
            self._matrix = _of_words(self._words, len(numbers))
        found = _products(words, ends, self._matrix)
        self.df = _grown(self.df, len(numbers)) + np.bincount(found.indices, minlength=len(numbers))
        self.cf = _grown(self.cf, len(self._words)) + np.bincount(words, minlength=len(self._words))
        self.texts += len(ends)

    def space(self, min_df: int) -> NGramSpace:
        """Return the n-grams that occur in at least `min_df` texts, sorted, with their statistics.

        Raise `InputError` if there are none.
        """
        kept = self.df >= min_df
        grams = sorted(gram for gram, number in self._numbers.items() if kept[number])
        if not grams:
            raise InputError(f"chars: no n-gram is in {min_df:,} or more of {self.texts:,} documents; lower min_df.")
        places = np.array([self._numbers[gram] for gram in grams])
        sizes = self._matrix @ kept.astype(np.int64)
        return NGramSpace(self.n, grams, self.df[places], self.texts, float(self.cf @ sizes) / self.texts)


class NGramSpace:
    """The n-grams that occur in enough documents, with the statistics that BM25 needs.

    `df` has the number of documents of each n-gram, and `docs` is the number of all documents. `mean_length` is the
    mean length of a document, counted in these n-grams.
    """

    def __init__(self, n: int, grams: Sequence[str], df: np.ndarray, docs: int, mean_length: float):
        self.n, self.grams, self.df, self.docs, self.mean_length = n, list(grams), df, docs, mean_length
        self._numbers = {gram: number for number, gram in enumerate(self.grams)}

    def idf(self, gram: int) -> float:
        """Return the idf of an n-gram by Lucene's formula, ln(1 + (N - df + 0.5) / (df + 0.5))."""
        return math.log((self.docs + 1) / (float(self.df[gram]) + 0.5))

    @cached_property
    def idfs(self) -> np.ndarray:
        """The idf of each n-gram, float64."""
        return np.array([self.idf(gram) for gram in range(len(self.grams))])

    def of_word(self, word: str) -> list[int]:
        """Return the numbers of a word's n-grams, in the order of the word. N-grams that too few documents have are
        left out.
        """
        numbers = self._numbers
        return [numbers[gram] for gram in ngrams(word, self.n) if gram in numbers]

    def counts(self, surfaces: Iterable[str], words: np.ndarray, ends: np.ndarray) -> csr_array:
        """Return the counts of n-grams in texts, as sparse rows of texts by n-grams. A count above 255 becomes 255.

        The docstring of the module explains the arguments.
        """
        own = [np.array(self.of_word(word), np.int32) for word in surfaces]
        found = _products(words, ends, _of_words(own, len(self.grams)))
        found.sort_indices()
        return csr_array(
            (np.minimum(found.data, MOST_COUNT).astype(COUNT), found.indices, found.indptr), shape=found.shape
        )

    def weights(self, counts: csr_array, k1: float, b: float) -> csr_array:
        """Return tf / (tf + k1 (1 - b + b length / mean length)) for each count tf, as sparse rows of float32.

        `counts` has documents by n-grams. The length of a document is the sum of its counts, rounded by `rounded`, so
        that there are few distinct weights and posting lists take less space.
        """
        tf = counts.data.astype(np.float64)
        sizes = np.diff(counts.indptr)
        documents = np.repeat(np.arange(len(sizes)), sizes)
        lengths = rounded(np.bincount(documents, tf, minlength=len(sizes)))
        pivots = 1 - b + b * lengths / self.mean_length
        values = (tf / (tf + k1 * np.repeat(pivots, sizes))).astype(np.float32)
        return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)

    def query(self, words: Mapping[str, float]) -> dict[int, float]:
        """Return the weight of each n-gram of a query, by the n-gram's number: its frequency in the query times its
        idf.

        `words` has the words of the query with their frequencies.
        """
        weights: dict[int, float] = {}
        for word, count in words.items():
            for gram in self.of_word(word):
                weights[gram] = weights.get(gram, 0.0) + count * self.idf(gram)
        return weights


def rounded(lengths: np.ndarray) -> np.ndarray:
    """Return whole numbers, each rounded down to four significant binary digits, about as Lucene rounds lengths."""
    _, digits = np.frexp(lengths)
    steps = np.ldexp(1.0, np.maximum(digits - 4, 0))
    return np.floor(lengths / steps) * steps


def without(is_dropped: np.ndarray, words: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `words` and `ends` without the occurrences for which `is_dropped` is true. The docstring of the module
    explains both.
    """
    kept = ~is_dropped
    left = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)])
    return words[kept], left[ends]


def _of_words(words: Sequence[np.ndarray], width: int) -> csr_array:
    """Return a sparse matrix of words by n-grams, with a 1 for each n-gram of a word.

    `words` has the n-gram numbers of each word, and `width` is the number of all n-grams. If a word has an n-gram
    twice, its row has two entries for it.
    """
    sizes = [len(own) for own in words]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    numbers: Any = np.concatenate(words) if len(words) else np.zeros(0, np.int32)
    return csr_array((np.ones(len(numbers), np.int32), numbers, starts), shape=(len(sizes), width))


def _products(words: np.ndarray, ends: np.ndarray, of_words: csr_array) -> csr_array:
    """Return the counts of texts by n-grams. `of_words`, from `_of_words`, has the n-grams of each word."""
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    texts = csr_array((np.ones(len(words), np.int32), words, starts), shape=(len(ends), of_words.shape[0]))
    return texts @ of_words


def _grown(numbers: np.ndarray, size: int) -> np.ndarray:
    """Return the array `numbers` with zeros added at the end, so that it has `size` entries."""
    return np.concatenate([numbers, np.zeros(size - len(numbers), numbers.dtype)])
