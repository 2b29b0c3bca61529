"""A snapshot: one generation of an index, read only.

A snapshot maps the segments of one generation when it is opened, and reads statistics, terms, postings and documents over all
of them. It never changes: a writer of the index makes the next generation, which another snapshot reads. The number of a
document is its place among the documents of all segments. It is valid for one snapshot only, and is not stored.
"""

from __future__ import annotations

import fnmatch
import heapq
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.contracts.base import Analyzer, Document, Query, Statistics
from sublex.contracts.columns import Column, no_column
from sublex.contracts.operators import Operator, sought_in, words_in
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index.components.columns import joined
from sublex.index.components.docnos import byte_order
from sublex.index.corpus import SnapshotCorpus
from sublex.index.derived import DERIVED
from sublex.index.directory import Directory
from sublex.index.entries import Manifest
from sublex.index.manifest import MANIFEST, REPRESENTATIONS, RESOURCES, analyzer_of, identity_of, read_manifest
from sublex.index.segment import Segment, open_segment
from sublex.index.shards import expect_shards
from sublex.language import plugins
from sublex.language.functions import StoredDocument
from sublex.tools.copies import Deferred, deferred
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import Step
from sublex.tools.strings import Strings

if TYPE_CHECKING:
    from sublex.index.attachment import Attachment

# If a writer replaces the generation while its files are opened, opening starts again, up to this number of attempts.
ATTEMPTS = 5
# The number of unpickled snapshots that a process keeps. The snapshots that were used last are kept.
KEPT = 8
# The number of terms that are read from a lexicon at a time.
TERMS = 4096
# To look up one docno takes as long as to read this number of docnos one after the other.
LOOKED_UP = 200
# The largest number of characters of a pattern of terms. The time to read a pattern grows with the square of its length.
LONGEST_PATTERN = 1000


class Term(NamedTuple):
    """A term with its document frequency, its collection frequency, and the raw form that documents use most."""

    term: str
    df: int
    cf: int
    surface: str


class Postings(NamedTuple):
    """The live documents that contain a term, ascending by number, and the term's frequency in each."""

    docs: np.ndarray
    tfs: np.ndarray


