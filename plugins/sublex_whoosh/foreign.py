"""A Whoosh index, opened for reading: the postings for the mirror in Sublex, stored documents, and searchers for the
retrievers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from whoosh import index as whoosh_index
from whoosh.analysis import StopFilter
from whoosh.fields import ID, TEXT
from whoosh.searching import Searcher

from sublex.contracts.base import Document
from sublex.contracts.fields import several_fields
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.errors import InputError, SublexError
from sublex.tools.messages import in_short, near_names
from sublex_whoosh.analyzer import expression_of
from sublex_whoosh.postings import JoinedLists, posting_lists
from sublex_whoosh.toc import last_toc


class _Searcher(Searcher):
    """Whoosh's searcher with the method `weight`, which Whoosh's DFree calls and Whoosh 2.7.5 lacks."""

    def weight(self, field: str, text: Any) -> float:
        """Return the sum of a term's weights over all documents."""
        return float(self.reader().frequency(field, text))


# The number of documents on which an analyzer is compared with Whoosh's analyzer.
SAMPLE = 50
# The comparison ends after this many characters of texts, even if fewer documents were read.
CHARACTERS = 5_000_000
# The number of documents whose docnos are read together.
BATCH = 4096
# The name of a stored field that is shown as the title.
TITLE = "title"
# The name of the field that is shown as the text if several are read.
TEXT_FIELD = "text"


