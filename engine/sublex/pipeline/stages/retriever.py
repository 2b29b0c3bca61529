"""The retriever stage: another engine scores documents in the foreign index that an attached index mirrors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sublex.analysis.tokens import words_by_term
from sublex.contracts.base import LARGEST_SCORE, Explanation
from sublex.contracts.foreign import Retriever
from sublex.contracts.operators import Operator
from sublex.contracts.scores import NO_OPINION
from sublex.errors import IndexProblem, InputError, PluginError, contract
from sublex.index.attachment import Attachment
from sublex.index.snapshot import Snapshot
from sublex.pipeline.stages.ranker import ScoringOnce
from sublex.pipeline.stages.stage import State
from sublex.retrieval.hits import Hits
from sublex.tools.messages import Step, cut


class RetrieverScoring(ScoringOnce):
    """A retriever applied to one `State`, the query and the hits so far. The index must be an attached one."""

    def __init__(self, name: str, retriever: Retriever, snapshot: Snapshot, attachment: Attachment, state: State):
        self.name, self.retriever, self.state = name, retriever, state
        self.snapshot, self.attachment = snapshot, attachment
        self._refuse_operators()

    def _refuse_operators(self) -> None:
        """Raise InputError if the query has an operator that the retriever does not support."""
        for term, weight in self.state.query.weights().items():
            if weight and isinstance(term, Operator):
                with contract("retriever", self.name):
                    takes = getattr(self.retriever, "takes", None)
                    is_taken = takes is not None and takes(term)
                if not is_taken:
                    raise InputError(
                        f"{self.name} does not take the operator {cut(term)}; use a ranker of Sublex, such as BM25, or leave "
                        "the operator out of the query."
                    )

    def search(self, k: int) -> Hits:
        name, snapshot = self.name, self.snapshot
        with self.attachment.index() as index, contract("retriever", name):
            docs, scores = self.retriever.search(self.state.query, index, k)
            docs, scores = np.asarray(docs), self._checked(scores, len(docs))
        is_whole = docs.ndim == 1 and (docs.dtype.kind in "iu" or not len(docs))
        within = is_whole and bool(((docs >= 0) & (docs < len(snapshot))).all())
        if not within or len(np.unique(docs)) < len(docs) or not np.isfinite(scores).all():
            raise PluginError(f"The retriever {name} found documents that are not in the index, or one of them twice.")
        return Hits.ranked(snapshot, docs.astype(np.int32), scores).first(k)

    def computed(self, docs: np.ndarray) -> np.ndarray:
        with self.attachment.index() as index, contract("retriever", self.name):
            return self._checked(self.retriever.scores(self.state.query, index, docs), len(docs))

    def _checked(self, scores: object, number: int) -> np.ndarray:
        """Return the scores as float32.

        Raise PluginError unless each of the `number` documents has a finite score or -inf.
        """
        values = np.asarray(scores, np.float64)
        if values.shape != (number,) or not ((np.abs(values) <= LARGEST_SCORE) | (values == NO_OPINION)).all():
            raise PluginError(f"The retriever {self.name} did not give each document one finite score.")
        return values.astype(np.float32)

    def explain(self, doc: int) -> Explanation:
        name, query = self.name, self.state.query
        with self.attachment.index() as index, contract("retriever", name):
            tree = self.retriever.explain(query, index, doc)
            if not isinstance(tree, Explanation):
                raise PluginError(f"The retriever {name} explained a score by a {type(tree).__name__}.")
        words = words_by_term(self.snapshot.analyzer, query.text)
        parts = tuple(part._replace(label=_worded(part.label, words)) for part in tree.parts)
        return tree._replace(label=f"{name}: {tree.label}", parts=parts)


def _worded(label: str, words: Mapping[str, str]) -> str:
    """Return a label with the term at its beginning replaced by the word that the user wrote."""
    term, colon, rest = label.partition(": ")
    return f"{words.get(term, term)}{colon}{rest}"


def attachment_of(name: str, retriever: Retriever, snapshot: Snapshot) -> Attachment:
    """Return the record of the foreign index that a retriever searches.

    Raise IndexProblem if the snapshot has no index of its engine.
    """
    attachment, backend = snapshot.attachment, retriever.backend
    if attachment and attachment.backend == backend:
        return attachment
    is_what = f"mirrors a {attachment.backend} index" if attachment else "is an index of Sublex"
    raise IndexProblem(
        f"{name} searches a {backend} index, and {snapshot.path} {is_what}; "
        f"use a ranker such as BM25, or attach a {backend} index: {Step('attach', 'NAME', f'{backend}:PATH')}"
    )