class Snapshot(Deferred):
    """One generation of an index, opened for reading.

    `load_registry` is called when the first plugin is needed; by default it loads the installed plugins. A pickled snapshot
    has only the place of the index and the identity of the generation.
    """

    pickled = ("absolute_path", "generation", "identity", "statistics")
    # The processes that search the shards of a cluster (`sublex.retrieval.shard_pool`); None if this process does so alone.
    launched: Any = None

    def __init__(self, path: str | os.PathLike[str], load_registry: Callable[[], plugins.Registry] | None = None):
        self.path = Path(path)
        self.absolute_path = self.path.absolute()
        self.load_registry = load_registry
        manifest, self.segments = _open_generation(self.path)
        self.manifest = manifest
        self.bases = np.cumsum([0, *(segment.docs for segment in self.segments)])
        self.generation, self.fingerprint = manifest.generation, manifest.fingerprint
        self.profile, self.statistics = manifest.profile, manifest.statistics
        self.fitted, self.resources, self.names = manifest.fitted, manifest.resources, manifest.names
        self.attachment = self._attachment()

    @property
    def fields(self) -> tuple[str, ...]:
        """The named fields. The index keeps the frequencies of terms in these fields, and the lengths of these fields."""
        return self.manifest.fields

    def __repr__(self) -> str:
        return f"<generation {self.generation} of {self.path}: {len(self):,} documents>"

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, tuple(getattr(self, name) for name in self.pickled)

    @cached_property
    def identity(self) -> str:
        """A hash of the manifest."""
        return identity_of(self.manifest)

    def __len__(self) -> int:
        return self.statistics.docs

    def __contains__(self, docno: str) -> bool:
        return self.doc(docno) is not None

    @cached_property
    def registry(self) -> plugins.Registry:
        """The plugins that resolve names for this index."""
        return self.load_registry() if self.load_registry else plugins.load()

    def _attachment(self) -> Attachment | None:
        """Return the foreign index that this index mirrors, unopened; None if the index is not attached."""
        if not self.manifest.attached:
            return None
        from sublex.index.attachment import Attachment

        (segment,) = self.segments
        attachment = Attachment(self.path, self.manifest.attached, segment.docs, lambda: self.registry)
        segment.attachment = attachment
        return attachment

    @cached_property
    def store(self) -> frozenset[str]:
        """The parts that can be read besides the postings: any of "text", "terms" and "positions".

        An attached index has "text" if the foreign index stores texts and can be read; the first access checks this.
        """
        return frozenset(self.manifest.store) | (self.attachment.stores if self.attachment else frozenset())

    # Analysis.

    @cached_property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was built with, made again from its stored settings."""
        return analyzer_of(self.manifest, self.registry)

    @property
    def analyzer_expression(self) -> str:
        """The expression of the analyzer that the index was built with, such as `english(stop=none)`."""
        settings = self.manifest.analyzer.settings
        return self.registry.print_of("analyzer", self.analyzer, settings.name, settings.params)

    @property
    def analyzer_versions(self) -> Mapping[str, object]:
        """The versions of the libraries that produced the terms of the index, by library."""
        return self.manifest.analyzer.versions

    def analyze(self, text: str) -> list[str]:
        """Return the terms of a text, analysed as the documents were."""
        from sublex.analysis.tokens import analyze

        return analyze(self.analyzer, text)

    def analyze_all(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the terms of each text, analysed as the documents were."""
        from sublex.analysis.tokens import analyze_all

        return analyze_all(self.analyzer, texts)

    # Terms.

    def term(self, term: str) -> Term | None:
        """Return the statistics of a term, or None when no live document contains it."""
        found = ((segment, segment.find(term)) for segment in self.segments)
        return self._term(term, [(segment, ordinal) for segment, ordinal in found if ordinal is not None])

    def absent(self, terms: Iterable[str]) -> list[str]:
        """Return the distinct terms among `terms` that no live document contains, in their order.

        `terms` may contain words within fields, such as `title:cell`. If no document contains the word `cell` anywhere, only
        `cell` is returned, and not `title:cell`.
        """
        asked = list(dict.fromkeys(terms))
        left = self._absent_words([term for term in asked if not isinstance(term, Operator)])
        words = frozenset(left)
        operators = [term for term in asked if isinstance(term, Operator) and term.parts[0] not in words]
        return [*left, *self._absent_in_fields(operators)]

    def _absent_words(self, left: list[str]) -> list[str]:
        for segment in self.segments:
            if not left:
                break
            ordinals = segment.find_all(left)
            left = [term for term, n in zip(left, ordinals, strict=True) if n < 0 or not segment.live_df[n]]
        return left

    def _absent_in_fields(self, operators: list[Operator]) -> list[Operator]:
        """Return those operators that no live document contains. Each is a word within a field, such as `title:cell`."""
        left = [operator for operator in operators if operator.field in self.fields]
        for segment in self.segments:
            kept = []
            for operator in left:
                ordinals = np.array(segment.find_all([operator.parts[0]]), np.int64)
                ordinals = ordinals[ordinals >= 0]
                docs, tfs = segment.gather(ordinals)
                if not ((segment.field_tfs(operator.field, ordinals, tfs) > 0) & ~segment.dead[docs]).any():
                    kept.append(operator)
            left = kept
        return left

    def missing(self, query: Query) -> dict[str, str]:
        """Return the terms of a query that no live document contains, each with its word as the query writes it.

        Stop words are no terms, so the result has none. It may have terms within operators, and words within a field.
        """
        from sublex.analysis.tokens import words_by_term

        absent = self.absent(sought_in(query.weights()))
        words = words_by_term(self.analyzer, query.text) if absent else {}
        return {term: words_in(term, lambda word: words.get(word, word)) for term in absent}

    def word(self, number: int) -> str:
        """Return the term with this number: its ordinal if there is one segment, otherwise its place in the corpus's vocabulary."""
        return self.segments[0].terms.text(number) if len(self.segments) == 1 else self.corpus.vocabulary[number]

    def _term(self, term: str, places: list[tuple[Segment, int]]) -> Term | None:
        """Add up the statistics of a term over its ordinals in the segments."""
        df = sum(int(segment.live_df[ordinal]) for segment, ordinal in places)
        cf = sum(int(segment.live_cf[ordinal]) for segment, ordinal in places)
        if not df:
            return None
        segment, ordinal = max(places, key=lambda place: int(place[0].live_cf[place[1]]))
        return Term(term, df, cf, segment.surface(ordinal))

    def terms(self, pattern: str = "*") -> Iterator[Term]:
        """Yield the terms that match a pattern with `*`, `?` and `[…]`, in ascending order of their bytes.

        The analyzer normalises the letters of the pattern like the letters of words, so capitals find lower-case terms.
        """
        if len(pattern) > LONGEST_PATTERN:
            raise InputError(f"The pattern has {len(pattern):,} characters; write at most {LONGEST_PATTERN:,}.")
        letters = getattr(self.analyzer, "letters", None)
        pattern = letters(pattern) if letters else pattern
        prefix = pattern[: min((i for i, c in enumerate(pattern) if c in "*?["), default=len(pattern))]
        encoded = prefix.encode("utf-8", "surrogatepass")
        streams = [_terms_from(segment, k, encoded) for k, segment in enumerate(self.segments)]
        for name, group in groupby(heapq.merge(*streams), itemgetter(0)):
            text = name.decode(errors="replace")
            if fnmatch.fnmatchcase(text, pattern):
                term = self._term(text, [(self.segments[k], ordinal) for _, k, ordinal in group])
                if term:
                    yield term

    @property
    def vocabulary_size(self) -> int:
        """The number of terms that live documents contain."""
        if len(self.segments) == 1:
            return int(np.count_nonzero(self.segments[0].live_df))
        return sum(1 for _ in self.terms())

    def top_terms(self, number: int = 10) -> list[Term]:
        """Return the terms with the highest document frequencies, highest first; terms of equal frequency by their bytes."""
        if len(self.segments) == 1:
            segment = self.segments[0]
            best = np.argsort(-segment.live_df.astype(np.int64), kind="stable")[:number].tolist()
            terms = (self._term(segment.terms.text(ordinal), [(segment, ordinal)]) for ordinal in best)
            return [term for term in terms if term]
        return heapq.nsmallest(number, self.terms(), key=lambda term: (-term.df, term.term))

    def postings(self, term: str) -> Postings:
        """Return the live documents that contain a term, and its frequency in each; empty for an unknown term."""
        docs, tfs = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for segment, base in zip(self.segments, self.bases, strict=False):
            ordinal = segment.find(term)
            if ordinal is not None:
                segment_docs, segment_tfs = segment.postings(ordinal, ordinal + 1)
                live = ~segment.dead[segment_docs]
                docs.append(segment_docs[live] + np.int32(base))
                tfs.append(segment_tfs[live])
        return Postings(np.concatenate(docs), np.concatenate(tfs))

    # Documents.

    def doc(self, docno: str) -> int | None:
        """Return the number of the live document with this docno, or None."""
        for segment, base in zip(self.segments, self.bases.tolist(), strict=False):
            doc = segment.find_docno(docno)
            if doc is not None:
                return base + doc
        return None

    def docs_of(self, docnos: Collection[str]) -> np.ndarray:
        """Return the numbers of the live documents with these docnos, ascending. Docnos without a document are left out."""
        if len(docnos) * LOOKED_UP < len(self):
            found = set(map(self.doc, docnos))
        else:
            live = self.corpus.docs
            known = dict(zip(self.all_docnos.take(live).tobytes(), live.tolist(), strict=True))
            found = {known.get(docno.encode("utf-8", "surrogatepass")) for docno in docnos}
        return np.array(sorted(doc for doc in found if doc is not None), np.int32)

    def place(self, doc: int) -> tuple[Segment, int]:
        """Return the segment that holds a document, and the document's number within that segment."""
        if not 0 <= doc < self.bases[-1]:
            raise IndexError(f"document {doc} of {self.bases[-1]}")
        k = int(np.searchsorted(self.bases, doc, side="right")) - 1
        return self.segments[k], doc - int(self.bases[k])

    def places(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return for each document the place of its segment among the segments, and its number within that segment."""
        if len(docs) and not (docs.min() >= 0 and docs.max() < self.bases[-1]):
            raise IndexError(f"documents {docs.min()} to {docs.max()} of {self.bases[-1]}")
        segments = np.searchsorted(self.bases, docs, side="right") - 1
        return segments, docs - self.bases[segments]

    def docno(self, doc: int) -> str:
        """Return the docno of a document, given by its number."""
        segment, local = self.place(doc)
        return segment.docno(local)

    def docnos(self, docs: np.ndarray) -> list[str]:
        """Return the docnos of documents, given by their numbers."""
        if len(self.segments) == 1:
            return self.segments[0].docnos.texts_of(docs)
        segments, own = self.places(docs)
        found = np.empty(len(docs), object)
        for number in np.unique(segments).tolist():
            found[segments == number] = self.segments[number].docnos.texts_of(own[segments == number])
        return found.tolist()

    @cached_property
    def all_docnos(self) -> Strings:
        """The docnos of all documents by number, deleted documents included."""
        return self._read_docnos()

    def _read_docnos(self) -> Strings:
        arenas, sizes = zip(*(segment.docnos.arrays() for segment in self.segments), strict=True)
        return Strings.joined(np.concatenate(arenas), np.concatenate(sizes))

    @cached_property
    def docs_by_docno(self) -> np.ndarray:
        """The numbers of all documents, deleted ones included, in ascending order of their docnos' bytes."""
        if len(self.segments) == 1:
            return self.segments[0].docno_order.astype(np.int32)
        docnos = self._read_docnos()
        return byte_order(docnos.arena, docnos.sizes).astype(np.int32)

    @cached_property
    def docno_ranks(self) -> np.ndarray:
        """The rank of each document's docno in byte order. Documents with equal scores are ordered by this rank."""
        ranks = np.zeros(len(self.docs_by_docno), np.int32)
        ranks[self.docs_by_docno] = np.arange(len(ranks), dtype=np.int32)
        return ranks

    def document(self, docno: str) -> Document:
        """Return the stored document with this docno. Raise KeyError when no live document has it."""
        doc = self.doc(docno)
        if doc is None:
            raise KeyError(docno)
        return self.stored(doc)

    def stored(self, doc: int, purpose: str = "shows documents") -> Document:
        """Return the stored document with the number `doc`. Raise IndexProblem when the index stores no text.

        `purpose` says in the message what needs the text.
        """
        self.need("text", purpose)
        segment, local = self.place(doc)
        document = segment.document(local)
        assert document is not None
        return document

    def on_demand(self, docs: np.ndarray, purpose: str) -> list[StoredDocument]:
        """Return the documents with these numbers. A document is read when its text or its fields are first used.

        If the index has no texts, the message names `purpose`, which says what needs them.
        """
        has_text = "text" in self.store
        return [StoredDocument(self.docno(doc), partial(self.stored, doc, purpose), has_text) for doc in docs.tolist()]

    def shown(self, doc: int) -> Document | None:
        """Return the stored document with the number `doc`, or None if its text cannot be read.

        The text cannot be read if no texts are stored, or if they are in a foreign index that Sublex cannot open.
        """
        try:
            return self.stored(doc) if "text" in self.store else None
        except SublexError:
            if self.attachment and self.attachment.problem:
                return None
            raise

    def documents(self) -> Iterator[Document]:
        """Yield all live stored documents, in the order in which they were indexed."""
        self.need("text", "shows documents")
        for segment in self.segments:
            for doc in np.flatnonzero(~segment.dead).tolist():
                yield segment.document(doc)  # type: ignore[misc]

    # Columns.

    @property
    def columns(self) -> Mapping[str, str]:
        """The types of the columns by their names: int, float, date or text."""
        return self.manifest.columns

    def need_column(self, name: str) -> None:
        """Raise InputError, which lists the columns of the index, if the index has no column of this name."""
        if name in self.columns:
            return
        if self.attachment:
            raise InputError(
                f"{self.path} has no column {name}, because it is attached: only indexes of Sublex have columns."
            )
        raise InputError(no_column(name, self.columns))

    def column(self, name: str) -> Column:
        """Return a column of all documents by number, deleted ones included. Raise InputError for an unknown name."""
        self.need_column(name)
        if name not in self._columns:
            for segment in self.segments:
                segment.expect_columns(self.columns)
            self._columns[name] = joined([segment.column(name) for segment in self.segments])
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, Column]:
        """The columns that were read."""
        return {}

    @property
    def gapless(self) -> bool:
        """Whether words without a term, such as stop words, take no position. This is true for some attached indexes."""
        return self.manifest.attached is not None and self.manifest.attached.gapless

    def need(self, part: str, purpose: str) -> None:
        """Raise IndexProblem if the index does not store `part`.

        The message has the command that rebuilds the index. `purpose` says in the message what needs the part.
        """
        if part not in self.store:
            if self.attachment and part == "text":
                raise IndexProblem(self.attachment.why_no_text())
            if self.attachment and part == "positions":
                raise IndexProblem(
                    f"{self.path} was attached without positions, which {purpose}; "
                    f"read them too: {Step('attach', self.path, refresh=True, positions=True)}"
                )
            store = f"--store {','.join(sorted({*self.store, part}))}"
            raise IndexProblem(
                f"{self.path} was built without stored {part}, which {purpose}; "
                f"rebuild it: {self._rebuilding(store, *_option('fields', self.fields))}"
            )

    def _rebuilding(self, *options: str) -> str:
        """Return the command that rebuilds the index with options and the columns that it has."""
        columns = [f"{column}:{kind}" for column, kind in sorted(self.columns.items())]
        return " ".join(
            [str(Step("index", self.path)), "SOURCE…", "--overwrite", *options, *_option("columns", columns)]
        )

    def need_field(self, name: str) -> None:
        """Raise InputError if the index has no field `name`.

        The message lists the fields of the index, or says how to build an index with fields.
        """
        if name in self.fields:
            return
        if self.fields:
            raise InputError(f"{self.path} has no field {name}; its fields are {', '.join(self.fields)}.")
        if self.attachment:
            raise InputError(
                f"{self.path} is attached with one field, so it has no field {name} of its own; "
                f"attach it with several: {Step('attach', self.path, refresh=True, field=f'{name},OTHER')}"
            )
        store = [f"--store {','.join(sorted(self.store))}"] if self.store != {"text", "terms"} else []
        raise InputError(
            f"{self.path} was built without fields, so it has no field {name}; "
            f"rebuild it: {self._rebuilding(*store, '--fields title,text')}"
        )

    def field_lengths(self, field: str) -> np.ndarray:
        """Return the number of terms in a named field of each document, by the document's number; deleted documents are included."""
        return np.concatenate([np.empty(0, np.int64), *(segment.field_lengths(field) for segment in self.segments)])

    def field_tokens(self, field: str) -> int:
        """Return the number of terms in a named field of all live documents, with repetitions."""
        return sum(int(segment.field_lengths(field)[~segment.dead].sum(dtype=np.int64)) for segment in self.segments)

    @cached_property
    def corpus(self) -> SnapshotCorpus:
        """The view of the documents that plugins fit their models to."""
        return SnapshotCorpus(self)

    def nbytes(self) -> dict[str, int]:
        """Return the bytes on disk of each kind of component, of models and resources, and of derived data."""
        index = Directory(self.path)
        sizes: dict[str, int] = {"manifest": len(index.read(MANIFEST))}
        for segment in self.segments:
            for name, size in segment.nbytes().items():
                sizes[name] = sizes.get(name, 0) + size
        for name in (REPRESENTATIONS, RESOURCES, DERIVED):
            size = (index / name).nbytes()
            sizes |= {name: size} if size else {}
        return sizes


