r"""Letters that LaTeX writes as commands: accents such as `\"o` and `\v{s}`, and letters such as `\o` and `{\ss}`.

The kernel that cuts raw tokens finds the commands, by the table of `commands`. `decoded` writes them as characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

import numpy as np

# The combining mark of each accent, by the character or letter of its command.
ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306", ".": "\u0307",
    '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323", "c": "\u0327", "k": "\u0328",
    "b": "\u0331",
}  # fmt: skip
# Letters that LaTeX writes as commands of their own, such as `\o`.
LETTERS = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "th": "þ", "TH": "Þ", "dh": "ð", "DH": "Ð", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ",
}  # fmt: skip
# The letters that have accents in most names with accents.
_ACCENTED_IN_NAMES = frozenset("aeiouycnszrlgAEIOUCSZ")
_COMMAND = re.compile(
    rf"""\{{?\\(?:
        (?P<letter>{"|".join(sorted(LETTERS, key=len, reverse=True))})(?![A-Za-z])(?:\{{\}}|\}}|\ )?
        |(?P<accent>[{re.escape("".join(ACCENTS))}])\ ?(?:
            \{{\\?(?P<braced>[A-Za-z])\}} | \\(?P<dotless>[ij])(?![A-Za-z])(?:\{{\}}|\ )? | (?P<bare>[A-Za-z])
        )\}}?
    )""",
    re.VERBOSE,
)


@cache
def commands() -> np.ndarray:
    r"""Return a table of shape [2, 128, 128] (uint8), which says for each pair of ASCII characters whether it makes a letter.

    In the first part, a pair is an accent and a letter, as in `\"o`. In the second part, a pair is the name of a letter,
    as in `\ss`, or a name of one character and 0. An accent and a letter count only if Unicode has one character for them.
    """
    table = np.zeros((2, 128, 128), np.uint8)
    for accent in ACCENTS:
        for letter in map(chr, range(128)):
            table[0, ord(accent), ord(letter)] = letter.isalpha() and len(_accented(accent, letter)) == 1
    for name in LETTERS:
        table[1, ord(name[0]), ord(name[1]) if name[1:] else 0] = 1
    return table


def decoded(raw: str) -> str:
    r"""Return a raw token with characters in place of its commands: `Schr\"odinger` becomes `Schrödinger`."""
    return _COMMAND.sub(_character, raw) if "\\" in raw else raw


def spellings(word: str) -> Iterator[str]:
    r"""Yield the usual forms in which LaTeX writes a word: `Schr\"odinger` and `Schr\"{o}dinger`.

    In a word without accents, each letter in turn gets an acute accent. This shows how an analyzer cuts a word with an
    accent at each place.
    """
    if word.isascii():
        for place, letter in enumerate(word):
            if letter in _ACCENTED_IN_NAMES:
                yield f"{word[:place]}\\'{word[place:]}"
                yield f"{word[:place]}\\'{{{letter}}}{word[place + 1 :]}"
        return
    names = {letter: name for name, letter in LETTERS.items()}
    marks = {mark: accent for accent, mark in ACCENTS.items()}
    for form in (r"\{0}{1}", r"\{0}{{{1}}}"):
        written = ""
        for letter in unicodedata.normalize("NFC", word):
            base, accent = letter, ""
            if len(parts := unicodedata.normalize("NFD", letter)) == 2:
                base, accent = parts[0], marks.get(parts[1], "")
            if letter in names:
                written += f"{{\\{names[letter]}}}"
            elif accent:
                written += (r"\{0}{{{1}}}" if accent.isalpha() else form).format(accent, base)
            else:
                written += letter
        yield written


def _character(command: re.Match[str]) -> str:
    if command["letter"]:
        return LETTERS[command["letter"]]
    return _accented(command["accent"], command["braced"] or command["dotless"] or command["bare"])


def _accented(accent: str, letter: str) -> str:
    return unicodedata.normalize("NFC", letter + ACCENTS[accent])
