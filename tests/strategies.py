"""Hypothesis strategies: small collections with everything odd that a user's documents may hold."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import strategies as st

from sublex.contracts.base import Document

# Whether tests take all of many cases that are alike, as `make all` has them do.
ALL = os.environ.get("SUBLEX_TESTS") == "all"
CHARACTERS = st.characters(exclude_categories=["Cs"])
COMMON = ("whale", "Whale", "whales", "WHALES", "the", "of", "ship", "ships", "harpoon", "sea", "and", "bank", "banks")
ODD_WORDS = (
    "don't", "O'Neill's", "3.14", "1,000", "U.S.A.", "state-of-the-art", "snake_case", "http://a.example/b?c=d", "C++",
    "naïve", "nai\u0308ve", "ÉCOLE", "straße", "İstanbul", "ﬁne", "ａｂｃ", "мир", "κόσμος", "שלום", "سلام", "हिन्दी", "ไทย",
    "東京都", "東京", "ひらがな", "カタカナ", "한국어", "👩‍👩‍👧", "🇩🇪", "x\u00ady", "a\u200bb", "_", "'", "\x00", "\x7f",
    "w" * 255, "w" * 256, "long" * 200, "é" * 300,
)  # fmt: skip
SEPARATORS = (" ", " ", " ", "  ", "\n", "\n\n", ", ", ". ", "-", "\u2014", "\u00a0", "/", "\t", "")
ODD_DOCNOS = (
    "0", "-1", "007", "a b", " a", "a ", "a/b", "../a", "a\\b", '"', "'", "{}", "id", "é", "e\u0301", "文書", "ก", "a\tb", "a\nb",
    "\u00a0x", "x\x01y", "A", "a", "aa", "\U0010ffff", "x" * 1000, "%s", "*", "[a]", "-", "lock", "٣",
)  # fmt: skip


def examples(number: int) -> int:
    """Return how many examples a property draws: `number` where $SUBLEX_TESTS is `all`, a twentieth where `quick`, else half."""
    quick = os.environ.get("SUBLEX_TESTS") == "quick"
    return number if ALL else max(number // (20 if quick else 2), 3)


def words() -> st.SearchStrategy[str]:
    """Words that repeat, odd ones, and any text."""
    return st.one_of(
        st.sampled_from(COMMON), st.sampled_from(COMMON), st.sampled_from(ODD_WORDS), st.text(CHARACTERS, max_size=8)
    )


def every(number: int) -> int:
    """Return `number`: of many cases that are alike, a test takes every so many. Return 1 where $SUBLEX_TESTS is `all`."""
    return 1 if ALL else number


@st.composite
def texts(draw: st.DrawFn, most: int = 20) -> str:
    """Words with something between them; often few, sometimes none."""
    found = draw(st.lists(st.tuples(words(), st.sampled_from(SEPARATORS)), max_size=most))
    return "".join(word + separator for word, separator in found)


def docnos() -> st.SearchStrategy[str]:
    """Ids of any script and shape, with something visible in them and no NUL character, which Sublex refuses."""
    plain = st.integers(0, 30).map("d{}".format)
    any_text = st.text(CHARACTERS, min_size=1, max_size=12).filter(lambda text: text.strip() and "\0" not in text)
    return st.one_of(plain, plain, st.sampled_from(ODD_DOCNOS), any_text)


def values() -> st.SearchStrategy[Any]:
    """What JSON can hold."""
    single = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(CHARACTERS, max_size=8),
    )
    return st.recursive(
        single, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys(), inner, max_size=3), max_leaves=5
    )


def keys() -> st.SearchStrategy[str]:
    """Names of fields that mean nothing to a reader."""
    return st.one_of(st.sampled_from(("theme", "year", "x", "")), st.text(CHARACTERS, max_size=6)).filter(
        lambda key: (
            key
            not in ("id", "docid", "docno", "_id", "doc_id", "contents", "text", "body", "passage", "abstract", "title")
        )
    )


@st.composite
def documents(draw: st.DrawFn, ids: st.SearchStrategy[str] | None = None) -> Document:
    """One document; most have neither title nor other fields."""
    title = draw(st.one_of(st.just(""), st.just(""), texts(4)))
    fields = draw(st.one_of(st.just({}), st.just({}), st.dictionaries(keys(), values(), max_size=3)))
    return Document(draw(docnos() if ids is None else ids), draw(texts()), title, fields)


def collections(least: int = 1, most: int = 10) -> st.SearchStrategy[list[Document]]:
    """Documents whose docnos differ."""
    return st.lists(documents(), min_size=least, max_size=most, unique_by=lambda document: document.docno)
