"""Learning the weights of a network by expectation maximisation (EM), with an E-step by Gibbs sampling (section 4.1 of LAKI)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, seeds_of, spans
from sublex_laki.estimator.inference import Samples, sampled
from sublex_laki.estimator.network import Network
from sublex_laki.estimator.sampling_kernels import HELD
from sublex_laki.estimator.subgraphs import Subgraphs, subgraphs, units_of

# EM ends after ITERATIONS iterations, or when the training perplexity has changed by less than CHANGE twice in a row.
ITERATIONS, CHANGE = 10, 0.01
# Documents whose statistics are summed at a time; the order of the sums does not depend on the number of workers.
DOCUMENTS = 512
# The range of learned weights and leaks: from FLOOR to the weight of a link with probability 1 - CERTAIN.
FLOOR, CERTAIN = 1e-8, 1e-6
# Links with smaller weights are dropped, because they are hardly ever active. EM makes about half of all links so weak.
WEAK = 1e-4


class Learned(NamedTuple):
    """A network with learned weights, and the training perplexity before each iteration."""

    network: Network
    perplexities: list[float]


class ExpectedSums(NamedTuple):
    """Sums over documents that the M-step needs. Each copy of a unit in a document counts.

    * `links` has for each link the expected number of times that the link turned its child on. `leaks` has the same for
      the leak of each node.
    * `on` is the expected number of documents in which each keyphrase is on.
    * `copies` has for each node the number of copies beyond the first one in a document. `link_copies` has for each
      link to a unit the expected number of these copies of the unit for which the parent of the link is on.
    * `likelihood` is the logarithm of the probability of all units. `tokens` is the number of units, each copy counted.
    """

    links: np.ndarray
    leaks: np.ndarray
    on: np.ndarray
    link_copies: np.ndarray
    copies: np.ndarray
    documents: int
    likelihood: float
    tokens: float

    def plus(self, other: ExpectedSums) -> ExpectedSums:
        """Return the sum of these statistics and of `other`."""
        return ExpectedSums(
            self.links + other.links, self.leaks + other.leaks, self.on + other.on, self.link_copies + other.link_copies,
            self.copies + other.copies, self.documents + other.documents, self.likelihood + other.likelihood,
            self.tokens + other.tokens,
        )  # fmt: skip

    @property
    def perplexity(self) -> float:
        """The perplexity of a unit: exp of minus the log-likelihood, divided by the number of tokens."""
        return float(np.exp(-self.likelihood / self.tokens))


def learn(
    network: Network, matrix: Any, *, iterations: int = ITERATIONS, sweeps: int = 500, most: int = 100, hold: bool = True,
    seed: int = 0, workers: int = 1, progress: Callable[[int, int], None] = lambda done, total: None,
) -> Learned:  # fmt: skip
    """Return `network` with new weights and leaks, which are learned from the collection `matrix`.

    Parameters
    ----------
    matrix : documents by units, counts
    iterations : int
        The largest number of iterations. There are fewer if the training perplexity changes by less than 1 % twice in a
        row.
    sweeps, most : int
        As for `encode`.
    hold : bool
        Whether a keyphrase stays on in the documents that mention it. If not, the keyphrase is on at the start of the
        chain and may be turned off later; in small collections, such keyphrases drift to other subjects.
    workers : int
        Threads; the result is the same, to the byte, for any number.
    progress : function
        Called after every few documents with two numbers, summed over all iterations: the documents done, and the
        documents that there are at most. It may raise an exception to end the work.
    """
    if iterations < 0 or sweeps < 1 or most < 1:
        raise InputError("LAKI: iterations must be at least 0, sweeps and most at least 1.")
    rows = units_of(matrix, network)
    if not rows.nnz:
        raise InputError("LAKI: no document has a unit that the network knows; fit it to another collection.")
    perplexities: list[float] = []
    calm = 0
    for iteration in range(iterations):
        done = partial(_report, progress, iteration, iterations, rows.shape[0])
        sums = expectation(network, rows, sweeps, most, seed + iteration, workers, hold, done)
        perplexities.append(sums.perplexity)
        if len(perplexities) > 1:
            calm = calm + 1 if abs(perplexities[-1] / perplexities[-2] - 1) < CHANGE else 0
        if calm == 2:
            break
        network = maximisation(network, sums).without_weak_links(WEAK)
    return Learned(network, perplexities)


def _report(progress: Callable[[int, int], None], iteration: int, iterations: int, documents: int, done: int) -> None:
    """Call `progress` with the number of documents done in all iterations, and the number of documents of all
    iterations.

    `done` is the number of documents done in this iteration. Each iteration has `documents` documents.
    """
    progress(iteration * documents + done, iterations * documents)


def expectation(
    network: Network, rows: csr_array, sweeps: int, most: int, seed: int, workers: int, hold: bool,
    progress: Callable[[int], None] = lambda done: None,
) -> ExpectedSums:  # fmt: skip
    """Return the statistics of all documents in `rows` by Gibbs sampling (E-step).

    For `hold`, see `learn`. `progress` is called with the number of documents done.
    """
    seeds = seeds_of(rows, seed)

    def work(span: slice) -> ExpectedSums:
        part = rows[span]
        graphs = subgraphs(network, part, most)
        if hold:
            keyphrases = graphs.children()[: len(graphs.nodes)]
            graphs.on[keyphrases] *= HELD
        return _statistics(network, graphs, sampled(graphs, seeds[span], sweeps, learn=True), part)

    total: ExpectedSums | None = None
    for part in in_order(work, spans(rows.shape[0], DOCUMENTS), workers):
        total = total.plus(part) if total else part
        progress(total.documents)
    assert total
    return total


def _statistics(network: Network, graphs: Subgraphs, samples: Samples, rows: csr_array) -> ExpectedSums:
    """Return the statistics of some documents, computed from their chains."""
    nodes, links = len(network.leaks), len(network.weights)
    order = graphs.children()
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.concatenate((graphs.nodes, rows.indices + np.int64(network.keyphrases)))
    copies = np.maximum(graphs.counts - 1, 0.0)
    sizes = np.diff(graphs.starts)
    parents = graphs.parents + np.repeat(graphs.node_rows[:-1], _links_by_row(graphs))
    return ExpectedSums(
        np.bincount(graphs.links, samples.link_shares * np.repeat(graphs.counts, sizes), links),
        np.bincount(numbers, samples.leak_shares * graphs.counts, nodes),
        np.bincount(graphs.nodes, samples.shares, network.keyphrases),
        np.bincount(graphs.links, samples.shares[parents] * np.repeat(copies, sizes), links),
        np.bincount(numbers, copies, nodes),
        rows.shape[0],
        float(samples.joints.sum() + _entropy(samples.means) - _quiet(network, graphs, numbers)),
        float(rows.data.sum()),
    )


def _links_by_row(graphs: Subgraphs) -> np.ndarray:
    """Return the number of links in each document's subgraph."""
    return np.diff(graphs.starts[graphs.child_rows])


