"""Choose the documents that are likely to be among the best for a query, by the signs of their vectors.

The signs give a rough estimate of each document's value (`probes.Measure`), and a second bit for each sign a better
one. A sample of documents gives a threshold that the best documents very likely reach. For most documents, the first
signs already show that they stay below it; their other signs are not read. Signs are read in groups of 64.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, sqrt
from typing import Any, NamedTuple

import numpy as np

from sublex.representations.probes import Probe, highest
from sublex.representations.sketch import BITS

# An estimate from one bit or two bits for each sign is taken to be too low by at most this number of standard
# deviations.
CAUTION = 2.2
# To get the threshold, better estimates are made of this number of documents of the samples, the best by rough
# estimates: OF_SAMPLE, and OF_WANTED more for each wanted document.
OF_SAMPLE, OF_WANTED = 400, 8
# The number of wanted documents in a sample varies by chance. The threshold allows for SURE standard deviations.
SURE = 1.5
# To get the final threshold, better estimates are made of STEP times the wanted number of documents.
STEP = 4
# The variance that rounding to one bit and to two bits adds to normally distributed entries of variance 1, if the
# results are scaled so that estimates have no bias. It is 1 / (1 - D) - 1, where the error D is 1 - 2/π for one bit
# and .1188 for two bits (J. Max, 1960).
ONE_BIT, TWO_BITS = pi / 2 - 1, 1 / (1 - 0.1188) - 1
# A query's entries get 3 bits: they are whole numbers of steps, from -4 to 3. The step is this number of standard
# deviations, by which normally distributed numbers lose least.
QUERY_STEP, QUERY_BITS = 0.6, 3
# The time to read the signs of a single document, as a multiple of the time per document when all are read in order.
OUT_OF_ORDER = 20.0
# Keeps quotients finite.
SMALL = 1e-30


class RoughQuery(NamedTuple):
    """A query in the form in which kernels compare it with signs. It has an entry for each sign.

    An entry has 3 bits; `planes[k]` has bit k of each. `lost` is the norm of the rounding error. If only the first g
    groups of signs are read, `totals[g - 1]` is the sum of the query's entries there, and `scales[g - 1]` their scale.
    """

    planes: np.ndarray
    totals: np.ndarray
    scales: np.ndarray
    lost: float


class RoughSample(NamedTuple):
    """Rough estimates of the values of the documents in the sample of a segment.

    `estimates[g - 1]` has the estimates from the first g groups of signs; their cosines may be too low by
    `margins[g - 1]`.
    """

    estimates: np.ndarray
    margins: list[float]


class Sifted(NamedTuple):
    """Some documents of a segment, with estimates of their values from two bits for each sign."""

    probe: Probe
    docs: np.ndarray
    estimates: np.ndarray

    def reaching(self, least: float, margin: float) -> np.ndarray:
        """Return the documents whose values may reach `least`, if cosines may be higher by `margin` than estimated."""
        shares = self.probe.shares(self.probe.segment.shares)
        own = shares[self.docs] if len(shares) else shares
        chosen: np.ndarray = self.docs[self.estimates + _allowed(self.probe, own, margin) >= np.float32(least)]
        return chosen


def likely(probes: Sequence[Probe], depth: int) -> list[np.ndarray]:
    """Return the documents of each segment that are likely to be among the `depth` best."""
    queries = [rough_query(probe) for probe in probes]
    samples = [rough_sample(probe, query) for probe, query in zip(probes, queries, strict=True)]
    least = _reached(probes, samples, depth)
    # If fewer documents than wanted reach the threshold, it was too high. The next one is reached by enough documents.
    while True:
        sifted = [_sifted(*each, least) for each in zip(probes, queries, samples, strict=True)]
        height = _height(sifted, depth)
        if least == -inf or height >= least:
            return [
                own.reaching(height, CAUTION * deviation(own.probe, query, TWO_BITS))
                for own, query in zip(sifted, queries, strict=True)
            ]
        least = height


def rough_query(probe: Probe) -> RoughQuery:
    """Round a query to 3 bits an entry, for kernels that compare it with signs."""
    turned = probe.entries @ probe.sketch.frame
    squares, least = float(turned @ turned), -(1 << QUERY_BITS - 1)
    step = max(QUERY_STEP * sqrt(squares / len(turned)), SMALL)
    entries = np.clip(np.rint(turned / step), least, -least - 1).astype(np.int16)
    # With this scale, the product of the rounded and the exact query is the squared norm of the query.
    scale = squares / max(float(entries @ turned), SMALL)
    planes = np.packbits(entries >> np.arange(QUERY_BITS)[:, None] & 1, axis=1, bitorder="little").view("<u8")
    groups, lost = np.arange(1, planes.shape[1] + 1), float(np.linalg.norm(turned - scale * entries))
    totals = entries.reshape(-1, BITS).sum(axis=1, dtype=np.float64).cumsum()
    return RoughQuery(planes, totals, scale * len(groups) / groups, lost)


def rough_sample(probe: Probe, query: RoughQuery) -> RoughSample:
    """Return rough estimates of the values of the documents in the sample of a segment."""
    from sublex.representations import sketch_kernels

    sample, reach = probe.segment.sample, probe.numbers_of_shares
    found, shares = np.empty((len(sample.signs), len(sample.docs)), np.float32), probe.shares(sample.shares)
    sketch_kernels.estimate_by_prefixes(
        sample.signs, query.planes, query.totals, query.scales, sample.lengths, shares, reach, found
    )
    # An estimate from fewer signs has two independent errors: that of all signs, and the difference between both
    # estimates.
    unit = reach[1] * (reach[0] * np.sqrt(np.square(shares).mean()) if len(shares) else 1.0)
    differences = (
        np.sqrt(np.square(found - found[-1]).mean(axis=1)) / max(unit, SMALL) if len(sample.docs) else found[:, 0]
    )
    return RoughSample(found, (CAUTION * np.hypot(deviation(probe, query, ONE_BIT), differences)).tolist())


def deviation(probe: Probe, query: RoughQuery, rounding: float) -> float:
    """Return the standard deviation of the error of cosines that are estimated from all signs.

    `rounding` is the variance that rounding adds: ONE_BIT or TWO_BITS. If there are fewer signs than entries, the
    signs leave out a part of the vector, which adds to the error.
    """
    entries, signs = probe.sketch.frame.shape
    own = probe.norm**2 * (1 + rounding - min(1.0, signs / entries))
    return sqrt((own + query.lost**2 * (1 + rounding) * max(1.0, entries / signs)) / signs)


def _reached(probes: Sequence[Probe], samples: Sequence[RoughSample], depth: int) -> float:
    """Return a threshold that the values of `depth` documents very likely reach; -inf if the samples are too small."""
    most = max(probe.segment.sample.weight for probe in probes)
    # The standard deviation of a number of documents in a sample is about its root.
    wanted = depth + SURE * sqrt(depth * most) + SURE * most
    rough = np.concatenate([own.estimates[-1] for own in samples])
    edge = highest(rough, OF_SAMPLE + OF_WANTED * int(wanted / most))
    chosen = [probe.segment.sample.docs[own.estimates[-1] >= edge] for probe, own in zip(probes, samples, strict=True)]
    better = np.concatenate([probe.estimates(docs) for probe, docs in zip(probes, chosen, strict=True)])
    weights = np.repeat([probe.segment.sample.weight for probe in probes], list(map(len, chosen)))
    order = np.argsort(-better, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), wanted))
    return float(better[order[place]]) if place < len(order) else -inf


def _sifted(probe: Probe, query: RoughQuery, sample: RoughSample, least: float) -> Sifted:
    """Return the live documents of a segment whose values may reach the threshold `least`."""
    from sublex.representations import sketch_kernels

    segment, sketch = probe.segment, probe.sketch
    groups = _groups(probe, sample, least)
    chosen, pluses = np.empty(len(segment.live) + 1, np.int64), np.empty(len(segment.live) + 1, np.int32)
    first, whole = ((float(query.totals[n]), float(query.scales[n]), sample.margins[n]) for n in (groups - 1, -1))
    count = sketch_kernels.sift(
        sketch.signs, query.planes, groups, first, whole, sketch.lengths, probe.shares(segment.shares),
        probe.numbers_of_shares, segment.live, least, chosen, pluses,
    )  # fmt: skip
    docs, estimates = chosen[:count].copy(), np.empty(count + 1, np.float32)
    both = whole[0], whole[1], CAUTION * deviation(probe, query, TWO_BITS)
    count = sketch_kernels.refine(
        sketch.halves, query.planes, both, sketch.half_lengths, probe.shares(segment.shares), probe.numbers_of_shares,
        least, docs, pluses[:count], estimates,
    )  # fmt: skip
    return Sifted(probe, docs[:count], estimates[:count])


def _groups(probe: Probe, sample: RoughSample, least: float) -> int:
    """Return the number of groups of signs to read for all documents, so that reading takes the least time.

    The other groups are read only for the documents that may still reach `least`; the sample tells how many these are.
    """
    groups, docs = sample.estimates.shape
    shares = probe.shares(probe.segment.sample.shares)
    left = [
        np.count_nonzero(own + _allowed(probe, shares, margin) >= np.float32(least)) / max(1, docs)
        for own, margin in zip(*sample, strict=True)
    ]
    costs = [own + share * (groups - own) * OUT_OF_ORDER for own, share in enumerate(left, 1)]
    return 1 + int(np.argmin(costs))


def _allowed(probe: Probe, shares: np.ndarray, margin: float) -> Any:
    """Return by how much values may be higher if cosines may be higher by `margin`, for documents with these shares."""
    reach, slope, _, _ = probe.numbers_of_shares
    return np.float32(margin * slope * reach) * shares if len(shares) else np.float32(margin * slope)


def _height(sifted: Sequence[Sifted], depth: int) -> float:
    """Return the lowest of the `depth` highest better estimates, made for the documents with the best estimates so far.

    Return -inf if there are at most `depth` documents.
    """
    edge = highest(np.concatenate([own.estimates for own in sifted]), STEP * depth)
    better = [own.probe.estimates(own.docs[own.estimates >= edge]) for own in sifted]
    found = np.concatenate(better)
    return highest(found, depth) if len(found) > depth else -inf
