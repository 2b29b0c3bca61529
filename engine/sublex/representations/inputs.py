"""The inputs of a representation: term counts over its own vocabulary, sequences of words, or words as arrays.

`inputs_of` returns the reader for a representation. It turns the documents of a segment, other texts, and queries into the blocks that
`encode_documents` and `encode_queries` get. It knows nothing about models or rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.analysis.tokens import analyze, reads_latex, sequences
from sublex.analysis.word_arrays import CutText, WordTable, cut_text
from sublex.contracts.base import Analyzer, Document, Query, TextWords, Token
from sublex.contracts.fitted import Representation
from sublex.errors import InputError, PluginError
from sublex.index.offsets import starts_of
from sublex.index.segment import Segment
from sublex.index.words import texts_of
from sublex.tools.strings import end_to_end

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Documents per block. The number does not depend on the workers, so the rows do not depend on them either.
DOCUMENTS_PER_BLOCK = 4096
# Texts per block of sequences. Sequences take more memory than counts.
SEQUENCES_PER_BLOCK = 256


class ModelVocabulary:
    """The terms that a model knows, numbered in its own order."""

    def __init__(self, terms: Sequence[str]):
        self.terms = list(terms)
        if not all(isinstance(term, str) for term in self.terms):
            raise PluginError("The vocabulary holds an item that is not a string.")
        self.numbers = {term: number for number, term in enumerate(self.terms)}
        if len(self.numbers) < len(self.terms):
            raise PluginError("The vocabulary holds a term twice.")

    def __len__(self) -> int:
        return len(self.terms)

    def of_segment(self, segment: Segment) -> np.ndarray:
        """Return the model's number for each term of a segment (int32). Terms that the model does not know have -1."""
        numbers = self.numbers
        return np.fromiter((numbers.get(term, -1) for term in segment.terms.texts()), np.int32, len(segment.terms))

    def query(self, weights: Mapping[str, float]) -> csr_array:
        """Return the weights of terms as one sparse row; terms that the model does not know are left out."""
        known = sorted((self.numbers[term], weight) for term, weight in weights.items() if term in self.numbers)
        columns = np.array([number for number, _ in known], np.int32)
        values = np.array([weight for _, weight in known], np.float64)
        return _sparse_rows(np.array([len(known)]), columns, values, len(self))


def recoded(counts: np.ndarray, terms: np.ndarray, tfs: np.ndarray, numbers: np.ndarray, width: int) -> csr_array:
    """Return decoded document terms as sparse rows over another vocabulary of `width` terms.

    `counts` has the number of distinct terms of each document. `terms` and `tfs` have the terms and their frequencies,
    document after document. `numbers[t]` is the number of term t in the other vocabulary, or -1 to leave it out.
    """
    columns = numbers[terms]
    known = columns >= 0
    document = np.repeat(np.arange(len(counts)), counts)[known]
    sizes = np.bincount(document, minlength=len(counts))
    rows = _sparse_rows(sizes, columns[known], tfs[known].astype(np.float64), width)
    rows.sort_indices()
    return rows


def _sparse_rows(sizes: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int) -> csr_array:
    from scipy.sparse import csr_array

    return csr_array((values, columns, starts_of(sizes)), shape=(len(sizes), width))


class TermInputs:
    """Inputs of a representation that reads terms: sparse rows over its vocabulary.

    Rows of documents have counts, rows of queries have weights.
    """

    # The part that an index must store.
    stored_part = "terms"

    def __init__(self, vocabulary: ModelVocabulary, analyzer: Analyzer):
        self.vocabulary, self._analyzer = vocabulary, analyzer

    def blocks(self, segment: Segment) -> Iterator[csr_array]:
        """Yield all documents of a segment, deleted ones included, a block at a time."""
        numbers = self.vocabulary.of_segment(segment)
        for begin in range(0, segment.docs or 1, DOCUMENTS_PER_BLOCK):
            document_terms = segment.document_terms(begin, min(begin + DOCUMENTS_PER_BLOCK, segment.docs))
            assert document_terms is not None
            yield recoded(*document_terms, numbers, len(self.vocabulary))

    def of_texts(self, texts: Sequence[str]) -> csr_array:
        """Return texts that are not in the index as sparse rows of counts."""
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack([self.vocabulary.query(Counter(analyze(self._analyzer, text))) for text in texts]))

    def query(self, query: Query) -> csr_array:
        """Return a query as one sparse row of weights, with the terms that expanders added.

        The words of an operator share its weight.
        """
        return self.vocabulary.query(query.word_weights())

    def evidence(self, query: Query) -> dict[str, Any]:
        """Return facts for an explanation about the reading of the query.

        It is empty, because the explanation has the query's terms.
        """
        return {}

    def count_known(self, block: csr_array) -> int:
        """Return the number of tokens in a block that the model knows."""
        return int(block.sum())


class WrittenInputs:
    """Inputs of a representation that reads texts as people wrote them.

    Queries are read without the terms that expanders added.
    """

    # The part that an index must store.
    stored_part = "text"

    def __init__(self, vocabulary: ModelVocabulary, analyzer: Analyzer):
        self.vocabulary, self._analyzer = vocabulary, analyzer

    def of_texts(self, texts: Sequence[str]) -> Any:
        """Return the words of texts without titles."""
        raise NotImplementedError

    def query(self, query: Query) -> Any:
        """Return the words of a query as the user wrote it."""
        return self.of_texts([query.text])

    def evidence(self, query: Query) -> dict[str, Any]:
        """Return facts for an explanation about the reading of the query: the text that the user wrote."""
        return {"read as written": query.text}


