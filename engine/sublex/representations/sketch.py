"""Sketches: the vectors of a segment's documents in 8 bits an entry, with bounds of their errors, and their signs in some directions.

A sketch is made for a representation whose scores are cosines, products or squared distances of vectors (`cosines` and
`similarity` of `sublex.contracts.fitted.Representation`). It lets `finding` leave out the documents that cannot be among
the best. The module makes sketches; `sketch_files` keeps them on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.fitted import Representation
from sublex.errors import PluginError, contract
from sublex.index.segment import Segment
from sublex.representations.inputs import size_of
from sublex.representations.rows import checked_rows

# Vectors wider than MOST_ENTRIES are projected on the NARROW directions in which those of a sample differ most. So are those wider
# than NARROW of a representation with `cosines`, if the projection leaves out at most the share LEFT_OUT of the squared norms.
NARROW, MOST_ENTRIES, LEFT_OUT = 256, 4096, 0.1
# The largest magnitude of an entry in 8 bits.
LARGEST_CODE = 127
# A sketch keeps the signs of a vector in as many directions as it has entries, within these limits.
LEAST_SIGNS, MOST_SIGNS = 256, 1024
# The signs in a number, and the seed that chooses the directions.
BITS, SEED = 64, 0
# With a second bit for each sign, a product counts as 1 or 3 steps. A product is large if its magnitude is above this
# number of standard deviations: the step with which two bits say most of normally distributed numbers (J. Max, 1960).
LARGE = 0.9957
# The largest factor of signs. Only vectors that lie across all directions would have a larger one.
LONGEST = 2.0
# The approximate number of documents in the sample that chooses the projection.
SAMPLE = 20_000
# The errors of very short vectors have no bound. A vector shorter than NOISE times the longest may consist of rounding
# errors. A vector shorter than SMALLEST has no exact norm in float32.
NOISE, SMALLEST = 1e-6, float(np.finfo(np.float32).tiny)
# Added to the errors for the rounding of float32.
ROUNDING = 1e-6
# Runs a function on items and yields the results in the order of the items, as `map` does.
Run = Callable[..., Iterator[Any]]
Progress = Callable[[int, int], None]


class Sketch(NamedTuple):
    """The sketch of a segment. Its arrays are in the order of the documents, and hold the following.

    * `codes`: the entries of the document's vector of norm 1, each divided by the document's scale, as whole numbers.
      The vector is projected first if there are directions.
    * `scales`, `errors`: the scale of each document, and a bound of the distance between these entries and the codes
      times the scale. The scale is 0 for a document whose vector is 0.
    * `tails`: a bound of the norm of the part of the vector that the projection leaves out; empty without a projection.
    * `directions`: the orthonormal columns that vectors are projected on; no columns if the vectors are not projected.
    * `frame`: the columns that entries are multiplied with to get signs. Its rows are orthonormal; if it has more rows than
      columns, its columns are.
    * `signs`: for each document and each column of `frame`, a bit that is 1 if their product is positive. Each row has 64
      of these bits for every document.
    * `lengths`: the factor with which the signs, taken as 1 and -1, estimate the document's vector best.
    * `halves`: a second bit for each sign, one row per document. With both bits, a product counts as 4·sign + 2·half - 3
      steps: as 1 or 3 if it is positive, where 3 stands for a large one, and as -1 or -3 if not.
    * `half_lengths`: the factor with which these whole numbers estimate the document's vector best.
    * `norms`: the norm of each document's vector; empty for a representation with `cosines`.
    """

    codes: np.ndarray
    scales: np.ndarray
    errors: np.ndarray
    tails: np.ndarray
    directions: np.ndarray
    frame: np.ndarray
    signs: np.ndarray
    lengths: np.ndarray
    halves: np.ndarray
    half_lengths: np.ndarray
    norms: np.ndarray

    @property
    def width(self) -> int:
        """The number of entries of a vector that is not projected."""
        return len(self.directions)


class VectorSource(NamedTuple):
    """The documents of a segment whose vectors are sketched: the model, its inputs, the segment, and the model's printed form."""

    model: Representation
    inputs: Any
    segment: Segment
    name: str

    def rows(self, block: Any) -> Any:
        """Return the vectors of the documents of a block: a dense array of float64, or sparse rows, such as topics.

        Those of a model with a similarity are dense.
        """
        with contract("representation", self.name):
            vectors = checked_rows(self.model.document_vectors(block), size_of(block), self.name)
            if hasattr(vectors, "indptr") and not similarity_of(self.model):
                return vectors
            if hasattr(vectors, "indptr") or vectors.ndim != 2:
                raise PluginError(
                    f"{self.name} gave document vectors that are not a dense array, one row per document."
                )
            return np.asarray(vectors, np.float64)

    def vectors(self, block: Any) -> np.ndarray:
        """Return the vectors of the documents of a block by a model with a similarity, float64."""
        vectors: np.ndarray = self.rows(block)
        return vectors


