"""Hits: the documents that a search found and their scores, as two arrays, best first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, overload

import numpy as np

from sublex.forms.frames import data_frame
from sublex.forms.tables import ROWS_SHOWN, summary
from sublex.index.snapshot import Snapshot
from sublex.tools.messages import counted

# Characters of a title that a notebook shows.
TITLE_SHOWN = 80


class Hit(NamedTuple):
    """One document that was found. `rank` counts from 1; `doc` is the document's number in its snapshot."""

    rank: int
    docno: str
    score: float
    doc: int


class Hits:
    """Documents in descending order of score, with their scores: `docs` is int32, `scores` is float32.

    Docnos are read from the snapshot only when `docnos` is called. Hits keep their snapshot open, so they stay valid
    when the index changes.
    """

    def __init__(self, snapshot: Snapshot, docs: np.ndarray, scores: np.ndarray):
        self.snapshot, self.docs, self.scores = snapshot, docs, scores

    def __len__(self) -> int:
        return len(self.docs)

    @overload
    def __getitem__(self, k: int) -> Hit: ...
    @overload
    def __getitem__(self, k: slice) -> list[Hit]: ...

    def __getitem__(self, k: int | slice) -> Hit | list[Hit]:
        if isinstance(k, slice):
            return [self[place] for place in range(*k.indices(len(self)))]
        doc = int(self.docs[k])
        return Hit(range(1, len(self) + 1)[k], self.snapshot.docno(doc), float(self.scores[k]), doc)

    def __iter__(self) -> Iterator[Hit]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'hit')}>"

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each hit: rank (from 1), docno, score. pandas must be installed."""
        return data_frame({"rank": np.arange(1, len(self) + 1), "docno": self.docnos, "score": self.scores})

    def _repr_html_(self) -> str:
        head = ["rank", "docno", "title", "score"] if "text" in self.snapshot.store else ["rank", "docno", "score"]
        rows = []
        for hit in self[:ROWS_SHOWN]:
            title = [self._title(hit.doc)] if "title" in head else []
            rows.append([f"{hit.rank}", hit.docno, *title, f"{hit.score:.4f}"])
        return summary(counted(len(self), "hit"), head, rows, len(self), len(head) - 1)

    def _title(self, doc: int) -> str:
        """Return a document's title, or the beginning of its text if it has no title, or "" if neither can be read."""
        document = self.snapshot.shown(doc)
        title = " ".join((document.title or document.text[: 2 * TITLE_SHOWN]).split()) if document else ""
        return title if len(title) <= TITLE_SHOWN else f"{title[: TITLE_SHOWN - 1]}…"

    @property
    def docnos(self) -> list[str]:
        """The docnos, best first."""
        return [self.snapshot.docno(doc) for doc in self.docs.tolist()]

    @classmethod
    def ranked(cls, snapshot: Snapshot, docs: np.ndarray, scores: np.ndarray) -> Hits:
        """Return hits with scores rounded to float32, in descending order of score.

        Equal scores are in descending order of docno.
        """
        rounded = scores.astype(np.float32) + np.float32(0)  # Adding 0 turns -0 into 0.
        order = np.lexsort((snapshot.docno_ranks[docs], rounded))[::-1]
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
        return Hits(self.snapshot, self.docs[places], self.scores[places])

    def first(self, k: int) -> Hits:
        """Return the first k hits."""
        return Hits(self.snapshot, self.docs[:k], self.scores[:k])
