"""Tell inflections of a word, such as "network" and "networks", from other words with the same stem.

A stemmer makes one term of "computer" and "computational", but "computer science" and "computational science" are two
phrases. The rules fit languages whose inflections change few letters at the end of a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

# Endings of two inflections of one word, apart from endings of at most one letter.
ENDINGS = {("", "es"), ("", "en"), ("y", "ies"), ("is", "es"), ("on", "a"), ("um", "a"), ("us", "i"), ("", "'s")}


def is_inflection(word: str, other: str) -> bool:
    """Return whether two words with the same stem differ as inflections do: by one letter at the end, or by a pair of
    ENDINGS.
    """
    shared = 0
    while shared < min(len(word), len(other)) and word[shared] == other[shared]:
        shared += 1
    endings = word[shared:], other[shared:]
    return max(map(len, endings)) <= 1 or endings in ENDINGS or endings[::-1] in ENDINGS


def variants_of(
    written: Sequence[str], terms: np.ndarray, counts: np.ndarray, least: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the variants of terms: groups of inflections that become units of their own.

    For each group, its term and its forms in lower case are returned. `written` has the written surfaces, `terms` the
    term of each surface, -1 for stop words, and `counts` its number of occurrences. The most frequent group of a term
    is no variant, and neither is a group with less than `least` occurrences.
    """
    forms: dict[int, dict[str, int]] = {}
    for k in np.flatnonzero((terms >= 0) & (counts > 0)).tolist():
        known = forms.setdefault(int(terms[k]), {})
        word = written[k].casefold()
        known[word] = known.get(word, 0) + int(counts[k])
    for term in sorted(forms):
        if len(forms[term]) > 1:
            groups = _groups(forms[term])
            sums = [sum(forms[term][word] for word in group) for group in groups]
            first = sums.index(max(sums))
            for k, group in enumerate(groups):
                if k != first and sums[k] >= least:
                    yield term, group


def _groups(counts: dict[str, int]) -> list[list[str]]:
    """Return words in groups of inflections. A word joins the first group of whose most frequent word it is an
    inflection.

    `counts` has the words with their numbers of occurrences.
    """
    groups: list[list[str]] = []
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        own = next((group for group in groups if is_inflection(group[0], word)), None)
        if own is None:
            groups.append([word])
        else:
            own.append(word)
    return groups
