"""`Run`: the hits of a system for each topic, as columns in trec_eval's order.

The hits of a topic are ordered by score as float32 and, for equal scores, by the bytes of the docno, both descending.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from sublex.base import NO_FIELDS
from sublex.strings import Strings
from sublex.trec.columns import Columns, offsets


class Row(NamedTuple):
    """One topic of a run: its docnos, best first, and their scores (float32)."""

    qid: str
    docnos: Strings
    scores: np.ndarray


class Run(Columns):
    """A run by topic: `run[qid]` is `{docno: score}`, best first. `scores` is the column of scores, float32."""

    def __init__(
        self,
        qids: list[str],
        offsets: np.ndarray,
        docs: np.ndarray,
        scores: np.ndarray,
        docnos: Strings,
        tag: str = "",
        metadata: Mapping[str, Any] = NO_FIELDS,
        notes: tuple[str, ...] = (),
    ):
        super().__init__(qids, offsets, docs, scores, docnos)
        self.scores, self.tag, self.metadata, self.notes = scores, tag, metadata, notes

    def rows(self) -> Iterator[Row]:
        """Yield the topics one by one, with docnos as `Strings`."""
        for qid in self.qids:
            where = self.slice(qid)
            yield Row(qid, self.docnos.take(self.docs[where]), self.scores[where])

    def write(self, path: str | os.PathLike[str], where: str = "sidecar") -> int:
        """Write the run file, and return how many lines it has. `where` is the place of metadata: sidecar, header or none."""
        from sublex.trec.run_writer import write_run

        return write_run(path, self.rows(), self.tag or "run", self.metadata, where)

    def top(self, k: int) -> Run:
        """Return a run with the best k hits of each topic."""
        places = np.arange(len(self.docs)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        best = places < k
        counts = np.minimum(np.diff(self.offsets), k)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        columns = self.docs[best], self.scores[best]
        return Run(self.qids, bounds, *columns, self.docnos, self.tag, self.metadata, self.notes)


def ranked(
    qids: list[str], topics: np.ndarray, docs: np.ndarray, scores: np.ndarray, docnos: Strings, **more: Any
) -> Run:
    """Return a run made of hits in any order. `topics` are places in `qids`, `docs` places in `docnos`."""
    order = ranking(topics, docs, scores, docnos)
    return Run(qids, offsets(topics[order], len(qids)), docs[order], scores[order], docnos, **more)


def ranking(topics: np.ndarray, docs: np.ndarray, scores: np.ndarray, docnos: Strings) -> np.ndarray:
    """Return the order of hits in a run: by topic, then by score and by the bytes of the docno, both descending."""
    order = np.arange(len(topics))
    same = topics[1:] == topics[:-1]
    if (topics[1:] < topics[:-1]).any() or (same & (scores[1:] > scores[:-1])).any():
        order = np.lexsort((-scores, topics))
        topics, scores, docs = topics[order], scores[order], docs[order]
        same = topics[1:] == topics[:-1]
    same &= scores[1:] == scores[:-1]
    # Docnos are compared only where scores tie. Sorting the tied rows leaves all other rows in their places.
    tied = np.flatnonzero(np.concatenate([same, [False]]) | np.concatenate([[False], same]))
    numbers, which = np.unique(docs[tied], return_inverse=True)
    places = np.empty(len(numbers), np.int64)
    places[docnos.take(numbers).order()] = np.arange(len(numbers))
    order[tied] = order[tied][np.lexsort((-places[which], -scores[tied], topics[tied]))]
    return order
