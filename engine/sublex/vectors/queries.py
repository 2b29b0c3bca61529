"""Vectors of queries that a user gives: read once, and found by the id of a topic or by the text of a query."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import GivenVectors, Query
from sublex.errors import InputError
from sublex.tools import arguments
from sublex.vectors.batch import expect_numbers, expect_shape, single
from sublex.vectors.given import batches_of

# The most characters of a query that a message shows.
SHOWN = 60


class _Named:
    """The vectors of queries for one name, by id and by text."""

    def __init__(self, name: str, given: Any, memory: int):
        self.rows: list[np.ndarray] = []
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
            self.rows.append(single(batch.rows, batch.ids, batch.place))
            for place, qid in enumerate(batch.ids):
                if qid in self.by_id:
                    raise InputError(f"{batch.place} has a second vector of the query {qid}; give each query one.")
                self.by_id[qid] = number, place
            self.by_text.update((text, (number, place)) for place, text in enumerate(batch.texts))
        if not self.by_id:
            raise InputError(f"{self.place} holds no vector of a query.")

    def find(self, qid: str | None, text: str) -> np.ndarray | None:
        """Return the vector of a query by its id, or else by its text; None for an unknown query."""
        found = self.by_id.get(qid) if qid is not None else None
        found = found or self.by_text.get(text) or (self.by_id.get(text) if qid is None else None)
        return None if found is None else self.rows[found[0]][found[1]]


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
            for name, vector in found.items()
            if vector is None
        }
        return GivenVectors({name: vector for name, vector in found.items() if vector is not None}, unknown)


def _shown(qid: str | None, text: str) -> str:
    if qid is not None:
        return f"topic {qid}"
    return f'the query "{text if len(text) <= SHOWN else text[:SHOWN] + "…"}"'


def vector_of(query: Query, name: str, component: str) -> np.ndarray:
    """Return the vector that a user gives for a query. Raise InputError if there is none; `component` is the one that asks."""
    if query.given is not None and name in query.given:
        vector: np.ndarray = query.given[name]
        return vector
    if query.given is not None and name in query.given.unknown:
        raise InputError(f"{query.given.unknown[name]}, which {component} needs; add it to the file.")
    raise InputError(
        f"{component} needs the vectors of queries; give them: --queries {name}=FILE (in Python queries={{'{name}': …}})."
    )
