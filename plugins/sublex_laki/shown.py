"""The keyphrases of a text that people are shown: keyphrases of the network, and phrases that are too rare for the
network.

The stored row of a document says neither where the text mentions a keyphrase, nor which rare phrases it has. Both
matter to a reader, so `shown` reads the text itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import TextWords
from sublex_laki.keyphrases import Keyphrases, falling, is_part
from sublex_laki.nearness import LatentFacts, Nearness, Odds
from sublex_laki.rare import chunks, read_words, written
from sublex_laki.units import Units

# The strength of a keyphrase of the network that a text mentions. Its log-odds are a sum: START, ODDS times the
# log-odds of the keyphrase's probability, PLACE times the logarithm of the number of words before the first mention,
# and EVIDENCE times the evidence in the rest of the text (`weighed`). The numbers are those of a logistic regression on
# verdicts of readers (python benchmarks/keyphrases_rare.py learn).
START, ODDS, PLACE, EVIDENCE = 0.72, 0.78, -0.375, 0.024
# The same for a keyphrase that the text does not mention, by the facts of `nearness`: that the text is about it, and that it is
# at least related. The verdicts are on lists of other methods. The best by these numbers are chosen from thousands, so that
# fewer of them are right: START of ABOUT is lower by .6 than the regression has it.
ABOUT, RELATED = Odds(-4.12, 0.18, 2.72, 2.80, 1.29), Odds(-2.41, 0.08, 2.43, 5.29, 2.55)
# A keyphrase with a smaller strength is not shown.
LEAST_SHOWN = 0.05
# A single word is not shown if a phrase that contains it has at least this strength.
LIKELY = 0.5
# Probabilities are at least this far from 0 and 1, so that their log-odds are finite.
LEAST = 1e-6


class ShownKeyphrase(NamedTuple):
    """A keyphrase of a text.

    `keyphrase` is its number in the network, or None for a phrase that is too rare for the network. `strength` is the
    probability that the text is about it, and `mentioned` says whether the text mentions it.
    """

    name: str
    terms: tuple[str, ...]
    strength: float
    keyphrase: int | None
    mentioned: bool


def of_network(keyphrases: Keyphrases, counts: csr_array, chances: csr_array) -> Iterator[list[ShownKeyphrase]]:
    """Yield the network's keyphrases of each text, the most probable first.

    `counts` has the units of each text, and `chances` the probabilities of the keyphrases.
    """
    terms, phrases = keyphrases.units.terms, keyphrases.network.phrases
    for text in range(counts.shape[0]):
        found = list(falling(chances[[text]]))
        here = keyphrases.is_mentioned(counts[[text]], [k for k, _ in found])
        yield [
            ShownKeyphrase(keyphrases.names[k], terms[phrases[k]], value, k, mentioned)
            for (k, value), mentioned in zip(found, here, strict=True)
        ]


def of_texts(
    keyphrases: Keyphrases,
    texts: TextWords,
    counts: csr_array,
    chances: csr_array,
    evidence: csr_array | None,
    nearness: Nearness,
    related: float,
) -> Iterator[list[ShownKeyphrase]]:
    """Yield the keyphrases of each text, the strongest first. Phrases that are too rare for the network are included.

    `counts` has the units of each text, `chances` the probabilities of its keyphrases, and `evidence` the result of
    `weighed`: what the text says for each keyphrase, apart from mentions. If `evidence` is None, the strength of a
    keyphrase of the network is its probability. Otherwise a keyphrase that the text does not mention is left out if the
    probability that it is at least related to the text is below `related`.
    """
    units, phrases = keyphrases.units, keyphrases.network.phrases
    numbers = units.words_of(texts)
    words, places = read_words(units.phrases, numbers, texts), first_places(units, texts)
    begin = 0
    for text, (end, items) in enumerate(zip(texts.ends.tolist(), of_network(keyphrases, counts, chances), strict=True)):
        known = {item.terms for item in items if item.mentioned}
        if evidence is not None:
            own = evidence[[text]].toarray()[0]
            mentions = [
                item._replace(strength=_strength(item.strength, places[text, int(phrases[k])], float(own[k])))
                for item in items
                if (k := item.keyphrase) is not None and item.mentioned
            ]
            latent = [item for item in items if not item.mentioned]
            facts = latent_facts(
                nearness, counts[[text]], latent, mentions, shared_words(keyphrases, numbers[begin:end])
            )
            items = [*mentions, *_latent(latent, facts, related)]
        for chunk in chunks(words, begin, end):
            if chunk.terms not in known:
                items.append(ShownKeyphrase(written(texts, *chunk.spans[0]), chunk.terms, chunk.strength, None, True))
        begin = end
        items = [item for item in items if item.strength >= LEAST_SHOWN]
        yield sorted(items, key=lambda item: -item.strength)


def shared_words(keyphrases: Keyphrases, numbers: np.ndarray) -> np.ndarray:
    """Return for each keyphrase the share of its words that a text has, weighted by idf.

    `numbers` has the words of the text as numbers in the lexicon.
    """
    shares = keyphrases.word_shares
    here = np.zeros(shares.shape[1])
    here[numbers[numbers >= 0]] = 1.0
    return np.asarray(shares @ here)


def latent_facts(
    nearness: Nearness,
    counts: csr_array,
    latent: Sequence[ShownKeyphrase],
    mentions: Sequence[ShownKeyphrase],
    shared: np.ndarray,
) -> LatentFacts:
    """Return the facts about the keyphrases that a text does not mention. `counts` is the text's row of units, `mentions` has
    the keyphrases that it mentions, and `shared` the share of the words of each keyphrase of the network.
    """
    numbers, strong = ([item.keyphrase for item in items if item.keyphrase is not None] for items in (latent, mentions))
    chances = np.clip([item.strength for item in latent], LEAST, 1 - LEAST)
    alike, near = nearness.of(numbers, counts, strong, [item.strength for item in mentions])
    return LatentFacts(np.log(chances / (1 - chances)), shared[numbers], alike, near)


def _latent(latent: Sequence[ShownKeyphrase], facts: LatentFacts, related: float) -> Iterator[ShownKeyphrase]:
    """Yield the keyphrases that a text does not mention with the strength that `facts` give them.

    Those are left out that are unlikely to be related, and single words that the text has in a longer phrase.
    """
    strengths, chances = ABOUT.chances(facts), RELATED.chances(facts)
    for item, strength, chance, shared in zip(
        latent, strengths.tolist(), chances.tolist(), facts.shared.tolist(), strict=True
    ):
        if chance >= related and not (len(item.terms) == 1 and shared > 0.5):
            yield item._replace(strength=strength)


def _strength(chance: float, place: int, evidence: float) -> float:
    """Return the strength of a keyphrase that a text mentions.

    `chance` is its probability by the network, `place` the number of words before its first mention, and `evidence`
    what the rest of the text says for it.
    """
    chance = min(max(chance, LEAST), 1 - LEAST)
    odds = START + ODDS * np.log(chance / (1 - chance)) + PLACE * np.log1p(place) + EVIDENCE * evidence
    return float(1 / (1 + np.exp(-odds)))


def first_places(units: Units, texts: TextWords) -> dict[tuple[int, int], int]:
    """Return the number of words before the first occurrence of each unit of each text. The keys are pairs of a text
    and a unit.
    """
    found = units.find(units.words_of(texts), texts.breaks, texts.ends)
    begins = np.append(0, texts.ends[:-1])[found.texts]
    places: dict[tuple[int, int], int] = {}
    for text, unit, place in zip(
        found.texts.tolist(), found.units.tolist(), (found.begins - begins).tolist(), strict=True
    ):
        places.setdefault((text, unit), place)
    return places


def distinct(items: Sequence[ShownKeyphrase]) -> Iterator[ShownKeyphrase]:
    """Yield `items`, ordered by strength, without the keyphrases that say nearly the same as a stronger one.

    After "random graph", "graph" says nothing new, and "sparse random graph" says little. A single word is left out
    even if it is stronger than the phrase that contains it, provided that the text is likely about the phrase. A rare
    phrase may also have the terms of a keyphrase that the text does not mention, in another form; the stronger of both
    is kept.
    """
    likely = [item.terms for item in items if item.strength >= LIKELY]
    before: list[tuple[str, ...]] = []
    for item in items:
        own = item.terms
        said = any(own == other or is_part(own, other) or _is_longer(own, other) for other in before)
        if not said and not (len(own) == 1 and any(is_part(own, other) for other in likely)):
            before.append(own)
            yield item


def _is_longer(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether `part` has several terms, which follow one another directly in the longer `whole`."""
    return len(part) > 1 and is_part(part, whole)


def without_parts(items: Sequence[ShownKeyphrase]) -> Iterator[ShownKeyphrase]:
    """Yield `items` without the keyphrases that are a part of an earlier one."""
    before: list[tuple[str, ...]] = []
    for item in items:
        if not any(is_part(item.terms, other) for other in before):
            before.append(item.terms)
            yield item
