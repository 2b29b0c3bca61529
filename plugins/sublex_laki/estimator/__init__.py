"""LAKI: texts as the keyphrases that they are about, mentioned or not, after J. Liu et al., WWW 2016.

A noisy-OR network links keyphrases to rarer keyphrases and to content units, which are words and phrases. `structure`
makes the network from a collection and from similarities of units. `learn` fits its weights by EM. `encode` returns the
probabilities of the keyphrases of texts.
"""

from sublex_laki.estimator.inference import encode, evidence
from sublex_laki.estimator.learning import Learned, learn
from sublex_laki.estimator.network import Network
from sublex_laki.estimator.structure import come_back, structure
from sublex_laki.estimator.vectors import concentration, decomposed, unit_vectors

__all__ = [
    "Learned", "Network", "come_back", "concentration", "decomposed", "encode", "evidence", "learn", "structure",
    "unit_vectors",
]  # fmt: skip
