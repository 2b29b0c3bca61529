"""A second view of a text: how near keyphrases are to it by the vectors of its words and phrases.

The network weighs each word that a keyphrase's documents have more often than others. Words of another subject may have it by
chance: "slice" makes "network slicing" likely in a text about light fields. Vectors see the text as a whole. A keyphrase that
the text does not mention is shown if both views speak for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex_laki.estimator.vectors import normalised


class LatentFacts(NamedTuple):
    """Facts about keyphrases that a text does not mention, an array for each.

    * `odds`: the log-odds of the probability in the network.
    * `shared`: the share of the keyphrase's words that the text has, each word by its idf.
    * `alike`: the cosine of the keyphrase with the text.
    * `near`: the largest product of the strength of a keyphrase that the text mentions and its cosine with this one.
    """

    odds: np.ndarray
    shared: np.ndarray
    alike: np.ndarray
    near: np.ndarray


class Odds(NamedTuple):
    """Log-odds: `start` and the other numbers times the facts of the same names.

    The numbers are those of logistic regressions on verdicts of readers (python benchmarks/keyphrases_rare.py learn).
    """

    start: float
    odds: float
    shared: float
    alike: float
    near: float

    def chances(self, facts: LatentFacts) -> np.ndarray:
        """Return the probability that each keyphrase of `facts` has."""
        sums = self.start + sum(weight * fact for weight, fact in zip(self[1:], facts, strict=True))
        return np.asarray(1 / (1 + np.exp(-sums)))


class Nearness:
    """The vectors of units and keyphrases.

    `vectors` has a row for each unit, whose length is the unit's weight in a text. `phrases` has the unit of each keyphrase.
    """

    def __init__(self, vectors: np.ndarray, phrases: np.ndarray):
        self._units, self._keyphrases = vectors, normalised(vectors[phrases])

    def of(
        self, keyphrases: Sequence[int], counts: csr_array, mentions: Sequence[int], strengths: Sequence[float]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return for each of some keyphrases its cosine with a text, and how near it is to what the text mentions.

        `counts` is the text's row of units. A unit that it has n times counts 1 + log(n) times. `mentions` has the keyphrases
        that the text mentions, and `strengths` their strengths. See `LatentFacts`.
        """
        chosen = self._keyphrases[np.asarray(keyphrases, np.int64)]
        text = (1 + np.log(np.maximum(counts.data, 1.0))) @ self._units[counts.indices]
        alike = chosen @ normalised(text[None])[0]
        if not len(mentions):
            return alike, np.zeros(len(chosen))
        near = chosen @ (self._keyphrases[np.asarray(mentions)] * np.asarray(strengths)[:, None]).T
        return alike, np.asarray(near.max(axis=1))