def sketch_of(source: VectorSource, run: Run = map, progress: Progress = lambda done, total: None) -> Sketch:
    """Return the sketch of a segment; it is the same for any number of threads that `run` uses."""
    directions = _directions(source, run)
    frame = _frame(directions.shape[1] or len(directions))

    def coded(block: Any) -> tuple[np.ndarray, ...]:
        units, norms = units_of(source.vectors(block))
        entries = projected(units, directions)
        return norms, *_coded(entries, bool(directions.shape[1])), *_signs(entries, frame)

    parts = []
    for part in run(coded, source.inputs.blocks(source.segment)):
        parts.append(part)
        progress(min(len(parts) * len(parts[0][0]), source.segment.docs), source.segment.docs)
    norms, codes, scales, errors, tails, signs, lengths, halves, half_lengths = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    if source.model.cosines:
        errors[norms < max(NOISE * norms.max(initial=0.0), SMALLEST)] = np.inf
    # The projection of a vector that is not 0 may be 0. Its scale must not be, since a scale of 0 marks a document without a vector.
    scales = np.where(norms > 0, np.maximum(scales, np.float32(SMALLEST)), np.float32(0))
    kept = norms[:0] if source.model.cosines else norms
    signs = np.ascontiguousarray(signs.T)
    return Sketch(codes, scales, errors, tails, directions, frame, signs, lengths, halves, half_lengths, kept)


def similarity_of(model: Representation) -> str:
    """Return the similarity of vectors that the scores of a model are: "cosine", "dot" or "l2"; "" for other scores."""
    if model.similarity not in ("", "cosine", "dot", "l2"):
        raise PluginError(f"{type(model).__name__} has the similarity {model.similarity!r}, and not cosine, dot or l2.")
    return "cosine" if model.cosines else model.similarity


def projected(vectors: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return `vectors`, one per row, projected on the columns of `directions`; unchanged if there are no columns.

    A sketch keeps codes of the entries of the result.
    """
    return vectors @ directions if directions.shape[1] else vectors


def units_of(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors scaled to norm 1, where zeros stay zeros, and their norms."""
    # The largest entry becomes 1 first, so that no square is too large or too small for a float.
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scaled = vectors / np.where(largest > 0, largest, 1.0)[:, None]
    norms = np.sqrt((scaled * scaled).sum(axis=1))
    return scaled / np.where(norms > 0, norms, 1.0)[:, None], np.minimum(norms * largest, np.finfo(np.float64).max)


def _directions(source: VectorSource, run: Run) -> np.ndarray:
    """Return the orthonormal columns on which vectors are projected; no columns if they are not."""
    first = next(iter(source.inputs.blocks(source.segment)))
    width = source.vectors(first[:1]).shape[1]
    if width <= (NARROW if source.model.cosines else MOST_ENTRIES):
        return np.zeros((width, 0))
    rows = ceil(SAMPLE * size_of(first) / source.segment.docs)
    sampled = run(lambda block: units_of(source.vectors(block[:rows]))[0], source.inputs.blocks(source.segment))
    sample = np.concatenate(list(sampled))
    squares, directions = np.linalg.eigh(sample.T @ sample)
    if width <= MOST_ENTRIES and squares[:-NARROW].sum() > LEFT_OUT * squares.sum():
        return np.zeros((width, 0))
    return np.ascontiguousarray(directions[:, : -NARROW - 1 : -1])


def _frame(entries: int) -> np.ndarray:
    """Return a random matrix with a row for each entry and a column for each sign: `Sketch.frame`."""
    signs = min(max(ceil(entries / BITS) * BITS, LEAST_SIGNS), MOST_SIGNS)
    spread = np.random.default_rng(SEED).standard_normal((signs, entries))
    return np.ascontiguousarray(np.linalg.qr(spread)[0].T if signs >= entries else np.linalg.qr(spread.T)[0])


def _coded(entries: np.ndarray, is_projected: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the codes, scales, errors and tails of rows of entries, as `Sketch` describes them."""
    scales = (np.abs(entries).max(axis=1) / LARGEST_CODE).astype(np.float32)
    divisors = np.where(scales > 0, scales, np.float32(1)).astype(np.float64)[:, None]
    codes = np.clip(np.rint(entries / divisors), -LARGEST_CODE, LARGEST_CODE).astype(np.int8)
    rest = entries - codes * scales.astype(np.float64)[:, None]
    errors = np.sqrt((rest * rest).sum(axis=1)) + ROUNDING
    tails = np.sqrt(np.maximum(0.0, 1.0 - (entries * entries).sum(axis=1))) + ROUNDING if is_projected else np.zeros(0)
    return codes, scales, errors.astype(np.float32), tails.astype(np.float32)


def _signs(entries: np.ndarray, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the signs of rows of entries and their second bits, 64 to a number, each with factors, as `Sketch` describes them."""
    turned = entries.astype(np.float32) @ frame.astype(np.float32)
    magnitudes, squares = np.abs(turned), (entries * entries).sum(axis=1)
    large = magnitudes > LARGE * np.sqrt((turned * turned).mean(axis=1, keepdims=True))
    positive, sums = turned > 0, magnitudes.sum(axis=1)
    products = sums + 2 * (magnitudes * large).sum(axis=1)
    return *_packed(positive, squares, sums), *_packed(positive == large, squares, products)


def _packed(bits: np.ndarray, squares: np.ndarray, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of bits, 64 to a number, and for each row the quotient of squares and products, or 0."""
    factors = np.divide(squares, products, out=np.zeros(len(products)), where=products > 0)
    return np.packbits(bits, axis=1, bitorder="little").view("<u8"), np.minimum(factors, LONGEST).astype(np.float32)
