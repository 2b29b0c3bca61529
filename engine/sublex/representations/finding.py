"""Finding the best documents for a query by the sketches of their vectors, without scoring all documents.

Scores are cosines, products or squared distances of vectors. A sketch gives an estimate of each score with a bound of its
error. Documents with high estimates are scored first. Then every other document is scored whose estimate plus the bound
reaches the lowest score of the best so far. So the results are equal to the results of scoring all documents.
`find=approximate` first makes a rough estimate of each score from signs alone, and goes on with the documents whose rough
estimates are high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from sublex.contracts.scores import NO_OPINION
from sublex.representations.sketch import LARGEST_CODE, Sketch, projected

# `find=approximate` assumes that a rough estimate is too low by at most this number of standard deviations.
CAUTION = 2.5
# `find=approximate` assumes that errors are at most this share of their bounds.
LIKELY = 0.5
# Scores differ from similarities by less than this, by the contracts of `cosines` and `similarity`.
SLACK = 1e-5
# Norms and scores between these limits have squares and quotients in float64.
LEAST, MOST = 1e-150, 1e150
# If more than twice the wanted documents and this number have the highest estimates, the estimates are partitioned.
SPARE = 1000
# If more than this share of all documents is wanted, all documents are scored.
MOST_WANTED = 0.25
# A function that returns the scores of documents.
Score = Callable[[np.ndarray], np.ndarray]


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

    def norms_of(self, sketch: Sketch) -> np.ndarray:
        """Return the norms of the documents' vectors. For cosines, which need no norms, there are none."""
        return sketch.norms if self.has_norms else sketch.norms[:0]


class Probe(NamedTuple):
    """A query in the form in which the sketch of a segment compares it with documents.

    `entries` is the projected query of norm 1. `codes` are whole numbers; `codes` times `scale` is nearly `entries`.
    `norm`, `tail` and `slack` bound the errors of estimates, as `sketch_kernels.reaching` says.
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
        """The norms of the documents' vectors. For cosines, which need no norms, there are none."""
        return self.measure.norms_of(self.sketch)


class Look(NamedTuple):
    """Some documents of a segment, with the estimates of their values."""

    probe: Probe
    docs: np.ndarray
    estimates: np.ndarray


def find(
    segments: Sequence[SketchedSegment], query: np.ndarray, score: Score, depth: int, exact: bool, similarity: str
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the numbers and scores of some documents: the `depth` live documents with the highest scores, and others.

    Documents whose score is equal to the lowest of the `depth` highest scores are among them. Without `exact`, a few of
    the best documents may be missing. Return None if it is better to score all documents. `query` is the query's
    vector, `similarity` one of "cosine", "dot" and "l2", and `score` returns the scores of documents.
    """
    largest = float(np.abs(query).max(initial=0.0))
    docs, sketched = sum(len(segment.dead) for segment in segments), [s for s in segments if s.sketch]
    if largest == 0 or depth > MOST_WANTED * docs or not sketched:
        return None
    # The largest entry becomes 1 first, so that no square is too large or too small for a float.
    norm = float(np.linalg.norm(query / largest))
    measure = _measure(similarity, norm * largest, max(segment.longest for segment in sketched))
    if measure is None:
        return None
    unit = query / largest / norm
    probes = [_probe(segment, segment.sketch, unit, measure) for segment in sketched if segment.sketch]
    looks, edge = _looks(probes, [probe.segment.docs for probe in probes] if exact else _likely(probes, depth), depth)
    others = [segment.base + segment.docs for segment in segments if not segment.sketch]
    first = np.concatenate([*others, *(_numbers(look, look.docs[look.estimates >= edge]) for look in looks)])
    scores = score(first)
    least = np.partition(scores, len(scores) - depth)[len(scores) - depth] if len(scores) >= depth else NO_OPINION
    # Scores are rounded to float32, and a document may tie with `least` by rounding up.
    value = float(np.nextafter(np.float32(least), np.float32(-inf))) / measure.unit
    share = 1.0 if exact else LIKELY
    second = np.concatenate([*(_reaching(look, edge, value, share) for look in looks), *_zeros(probes, value)])
    return np.concatenate([first, second]), np.concatenate([scores, score(second)])


def _measure(similarity: str, query: float, longest: float) -> Measure | None:
    """Return how scores follow from cosines and norms; None if the norms are too large or too small to tell.

    `query` is the norm of the query's vector, and `longest` the largest norm of a document's.
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


def _zeros(probes: Sequence[Probe], least: float) -> list[np.ndarray]:
    """Return the documents of each segment whose vector is 0, by their numbers in the index, if their value may be `least` or more."""
    from sublex.representations import sketch_kernels

    return [
        probe.segment.base + probe.segment.zeros
        for probe in probes
        if probe.measure.has_norms and probe.measure.offset * (1 - SLACK) + sketch_kernels.UNDERFLOW >= least
    ]


def _probe(segment: SketchedSegment, sketch: Sketch, unit: np.ndarray, measure: Measure) -> Probe:
    """Return the query `unit`, a vector of norm 1, as the sketch of a segment compares it."""
    entries = projected(unit, sketch.directions)
    levels = min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (LARGEST_CODE * len(entries)))
    codes, scale = _whole(entries, levels)
    # q·x = p·y + the product of what the projection leaves out of both, and p·y - p̂·ŷ = p·(y - ŷ) + (p - p̂)·ŷ.
    lost, norm = float(np.linalg.norm(entries - codes * scale)), float(np.linalg.norm(entries))
    tail = sqrt(max(0.0, 1.0 - norm * norm)) + SLACK
    return Probe(segment, sketch, measure, entries, codes, scale, norm + lost + SLACK, tail, lost)


