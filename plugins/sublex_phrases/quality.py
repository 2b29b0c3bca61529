"""Judge which frequent sequences are phrases. No labels made by people are needed.

A text may define an abbreviation for a phrase, as in "support vector machine (SVM)". These phrases are the good
examples. A forest learns which other sequences are similar to them. If a text defines few abbreviations, the sequences
with the best sum of ranks are the good examples.
"""

from __future__ import annotations

import numpy as np

from sublex.estimators.phrases.phrase_list import NAMES
from sublex_phrases.forest import likeness
from sublex_phrases.ngrams import Ngrams
from sublex_phrases.text import JoinedTexts, Run

# The number of good phrases that a forest needs; and if there are fewer, the share of all sequences that are good
# examples as well.
ENOUGH, BEST_SHARE = 20, 0.1
# The least quality of a sequence that counts as a phrase when, for each word, the phrases that end with it are counted.
PHRASE = 0.5
# The features whose ranks are summed, with their weights.
RANKED = {"concordance": 1.0, "least_idf": 1.0, "before": 1.0, "capitals": 1.0, "right_choice": 0.5, "left_choice": 0.5}
# The features that a phrase needs, however good its other features are: its words can be in a phrase, and one of them
# tells something. If the value of such a feature is below that of all good examples but the share UNUSUAL, the quality
# falls in proportion.
NEEDED, UNUSUAL, LEAST = ("begins", "ends", "content", "residual_idf"), 0.1, 1e-9
# A sequence that begins or ends with a stop word, or begins with a number, is a phrase only if it has a hyphen in this
# share of its occurrences.
HYPHENED = 0.5
# The features by which a single word is judged, in addition to the residual idf. The other features do not apply to
# single words, or only recognise abbreviations.
SINGLE = "kept mean_idf quoted hyphened after before alone right left right_choice left_choice again ends".split()


def judge(
    text: JoinedTexts, ngrams: Ngrams, table: np.ndarray, good: np.ndarray, seed: int, run: Run = map
) -> tuple[np.ndarray, np.ndarray]:
    """Return the quality of each node, and the nodes that were used as good examples.

    Sequences of several words are judged, and their quality is 0 if no word has a letter. Single words have the quality
    1, so that every text can be divided into words. `table` has the features of all nodes, and `good` the nodes that
    are known to be phrases. `seed` determines the forest.
    """
    quality = np.ones(len(table))
    several = np.flatnonzero(ngrams.lengths > 1)
    known, good = good, good_examples(ngrams, table, good)
    quality[several] = likeness(table[several], np.searchsorted(several, good), seed, run)
    loose = table[:, NAMES.index("hyphened")] < HYPHENED
    at_edge = text.stops[ngrams.firsts] | text.numbers[ngrams.firsts] | text.stops[ngrams.last]
    fit = np.where(loose & at_edge, 0.0, 1.0)
    for name in NEEDED:
        column = table[:, NAMES.index(name)]
        fit *= np.clip(column / max(np.quantile(column[good], UNUSUAL), LEAST), 0.0, 1.0)
    fit[known] = 1.0
    quality[several] *= fit[several]
    quality[several[_without_letters(text, ngrams)[several]]] = 0.0
    return quality, good


def good_examples(ngrams: Ngrams, table: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the nodes of good phrases: `known`, and if these are few, also the sequences with the best features.

    `table` has the features of all nodes.
    """
    if len(known) >= ENOUGH:
        return known
    several = np.flatnonzero(ngrams.lengths > 1)
    return np.union1d(known, several[_best(table[several])])


def judge_words(
    text: JoinedTexts, ngrams: Ngrams, table: np.ndarray, quality: np.ndarray, whole: np.ndarray, run: Run = map
) -> np.ndarray:
    """Return `quality`, which has the quality of sequences of several words, with the quality of single words filled
    in.

    `whole` says for each node whether segmentation leaves it whole in enough of its occurrences. The good examples are
    words with which many phrases end and which texts repeat, such as "network" and "algorithm". A forest finds the
    words that are used like the good examples. Common words, single letters and words without a letter get the quality
    0.
    """
    several, words = np.flatnonzero(ngrams.lengths > 1), np.flatnonzero(ngrams.lengths == 1)
    units = ngrams.last[words]
    phrases = several[(quality[several] >= PHRASE) & whole[several]]
    ends = np.bincount(ngrams.last[phrases], minlength=len(text.lexicon))[units]
    residual = text.residual_idf[units]
    head = np.log1p(ends) * residual * table[words, NAMES.index("ends")]
    head[text.common[units]] = 0.0
    best = np.argsort(-head, kind="stable")[: max(ENOUGH, int(BEST_SHARE * len(head)))]
    best = np.sort(best[head[best] > 0])
    judged = quality.copy()
    judged[words] = 0.0
    if 0 < len(best) < len(words):
        columns = table[words][:, [NAMES.index(name) for name in SINGLE]]
        judged[words] = likeness(np.column_stack([columns, residual]), best, 2, run)
        column = table[words, NAMES.index("ends")]
        judged[words] *= np.minimum(1.0, column / np.quantile(column[best], UNUSUAL))
    judged[words[text.common[units] | text.letters[units]]] = 0.0
    judged[_without_letters(text, ngrams)] = 0.0
    return judged


def _without_letters(text: JoinedTexts, ngrams: Ngrams) -> np.ndarray:
    """Return for each node whether none of its words has a letter."""
    units = ngrams.sequences()
    return np.logical_not(np.where(units >= 0, ~text.numbers[units], False).any(axis=1))


def _best(table: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows with the largest sum of ranks.

    Sequences that begin or end with a stop word are left out.
    """
    column = {name: table[:, NAMES.index(name)] for name in NAMES}
    sums = np.zeros(len(table))
    for name, weight in RANKED.items():
        distinct, places = np.unique(column[name], return_inverse=True)
        sums += weight * places / max(1, len(distinct) - 1)
    sums[(column["first_stop"] > 0) | (column["last_stop"] > 0)] = -1.0
    best = np.argsort(-sums, kind="stable")[: max(ENOUGH, int(BEST_SHARE * len(sums)))]
    return np.sort(best[sums[best] >= 0])
