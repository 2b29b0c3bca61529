"""The probability that a text is about a keyphrase, calibrated on documents.

For keyphrases that a text does not mention, there is the evidence of `weighed`. It treats units that occur together as
independent, so it is too large to be read as log-odds. `calibrate` therefore looks at documents from which the network
was not made, and counts how many of those with a given evidence for a keyphrase mention it.

For keyphrases that a text mentions, the rest of the text tells little. `odds_of_mentions` uses other facts: how often
the text mentions the keyphrase, how rare it is, whether texts mention it again, how similar its documents are, whether
it has several words, and whether it is used as a name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex_laki.estimator.alone import weighed
from sublex_laki.estimator.network import Network
from sublex_laki.estimator.subgraphs import units_of

# The log-odds that a text is about a keyphrase that it mentions once are a sum: BASE; RARE * log(N) if the keyphrase is
# in one of N documents; SEVERAL if it has several words; NAMED times the probability that it names a thing; AGAIN times
# its rank by recurrence, the share of its documents that mention it twice or more; and FOCUS times its rank by how
# similar its documents are. Ranks are from 0 to 1, among the keyphrases of the model. A text that mentions it n times
# adds COUNT * log(n). The numbers are those of a logistic regression on verdicts of readers (python
# benchmarks/keyphrases_judged.py learn).
BASE, RARE, AGAIN, FOCUS, SEVERAL, NAMED, COUNT = -5.7, 0.37, 1.8, 2.3, 1.05, 3.5, 1.25
# The recurrence of a keyphrase is computed as if ADDED more documents mentioned it, of which the share USUAL mentions
# it twice or more.
ADDED, USUAL = 4, 0.25
# The number of knots of a curve, and the fewest pairs of a document and a keyphrase between two knots.
KNOTS, PAIRS = 40, 20


class CertaintyCurve(NamedTuple):
    """The probability that belongs to an amount of evidence: `chances` at the knots `evidence`, and straight lines
    between the knots. Both arrays ascend.
    """

    evidence: np.ndarray
    chances: np.ndarray

    def of(self, evidence: np.ndarray) -> np.ndarray:
        """Return for each amount of evidence the probability that a document with it mentions the keyphrase."""
        return np.interp(evidence, self.evidence, self.chances)


def calibrate(network: Network, matrix: Any, length: float = 0.0, workers: int = 1) -> CertaintyCurve:
    """Return a curve learned from held-out documents: how likely a document with a given evidence for a keyphrase
    mentions it.

    `matrix` has the held-out documents by units; the network was made without them. Documents that mention a keyphrase
    count in proportion to the rarity of the keyphrase, so that all keyphrases have the same weight.
    """
    rows = units_of(matrix, network)
    found = weighed(network, rows, length, workers)
    share = network.leaks[: network.keyphrases]
    mentioned = mentions(network, rows, found) > 0
    weights = np.where(mentioned, share.mean() / share[found.indices], 1.0)
    if not found.nnz:
        return CertaintyCurve(np.zeros(1), np.zeros(1))
    order = np.argsort(found.data, kind="stable")
    evidence, weights, right = found.data[order], weights[order], (weights * mentioned)[order]
    # Knots lie closer together where there is much evidence, because there it matters. Equal evidence has one knot.
    sizes = np.geomspace(PAIRS, max(PAIRS, len(order)), KNOTS).astype(np.int64)
    places = np.unique(np.searchsorted(evidence, evidence[np.maximum(0, len(order) - sizes)]))
    total = np.add.reduceat(weights, places)
    means, shares = np.add.reduceat(evidence * weights, places) / total, np.add.reduceat(right, places) / total
    return CertaintyCurve(*_rising(means, shares, total))


def _rising(x: np.ndarray, values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of the ascending curve that is nearest to the points (`x`, `values`) with `weights`: isotonic
    regression.

    Neighbouring points that descend are replaced by their mean.
    """
    points: list[tuple[float, float, float]] = []
    for point in zip(x.tolist(), values.tolist(), weights.tolist(), strict=True):
        points.append(point)
        while len(points) > 1 and points[-2][1] >= points[-1][1]:
            pair, total = points[-2:], points[-2][2] + points[-1][2]
            points[-2:] = [(sum(p[0] * p[2] for p in pair) / total, sum(p[1] * p[2] for p in pair) / total, total)]
    return np.array([point[0] for point in points]), np.array([point[1] for point in points])


def odds_of_mentions(
    matrix: csr_array, phrases: np.ndarray, words: np.ndarray, named: np.ndarray | float, focus: np.ndarray
) -> np.ndarray:
    """Return for each keyphrase the log-odds that a text that mentions it once is about it.

    `matrix` has documents by units. `phrases` has the unit of each keyphrase, `words` its number of words, `named` the
    probability that it names a thing, and `focus` how similar its documents are (`concentration`).
    """
    rare, again, alike = facts_of_phrases(matrix, phrases, focus)
    return np.asarray(BASE + RARE * rare + AGAIN * again + FOCUS * alike + SEVERAL * (words > 1) + NAMED * named)


def facts_of_phrases(matrix: csr_array, phrases: np.ndarray, focus: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return three facts about each keyphrase: how rare it is, and its ranks by recurrence and by `focus`.

    The rarity of a keyphrase in one of N documents is log(N). Recurrence is the share of its documents that mention the
    keyphrase twice or more.
    """
    df = np.bincount(matrix.indices[matrix.data > 0], minlength=matrix.shape[1])[phrases]
    again = np.bincount(matrix.indices, matrix.data > 1, matrix.shape[1])[phrases]
    rarity = np.log(matrix.shape[0] / np.maximum(df, 1))
    return rarity, ranks((again + ADDED * USUAL) / (df + ADDED)), ranks(focus)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the rank of each value, from 0 to 1: the share of the values below it. Equal values count half."""
    ordered = np.sort(values)
    both = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(both / (2 * max(1, len(values))))


def certain(
    network: Network, matrix: Any, curve: CertaintyCurve, odds: np.ndarray, length: float = 0.0, workers: int = 1
) -> csr_array:
    """Return the probability that a document (row) is about a keyphrase (column), as a sparse matrix.

    For a keyphrase that the document mentions, it follows from `odds` (see `odds_of_mentions`) and the number of
    mentions. For any other keyphrase, it is the probability that `curve` has for the document's evidence. For `length`,
    see `encode`.
    """
    rows = units_of(matrix, network)
    found = weighed(network, rows, length, workers)
    values = curve.of(found.data)
    counts = mentions(network, rows, found)
    here = np.flatnonzero(counts)
    values[here] = 1 / (1 + np.exp(-odds[found.indices[here]] - COUNT * np.log(counts[here])))
    return csr_array((values, found.indices, found.indptr), shape=found.shape)


def mentions(network: Network, rows: csr_array, found: csr_array) -> np.ndarray:
    """Return how often the document mentions the keyphrase, for each entry of `found`, a sparse matrix of documents by
    keyphrases.

    `rows` has the counts of documents by units.
    """
    width = network.units
    known = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)) * width + rows.indices
    wanted = np.repeat(np.arange(rows.shape[0]), np.diff(found.indptr)) * width + network.phrases[found.indices]
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[place] == wanted, rows.data[place], 0.0) if len(known) else np.zeros(len(wanted))
