"""Late interaction: documents and queries are matrices with a row for each token, and each token of the query is
compared with each token of the document.

O. Khattab and M. Zaharia, ColBERT: Efficient and effective passage search via contextualized late interaction over
BERT, SIGIR 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import Explanation, Query
from sublex.contracts.fitted import Corpus, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared, Json
from sublex.errors import InputError
from sublex.tools.messages import counted
from sublex.vectors.matrices import Matrices
from sublex.vectors.queries import tokens_of, vector_of
from sublex.vectors.stored import HASH_VALUE, TYPE_VALUE, TYPES, UNCOVERED, WIDTH_VALUE, GivenSet, RowLayout

# The number of documents whose rows are converted to float32 at a time, if they are stored as another type.
DOCUMENTS = 256
# The scores of documents without a matrix.
NONE = -np.inf


class TokenQuery(NamedTuple):
    """A query: its matrix, with a column for each token (float64), and its tokens, if they are known."""

    columns: np.ndarray
    tokens: Sequence[str]


class Best(NamedTuple):
    """For each token of a query: the largest product with a row of one document, and the number of this row."""

    products: np.ndarray
    rows: np.ndarray


class LateRepresentation(Representation):
    """Matrices of documents that another program computed and the user added to the index. Each query comes with its
    own matrix.
    """

    version = 1
    reads = "rows"

    def __init__(self, *, vectors: str, encoder: Any, other_encoder: bool):
        # The engine calls the encoder, and passes queries with their matrices.
        self.name = vectors

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Take the layout and the hash of the given rows."""
        if job.given is None:
            raise InputError(f"Matrices are not fitted; add them again: sublex vectors add INDEX {self.name} FILE")
        self._take(job.given)

    def _take(self, given: GivenSet) -> None:
        self.layout, self.hash, self.tokens = given
        self.row_values = self.layout.declared._replace(matrices=True)

    def save(self, store: Store) -> None:
        """Store the layout of the rows, the tokens, and the hash of the values, so that other values give another
        fingerprint.
        """
        store.put("width", np.array([self.layout.width], np.int32))
        store.put("type", np.array([list(TYPES).index(self.layout.stored)], np.int32))
        store.put("tokens", list(self.tokens))
        store.put("hash", np.frombuffer(bytes.fromhex(self.hash), ">u2").astype(np.uint16))

    def load(self, store: Stored) -> None:
        """Restore the layout of the rows."""
        (width,), (kind,) = store.get("width").tolist(), store.get("type").tolist()
        values = store.get("hash").astype(">u2").tobytes().hex()
        self._take(GivenSet(RowLayout(width, list(TYPES)[kind]), values, store.get("tokens")))

    def declares(self) -> Mapping[str, Declared]:
        """Return the declarations of the width, of the type of the stored numbers, of the hash and of the tokens."""
        return {"width": WIDTH_VALUE, "type": TYPE_VALUE, "hash": HASH_VALUE, "tokens": Json(list[str], distinct=True)}

    def encode_documents(self, inputs: np.ndarray) -> Matrices:
        """Return matrices that mark documents as uncovered: they came after the matrices were added."""
        marks = Matrices(self.layout.blank(len(inputs), UNCOVERED), np.arange(len(inputs) + 1))
        return marks.with_tokens() if self.tokens else marks

    def transform(self, inputs: Matrices) -> Matrices:
        """Return the matrices of documents (float32). The matrix is empty for a document that was given none."""
        sizes = np.where(self.layout.uncovered(inputs), 0, inputs.sizes)
        stays = np.repeat(sizes > 0, inputs.sizes)
        return Matrices.of_sizes(self.layout.vectors(inputs.data[stays]), sizes)

    def covers(self, view: View) -> np.ndarray:
        """Return for each document whether it was in the index when the matrices were added."""
        covered: np.ndarray = view.once("covered", lambda: ~view.map_rows(self._uncovered))
        return covered

    def _uncovered(self, matrices: Matrices) -> np.ndarray:
        if self.layout.stored == "int8":
            self.layout.check_scales(self.layout.scales(matrices.data))
        return self.layout.uncovered(matrices)

    def encode_queries(self, inputs: Sequence[Query]) -> Sequence[TokenQuery]:
        """Return the matrices that came with the queries."""
        return [self._encoded(query) for query in inputs]

    def _encoded(self, query: Query) -> TokenQuery:
        rows = vector_of(query, self.name, f"late({self.name})", self.layout.width, dimensions=2)
        return TokenQuery(np.ascontiguousarray(rows.T, np.float64), tokens_of(query, self.name))

    def score(self, query: TokenQuery, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return MaxSim: the sum over the tokens of the query of the largest product with a row of the document.

        Documents without a matrix get -inf, and so do all documents if the query has no token.
        """
        scores = view.map_rows(lambda matrices: self._scores(query, matrices), docs)
        covered = self.covers(view)
        return np.where(covered if docs is None else covered[docs], scores, NONE)

    def _scores(self, query: TokenQuery, matrices: Matrices) -> np.ndarray:
        if matrices.dtype == np.float32:
            return self._sums(query, matrices)[0]
        blocks = [matrices[begin : begin + DOCUMENTS] for begin in range(0, len(matrices), DOCUMENTS)]
        sums = [self._sums(query, Matrices(self.layout.vectors(block.data), block.starts))[0] for block in blocks]
        return np.concatenate(sums) if sums else np.empty(0)

    def _sums(self, query: TokenQuery, matrices: Matrices) -> tuple[np.ndarray, Best]:
        """Return the scores of matrices of float32, and for the last one the products that add up to its score."""
        from sublex_neural import vector_kernels

        count = query.columns.shape[1]
        sums, best = np.full(len(matrices), NONE), Best(np.empty(count), np.zeros(count, np.int64))
        if count:
            rows = np.ascontiguousarray(matrices.data)
            vector_kernels.largest_products(rows, matrices.starts, query.columns, sums, *best, np.empty(count))
        return sums, best

    def explain(self, query: TokenQuery, view: View, doc: int) -> Explanation:
        """Return the score as a sum over the tokens of the query: the product with the best row of the document."""
        matrix = view.rows(np.array([doc]))
        sums, best = self._sums(query, Matrices(self.layout.vectors(matrix.data), matrix.starts))
        count, rows = query.columns.shape[1], int(matrix.sizes[0])
        parts = []
        for token in range(count):
            text = f" {query.tokens[token]}" if query.tokens else ""
            row = int(best.rows[token])
            label = f"query token {token + 1:,}{text} ↔ document token {row + 1:,}{self._text(matrix, row)}"
            parts.append(Explanation(float(best.products[token]), label))
        label = f"largest products of {counted(count, 'query token')} with {counted(rows, 'document token')}"
        return Explanation(float(sums[0]), label, "sum", tuple(parts))

    def _text(self, matrix: Matrices, row: int) -> str:
        """Return the text of a row's token with a blank before it; "" for an unknown token."""
        number = -1 if matrix.tokens is None else int(matrix.tokens[row])
        return f" {self.tokens[number]}" if 0 <= number < len(self.tokens) else ""

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the width of the rows, how they are stored, and how many documents have a matrix."""
        sizes = view.map_rows(lambda matrices: np.where(self.layout.uncovered(matrices), -1, matrices.sizes))
        return {
            "dimensions": self.layout.width,
            "stored as": self.layout.stored,
            "documents with a matrix": int((sizes > 0).sum()),
            "documents without": int((sizes == 0).sum()),
            "rows of matrices": int(sizes[sizes > 0].sum()),
        }
