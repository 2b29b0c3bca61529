"""LAKI: texts as the keyphrases that they are about, mentioned or not, after J. Liu et al., WWW 2016.

A noisy-OR network links keyphrases to rarer keyphrases and to content units, which are words and phrases. `structure`
makes the network from a collection, and `learn` fits its weights by EM. Two functions infer the keyphrases of texts:
`certain` weighs each keyphrase alone, and returns the probability that a text is about it; `encode` infers all
keyphrases together.
"""

from sublex_laki.estimator.alone import evoked_by, weighed
from sublex_laki.estimator.certainty import CertaintyCurve, calibrate, certain, odds_of_mentions
from sublex_laki.estimator.inference import encode, evidence
from sublex_laki.estimator.learning import Learned, learn
from sublex_laki.estimator.network import Network
from sublex_laki.estimator.structure import come_back, structure
from sublex_laki.estimator.vectors import concentration, decomposed, unit_vectors

__all__ = [
    "CertaintyCurve", "Learned", "Network", "calibrate", "certain", "come_back", "concentration", "decomposed", "encode",
    "evidence", "evoked_by", "learn", "odds_of_mentions", "structure", "unit_vectors", "weighed",
]  # fmt: skip
