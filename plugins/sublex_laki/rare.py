"""Find the phrases that a text is about and that are too rare in the collection for the network of keyphrases.

Such a phrase stands between stop words, punctuation, and words that neither begin nor end phrases, such as most verbs.
The model `phrases` has learned from the collection which words begin and end phrases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import Break, TextWords
from sublex.estimators.phrases.lexicon import COMMON_SHARE
from sublex.estimators.phrases.phrase_list import PhraseList

# A word can be inside a phrase if it begins or ends phrases with at least the probability INSIDE. The first word of a
# phrase begins phrases with at least the probability BEGINS, and the last word ends phrases with at least the
# probability ENDS.
INSIDE, BEGINS, ENDS = 0.3, 0.1, 0.3
# The largest number of words of a phrase. Of a longer sequence, the last words are taken.
LONGEST = 5
# The probability that a word that the model does not know begins a phrase, and that it ends one.
UNKNOWN = 0.5
# The facts about a phrase in a text, and how much each adds to the log-odds that the text is about the phrase. several:
# whether the phrase has several words. place: the logarithm of the number of words before it. idf: the mean idf of its
# words, as a share of the largest idf. residual: the mean residual idf of its words. begins, ends: how likely its first
# word begins a phrase, and how likely its last word ends one. times: the logarithm of its number of occurrences.
# returns: how often the text has its words, also outside of the phrase (see `returns`). The numbers come from logistic
# regressions. Keyphrases of readers (python benchmarks/keyphrases.py --learn) give the ratios of the weights, except
# for `returns`. Verdicts of readers (python benchmarks/keyphrases_rare.py learn) give the size of the weights, BASE,
# and the weight of `returns`.
WEIGHTS = {
    "several": 2.97, "place": -0.52, "idf": 4.56, "residual": 2.37, "begins": 3.61, "ends": 4.52, "times": 1.19,
    "returns": 1.43,
}  # fmt: skip
BASE = -11.14


class Chunk(NamedTuple):
    """A phrase in a text.

    `terms` are its terms. `spans` has the first place of each of its occurrences, and the place after the last. `facts`
    are in the order of `WEIGHTS`.
    """

    terms: tuple[str, ...]
    spans: list[tuple[int, int]]
    facts: list[float]

    @property
    def strength(self) -> float:
        """The probability that the text is about the phrase."""
        odds = BASE + float(np.dot(self.facts, [*WEIGHTS.values()]))
        return float(1 / (1 + np.exp(-odds)))


class ChunkedWords(NamedTuple):
    """The words of some texts, with the facts about words that `chunks` needs. Each field has an entry for each word.

    `outside` says whether a word cannot be inside a phrase, and `numbers` whether it has no letter. `begins` and `ends`
    say how likely a word begins and ends phrases. `idf` is a share of the largest idf, and `residual` is the residual
    idf.
    """

    terms: list[str]
    breaks: np.ndarray
    outside: np.ndarray
    numbers: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    idf: np.ndarray
    residual: np.ndarray


def read_words(phrases: PhraseList, units: np.ndarray, texts: TextWords) -> ChunkedWords:
    """Return the words of texts with the facts that the model `phrases` has learned about words.

    `units` has the number of each word in the model's lexicon, -1 for unknown words. An unknown word gets the largest
    idf that a known word has.
    """
    known, size = units >= 0, len(phrases.lexicon)

    def of_units(values: np.ndarray, unknown: float) -> np.ndarray:
        return np.append(values, np.float32(unknown))[np.where(known, units, size)].astype(np.float64)

    largest = phrases.word_idf.max(initial=0.0)
    idf = of_units(phrases.word_idf, largest)
    # With an analyzer that has no stop words, common words stand for them.
    has_stops = phrases.lexicon.first_stop < size
    stops = (
        np.array([not term for term in texts.terms], bool)[texts.words] if has_stops else idf <= -np.log(COMMON_SHARE)
    )
    begins, ends = of_units(phrases.word_begins, UNKNOWN), of_units(phrases.word_ends, UNKNOWN)
    numbers = np.array([not any(map(str.isalpha, word)) for word in texts.surfaces], bool)[texts.words]
    terms = [texts.terms[word] for word in texts.words.tolist()]
    residual = of_units(phrases.word_residual, 0.0)
    # A word between two hyphens is a part of a compound, such as "of" in "sum-of-squares". A stop word neither begins nor
    # ends a phrase.
    hyphens = texts.breaks == Break.HYPHEN
    outside = (stops | (np.maximum(begins, ends) < INSIDE)) & ~(hyphens & np.append(hyphens[1:], False))
    begins, ends = np.where(stops, 0.0, begins), np.where(stops, 0.0, ends)
    return ChunkedWords(terms, texts.breaks, outside, numbers, begins, ends, idf / max(largest, 1e-9), residual)


def chunks(words: ChunkedWords, first: int, last: int) -> list[Chunk]:
    """Return the phrases of one text, in the order of their first occurrences.

    The words of the text have the places from `first` up to, but not including, `last`.
    """
    found: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for begin, end in _spans(words, first, last):
        found[tuple(filter(None, words.terms[begin:end]))].append((begin, end))
    counts = Counter(words.terms[first:last])
    return [
        Chunk(terms, spans, [*_facts(words, spans, first), returns(terms, counts)]) for terms, spans in found.items()
    ]


def returns(terms: Sequence[str], counts: Mapping[str, int]) -> float:
    """Return the mean over `terms` of the logarithm of the term's number of occurrences in a text.

    `counts` has the number of occurrences of each term of the text.
    """
    return float(np.mean(np.log([max(counts[term], 1) for term in terms])))


def _spans(words: ChunkedWords, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the first place of each phrase of a text, and the place after its last word."""
    begin = first
    for place in range(first, last + 1):
        ends_here = place == last or words.outside[place]
        if ends_here or (words.breaks[place] > Break.HYPHEN and place > begin):
            yield from _trimmed(words, begin, place)
            begin = place + bool(ends_here)


def _trimmed(words: ChunkedWords, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the part of a sequence of words that can be a phrase; nothing if no part can, or if no word of it has a
    letter.
    """
    while begin < end and words.ends[end - 1] < ENDS:
        end -= 1
    begin = max(begin, end - LONGEST)
    while begin < end and (words.begins[begin] < BEGINS or words.numbers[begin]):
        begin += 1
    if begin < end and not words.numbers[begin:end].all():
        yield begin, end


def written(texts: TextWords, begin: int, end: int) -> str:
    """Return the words of texts from the place `begin` up to `end` as they are written, with their hyphens."""
    words = [texts.surfaces[word] for word in texts.words[begin:end].tolist()]
    gaps = ["-" if texts.breaks[place] & Break.HYPHEN else " " for place in range(begin + 1, end)]
    return "".join(part for pair in zip(words, [*gaps, ""], strict=True) for part in pair)


def _facts(words: ChunkedWords, spans: Sequence[tuple[int, int]], first: int) -> list[float]:
    """Return the facts about a phrase, in the order of `WEIGHTS` and without the last one.

    The phrase occurs at `spans`, in the text that begins at the place `first`.
    """
    begin, end = spans[0]
    telling = [place for place in range(begin, end) if words.terms[place]]
    return [
        float(end - begin > 1),
        float(np.log1p(begin - first)),
        float(words.idf[telling].mean()),
        float(words.residual[telling].mean()),
        float(words.begins[begin]),
        float(words.ends[end - 1]),
        float(np.log(len(spans))),
    ]
