"""Queries in the form in which sketches compare them with documents, and values: scores scaled to lie between -1 and 1.

`finding.py` finds documents by them, and `sifting.py` chooses those that are likely to be among the best. Kernels work
with values. A share is the norm of a document's vector, divided by the largest norm in the segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np

from sublex.representations.sketch import LARGEST_CODE, Sketch, projected

# The contracts of `cosines` and `similarity` allow a score to differ from the similarity of the vectors by less than
# this.
SLACK = 1e-5
# Norms and scores between these limits have squares and quotients in float64.
LEAST, MOST = 1e-150, 1e150
# A sample has one document in SPARSE, and at least LEAST_SAMPLE documents if there are as many.
SPARSE, LEAST_SAMPLE = 32, 4096


class Sample(NamedTuple):
    """A sample of the live documents of a segment, with a part of their sketch: signs, lengths and shares.

    `docs` has their numbers, ascending. Each of them stands for `weight` documents of the segment.
    """

    docs: np.ndarray
    signs: np.ndarray
    lengths: np.ndarray
    shares: np.ndarray
    weight: float


@dataclass(frozen=True)
class SketchedSegment:
    """A segment with its sketch, if it has one.

    `base` is the number of the segment's first document, and `dead` is the mask of the deleted documents.
    """

    base: int
    dead: np.ndarray
    sketch: Sketch | None

    @cached_property
    def live(self) -> np.ndarray:
        """The mask of the documents that are not deleted and whose vector is not 0, as the sketch says."""
        return ~self.dead if self.sketch is None else ~self.dead & (self.sketch.scales > 0)

    @cached_property
    def docs(self) -> np.ndarray:
        """The documents of `live`, by their numbers within the segment."""
        return np.flatnonzero(self.live)

    @cached_property
    def zeros(self) -> np.ndarray:
        """The documents that are not deleted and whose vector is 0, by their numbers within the segment."""
        return np.flatnonzero(~self.dead & ~self.live)

    @cached_property
    def longest(self) -> float:
        """The largest norm of a document's vector, if the sketch has norms."""
        return float(self.sketch.norms.max(initial=0.0)) if self.sketch else 0.0

    @cached_property
    def shares(self) -> np.ndarray:
        """The norm of each document's vector as a share of the longest, float32; empty if the sketch has no norms."""
        norms = self.sketch.norms if self.sketch else np.zeros(0)
        return (norms / (self.longest or 1.0)).astype(np.float32)

    @cached_property
    def sample(self) -> Sample:
        """A random sample of live documents, spread evenly over the segment, which must have a sketch.

        It never changes.
        """
        assert self.sketch is not None
        live, sketch = self.docs, self.sketch
        count = min(len(live), max(LEAST_SAMPLE, len(live) // SPARSE))
        # One from each of `count` stretches of equal length.
        places = (np.arange(count) + np.random.default_rng(0).random(count)) * (len(live) / max(1, count))
        docs = live[np.minimum(places.astype(np.int64), len(live) - 1)] if count < len(live) else live
        shares = self.shares[docs] if len(self.shares) else self.shares
        signs = np.ascontiguousarray(sketch.signs[:, docs])
        return Sample(docs, signs, sketch.lengths[docs], shares, len(live) / max(1, count))


class Measure(NamedTuple):
    """How the score of a document follows from its cosine c with the query, and from the norm of its vector.

    m is the norm times `inverse`, and at most 1; it is 1 for cosines, which need no norm. The document's value is
    offset + curve·m² + slope·m·c, which lies between -1 and 1. Its score is the value times `unit`.
    """

    inverse: float
    slope: float
    curve: float
    offset: float
    unit: float
    has_norms: bool

    @property
    def numbers(self) -> tuple[float, float, float, float]:
        """The numbers that kernels take."""
        return self.inverse, self.slope, self.curve, self.offset


class Probe(NamedTuple):
    """A query in the form in which the sketch of a segment compares it with documents.

    `entries` is the projection of the query's vector of norm 1. `codes` are whole numbers; `codes` times `scale` is
    nearly `entries`. `norm`, `tail` and `slack` bound the errors of estimates, as `sketch_kernels.spread_of` says.
    """

    segment: SketchedSegment
    sketch: Sketch
    measure: Measure
    entries: np.ndarray
    codes: np.ndarray
    scale: float
    norm: float
    tail: float
    slack: float

    @property
    def norms(self) -> np.ndarray:
        """The norms of the documents' vectors; an empty array for cosines, which need no norms."""
        return self.sketch.norms if self.measure.has_norms else self.sketch.norms[:0]

    @property
    def numbers_of_shares(self) -> tuple[float, float, float, float]:
        """The numbers of the measure for kernels that get shares in place of norms."""
        inverse, slope, curve, offset = self.measure.numbers
        return inverse * self.segment.longest, slope, curve, offset

    def shares(self, shares: np.ndarray) -> np.ndarray:
        """Return `shares` unchanged; an empty array for cosines, which need no norms."""
        return shares if self.measure.has_norms else shares[:0]

    def estimates(self, docs: np.ndarray) -> np.ndarray:
        """Return estimates of the values of documents of the segment, from sketches with 8 bits an entry."""
        from sublex.representations import sketch_kernels

        found, sketch = np.empty(len(docs), np.float32), self.sketch
        sketch_kernels.estimate(
            sketch.codes, self.codes, sketch.scales, docs, self.scale, self.norms, self.measure.numbers, found
        )
        return found


def measure_of(similarity: str, query: float, longest: float) -> Measure | None:
    """Return the measure for a similarity; None if the norms are too large or too small to compute with.

    `query` is the norm of the query's vector, and `longest` the largest norm of a document's vector.
    """
    if similarity == "cosine":
        return Measure(1.0, 1.0, 0.0, 0.0, 1.0, False)
    # q·x = |q||x|c, and -|q - x|² = -|q|² - |x|² + 2|q||x|c.
    reach = longest if similarity == "dot" else query + longest
    unit = query * longest if similarity == "dot" else reach * reach
    if not (LEAST < reach < MOST and LEAST < unit < MOST):
        return None
    own = query / reach
    return (
        Measure(1 / reach, 1.0, 0.0, 0.0, unit, True)
        if similarity == "dot"
        else Measure(1 / reach, 2 * own, -1.0, -own * own, unit, True)
    )


def probe_of(segment: SketchedSegment, sketch: Sketch, unit: np.ndarray, measure: Measure) -> Probe:
    """Return the form in which a query, given by its vector of norm 1, is compared with the sketch of a segment."""
    entries = projected(unit, sketch.directions)
    levels = min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (LARGEST_CODE * len(entries)))
    codes, scale = whole_numbers(entries, levels)
    # q·x = p·y + the product of what the projection leaves out of both, and p·y - p̂·ŷ = p·(y - ŷ) + (p - p̂)·ŷ.
    lost, norm = float(np.linalg.norm(entries - codes * scale)), float(np.linalg.norm(entries))
    tail = sqrt(max(0.0, 1.0 - norm * norm)) + SLACK
    return Probe(segment, sketch, measure, entries, codes, scale, norm + lost + SLACK, tail, lost)


def whole_numbers(entries: np.ndarray, levels: int) -> tuple[np.ndarray, float]:
    """Return entries as whole numbers of steps, from -`levels` to `levels`, and the size of a step."""
    scale = max(float(np.abs(entries).max()) / levels, float(np.finfo(np.float32).tiny))
    return np.rint(entries / scale).astype(np.int16), scale


def highest(estimates: np.ndarray, wanted: int) -> float:
    """Return the lowest of the `wanted` highest estimates; -inf if there are at most `wanted` estimates."""
    if len(estimates) <= wanted:
        return float("-inf")
    return float(np.partition(estimates, len(estimates) - wanted)[len(estimates) - wanted])
