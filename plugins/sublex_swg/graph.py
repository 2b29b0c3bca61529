"""Join the neighbourhoods of words to a graph, and select edges of a graph for display."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex_swg.neighbourhoods import Neighbourhoods, neighbourhoods

COMBINE = ("union", "intersection")


class Edges(NamedTuple):
    """Edges as three arrays of the same length: the smaller word number, the larger word number, and the weight."""

    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray


def word_graph(
    binary: Any,
    rho: float = 2.0,
    combine: str = "union",
    tol: float = 1e-5,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> csr_array:
    """Return the sparse word graph of binary documents: a symmetric matrix of words by words with the weights of edges.

    `join` explains the edges and `combine`; `neighbourhoods` explains the other parameters.
    """
    if combine not in COMBINE:
        raise InputError(f"combine={combine} is none of {', '.join(COMBINE)}.")
    return join(neighbourhoods(binary, rho, tol, workers, progress), combine)


def join(found: Neighbourhoods, combine: str = "union") -> csr_array:
    """Return the graph of some neighbourhoods, as sparse rows of words by words.

    The weight of an edge is the sum of the weights of its two words, each in the regression of the other word. With
    "union" two words have an edge if one of these two weights is not 0, with "intersection" if neither is 0.
    """
    if combine not in COMBINE:
        raise InputError(f"combine={combine} is none of {', '.join(COMBINE)}.")
    forth, back = found.weights, csr_array(found.weights.T)
    graph = csr_array(forth + back)
    if combine == "intersection":
        graph = csr_array(graph.multiply((forth != 0).multiply(back != 0)))
        graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def strongest(graph: csr_array, number: int | None = None) -> Edges:
    """Return the `number` edges with the largest weights, the largest first. Without `number`, all edges are returned.

    Edges of equal weight are ordered by word number.
    """
    pairs = graph.tocoo()
    i, j = pairs.coords
    upper = np.flatnonzero(i < j)
    order = upper[np.lexsort((j[upper], i[upper], -pairs.data[upper]))][:number]
    return Edges(i[order], j[order], pairs.data[order])


def truncated(graph: csr_array, word: int, number: int | None = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return the `number` neighbours of a word with the largest weights, and these weights, the largest first.

    Neighbours of equal weight are ordered by word number.
    """
    begin, end = graph.indptr[word], graph.indptr[word + 1]
    words, weights = graph.indices[begin:end], graph.data[begin:end]
    order = np.lexsort((words, -weights))[:number]
    return words[order], weights[order]
