"""The words of queries that no document contains, and what to say about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sublex.analysis.tokens import reads_latex, terms_of, tokenize, tokens_of
from sublex.analysis.words import split_terms
from sublex.index.spelling import Correction, correction
from sublex.tools.messages import counted, cut

if TYPE_CHECKING:
    from sublex.index.snapshot import Snapshot
    from sublex.trec.topics import Topic

# The number of words that a sentence about topics shows.
EXAMPLES = 3


def corrections(snapshot: Snapshot, words: Mapping[str, str]) -> dict[str, Correction]:
    """Return what documents have in place of words that none contains, by term; words without the like are left out.

    `words` maps terms to words as written.
    """
    found = {term: correction(snapshot, term, word) for term, word in words.items()}
    return {term: other for term, other in found.items() if other}


def missing_notes(words: Mapping[str, str], corrected: Mapping[str, Correction]) -> list[str]:
    """Return the sentences about words that no document contains, given as a mapping from terms to words as written.

    Each corrected word has a sentence of its own. The last sentence has all other words.
    """
    others = [f'"{word}"' for term, word in words.items() if term not in corrected]
    last = [f"No document contains {cut(' or '.join(others))}."] if others else []
    return [*(_with(words[term], other) for term, other in corrected.items()), *last]


def _with(word: str, other: Correction) -> str:
    """Return the sentence about a word that no document contains, with the words that documents have instead."""
    hint = f" An index with {other.options} {other.reason}." if other.options else ""
    return f'No document contains "{word}"; did you mean {other.words}?{hint}'


def missing_in_topics(snapshot: Snapshot, topics: Sequence[Topic]) -> dict[str, tuple[str, ...]]:
    """Return by topic the words that no document contains, as written; topics without such words are left out.

    All topics are cut and looked up together, so that a run of ten thousand topics takes a few milliseconds for it.
    """
    parts = [topic.text.encode("utf-8", "replace") for topic in topics]
    data = b"".join(parts)
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    cut = tokenize(np.frombuffer(data, np.uint8), ends, reads_latex(snapshot.analyzer))
    raws = cut.strings(data)
    terms = [split_terms(joined) for joined in terms_of(snapshot.analyzer, raws)]
    absent = frozenset(snapshot.absent(term for own in terms for term in own))
    words = {
        number: [word.surface for word in tokens_of(raws[number], own) if word.term in absent]
        for number, own in enumerate(terms)
        if not absent.isdisjoint(own)
    }
    places = np.flatnonzero(np.isin(cut.numbers, np.fromiter(words, np.int32, len(words))))
    found: dict[str, dict[str, None]] = {}
    for place, topic in zip(places.tolist(), np.searchsorted(cut.ends, places, "right").tolist(), strict=True):
        found.setdefault(topics[topic].qid, {}).update(dict.fromkeys(words[int(cut.numbers[place])]))
    return {qid: tuple(own) for qid, own in found.items()}


def topics_missing_notes(missing: Mapping[str, Sequence[str]], topics: int) -> list[str]:
    """Return a list with one sentence about the words of `missing_in_topics`; [] if there are none.

    `topics` is the number of all topics.
    """
    words = dict.fromkeys((word, qid) for qid, own in missing.items() for word in own)
    first = {word: qid for word, qid in reversed(words)}
    if not first:
        return []
    shown = list(dict.fromkeys(word for word, _ in words))[:EXAMPLES]
    examples = ", ".join(f'"{word}" (topic {first[word]})' for word in shown)
    rest = ", such as " if len(first) > len(shown) else ": "
    verb = "have" if len(missing) > 1 else "has"
    return [
        f"{len(missing):,} of {counted(topics, 'topic')} {verb} {counted(len(first), 'word')} that no document contains"
        f"{rest}{examples}."
    ]

