"""Find which words of a collection follow each other, so that the words of a phrase can be shown in reading order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Break
from sublex.contracts.fitted import Corpus

# The least number of times that a word follows another.
LEAST = 3


def followers(
    corpus: Corpus,
    vocabulary: Sequence[str],
    edges: csr_array,
    run: Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]] = map,  # type: ignore[assignment]
) -> csr_array:
    """Return how often the second word of an edge directly follows the first, as sparse rows of words by words (int32).

    `edges` has a stored entry for each pair of words that matters. Of the two directions of an edge the more frequent
    one is kept. The result is empty if the index does not store texts.
    """
    words = len(vocabulary)
    found = csr_array((words, words), dtype=np.int32)
    if "text" not in corpus.has:
        return found
    numbers = np.append(corpus.recode(vocabulary), -1)
    pattern = csr_array((np.ones(edges.nnz, np.int32), edges.indices, edges.indptr), shape=edges.shape)
    for block in corpus.words().blocks(run):
        place = numbers[block.terms]
        # A word that begins a document follows none. Between the words of a phrase stands nothing but a hyphen.
        joined = block.breaks <= Break.HYPHEN
        joined[:1] = False
        joined[block.ends[block.ends < len(joined)]] = False
        second = np.flatnonzero(joined & (place >= 0))
        second = second[place[second - 1] >= 0]
        ones = np.ones(len(second), np.int32)
        pairs = csr_array((ones, (place[second - 1], place[second])), shape=found.shape)
        found = csr_array(found + pairs.multiply(pattern))
    found.data[found.data < LEAST] = 0
    found = csr_array(found.multiply(found > found.T), dtype=np.int32)
    found.eliminate_zeros()
    found.sort_indices()
    return found
