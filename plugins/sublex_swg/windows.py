"""Count in how many documents one word stands near another: in the same sentence, with few words between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Break
from sublex.contracts.fitted import Corpus
from sublex_swg import nearness_kernels

# The largest distance in words, stop words included, of two words that stand near each other.
WINDOW = 8


class Sentences(NamedTuple):
    """The sentences of all documents of a corpus, end to end in arrays.

    `words` (int32) has the number of each word in a vocabulary, -1 for other words. `ends` (int64) says where each
    sentence ends in `words`, and `last` (int64) where each document ends in `ends`.
    """

    words: np.ndarray
    ends: np.ndarray
    last: np.ndarray

    def near(self, docs: np.ndarray, binary: csr_array, pairs: csr_array) -> np.ndarray:
        """Return for each stored entry of `pairs`, sparse rows of words by words, the number of documents in which the
        two words stand near each other and the first one counts.

        `docs` are the numbers of the documents to look at. `binary` has a row of words for each of them, with an entry
        for each word that counts there. The columns of each row of `pairs` must be in order.
        """
        return nearness_kernels.near(
            self.words,
            np.append(np.int64(0), self.ends),
            np.append(np.int64(0), self.last),
            np.asarray(docs, np.int64),
            binary.indptr.astype(np.int64),
            binary.indices.astype(np.int32),
            pairs.indptr.astype(np.int64),
            pairs.indices.astype(np.int32),
            WINDOW,
        )


def read_sentences(
    corpus: Corpus,
    vocabulary: Sequence[str],
    run: Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]] = map,  # type: ignore[assignment]
) -> Sentences | None:
    """Return the sentences of a corpus over a vocabulary, or None if the index does not store texts."""
    if "text" not in corpus.has:
        return None
    numbers = np.append(corpus.recode(vocabulary), -1).astype(np.int32)
    words, ends, last = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    held = sentences = 0
    for block in corpus.words().blocks(run):
        size = len(block.terms)
        begins = (block.breaks & (Break.STOP | Break.START)) > 0
        # A document begins a sentence, whatever stands before its first word.
        opens = np.append(0, block.ends)
        begins[opens[opens < size]] = True
        starts = np.flatnonzero(begins)
        words.append(numbers[block.terms])
        ends.append(held + np.append(starts[1:], size)[: len(starts)])
        last.append(sentences + np.searchsorted(starts, block.ends))
        held, sentences = held + size, sentences + len(starts)
    return Sentences(np.concatenate(words), np.concatenate(ends), np.concatenate(last))
