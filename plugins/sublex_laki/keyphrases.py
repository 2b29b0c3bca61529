"""The keyphrases of a fitted network, prepared for people: names, silhouettes, broader and narrower keyphrases, and the
words that evoked them.

The silhouette of a keyphrase are the units, words and phrases, that it turns on most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.labels import find_label
from sublex_laki.estimator import Network
from sublex_laki.units import Units

Surface = Callable[[str], str]
# If the names of two units of a silhouette are at least this similar, from 0 to 1, only the first is shown.
ALIKE = 0.85
# The word that is shown before a keyphrase if its strength in a text is below the parameter `strong`.
PERHAPS = "perhaps"
# A word evokes a keyphrase if the keyphrase turns it on with at least this probability.
LEAST_EVIDENCE = 0.05
# The idf of a word is taken to be at least this, so that `word_shares` is defined if a keyphrase's words are in all
# texts.
LEAST_IDF = 1e-6


class WeightedName(NamedTuple):
    """The name of a unit or keyphrase, and its weight or probability."""

    name: str
    weight: float


class Keyphrases:
    """The keyphrases of a network, by number. The most frequent keyphrase has the number 0.

    `surface` returns the most frequent written form of a term.
    """

    def __init__(self, network: Network, units: Units, surface: Surface):
        self.network, self.units, self._surface = network, units, surface

    @cached_property
    def names(self) -> list[str]:
        """The name of each keyphrase."""
        return self.units.names(self.network.phrases.tolist(), self._surface)

    @cached_property
    def _forms(self) -> dict[str, int]:
        """The number of each keyphrase by its names: all its written forms and abbreviations, in lower case."""
        phrases, found = self.units.phrases, dict[str, int]()
        for k, unit in enumerate(self.network.phrases.tolist()):
            code = int(self.units.codes[unit])
            for text, _ in (*phrases.forms[code], *phrases.abbreviations[code]):
                found.setdefault(text.casefold(), k)
        return found

    def number(self, wanted: str | int, model: str) -> int:
        """Return the number of the keyphrase that a user means by `wanted`: a written form, an abbreviation, or the
        number itself.

        Raise `InputError` if there is no such keyphrase; the message names the nearest one, and `model`.
        """
        plain = " ".join(str(wanted).replace("_", " ").split()).casefold()
        return self._forms[plain] if plain in self._forms else find_label(wanted, self.names, "keyphrase", model)

    @cached_property
    def _silhouettes(self) -> csr_array:
        return self.network.silhouettes

    @cached_property
    def _hierarchy(self) -> csr_array:
        return self.network.hierarchy

    @cached_property
    def _broader(self) -> csr_array:
        return csr_array(self._hierarchy.T)

    def silhouette(self, keyphrase: int, number: int) -> list[WeightedName]:
        """Return the units that a keyphrase turns on most, at most `number`, each with the probability that the
        keyphrase turns it on.

        Of units with similar names only the first is returned.
        """
        found: list[WeightedName] = []
        for unit, weight in falling(self._silhouettes[[keyphrase]]):
            name = self.units.name(unit, self._surface)
            if len(found) == number:
                break
            if not any(SequenceMatcher(None, name, other.name).ratio() >= ALIKE for other in found):
                found.append(WeightedName(name, float(-np.expm1(-weight))))
        return found

    def broader(self, keyphrase: int) -> list[WeightedName]:
        """Return the keyphrases that lead to `keyphrase`, each with the probability that it turns `keyphrase` on."""
        return [
            WeightedName(self.names[k], float(-np.expm1(-weight))) for k, weight in falling(self._broader[[keyphrase]])
        ]

    def narrower(self, keyphrase: int) -> list[WeightedName]:
        """Return the rarer keyphrases to which `keyphrase` leads, each with the probability that `keyphrase` turns it
        on.
        """
        found = falling(self._hierarchy[[keyphrase]])
        return [WeightedName(self.names[k], float(-np.expm1(-weight))) for k, weight in found]

    @cached_property
    def word_shares(self) -> csr_array:
        """A sparse matrix of keyphrases by words of the lexicon: the idf of each word of a keyphrase, divided by the
        sum over its words.

        Stop words are left out. Each row adds up to 1.
        """
        phrases = self.units.phrases
        words = [
            [unit for unit in phrases.units(code) if unit < phrases.lexicon.first_stop]
            for code in self.units.codes[self.network.phrases].tolist()
        ]
        rows = np.repeat(np.arange(len(words)), [len(own) for own in words])
        columns = np.array([unit for own in words for unit in own], np.int64)
        idf = np.maximum(phrases.word_idf[columns].astype(np.float64), LEAST_IDF)
        sums = np.bincount(rows, idf, len(words))
        return csr_array((idf / sums[rows], (rows, columns)), shape=(len(words), len(phrases.lexicon)))

    def is_mentioned(self, counts: csr_array, keyphrases: Sequence[int]) -> list[bool]:
        """Return for each of `keyphrases` whether a text mentions it. `counts` is the text's row of units."""
        own = set(counts.indices.tolist())
        return [int(self.network.phrases[k]) in own for k in keyphrases]

    def evoking(self, evoked: csr_array, keyphrase: int, number: int) -> list[WeightedName]:
        """Return the units of a text that evoke `keyphrase` most, at most `number`.

        `evoked` has sparse rows of keyphrases by units: how likely a keyphrase turns a unit on. Each unit is returned
        with this probability.
        """
        found = [(unit, value) for unit, value in falling(evoked[[keyphrase]]) if value >= LEAST_EVIDENCE]
        return [WeightedName(self.units.name(unit, self._surface), min(value, 1.0)) for unit, value in found[:number]]


def is_part(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether the terms of `part` follow one another directly in `whole`, which has more terms."""
    size = len(part)
    return size < len(whole) and any(whole[k : k + size] == part for k in range(len(whole) - size + 1))


def listed(items: Sequence[WeightedName]) -> str:
    """Return names with their weights as one string."""
    return ", ".join(f"{item.name} {item.weight:.2f}" for item in items)


def falling(row: csr_array) -> Iterator[tuple[int, float]]:
    """Yield the column and the value of each entry of a sparse row, the largest value first."""
    order = np.lexsort((row.indices, -row.data))
    yield from zip(row.indices[order].tolist(), row.data[order].tolist(), strict=True)
