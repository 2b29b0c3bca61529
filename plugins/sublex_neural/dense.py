"""Dense vectors of documents, which another program computed, compared with the vector of a query.

The engine stores the vectors; `sublex.vectors.stored` describes their rows. A score is a sum of float64 numbers in a fixed
order over the stored values, so it does not depend on other documents, on segments or on threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import LARGEST_SCORE, Explanation, Query
from sublex.contracts.fitted import Corpus, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared
from sublex.errors import InputError
from sublex.vectors.queries import vector_of
from sublex.vectors.stored import HASH_VALUE, TYPE_VALUE, TYPES, UNCOVERED, WIDTH_VALUE, GivenSet, RowLayout

# The number of rows that are converted to float32 at a time, if they are stored as another type.
ROWS = 4096
# The scores of documents without a vector.
NONE = -np.inf


class DenseQuery(NamedTuple):
    """The vector of a query, float64, and its norm."""

    vector: np.ndarray
    norm: float


class DenseRepresentation(Representation):
    """Vectors of documents that another program computed and the user added to the index. Each query comes with its own
    vector.
    """

    version = 1
    reads = "rows"

    def __init__(self, *, vectors: str, similarity: str, encoder: Any, other_encoder: bool, find: str):
        # The engine calls the encoder, and passes queries with their vectors.
        self.name, self.similarity, self.find = vectors, similarity, find

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Take the layout and the hash of the given rows."""
        if job.given is None:
            raise InputError(f"Vectors are not fitted; add them again: sublex vectors add INDEX {self.name} FILE")
        self._take(job.given)

    def _take(self, given: GivenSet) -> None:
        self.layout, self.hash = given.layout, given.hash
        self.row_values = self.layout.declared

    def save(self, store: Store) -> None:
        """Store the layout of the rows, and the hash of their values, so that other values give the model another
        fingerprint.
        """
        store.put("width", np.array([self.layout.width], np.int32))
        store.put("type", np.array([list(TYPES).index(self.layout.stored)], np.int32))
        store.put("hash", np.frombuffer(bytes.fromhex(self.hash), ">u2").astype(np.uint16))

    def load(self, store: Stored) -> None:
        """Restore the layout of the rows."""
        (width,), (kind,) = store.get("width").tolist(), store.get("type").tolist()
        self._take(GivenSet(RowLayout(width, list(TYPES)[kind]), store.get("hash").astype(">u2").tobytes().hex()))

    def declares(self) -> Mapping[str, Declared]:
        """Return the declarations of the width, of the type of the stored numbers, and of the hash."""
        return {"width": WIDTH_VALUE, "type": TYPE_VALUE, "hash": HASH_VALUE}

    def encode_documents(self, inputs: np.ndarray) -> np.ndarray:
        """Return rows that mark documents as having no vector: they came after the vectors were added."""
        return self.layout.blank(len(inputs), UNCOVERED)

    def transform(self, inputs: np.ndarray) -> np.ndarray:
        """Return the vectors of rows; zeros for documents without a vector."""
        return self.layout.vectors(inputs)

    def has_vectors(self, inputs: np.ndarray) -> np.ndarray:
        """Return for each row whether its document has a vector."""
        known: np.ndarray = self.layout.scales(inputs) > 0
        return known

    def covers(self, view: View) -> np.ndarray:
        """Return for each document whether it was in the index when the vectors were added."""
        covered: np.ndarray = self._scales(view) != UNCOVERED
        return covered

    def _scales(self, view: View) -> np.ndarray:
        """Return for each document the scale by which its stored numbers are multiplied."""

        def read() -> np.ndarray:
            scales = view.map_rows(self.layout.scales)
            self.layout.check_scales(scales)
            return scales

        scales: np.ndarray = view.once("scales", read)
        return scales

    def encode_queries(self, inputs: Sequence[Query]) -> Sequence[DenseQuery]:
        """Return the vectors that came with the queries."""
        return [self._encoded(query) for query in inputs]

    def _encoded(self, query: Query) -> DenseQuery:
        vector = np.asarray(vector_of(query, self.name, f"dense({self.name})", self.layout.width), np.float64)
        return DenseQuery(vector, sqrt(float((vector * vector).sum())))

    def query_vector(self, query: DenseQuery) -> np.ndarray:
        """Return the vector of a query."""
        return query.vector

    def score(self, query: DenseQuery, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the similarity of each document's vector, -inf for documents without a vector."""
        scores = view.map_rows(lambda rows: self._scores(query, rows), docs)
        scales = self._scales(view)
        return np.where((scales if docs is None else scales[docs]) > 0, scores, NONE)

    def _scores(self, query: DenseQuery, rows: np.ndarray) -> np.ndarray:
        """Return the similarities of rows with a query. Callers ignore the values of rows without a vector."""
        if rows.dtype == np.float32:
            return self._similarities(query, np.ascontiguousarray(rows))
        parts = [rows[begin : begin + ROWS] for begin in range(0, len(rows), ROWS)]
        found = [self._similarities(query, self.layout.vectors(part)) for part in parts]
        return np.concatenate(found) if found else np.empty(0)

    def _similarities(self, query: DenseQuery, rows: np.ndarray) -> np.ndarray:
        from sublex_neural import vector_kernels

        sums = np.empty(len(rows))
        if self.similarity == "l2":
            vector_kernels.distances(rows, query.vector, sums)
            return -self._finite(sums)
        squares = np.empty(len(rows) if self.similarity == "cosine" else 0)
        vector_kernels.products(rows, query.vector, sums, squares)
        if self.similarity == "dot":
            return self._finite(sums)
        both = np.sqrt(squares) * query.norm
        return np.divide(sums, both, out=np.full(len(sums), NONE), where=both > 0)

    def _finite(self, sums: np.ndarray) -> np.ndarray:
        """Return `sums`. Raise InputError if one of them is too large for float32, the type of scores."""
        if not (sums.min(initial=0.0) >= -LARGEST_SCORE and sums.max(initial=0.0) <= LARGEST_SCORE):
            raise InputError(
                f"The numbers of the query and of the vectors {self.name} are too large: a {self.similarity} of them is "
                "beyond float32; divide all vectors by one number, or rank by similarity=cosine."
            )
        return sums

    def similarities(self, query: DenseQuery, vectors: np.ndarray) -> np.ndarray:
        """Return the similarities of vectors (float32), one in each row, with a query."""
        if vectors.shape[1] != self.layout.width:
            raise InputError(
                f"The encoder gives texts {vectors.shape[1]:,} numbers, and the vectors {self.name} have {self.layout.width:,}."
            )
        return self._similarities(query, np.ascontiguousarray(vectors))

    def explain(self, query: DenseQuery, view: View, doc: int) -> Explanation:
        """Return the score as one leaf."""
        score = float(self.score(query, view, np.array([doc]))[0])
        names = {"dot": "product", "cosine": "cosine", "l2": "minus the squared distance"}
        entries = f"{self.layout.width:,} entries"
        return Explanation(score, f"{names[self.similarity]} of the vectors of query and document, {entries}")

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the width of the vectors, how they are stored, and how many documents have one."""
        scales = self._scales(view)
        return {
            "dimensions": self.layout.width,
            "stored as": self.layout.stored,
            "documents with a vector": int((scales > 0).sum()),
            "documents without": int((scales == 0).sum()),
        }
