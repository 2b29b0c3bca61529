"""Reference implementations: every formula and kernel once more, as short as it can be said, and slow.

Tests compare the engine with what is here; nothing here calls the engine's own kernels for what it defines.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sublex.analysis.tokens import raw_tokens
from sublex.base import Analyzer, Document

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
            "rank": 1 / rank,
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
