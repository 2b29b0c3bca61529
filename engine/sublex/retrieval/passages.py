"""Passages: the part of a document's text with the most query terms, and the places of these terms in it.

An operator, such as a phrase, counts as a term where it occurs; its words are marked there. If it does not occur in the
text, its words count and are marked wherever they stand, except words that are asked for in another field.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from sublex.analysis.tokens import located_terms
from sublex.contracts.base import Analyzer, Document
from sublex.contracts.fields import TEXT, TITLE, text_of
from sublex.contracts.operators import Kind, Operator
from sublex.retrieval.text_occurrences import occurrences


class Passage(NamedTuple):
    """A part of a text, and the place (begin, end) of each query word in the part, in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


class _Match(NamedTuple):
    """A query term in the text, from character `begin` to `end`."""

    begin: int
    end: int
    term: str


def passage_of(document: Document, analyzer: Analyzer, terms: Collection[str]) -> Passage:
    """Return the passage of a document's text. If it has no query term, look into other fields that the query asks for."""
    best = passage(document.text, analyzer, terms)
    asked = {name for term in terms if isinstance(term, Operator) for name in term.fields}
    for field in () if best.spans else sorted(asked - {TITLE, TEXT}):
        other = passage(text_of(document.fields.get(field)), analyzer, terms, field=field)
        if other.spans:
            return other
    return best


def title_spans(title: str, analyzer: Analyzer, terms: Collection[str]) -> tuple[tuple[int, int], ...]:
    """Return the places of the words of a title that a query asks for in titles, in characters."""
    asked = [term for term in terms if isinstance(term, Operator) and TITLE in term.fields]
    # A passage has a single space wherever the title has white space.
    if not asked or title != " ".join(title.split()):
        return ()
    return passage(title, analyzer, asked, len(title), TITLE).spans


def passage(text: str, analyzer: Analyzer, terms: Collection[str], width: int = 200, field: str = TEXT) -> Passage:
    """Return about `width` characters of a text: the part with the most different terms.

    Of parts with equally many terms, the part with the most matches is returned; if these are equal too, the first one.
    The passage begins and ends at a space if there is one nearby. White space becomes a single space. An ellipsis marks
    each end at which text is left out.
    """
    text = " ".join(text.split())
    operators = [term for term in terms if isinstance(term, Operator)]
    words = frozenset(terms).difference(operators)
    matches = _matches(text, analyzer, words.union(*(_words_of(operator, field) for operator in operators)))
    marks = matches
    if operators:
        matches, marks = _with_operators(text, analyzer, words, operators, matches, field)
    begin = _start(text, _densest(matches, width), width)
    end = begin + width
    if end < len(text):
        space = text.rfind(" ", begin + width // 2, end + 1)
        end = space if space >= 0 else end
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    spans = tuple(_joined((m.begin + shift, m.end + shift) for m in marks if m.begin >= begin and m.end <= end))
    return Passage(before + text[begin:end] + after, spans)


def _matches(text: str, analyzer: Analyzer, terms: frozenset[str]) -> list[_Match]:
    """Return the matches of the terms in a text, in order."""
    matches = []
    for at, raw, raw_terms in located_terms(analyzer, text):
        if not terms.isdisjoint(raw_terms):
            located = _within(raw, raw_terms)
            matches += sorted(_Match(at + begin, at + end, term) for begin, end, term in located if term in terms)
    return matches


def _with_operators(
    text: str,
    analyzer: Analyzer,
    words: frozenset[str],
    operators: Sequence[Operator],
    matches: list[_Match],
    field: str,
) -> tuple[list[_Match], list[_Match]]:
    """Return what counts for a passage, words and occurrences of operators, and the words to mark.

    `matches` are those of the words and of the words in operators.
    """
    spans, places = list[tuple[int, int]](), dict[str, list[int]]()
    for at, raw, terms in located_terms(analyzer, text):
        located = [(at + begin, at + end) for begin, end, _ in _within(raw, terms)] or [(at, at + len(raw))]
        for place, term in enumerate(terms):
            places.setdefault(term, []).append(len(spans) + place)
        spans += located
    counted, marked, shown = list[_Match](), dict[str, list[_Match]](), words
    for operator in operators:
        own = [
            _Match(spans[first][0], spans[last][1], operator) for first, last in occurrences(operator, places, field)
        ]
        counted += own
        inside = _words_of(operator, field)
        for term in inside if own else ():
            marked.setdefault(term, []).extend(own)
        shown = shown if own else shown.union(inside)
    counted += [match for match in matches if match.term in shown]
    # Of intervals in the order of their begins, the furthest end so far says whether a word lies in one of them.
    reach = {term: _reach(own) for term, own in marked.items()}
    marks = [match for match in matches if match.term in shown or _is_in(reach.get(match.term), match)]
    return sorted(counted, key=lambda match: match[:2]), marks


def _words_of(part: Operator, field: str) -> frozenset[str]:
    """Return the words of an operator but for those that are asked for in another field."""
    if part.kind is Kind.FIELD and part.field != field:
        return frozenset()
    inner = (_words_of(own, field) for own in part.parts if isinstance(own, Operator))
    return frozenset(own for own in part.parts if isinstance(own, str) and not isinstance(own, Operator)).union(*inner)


def _reach(intervals: list[_Match]) -> tuple[list[int], list[int]]:
    """Return the begins of intervals, ascending, and for each the furthest end of the intervals up to it."""
    ordered = sorted(intervals, key=lambda match: match[:2])
    return [match.begin for match in ordered], list(accumulate((match.end for match in ordered), max))


def _is_in(reach: tuple[list[int], list[int]] | None, match: _Match) -> bool:
    """Return whether a match lies within an interval."""
    if reach is None:
        return False
    place = bisect_right(reach[0], match.begin) - 1
    return place >= 0 and match.end <= reach[1][place]


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
