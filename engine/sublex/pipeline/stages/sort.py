"""The sort stage: puts hits in the order of a column. It is the last stage of an expression, and the hits keep their scores."""

from __future__ import annotations

from typing import cast

from sublex.contracts.base import Explanation
from sublex.filters.sort import Sort
from sublex.pipeline.stages.filter import FilterScoring, noted
from sublex.pipeline.stages.stage import Scoring, rank_in
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits


class SortScoring(FilterScoring):
    """The sort stage applied to one `State`: its hits in the order of a column."""

    def find(self, k: int | None = None) -> Hits:
        hits = super().find()
        sort = cast("Sort", self.filter.filter)
        return hits.at(sort.order(hits.docs, Feedback(hits, self.filter.term_table, name=self.filter.name)))

    def explain_after(self, before: Scoring, doc: int) -> Explanation:
        rank = rank_in(self.find(), doc)
        placed = f"puts it at rank {rank}{self.filter.values_of(doc)}" if rank else "does not get it"
        label = f"{self.filter.name} {placed}"
        return noted(before.explain(doc), Explanation(1.0, label, "evidence"))
