"""The encoder `tokens`: it looks up a stored weight for each piece of a query, as inference-free SPLADE does.

Documents are encoded by a model, and queries by a table. Z. Geng et al., Towards competitive search relevance for
inference-free learned sparse retrievers, 2024, arXiv:2411.04403; C. Lassance and S. Clinchant, An efficiency study for
SPLADE models, SIGIR 2022.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from sublex.contracts.encoders import Encoded
from sublex.errors import InputError
from sublex.tools.messages import counted
from sublex_neural.files import ModelFolder, identity_of, read_json, refuse_pickle
from sublex_neural.safetensors import read_arrays
from sublex_neural.wordpiece import WordPiece, read_wordpiece

# The name of the table of weights in the models of OpenSearch.
TABLE = "idf.json"
# Increased when the same files and texts give other weights.
VERSION = 1


class TokensEncoder:
    """An encoder of queries: each piece of a query has its weight from a table, however often it occurs.

    The table is a JSON object of pieces with their weights, by default `idf.json` of the folder, or a safetensors file
    with one array that has the weight of each piece. Pieces without a weight, or with the weight 0, are left out.
    """

    kind = "sparse"

    def __init__(self, folder: str, weights: str | None = None):
        self.folder, self.table = folder, weights

    @cached_property
    def _files(self) -> ModelFolder:
        return ModelFolder(self.folder)

    @cached_property
    def _tokenizer(self) -> WordPiece:
        return read_wordpiece(self._files)

    @cached_property
    def _weights(self) -> np.ndarray:
        """The weight of each piece, as float32."""
        if self.table is not None:
            refuse_pickle(self.table)
            path = os.path.expanduser(self.table)
        elif self._files.has(TABLE):
            path = self._files.place(TABLE)
        else:
            raise self._files.no_model(TABLE, 'Name the table of weights, as in weights="idf.json".')
        weights = self._of_arrays(path) if path.endswith(".safetensors") else self._of_json(path, read_json(path))
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InputError(f"{path} gives a piece a weight that is negative or no finite number.")
        weights[[self._tokenizer.numbers[special] for special in self._tokenizer.specials]] = 0
        return weights

    def _of_json(self, path: str, table: Any) -> np.ndarray:
        numbers = self._tokenizer.numbers
        if not isinstance(table, dict) or not all(type(weight) in (int, float) for weight in table.values()):
            raise InputError(f"{path} holds no object of pieces with their weights.")
        strange = [piece for piece in table if piece not in numbers]
        if strange:
            raise InputError(
                f"{path} has a weight for {strange[0][:40]!r}, which is no piece of the tokenizer of {self.folder}; "
                "name the table of this tokenizer."
            )
        weights = np.zeros(len(self._tokenizer.pieces), np.float32)
        # A whole number in JSON may be too large for float32.
        found = [min(weight, 1e300) for weight in table.values()]
        with np.errstate(over="ignore"):
            weights[[numbers[piece] for piece in table]] = found
        return weights

    def _of_arrays(self, path: str) -> np.ndarray:
        arrays, pieces = read_arrays(path), len(self._tokenizer.pieces)
        if len(arrays) != 1 or any(each.shape != (pieces,) or each.dtype.kind != "f" for each in arrays.values()):
            raise InputError(
                f"{path} holds no array of {counted(pieces, 'weight')}, one for each piece of the tokenizer."
            )
        with np.errstate(over="ignore"):
            return next(iter(arrays.values())).astype(np.float32)

    @cached_property
    def identity(self) -> str:
        """A hash of the weights and the tokenizer."""
        return identity_of("tokens", VERSION, self._tokenizer.identity, self._weights.tobytes().hex())

    def encode(self, texts: Sequence[str], role: str) -> Encoded:
        """Return the weights of queries. A row depends on its text alone. Raise `InputError` for documents."""
        from scipy.sparse import csr_array

        if role != "query":
            raise InputError(
                f"tokens({self.folder}) encodes queries alone; encode the documents by the model that it belongs to."
            )
        weights = self._weights
        rows = [sorted({piece for piece in self._tokenizer.encode(text) if weights[piece]}) for text in texts]
        columns = np.unique(np.array([piece for row in rows for piece in row], np.int64))
        pieces = np.array([piece for row in rows for piece in row], np.int64)
        ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        matrix = csr_array((weights[pieces], np.searchsorted(columns, pieces), ends), shape=(len(rows), len(columns)))
        return Encoded(matrix, [self._tokenizer.pieces[piece] for piece in columns.tolist()])

    def about(self) -> Mapping[str, str]:
        """Return a name of what computes the weights."""
        return {"runtime": "a table of weights"}
