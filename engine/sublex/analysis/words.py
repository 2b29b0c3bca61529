"""Cut text into words by the rules of Unicode (UAX 29), with the choices that Lucene's standard tokenizer makes.

Letters, digits and the characters that join them form words. Each Han or Hiragana character is a word; with bigrams,
each pair of neighbours is a word. Letters, digits and joiners are those of Lucene, which follows Unicode 12.1, and
those that Unicode has added since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

# The number of characters of the longest word. Longer words are cut into pieces, as in Lucene.
LONGEST = 255
# A text of more than this number of characters is cut window by window, because the regular expression takes some
# hundred bytes of memory for each character of a match.
ENDLESS = 100_000
_UNDERSCORES = re.compile("_*")

# The Extended_Pictographic characters of Unicode 12.1. Later versions dropped hundreds of symbols that Lucene keeps.
_PICTOGRAPHS = (
    r"\u00A9\u00AE\u203C\u2049\u2122\u2139\u2194-\u2199\u21A9\u21AA\u231A\u231B\u2328\u2388\u23CF\u23E9-\u23F3\u23F8-\u23FA"
    r"\u24C2\u25AA\u25AB\u25B6\u25C0\u25FB-\u25FE\u2600-\u2605\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716"
    r"\u271D\u2721\u2728\u2733\u2734\u2744\u2747\u274C\u274E\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27A1\u27B0\u27BF"
    r"\u2934\u2935\u2B05-\u2B07\u2B1B\u2B1C\u2B50\u2B55\u3030\u303D\u3297\u3299\U0001F000-\U0001F0FF\U0001F10D-\U0001F10F"
    r"\U0001F12F\U0001F16C-\U0001F171\U0001F17E\U0001F17F\U0001F18E\U0001F191-\U0001F19A\U0001F1AD-\U0001F1E5"
    r"\U0001F201-\U0001F20F\U0001F21A\U0001F22F\U0001F232-\U0001F23A\U0001F23C-\U0001F23F\U0001F249-\U0001F3FA"
    r"\U0001F400-\U0001F53D\U0001F546-\U0001F64F\U0001F680-\U0001F6FF\U0001F774-\U0001F77F\U0001F7D5-\U0001F7FF"
    r"\U0001F80C-\U0001F80F\U0001F848-\U0001F84F\U0001F85A-\U0001F85F\U0001F888-\U0001F88F\U0001F8AE-\U0001F8FF"
    r"\U0001F90C-\U0001F93A\U0001F93C-\U0001F945\U0001F947-\U0001FFFD"
)
# Characters that became letters after Unicode 12.1, and so are not letters in Lucene: the cedilla, tone letters,
# Armenian punctuation and the Syriac abbreviation mark.
_NOT_LETTERS = r"\u00B8\u02E5-\u02EB\u055A\u058A\u070F\uA708-\uA716"


@cache
def _pattern():
    """Return the regular expression that matches one word, with a group for each kind: `single`, `word` or `emoji`.

    A `single` is one Han or Hiragana character.
    """
    import regex

    marks = r"\p{WB=Format}\p{WB=Extend}\p{WB=ZWJ}\u0600-\u0605\u06DD\u070F\u08E2\U000110BD\U000110CD"
    extend = f"[{marks}]*"
    special = r"[\p{Script=Han}\p{Script=Hiragana}]"
    asian = r"[\p{Line_Break=Complex_Context}\u19DA]"
    letter = rf"(?:(?!{asian})[[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]--[{_NOT_LETTERS}]]){extend}"
    hebrew = rf"\p{{WB=Hebrew_Letter}}{extend}"
    number = rf"[[\p{{WB=Numeric}}\uFF10-\uFF19]--[\p{{Cf}}\u19DA]]{extend}"
    katakana = rf"\p{{WB=Katakana}}{extend}"
    join = rf"(?:\p{{WB=ExtendNumLet}}{extend})"
    middle = rf"[[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]--\u055F]{extend}"
    middle_number = rf"[\p{{WB=MidNum}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}\uFE10\uFE14]{extend}"
    gershayim = rf"(?<={hebrew})\"{extend}(?={hebrew})"
    letters = rf"{letter}(?:(?:{join}*|{middle}|{gershayim}){letter})*+"
    numbers = rf"{number}(?:(?:{join}*|{middle_number}){number})*+"
    katakanas = rf"{katakana}(?:{join}*{katakana})*+"
    part = rf"(?:(?:{letters}|{numbers})++|{katakanas})"
    # The search for a word starts only at the first joiner of a run. Otherwise a long run without letters takes
    # quadratic time.
    word = rf"(?:(?<!{join}){join}++)?{part}(?:{join}+{part})*+{join}*+"
    picture = rf"(?:[{_PICTOGRAPHS}][[{marks}]--[\uFE0E\uFE0F]]*\uFE0F?|\p{{EMod}}[[{marks}]--[\uFE0E\uFE0F]]*)"
    flag = rf"(?:\p{{Regional_Indicator}}{extend}){{2}}"
    emoji = rf"{flag}|{picture}(?:(?:(?<=\u200D)|\u200D){picture})*+"
    kinds = rf"(?P<single>{special}){extend}|(?P<word>{word}|(?:{asian}{extend})+)|(?P<emoji>{emoji})"
    return regex.compile(kinds, regex.VERSION1)


def words(text: str, bigrams: bool) -> list[str]:
    """Return the words of a text, in order; no word is longer than 255 characters.

    With `bigrams`, adjacent Han and Hiragana characters become overlapping pairs.
    """
    cut: list[str] = []
    singles: list[str] = []
    end = -1
    for offset, match in _matches(text):
        if singles and (offset + match.start() != end or match.lastgroup != "single"):
            cut += _bigrams(singles)
            singles = []
        end = offset + match.end()
        if match.lastgroup == "single" and bigrams:
            singles.append(match["single"])
        elif len(match.group()) <= LONGEST:
            cut.append(match.group())
        else:
            cut += [piece.group() for _, piece in _windowed(match.group())]
    return cut + _bigrams(singles)


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each word of a text begins and ends. Each Han or Hiragana character is a word of its own."""
    for offset, match in _matches(text):
        yield offset + match.start(), offset + match.end()


def _bigrams(singles: list[str]) -> list[str]:
    """Return overlapping pairs of adjacent characters; a character without neighbours stays alone."""
    return singles if len(singles) < 2 else [a + b for a, b in pairwise(singles)]


def _matches(text: str) -> Iterator[tuple[int, Any]]:
    """Yield (offset, match) for each word of a text; the positions in the match are counted from the offset."""
    return _windowed(text) if len(text) > ENDLESS else ((0, match) for match in _pattern().finditer(text))


def _windowed(text: str) -> Iterator[tuple[int, Any]]:
    """Yield (offset, match) for each word of a long text, cut as Lucene does: the longest word in a window of 255 characters."""
    at = 0
    while at < len(text):
        match = _pattern().match(text[at : at + LONGEST])
        if match:
            yield at, match
        # If joiners fill the whole window, there is no word in it, whatever follows.
        at += match.end() if match else max(1, _UNDERSCORES.match(text, at).end() - at - LONGEST + 1)  # type: ignore[union-attr]


def split_terms(joined: str) -> list[str]:
    """Return the terms in a string from an analyzer's `batch`, where newlines separate them."""
    return joined.split("\n") if joined else []
