"""Vectors of queries for a representation of vectors that a user gave to documents.

The user gives the queries' vectors too, or an encoder computes them. The expression may name the encoder. Otherwise it
is the encoder whose hash the index stores beside the vectors. An index names no path; `language/known_encoders.py` has
the user's own list of paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from sublex.contracts.base import GivenVectors, Query
from sublex.contracts.encoders import Encoded, Encoder
from sublex.errors import InputError, warn
from sublex.index.entries import VectorsEntry
from sublex.language.encoding import encoded, identity_of
from sublex.language.known_encoders import encoder_by_identity
from sublex.language.plugins import Component, Registry
from sublex.tools.messages import Message

# Characters of a long query that a message shows.
SHOWN = 40


class QueryEncoder:
    """The encoder of queries for the vectors `name` of an index. `entry` is the manifest's entry for them.

    `component` is the encoder that the expression names, or None. With `other`, its hash may differ from the hash in
    the entry. The encoder is made when it is first needed, and only one thread at a time calls it.
    """

    def __init__(self, name: str, entry: VectorsEntry, component: Component | None, other: bool, registry: Registry):
        self._name, self._entry, self._component, self._other = name, entry, component, other
        self._registry, self._lock = registry, Lock()
        self._made: tuple[Any, Encoder] | None = None
        self._has_warned = False

    @property
    def about(self) -> str:
        """The words "queries by" and the hash of the encoder that the index records, for metadata.

        "" if the index records none, or if the expression names an encoder.
        """
        return "" if self._component is not None or not self._entry.encoder else f"queries by {self._entry.encoder}"

    def given(self, query: Query) -> Query:
        """Return a query with its vector. A vector that the user gives takes precedence."""
        if not self.encodes(query):
            return query
        asked, found = query.given, self._encoded([query.text], "query")
        if found.cut:
            self._warn(query.text)
        rows: Any = found.rows
        tokens: dict[str, Sequence[str]] = {}
        if self._entry.kind == "sparse":
            # A row of weights has the terms of its columns beside it.
            rows = found.rows.data  # type: ignore[union-attr]
            tokens[self._name] = [found.terms[column] for column in found.rows.indices.tolist()]  # type: ignore[union-attr]
        elif found.sizes is None:
            rows = found.rows[0]
        elif found.terms:
            tokens[self._name] = found.terms
        vectors = {**(asked or {}), self._name: rows}
        return query._replace(given=GivenVectors(vectors, tokens={**(asked.tokens if asked else {}), **tokens}))

    def _warn(self, text: str) -> None:
        """Warn of the first query that is longer than the encoder reads."""
        with self._lock:
            has_warned, self._has_warned = self._has_warned, True
        if not has_warned and self._made:
            warn(
                [
                    f"{self._made[0]} left out the end of the query {text[:SHOWN].strip()}…, which is longer than the model "
                    "reads; others like it are cut without a warning."
                ]
            )

    def encodes(self, query: Query) -> bool:
        """Return whether an encoder computes the vector of a query: there is one, and the user gives no vector."""
        asked = query.given
        is_given = asked is not None and (self._name in asked or self._name in asked.unknown)
        return not is_given and (self._component is not None or bool(self._entry.encoder))

    def documents(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts, encoded like documents, one in each row."""
        rows: np.ndarray = self._encoded(texts, "document").rows  # type: ignore[assignment]
        return rows

    def _encoded(self, texts: Sequence[str], role: str) -> Encoded:
        with self._lock:
            name, encoder = self._made = self._made or self._make()
            found = encoded(encoder, name, texts, role)
        if encoder.kind != self._entry.kind:
            raise InputError(f"{name} gives {encoder.kind} vectors, and {self._name} are {self._entry.kind} vectors.")
        return found

    def _make(self) -> tuple[Any, Encoder]:
        if self._component is None:
            return encoder_by_identity(self._entry.encoder, self._registry)
        if getattr(self._component, "kind", "") != "encoder":
            raise InputError(
                f'{self._component} is no encoder; name one, as in {self._entry.kind}({self._name}, encoder=onnx("FOLDER")).'
            )
        made: Encoder = self._component.make()
        known = self._entry.encoder
        if known and not self._other and identity_of(made, self._component) != known:
            raise InputError(
                Message(
                    f"{self._component} is not the encoder of the vectors {self._name}, whose hash is {known[:16]}; "
                    "take that one, or write other_encoder=true to use this one all the same."
                )
            )
        return self._component, made
