"""Content units, *units* for short: the phrases of a collection, and the words outside of phrases. This module finds
them in texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from sublex.contracts.base import Break, TextWords
from sublex.contracts.fitted import Corpus, Job
from sublex.estimators.phrases.phrase_list import PhraseList

# The number of a surface that was not seen yet.
UNSEEN = -2


class Occurrences(NamedTuple):
    """The occurrences of units in texts, in order.

    Each occurrence has four values: the place of its first word, the place after its last word, the unit, and the text.
    """

    begins: np.ndarray
    ends: np.ndarray
    units: np.ndarray
    texts: np.ndarray


class Units:
    """The units of a collection, by number.

    `codes` has a code for each unit: the number of a phrase, or the number of a word plus `len(phrases)`. Stop words
    are no units, but phrases may contain them.
    """

    def __init__(self, phrases: PhraseList, codes: np.ndarray):
        self.phrases, self.codes = phrases, codes

    @classmethod
    def of(cls, phrases: PhraseList) -> Units:
        """Return all units that may occur in texts: all phrases of the list, and all words that are no stop words."""
        return cls(phrases, np.arange(len(phrases) + phrases.lexicon.first_stop, dtype=np.int32))

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def is_phrase(self) -> np.ndarray:
        """For each unit, whether it is a phrase."""
        return self.codes < len(self.phrases)

    @cached_property
    def terms(self) -> list[tuple[str, ...]]:
        """The terms of each unit, without stop words."""
        words, stops = self.phrases.lexicon.words, self.phrases.lexicon.first_stop
        return [
            tuple(words[k] for k in self.phrases.units(code) if k < stops)
            if code < len(self.phrases)
            else (words[code - len(self.phrases)],)
            for code in self.codes.tolist()
        ]

    def name(self, unit: int, surface: Callable[[str], str]) -> str:
        """Return the name of a unit as people write it.

        `surface` returns the most frequent written form of a term. A variant of a term has forms of its own.
        """
        code, lexicon = int(self.codes[unit]), self.phrases.lexicon
        if code < len(self.phrases):
            return self.phrases.names[code]
        word = code - len(self.phrases)
        return (
            lexicon.variants[word - len(lexicon.terms)][0]
            if word >= len(lexicon.terms)
            else surface(lexicon.words[word])
        )

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The number of the unit of each code; -1 for codes without a unit. One more -1 is at the end."""
        numbers = np.full(len(self.phrases) + len(self.phrases.lexicon) + 1, -1, np.int32)
        numbers[self.codes] = np.arange(len(self.codes))
        return numbers

    def words_of(self, texts: TextWords) -> np.ndarray:
        """Return the words of texts as numbers in the phrases' lexicon; -1 for unknown words."""
        unit = self.phrases.lexicon.unit
        known = [unit(surface, term) for surface, term in zip(texts.surfaces, texts.terms, strict=True)]
        return np.array(known, np.int32)[texts.words]

    def find(self, words: np.ndarray, breaks: np.ndarray, ends: np.ndarray) -> Occurrences:
        """Return the occurrences of units in texts.

        `words` are the words of the texts as numbers in the phrases' lexicon, -1 for unknown words. `breaks` has the
        break before each word; each text begins with a break. `ends` has the place where each text ends.
        """
        begins, phrases = self.phrases.find(words, breaks > Break.HYPHEN)
        single = words[begins]
        codes = np.where(phrases >= 0, phrases, np.where(single >= 0, len(self.phrases) + single, -1))
        units = self._numbers[codes]
        known = units >= 0
        stops = np.append(begins[1:], len(words))
        texts = np.searchsorted(ends, begins, side="right")
        return Occurrences(begins[known], stops[known], units[known], texts[known])

    def counts(self, words: np.ndarray, breaks: np.ndarray, ends: np.ndarray) -> csr_array:
        """Return how often each unit occurs in each text, as sparse rows of texts by units."""
        found = self.find(words, breaks, ends)
        ones = np.ones(len(found.units))
        return csr_array((ones, (found.texts, found.units)), shape=(len(ends), len(self)))

    def of_texts(self, texts: TextWords) -> csr_array:
        """Return how often each unit occurs in each text, as sparse rows of texts by units."""
        return self.counts(self.words_of(texts), texts.breaks, texts.ends)

    def of_corpus(self, corpus: Corpus, job: Job) -> csr_array:
        """Return how often each unit occurs in each document of a collection, as sparse rows of documents by units."""
        lexicon, words = self.phrases.lexicon, corpus.words()
        vocabulary, of_surfaces = corpus.vocabulary, np.empty(0, np.int32)
        parts, done = [csr_array((0, len(self)))], 0
        for block in words.blocks(job.map):
            surfaces = words.surfaces
            of_surfaces = np.append(of_surfaces, np.full(len(surfaces) - len(of_surfaces), UNSEEN, np.int32))
            first = np.flatnonzero(of_surfaces[block.surfaces] == UNSEEN)
            for surface, term in zip(block.surfaces[first].tolist(), block.terms[first].tolist(), strict=True):
                of_surfaces[surface] = lexicon.unit(surfaces[surface], vocabulary[term] if term >= 0 else "")
            parts.append(self.counts(of_surfaces[block.surfaces], block.breaks, block.ends))
            done += len(block.ends)
            job.progress(done, len(corpus.docs), "documents")
        return csr_array(vstack(parts, format="csr"))

    def kept(self, chosen: np.ndarray) -> Units:
        """Return the units whose numbers are in `chosen`, numbered anew in this order."""
        return Units(self.phrases, self.codes[chosen])

    def names(self, units: Sequence[int], surface: Callable[[str], str]) -> list[str]:
        """Return the names of some units."""
        return [self.name(unit, surface) for unit in units]
