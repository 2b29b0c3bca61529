"""An attached Lucene index: its postings in bulk, its docnos and lengths, and its stored documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sublex.contracts.base import Document
from sublex.contracts.fields import several_fields
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.errors import InputError
from sublex.tools.messages import near_names
from sublex_lucene.analyzer_check import check_analyzer
from sublex_lucene.connection import Connection
from sublex_lucene.stored import to_document, with_fields

FIELD, DOCNO = "contents", "id"
# Anserini's analyzer and profile.
ANALYZER, PROFILE = "english(cjk=single, normalize=none)", "anserini"
# How many postings and how many documents are read at a time. A posting takes 8 bytes, and a position 4.
POSTINGS, DOCUMENTS = 1 << 20, 1 << 14


class LuceneIndex:
    """An index of Lucene 9, of which one or several indexed fields and the field of ids are read.

    `field` names the indexed fields, separated by commas. If there are several, `fields` has their names, and Lucene's
    scorers search the first, `self.field`. With `weights`, the stored frequencies are weights of terms, and documents
    need no lengths.
    """

    analyzer: str | None = ANALYZER
    profile = PROFILE
    has_positions = False

    def __init__(self, path: str, field: str | None = None, docno: str | None = None, weights: bool = False):
        self.fields = several_fields(field)
        self.read = self.fields or (field or FIELD,)
        self.name, self.field, self.docno = path, self.read[0], docno or DOCNO
        self.connection = Connection(path, self.read, self.docno)
        try:
            facts = self.connection.open()
            for name in self.read:
                _check_fields(path, name, self.docno, facts, weights)
        except BaseException:
            self.close()
            raise
        self.docs = int(facts["docs"])
        self.stores: frozenset[str] = frozenset({"text"} if {*self.read, "raw"} & set(facts["stored"]) else ())
        self.notes: Sequence[str] = _notes(self.read, facts, self.has_positions)
        self._facts, self._is_verified = facts, False

    def verify(self) -> None:
        """Raise InputError if a file of the index is damaged. All files are read once to compare their checksums."""
        if not self._is_verified:
            self.connection.ask("verify")
            self._is_verified = True

    def postings(self) -> Iterator[PostingsBatch]:
        """Yield the posting lists of all terms, in the order of the terms' bytes. The checksums of all files are
        compared first.
        """
        self.verify()
        yield from self._lists(self.field)

    def field_postings(self, field: str) -> Iterator[PostingsBatch]:
        """Yield the posting lists of one of the fields, from the first term on; see `postings`."""
        self.verify()
        self.connection.ask("begin", field=field)
        yield from self._lists(field)

    def _lists(self, field: str) -> Iterator[PostingsBatch]:
        """Yield the posting lists of a field that were not yielded yet."""
        while parts := self.connection.ask("postings", field=field, limit=POSTINGS, positions=self.has_positions)[1]:
            text, pairs, *rest = parts
            sizes, df = np.frombuffer(pairs, "<i4").reshape(-1, 2).T.astype(np.int64)
            docs, tfs, positions = (np.frombuffer(part, "<i4") for part in rest)
            yield PostingsBatch(_cut(text, sizes), df, docs, tfs, positions if self.has_positions else None)

    def with_positions(self) -> LuceneIndex:
        """Return this index, whose `postings` then also yield positions. Raise InputError if a field has no positions."""
        without = [name for name in self.read if "POSITIONS" not in self._facts["fields"][name]["options"]]
        if without:
            raise InputError(
                f"The field {without[0]} of {self.name} holds no positions (it was made without -storePositions); "
                "leave --positions out (for an index that had positions, give --overwrite instead of "
                "--refresh), or build the Lucene index again."
            )
        self.has_positions = True
        self.notes = _notes(self.read, self._facts, self.has_positions)
        return self

    def documents(self) -> Iterator[DocumentsBatch]:
        """Yield docnos and lengths of documents. A length is the sum of the document's frequencies in `postings`."""
        for first in range(0, self.docs, DOCUMENTS):
            text, pairs = self.connection.ask("documents", first=first, count=DOCUMENTS)[1]
            sizes, lengths = np.frombuffer(pairs, "<i4").reshape(-1, 2).T.astype(np.int64)
            if (sizes < 0).any():
                number = first + int(np.argmax(sizes < 0))
                raise InputError(
                    f"Document {number} of {self.name} has no field {self.docno}; "
                    "name the field with the ids by --docno (docno=… in Python and in readers)."
                )
            yield DocumentsBatch([docno.decode() for docno in _cut(text, sizes)], lengths)

    def document(self, doc: int) -> Document:
        """Return the stored document with this number."""
        return self.stored_documents(doc, 1)[0][0]

    def stored_documents(self, first: int, count: int) -> list[tuple[Document, bool]]:
        """Return stored documents from the number `first` on, each with a bool: whether its text is exactly the text
        that was indexed.

        At most `count` documents are returned, fewer if the documents are long, but at least one.
        """
        answer = self.connection.ask("stored", first=first, count=min(count, self.docs - first))[0]
        return [self._document(stored.get(self.docno, ""), stored) for stored in answer["documents"]]

    def _document(self, docno: str, stored: Mapping[str, str]) -> tuple[Document, bool]:
        return with_fields(docno, stored, self.fields) if self.fields else to_document(docno, stored, self.field)

    def check_analyzer(self, analyzer: str, terms_of: Callable[[str], list[str]]) -> str | None:
        """Raise InputError if `analyzer` makes other terms than the indexed terms in many documents of a sample.

        Return a sentence for the user if a few documents differ, or if nothing could be checked; otherwise None.
        `terms_of` returns the terms that the analyzer makes of a text.
        """
        self.verify()
        return check_analyzer(self, analyzer, terms_of)

    def close(self) -> None:
        """End the process that reads the index."""
        self.connection.close()


