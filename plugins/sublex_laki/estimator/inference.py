"""Inference of the keyphrases of documents: Gibbs sampling, or belief propagation, over the part of the network that a document needs."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, seeds_of, spans
from sublex_laki.estimator.network import Network
from sublex_laki.estimator.propagation_kernels import propagate
from sublex_laki.estimator.sampling_kernels import RANGE, STEPS, sample
from sublex_laki.estimator.subgraphs import Subgraphs, subgraphs, units_of

METHODS = ("gibbs", "propagation")
# Documents that a thread takes at a time. Each document is inferred by itself, so this number changes no result.
DOCUMENTS = 64
# The share of the sweeps that do not count: a chain needs them to forget its first state.
BURN_IN = 0.1
# Belief propagation ends when no probability changes by more than TOLERANCE, or after MOST_STEPS.
TOLERANCE, MOST_STEPS, DAMPING = 1e-3, 100, 0.5


class Samples(NamedTuple):
    """The results of the chains of some documents. Each chain draws which keyphrases of a document are on.

    * `means` and `shares` are two estimates of each keyphrase's probability. `means` is the mean of the probabilities
      with which the chain drew the keyphrase; this estimate has less noise. `shares` is the share of the sweeps at
      whose end the keyphrase was on.
    * `link_shares` has for each link the probability that the link turns its child on; `leak_shares` has the same for
      the leak of each child. Both are empty unless `learn` was true.
    * `joints` has for each document the mean logarithm of the joint probability of the subgraph's nodes. `flips` has
      for each document the number of times that a keyphrase was turned on or off.
    """

    means: np.ndarray
    shares: np.ndarray
    link_shares: np.ndarray
    leak_shares: np.ndarray
    joints: np.ndarray
    flips: np.ndarray


def encode(
    network: Network, matrix: Any, *, method: str = "propagation", most: int = 200, sweeps: int = 5000, swaps: int = 0,
    estimate: str = "probabilities", length: float = 0.0, seed: int = 0, workers: int = 1,
) -> csr_array:  # fmt: skip
    """Return the probability that each keyphrase is on in each document, as sparse rows of documents by keyphrases.

    The row of a document without any unit of the network is empty. The row of a document depends only on the network,
    the document's own units and counts, and the parameters.

    Parameters
    ----------
    matrix : documents by units, counts
    method : "propagation", which uses no random numbers, or "gibbs"
    most : int
        The number of keyphrases that inference considers: first the keyphrases that the document mentions, then the
        keyphrases that explain its units best.
    sweeps : int
        The number of sweeps of the chain. The first tenth does not count.
    swaps : int
        After each sweep, the number of attempts to turn one parent of a unit off and another parent on.
    estimate : "probabilities" or "samples"
        With "probabilities", the result is the mean of the probabilities with which the chain draws a keyphrase. With
        "samples", it is the share of the sweeps in which the keyphrase is on, as in the paper.
    length : float
        A document with fewer distinct units than `length` is read as a part of a text of this length. The units that
        the document lacks then count only in part: by its number of distinct units divided by `length`. With 0, all
        units that a document lacks count in full, as in the paper.
    """
    _check(method, estimate, most, sweeps, swaps)
    rows = units_of(matrix, network)
    seeds = seeds_of(rows, seed)

    def work(span: slice) -> csr_array:
        graphs = subgraphs(network, rows[span], most).as_parts(length)
        if method == "propagation":
            values = propagated(graphs)
        else:
            samples = sampled(graphs, seeds[span], sweeps, swaps)
            values = samples.means if estimate == "probabilities" else samples.shares
        part = csr_array((values, graphs.nodes, graphs.node_rows), shape=(span.stop - span.start, network.keyphrases))
        part.eliminate_zeros()
        return part

    parts = list(in_order(work, spans(rows.shape[0], DOCUMENTS), workers))
    return _stacked(parts, network.keyphrases)


def evidence(
    network: Network, matrix: Any, *, most: int = 200, sweeps: int = 5000, length: float = 0.0, seed: int = 0
) -> csr_array:
    """Return how likely the keyphrases of one document turned on its nodes, as sparse rows of keyphrases by nodes (R in
    the paper).

    An entry is the probability that the keyphrase and the node are on, and that the link between them is one of the
    links that turn the node on. `matrix` has the counts of the one document. The other parameters have the same meaning
    as in `encode`.
    """
    rows = units_of(matrix, network)
    if rows.shape[0] != 1:
        raise InputError(f"LAKI: evidence needs one document; the matrix has {rows.shape[0]:,}.")
    graphs = subgraphs(network, rows, most).as_parts(length)
    shares = sampled(graphs, seeds_of(rows, seed), sweeps, learn=True).link_shares
    nodes = np.concatenate((graphs.nodes, rows.indices + network.keyphrases))
    children = np.repeat(nodes, np.diff(graphs.starts))
    shape = (network.keyphrases, len(network.leaks))
    return csr_array((shares, (graphs.nodes[graphs.parents], children)), shape=shape)


def sampled(graphs: Subgraphs, seeds: np.ndarray, sweeps: int, swaps: int = 0, learn: bool = False) -> Samples:
    """Return the results of a chain for each document. The random numbers of a chain depend on its number in `seeds`
    alone.
    """
    links, children = (len(graphs.links), len(graphs.leaks)) if learn else (0, 0)
    nodes, documents = len(graphs.nodes), len(seeds)
    found = Samples(
        np.zeros(nodes), np.zeros(nodes), np.zeros(links), np.zeros(children), np.zeros(documents),
        np.zeros(documents, np.int64),
    )  # fmt: skip
    sample(
        graphs.node_rows, graphs.child_rows, graphs.starts, graphs.parents, graphs.weights, graphs.strengths, graphs.leaks,
        graphs.counts, graphs.outside, graphs.on.copy(), seeds, sweeps, int(BURN_IN * sweeps), swaps, learn, _table(), *found,
    )  # fmt: skip
    return found


@cache
def _table() -> np.ndarray:
    """Return the table that the chains read: log(1 + exp(x)) and 1 / (1 + exp(-x)) for log-odds x."""
    x = np.linspace(-RANGE, RANGE, int(2 * RANGE * STEPS) + 1)
    return np.stack((np.logaddexp(0, x), 1 / (1 + np.exp(-x))), axis=1)


def propagated(graphs: Subgraphs) -> np.ndarray:
    """Return the probabilities of the keyphrases of each document by belief propagation."""
    means = np.zeros(len(graphs.nodes))
    propagate(
        graphs.node_rows, graphs.child_rows, graphs.starts, graphs.parents, graphs.strengths, graphs.leaks, graphs.counts,
        graphs.outside, MOST_STEPS, TOLERANCE, DAMPING, means,
    )  # fmt: skip
    return means


def _check(method: str, estimate: str, most: int, sweeps: int, swaps: int) -> None:
    """Raise `InputError` for a parameter out of its range."""
    if method not in METHODS:
        raise InputError(f"LAKI: method={method} is none of {', '.join(METHODS)}.")
    if estimate not in ("probabilities", "samples"):
        raise InputError(f"LAKI: estimate={estimate} is none of probabilities, samples.")
    for name, value, least in (("most", most, 1), ("sweeps", sweeps, 1), ("swaps", swaps, 0)):
        if value < least:
            raise InputError(f"LAKI: {name} is {value}; it must be at least {least}.")


def _stacked(parts: list[csr_array], columns: int) -> csr_array:
    """Return one sparse matrix: the rows of all parts, one part below another."""
    from scipy.sparse import vstack

    return csr_array(vstack(parts, format="csr")) if parts else csr_array((0, columns))
