"""What a representation reads: terms over its own vocabulary, or sequences of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.analysis.tokens import analyze, sequences
from sublex.base import Analyzer, Query, Token
from sublex.errors import PluginError
from sublex.fitted import Representation
from sublex.index.offsets import starts_of
from sublex.index.segment import Segment

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# So many documents are encoded at once, whatever the number of workers; of sequences, which take more room, fewer.
ROWS, TEXTS = 4096, 256


class Vocabulary:
    """A model's terms, and their places among those of a segment."""

    def __init__(self, terms: Sequence[str]):
        self.terms = list(terms)
        if not all(isinstance(term, str) for term in self.terms):
            raise PluginError("A vocabulary holds something that is no term.")
        self.numbers = {term: number for number, term in enumerate(self.terms)}
        if len(self.numbers) < len(self.terms):
            raise PluginError("A vocabulary has a term twice.")

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


class Terms:
    """Reading by terms: sparse rows of counts over the model's own vocabulary, of queries with their weights."""

    needs = "terms"

    def __init__(self, vocabulary: Vocabulary, analyzer: Analyzer):
        self.vocabulary, self._analyzer = vocabulary, analyzer

    def blocks(self, segment: Segment) -> Iterator[csr_array]:
        """All documents of a segment, deleted ones too, some at a time."""
        places = self.vocabulary.of_segment(segment)
        for begin in range(0, segment.docs or 1, ROWS):
            found = segment.document_terms(begin, min(begin + ROWS, segment.docs))
            assert found is not None
            yield recoded(*found, places, len(self.vocabulary))

    def texts(self, texts: Sequence[str]) -> csr_array:
        """Other documents."""
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack([self.vocabulary.query(Counter(analyze(self._analyzer, text))) for text in texts]))

    def query(self, query: Query) -> csr_array:
        """A query, whatever expanders made of it."""
        return self.vocabulary.query(query.weights())

    def said(self, query: Query, surface: Callable[[str], str]) -> dict[str, Any]:
        """What an explanation says of how a query was read."""
        unknown = [surface(term) for term in query.weights() if term not in self.vocabulary.numbers]
        return {"not in the model": unknown} if unknown else {}

    def known(self, block: csr_array) -> int:
        """How many tokens the model knows."""
        return int(block.sum())


class Sequences:
    """Reading by sequences: of each document, and of a query as the user put it, the list of its words."""

    needs = "text"

    def __init__(self, vocabulary: Vocabulary, analyzer: Analyzer):
        self.vocabulary, self._analyzer = vocabulary, analyzer

    def blocks(self, segment: Segment) -> Iterator[list[list[Token]]]:
        """All documents of a segment, deleted ones too, some at a time."""
        for begin in range(0, segment.docs or 1, TEXTS):
            found = (segment.document(doc) for doc in range(begin, min(begin + TEXTS, segment.docs)))
            yield self.texts([document.contents for document in found if document])

    def texts(self, texts: Sequence[str]) -> list[list[Token]]:
        """Other documents."""
        return sequences(self._analyzer, texts)

    def query(self, query: Query) -> list[list[Token]]:
        """The words of a query; what expanders added is not among them."""
        return self.texts([query.text])

    def said(self, query: Query, surface: Callable[[str], str]) -> dict[str, Any]:
        """What an explanation says of how a query was read."""
        return {"read as written": query.text}

    def known(self, block: list[list[Token]]) -> int:
        """How many tokens the model knows; one without a vocabulary of terms may know any."""
        numbers = self.vocabulary.numbers
        return sum(1 for words in block for word in words if word.term and (not numbers or word.term in numbers))


Inputs = Terms | Sequences
# By what a representation says that it reads.
READINGS: dict[str, type[Terms] | type[Sequences]] = {"terms": Terms, "sequence": Sequences}


def inputs_of(made: Representation, vocabulary: Vocabulary, analyzer: Analyzer) -> Inputs:
    """What a fitted representation reads of the documents that an analyzer cuts into words."""
    return READINGS[made.reads](vocabulary, analyzer)


def size_of(block: Any) -> int:
    """How many documents a block holds."""
    return block.shape[0] if hasattr(block, "shape") else len(block)
