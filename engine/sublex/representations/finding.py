"""Finding the best documents for a query by the sketches of their vectors, without scoring all documents.

Scores are cosines, products or squared distances of vectors. A document's value is its score, scaled to lie between -1
and 1 as `probes.Measure` says. A sketch gives an estimate of each value with a bound of its error. Documents with high
estimates are scored first. Then every other document is scored whose estimate plus the bound reaches the lowest score
of the best so far. So the results are equal to the results of scoring all documents. `find=approximate` first makes a
rough estimate of each value from signs alone, and goes on with the documents whose rough estimates are high.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from sublex.contracts.scores import NO_OPINION
from sublex.representations.probes import LEAST_SAMPLE, SLACK, Probe, SketchedSegment, highest, measure_of, probe_of
from sublex.representations.sifting import likely

# `find=approximate` assumes that errors are at most this share of their bounds.
LIKELY = 0.5
# From the sample of a segment, exact finding estimates the values of this number of documents for each wanted document.
OF_SAMPLE = 16
# If more than this share of all documents is wanted, all documents are scored.
MOST_WANTED = 0.25
# A function that returns the scores of documents, given by their numbers in the index.
Score = Callable[[np.ndarray], np.ndarray]


class Look(NamedTuple):
    """Some documents of a segment, with the estimates of their values."""

    probe: Probe
    docs: np.ndarray
    estimates: np.ndarray


def find(
    segments: Sequence[SketchedSegment], query: np.ndarray, score: Score, depth: int, exact: bool, similarity: str
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the numbers and scores of some documents: the `depth` live documents with the highest scores, and others.

    `query` is the query's vector, `score` returns the scores of documents, and `similarity`, one of "cosine", "dot" and
    "l2", says what scores are. Documents that tie with the last of the `depth` best are in the result, too. Without
    `exact`, a few of the best documents may be missing. Return None if it is better to score all documents.
    """
    largest = float(np.abs(query).max(initial=0.0))
    docs, sketched = sum(len(segment.dead) for segment in segments), [s for s in segments if s.sketch]
    if largest == 0 or depth > MOST_WANTED * docs or not sketched:
        return None
    # The largest entry becomes 1 first, so that no square is too large or too small for a float.
    norm = float(np.linalg.norm(query / largest))
    measure = measure_of(similarity, norm * largest, max(segment.longest for segment in sketched))
    if measure is None:
        return None
    unit = query / largest / norm
    probes = [probe_of(segment, segment.sketch, unit, measure) for segment in sketched if segment.sketch]
    others = [segment.base + segment.docs for segment in segments if not segment.sketch]
    if not exact:
        looks = [
            Look(probe, docs, probe.estimates(docs)) for probe, docs in zip(probes, likely(probes, depth), strict=True)
        ]
        return _scored(looks, others, probes, score, depth, LIKELY)[:2]
    floor = _reached(probes, depth)
    docs_found, scores, least = _scored(_looks(probes, floor), others, probes, score, depth, 1.0)
    if least < floor:
        # Documents of the sample have no score, or a lower one than their vectors say. So `floor` was too high.
        docs_found, scores, _ = _scored(_looks(probes, -inf), others, probes, score, depth, 1.0)
    return docs_found, scores


def _scored(
    looks: Sequence[Look], others: Sequence[np.ndarray], probes: Sequence[Probe], score: Score, depth: int, share: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Score `others`, which have no estimates, and those documents of `looks` that may be among the `depth` best.

    Return the documents and their scores, and the value of the last of the `depth` best. The error of an estimate is
    taken to be at most `share` times its bound.
    """
    edge = highest(np.concatenate([look.estimates for look in looks]), depth)
    first = np.concatenate([*others, *(_numbers(look, look.docs[look.estimates >= edge]) for look in looks)])
    scores = score(first)
    least = np.partition(scores, len(scores) - depth)[len(scores) - depth] if len(scores) >= depth else NO_OPINION
    # Scores are rounded to float32, and a document may tie with `least` by rounding up.
    value = float(np.nextafter(np.float32(least), np.float32(-inf))) / probes[0].measure.unit
    second = np.concatenate([*(_reaching(look, edge, value, share) for look in looks), *_zeros(probes, value)])
    return np.concatenate([first, second]), np.concatenate([scores, score(second)]), value


def _zeros(probes: Sequence[Probe], least: float) -> list[np.ndarray]:
    """Return the documents of segments whose vector is 0, by their numbers in the index.

    Leave out segments where the value of such a document is surely below `least`.
    """
    from sublex.representations import sketch_kernels

    return [
        probe.segment.base + probe.segment.zeros
        for probe in probes
        if probe.measure.has_norms and probe.measure.offset * (1 - SLACK) + sketch_kernels.UNDERFLOW >= least
    ]


def _looks(probes: Sequence[Probe], least: float) -> list[Look]:
    """Return the live documents whose value may be `least` or more, with their estimates."""
    from sublex.representations import sketch_kernels

    looks = []
    for probe in probes:
        size, sketch = len(probe.segment.live), probe.sketch
        chosen, estimates = np.empty(size + 1, np.int64), np.empty(size + 1, np.float32)
        count = sketch_kernels.estimate_all(
            sketch.codes, probe.codes, sketch.scales, probe.segment.live, probe.scale, sketch.errors, sketch.tails,
            probe.norms, probe.measure.numbers, (probe.norm, probe.tail, probe.slack, SLACK), least, chosen, estimates,
        )  # fmt: skip
        looks.append(Look(probe, chosen[:count].copy(), estimates[:count].copy()))
    return looks


def _reached(probes: Sequence[Probe], depth: int) -> float:
    """Return a lower bound of the `depth`-th highest value, from samples; -inf if they have too few documents."""
    from sublex.representations import sketch_kernels

    lowest = []
    for probe in probes:
        sketch, docs = probe.sketch, probe.segment.sample.docs
        docs = np.ascontiguousarray(docs[:: max(1, len(docs) // max(LEAST_SAMPLE, OF_SAMPLE * depth))])
        lowest.append(probe.estimates(docs))
        sketch_kernels.lower(
            lowest[-1], docs, sketch.errors, sketch.tails, probe.norms, probe.measure.numbers,
            (probe.norm, probe.tail, probe.slack, SLACK),
        )  # fmt: skip
    return highest(np.concatenate(lowest), depth) - SLACK


def _reaching(look: Look, edge: float, least: float, share: float) -> np.ndarray:
    """Return the documents with estimates below `edge` whose values may be `least` or more.

    They are given by their numbers in the index. The error of an estimate is taken to be at most `share` times its
    bound.
    """
    from sublex.representations import sketch_kernels

    chosen, probe = np.empty(len(look.docs), np.int64), look.probe
    count = sketch_kernels.reaching(
        look.estimates, look.docs, edge, probe.sketch.errors, probe.sketch.tails, probe.norms, probe.measure.numbers,
        (share * probe.norm, share * probe.tail, share * probe.slack, share * SLACK), least, chosen,
    )  # fmt: skip
    return _numbers(look, chosen[:count])


def _numbers(look: Look, docs: np.ndarray) -> np.ndarray:
    """Return the numbers that documents of a segment have in the index."""
    numbers: np.ndarray = look.probe.segment.base + docs
    return numbers
