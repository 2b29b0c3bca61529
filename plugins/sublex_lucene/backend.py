"""The back end `lucene`: inverted indexes of Lucene 9, as Anserini and Pyserini write them."""

from __future__ import annotations

from collections.abc import Iterable

from sublex.contracts.base import Document
from sublex.contracts.fields import several_fields
from sublex.errors import InputError
from sublex_lucene import installed
from sublex_lucene.build import build
from sublex_lucene.commit import read_commit
from sublex_lucene.index import LuceneIndex


class LuceneBackend:
    """Opens Lucene indexes. `field` is the indexed field that is read, or the names of several with commas between
    them, and `docno` is the field with the ids. With None, Anserini's names are used.
    """

    runs_code = False

    def __init__(self, field: str | None, docno: str | None):
        self.field, self.docno = field, docno

    def missing(self) -> str | None:
        """Return a sentence that names the missing part and how to install it, or None if all parts are installed."""
        return installed.missing()

    def state(self, path: str) -> str:
        """Return the name and the hash of the newest file segments_N, which Python reads without Java."""
        return read_commit(path).state

    def open(self, path: str) -> LuceneIndex:
        """Open the index at `path` in a process of its own."""
        read_commit(path)
        return LuceneIndex(path, self.field, self.docno)

    def open_weights(self, path: str) -> LuceneIndex:
        """Open the index at `path`, whose frequencies are weights of terms, as Anserini makes it with -impact."""
        read_commit(path)
        if several_fields(self.field):
            raise InputError(f"The weights of a document are read from one field, and {self.field} names several.")
        return LuceneIndex(path, self.field, self.docno, weights=True)

    def build(self, path: str, documents: Iterable[Document], store: frozenset[str], memory: int) -> None:
        """Build a Lucene index at `path` by Anserini's IndexCollection."""
        build(path, documents, store, memory)
