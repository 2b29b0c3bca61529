"""Reference implementations of the engine's formulas and kernels: short, slow, and written from the sources.

Tests compare the engine's results with these. No function here calls the engine's code for the thing that it defines.
"""

from __future__ import annotations

import contextlib
import datetime
import fractions
import itertools
import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.tokens import raw_tokens
from sublex.contracts.base import Analyzer, DocStats, Document, FieldStatistics, Ranker, TermStats
from sublex.contracts.operators import GAP, Operator, OperatorKind

# Analysis: raw tokens, words by the rules of UAX 29, Porter's stemmer, and the terms of a text.


LETTER, DIGIT = "[A-Za-z]", "[0-9]"
# Above ASCII, all characters except these spaces, dashes and quotation marks are part of a raw token.
ABOVE = r"[^\x00-\x7F\u00A0\u2010-\u2017\u201A-\u2023\u2025\u2026\u2028\u2029\u3000-\u3002]"
INSIDE = f"(?:{LETTER}|{DIGIT}|_|{ABOVE})"
RAW_TOKEN = re.compile(
    f"""{INSIDE}(?:{INSIDE}
    | (?<={LETTER})[.':](?={LETTER}) | (?<={DIGIT})[.',;](?={DIGIT})
    | (?<={ABOVE})[.':,;](?={INSIDE}) | (?<={INSIDE})[.':,;](?={ABOVE}) | (?<={ABOVE})"(?={ABOVE})
    )*""",
    re.VERBOSE,
)


def raw_tokens_of(text: str) -> list[str]:
    """Return the runs of letters, digits, underscores and characters above ASCII, with the punctuation that joins them.

    A run of underscores alone is not a token.
    """
    return [token for token in RAW_TOKEN.findall(text) if token.strip("_")]


# LaTeX's commands that stand for letters, and what may follow one that is neither in braces nor followed by {}.
ACCENT_OF = {
    "`": "GRAVE", "'": "ACUTE", "^": "CIRCUMFLEX", "~": "TILDE", '"': "DIAERESIS", "=": "MACRON", ".": "DOT ABOVE",
    "u": "BREVE", "v": "CARON", "H": "DOUBLE ACUTE", "r": "RING ABOVE", "c": "CEDILLA", "k": "OGONEK",
    "d": "DOT BELOW", "b": "LINE BELOW",
}  # fmt: skip
LETTER_NAMES = "ss|ae|AE|oe|OE|aa|AA|th|TH|dh|DH|dj|DJ|ng|NG|[oOlLij]"
ACCENTED = r"\\(?P<accent>[`'^~\"=.uvHrckdb])"
LATEX = [
    re.compile(form)
    for form in (
        rf"\{{\\(?:{LETTER_NAMES})\}}",
        rf"\\(?:{LETTER_NAMES})\{{\}}",
        rf"\\(?:{LETTER_NAMES}) (?={LETTER}{LETTER})",
        rf"(?<=[^\W\d_])\\(?:{LETTER_NAMES}) (?={LETTER})",
        rf"\\(?:{LETTER_NAMES})(?=\\[`'^~\"=.])",
        rf"(?<=[^\W\d_])\\(?:{LETTER_NAMES})(?! ?{LETTER})(?=[\x00-\x20!\"'),\-./:;?}}~]|$)",
    )
]
ARGUMENT = (
    rf"(?:\{{(?:\\(?=[ij]))?(?P<a>{LETTER})\}}|\\(?P<b>[ij])(?!{LETTER})(?:\{{\}}| (?={LETTER}))?|(?P<c>{LETTER}))"
)
LATEX += [re.compile(rf"\{{{ACCENTED} ?{ARGUMENT}\}}"), re.compile(rf"{ACCENTED}( ?){ARGUMENT}")]


def latex_letter(text: str, at: int, inside: bool) -> str:
    """Return the LaTeX command at a place of a text that stands for a letter; an empty string if there is none.

    `inside` says whether the command before this place stands for a letter too.
    """
    head = f"x{text[at:]}" if inside else text[max(0, at - 1) :]
    begin = 1 if inside or at else 0
    for form in LATEX:
        match = form.match(head, begin)
        if match and "accent" in match.groupdict():
            letter, after = match["a"] or match["b"] or match["c"], head[match.end() :]
            word = head[:begin].isalpha() or re.match(LETTER, after)
            by_blank = " " in match[0].rstrip() and match["c"] and not match[0].startswith("{")
            # The accents of LaTeX that are letters are followed by no letter.
            named = match["accent"].isalpha() and not re.match(r"\{?\\.[ {\\]", match[0])
            if named or (by_blank and not word) or not has_accent(letter, match["accent"]):
                continue
        if match:
            return match[0]
    return ""


def has_accent(letter: str, accent: str) -> bool:
    """Return whether Unicode has a character for a letter with an accent, by its name."""
    size = "CAPITAL" if letter.isupper() else "SMALL"
    try:
        unicodedata.lookup(f"LATIN {size} LETTER {letter.upper()} WITH {ACCENT_OF[accent]}")
    except KeyError:
        return False
    return True


def latex_tokens_of(text: str) -> list[str]:
    """Return the raw tokens of a text in which LaTeX commands that stand for letters are letters."""
    commands: list[str] = []
    plain, at, inside = "", 0, False
    while at < len(text):
        command = latex_letter(text, at, inside) if text[at] in "\\{" else ""
        inside = bool(command)
        # A letter that no text of the tests has.
        plain += "Q" if command else text[at]
        commands += [command] if command else []
        at += len(command) or 1
    restored = iter(commands)
    return ["".join(next(restored) if c == "Q" else c for c in token) for token in raw_tokens_of(plain)]


# Sample characters of each kind that the word rules distinguish. A mark belongs to the character before it.
KINDS = {
    "letter": "aZéßЖωابक한ªµ",
    "hebrew": "אשג",
    "digit": "19٣९９",
    "katakana": "カーｶ",
    "han": "日本〇",
    "hiragana": "ひゝ",
    "asian": "กาທမខ",
    "mark": "\u0301\u00ad\u200e\u093e",
    "joiner": "\u200d",
    "underscore": "_‿",
    "mid letter": ":·",
    "mid number": ",;،",
    "mid both": ".’'",
    "double quote": '"',
    "picture": "😀☺©★",
    "flag": "🇺🇸",
    "other": " -!\n\t\x00\u200b“—。$+/（",
}
KIND_OF = {character: kind for kind, characters in KINDS.items() for character in characters}
LETTERS = ("letter", "hebrew")
WORDS = (*LETTERS, "digit", "katakana")


class Unit(NamedTuple):
    """A character with the marks that follow it (rule WB4)."""

    kind: str
    text: str


def units(text: str) -> list[Unit]:
    """Return the units of a text of characters in KINDS."""
    result: list[Unit] = []
    for character in text:
        kind = KIND_OF[character]
        if kind in ("mark", "joiner") and result and result[-1].kind != "other":
            result[-1] = Unit(result[-1].kind, result[-1].text + character)
        else:
            result.append(Unit("other" if kind in ("mark", "joiner") else kind, character))
    return result


def joined(before: list[Unit], after: list[Unit]) -> bool:
    """Return whether the rules WB5 to WB16 forbid a break between the last unit before and the first unit after."""
    x, y = before[-1].kind, after[0].kind
    w = before[-2].kind if len(before) > 1 else ""
    z = after[1].kind if len(after) > 1 else ""
    return (
        (x in (*LETTERS, "digit") and y in (*LETTERS, "digit"))  # WB5, 8, 9, 10
        or (x in LETTERS and y in ("mid letter", "mid both") and z in LETTERS)  # WB6
        or (w in LETTERS and x in ("mid letter", "mid both") and y in LETTERS)  # WB7
        or (x == "hebrew" and y == "double quote" and z == "hebrew")  # WB7b
        or (w == "hebrew" and x == "double quote" and y == "hebrew")  # WB7c
        or (w == "digit" and x in ("mid number", "mid both") and y == "digit")  # WB11
        or (x == "digit" and y in ("mid number", "mid both") and z == "digit")  # WB12
        or (x == y == "katakana")  # WB13
        or (x in (*WORDS, "underscore") and y == "underscore")  # WB13a
        or (x == "underscore" and y in WORDS)  # WB13b
        or (x == y == "asian")  # left to dictionaries by UAX 29, kept together by Lucene
        or (x == y == "picture" and before[-1].text.endswith("\u200d"))  # WB3c
    )


