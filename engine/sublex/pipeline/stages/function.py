"""The function stage: scores documents by a Python function or a PyTerrier transformer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from sublex.contracts.base import Document, Explanation
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError
from sublex.index.snapshot import Snapshot
from sublex.language.functions import Function, StoredDocument
from sublex.pipeline.stages.stage import Scorer, State, rank_in, scores_in
from sublex.retrieval.hits import Hits

if TYPE_CHECKING:
    from sublex.pipeline.stages.score_cache import ScoreCache


class FunctionStage(Scorer):
    """A function on the documents of a snapshot. It scores the hits of the stage before it, or any documents, but finds none."""

    finds = False

    def __init__(self, function: Function, snapshot: Snapshot):
        self.function, self.snapshot = function, snapshot
        self.cache = _cache(function)

    def find(self, state: State, k: int | None = None) -> Hits:
        if state.hits is None:
            raise InputError(
                f"{self.function} scores hits, and nothing was found before it; "
                f"put a ranker before it, as in BM25 % 100 >> {self.function}."
            )
        return self.rescored(state)

    def scores(self, state: State, docs: np.ndarray) -> np.ndarray:
        documents = [self._document(doc) for doc in docs.tolist()]
        before = None if state.hits is None else scores_in(state.hits, docs)
        scores = np.empty(len(docs))
        step = self.function.batch or max(1, len(docs))
        for begin in range(0, len(docs), step):
            part = slice(begin, begin + step)
            earlier = None if before is None else before[part]
            scores[part] = self._batch(state.query.text, documents[part], earlier)
        return scores

    def _batch(self, query: str, documents: Sequence[StoredDocument], before: np.ndarray | None) -> np.ndarray:
        """Return the scores of documents, those that are not in the cache by one call of the function."""
        if self.cache is None:
            return self.function.scores(query, documents, before)
        keys = [self._key(query, document) for document in documents]
        known = self.cache.get(keys)
        new = {key: document for key, document in zip(keys, documents, strict=True) if key not in known}
        if new:
            given = self.function.scores(query, list(new.values()), None)
            known |= (added := dict(zip(new, given.tolist(), strict=True)))
            self.cache.put(added)
        return np.array([known[key] for key in keys])

    def _document(self, doc: int) -> StoredDocument:
        return StoredDocument(self.snapshot.docno(doc), partial(self._read, doc), "text" in self.snapshot.store)

    def _read(self, doc: int) -> Document:
        self.snapshot.need("text", f"{self.function} reads")
        return self.snapshot.stored(doc)

    def _key(self, query: str, document: StoredDocument) -> bytes:
        """Return the key of a score. It depends on the document's content too, so a changed document is scored again."""
        content = [document.title, document.text, dict(document.fields)] if document.has_text else []
        parts = [self.function.name, self.function.version, query, document.docno, *content]
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).digest()

    def explain(self, state: State, doc: int) -> Explanation:
        # The function sees the documents that it saw in the search: its score may depend on the others of a batch.
        together = state.hits is not None and rank_in(state.hits, doc)
        docs = state.hits.docs if state.hits is not None and together else np.array([doc], np.int32)
        score = np.float32(self.scores(state, docs)[docs == doc][0])
        label = "the score that the Python " if score > NO_OPINION else "no score from the Python "
        return Explanation(float(score), f"{self.function}: {label}{self.function.kind} gave")


def _cache(function: Function) -> ScoreCache | None:
    """Return the cache of a function that has one. SQLite is imported for it alone."""
    if function.cache is None:
        return None
    from sublex.pipeline.stages.score_cache import ScoreCache

    return ScoreCache(function.cache, function.name)
