"""The text of a collection as phrase mining reads it.

A unit is the number of a word: of its term, of a variant of the term, or of a stop word. A surface is a written form of
a word. Walls are places that no phrase crosses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sublex.contracts.base import Break, WordArrays
from sublex.estimators.phrases.lexicon import COMMON_SHARE, Lexicon
from sublex_phrases.inflections import variants_of
from sublex_phrases.mining_kernels import count_documents

Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@dataclass(frozen=True)
class JoinedTexts:
    """All texts of a collection, end to end. `ends` has the place where each text ends.

    `units`, `surfaces` and `breaks` have an entry for each word: its unit, its surface, and the break before it.
    `written` has the string of each surface.
    """

    lexicon: Lexicon
    units: np.ndarray
    surfaces: np.ndarray
    breaks: np.ndarray
    ends: np.ndarray
    written: Sequence[str]

    @cached_property
    def walls(self) -> np.ndarray:
        """For each word, whether there is a wall before it, so that no phrase has both words (uint8). A hyphen alone is
        no wall.
        """
        return (self.breaks > Break.HYPHEN).astype(np.uint8)

    @cached_property
    def capitals(self) -> np.ndarray:
        """For each word, whether it begins with a capital letter (uint8)."""
        return np.array([word[:1].isupper() for word in self.written], np.uint8)[self.surfaces]

    @cached_property
    def counts(self) -> np.ndarray:
        """The number of occurrences of each unit."""
        return np.bincount(self.units, minlength=len(self.lexicon))

    @cached_property
    def idf(self) -> np.ndarray:
        """For each unit, ln(N / df): the number of texts, and the number of texts that have the unit."""
        df = count_documents(self.units, self.ends, len(self.lexicon))
        return np.log(len(self.ends) / np.maximum(df, 1))

    @cached_property
    def residual_idf(self) -> np.ndarray:
        """For each unit, its idf minus its expected idf.

        The expected idf assumes that the occurrences of the unit are spread over the texts by chance. Texts repeat the
        words that they are about, so these words occur in fewer texts than by chance (K. Church and W. Gale, Inverse
        Document Frequency: A Measure of Deviations from Poisson, 1995).
        """
        counts = np.maximum(self.counts, 1)
        return self.idf + np.log(-np.expm1(-counts / max(1, len(self.ends))))

    @cached_property
    def common(self) -> np.ndarray:
        """For each unit, whether it is a stop word or occurs in a large share of the texts."""
        common = self.idf <= -np.log(COMMON_SHARE)
        common[self.lexicon.first_stop :] = True
        return common

    @cached_property
    def stops(self) -> np.ndarray:
        """For each unit, whether it is a stop word of the analyzer.

        If the analyzer has no stop words, a unit counts as a stop word if it is common (see `common`).
        """
        stops = np.arange(len(self.lexicon)) >= self.lexicon.first_stop
        return stops if stops.any() else self.common

    @cached_property
    def numbers(self) -> np.ndarray:
        """For each unit, whether it has no letter."""
        return np.array([not any(map(str.isalpha, word)) for word in self.lexicon.words], bool)

    @cached_property
    def letters(self) -> np.ndarray:
        """For each unit, whether it is a single letter. A Chinese character is a word, and has no small form."""
        return np.array([len(word) == 1 and word.upper() != word.lower() for word in self.lexicon.words], bool)

    @cached_property
    def folded(self) -> np.ndarray:
        """The number of each surface, where surfaces that differ only in capitals have the same number."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(word.casefold(), len(numbers)) for word in self.written], np.int32)

    @cached_property
    def abbreviations(self) -> np.ndarray:
        """For each folded surface, whether most of its occurrences have several capitals, as in "SVM" or "WiFi"."""
        capitals = np.array([sum(map(str.isupper, word)) > 1 for word in self.written], bool)
        return np.bincount(self.folded[self.surfaces], np.where(capitals, 1.0, -1.0)[self.surfaces]) > 0

    @cached_property
    def units_of_surfaces(self) -> np.ndarray:
        """The unit of each surface."""
        units = np.full(len(self.written), -1, np.int32)
        units[self.surfaces] = self.units
        return units

    def parts(self, number: int) -> list[tuple[int, int]]:
        """Return `number` pairs of places: the beginning and the end of each part of the text.

        A part consists of whole texts of the collection; all parts have about the same number of texts.
        """
        cuts = np.linspace(0, len(self.ends), number + 1).astype(np.int64)
        places = [int(self.ends[cut - 1]) if cut else 0 for cut in cuts]
        return list(zip(places[:-1], places[1:], strict=True))


def read_text(
    blocks: Iterable[WordArrays], vocabulary: Sequence[str], surfaces: Callable[[], Sequence[str]], least: int = 0
) -> JoinedTexts:
    """Return the text that the `blocks` of a corpus hold. `vocabulary` has the terms of the corpus.

    `surfaces` returns the string of each surface; it is called after the last block. With `least`, words of one term
    that are no inflections of one another become different units, if they occur at least `least` times.
    """
    parts: list[list[np.ndarray]] = [[], [], [], []]
    before = 0
    for block in blocks:
        for part, array in zip(parts, (block.surfaces, block.terms, block.breaks, block.ends + before), strict=True):
            part.append(array)
        before += len(block.surfaces)
    words, terms, breaks, ends = (np.concatenate(part) if part else np.empty(0, np.int64) for part in parts)
    written = surfaces()
    term_of = np.full(len(written), -1, np.int32)
    term_of[words] = terms
    stopped = [written[k].casefold() for k in np.flatnonzero(term_of < 0).tolist()]
    variants: list[list[str]] = []
    variant_terms: list[int] = []
    if least:
        counts = np.bincount(words, minlength=len(written))
        for term, forms in variants_of(written, term_of, counts, least):
            variants.append(forms)
            variant_terms.append(term)
    lexicon = Lexicon(vocabulary, dict.fromkeys(stopped), variants, variant_terms)
    names = [vocabulary[term] if term >= 0 else "" for term in term_of.tolist()]
    unit_of = np.array([lexicon.unit(word, term) for word, term in zip(written, names, strict=True)], np.int32)
    return JoinedTexts(lexicon, unit_of[words], words, breaks, ends, written)
