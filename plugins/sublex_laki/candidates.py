"""Choose the phrases that may be keyphrases: names of things that texts are about."""

from __future__ import annotations

import numpy as np

from sublex.estimators.phrases.phrase_list import NAMES, PhraseList

# A phrase of several words without hyphens need only have this share of the parameter `named`, since few of them are
# no names, and many are too rare to tell.
SEVERAL = 0.5
# A phrase with a hyphen in this share of its occurrences is judged like a word: many, such as "large-scale", are
# adjectives.
HYPHENED = 0.5


def are_named(phrases: PhraseList, named: float) -> np.ndarray:
    """Return for each phrase whether texts use it as the name of a thing.

    A single word needs at least the probability `named` to be used so. A phrase of several words without hyphens needs
    half of it.
    """
    column = {name: phrases.features[:, NAMES.index(name)] for name in ("named", "hyphened")}
    loose = (phrases.lengths > 1) & (column["hyphened"] < HYPHENED)
    return np.asarray(column["named"] >= np.where(loose, SEVERAL * named, named))