def _whole(entries: np.ndarray, levels: int) -> tuple[np.ndarray, float]:
    """Return entries as whole numbers from -`levels` to `levels`, and the scale that turns these into entries again."""
    scale = max(float(np.abs(entries).max()) / levels, float(np.finfo(np.float32).tiny))
    return np.rint(entries / scale).astype(np.int16), scale


def _likely(probes: Sequence[Probe], depth: int) -> list[np.ndarray]:
    """Return the documents of each segment that are likely to be among the best, by rough estimates of all values.

    The documents with the highest rough estimates get better estimates. These tell how high the values of the best are.
    """
    from sublex.representations import sketch_kernels

    counts = np.zeros(sketch_kernels.BUCKETS, np.int64)
    rough = [(probe, _rough(probe, counts)) for probe in probes]
    # One estimate in `STEP` is counted, so some `STEP * depth` documents are above the edge.
    edge = _edge(counts, depth)
    high = [_high(probe, estimates, edge, 0.0) for probe, estimates in rough]
    finer = _finer([own[docs] for (_, own), docs in zip(rough, high, strict=True)], edge, sketch_kernels.STEP * depth)
    if finer > edge:
        high = [_high(probe, estimates, finer, 0.0) for probe, estimates in rough]
    _, height = _looks(probes, high, depth)
    return [_high(probe, estimates, height, CAUTION * deviation(probe)) for probe, estimates in rough]


def deviation(probe: Probe) -> float:
    """Return the standard deviation of the rough estimates of cosines.

    Signs in place of normally distributed entries add the variance π/2 - 1. Fewer signs than entries leave out a part of
    the vector.
    """
    entries, signs = probe.sketch.frame.shape
    return probe.norm * sqrt((pi / 2 - min(1.0, signs / entries)) / signs)


def _high(probe: Probe, estimates: np.ndarray, least: float, margin: float) -> np.ndarray:
    """Return the live documents of a segment whose value may be `least` or more if cosines are higher by `margin` than estimated."""
    from sublex.representations import sketch_kernels

    chosen = np.empty(len(estimates), np.int64)
    count = sketch_kernels.likely(
        estimates, probe.segment.live, probe.norms, probe.measure.numbers, margin, least, chosen
    )
    return chosen[:count].copy()


