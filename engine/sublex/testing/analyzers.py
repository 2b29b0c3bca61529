"""The checks of analyzers: terms that depend on the token alone."""

from __future__ import annotations

from collections.abc import Callable

from sublex.testing.subject import Subject, called
from sublex.tools.messages import cut

# Raw tokens like those of collections: words, numbers, other scripts, runs without white space, and very long tokens.
ODD = (
    "a", "I", "don't", "U.S.A", "x_1", "3.14", "naïve", "STRASSE", "straße", "ﬁne", "İstanbul", "журавль", "كركي",
    "日本語の文章", "กระเรียน", "👩‍👩‍👧", "e\u0301te\u0301", "\u200d", "_" * 9 + "a", "a" * 10_000, "ab" * 200 + "é",
)  # fmt: skip


def _tokens(subject: Subject) -> list[str]:
    words = {word for document in subject.documents[:40] for word in document.contents.split() if word.isalpha()}
    return [*sorted(words), *ODD]


def terms_are_terms(subject: Subject) -> None:
    """`terms` returns a list of terms without newlines for each raw token, in any script and of any length."""
    for token in _tokens(subject):
        found = called("terms", subject.made.terms, token, about=f"for the token {token[:40]!r}")
        assert isinstance(found, list) and all(isinstance(term, str) for term in found), (
            f"terms returned {type(found).__name__} for the token {token[:40]!r}; return a list of texts"
        )
        odd = [term for term in found if not term or "\n" in term]
        assert not odd, (
            f"terms returned {cut(repr(odd[0]))} for the token {token[:40]!r}; leave out empty terms, and newlines"
        )


def terms_depend_on_the_token_alone(subject: Subject) -> None:
    """`terms` gives the same terms whatever tokens came before, and `batch` gives the terms of `terms`."""
    tokens, analyzer, other = _tokens(subject), subject.made, subject.component.make()
    first = [analyzer.terms(token) for token in tokens]
    again = [other.terms(token) for token in reversed(tokens)][::-1]
    for token, mine, theirs in zip(tokens, first, again, strict=True):
        assert mine == theirs, (
            f"terms gives {cut(str(mine))} or {cut(str(theirs))} for the token {token[:40]!r}, by what came before; "
            "let terms depend on the token alone"
        )
    if hasattr(analyzer, "batch"):
        joined = list(called("batch", analyzer.batch, tokens, about="for a list of tokens"))
        assert len(joined) == len(tokens), (
            f"batch returned {len(joined)} texts for {len(tokens)} tokens; return one for each"
        )
        for token, mine, text in zip(tokens, first, joined, strict=True):
            assert mine == [term for term in text.split("\n") if term], (
                f"batch gives {cut(repr(text))} for the token {token[:40]!r}, and terms gives {cut(str(mine))}; "
                "return the terms joined by newlines"
            )


CHECKS: tuple[Callable[[Subject], None], ...] = (terms_are_terms, terms_depend_on_the_token_alone)
