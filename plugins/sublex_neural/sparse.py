"""Learned sparse weights: documents and queries are weights of terms, and a score is the sum of products over shared
terms.

T. Formal, B. Piwowarski and S. Clinchant, SPLADE: Sparse lexical and expansion model for first stage ranking, SIGIR
2021. The engine keeps a posting list for each term and adds up the products by these lists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.contracts.base import Explanation, Query
from sublex.contracts.fitted import Corpus, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared, Json
from sublex.errors import InputError
from sublex.vectors.queries import weights_of
from sublex.vectors.stored import HASH_VALUE, GivenSet
from sublex.vectors.weight_rows import STEP_VALUE, TYPE_VALUE, TYPES, WeightLayout

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The beginning of a piece that continues a word, as WordPiece writes it.
CONTINUES = "##"
# The beginnings of pieces that begin a word, as byte-pair encodings and SentencePiece write them.
STARTS = ("\u0120", "\u2581")
WORD = re.compile(r"\w+")


class SparseQuery(NamedTuple):
    """A query: the weights of its terms by their numbers, the weights of terms that no document has, and its text."""

    weights: dict[int, float]
    unknown: dict[str, float]
    text: str


class SparseRepresentation(Representation):
    """Weights of terms that another program computed and the user added to the index. Each query comes with its own
    weights.
    """

    version = 1
    reads = "rows"
    sums = True

    def __init__(self, *, vectors: str, encoder: Any, other_encoder: bool):
        # The engine calls the encoder, and passes queries with their weights.
        self.name, self._expression = vectors, f"sparse({vectors})"

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Take the layout and the hash of the given rows, and the terms."""
        if job.given is None:
            raise InputError(f"Weights are not fitted; add them again: sublex vectors add INDEX {self.name} FILE")
        self._take(job.given)

    def _take(self, given: GivenSet) -> None:
        self.layout: WeightLayout = given.layout
        self.hash, self.tokens = given.hash, given.tokens
        self.row_values = self.layout.declared
        vars(self).pop("_numbers", None)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The number of each term."""
        return {term: number for number, term in enumerate(self.tokens)}

    def save(self, store: Store) -> None:
        """Store the terms, the type and step of the weights, and the hash of the values, so that other values give
        another fingerprint.
        """
        store.put("terms", list(self.tokens))
        store.put("type", np.array([list(TYPES).index(self.layout.stored)], np.int32))
        store.put("step", np.array([self.layout.step], np.float32))
        store.put("hash", np.frombuffer(bytes.fromhex(self.hash), ">u2").astype(np.uint16))

    def load(self, store: Stored) -> None:
        """Restore the layout of the rows and the terms."""
        terms, (kind,), (step,) = store.get("terms"), store.get("type").tolist(), store.get("step").tolist()
        values = store.get("hash").astype(">u2").tobytes().hex()
        self._take(GivenSet(WeightLayout(len(terms), list(TYPES)[kind], step), values, terms))

    def declares(self) -> Mapping[str, Declared]:
        """Return the declarations of the terms, of the type and step of the weights, and of the hash."""
        terms = Json(list[str], "terms", distinct=True)
        return {"terms": terms, "type": TYPE_VALUE, "step": STEP_VALUE, "hash": HASH_VALUE}

    def encode_documents(self, inputs: np.ndarray) -> csr_array:
        """Return rows that mark documents as uncovered: they came after the weights were added."""
        return self.layout.blank(len(inputs))

    def transform(self, inputs: csr_array) -> csr_array:
        """Return the weights of documents (float32), with a column for each term. The row of a document without weights
        is empty.
        """
        return self.layout.weights(inputs)[:, : self.layout.terms]

    def column_names(self) -> Sequence[str]:
        """Return the terms."""
        return self.tokens

    def covers(self, view: View) -> np.ndarray:
        """Return for each document whether it was in the index when the weights were added."""
        covered: np.ndarray = view.once("covered", lambda: ~view.map_rows(self.layout.marked))
        return covered

    def posting_weights(self, rows: csr_array) -> csr_array:
        """Return the weights of documents, float32."""
        return self.layout.weights(rows)

    def encode_queries(self, inputs: Sequence[Query]) -> Sequence[SparseQuery]:
        """Return the weights that came with the queries."""
        return [self._encoded(query) for query in inputs]

    def _encoded(self, query: Query) -> SparseQuery:
        found, number_of = weights_of(query, self.name, self._expression), self._numbers.get
        known: dict[Any, float] = dict(zip(map(number_of, found), found.values(), strict=True))
        if None not in known:
            return SparseQuery(known, {}, query.text)
        del known[None]
        return SparseQuery(known, {term: w for term, w in found.items() if term not in self._numbers}, query.text)

    def query_weights(self, query: SparseQuery) -> Mapping[int, float]:
        """Return the weights of a query's terms by the numbers of the terms."""
        return query.weights

    def explain(self, query: SparseQuery, view: View, doc: int) -> Explanation:
        """Return the score as the products of the terms that query and document share, largest first.

        A term that the text of the query or document does not contain is marked as an expansion of this text.
        """
        row = self.layout.weights(view.rows(np.array([doc])))
        own = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        asked = terms_in(view, query.text, [*query.unknown, *(self.tokens[n] for n in query.weights)])
        text = view.text(doc)
        held = None if text is None else terms_in(view, text, [self.tokens[n] for n in own])
        parts = []
        for number, weight in query.weights.items():
            if number not in own:
                continue
            term, more = self.tokens[number], [] if self.tokens[number] in asked else ["the query"]
            more += ["the document"] if held is not None and term not in held else []
            label = f"{term}, expansion of {' and '.join(more)}" if more else term
            factors = Explanation(weight, "weight in the query"), Explanation(own[number], "weight in the document")
            parts.append(Explanation(weight * own[number], label, "product", factors))
        parts.sort(key=lambda part: -abs(part.value))
        missing = [self.tokens[number] for number in query.weights if number not in own]
        evidence = {"not in this document": missing} if missing else {}
        if query.unknown:
            evidence["in no document"] = list(query.unknown)
        score = sum(part.value for part in parts)
        return Explanation(score, "weights of terms, added up", "sum", tuple(parts), evidence)

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return how the weights are stored, and how many documents have them."""
        marked = view.map_rows(self.layout.marked)
        sizes = view.map_rows(lambda rows: np.diff(rows.indptr))
        return {
            "terms of the weights": self.layout.terms,
            "stored as": self.layout.stored,
            "documents with weights": int((~marked & (sizes > 0)).sum()),
            "documents without": int((sizes == 0).sum()),
            "weights": int(sizes[~marked].sum()),
        }


def terms_in(view: View, text: str, terms: Sequence[str]) -> set[str]:
    """Return the terms of `terms` that a text contains: as a word, as a term of the index, or as a piece of a word.

    A word has pieces if they are all in `terms` and make up the word, as WordPiece cuts words.
    """
    written = {term[1:] if term[:1] in STARTS else term: term for term in terms}
    words = set(WORD.findall(text.lower())) | set(WORD.findall(text))
    found = {written[word] for word in words | view.terms_of(text) if word in written}
    for word in words:
        found.update(written[piece] for piece in _pieces(word, written))
    return found


def _pieces(word: str, known: Mapping[str, str]) -> list[str]:
    """Return the pieces that make up a word: from the left, always the longest piece in `known`; nothing if a part is
    no piece.
    """
    pieces, begin = [], 0
    while begin < len(word):
        mark = CONTINUES if begin else ""
        end = next((end for end in range(len(word), begin, -1) if mark + word[begin:end] in known), 0)
        if not end:
            return []
        pieces.append(mark + word[begin:end])
        begin = end
    return pieces