def _rough(probe: Probe, counts: np.ndarray) -> np.ndarray:
    """Return estimates, by signs, of the values of all documents of a segment.

    Count one in `STEP` of the estimates in the buckets `counts`.
    """
    from sublex.representations import sketch_kernels

    entries, scale = _whole(probe.entries @ probe.sketch.frame, 7)
    planes = np.packbits(entries >> np.arange(4)[:, None] & 1, axis=1, bitorder="little").view("<u8")
    estimates = np.empty(len(probe.segment.live), np.float32)
    sketch_kernels.estimate_by_signs(
        probe.sketch.signs, planes, int(entries.sum()), scale, probe.sketch.lengths, probe.norms,
        probe.measure.numbers, probe.segment.live, estimates, counts,
    )  # fmt: skip
    return estimates


def _looks(probes: Sequence[Probe], docs: Sequence[np.ndarray], depth: int) -> tuple[list[Look], float]:
    """Return `docs` with estimates of their values, and a threshold that at least `depth` of the estimates reach.

    `docs` has, for each probe, documents of the probe's segment.
    """
    from sublex.representations import sketch_kernels

    counts, looks = np.zeros(sketch_kernels.BUCKETS, np.int64), []
    for probe, own in zip(probes, docs, strict=True):
        looks.append(Look(probe, own, np.empty(len(own), np.float32)))
        sketch = probe.sketch
        sketch_kernels.estimate(
            sketch.codes, probe.codes, sketch.scales, own, probe.scale, probe.norms, probe.measure.numbers,
            looks[-1].estimates, counts,
        )  # fmt: skip
    edge = _edge(counts, depth)
    # Few of the counts are needed to see that the bucket of the edge is not too full.
    above = int(counts[::-1][: len(counts) - _bucket(counts, depth)].sum())
    if above > 2 * depth + SPARE:
        edge = _finer([look.estimates[look.estimates >= edge] for look in looks], edge, depth)
    return looks, edge


def _finer(high: Sequence[np.ndarray], edge: float, wanted: int) -> float:
    """Return `edge`, or a higher threshold that `wanted` of the estimates `high` reach, if far more than these are given."""
    if sum(map(len, high)) <= 2 * wanted + SPARE:
        return edge
    estimates = np.concatenate(high)
    return float(np.partition(estimates, len(estimates) - wanted)[len(estimates) - wanted])


def _bucket(counts: np.ndarray, depth: int) -> int:
    """Return the highest bucket such that it and the buckets above have `depth` of the estimates counted in `counts`; -1 if none."""
    return len(counts) - 1 - int(np.searchsorted(np.cumsum(counts[::-1]), depth))


def _edge(counts: np.ndarray, depth: int) -> float:
    """Return a threshold that `depth` of the estimates counted in `counts`, or a few more, reach.

    Return -inf if fewer than `depth` estimates were counted.
    """
    bucket = _bucket(counts, depth)
    # NumPy rounds the value to float32 when it compares it with estimates, and the kernel `reaching` does not. Rounded here, both agree.
    return float(np.float32(bucket * 4.0 / len(counts) - 2.0 - SLACK)) if bucket > 0 else -inf


def _reaching(look: Look, edge: float, least: float, share: float) -> np.ndarray:
    """Return the documents with estimates below `edge` whose values may be `least` or more.

    Errors of estimates are taken to be at most `share` times their bounds.
    """
    from sublex.representations import sketch_kernels

    chosen, probe = np.empty(len(look.docs), np.int64), look.probe
    count = sketch_kernels.reaching(
        look.estimates, look.docs, edge, probe.sketch.errors, probe.sketch.tails, probe.norms, probe.measure.numbers,
        share * probe.norm, share * probe.tail, share * probe.slack, share * SLACK, least, chosen,
    )  # fmt: skip
    return _numbers(look, chosen[:count])


def _numbers(look: Look, docs: np.ndarray) -> np.ndarray:
    """Return the numbers that documents of a segment have in the index."""
    numbers: np.ndarray = look.probe.segment.base + docs
    return numbers