def words_of(text: str, bigrams: bool) -> list[str]:
    """Return the words of a short text of characters in KINDS. Without rule WB7a: a Hebrew word keeps no final quote."""
    words: list[list[Unit]] = []
    all_units = units(text)
    flags = 0
    for i, unit in enumerate(all_units):
        flags = flags + 1 if unit.kind == "flag" else 0
        flag_pair = unit.kind == "flag" and flags % 2 == 0  # WB15, 16
        together = bool(i) and (joined(all_units[:i], all_units[i:]) or flag_pair)
        words = [*words[:-1], [*words[-1], unit]] if together else [*words, [unit]]
    result: list[str] = []
    run = ""
    for word in [*words, []]:
        single = bigrams and bool(word) and word[0].kind in ("han", "hiragana")
        if single:
            run += word[0].text[0]
        elif run:
            result += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            run = ""
        kinds = [unit.kind for unit in word]
        if not single and (set(kinds) & {*WORDS, "han", "hiragana", "asian", "picture"} or kinds == ["flag", "flag"]):
            result.append("".join(unit.text for unit in word))
    return result


# M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, in the paper's order and with its letters. It differs
# from the paper like Lucene and Porter's later programs: words of one or two letters stay, (m>0) BLI -> BLE replaces
# ABLI -> ABLE, and (m>0) LOGI -> LOG is added.
STEP_1 = ("sses", "ies", "ss", "s", "eed", "ed", "ing", "y")
STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def shape(word: str) -> str:
    """Return C for each consonant and V for each vowel; Y is a vowel after a consonant."""
    result = ""
    for letter in word:
        result += "V" if letter in "aeiou" or (letter == "y" and result.endswith("C")) else "C"
    return result


def measure(stem: str) -> int:
    """Return the m of [C](VC){m}[V]."""
    return shape(stem).count("VC")


def double(word: str) -> bool:
    """Return the paper's *d: whether the word ends with a double consonant."""
    return len(word) > 1 and word[-1] == word[-2] and shape(word).endswith("C")


def short(word: str) -> bool:
    """Return the paper's *o: whether the word ends with consonant, vowel, consonant, the last not W, X or Y."""
    return shape(word).endswith("CVC") and word[-1] not in "wxy"


def longest(word: str, suffixes: Iterable[str]) -> str:
    """Return the longest of the suffixes that the word ends with, or the empty string."""
    return max((suffix for suffix in suffixes if word.endswith(suffix)), key=len, default="")


def porter(word: str) -> str:
    """Return the stem of a word in lower case."""
    if len(word) < 3:
        return word
    # Step 1a
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    # Step 1b
    ending = longest(word, ("eed", "ed", "ing"))
    stem = word.removesuffix(ending)
    if ending == "eed":
        word = word[:-1] if measure(stem) > 0 else word
    elif ending and "V" in shape(stem):
        word = stem
        if stem.endswith(("at", "bl", "iz")):
            word += "e"
        elif double(stem):
            word = stem if stem[-1] in "lsz" else stem[:-1]
        elif measure(stem) == 1 and short(stem):
            word += "e"
    # Step 1c
    if word.endswith("y") and "V" in shape(word[:-1]):
        word = word[:-1] + "i"
    # Steps 2 and 3
    for step in (STEP_2, STEP_3):
        ending = longest(word, step)
        if ending and measure(word.removesuffix(ending)) > 0:
            word = word.removesuffix(ending) + step[ending]
    # Step 4
    ending = longest(word, STEP_4)
    stem = word.removesuffix(ending)
    if ending and measure(stem) > 1 and (ending != "ion" or stem.endswith(("s", "t"))):
        word = stem
    # Step 5a
    stem = word.removesuffix("e")
    if stem != word and (measure(stem) > 1 or (measure(stem) == 1 and not short(stem))):
        word = stem
    # Step 5b
    return word[:-1] if word.endswith("ll") and measure(word) > 1 else word


# The stop words of Lucene's EnglishAnalyzer.
LUCENE_STOP_WORDS = (
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on",
    "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
)  # fmt: skip


def lower(word: str) -> str:
    """Return a word in lower case; a dotted capital I becomes a plain i without a mark, as in Lucene."""
    return word.replace("İ", "i").lower()


def english(words: Iterable[str], stop: Iterable[str]) -> list[str]:
    """Return the words in lower case, without a final 's, without stop words, stemmed."""
    bare = [re.sub("['’＇]s$", "", lower(word)) for word in words]
    return [porter(word) for word in bare if word not in set(stop)]


def terrier(text: str, stop: Iterable[str] = ()) -> list[str]:
    """Return Terrier's terms: runs of ASCII letters and digits, stemmed.

    A run is dropped if it is longer than 20, has four equal characters in a row, or has more than 4 digits.
    """
    terms = []
    for word in re.findall("[A-Za-z0-9]+", text):
        alike = any(len(set(word[i : i + 4])) == 1 for i in range(len(word) - 3))
        digits = sum(character in "0123456789" for character in word)
        if len(word) <= 20 and not alike and digits <= 4 and word.lower() not in set(stop):
            terms.append(porter(word.lower()))
    return terms


# The index: postings in dictionaries, BM25, and the two codes that the comments in `sublex.index.posting_kernels` describe.


class Inverted(NamedTuple):
    """An inverted index: term counts by docno, in input order; postings by term, then docno; raw tokens by term."""

    documents: dict[str, Counter[str]]
    postings: dict[str, dict[str, int]]
    forms: dict[str, Counter[str]]

    @property
    def lengths(self) -> dict[str, int]:
        return {docno: terms.total() for docno, terms in self.documents.items()}

    def surface(self, term: str) -> str:
        """Return the raw token that most often became this term alone.

        Of equally frequent tokens it is the first by bytes; without any token it is the term.
        """
        counts = self.forms[term]
        return min(counts, key=lambda raw: (-counts[raw], raw.encode())) if counts else term


def invert(documents: Iterable[Document], analyzer: Analyzer) -> Inverted:
    """Return the index of documents; a document with a docno that occurred before is left out."""
    index = Inverted({}, defaultdict(dict), defaultdict(Counter))
    for document in documents:
        if document.docno in index.documents:
            continue
        counts = index.documents[document.docno] = Counter()
        for raw in raw_tokens(document.contents):
            terms = analyzer.terms(raw)
            counts.update(terms)
            if len(terms) == 1:
                index.forms[terms[0]][raw] += 1
        for term, tf in counts.items():
            index.postings[term][document.docno] = tf
    return index


def byte_code(value: int) -> list[int]:
    """Return a number as bytes of seven bits, the lowest first; the high bit marks that another byte follows."""
    return [value] if value < 128 else [value & 127 | 128, *byte_code(value >> 7)]


def encode_list(ids: Sequence[int], tfs: Sequence[int], last: int = -1) -> bytes:
    """Return gaps minus 1 and frequencies minus 2 in byte code; the lowest bit of a gap marks a frequency of 1."""
    code: list[int] = []
    for number, tf in zip(ids, tfs, strict=True):
        code += byte_code((number - last - 1) * 2 + (tf == 1))
        code += byte_code(tf - 2) if tf > 1 else []
        last = number
    return bytes(code)


def decode_list(data: bytes, last: int = -1) -> tuple[list[int], list[int]]:
    """Return the documents and frequencies that `encode_list` encoded."""
    values, shift = [0], 0
    for byte in data:
        values[-1] |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(0)
            shift = 0
    ids: list[int] = []
    tfs: list[int] = []
    rest = iter(values[:-1])
    for value in rest:
        last += value // 2 + 1
        ids.append(last)
        tfs.append(1 if value % 2 else next(rest) + 2)
    return ids, tfs


def pack(values: Sequence[int], width: int) -> list[int]:
    """Return 128 values of `width` bits in 32-bit words: value 4r + l is number r of lane l; the lanes' words alternate."""
    lanes = [sum(value << (row * width) for row, value in enumerate(values[lane::4])) for lane in range(4)]
    return [lane >> (32 * word) & 0xFFFFFFFF for word in range(width) for lane in lanes]