class WhooshIndex:
    """A commit of a Whoosh index. One or several fields of text are read. Deleted documents get no number.

    If several fields are read, `fields` has their names. Whoosh's scorers search the first, `self.field`.
    """

    has_positions = False

    def __init__(self, path: str, field: str | None, docno: str | None):
        self.name = self.path = path
        toc = last_toc(path)
        toc.refuse_writer()
        with self._explaining():
            opened = whoosh_index.open_dir(path, indexname=toc.name, readonly=True)
            self.reader = opened.reader()
            self.schema: Mapping[str, Any] = self.reader.schema
        try:
            self._choose(field, docno)
        except BaseException:
            self.reader.close()
            raise
        self._searchers: dict[str, Searcher] = {}

    def _choose(self, field: str | None, docno: str | None) -> None:
        """Choose the fields, and number the documents that are not deleted."""
        self.fields = several_fields(field)
        self.read = [_text_field(self.path, self.schema, name) for name in self.fields or (field,)]
        self.field = self.read[0]
        self.docno_field = _docno_field(self.path, self.schema, docno)
        with self._explaining():
            dead = np.zeros(self.reader.doc_count_all(), np.bool_)
            for leaf, base in (found for found in self.leaves if found[0].has_deletions()):
                dead[[base + doc for doc in leaf._perdoc.deleted_docs()]] = True
            self.live = np.flatnonzero(~dead)
            self.numbers = np.where(dead, -1, np.cumsum(~dead) - 1)
            self.docs = len(self.live)
            self.lengths = np.zeros(self.docs, np.int64)
            self.stores = frozenset({"text"} if any(self.schema[name].stored for name in self.read) else ())
            self.analyzer = expression_of(self.schema[self.field].analyzer)
            self.notes = self._notes(int(dead.sum()))

    @cached_property
    def leaves(self) -> list[tuple[Any, int]]:
        """The readers of the segments, each with the number of documents in the segments before it."""
        return list(self.reader.leaf_readers())

    def _boost(self, field: str) -> float:
        """Return the factor by which Whoosh multiplied the frequencies of a field."""
        return float(self.schema[field].format.field_boost)

    @property
    def searched(self) -> str:
        """The names of the fields that Whoosh can search, for messages."""
        return _names(self.schema)

    def _notes(self, deleted: int) -> list[str]:
        others = [
            name for name, kind in self.schema.items() if kind.indexed and name not in (*self.read, self.docno_field)
        ]
        fields = f"fields {', '.join(self.read)} as one" if self.fields else f"field {self.field}"
        notes = [f"Ids come from the field {self.docno_field}, postings from the {fields}."]
        if self.fields:
            notes.append(f"Whoosh's own scorers search the field {self.field} alone.")
        for name in self.read[1:]:
            if self.schema[name].analyzer != self.schema[self.field].analyzer:
                notes.append(
                    f"The field {name} is analysed otherwise than the field {self.field}, so its terms may differ from "
                    "those of queries."
                )
            if self._is_gapless(name) != self.gapless:
                notes.append(f"The fields {self.field} and {name} give stop words places by different rules.")
        if others:
            notes.append(f"Other fields are not searched by Sublex's rankers: {', '.join(others)}.")
        if deleted:
            notes.append(
                f"Deleted documents are left out: {deleted:,}. Whoosh's own scorers still count them in their statistics."
            )
        for name in self.read:
            if self._boost(name) != 1:
                notes.append(f"The boost {self._boost(name):g} of the field {name} is left out.")
            if not self.schema[name].stored:
                shown = "it is not shown" if self.stores else "no texts can be shown"
                notes.append(f"The field {name} is not stored, so {shown}.")
        return notes

    # Data for the mirror.

    def postings(self) -> Iterator[PostingsBatch]:
        """Yield the posting lists of the field, in ascending order of the terms."""
        for batch in self.field_postings(self.field):
            self.lengths += np.bincount(batch.docs, batch.tfs, self.docs).astype(np.int64)
            yield batch

    def field_postings(self, field: str) -> Iterator[PostingsBatch]:
        """Yield the posting lists of one of the fields, in ascending order of the terms."""
        with self._explaining():
            for lists in posting_lists(self.leaves, field, self.schema[field].format, self.has_positions):
                yield self._live(lists, field)

    def with_positions(self) -> WhooshIndex:
        """Return this index, from now on with positions in `postings`. Raise InputError if a field has none."""
        without = [name for name in self.read if not self.schema[name].format.supports("positions")]
        if without:
            raise InputError(
                f"The field {without[0]} of {self.path} holds no positions (it was made with phrase=False); "
                "leave --positions out (for an index that had positions, give --overwrite instead of "
                "--refresh), or build the Whoosh index again."
            )
        self.has_positions = True
        return self

    @property
    def gapless(self) -> bool:
        """Whether dropped words leave no gap in the positions of the first field. This is Whoosh's default."""
        return self._is_gapless(self.field)

    def _is_gapless(self, field: str) -> bool:
        filters = getattr(self.schema[field].analyzer, "items", [])
        return any(isinstance(item, StopFilter) and item.renumber for item in filters)

    def _live(self, lists: JoinedLists, field: str) -> PostingsBatch:
        """Return the posting lists of a field without deleted documents. The documents have their numbers in the
        mirror.
        """
        docs, positions = self.numbers[lists.docs], None
        terms = np.repeat(np.arange(len(lists.terms)), lists.df)[docs >= 0]
        df = np.bincount(terms, minlength=len(lists.terms))
        with np.errstate(all="ignore"):
            # If a boost or weight is not a number, the frequency is not a number, and the engine rejects it.
            tfs = np.maximum(np.rint(lists.weights / self._boost(field)), 1)[docs >= 0].astype(np.int32)
        if lists.counts is not None and lists.positions is not None:
            if (lists.counts[docs >= 0] != tfs).any():
                raise InputError(
                    f"The field {field} of {self.path} has words with a weight of their own, so its positions do not "
                    "fit its frequencies; leave --positions out (for an index that had positions, give --overwrite instead of "
                    "--refresh)."
                )
            positions = lists.positions[np.repeat(docs >= 0, lists.counts)]
        kept = [term for term, count in zip(lists.terms, df.tolist(), strict=True) if count]
        return PostingsBatch(kept, df[df > 0], docs[docs >= 0].astype(np.int32), tfs, positions)

    def documents(self) -> Iterator[DocumentsBatch]:
        """Yield docnos and lengths of documents. A length is the sum of the document's frequencies in `postings`."""
        for begin in range(0, self.docs, BATCH):
            places = range(begin, min(begin + BATCH, self.docs))
            yield DocumentsBatch([self._docno(doc) for doc in places], self.lengths[begin : places.stop])

    def _docno(self, doc: int) -> str:
        return self._id(self._stored(doc))

    def _id(self, stored: Mapping[str, Any]) -> str:
        value = stored.get(self.docno_field)
        if isinstance(value, bytes) or value is None or not str(value):
            raise InputError(
                f"A document of {self.path} has no id in the field {self.docno_field}; "
                "name another by --docno (docno=… in Python and in readers)."
            )
        return str(value)

    def check_analyzer(self, analyzer: str, terms_of: Callable[[str], list[str]]) -> str | None:
        """Return a sentence for the user if `analyzer` and Whoosh's own analyzer make different terms of some stored
        texts; otherwise None.

        `terms_of` returns the terms that `analyzer` makes of a text. Raise InputError if most terms of a sample of
        texts differ.
        """
        if not self.stores:
            if self.analyzer:
                return None
            return f"The field {self.field} is not stored, so Sublex cannot check that {analyzer} makes the terms of the index."
        ours: set[tuple[int, str]] = set()
        theirs: set[tuple[int, str]] = set()
        characters = 0
        for doc in range(0, self.docs, max(1, self.docs // SAMPLE)):
            for field in self.read:
                text = str(self._stored(doc).get(field) or "")
                characters += len(text)
                with self._explaining():
                    theirs |= {(doc, token.text) for token in self.schema[field].analyzer(text, mode="index")}
                ours |= {(doc, term) for term in terms_of(text)}
            if characters > CHARACTERS:
                break
        differ, all_terms = len(ours ^ theirs), len(ours | theirs)
        if 2 * differ > all_terms:
            raise InputError(
                f"{analyzer} makes other terms than those of {self.path}; name the right analyzer by --analyzer."
            )
        if 1000 * differ > all_terms:
            return (
                f"On a sample of the texts, {differ / all_terms:.1%} of the terms by {analyzer} and by Whoosh differ; "
                "queries do not find these."
            )
        return None

    # Stored documents.

    def _stored(self, doc: int) -> dict[str, Any]:
        with self._explaining():
            return dict(self.reader.stored_fields(int(self.live[doc])))

    def document(self, doc: int) -> Document:
        """Return the stored document with the number `doc`. Its text is the searched field, and its title the stored
        field `title`.

        If several fields are searched, title and text are those of them that are called `title` and `text`.
        """
        stored = self._stored(doc)
        docno = self._id(stored)
        text = stored.pop(TEXT_FIELD if self.fields else self.field, None) if self._shows(TEXT_FIELD) else None
        title = stored.pop(TITLE, None) if self._shows(TITLE) and isinstance(stored.get(TITLE), str) else None
        stored.pop(self.docno_field, None)
        fields = json.loads(json.dumps({str(name): value for name, value in stored.items()}, default=str))
        return Document(docno, "" if text is None else str(text), title or "", fields)

    def _shows(self, part: str) -> bool:
        """Return whether documents have a separate field `part`, which is "title" or "text"."""
        return not self.fields or part in self.fields

    # Functions for the retrievers.

    def searcher(self, weighting: Any, key: str) -> Searcher:
        """Return Whoosh's searcher with a scorer. `key` is a text that identifies the scorer and its parameters."""
        if key not in self._searchers:
            self._searchers[key] = _Searcher(self.reader, weighting=weighting)
        return self._searchers[key]

    def close(self) -> None:
        """Close the files of the index."""
        self.reader.close()

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Raise an InputError with one sentence in place of any error of Whoosh."""
        try:
            yield
        except SublexError:
            raise
        except whoosh_index.IndexVersionError as error:
            raise InputError(
                f"{self.path} is a Whoosh index of another version ({error}); write it again with this Whoosh."
            ) from None
        except ModuleNotFoundError as error:
            raise InputError(
                f"The schema of {self.path} needs the Python module {error.name}, which is not installed."
            ) from None
        except Exception as error:
            raise InputError(
                f"The Whoosh index {self.path} cannot be read; it may be damaged ({in_short(error)})."
            ) from None


def _text_field(path: str, schema: Mapping[str, Any], wanted: str | None) -> str:
    """Return the name of the text field: `wanted`, which the user named, or by default the first field of type TEXT by
    name.
    """
    texts = [name for name, kind in schema.items() if isinstance(kind, TEXT)]
    if wanted is None and texts:
        return texts[0]
    if wanted is None:
        raise InputError(
            f"{path} has no field of type TEXT; name a field by --field (field=… in Python and in readers): {_names(schema)}."
        )
    if wanted not in schema or not schema[wanted].indexed:
        raise InputError(f"{path} has no field {wanted} that is searched; there are {_names(schema, wanted)}.")
    return wanted


def _docno_field(path: str, schema: Mapping[str, Any], wanted: str | None) -> str:
    """Return the name of the field of ids: `wanted`, which the user named; by default the unique field, or the only
    field of type ID.
    """
    stored = [name for name, kind in schema.items() if kind.stored]
    unique = [name for name in stored if getattr(schema[name], "unique", False)]
    ids = [name for name in stored if isinstance(schema[name], ID)]
    if wanted is not None and wanted not in stored:
        raise InputError(f"{path} has no stored field {wanted}; there are {near_names(wanted, stored) or 'none'}.")
    chosen = [wanted] if wanted is not None else unique or ids
    if len(chosen) != 1 and not unique:
        names = near_names("", stored) or "no field is stored"
        raise InputError(
            f"{path} does not say which field holds the ids of documents; "
            f"name it by --docno (docno=… in Python and in readers): {names}."
        )
    return chosen[0]


def _names(schema: Mapping[str, Any], wanted: str = "") -> str:
    return near_names(wanted, [name for name, kind in schema.items() if kind.indexed]) or "none"
