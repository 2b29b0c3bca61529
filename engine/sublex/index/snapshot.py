"""An open index: statistics, terms, postings and documents of one generation, over all its segments.

A document's number is its place among the segments of this generation; it is not stored anywhere and not shown to users.
"""

from __future__ import annotations

import fnmatch
import heapq
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex import plugins
from sublex.base import Analyzer, Document, Statistics
from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index.components.docnos import byte_order
from sublex.index.derived import DERIVED
from sublex.index.manifest import FITTED, MANIFEST, REPRESENTATIONS, RESOURCES, SEGMENTS, Manifest, read_manifest
from sublex.index.segment import Segment
from sublex.messages import command

if TYPE_CHECKING:
    from sublex.index.build_summary import BuildSummary
    from sublex.index.corpus import Corpus


class Term(NamedTuple):
    """A term with its document and collection frequency and its commonest raw form."""

    term: str
    df: int
    cf: int
    surface: str


class Postings(NamedTuple):
    """The live documents that hold a term, ascending, and how often each does."""

    docs: np.ndarray
    tfs: np.ndarray


class Snapshot:
    """One generation of an index; `add`, `delete` and `merge` make the next one and move on to it."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._load()

    def _load(self) -> None:
        """Map the current generation; a writer may replace it meanwhile, so a missing file is looked for again."""
        for attempt in range(5):
            manifest = read_manifest(self.path)
            try:
                segments = [Segment(self.path / SEGMENTS / s["name"], s) for s in manifest["segments"]]
                break
            except IndexCorrupt:
                if attempt == 4 or read_manifest(self.path)["generation"] == manifest["generation"]:
                    raise
        self.manifest, self.segments = manifest, segments
        self.bases = np.cumsum([0, *(segment.docs for segment in segments)])
        self.generation: int = manifest["generation"]
        self.fingerprint: str = manifest["fingerprint"]
        self.profile: str = manifest["profile"]
        self.store = frozenset(manifest["store"])
        self.statistics = Statistics(**manifest["statistics"])
        self.fitted: Manifest = manifest.get(FITTED, {})
        self.resources: Manifest = manifest.get(RESOURCES, {})
        for made in type(self).__mro__:
            for name in [n for n, value in vars(made).items() if isinstance(value, cached_property)]:
                self.__dict__.pop(name, None)

    def __repr__(self) -> str:
        return f"<Snapshot {self.path}: {len(self):,} documents>"

    def __len__(self) -> int:
        return self.statistics.docs

    def __contains__(self, docno: str) -> bool:
        return self.doc(docno) is not None

    # Analysis.

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer the index was built with."""
        settings = self.manifest["analyzer"]["settings"]
        return plugins.load().build("analyzer", settings["name"], settings["params"])

    @property
    def analyzer_versions(self) -> dict[str, str]:
        """The libraries' versions that its terms were made with."""
        return self.manifest["analyzer"]["versions"]

    def analyze(self, text: str) -> list[str]:
        """The terms of a text, as the documents' were made."""
        from sublex.analysis.tokens import analyze

        return analyze(self.analyzer, text)

    # Terms.

    def term(self, term: str) -> Term | None:
        """A term's statistics; None when no live document holds it."""
        return self._term(
            term, [(segment, found) for segment in self.segments if (found := segment.find(term)) is not None]
        )

    def _term(self, term: str, places: list[tuple[Segment, int]]) -> Term | None:
        df = sum(int(segment.live_df[at]) for segment, at in places)
        cf = sum(int(segment.live_cf[at]) for segment, at in places)
        if not df:
            return None
        segment, at = max(places, key=lambda place: int(place[0].live_cf[place[1]]))
        return Term(term, df, cf, segment.surface(at))

    def terms(self, pattern: str = "*") -> Iterator[Term]:
        """The terms that fit a pattern with `*`, `?` and `[…]`, ascending."""
        stem = pattern[: min((i for i, c in enumerate(pattern) if c in "*?["), default=len(pattern))]
        streams = [
            _terms_from(segment, k, stem.encode("utf-8", "surrogatepass")) for k, segment in enumerate(self.segments)
        ]
        for name, group in groupby(heapq.merge(*streams), itemgetter(0)):
            text = name.decode()
            if fnmatch.fnmatchcase(text, pattern):
                found = self._term(text, [(self.segments[k], at) for _, k, at in group])
                if found:
                    yield found

    @property
    def vocabulary_size(self) -> int:
        """How many terms live documents hold."""
        if len(self.segments) == 1:
            return int(np.count_nonzero(self.segments[0].live_df))
        return sum(1 for _ in self.terms())

    def top_terms(self, number: int = 10) -> list[Term]:
        """The terms in the most documents."""
        if len(self.segments) == 1:
            segment = self.segments[0]
            best = np.argsort(-segment.live_df.astype(np.int64), kind="stable")[:number]
            found = (self._term(segment.terms[int(at)].decode(), [(segment, int(at))]) for at in best)
            return [term for term in found if term]
        return heapq.nsmallest(number, self.terms(), key=lambda term: (-term.df, term.term))

    def postings(self, term: str) -> Postings:
        """The live documents that hold a term."""
        parts = []
        for segment, base in zip(self.segments, self.bases, strict=False):
            at = segment.find(term)
            if at is not None:
                docs, tfs = segment.postings(at, at + 1)
                live = ~segment.dead[docs]
                parts.append((docs[live] + np.int32(base), tfs[live]))
        if not parts:
            return Postings(np.empty(0, np.int32), np.empty(0, np.int32))
        return Postings(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    # Documents.

    def doc(self, docno: str) -> int | None:
        """The number of a live document."""
        for segment, base in zip(self.segments, self.bases.tolist(), strict=False):
            doc = segment.find_docno(docno)
            if doc is not None:
                return base + doc
        return None

    def place(self, doc: int) -> tuple[Segment, int]:
        """The segment of a document, and its number there."""
        if not 0 <= doc < self.bases[-1]:
            raise IndexError(f"document {doc} of {self.bases[-1]}")
        k = int(np.searchsorted(self.bases, doc, side="right")) - 1
        return self.segments[k], doc - int(self.bases[k])

    def docno(self, doc: int) -> str:
        """The docno of a document."""
        segment, local = self.place(doc)
        return segment.docno(local)

    @cached_property
    def docs_by_docno(self) -> np.ndarray:
        """All documents, deleted ones too, in ascending order of their docnos' bytes."""
        if len(self.segments) == 1:
            return self.segments[0].docno_order.astype(np.int32)
        arenas, sizes = zip(*(segment.docnos.arrays() for segment in self.segments), strict=True)
        return byte_order(np.concatenate(arenas), np.concatenate(sizes)).astype(np.int32)

    @cached_property
    def docno_ranks(self) -> np.ndarray:
        """The place of each document in that order, by which ties are broken."""
        ranks = np.empty(len(self.docs_by_docno), np.int32)
        ranks[self.docs_by_docno] = np.arange(len(ranks), dtype=np.int32)
        return ranks

    def document(self, docno: str) -> Document:
        """A stored document."""
        doc = self.doc(docno)
        if doc is None:
            raise KeyError(docno)
        return self.stored(doc)

    def stored(self, doc: int) -> Document:
        """A stored document by its number."""
        self.need("text", "shows documents")
        segment, local = self.place(doc)
        found = segment.document(local)
        assert found is not None
        return found

    def documents(self) -> Iterator[Document]:
        """All live stored documents, in order."""
        self.need("text", "shows documents")
        for segment in self.segments:
            for doc in np.flatnonzero(~segment.dead).tolist():
                yield segment.document(doc)  # type: ignore[misc]

    def need(self, part: str, purpose: str) -> None:
        """Say how to get a part that this index was built without."""
        if part not in self.store:
            store = ",".join(sorted({*self.store, part}))
            raise IndexProblem(
                f"{self.path} was built without stored {part}, which {purpose}; "
                f"rebuild it: {command('index', self.path)} SOURCE… --overwrite --store {store}"
            )

    @cached_property
    def corpus(self) -> Corpus:
        """What a plugin sees of the index."""
        from sublex.index.corpus import Corpus

        return Corpus(self)

    def nbytes(self) -> dict[str, int]:
        """Bytes on disk of each kind of component, and of derived data."""
        sizes: dict[str, int] = {"manifest": (self.path / MANIFEST).stat().st_size}
        for segment in self.segments:
            for name, size in segment.nbytes().items():
                sizes[name] = sizes.get(name, 0) + size
        for name in (REPRESENTATIONS, RESOURCES, DERIVED):
            extra = sum(file.stat().st_size for file in (self.path / name).rglob("*") if file.is_file())
            sizes |= {name: extra} if extra else {}
        return sizes

    # The next generation.

    def add(self, documents: Any, duplicates: str = "error", **options: Any) -> BuildSummary:
        """Add documents (or collection files); see `sublex.build` for the options."""
        from sublex.index.indexing import add_documents

        outcome = add_documents(self.path, documents, duplicates=duplicates, **options)
        self._load()
        return outcome

    def delete(self, docnos: Sequence[str] | Iterable[str]) -> None:
        """Delete documents by docno, all or none."""
        from sublex.index.writer import delete

        delete(self.path, [docnos] if isinstance(docnos, str) else list(docnos))
        self._load()

    def merge(self, workers: int | None = None, **options: Any) -> None:
        """Make all segments one, without what was deleted."""
        from sublex.index.writer import merge_all

        merge_all(self.path, workers or os.cpu_count() or 1, **options)
        self._load()


def _terms_from(segment: Segment, k: int, stem: bytes) -> Iterator[tuple[bytes, int, int]]:
    at = segment.terms.bisect(stem)
    while at < len(segment.terms):
        for name in segment.terms.list(at, min(at + 4096, len(segment.terms))):
            if not name.startswith(stem):
                return
            yield name, k, at
            at += 1
