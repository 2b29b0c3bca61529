"""The corpus view: the documents of one generation of an index, as plugins read them to fit their models.

It gives term counts, lengths and texts of the live documents, over one vocabulary of all segments. The vocabulary is in ascending order
of the terms' bytes, and is computed on first use, not when the index is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.contracts.base import Token
from sublex.contracts.operators import Operator, words_in
from sublex.errors import IndexCorrupt, SublexError
from sublex.index.offsets import starts_of
from sublex.tools.copies import Uncopied
from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sublex.index.snapshot import Snapshot
    from sublex.index.words import CorpusWords

# Bytes of one entry of a sparse matrix: an int32 count and an int32 column.
ENTRY_BYTES = 8
# The number of texts that are analysed in one call.
TEXTS = 256


class SnapshotCorpus(Uncopied):
    """A read-only view of the live documents of one snapshot."""

    def __init__(self, snapshot: Snapshot):
        self._snapshot = snapshot

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._snapshot, "corpus")

    @cached_property
    def has(self) -> frozenset[str]:
        """The parts that the index stores: any of "text", "terms" and "positions"."""
        return self._snapshot.store

    @cached_property
    def docs(self) -> np.ndarray:
        """The numbers of the live documents, ascending."""
        return np.flatnonzero(np.concatenate([~segment.dead for segment in self._snapshot.segments]))

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the live documents in tokens, as int64, in the order of `docs`."""
        return np.concatenate([s.lengths for s in self._snapshot.segments]).astype(np.int64)[self.docs]

    @cached_property
    def vocabulary(self) -> list[str]:
        """The terms of the live documents, in ascending order of their bytes."""
        live: set[str] = set()
        for segment in self._snapshot.segments:
            terms = segment.terms.texts()
            live.update(terms[k] for k in np.flatnonzero(segment.live_df).tolist())
        # UTF-8 keeps the order of code points, in which Python compares strings.
        return sorted(live)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each term: its place in the vocabulary."""
        return {term: number for number, term in enumerate(self.vocabulary)}

    @cached_property
    def ranks(self) -> list[np.ndarray]:
        """For each segment, an int32 array with the place of each of the segment's terms in the vocabulary, from 0.

        A term that only deleted documents contain is not in the vocabulary, and gets 0. No live document has such a term.
        """
        numbers = self.numbers
        return [
            np.array([numbers.get(term, 0) for term in segment.terms.texts()], np.int32)
            for segment in self._snapshot.segments
        ]

    def blocks(self, rows: int = 4096) -> Iterator[csr_array]:
        """Yield the term counts of the live documents as sparse matrices of at most `rows` documents, over the vocabulary.

        The rows are in the order of `docs`. Raise IndexProblem when the index does not store terms.
        """
        self._snapshot.need("terms", "the corpus view reads")
        pending: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        size = 0
        for segment, ranks in zip(self._snapshot.segments, self.ranks, strict=True):
            unknown = segment.live_df == 0
            has_unknown = unknown.any()
            for begin in range(0, segment.docs, rows):
                end = min(begin + rows, segment.docs)
                counts, terms, tfs = segment.document_terms(begin, end)  # type: ignore[misc]
                live = ~segment.dead[begin:end]
                live_entries = np.repeat(live, counts)
                terms = terms[live_entries]
                if has_unknown and unknown[terms].any():
                    raise IndexCorrupt(
                        f"{self._snapshot.path} is damaged: stored documents hold terms whose document frequency is 0; restore it from a "
                        "backup, or build it again."
                    )
                pending.append((counts[live], ranks[terms], tfs[live_entries]))
                size += int(live.sum())
                while size >= rows:
                    block, pending = _split(pending, rows)
                    yield self._rows(*block)
                    size -= rows
        if size:
            yield self._rows(*_split(pending, size)[0])

    def _rows(self, counts: np.ndarray, terms: np.ndarray, tfs: np.ndarray) -> csr_array:
        """Return a sparse matrix over the vocabulary.

        `counts` has the number of entries of each row. `terms` and `tfs` have the columns and the values of all
        entries, row after row.
        """
        from scipy.sparse import csr_array

        return csr_array((tfs, terms, starts_of(counts)), shape=(len(counts), len(self.vocabulary)))

    def matrix(self, memory: int = 4 << 30) -> csr_array:
        """Return the matrices that `blocks` yields as one matrix.

        Raise SublexError if that needs more than `memory` bytes.
        """
        from scipy.sparse import csr_array, vstack

        # The blocks and the matrix made from them are in memory at the same time.
        needed = 2 * ENTRY_BYTES * self._snapshot.statistics.postings
        if needed > memory:
            raise SublexError(
                f"The matrix needs {needed >> 20:,} MB, and {memory >> 20:,} MB are allowed; read it by blocks."
            )
        blocks = list(self.blocks())
        return csr_array(vstack(blocks)) if blocks else csr_array((0, len(self.vocabulary)), dtype=np.int32)

    def recode(self, vocabulary: Sequence[str]) -> np.ndarray:
        """Return for each term of this corpus its place in `vocabulary`, int32; -1 for a term that is not in it."""
        other = {term: number for number, term in enumerate(vocabulary)}
        return np.array([other.get(term, -1) for term in self.vocabulary], np.int32)

    def analyze(self, text: str) -> list[str]:
        """Return the terms of a text, analysed as the documents were."""
        return self._snapshot.analyze(text)

    def surface(self, term: str) -> str:
        """Return the raw form of a term that documents use most; the term itself when no live document contains it.

        For an operator, return the words in it, such as "stem cells" in quotation marks.
        """
        if isinstance(term, Operator):
            return words_in(term, self.surface)
        known = self._snapshot.term(term)
        return known.surface if known else term

    def raw(self, doc: int) -> str:
        """Return the title and text of a document. Raise IndexProblem when the index does not store texts."""
        return self._snapshot.stored(doc, "the corpus view reads").contents

    def sequence(self, doc: int) -> list[Token]:
        """Return the words of a document in order, stop words included."""
        from sublex.analysis.tokens import sequences

        return sequences(self._snapshot.analyzer, [self.raw(doc)])[0]

    def sequences(self) -> Iterator[list[Token]]:
        """Yield the words of each live document, in the order of `docs`. This is faster than `sequence` for each document."""
        from sublex.analysis.tokens import sequences

        for begin in range(0, len(self.docs), TEXTS):
            texts = [self.raw(doc) for doc in self.docs[begin : begin + TEXTS].tolist()]
            yield from sequences(self._snapshot.analyzer, texts)

    def words(self) -> CorpusWords:
        """Return the words of the live documents as arrays, block by block. This is much faster than `sequences`."""
        from sublex.index.words import CorpusWords

        self._snapshot.need("text", "the corpus view reads")
        return CorpusWords(self._snapshot, self.numbers)


def _split(pending: list[Any], rows: int) -> tuple[tuple[np.ndarray, ...], list[Any]]:
    """Join the blocks `pending`. Return the first `rows` rows as one block, and the rest as a list of one block.

    A block has three arrays: the number of entries of each row, and the columns and values of all entries.
    """
    counts, terms, tfs = (np.concatenate(columns) for columns in zip(*pending, strict=True))
    entries = int(counts[:rows].sum())
    return (counts[:rows], terms[:entries], tfs[:entries]), [(counts[rows:], terms[entries:], tfs[entries:])]


resolve_hints(__name__)
