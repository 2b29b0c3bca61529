"""The numbers of units: words with the same term are one unit, so all inflections of a phrase count as this phrase.

A stop word has no term. It is a unit by its letters, in lower case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sublex.analysis.words import word_spans

# A word in at least this share of the documents is common: it says little about a phrase that begins or ends with it.
COMMON_SHARE = 0.25


class Lexicon:
    """The numbers of units. A unit is a term, or a stop word in lower case."""

    def __init__(self, terms: Iterable[str] = (), stops: Iterable[str] = ()):
        self.words: list[str] = []
        self._terms: dict[str, int] = {}
        self._stops: dict[str, int] = {}
        for known, words in ((self._terms, terms), (self._stops, stops)):
            for word in words:
                known[word] = len(self.words)
                self.words.append(word)
        # The numbers of stop words follow those of terms.
        self.first_stop = len(self._terms)

    def __len__(self) -> int:
        return len(self.words)

    def unit(self, surface: str, term: str) -> int:
        """Return the unit of a word, -1 for an unknown word. A stop word has an empty term."""
        return self._terms.get(term, -1) if term else self._stops.get(surface.casefold(), -1)

    def sequence(self, phrase: str, analyze: Callable[[str], list[str]]) -> tuple[int, ...]:
        """Return the units of a phrase, -1 for unknown words.

        `analyze` returns the list of the terms of a word, which is empty for a stop word.
        """
        units: list[int] = []
        for begin, end in word_spans(phrase):
            word = phrase[begin:end]
            units += [self.unit(term, term) for term in analyze(word)] or [self.unit(word, "")]
        return tuple(units)
