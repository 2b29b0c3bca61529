"""Finding the best documents for a query by the sketches of their vectors, without scoring all documents.

A sketch gives an estimate of each score with a bound of its error. Documents with high estimates are scored first; then those that may
reach the worst of the best. So the documents, scores and ties are those of scoring all. `find=approximate` looks only into the clusters in
which good documents are to be expected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erfc, sqrt
from typing import NamedTuple

import numpy as np

from sublex.representations.sketch import LARGEST_CODE, Sketch, projected
from sublex.scores import NO_OPINION

# `find=approximate` looks at this share of the documents first, and then at more of them until it expects to miss no more than a share
# `MISSED` of those wanted. It takes scores in a cluster to be more spread than they are, by the factor `CAUTION`.
FIRST, MISSED, CAUTION = 0.15, 0.03, 2.0
# Scores differ from cosines by less than this, by the contract of `cosines`.
SLACK = 1e-5
# With more than this share of all documents wanted, all are scored.
MOST_WANTED = 0.25
# Returns the scores of documents.
Score = Callable[[np.ndarray], np.ndarray]


class Sketched(NamedTuple):
    """A segment with its sketch, if it has one: the number of its first document, and which documents are deleted.

    `live` tells whether the document at each place of the sketch is live.
    """

    base: int
    dead: np.ndarray
    sketch: Sketch | None
    live: np.ndarray


def sketched(base: int, dead: np.ndarray, sketch: Sketch | None) -> Sketched:
    """Return a segment, given which of its documents are deleted, with its sketch."""
    return Sketched(base, dead, sketch, np.zeros(0, np.bool_) if sketch is None else ~dead[sketch.docs])


class Probe(NamedTuple):
    """A query as the sketch of a segment compares it: `codes` times `scale` are nearly its `entries`.

    `norm`, `tail` and `slack` bound the errors of estimates, as `kernels.reaching` says.
    """

    segment: Sketched
    sketch: Sketch
    entries: np.ndarray
    codes: np.ndarray
    scale: float
    norm: float
    tail: float
    slack: float


class Look(NamedTuple):
    """Some ranges of places of a segment, with the estimates of their scores; `-inf` for deleted documents."""

    probe: Probe
    begins: np.ndarray
    ends: np.ndarray
    estimates: np.ndarray


def find(
    segments: Sequence[Sketched], query: np.ndarray, score: Score, depth: int, exact: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return documents with their scores; among them are the `depth` live ones with the highest scores, and all that tie with the last.

    Without `exact` a few of them may be missing. Return None if it is better to score all documents.
    """
    from sublex.representations import kernels

    largest = float(np.abs(query).max(initial=0.0))
    docs = sum(len(segment.dead) for segment in segments)
    if largest == 0 or depth > MOST_WANTED * docs or not any(segment.sketch for segment in segments):
        return None
    counts = np.zeros(kernels.BUCKETS, np.int64)
    # The largest entry becomes 1 first, so that no square is too large or too small for a float.
    unit = query / largest / np.linalg.norm(query / largest)
    probes = [_probe(segment, segment.sketch, unit) for segment in segments if segment.sketch]
    if exact:
        looks = [_look(probe, probe.sketch.starts[:1], probe.sketch.starts[-1:], counts) for probe in probes]
    else:
        looks = _near(probes, depth, counts)
    lowest = _bucket(counts, depth)
    others = [segment.base + np.flatnonzero(~segment.dead) for segment in segments if not segment.sketch]
    first = np.concatenate([*others, *(_high(look, lowest) for look in looks)])
    scores = score(first)
    least = np.partition(scores, len(scores) - depth)[len(scores) - depth] if len(scores) >= depth else NO_OPINION
    second = np.concatenate([_reaching(look, lowest, float(least)) for look in looks])
    return np.concatenate([first, second]), np.concatenate([scores, score(second)])


