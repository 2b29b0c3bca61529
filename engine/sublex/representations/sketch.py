"""Sketches: the vectors of a segment's documents in 8 bits an entry, with bounds of their errors, in clusters of similar documents.

A sketch is made for a representation whose scores are cosines (`cosines` of `sublex.fitted.Representation`). It lets `finding` leave out
the documents that cannot be among the best. The module makes sketches; `sketch_files` keeps them on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, isqrt
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import PluginError, contract
from sublex.estimators.blocks import spans
from sublex.fitted import Representation
from sublex.index.segment import Segment
from sublex.representations.inputs import size_of
from sublex.representations.rows import checked_rows

# Entries of a vector in a sketch. Wider vectors are projected on the directions in which those of a sample differ most.
MOST_ENTRIES = 256
# The largest magnitude of an entry in 8 bits.
LARGEST_CODE = 127
# Documents of the sample per cluster, and rounds of k-means.
SAMPLE, ROUNDS = 48, 6
# A vector shorter than this share of the longest may be what rounding left of larger vectors, and one shorter than any normal float32 has
# no exact norm in float32: their errors have no bound.
NOISE, SMALLEST = 1e-6, float(np.finfo(np.float32).tiny)
# Added to the errors for the rounding of float32.
ROUNDING = 1e-6
# Runs a function on items and yields the results in the order of the items, as `map` does.
Run = Callable[..., Iterator[Any]]
Progress = Callable[[int, int], None]


class Sketch(NamedTuple):
    """The sketch of a segment. A place stands for a document; the places of a cluster are side by side.

    * `docs`: the document at each place. Documents whose vector is 0 have no place.
    * `codes`: the entries of the document's vector of norm 1, each divided by the document's scale, as whole numbers.
    * `scales`, `errors`: the scale of each place, and a bound of the distance between the vector and its codes times the scale.
    * `tails`: a bound of the norm of what the projection leaves out; empty without a projection.
    * `starts`: where each cluster's places start, and the number of places.
    * `means`, `variances`: of the entries of each cluster's vectors.
    * `directions`: the orthonormal columns that vectors are projected on; no columns if the vectors are not projected.
    """

    docs: np.ndarray
    codes: np.ndarray
    scales: np.ndarray
    errors: np.ndarray
    tails: np.ndarray
    starts: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    directions: np.ndarray

    @property
    def width(self) -> int:
        """The number of entries of a vector that is not projected."""
        return len(self.directions)


class Source(NamedTuple):
    """The documents of a segment whose vectors are sketched: the model, its inputs, the segment, and the model's printed form."""

    model: Representation
    inputs: Any
    segment: Segment
    name: str

    def vectors(self, block: Any) -> np.ndarray:
        """Return the vectors of the documents of a block, float64."""
        with contract("representation", self.name):
            vectors = checked_rows(self.model.document_vectors(block), size_of(block), self.name)
            if hasattr(vectors, "indptr") or vectors.ndim != 2:
                raise PluginError(
                    f"{self.name} gave document vectors that are not a dense array, one row per document."
                )
            return np.asarray(vectors, np.float64)


def sketch_of(source: Source, run: Run = map, progress: Progress = lambda done, total: None) -> Sketch:
    """Return the sketch of a segment; it is the same for any number of threads that `run` uses."""
    clusters = max(1, isqrt(source.segment.docs))
    blocks = max(1, ceil(source.segment.docs / size_of(next(iter(source.inputs.blocks(source.segment))))))
    rows = ceil(SAMPLE * clusters / blocks)
    sampled = run(lambda block: _units(source.vectors(block[:rows]))[0], source.inputs.blocks(source.segment))
    sample = np.concatenate(list(sampled))
    directions = _directions(sample[sample.any(axis=1)])
    middles = _middles(projected(sample, directions), clusters)

    def coded(block: Any) -> tuple[np.ndarray, ...]:
        units, norms = _units(source.vectors(block))
        entries = projected(units, directions)
        return norms, _nearest(entries, middles), *_coded(entries, bool(directions.shape[1]))

    parts = []
    for part in run(coded, source.inputs.blocks(source.segment)):
        parts.append(part)
        progress(min(len(parts) * len(parts[0][0]), source.segment.docs), source.segment.docs)
    norms, nearest, codes, scales, errors, tails = (np.concatenate(part) for part in zip(*parts, strict=True))
    errors[norms < max(NOISE * norms.max(initial=0.0), SMALLEST)] = np.inf
    known = np.flatnonzero(norms)
    docs = known[np.argsort(nearest[known], kind="stable")]
    sizes = np.bincount(nearest[known], minlength=len(middles))
    starts = np.append(0, np.cumsum(sizes[sizes > 0]))
    codes, scales, errors = codes[docs], scales[docs], errors[docs]
    moments = _moments(codes, scales, starts)
    tails = tails[docs] if len(tails) else tails
    return Sketch(docs.astype(np.int32), codes, scales, errors, tails, starts, *moments, directions)


