"""The view of an index for a fitted model: the rows of documents, and their terms in the model's vocabulary.

`IndexView` implements `sublex.contracts.fitted.View`. It reads the rows and the document terms of one generation's
segments, and computes sums over them. The model defines the meaning of the sums.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.analysis.tokens import words_by_term
from sublex.contracts.base import TextWords, Token
from sublex.contracts.fitted import CountTransform, Rows, Weights
from sublex.errors import PluginError
from sublex.index.offsets import starts_of
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.representations.inputs import DOCUMENTS_PER_BLOCK, ModelVocabulary, WordInputs, recoded
from sublex.representations.rows import stacked

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# A call for at most this number of documents decodes only the terms of these documents, and does not keep them. A call
# for more documents decodes the terms of whole segments, and keeps them for later calls.
FEW = 2000
# If all term frequencies are below this number, the table has all numbers from 0 on, and each frequency is its own
# place. Otherwise the table has only the distinct frequencies.
LEVELS = 1 << 16
ALL_COLUMNS = slice(None)
# At most this number of characters of a text is shown in place of a missing title.
TITLE_LENGTH = 80


class Forward(NamedTuple):
    """The decoded terms of documents.

    Document d has the terms `terms[starts[d]:starts[d + 1]]`. `levels` has for each of these terms the position of its
    frequency in `counts`.
    """

    starts: np.ndarray
    terms: np.ndarray
    levels: np.ndarray
    counts: np.ndarray


class IndexView:
    """The segments of one generation of an index, with the rows of each. Later commits do not change it."""

    def __init__(
        self, index: Snapshot, segments: Sequence[Segment], vocabulary: ModelVocabulary, parts: Sequence[Rows]
    ):
        self.index, self.segments, self.vocabulary, self._parts = index, segments, vocabulary, parts
        self.bases = starts_of(np.array([segment.docs for segment in segments], np.int64))
        self._decoded: dict[int, Forward] = {}
        self._kept: dict[str, Any] = {}
        self._lock, self._keeping = threading.Lock(), threading.RLock()

    def __len__(self) -> int:
        """Return the number of documents, deleted ones included."""
        return int(self.bases[-1])

    def rows(self, docs: np.ndarray | None = None, columns: slice = ALL_COLUMNS) -> Rows:
        """Return the rows of documents, or some of their columns.

        Without `docs`, return the rows of all documents by number.
        """
        parts = self._parts if columns == ALL_COLUMNS else [part[:, columns] for part in self._parts]
        if len(parts) == 1:
            return parts[0] if docs is None else parts[0][docs]
        if docs is None:
            return stacked(parts)
        found = [(chosen, parts[number][local]) for number, chosen, local in self._by_segment(docs)]
        return _joined(found) if found else parts[0][:0]

    def part(self, number: int) -> Rows:
        """Return the rows of a segment, given by its number among the segments."""
        return self._parts[number]

    def map_rows(self, function: Callable[[Rows], np.ndarray], docs: np.ndarray | None = None) -> np.ndarray:
        """Return `function(rows)` for the rows of documents.

        Without `docs`, the function gets all rows of one segment at a time.
        """
        if docs is None:
            return np.asarray(stacked([np.asarray(function(part)) for part in self._parts]))
        found = [
            (chosen, np.asarray(function(self._parts[number][local])))
            for number, chosen, local in self._by_segment(docs)
        ]
        return np.asarray(_joined(found) if found else function(self._parts[0][:0]))

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the result of `compute()`. The result is kept under `name`, and later calls return it."""
        with self._keeping:
            if name not in self._kept:
                self._kept[name] = compute()
            return self._kept[name]

    def lengths(self, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the number of terms of each document, float64."""
        lengths = self.once(
            "lengths of documents",
            lambda: np.concatenate([segment.lengths for segment in self.segments]).astype(np.float64),
        )
        return lengths if docs is None else lengths[docs]

    def counts(self, word: int, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the frequency in each document of the term with the number `word`, as float64.

        The counts are read from posting lists.
        """
        counts = np.zeros(len(self))
        term = self.vocabulary.terms[word]
        for segment, base in zip(self.segments, self.bases.tolist(), strict=False):
            ordinal = segment.find(term)
            if ordinal is not None:
                found, tfs = segment.postings(ordinal, ordinal + 1)
                counts[base + found.astype(np.int64)] = tfs
        return counts if docs is None else counts[docs]

    def counts_of(self, words: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the frequency in each document of each of some distinct terms, as float64, with a row for each term.

        For a few documents, the counts are read from the documents' own terms if the index stores them. A posting list
        may have a million entries.
        """
        if docs is None or len(docs) > FEW or "terms" not in self.index.store:
            every = [self.counts(word, docs) for word in words.tolist()]
            return np.array(every).reshape(len(words), len(self) if docs is None else len(docs))
        counts, row_of = np.zeros((len(words), len(docs))), np.full(len(self.vocabulary) + 1, -1, np.int32)
        row_of[words] = np.arange(len(words))
        for number, chosen, local in self._by_segment(docs):
            sizes, terms, tfs = self.segments[number].terms_of(local)
            # An unknown term has the number -1, and so the row -1, which stands at the end.
            rows = row_of[self._numbers[number][terms]]
            places = np.flatnonzero(rows >= 0)
            owners = np.searchsorted(np.cumsum(sizes), places, side="right")
            counts[rows[places], chosen[owners]] = tfs[places]
        return counts

    def products(self, vector: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the product of each document's row with a vector, float64."""
        from sublex.representations import row_kernels

        vector = np.ascontiguousarray(vector, np.float64)
        products = np.empty(len(self) if docs is None else len(docs))
        for number, chosen, local in self._by_segment(docs):
            rows, segment_products = self._parts[number], np.empty(len(local))
            if rows.shape[1:] != vector.shape:
                raise PluginError(
                    f"A vector of shape {vector.shape} cannot be multiplied with rows of {rows.shape[1:]}."
                )
            if hasattr(rows, "indptr"):
                row_kernels.sparse_products(rows.data, rows.indices, rows.indptr, vector, local, segment_products)
                products[chosen] = segment_products
                continue
            for begin in range(0, len(local), DOCUMENTS_PER_BLOCK):
                block = local[begin : begin + DOCUMENTS_PER_BLOCK]
                if rows.dtype == np.float16:
                    # Numba has no float16, so rows are converted to float32, a block at a time.
                    single = rows[block].astype(np.float32)
                    row_kernels.products(single, vector, np.arange(len(block)), segment_products[begin:])
                else:
                    row_kernels.products(rows, vector, block, segment_products[begin:])
            products[chosen] = segment_products
        return products

    def dot(
        self, weights: Weights, docs: np.ndarray | None = None, transform_counts: CountTransform | None = None
    ) -> np.ndarray:
        """Return for each document the sum of count times weight over its terms, float64.

        `sublex.contracts.fitted.View.dot` describes the arguments.
        """
        from sublex.representations import row_kernels

        self.index.need("terms", "are scored by")
        few = docs is not None and len(docs) <= FEW
        padded = np.zeros(0) if few else self._padded(weights, np.arange(len(self.vocabulary)))
        sums = np.empty(len(self) if docs is None else len(docs))
        for number, chosen, local in self._by_segment(docs):
            segment = self.segments[number]
            if few:
                sizes, terms, tfs = segment.terms_of(local)
                # An unknown term has the number -1, which becomes the number after the last term of the vocabulary.
                numbers = self._numbers[number][terms] % np.int32(len(self.vocabulary) + 1)
                forward, local = _forward(starts_of(sizes), numbers, tfs), np.arange(len(local))
                term_weights = self._padded(weights, numbers)
            else:
                forward, term_weights = self._forward(number, segment), padded[self._numbers[number]]
            counts = forward.counts
            if transform_counts:
                counts = np.asarray(transform_counts(counts), np.float64)
            # The kernel takes unsigned integers, so it needs no test for negative positions.
            unsigned = forward.starts.view(np.uint64), forward.terms.view(np.uint32), forward.levels.view(np.uint32)
            segment_sums = np.empty(len(local))
            row_kernels.dot(*unsigned, counts, term_weights, local.view(np.uint64), segment_sums)
            sums[chosen] = segment_sums
        return sums

    def _padded(self, weights: Weights, terms: np.ndarray) -> np.ndarray:
        """Return the weights of the vocabulary, followed by one 0, which is the weight of all unknown terms.

        If `weights` is a function, only the weights of `terms` are computed, and all other weights are 0.
        """
        words = len(self.vocabulary)
        if not callable(weights):
            if len(weights) != words:
                raise PluginError(f"{len(weights):,} weights were given for {words:,} terms.")
            return np.append(np.ascontiguousarray(weights, np.float64), 0.0)
        seen, padded = np.zeros(words + 1, np.bool_), np.zeros(words + 1)
        seen[terms] = True
        chosen = np.flatnonzero(seen[:words])
        padded[chosen] = weights(chosen)
        return padded

    def terms(self, docs: np.ndarray) -> csr_array:
        """Return the term counts of documents as sparse rows over the model's vocabulary."""
        from scipy.sparse import csr_array

        self.index.need("terms", "are explained by")
        width = len(self.vocabulary)
        found = [
            (chosen, recoded(*self.segments[number].terms_of(local), self._numbers[number], width))
            for number, chosen, local in self._by_segment(docs)
        ]
        return _joined(found) if found else csr_array((0, width))

    def sequence(self, doc: int) -> list[Token]:
        """Return a document's words in order, stop words included."""
        return self.index.corpus.sequence(doc)

    def words(self, doc: int) -> TextWords:
        """Return a document's words as arrays: a block of one text."""
        return WordInputs(self.vocabulary, self.index.analyzer).of_documents([self.index.stored(doc)])

    def surface(self, term: str) -> str:
        """Return the most frequent raw form of a term."""
        return self.index.corpus.surface(term)

    def docno(self, doc: int) -> str | None:
        """Return the docno of a document; None for a deleted one."""
        segment, local = self.index.place(doc)
        return None if segment.dead[local] else segment.docno(local)

    def text(self, doc: int) -> str | None:
        """Return the title and the text of a document; None if the index stores no text."""
        if "text" not in self.index.store:
            return None
        document = self.index.stored(doc)
        return f"{document.title}\n\n{document.text}"

    def terms_of(self, text: str) -> set[str]:
        """Return the terms that the analyzer of the index makes of a text."""
        return set(words_by_term(self.index.analyzer, text))

    def title(self, doc: int) -> str:
        """Return the title of a document, or the beginning of its text; an empty string if the index stores no text."""
        if "text" not in self.index.store:
            return ""
        document = self.index.stored(doc)
        return document.title or shorten(document.text, TITLE_LENGTH, placeholder=" …")

    @cached_property
    def _numbers(self) -> list[np.ndarray]:
        """An array for each segment: the model's number for each term of the segment, -1 for unknown terms."""
        return [self.vocabulary.of_segment(segment) for segment in self.segments]

    def _forward(self, number: int, segment: Segment) -> Forward:
        """Return all document terms of a segment; they are decoded once and then stay in memory."""
        with self._lock:
            if number not in self._decoded:
                self._decoded[number] = _forward(*segment.forward)
            return self._decoded[number]

    def _by_segment(self, docs: np.ndarray | None) -> Iterator[tuple[int, Any, np.ndarray]]:
        """Yield a tuple for each segment that holds some of the documents.

        The tuple has three items: the position of the segment, the positions of its documents in `docs` as an array or
        a slice, and the numbers of these documents within the segment.
        """
        if docs is None:
            for number, base in enumerate(self.bases[:-1].tolist()):
                count = self.segments[number].docs
                yield number, slice(base, base + count), np.arange(count)
            return
        if len(docs) and not 0 <= int(docs.min()) <= int(docs.max()) < len(self):
            raise IndexError(f"documents {docs.min()} to {docs.max()} of {len(self)}")
        numbers = np.searchsorted(self.bases, docs, side="right") - 1
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            yield number, chosen, (docs[chosen] - self.bases[number]).astype(np.int64)


def _joined(found: Sequence[tuple[np.ndarray, Rows]]) -> Rows:
    """Join rows to one block. Each pair in `found` has rows, and before them their places in the block."""
    places, parts = zip(*found, strict=True)
    return stacked(parts)[np.argsort(np.concatenate(places), kind="stable")]


def _forward(starts: np.ndarray, terms: np.ndarray, tfs: np.ndarray) -> Forward:
    """Return document terms with a table of their frequencies.

    The table lists 0, 1, 2, … up to the highest frequency. If the highest is `LEVELS` or more, the table lists only the
    frequencies that occur.
    """
    highest = int(tfs.max(initial=0))
    if highest < LEVELS:
        return Forward(starts, terms, tfs, np.arange(highest + 1.0))
    counts, levels = np.unique(tfs, return_inverse=True)
    return Forward(starts, terms, levels.astype(np.int32), counts.astype(np.float64))
