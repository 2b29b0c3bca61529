"""Fold Latin letters: write a lower-case letter with accents, or a ligature, as letters from a to z.

The model is Lucene's ASCIIFoldingFilter. Letters of other scripts stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain

# Blocks with Latin letters: Latin-1 to IPA, the phonetic extensions, the additions from U+1E00 on, sub- and
# superscripts, circled letters, Latin Extended-C and -D, ligatures, and full-width letters.
_BLOCKS = (
    (0xAA, 0x2B0), (0x1D00, 0x1DC0), (0x1E00, 0x1F00), (0x2071, 0x209D), (0x24D0, 0x24EA), (0x2C60, 0x2C80),
    (0xA722, 0xA800), (0xFB00, 0xFB07), (0xFF10, 0xFF5B),
)  # fmt: skip
# Letters that have neither a decomposition nor a base letter in their names.
_LETTERS = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ŋ": "n", "ĸ": "q", "ə": "a", "ƿ": "w", "ȝ": "z", "ʉ": "u",
    "ŉ": "n", "\u2018": "'", "\u2019": "'",
}  # fmt: skip
_NAME = re.compile(r"LATIN SMALL (?:LETTER|LIGATURE) (?:DOTLESS |LONG |TURNED |OPEN )?([A-Z]{1,2})(?: WITH .+)?")
_MARKS = re.compile("(?<=[a-z0-9])[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Return a lower-case text without the accents of its Latin letters. The text may get longer: `ß` becomes `ss`."""
    return text if text.isascii() else _MARKS.sub("", text.translate(_table()))


@cache
def _table() -> dict[int, str]:
    """Return the replacement of each letter that folding changes."""
    points = chain.from_iterable(range(*block) for block in _BLOCKS)
    folded = {point: _folded(chr(point)) for point in points}
    return {point: text for point, text in folded.items() if text} | {ord(c): text for c, text in _LETTERS.items()}


def _folded(letter: str) -> str:
    """Return the ASCII letters and digits that replace one letter; an empty string if no such letters exist."""
    bases = [part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part)]
    text = "".join(_LETTERS.get(part, part) for part in bases)
    if text.isascii():
        return text.lower() if text.isalnum() else ""
    named = _NAME.fullmatch(unicodedata.name(letter, ""))
    return named[1].lower() if named else ""
