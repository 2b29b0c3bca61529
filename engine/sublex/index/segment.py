"""A segment: an immutable part of an index, with its lexicon, posting lists and documents.

`Segment` composes the readers of `sublex.index.components` and applies the tombstones. It only reads. The numbers of documents
and the ordinals of terms are local to the segment and start at 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sublex.contracts.base import Document
from sublex.contracts.columns import Column
from sublex.contracts.fields import content_fields, other_fields
from sublex.errors import IndexCorrupt
from sublex.index.components.columns import ColumnsReader
from sublex.index.components.docnos import DocnosReader
from sublex.index.components.document_terms import DocumentTermsReader
from sublex.index.components.fields import FieldsReader, count_fields, stored_fields
from sublex.index.components.lengths import LengthsReader
from sublex.index.components.lexicon import LexiconReader
from sublex.index.components.positions import PositionsReader
from sublex.index.components.postings import PostingsReader
from sublex.index.components.texts import TextsReader
from sublex.index.components.tombstones import TombstonesReader
from sublex.index.directory import Directory
from sublex.index.entries import SegmentEntry
from sublex.index.format import ComponentFolder
from sublex.index.manifest import segment_folder
from sublex.index.offsets import spans, starts_of

if TYPE_CHECKING:
    from sublex.index.attachment import Attachment


class Segment:
    """One segment and its tombstones, opened as the segment's entry in the manifest describes them.

    `attachment` is the foreign index that an attached index mirrors, and that may have the texts; None for other indexes.
    `fields` has the names of the named fields, as the manifest has them; a segment itself stores fields by their numbers.
    """

    attachment: Attachment | None = None
    fields: tuple[str, ...] = ()

    def __init__(self, directory: Directory, entry: SegmentEntry):
        self.directory, self.path, self.entry = directory, directory.path, entry
        self.name, self.docs = entry.name, entry.docs
        self.folder = ComponentFolder(directory, entry.data)
        self._tombstones = TombstonesReader(directory, entry)
        self.lexicon = LexiconReader(self.folder, entry.terms, self.docs)
        self.terms = self.lexicon.terms
        self._docnos = DocnosReader(self.folder, self.docs)
        self.docnos = self._docnos.strings
        self._lengths = LengthsReader(self.folder, self.docs)
        self._postings = PostingsReader(self.folder, self.lexicon, self.docs)

    def nbytes(self) -> dict[str, int]:
        """Return the bytes on disk of each component, and of the tombstones as `deleted`."""
        deleted = self._tombstones.nbytes()
        return self.folder.nbytes() | ({"deleted": deleted} if deleted else {})

    # Documents.

    @cached_property
    def dead(self) -> np.ndarray:
        """The deleted documents, as a mask."""
        return self._tombstones.dead

    @property
    def live(self) -> int:
        """The number of documents that are not deleted."""
        return self.docs - self._tombstones.count

    @cached_property
    def lengths(self) -> np.ndarray:
        """Each document's number of terms, with repetitions."""
        return self._lengths.lengths

    @cached_property
    def uniques(self) -> np.ndarray:
        """Each document's number of distinct terms."""
        return self._lengths.uniques

    @cached_property
    def docno_order(self) -> np.ndarray:
        """The documents in ascending order of their docnos' bytes."""
        return self._docnos.order

    def docno(self, doc: int) -> str:
        """Return a document's docno."""
        return self.docnos.text(doc)

    def find_docno(self, docno: str) -> int | None:
        """Return the live document that has this docno, or None."""
        return next((doc for doc in self._docnos.find(docno) if not self.dead[doc]), None)

    def ever_had(self, docno: str) -> bool:
        """Return whether a document of the segment, live or deleted, has this docno."""
        return any(True for _ in self._docnos.find(docno))

    @cached_property
    def texts(self) -> TextsReader | None:
        """The stored documents, or None if neither the index nor the foreign index that it mirrors keeps `text`."""
        if self.attachment and "text" in self.attachment.stores:
            from sublex.index.attachment import ForeignTexts

            return ForeignTexts(self.attachment, self.docno, self.docs, other_fields(self.fields))
        return TextsReader(self.folder, other_fields(self.fields)) if "texts" in self.folder else None

    def document(self, doc: int) -> Document | None:
        """Return a stored document, or None if the index does not keep `text`."""
        return self.texts.document(doc, self.docno(doc)) if self.texts else None

    # Columns.

    @cached_property
    def _columns(self) -> ColumnsReader | None:
        return ColumnsReader(self.folder, self.docs) if "columns" in self.folder else None

    @property
    def columns(self) -> dict[str, str]:
        """The types of the columns by their names."""
        return self._columns.kinds if self._columns else {}

    def column(self, name: str) -> Column:
        """Return a column, with the values of deleted documents too. Raise `IndexCorrupt` if the segment has no such column."""
        if name not in self.columns:
            raise IndexCorrupt(f"{self.path} lacks the column {name}; rebuild the index.")
        return self._columns.column(name)  # type: ignore[union-attr]

    def expect_columns(self, kinds: Mapping[str, str]) -> None:
        """Raise `IndexCorrupt` unless the columns have these names and types."""
        if self.columns != kinds:
            raise IndexCorrupt(f"{self.path} has other columns than the index; rebuild the index.")

    # Document terms.

    @cached_property
    def _document_terms(self) -> DocumentTermsReader:
        return DocumentTermsReader(self.folder, self._lengths, len(self.terms))

    def document_terms(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return three arrays for the documents from `begin` up to `end`, or None if document terms are not stored.

        The arrays are the number of terms of each document, and the ordinals and the frequencies of all these terms,
        end to end.
        """
        return self._document_terms.range(begin, end) if "document_terms" in self.folder else None

    def terms_of(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the three arrays of `document_terms` for the documents `docs`, which may be in any order.

        The index must store document terms.
        """
        return self._document_terms.gather(docs)

    @cached_property
    def forward(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All document terms, decoded, as (starts, ordinals, frequencies).

        The terms of document d have ordinals[starts[d]:starts[d + 1]], and their frequencies are at the same places.
        """
        counts, terms, tfs = self.terms_of(np.arange(self.docs))
        return starts_of(counts), terms, tfs

    # Terms.

    def find(self, term: str) -> int | None:
        """Return a term's ordinal, or None for an unknown term."""
        return self.lexicon.find(term)

    def find_all(self, terms: Sequence[str]) -> list[int]:
        """Return the ordinals of terms, -1 for unknown ones."""
        return self.lexicon.find_all(terms)

    @cached_property
    def df(self) -> np.ndarray:
        """Each term's document frequency, deleted documents included. It is the length of the term's posting list."""
        return self.lexicon.df

    @cached_property
    def cf(self) -> np.ndarray:
        """Each term's collection frequency, deleted documents included."""
        return self.lexicon.cf

    @cached_property
    def live_df(self) -> np.ndarray:
        """Each term's document frequency without deleted documents."""
        return self._tombstones.subtract(self.df, "df")

    @cached_property
    def live_cf(self) -> np.ndarray:
        """Each term's collection frequency without deleted documents."""
        return self._tombstones.subtract(self.cf, "cf")

    def surface(self, term: int) -> str:
        """Return the most frequent raw form of a term."""
        return self.lexicon.surface(term).decode(errors="replace")

    # Postings.

    def postings(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents and frequencies of the terms from `begin` up to `end`, one posting list after the other.

        Deleted documents are included.
        """
        return self._postings.range(begin, end)

    def gather(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents and frequencies of the terms `terms`, one posting list after the other.

        Deleted documents are included.
        """
        return self._postings.gather(terms)

    # Positions.

    @property
    def has_positions(self) -> bool:
        """Whether the index stores the positions of postings."""
        return "positions" in self.folder

    @cached_property
    def _positions(self) -> PositionsReader:
        return PositionsReader(self.folder, self.lexicon)

    def positions(self, begin: int, end: int, tfs: np.ndarray | None = None) -> np.ndarray:
        """Return the positions of all postings of the terms from `begin` up to `end`, as `gather_positions` does."""
        return self.gather_positions(np.arange(begin, end), tfs)

    def gather_positions(self, terms: np.ndarray, tfs: np.ndarray | None = None) -> np.ndarray:
        """Return the positions (int32) of all postings of the terms `terms`, in the order of `gather`.

        Posting i has `tfs[i]` of them, ascending. A caller that has called `gather` for these terms passes on its frequencies
        as `tfs`; otherwise the postings are decoded here. Deleted documents are included. The index must store positions.
        """
        return self._positions.gather(terms, self.gather(terms)[1] if tfs is None else tfs)

    def check_positions(self) -> None:
        """Raise IndexCorrupt if the terms' collection frequencies do not fit the stored positions."""
        self._positions.check()

    # Fields.

    @cached_property
    def content_fields(self) -> int:
        """The number of content fields whose frequencies are stored; 0 if the index has no fields."""
        return count_fields(self.folder)

    @cached_property
    def fields_reader(self) -> FieldsReader:
        """The reader of the content fields by their numbers. `field_tfs` and similar methods read the named fields by name."""
        return FieldsReader(self.folder, self.lexicon, self._lengths, self.docs)

    def documents_in_fields(self, docs: np.ndarray, positions: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the lengths of each stored field in the documents `docs`, and the positions at which fields begin.

        The second list has an array for each field but the title; without `positions` it is empty. `docs` has numbers of
        documents, or is a mask.
        """
        number = self.content_fields
        begins = [self.fields_reader.places(field)[0][docs] for field in range(1, number)] if positions else []
        return [self.fields_reader.lengths(field)[docs] for field in stored_fields(number)], begins

    def field_tfs(self, field: str, terms: np.ndarray, tfs: np.ndarray | None = None) -> np.ndarray:
        """Return the frequencies (int32) of all postings of the terms `terms` in a named field, in the order of `gather`.

        Each is from 0 to the frequency in the whole document. A caller that has called `gather` for these terms passes on its
        frequencies as `tfs`. Deleted documents are included.
        """
        return self.fields_reader.gather(self._number(field), terms, self.gather(terms)[1] if tfs is None else tfs)

    def field_lengths(self, field: str) -> np.ndarray:
        """Return the number of terms of each document in a named field, with repetitions."""
        return self.fields_reader.lengths(self._number(field))

    def field_places(self, field: str) -> tuple[np.ndarray, np.ndarray]:
        """Return (begins, ends), two int32 arrays. In document d, the named field has the positions begins[d] to ends[d] - 1.

        The index must store positions.
        """
        return self.fields_reader.places(self._number(field))

    def _number(self, field: str) -> int:
        """Return the number of a named field among the content fields."""
        if field not in self.fields:
            raise ValueError(f"{self.path} has no field {field}.")
        return content_fields(self.fields).index(field)

    def release(self) -> None:
        """Let the system take back the memory of the posting lists and positions that were read."""
        for name in ("postings", "positions"):
            if name in self.folder:
                self.folder[name].release()

    def spans(self, limit: int) -> list[tuple[int, int]]:
        """Return ranges (begin, end) that cut the terms. A range has at most `limit` postings, or has one term."""
        return spans(self.df, limit)


def open_segment(root: Path, entry: SegmentEntry, fields: tuple[str, ...] = ()) -> Segment:
    """Return a segment of the index at `root`. `fields` has the names of its named fields; merging does not need them."""
    segment = Segment(segment_folder(root, entry), entry)
    segment.fields = fields
    return segment
