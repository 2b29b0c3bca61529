"""The encoder `static`: the mean of stored vectors of a text's pieces, as model2vec makes them. It needs NumPy alone.

S. Tulkens and T. van Dongen, Model2Vec: Fast state-of-the-art static embeddings, 2024,
https://github.com/MinishLab/model2vec.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from sublex.contracts.encoders import Encoded
from sublex.errors import InputError
from sublex.tools.messages import counted
from sublex_neural.files import ModelFolder, identity_of
from sublex_neural.safetensors import read_arrays
from sublex_neural.wordpiece import WordPiece, read_wordpiece

MODEL = "model.safetensors"
# The names of the vectors in the files of model2vec and of sentence-transformers.
NAMES = ("embeddings", "embedding.weight")
# Increased when the same files and texts give other vectors.
VERSION = 1
# The number of pieces that model2vec reads of a text, if its settings do not state one.
LENGTH = 512


class StaticEncoder:
    """An encoder that returns the mean of stored vectors: one for each piece of a text.

    The folder has `model.safetensors`, `tokenizer.json` and `config.json`. Unknown words are left out. A text without a
    known piece gets a vector of zeros.
    """

    kind = "dense"

    def __init__(self, folder: str, normalise: bool | None = None, length: int | None = None):
        self.folder, self.given = folder, (normalise, length)

    @cached_property
    def _files(self) -> ModelFolder:
        found = ModelFolder(self.folder)
        if not found.has(MODEL):
            raise found.no_model(MODEL, "Save the model by model2vec's save_pretrained.")
        return found

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return read_wordpiece(self._files)

    @cached_property
    def _settings(self) -> tuple[bool, int | None]:
        """Whether vectors are scaled to length 1, and the number of pieces that are read of a text, None for all."""
        config, (normalise, length) = self._files.json("config.json"), self.given
        stored = config.get("max_length", LENGTH)
        if stored is not None and (type(stored) is not int or stored < 1):
            raise InputError(
                f"{os.path.join(self._files.path, 'config.json')} has a max_length that is no number of pieces."
            )
        return bool(config.get("normalize", False)) if normalise is None else normalise, length or stored

    @cached_property
    def identity(self) -> str:
        """A hash of the vectors, the tokenizer and the settings."""
        return identity_of("static", VERSION, self._files.hash(MODEL), self._tokenizer.identity, *self._settings)

    @cached_property
    def _vectors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The vectors, the number of each piece's vector, and the weight of each piece (None if all are 1)."""
        path = self._files.place(MODEL)
        arrays, pieces = read_arrays(path), len(self._tokenizer.pieces)
        vectors = next((arrays[name] for name in NAMES if name in arrays), None)
        if vectors is None or vectors.ndim != 2 or vectors.dtype.kind not in "fi" or not vectors.shape[1]:
            raise InputError(f"{path} has no array {NAMES[0]} of two dimensions; it is no model of model2vec.")
        places, weights = arrays.get("mapping", np.arange(pieces)), arrays.get("weights")
        if (
            places.shape != (pieces,)
            or places.dtype.kind not in "iu"
            or (weights is not None and weights.shape != (pieces,))
        ):
            raise InputError(
                f"{path} does not fit its tokenizer, which has {counted(pieces, 'piece')}; save both together."
            )
        if "mapping" not in arrays and len(vectors) != pieces:
            raise InputError(
                f"{path} has {counted(len(vectors), 'vector')}, and its tokenizer {counted(pieces, 'piece')}; save both together."
            )
        if len(places) and not 0 <= places.min() <= places.max() < len(vectors):
            raise InputError(f"{path} maps a piece to a vector that it does not have.")
        return vectors, places, weights

    def limit(self, memory: int) -> None:
        """Refuse a model whose vectors take more than `memory` bytes."""
        vectors = self._vectors[0]
        if vectors.nbytes > memory:
            raise InputError(f"{self.folder} has {vectors.nbytes:,} bytes of vectors, more than --memory allows.")

    def encode(self, texts: Sequence[str], role: str) -> Encoded:
        """Return a row for each text. A row depends on its text alone, so it is the same in any batch."""
        vectors, places, weights = self._vectors
        normalise, length = self._settings
        tokenizer, cut = self._tokenizer, 0
        unknown = tokenizer.numbers[tokenizer.unknown]
        rows = np.zeros((len(texts), vectors.shape[1]), np.float32)
        for row, text in zip(rows, texts, strict=True):
            # A text is cut before its unknown words are left out, as in model2vec.
            pieces = tokenizer.encode(text)
            if length is not None and len(pieces) > length:
                cut, pieces = cut + 1, pieces[:length]
            known = np.array([piece for piece in pieces if piece != unknown], np.int64)
            if not len(known):
                continue
            found = vectors[places[known]].astype(np.float64)
            if weights is not None:
                found *= weights[known].astype(np.float64)[:, None]
            mean = found.mean(axis=0)
            if normalise:
                mean /= np.sqrt(np.sum(mean * mean)) or 1.0
            row[:] = mean
        if not np.isfinite(rows).all():
            raise InputError(f"{self._files.place(MODEL)} has a vector with an entry that is no finite number.")
        return Encoded(rows, cut=cut)

    def about(self) -> Mapping[str, str]:
        """Return the program that computes the vectors."""
        return {"runtime": f"numpy {np.__version__}"}
