"""The rerankers of plugins as stages: they score documents by their texts, as a Python function of `sublex.rerank` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from sublex.contracts.encoders import Reranker
from sublex.errors import IndexProblem, contract
from sublex.language.functions import StoredDocument
from sublex.language.given_scores import finite_scores
from sublex.language.plugins import Component
from sublex.tools.sentences import best_sentence, first_sentences


class NamedReranker:
    """The reranker of a component. One thread at a time calls it.

    `name` is the name of the component without its parameters. The file of kept scores has this name.
    """

    kind = thing_called = "reranker"

    def __init__(self, component: Component):
        self.component, self.name, self._lock = component, component.name, RLock()
        with contract(self.kind, component):
            self._made: Reranker = component.make()
            self.batch: int | None = getattr(self._made, "batch", None)
            folder = getattr(self._made, "cache", None)
        self.cache = None if folder is None else Path(folder).expanduser()

    def __str__(self) -> str:
        return str(self.component)

    @cached_property
    def code(self) -> str:
        """The hash of all that the scores depend on."""
        with self._lock, contract(self.kind, self):
            return str(self._made.identity)  # type: ignore[attr-defined]

    def refuse_changed(self) -> None:
        """Do nothing: a pipeline is made again when a file of a reranker changes."""

    def scores(self, query: str, documents: Sequence[StoredDocument], before: np.ndarray | None) -> np.ndarray:
        """Return the scores of documents as float64; -inf for a document that the reranker does not score."""
        if documents and not documents[0].has_text:
            raise IndexProblem(f"{self} reads texts, and the index stores none; index with --store text.")
        with self._lock, contract(self.kind, self):
            given = self._made.scores(query, [document.contents for document in documents])
        return finite_scores(self, given, [document.docno for document in documents])

    def evidence(self, query: str, document: StoredDocument) -> Mapping[str, Any]:
        """Return the facts that the reranker shows beside a score, such as that it left out the end of a text."""
        shown = getattr(self._made, "evidence", None)
        sentences = []
        if document.has_text and getattr(self._made, "sentences", False):
            sentences = first_sentences(f"{document.title}\n\n{document.text}")
        step = self.batch or max(1, len(sentences))
        with self._lock, contract(self.kind, self):
            found = dict(shown(query, document.contents)) if shown is not None else {}
            scores = [self._made.scores(query, sentences[b : b + step]) for b in range(0, len(sentences), step)]
        best = finite_scores(self, np.concatenate(scores), [document.docno] * len(sentences)) if scores else np.empty(0)
        return {**found, **best_sentence(sentences, best)}
