"""`Run`: the hits of a system for each topic, as columns in trec_eval's order.

The hits of a topic are ordered by score as float32 and, for equal scores, by the bytes of the docno, both descending.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from sublex.contracts.base import NO_FIELDS
from sublex.errors import InputError
from sublex.forms.frames import data_frame
from sublex.forms.parts import parts_html, summary
from sublex.forms.tables import ROWS_SHOWN
from sublex.tools.arguments import file_path, whole
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.columns import Columns, offsets
from sublex.trec.ids import refuse_faulty

# A notebook shows at most this number of documents of a topic.
DOCNOS_SHOWN = 3


class TopicRanking(NamedTuple):
    """The hits of one topic of a run: its docnos, best first, and their scores (float32)."""

    qid: str
    docnos: Strings
    scores: np.ndarray


class Run(Columns, dict):  # type: ignore[misc]
    """A run by topic: `run[qid]` is `{docno: score}`, best first. `scores` is the column of scores, float32.

    If `Index.run` made the run, `missing` has the words that no document contains, by topic and as the topic writes
    them. Topics without missing words are left out.

    A run is a `dict` because pytrec_eval and ir_measures accept nothing else. Its methods read the columns. The C code
    of pytrec_eval reads the memory of the `dict`, which is filled when pytrec_eval asks whether the run is empty.
    """

    def __new__(cls, *arguments: Any, **named: Any) -> Run:
        """Return a run.

        The `dict` gets one entry, whose key and value are None. C code takes an empty `dict` for false, and would then not
        ask the run for its entries.
        """
        run = super().__new__(cls)
        dict.__setitem__(run, None, None)
        return run

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
        missing: Mapping[str, tuple[str, ...]] = NO_FIELDS,
    ):
        super().__init__(qids, offsets, docs, scores, docnos)
        self.scores, self.tag, self.metadata, self.notes, self.missing = scores, tag, metadata, notes, missing

    def rows(self) -> Iterator[TopicRanking]:
        """Yield the ranking of each topic."""
        for qid in self.qids:
            where = self.slice(qid)
            yield TopicRanking(qid, self.docnos.take(self.docs[where]), self.scores[where])

    def write(self, path: str | os.PathLike[str], where: str = "sidecar", overwrite: bool = False) -> int:
        """Write the run file, and return the number of its lines. `where` places the metadata: sidecar, header or none.

        Without `overwrite`, a file is replaced only if Sublex wrote it and nobody has changed it since.
        """
        from sublex.trec.run_writer import write_run

        place = file_path(path, "The path of the run")
        return write_run(place, self.rows(), self.tag or "run", self.metadata, where, overwrite)

    def top(self, k: int) -> Run:
        """Return a run with the best k hits of each topic."""
        best = self._ranks() <= whole(k, "k", 0)
        ends = np.cumsum([0, *np.minimum(np.diff(self.offsets), k)])
        more = self.tag, self.metadata, self.notes, self.missing
        return Run(self.qids, ends, self.docs[best], self.scores[best], self.docnos, *more)

    def without(self, judged: Mapping[str, Mapping[str, int]]) -> Run:
        """Return a run without the documents that are judged for a topic, `{qid: {docno: grade}}`; others keep their order."""
        kept = np.ones(len(self.docs), bool)
        for qid in self.qids:
            if qid in judged:
                where, seen = self.slice(qid), judged[qid]
                kept[where] = [docno not in seen for docno in self.docnos.take(self.docs[where]).tolist()]
        ends = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        more = self.tag, self.metadata, self.notes, self.missing
        return Run(self.qids, ends, self.docs[kept], self.scores[kept], self.docnos, *more)

    def _ranks(self) -> np.ndarray:
        """Return the rank of each hit in its topic, from 1."""
        return np.arange(1, len(self.docs) + 1) - self.offsets[self.topic_of_rows()]

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each hit: qid, docno, rank (from 1), score. pandas must be installed."""
        return data_frame({**self._by_row(), "rank": self._ranks(), "score": self.scores})

    def __str__(self) -> str:
        hits, topics = counted(len(self.docs), "hit"), counted(len(self), "topic")
        return f"{self.tag or 'run'}: {hits} for {topics}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        rows = []
        for qid in self.qids[:ROWS_SHOWN]:
            docs = self.docs[self.slice(qid)]
            first = self.docnos.take(docs[:DOCNOS_SHOWN]).tolist()
            rows.append([qid, ", ".join(first) + (", …" if len(docs) > len(first) else ""), f"{len(docs):,}"])
        return parts_html(summary(str(self), ["qid", "best documents", "hits"], rows, len(self), 2))

    # A run is also a dict, because pytrec_eval's C code reads the entries of a dict directly and not by the methods above.

    def __bool__(self) -> bool:
        """Return whether the run has topics, and fill the `dict` with the topics that have hits.

        A topic without hits crashes the code of trec_eval. Raise InputError for a docno that this code misreads.
        """
        if dict.__contains__(self, None):
            refuse_faulty(self.docnos, "document")
            filled = {qid: hits for qid, hits in self.items() if hits}
            dict.update(self, filled)
            dict.__delitem__(self, None)
        return len(self) > 0

    def _refuse_change(self, *arguments: Any, **named: Any) -> NoReturn:
        raise InputError("A run does not change; make a dictionary of it by dict(run).")

    __setitem__ = __delitem__ = __ior__ = _refuse_change  # type: ignore[assignment]
    pop = popitem = clear = update = setdefault = _refuse_change

    def copy(self) -> dict[str, dict[str, Any]]:
        """Return a plain dictionary of the run."""
        return dict(self.items())

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # The docnos may be those of a whole index. Only the docnos of hits are pickled.
        used, docs = np.unique(self.docs, return_inverse=True)
        state = self.__dict__ | {"docs": docs.astype(self.docs.dtype), "docnos": self.docnos.take(used)}
        return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]


def ranked(
    qids: list[str], topics: np.ndarray, docs: np.ndarray, scores: np.ndarray, docnos: Strings, **more: Any
) -> Run:
    """Return a run made of hits in any order. `topics` are places in `qids`, `docs` places in `docnos`.

    `more` are further arguments of `Run`.
    """
    order = ranking(topics, docs, scores, docnos)
    return Run(qids, offsets(topics[order], len(qids)), docs[order], scores[order], docnos, **more)


def ranking(topics: np.ndarray, docs: np.ndarray, scores: np.ndarray, docnos: Strings) -> np.ndarray:
    """Return the places of hits in the order of a run: by topic, then by score and by docno, both descending."""
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
