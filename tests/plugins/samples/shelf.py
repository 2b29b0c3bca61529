"""A test plugin with a small engine of its own: a folder whose file `shelf.json` holds texts by id, and a scorer that counts words.

The file may also say how the engine misbehaves: `lies` names a fault.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from sublex.contracts.base import Document, Explanation, Param
from sublex.contracts.fields import several_fields
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.contracts.hookspecs import hookimpl
from sublex.errors import InputError

sublex_api = 3
# The paths that were opened, by this process.
OPENED: list[str] = []


class Shelf:
    """An opened shelf."""

    analyzer, has_positions = "plain", False

    def __init__(self, path, field):
        OPENED.append(path)
        self.lies = ""
        try:
            stored = json.loads(Path(path, "shelf.json").read_text())
            self.texts, self.lies = stored["texts"], stored.get("lies", "")
        except (OSError, ValueError, KeyError):
            raise InputError(f"{path} is a damaged shelf.") from None
        # The texts may have several fields.
        self.fields = several_fields(field)
        for name in self.fields or (field,):
            if name not in (None, "text") and not any(name in text for text in self.texts.values()):
                raise InputError(f"{path} has no field {name}.")
        self.name, self.docs, self.notes = path, len(self.texts), ["A shelf has one field."]
        self.stores = frozenset({"no texts": (), "parts": ("text", "vectors")}.get(self.lies, ("text",)))
        self.words = [] if self.fields else [text.lower().split() for text in self.texts.values()]

    def field_postings(self, field):
        self.words = [text.get(field, "").lower().split() for text in self.texts.values()]
        # Other fields are read while this one is, so all is read at once.
        yield from list(self.postings())[:: -1 if self.lies == "order" else 1]

    def postings(self):
        for term in sorted({word for words in self.words for word in words}):
            counts = np.array([words.count(term) for words in self.words])
            docs = np.flatnonzero(counts)
            shift = self.docs if self.lies == "numbers" else 0
            yield PostingsBatch(
                [term.encode()], np.array([len(docs)]), (docs + shift).astype(np.int32), counts[docs].astype(np.int32),
                self.places(term, docs) if self.has_positions else None,
            )  # fmt: skip
        if self.lies == "crash":
            raise RuntimeError("the shelf\x1b[2J fell")

    def places(self, term, docs):
        step = 0 if self.lies == "places" else 1
        return np.array(
            [step * place for doc in docs for place, word in enumerate(self.words[doc]) if word == term], np.int32
        )

    def with_positions(self):
        if self.lies == "unplaced":
            raise InputError(f"{self.name} has no positions.")
        self.has_positions = True
        return self

    def documents(self):
        yield DocumentsBatch(list(self.texts), np.array([len(words) for words in self.words], np.int64))

    def document(self, doc):
        docno = "another" if self.lies == "docnos" else list(self.texts)[doc]
        if self.fields:
            fields = dict(self.texts[docno])
            return Document(docno, fields.pop("text", ""), fields.pop("title", ""), fields)
        return Document(docno, list(self.texts.values())[doc] + ("\ud800" if self.lies == "surrogates" else ""))

    def close(self):
        OPENED.append("closed")


class ShelfBackend:
    """Shelves: folders with one file."""

    def __init__(self, field):
        self.field, self.runs_code = field, Path("shelves-run-code").exists()

    def missing(self):
        return "Shelves are not installed; to install them: build one" if Path("no-shelves").exists() else None

    def state(self, path):
        try:
            return hashlib.sha256(Path(path, "shelf.json").read_bytes()).hexdigest()
        except OSError:
            raise InputError(f"{path} is not a shelf.") from None

    def open(self, path):
        return Shelf(path, self.field)


class ShelfCount:
    """Counts the words of the query in a text, by their weights."""

    backend = "shelf"

    def __init__(self, times):
        self.times = times

    def version(self):
        return "shelves 1.0"

    def search(self, query, index, k):
        scores = self.scores(query, index, np.arange(index.docs))
        best = np.argsort(-scores, kind="stable")[:k]
        best = best[scores[best] > -np.inf]
        return best + (index.docs if index.lies == "hits" else 0), scores[best]

    def scores(self, query, index, docs):
        if index.lies == "scores":
            return np.full(len(docs), np.nan)
        weights = query.weights()
        sums = np.array([sum(weights.get(word, 0) for word in index.words[doc]) for doc in docs.tolist()], float)
        return np.where(sums == 0, -np.inf, self.times * sums)

    def explain(self, query, index, doc):
        words = index.words[doc]
        parts = tuple(Explanation(self.times * w * words.count(t), t) for t, w in query.weights().items() if t in words)
        return Explanation(sum(part.value for part in parts) if parts else -np.inf, "words counted", "sum", parts)


@hookimpl
def register_backends(register):
    """Register `shelf`."""
    register("shelf", ShelfBackend, [Param("field", str, None)])


@hookimpl
def register_retrievers(register):
    """Register `ShelfCount`."""
    register("ShelfCount", ShelfCount, [Param("times", float, 1.0, range=(0, 9))])
