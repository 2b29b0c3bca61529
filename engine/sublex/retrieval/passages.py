"""Passages: the part of a document's text with the most query terms, and the places of these terms in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from sublex.analysis.tokens import located_terms
from sublex.contracts.base import Analyzer


class Passage(NamedTuple):
    """A part of a text, and the place (begin, end) of each query word in the part, in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


class _Match(NamedTuple):
    """A query term in the text, from character `begin` to `end`."""

    begin: int
    end: int
    term: str


def passage(text: str, analyzer: Analyzer, terms: Collection[str], width: int = 200) -> Passage:
    """Return about `width` characters of a text: the part with the most different terms.

    Of parts with equally many terms, the part with the most matches is returned; if these are equal too, the first one.
    The passage begins and ends at a space if there is one nearby. White space becomes a single space. An ellipsis marks
    each end at which text is left out.
    """
    text = " ".join(text.split())
    matches = _matches(text, analyzer, frozenset(terms))
    begin = _start(text, _densest(matches, width), width)
    end = begin + width
    if end < len(text):
        space = text.rfind(" ", begin + width // 2, end + 1)
        end = space if space >= 0 else end
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    spans = tuple(_joined((m.begin + shift, m.end + shift) for m in matches if m.begin >= begin and m.end <= end))
    return Passage(before + text[begin:end] + after, spans)


def _matches(text: str, analyzer: Analyzer, terms: frozenset[str]) -> list[_Match]:
    """Return the matches of the terms in a text, in order."""
    matches = []
    for at, raw, raw_terms in located_terms(analyzer, text):
        if not terms.isdisjoint(raw_terms):
            located = _within(raw, raw_terms)
            matches += sorted(_Match(at + begin, at + end, term) for begin, end, term in located if term in terms)
    return matches


def _within(raw: str, terms: list[str]) -> Iterator[_Match]:
    """Yield the match of each term of a token, in characters of the token.

    A match is the whole token if the token has a single term, or if the term is not spelt as in the token.
    """
    lower, at = raw.lower(), 0
    for term in terms:
        begin = lower.find(term, at) if len(terms) > 1 and len(lower) == len(raw) else -1
        yield _Match(begin, begin + len(term), term) if begin >= 0 else _Match(0, len(raw), term)
        at = max(at, begin + 1)


def _joined(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans with overlapping spans joined. The spans must be sorted by their begins."""
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


def _densest(matches: list[_Match], width: int) -> tuple[int, int]:
    """Return the begin and end of the best sequence of matches that is no longer than `width`; (0, 0) without matches.

    The best sequence has the most different terms. Of equals, it has the most matches; of these, it is the first.
    """
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
    """Return the position of the first character of a passage.

    The passage begins with a word and has `place` in its middle.
    """
    begin = min(place[0] - (width - (place[1] - place[0])) // 2, len(text) - width)
    if begin <= 0:
        return 0
    return min(text.find(" ", begin) + 1 or begin, place[0])
