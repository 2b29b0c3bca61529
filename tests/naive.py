"""Reference implementations: every formula and kernel once more, as short as it can be said, and slow.

Tests compare the engine with what is here; nothing here calls the engine's own kernels for what it defines.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.tokens import raw_tokens
from sublex.base import Analyzer, DocStats, Document, Ranker, TermStats

# The analysis: raw tokens, words by the rules of UAX 29, Porter's stemmer, and what becomes of a text.


LETTER, DIGIT = "[A-Za-z]", "[0-9]"
# Above ASCII everything belongs to a raw token but the spaces, dashes and quotation marks named here.
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
    """Runs of letters, digits, underscores and all above ASCII, with what may join them; underscores alone are none."""
    return [token for token in RAW_TOKEN.findall(text) if token.strip("_")]


# Some characters of every kind that the word rules tell apart. Marks belong to the character before them.
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
    """A text of characters in KINDS as units."""
    found: list[Unit] = []
    for character in text:
        kind = KIND_OF[character]
        if kind in ("mark", "joiner") and found and found[-1].kind != "other":
            found[-1] = Unit(found[-1].kind, found[-1].text + character)
        else:
            found.append(Unit("other" if kind in ("mark", "joiner") else kind, character))
    return found


def joined(before: list[Unit], after: list[Unit]) -> bool:
    """Whether the rules WB5 to WB16 forbid a break between the last unit before and the first after."""
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
    """The words of a short text of characters in KINDS. A Hebrew word keeps no final quote (WB7a is left out)."""
    words: list[list[Unit]] = []
    known = units(text)
    flags = 0
    for i, unit in enumerate(known):
        flags = flags + 1 if unit.kind == "flag" else 0
        together = bool(i) and (joined(known[:i], known[i:]) or (unit.kind == "flag" and flags % 2 == 0))  # WB15, 16
        words = [*words[:-1], [*words[-1], unit]] if together else [*words, [unit]]
    found: list[str] = []
    run = ""
    for word in [*words, []]:
        single = bigrams and bool(word) and word[0].kind in ("han", "hiragana")
        if single:
            run += word[0].text[0]
        elif run:
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
            run = ""
        kinds = [unit.kind for unit in word]
        if not single and (set(kinds) & {*WORDS, "han", "hiragana", "asian", "picture"} or kinds == ["flag", "flag"]):
            found.append("".join(unit.text for unit in word))
    return found


# M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, in its order and with its letters. Departures that
# Lucene shares with Porter's later programs: short words stay, (m>0) BLI -> BLE for ABLI -> ABLE, (m>0) LOGI -> LOG.
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
    """C for each consonant, V for each vowel; Y is a vowel after a consonant."""
    found = ""
    for letter in word:
        found += "V" if letter in "aeiou" or (letter == "y" and found.endswith("C")) else "C"
    return found


def measure(stem: str) -> int:
    """The m of [C](VC){m}[V]."""
    return shape(stem).count("VC")


def double(word: str) -> bool:
    """The paper's *d: a double consonant at the end."""
    return len(word) > 1 and word[-1] == word[-2] and shape(word).endswith("C")


def short(word: str) -> bool:
    """The paper's *o: consonant, vowel, consonant at the end, the last not W, X or Y."""
    return shape(word).endswith("CVC") and word[-1] not in "wxy"


def longest(word: str, suffixes: Iterable[str]) -> str:
    """The longest of the suffixes that the word has, if any."""
    return max((suffix for suffix in suffixes if word.endswith(suffix)), key=len, default="")


def porter(word: str) -> str:
    """The stem of a lower-cased word."""
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


# As Lucene's EnglishAnalyzer has them.
LUCENE_STOP_WORDS = (
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on",
    "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
)  # fmt: skip


def lower(word: str) -> str:
    """A word in lower case; a dotted capital I becomes a plain one, as in Lucene, and no mark is left over."""
    return word.replace("İ", "i").lower()


def english(words: Iterable[str], stop: Iterable[str]) -> list[str]:
    """Words lower-cased, without a final 's, without stop words, stemmed."""
    bare = [re.sub("['’＇]s$", "", lower(word)) for word in words]
    return [porter(word) for word in bare if word not in set(stop)]


