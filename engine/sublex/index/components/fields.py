"""Fields: for each posting the frequency of its term in a field of its document, and for each document the field's length.

The content fields have numbers: 0 is the title, 1 the text, and the other fields follow. Frequencies and lengths are stored
for all fields but the text. The frequency in the text is the frequency in the whole document minus the frequencies in the
other fields, and its length likewise. If the index stores positions, it also stores where each field but the title begins in
each document. The kernels encode and decode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.components.lengths import LengthsReader
from sublex.index.components.lexicon import LexiconReader
from sublex.index.components.packed_numbers import PackedNumbers, PackedReader, PackedWriter
from sublex.index.entries import MOST
from sublex.index.format import UNSIGNED, ComponentFolder, FolderWriter

# The number of the text among the content fields, and the end of the last field, which is above all positions.
TEXT, LAST_END = 1, 2**31 - 1


def encode_field(tfs: np.ndarray, df: np.ndarray) -> PackedNumbers:
    """Encode the frequencies of posting lists in a field, and return them. Any thread may call this.

    `tfs` is int32 and has a value for each posting. The lists lie end to end, and list k has `df[k]` postings.
    """
    from sublex.index import field_kernels

    return PackedNumbers(*field_kernels.encode_fields(tfs, np.ascontiguousarray(df, np.int64)))


def stored_fields(number: int) -> list[int]:
    """Return the numbers of the fields that are stored if there are `number` content fields."""
    return [field for field in range(number) if field != TEXT]


def _tfs_components(field: int) -> list[str]:
    """Return the names of the components that hold the frequencies in a field, one for each attribute of `PackedNumbers`."""
    return [f"field_{part}_{field}" for part in ("tfs", "widths", "tails", "tail_sizes")]


def lengths_component(field: int) -> str:
    """Return the name of the component with the lengths of a field."""
    return f"field_lengths_{field}"


def begins_component(field: int) -> str:
    """Return the name of the component with the positions at which a field begins."""
    return f"field_begins_{field}"


def count_fields(components: object) -> int:
    """Return the number of content fields of a segment with these components; 0 if the segment stores no fields."""
    field = 0
    while lengths_component(field) in components:  # type: ignore[operator]
        field += 2 if field == 0 else 1
    return max(field, 2) if field else 0


class FieldsWriter:
    """Writes the components of `number` content fields, with the places of fields if the segment has positions."""

    def __init__(self, folder: FolderWriter, number: int, positions: bool):
        self._postings = [PackedWriter(folder, _tfs_components(field)) for field in stored_fields(number)]
        self._lengths = [folder.collect(lengths_component(field)) for field in stored_fields(number)]
        self._begins = [folder.collect(begins_component(field)) for field in range(1, number)] if positions else []

    def add(self, encoded: Sequence[PackedNumbers]) -> None:
        """Append the frequencies of the next terms, for each stored field."""
        for writer, part in zip(self._postings, encoded, strict=True):
            writer.add(part)

    def add_documents(self, lengths: Sequence[np.ndarray], begins: Sequence[np.ndarray]) -> None:
        """Append the lengths of fields in the next documents, and the positions at which fields begin there.

        `lengths` has an array for each stored field. `begins` has an array for each field but the title, or is empty
        if the segment has no positions.
        """
        for writers, parts in ((self._lengths, lengths), (self._begins, begins)):
            for writer, values in zip(writers, parts, strict=True):
                writer.write(values)


class FieldReader(PackedReader):
    """Decodes the frequencies of postings in one stored field."""

    counted, numbers, leaves_out_zeros = "document frequencies", "frequencies", True

    def __init__(self, folder: ComponentFolder, lexicon: LexiconReader, field: int):
        super().__init__(folder, _tfs_components(field), lexicon, lexicon.df)

    def gather(self, terms: np.ndarray, tfs: np.ndarray) -> np.ndarray:
        """Return the frequencies (int32) of all postings of `terms` in the field.

        `tfs` has the frequencies of these postings in the whole document.
        """
        from sublex.index import field_kernels

        packed = self._find(terms)
        df, found = self._lexicon.df[terms].astype(np.int64), np.empty(len(tfs), np.int32)
        if int(df.sum()) != len(tfs):
            raise self._words.damaged("does not fit the postings")
        bad = field_kernels.decode_fields(*packed, df, tfs, np.empty(field_kernels.BLOCK, np.uint32), found)
        if bad >= 0:
            raise self._words.damaged(f"has damaged frequencies of {self._name(int(terms[bad]))}")
        return found


class FieldsReader:
    """Reads the content fields of a segment, by their numbers."""

    def __init__(self, folder: ComponentFolder, lexicon: LexiconReader, lengths: LengthsReader, docs: int):
        self._folder, self._lengths = folder, lengths
        self.number = count_fields(folder)
        self._readers = {field: FieldReader(folder, lexicon, field) for field in stored_fields(self.number)}
        for field in self._readers:
            folder.expect(lengths_component(field), UNSIGNED, docs)
        if "positions" in folder:
            for field in range(1, self.number):
                folder.expect(begins_component(field), UNSIGNED, docs)
        self._known: dict[int, np.ndarray] = {}

    def gather(self, field: int, terms: np.ndarray, tfs: np.ndarray) -> np.ndarray:
        """Return the frequencies (int32) of all postings of `terms` in a field.

        `tfs` has the frequencies of these postings in the whole document. Raise IndexCorrupt if a frequency in the field is
        below 0 or above the frequency in the whole document.
        """
        if field != TEXT:
            return self._readers[field].gather(terms, tfs)
        left = tfs.copy()
        for reader in self._readers.values():
            left -= reader.gather(terms, tfs)
            if len(left) and left.min() < 0:
                raise IndexCorrupt(
                    f"The frequencies in fields of {self._folder.path} exceed those of documents; rebuild the index."
                )
        return left

    def lengths(self, field: int) -> np.ndarray:
        """Return the length of each document's field, in terms with repetitions."""
        if field not in self._known:
            self._known[field] = self._read_lengths(field)
        return self._known[field]

    def _read_lengths(self, field: int) -> np.ndarray:
        if field != TEXT:
            return self._folder[lengths_component(field)].numbers(MOST)
        left = self._lengths.lengths.astype(np.int64)
        for other in self._readers:
            left -= self.lengths(other).astype(np.int64)
        if len(left) and left.min() < 0:
            raise IndexCorrupt(
                f"The lengths of fields of {self._folder.path} exceed those of documents; rebuild the index."
            )
        return left

    def _begins(self, field: int) -> np.ndarray:
        """Return for each document the position at which a field begins; `LAST_END` for the field after the last one."""
        if field == 0:
            return np.zeros(len(self._lengths.lengths), np.int32)
        if field == self.number:
            return np.full(len(self._lengths.lengths), LAST_END, np.int32)
        return self._folder[begins_component(field)].numbers(LAST_END).astype(np.int32)

    def places(self, field: int) -> tuple[np.ndarray, np.ndarray]:
        """Return two int32 arrays: the position in each document at which a field begins, and at which the next field begins.

        The end of the last field is above every position. Raise IndexCorrupt if a field ends before it begins.
        """
        begins, ends = self._begins(field), self._begins(field + 1)
        if (begins > ends).any():
            raise IndexCorrupt(f"The places of fields of {self._folder.path} do not ascend; rebuild the index.")
        return begins, ends
