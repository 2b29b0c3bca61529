"""The keyphrases of a fitted network as people see them: names, silhouettes, broader and narrower ones, and what evoked them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.estimators.laki import Network, evidence
from sublex_laki.units import Units

Surface = Callable[[str], str]
# Units of a silhouette whose names are at least so alike, from 0 to 1, are shown once.
ALIKE = 0.85
# Sweeps of the chain that says which words evoke which keyphrases.
EVIDENCE_SWEEPS = 2000
# A word evokes a keyphrase if it is turned on by it with at least this probability.
LEAST_EVIDENCE = 0.05


class Weighted(NamedTuple):
    """The name of a unit or keyphrase, and its weight or probability."""

    name: str
    weight: float


class Keyphrases:
    """The keyphrases of a network by number, most frequent first. `surface` gives the most frequent form of a term."""

    def __init__(self, network: Network, units: Units, surface: Surface):
        self.network, self.units, self._surface = network, units, surface

    @cached_property
    def names(self) -> list[str]:
        """The name of each keyphrase."""
        return self.units.names(self.network.phrases.tolist(), self._surface)

    @cached_property
    def _silhouettes(self) -> csr_array:
        return self.network.silhouettes

    @cached_property
    def _hierarchy(self) -> csr_array:
        return self.network.hierarchy

    @cached_property
    def _broader(self) -> csr_array:
        return csr_array(self._hierarchy.T)

    def silhouette(self, keyphrase: int, number: int) -> list[Weighted]:
        """Return the units that a keyphrase turns on most, with the probability; of units with like names only the first."""
        found: list[Weighted] = []
        for unit, weight in _falling(self._silhouettes[[keyphrase]]):
            name = self.units.name(unit, self._surface)
            if len(found) == number:
                break
            if not any(SequenceMatcher(None, name, other.name).ratio() >= ALIKE for other in found):
                found.append(Weighted(name, float(-np.expm1(-weight))))
        return found

    def broader(self, keyphrase: int) -> list[Weighted]:
        """Return the keyphrases that lead to a keyphrase, with the probability that they turn it on."""
        return [Weighted(self.names[k], float(-np.expm1(-weight))) for k, weight in _falling(self._broader[[keyphrase]])]

    def narrower(self, keyphrase: int) -> list[Weighted]:
        """Return the rarer keyphrases that a keyphrase leads to, with the probability that it turns them on."""
        found = _falling(self._hierarchy[[keyphrase]])
        return [Weighted(self.names[k], float(-np.expm1(-weight))) for k, weight in found]

    def is_mentioned(self, counts: csr_array, keyphrases: Sequence[int]) -> list[bool]:
        """Return for each of some keyphrases whether a text has it; `counts` is the text's row of units."""
        own = set(counts.indices.tolist())
        return [int(self.network.phrases[k]) in own for k in keyphrases]

    def evoked(self, counts: csr_array, most: int, seed: int) -> csr_array:
        """Return the probability that a keyphrase turns a unit of a text on, as sparse rows of keyphrases by units."""
        return evidence(self.network, counts, most=most, sweeps=EVIDENCE_SWEEPS, seed=seed)[:, self.network.keyphrases :]

    def evoking(self, evoked: csr_array, keyphrase: int, number: int) -> list[Weighted]:
        """Return the units of a text that evoke a keyphrase most, with the probability that it turns each on."""
        found = [(unit, value) for unit, value in _falling(evoked[[keyphrase]]) if value >= LEAST_EVIDENCE]
        return [Weighted(self.units.name(unit, self._surface), min(value, 1.0)) for unit, value in found[:number]]


def listed(items: Sequence[Weighted]) -> str:
    """Return names with their weights as one text."""
    return ", ".join(f"{item.name} {item.weight:.2f}" for item in items)


def _falling(row: csr_array) -> Iterator[tuple[int, float]]:
    """Yield the columns and values of one sparse row, the largest first."""
    order = np.lexsort((row.indices, -row.data))
    yield from zip(row.indices[order].tolist(), row.data[order].tolist(), strict=True)
