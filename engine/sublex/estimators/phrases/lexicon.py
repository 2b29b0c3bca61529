"""Units: the items of which phrases are sequences, and their numbers.

Words with the same term are one unit, so all inflections of a phrase count as this phrase. A term may have variants,
which are units of their own. A stop word has no term; its form in lower case is a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sublex.analysis.words import word_spans

# A word in at least this share of the documents is common: it says little about a phrase that begins or ends with it.
COMMON_SHARE = 0.25


class Lexicon:
    """Gives units their numbers. A unit is a term, a variant of a term, or a stop word in lower case, in this order.

    `variants` has, for each variant, its written forms in lower case, and `variant_terms` the number of its term. A
    word with this term belongs to the unit of the variant if it is written in one of these forms, and otherwise to the
    unit of the term. So "computational" and "computer" may be two units, although a stemmer makes one term of them.
    """

    def __init__(
        self,
        terms: Iterable[str] = (),
        stops: Iterable[str] = (),
        variants: Sequence[Sequence[str]] = (),
        variant_terms: Sequence[int] = (),
    ):
        self.terms = list(dict.fromkeys(terms))
        self.variants, self.variant_terms = list(variants), list(variant_terms)
        # The numbers of stop words follow those of terms and variants.
        self.first_stop = len(self.terms) + len(self.variants)
        own = [self.terms[term] for term in self.variant_terms]
        stopped = list(dict.fromkeys(stops))
        self.words = [*self.terms, *own, *stopped]
        self._terms = {term: unit for unit, term in enumerate(self.terms)}
        self._stops = {word: unit for unit, word in enumerate(stopped, self.first_stop)}
        numbered = enumerate(zip(own, self.variants, strict=True), len(self.terms))
        self._forms = {(form, term): unit for unit, (term, forms) in numbered for form in forms}

    def __len__(self) -> int:
        return len(self.words)

    def unit(self, surface: str, term: str) -> int:
        """Return the number of the unit of a word, -1 for an unknown word. A stop word has an empty term."""
        if not term:
            return self._stops.get(surface.casefold(), -1)
        unit = self._forms.get((surface.casefold(), term), -1) if self._forms else -1
        return unit if unit >= 0 else self._terms.get(term, -1)

    def sequence(self, phrase: str, analyze: Callable[[str], list[str]]) -> tuple[int, ...]:
        """Return the numbers of the units of a phrase, -1 for unknown words.

        `analyze` returns the list of the terms of a word, which is empty for a stop word.
        """
        units: list[int] = []
        for begin, end in word_spans(phrase):
            word = phrase[begin:end]
            terms = analyze(word)
            written = [word] if len(terms) == 1 else terms
            units += [self.unit(*pair) for pair in zip(written, terms, strict=True)] or [self.unit(word, "")]
        return tuple(units)
