"""Find abbreviations that a text defines in brackets, as in "support vector machine (SVM)".

The letters of the abbreviation must be the first letters of the words before it; stop words may be skipped (after A.
Schwartz and M. Hearst, A simple algorithm for identifying abbreviation definitions, 2003). The rule does not depend on
a language.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from sublex.contracts.base import Break
from sublex_phrases.text import JoinedTexts

# The smallest and the largest number of letters of an abbreviation, and the least number of its definitions.
SHORTEST, LONGEST, DEFINITIONS = 2, 8, 2
# An abbreviation stands for a phrase only if two shares are at least this large: the share of its definitions that name
# the phrase, and the share of the word's occurrences that are written as an abbreviation. "ITS" fails, because most
# occurrences of the word are "its".
MAIN_SHARE, WRITTEN_SHARE = 0.7, 0.7
Sequence = tuple[int, ...]


def definitions(text: JoinedTexts, places: list[tuple[int, int]]) -> dict[int, Counter[Sequence]]:
    """Return for each abbreviation, given as its unit, the sequences of units that the text defines as its meaning.

    With each sequence comes the number of its definitions. `places` is the result of `defining_places`.
    """
    found: dict[int, Counter[Sequence]] = {}
    for begin, place in places:
        found.setdefault(int(text.units[place]), Counter())[tuple(text.units[begin:place].tolist())] += 1
    return found


def defining_places(text: JoinedTexts, most: int) -> list[tuple[int, int]]:
    """Return where the text defines abbreviations, as pairs of the place where the phrase begins and the place of the
    abbreviation.

    A phrase has at most `most` words and ends before the abbreviation.
    """
    opens, closes = (text.breaks[:-1] & Break.OPEN) > 0, (text.breaks[1:] & Break.CLOSE) > 0
    letters = [_letters(word) for word in text.written]
    short = np.array([bool(word) for word in letters], bool)
    found = []
    for place in np.flatnonzero(opens & closes & short[text.surfaces[:-1]]).tolist():
        begin = _begin(text, place, letters[text.surfaces[place]], most)
        if begin >= 0:
            found.append((begin, place))
    return found


def _letters(word: str) -> str:
    """Return the letters of an abbreviation in lower case, without the s of a plural. For a word that is no
    abbreviation, return an empty string.
    """
    if sum(character.isupper() for character in word) < 2:
        return ""
    whole = word[:-1] if word[-1] == "s" and word[:-1].isupper() else word
    return whole.casefold() if SHORTEST <= len(whole) <= LONGEST and whole.isalnum() else ""


def _begin(text: JoinedTexts, place: int, letters: str, most: int) -> int:
    """Return the place where the phrase before an abbreviation begins; -1 if the letters do not fit the words before
    it.

    The abbreviation is at `place`, and `letters` are its letters. The phrase has at most `most` words.
    """
    left = len(letters) - 1
    for at in range(place - 1, max(place - 1 - most, -1), -1):
        if text.written[text.surfaces[at]][0].casefold() == letters[left]:
            left -= 1
            if left < 0:
                return at
        elif not text.stops[text.units[at]]:
            return -1
        if text.walls[at]:
            return -1
    return -1


def main_definitions(text: JoinedTexts, found: dict[int, Counter[Sequence]]) -> dict[int, tuple[Sequence, int]]:
    """Return for each abbreviation the sequence that most of its definitions name, and the number of definitions that
    name this sequence.

    `found` is the result of `definitions`. Ambiguous abbreviations are left out.
    """
    main = {}
    short = np.array([bool(_letters(word)) for word in text.written], bool)
    written = np.bincount(text.units[short[text.surfaces]], minlength=len(text.lexicon)) / np.maximum(text.counts, 1)
    terms = np.append(np.arange(len(text.lexicon.terms)), text.lexicon.variant_terms)
    terms = np.append(terms, np.arange(len(terms), len(text.lexicon)))
    for unit, sequences in found.items():
        # Sequences of the same terms, such as "neural networks" and "neural network", are one meaning.
        sums = Counter[Sequence]()
        for sequence, times in sequences.items():
            sums[tuple(terms[[*sequence]].tolist())] += times
        sequence, _ = min(sequences.items(), key=lambda item: (-item[1], item[0]))
        times = sums[tuple(terms[[*sequence]].tolist())]
        if written[unit] >= WRITTEN_SHARE and times >= DEFINITIONS and times >= MAIN_SHARE * sum(sequences.values()):
            main[unit] = sequence, times
    return main
