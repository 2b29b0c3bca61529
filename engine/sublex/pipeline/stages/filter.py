"""The filter stage: keeps some documents and drops the others.

A filter that looks at each document alone has a mask. The stages before it find only documents of the mask, up to the
nearest `%`, expander, or filter that looks at more than the document. Any other filter keeps some of the hits of the
stage before it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation, Filter
from sublex.contracts.columns import values_line
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError, PluginError, contract
from sublex.filters.sort import Sort
from sublex.filters.where import Where
from sublex.language.python_filters import FunctionFilter, ObjectFilter
from sublex.pipeline.stages.mask import Mask, Masks
from sublex.pipeline.stages.stage import Scorer, Scoring, State, rank_in, scores_in
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits
from sublex.retrieval.term_table import TermTable
from sublex.tools.strings import read_only


class NamedFilter:
    """A filter of an expression on a snapshot. `key` identifies its mask in `masks`."""

    def __init__(
        self,
        name: str,
        filter: Filter,
        term_table: TermTable,
        models: Mapping[str, Any],
        masks: Masks,
        key: Hashable,
    ):
        self.name, self.filter, self.term_table, self.models = name, filter, term_table, models
        self.masks, self.key = masks, key
        self.per_document = getattr(filter, "per_document", False)
        if not isinstance(self.per_document, bool):
            raise PluginError(f"The filter {name} has per_document={self.per_document!r}; it has to be True or False.")

    def mask(self) -> Mask:
        """Return the mask of a filter that looks at each document alone.

        A user's function reads one document for each call, so it is not asked about all documents in advance.
        """
        if isinstance(self.filter, (FunctionFilter, ObjectFilter)):
            self.filter.part.refuse_changed()
        keep = partial(self._keep, hits=Hits.none(self.masks.snapshot))
        return self.masks.get(self.key, keep, at_once=not isinstance(self.filter, FunctionFilter))

    def kept(self, hits: Hits) -> np.ndarray:
        """Return whether the filter keeps each of the hits."""
        return self.mask().of(hits.docs) if self.per_document else self._keep(hits.docs, hits)

    def _keep(self, docs: np.ndarray, hits: Hits) -> np.ndarray:
        name = self.name
        with contract("filter", name):
            kept = np.asarray(self.filter.keep(read_only(docs), Feedback(hits, self.term_table, self.models, name)))
        if kept.shape != docs.shape or kept.dtype != bool:
            raise PluginError(
                f"The filter {name} gave {kept.dtype} of shape {kept.shape} for {len(docs):,} documents, not yes or no for each."
            )
        return kept

    def note(self, kept: bool, doc: int) -> Explanation:
        """Return the part of an explanation that says whether the filter keeps a document, with the values that it reads."""
        label = f"{self.name} {'keeps' if kept else 'does not keep'} it{self.values_of(doc)}"
        return Explanation(float(kept), label, "evidence")

    def values_of(self, doc: int) -> str:
        """Return the values of a document in the columns that the filter reads, such as " (year is 2015)"; "" without columns."""
        if not isinstance(self.filter, (Where, Sort)):
            return ""
        snapshot = self.masks.snapshot
        return (
            f" ({'; '.join(values_line(name, snapshot.column(name).values_of(doc)) for name in self.filter.columns)})"
        )


class FilterScoring(Scoring):
    """A filter applied to the hits of one `State`. The hits that it keeps stay in order, with their scores."""

    def __init__(self, filter: NamedFilter, state: State):
        self.filter, self.state = filter, state

    def find(self, k: int | None = None) -> Hits:
        name, hits = self.filter.name, self.state.hits
        if hits is None:
            raise InputError(
                f"{name} keeps or drops hits, and there are none yet; put a ranker before it, as in BM25 >> {name}."
            )
        return self.state.passing(hits.at(np.flatnonzero(self.filter.kept(hits))))

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return scores_in(self.find(), docs)

    def explain(self, doc: int) -> Explanation:
        return self.filter.note(bool(rank_in(self.find(), doc)), doc)

    def explain_after(self, before: Scoring, doc: int) -> Explanation:
        """Return the explanation by the scorer before the filter.

        Its evidence says whether the filter keeps the document.
        """
        return noted(before.explain(doc), self.explain(doc))


class FilteredScoring(Scoring):
    """A scorer applied to one `State` that finds and scores only documents that a filter keeps.

    Other documents get the score -inf, "no opinion".
    """

    def __init__(self, filter: NamedFilter, inner: Scorer, state: State):
        self.filter, self.mask = filter, filter.mask()
        self.inner = inner.start(state.filtered(self.mask))
        self.state = self.inner.state

    def find(self, k: int | None = None) -> Hits:
        return self.inner.find(k)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        scores, kept = np.full(len(docs), NO_OPINION), self.mask.of(docs)
        scores[kept] = self.inner.scores(docs[kept])
        return scores

    def explain(self, doc: int) -> Explanation:
        return noted(self.inner.explain(doc), self.filter.note(bool(self.mask.of(np.array([doc]))[0]), doc))


class FilteredScorer(Scorer):
    """A scorer that finds only documents that a filter keeps."""

    def __init__(self, filter: NamedFilter, inner: Scorer):
        super().__init__(partial(FilteredScoring, filter, inner), inner.finds, inner.through)
        self.filter = filter

    def trace(self, state: State, doc: int) -> Explanation:
        kept = bool(self.filter.mask().of(np.array([doc]))[0])
        return super().trace(state, doc)._replace(parts=(self.filter.note(kept, doc),))


def noted(tree: Explanation, note: Explanation) -> Explanation:
    """Return an explanation with a note.

    If the filter drops the document, the note has the value 0 and the explanation -inf.
    """
    return tree._replace(value=tree.value if note.value else float(NO_OPINION), parts=(note, *tree.parts))
