"""Clusters of near vectors of a segment, which tell where the nearest documents of a document are likely to be.

They are found by spherical k-means on a sample of the vectors, and depend only on the vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.representations.sketch import Run

# The mean number of documents in a cluster, and the number of documents of the sample for each cluster.
PER_CLUSTER, SAMPLE = 250, 32
# The number of times that the centres move to the means of their documents.
STEPS = 4
# The number of clusters in which the nearest documents of a vector are looked for.
PROBES = 64
# The number of vectors that are compared with the centres at a time.
PER_BLOCK = 2048


def pairs_compared(docs: int) -> int:
    """Return about how many pairs of vectors are compared to find the neighbours of `docs` documents by clusters."""
    # Each document is compared with the centres twice: when it joins a cluster, and when its neighbours are looked for.
    return docs * (PROBES * PER_CLUSTER + 2 * docs // PER_CLUSTER)


class Clusters(NamedTuple):
    """The clusters of a segment: the centre of each, and the numbers of its documents.

    A document without a vector is in no cluster.
    """

    centres: np.ndarray
    members: list[np.ndarray]

    @classmethod
    def of(cls, units: np.ndarray, run: Run = map) -> Clusters:
        """Return the clusters of a segment. `units` has its documents' vectors of norm 1 or 0, in float32."""
        there = np.flatnonzero(units.any(axis=1))
        if not len(there):
            return cls(units[there], [])
        number = max(1, len(there) // PER_CLUSTER)
        sample = units[there[:: max(1, len(there) // (SAMPLE * number))]]
        centres = sample[:: max(1, len(sample) // number)][:number].copy()
        for _ in range(STEPS):
            own = nearest_centres(sample, centres, run)
            order = np.argsort(own, kind="stable")
            found, starts = np.unique(own[order], return_index=True)
            sums = np.add.reduceat(sample[order], starts, axis=0)
            norms = np.linalg.norm(sums, axis=1)
            # A centre without documents, or whose documents cancel out, stays where it is.
            moved = norms > 0
            centres[found[moved]] = sums[moved] / norms[moved, None]
        return cls(centres, grouped(there, nearest_centres(units[there], centres, run), len(centres)))

    def probes(self, vectors: np.ndarray) -> np.ndarray:
        """Return the numbers of the clusters in which the nearest documents of each vector are looked for, in no order."""
        products = vectors @ self.centres.T
        count = min(PROBES, len(self.centres))
        found: np.ndarray = np.argpartition(-products, count - 1, axis=1)[:, :count]
        return found


def nearest_centres(vectors: np.ndarray, centres: np.ndarray, run: Run = map) -> np.ndarray:
    """Return the number of the nearest centre of each vector."""
    blocks = run(
        lambda begin: (vectors[begin : begin + PER_BLOCK] @ centres.T).argmax(axis=1),
        range(0, len(vectors), PER_BLOCK),
    )
    return np.concatenate([*blocks, np.empty(0, np.int64)])


def grouped(entries: np.ndarray, numbers: np.ndarray, count: int) -> list[np.ndarray]:
    """Split entries into `count` groups: entries[k] goes to the group numbers[k].

    Entries of a group keep their order.
    """
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=count))
    return np.split(entries[order], ends[:-1])
