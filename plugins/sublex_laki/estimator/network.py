"""The noisy-OR network: keyphrases, content units, and the weighted links from keyphrases to both.

A node j is off with probability exp(-leak_j - the sum of w_ij over its parents i that are on) (equation 1 of LAKI).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from sublex.errors import InputError

# The range of weights and leaks. exp(-100) is negligible beside 1. With smaller leaks, chains get stuck.
LEAST, MOST = 1e-12, 100.0


@dataclass(frozen=True, eq=False)
class Network:
    """A noisy-OR network. It is checked when it is made. Its nodes are the keyphrases, parents before children, and
    then the units.

    Attributes
    ----------
    starts : int64, for each node the number of the first link to it; the last entry is the number of links
    parents : int32, for each link the keyphrase from which it leads; the keyphrases ascend for each node
    weights : float64, the weight of each link
    leaks : float64, the leak of each node
    phrases : int32, for each keyphrase the unit that mentions it, or -1
    """

    starts: np.ndarray
    parents: np.ndarray
    weights: np.ndarray
    leaks: np.ndarray
    phrases: np.ndarray

    def __post_init__(self) -> None:
        nodes = len(_vector(self.leaks, "leaks", "f"))
        keyphrases = len(_vector(self.phrases, "phrases", "iu"))
        links = len(_vector(self.weights, "weights", "f"))
        _vector(self.starts, "starts", "iu"), _vector(self.parents, "parents", "iu")
        if keyphrases > nodes or nodes >= 1 << 31:
            raise InputError(f"LAKI: a network cannot have {keyphrases:,} keyphrases among {nodes:,} nodes.")
        if len(self.starts) != nodes + 1 or len(self.parents) != links:
            raise InputError("LAKI: the links of the network do not fit its nodes; the arrays have other lengths.")
        if self.starts[0] != 0 or self.starts[-1] != links or (self.starts[1:] < self.starts[:-1]).any():
            raise InputError("LAKI: the links of the network do not fit its nodes; their places must ascend from 0.")
        for name in ("weights", "leaks"):
            values = getattr(self, name)
            if not ((values >= LEAST) & (values <= MOST)).all():
                raise InputError(f"LAKI: {name} must be between {LEAST:g} and {MOST:g}; some are not.")
        self._check_parents(keyphrases)
        mentioned = self.phrases[self.phrases != -1]
        if len(mentioned) and (mentioned.min() < 0 or mentioned.max() >= nodes - keyphrases):
            raise InputError("LAKI: a keyphrase belongs to a unit that the network does not have.")
        if len(np.unique(mentioned)) != len(mentioned):
            raise InputError("LAKI: two keyphrases belong to the same unit.")
        for name, kind in (("starts", np.int64), ("parents", np.int32), ("phrases", np.int32)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), kind))
        for name in ("weights", "leaks"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), np.float64))

    def _check_parents(self, keyphrases: int) -> None:
        """Raise `InputError` if the parent of a link is no keyphrase or does not come before the child, or if the
        parents of a child do not ascend.
        """
        children = np.repeat(np.arange(len(self.leaks)), np.diff(self.starts))
        if (self.parents < 0).any() or (self.parents >= np.minimum(children, keyphrases)).any():
            raise InputError("LAKI: a link of the network does not lead from a keyphrase to a later node.")
        if ((children[1:] == children[:-1]) & (self.parents[1:] <= self.parents[:-1])).any():
            raise InputError("LAKI: the links to a node of the network must come from ascending keyphrases.")

    @property
    def keyphrases(self) -> int:
        """The number of keyphrases."""
        return len(self.phrases)

    @property
    def units(self) -> int:
        """The number of content units."""
        return len(self.leaks) - len(self.phrases)

    @cached_property
    def strengths(self) -> np.ndarray:
        """The probability of each link to turn its child on when its parent is on: 1 - exp(-weight)."""
        return -np.expm1(-self.weights)

    @cached_property
    def totals(self) -> np.ndarray:
        """The sum of the weights of each keyphrase's links."""
        return np.bincount(self.parents, self.weights, self.keyphrases)

    @cached_property
    def mentioned(self) -> np.ndarray:
        """For each unit, the number of the keyphrase that the unit mentions, or -1."""
        found = np.full(self.units, -1, np.int32)
        known = self.phrases >= 0
        found[self.phrases[known]] = np.flatnonzero(known)
        return found

    @cached_property
    def children(self) -> csr_array:
        """The weights of the links from each keyphrase, as sparse rows of keyphrases by nodes."""
        shape = (self.keyphrases, len(self.leaks))
        return csr_array(csc_array((self.weights, self.parents, self.starts), shape=shape))

    @property
    def silhouettes(self) -> csr_array:
        """The weights of the links from keyphrases to units, as sparse rows of keyphrases by units."""
        return self.children[:, self.keyphrases :]

    @property
    def hierarchy(self) -> csr_array:
        """The weights of the links from keyphrases to rarer keyphrases, as sparse rows of keyphrases by keyphrases."""
        return self.children[:, : self.keyphrases]

    def with_values(self, weights: np.ndarray, leaks: np.ndarray) -> Network:
        """Return a network with the same links, and with the given weights and leaks."""
        return replace(self, weights=weights, leaks=leaks)

    def without_weak_links(self, least: float) -> Network:
        """Return a network without the links whose weight is below `least`."""
        kept = self.weights >= least
        starts = np.append(0, np.cumsum(kept))[self.starts]
        return replace(self, starts=starts, parents=self.parents[kept], weights=self.weights[kept])


def _vector(values: Any, name: str, kinds: str) -> np.ndarray:
    """Return `values`. Raise `InputError` unless they are an array of one dimension whose type is of one of the
    `kinds`.

    `kinds` are letters of NumPy, such as "iu". `name` names the array in the message.
    """
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.dtype.kind not in kinds:
        raise InputError(
            f"LAKI: {name} of the network must be a list of {'fractions' if kinds == 'f' else 'whole numbers'}."
        )
    return values


def network_of(links: csr_array, leaks: np.ndarray, phrases: np.ndarray) -> Network:
    """Return the network with the given links, whose weights are a sparse matrix of keyphrases by nodes.

    Weights and leaks below `LEAST` are raised to it, and above `MOST` lowered to it.
    """
    by_child = csc_array(links)
    by_child.sum_duplicates()
    by_child.sort_indices()
    return Network(
        by_child.indptr.astype(np.int64), by_child.indices.astype(np.int32), np.clip(by_child.data, LEAST, MOST),
        np.clip(leaks, LEAST, MOST), np.asarray(phrases, np.int32),
    )  # fmt: skip
