"""Masks: the documents of a snapshot that a filter keeps. A filter is asked about each document at most once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock, RLock

import numpy as np

from sublex.index.snapshot import Snapshot

# The answers of a filter.
UNKNOWN, FAILS, PASSES = 0, 1, 2
# The most documents of one call of a filter.
CALL = 1 << 16
# The last masks that were used on a snapshot stay in memory, up to this number of bytes.
MOST_BYTES = 1 << 26
# A function that takes numbers of documents, and returns for each whether a filter keeps it.
Keep = Callable[[np.ndarray], np.ndarray]


class Mask:
    """The answers of a filter that looks at each document alone. Several threads may use a mask.

    `keep` returns a bool array for an array of live documents of the snapshot. Deleted documents never pass. With
    `at_once`, the first use asks about all live documents. Otherwise a search asks only about the documents that it
    reaches.
    """

    def __init__(self, keep: Keep, snapshot: Snapshot, at_once: bool = True):
        self.snapshot, self.at_once = snapshot, at_once
        self._keep, self._lock = keep, RLock()
        self._answers = np.full(int(snapshot.bases[-1]), FAILS, np.uint8)
        self._answers[snapshot.corpus.docs] = UNKNOWN
        self._unknown = len(snapshot.corpus.docs)
        self._passing: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def nbytes(self) -> int:
        """The bytes that the mask takes in memory."""
        return self._answers.nbytes + (0 if self._passing is None else self._passing.nbytes)

    def of(self, docs: np.ndarray) -> np.ndarray:
        """Return whether each of the documents passes."""
        if self.at_once and self._passing is None:
            self._ask(np.arange(len(self)))
        answers = self._answers[docs]
        if (answers == UNKNOWN).any():
            self._ask(docs)
            answers = self._answers[docs]
        return answers == PASSES

    @property
    def answers(self) -> np.ndarray:
        """The answers about all documents: PASSES for each document that passes. Use it only if `passing` is not None."""
        return self._answers

    @property
    def passing(self) -> np.ndarray | None:
        """The numbers of all documents that pass, ascending; None until the filter has answered about all documents."""
        if self._passing is None and self.at_once:
            self._ask(np.arange(len(self)))
        return self._passing

    def _ask(self, docs: np.ndarray) -> None:
        """Ask the filter about the documents for which its answer is not known yet."""
        with self._lock:
            new = np.unique(docs[self._answers[docs] == UNKNOWN]).astype(np.int32)
            if not len(new) and (self._unknown or self._passing is not None):
                return
            # A filter is called for an index without documents too, so that it can refuse its parameters.
            for begin in range(0, max(1, len(new)), CALL):
                part = new[begin : begin + CALL]
                self._answers[part] = np.where(self._keep(part), PASSES, FAILS)
                self._unknown -= len(part)
            if not self._unknown and self._passing is None:
                self._passing = np.flatnonzero(self._answers == PASSES).astype(np.int32)
                # All answers are known, so the data that the filter keeps in memory can go.
                del self._keep


class Masks:
    """The masks of a snapshot by key. The masks that were used longest ago are dropped if all take too many bytes."""

    def __init__(self, snapshot: Snapshot, most_bytes: int = MOST_BYTES):
        self.snapshot, self.most_bytes, self._lock = snapshot, most_bytes, Lock()
        self._masks: OrderedDict[Hashable, Mask] = OrderedDict()

    def get(self, key: Hashable, keep: Keep, at_once: bool = True) -> Mask:
        """Return the mask with a key, made on first use. `keep` and `at_once` are those of `Mask`."""
        with self._lock:
            if key not in self._masks:
                self._masks[key] = Mask(keep, self.snapshot, at_once)
            self._masks.move_to_end(key)
            size = sum(mask.nbytes for mask in self._masks.values())
            while size > self.most_bytes and len(self._masks) > 1:
                size -= self._masks.popitem(last=False)[1].nbytes
            return self._masks[key]


def passes(masks: Sequence[Mask], docs: np.ndarray) -> np.ndarray:
    """Return whether each document passes all masks. A mask is asked only about documents that pass the earlier masks."""
    kept = np.arange(len(docs))
    for mask in masks:
        kept = kept[mask.of(docs[kept])]
    passed = np.zeros(len(docs), bool)
    passed[kept] = True
    return passed


def first_passing(masks: Sequence[Mask], docs: np.ndarray, k: int) -> np.ndarray:
    """Return the places of the first k of `docs` that pass all masks; fewer if fewer pass.

    Blocks of documents are tested, at most twice the necessary number, because a test may call a function of the user.
    """
    found, begin, end = np.empty(0, np.int64), 0, k
    while begin < len(docs) and len(found) < k:
        found = np.concatenate([found, begin + np.flatnonzero(passes(masks, docs[begin:end]))])
        begin, end = end, 2 * end
    return found[:k]


def narrowest(masks: Sequence[Mask]) -> np.ndarray | None:
    """Return the documents that pass the mask with the fewest documents; None if no mask knows its documents."""
    known = [mask.passing for mask in masks]
    return min((docs for docs in known if docs is not None), key=len, default=None)
