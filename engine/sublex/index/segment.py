"""An immutable segment: its lexicon, postings, documents. Reading only; ordinals of terms and documents are the segment's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sublex.base import Document
from sublex.errors import IndexCorrupt
from sublex.index import kernels
from sublex.index.arena import Arena, spans, starts_of
from sublex.index.format import Folder
from sublex.index.texts import TextReader


class Segment:
    """One segment with the documents deleted from it."""

    def __init__(self, path: Path, entry: Mapping[str, Any]):
        self.path, self.entry = path, entry
        self.name: str = entry["name"]
        self.docs: int = entry["docs"]
        self.folder = Folder(self.path, entry["data"])
        self._deleted = entry.get("deleted")
        self._losses = Folder(self.path / self._deleted["name"], self._deleted["data"]) if self._deleted else None
        get = self.folder.__getitem__
        self.terms = Arena(get("terms"), get("term_sizes"))
        self.docnos = Arena(get("docnos"), get("docno_sizes"))

    # Documents.

    @cached_property
    def dead(self) -> np.ndarray:
        """Which documents are deleted, as a mask."""
        mask = np.zeros(self.docs, np.bool_)
        if self._losses:
            docs = self._losses["docs"].all()
            if len(docs) and int(docs.max()) >= self.docs:
                raise IndexCorrupt(
                    f"{self._losses['docs'].path} names a document that is not there; rebuild the index."
                )
            mask[docs] = True
        return mask

    @property
    def live(self) -> int:
        """How many documents are not deleted."""
        return self.docs - (self._deleted["docs"] if self._deleted else 0)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Each document's number of terms, repetitions counted."""
        return self.folder["lengths"].all()

    @cached_property
    def uniques(self) -> np.ndarray:
        """Each document's number of distinct terms."""
        return self.folder["uniques"].all()

    @cached_property
    def docno_order(self) -> np.ndarray:
        """Documents by their docnos' bytes, ascending."""
        order = self.folder["docno_order"].all()
        if len(order) and int(order.max()) >= self.docs:
            raise IndexCorrupt(
                f"{self.folder['docno_order'].path} names a document that is not there; rebuild the index."
            )
        return order

    def docno(self, doc: int) -> str:
        """A document's docno."""
        return self.docnos[doc].decode()

    def find_docno(self, docno: str) -> int | None:
        """The live document of this docno."""
        wanted = docno.encode("utf-8", "surrogatepass")
        at = self.docnos.bisect(wanted, self.docno_order)
        while at < self.docs and self.docnos[doc := int(self.docno_order[at])] == wanted:
            if not self.dead[doc]:
                return doc
            at += 1
        return None

    @cached_property
    def texts(self) -> TextReader | None:
        """The stored documents, where they are kept."""
        if "texts" not in self.folder:
            return None
        return TextReader(self.folder["texts"], self.folder["text_sizes"].all(), self.folder["text_counts"].all())

    def document(self, doc: int) -> Document | None:
        """A stored document, or None where texts are not kept."""
        return self.texts.document(doc, self.docno(doc)) if self.texts else None

    @cached_property
    def _document_term_starts(self) -> np.ndarray:
        return starts_of(self.folder["document_term_sizes"].all())

    def document_terms(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """(counts, term ordinals, frequencies) of the documents of a range, or None where they are not kept."""
        if "document_terms" not in self.folder:
            return None
        starts = self._document_term_starts[begin : end + 1]
        data = self.folder["document_terms"].part(int(starts[0]), int(starts[-1]))
        return self._lists(data, starts - starts[0], self.uniques[begin:end])

    def terms_of(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same of these documents, where they are kept."""
        component, starts = self.folder["document_terms"], self._document_term_starts
        begins, ends = starts[docs], starts[docs + 1]
        component.touch(begins, ends)
        return self._lists(component.values, begins, self.uniques[docs], ends)

    def _lists(
        self, data: np.ndarray, starts: np.ndarray, sizes: np.ndarray, ends: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts = sizes.astype(np.int64)
        if ends is None:
            starts, ends = starts[:-1], starts[1:]
        terms, tfs = np.empty(int(counts.sum()), np.int32), np.empty(int(counts.sum()), np.int32)
        if kernels.decode_lists(data, starts, ends, counts, len(self.terms), terms, tfs) >= 0:
            raise IndexCorrupt(f"{self.folder['document_terms'].path} is damaged; rebuild the index.")
        return counts, terms, tfs

    @cached_property
    def forward(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All document terms, decoded: where each document's begin, and where the last ends; their ordinals; their frequencies."""
        counts, terms, tfs = self.terms_of(np.arange(self.docs))
        return starts_of(counts), terms, tfs

    def nbytes(self) -> dict[str, int]:
        """Bytes on disk of each component."""
        deleted = {"deleted": sum(self._losses.nbytes().values())} if self._losses else {}
        return self.folder.nbytes() | deleted

    # Terms.

    def find_all(self, terms: Sequence[str]) -> list[int]:
        """The ordinals of terms, -1 for those that are not there."""
        wanted = [term.encode("utf-8", "surrogatepass") for term in terms]
        arena = np.frombuffer(b"".join(wanted), np.uint8)
        starts = starts_of(np.fromiter(map(len, wanted), np.int64, len(wanted)))
        return kernels.find_strings(self.folder["terms"].all(), self.terms.starts, arena, starts).tolist()

    def find(self, term: str) -> int | None:
        """A term's ordinal."""
        wanted = term.encode("utf-8", "surrogatepass")
        at = self.terms.bisect(wanted)
        return at if at < len(self.terms) and self.terms[at] == wanted else None

    @cached_property
    def df(self) -> np.ndarray:
        """In how many documents, deleted ones included, each term occurs: the length of its postings."""
        return self.folder["df"].all()

    @cached_property
    def cf(self) -> np.ndarray:
        """How often each term occurs, deleted documents included."""
        return self.folder["cf"].all()

    @cached_property
    def live_df(self) -> np.ndarray:
        """`df` without deleted documents."""
        return self._less(self.df, "df")

    @cached_property
    def live_cf(self) -> np.ndarray:
        """`cf` without deleted documents."""
        return self._less(self.cf, "cf")

    def _less(self, values: np.ndarray, name: str) -> np.ndarray:
        if not self._losses:
            return values
        left = values.astype(np.int64)
        terms = self._losses["terms"].all()
        if len(terms) and int(terms.max()) >= len(left):
            raise IndexCorrupt(f"{self._losses['terms'].path} names a term that is not there; rebuild the index.")
        left[terms] -= self._losses[name].all().astype(np.int64)
        return left

    def surface(self, term: int) -> str:
        """The commonest raw form of a term."""
        return (self._surfaces[term] or self.terms[term]).decode()

    @cached_property
    def _surfaces(self) -> Arena:
        return Arena(self.folder["surfaces"], self.folder["surface_sizes"])

    def surfaces(self, begin: int, end: int) -> list[bytes]:
        """The commonest raw forms of a range of terms, empty where the term itself is one."""
        return self._surfaces.list(begin, end)

    def raw_forms(self, term: int) -> list[tuple[bytes, int]]:
        """Raw forms of a term with how often each occurred: all of them in a spill, else the commonest for all."""
        if "raws" not in self.folder:
            return [(self._surfaces[term] or self.terms[term], int(self.cf[term]))]
        first, last = np.searchsorted(self.folder["raw_terms"].all(), [term, term + 1]).tolist()
        counts = self.folder["raw_counts"].part(first, last).tolist()
        return list(zip(self._raws.list(first, last), counts, strict=True))

    @cached_property
    def _raws(self) -> Arena:
        return Arena(self.folder["raws"], self.folder["raw_sizes"])

    # Postings.

    @cached_property
    def _block_starts(self) -> np.ndarray:
        """The first block of each term."""
        starts = starts_of(self.df >> 7)
        if starts[-1] != len(self.folder["block_lasts"]):
            raise IndexCorrupt(f"{self.folder['df'].path} does not fit the postings; rebuild the index.")
        return starts

    @cached_property
    def _word_starts(self) -> np.ndarray:
        """The first word of each block."""
        widths = self.folder["block_widths"].all().reshape(-1, 2)
        starts = starts_of(kernels.LANES * widths.sum(axis=1, dtype=np.int64))
        if starts[-1] != len(self.folder["postings"]) or len(starts) != len(self.folder["block_lasts"]) + 1:
            raise IndexCorrupt(f"{self.folder['block_widths'].path} does not fit the postings; rebuild the index.")
        return starts

    @cached_property
    def _tail_starts(self) -> np.ndarray:
        starts = starts_of(self.folder["tail_sizes"].all())
        if starts[-1] != len(self.folder["tails"]):
            raise IndexCorrupt(f"{self.folder['tail_sizes'].path} does not fit the postings; rebuild the index.")
        return starts

    def postings(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Documents and frequencies of the terms of a range, one term after the other, deleted documents included."""
        self._verify(begin, end)
        return self._decode(np.arange(begin, end))

    def gather(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for the given terms."""
        for term in terms.tolist():
            self._verify(term, term + 1)
        return self._decode(terms)

    def _verify(self, begin: int, end: int) -> None:
        """Touch what a range of terms is decoded from, so that its checksums are verified."""
        first, last = int(self._block_starts[begin]), int(self._block_starts[end])
        self.folder["postings"].part(int(self._word_starts[first]), int(self._word_starts[last]))
        self.folder["block_lasts"].part(first, last)
        self.folder["tails"].part(int(self._tail_starts[begin]), int(self._tail_starts[end]))

    def _decode(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        df = self.df[terms].astype(np.int64)
        docs, tfs = np.empty(int(df.sum()), np.int32), np.empty(int(df.sum()), np.int32)
        blocks = self._block_starts[terms]
        bad = kernels.decode_terms(
            self.folder["postings"].values,
            self.folder["block_lasts"].values,
            self.folder["block_widths"].values,
            self._word_starts[blocks],
            blocks,
            self.folder["tails"].values,
            self._tail_starts[terms],
            self._tail_starts[terms + 1],
            df,
            self.docs,
            docs,
            tfs,
        )
        if bad >= 0:
            term = self.terms[int(terms[bad])].decode(errors="replace")
            raise IndexCorrupt(
                f"The postings of {term!r} in {self.folder['postings'].path} are damaged; rebuild the index."
            )
        return docs, tfs

    def spans(self, most: int) -> list[tuple[int, int]]:
        """Ranges of terms that hold at most so many postings, or a single term."""
        return spans(self.df, most)
