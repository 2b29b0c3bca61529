"""Show how a query is read while the user types it.

Words that are kept, stopped, stemmed or unknown have different styles.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from sublex.contracts.operators import words_in
from sublex.forms.lines import Line, Span, line

if TYPE_CHECKING:
    from sublex.index.snapshot import Snapshot, Term
    from sublex.query_language.tree import Node

# At most this number of characters of a query is shown in this way. A longer text is a document and not a query.
LONGEST = 500
# At most this number of characters of an operator is shown.
SHOWN = 60
# The sizes of two caches: nearest known words of unknown words, and terms of parts of queries.
REMEMBERED = 256


class QueryReader:
    """Reads queries with the analyzer of one snapshot."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot
        # For an unknown term, return the most similar known term and its word, or None.
        self.nearest = lru_cache(REMEMBERED)(self._find_nearest)
        self._terms_of = lru_cache(REMEMBERED)(self._make_terms)

    def read(self, text: str, language: str = "plain") -> Line:
        """Return a line that shows how a query is read.

        `cranes→crane 9` is a word with its term and the number of documents with the term. The last word may be
        unfinished, so no other word is suggested for it. In the query language, the signs and operators that the
        language understands stand between the words.
        """
        short = text[:LONGEST]
        return line(*(self._of_tree(short) if language == "query" else self._words(short)))

    def _of_tree(self, text: str) -> Iterator[Span]:
        """Yield the spans that show how a text is read in the query language."""
        from sublex.query_language.read import read_tree
        from sublex.query_language.tree import Compared, WrittenWord, pieces

        after_word = False
        for piece in pieces(read_tree(text, self.snapshot.fields, self.snapshot.columns).root):
            if after_word and str(piece).startswith("^"):
                # A blank separates the weight of a word from its number of documents.
                yield Span(" ")
            after_word = isinstance(piece, WrittenWord)
            if isinstance(piece, str):
                yield Span(piece.replace(" ", "  ") if piece.strip() in ("", "+", "-") else piece, "heading")
            elif isinstance(piece, WrittenWord):
                # The last word of the line may be unfinished. A blank after any other word marks it as finished.
                yield from self._words(piece.text if text.endswith(piece.text) else f"{piece.text} ")
            elif isinstance(piece, Compared):
                yield Span(str(piece), "kept")
            else:
                terms = self._terms_of(piece)
                shown = " ".join(map(words_in, terms)) if terms else "nothing"
                cut = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
                yield Span(f"{piece}→{cut}" if terms else f"{piece}", "kept" if terms else "stopped")

    def _words(self, short: str) -> list[Span]:
        """Return the spans that show how plain words are read."""
        from sublex.analysis.tokens import located_terms

        spans: list[Span] = []
        for at, raw, terms in located_terms(self.snapshot.analyzer, short):
            spans += [Span("  ")] if spans else []
            spans += self._word(raw, terms, finished=at + len(raw) < len(short))
        return spans

    def _word(self, raw: str, terms: list[str], finished: bool) -> Iterator[Span]:
        """Yield the spans of one word `raw` with its terms. An unfinished word is not called unknown."""
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
                near = self.nearest(term, word)
                yield Span(f" unknown{f', {near.surface}?' if near else ''}", "unknown")

    def _make_terms(self, piece: Node) -> list[str]:
        from sublex.query_language.make_query import Maker

        return Maker(self.snapshot.analyzer, self.snapshot).terms(piece)

    def _find_nearest(self, term: str, word: str) -> Term | None:
        from sublex.index.spelling import nearest_term

        return nearest_term(self.snapshot, term, len(word))