def _cut(text: bytearray, sizes: np.ndarray) -> list[bytes]:
    """Return the strings that lie end to end in `text`; `sizes` has their lengths in bytes."""
    ends = np.cumsum(sizes).tolist()
    return [bytes(text[end - size : end]) for size, end in zip(sizes.tolist(), ends, strict=True)]


def _check_fields(path: str, field: str, docno: str, facts: dict[str, Any], weights: bool) -> None:
    """Raise InputError if the index lacks documents, the field of ids `docno`, or what ranking needs of the field
    `field`.

    `facts` are those of `Connection.open`.
    """
    fields = facts["fields"]
    found = fields.get(field)
    if not facts["docs"]:
        raise InputError(f"The Lucene index {path} holds no documents.")
    vectors = [name for name, info in fields.items() if info["vectors"]] or [
        name for name in fields if name == "vector"
    ]
    if (not found or found["options"] == "NONE") and vectors:
        raise InputError(
            f"{path} is a vector index: its field {vectors[0]} holds vectors and no terms; "
            f"attach an inverted index, as Anserini's IndexCollection makes."
        )
    indexed = [name for name, info in fields.items() if info["options"] != "NONE" and name != docno]
    if not found or found["options"] == "NONE":
        raise InputError(
            f"{path} has no indexed field {field}; name one by --field (field=… in Python and in readers): {_listed(field, indexed)}."
        )
    if not (found["norms"] or weights):
        raise InputError(
            f"{path} is an impact index: its field {field} holds weights in place of frequencies, and no document lengths; "
            f"give the weights to an index of the same documents: sublex vectors add INDEX NAME lucene:{path}"
        )
    if docno not in fields and docno not in facts["stored"]:
        raise InputError(
            f"{path} has no field {docno}; name the field with the documents' ids by --docno "
            f"(docno=… in Python and in readers): {_listed(docno, fields)}."
        )


def _listed(wanted: str, names: Sequence[str] | dict[str, Any]) -> str:
    return near_names(wanted, sorted(names)) or "there is none"


def _notes(read: Sequence[str], facts: dict[str, Any], has_positions: bool) -> list[str]:
    """Return sentences for the user: which parts of the index are read, and which are not."""
    fields = facts["fields"]
    if len(read) > 1:
        notes = [
            f"The fields {', '.join(read)} are read as one; Lucene is {facts['lucene']}.",
            f"Lucene's own scorers search the field {read[0]} alone.",
        ]
    else:
        notes = [f"The field {read[0]} is read; Lucene is {facts['lucene']}."]
    if all("POSITIONS" in fields[field]["options"] for field in read) and not has_positions:
        notes.append("Positions of words are not carried over; --positions (in Python positions=True) mirrors them.")
    for field in read:
        if fields[field]["options"] == "DOCS":
            notes.append(f"The field {field} holds no frequencies, so each term counts once in a document.")
    others = [name for name, info in fields.items() if info["options"] != "NONE" and name not in (*read, DOCNO)]
    if others:
        notes.append(f"Other indexed fields are not carried over: {', '.join(sorted(others))}.")
    if facts["deleted"]:
        notes.append(f"{facts['deleted']:,} deleted documents are left out.")
    if not {*read, "raw"} & set(facts["stored"]):
        notes.append("The index stores no texts (it was made without -storeRaw), so documents cannot be shown.")
    return notes
