"""Finding the best documents for a query by the sketches of their vectors, without scoring all documents.

A sketch gives an estimate of each score with a bound of its error. Documents with high estimates are scored first. Then
every other document is scored whose estimate plus the bound reaches the lowest score of the best so far. So the results
are equal to the results of scoring all documents. `find=approximate` first makes a rough estimate of each score from
signs alone, and goes on with the documents whose rough estimates are high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, pi, sqrt
from typing import NamedTuple

import numpy as np

from sublex.contracts.scores import NO_OPINION
from sublex.representations.sketch import LARGEST_CODE, SIGNS, Sketch, projected

# `find=approximate` assumes that a rough estimate is too low by at most this number of standard deviations.
CAUTION = 2.5
# The standard deviation of rough estimates for vectors of norm 1. Signs in place of normally distributed entries add the variance π/2 - 1.
DEVIATION = sqrt((pi / 2 - 1) / SIGNS)
# `find=approximate` assumes that errors are at most this share of their bounds.
LIKELY = 0.5
# Scores differ from cosines by less than this, by the contract of `cosines`.
SLACK = 1e-5
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


class Probe(NamedTuple):
    """A query in the form in which the sketch of a segment compares it with documents.

    `entries` is the projected query of norm 1. `codes` are whole numbers; `codes` times `scale` is nearly `entries`.
    `norm`, `tail` and `slack` bound the errors of estimates, as `sketch_kernels.reaching` says.
    """

    segment: SketchedSegment
    sketch: Sketch
    entries: np.ndarray
    codes: np.ndarray
    scale: float
    norm: float
    tail: float
    slack: float


class Look(NamedTuple):
    """Some documents of a segment, with the estimates of their scores."""

    probe: Probe
    docs: np.ndarray
    estimates: np.ndarray


def find(
    segments: Sequence[SketchedSegment], query: np.ndarray, score: Score, depth: int, exact: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the numbers and scores of some documents: the `depth` live documents with the highest scores, and others.

    Documents whose score is equal to the lowest of the `depth` highest scores are among them. Without `exact`, a few of
    the best documents may be missing. Return None if it is better to score all documents. `query` is the query's
    vector, and `score` returns the scores of documents.
    """
    largest = float(np.abs(query).max(initial=0.0))
    docs = sum(len(segment.dead) for segment in segments)
    if largest == 0 or depth > MOST_WANTED * docs or not any(segment.sketch for segment in segments):
        return None
    # The largest entry becomes 1 first, so that no square is too large or too small for a float.
    unit = query / largest / np.linalg.norm(query / largest)
    probes = [_probe(segment, segment.sketch, unit) for segment in segments if segment.sketch]
    looks, edge = _looks(probes, [probe.segment.docs for probe in probes] if exact else _likely(probes, depth), depth)
    others = [segment.base + segment.docs for segment in segments if not segment.sketch]
    first = np.concatenate([*others, *(_numbers(look, look.docs[look.estimates >= edge]) for look in looks)])
    scores = score(first)
    least = np.partition(scores, len(scores) - depth)[len(scores) - depth] if len(scores) >= depth else NO_OPINION
    share = 1.0 if exact else LIKELY
    second = np.concatenate([_reaching(look, edge, float(least), share) for look in looks])
    return np.concatenate([first, second]), np.concatenate([scores, score(second)])


def _probe(segment: SketchedSegment, sketch: Sketch, unit: np.ndarray) -> Probe:
    """Return the query `unit`, a vector of norm 1, as the sketch of a segment compares it."""
    entries = projected(unit, sketch.directions)
    levels = min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (LARGEST_CODE * len(entries)))
    codes, scale = _whole(entries, levels)
    # q·x = p·y + the product of what the projection leaves out of both, and p·y - p̂·ŷ = p·(y - ŷ) + (p - p̂)·ŷ.
    lost, norm = float(np.linalg.norm(entries - codes * scale)), float(np.linalg.norm(entries))
    tail = sqrt(max(0.0, 1.0 - norm * norm)) + SLACK
    return Probe(segment, sketch, entries, codes, scale, norm + lost + SLACK, tail, lost + SLACK)


