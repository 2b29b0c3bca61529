"""The words of all live documents as arrays, for plugins that read word sequences of a whole collection.

The stored texts are decompressed and cut, about a megabyte at a time, without a Python object for each document or word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.analysis.tokens import reads_latex
from sublex.analysis.word_arrays import CutText, WordTable, cut_text
from sublex.contracts.base import WordArrays
from sublex.index.segment import Segment
from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    from sublex.index.snapshot import Snapshot

# Bytes of texts that are cut together. The number does not depend on the number of workers.
BYTES_PER_CUT = 1 << 20


class _Texts(NamedTuple):
    """Texts of a segment, end to end in `text`, with three values for each text.

    `docs` has the number of its document in the index, or -1 for a deleted document. `ends` has the place where the
    text ends, and `titles` the number of bytes of its title.
    """

    docs: np.ndarray
    text: np.ndarray
    ends: np.ndarray
    titles: np.ndarray


class CorpusWords:
    """The words of the live documents, in the order of the documents' numbers.

    `surfaces` has each word as it is written; it is complete after the last block. Words are numbered by their first appearance.
    """

    def __init__(self, snapshot: Snapshot, vocabulary: Mapping[str, int]):
        self._snapshot, self._vocabulary = snapshot, vocabulary
        self._table = WordTable(snapshot.analyzer)
        # For each word of the table, the place of its term in the vocabulary.
        self._terms = np.empty(0, np.int32)

    @property
    def surfaces(self) -> list[str]:
        """The words that occur in the blocks that were read, as they are written."""
        return self._table.surfaces

    def blocks(self, run: Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]] = map) -> Iterator[WordArrays]:
        """Yield the words of the documents, about a megabyte of text at a time.

        `run(function, items)` yields the results of a function for items, as `map` does. With `job.map` in its place,
        the workers of a job share the work.
        """
        parts = zip(self._snapshot.segments, self._snapshot.bases.tolist(), strict=False)
        cut = partial(_cut, latex=reads_latex(self._snapshot.analyzer))
        for docs, found in run(cut, (texts for segment, base in parts for texts in texts_of(segment, base))):
            ends, words, breaks = self._table.read(found)
            if len(docs) and docs.min() < 0:
                sizes = np.diff(ends, prepend=0)
                live = np.repeat(docs >= 0, sizes)
                ends, words, breaks = np.cumsum(sizes[docs >= 0]), words[live], breaks[live]
                docs = docs[docs >= 0]
            new = [self._vocabulary.get(term, -1) for term in self._table.terms[len(self._terms) :]]
            if new:
                self._terms = np.concatenate([self._terms, np.array(new, np.int32)])
            yield WordArrays(docs, ends, words, self._terms[words], breaks)


def _cut(texts: _Texts, latex: bool) -> tuple[np.ndarray, CutText]:
    return texts.docs, cut_text(texts.text, texts.ends, texts.titles, latex)


def texts_of(segment: Segment, base: int) -> Iterator[_Texts]:
    """Yield the texts of a segment, about a megabyte at a time.

    `base` is the number of the segment's first document in the index.
    """
    assert segment.texts is not None
    pending: list[Any] = []
    begin = size = doc = 0
    for frame, count in enumerate(segment.texts.counts.tolist()):
        pending.append(segment.texts.raw(frame))
        size += len(pending[-1].text)
        doc += count
        if size >= BYTES_PER_CUT or doc == segment.docs:
            sizes = np.concatenate([part.sizes for part in pending])
            docs = np.where(segment.dead[begin:doc], -1, np.arange(base + begin, base + doc))
            text = np.concatenate([part.text for part in pending])
            yield _Texts(docs, text, np.cumsum(sizes[:, 1]), np.ascontiguousarray(sizes[:, 0]))
            pending, begin, size = [], doc, 0


resolve_hints(__name__)
