"""Posting lists of the columns of sparse rows on disk, as derived data beside the rows of their segment.

The manifest and the fingerprint do not include the lists, so they can be deleted. If the lists on disk belong to
another model, or to other deletions, they are not used; lists are then made in memory.
"""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import xxhash

from sublex.contracts.fitted import Representation, Rows
from sublex.errors import IndexCorrupt, PluginError, SublexError, contract
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import ComponentFolder
from sublex.retrieval.weight_lists import WeightLists

# Raise this number when the files of lists, or the way to make them, change. Lists of another version are not used.
VERSION = 1
LISTS, KEY = "lists", "key"
# With fewer weights, lists are made in memory, which takes no longer than reading them.
LEAST_WEIGHTS = 1 << 18


def has_lists(model: Representation, rows: Rows) -> bool:
    """Return whether the lists of rows of a model are kept on disk."""
    return model.sums and hasattr(rows, "indptr") and rows.nnz >= LEAST_WEIGHTS


def weights_of(model: Representation, rows: Rows, name: str) -> Rows:
    """Return the weights of documents that a model reads from their rows, checked.

    `name` names the model in messages.
    """
    with contract("representation", name):
        weights = model.posting_weights(rows)
        sound = hasattr(weights, "indptr") and weights.dtype == np.float32 and weights.has_canonical_format
        if not sound or weights.shape != rows.shape:
            raise PluginError("it gave weights that are no sparse rows of float32 with the columns of the rows")
        if not (np.isfinite(weights.data).all() and (weights.data > 0).all()):
            raise PluginError("it gave a weight that is not above 0, or no finite number")
        return weights


def key_of(model: FolderEntry, rows: FolderEntry, dead: np.ndarray) -> np.ndarray:
    """Return the key of valid lists: a hash of the manifest's entries for model and rows, and of `dead`."""
    parts = [VERSION, model.checksum, rows.checksum, xxhash.xxh3_128_hexdigest(np.packbits(dead).tobytes())]
    return np.frombuffer(xxhash.xxh3_128_digest(json.dumps(parts).encode()), np.uint8)


def write_lists(rows: Directory, key: np.ndarray, lists: WeightLists) -> None:
    """Store the lists of a segment in the folder of the segment's rows. Without them, they are made in memory."""
    with suppress(SublexError):
        derived.write(rows / LISTS, {KEY: key, **lists.arrays()})


def read_lists(rows: Directory, key: np.ndarray) -> ComponentFolder | None:
    """Return the folder with the lists of a segment, or None if no lists have this key. `WeightLists` checks the lists."""
    folder = derived.read(rows / LISTS)
    if folder is None:
        return None
    try:
        folder.expect(KEY, ("|u1",), len(key))
        return folder if (folder[KEY].all() == key).all() else None
    except (IndexCorrupt, KeyError):
        return None
