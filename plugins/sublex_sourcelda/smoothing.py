"""The smoothing of lambda (section III.C.2): a function g for each source, so that topics depart from sources in even steps.

A topic is drawn from the Dirichlet distribution with the parameters (count + epsilon)^g(x). The expected Jensen-Shannon divergence between
topic and source falls from x = 0 to x = 1 along a straight line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.estimators.blocks import in_order, random
from sublex_sourcelda.priors import EPSILON

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Topics drawn at each exponent. The paper asks for a large number; its program draws one.
DRAWS = 200
# Exponents at which the divergence is measured: denser near 0, where it falls fast.
EXPONENTS = np.linspace(0, 1, 21) ** 2.5
# With a smaller epsilon, the words that a source lacks have hardly any probability in the source.
NEGLIGIBLE = 1e-9


def divergence(
    counts: np.ndarray, lacking: int, exponent: float, generator: np.random.Generator, epsilon: float = EPSILON
) -> float:
    """Return the mean Jensen-Shannon divergence in nats between a source and topics drawn with an exponent, over `DRAWS` draws.

    The source has the positive `counts`, and `lacking` words of the vocabulary have the count 0.
    """
    counts = counts.astype(np.float64)
    if epsilon >= NEGLIGIBLE:
        counts, lacking = np.append(counts, np.zeros(lacking)), 0
    weights = counts + epsilon
    source = weights / weights.sum()
    drawn = generator.standard_gamma(weights**exponent, (DRAWS, len(weights)))
    # Words without a share in the source add log(2) / 2 of their probability, so only their sum matters, which is a gamma variable, too.
    rest = generator.standard_gamma(lacking * epsilon**exponent, DRAWS) if lacking else np.zeros(DRAWS)
    total = drawn.sum(axis=1) + rest
    topic = drawn / total[:, None]
    middle = (topic + source) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(topic > 0, topic * np.log(topic / middle), 0) + source * np.log(source / middle)
    return float((terms.sum(axis=1) / 2 + rest / total * np.log(2) / 2).mean())


class Smoothing:
    """The function g of one source: straight lines between the exponents of `EXPONENTS`, as the draws place them."""

    def __init__(self, counts: np.ndarray, lacking: int, generator: np.random.Generator, epsilon: float = EPSILON):
        measured = [divergence(counts, lacking, exponent, generator, epsilon) for exponent in EXPONENTS.tolist()]
        # Chance may turn a small step upwards.
        falling = np.minimum.accumulate(measured)
        span = falling[0] - falling[-1]
        self.x = (falling[0] - falling) / span if span > 0 else EXPONENTS

    def __call__(self, x: Any) -> np.ndarray:
        """Return g(x) for x from 0 to 1."""
        return np.interp(x, self.x, EXPONENTS)


def smoothings(
    counts: csr_array,
    seed: int = 0,
    epsilon: float = EPSILON,
    workers: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> list[Smoothing]:
    """Return g for each row of `counts`, sources by words. A row's draws depend on the seed and its number.

    `progress` is called now and then and may raise to end the work.
    """

    def smoothing(number: int) -> Smoothing:
        row = counts.data[counts.indptr[number] : counts.indptr[number + 1]]
        row = row[row > 0]
        return Smoothing(row, counts.shape[1] - len(row), random(seed, number + 1), epsilon)

    found = []
    for one in in_order(smoothing, range(counts.shape[0]), workers):
        progress()
        found.append(one)
    return found