def projected(vectors: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the entries of vectors, one row each, that codes stand for."""
    return vectors @ directions if directions.shape[1] else vectors


def _units(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors scaled to norm 1, where zeros stay zeros, and their norms."""
    # The largest entry becomes 1 first, so that no square is too large or too small for a float.
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)[:, None]
    norms = np.sqrt((scaled * scaled).sum(axis=1))
    return scaled / np.where(norms > 0, norms, 1.0)[:, None], np.minimum(norms * largest, np.finfo(np.float64).max)


def _directions(sample: np.ndarray) -> np.ndarray:
    """Return the orthonormal columns in whose span most of the sample lies, widest first; none for vectors that are narrow enough."""
    width = sample.shape[1]
    if width <= MOST_ENTRIES:
        return np.zeros((width, 0))
    _, directions = np.linalg.eigh(sample.T @ sample)
    return np.ascontiguousarray(directions[:, : -MOST_ENTRIES - 1 : -1])


def _coded(entries: np.ndarray, projected: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the codes, scales, errors and tails of rows of entries."""
    scales = (np.abs(entries).max(axis=1) / LARGEST_CODE).astype(np.float32)
    divisors = np.where(scales > 0, scales, np.float32(1)).astype(np.float64)[:, None]
    codes = np.clip(np.rint(entries / divisors), -LARGEST_CODE, LARGEST_CODE).astype(np.int8)
    rest = entries - codes * scales.astype(np.float64)[:, None]
    errors = np.sqrt((rest * rest).sum(axis=1)) + ROUNDING
    tails = np.sqrt(np.maximum(0.0, 1.0 - (entries * entries).sum(axis=1))) + ROUNDING if projected else np.zeros(0)
    return codes, scales, errors.astype(np.float32), tails.astype(np.float32)


def _middles(sample: np.ndarray, number: int) -> np.ndarray:
    """Return the directions of the middles of clusters of a sample, by k-means that starts with documents spread over the sample."""
    sample = sample[sample.any(axis=1)].astype(np.float32)
    if not len(sample):
        return np.zeros((1, sample.shape[1]), np.float32)
    middles = sample[np.linspace(0, len(sample) - 1, min(number, len(sample))).astype(np.int64)]
    for _ in range(ROUNDS):
        nearest = np.concatenate([_nearest(sample[span], middles) for span in spans(len(sample))])
        order = np.argsort(nearest, kind="stable")
        used, starts = np.unique(nearest[order], return_index=True)
        # A cluster that has lost all its documents keeps its place.
        middles[used] = _units(np.add.reduceat(sample[order], starts))[0]
    return middles


def _nearest(entries: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """Return the number of the cluster of each row of entries."""
    return (entries.astype(np.float32) @ middles.T).argmax(axis=1)


def _moments(codes: np.ndarray, scales: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and the variances of the entries in each cluster."""
    moments = np.zeros((2, len(starts) - 1, codes.shape[1]), np.float32)
    for cluster, (begin, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        entries = codes[begin:end] * scales[begin:end, None]
        moments[:, cluster] = entries.mean(axis=0), entries.var(axis=0)
    return moments[0], moments[1]
