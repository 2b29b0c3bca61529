"""`Columns`, the base class of qrels and runs: for each topic, documents and a number for each document.

The numbers are grades or scores, in arrays. The class is also a mapping `{qid: {docno: number}}`; its dictionaries are
made on access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from sublex.errors import UnknownTopic
from sublex.tools.arguments import shown
from sublex.tools.strings import Strings


class Columns(Mapping[str, dict[str, Any]]):
    """Documents and numbers of topics, as columns.

    A row is one judgement or one hit. The rows of topic `qids[k]` are the slice `offsets[k] : offsets[k + 1]`. For each
    row, `docs` has the position of its document in `docnos`. A subclass gives the column of numbers a public name, such
    as `scores`.
    """

    def __init__(
        self, qids: list[str], offsets: np.ndarray, docs: np.ndarray, values: np.ndarray, docnos: Strings
    ) -> None:
        self.qids, self.offsets, self.docs, self.docnos = qids, offsets, docs, docnos
        self._values = values

    @cached_property
    def _places(self) -> dict[str, int]:
        return {qid: place for place, qid in enumerate(self.qids)}

    def slice(self, qid: str) -> slice:
        """Return the slice of a topic's rows in the columns, empty for an unknown topic."""
        place = self._places.get(qid)
        return slice(0, 0) if place is None else slice(int(self.offsets[place]), int(self.offsets[place + 1]))

    def topic(self, qid: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a topic's documents, as positions in `docnos`, and their numbers."""
        rows = self.slice(qid)
        return self.docs[rows], self._values[rows]

    def topic_of_rows(self) -> np.ndarray:
        """Return for each row the position of its topic in `qids`."""
        return np.repeat(np.arange(len(self.qids)), np.diff(self.offsets))

    def __getitem__(self, qid: str) -> dict[str, Any]:
        if qid not in self:
            raise self._unknown(qid)
        docs, values = self.topic(qid)
        return dict(zip(self.docnos.take(docs).tolist(), values.tolist(), strict=True))

    def _unknown(self, qid: object) -> UnknownTopic:
        some = ", ".join(self.qids[:3]) + (", …" if len(self) > 3 else "")
        there = f"the topics are {some}" if self.qids else "there are no topics"
        if isinstance(qid, str):
            return UnknownTopic(f"No topic {qid or repr(qid)} in this {type(self).__name__}; {there}.")
        return UnknownTopic(f"The topic id {shown(qid)} is no text; {there}.")

    def __contains__(self, qid: object) -> bool:
        return isinstance(qid, str) and qid in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.qids)

    def __len__(self) -> int:
        return len(self.qids)

    def _by_row(self) -> dict[str, Any]:
        """Return the topic id and the docno of each row, as lists."""
        names = self.docnos.tolist()
        qids = [self.qids[topic] for topic in self.topic_of_rows().tolist()]
        return {"qid": qids, "docno": [names[doc] for doc in self.docs.tolist()]}


def offsets(topics: np.ndarray, count: int) -> np.ndarray:
    """Return the `count + 1` bounds of the topics' rows. `topics` has the topic of each row, ascending."""
    return np.searchsorted(topics, np.arange(count + 1))


def first_repeated(topics: np.ndarray, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays with the pairs of rows that have the same topic and document.

    The first array has the earlier row of each pair, and the second the later row, in ascending order.
    """
    keys = topics.astype(np.int64) << 32 | docs
    in_order = np.sort(keys)
    if not (in_order[1:] == in_order[:-1]).any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    same = same[np.argsort(order[same + 1])]
    return order[same], order[same + 1]
