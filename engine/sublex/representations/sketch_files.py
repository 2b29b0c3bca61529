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
from sublex.index.format import Folder
from sublex.representations.sketch import LARGEST_CODE, SIGNS, Sketch, Source, sketch_of
from sublex.tools.workers import Workers

# Raise this number when the files of a sketch, or the way to make them, change: sketches of another version are not used.
VERSION = 2
SKETCH = "sketch"
# Segments with fewer documents have no sketch: all their documents are scored.
LEAST_DOCUMENTS = 10_000
# The type of each array on disk, and the array that holds the key.
TYPES = Sketch("|i1", "<f4", "<f4", "<f4", "<f8", "<f8", "<u8", "<f4")  # type: ignore[arg-type]
KEY = "key"


def has_sketch(model: Representation, docs: int) -> bool:
    """Return whether a segment of `docs` documents has a sketch for a model."""
    return model.cosines and docs >= LEAST_DOCUMENTS


def write_sketch(rows: Directory, key: np.ndarray, source: Source, job: Job | None = None) -> Sketch:
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


def read_sketch(rows: Directory, key: np.ndarray, docs: int) -> Sketch | None:
    """Return the sketch of a segment of `docs` documents, or None if there is none that can be used."""
    if (folder := derived.read(rows / SKETCH)) is None:
        return None
    try:
        return _checked(folder, key, docs)
    except (IndexCorrupt, ValueError):
        return None


def key_of(model: FolderEntry, rows: FolderEntry) -> np.ndarray:
    """Return the key of a sketch: a hash of the manifest's entries for the model and for the rows of the segment."""
    parts = [VERSION, model.checksum, rows.checksum]
    return np.frombuffer(xxhash.xxh3_128_digest(json.dumps(parts).encode()), np.uint8)


def _checked(folder: Folder, key: np.ndarray, docs: int) -> Sketch:
    """Return the sketch in a folder; raise `IndexCorrupt` or `ValueError` unless its arrays fit each other."""
    folder.expect(KEY, ("|u1",), len(key))
    if (folder[KEY].all() != key).any():
        raise ValueError("It was made for another model.")
    for name, dtype in TYPES._asdict().items():
        folder.expect(name, (dtype,))
    arrays = Sketch(*(folder[name].all() for name in Sketch._fields))
    entries = len(arrays.codes) // docs
    directions = arrays.directions.reshape(-1, entries) if len(arrays.directions) else np.zeros((entries, 0))
    sketch = arrays._replace(
        codes=arrays.codes.reshape(docs, entries),
        directions=directions,
        frame=arrays.frame.reshape(entries, SIGNS),
        signs=arrays.signs.reshape(-1, docs),
    )
    if not _sound(sketch, docs):
        raise ValueError("Its arrays do not fit each other.")
    return sketch


def _sound(sketch: Sketch, docs: int) -> bool:
    """Return whether kernels may use a sketch of a segment of `docs` documents."""
    tails = docs if sketch.directions.shape[1] else 0
    sizes = (sketch.scales, docs), (sketch.errors, docs), (sketch.lengths, docs), (sketch.tails, tails)
    if sketch.codes.shape[1] == 0 or len(sketch.signs) * 64 != SIGNS or any(len(own) != size for own, size in sizes):
        return False
    # Products of codes with a query fit into 32 bits, and estimates are finite.
    limits = (sketch.scales, 1.0), (sketch.tails, 2.0), (sketch.lengths, 2.0), (sketch.errors, np.inf)
    return bool(
        all((values >= 0).all() and (values <= most).all() for values, most in limits)
        and all((np.abs(columns) <= 2.0).all() for columns in (sketch.directions, sketch.frame))
        and int(sketch.codes.min()) >= -LARGEST_CODE
    )
