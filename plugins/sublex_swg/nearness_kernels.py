"""A kernel that counts the documents in which two words stand near each other."""

from __future__ import annotations

import numpy as np
from numba import int64

from sublex.tools.compiled import I32, I64, inner, kernel


@kernel((I32, I64, I64, I64, I64, I32, I64, I32, int64), before="demo")
def near(words, sentences, documents, docs, row_starts, row_words, pair_starts, pair_words, window):
    """Return for each pair of words the number of documents in which both stand near each other.

    Two words are near each other if they are in one sentence, and at most `window` words apart. `words` are those of
    all sentences, -1 for words that do not matter. `sentences` says where each sentence begins in `words`, and
    `documents` where each document begins in `sentences`; both end with the end of the last one. `docs` are the
    documents to look at, and row k of `row_words`, which begins at row_starts[k], has the words that count in docs[k].
    Row w of `pair_words`, which begins at pair_starts[w], has the second words of the pairs whose first word is w,
    ascending.
    """
    counts = np.zeros(len(pair_words), np.int64)
    # The last document, counted from 1, in which a word counts, and in which a pair was found.
    here = np.zeros(len(pair_starts) - 1, np.int64)
    seen = np.zeros(len(pair_words), np.int64)
    for place in range(len(docs)):
        number = np.int64(place) + 1
        for k in range(row_starts[place], row_starts[place + 1]):
            here[row_words[k]] = number
        for sentence in range(documents[docs[place]], documents[docs[place] + 1]):
            begin, end = sentences[sentence], sentences[sentence + 1]
            for first in range(begin, end):
                word = words[first]
                if word < 0 or here[word] != number:
                    continue
                for second in range(max(begin, first - window), min(end, first + window + 1)):
                    pair = _place_of(words[second], pair_words, pair_starts[word], pair_starts[word + 1])
                    if pair >= 0 and seen[pair] != number:
                        seen[pair] = number
                        counts[pair] += 1
    return counts


@inner
def _place_of(word, ordered, low, high):
    """Return the place of `word` in the ascending array `ordered`, from `low` up to `high`; -1 if it is not there."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < end and ordered[low] == word else np.int64(-1)