@lru_cache(maxsize=KEPT)
def unpickled(path: Path, generation: int, identity: str, statistics: Statistics) -> Snapshot:
    """Return the snapshot of a generation, which is opened when it is first used.

    All objects that a process unpickles share this snapshot.
    """
    known = dict(zip(Snapshot.pickled, (path, generation, identity, statistics), strict=True))
    known |= {"path": path, "load_registry": plugins.shared}
    return deferred(Snapshot, partial(_reopened, path, generation, identity), known)


def _reopened(path: Path, generation: int, identity: str) -> Snapshot:
    """Return the snapshot of a generation that was pickled. Raise IndexProblem if the generation is gone."""
    found = Snapshot(path, plugins.shared)
    if found.generation != generation:
        raise IndexProblem(
            f"Generation {generation} of {path}, which was pickled, is gone, and the index is at generation {found.generation}; "
            "open the index again, and make the object anew."
        )
    if found.identity != identity:
        raise IndexProblem(
            f"The index {path}, which was pickled, is gone, and another one is in its place; "
            "open the index again, and make the object anew."
        )
    return found


def _open_generation(path: Path, attempts: int = ATTEMPTS) -> tuple[Manifest, list[Segment]]:
    """Read the manifest and open its segments. Start again when a writer replaces the generation in the meantime."""
    manifest = read_manifest(path)
    try:
        expect_shards(path, manifest)
        return manifest, [open_segment(path, entry, manifest.fields) for entry in manifest.segments]
    except IndexCorrupt:
        if attempts == 1 or read_manifest(path).generation == manifest.generation:
            raise
    return _open_generation(path, attempts - 1)


def _terms_from(segment: Segment, k: int, prefix: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield (term, `k`, ordinal) for the terms of a segment that begin with `prefix`; the terms ascend."""
    ordinal = segment.terms.bisect(prefix)
    while ordinal < len(segment.terms):
        for name in segment.terms.list(ordinal, min(ordinal + TERMS, len(segment.terms))):
            if not name.startswith(prefix):
                return
            yield name, k, ordinal
            ordinal += 1


resolve_hints(__name__)


def _option(name: str, values: Sequence[str]) -> list[str]:
    """Return an option of the command line with values between commas; none without values."""
    return [f"--{name} {','.join(values)}"] if values else []
