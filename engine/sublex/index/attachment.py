"""Access to the foreign index that an attached index mirrors, and to its documents.

Opening an attached index reads nothing of the foreign index. On first use, Sublex finds the foreign index through the
user's own list of places, and opens it. If the foreign index has changed since it was attached, Sublex refuses it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from threading import RLock

import numpy as np

from sublex.contracts.base import Document
from sublex.contracts.foreign import Backend, ForeignIndex
from sublex.errors import IndexProblem, PluginError, SublexError, contract
from sublex.index.components.texts import CACHED_FRAMES, TextFrame, TextsReader
from sublex.index.entries import AttachedEntry, Manifest
from sublex.index.foreign_places import Place, place_of
from sublex.language.plugins import Registry
from sublex.readers.batch import encode
from sublex.tools.messages import Step, counted, one_line

# The number of documents whose texts are read together.
FRAME_DOCS = 64


class Attachment:
    """The foreign index that an attached index mirrors. One thread at a time reads it."""

    def __init__(self, root: Path, entry: AttachedEntry, docs: int, load_registry: Callable[[], Registry]):
        self.root, self.backend, self.state, self._docs = root, entry.backend, entry.state, docs
        self._entry, self._load_registry = entry, load_registry
        self._lock = RLock()
        self._opened: ForeignIndex | None = None

    @cached_property
    def place(self) -> Place | None:
        """The user's record of the foreign index: its path, and whether the user trusts it.

        It is None if the user has no record of this attached index.
        """
        place = place_of(self.root, self._entry.id)
        return place if place and place.backend == self.backend else None

    @cached_property
    def problem(self) -> str | None:
        """The sentence that says why the foreign index cannot be used, such as a change since it was attached; or None.

        The first access to this property looks for the problem, without opening the foreign index. If reading a
        document fails later, the message of that error becomes the problem.
        """
        return self._problem()

    def _problem(self) -> str | None:
        again = Step("attach", self.root, f"{self.backend}:PATH", refresh=True)
        if self.place is None:
            return (
                f"{self.root} was attached to a {self.backend} index elsewhere, so there are no texts and no retrievers; "
                f"attach it again: {again}"
            )
        try:
            backend = self._backend
            if missing := backend.missing():
                return missing
            if backend.runs_code and not self.place.trusted:
                return f"{self.place.path} is not trusted; if you trust whoever wrote it: {again} --trust"
            if backend.state(self.place.path) == self.state:
                return None
        except SublexError as error:
            if not os.path.lexists(self.place.path):
                trusted = " --trust" if backend.runs_code else ""
                return f"The {self.backend} index {self.place.path} is not there; if it has moved: {again}{trusted}"
            return str(error)
        return (
            f"The {self.backend} index {self.place.path} has changed since it was attached; "
            f"to read it again: {Step('attach', self.root, refresh=True)}"
        )

    @property
    def stores(self) -> frozenset[str]:
        """The parts that can be read from the foreign index now: `{"text"}` or an empty set."""
        return frozenset(self._entry.stores) if self._entry.stores and not self.problem else frozenset()

    def why_no_text(self) -> str:
        """Return the sentence that says why no document can be shown."""
        return (
            self.problem or f"The {self.backend} index behind {self.root} stores no texts, so no document can be shown."
        )

    @cached_property
    def _backend(self) -> Backend:
        registry = self._load_registry()
        with contract("back end", self.backend):
            return registry.build("backend", self.backend, dict(self.place.options) if self.place else {})

    @contextmanager
    def index(self) -> Iterator[ForeignIndex]:
        """Yield the foreign index to one thread at a time; the first call opens it.

        Raise IndexProblem if the index cannot be used.
        """
        with self._lock:
            if self._opened is None:
                # The index may have changed since `problem` was computed.
                if (problem := self._problem()) or self.place is None:
                    raise IndexProblem(problem or "")
                with contract("back end", self.backend):
                    opened = self._backend.open(self.place.path)
                if opened.docs != self._docs:
                    opened.close()
                    raise IndexProblem(
                        f"{self.root} mirrors {counted(self._docs, 'document')}, and {self.place.path} has {opened.docs:,}; "
                        f"read it again: {Step('attach', self.root, f'{self.backend}:{self.place.path}', overwrite=True)}"
                    )
                weakref.finalize(self, opened.close)
                self._opened = opened
            yield self._opened

    def document(self, doc: int, docno: str) -> Document:
        """Return the document with the number `doc` in the foreign index. Raise an error if its docno is not `docno`.

        The message of an error also becomes the `problem`.
        """
        try:
            with self.index() as index, contract("back end", self.backend):
                document = index.document(doc)
                if document.docno != docno:
                    raise PluginError(
                        f"The {self.backend} index gave the document {one_line(str(document.docno))} for {docno}; "
                        f"attach it again: {Step('attach', self.root, f'{self.backend}:PATH', overwrite=True)}"
                    )
                return document._replace(title=_clean(document.title), text=_clean(document.text))
        except SublexError as error:
            self.problem = str(error)
            raise


def _clean(text: str) -> str:
    """Return a text that UTF-8 can encode; characters that it cannot encode are replaced."""
    return text.encode("utf-8", "replace").decode()


class ForeignTexts(TextsReader):
    """Reads the stored documents of a foreign index, one by one or as frames of 64 documents.

    `searched` has the names of the fields that are searched besides title and text, as in `Document.searched`.
    """

    def __init__(self, attachment: Attachment, docno: Callable[[int], str], docs: int, searched: tuple[str, ...]):
        self._attachment, self._docno, self._docs, self._searched = attachment, docno, docs, searched
        whole, rest = divmod(docs, FRAME_DOCS)
        self.counts = np.array([FRAME_DOCS] * whole + [rest] * bool(rest), np.int64)
        self.raw = lru_cache(maxsize=CACHED_FRAMES)(self._decompress)

    def document(self, doc: int, docno: str) -> Document:
        """Return a stored document."""
        return self._attachment.document(doc, docno)._replace(searched=self._searched)

    def _decompress(self, frame: int) -> TextFrame:
        """Return the contents of the documents of one frame, without the documents' other fields."""
        sizes, contents = [], []
        for doc in range(frame * FRAME_DOCS, min((frame + 1) * FRAME_DOCS, self._docs)):
            document = self.document(doc, self._docno(doc))
            contents.append(encode(document.contents))
            sizes.append((len(document.title.encode()), len(contents[-1]), 0))
        text = np.frombuffer(b"".join(contents), np.uint8)
        return TextFrame(np.array(sizes, np.int64).reshape(-1, 3), text, np.empty(0, np.uint8))


def refuse_if_attached(root: Path, manifest: Manifest, what: str) -> None:
    """Raise IndexProblem if the index at `root` is attached, because Sublex never writes to a foreign index.

    `what` says in the message what Sublex cannot do, such as "add to it".
    """
    if attached := manifest.attached:
        again = Step("attach", root, refresh=True)
        raise IndexProblem(
            f"{root} mirrors a {attached.backend} index, so Sublex cannot {what}; change that index, then run {again}"
        )
