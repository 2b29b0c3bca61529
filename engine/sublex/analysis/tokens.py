"""Texts through an analyzer: the same raw tokens, and so the same terms, for documents and for queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from sublex.analysis import kernels
from sublex.analysis.words import split_terms
from sublex.base import Analyzer, Token
from sublex.errors import contract

_PAUSE = re.compile(r"\S|\n\s*\n")


class Tokens(NamedTuple):
    """Raw tokens of texts laid end to end: a number for each met, and the distinct ones as the kernel describes them."""

    tokens: np.ndarray
    ends: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    hashes: np.ndarray

    def strings(self, text: bytes) -> list[str]:
        """The distinct raw tokens."""
        spans = zip(self.starts.tolist(), self.rows[:, 2].tolist(), strict=True)
        return [text[start : start + length].decode() for start, length in spans]


@cache
def byte_classes() -> np.ndarray:
    """The class of every byte, for the tokenizer."""
    k = kernels
    classes = np.full(256, k.BREAK, np.uint8)
    classes[128:] = k.HIGH
    for first, last, kind in ((65, 90, k.LETTER), (97, 122, k.LETTER), (48, 57, k.DIGIT)):
        classes[first : last + 1] = kind
    for characters, kind in (("_", k.UNDERSCORE), (":", k.COLON), (",;", k.COMMA), (".'", k.DOT), ('"', k.QUOTE)):
        classes[[ord(c) for c in characters]] = kind
    return classes


def tokenize(text: np.ndarray, ends: np.ndarray) -> Tokens:
    """Cut texts laid end to end into raw tokens."""
    return Tokens(*kernels.tokenize(with_spare(text, int(ends[-1]) if len(ends) else 0), ends, byte_classes()))


def with_spare(text: np.ndarray, end: int) -> np.ndarray:
    """The text with the spare bytes that kernels want behind its end; copied only where they are missing."""
    if len(text) - end >= kernels.SPARE:
        return text
    return np.concatenate([text, np.zeros(kernels.SPARE, np.uint8)])


def raw_tokens(text: str) -> list[str]:
    """The raw tokens of one text."""
    data = text.encode("utf-8", "replace")
    found = tokenize(np.frombuffer(data, np.uint8), np.array([len(data)], np.int64))
    strings = found.strings(data)
    return [strings[token] for token in found.tokens.tolist()]


def terms_of(analyzer: Analyzer, tokens: Sequence[str]) -> list[str]:
    """The terms of each raw token, one a line; by the analyzer's `batch` where it has one."""
    batch = getattr(analyzer, "batch", None)
    with contract("analyzer", analyzer):
        return batch(tokens) if batch else ["\n".join(analyzer.terms(token)) for token in tokens]


def in_place(analyzer: Analyzer, text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Where each raw token of a text begins, the token, and its terms."""
    raws, at = raw_tokens(text), 0
    for raw, joined in zip(raws, terms_of(analyzer, raws), strict=True):
        at = text.index(raw, at)
        yield at, raw, split_terms(joined)
        at += len(raw)


def analyze(analyzer: Analyzer, text: str) -> list[str]:
    """The terms of one text, in order."""
    return [term for terms in terms_of(analyzer, raw_tokens(text)) for term in split_terms(terms)]


def sequence(analyzer: Analyzer, text: str) -> list[Token]:
    """The words of a text in order, stop words included."""
    found: list[Token] = []
    end = 0
    for start, raw, terms in in_place(analyzer, text):
        pause = bool(_PAUSE.search(text, end, start))
        end = start + len(raw)
        surfaces = [raw] if len(terms) < 2 else terms
        pairs = zip(surfaces, terms or [""], strict=True)
        found += [Token(surface, term, pause and k == 0) for k, (surface, term) in enumerate(pairs)]
    return found