def _whole(entries: np.ndarray, levels: int) -> tuple[np.ndarray, float]:
    """Return entries as whole numbers from -`levels` to `levels`, and the scale that turns these into entries again."""
    scale = max(float(np.abs(entries).max()) / levels, float(np.finfo(np.float32).tiny))
    return np.rint(entries / scale).astype(np.int16), scale


def _likely(probes: Sequence[Probe], depth: int) -> list[np.ndarray]:
    """Return the documents of each segment that are likely to be among the best, by rough estimates of all scores.

    The documents with the highest rough estimates get better estimates. These tell how high the scores of the best are.
    """
    from sublex.representations import sketch_kernels

    counts = np.zeros(sketch_kernels.BUCKETS, np.int64)
    rough = [(probe, _rough(probe, counts)) for probe in probes]
    # One estimate in `STEP` is counted, so some `STEP * depth` documents are above the edge.
    edge = _edge(counts, depth)
    _, height = _looks(probes, [_high(probe, estimates, edge) for probe, estimates in rough], depth)
    return [_high(probe, estimates, height - CAUTION * DEVIATION * probe.norm) for probe, estimates in rough]


def _high(probe: Probe, estimates: np.ndarray, least: float) -> np.ndarray:
    """Return the live documents of a segment whose estimates are `least` or more."""
    docs = np.flatnonzero(estimates >= least)
    return docs[probe.segment.live[docs]]


def _rough(probe: Probe, counts: np.ndarray) -> np.ndarray:
    """Return estimates, by signs, of the scores of all documents of a segment.

    Count one in `STEP` of the estimates in the buckets `counts`.
    """
    from sublex.representations import sketch_kernels

    entries, scale = _whole(probe.entries @ probe.sketch.frame, 7)
    planes = np.packbits(entries >> np.arange(4)[:, None] & 1, axis=1, bitorder="little").view("<u8")
    estimates = np.empty(len(probe.segment.live), np.float32)
    sketch_kernels.estimate_by_signs(
        probe.sketch.signs, planes, int(entries.sum()), probe.sketch.lengths, probe.segment.live, scale,
        estimates, counts,
    )  # fmt: skip
    return estimates


def _looks(probes: Sequence[Probe], docs: Sequence[np.ndarray], depth: int) -> tuple[list[Look], float]:
    """Return `docs` with estimates of their scores, and a threshold that at least `depth` of the estimates reach.

    `docs` has, for each probe, documents of the probe's segment.
    """
    from sublex.representations import sketch_kernels

    counts, looks = np.zeros(sketch_kernels.BUCKETS, np.int64), []
    for probe, own in zip(probes, docs, strict=True):
        looks.append(Look(probe, own, np.empty(len(own), np.float32)))
        sketch = probe.sketch
        sketch_kernels.estimate(sketch.codes, probe.codes, sketch.scales, own, probe.scale, looks[-1].estimates, counts)
    return looks, _edge(counts, depth)


def _edge(counts: np.ndarray, depth: int) -> float:
    """Return a threshold that `depth` of the estimates counted in `counts`, or a few more, reach.

    Return -inf if fewer than `depth` estimates were counted.
    """
    bucket = len(counts) - 1 - int(np.searchsorted(np.cumsum(counts[::-1]), depth))
    # NumPy rounds the value to float32 when it compares it with estimates, and the kernel `reaching` does not. Rounded here, both agree.
    return float(np.float32(bucket * 4.0 / len(counts) - 2.0 - SLACK)) if bucket > 0 else -inf


def _reaching(look: Look, edge: float, least: float, share: float) -> np.ndarray:
    """Return the documents with estimates below `edge` whose scores may be `least` or more.

    Errors of estimates are taken to be at most `share` times their bounds.
    """
    from sublex.representations import sketch_kernels

    chosen, probe = np.empty(len(look.docs), np.int64), look.probe
    count = sketch_kernels.reaching(
        look.estimates, look.docs, edge, probe.sketch.errors, probe.sketch.tails,
        share * probe.norm, share * probe.tail, share * probe.slack, least, chosen,
    )  # fmt: skip
    return _numbers(look, chosen[:count])


def _numbers(look: Look, docs: np.ndarray) -> np.ndarray:
    """Return the numbers that documents of a segment have in the index."""
    numbers: np.ndarray = look.probe.segment.base + docs
    return numbers