def terrier(text: str, stop: Iterable[str] = ()) -> list[str]:
    """Runs of ASCII letters and digits; dropped if over 20 long, with four alike in a row, or with over 4 digits."""
    found = []
    for word in re.findall("[A-Za-z0-9]+", text):
        alike = any(len(set(word[i : i + 4])) == 1 for i in range(len(word) - 3))
        digits = sum(character in "0123456789" for character in word)
        if len(word) <= 20 and not alike and digits <= 4 and word.lower() not in set(stop):
            found.append(porter(word.lower()))
    return found


# The index: postings in dictionaries, the two codes of `sublex.index.kernels` as their comments describe them, and BM25.


class Inverted(NamedTuple):
    """An inverted index: documents' terms by docno, in order; each term's frequencies by docno; each term's raw forms."""

    documents: dict[str, Counter[str]]
    postings: dict[str, dict[str, int]]
    forms: dict[str, Counter[str]]

    @property
    def lengths(self) -> dict[str, int]:
        return {docno: terms.total() for docno, terms in self.documents.items()}

    def surface(self, term: str) -> str:
        """The raw token that most often became this term alone; of several the first by bytes, where there is none the term."""
        votes = self.forms[term]
        return min(votes, key=lambda raw: (-votes[raw], raw.encode())) if votes else term


def invert(documents: Iterable[Document], analyzer: Analyzer) -> Inverted:
    """Index documents; a docno met before is left out."""
    index = Inverted({}, defaultdict(dict), defaultdict(Counter))
    for document in documents:
        if document.docno in index.documents:
            continue
        found = index.documents[document.docno] = Counter()
        for raw in raw_tokens(document.contents):
            terms = analyzer.terms(raw)
            found.update(terms)
            if len(terms) == 1:
                index.forms[terms[0]][raw] += 1
        for term, tf in found.items():
            index.postings[term][document.docno] = tf
    return index


def byte_code(value: int) -> list[int]:
    """Seven bits a byte, the lowest first; the high bit says that more follows."""
    return [value] if value < 128 else [value & 127 | 128, *byte_code(value >> 7)]


def encode_list(ids: Sequence[int], tfs: Sequence[int], last: int = -1) -> bytes:
    """Gaps less one and frequencies less two; the gap's lowest bit stands for a frequency of 1."""
    code: list[int] = []
    for number, tf in zip(ids, tfs, strict=True):
        code += byte_code((number - last - 1) * 2 + (tf == 1))
        code += byte_code(tf - 2) if tf > 1 else []
        last = number
    return bytes(code)


def decode_list(data: bytes, last: int = -1) -> tuple[list[int], list[int]]:
    """Undo `encode_list`."""
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
    """128 values of `width` bits in words of 32: value 4r + l is number r of lane l, and the lanes' words alternate."""
    lanes = [sum(value << (row * width) for row, value in enumerate(values[lane::4])) for lane in range(4)]
    return [lane >> (32 * word) & 0xFFFFFFFF for word in range(width) for lane in lanes]


