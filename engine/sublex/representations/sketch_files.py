"""Sketches on disk, as derived data beside the rows of their segment: they can be deleted, and are made again.

They are outside of the manifest and the fingerprint. A sketch is deleted with the rows when a segment is merged or a
model is forgotten. A sketch that is damaged or made for another model is never used.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from functools import partial

import numpy as np
import xxhash

from sublex.contracts.fitted import Job, Representation
from sublex.errors import IndexCorrupt, SublexError
from sublex.estimators.blocks import one_thread
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import ComponentFolder
from sublex.representations.sketch import (
    BITS,
    LARGEST_CODE,
    LONGEST,
    MOST_ENTRIES,
    MOST_SIGNS,
    Sketch,
    VectorSource,
    similarity_of,
    sketch_of,
)
from sublex.tools.workers import Workers

# Raise this number when the files of a sketch, or the way to make them, change: sketches of another version are not used.
VERSION = 3
SKETCH = "sketch"
# Segments with fewer documents have no sketch: all their documents are scored.
LEAST_DOCUMENTS = 10_000
# The type of each array on disk, and the array that holds the key.
TYPES = Sketch("|i1", "<f4", "<f4", "<f4", "<f8", "<f8", "<u8", "<f4", "<u8", "<f4", "<f8")  # type: ignore[arg-type]
KEY = "key"


def has_sketch(model: Representation, docs: int) -> bool:
    """Return whether a segment of `docs` documents has a sketch for a model."""
    return bool(similarity_of(model)) and docs >= LEAST_DOCUMENTS


def write_sketch(rows: Directory, key: np.ndarray, source: VectorSource, job: Job | None = None) -> Sketch:
    """Make the sketch of a segment and store it in the folder of the segment's rows; return it.

    The threads of the job do the work; without a job, one thread per core. If the sketch cannot be stored, it is still
    returned.
    """
    with one_thread(), Workers(1 if job else os.cpu_count() or 1) as workers:
        sketch = sketch_of(
            source,
            job.map if job else workers.map,
            partial(job.progress, unit="documents") if job else lambda done, total: None,
        )
    with suppress(SublexError):
        derived.write(rows / SKETCH, {KEY: key, **sketch._asdict()})
    return sketch


def read_sketch(rows: Directory, key: np.ndarray, docs: int, has_norms: bool) -> Sketch | None:
    """Return the sketch of a segment of `docs` documents, with or without norms; None if there is none that can be used."""
    if (folder := derived.read(rows / SKETCH)) is None:
        return None
    try:
        return _checked(folder, key, docs, has_norms)
    except (IndexCorrupt, ValueError):
        return None


def key_of(model: FolderEntry, rows: FolderEntry) -> np.ndarray:
    """Return the key of a sketch: a hash of the manifest's entries for the model and for the rows of the segment."""
    parts = [VERSION, model.checksum, rows.checksum]
    return np.frombuffer(xxhash.xxh3_128_digest(json.dumps(parts).encode()), np.uint8)


def _checked(folder: ComponentFolder, key: np.ndarray, docs: int, has_norms: bool) -> Sketch:
    """Return the sketch in a folder; raise `IndexCorrupt` or `ValueError` unless its arrays fit each other."""
    folder.expect(KEY, ("|u1",), len(key))
    if (folder[KEY].all() != key).any():
        raise ValueError("It was made for another model.")
    # Older versions of Sublex wrote no norms, and models with `cosines` need none.
    types = {name: dtype for name, dtype in TYPES._asdict().items() if has_norms or name != "norms"}
    for name, dtype in types.items():
        folder.expect(name, (dtype,))
    arrays = Sketch(**{"norms": np.zeros(0)} | {name: folder[name].all() for name in types})
    entries = len(arrays.codes) // docs
    directions = arrays.directions.reshape(-1, entries) if len(arrays.directions) else np.zeros((entries, 0))
    sketch = arrays._replace(
        codes=arrays.codes.reshape(docs, entries),
        directions=directions,
        frame=arrays.frame.reshape(entries, -1),
        signs=arrays.signs.reshape(-1, docs),
        halves=arrays.halves.reshape(docs, -1),
    )
    if not _sound(sketch, docs, docs if has_norms else 0):
        raise ValueError("Its arrays do not fit each other.")
    return sketch


def _sound(sketch: Sketch, docs: int, norms: int) -> bool:
    """Return whether kernels may use a sketch of a segment of `docs` documents with this number of norms."""
    tails = docs if sketch.directions.shape[1] else 0
    sizes = (
        (sketch.scales, docs),
        (sketch.errors, docs),
        (sketch.lengths, docs),
        (sketch.half_lengths, docs),
        (sketch.tails, tails),
        (sketch.norms, norms),
    )
    entries, signs = sketch.frame.shape
    if not 0 < entries <= MOST_ENTRIES or not 0 < signs <= MOST_SIGNS:
        return False
    if not len(sketch.signs) * BITS == sketch.halves.shape[1] * BITS == signs:
        return False
    if any(len(own) != size for own, size in sizes):
        return False
    # Products of codes with a query fit into 32 bits, and estimates are finite.
    limits = (
        (sketch.scales, 1.0), (sketch.tails, 2.0), (sketch.lengths, LONGEST), (sketch.half_lengths, LONGEST), (sketch.errors, np.inf),
        (sketch.norms, np.finfo(np.float64).max),
    )  # fmt: skip
    return bool(
        all((values >= 0).all() and (values <= most).all() for values, most in limits)
        and all((np.abs(columns) <= 2.0).all() for columns in (sketch.directions, sketch.frame))
        and int(sketch.codes.min()) >= -LARGEST_CODE
    )
