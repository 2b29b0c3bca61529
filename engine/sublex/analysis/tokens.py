"""Cut texts into raw tokens, and turn raw tokens into terms with an analyzer.

Documents and queries go through the same functions, so equal texts get equal terms. An analyzer sees each distinct raw
token once, however often it occurs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sublex.analysis.latex import commands
from sublex.analysis.words import split_terms
from sublex.contracts.base import Analyzer, Token
from sublex.errors import contract
from sublex.tools.strings import read_only

# Punctuation or an empty line in the text between two words.
_BREAK = re.compile(r"\S|\n\s*\n")
# The initial number of entries in a table of distinct raw tokens: one per _BYTES bytes of text, at least _LEAST and at
# most _MOST.
_BYTES, _LEAST, _MOST = 128, 1 << 8, 1 << 15
# The number of positions that stay free between the last word of the title and the first word of the text. So no phrase
# goes from the title into the text, and no window of up to 101 positions does.
TITLE_GAP = 100
_NO_COMMANDS = np.empty((0, 128, 128), np.uint8)


class RawTokens(NamedTuple):
    """The raw tokens of texts that are laid end to end, as arrays.

    The distinct raw tokens have numbers from 0. `numbers` (int32) has the number of the raw token at each occurrence,
    one text after the other, and `ends` says where the occurrences of each text end. Raw token k starts at byte
    `starts[k]` of the texts. `keys` and `hashes` have its key and its hash, as `interner_kernels.describe` computes
    them.
    """

    numbers: np.ndarray
    ends: np.ndarray
    starts: np.ndarray
    keys: np.ndarray
    hashes: np.ndarray

    def strings(self, text: bytes | np.ndarray, chosen: np.ndarray | slice = slice(None)) -> list[str]:
        """Return the distinct raw tokens, or only the chosen ones.

        `text` has the bytes from which the raw tokens were cut.
        """
        spans = zip(self.starts[chosen].tolist(), self.keys[chosen, 2].tolist(), strict=True)
        if isinstance(text, bytes) and text.isascii():
            # It is three times as fast to decode the whole text and cut it as to decode each raw token.
            whole = text.decode("ascii")
            return [whole[start : start + length] for start, length in spans]
        return [bytes(text[start : start + length]).decode("utf-8", "replace") for start, length in spans]


@cache
def byte_classes(latex: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays over the 256 byte values: the class of each value, and whether the value belongs to words.

    With `latex`, the characters of LaTeX commands have the class of letters, so a joiner next to a command is in a word.
    """
    from sublex.analysis import token_kernels as k

    classes = np.full(256, k.BREAK, np.uint8)
    classes[128:] = k.HIGH
    for first, last, kind in ((65, 90, k.LETTER), (97, 122, k.LETTER), (48, 57, k.DIGIT)):
        classes[first : last + 1] = kind
    for characters, kind in (("_", k.UNDERSCORE), (":", k.COLON), (",;", k.COMMA), (".'", k.DOT), ('"', k.QUOTE)):
        classes[[ord(c) for c in characters]] = kind
    in_word = ((classes >= k.LETTER) & (classes <= k.HIGH)).astype(np.uint8)
    if latex:
        classes[[k.BACKSLASH, k.OPEN, k.CLOSE]] = k.LETTER
    return classes, in_word


