"""The part of a network that a document needs: the keyphrases that explain its units best, and their links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators.blocks import rows_of
from sublex_laki.estimator.network import Network
from sublex_laki.estimator.subgraph_kernels import cut


class Subgraphs(NamedTuple):
    """The subgraphs of some documents, one after another.

    A document's children are its keyphrases and then its units. Parents are given as indices into the document's
    keyphrases.

    * `node_rows` has the index at which the keyphrases of each document begin. `child_rows` has the index at which its
      children begin.
    * `nodes` has the keyphrases of each document, ascending. `outside` has for each keyphrase the sum of the weights of
      its links that are not in the subgraph.
    * `leaks`, `counts` and `on` have an entry for each child. `on` is 1 for units, and for keyphrases that the document
      mentions.
    * `starts` has the index at which the links to each child begin. `parents`, `links`, `weights` and `strengths` have
      an entry for each link. `links` has the number of each link in the network.
    """

    node_rows: np.ndarray
    child_rows: np.ndarray
    nodes: np.ndarray
    outside: np.ndarray
    leaks: np.ndarray
    counts: np.ndarray
    on: np.ndarray
    starts: np.ndarray
    parents: np.ndarray
    links: np.ndarray
    weights: np.ndarray
    strengths: np.ndarray

    def children(self) -> np.ndarray:
        """Return two sets of indices into the children of all documents, joined: first of the keyphrases, then of the
        units.
        """
        sizes, units = np.diff(self.node_rows), np.diff(self.child_rows) - np.diff(self.node_rows)
        is_unit = np.repeat(np.tile([False, True], len(sizes)), np.stack((sizes, units), axis=1).ravel())
        return np.concatenate((np.flatnonzero(~is_unit), np.flatnonzero(is_unit)))

    def as_parts(self, length: float) -> Subgraphs:
        """Return subgraphs in which the units that a short document lacks count less.

        A document is short if it has fewer distinct units than `length`. The units that it lacks then count only in
        part: by its number of distinct units divided by `length`.
        """
        sizes = np.diff(self.node_rows)
        units = np.diff(self.child_rows) - sizes
        if length <= 0 or (units >= length).all():
            return self
        return self._replace(outside=self.outside * np.repeat(np.minimum(1.0, units / length), sizes))


def units_of(matrix: Any, network: Network) -> csr_array:
    """Return a matrix of documents by units as sparse rows of float64, with ascending units and without zeros.

    Raises `InputError` if a count is negative or above a billion, or if the network has another number of units.
    """
    rows = rows_of(matrix)
    if rows.shape[1] != network.units:
        raise InputError(
            f"LAKI: the matrix has {rows.shape[1]:,} columns where the network knows {network.units:,} units."
        )
    rows = csr_array((rows.data.astype(np.float64), rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if rows.nnz and (rows.data.min() < 0 or rows.data.max() > 1e9):
        raise InputError("LAKI: counts of units must be between 0 and a billion; some are not.")
    return rows


def subgraphs(network: Network, rows: csr_array, most: int) -> Subgraphs:
    """Return the subgraphs of the documents in `rows`, with at most `most` keyphrases each. `rows` must come from
    `units_of`.

    The keyphrases that a document mentions are kept before all others, because in a large network other keyphrases
    often explain its units better.
    """
    places, units = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    node_rows, nodes, outside, starts, parents, links = cut(
        places, units, rows.data, network.starts, network.parents, network.weights, network.strengths, network.leaks,
        network.totals, network.mentioned, most,
    )  # fmt: skip
    child_rows = node_rows + places - places[0]
    empty = np.empty(0)
    found = Subgraphs(
        node_rows, child_rows, nodes, np.maximum(outside, 0.0), empty, empty, empty, starts, parents, links,
        network.weights[links], network.strengths[links],
    )  # fmt: skip
    order = found.children()
    leaks, counts, on = np.empty(len(order)), np.ones(len(order)), np.ones(len(order), np.int8)
    leaks[order] = network.leaks[np.concatenate((nodes, units + np.int64(network.keyphrases)))]
    counts[order[len(nodes) :]] = rows.data
    on[order[: len(nodes)]] = _mentioned(network, rows, node_rows, nodes)
    return found._replace(leaks=leaks, counts=counts, on=on)


def _mentioned(network: Network, rows: csr_array, node_rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return for each keyphrase of each document whether the document has the unit that mentions the keyphrase."""
    width = network.units
    known = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)) * width + rows.indices
    phrases = network.phrases[nodes].astype(np.int64)
    wanted = np.repeat(np.arange(rows.shape[0]), np.diff(node_rows)) * width + phrases
    place = np.searchsorted(known, wanted)
    found = place < len(known)
    found[found] = known[place[found]] == wanted[found]
    return found & (phrases >= 0)
