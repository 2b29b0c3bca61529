"""The fitted phrases of an index. They are also an expander, which joins abbreviations with the phrases for which they
stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from sublex.contracts.base import Context, Query, QueryTerm
from sublex.contracts.fitted import Corpus, Fittable, Job, Store, Stored, View
from sublex.contracts.operators import Operator, OperatorKind
from sublex.contracts.stored import Declared, Json
from sublex.errors import InputError
from sublex.estimators.phrases.phrase_list import PhraseList
from sublex_phrases.mining import mine, phrase_list_of
from sublex_phrases.read_list import ListedPhrase, read_list
from sublex_phrases.text import read_text

# The bytes of memory that fitting takes for each word of the text, and the number of words of the text for each indexed
# word: stop words are not indexed.
BYTES_PER_WORD, WORDS_PER_TERM = 40, 2
# The number of phrases that the model's card shows.
CARD_PHRASES = 10


class Phrases(Fittable):
    """The phrases of a collection (X. Liu et al. 2015), with their abbreviations.

    `phrases` holds the phrases after `fit` or `load`; other models read it. The expander adds to an abbreviation in a
    query the words of its phrase, and to a phrase its abbreviations.
    """

    # Version 3: words have roles (see `roles.py`), and variants of terms are units of their own. Version 4: the roles
    # and the idf of words are stored, so that other models find rare phrases.
    version = 4
    docs = 0
    phrases: PhraseList

    def __init__(self, *, support: int, quality: float, good: str | None, list: str | None, forms: str, weight: float):
        self.support, self.quality, self.forms, self.weight = support, quality, forms, weight
        self._good, self._list = good, list
        self._left_out = 0
        if good is not None and list is not None:
            raise InputError(
                "phrases: list says which the phrases are, so there is nothing to learn from good; leave one out."
            )

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes for the arrays over all words."""
        return BYTES_PER_WORD * WORDS_PER_TERM * int(corpus.lengths.sum())

    @property
    def is_listed(self) -> bool:
        """Whether the user has given a list of the phrases."""
        return self._list is not None

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Mine the phrases of the collection. If the user has given a list of phrases, find the phrases of the list in
        the collection.
        """
        given = read_list(job.resource(self._list)) if self._list is not None else None
        good = read_list(job.resource(self._good)) if self._good is not None else []
        words = corpus.words()
        # Many phrases share a word, so each word is looked up once.
        analyze = cache(corpus.analyze)
        least = self.support if self.forms == "inflections" else 0
        text = read_text(words.blocks(job.map), corpus.vocabulary, lambda: words.surfaces, least)

        def sequences(phrases: list[ListedPhrase]) -> dict[tuple[int, ...], float]:
            """Return the units of phrases, each with the phrase's quality. Phrases with unknown words are left out."""
            found = {text.lexicon.sequence(phrase.text, analyze): phrase.quality for phrase in phrases}
            return {units: quality for units, quality in found.items() if units and min(units) >= 0}

        listed = None if given is None else sequences(given)
        mined = mine(text, self.support, self.quality, [*sequences(good)], listed, job.map, job.progress)
        if given is not None and not len(mined.nodes):
            raise InputError(
                f"phrases: none of the phrases in {self._list} occurs in this collection; name another file."
            )
        found = {*mined.nodes.tolist(), *mined.aliases}
        known = sum(node in found for node in mined.ngrams.nodes(listed or ()))
        self._left_out = len(given) - known if given is not None else 0
        self.phrases = phrase_list_of(text, mined)

    def save(self, store: Store) -> None:
        """Store the phrases, and the number of phrases of the user's list that were not found."""
        store.put("left_out", self._left_out)
        self.phrases.save(store)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name."""
        return {"left_out": Json(int), **PhraseList.declares()}

    def load(self, store: Stored) -> None:
        """Restore the phrases."""
        self._left_out = store.get("left_out")
        self.phrases = PhraseList.load(store)

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the numbers of phrases of several words, of single words and of phrases with abbreviations, and the
        best phrases.
        """
        found = self.phrases
        rows = [
            {"phrase": found.names[k], "quality": round(float(found.quality[k]), 3), "mentions": int(found.mentions[k])}
            for k in range(min(CARD_PHRASES, len(found)))
        ]
        several = int((found.lengths > 1).sum())
        facts = {"phrases of several words": several, "single words": len(found) - several}
        facts |= {"with abbreviations": sum(map(bool, found.abbreviations))}
        facts |= {"of the list, not found": self._left_out} if self._list is not None else {}
        return {**facts, "best": rows}

    def expand(self, query: Query, context: Context) -> Query:
        """Return the query with added terms.

        For an abbreviation in the query, the words of its phrase are added. For a phrase in the query, its
        abbreviations are added.
        """
        if not self.weight:
            return query
        weights, added = query.word_weights(), dict[str, QueryTerm]()
        order = [word for term in query.terms for word in _in_order(term.term)]
        for phrase, words, abbreviations in self._abbreviated:
            name = self.phrases.names[phrase]
            for word in abbreviations:
                if word in weights:
                    origin = f"phrases: {word} stands for {name}"
                    for other in words:
                        added.setdefault(other, QueryTerm(other, self.weight * weights[word], origin))
                elif _holds(order, words):
                    weight = self.weight * min(weights[other] for other in words)
                    added.setdefault(word, QueryTerm(word, weight, f"phrases: {name} is abbreviated as {word}"))
        new = [term for term in added.values() if term.term not in weights]
        return query._replace(terms=(*query.terms, *new))

    @cached_property
    def _abbreviated(self) -> list[tuple[int, list[str], list[str]]]:
        """The phrases that have abbreviations: the number of each phrase, its words and its abbreviations, as terms."""
        found, words = self.phrases, self.phrases.lexicon.words
        short: dict[int, list[str]] = {}
        for unit, phrase in enumerate(found.word_phrases.tolist()):
            if phrase >= 0 and found.lengths[phrase] > 1:
                short.setdefault(phrase, []).append(words[unit])
        stops = found.lexicon.first_stop
        return [
            (phrase, [words[unit] for unit in found.units(phrase) if unit < stops], abbreviations)
            for phrase, abbreviations in short.items()
        ]


def _in_order(term: str) -> Sequence[str]:
    """Return the words that must follow one another for a term of a query: several words for an operator `#1`, else the
    term.
    """
    if isinstance(term, Operator) and term.kind is OperatorKind.ORDERED and term.width == 1:
        return term.parts
    return [term]


def _holds(order: list[str], words: list[str]) -> bool:
    """Return whether a query whose terms are `order` has the terms `words` one directly after another."""
    return any(order[k : k + len(words)] == words for k in range(len(order) - len(words) + 1))
