"""Texts through an analyzer: the same raw tokens, and so the same terms, for documents and for queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
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


def sequences(analyzer: Analyzer, texts: Sequence[str]) -> list[list[Token]]:
    """The words of each text in order, stop words included; each distinct one is analysed once."""
    data = [text.encode("utf-8", "replace") for text in texts]
    whole = b"".join(data)
    found = tokenize(np.frombuffer(whole, np.uint8), np.cumsum([len(own) for own in data], dtype=np.int64))
    raws = found.strings(whole)
    forms = [_forms(raw, split_terms(joined)) for raw, joined in zip(raws, terms_of(analyzer, raws), strict=True)]
    tokens, begins = found.tokens.tolist(), [0, *found.ends.tolist()]
    return [
        _placed(text, [(raws[token], forms[token]) for token in tokens[begin:end]])
        for text, (begin, end) in zip(texts, pairwise(begins), strict=True)
    ]


def _forms(raw: str, terms: list[str]) -> list[Token]:
    """The words of a raw token."""
    surfaces = [raw] if len(terms) < 2 else terms
    return [Token(surface, term, False) for surface, term in zip(surfaces, terms or [""], strict=True)]


def _placed(text: str, raws: Iterable[tuple[str, list[Token]]]) -> list[Token]:
    """The words of a text, those after punctuation or an empty line marked."""
    found: list[Token] = []
    end = 0
    for raw, forms in raws:
        start = text.index(raw, end)
        gap = text[end:start]
        end = start + len(raw)
        if gap in ("", " ") or not _PAUSE.search(gap):
            found += forms
        else:
            found += [forms[0]._replace(after_break=True), *forms[1:]]
    return found