def tokenize(text: np.ndarray, ends: np.ndarray, latex: bool = False) -> RawTokens:
    """Cut texts into raw tokens. `text` has their UTF-8 bytes end to end; `ends` says where each text ends.

    With `latex`, a LaTeX command that stands for a letter does not cut a word: `Schr\\"odinger` is one raw token.
    """
    from sublex.analysis import token_kernels
    from sublex.analysis.interner_kernels import refill

    text = read_only(with_spare(text, int(ends[-1]) if len(ends) else 0))
    # A single text is usually a query. Leaving out `np.diff` makes it some microseconds faster.
    longest = ends[0] if len(ends) == 1 else np.diff(ends, prepend=0).max(initial=0)
    bounds = np.empty(int(longest) + 2, np.int64)
    tokens, token_ends = np.empty(len(text) // 2 + len(ends) + 1, np.int32), np.empty(len(ends), np.int64)
    room = min(_MOST, max(_LEAST, 1 << (len(text) // _BYTES).bit_length()))
    slots, keys = np.empty(2 * room, np.int32), np.empty((room, 3), np.uint64)
    slots.fill(-1)
    starts, hashes, state = np.empty(room, np.int64), np.empty(room, np.uint64), np.zeros(5, np.int64)
    table = commands() if latex else _NO_COMMANDS
    while token_kernels.tokenize(
        text, ends, *byte_classes(latex), table, bounds, slots, keys, starts, hashes, tokens, token_ends, state
    ):  # fmt: skip
        keys, starts, hashes = (np.concatenate([table, np.empty_like(table)]) for table in (keys, starts, hashes))
        slots = refill(hashes, len(starts) // 2, 2 * len(starts))
    n, o = state[3:].tolist()
    # Only the beginning of the array is used, but a view of it would keep the memory of the whole array.
    tokens.resize(o, refcheck=False)
    return RawTokens(tokens, token_ends, starts[:n].copy(), keys[:n].copy(), hashes[:n].copy())


def with_spare(text: np.ndarray, end: int) -> np.ndarray:
    """Return an array with the bytes up to `end` and the spare bytes that kernels read after them.

    The array is `text` itself if it is long enough, else a copy.
    """
    from sublex.analysis.interner_kernels import SPARE

    return text if len(text) - end >= SPARE else np.concatenate([text, np.zeros(SPARE, np.uint8)])


def reads_latex(analyzer: Analyzer) -> bool:
    """Return whether the raw tokens of an analyzer keep LaTeX commands that stand for letters."""
    return bool(getattr(analyzer, "latex", False))


def raw_tokens(text: str, latex: bool = False) -> list[str]:
    """Return the raw tokens of one text, in order. `latex` is as in `tokenize`."""
    data = text.encode("utf-8", "replace")
    cut = tokenize(np.frombuffer(data, np.uint8), np.array([len(data)], np.int64), latex)
    strings = cut.strings(data)
    return [strings[number] for number in cut.numbers.tolist()]


def terms_of(analyzer: Analyzer, raws: Sequence[str]) -> list[str]:
    """Return for each raw token its terms, joined by newlines. The analyzer's method `batch` is used if it has one."""
    batch = getattr(analyzer, "batch", None)
    with contract("analyzer", analyzer):
        return batch(raws) if batch else ["\n".join(analyzer.terms(raw)) for raw in raws]


class CutTexts(NamedTuple):
    """Texts that are cut into raw tokens.

    `raws` has the distinct raw tokens, and `joined` the terms of each, joined by newlines. For each occurrence of a raw token,
    one text after the other, `numbers` has its place in `raws`, and `places` the index of its first character in the text. `ends` says
    where the occurrences of each text end.
    """

    raws: list[str]
    joined: list[str]
    numbers: np.ndarray
    places: np.ndarray
    ends: np.ndarray

    def located(self, text: int) -> Iterator[tuple[int, int]]:
        """Yield, for each raw token of the text with the number `text`, its place in the text and that in `raws`."""
        begin, end = int(self.ends[text - 1]) if text else 0, int(self.ends[text])
        yield from zip(self.places[begin:end].tolist(), self.numbers[begin:end].tolist(), strict=True)

    def located_terms(self, text: int) -> Iterator[tuple[int, str, list[str]]]:
        """Yield (place, raw token, terms) for each raw token of the text with the number `text`."""
        for at, number in self.located(text):
            yield at, self.raws[number], split_terms(self.joined[number])

    def only(self, chosen: np.ndarray) -> CutTexts:
        """Return only the occurrences of raw tokens for which `chosen` is true."""
        kept = np.flatnonzero(chosen[self.numbers])
        ends = np.searchsorted(kept, self.ends)
        return self._replace(numbers=self.numbers[kept], places=self.places[kept], ends=ends)


def cut_texts(analyzer: Analyzer, texts: Sequence[str]) -> CutTexts:
    """Cut texts into raw tokens. The analyzer sees each distinct raw token once."""
    from sublex.analysis.token_kernels import locate

    parts = [text.encode("utf-8", "replace") for text in texts]
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    data = b"".join(parts)
    text = with_spare(np.frombuffer(data, np.uint8), len(data))
    cut = tokenize(text, ends, reads_latex(analyzer))
    places = np.empty(len(cut.numbers), np.int64)
    locate(read_only(text), ends, cut.numbers, cut.ends, cut.keys, cut.starts, places)
    raws = cut.strings(data)
    return CutTexts(raws, terms_of(analyzer, raws), cut.numbers, places, cut.ends)


def located_terms(analyzer: Analyzer, text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield (place, raw token, terms) for each raw token of a text; the place is the index of its first character."""
    yield from cut_texts(analyzer, [text]).located_terms(0)


def analyze(analyzer: Analyzer, text: str) -> list[str]:
    """Return the terms of one text, in order."""
    # This takes two thirds of the time of `analyze_all`.
    raws = raw_tokens(text, reads_latex(analyzer))
    return [term for joined in terms_of(analyzer, raws) for term in split_terms(joined)]


def analyze_all(analyzer: Analyzer, texts: Sequence[str]) -> list[list[str]]:
    """Return the terms of each text, in order."""
    cut = cut_texts(analyzer, texts)
    terms, numbers, begins = [*map(split_terms, cut.joined)], cut.numbers.tolist(), [0, *cut.ends.tolist()]
    return [[term for number in numbers[begin:end] for term in terms[number]] for begin, end in pairwise(begins)]


def words_by_term(analyzer: Analyzer, text: str) -> dict[str, str]:
    """Return a dictionary from each term of a text to the first word, as written, from which the term was made."""
    return words_by_terms(analyzer, [text])[0]


def words_by_terms(analyzer: Analyzer, texts: Sequence[str]) -> list[dict[str, str]]:
    """Return the dictionary of `words_by_term` for each text."""
    found: list[dict[str, str]] = []
    for tokens in sequences(analyzer, texts):
        found.append({})
        for token in tokens:
            if token.term:
                found[-1].setdefault(token.term, token.surface)
    return found


def sequences(analyzer: Analyzer, texts: Sequence[str]) -> list[list[Token]]:
    """Return the words of each text in order, as `Token` records; stop words are included, with an empty term."""
    cut = cut_texts(analyzer, texts)
    forms = [tokens_of(raw, split_terms(joined)) for raw, joined in zip(cut.raws, cut.joined, strict=True)]
    return [
        _with_breaks(text, [(at, cut.raws[number], forms[number]) for at, number in cut.located(place)])
        for place, text in enumerate(texts)
    ]


def tokens_of(raw: str, terms: list[str]) -> list[Token]:
    """Return the words of a raw token as `Token` records, with no break before them.

    The surface of a single term is the raw token. If there are several terms, each is its own surface.
    """
    surfaces = [raw] if len(terms) < 2 else terms
    return [Token(surface, term, False) for surface, term in zip(surfaces, terms or [""], strict=True)]


def _with_breaks(text: str, raws: Iterable[tuple[int, str, list[Token]]]) -> list[Token]:
    """Return all words of a text as `Token` records; `after_break` is set after punctuation or an empty line.

    `raws` has for each raw token its place in the text, the raw token itself, and its `Token` records.
    """
    tokens: list[Token] = []
    end = 0
    for start, raw, forms in raws:
        gap = text[end:start]
        end = start + len(raw)
        if gap in ("", " ") or not _BREAK.search(gap):
            tokens += forms
        else:
            tokens += [forms[0]._replace(after_break=True), *forms[1:]]
    return tokens
