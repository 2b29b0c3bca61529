"""Turn texts into arrays: the number of each word, and the kinds of break before the word.

Kernels cut the text and find the breaks. Python code analyses each distinct raw token once.
`sublex.analysis.tokens.sequences` returns the same words as `Token` records. A `Token` tells only whether there is a
break, and not its kind.
"""

from __future__ import annotations

import unicodedata
from functools import cache, reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.analysis.tokens import RawTokens, terms_of, tokenize, tokens_of, with_spare
from sublex.analysis.words import split_terms, word_spans
from sublex.contracts.base import Analyzer, Break
from sublex.tools.strings import read_only

# Characters that end a sentence, separate its parts, quote, or are dashes. They are listed here because Unicode's
# categories do not separate them.
_STOPS = ".!?…‼⁇⁈⁉。！？．｡؟۔।॥։፧።။៕᠃᠉"
_COMMAS = ",;:，；：、､،؛՝፣፤፥၊"
_QUOTES = "\"'`´‚„「」『』｢｣〝〞〟"
_DASHES = "−～"
_CATEGORIES = {
    "Pd": Break.DASH, "Ps": Break.OPEN, "Pe": Break.CLOSE, "Pi": Break.QUOTE, "Pf": Break.QUOTE, "Zs": 0, "Zl": 0, "Zp": 0,
}  # fmt: skip


class CutText(NamedTuple):
    """Texts cut by the kernels: the bytes, their raw tokens, and the kinds of break before each occurrence of a raw token."""

    text: np.ndarray
    raw: RawTokens
    breaks: np.ndarray


@cache
def kinds_of_characters() -> np.ndarray:
    """Return the kind of break of each character up to U+FFFF (uint16); 0 for white space."""
    points = [chr(point) for point in range(1 << 16)]
    kinds = [0 if point.isspace() else _CATEGORIES.get(unicodedata.category(point), Break.OTHER) for point in points]
    table = np.array(kinds, np.uint16)
    for characters, kind in (
        (_STOPS, Break.STOP),
        (_COMMAS, Break.COMMA),
        (_QUOTES, Break.QUOTE),
        (_DASHES, Break.DASH),
    ):
        table[[ord(character) for character in characters]] = kind
    return table


def cut_text(text: np.ndarray, ends: np.ndarray, titles: np.ndarray, latex: bool) -> CutText:
    """Cut texts, whose UTF-8 bytes lie end to end, into raw tokens with breaks. Any thread may call this.

    `ends` says where each text ends. `titles` has the number of bytes of the title with which each text begins, 0 for
    no title. `latex` is as in `tokenize`.
    """
    from sublex.analysis import token_kernels

    text = read_only(with_spare(text, int(ends[-1]) if len(ends) else 0))
    raw = tokenize(text, ends, latex)
    breaks = np.empty(len(raw.numbers), np.uint16)
    token_kernels.mark_breaks(
        text, ends, titles, kinds_of_characters(), raw.numbers, raw.ends, raw.keys, raw.starts, breaks
    )  # fmt: skip
    return CutText(text, raw, breaks)


