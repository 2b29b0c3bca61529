"""The passage of a text that shows best why it was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from sublex.analysis.tokens import raw_tokens, terms_of
from sublex.analysis.words import split_terms
from sublex.base import Analyzer


class Passage(NamedTuple):
    """A piece of a text, and where in it words of the query stand."""

    text: str
    spans: tuple[tuple[int, int], ...]


class _Match(NamedTuple):
    begin: int
    end: int
    term: str


def passage(text: str, analyzer: Analyzer, terms: Collection[str], width: int = 200) -> Passage:
    """The `width` characters that hold the most different terms, then the most of them, then come first."""
    text = " ".join(text.split())
    matches = _matches(text, analyzer, frozenset(terms))
    begin = _start(text, _densest(matches, width), width)
    end = (
        len(text) if begin + width >= len(text) else max(text.rfind(" ", begin, begin + width + 1), begin + width // 2)
    )
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    spans = tuple((m.begin + shift, m.end + shift) for m in matches if m.begin >= begin and m.end <= end)
    return Passage(before + text[begin:end] + after, spans)


def _matches(text: str, analyzer: Analyzer, terms: frozenset[str]) -> list[_Match]:
    """Where words stand that are among the terms."""
    raws = raw_tokens(text)
    found, at = [], 0
    for raw, joined in zip(raws, terms_of(analyzer, raws), strict=True):
        at = text.index(raw, at)
        found += [_Match(at, at + len(raw), term) for term in split_terms(joined)[:1] if term in terms]
        at += len(raw)
    return found


def _densest(matches: list[_Match], width: int) -> tuple[int, int]:
    """From where to where the best run of matches reaches that fits the width."""
    best, place, first = (0, 0), (0, 0), 0
    inside: Counter[str] = Counter()
    for last, match in enumerate(matches):
        inside[match.term] += 1
        while match.end - matches[first].begin > width:
            inside[matches[first].term] -= 1
            first += 1
        quality = (len(+inside), last - first + 1)
        if quality > best:
            best, place = quality, (matches[first].begin, match.end)
    return place


def _start(text: str, place: tuple[int, int], width: int) -> int:
    """Where the passage begins: the matches in its middle, at the start of a word."""
    begin = min(place[0] - (width - (place[1] - place[0])) // 2, len(text) - width)
    if begin <= 0:
        return 0
    return min(text.find(" ", begin) + 1 or begin, place[0])
