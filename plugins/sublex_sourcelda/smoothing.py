"""The smoothing of lambda (section III.C.2). A function g for each source makes topics depart from the source in even
steps.

A topic is drawn from the Dirichlet distribution with the parameters (count + epsilon)^g(x). With g, the expected
Jensen-Shannon divergence between topic and source falls from x = 0 to x = 1 along a straight line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.estimators.blocks import in_order, random
from sublex_sourcelda.priors import EPSILON

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The number of topics that are drawn at each exponent. The paper asks for a large number; its program draws one.
DRAWS = 200
# The exponents at which the divergence is measured. They are denser near 0, where the divergence falls fast.
EXPONENTS = np.linspace(0, 1, 21) ** 2.5
# With a smaller epsilon, the words that a source lacks have hardly any probability in the source.
NEGLIGIBLE = 1e-9


def divergence(
    counts: np.ndarray, lacking: int, exponent: float, generator: np.random.Generator, epsilon: float = EPSILON
) -> float:
    """Return the mean Jensen-Shannon divergence, in nats, between a source and `DRAWS` topics; see `divergences`."""
    return float(divergences(counts, lacking, exponent, generator, epsilon).mean())


def divergences(
    counts: np.ndarray,
    lacking: int,
    exponent: float,
    generator: np.random.Generator,
    epsilon: float = EPSILON,
    draws: int = DRAWS,
) -> np.ndarray:
    """Return the Jensen-Shannon divergence, in nats, between a source and each of some topics.

    The topics are drawn from the Dirichlet distribution with the parameters (count + epsilon)^exponent. `counts` are
    the counts of the words of the source, all above 0. The other `lacking` words of the vocabulary have the count 0.
    """
    counts = counts.astype(np.float64)
    if epsilon >= NEGLIGIBLE:
        counts, lacking = np.append(counts, np.zeros(lacking)), 0
    weights = counts + epsilon
    source = weights / weights.sum()
    drawn = generator.standard_gamma(weights**exponent, (draws, len(weights)))
    # Words outside the source add log(2) / 2 times their probability. So only the sum of their probabilities matters,
    # which is a gamma variable too.
    rest = generator.standard_gamma(lacking * epsilon**exponent, draws) if lacking else np.zeros(draws)
    total = drawn.sum(axis=1) + rest
    topic = drawn / total[:, None]
    middle = (topic + source) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(topic > 0, topic * np.log(topic / middle), 0) + source * np.log(source / middle)
    found: np.ndarray = terms.sum(axis=1) / 2 + rest / total * np.log(2) / 2
    return found


class Smoothing:
    """The function g of one source, which maps lambda to an exponent: equal steps of lambda change the divergence
    equally.

    The function is linear between the measured exponents.
    """

    def __init__(self, counts: np.ndarray, lacking: int, generator: np.random.Generator, epsilon: float = EPSILON):
        measured = [divergence(counts, lacking, exponent, generator, epsilon) for exponent in EXPONENTS.tolist()]
        # The divergence is estimated from random draws, so a small step may go upwards.
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
    """Return the function g for each row of `counts`, which are sources by words.

    The random draws for a row depend on `seed` and the row's number. `progress` is called several times and may raise
    an exception to end the work.
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