class SequenceInputs(WrittenInputs):
    """Inputs of a representation that reads sequences: each text is the list of its words."""

    def blocks(self, segment: Segment) -> Iterator[list[list[Token]]]:
        """Yield all documents of a segment, deleted ones included, a block at a time."""
        for begin in range(0, segment.docs or 1, SEQUENCES_PER_BLOCK):
            end = min(begin + SEQUENCES_PER_BLOCK, segment.docs)
            documents = (segment.document(doc) for doc in range(begin, end))
            yield self.of_texts([document.contents for document in documents if document])

    def of_texts(self, texts: Sequence[str]) -> list[list[Token]]:
        """Return the words of texts, in order."""
        return sequences(self._analyzer, texts)

    def count_known(self, block: list[list[Token]]) -> int:
        """Return the number of tokens in a block that the model knows. A model without a vocabulary knows all tokens."""
        numbers = self.vocabulary.numbers
        return sum(1 for words in block for word in words if word.term and (not numbers or word.term in numbers))


class WordInputs(WrittenInputs):
    """Inputs of a representation that reads words: arrays of the words of texts, and of the breaks before them.

    `sublex.index.words` cuts the texts, as for a fit.
    """

    def blocks(self, segment: Segment) -> Iterator[TextWords]:
        """Yield all documents of a segment, deleted ones included, a block at a time."""
        table = WordTable(self._analyzer)
        if not segment.docs:
            yield self.of_texts([])
            return
        for texts in texts_of(segment, 0):
            found = _text_words(table, cut_text(texts.text, texts.ends, texts.titles, reads_latex(self._analyzer)))
            for begin in range(0, len(found), SEQUENCES_PER_BLOCK):
                yield _compact(found[begin : begin + SEQUENCES_PER_BLOCK])

    def of_texts(self, texts: Sequence[str]) -> TextWords:
        """Return the words of texts without titles."""
        return self.of_documents([Document("", text) for text in texts])

    def of_documents(self, documents: Sequence[Document]) -> TextWords:
        """Return the words of documents."""
        text, sizes = end_to_end([document.contents.encode("utf-8", "replace") for document in documents])
        titles = [len(document.title.encode("utf-8", "replace")) for document in documents]
        cut = cut_text(text, np.cumsum(sizes), np.array(titles, np.int64), reads_latex(self._analyzer))
        return _text_words(WordTable(self._analyzer), cut)

    def count_known(self, block: TextWords) -> int:
        """Return the number of tokens in a block that the model knows. A model without a vocabulary knows all tokens."""
        numbers = self.vocabulary.numbers
        known = [term != "" and (not numbers or term in numbers) for term in block.terms]
        return int(np.array(known, bool)[block.words].sum())


def _text_words(table: WordTable, cut: CutText) -> TextWords:
    ends, words, breaks = table.read(cut)
    return TextWords(table.surfaces, table.terms, words, breaks, ends)


def _compact(texts: TextWords) -> TextWords:
    """Return the texts without the surfaces and terms that no word of the texts has."""
    distinct, words = np.unique(texts.words, return_inverse=True)
    surfaces = [texts.surfaces[word] for word in distinct.tolist()]
    terms = [texts.terms[word] for word in distinct.tolist()]
    return TextWords(surfaces, terms, words.astype(np.int32), texts.breaks, texts.ends)


class RowInputs:
    """Inputs of a representation of vectors that a user gave: the stored rows of documents, and unchanged queries.

    `rows` has the rows of each segment, by the segment's name. If a segment has none, the blocks have the lengths of
    its documents instead.
    """

    # No part of the index is read.
    stored_part = ""

    def __init__(
        self, vocabulary: ModelVocabulary, analyzer: Analyzer, rows: Mapping[str, np.ndarray] = MappingProxyType({})
    ):
        self.vocabulary, self._rows = vocabulary, rows

    def blocks(self, segment: Segment) -> Iterator[np.ndarray]:
        """Yield the rows or the lengths of all documents of a segment, deleted ones included, a block at a time."""
        rows = self._rows.get(segment.name, segment.lengths)
        for begin in range(0, segment.docs or 1, DOCUMENTS_PER_BLOCK):
            yield rows[begin : begin + DOCUMENTS_PER_BLOCK]

    def of_texts(self, texts: Sequence[str]) -> Any:
        """Raise InputError: only the program that computed the vectors of the index can compute those of other texts."""
        raise InputError(
            "These vectors are of documents of the index alone; take vectors of other texts from their encoder."
        )

    def query(self, query: Query) -> Sequence[Query]:
        """Return the query itself."""
        return [query]

    def evidence(self, query: Query) -> dict[str, Any]:
        """Return facts for an explanation about the reading of the query: there are none."""
        return {}

    def count_known(self, block: np.ndarray) -> int:
        """Return the number of tokens in a block of lengths. The model counts as knowing all of them."""
        return int(block.sum())


Inputs = TermInputs | SequenceInputs | WordInputs | RowInputs
# The readers by the value of `Representation.reads`.
READINGS: dict[str, type[Inputs]] = {
    "terms": TermInputs,
    "sequence": SequenceInputs,
    "words": WordInputs,
    "rows": RowInputs,
}


def inputs_of(
    model: Representation,
    vocabulary: ModelVocabulary,
    analyzer: Analyzer,
    rows: Mapping[str, Any] = MappingProxyType({}),
) -> Inputs:
    """Return the reader for a representation. `analyzer` is the index's. `rows` has the rows of segments, by name."""
    if model.reads == "rows":
        return RowInputs(vocabulary, analyzer, rows)
    return READINGS[model.reads](vocabulary, analyzer)


def size_of(block: Any) -> int:
    """Return the number of documents in a block."""
    return block.shape[0] if hasattr(block, "shape") else len(block)
