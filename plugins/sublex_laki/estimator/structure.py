"""The structure of a network: which keyphrases lead to which keyphrases and units (section 4.2 of LAKI).

Keyphrases are sorted by their number of documents, the largest first. A keyphrase K leads to a later keyphrase K' if
p(K | K') is at least alpha and the similarity of K and K' is at least beta. The leak of a node is the share of the
documents that contain it. The first weights of links are made in one of two ways:

* "shares": K leads to the units that its documents contain more often than other documents do. The link raises the
  probability of the unit from its share of all documents to its share of K's documents.
* "similarity", as in the paper: K leads to the units whose similarity to it is at least beta, and the weight of a link
  is the similarity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, one_thread, rows_of, spans
from sublex_laki.estimator.network import LEAST, Network, network_of
from sublex_laki.estimator.vectors import normalised

ALPHA, BETA = 0.5, 0.3
# A keyphrase must recur within documents. A unit is rejected if the probability that it recurs so seldom by chance is
# below this number.
CHANCE = 0.01
# The number of keyphrases whose similarities with all units are in memory at a time.
KEYPHRASES = 64
# The ways to make the first weights.
WEIGHTS = ("shares", "similarity")
# The share of a keyphrase's documents that have a unit is computed as if the keyphrase had IMAGINED more documents, in
# which the unit has its usual share. A keyphrase leads to a unit only if at least FEWEST of its documents have the
# unit, and if their share is more than TIMES the usual share.
IMAGINED, FEWEST, TIMES = 5, 2, 2


def structure(
    matrix: Any, keyphrases: Any, vectors: np.ndarray, *, weights: str = "shares", alpha: float = ALPHA, beta: float = BETA,
    most: int = 300, workers: int = 1,
) -> Network:  # fmt: skip
    """Return the network of a collection, before its weights are learned.

    Parameters
    ----------
    matrix : documents by units, counts
    keyphrases : the units that are keyphrases, in any order
    vectors : a vector for each unit; similarities are their cosines
    weights : str
        "shares" or "similarity": how the links to units and the first weights are made.
    alpha : float
        A keyphrase leads to a rarer keyphrase only if at least this share of the rarer one's documents contain both.
    beta : float
        The smallest similarity of two linked nodes.
    most : int
        The largest number of units to which a keyphrase leads. The most similar units are kept; with "shares", those
        that say most about the keyphrase.
    """
    rows = rows_of(matrix)
    chosen = np.unique(np.asarray(keyphrases, np.int64))
    _check(rows, chosen, vectors, weights, alpha, beta, most)
    with_units = csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    with_units.sum_duplicates()
    with_units.data[:] = 1.0
    df = np.bincount(with_units.indices, minlength=rows.shape[1])
    if (df[chosen] == 0).any():
        raise InputError(f"LAKI: unit {chosen[df[chosen] == 0][0]:,} is a keyphrase but occurs in no document.")
    phrases = chosen[np.lexsort((chosen, -df[chosen]))]
    unit = normalised(vectors)
    by_shares = weights == "shares"
    with one_thread():
        parents, children, values = _joined(
            _to_keyphrases(with_units[:, phrases], unit[phrases], df[phrases], alpha, beta, by_shares, workers),
            _by_shares(with_units, phrases, df, most, workers)
            if by_shares
            else _to_units(unit, phrases, beta, most, workers),
        )
    shape = (len(phrases), len(phrases) + rows.shape[1])
    leaks = np.maximum(np.concatenate((df[phrases], df)), 0.5) / rows.shape[0]
    return network_of(csr_array((values, (parents, children)), shape=shape), leaks, phrases)


def come_back(matrix: csr_array, candidates: np.ndarray, share: float) -> np.ndarray:
    """Return for each unit whether it recurs within documents about as often as is usual for `candidates`.

    Texts repeat the terms that they are about, and seldom repeat a phrase such as "has been". Over all candidates, a
    usual share of the documents with a candidate has it at least twice. A unit is expected to recur in `share` times
    this share of its documents. The result is false if it recurs in so few that this has a probability below 1 % by
    chance. `candidates` is a mask of units.
    """
    from scipy.special import bdtr

    df = np.bincount(matrix.indices[matrix.data > 0], minlength=matrix.shape[1])
    again = np.bincount(matrix.indices, matrix.data > 1, matrix.shape[1])
    usual = again[candidates].sum() / max(1.0, df[candidates].sum())
    return np.asarray(bdtr(again, df, share * usual) >= CHANCE)


def _check(
    rows: csr_array, keyphrases: np.ndarray, vectors: np.ndarray, weights: str, alpha: float, beta: float, most: int
) -> None:
    """Raise `InputError` if the arguments do not fit one another, or a parameter is out of its range."""
    units = rows.shape[1]
    if not len(keyphrases) or keyphrases[0] < 0 or keyphrases[-1] >= units:
        raise InputError(f"LAKI: keyphrases must be some of the {units:,} units.")
    if vectors.ndim != 2 or len(vectors) != units or not np.isfinite(vectors).all():
        raise InputError(f"LAKI: a vector of finite numbers is needed for each of the {units:,} units.")
    if weights not in WEIGHTS:
        raise InputError(f"LAKI: weights={weights} is none of {', '.join(WEIGHTS)}.")
    if not 0 < alpha <= 1 or not 0 < beta <= 1:
        raise InputError(f"LAKI: alpha={alpha:g} and beta={beta:g} must be above 0 and at most 1.")
    if most < 1:
        raise InputError(f"LAKI: most={most} must be at least 1.")


def _to_keyphrases(
    mentions: csr_array, vectors: np.ndarray, df: np.ndarray, alpha: float, beta: float, by_shares: bool, workers: int
) -> list[tuple[np.ndarray, ...]]:
    """Return the links between keyphrases as arrays of parents, children and weights.

    `mentions` has documents by keyphrases, 1 where a document mentions the keyphrase. `vectors` has a vector for each
    keyphrase, and `df` its number of documents. A weight is the similarity of both keyphrases; with `by_shares` it is
    computed by `_weights_of`.
    """
    by_keyphrase = csr_array(mentions.T)

    def work(span: slice) -> tuple[np.ndarray, ...]:
        shared = (by_keyphrase[span] @ mentions).tocoo()
        child, parent = shared.coords[0] + span.start, shared.coords[1]
        # The more frequent keyphrases have smaller numbers.
        kept = (parent < child) & (shared.data >= alpha * df[child])
        child, parent, both = child[kept], parent[kept], shared.data[kept]
        similar = np.einsum("ij,ij->i", vectors[parent], vectors[child])
        kept = similar >= beta
        usual = df[child] / mentions.shape[0]
        values = _weights_of(_shares(both, df[parent], usual), usual) if by_shares else similar
        return parent[kept], child[kept], values[kept]

    return list(in_order(work, spans(len(df), KEYPHRASES), workers))


def _to_units(
    vectors: np.ndarray, phrases: np.ndarray, beta: float, most: int, workers: int
) -> list[tuple[np.ndarray, ...]]:
    """Return the links from keyphrases to units as arrays of parents, children and weights.

    A keyphrase always leads to its own unit. For `beta` and `most`, see `structure`.
    """

    def work(span: slice) -> tuple[np.ndarray, ...]:
        similar = vectors[phrases[span]] @ vectors.T
        # This holds in spite of rounding, and for vectors of length 0.
        similar[np.arange(span.stop - span.start), phrases[span]] = 1.0
        row, unit = np.nonzero(similar >= beta)
        weights = similar[row, unit]
        best = _best_of_each_row(row, unit, weights, most)
        return row[best] + span.start, unit[best] + len(phrases), weights[best]

    return list(in_order(work, spans(len(phrases), KEYPHRASES), workers))


def _by_shares(
    with_units: csr_array, phrases: np.ndarray, df: np.ndarray, most: int, workers: int
) -> list[tuple[np.ndarray, ...]]:
    """Return the links from keyphrases to the units that their documents have more often than other documents, as
    arrays of parents, children and weights.

    `with_units` has documents by units, 1 where a document has a unit. `phrases` has the unit of each keyphrase, and
    `df` the number of documents of each unit. A keyphrase always leads to its own unit. Of more than `most` units,
    those are kept that say most about the keyphrase: which many of its documents have, and few others.
    """
    by_keyphrase = csr_array(with_units[:, phrases].T)

    def work(span: slice) -> tuple[np.ndarray, ...]:
        both = (by_keyphrase[span] @ with_units).tocoo()
        row, unit, number = both.coords[0], both.coords[1], both.data
        usual = df[unit] / with_units.shape[0]
        share = _shares(number, df[phrases[span]][row], usual)
        own = unit == phrases[span][row]
        says = np.where(own, np.inf, number * np.log(share / usual))
        kept = own | ((number >= FEWEST) & (share > TIMES * usual))
        row, unit, values = row[kept], unit[kept], _weights_of(share, usual)[kept]
        best = _best_of_each_row(row, unit, says[kept], most)
        return row[best] + span.start, unit[best] + len(phrases), values[best]

    return list(in_order(work, spans(len(phrases), KEYPHRASES), workers))


def _best_of_each_row(rows: np.ndarray, units: np.ndarray, values: np.ndarray, most: int) -> np.ndarray:
    """Return the places of the entries with the largest values of each row, at most `most`: row by row, the largest
    first.

    An entry has its row, its unit and its value at the same place of `rows`, `units` and `values`.
    """
    order = np.lexsort((units, -values, rows))
    ordered = rows[order]
    first = np.searchsorted(ordered, np.arange(ordered.max(initial=-1) + 1))
    return order[np.arange(len(ordered)) - first[ordered] < most]


def _shares(number: np.ndarray, of: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return the share of a keyphrase's documents that have a unit, smoothed by `IMAGINED` documents with the usual
    share.

    `number` of the `of` documents of the keyphrase have the unit.
    """
    return (number + IMAGINED * usual) / (of + IMAGINED)


def _weights_of(share: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Return the weights of links that raise the probability of a node from `usual` to `share`."""
    return -np.log1p(-np.clip((share - usual) / np.maximum(1 - usual, LEAST), LEAST, 1 - LEAST))


def _joined(*parts: list[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Return three arrays: the parents, the children and the weights of the links of all parts."""
    return tuple(np.concatenate(arrays) for arrays in zip(*(part for one in parts for part in one), strict=True))
