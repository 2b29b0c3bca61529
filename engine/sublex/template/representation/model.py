"""Random indexing: each term has a random direction, and a document is the sum of its terms' directions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.fitted import Corpus, Job, Representation, Store, Stored, View
from sublex.contracts.stored import Declared, Json, Numbers


class Model(Representation):
    """Cosines of sums of random directions.

    Raise `version` when you change the result of fitting or encoding. `help(Representation)` describes each method.
    """

    version = 1

    def __init__(self, r: int, seed: int):
        self.r, self.seed = r, seed
        self.row_values = Numbers((r,), "f8")

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Draw a direction for each term."""
        self.vocabulary = corpus.vocabulary
        random = np.random.Generator(np.random.Philox(self.seed))
        self.vectors = random.standard_normal((len(self.vocabulary), self.r))
        job.progress(1, 1)

    def save(self, store: Store) -> None:
        """Store the terms and their directions."""
        store.put("vocabulary", self.vocabulary)
        store.put("vectors", self.vectors)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name. The engine refuses a model whose values are different."""
        return {"vocabulary": Json(list[str], "words", distinct=True), "vectors": Numbers(("words", self.r))}

    def load(self, store: Stored) -> None:
        """Restore the terms and their directions."""
        self.vocabulary, self.vectors = store.get("vocabulary"), store.get("vectors")

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the facts that `sublex card` shows."""
        return {"directions": self.r}

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of the directions."""
        return 8 * self.r * len(corpus.vocabulary)

    def encode_documents(self, inputs: Any) -> np.ndarray:
        """Return the sums of the directions, scaled to norm 1, one row per document."""
        rows = inputs @ self.vectors
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)

    def encode_queries(self, inputs: Any) -> list[np.ndarray]:
        """Return the sums for queries, scaled to norm 1."""
        return list(self.encode_documents(inputs))

    def score(self, query: np.ndarray, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return cosines. For a query without known terms, no document gets a score."""
        if not query.any():
            return np.full(len(view) if docs is None else len(docs), -np.inf)
        return view.products(query, docs)

    def explain(self, query: np.ndarray, view: View, doc: int) -> Explanation:
        """Return a cosine by the words of the document."""
        terms = view.terms(np.array([doc]))
        length = np.linalg.norm(terms @ self.vectors)
        parts = tuple(
            Explanation(float(count * (self.vectors[term] @ query) / length), view.surface(self.vocabulary[term]))
            for term, count in zip(terms.indices, terms.data, strict=True)
        )
        return Explanation(sum(part.value for part in parts), "cosine of random directions, by words", "sum", parts)
