"""The phrases of a collection as a model keeps them: names, counts, features, and a trie that finds them in texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.fitted import Store, Stored
from sublex.contracts.stored import Declared, Json, Numbers
from sublex.estimators.phrases.lexicon import Lexicon
from sublex.estimators.phrases.phrase_kernels import find_longest, hash_keys, segment
from sublex.estimators.word_sums import check_model

# The features of a phrase of several words. c is a number of occurrences, and p the probability estimated from it.
#
# * concordance (f1), association (f2) and salience (f4): for the split into two parts A and B with the largest p(A)·p(B),
#   log p/(p(A) p(B)), log c/√(c(A) c(B)), and log of p·f1; they use the counts after segmentation when these are known
# * kept: the share of the occurrences that segmentation keeps whole
# * words: their number; idf: mean, least, largest, of the first and of the last word; stops: the share of common words
# * first_stop, last_stop: whether the sequence begins or ends with a stop word
# * quoted, bracketed, hyphened, capitals: shares of the occurrences
# * after, before, alone: the share of the occurrences after punctuation, before punctuation, and between two
# * right, left: the share of the occurrences that one longer sequence explains, on each side; right_choice, left_choice: the
#   entropy of the neighbours, which counts each rare neighbour as a different one
# * of_prefix, of_suffix: the count of the sequence, divided by the count of the sequence without its last word, or
#   without its first word
# * again: log of the number of occurrences in a text that has any, after segmentation
# * residual_idf: the largest residual idf of its words
# * begins, ends: how likely its first word can begin a phrase, and how likely its last word can end a phrase
# * content: how likely a word of it can begin or end a phrase, for the word for which this is least likely
# * numbers: the share of the words without a letter
# * named: how likely it is used as the name of a thing, by the words before and after it
NAMES = (
    "concordance association salience kept words mean_idf least_idf largest_idf first_idf last_idf stops first_stop last_stop "
    "quoted bracketed hyphened capitals after before alone right left right_choice left_choice of_prefix of_suffix "
    "again residual_idf begins ends content numbers named"
).split()
# A weight is the logarithm of a probability, so its absolute value is below this.
MOST_WEIGHT = 1e6
# An idf is the logarithm of a number of documents, so its absolute value is below this.
MOST_IDF = 100.0


class _Trie(NamedTuple):
    """A trie of sequences of units, whose first nodes are the single units.

    `keys` and their hash table `slots` find the other nodes. All nodes have a parent, a length and a weight; `phrases`
    has the phrase of each node, -1 for none.
    """

    keys: np.ndarray
    slots: np.ndarray
    parents: np.ndarray
    lengths: np.ndarray
    weights: np.ndarray
    phrases: np.ndarray


class PhraseList:
    """Phrases by number: first the phrases of several words, then the single words, each kind best first.

    These attributes have a value for each phrase:

    * `names`: its most frequent written form.
    * `quality`: a number from 0 to 1.
    * `counts`: the number of places where its words occur one after another.
    * `mentions`: the number of places where segmentation keeps these words together, plus the occurrences of its abbreviations.
    * `features`: a row with the columns `NAMES`.
    * `forms` and `abbreviations`: its written forms and its abbreviations, as lists of [text, count].
    * `sequences`: its units, followed by -1.
    * `weights`: the logarithm of its probability.

    These attributes have a value for each unit:

    * `word_phrases`: the phrase that consists of the unit alone, or that the unit abbreviates; -1 for none.
    * `word_weights`: the logarithm of the probability of the unit.
    * `word_begins` and `word_ends`: how likely the unit can begin a phrase, and how likely it can end one.
    * `word_idf` and `word_residual`: its idf, and the difference from the idf of a word that is spread by chance.
    """

    # The names of the arrays that a model stores, which are also names of attributes.
    WORD_FACTS = ("word_begins", "word_ends", "word_idf", "word_residual")
    ARRAYS = (
        "quality", "counts", "mentions", "features", "sequences", "weights", "word_phrases", "word_weights", *WORD_FACTS
    )  # fmt: skip
    LISTS = ("forms", "abbreviations")

    def __init__(self, terms: Sequence[str], stops: Sequence[str], values: Mapping[str, Any]):
        self.lexicon = Lexicon(terms, stops, values["variants"], values["variant_terms"].tolist())
        self.quality, self.counts, self.mentions = values["quality"], values["counts"], values["mentions"]
        self.features, self.sequences, self.weights = values["features"], values["sequences"], values["weights"]
        self.word_phrases, self.word_weights = values["word_phrases"], values["word_weights"]
        self.word_begins, self.word_ends = values["word_begins"], values["word_ends"]
        self.word_idf, self.word_residual = values["word_idf"], values["word_residual"]
        self.forms: list[list[Any]] = values["forms"]
        self.abbreviations: list[list[Any]] = values["abbreviations"]

    def values(self) -> dict[str, Any]:
        """Return the values that a model must store, by name."""
        lexicon = self.lexicon
        words = {
            "terms": lexicon.terms,
            "stops": lexicon.words[lexicon.first_stop :],
            "variants": [list(forms) for forms in lexicon.variants],
            "variant_terms": np.array(lexicon.variant_terms, np.int32),
        }
        return words | {name: getattr(self, name) for name in (*self.ARRAYS, *self.LISTS)}

    def save(self, store: Store, prefix: str = "") -> None:
        """Store the phrases, under names that begin with the prefix."""
        for name, value in self.values().items():
            store.put(prefix + name, value)

    @staticmethod
    def declares(prefix: str = "") -> dict[str, Declared]:
        """Return the declaration of each value that `save` stores, by name.

        With values that fit the declarations, and with `is_whole`, kernels stay within their arrays.
        """
        of_phrases, of_units, texts = (
            ("phrases",),
            ("terms + variants + stops",),
            Json(list[list[tuple[str, int]]], "phrases"),
        )
        declared: dict[str, Declared] = {
            "terms": Json(list[str], "terms", distinct=True),
            "stops": Json(list[str], "stops", distinct=True),
            "variants": Json(list[list[str]], "variants"),
            "variant_terms": Numbers(("variants",), "i4", 0, below="terms"),
            "forms": texts,
            "abbreviations": texts,
            "quality": Numbers(of_phrases),
            "counts": Numbers(of_phrases, "i8"),
            "mentions": Numbers(of_phrases, "i8"),
            "features": Numbers(("phrases", len(NAMES)), "f4"),
            "sequences": Numbers(("phrases", "longest"), "i4", -1, below="terms + variants + stops"),
            "weights": Numbers(of_phrases, "f8", -MOST_WEIGHT, MOST_WEIGHT),
            "word_phrases": Numbers(of_units, "i4", -1, below="phrases"),
            "word_weights": Numbers(of_units, "f8", -MOST_WEIGHT, MOST_WEIGHT),
            "word_begins": Numbers(of_units, "f4", 0, 1),
            "word_ends": Numbers(of_units, "f4", 0, 1),
            "word_idf": Numbers(of_units, "f4", 0, MOST_IDF),
            "word_residual": Numbers(of_units, "f4", -MOST_IDF, MOST_IDF),
        }
        return {prefix + name: own for name, own in declared.items()}

    @classmethod
    def load(cls, store: Stored, prefix: str = "") -> PhraseList:
        """Return the phrases that `save` stored. Raise `IndexCorrupt` if the stored values are not such phrases."""
        words = ("terms", "stops", "variants", "variant_terms")
        values = {name: store.get(prefix + name) for name in (*words, *cls.ARRAYS, *cls.LISTS)}
        found = cls(values["terms"], values["stops"], values)
        check_model(found.is_whole())
        return found

    def is_whole(self) -> bool:
        """Return whether every phrase has a form and at least one unit, with only -1 after the last unit.

        Every variant of a term must have a written form, too.
        """
        sequences = self.sequences
        return (
            all(self.forms)
            and all(self.lexicon.variants)
            and sequences.shape[1] > 0
            and bool((sequences[:, 0] >= 0).all())
            and bool(((sequences[:, :-1] >= 0) | (sequences[:, 1:] < 0)).all())
        )

    def __len__(self) -> int:
        return len(self.quality)

    @cached_property
    def names(self) -> list[str]:
        """The most frequent written form of each phrase."""
        return [forms[0][0] for forms in self.forms]

    @cached_property
    def lengths(self) -> np.ndarray:
        """The number of words of each phrase."""
        return (self.sequences >= 0).sum(axis=1)

    def units(self, phrase: int) -> list[int]:
        """Return the units of a phrase, in order, by their numbers."""
        return self.sequences[phrase, : self.lengths[phrase]].tolist()

    @cached_property
    def _trie(self) -> _Trie:
        singles = len(self.lexicon)
        children: dict[int, int] = {}
        nodes = []
        for phrase in range(len(self)):
            node, *rest = self.units(phrase)
            for unit in rest:
                node = children.setdefault(node << 32 | unit, singles + len(children))
            nodes.append(node)
        total, lengths = singles + len(children), np.ones(singles + len(children), np.int32)
        keys = np.fromiter(children, np.int64, len(children))
        parents = np.full(total, -1, np.int32)
        parents[singles:] = keys >> 32
        for node, parent in enumerate(parents[singles:].tolist(), singles):
            lengths[node] = lengths[parent] + 1
        weights, phrases = np.full(total, -np.inf), np.full(total, -1, np.int32)
        weights[:singles], phrases[:singles] = self.word_weights, self.word_phrases
        several = self.lengths > 1
        weights[np.array(nodes, np.int64)[several]] = self.weights[several]
        phrases[np.array(nodes, np.int64)[several]] = np.flatnonzero(several)
        return _Trie(keys, hash_keys(keys), parents, lengths, weights, phrases)

    def find(self, units: np.ndarray, walls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cut a text into segments: phrases of the list and single words, so that their weights have the largest sum.

        Return the place where each segment begins, and the phrase of each segment, -1 for a word that is no phrase.
        `units` has the unit of each word of the text, -1 for unknown words. `walls` is true for a word that cannot be
        in one phrase with the word before it.
        """
        trie = self._trie
        units, walls = np.ascontiguousarray(units, np.int32), np.ascontiguousarray(walls, np.uint8)
        longest, found = np.empty(len(units), np.int32), np.full(len(units), -2, np.int32)
        find_longest(units, walls, trie.keys, trie.slots, len(self.lexicon), longest)
        segment(longest, walls, trie.parents, trie.lengths, trie.weights, 0, len(units), found)
        inside = np.zeros(len(units) + 1, np.int64)
        known = np.flatnonzero(found >= 0)
        np.add.at(inside, known + 1, 1)
        np.add.at(inside, np.minimum(known + trie.lengths[found[known]], len(units)), -1)
        begins = np.flatnonzero((found >= 0) | (np.cumsum(inside)[: len(units)] == 0))
        return begins, np.where(found[begins] >= 0, trie.phrases[found[begins]], -1)
