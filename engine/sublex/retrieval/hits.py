"""Hits: the documents that a search found and their scores, as two arrays, best first.

Titles, texts, fields and passages are read from the snapshot of the hits when they are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np

from sublex.contracts.base import Document, Query
from sublex.errors import InputError, SublexError
from sublex.forms.frames import data_frame
from sublex.forms.parts import InParts, Part, summary
from sublex.forms.tables import ROWS_SHOWN
from sublex.index.snapshot import Snapshot
from sublex.retrieval.passages import passages_of
from sublex.tools.messages import counted, cut
from sublex.tools.strings import Strings

# The part of the message about an index without stored texts that says what the texts are needed for.
PURPOSE = "has the titles, texts and fields of hits"


class _HitTuple(NamedTuple):
    rank: int
    docno: str
    score: float
    doc: int


class Hit(_HitTuple):
    """One document that was found. `rank` counts from 1; `doc` is the document's number in its snapshot.

    `title`, `text`, `fields` and `passage` are read from the snapshot when they are asked for. They raise IndexProblem
    if the index stores no texts.
    """

    _hits: Hits | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _hit, (tuple(self), self._hits)

    def _of(self) -> Hits:
        if self._hits is None:
            raise InputError(f"No search made this hit of {self.docno}; ask for index.document({self.docno!r}).")
        return self._hits

    @property
    def document(self) -> Document:
        """The document as the index stores it."""
        return self._of().document(self.doc)

    @property
    def title(self) -> str:
        """The title of the document; empty if it has none."""
        return self.document.title

    @property
    def text(self) -> str:
        """The text of the document, without the title."""
        return self.document.text

    @property
    def fields(self) -> Mapping[str, Any]:
        """The other values that are stored with the document, by name."""
        return self.document.fields

    @property
    def passage(self) -> str:
        """About 200 characters of the text: the part that matches the query best."""
        return self._of().passage(self.doc)


def _hit(values: tuple[Any, ...], hits: Hits | None) -> Hit:
    """Return the hit with these four values, which is one of `hits`."""
    hit = Hit._make(values)
    hit._hits = hits
    return hit


class Hits(InParts):
    """Documents in descending order of score, with their scores: `docs` is int32, `scores` is float32.

    Docnos, titles, texts, fields and passages are read from the snapshot only when they are asked for. Hits keep their
    snapshot open, so they stay valid when the index changes. `query` is the query after all expanders; passages are
    chosen by it. `asked` is the query before all expanders. Both are None for hits that no search found.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        docs: np.ndarray,
        scores: np.ndarray,
        query: Query | None = None,
        asked: Query | None = None,
    ):
        self.snapshot, self.docs, self.scores, self.query, self.asked = snapshot, docs, scores, query, asked

    # The shards of a cluster whose documents may be missing, because they did not answer: see `Index.launch`.
    lost_shards: tuple[str, ...] = ()
    # The docnos of unpickled hits. They were stored with the hits, so no index is needed to read them.
    _docnos: Strings | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the values that are pickled: the attributes, the docnos and the missing words.

        In place of the snapshot, the path of the index and the identity of the generation are pickled.
        """
        return self.__dict__ | {"_docnos": Strings.of(self.docnos), "missing": self.missing}

    def __len__(self) -> int:
        return len(self.docs)

    @overload
    def __getitem__(self, k: int) -> Hit: ...
    @overload
    def __getitem__(self, k: slice) -> list[Hit]: ...

    def __getitem__(self, k: int | slice) -> Hit | list[Hit]:
        if isinstance(k, slice):
            return list(self._part(k))
        place = range(len(self))[k]
        return next(self._part(slice(place, place + 1)))

    def _part(self, places: slice) -> Iterator[Hit]:
        """Yield the hits at the places of a slice."""
        numbers, docs, scores = range(len(self))[places], self.docs[places], self.scores[places].tolist()
        docnos = self.snapshot.docnos(docs) if self._docnos is None else [self._docnos[place] for place in numbers]
        for place, docno, score, doc in zip(numbers, docnos, scores, docs.tolist(), strict=True):
            yield _hit((place + 1, docno, score, doc), self)

    def __iter__(self) -> Iterator[Hit]:
        return self._part(slice(None))

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'hit')}>"

    def to_pandas(self, *columns: str) -> Any:
        """Return a DataFrame with a row for each hit: rank (from 1), docno, score. pandas must be installed.

        `columns` names further columns: "title", "text", "passage", "fields", or one of the fields, such as "year".
        """
        found = {"rank": np.arange(1, len(self) + 1), "docno": self.docnos, "score": self.scores}
        return data_frame({**found, **{name: self._column(name) for name in columns}})

    def _column(self, name: str) -> list[Any]:
        own: dict[str, Callable[[], list[Any]]] = {
            "title": lambda: self.titles, "text": lambda: self.texts, "passage": lambda: self.passages,
            "fields": lambda: [dict(fields) for fields in self.fields],
        }  # fmt: skip
        if name in own:
            return own[name]()
        fields = self.fields
        known = list(dict.fromkeys(field for each in fields for field in each))
        if fields and name not in known:
            raise InputError(f"No hit has {name}; the columns are {', '.join([*own, *known])}.")
        return [each.get(name) for each in fields]

    def parts(self) -> list[Part]:
        """Return the number of hits, a table of the first ones, and the words that no document contains."""
        head = ["rank", "docno", "title", "score"] if self._has_titles else ["rank", "docno", "score"]
        rows = []
        for hit in self[:ROWS_SHOWN]:
            title = [self._title(hit.doc)] if "title" in head else []
            rows.append([f"{hit.rank}", hit.docno, *title, f"{hit.score:.4f}"])
        left = cut(" or ".join(f'"{word}"' for word in self.missing))
        without = [f"No document contains {left}."] if left else []
        return [*summary(counted(len(self), "hit"), head, rows, len(self), len(head) - 1), *without]

    @cached_property
    def missing(self) -> list[str]:
        """The words of the query that no document of the index contains, as the query writes them.

        Stop words are not among them. The list is empty for hits that no search found, and for a query in the query
        language of another engine.
        """
        return list(self.snapshot.missing(self.asked).values()) if self.asked else []

    def document(self, doc: int) -> Document:
        """Return the stored document with the number `doc` in the snapshot. Raise IndexProblem if no texts are stored."""
        return self.snapshot.stored(doc, PURPOSE)

    def passage(self, doc: int) -> str:
        """Return about 200 characters of a document's text: the part that matches the query best.

        Words of the user count before words that an expander added.

        If the text has no word of the query, the passage comes from another field that the query asks for and that has such
        a word. Without a query, it is the beginning of the text.
        """
        return self._passages([doc])[0]

    def _passages(self, docs: Sequence[int]) -> list[str]:
        terms = self.query.weights() if self.query else {}
        own = self.asked.weights() if self.asked else {}
        found = passages_of((self.document(doc) for doc in docs), self.snapshot.analyzer, terms, own)
        return [best.text for _, best in found]

    @property
    def _has_titles(self) -> bool:
        """Whether titles can be read. Unpickled hits are shown without titles if their index is gone."""
        try:
            return "text" in self.snapshot.store
        except SublexError:
            return False

    def _title(self, doc: int) -> str:
        """Return a document's title, or the beginning of its text if it has no title, or "" if neither can be read."""
        document = self.snapshot.shown(doc)
        return document.heading() if document else ""

    @property
    def docnos(self) -> list[str]:
        """The docnos, best first."""
        if self._docnos is not None:
            return self._docnos.tolist()
        return self.snapshot.docnos(self.docs)

    @property
    def titles(self) -> list[str]:
        """The titles of the documents, best first; empty where a document has none."""
        return [hit.title for hit in self]

    @property
    def texts(self) -> list[str]:
        """The texts of the documents without their titles, best first."""
        return [hit.text for hit in self]

    @property
    def fields(self) -> list[Mapping[str, Any]]:
        """For each document, best first, its other stored values by name."""
        return [hit.fields for hit in self]

    @property
    def passages(self) -> list[str]:
        """For each document, best first, the part of its text that matches the query best."""
        return self._passages(self.docs.tolist())

    @classmethod
    def ranked(cls, snapshot: Snapshot, docs: np.ndarray, scores: np.ndarray) -> Hits:
        """Return hits with scores rounded to float32, in descending order of score.

        Documents with equal scores are in descending order of docno. Raise InputError for a score that is not a finite number
        of float32.
        """
        with np.errstate(over="ignore"):
            rounded = scores.astype(np.float32) + np.float32(0)  # Adding 0 turns -0 into 0.
        order = np.lexsort((snapshot.docno_ranks[docs], rounded))[::-1]
        # NaN is sorted as the largest number, so a score that is not finite is always first or last.
        for place in (order[0], order[-1]) if len(order) else ():
            if not math.isfinite(rounded[place]):
                docno = snapshot.docno(int(docs[place]))
                raise InputError(
                    f"The score of {docno} is {float(scores[place]):g}, which is no finite float32 number."
                )
        return cls(snapshot, docs[order], rounded[order])

    @classmethod
    def none(cls, snapshot: Snapshot) -> Hits:
        """Return no hits."""
        return cls(snapshot, np.empty(0, np.int32), np.empty(0, np.float32))

    def without(self, doc: int | None) -> Hits:
        """Return the hits without the document `doc`, a number in the snapshot. With None, return all hits."""
        return self.at(np.flatnonzero(self.docs != (-1 if doc is None else doc)))

    def at(self, places: np.ndarray) -> Hits:
        """Return the hits at some places, counted from 0."""
        return Hits(self.snapshot, self.docs[places], self.scores[places], self.query, self.asked)

    def first(self, k: int) -> Hits:
        """Return the first k hits."""
        return Hits(self.snapshot, self.docs[:k], self.scores[:k], self.query, self.asked)