def unpack(words: Sequence[int], width: int) -> list[int]:
    """Undo `pack`."""
    lanes = [sum(int(word) << (32 * k) for k, word in enumerate(words[lane::4])) for lane in range(4)]
    return [lanes[k % 4] >> (k // 4 * width) & ((1 << width) - 1) for k in range(128)]


class Coded(NamedTuple):
    """One term's postings in code: packed words, each block's last document and two widths, and the tail."""

    words: list[int]
    lasts: list[int]
    widths: list[int]
    tail: bytes


def encode_postings(docs: Sequence[int], tfs: Sequence[int]) -> Coded:
    """Whole blocks of 128 packed with the fewest bits that hold their greatest value; what is left over as a list."""
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
    """Undo `encode_postings`."""
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


class Hit(NamedTuple):
    """A document with its score."""

    docno: str
    score: float


def bm25(
    query: Iterable[str],
    lengths: Mapping[str, int],
    postings: Callable[[str], Mapping[str, int]],
    k1: float = 1.2,
    b: float = 0.75,
) -> list[Hit]:
    """Every document that holds a term of the query, ranked by score, then docno, both descending.

    idf is Lucene's, ln(1 + (N - df + 1/2) / (df + 1/2)). One posting's score is a float32, and their sum is rounded to one.
    """
    mean = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    for term, weight in Counter(query).items():
        found = postings(term)
        idf = math.log(1 + (len(lengths) - len(found) + 0.5) / (len(found) + 0.5))
        for docno, tf in found.items():
            saturated = tf / (tf + k1 * (1 - b + b * lengths[docno] / mean))
            scores[docno] = scores.get(docno, 0.0) + float(np.float32(weight * idf * saturated))
    hits = [Hit(docno, float(np.float32(score))) for docno, score in scores.items()]
    return sorted(hits, key=lambda hit: (hit.score, hit.docno.encode()), reverse=True)


# The rankers: one term's share in one document's score, from the papers, in scalars.


class Facts(NamedTuple):
    """What a ranker may know: of a term in a document, of the document, of the term, of the collection."""

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
    """Robertson's tf and Spärck Jones's idf as Terrier's TF_IDF multiplies them."""
    return k1 * f.tf / (f.tf + k1 * ((1 - b) + b * f.length / f.mean)) * math.log2(f.docs / f.df + 1)


def bm25_weight(
    f: Facts, k1: float = 1.2, b: float = 0.75, variant: str = "lucene", delta: float | None = None
) -> float:
    """Table 1 of Kamphuis et al. 2020, with Terrier's and PISA's own."""
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
    if variant in ("lucene", "robertson"):
        return (math.log(1 + rsj) if variant == "lucene" else math.log(rsj)) * f.tf / (k + f.tf)
    idf = {"terrier": math.log2(rsj), "pisa": max(1e-6, math.log(rsj)), "atire": math.log(f.docs / f.df)}[variant]
    return idf * (k1 + 1) * f.tf / (k + f.tf)


def dfr(f: Facts, basic: str = "P", after: str = "L", norm: str = "H2", c: float = 1.0) -> float:
    """Amati and van Rijsbergen 2002. What Stirling's formula cannot have, fewer than half an occurrence elsewhere, is taken for half."""
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
    """Poisson, Laplace, normalisation 2."""
    tfn = f.tf * math.log2(1 + c * f.mean / f.length)
    rate = f.cf / f.docs
    poisson = tfn * math.log2(tfn / rate) + (rate - tfn) * math.log2(math.e) + 0.5 * math.log2(2 * math.pi * tfn)
    return poisson / (tfn + 1)


def hypergeometric(f: Facts) -> float:
    """The divergence in DPH and DLH13; a document of one word only counts as nearly so."""
    share = min(f.tf / f.length, 0.99999)
    return f.tf * math.log2((f.tf * f.mean / f.length) * (f.docs / f.cf)) + 0.5 * math.log2(
        2 * math.pi * f.tf * (1 - share)
    )


def dph(f: Facts) -> float:
    """Amati et al. at TREC 2007."""
    return (1 - min(f.tf / f.length, 0.99999)) ** 2 / (f.tf + 1) * hypergeometric(f)


def dlh13(f: Facts) -> float:
    """Macdonald et al. at TREC 2005."""
    return hypergeometric(f) / (f.tf + 0.5)


def dfree(f: Facts) -> float:
    """Amati's DFRee: bits for one more token, times the divergence with and without it."""
    prior, posterior, rarity = f.tf / f.length, (f.tf + 1) / (f.length + 1), f.tokens / f.cf
    bits = math.log2(posterior / prior)
    divergence = (f.tf + 1) * math.log2(posterior * rarity) - f.tf * math.log2(prior * rarity) + 0.5 * bits
    return f.tf * bits * divergence


def dfi(f: Facts, measure: str = "standardized") -> float:
    """Kocabaş, Dinçer and Karaoğlan 2014."""
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
    """Clinchant and Gaussier's log-logistic model."""
    tfn = f.tf * math.log1p(c * f.mean / f.length) / math.log(2)
    return math.log2((f.df / f.docs + tfn) / (f.df / f.docs))


def spl(f: Facts, c: float = 1.0) -> float:
    """Clinchant and Gaussier's smoothed power law, and its limit for a term in every document."""
    tfn = f.tf * math.log1p(c * f.mean / f.length) / math.log(2)
    r = f.df / f.docs
    return math.log2(tfn + 1) if r == 1 else -math.log2((r ** (tfn / (tfn + 1)) - r) / (1 - r))


def dirichlet(f: Facts, mu: float = 1000.0, variant: str = "lucene") -> float:
    """Zhai and Lafferty 2004, table 1, for a term that occurs; Lucene adds one to counts and keeps scores at 0 or above."""
    p = (f.cf + 1) / (f.tokens + 1) if variant == "lucene" else f.cf / f.tokens
    value = math.log(1 + f.tf / (mu * p)) + math.log(mu / (f.length + mu))
    return max(value, 0.0) if variant == "lucene" else value


def jelinek_mercer(f: Facts, lam: float = 0.1, variant: str = "lucene") -> float:
    """The mixture of document and collection, over the collection's share in it."""
    p = (f.cf + 1) / (f.tokens + 1) if variant == "lucene" else f.cf / f.tokens
    return math.log(((1 - lam) * f.tf / f.length + lam * p) / (lam * p))


def hiemstra(f: Facts, lam: float = 0.15) -> float:
    """Hiemstra 2001: log(1 + lam P(t|D) / ((1 - lam) P(t|C)))."""
    return math.log(1 + lam * (f.tf / f.length) / ((1 - lam) * (f.cf / f.tokens)))


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
    """Manning et al. 2008, figure 6.15: the product of the weighted vectors of a query and of each document."""
    n = len(docs)
    df = Counter(term for doc in docs for term in doc)
    pivot = sum(map(len, docs)) / n

    def vector(counts: Mapping[str, float], letters: str) -> dict[str, float]:
        mean = sum(counts.values()) / len(counts)

        def log(x: float) -> float:
            return 1 + math.log(x, base)

        weights = {}
        for term, tf in counts.items():
            often = {
                "n": tf, "l": log(tf), "L": log(tf) / log(mean), "d": log(log(tf)), "b": 1.0,
                "a": 0.5 + 0.5 * tf / max(counts.values()),
            }[letters[0]]  # fmt: skip
            without = (n - df[term]) / df[term]
            rare = {
                "n": 1.0,
                "t": math.log(n / df[term], base),
                "p": max(0.0, math.log(without, base)) if without else 0.0,
            }[letters[1]]
            weights[term] = often * rare
        length = math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
        by = {"n": 1.0, "c": length, "u": (1 - slope) * pivot + slope * len(counts)}[letters[2]]
        return {term: weight / by for term, weight in weights.items()}

    known = {term: tf for term, tf in query.items() if df[term]}
    if not known:
        return [0.0] * n
    left = vector(known, scheme[4:])
    return [sum(left[t] * w for t, w in vector(doc, scheme[:3]).items() if t in left) if doc else 0.0 for doc in docs]


# TREC's files: trec_eval's order, scores as they are written, fusion document by document.


def trec_eval_order(hits: Mapping[str, float]) -> list[tuple[str, float]]:
    """Hits by score as float32, then by the bytes of the docno, both descending."""
    return sorted(
        ((docno, float(np.float32(score))) for docno, score in hits.items()),
        key=lambda hit: (hit[1], hit[0].encode()),
        reverse=True,
    )


def score_text(score: float) -> str:
    """The digits that NumPy finds for the float32, written as Python writes a float."""
    return repr(float(str(np.float32(score))))


def run_text(run: Mapping[str, Mapping[str, float]], tag: str) -> str:
    """A run file."""
    return "".join(
        f"{qid} Q0 {docno} {rank} {score_text(score)} {tag}\n"
        for qid, hits in run.items()
        for rank, (docno, score) in enumerate(trec_eval_order(hits), 1)
    )


def normalised(hits: Mapping[str, float], how: str) -> dict[str, float]:
    """One topic's scores made comparable."""
    scores = [score for _, score in trec_eval_order(hits)]
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    flat = max(scores) == min(scores)
    made = {}
    for rank, (docno, score) in enumerate(trec_eval_order(hits), 1):
        made[docno] = {
            "rrf": 1 / (60 + rank),
            "rank": 1 / (1 + sum(other > score for other in scores)),
            "raw": score,
            "minmax": 0.0 if flat else (score - min(scores)) / (max(scores) - min(scores)),
            "zscore": 0.0 if flat else (score - mean) / (deviation or 1),
        }[how]
    return made


def fused(runs: Sequence[Mapping[str, float]], method: str, how: str, weights: Sequence[float]) -> dict[str, float]:
    """One topic of several runs as one: what each document gets."""
    parts = [normalised(hits, how) if hits else {} for hits in runs]
    total: dict[str, float] = {}
    for docno in {docno for part in parts for docno in part}:
        held = [part for part in parts if docno in part]
        if method == "weighted":
            lowest = [min(part.values(), default=0.0) for part in parts]
            total[docno] = sum(w * part.get(docno, low) for w, part, low in zip(weights, parts, lowest, strict=True))
        else:
            total[docno] = sum(part[docno] for part in held) * (len(held) if method == "combmnz" else 1)
    return total


# Retrieval: every document that holds a term of the query, its float32 impacts added up as float64, the rarest term first.


def impacts_of(index: Any, ranker: Ranker, term: str) -> dict[int, np.float32]:
    """What a term adds to each live document that holds it."""
    docs, tfs = index.postings(term)
    found = index.term(term)
    places = [index.place(doc) for doc in docs.tolist()]
    length = np.array([float(segment.lengths[local]) for segment, local in places])
    unique = np.array([float(segment.uniques[local]) for segment, local in places])
    norm = np.array([norm_of(index, ranker, doc) for doc in docs.tolist()]) if ranker.norm_part else None
    stats = TermStats(float(found.df), float(found.cf))
    scores = ranker.score(tfs.astype(np.float64), DocStats(length, unique, norm), stats, index.statistics)
    return dict(zip(docs.tolist(), scores.astype(np.float32), strict=True))


def norm_of(index: Any, ranker: Ranker, doc: int) -> float:
    """The sum of the ranker's `norm_part` over the terms of a document."""
    segment, local = index.place(doc)
    _, terms, tfs = segment.document_terms(local, local + 1)
    stats = DocStats(np.array([float(segment.lengths[local])]), np.array([float(segment.uniques[local])]))
    total = 0.0
    for term, tf in zip(terms.tolist(), tfs.tolist(), strict=True):
        found = index.term(segment.terms[term].decode())
        part = ranker.norm_part(
            np.array([float(tf)]), stats, TermStats(float(found.df), float(found.cf)), index.statistics
        )
        total += float(np.asarray(part).item())
    return total


def retrieve(index: Any, ranker: Ranker, query: Mapping[str, float], k: int) -> tuple[list[int], list[float]]:
    """The best k documents and their scores."""
    known = sorted((index.term(t).df, t.encode(), qtf) for t, qtf in query.items() if qtf and index.term(t))
    terms = [term.decode() for _, term, _ in known]
    stats = TermStats(
        np.array([float(index.term(t).df) for t in terms]), np.array([float(index.term(t).cf) for t in terms])
    )
    weights = ranker.weight(np.array([qtf for *_, qtf in known], np.float64), stats, index.statistics)
    total: dict[int, float] = {}
    for term, weight in zip(terms, weights.tolist(), strict=True):
        for doc, impact in impacts_of(index, ranker, term).items():
            total[doc] = total.get(doc, 0.0) + weight * float(impact)
    ranked = sorted(((float(np.float32(s)), index.docno(doc).encode(), doc) for doc, s in total.items()), reverse=True)
    return [doc for *_, doc in ranked[:k]], [score for score, *_ in ranked[:k]]


# Pipelines: blends over the candidates of their first part, and feedback.

SCALES = ("minmax", "zscore", "rank", "raw")


def scaled(scores: Sequence[float], how: str) -> list[float]:
    """Scores on a common scale."""
    low, high, mean = min(scores), max(scores), sum(scores) / len(scores)
    spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [
        {
            "raw": score,
            "rank": 1 / (1 + sum(other > score for other in scores)),
            "minmax": (score - low) / (high - low) if high > low else 0.0,
            "zscore": (score - mean) / spread if high > low else 0.0,
        }[how]
        for score in scores
    ]


def blend(first: Mapping[int, float], second: Mapping[int, float], weight: float, how: str) -> dict[int, float]:
    """minmax of the first, plus weight times the second by another scale; no opinion counts as the lowest among the candidates."""
    docs = list(first)
    if not docs:
        return {}
    lowest = min((second[doc] for doc in docs if doc in second), default=0.0)
    others = scaled([second.get(doc, lowest) for doc in docs], how)
    return {d: a + weight * b for d, a, b in zip(docs, scaled([first[d] for d in docs], "minmax"), others, strict=True)}


def vector(index: Any, docno: str) -> dict[str, int]:
    """The terms of a document."""
    return Counter(index.analyze(index.document(docno).contents))


# Expanders: what feedback makes of a query, given the bags of words of the collection by docno, and the hits, best first.

Bags = Mapping[str, Mapping[str, int]]


def occurrences(bags: Bags, term: str) -> tuple[int, int]:
    """Of a term: in how many documents, and how often."""
    return sum(term in bag for bag in bags.values()), sum(bag.get(term, 0) for bag in bags.values())


def heaviest(weights: Mapping[str, float], number: int) -> dict[str, float]:
    """The terms with the highest weights above 0; those that differ by rounding only in the order of their bytes."""
    positive = {term: weight for term, weight in weights.items() if weight > 0}
    return dict(sorted(positive.items(), key=lambda item: (-round(item[1], 9), item[0].encode()))[:number])


def normed(weights: Mapping[str, float], power: int = 1) -> dict[str, float]:
    """Weights divided by their L1 or L2 norm."""
    norm = sum(abs(weight) ** power for weight in weights.values()) ** (1 / power)
    return {term: weight / norm if norm else weight for term, weight in weights.items()}


def together(*vectors: Mapping[str, float]) -> dict[str, float]:
    """The sum of vectors."""
    return {term: sum(v.get(term, 0.0) for v in vectors) for term in dict.fromkeys(t for v in vectors for t in v)}


def times(factor: float, weights: Mapping[str, float]) -> dict[str, float]:
    """A vector made longer."""
    return {term: factor * weight for term, weight in weights.items()}


def rm3(
    bags: Bags, query: Mapping[str, float], hits: Iterable[Any], number: int, original: float, variant: str = "anserini"
) -> dict[str, float]:
    """The relevance model of the hits, interpolated with the query."""
    hits = list(hits)
    best = max((hit.score for hit in hits), default=0.0)
    counted = all(hit.score > 0 for hit in hits)
    model: dict[str, float] = defaultdict(float)
    for hit in hits:
        bag, share = bags[hit.docno], len(bags) / 10
        if variant == "terrier":
            kept = {t: tf for t, tf in bag.items() if 2 <= occurrences(bags, t)[0] < int(share)}
            weight, size = math.exp(hit.score - best), sum(bag.values())
        else:
            plain = {t for t in bag if re.fullmatch("[a-z0-9]{2,20}", t) and occurrences(bags, t)[0] <= share}
            kept = heaviest({t: bag[t] for t in plain}, number)
            weight, size = hit.score if counted else 1.0, sum(kept.values())
        for term, tf in kept.items():
            model[term] += weight * tf / size
    new = heaviest(normed(model), number)
    return together(times(original, normed(query)), times(1 - original, normed(new))) if new else dict(query)


def divergence(
    bags: Bags,
    how: str,
    query: Mapping[str, float],
    hits: Iterable[Any],
    number: int,
    beta: float | None = None,
    least: int = 2,
) -> dict[str, float]:
    """Bo1 or KL over the hits as one bag of words, as Terrier adds it to the query."""
    found = [bags[hit.docno] for hit in hits]
    size, tokens = (sum(sum(bag.values()) for bag in some) for some in (found, bags.values()))

    def weigh(tf: int, cf: int) -> float:
        if how == "KL":
            return max(tf / size * math.log2((tf / size) / (cf / tokens)), 0.0)
        rate = cf / len(bags)
        return tf * math.log2((1 + rate) / rate) + math.log2(1 + rate)

    tfs = sum(map(Counter, found), Counter())
    weights = {
        term: weigh(tf, occurrences(bags, term)[1])
        for term, tf in tfs.items()
        if term in query or sum(term in bag for bag in found) >= min(least, len(found))
    }
    if not any(weights.values()):
        return dict(query)
    top = next(iter(heaviest(weights, 1)))
    scale = 1 / weigh(tfs[top], tfs[top]) if beta is None else beta / weights[top]
    chosen = weights if number else {term: weight for term, weight in weights.items() if term in query}
    new = heaviest(times(scale, chosen), max(number, len(query)))
    return together(times(1 / (max(map(abs, query.values()), default=0) or 1), query), new)


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
    """The query moved towards the mean of some hits and away from that of others; no further than 0."""

    def mean(hits: Iterable[Any]) -> dict[str, float]:
        vectors = []
        for hit in hits:
            bag = bags[hit.docno]
            plain = {t for t in bag if 2 <= len(t) <= 20 and occurrences(bags, t)[0] / len(bags) <= 0.1}
            vectors.append(normed({t: bag[t] for t in plain}, 2))
        return normed(heaviest(normed(together(*vectors)), number), 2)

    towards, away, own = mean(first), mean(last), times(alpha, normed(query, 2))
    if not towards and not away:
        return dict(query)
    moved = together(own, times(beta, towards), times(-gamma, away))
    kept = {t: max(w, min(own.get(t, 0.0), 0.0)) for t, w in moved.items()}
    return {t: w for t, w in kept.items() if w or t in query}


def mutual_information(x: set[str], y: set[str], docs: set[str]) -> float:
    """Of the presence of two terms, given the documents that hold them."""
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
    """Fang and Zhai 2006: terms by their mutual information with those of the query, over a pool of documents."""
    holders: dict[str, set[str]] = defaultdict(set)
    for docno in pool:
        for term in bags[docno]:
            if re.fullmatch("[a-z]{2,}", term):
                holders[term].add(docno)
    docs = {docno for held in holders.values() for docno in held}
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
    """Robertson and Spärck Jones's weights with the hits for relevant documents; new terms chosen as Sakai and Robertson do."""
    found = [bags[hit.docno] for hit in hits]
    if not any(found):
        return dict(query)

    def weigh(term: str, factor: float) -> float:
        n, r = occurrences(bags, term)[0], sum(term in bag for bag in found)
        size, rest = len(found), len(bags) - len(found)
        odds = (r + 0.5) * (rest - n + r + 0.5) / ((n - r + 0.5) * (size - r + 0.5))
        return max(factor * math.log(odds), 1e-6)

    own = {t: w * weigh(t, 1) if occurrences(bags, t)[0] else 0.0 for t, w in query.items()}
    often = Counter(term for bag in found for term in bag)
    merits = {
        term: weigh(term, weight) * math.log(r)
        for term, r in often.items()
        if r > 1 and term not in query and re.fullmatch("[a-z0-9]{2,20}", term) and not term.isdigit()
    }
    return own | {term: weigh(term, weight) for term in heaviest(merits, number)}


# The statistics: signs by brute force, an analysis of variance cell by cell, rankings depth by depth.


def sign_flips(differences: Sequence[float]) -> float:
    """The share of all choices of signs whose sum is as far from 0."""
    observed = abs(sum(differences)) - 1e-9
    ways = list(itertools.product((-1, 1), repeat=len(differences)))
    sums = (abs(sum(sign * d for sign, d in zip(way, differences, strict=True))) for way in ways)
    return sum(value >= observed for value in sums) / len(ways)


def midranks(values: Sequence[float]) -> list[float]:
    """The mean of the ranks that equal values take together."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def holm(p: Sequence[float]) -> list[float]:
    """The largest of (m - j + 1) p_j over all j up to one's own place."""
    ascending = sorted(p)
    return [min(1.0, max((len(p) - j) * ascending[j] for j in range(len(p)) if ascending[j] <= value)) for value in p]


def residual_mean_square(scores: np.ndarray) -> float:
    """Of systems × topics: squared distances from the sum of the two effects."""
    m, n = scores.shape
    left = 0.0
    for i, j in itertools.product(range(m), range(n)):
        left += (scores[i, j] - sum(scores[i]) / n - sum(scores[:, j]) / m + scores.sum() / (m * n)) ** 2
    return left / ((m - 1) * (n - 1))


def rbo(a: Sequence[Any], b: Sequence[Any], p: float, deep: int = 4000) -> float:
    """The sum of (1 - p) p^(d - 1) times the agreement at depth d, as far as it matters; extrapolated below the ends."""
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
    """The mean over a's items but the first of the share of items above them that are above them in b too; 2 share - 1."""
    a, b = [item for item in a if item in b], [item for item in b if item in a]
    shares = [sum(b.index(above) < b.index(item) for above in a[:i]) / i for i, item in enumerate(a) if i]
    return 2 * sum(shares) / len(shares) - 1


# Tuning: what each topic scores by the setting that is best on the other folds.


def cross_validated(
    scores: Mapping[str, Mapping[str, float]], folds: Sequence[Sequence[str]]
) -> list[tuple[str, float]]:
    """For each fold the setting with the highest mean on all other topics, the first of several, and its mean on the fold's."""

    def mean(setting: str, topics: Sequence[str]) -> float:
        return round(math.fsum(scores[setting][topic] for topic in topics) / len(topics), 12)

    found = []
    for fold in folds:
        others = [topic for other in folds if other is not fold for topic in other]
        best = max(scores, key=lambda setting: mean(setting, others))
        found.append((best, mean(best, fold)))
    return found


# The estimators: a mixture of Gaussians point by point, the Fisher vector occurrence by occurrence.


def gaussian(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> float:
    """The density at one point."""
    return math.prod(
        math.exp(-((a - m) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
        for a, m, v in zip(x, mean, variance, strict=True)
    )


def odds(x: np.ndarray, shares: np.ndarray, means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Share times density of each Gaussian at one point."""
    return np.array([p * gaussian(x, m, v) for p, m, v in zip(shares, means, variances, strict=True)])


def mixture_likelihood(points: np.ndarray, weights: np.ndarray, *mixture: np.ndarray) -> float:
    """The mean log-likelihood of points that count several times."""
    logs = [weight * math.log(odds(x, *mixture).sum()) for x, weight in zip(points, weights, strict=True)]
    return sum(logs) / sum(weights)


def em_step(points: np.ndarray, weights: np.ndarray, *mixture: np.ndarray) -> tuple[np.ndarray, ...]:
    """Shares, means and variances after one step of EM (Bishop, Pattern recognition and machine learning, 9.24 to 9.26)."""
    gamma = np.array([w * (o := odds(x, *mixture)) / o.sum() for x, w in zip(points, weights, strict=True)])
    held = gamma.sum(axis=0)
    means = np.array([(gamma[:, [k]] * points).sum(axis=0) / held[k] for k in range(len(held))])
    variances = [(gamma[:, [k]] * (points - means[k]) ** 2).sum(axis=0) / held[k] for k in range(len(held))]
    return held / sum(weights), means, np.maximum(variances, 1e-3)


def fisher_vector(
    points: Iterable[np.ndarray], shares: np.ndarray, means: np.ndarray, variances: np.ndarray
) -> np.ndarray:
    """Equation 8 of Clinchant and Perronnin (2013), then the gradient by the deviations (Perronnin et al., ECCV 2010, equation 17)."""
    first, second = np.zeros(means.shape), np.zeros(means.shape)
    for x in points:
        gamma = odds(x, shares, means, variances)
        gamma = gamma / gamma.sum()
        for i in range(len(shares)):
            white = (x - means[i]) / np.sqrt(variances[i])
            first[i] += gamma[i] * white / math.sqrt(shares[i])
            second[i] += gamma[i] * (white**2 - 1) / math.sqrt(2 * shares[i])
    return np.concatenate((first.ravel(), second.ravel()))
