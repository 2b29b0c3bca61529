"""The facts, the terms and the documents of an index: everything that can be read without a ranker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sublex.contracts.base import Analyzer, Document, Statistics
from sublex.contracts.operators import Operator, operator, within, words_in
from sublex.errors import InputError, UnknownDocument
from sublex.index.corpus import SnapshotCorpus
from sublex.index.snapshot import Postings, Snapshot, Term
from sublex.tools import arguments
from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    from sublex.index.attachment import Attachment
    from sublex.index.entries import ModelEntry, ResourceEntry
    from sublex.pipeline.documents import LiveDocuments
    from sublex.retrieval.term_table import TermTable


class Contents:
    """The facts, the terms and the documents of an index, read from its snapshot. `Index` adds everything else."""

    path: Path
    _snapshot: Snapshot

    @property
    def snapshot(self) -> Snapshot:
        """The generation that this index reads: its segments, statistics and files. It never changes."""
        return self._snapshot

    @property
    def _term_table(self) -> TermTable:
        """The terms of the snapshot, which the searchers of the index share."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.snapshot)

    def __contains__(self, docno: object) -> bool:
        return isinstance(docno, str) and docno in self.snapshot

    # Facts about the index.

    @property
    def generation(self) -> int:
        """The number of the generation; every change of the index adds 1."""
        return self.snapshot.generation

    @property
    def fingerprint(self) -> str:
        """A hash of the analyzer, the documents and the deletions.

        Indexes with equal fingerprints give equal scores.
        """
        return self.snapshot.fingerprint

    @property
    def profile(self) -> str:
        """The name of the profile that the index was built with; it sets the defaults of rankers."""
        return self.snapshot.profile

    @property
    def store(self) -> frozenset[str]:
        """The parts stored next to the postings: any of "text", "terms" and "positions"."""
        return self.snapshot.store

    @property
    def fields(self) -> tuple[str, ...]:
        """The named fields, whose frequencies and lengths the index keeps."""
        return self.snapshot.fields

    @property
    def columns(self) -> dict[str, str]:
        """The type of each column, by its name: int, float, date or text."""
        return dict(self.snapshot.columns)

    @property
    def attachment(self) -> Attachment | None:
        """The foreign index that this index mirrors: its engine, place and state. None for an index of Sublex."""
        return self.snapshot.attachment

    @property
    def statistics(self) -> Statistics:
        """The number of live documents, the number of tokens, the number of postings, and the mean document length."""
        return self.snapshot.statistics

    @property
    def fitted(self) -> Mapping[str, ModelEntry]:
        """The fitted models by name, as the manifest describes them."""
        return self.snapshot.fitted

    @property
    def resources(self) -> Mapping[str, ResourceEntry]:
        """The resources by name, as the manifest describes them."""
        return self.snapshot.resources

    @property
    def names(self) -> Mapping[str, str]:
        """The expressions to which the index gives names, by name."""
        return self.snapshot.names

    def nbytes(self) -> dict[str, int]:
        """Return the bytes on disk by kind: each component of segments, models, resources, and derived data."""
        return self.snapshot.nbytes()

    # Analysis and terms.

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer that the index was built with."""
        return self.snapshot.analyzer

    @property
    def analyzer_versions(self) -> Mapping[str, object]:
        """The versions of the libraries that produced the terms of the index, by library."""
        return self.snapshot.analyzer_versions

    def analyze(self, text: str) -> list[str]:
        """Return the terms of a text, analysed as the documents were."""
        return self.snapshot.analyze(arguments.text(text, "The text"))

    def term(self, term: str) -> Term | None:
        """Return the statistics of a term, or None when no live document contains it.

        If the text is not a term of the index, the analyzer makes a term of it, so "indexing" finds the term `index`.
        The printed form of an operator, such as `#1('stem','cell')`, stands for the operator, and "title:indexing" for
        the term within the field. Raise InputError if the analyzer makes several terms of the text.
        """
        named = self._term(term)
        if not isinstance(named, Operator):
            return self.snapshot.term(named)
        found = self._term_table.find([named])
        if found is None or found[1] is None or found[0][0] < 0:
            return None
        df, cf = (int(values[0]) for values in found[1].stats(np.array(found[0])))
        return Term(named, df, cf, words_in(named, self.snapshot.corpus.surface))

    def _term(self, text: str) -> str:
        """Return the term that a text stands for.

        The first that applies is returned: the text itself as a term, an operator, a term within a field, or the term
        that the analyzer makes of the text.
        """
        if isinstance(text, Operator) or self.snapshot.term(arguments.text(text, "The term")):
            return text
        if found := operator(text):
            return found
        field, colon, word = text.partition(":")
        if colon and field in self.snapshot.fields:
            return within(field, self._term(word))
        terms = list(dict.fromkeys(self.snapshot.analyze(text)))
        if len(terms) > 1:
            raise InputError(
                f"The analyzer makes {len(terms)} terms of {text!r}: {', '.join(terms)}; ask for one of them."
            )
        return terms[0] if terms else text

    def terms(self, pattern: str = "*") -> Iterator[Term]:
        """Yield the terms that match a pattern with `*`, `?` and `[…]`, in ascending order of their bytes.

        The analyzer treats the letters of the pattern like letters of words, so capitals find lower-case terms. The
        printed form of an operator matches the operator.
        """
        if operator(arguments.text(pattern, "The pattern")):
            found = self.term(pattern)
            return iter([found] if found else [])
        return self.snapshot.terms(pattern)

    def top_terms(self, number: int = 10) -> list[Term]:
        """Return the terms with the highest document frequencies, highest first."""
        return self.snapshot.top_terms(arguments.whole(number, "number", 0))

    @property
    def vocabulary_size(self) -> int:
        """The number of terms that live documents contain."""
        return self.snapshot.vocabulary_size

    def postings(self, term: str) -> Postings:
        """Return the live documents that contain a term, and its frequency in each; empty for an unknown term.

        A text that is not a term of the index is read as by the method `term`.
        """
        named = self._term(term)
        if not isinstance(named, Operator):
            return self.snapshot.postings(named)
        bases = self.snapshot.bases
        parts = [self._term_table.postings(named, k) for k in range(len(self.snapshot.segments))]
        docs = [docs + np.int32(base) for (docs, _), base in zip(parts, bases, strict=False)]
        empty = np.empty(0, np.int32)
        return Postings(np.concatenate([empty, *docs]), np.concatenate([empty, *(tfs for _, tfs in parts)]))

    # Documents.

    @property
    def corpus(self) -> SnapshotCorpus:
        """The documents as plugins get them to fit models: counts, vocabulary, lengths and texts."""
        return self.snapshot.corpus

    def doc(self, docno: str) -> int | None:
        """Return the number of the live document with this docno, or None.

        Another generation may number documents differently.
        """
        return self.snapshot.doc(arguments.text(docno, "The docno"))

    def docno(self, doc: int) -> str:
        """Return the docno of a document, given by its number. Raise InputError for a number that no document has."""
        try:
            return self.snapshot.docno(arguments.whole(doc, "doc", 0))
        except IndexError:
            raise InputError(f"No document has the number {doc} in {self.path}.") from None

    def document(self, docno: str) -> Document:
        """Return a stored document by its docno. Raise InputError when there is no live document with this docno."""
        return self.snapshot.stored(self._live(docno))

    def _live(self, docno: str, snapshot: Snapshot | None = None) -> int:
        """Return the number of a live document of the snapshot; raise InputError if there is none with this docno."""
        doc = (snapshot or self.snapshot).doc(arguments.text(docno, "The docno"))
        if doc is None:
            raise UnknownDocument(f"No document {docno or repr(docno)} in {self.path}.")
        return doc

    def documents(self, columns: str | Iterable[str] | None = None) -> LiveDocuments:
        """Return an iterator over all live stored documents, in the order of indexing.

        Its methods `to_pandas` and `to_parquet` return the values of `columns`, such as "year,category". By default
        they return all columns of the index.
        """
        from sublex.pipeline.documents import LiveDocuments

        return LiveDocuments(self.snapshot, columns)

    def to_ciff(self, file: str | Path, workers: int | None = None, overwrite: bool = False) -> None:
        """Write the postings, document lengths and docnos as a CIFF file for other engines.

        The file is compressed if its name ends in `.gz`. Deleted documents are left out, and the others are numbered
        anew. The file has no texts, no written forms of words and no analyzer. `overwrite` replaces a file that is
        there.
        """
        from sublex.other_engines.ciff.write_ciff import write_ciff

        write_ciff(
            self.snapshot, arguments.file_path(file, "The file"), arguments.threads(workers), overwrite=overwrite
        )


resolve_hints(__name__)
