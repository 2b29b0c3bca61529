"""The expander stage: replaces the query by a weighted query with more terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import NO_FIELDS, Evidence, Expander, Explanation, Query
from sublex.contracts.operators import Operator
from sublex.errors import PluginError, contract
from sublex.pipeline.stages.ranker import RankerScoring
from sublex.pipeline.stages.stage import Stage, State
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher
from sublex.tools.arguments import shown
from sublex.tools.messages import counted


class ExpanderStage(Stage):
    """An expander. If the state has no hits, `searcher` finds the feedback documents.

    `printed` is the printed form for explanations, by default the name.
    """

    through = False

    def __init__(
        self,
        name: str,
        expander: Expander,
        searcher: Searcher,
        models: Mapping[str, Any] = NO_FIELDS,
        printed: str = "",
    ):
        self.name, self.expander, self.searcher, self.models = name, expander, searcher, models
        self.printed = printed or name
        self._no_hits = Hits.none(searcher.snapshot)
        docs = getattr(expander, "docs", None)
        if not isinstance(docs, int) or docs < 0:
            raise PluginError(
                f"The expander {name} says that it looks at {docs} documents; docs has to be a whole number."
            )
        self.enough = docs if docs and getattr(expander, "first_alone", False) else None

    def run(self, state: State, k: int | None = None) -> State:
        hits = state.hits
        if hits is None and self.expander.docs:
            first = State(state.query, allowed=state.allowed)
            hits = RankerScoring(self.searcher, first).find(self.expander.docs)
        if hits is None:
            hits = self._no_hits
        old, original = state.query, state.original or state.query
        with contract("expander", self.name):
            query = self.expander.expand(
                old, Feedback(hits, self.searcher.term_table, self.models, self.name, original, old.judged)
            )
            terms, weights, origins = zip(*query.terms, strict=True) if query.terms else ((), (), ())
            finite = np.isfinite(weights).all()
            known = all(isinstance(evidence, Evidence) for evidence in query.evidence)
            texts = (query.text, *terms, *origins)
        if not finite:
            raise PluginError(f"The expander {self.name} gave a weight that is not a finite number.")
        # The set of types is made in a third of the time of a test of each text.
        if {*map(type, texts)} != {str} and (wrong := [text for text in texts if not isinstance(text, str)]):
            raise PluginError(
                f"The expander {self.name} gave {shown(wrong[0])} as the text of the query or as a term or its origin; these are texts."
            )
        if not known:
            raise PluginError(f"The expander {self.name} gave evidence that is not sublex.contracts.base.Evidence.")
        # A query with another text is a new query, so its own terms become the original terms.
        is_same = query.text == old.text
        return state._replace(query=_with_constraints(old, query), hits=None, original=original if is_same else None)

    def trace(self, state: State, doc: int) -> Explanation:
        surface = self.searcher.snapshot.corpus.surface
        added = {surface(t.term): round(t.weight, 6) for t in state.query.terms if t.origin != "query"}
        operators = sum(isinstance(term.term, Operator) for term in state.query.terms)
        size = counted(len(state.query.terms) - operators, "word")
        label = f"{self.printed} made the query {size}" + (
            f" and {counted(operators, 'operator')}" if operators else ""
        )
        if state.query.judged is not None and self.expander.docs:
            relevant, others = map(len, state.query.judged)
            label += f", with {counted(relevant, 'relevant document')} and {others:,} other judged"
        parts = tuple(map(_explained, state.query.evidence))
        return Explanation(float(len(added)), label, "evidence", parts, {"added": added} if added else {})


def _with_constraints(old: Query, new: Query) -> Query:
    """Return the new query with the tree, condition, vectors and judgements of the old query.

    Drop added terms that the condition excludes.
    """
    excluded = old.condition.excluded() if old.condition else frozenset()
    kept = (old.condition, old.given, old.judged)
    if not excluded and new.tree is old.tree and (new.condition, new.given, new.judged) == kept:
        return new
    unwanted = excluded - {term.term for term in old.terms}
    terms = tuple(term for term in new.terms if term.term not in unwanted)
    return new._replace(terms=terms, tree=old.tree, condition=old.condition, given=old.given, judged=old.judged)


def _explained(evidence: Evidence) -> Explanation:
    """Return the evidence of an expander as a part of an explanation."""
    return Explanation(evidence.value, evidence.label, "evidence", tuple(map(_explained, evidence.parts)))