class WordTable:
    """Numbers the words of texts by their first appearance, and looks up the terms of each distinct raw token once.

    Word k has the written form `surfaces[k]` and the term `terms[k]`, which is empty for a stop word. In raw tokens
    with characters outside ASCII, the same written form may get two different terms; it then counts as two words.
    """

    def __init__(self, analyzer: Analyzer):
        self._analyzer, self._raws = analyzer, Interner()
        self.surfaces: list[str] = []
        self.terms: list[str] = []
        self._numbers: dict[tuple[str, str], int] = {}
        # For each raw token: the position of its first word in `_words`, its number of words, and the break after it.
        self._first, self._counts, self._after = _Growing(np.int64), _Growing(np.int64), _Growing(np.uint16)
        # For each word of all raw tokens, end to end: its number, and the break before it.
        self._words, self._before = _Growing(np.int32), _Growing(np.uint16)

    def read(self, cut: CutText) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the words of texts as three arrays.

        The first says where the words of each text end in the other two. The second (int32) has the number of each
        word, and the third the kinds of break before each word.
        """
        known = self._raws.size
        raw = cut.raw
        numbers = self._raws.add_described(cut.text, raw.starts, raw.keys, raw.hashes)
        new = np.flatnonzero(numbers >= known)
        # New raw tokens get numbers in the order of the text.
        self._learn(raw.strings(cut.text, new))
        return self._expand(numbers[raw.numbers], cut.breaks, raw.ends)

    def _learn(self, raws: list[str]) -> None:
        """Look up the terms of new raw tokens, and append these raw tokens with their words."""
        joined = terms_of(self._analyzer, raws) if raws else []
        for raw, terms in zip(raws, map(split_terms, joined), strict=True):
            words, after = ([(raw, terms, 0)], 0) if raw.isascii() else self._pieces(raw, terms)
            first = len(self._words)
            for text, own, before in words:
                for surface, term, _ in tokens_of(text, own):
                    number = self._numbers.setdefault((surface, term), len(self.surfaces))
                    if number == len(self.surfaces):
                        self.surfaces.append(surface)
                        self.terms.append(term)
                    self._words.append(number)
                    self._before.append(before)
                    before = 0
            self._first.append(first)
            self._counts.append(len(self._words) - first)
            self._after.append(after)

    def _pieces(self, raw: str, terms: list[str]) -> tuple[list[tuple[str, list[str], int]], int]:
        """Return the parts of a raw token, each with its terms and the break before it, and the break after the last part.

        Punctuation separates the parts. If the terms of the parts differ from the terms of the raw token, the raw token
        is not divided.
        """
        pieces: list[tuple[int, int, int]] = []
        kinds, before, end = kinds_of_characters(), 0, 0
        for start, stop in word_spans(raw):
            gap = _kinds_in(raw[end:start], kinds)
            if pieces and start == end:
                start = pieces.pop()[0]
            else:
                before = gap
            pieces.append((start, stop, before))
            end = stop
        texts = [raw[start:stop] for start, stop, _ in pieces]
        own = [split_terms(joined) for joined in terms_of(self._analyzer, texts)] if texts else []
        if [term for part in own for term in part] != terms:
            return [(raw, terms, 0)], 0
        breaks = [before for *_, before in pieces]
        return list(zip(texts, own, breaks, strict=True)), _kinds_in(raw[end:], kinds)

    def _expand(
        self, raws: np.ndarray, breaks: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return three arrays: where the words of each text end, the numbers of the words, and the breaks before them.

        `raws` has the number of the raw token at each occurrence, `breaks` the kinds of break before the occurrence,
        and `ends` says where the occurrences of each text end. A raw token may stand for several words, or for none.
        """
        first, counts, after = self._first.array[raws], self._counts.array[raws], self._after.array[raws]
        breaks = breaks.copy()
        # A break stands before a word. So a break after a raw token is moved to the next one in the same text, with the
        # break before this raw token if it has no words.
        last = set((ends - 1).tolist()) if after.any() else set()
        for k in np.flatnonzero(after).tolist():
            if k not in last:
                breaks[k + 1] |= after[k] | (0 if counts[k] else breaks[k])
        if len(raws) and (counts != 1).any():
            places = np.concatenate(([0], np.cumsum(counts)))
            within = np.arange(places[-1]) - np.repeat(places[:-1], counts)
            breaks = np.where(within > 0, 0, np.repeat(breaks, counts)).astype(np.uint16)
            ends, first = places[ends], np.repeat(first, counts) + within
        breaks = breaks | self._before.array[first]
        mixed = (breaks > Break.HYPHEN) & (breaks & Break.HYPHEN > 0)
        breaks[mixed] = breaks[mixed] - Break.HYPHEN | Break.DASH
        return ends, self._words.array[first], breaks


class _Growing:
    """An array that grows at its end."""

    def __init__(self, dtype: type):
        self._data: np.ndarray = np.empty(1 << 12, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def array(self) -> np.ndarray:
        return self._data[: self._size]

    def append(self, value: int) -> None:
        if self._size == len(self._data):
            self._data = np.concatenate([self._data, np.empty_like(self._data)])
        self._data[self._size] = value
        self._size += 1


def _kinds_in(gap: str, kinds: np.ndarray) -> int:
    """Return the kinds of break of `gap`, the characters between two words. `kinds` has the kind of each character."""
    if len(gap) == 1 and kinds[min(ord(gap), 0xFFFF)] == Break.DASH:
        return Break.HYPHEN
    return reduce(or_, (int(kinds[min(ord(character), 0xFFFF)]) for character in gap), 0)
