"""The corpus view: what a plugin sees of an index, whichever back end holds it.

Terms are numbered over all segments in the order of their bytes; that vocabulary is made on first use, never at open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.base import Token
from sublex.errors import SublexError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sublex.index.snapshot import Snapshot

ENTRY_BYTES = 8
# So many texts are cut into words at once.
TEXTS = 256


class Corpus:
    """A read-only view of the live documents of one generation of an index."""

    def __init__(self, index: Snapshot):
        self._index = index
        self.has = index.store

    @cached_property
    def docs(self) -> np.ndarray:
        """The live documents' numbers, ascending."""
        return np.flatnonzero(np.concatenate([~segment.dead for segment in self._index.segments]))

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the live documents, in the order of `docs`."""
        return np.concatenate([s.lengths for s in self._index.segments]).astype(np.int64)[self.docs]

    @cached_property
    def vocabulary(self) -> list[str]:
        """All terms of live documents, ascending by their bytes."""
        found: set[bytes] = set()
        for segment in self._index.segments:
            terms = segment.terms.list()
            found.update(terms[k] for k in np.flatnonzero(segment.live_df))
        return [term.decode() for term in sorted(found)]

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.vocabulary)}

    @cached_property
    def ranks(self) -> list[np.ndarray]:
        """For each segment, the vocabulary's number of each of its terms; 0 where no live document holds it."""
        numbers = self.numbers
        return [
            np.array([numbers.get(term.decode(), 0) for term in segment.terms.list()], np.int32)
            for segment in self._index.segments
        ]

    def blocks(self, rows: int = 4096) -> Iterator[csr_array]:
        """The term counts of the live documents, `rows` documents at a time, as sparse rows over the vocabulary."""
        self._index.need("terms", "are read here")
        held: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        size = 0
        for segment, ranks in zip(self._index.segments, self.ranks, strict=True):
            for begin in range(0, segment.docs, rows):
                end = min(begin + rows, segment.docs)
                counts, terms, tfs = segment.document_terms(begin, end)  # type: ignore[misc]
                live = ~segment.dead[begin:end]
                kept = np.repeat(live, counts)
                held.append((counts[live], ranks[terms[kept]], tfs[kept]))
                size += int(live.sum())
                while size >= rows:
                    block, held = _split(held, rows)
                    yield self._rows(*block)
                    size -= rows
        if size:
            yield self._rows(*_split(held, size)[0])

    def _rows(self, counts: np.ndarray, terms: np.ndarray, tfs: np.ndarray) -> csr_array:
        from scipy.sparse import csr_array

        pointers = np.concatenate(([0], np.cumsum(counts)))
        return csr_array((tfs, terms, pointers), shape=(len(counts), len(self.vocabulary)))

    def matrix(self, memory: int = 4 << 30) -> csr_array:
        """All of `blocks` in one matrix, if it fits the memory."""
        from scipy.sparse import csr_array, vstack

        need = 2 * ENTRY_BYTES * self._index.statistics.postings
        if need > memory:
            raise SublexError(f"The matrix needs {need >> 20:,} MB of {memory >> 20:,} allowed; read it by blocks.")
        blocks = list(self.blocks())
        return csr_array(vstack(blocks)) if blocks else self._rows(*_NOTHING)

    def recode(self, vocabulary: Sequence[str]) -> np.ndarray:
        """For each term of this vocabulary its number in another one, -1 where it has none."""
        other = {term: number for number, term in enumerate(vocabulary)}
        return np.array([other.get(term, -1) for term in self.vocabulary], np.int32)

    def analyze(self, text: str) -> list[str]:
        """The terms of a text."""
        return self._index.analyze(text)

    def surface(self, term: str) -> str:
        """The commonest raw form of a term, for people to read."""
        found = self._index.term(term)
        return found.surface if found else term

    def raw(self, doc: int) -> str:
        """A document's title and text."""
        self._index.need("text", "is read here")
        segment, local = self._index.place(doc)
        found = segment.document(local)
        assert found is not None
        return found.contents

    def sequence(self, doc: int) -> list[Token]:
        """A document's words in order, stop words included."""
        from sublex.analysis.tokens import sequences

        return sequences(self._index.analyzer, [self.raw(doc)])[0]

    def sequences(self) -> Iterator[list[Token]]:
        """Those of all live documents, in the order of `docs`; quicker than one by one."""
        from sublex.analysis.tokens import sequences

        for begin in range(0, len(self.docs), TEXTS):
            texts = [self.raw(doc) for doc in self.docs[begin : begin + TEXTS].tolist()]
            yield from sequences(self._index.analyzer, texts)


_NOTHING = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))


def _split(held: list[Any], rows: int) -> tuple[tuple[np.ndarray, ...], list[Any]]:
    """The first rows of what is held, and what is left."""
    counts, terms, tfs = (np.concatenate(columns) for columns in zip(*held, strict=True))
    cut = int(counts[:rows].sum())
    return (counts[:rows], terms[:cut], tfs[:cut]), [(counts[rows:], terms[cut:], tfs[cut:])]
