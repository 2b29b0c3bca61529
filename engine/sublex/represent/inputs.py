"""What a representation reads: terms over its own vocabulary, or sequences of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sublex.index.arena import starts_of
from sublex.index.segment import Segment

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# So many documents are encoded at once, whatever the number of workers.
ROWS = 4096


class Vocabulary:
    """A model's terms, and their places among those of a segment."""

    def __init__(self, terms: Sequence[str]):
        self.terms = list(terms)
        self.numbers = {term: number for number, term in enumerate(self.terms)}

    def __len__(self) -> int:
        return len(self.terms)

    def of_segment(self, segment: Segment) -> np.ndarray:
        """The number of each of a segment's terms, -1 where the model does not know it."""
        known = self.numbers
        return np.fromiter(
            (known.get(term.decode(), -1) for term in segment.terms.list()), np.int32, len(segment.terms)
        )

    def query(self, weights: Mapping[str, float]) -> csr_array:
        """A query as one row; terms that the model does not know are left out."""
        found = sorted((self.numbers[term], weight) for term, weight in weights.items() if term in self.numbers)
        columns = np.array([number for number, _ in found], np.int32)
        return rows_of(
            np.array([len(found)]), columns, np.array([weight for _, weight in found], np.float64), len(self)
        )


def rows_of(counts: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int) -> csr_array:
    """Sparse rows of these sizes."""
    from scipy.sparse import csr_array

    return csr_array((values, columns, starts_of(counts)), shape=(len(counts), width))


def recoded(counts: np.ndarray, terms: np.ndarray, tfs: np.ndarray, places: np.ndarray, width: int) -> csr_array:
    """Decoded document terms as rows over another vocabulary."""
    columns = places[terms]
    known = columns >= 0
    document = np.repeat(np.arange(len(counts)), counts)[known]
    rows = rows_of(np.bincount(document, minlength=len(counts)), columns[known], tfs[known].astype(np.float64), width)
    rows.sort_indices()
    return rows


def blocks(segment: Segment, vocabulary: Vocabulary) -> Iterator[csr_array]:
    """All documents of a segment, deleted ones too, some at a time."""
    places = vocabulary.of_segment(segment)
    for begin in range(0, segment.docs, ROWS):
        found = segment.document_terms(begin, min(begin + ROWS, segment.docs))
        assert found is not None
        yield recoded(*found, places, len(vocabulary))
