"""The reranker `cross`: scores documents by an encoder that reads a query and a document together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex_neural.files import identity_of


class Cross:
    """A reranker that calls the method `score_pairs` of an encoder, in batches of `batch` documents.

    The text of a document is its title, a newline and its text. If query and text together are longer than the model
    reads, the longer of both is cut first. Explanations say whether the end of a document was left out, and show the
    sentence with the best score of its own.
    """

    sentences = True

    def __init__(self, encoder: Any, batch: int, cache: str | None):
        if getattr(encoder, "kind", "") != "encoder":
            raise InputError(f'cross: {encoder} is no encoder; name one, as in cross(onnx("FOLDER")).')
        self.batch, self.cache, self._encoder = batch, cache, encoder.make()
        if not hasattr(self._encoder, "score_pairs"):
            raise InputError(f'cross: {encoder} scores no pairs; name a cross-encoder, as in cross(onnx("FOLDER")).')

    @property
    def identity(self) -> str:
        """A hash of all that the scores depend on."""
        return identity_of("cross", self._encoder.identity)

    def scores(self, query: str, texts: Sequence[str]) -> np.ndarray:
        """Return the score of each text for the query."""
        return np.asarray(self._encoder.score_pairs(query, texts).scores, np.float64)

    def evidence(self, query: str, text: str) -> Mapping[str, str]:
        """Return a note for the explanation if the end of a document was left out, else nothing."""
        return (
            {"longer than the model reads": "its end was left out"}
            if self._encoder.score_pairs(query, [text]).cut
            else {}
        )
