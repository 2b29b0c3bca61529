"""Inference that weighs each keyphrase alone.

In a noisy-OR network keyphrases compete: if one explains a unit, no other is needed for it. So a single unit can make a
keyphrase certain, and a text that mentions a keyphrase evokes no others. In this module each keyphrase is weighed as if
all others were off. The paper does so too when it chooses the keyphrases that inference considers (section 5).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from sublex.estimators.blocks import in_order, spans
from sublex_laki.estimator.network import Network
from sublex_laki.estimator.subgraphs import units_of

# Documents that a thread takes at a time. Each document is weighed by itself, so this number changes no result.
DOCUMENTS = 64
# Added in place of 0: too small to change a sum, but it keeps the entry of the sum in a sparse matrix.
NOTHING = 1e-300


def weighed(network: Network, matrix: Any, length: float = 0.0, workers: int = 1) -> csr_array:
    """Return the evidence of each document for each keyphrase, as sparse rows of documents by keyphrases.

    The evidence is the logarithm of a ratio: the probability of the document's units if only this keyphrase is on,
    divided by their probability if all keyphrases are off. A unit that the document has n times counts 1 + log(n)
    times. The keyphrase's own unit does not count. A row has an entry for each keyphrase that the document mentions, or
    that has a link to one of its units. `matrix` has the counts of documents by units. For `length`, see `encode`.
    """
    rows = units_of(matrix, network)
    weights, ratios = _by_unit(network)
    totals = np.bincount(weights.indices, weights.data, network.keyphrases)

    def work(span: slice) -> csr_array:
        part = rows[span]
        sizes = np.diff(part.indptr)
        ones = csr_array((np.ones(part.nnz), part.indices, part.indptr), shape=part.shape)
        times = csr_array((1 + np.log(np.maximum(part.data, 1.0)), part.indices, part.indptr), shape=part.shape)
        # Both products have entries at the same places, because all numbers are above 0.
        found, present = csr_array(times @ ratios), csr_array(ones @ weights)
        found.sort_indices(), present.sort_indices()
        lacking = np.minimum(1.0, sizes / length) if length > 0 else np.ones(len(sizes))
        found.data -= np.repeat(lacking, np.diff(found.indptr)) * (totals[found.indices] - present.data)
        return found

    parts = [csr_array((0, network.keyphrases)), *in_order(work, spans(rows.shape[0], DOCUMENTS), workers)]
    return csr_array(vstack(parts, format="csr"))


def _by_unit(network: Network) -> tuple[csr_array, csr_array]:
    """Return two matrices of units by keyphrases: the weights of the links, and the evidence that the presence of a
    unit adds.

    The entry of a keyphrase and its own unit is `NOTHING` in both.
    """
    first, sizes = network.starts[network.keyphrases], np.diff(network.starts[network.keyphrases :])
    units, parents = np.repeat(np.arange(network.units), sizes), network.parents[first:]
    odds = np.expm1(network.leaks[network.keyphrases :])[units]
    weights, ratios = network.weights[first:], np.log1p(network.strengths[first:] / odds)
    own, known = units == network.phrases[parents], np.flatnonzero(network.phrases >= 0)
    places = np.append(units, network.phrases[known]), np.append(parents, known)

    def matrix(values: np.ndarray) -> csr_array:
        values = np.append(np.where(own, NOTHING, values), np.full(len(known), NOTHING))
        return csr_array((values, places), shape=(network.units, network.keyphrases))

    return matrix(weights), matrix(ratios)


def evoked_by(network: Network, matrix: Any, chances: csr_array) -> csr_array:
    """Return how likely each keyphrase turned on each unit of one document, as sparse rows of keyphrases by units.

    An entry is a product: the probability that the document is about the keyphrase, which `chances` has, times the
    probability that the keyphrase turns the unit on, given that the keyphrase or the unit's leak does. `matrix` has the
    counts of the one document. For a keyphrase that the document mentions, its own unit has an entry too.
    """
    rows = units_of(matrix, network)
    chosen = rows.indices
    nodes = network.keyphrases + chosen
    sizes = network.starts[nodes + 1] - network.starts[nodes]
    links = np.repeat(network.starts[nodes] - np.append(0, np.cumsum(sizes)[:-1]), sizes) + np.arange(sizes.sum())
    parents, units = network.parents[links], np.repeat(chosen, sizes)
    strengths, leaks = network.strengths[links], -np.expm1(-network.leaks[network.keyphrases + units])
    on = strengths / (strengths + leaks - strengths * leaks)
    about = np.asarray(chances.todense())[0]
    return csr_array((about[parents] * on, (parents, units)), shape=(network.keyphrases, network.units))
