"""Vectors of queries that a user gives: read once, and found by the id of a topic or by the text of a query."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sublex.contracts.base import GivenVectors, Query
from sublex.errors import InputError
from sublex.tools import arguments
from sublex.vectors.batch import Repeated, expect_numbers, expect_shape, single
from sublex.vectors.given import batches_of

# The most characters of a query that a message shows.
SHOWN = 60


class _Named:
    """The vectors or matrices of queries for one name, by id and by text."""

    def __init__(self, name: str, given: Any, memory: int):
        self.rows: list[np.ndarray] = []
        # Where matrices begin in their batch, by the number of the batch.
        self.starts: dict[int, np.ndarray] = {}
        # The tokens of the rows, by the number of the batch.
        self.tokens: dict[int, Sequence[str]] = {}
        self.by_id: dict[str, tuple[int, int]] = {}
        self.by_text: dict[str, tuple[int, int]] = {}
        self.place = f"the vectors given for {name}"
        for batch in batches_of(given, None, memory, texts=True):
            self.place = str(given) if isinstance(given, (str, os.PathLike)) else batch.place
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
            for place, qid in enumerate(batch.ids):
                if qid in self.by_id:
                    raise InputError(f"{batch.place} has a second vector of the query {qid}; give each query one.")
                self.by_id[qid] = number, place
            self.by_text.update((text, (number, place)) for place, text in enumerate(batch.texts))
        if not self.by_id:
            raise InputError(f"{self.place} holds no vector of a query.")

    def find(self, qid: str | None, text: str) -> tuple[np.ndarray, Sequence[str]] | None:
        """Return the vector of a query by its id, or else by its text, with its tokens; None for an unknown query."""
        found = self.by_id.get(qid) if qid is not None else None
        found = found or self.by_text.get(text) or (self.by_id.get(text) if qid is None else None)
        if found is None:
            return None
        batch, place = found
        starts = self.starts.get(batch)
        if starts is None:
            return self.rows[batch][place], ()
        rows = slice(int(starts[place]), int(starts[place + 1]))
        return self.rows[batch][rows], self.tokens[batch][rows]


class QueryVectors:
    """Vectors of queries, by the names of the vectors of an index.

    `given` has for each name a file, a data frame, or another form that `Index.add_vectors` takes.
    """

    def __init__(self, given: Mapping[str, Any], memory: int = 4 << 30):
        if not isinstance(given, Mapping):
            raise InputError(
                f"The queries are {arguments.shown(given)}; give a dictionary such as {{'bge': 'queries.npz'}}."
            )
        self._named = {arguments.text(name, "The name"): _Named(name, each, memory) for name, each in given.items()}

    def of(self, qid: str | None, text: str) -> GivenVectors:
        """Return what is given for a query: one of a topic with the id `qid`, or one without an id."""
        found = {name: named.find(qid, text) for name, named in self._named.items()}
        unknown = {
            name: f"{self._named[name].place} has no vector of {_shown(qid, text)}"
            for name, known in found.items()
            if known is None
        }
        there = {name: known for name, known in found.items() if known is not None}
        tokens = {name: texts for name, (_, texts) in there.items() if texts}
        return GivenVectors({name: vector for name, (vector, _) in there.items()}, unknown, tokens)


def _shown(qid: str | None, text: str) -> str:
    if qid is not None:
        return f"topic {qid}"
    return f'the query "{text if len(text) <= SHOWN else text[:SHOWN] + "…"}"'


def vector_of(query: Query, name: str, component: str, width: int, dimensions: int = 1) -> np.ndarray:
    """Return the vector of this width that a user gives for a query, or with two dimensions the matrix.

    Raise InputError if there is none, or one of another shape; `component` is the one that asks.
    """
    if query.given is not None and name in query.given:
        vector: np.ndarray = query.given[name]
        what, other = ("vector", "matrix") if dimensions == 1 else ("matrix", "vector")
        if vector.ndim != dimensions:
            raise InputError(f"{component} needs a {what} of the query, and {name} has a {other} of it.")
        if vector.shape[-1] != width:
            raise InputError(
                f"The query's {what} has {vector.shape[-1]:,} numbers{'' if dimensions == 1 else ' in a row'} where the vectors "
                f"{name} have {width:,}; encode queries by the model that encoded the documents."
            )
        return vector
    if query.given is not None and name in query.given.unknown:
        raise InputError(f"{query.given.unknown[name]}, which {component} needs; add it to the file.")
    raise InputError(
        f"{component} needs the vectors of queries; give them: --queries {name}=FILE (in Python queries={{'{name}': …}})."
    )


def tokens_of(query: Query, name: str) -> Sequence[str]:
    """Return the tokens of the matrix that `vector_of` returns; none if they are unknown."""
    return query.given.tokens.get(name, ()) if query.given is not None else ()
