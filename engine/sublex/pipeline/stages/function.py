"""The function stage: scores documents by a Python function, a PyTerrier transformer, or a reranker of a plugin."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError
from sublex.index.snapshot import Snapshot
from sublex.language.functions import Function, StoredDocument
from sublex.language.rerankers import NamedReranker
from sublex.pipeline.stages.stage import Scoring, State, rank_in, scores_in
from sublex.retrieval.hits import Hits


class FunctionScoring(Scoring):
    """A function or reranker applied to one `State`.

    It scores the hits of the state or any other documents, and finds no documents itself.
    """

    def __init__(self, function: Function | NamedReranker, snapshot: Snapshot, state: State):
        self.function, self.snapshot, self.state = function, snapshot, state

    def search(self, k: int) -> Hits:
        name = self.function
        raise InputError(
            f"{name} scores hits, and nothing was found before it; put a ranker before it, as in BM25 % 100 >> {name}."
        )

    def search_passing(self, k: int) -> Hits:
        return self.search(k)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        query, hits = self.state.query.text, self.state.hits
        documents = self.snapshot.on_demand(docs, f"{self.function} reads")
        before = None if hits is None else scores_in(hits, docs)
        scores = np.empty(len(docs))
        step = self.function.batch or max(1, len(docs))
        for begin in range(0, len(docs), step):
            part = slice(begin, begin + step)
            scores[part] = self._batch(query, documents[part], None if before is None else before[part])
        return scores

    def _batch(self, query: str, documents: Sequence[StoredDocument], before: np.ndarray | None) -> np.ndarray:
        """Return the scores of documents. One call of the function computes all scores that are not in the cache."""
        function = self.function
        if function.cache is None:
            return function.scores(query, documents, before)
        # This module imports SQLite, so it is imported only for a function with a cache.
        from sublex.pipeline.stages.score_cache import ScoreCache

        function.refuse_changed()
        cache = ScoreCache(function.cache, function.name)
        keys = [self._key(query, document) for document in documents]
        known = cache.get(keys)
        new = {key: document for key, document in zip(keys, documents, strict=True) if key not in known}
        if new:
            given = function.scores(query, list(new.values()), None)
            known |= (added := dict(zip(new, given.tolist(), strict=True)))
            cache.put(added)
        return np.array([known[key] for key in keys])

    def _key(self, query: str, document: StoredDocument) -> bytes:
        """Return the key of a score in the cache.

        A document with changed content has another key, so it is scored again.
        """
        content = [document.title, document.text, dict(document.fields)] if document.has_text else []
        parts = [self.function.name, self.function.code, query, document.docno, *content]
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).digest()

    def explain(self, doc: int) -> Explanation:
        # The function is called with the same documents as in the search: a score may depend on the others of a batch.
        function, hits = self.function, self.state.candidates
        docs = hits.docs if hits is not None and rank_in(hits, doc) else np.array([doc], np.int32)
        score = np.float32(self.scores(docs)[docs == doc][0])
        whose = "the score that" if score > NO_OPINION else "no score from"
        evidence = function.evidence(
            self.state.query.text, self.snapshot.on_demand(docs[docs == doc], f"{function} reads")[0]
        )
        return Explanation(float(score), f"{function}: {whose} the {function.thing_called} gave", evidence=evidence)