def unpack(words: Sequence[int], width: int) -> list[int]:
    """Return the values that `pack` packed."""
    lanes = [sum(int(word) << (32 * k) for k, word in enumerate(words[lane::4])) for lane in range(4)]
    return [lanes[k % 4] >> (k // 4 * width) & ((1 << width) - 1) for k in range(128)]


class Coded(NamedTuple):
    """The encoded postings of a term: packed words, the last document and two widths of each block, and the tail."""

    words: list[int]
    lasts: list[int]
    widths: list[int]
    tail: bytes


def encode_postings(docs: Sequence[int], tfs: Sequence[int]) -> Coded:
    """Return postings as packed blocks of 128, each of the least width that fits, and a list of the remaining postings."""
    coded = Coded([], [], [], b"")
    last, cut = -1, len(docs) // 128 * 128
    for begin in range(0, cut, 128):
        block = docs[begin : begin + 128]
        gaps = [b - a - 1 for a, b in zip([last, *block], block, strict=False)]
        more = [tf - 1 for tf in tfs[begin : begin + 128]]
        last = block[-1]
        coded.lasts.append(last)
        for values in (gaps, more):
            width = max(values).bit_length()
            coded.widths.append(width)
            coded.words.extend(pack(values, width))
    return coded._replace(tail=encode_list(docs[cut:], tfs[cut:], last))


def decode_postings(coded: Coded) -> tuple[list[int], list[int]]:
    """Return the documents and frequencies that `encode_postings` encoded."""
    docs: list[int] = []
    tfs: list[int] = []
    last, at = -1, 0
    for gap_width, tf_width in zip(coded.widths[::2], coded.widths[1::2], strict=True):
        cut, end = at + 4 * gap_width, at + 4 * (gap_width + tf_width)
        for gap, more in zip(
            unpack(coded.words[at:cut], gap_width), unpack(coded.words[cut:end], tf_width), strict=True
        ):
            last += gap + 1
            docs.append(last)
            tfs.append(more + 1)
        at = end
    ids, rest = decode_list(coded.tail, last)
    return docs + ids, tfs + rest


# The positions that are left out between two fields.
TITLE_GAP = 100


class CodedPositions(NamedTuple):
    """The encoded positions of a term: packed words, the width of each block, and the tail."""

    words: list[int]
    widths: list[int]
    tail: bytes


def encode_positions(found: Iterable[Sequence[int]]) -> CodedPositions:
    """Return the positions of a term's postings as packed blocks of 128 gaps, and the remaining gaps in byte code.

    A gap is the number of positions between a position and the one before it in the same posting, or before the first position.
    """
    gaps = [b - a - 1 for places in found for a, b in zip([-1, *places], places, strict=False)]
    coded = CodedPositions([], [], bytes(byte for gap in gaps[len(gaps) // 128 * 128 :] for byte in byte_code(gap)))
    for begin in range(0, len(gaps) // 128 * 128, 128):
        coded.widths.append(max(gaps[begin : begin + 128]).bit_length())
        coded.words.extend(pack(gaps[begin : begin + 128], coded.widths[-1]))
    return coded


def positions(*fields: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return the positions of each term in a document with these fields, in which each raw token is given by its terms.

    A raw token takes a position for each of its terms, and one if it has none. Between two fields with raw tokens, `TITLE_GAP`
    positions are left out.
    """
    found: dict[str, list[int]] = {}
    for field, _, place in placed(fields):
        for number, term in enumerate(field):
            found.setdefault(term, []).append(place + number)
    return found


def placed(fields: Sequence[Sequence[Sequence[str]]]) -> Iterator[tuple[Sequence[str], int, int]]:
    """Yield the terms of each raw token of a document, the number of its field, and its first position."""
    place = 0
    for number, field in enumerate(fields):
        if field and any(fields[:number]):
            place += TITLE_GAP
        for terms in field:
            yield terms, number, place
            place += max(1, len(terms))


def field_begins(fields: Sequence[Sequence[Sequence[str]]]) -> list[int]:
    """Return the position at which each field begins: that of its first raw token, or that after the raw token before it."""
    found = []
    for number in range(len(fields)):
        before = [place + max(1, len(terms)) for terms, field, place in placed(fields) if field < number]
        own = [place for _, field, place in placed(fields) if field == number]
        found.append(min(own, default=max(before, default=0)))
    return found


def encode_field(tfs: Sequence[int]) -> CodedPositions:
    """Return the frequencies of a term's postings in a field as packed blocks of 128, and the rest in byte code.

    A rest of zeros takes no byte.
    """
    rest = tfs[len(tfs) // 128 * 128 :]
    coded = CodedPositions([], [], bytes(byte for tf in rest for byte in byte_code(tf)) if any(rest) else b"")
    for begin in range(0, len(tfs) // 128 * 128, 128):
        coded.widths.append(max(tfs[begin : begin + 128]).bit_length())
        coded.words.extend(pack(tfs[begin : begin + 128], coded.widths[-1]))
    return coded


class Hit(NamedTuple):
    """A document and its score."""

    docno: str
    score: float


def bm25(
    query: Iterable[str],
    lengths: Mapping[str, int],
    postings: Callable[[str], Mapping[str, int]],
    k1: float = 1.2,
    b: float = 0.75,
) -> list[Hit]:
    """Return each document that holds a term of the query, ordered by score, then docno, both descending.

    The idf is Lucene's, ln(1 + (N - df + 1/2) / (df + 1/2)). The score of a posting is a float32, and so is the sum.
    """
    mean = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    for term, weight in Counter(query).items():
        term_postings = postings(term)
        idf = math.log(1 + (len(lengths) - len(term_postings) + 0.5) / (len(term_postings) + 0.5))
        for docno, tf in term_postings.items():
            saturated = tf / (tf + k1 * (1 - b + b * lengths[docno] / mean))
            scores[docno] = scores.get(docno, 0.0) + float(np.float32(weight * idf * saturated))
    hits = [Hit(docno, float(np.float32(score))) for docno, score in scores.items()]
    return sorted(hits, key=lambda hit: (hit.score, hit.docno.encode()), reverse=True)


# The rankers: the score of one posting, from the papers, in scalars.


class Facts(NamedTuple):
    """The statistics of one posting: of the term in the document, of the document, of the term, of the collection."""

    tf: float
    length: float
    unique: float
    df: int
    cf: int
    docs: int
    tokens: int
    postings: int

    @property
    def mean(self) -> float:
        return self.tokens / self.docs


def tfidf(f: Facts, k1: float = 1.2, b: float = 0.75) -> float:
    """Return Terrier's TF_IDF: Robertson's tf times Spärck Jones's idf."""
    return k1 * f.tf / (f.tf + k1 * ((1 - b) + b * f.length / f.mean)) * math.log2(f.docs / f.df + 1)


def bm25_weight(
    f: Facts, k1: float = 1.2, b: float = 0.75, variant: str = "lucene", delta: float | None = None
) -> float:
    """Return BM25 by table 1 of Kamphuis et al. 2020, with the variants of Terrier, PISA and Whoosh added."""
    rsj = (f.docs - f.df + 0.5) / (f.df + 0.5)
    k = k1 * (1 - b + b * f.length / f.mean)
    if variant == "L":
        c = f.tf / (1 - b + b * f.length / f.mean) + (0.5 if delta is None else delta)
        return math.log((f.docs + 1) / (f.df + 0.5)) * (k1 + 1) * c / (k1 + c)
    if variant == "plus":
        lifted = (k1 + 1) * f.tf / (k + f.tf) + (1 if delta is None else delta)
        return math.log((f.docs + 1) / f.df) * lifted
    if variant == "tf":
        return f.tf / (k + f.tf)
    if variant == "whoosh":
        k = k1 * (1 - b + b * whoosh_length(f.length) / f.mean)
        return (math.log(f.docs / (f.df + 1)) + 1) * f.tf * (k1 + 1) / (f.tf + k)
    if variant in ("lucene", "robertson"):
        return (math.log(1 + rsj) if variant == "lucene" else math.log(rsj)) * f.tf / (k + f.tf)
    idf = {"terrier": math.log2(rsj), "pisa": max(1e-6, math.log(rsj)), "atire": math.log(f.docs / f.df)}[variant]
    return idf * (k1 + 1) * f.tf / (k + f.tf)


def whoosh_length(length: float) -> int:
    """Return the least of Whoosh's 256 lengths that is not below a length, or the greatest of them."""
    stored = [round((1.033**code - 1) * 27) for code in range(256)]
    return next((rounded for rounded in stored if rounded >= length), stored[-1])


def dfr(f: Facts, basic: str = "P", after: str = "L", norm: str = "H2", c: float = 1.0) -> float:
    """Return the score by Amati and van Rijsbergen 2002.

    The occurrences in other documents are at least ½: Stirling's formula has no value at 0.
    """
    tfn = {
        "H1": f.tf * c * f.mean / f.length,
        "H2": f.tf * math.log1p(c * f.mean / f.length) / math.log(2),
        "none": f.tf,
    }[norm]
    big_f, n, rate, log2e = f.cf, f.docs, f.cf / f.docs, 1 / math.log(2)
    rest = max(big_f - tfn, 0.5)

    def power(a: float, m: float) -> float:
        return (m + 0.5) * math.log2(a / m) + (a - m) * math.log2(a)

    inf1 = {
        "P": lambda: tfn * math.log2(tfn / rate) + (rate - tfn) * log2e + 0.5 * math.log2(2 * math.pi * tfn),
        "D": lambda: (
            tfn * math.log2(tfn / big_f * n)
            + rest * math.log2(rest / big_f * (n / (n - 1) if n > 1 else 1))
            + 0.5 * math.log2(2 * math.pi * tfn * rest / big_f)
        ),
        "BE": lambda: (
            -math.log2(max(n - 1, 1)) - log2e + power(n + big_f - 1, max(n + big_f - tfn - 2, 0.5)) - power(big_f, rest)
        ),
        "G": lambda: -math.log2(1 / (1 + rate)) - tfn * math.log2(rate / (1 + rate)),
        "In": lambda: tfn * math.log2((n + 1) / (f.df + 0.5)),
        "Ine": lambda: tfn * math.log2((n + 1) / (n * (1 - ((n - 1) / n) ** big_f) + 0.5)),
        "IF": lambda: tfn * math.log2((n + 1) / (big_f + 0.5)),
    }[basic]()
    return inf1 * {"L": 1 / (tfn + 1), "B": (big_f + 1) / (f.df * (tfn + 1)), "none": 1}[after]


def pl2(f: Facts, c: float = 1.0) -> float:
    """Return PL2: Poisson, Laplace, normalisation 2."""
    tfn = f.tf * math.log2(1 + c * f.mean / f.length)
    rate = f.cf / f.docs
    poisson = tfn * math.log2(tfn / rate) + (rate - tfn) * math.log2(math.e) + 0.5 * math.log2(2 * math.pi * tfn)
    return poisson / (tfn + 1)


def hypergeometric(f: Facts) -> float:
    """Return the divergence in DPH and DLH13; relative frequencies are at most 0.99999."""
    share = min(f.tf / f.length, 0.99999)
    return f.tf * math.log2((f.tf * f.mean / f.length) * (f.docs / f.cf)) + 0.5 * math.log2(
        2 * math.pi * f.tf * (1 - share)
    )


def dph(f: Facts) -> float:
    """Return DPH, by Amati et al. at TREC 2007."""
    return (1 - min(f.tf / f.length, 0.99999)) ** 2 / (f.tf + 1) * hypergeometric(f)


def dlh13(f: Facts) -> float:
    """Return DLH13, by Macdonald et al. at TREC 2005."""
    return hypergeometric(f) / (f.tf + 0.5)


def dfree(f: Facts) -> float:
    """Return Amati's DFRee: the bits of one more token, times the divergence with it minus the divergence without it."""
    prior, posterior, rarity = f.tf / f.length, (f.tf + 1) / (f.length + 1), f.tokens / f.cf
    bits = math.log2(posterior / prior)
    divergence = (f.tf + 1) * math.log2(posterior * rarity) - f.tf * math.log2(prior * rarity) + 0.5 * bits
    return f.tf * bits * divergence


def dfi(f: Facts, measure: str = "standardized") -> float:
    """Return DFI, by Kocabaş, Dinçer and Karaoğlan 2014."""
    e = f.cf * f.length / f.tokens
    if f.tf <= e:
        return 0.0
    measures = {
        "standardized": (f.tf - e) / math.sqrt(e),
        "saturated": (f.tf - e) / e,
        "chisquared": (f.tf - e) ** 2 / e,
    }
    return math.log2(measures[measure] + 1)


def lgd(f: Facts, c: float = 1.0) -> float:
    """Return LGD, Clinchant and Gaussier's log-logistic model."""
    tfn = f.tf * math.log1p(c * f.mean / f.length) / math.log(2)
    return math.log2((f.df / f.docs + tfn) / (f.df / f.docs))


def spl(f: Facts, c: float = 1.0) -> float:
    """Return SPL, Clinchant and Gaussier's smoothed power law; its limit for a term in every document."""
    tfn = f.tf * math.log1p(c * f.mean / f.length) / math.log(2)
    r = f.df / f.docs
    return math.log2(tfn + 1) if r == 1 else -math.log2((r ** (tfn / (tfn + 1)) - r) / (1 - r))


def dirichlet(f: Facts, mu: float = 1000.0, variant: str = "lucene") -> float:
    """Return the score of a term that occurs, by table 1 of Zhai and Lafferty 2004.

    Lucene adds 1 to both counts in p, and its scores are at least 0.
    """
    p = (f.cf + 1) / (f.tokens + 1) if variant == "lucene" else f.cf / f.tokens
    value = math.log(1 + f.tf / (mu * p)) + math.log(mu / (f.length + mu))
    return max(value, 0.0) if variant == "lucene" else value


def jelinek_mercer(f: Facts, lam: float = 0.1, variant: str = "lucene") -> float:
    """Return the logarithm of the mixture of document and collection, divided by the collection's part of it."""
    p = (f.cf + 1) / (f.tokens + 1) if variant == "lucene" else f.cf / f.tokens
    return math.log(((1 - lam) * f.tf / f.length + lam * p) / (lam * p))


def hiemstra(f: Facts, lam: float = 0.15) -> float:
    """Return Hiemstra 2001: log(1 + lam P(t|D) / ((1 - lam) P(t|C)))."""
    return math.log(1 + lam * (f.tf / f.length) / ((1 - lam) * (f.cf / f.tokens)))


class FieldFacts(NamedTuple):
    """The statistics of one posting by field: frequencies and lengths, and the fields' mean lengths; df, cf, docs."""

    tf: Mapping[str, float]
    length: Mapping[str, float]
    mean: Mapping[str, float]
    df: int
    cf: int
    docs: int


def each(value: Any, fields: Sequence[str]) -> dict[str, float]:
    """Return a number for each field: the numbers of a list, or one number for all."""
    return dict(zip(fields, value if isinstance(value, tuple) else [value] * len(fields), strict=True))


def bm25f(
    f: FieldFacts, fields: Sequence[str] = ("title", "text"), weights: Any = 1.0, b: Any = 0.75, **params: Any
) -> float:
    """Return BM25F by Zaragoza et al. 2004: BM25 without normalisation, of the sum of normalised frequencies."""
    w, b, rounded = each(weights, fields), each(b, fields), params.get("variant") == "whoosh"
    total = 0.0
    for field in fields:
        if f.tf[field]:
            length = whoosh_length(f.length[field]) if rounded else f.length[field]
            total += w[field] * f.tf[field] / (1 - b[field] + b[field] * length / f.mean[field])
    return bm25_weight(Facts(total, 1, 1, f.df, f.cf, f.docs, f.docs, f.df), b=0, **params) if total else 0.0


def pl2f(f: FieldFacts, fields: Sequence[str] = ("title", "text"), weights: Any = 1.0, c: Any = 1.0) -> float:
    """Return PL2F by Macdonald et al. 2005: PL2 of the sum of the fields' frequencies after normalisation 2."""
    w, c = each(weights, fields), each(c, fields)
    tfn = sum(
        w[field] * f.tf[field] * math.log1p(c[field] * f.mean[field] / f.length[field]) / math.log(2)
        for field in fields
        if f.tf[field]
    )
    return dfr(Facts(tfn, 1, 1, f.df, f.cf, f.docs, f.docs, f.df), norm="none") if tfn else 0.0


FIELD_RANKERS: dict[str, Callable[..., float]] = {"BM25F": bm25f, "PL2F": pl2f}
RANKERS: dict[str, Callable[..., float]] = {
    "TFIDF": tfidf,
    "BM25": bm25_weight,
    "DFR": dfr,
    "PL2": pl2,
    "InL2": lambda f, c=1.0: dfr(f, "In", "L", "H2", c),
    "BB2": lambda f, c=1.0: dfr(f, "BE", "B", "H2", c),
    "IneB2": lambda f, c=1.0: dfr(f, "Ine", "B", "H2", c),
    "DPH": dph,
    "DLH13": dlh13,
    "DFRee": dfree,
    "DFI": dfi,
    "LGD": lgd,
    "SPL": spl,
    "DirichletLM": dirichlet,
    "JelinekMercerLM": jelinek_mercer,
    "HiemstraLM": hiemstra,
    "CoordinateMatch": lambda f: 1.0,
}


def smart(
    query: Mapping[str, float], docs: Sequence[Mapping[str, int]], scheme: str, slope: float = 0.2, base: float = math.e
) -> list[float]:
    """Return the product of the query's and each document's weighted vector, by figure 6.15 of Manning et al. 2008."""
    n = len(docs)
    df = Counter(term for doc in docs for term in doc)
    pivot = sum(map(len, docs)) / n

    def vector(counts: Mapping[str, float], letters: str) -> dict[str, float]:
        mean = sum(counts.values()) / len(counts)

        def log(x: float) -> float:
            return 1 + math.log(x, base)

        weights = {}
        for term, tf in counts.items():
            frequency = {
                "n": tf, "l": log(tf), "L": log(tf) / log(mean), "d": log(log(tf)), "b": 1.0,
                "a": 0.5 + 0.5 * tf / max(counts.values()),
            }[letters[0]]  # fmt: skip
            without = (n - df[term]) / df[term]
            rarity = {
                "n": 1.0,
                "t": math.log(n / df[term], base),
                "p": max(0.0, math.log(without, base)) if without else 0.0,
            }[letters[1]]
            weights[term] = frequency * rarity
        length = math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        by = {"n": 1.0, "c": length, "u": (1 - slope) * pivot + slope * len(counts)}[letters[2]]
        return {term: weight / by for term, weight in weights.items()}

    known = {term: tf for term, tf in query.items() if df[term]}
    if not known:
        return [0.0] * n
    left = vector(known, scheme[4:])
    return [sum(left[t] * w for t, w in vector(doc, scheme[:3]).items() if t in left) if doc else 0.0 for doc in docs]


# TREC files: trec_eval's order of hits, the digits of scores, and fusion document by document.


def trec_eval_order(hits: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return the hits ordered by score as float32, then by the bytes of the docno, both descending."""
    return sorted(
        ((docno, float(np.float32(score))) for docno, score in hits.items()),
        key=lambda hit: (hit[1], hit[0].encode()),
        reverse=True,
    )


def score_text(score: float) -> str:
    """Return the digits that NumPy prints for the score as float32, in the format of Python's floats."""
    return repr(float(str(np.float32(score))))


def run_text(run: Mapping[str, Mapping[str, float]], tag: str) -> str:
    """Return the text of a run file."""
    return "".join(
        f"{qid} Q0 {docno} {rank} {score_text(score)} {tag}\n"
        for qid, hits in run.items()
        for rank, (docno, score) in enumerate(trec_eval_order(hits), 1)
    )


def normalised(hits: Mapping[str, float], how: str) -> dict[str, float]:
    """Return one topic's scores, normalised."""
    scores = [score for _, score in trec_eval_order(hits)]
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    flat = max(scores) == min(scores)
    result = {}
    for rank, (docno, score) in enumerate(trec_eval_order(hits), 1):
        result[docno] = {
            "rrf": 1 / (60 + rank),
            "rank": 1 / (1 + sum(other > score for other in scores)),
            "raw": score,
            "minmax": 0.0 if flat else (score - min(scores)) / (max(scores) - min(scores)),
            "zscore": 0.0 if flat else (score - mean) / (deviation or 1),
        }[how]
    return result


def fused(runs: Sequence[Mapping[str, float]], method: str, how: str, weights: Sequence[float]) -> dict[str, float]:
    """Return the fused scores of one topic's hits in several runs, by docno."""
    parts = [normalised(hits, how) if hits else {} for hits in runs]
    total: dict[str, float] = {}
    for docno in {docno for part in parts for docno in part}:
        scores = [part[docno] for part in parts if docno in part]
        if method == "weighted":
            lowest = [0.0 if how == "rrf" else min(part.values(), default=0.0) for part in parts]
            total[docno] = sum(w * part.get(docno, low) for w, part, low in zip(weights, parts, lowest, strict=True))
        else:
            total[docno] = sum(scores) * (len(scores) if method == "combmnz" else 1)
    return total


# Operators: all intervals by trying all choices of the parts' intervals, and the frequencies that follow.

Interval = tuple[int, int]


def minimal(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the distinct intervals that have no other one within them, ascending."""
    found = set(intervals)
    return sorted(
        one for one in found if not any(one[0] <= b and e <= one[1] for b, e in found if (b, e) != one)
    )  # fmt: skip


class Places(dict[str, list[int]]):
    """The positions of each term of a document. `fields` has the first and the last position of each field with raw tokens."""

    fields: Mapping[str, Interval]


def places_of(fields: Mapping[str, Sequence[Sequence[str]]]) -> Places:
    """Return the positions of each term in a document with these fields, in which each raw token is given by its terms."""
    found = Places(positions(*fields.values()))
    taken: dict[str, list[int]] = {}
    for terms, number, place in placed([*fields.values()]):
        taken.setdefault([*fields][number], []).extend(range(place, place + max(1, len(terms))))
    found.fields = {name: (own[0], own[-1]) for name, own in taken.items()}
    return found


def intervals_of(part: Any, positions: Mapping[str, Sequence[int]]) -> list[Interval]:
    """Return the minimal intervals of a term, a gap or an operator in a document with these positions of terms.

    Operators within fields need `Places`.
    """
    if part is GAP:
        last = max((places[-1] for places in positions.values() if places), default=-1)
        return [(place, place) for place in range(last + 1)]
    if not isinstance(part, Operator):
        return [(place, place) for place in positions.get(part, ())]
    found = [intervals_of(inner, positions) for inner in part.parts]
    if part.kind is OperatorKind.FIELD:
        first, last = positions.fields.get(part.field, (0, -1))  # type: ignore[attr-defined]
        return [(begin, end) for begin, end in found[0] if first <= begin and end <= last]
    if part.kind is OperatorKind.SYNONYMS:
        return minimal(itertools.chain(*found))
    fits = _ordered if part.kind is OperatorKind.ORDERED else _within
    return minimal(
        (min(b for b, _ in chosen), max(e for _, e in chosen))
        for chosen in itertools.product(*found)
        if fits(chosen, part.width)
    )


def _ordered(chosen: Sequence[Interval], width: int) -> bool:
    """Return whether each interval begins 1 to `width` positions after the end of the one before."""
    return all(1 <= after[0] - before[1] <= width for before, after in itertools.pairwise(chosen))


def _within(chosen: Sequence[Interval], width: int) -> bool:
    """Return whether no two intervals share a position, and all lie within `width` positions."""
    apart = all(a[1] < b[0] or b[1] < a[0] for a, b in itertools.combinations(chosen, 2))
    return apart and max(e for _, e in chosen) - min(b for b, _ in chosen) < width


def frequency(term: str, positions: Mapping[str, Sequence[int]]) -> int:
    """Return how often a term or an operator occurs in a document: its intervals without overlap, earliest end first."""
    count, last = 0, -1
    for begin, end in sorted(intervals_of(term, positions), key=lambda interval: interval[::-1]):
        if begin > last:
            count, last = count + 1, end
    return count


def postings_of(term: str, documents: Mapping[Any, Mapping[str, Sequence[int]]]) -> dict[Any, int]:
    """Return the documents in which a term or an operator occurs, with frequencies."""
    found = {doc: frequency(term, positions) for doc, positions in documents.items()}
    return {doc: tf for doc, tf in found.items() if tf}


class WithOperators:
    """A snapshot that knows the statistics and postings of operators too. The texts of its documents must be stored."""

    def __init__(self, snapshot: Any):
        self.snapshot = snapshot
        self.documents = {doc: positions_in(snapshot, doc) for doc in snapshot.corpus.docs.tolist()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.snapshot, name)

    def postings(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents that hold a term or an operator, ascending, and its frequency in each."""
        if not isinstance(term, Operator):
            return self.snapshot.postings(term)
        found = postings_of(term, self.documents)
        return np.array([*found], np.int32), np.array([*found.values()], np.int32)

    def term(self, term: str) -> Any:
        """Return the document and collection frequency of a term or an operator; None if no document holds it."""
        if not isinstance(term, Operator):
            return self.snapshot.term(term)
        tfs = self.postings(term)[1]
        return TermStats(len(tfs), int(tfs.sum())) if len(tfs) else None


def positions_in(snapshot: Any, doc: int) -> Places:
    """Return the positions of each term of a stored document."""
    document = snapshot.stored(doc)
    texts = {"title": document.title, "text": document.text}
    texts |= {name: content_of(document.fields.get(name)) for name in snapshot.fields if name not in texts}
    return places_of({name: [snapshot.analyzer.terms(raw) for raw in raw_tokens(text)] for name, text in texts.items()})


# Retrieval of each document that holds a term of the query. Impacts are float32; their sum is float64, rarest term first.


def impacts_of(index: Any, ranker: Ranker, term: str) -> dict[int, np.float32]:
    """Return the impact of a term in each live document that holds it."""
    docs, tfs = index.postings(term)
    known = index.term(term)
    places = [index.place(doc) for doc in docs.tolist()]
    length = np.array([float(segment.lengths[local]) for segment, local in places])
    unique = np.array([float(segment.uniques[local]) for segment, local in places])
    norm = np.array([norm_of(index, ranker, doc) for doc in docs.tolist()]) if ranker.norm_part else None
    stats = TermStats(float(known.df), float(known.cf))
    tf, collection = tfs.astype(np.float64), index.statistics
    if fields := tuple(ranker.fields):
        own = [fields_in(index, doc, fields) for doc in docs.tolist()]
        tf = {field: np.array([float(frequency(term, doc[field])) for doc in own]) for field in fields}
        length = {field: np.array([float(tokens_in(doc[field])) for doc in own]) for field in fields}
        collection = field_statistics(index, fields)
    scores = ranker.score(tf, DocStats(length, unique, norm), stats, collection)
    return dict(zip(docs.tolist(), scores.astype(np.float32), strict=True))


def fields_in(snapshot: Any, doc: int, fields: Iterable[str]) -> dict[str, dict[str, list[int]]]:
    """Return the positions of terms in each of some fields of a stored document; each field begins at 0."""
    document = snapshot.stored(doc)
    texts = {**document.fields, "title": document.title, "text": document.text}
    return {
        field: positions([snapshot.analyzer.terms(raw) for raw in raw_tokens(content_of(texts.get(field)))])
        for field in fields
    }


def field_statistics(snapshot: Any, fields: Sequence[str]) -> FieldStatistics:
    """Return the statistics of the collection with the mean length of each field over the live documents."""
    live = [fields_in(snapshot, doc, tuple(fields)) for doc in snapshot.corpus.docs.tolist()]
    means = {field: sum(tokens_in(doc[field]) for doc in live) / len(live) for field in fields}
    return FieldStatistics(*snapshot.statistics, means)


def content_of(value: Any) -> str:
    """Return the text of the value of a field: a text, a number, a list of these, or nothing."""
    if isinstance(value, (list, tuple)):
        return "\n".join(map(content_of, value))
    return "" if value is None else str(value)


def tokens_in(places: Mapping[str, Sequence[int]]) -> int:
    """Return the number of tokens with these positions of terms."""
    return sum(map(len, places.values()))


def norm_of(index: Any, ranker: Ranker, doc: int) -> float:
    """Return the sum of the ranker's `norm_part` over the terms of a document."""
    segment, local = index.place(doc)
    _, terms, tfs = segment.document_terms(local, local + 1)
    stats = DocStats(np.array([float(segment.lengths[local])]), np.array([float(segment.uniques[local])]))
    own, collection, total = {}, index.statistics, 0.0
    if ranker.fields:
        own, collection = fields_in(index, doc, tuple(ranker.fields)), field_statistics(index, ranker.fields)
        stats = stats._replace(length={field: np.array([float(tokens_in(places))]) for field, places in own.items()})
    for term, tf in zip(terms.tolist(), tfs.tolist(), strict=True):
        name = segment.terms[term].decode()
        known = index.term(name)
        given = {field: np.array([float(frequency(name, places))]) for field, places in own.items()}
        of_term = TermStats(float(known.df), float(known.cf))
        part = ranker.norm_part(given or np.array([float(tf)]), stats, of_term, collection)
        total += float(np.asarray(part).item())
    return total


def retrieve(index: Any, ranker: Ranker, query: Mapping[str, float], k: int) -> tuple[list[int], list[float]]:
    """Return the best k documents and their scores."""
    terms = [term for term, qtf in query.items() if qtf and index.term(term)]
    # A word with the text of an operator's printed form comes before the operator.
    terms.sort(key=lambda term: (index.term(term).df, term.encode(), isinstance(term, Operator)))
    stats = TermStats(
        np.array([float(index.term(t).df) for t in terms]), np.array([float(index.term(t).cf) for t in terms])
    )
    weights = ranker.weight(np.array([query[term] for term in terms], np.float64), stats, index.statistics)
    total: dict[int, float] = {}
    for term, weight in zip(terms, weights.tolist(), strict=True):
        for doc, impact in impacts_of(index, ranker, term).items():
            total[doc] = total.get(doc, 0.0) + weight * float(impact)
    ranked = sorted(((float(np.float32(s)), index.docno(doc).encode(), doc) for doc, s in total.items()), reverse=True)
    return [doc for *_, doc in ranked[:k]], [score for score, *_ in ranked[:k]]


# Pipelines: normalised scores and blends.

SCALES = ("minmax", "zscore", "rank", "raw", "rrf")


def scaled(scores: Sequence[float], how: str, docnos: Sequence[str]) -> list[float]:
    """Return the scores of these documents on the scale of a normaliser."""
    ranking = sorted(zip(scores, map(str.encode, docnos), strict=True), reverse=True)
    low, high, mean = min(scores), max(scores), sum(scores) / len(scores)
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [
        {
            "raw": score,
            "rank": 1 / (1 + sum(other > score for other in scores)),
            "minmax": (score - low) / (high - low) if high > low else 0.0,
            "zscore": (score - mean) / spread if high > low else 0.0,
            "rrf": 1 / (61 + ranking.index((score, docno.encode()))),
        }[how]
        for score, docno in zip(scores, docnos, strict=True)
    ]


def blend(parts: Sequence[tuple[float, str, Mapping[str, float], int]]) -> dict[str, float]:
    """Return the scores of a blend by docno.

    A part is its weight, its normaliser, its scores of all documents on which it has an opinion, and the number of documents that
    it finds. The candidates are the union of what the parts of positive weight find. A candidate on which a part has no opinion
    gets the part's lowest score among the candidates; by `rrf` it gets nothing.
    """
    found = [
        sorted(scores, key=lambda docno: (scores[docno], docno.encode()), reverse=True)[:depth]
        for weight, _, scores, depth in parts
        if weight > 0
    ]
    docnos = sorted({docno for docnos in found for docno in docnos})
    totals = dict.fromkeys(docnos, 0.0)
    if not docnos:
        return {}
    for weight, how, scores, _ in parts:
        lowest = min((scores[docno] for docno in docnos if docno in scores), default=0.0)
        values = scaled([scores.get(docno, lowest) for docno in docnos], how, docnos)
        if how == "rrf":
            known = [docno for docno in docnos if docno in scores]
            ranks = dict(zip(known, scaled([scores[docno] for docno in known], how, known), strict=True))
            values = [ranks.get(docno, 0.0) for docno in docnos]
        for docno, value in zip(docnos, values, strict=True):
            totals[docno] += weight * value
    return totals


def vector(index: Any, docno: str) -> dict[str, int]:
    """Return the term frequencies of a document."""
    return Counter(index.analyze(index.document(docno).contents))


# Expanders: the weights of the expanded query, from the collection as bags of words by docno, and the hits, best first.

Bags = Mapping[str, Mapping[str, int]]


def occurrences(bags: Bags, term: str) -> tuple[int, int]:
    """Return the document frequency and the collection frequency of a term."""
    return sum(term in bag for bag in bags.values()), sum(bag.get(term, 0) for bag in bags.values())


def heaviest(weights: Mapping[str, float], number: int) -> dict[str, float]:
    """Return the terms with the highest weights above 0. Weights that differ by rounding only tie, by the terms' bytes."""
    positive = {term: weight for term, weight in weights.items() if weight > 0}
    return dict(sorted(positive.items(), key=lambda item: (-round(item[1], 9), item[0].encode()))[:number])


def normed(weights: Mapping[str, float], power: int = 1) -> dict[str, float]:
    """Return the weights divided by their L1 or L2 norm."""
    norm = sum(abs(weight) ** power for weight in weights.values()) ** (1 / power)
    return {term: weight / norm if norm else weight for term, weight in weights.items()}


def sum_of(*vectors: Mapping[str, float]) -> dict[str, float]:
    """Return the sum of vectors."""
    return {term: sum(v.get(term, 0.0) for v in vectors) for term in dict.fromkeys(t for v in vectors for t in v)}


def times(factor: float, weights: Mapping[str, float]) -> dict[str, float]:
    """Return the vector times a factor."""
    return {term: factor * weight for term, weight in weights.items()}


def coverage(bags: Bags, query: Mapping[str, float], hits: Iterable[Any]) -> float:
    """Return the share of the query's idf that a hit holds, in the mean of the hits."""
    idf = {term: math.log(1 + len(bags) / df) for term in query if (df := occurrences(bags, term)[0])}
    shares = [sum(value for term, value in idf.items() if term in bags[hit.docno]) for hit in hits]
    return sum(shares) / len(shares) / sum(idf.values()) if shares and idf else 0.0


def rm3(
    bags: Bags,
    query: Mapping[str, float],
    hits: Iterable[Any],
    number: int,
    original: float,
    variant: str = "anserini",
    trust: float = 0,
) -> dict[str, float]:
    """Return RM3: the relevance model of the hits, interpolated with the query."""
    hits = list(hits)
    best = max((hit.score for hit in hits), default=0.0)
    positive = all(hit.score > 0 for hit in hits)
    model: dict[str, float] = defaultdict(float)
    for hit in hits:
        bag, share = bags[hit.docno], len(bags) / 10
        if variant == "terrier":
            selected = {t: tf for t, tf in bag.items() if 2 <= occurrences(bags, t)[0] < int(share)}
            weight, size = math.exp(hit.score - best), sum(bag.values())
        else:
            plain = {t for t in bag if re.fullmatch("[a-z0-9]{2,20}", t) and occurrences(bags, t)[0] <= share}
            selected = heaviest({t: bag[t] for t in plain}, number)
            weight, size = hit.score if positive else 1.0, sum(selected.values())
        for term, tf in selected.items():
            model[term] += weight * tf / size
    new = heaviest(normed(model), number)
    share = (1 - original) * coverage(bags, query, hits) ** trust
    return sum_of(times(1 - share, normed(query)), times(share, normed(new))) if new else dict(query)


def divergence(
    bags: Bags,
    how: str,
    query: Mapping[str, float],
    hits: Iterable[Any],
    number: int,
    beta: float | None = None,
    least: int = 2,
    trust: float = 0,
) -> dict[str, float]:
    """Return Bo1 or KL: Terrier's weights, from the hits as one bag of words, added to the query."""
    hits = list(hits)
    feedback = [bags[hit.docno] for hit in hits]
    size, tokens = (sum(sum(bag.values()) for bag in some) for some in (feedback, bags.values()))

    def weigh(tf: int, cf: int) -> float:
        if how == "KL":
            return max(tf / size * math.log2((tf / size) / (cf / tokens)), 0.0)
        rate = cf / len(bags)
        return tf * math.log2((1 + rate) / rate) + math.log2(1 + rate)

    tfs = sum(map(Counter, feedback), Counter())
    weights = {
        term: weigh(tf, occurrences(bags, term)[1])
        for term, tf in tfs.items()
        if term in query or sum(term in bag for bag in feedback) >= min(least, len(feedback))
    }
    if not any(weights.values()):
        return dict(query)
    top = next(iter(heaviest(weights, 1)))
    scale = 1 / weigh(tfs[top], tfs[top]) if beta is None else beta / weights[top]
    chosen = weights if number else {term: weight for term, weight in weights.items() if term in query}
    new = heaviest(times(scale * coverage(bags, query, hits) ** trust, chosen), max(number, len(query)))
    return sum_of(times(1 / (max(map(abs, query.values()), default=0) or 1), query), new)


def rocchio(
    bags: Bags,
    query: Mapping[str, float],
    first: Iterable[Any],
    last: Iterable[Any],
    number: int,
    alpha: float = 1.0,
    beta: float = 0.75,
    gamma: float = 0.15,
) -> dict[str, float]:
    """Return the query, moved towards the mean of the first hits and away from that of the last, to 0 at most."""

    def mean(hits: Iterable[Any]) -> dict[str, float]:
        vectors = []
        for hit in hits:
            bag = bags[hit.docno]
            plain = {t for t in bag if 2 <= len(t) <= 20 and occurrences(bags, t)[0] / len(bags) <= 0.1}
            vectors.append(normed({t: bag[t] for t in plain}, 2))
        return normed(heaviest(normed(sum_of(*vectors)), number), 2)

    towards, away, own = mean(first), mean(last), times(alpha, normed(query, 2))
    if not towards and not away:
        return dict(query)
    moved = sum_of(own, times(beta, towards), times(-gamma, away))
    bounded = {t: max(w, min(own.get(t, 0.0), 0.0)) for t, w in moved.items()}
    return {t: w for t, w in bounded.items() if w or t in query}


def sharp(
    bags: Bags,
    query: Mapping[str, float],
    hits: Iterable[Any],
    others: Iterable[Any],
    number: int,
    original: float,
    power: float,
    vectors: str,
    gamma: float,
) -> dict[str, float]:
    """Return the query mixed with the mean of the hits' vectors, each hit by a power of its score over the best one.

    gamma times the mean of the others' vectors is subtracted, to 0 at most.
    """
    hits = list(hits)
    average = sum(sum(bag.values()) for bag in bags.values()) / len(bags)

    def idf(term: str) -> float:
        df = occurrences(bags, term)[0]
        return math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))

    def vector(bag: Mapping[str, int]) -> dict[str, float]:
        if vectors == "lm":
            return normed(bag)
        size = sum(bag.values())
        return normed({t: idf(t) * tf / (tf + 1.2 * (0.25 + 0.75 * size / average)) for t, tf in bag.items()}, 2)

    alike = not hits or hits[0].score <= 0
    counts = [1.0 if alike else max(hit.score / hits[0].score, 0.0) ** power for hit in hits]

    def mean(some: Iterable[Any], counts: Iterable[float]) -> dict[str, float]:
        rows = [times(count, vector(bags[hit.docno])) for hit, count in zip(some, counts, strict=True)]
        weights = normed(sum_of(*rows), 2)
        chosen = heaviest({term: weight * idf(term) for term, weight in weights.items()}, number)
        return normed({term: weights[term] for term in chosen}, 2)

    others = list(others)
    towards, away, own = mean(hits, counts), mean(others, [1.0] * len(others)), times(original, normed(query, 2))
    if not towards and not away:
        return dict(query)
    moved = sum_of(own, times(1 - original, towards), times(-gamma, away))
    return {term: max(weight, min(own.get(term, 0.0), 0.0)) for term, weight in moved.items()}


def mutual_information(x: set[str], y: set[str], docs: set[str]) -> float:
    """Return the mutual information of the presence of two terms; x and y are the documents that hold each."""
    total = 0.0
    for one in (x, docs - x):
        for other in (y, docs - y):
            if one & other:
                joint = len(one & other) / len(docs)
                total += joint * math.log(joint / (len(one) / len(docs)) / (len(other) / len(docs)))
    return total


def axiomatic(
    bags: Bags, query: Mapping[str, float], pool: Iterable[str], number: int, beta: float = 0.4
) -> dict[str, float]:
    """Return Fang and Zhai 2006: terms weighted by mutual information with the query's terms, over a pool of documents."""
    holders: dict[str, set[str]] = defaultdict(set)
    for docno in pool:
        for term in bags[docno]:
            if re.fullmatch("[a-z]{2,}", term):
                holders[term].add(docno)
    docs = {docno for docnos in holders.values() for docno in docnos}
    own = {
        term: weight * math.log((1 + len(bags)) / occurrences(bags, term)[0])
        for term, weight in normed(query).items()
        if occurrences(bags, term)[0]
    }
    weights: dict[str, float] = defaultdict(float)
    for term, weight in own.items():
        if term in holders and weight > 0:
            itself = mutual_information(holders[term], holders[term], docs)
            for other in holders:
                shared = mutual_information(holders[term], holders[other], docs) / itself if itself > 0 else 0.0
                weights[other] += weight * (1.0 if other == term else beta * shared)
    new = heaviest({term: round(weight, 9) for term, weight in weights.items()}, number)
    return dict.fromkeys(query, 0.0) | own | new if own else dict(query)


def bm25prf(
    bags: Bags, query: Mapping[str, float], hits: Iterable[Any], number: int, weight: float = 0.2
) -> dict[str, float]:
    """Return the relevance weights of Robertson and Spärck Jones, with the hits as the relevant documents.

    New terms are selected like those of Sakai and Robertson.
    """
    feedback = [bags[hit.docno] for hit in hits]
    if not any(feedback):
        return dict(query)

    def weigh(term: str, factor: float) -> float:
        n, r = occurrences(bags, term)[0], sum(term in bag for bag in feedback)
        size, rest = len(feedback), len(bags) - len(feedback)
        odds = (r + 0.5) * (rest - n + r + 0.5) / ((n - r + 0.5) * (size - r + 0.5))
        return max(factor * math.log(odds), 1e-6)

    own = {t: w * weigh(t, 1) if occurrences(bags, t)[0] else 0.0 for t, w in query.items()}
    counts = Counter(term for bag in feedback for term in bag)
    merits = {
        term: weigh(term, weight) * math.log(r)
        for term, r in counts.items()
        if r > 1 and term not in query and re.fullmatch("[a-z0-9]{2,20}", term) and not term.isdigit()
    }
    return own | {term: weigh(term, weight) for term in heaviest(merits, number)}


# Statistics: sign flips by brute force, analysis of variance cell by cell, rank correlation depth by depth.


def sign_flips(differences: Sequence[float]) -> float:
    """Return the share of all choices of signs that give a sum at least as far from 0 as the observed one."""
    observed = abs(sum(differences)) - 1e-9
    ways = list(itertools.product((-1, 1), repeat=len(differences)))
    sums = (abs(sum(sign * d for sign, d in zip(way, differences, strict=True))) for way in ways)
    return sum(value >= observed for value in sums) / len(ways)


def midranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value; equal values get the mean of their ranks."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p: the largest (m - j + 1) p_j over all j up to the value's place, at most 1."""
    ascending = sorted(p)
    return [min(1.0, max((len(p) - j) * ascending[j] for j in range(len(p)) if ascending[j] <= value)) for value in p]


def residual_mean_square(scores: np.ndarray) -> float:
    """Return the residual mean square of systems × topics: the variance that the two effects leave."""
    m, n = scores.shape
    left = 0.0
    for i, j in itertools.product(range(m), range(n)):
        left += (scores[i, j] - sum(scores[i]) / n - sum(scores[:, j]) / m + scores.sum() / (m * n)) ** 2
    return left / ((m - 1) * (n - 1))


def rbo(a: Sequence[Any], b: Sequence[Any], p: float, deep: int = 4000) -> float:
    """Return rank-biased overlap: the sum of (1 - p) p^(d - 1) times the agreement at each depth d below `deep`.

    Below the end of a list the agreement is extrapolated.
    """
    short, long = sorted((a, b), key=len)
    total, agreement = 0.0, 0.0
    for d in range(1, deep):
        if d <= len(long):
            shared = len(set(short[:d]) & set(long[:d]))
            below = max(0, d - len(short)) * len(set(short) & set(long[: len(short)])) / len(short)
            agreement = (shared + below) / d
        total += (1 - p) * p ** (d - 1) * agreement
    return total


def tau_ap(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Return the AP rank correlation, 2 share - 1, over the items that both lists hold.

    The share is the mean, over all items of a but the first, of the share of items above them that b has above them, too.
    """
    a, b = [item for item in a if item in b], [item for item in b if item in a]
    shares = [sum(b.index(above) < b.index(item) for above in a[:i]) / i for i, item in enumerate(a) if i]
    return 2 * sum(shares) / len(shares) - 1


# Tuning: cross-validation of settings over folds of topics.


def cross_validated(
    scores: Mapping[str, Mapping[str, float]], folds: Sequence[Sequence[str]]
) -> list[tuple[str, float]]:
    """Return for each fold the setting with the highest mean over the other folds' topics, and its mean over the fold's.

    Ties go to the first setting.
    """

    def mean(setting: str, topics: Sequence[str]) -> float:
        return round(math.fsum(scores[setting][topic] for topic in topics) / len(topics), 12)

    chosen = []
    for fold in folds:
        others = [topic for other in folds if other is not fold for topic in other]
        best = max(scores, key=lambda setting: mean(setting, others))
        chosen.append((best, mean(best, fold)))
    return chosen


# Estimators: a mixture of Gaussians point by point, and the Fisher vector occurrence by occurrence.


def gaussian(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> float:
    """Return the density of a Gaussian with a diagonal covariance at one point."""
    return math.prod(
        math.exp(-((a - m) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
        for a, m, v in zip(x, mean, variance, strict=True)
    )


def odds(x: np.ndarray, shares: np.ndarray, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Return the share times the density of each Gaussian at one point."""
    return np.array([p * gaussian(x, m, v) for p, m, v in zip(shares, means, variances, strict=True)])


def mixture_likelihood(points: np.ndarray, weights: np.ndarray, *mixture: np.ndarray) -> float:
    """Return the mean log-likelihood of weighted points."""
    logs = [weight * math.log(odds(x, *mixture).sum()) for x, weight in zip(points, weights, strict=True)]
    return sum(logs) / sum(weights)


def em_step(points: np.ndarray, weights: np.ndarray, *mixture: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return shares, means and variances after one step of EM (Bishop 2006, equations 9.24 to 9.26)."""
    gamma = np.array([w * (o := odds(x, *mixture)) / o.sum() for x, w in zip(points, weights, strict=True)])
    sizes = gamma.sum(axis=0)
    means = np.array([(gamma[:, [k]] * points).sum(axis=0) / sizes[k] for k in range(len(sizes))])
    variances = [(gamma[:, [k]] * (points - means[k]) ** 2).sum(axis=0) / sizes[k] for k in range(len(sizes))]
    return sizes / sum(weights), means, np.maximum(variances, 1e-3)


def fisher_vector(
    points: Iterable[np.ndarray], shares: np.ndarray, means: np.ndarray, variances: np.ndarray
) -> np.ndarray:
    """Return the gradients by the means, then by the deviations.

    Equation 8 of Clinchant and Perronnin 2013, and equation 17 of Perronnin et al., ECCV 2010.
    """
    first, second = np.zeros(means.shape), np.zeros(means.shape)
    for x in points:
        gamma = odds(x, shares, means, variances)
        gamma = gamma / gamma.sum()
        for i in range(len(shares)):
            white = (x - means[i]) / np.sqrt(variances[i])
            first[i] += gamma[i] * white / math.sqrt(shares[i])
            second[i] += gamma[i] * (white**2 - 1) / math.sqrt(2 * shares[i])
    return np.concatenate((first.ravel(), second.ravel()))


# Topics.


def polya(counts: np.ndarray, parameters: np.ndarray) -> float:
    """Return the log-probability of a sequence of draws with these counts, when their distribution is drawn from a Dirichlet."""
    from scipy.special import gammaln

    total, n = parameters.sum(), counts.sum()
    return float(gammaln(total) - gammaln(total + n) + (gammaln(counts + parameters) - gammaln(parameters)).sum())


def expected_counts(words: list[int], phi: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the exact expected tokens by topic and the exact probability of a document, over all topics of its tokens."""
    counts, total = np.zeros(len(alpha)), 0.0
    for z in itertools.product(range(len(alpha)), repeat=len(words)):
        n = np.bincount(z, minlength=len(alpha)).astype(float)
        p = np.exp(polya(n, alpha)) * np.prod([phi[w, k] for w, k in zip(words, z, strict=True)])
        counts, total = counts + p * n, total + p
    return counts / total, total


def column_values(value: Any, kind: str) -> list[Any]:
    """Return the values of a stored field in a column: distinct, ascending. Raise ValueError for a value of another type."""
    items = value if isinstance(value, list) else [value]
    there = [item for item in items if item is not None and str(item).strip() != ""]
    return sorted({_column_value(item, kind) for item in there})


def _column_value(item: Any, kind: str) -> Any:
    if isinstance(item, (list, dict)) or (isinstance(item, bool) and kind != "text"):
        raise ValueError(item)
    text = item.strip() if isinstance(item, str) else json.dumps(item)
    if kind == "text":
        return text
    if kind == "date":
        for form in ("%Y", "%Y-%m", "%Y-%m-%d"):
            with contextlib.suppress(ValueError):
                return datetime.datetime.strptime(text, form).date()
        return datetime.datetime.fromisoformat(text).date()
    number = fractions.Fraction(text)
    if kind == "float":
        return float(number)
    if number.denominator != 1 or not -(2**63) <= number < 2**63:
        raise ValueError(item)
    return int(number)


# Vectors from elsewhere.


def similarity(kind: str, query: Sequence[float], vector: Sequence[float] | None) -> float:
    """Return the score of a document by its vector, as float32; -inf for no vector, and for a cosine with a zero vector."""
    if vector is None:
        return -math.inf
    product = math.fsum(float(q) * float(v) for q, v in zip(query, vector, strict=True))
    if kind == "dot":
        return float(np.float32(product))
    if kind == "l2":
        return float(np.float32(-math.fsum((float(q) - float(v)) ** 2 for q, v in zip(query, vector, strict=True))))
    lengths = [math.sqrt(math.fsum(float(x) ** 2 for x in each)) for each in (query, vector)]
    return float(np.float32(product / lengths[0] / lengths[1])) if min(lengths) > 0 else -math.inf


def max_sim(query: Sequence[Sequence[float]], matrix: Sequence[Sequence[float]] | None) -> float:
    """Return the sum, over the rows of a query, of the largest product with a row of a document; -inf for no matrix."""
    if matrix is None or not len(matrix):
        return -math.inf
    products = [
        [math.fsum(float(q) * float(x) for q, x in zip(token, row, strict=True)) for row in matrix] for token in query
    ]
    return float(np.float32(math.fsum(map(max, products))))


def sparse_scores(query: Mapping[str, float], weights: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the scores of documents by weights of terms: products of terms that both have, added up in float64.

    Rare terms come first, and terms of equally many documents in the order of their bytes. Documents without a common term
    have no score. A score is rounded to float32.
    """
    df = {term: sum(term in own for own in weights.values()) for term in query}
    order = sorted(query, key=lambda term: (df[term], term.encode()))
    scores = {}
    for name, own in weights.items():
        parts = [query[term] * own[term] for term in order if term in own]
        if parts:
            scores[name] = float(np.float32(sum(parts[1:], parts[0])))
    return scores


def best(scores: Mapping[str, float], k: int) -> list[tuple[str, float]]:
    """Return the k best names with their scores; of equal scores, the greatest name comes first, as trec_eval orders them."""
    return sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)[:k]


# Near documents.


def nearest(unit: Sequence[float], others: Mapping[str, Sequence[float]], k: int) -> list[tuple[str, float]]:
    """Return the docnos of the k vectors with the highest cosines above 0, of vectors of norm 1 or 0, with the cosines.

    Cosines are float32 numbers; equal ones stand by docno.
    """
    cosines = {}
    for docno, vector in others.items():
        total = 0.0
        for x, y in zip(unit, vector, strict=True):
            total += float(x) * float(y)
        cosines[docno] = float(np.float32(min(1.0, total)))
    best = sorted(
        (docno for docno in cosines if cosines[docno] > 0), key=lambda docno: (-cosines[docno], docno.encode())
    )
    return [(docno, cosines[docno]) for docno in best[:k]]


def smoothed(
    hits: Mapping[str, float], units: Mapping[str, Sequence[float]], k: int, own: float, add: bool
) -> dict[str, float]:
    """Return the scores of hits over the graph of near documents, by docno; with `add`, those of near documents too.

    `units` has the vector of norm 1 or 0 of each document.
    """
    lowest = min(hits.values(), default=0.0)
    near = {docno: nearest(units[docno], {d: v for d, v in units.items() if d != docno}, k) for docno in units}
    scored = set(hits) | {other for docno in hits for other, _ in near[docno] if add}
    found = {}
    for docno in scored:
        score, total = hits.get(docno, lowest), math.fsum(cosine for _, cosine in near[docno])
        if total > 0:
            mean = math.fsum(cosine * hits.get(other, lowest) for other, cosine in near[docno]) / total
            score = own * score + (1 - own) * mean
        found[docno] = score
    return found
