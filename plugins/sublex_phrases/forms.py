"""Find how phrases are written: their inflections, capitals and hyphens, and how often each form occurs."""

from __future__ import annotations

import re

import numpy as np

from sublex.contracts.base import Break
from sublex_phrases.mining_kernels import count_forms
from sublex_phrases.ngrams import Ngrams
from sublex_phrases.text import JoinedTexts

# The number of forms of a phrase that are kept.
KEPT = 5
# Characters that are written without spaces between words: Hiragana, Katakana and Han.
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
# A form with fewer capitals is preferred if it has at least this share of the most frequent form's occurrences.
PLAIN_SHARE = 0.25
Forms = list[tuple[str, int]]


def written_forms(text: JoinedTexts, ngrams: Ngrams, found: np.ndarray, nodes: np.ndarray) -> dict[int, Forms]:
    """Return the most frequent written forms of each of `nodes`, with their counts. The most frequent form comes first.

    `found` has for each place of the text the node of the segment that begins there. Forms that differ only in capitals
    count as one form, written with its most frequent capitals.
    """
    chosen = np.zeros(len(ngrams.parents), np.uint8)
    chosen[nodes] = 1
    places, counts = count_forms(found, text.surfaces, text.breaks, ngrams.lengths, chosen)
    at = found[places]
    stops = places + ngrams.lengths[at]
    gathered: dict[int, dict[str, Forms]] = {}
    hyphens = text.breaks == Break.HYPHEN
    rows = zip(at.tolist(), places.tolist(), stops.tolist(), counts.tolist(), strict=True)
    for node, begin, stop, count in rows:
        form = _form(text, hyphens, begin, stop)
        gathered.setdefault(node, {}).setdefault(form.casefold(), []).append((form, count))
    return {node: _best(list(alike.values())) for node, alike in gathered.items()}


def _form(text: JoinedTexts, hyphens: np.ndarray, begin: int, stop: int) -> str:
    """Return the words from `begin` to `stop` as they are written, with their hyphens.

    Chinese and Japanese words are joined without spaces.
    """
    words = text.written[text.surfaces[begin]]
    for k in range(begin + 1, stop):
        word = text.written[text.surfaces[k]]
        space = "" if UNSPACED.fullmatch(words[-1]) and UNSPACED.fullmatch(word[0]) else " "
        words += ("-" if hyphens[k] else space) + word
    return words


def _best(groups: list[Forms]) -> Forms:
    """Return the most frequent form of each group, with the count of the whole group. The largest count comes first.

    At most `KEPT` forms are returned.
    """
    merged = [(_plainest(group), sum(count for _, count in group)) for group in groups]
    return sorted(merged, key=lambda item: (-item[1], item[0]))[:KEPT]


def _plainest(group: Forms) -> str:
    """Return the form with the fewest capitals among the frequent ones of `group`, which differ only in capitals.

    Titles capitalise all words, so a form in small letters counts although it is not the most frequent one.
    """
    often = PLAIN_SHARE * max(count for _, count in group)
    frequent = [(form, count) for form, count in group if count >= often]
    return min(frequent, key=lambda item: (sum(map(str.isupper, item[0])), -item[1], item[0]))[0]
