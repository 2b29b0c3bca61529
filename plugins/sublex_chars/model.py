"""BM25 over the character n-grams of words: cut words into n-grams, count these, and weight the counts.

P. McNamee and J. Mayfield, Character n-gram tokenization for European language text retrieval, Information Retrieval 7, 2004.
A text is given by the numbers of its words, and texts lie end to end. This module knows nothing about indexes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
    """Return the n-grams of a word in lower case, with a mark at either end. A word that is too short is a single n-gram."""
    marked = f"{MARK}{word.lower()}{MARK}"
    return [marked[begin : begin + n] for begin in range(max(1, len(marked) - n + 1))]


class NGramCounter:
    """Counts the n-grams of texts, and numbers new n-grams by their first appearance.

    `read` gets a list of distinct words. The list grows from call to call; earlier words keep their places.
    """

    def __init__(self, n: int):
        self.n = n
        self._numbers: dict[str, int] = {}
        self._words: list[np.ndarray] = []
        self._matrix = csr_array((0, 1), dtype=np.int32)
        # For each n-gram, the number of texts that have it; for each word, its occurrences.
        self.df, self.cf = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.texts = 0

    def read(self, surfaces: Sequence[str], words: np.ndarray, ends: np.ndarray) -> None:
        """Count some texts. `words` has the places of their words in `surfaces`, and `ends` has the end of each text."""
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
        """Return the n-grams that at least `min_df` texts have, in order, with their statistics.

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
    """The n-grams that enough documents have, each with its number of documents, and the mean length of a document.

    Lengths are counted in these n-grams.
    """

    def __init__(self, n: int, grams: Sequence[str], df: np.ndarray, docs: int, mean_length: float):
        self.n, self.grams, self.df, self.docs, self.mean_length = n, list(grams), df, docs, mean_length
        self._numbers = {gram: number for number, gram in enumerate(self.grams)}

    def idf(self, gram: int) -> float:
        """Return the idf of an n-gram by Lucene's formula, ln(1 + (N - df + 0.5) / (df + 0.5))."""
        return math.log((self.docs + 1) / (float(self.df[gram]) + 0.5))

    def of_word(self, word: str) -> list[int]:
        """Return the numbers of the n-grams of a word, in their order. N-grams that too few documents have are left out."""
        numbers = self._numbers
        return [numbers[gram] for gram in ngrams(word, self.n) if gram in numbers]

    def counts(self, surfaces: Iterable[str], words: np.ndarray, ends: np.ndarray) -> csr_array:
        """Return the n-grams of texts as sparse rows of counts.

        `words` has the places of their words in `surfaces`, and `ends` has the end of each text. A count above 255
        becomes 255.
        """
        own = [np.array(self.of_word(word), np.int32) for word in surfaces]
        found = _products(words, ends, _of_words(own, len(self.grams)))
        found.sort_indices()
        return csr_array(
            (np.minimum(found.data, MOST_COUNT).astype(COUNT), found.indices, found.indptr), shape=found.shape
        )

    def weights(self, counts: csr_array, k1: float, b: float) -> csr_array:
        """Return tf / (tf + k1 (1 - b + b length / mean length)) for each count tf, as sparse rows of float32.

        Lengths are rounded, so that there are few distinct weights and posting lists take less space.
        """
        tf = counts.data.astype(np.float64)
        sizes = np.diff(counts.indptr)
        documents = np.repeat(np.arange(len(sizes)), sizes)
        lengths = rounded(np.bincount(documents, tf, minlength=len(sizes)))
        pivots = 1 - b + b * lengths / self.mean_length
        values = (tf / (tf + k1 * np.repeat(pivots, sizes))).astype(np.float32)
        return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)

    def query(self, words: Mapping[str, float]) -> dict[int, float]:
        """Return the weights of a query's n-grams by their numbers: frequency in the query times idf."""
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
    """Drop some occurrences of words. Return the words of the texts, and the end of each text."""
    kept = ~is_dropped
    left = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)])
    return words[kept], left[ends]


def _of_words(words: Sequence[np.ndarray], width: int) -> csr_array:
    """Return a sparse row for each word, with a 1 for each of its n-grams. An n-gram may occur twice in a row."""
    sizes = [len(own) for own in words]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    numbers: Any = np.concatenate(words) if len(words) else np.zeros(0, np.int32)
    return csr_array((np.ones(len(numbers), np.int32), numbers, starts), shape=(len(sizes), width))


def _products(words: np.ndarray, ends: np.ndarray, of_words: csr_array) -> csr_array:
    """Return a row for each text: the sum of the rows of its words."""
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    texts = csr_array((np.ones(len(words), np.int32), words, starts), shape=(len(ends), of_words.shape[0]))
    return texts @ of_words


def _grown(numbers: np.ndarray, size: int) -> np.ndarray:
    """Return numbers, with zeros added at the end up to `size` numbers."""
    return np.concatenate([numbers, np.zeros(size - len(numbers), numbers.dtype)])
