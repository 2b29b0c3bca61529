"""Find the terms of an index that a prefix or a fuzzy word stands for.

The letters of a prefix or a fuzzy word are normalised as the analyzer normalises the letters of words, but they are not
stemmed. If the analyzer stems, they are compared with stems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sublex.contracts.operators import MOST_PARTS
from sublex.index.spelling import within_edits

if TYPE_CHECKING:
    from sublex.contracts.base import Analyzer
    from sublex.index.segment import Segment
    from sublex.index.snapshot import Snapshot

# The largest number of terms that one prefix or fuzzy word stands for.
MOST = MOST_PARTS


class Expansion(NamedTuple):
    """The terms that a prefix or a fuzzy word stands for, at most `MOST`, and the number of all terms that it matches."""

    terms: list[str]
    matching: int


def letters_of(analyzer: Analyzer, text: str) -> str:
    """Return a text in the letters that terms have. An analyzer without the method `letters` leaves the text unchanged."""
    letters = getattr(analyzer, "letters", None)
    return letters(text) if letters else text


def terms_beginning(snapshot: Snapshot, letters: str) -> Expansion:
    """Return the terms of live documents that begin with some letters. If they are too many, return the most frequent ones."""
    prefix = letters.encode("utf-8", "replace")
    found = []
    for segment in snapshot.segments:
        begin, end = segment.terms.bisect(prefix), segment.terms.bisect(prefix[:-1] + bytes([prefix[-1] + 1]))
        found.append(np.arange(begin, max(begin, end)))
    return _best(snapshot, found, [np.zeros(len(ordinals), np.int64) for ordinals in found])


def near_terms(snapshot: Snapshot, letters: str, edits: int) -> Expansion:
    """Return the terms of live documents within `edits` edits of some letters. If they are too many, return the nearest ones.

    An edit inserts, deletes or replaces a letter, or swaps two neighbours.
    """
    found = [_near(segment, letters, edits) for segment in snapshot.segments]
    return _best(snapshot, [ordinals for ordinals, _ in found], [distances for _, distances in found])


def _near(segment: Segment, letters: str, edits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ordinals of the terms of a segment within some edits of a word, and their distances."""
    wanted = np.frombuffer(letters.encode("utf-32-le", "replace"), "<u4")
    # An edit changes one character, even if the character has several bytes.
    others, points, starts = segment.terms.beyond_ascii
    ordinals, distances = within_edits(segment.terms.text_data, segment.terms.starts, wanted, edits)
    ascii = ~np.isin(ordinals, others)
    near, more = within_edits(points, starts, wanted, edits)
    return np.concatenate([ordinals[ascii], others[near]]), np.concatenate([distances[ascii], more]).astype(np.int64)


def _best(snapshot: Snapshot, found: list[np.ndarray], distances: list[np.ndarray]) -> Expansion:
    """Return the nearest terms; among equally near terms, the most frequent ones. `found` has ordinals for each segment."""
    numbers, near, df = [], [], []
    for place, (segment, ordinals) in enumerate(zip(snapshot.segments, found, strict=True)):
        live = segment.live_df[ordinals] > 0
        kept = ordinals[live]
        # If there are several segments, the number of a term is its place in the vocabulary of all segments.
        numbers.append(kept if len(found) == 1 else snapshot.corpus.ranks[place][kept])
        near.append(distances[place][live])
        df.append(segment.live_df[kept].astype(np.int64))
    terms, first, inverse = np.unique(np.concatenate(numbers), return_index=True, return_inverse=True)
    total = np.bincount(inverse.ravel(), np.concatenate(df), len(terms))
    best = np.lexsort((terms, -total, np.concatenate(near)[first]))[:MOST]
    return Expansion([snapshot.word(number) for number in terms[best].tolist()], len(terms))
