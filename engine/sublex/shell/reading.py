"""How a query is read while it is typed: the words that are kept, stopped, stemmed or unknown, each in its style."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from sublex.forms.lines import Line, Span, line

if TYPE_CHECKING:
    from sublex.index.snapshot import Snapshot, Term

# Characters of a query that are read; a longer one is a document, of which nobody wants to see each word.
LONGEST = 500
# Unknown words for which the nearest known word is remembered.
REMEMBERED = 256


class Reader:
    """Reads queries with the analyzer of one snapshot."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        self._nearest = lru_cache(REMEMBERED)(self._find_nearest)

    def read(self, text: str) -> Line:
        """Return how a query is read: `cranes→crane 9` is a word with its term and the documents that hold it.

        The word at the end may still be typed, so no other word is suggested for it.
        """
        from sublex.analysis.tokens import located_terms

        spans: list[Span] = []
        short = text[:LONGEST]
        for at, raw, terms in located_terms(self.snapshot.analyzer, short):
            spans += [Span("  ")] if spans else []
            spans += self._word(raw, terms, finished=at + len(raw) < len(short))
        return line(*spans)

    def _word(self, raw: str, terms: list[str], finished: bool) -> Iterator[Span]:
        """Yield the spans of one word."""
        if not terms:
            yield Span(raw, "stopped")
            return
        for place, term in enumerate(terms):
            word = raw if len(terms) == 1 else term
            known = self.snapshot.term(term)
            yield Span(" " * bool(place))
            style = "kept" if known or not finished else "unknown"
            yield Span(word if term == word.lower() else f"{word}→{term}", style)
            if known:
                yield Span(f" {known.df:,}", "dim")
            elif finished:
                near = self._nearest(term, word)
                yield Span(f" unknown{f', {near.surface}?' if near else ''}", "unknown")

    def _find_nearest(self, term: str, word: str) -> Term | None:
        from sublex.index.spelling import nearest_term

        return nearest_term(self.snapshot, term, len(word))
