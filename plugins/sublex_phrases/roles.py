"""Learn from a text which words can begin a phrase and which can end one, without a tagger and in any language.

The words with which known phrases begin and end are the good examples. A forest finds the words that stand between the
same neighbours as these. In English, nouns end phrases; nouns and adjectives begin them; verbs and words such as "how"
do neither.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.contracts.base import Break
from sublex_phrases.forest import likeness
from sublex_phrases.segmentation import Segmentation
from sublex_phrases.text import JoinedTexts, Run

# The number of most frequent words that are told apart as neighbours; all other words count as one neighbour.
NEIGHBOURS = 60
# The least number of occurrences of a word that is judged. A word that is not judged begins a phrase, and ends one,
# with the probability UNKNOWN.
FEWEST, UNKNOWN = 5, 0.5
# The shares of a word's neighbours are computed as if the word had this many more occurrences with usual neighbours.
PRIOR = 5.0
# The numbers of letters of the endings whose words are compared.
ENDINGS = (2, 3, 4)


class Roles(NamedTuple):
    """How likely each word can begin a phrase, and how likely it can end one.

    A word is a folded surface: surfaces that differ only in capitals are one word.
    """

    begins: np.ndarray
    ends: np.ndarray

    def of_units(self, text: JoinedTexts) -> Roles:
        """Return the roles of units: for each unit the mean over its occurrences."""
        counts = np.maximum(text.counts, 1)
        folded = text.folded[text.surfaces]
        size = len(text.lexicon)
        return Roles(*(np.bincount(text.units, values[folded], size) / counts for values in self))


def unknown_roles(text: JoinedTexts) -> Roles:
    """Return roles for the units of a text of which nothing is known."""
    return Roles(*np.full((2, len(text.lexicon)), UNKNOWN))


def learn_roles(text: JoinedTexts, firsts: np.ndarray, lasts: np.ndarray, run: Run = map) -> Roles:
    """Return the roles of the words of a text.

    `firsts` and `lasts` have the places of the first and of the last word of phrases that are known to be good.
    """
    words = text.folded[text.surfaces]
    counts = np.bincount(words, minlength=text.folded.max(initial=-1) + 1)
    judged, place = _judged(counts)
    every = np.arange(len(words))
    table = _neighbours(text, place[words], every, every, len(judged))
    endings = _endings(text, judged)
    # The forest would take rare words for bad, because good examples are frequent.
    levels = np.log2(counts[judged]).astype(np.int64)
    found = []
    for seed, places in enumerate((firsts, lasts), 3):
        examples = np.unique(place[words[places]])
        examples = examples[examples >= 0]
        values = np.full(len(counts), UNKNOWN)
        if 0 < len(examples) < len(judged):
            rows = np.column_stack([table, *(_shares(ending, examples) for ending in endings)])
            values[judged] = likeness(rows, examples, seed, run, levels)
        found.append(values)
    return Roles(*(np.where(text.abbreviations, np.maximum(values, UNKNOWN), values) for values in found))


def learn_names(
    text: JoinedTexts, done: Segmentation, lengths: np.ndarray, good: np.ndarray, run: Run = map
) -> np.ndarray:
    """Return for each node how likely it is used as the name of a thing.

    Names stand between the same neighbours as the nodes in `good`, which are phrases that are known to be good. Words
    such as "formal" and phrases such as "large-scale" stand before other words. `done` says where the nodes occur, and
    `lengths` has their numbers of words.
    """
    firsts = np.flatnonzero(done.found >= 0)
    nodes = done.found[firsts]
    lasts = firsts + lengths[nodes] - 1
    # Where the text defines an abbreviation, a bracket follows the good phrases more often than others.
    follows = np.append(text.breaks[1:], 0)[lasts]
    kept = (follows & Break.OPEN) == 0
    firsts, lasts, nodes = firsts[kept], lasts[kept], nodes[kept]
    counts = np.bincount(nodes, minlength=len(lengths))
    judged, place = _judged(counts)
    examples = place[good]
    examples = np.unique(examples[examples >= 0])
    values = np.full(len(counts), UNKNOWN)
    if 0 < len(examples) < len(judged):
        table = _neighbours(text, place[nodes], firsts, lasts, len(judged))
        values[judged] = likeness(table, examples, 5, run, np.log2(counts[judged]).astype(np.int64))
    return values


def _judged(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the items whose count is large enough, and for each item its place among these, or -1."""
    judged = np.flatnonzero(counts >= FEWEST)
    place = np.full(len(counts), -1, np.int64)
    place[judged] = np.arange(len(judged))
    return judged, place


def _neighbours(text: JoinedTexts, rows: np.ndarray, firsts: np.ndarray, lasts: np.ndarray, number: int) -> np.ndarray:
    """Return the shares of the neighbours of words or nodes, as an array with a row for each of `number` of them.

    The columns are the neighbours before, then those after: each frequent word, a wall, and all other words. `firsts`
    and `lasts` have the places of the first and of the last word of each occurrence, and `rows` has the row to which
    the occurrence belongs, -1 for none.
    """
    words, wall = text.folded[text.surfaces], NEIGHBOURS
    counts = np.bincount(words)
    kinds = np.full(len(counts), NEIGHBOURS + 1, np.int64)
    frequent = np.argsort(-counts, kind="stable")[:NEIGHBOURS]
    kinds[frequent] = np.arange(len(frequent))
    kind, width, apart = kinds[words], NEIGHBOURS + 2, text.walls > 0
    before = np.where(apart, wall, np.append(wall, kind[:-1]))
    after = np.where(np.append(apart[1:], True), wall, np.append(kind[1:], wall))
    known = rows >= 0
    tables = []
    for neighbour in (before[firsts[known]], after[lasts[known]]):
        table = np.bincount(rows[known] * width + neighbour, minlength=number * width).reshape(-1, width)
        usual = table.sum(axis=0) / max(1, table.sum())
        tables.append((table + PRIOR * usual) / (table.sum(axis=1, keepdims=True) + PRIOR))
    return np.hstack(tables)


def _endings(text: JoinedTexts, judged: np.ndarray) -> list[np.ndarray]:
    """Return for each number of letters in `ENDINGS` an array with the number of each judged word's ending of this
    length.
    """
    words = [""] * (int(text.folded.max()) + 1)
    for number, word in zip(text.folded.tolist(), text.written, strict=True):
        words[number] = word.casefold()
    found = []
    for size in ENDINGS:
        numbers: dict[str, int] = {}
        found.append(np.array([numbers.setdefault(words[k][-size:], len(numbers)) for k in judged.tolist()], np.int64))
    return found


def _shares(groups: np.ndarray, examples: np.ndarray) -> np.ndarray:
    """Return for each word the share of good examples among the other words of its group, smoothed towards the share
    among all words.

    `groups` has the group of each word, such as its ending, and `examples` the good words.
    """
    good = np.zeros(len(groups))
    good[examples] = 1.0
    sizes, sums = np.bincount(groups)[groups], np.bincount(groups, good)[groups]
    return (sums - good + PRIOR * good.mean()) / (sizes - 1 + PRIOR)
