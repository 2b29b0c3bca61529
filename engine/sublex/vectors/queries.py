"""Vectors that a user gives for queries. They are read once, and found by the id of a topic or by the text of a query."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.base import GivenVectors, Query
from sublex.errors import InputError
from sublex.tools import arguments
from sublex.vectors.batch import Repeated, VectorsBatch, expect_numbers, expect_shape, single
from sublex.vectors.given import batches_of
from sublex.vectors.sparse import SparseBatch

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The largest number of characters of a query that a message shows.
SHOWN = 60


class _Named:
    """The vectors, matrices or weights that a user gives for queries under one name. They are found by id or by text.

    `rows` has the rows of each batch. `by_id` and `by_text` have the number of the batch and the place in it.
    """

    def __init__(self, name: str, given: Any, memory: int):
        self.rows: list[np.ndarray] = []
        # For each batch of matrices, by its number: the places where the matrices begin.
        self.starts: dict[int, np.ndarray] = {}
        # For each batch of matrices, by its number: the tokens of its rows.
        self.tokens: dict[int, Sequence[str]] = {}
        self.by_id: dict[str, tuple[int, int]] = {}
        self.by_text: dict[str, tuple[int, int]] = {}
        # The weights of terms of each batch. A column is the number of a term in `_terms`.
        self._weights: list[csr_array] = []
        self._terms = Interner()
        self.place = f"the vectors given for {name}"
        for batch in batches_of(given, None, memory, texts=True):
            self.place = str(given) if isinstance(given, (str, os.PathLike)) else batch.place
            if isinstance(batch, SparseBatch):
                self._take_weights(batch)
                continue
            if self._weights:
                raise InputError(f"{batch.place} has vectors, and those before are weights of terms; give one kind.")
            expect_shape(batch.rows.shape, batch.place)
            expect_numbers(batch.rows.dtype, batch.place)
            if self.rows and batch.rows.shape[1] != self.rows[0].shape[1]:
                raise InputError(f"{batch.place} has vectors of two widths; all must be alike.")
            number = len(self.rows)
            if batch.sizes is None:
                self.rows.append(single(batch.rows, batch.ids, batch.place))
            else:
                rows = single(batch.rows, Repeated(batch.ids, batch.sizes), batch.place)
                self.starts[number] = np.append(0, np.cumsum(batch.sizes))
                self.rows.append(rows)
                self.tokens[number] = batch.tokens
            self._number(batch, number)
        if not self.by_id:
            raise InputError(f"{self.place} holds no vector of a query.")

    def _number(self, batch: VectorsBatch | SparseBatch, number: int) -> None:
        """Keep the place of each query of a batch, by its id and by its text."""
        for place, qid in enumerate(batch.ids):
            if qid in self.by_id:
                raise InputError(f"{batch.place} has a second vector of the query {qid}; give each query one.")
            self.by_id[qid] = number, place
        self.by_text.update((text, (number, place)) for place, text in enumerate(batch.texts))

    def _take_weights(self, batch: SparseBatch) -> None:
        if self.rows:
            raise InputError(f"{batch.place} has weights of terms, and those before are vectors; give one kind.")
        self._terms = batch.terms
        self._number(batch, len(self._weights))
        self._weights.append(batch.rows)

    @property
    def weighs(self) -> bool:
        """Whether weights of terms are given, and not vectors or matrices."""
        return bool(self._weights)

    @cached_property
    def _names(self) -> Sequence[str]:
        """The terms by their numbers."""
        return list(self._terms.strings())

    def find(self, qid: str | None, text: str) -> tuple[np.ndarray, Sequence[str]] | None:
        """Return the vector or matrix of a query, and its tokens. For weights, the tokens are the terms.

        The query is looked up by its id, and then by its text. Return None for an unknown query.
        """
        found = self.by_id.get(qid) if qid is not None else None
        found = found or self.by_text.get(text) or (self.by_id.get(text) if qid is None else None)
        if found is None:
            return None
        batch, place = found
        if self._weights:
            rows = self._weights[batch]
            part = slice(int(rows.indptr[place]), int(rows.indptr[place + 1]))
            names = self._names
            return rows.data[part], [names[column] for column in rows.indices[part].tolist()]
        starts = self.starts.get(batch)
        if starts is None:
            return self.rows[batch][place], ()
        part = slice(int(starts[place]), int(starts[place + 1]))
        return self.rows[batch][part], self.tokens[batch][part]


class QueryVectors:
    """The vectors that a user gives for queries, by the names of the document vectors with which they are compared.

    `given` has for each name a file, a data frame, or another form that `Index.add_vectors` takes.
    """

    def __init__(self, given: Mapping[str, Any], memory: int = 4 << 30):
        if not isinstance(given, Mapping):
            raise InputError(
                f"The queries are {arguments.shown(given)}; give a dictionary such as {{'bge': 'queries.npz'}}."
            )
        self._named = {arguments.text(name, "The name"): _Named(name, each, memory) for name, each in given.items()}

    def of(self, qid: str | None, text: str) -> GivenVectors:
        """Return the vectors that are given for a query. `qid` is the id of its topic, or None for a query without a topic."""
        found = {name: named.find(qid, text) for name, named in self._named.items()}
        unknown = {
            name: f"{self._named[name].place} has no vector of {_shown(qid, text)}"
            for name, known in found.items()
            if known is None
        }
        there = {name: known for name, known in found.items() if known is not None}
        tokens = {name: texts for name, (_, texts) in there.items() if texts or self._named[name].weighs}
        return GivenVectors({name: vector for name, (vector, _) in there.items()}, unknown, tokens)


def _shown(qid: str | None, text: str) -> str:
    if qid is not None:
        return f"topic {qid}"
    return f'the query "{text if len(text) <= SHOWN else text[:SHOWN] + "…"}"'


def vector_of(query: Query, name: str, component: str, width: int, dimensions: int = 1) -> np.ndarray:
    """Return the vector of this width that a user gives for a query. If `dimensions` is 2, return a matrix.

    Raise InputError if the user gives none, or one of another shape. `component` names the component that needs it.
    """
    if query.given is not None and name in query.given:
        vector: np.ndarray = query.given[name]
        if query.given.weighs(name):
            what = "vector" if dimensions == 1 else "matrix"
            raise InputError(f"{component} needs a {what} of the query, and {name} has weights of terms of it.")
        what, other = ("vector", "matrix") if dimensions == 1 else ("matrix", "vector")
        if vector.ndim != dimensions:
            raise InputError(f"{component} needs a {what} of the query, and {name} has a {other} of it.")
        if vector.shape[-1] != width:
            raise InputError(
                f"The query's {what} has {vector.shape[-1]:,} numbers{'' if dimensions == 1 else ' in a row'} where the vectors "
                f"{name} have {width:,}; encode queries by the model that encoded the documents."
            )
        return vector
    raise _missing(query, name, component)


def weights_of(query: Query, name: str, component: str) -> dict[str, float]:
    """Return the weights of terms that a user gives for a query. Raise InputError if there are none.

    `component` names the component that needs them.
    """
    if query.given is not None and name in query.given:
        if not query.given.weighs(name):
            what = "vector" if query.given[name].ndim == 1 else "matrix"
            raise InputError(f"{component} needs weights of terms for the query, and {name} has a {what} of it.")
        return dict(zip(query.given.tokens[name], query.given[name].tolist(), strict=True))
    raise _missing(query, name, component)


def _missing(query: Query, name: str, component: str) -> InputError:
    """Return the error for a query that has no vector of this name."""
    if query.given is not None and name in query.given.unknown:
        return InputError(f"{query.given.unknown[name]}, which {component} needs; add it to the file.")
    return InputError(
        f"{component} needs the vectors of queries; give them: --queries {name}=FILE (in Python queries={{'{name}': …}})."
    )


def tokens_of(query: Query, name: str) -> Sequence[str]:
    """Return the tokens of the matrix that `vector_of` returns; an empty sequence if they are unknown."""
    return query.given.tokens.get(name, ()) if query.given is not None else ()