def _probe(segment: Sketched, sketch: Sketch, unit: np.ndarray) -> Probe:
    """Return a query of norm 1 as the sketch of a segment compares it."""
    entries = projected(unit, sketch.directions)
    levels = min(np.iinfo(np.int16).max, np.iinfo(np.int32).max // (LARGEST_CODE * len(entries)))
    scale = max(float(np.abs(entries).max()) / levels, float(np.finfo(np.float32).tiny))
    codes = np.rint(entries / scale)
    # q·x = p·y + the product of what the projection leaves out of both, and p·y - p̂·ŷ = p·(y - ŷ) + (p - p̂)·ŷ.
    lost, norm = float(np.linalg.norm(entries - codes * scale)), float(np.linalg.norm(entries))
    tail = sqrt(max(0.0, 1.0 - norm * norm)) + SLACK
    return Probe(segment, sketch, entries, codes.astype(np.int16), scale, norm + lost, tail, lost + SLACK)


def _look(probe: Probe, begins: np.ndarray, ends: np.ndarray, counts: np.ndarray) -> Look:
    """Return ranges of places with the estimates of their scores, and count these in buckets."""
    from sublex.representations import kernels

    estimates = np.empty(int((ends - begins).sum()), np.float32)
    kernels.estimate(
        probe.sketch.codes, probe.codes, probe.sketch.scales, probe.segment.live, begins, ends, probe.scale,
        estimates, counts,
    )  # fmt: skip
    return Look(probe, begins, ends, estimates)


def _near(probes: Sequence[Probe], depth: int, counts: np.ndarray) -> list[Look]:
    """Return looks at the clusters in which the best documents are to be expected.

    The first looks, at the nearest clusters, tell how high the scores of the best are. In a cluster, scores are taken to be spread as
    a normal distribution.
    """
    from sublex.representations import kernels

    places = sum(len(probe.sketch.docs) for probe in probes)
    looks, others = [], []
    for probe in probes:
        sketch = probe.sketch
        expected = sketch.means @ probe.entries.astype(np.float32)
        spread = CAUTION * np.sqrt(sketch.variances @ (probe.entries * probe.entries).astype(np.float32))
        sizes = np.diff(sketch.starts)
        order = np.argsort(-expected, kind="stable")
        first = int(np.searchsorted(np.cumsum(sizes[order]), FIRST * len(sketch.docs))) + 1
        looks.append(_look(probe, sketch.starts[order[:first]], sketch.starts[order[:first] + 1], counts))
        others.append((probe, order[first:], expected, spread, sizes))
    least = (_bucket(counts, depth) + 1) * 4.0 / kernels.BUCKETS - 2.0
    for probe, clusters, expected, spread, sizes in others:
        heights = (least - expected[clusters]) / np.maximum(spread[clusters], SLACK)
        chances = np.array([erfc(height / sqrt(2)) / 2 for height in heights.tolist()])
        order = np.argsort(-chances, kind="stable")
        missed = np.cumsum((chances * sizes[clusters])[order][::-1])[::-1]
        allowed = MISSED * depth * len(probe.sketch.docs) / places
        chosen = np.sort(clusters[order[missed > allowed]])
        looks.append(_look(probe, probe.sketch.starts[chosen], probe.sketch.starts[chosen + 1], counts))
    return looks


def _bucket(counts: np.ndarray, depth: int) -> int:
    """Return the highest bucket that has, together with those above it, `depth` estimates; 0 if there are fewer in all."""
    reached = np.flatnonzero(np.cumsum(counts[::-1]) >= depth)
    return len(counts) - 1 - int(reached[0]) if len(reached) else 0


def _high(look: Look, lowest: int) -> np.ndarray:
    """Return the documents with estimates in the bucket `lowest` or a higher one."""
    from sublex.representations import kernels

    places = np.empty(len(look.estimates), np.int64)
    count = kernels.in_high_buckets(look.estimates, look.begins, look.ends, lowest, places)
    return _docs(look, places[:count])


def _reaching(look: Look, lowest: int, least: float) -> np.ndarray:
    """Return the documents with lower estimates whose scores may be `least` or more."""
    from sublex.representations import kernels

    places = np.empty(len(look.estimates), np.int64)
    sketch = look.probe.sketch
    count = kernels.reaching(
        look.estimates, look.begins, look.ends, lowest, sketch.errors, sketch.tails,
        look.probe.norm, look.probe.tail, look.probe.slack, least, places,
    )  # fmt: skip
    return _docs(look, places[:count])


def _docs(look: Look, places: np.ndarray) -> np.ndarray:
    """Return the documents at places of a segment, ascending."""
    return look.probe.segment.base + np.sort(look.probe.sketch.docs[places]).astype(np.int64)
