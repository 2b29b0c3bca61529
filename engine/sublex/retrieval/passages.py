"""Passages: the part of a document's text with the most query terms, and the places of these terms in it.

Where an operator, such as a phrase, occurs, it counts as one term, and its words are marked. If it does not occur in the
text, its words count and are marked wherever they stand. Words that the query asks for in another field do not count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

import numpy as np

from sublex.analysis.tokens import CutTexts, cut_texts
from sublex.analysis.words import split_terms
from sublex.contracts.base import Analyzer, Document
from sublex.contracts.fields import TEXT, TITLE, text_of
from sublex.contracts.operators import Operator, OperatorKind
from sublex.retrieval.text_occurrences import occurrences

# The approximate number of characters of a passage, and the number of documents that are in memory together.
WIDTH, TOGETHER = 200, 64


class Passage(NamedTuple):
    """A part of a text, and the place (begin, end) of each query word in the part, in characters."""

    text: str
    spans: tuple[tuple[int, int], ...]


class _Match(NamedTuple):
    """A query term in the text, from character `begin` to `end`."""

    begin: int
    end: int
    term: str


def passages_of(
    documents: Iterable[Document], analyzer: Analyzer, terms: Collection[str], first: Collection[str] = ()
) -> Iterator[tuple[Document, Passage]]:
    """Yield each document with the passage of its text. `first` has the terms that count before all others.

    If the text has no query term, the passage comes from another field that the query asks for.
    """
    asked = {name for term in terms if isinstance(term, Operator) for name in term.fields}
    others = sorted(asked - {TITLE, TEXT})
    left = iter(documents)
    while some := list(islice(left, TOGETHER)):
        found = passages([document.text for document in some], analyzer, terms, first=first)
        for document, best in zip(some, found, strict=True):
            yield document, best if best.spans else _passage_of_fields(document, others, analyzer, terms) or best


def _passage_of_fields(
    document: Document, fields: Sequence[str], analyzer: Analyzer, terms: Collection[str]
) -> Passage | None:
    """Return the passage of the first of the fields that has a query term; None if no field has a query term."""
    for field in fields:
        found = passage(text_of(document.fields.get(field)), analyzer, terms, field=field)
        if found.spans:
            return found
    return None


def title_spans(title: str, analyzer: Analyzer, terms: Collection[str]) -> tuple[tuple[int, int], ...]:
    """Return the places, in characters, of the words in a title that the query asks for in titles."""
    asked = [term for term in terms if isinstance(term, Operator) and TITLE in term.fields]
    # `passage` replaces white space by a single space, so places would differ in a title with other white space.
    if not asked or title != " ".join(title.split()):
        return ()
    return passage(title, analyzer, asked, len(title), TITLE).spans


def passage(text: str, analyzer: Analyzer, terms: Collection[str], width: int = WIDTH, field: str = TEXT) -> Passage:
    """Return the passage of one text. `passages` describes it."""
    return passages([text], analyzer, terms, width, field)[0]


def passages(
    texts: Sequence[str],
    analyzer: Analyzer,
    terms: Collection[str],
    width: int = WIDTH,
    field: str = TEXT,
    first: Collection[str] = (),
) -> list[Passage]:
    """Return about `width` characters of each text: the part with the most different terms.

    Terms in `first`, such as the words of the user among those of an expander, count before all others.

    If several parts have this number of terms, the part with the most matches is returned, and of these the first part.
    The passage begins and ends at a space if there is one nearby. White space becomes a single space. An ellipsis marks
    each end at which text is left out. All texts are analysed at once, so a word that several texts share costs little.
    """
    texts = [" ".join(text.split()) for text in texts]
    operators = [term for term in terms if isinstance(term, Operator)]
    words = frozenset(terms).difference(operators)
    wanted = words.union(*(_words_of(operator, field) for operator in operators))
    cut = cut_texts(analyzer, texts)
    inside = _matches(cut, wanted)
    matching = cut.only(np.isin(np.arange(len(cut.raws)), list(inside)))
    found = []
    for number, text in enumerate(texts):
        matches = marks = [
            _Match(at + begin, at + end, term)
            for at, raw in matching.located(number)
            for begin, end, term in inside[raw]
        ]
        if operators:
            positions = _positions(cut, number)
            matches, marks = _with_operators(positions, words, operators, matches, field)
        found.append(_around(text, matches, marks, width, frozenset(first)))
    return found


def _matches(cut: CutTexts, wanted: frozenset[str]) -> dict[int, list[_Match]]:
    """Return the matches of the wanted terms in each distinct raw token, by the token's number.

    Tokens without a match are left out. The places of a match are characters within the raw token.
    """
    found = {}
    for number, joined in enumerate(cut.joined):
        # Most raw tokens have a single term.
        if joined in wanted or "\n" in joined:
            terms = split_terms(joined)
            if not wanted.isdisjoint(terms):
                found[number] = sorted(match for match in _within(cut.raws[number], terms) if match.term in wanted)
    return found


def _around(
    text: str, matches: list[_Match], marks: list[_Match], width: int, first: frozenset[str] = frozenset()
) -> Passage:
    """Return the passage of a text with the most different terms of `matches`, those of `first` before all others.

    Its spans are the `marks` that lie in it.
    """
    begin = _start(text, _densest(matches, width, first), width)
    end = begin + width
    if end < len(text):
        space = text.rfind(" ", begin + width // 2, end + 1)
        end = space if space >= 0 else end
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    spans = tuple(_joined((m.begin + shift, m.end + shift) for m in marks if m.begin >= begin and m.end <= end))
    return Passage(before + text[begin:end] + after, spans)


class _TextPositions(NamedTuple):
    """The positions of a text: the place (begin, end) of each position in characters, and the positions of each term."""

    spans: list[tuple[int, int]]
    of_terms: dict[str, list[int]]


def _positions(cut: CutTexts, text: int) -> _TextPositions:
    """Return the positions of the text with the number `text`."""
    found = _TextPositions([], {})
    for at, number in cut.located(text):
        raw, terms = cut.raws[number], split_terms(cut.joined[number])
        for place, term in enumerate(terms):
            found.of_terms.setdefault(term, []).append(len(found.spans) + place)
        found.spans.extend([(at + begin, at + end) for begin, end, _ in _within(raw, terms)] or [(at, at + len(raw))])
    return found


def _with_operators(
    positions: _TextPositions, words: frozenset[str], operators: Sequence[Operator], matches: list[_Match], field: str
) -> tuple[list[_Match], list[_Match]]:
    """Return two lists: the matches that count for a passage (words, and occurrences of operators), and the words to mark.

    `matches` has the matches of the words of the query, also of words in operators.
    """
    spans = positions.spans
    counted, marked, shown = list[_Match](), dict[str, list[_Match]](), words
    for operator in operators:
        intervals = occurrences(operator, positions.of_terms, field)
        own = [_Match(spans[first][0], spans[last][1], operator) for first, last in intervals]
        counted += own
        inside = _words_of(operator, field)
        for term in inside if own else ():
            marked.setdefault(term, []).extend(own)
        shown = shown if own else shown.union(inside)
    counted += [match for match in matches if match.term in shown]
    # Intervals are in the order of their begins. The furthest end so far says whether a word lies in one of them.
    reach = {term: _reach(own) for term, own in marked.items()}
    marks = [match for match in matches if match.term in shown or _is_in(reach.get(match.term), match)]
    return sorted(counted, key=lambda match: match[:2]), marks


def _words_of(part: Operator, field: str) -> frozenset[str]:
    """Return the words of an operator, without words that it asks for in another field."""
    if part.kind is OperatorKind.FIELD and part.field != field:
        return frozenset()
    inner = (_words_of(own, field) for own in part.parts if isinstance(own, Operator))
    return frozenset(own for own in part.parts if isinstance(own, str) and not isinstance(own, Operator)).union(*inner)


def _reach(intervals: list[_Match]) -> tuple[list[int], list[int]]:
    """Return the begins of intervals, ascending, and for each interval the furthest end of all intervals up to this one."""
    ordered = sorted(intervals, key=lambda match: match[:2])
    return [match.begin for match in ordered], list(accumulate((match.end for match in ordered), max))


def _is_in(reach: tuple[list[int], list[int]] | None, match: _Match) -> bool:
    """Return whether a match lies within an interval."""
    if reach is None:
        return False
    place = bisect_right(reach[0], match.begin) - 1
    return place >= 0 and match.end <= reach[1][place]


def _within(raw: str, terms: list[str]) -> Iterator[_Match]:
    """Yield the match of each term of a raw token, in characters of the token.

    The match is the whole token if the token has a single term, or if the term does not occur in it letter by letter.
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


def _densest(matches: list[_Match], width: int, preferred: frozenset[str]) -> tuple[int, int]:
    """Return the begin and end of the best sequence of matches that is no longer than `width`; (0, 0) without matches.

    The best sequence has the most different terms, preferred ones before others. If several have this number of terms, it
    has the most matches. If several have this number of matches, it is the first.
    """
    best, place, first = (0, 0, 0), (0, 0), 0
    # The numbers of different preferred and other terms in the sequence.
    different = [0, 0]
    inside: dict[str, int] = {}
    for last, match in enumerate(matches):
        if not inside.get(match.term):
            different[match.term not in preferred] += 1
        inside[match.term] = inside.get(match.term, 0) + 1
        while first < last and match.end - matches[first].begin > width:
            left = matches[first].term
            inside[left] -= 1
            if not inside[left]:
                different[left not in preferred] -= 1
            first += 1
        quality = (different[0], different[1], last - first + 1)
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
