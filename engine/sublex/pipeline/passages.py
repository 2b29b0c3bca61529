"""The passage of a text that shows best why it was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from sublex.analysis.tokens import located_terms
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
    end = begin + width
    if end < len(text):
        space = text.rfind(" ", begin + width // 2, end + 1)
        end = space if space >= 0 else end
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    spans = tuple(_apart((m.begin + shift, m.end + shift) for m in matches if m.begin >= begin and m.end <= end))
    return Passage(before + text[begin:end] + after, spans)


def _matches(text: str, analyzer: Analyzer, terms: frozenset[str]) -> list[_Match]:
    """Where words stand that are among the terms."""
    found = []
    for at, raw, own in located_terms(analyzer, text):
        if not terms.isdisjoint(own):
            found += sorted(
                _Match(at + begin, at + end, term) for begin, end, term in _within(raw, own) if term in terms
            )
    return found


def _within(raw: str, terms: list[str]) -> Iterator[_Match]:
    """Where a raw token's terms stand in it; the only one, and one that is spelt otherwise, stand for the whole token."""
    lower, at = raw.lower(), 0
    for term in terms:
        begin = lower.find(term, at) if len(terms) > 1 and len(lower) == len(raw) else -1
        yield _Match(begin, begin + len(term), term) if begin >= 0 else _Match(0, len(raw), term)
        at = max(at, begin + 1)


def _apart(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans in order of their begins; those that overlap become one."""
    held: tuple[int, int] | None = None
    for begin, end in spans:
        if held and begin < held[1]:
            held = held[0], max(end, held[1])
            continue
        if held:
            yield held
        held = begin, end
    if held:
        yield held


def _densest(matches: list[_Match], width: int) -> tuple[int, int]:
    """From where to where the best run of matches reaches that fits the width."""
    best, place, first = (0, 0), (0, 0), 0
    inside: Counter[str] = Counter()
    for last, match in enumerate(matches):
        inside[match.term] += 1
        while first < last and match.end - matches[first].begin > width:
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
