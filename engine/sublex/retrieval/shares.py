"""The best k documents of several parts of a collection, from fewer than k of each part.

Each part is asked for its share of k, by its number of documents, and a margin. If the last document that a part gave is
among the best k of all parts, documents behind it may be, too, and the part is asked again for k. The result is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

# A part is asked for its expected number of hits, and this number of standard deviations more.
MARGIN = 3.0
# For fewer hits than this, parts are asked in turns: a query takes the score of its k-th best hit along to the next part.
# For more hits, a part's share is so much less than k that it costs less to ask all parts for shares.
TURNS = 100
# The lowest float64: a threshold that excludes no document.
LOWEST = -1.7976931348623157e308


class Ask(NamedTuple):
    """A question to a part: the best `k` documents of the queries at `places`, all queries if None.

    `thresholds` has for each of these queries a score; documents with lower scores are not needed.
    """

    part: int
    k: int
    places: np.ndarray | None
    thresholds: np.ndarray


# A function that answers questions by keys, as `key_kernels` describes them: for each question an array with a row of k keys
# for each query, unsorted, and 0 for missing hits. None means that there is no answer at all.
Answer = Callable[[Sequence[Ask]], Sequence[np.ndarray] | None]


def share(k: int, docs: int, total: int) -> int:
    """Return the number of hits to ask a part for that has `docs` of the `total` documents."""
    expected = k * docs / max(1, total)
    margin = MARGIN * math.sqrt(expected * (1 - docs / max(1, total)))
    return max(1, min(k, docs, math.ceil(expected + margin)))


def best_of_parts(answer: Answer, sizes: Sequence[int], k: int, queries: int) -> tuple[np.ndarray, int] | None:
    """Return a row of the k largest keys for each query, ascending, and the number of rows that were asked for again.

    `sizes` has the number of documents of each part. Return None if `answer` does.
    """
    shares = [share(k, docs, sum(sizes)) for docs in sizes]
    lowest = np.full(queries, LOWEST)
    found = answer([Ask(part, own, None, lowest) for part, own in enumerate(shares)])
    if found is None:
        return None
    keys, again = _largest(found, k), 0
    # The k-th best key so far; 0 if there are fewer hits.
    kth, asks = keys[:, 0], []
    for part, (own, rows) in enumerate(zip(shares, found, strict=True)):
        if own < min(k, sizes[part]):
            # A row that is not full has 0 as its least key. Then there is nothing behind its last hit.
            worst = rows.min(axis=1)
            places = np.flatnonzero((worst > 0) & (worst >= kth))
            if len(places):
                again += len(places)
                asks.append(Ask(part, k, places, _least_sums(kth[places])))
    if asks:
        more = answer(asks)
        if more is None:
            return None
        changed = list(found)
        for ask, rows in zip(asks, more, strict=True):
            wide = np.zeros((queries, k), np.uint64)
            wide[:, : found[ask.part].shape[1]] = found[ask.part]
            wide[ask.places, :] = 0
            wide[ask.places, : rows.shape[1]] = rows
            changed[ask.part] = wide
        keys = _largest(changed, k)
    return keys, again


def best_in_turns(answer: Answer, parts: int, k: int, queries: int) -> np.ndarray | None:
    """Return a row of the k largest keys for each query, ascending. Return None if `answer` does.

    The queries are divided into as many groups as there are parts. In each turn, every part is asked for another group. With
    a group go the scores that k documents of the earlier parts reach, so that the next part looks at fewer documents.
    """
    keys, thresholds = np.zeros((queries, k), np.uint64), np.full(queries, LOWEST)
    groups = [np.arange(group, queries, parts) for group in range(parts)]
    for turn in range(parts):
        asked = [(group, places) for group, places in enumerate(groups) if len(places)]
        found = answer([Ask((group + turn) % parts, k, places, thresholds[places]) for group, places in asked])
        if found is None:
            return None
        for (_, places), rows in zip(asked, found, strict=True):
            keys[places] = _largest([keys[places], rows], k)
            thresholds[places] = _least_sums(keys[places, 0])
    return keys


def _largest(rows: Sequence[np.ndarray], k: int) -> np.ndarray:
    """Return the k largest keys of each row, ascending; zeros come first if there are fewer."""
    keys = np.concatenate(rows, axis=1)
    keys.sort(axis=1)
    if keys.shape[1] < k:
        keys = np.concatenate([np.zeros((len(keys), k - keys.shape[1]), np.uint64), keys], axis=1)
    return np.ascontiguousarray(keys[:, keys.shape[1] - k :])


def _least_sums(keys: np.ndarray) -> np.ndarray:
    """Return a lower bound of the sums that float32 rounds to the scores of keys; LOWEST for the key 0."""
    bits = (keys >> np.uint64(32)).astype(np.int64)
    scores = np.where(bits >> 31, bits & 0x7FFFFFFF, ~bits).astype(np.int32).view(np.float32)
    return np.where(keys > 0, np.nextafter(scores, np.float32(-np.inf)).astype(np.float64), LOWEST)
