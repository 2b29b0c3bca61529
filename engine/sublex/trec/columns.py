"""What qrels and runs have in common: for each topic documents with a number, kept as columns.

Seen as a mapping it is what pytrec_eval and ir_measures take: `{qid: {docno: number}}`, made on access.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from sublex.strings import Strings


class Columns(Mapping[str, dict[str, Any]]):
    """Topic k has the rows from `offsets[k]` to `offsets[k + 1]`; `docs` are places in `docnos`."""

    def __init__(
        self, qids: list[str], offsets: np.ndarray, docs: np.ndarray, values: np.ndarray, docnos: Strings
    ) -> None:
        self.qids, self.offsets, self.docs, self.docnos = qids, offsets, docs, docnos
        self._values = values

    @cached_property
    def _places(self) -> dict[str, int]:
        return {qid: place for place, qid in enumerate(self.qids)}

    def slice(self, qid: str) -> slice:
        """Where the topic's rows stand in the columns; nowhere for an unknown one."""
        place = self._places.get(qid)
        return slice(0, 0) if place is None else slice(int(self.offsets[place]), int(self.offsets[place + 1]))

    def topic(self, qid: str) -> tuple[np.ndarray, np.ndarray]:
        """The topic's documents, as places in `docnos`, and their numbers."""
        rows = self.slice(qid)
        return self.docs[rows], self._values[rows]

    def __getitem__(self, qid: str) -> dict[str, Any]:
        if qid not in self._places:
            raise KeyError(qid)
        docs, values = self.topic(qid)
        return dict(zip(self.docnos.take(docs).tolist(), values.tolist(), strict=True))

    def __contains__(self, qid: object) -> bool:
        return qid in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.qids)

    def __len__(self) -> int:
        return len(self.qids)


def offsets(topics: np.ndarray, count: int) -> np.ndarray:
    """Where each topic's rows begin and end, given each row's topic in ascending order."""
    return np.searchsorted(topics, np.arange(count + 1))


def first_repeated(topics: np.ndarray, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows that hold the same document for the same topic: the earlier ones, and those that follow them."""
    keys = topics.astype(np.int64) << 32 | docs
    in_order = np.sort(keys)
    if not (in_order[1:] == in_order[:-1]).any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    return order[same], order[same + 1]
