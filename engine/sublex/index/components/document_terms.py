"""Document terms, the forward index: for each document its terms, ascending, and their frequencies.

They are stored only if the index keeps `terms`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.components.lengths import LengthsReader
from sublex.index.components.strings import StringsWriter, piece_starts
from sublex.index.format import UNSIGNED, ComponentFolder, FolderWriter


def write_document_lists(folder: FolderWriter, lists: Iterable[tuple[np.ndarray, np.ndarray]]) -> None:
    """Write `document_terms` and `document_term_sizes`.

    Each item of `lists` has the encoded lists of the next documents, end to end, and the size of each list in bytes.
    """
    writer = StringsWriter(folder, "document_term")
    for data, sizes in lists:
        writer.add(data, sizes)


class DocumentTermsReader:
    """Decodes document terms.

    `lengths` has the number of terms of each document; `terms` is the size of the lexicon.
    """

    def __init__(self, folder: ComponentFolder, lengths: LengthsReader, terms: int):
        folder.expect("document_terms", ("|u1",))
        folder.expect("document_term_sizes", UNSIGNED, len(folder["lengths"]))
        self._data, self._sizes = folder["document_terms"], folder["document_term_sizes"]
        self._lengths, self._terms = lengths, terms

    @cached_property
    def _starts(self) -> np.ndarray:
        # Each entry takes at least one byte. After this check, damaged lengths cannot ask for more memory than the data fill.
        if (self._lengths.uniques > self._sizes.all()).any():
            raise IndexCorrupt(f"{self._sizes.path} does not fit the numbers of terms; rebuild the index.")
        return piece_starts(self._sizes, self._data)

    def range(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return three arrays for the documents from `begin` up to `end`.

        They are the number of terms of each document, and the ordinals and the frequencies of all these terms, end to
        end.
        """
        starts = self._starts[begin : end + 1]
        data = self._data.part(int(starts[0]), int(starts[-1]))
        return self._decode(data, starts[:-1] - starts[0], starts[1:] - starts[0], self._lengths.uniques[begin:end])

    def gather(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return three arrays for the documents `docs`, which may be in any order.

        They are the number of terms of each document, and the ordinals and the frequencies of all these terms, end to
        end.
        """
        begins, ends = self._starts[docs], self._starts[docs + 1]
        self._data.touch(begins, ends)
        return self._decode(self._data.values, begins, ends, self._lengths.uniques[docs])

    def _decode(
        self, data: np.ndarray, begins: np.ndarray, ends: np.ndarray, uniques: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from sublex.index import posting_kernels

        counts = uniques.astype(np.int64)
        terms, tfs = np.empty(int(counts.sum()), np.int32), np.empty(int(counts.sum()), np.int32)
        if posting_kernels.decode_lists(data, begins, ends, counts, self._terms, terms, tfs) >= 0 or (
            len(tfs) and tfs.min() < 1
        ):
            raise IndexCorrupt(f"{self._data.path} is damaged; rebuild the index.")
        return counts, terms, tfs