def _quiet(network: Network, graphs: Subgraphs, numbers: np.ndarray) -> float:
    """Return the sum of the leaks of the nodes that are not in a document's subgraph, over all documents.

    These nodes are off. `numbers` has the number of the node of each child.
    """
    documents = len(graphs.node_rows) - 1
    return float(documents * network.leaks.sum() - network.leaks[numbers].sum())


def _entropy(p: np.ndarray) -> float:
    """Return the sum of the entropies of independent events with the probabilities `p`.

    The mean logarithm of the joint probability plus this entropy is the log-probability of the units. Keyphrases are
    not independent given the units, so this log-probability is somewhat too large. EM only looks at how it changes.
    """
    p = p[(p > 0) & (p < 1)]
    return float(-(p * np.log(p) + (1 - p) * np.log1p(-p)).sum())


def maximisation(network: Network, sums: ExpectedSums) -> Network:
    """Return the network with the weights and leaks that fit the sums of the E-step best (M-step).

    A link whose parent is never on keeps its weight.
    """
    on = sums.on[network.parents] + sums.link_copies
    known = on > 0
    weights = np.where(known, _weights(sums.links / np.where(known, on, 1.0)), network.weights)
    return network.with_values(weights, _weights(sums.leaks / (sums.documents + sums.copies)))


def _weights(probabilities: np.ndarray) -> np.ndarray:
    """Return the weights of links that turn their children on with the given `probabilities`. Weights are kept in the
    learned range.
    """
    return np.maximum(-np.log1p(-np.minimum(probabilities, 1 - CERTAIN)), FLOOR)
