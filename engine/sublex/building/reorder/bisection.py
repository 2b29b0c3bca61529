"""Find an order of documents that puts similar ones next to each other, by recursive graph bisection.

The documents are split into halves so that the gaps in all posting lists take few bits. In each round, the documents whose
move to the other half saves most bits are moved (Dhulipala et al., KDD 2016). The halves are split in the same way,
down to eight documents. As in Mackenzie et al. (TKDE 2022), a round does not sort the gains, and each round requires a
greater gain than the round before it.
"""

from __future__ import annotations

import numpy as np

from sublex.index.offsets import POSTINGS_PER_CALL, starts_of
from sublex.index.segment import Segment
from sublex.tools.workers import Workers

# Terms that occur in fewer documents of the segment are ignored, since they hardly change the order.
LEAST_DOCUMENTS = 16
# A part with at most this number of documents is split down to leaves in one call.
DOCUMENTS_PER_CALL = 1 << 13
# The number of levels for a split down to leaves; it is enough for any number of documents.
ALL_LEVELS = 64


def similar_order(segment: Segment, workers: Workers) -> np.ndarray:
    """Return the documents of a segment in an order that puts similar ones next to each other.

    The order depends on the postings alone. For n postings, the search takes time proportional to n log n, and 4n bytes
    of memory.
    """
    from sublex.building.reorder import bisection_kernels

    starts, terms, vocabulary = _document_terms(segment)
    slopes = log_slopes(segment.docs)
    order = np.arange(segment.docs, dtype=np.int32)

    def bisect(part: np.ndarray, levels: int) -> None:
        bisection_kernels.bisect(part, levels, starts, terms, slopes, vocabulary)

    # Large parts are split one level per call. So threads share the work, and an interrupt takes effect before the last
    # level.
    parts = [order]
    while len(parts[0]) > DOCUMENTS_PER_CALL:
        list(workers.map(lambda part: bisect(part, 1), parts))
        parts = [half for part in parts for half in np.split(part, [bisection_kernels.half(len(part))])]
    list(workers.map(lambda part: bisect(part, ALL_LEVELS), parts))
    return order


def log_slopes(docs: int) -> np.ndarray:
    """Return an array of f(x + 1) - f(x) for x from 0 to `docs`, where f(x) = x log2(x + 1), as multiples of 1 / `BIT`.

    If a half has n documents and x of them contain a term, the term costs log2(n / (x + 1)) bits in each of the x
    documents. All x documents together cost x log2(n) - f(x) bits. The sum of x log2(n) over both halves hardly depends
    on the split, so f(x) is the saving to maximise.
    """
    from sublex.building.reorder.bisection_kernels import BIT

    x = np.arange(docs + 1, dtype=np.float64)
    return np.rint(BIT * (np.log2(x + 2) + x * np.log1p(1 / (x + 1)) / np.log(2))).astype(np.int32)


def _document_terms(segment: Segment) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the terms of all documents, as (starts, terms, number of different terms).

    Document d has the terms `terms[starts[d]:starts[d + 1]]`.

    Rare terms, and terms that more than half of the documents contain, are left out. The other terms get numbers in the order
    of falling document frequency. So the counters of frequent terms lie together and stay in the processor's first caches.
    """
    from sublex.building.reorder import bisection_kernels

    df = segment.df.astype(np.int64)
    kept = np.flatnonzero((df >= LEAST_DOCUMENTS) & (df <= segment.docs // 2))
    numbers = np.full(len(df), -1, np.int32)
    numbers[kept[np.argsort(-df[kept], kind="stable")]] = np.arange(len(kept))
    counts = np.zeros(segment.docs, np.int64)
    for begin, end in segment.spans(POSTINGS_PER_CALL):
        docs, _ = segment.postings(begin, end)
        listed = np.repeat(numbers[begin:end] >= 0, df[begin:end])
        counts += np.bincount(docs[listed], minlength=segment.docs)
    starts = starts_of(counts)
    terms, cursors = np.empty(starts[-1], np.int32), starts[:-1].copy()
    for begin, end in segment.spans(POSTINGS_PER_CALL):
        docs, _ = segment.postings(begin, end)
        bisection_kernels.list_terms(docs, df[begin:end], numbers[begin:end], cursors, terms)
    return starts, terms, len(kept)
