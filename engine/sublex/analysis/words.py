"""Words of a text by the Unicode rules (UAX 29), with the choices Lucene's standard tokenizer makes.

Letters, digits and what joins them form words; Han and Hiragana characters stand alone or pair up as overlapping bigrams.
"""

from __future__ import annotations

from functools import cache

LONGEST = 255


@cache
def _pattern():
    """A regular expression with one group a kind of word: `single` characters of scripts without spaces, or a word."""
    import regex

    extend = r"[\p{WB=Format}\p{WB=Extend}\p{WB=ZWJ}]*"
    special = r"[\p{Script=Han}\p{Script=Hiragana}]"
    asian = r"\p{Line_Break=Complex_Context}"
    letter = rf"(?:(?!{asian})[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]){extend}"
    hebrew = rf"\p{{WB=Hebrew_Letter}}{extend}"
    number = rf"[\p{{WB=Numeric}}\uFF10-\uFF19]{extend}"
    katakana = rf"\p{{WB=Katakana}}{extend}"
    join = rf"(?:\p{{WB=ExtendNumLet}}{extend})"
    middle = rf"[\p{{WB=MidLetter}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{extend}"
    middle_number = rf"[\p{{WB=MidNum}}\p{{WB=MidNumLet}}\p{{WB=Single_Quote}}]{extend}"
    gershayim = rf"(?<={hebrew})\"(?={hebrew})"
    letters = rf"{letter}(?:(?:{join}*|{middle}|{gershayim}){letter})*+(?:(?<={hebrew})'{extend})?"
    numbers = rf"{number}(?:(?:{join}*|{middle_number}){number})*+"
    katakanas = rf"{katakana}(?:{join}*{katakana})*+"
    part = rf"(?:(?:{letters}|{numbers})+|{katakanas})"
    word = rf"{join}*+{part}(?:{join}+{part})*+{join}*+"
    emoji = r"(?:\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3|\p{Extended_Pictographic}(?<![©®™])(?:\p{EMod}|[\uFE0F\u200D]|(?<=\u200D)\p{Extended_Pictographic})*)"
    return regex.compile(rf"(?P<single>{special}){extend}|(?P<word>{word}|(?:{asian}{extend})+)|(?P<emoji>{emoji})")


def words(text: str, bigrams: bool) -> list[str]:
    """The words of any text, in order; no word is longer than 255 characters."""
    found: list[str] = []
    run: list[str] = []
    end = -1
    for match in _pattern().finditer(text):
        if run and match.start() != end:
            found += _bigrams(run)
            run = []
        end = match.end()
        if match.lastgroup != "single":
            found += _bigrams(run) + _pieces(match.group())
            run = []
        elif bigrams:
            run.append(match["single"])
        else:
            found.append(match["single"])
    return found + _bigrams(run)


def _bigrams(run: list[str]) -> list[str]:
    return run if len(run) < 2 else [a + b for a, b in zip(run, run[1:], strict=False)]


def _pieces(word: str) -> list[str]:
    return [word] if len(word) <= LONGEST else [word[i : i + LONGEST] for i in range(0, len(word), LONGEST)]
