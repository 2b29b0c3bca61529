"""Find out why a document is not among the hits.

The result has the document's rank, its words, the stage that dropped it, and the changes that make it a hit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sublex.contracts.operators import words_in
from sublex.language.expression import Blend, Chain, Cut, Expression, Weighted, chain
from sublex.pipeline.stages.blend import BlendScoring
from sublex.pipeline.stages.chain import ChainScoring
from sublex.pipeline.stages.stage import State, rank_in

if TYPE_CHECKING:
    from sublex.contracts.base import Query
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline


class StageRank(NamedTuple):
    """A stage of a pipeline, the rank of the document after the stage, and the number of hits. Rank 0 means no hit."""

    expression: Expression
    rank: int
    found: int


class QueryWord(NamedTuple):
    """A word of the expanded query, with its weight, its frequency in the document, and the number of documents with it."""

    word: str
    weight: float
    tf: int
    df: int


class Absence(NamedTuple):
    """Why a document is not among the first k hits: the query's words, its rank after each stage, and useful changes.

    A change is a sentence. It names a depth or a weight that brings the document among the first k hits, or a filter
    that drops the document.
    """

    docno: str
    k: int
    words: list[QueryWord]
    stages: list[StageRank]
    changes: list[str]


def absence(index: Index, query: Query, docno: str, pipeline: Pipeline, k: int) -> Absence:
    """Return why a document is not among the first k hits. If it is among them, the result has no changes."""
    doc = index.doc(docno)
    assert doc is not None
    stages = list(_stages(index, query, doc, pipeline))
    is_shown = 0 < stages[-1].rank <= k
    changes = [] if is_shown else list(_changes(index, query, doc, pipeline, k, stages))
    return Absence(docno, k, _words(index, query, doc, pipeline), stages, changes)


def kept_none(index: Index, query: Query, pipeline: Pipeline) -> tuple[Expression, Expression, int] | None:
    """Return the filter that dropped all hits, the stages before it, and their number of hits.

    Return None if no filter did.
    """
    stages = pipeline.expression.stages if isinstance(pipeline.expression, Chain) else ()
    for place, stage in enumerate(stages):
        if place and getattr(stage, "kind", "") == "filter":
            before, after = chain(stages[:place]), chain(stages[: place + 1])
            if not index.search(query, after, 1):
                number = len(index.search(query, before, max(1, len(index))))
                return (stage, before, number) if number else None
    return None


def _words(index: Index, query: Query, doc: int, pipeline: Pipeline) -> list[QueryWord]:
    """Return the words of the query after all expanders, with their weights and their frequencies in the document."""
    final = pipeline.answer(query, 1).query
    words, missing, table = [], index.snapshot.missing(final), index.searcher().term_table

    def word_of(term: str) -> str:
        return missing.get(term) or index.corpus.surface(term)

    for term, weight in final.weights().items():
        tf = int(table.frequencies(term, np.array([doc]))[0])
        df = sum(len(table.postings(term, k)[0]) for k in range(len(index.snapshot.segments)))
        words.append(QueryWord(words_in(term, word_of), weight, tf, df))
    return sorted(words, key=lambda word: -abs(word[1]))


def _stages(index: Index, query: Query, doc: int, pipeline: Pipeline) -> Iterator[StageRank]:
    """Yield the rank of a document after each stage that has hits. A cut comes after the stage whose hits it cuts."""
    whole = pipeline.expression
    stages = whole.stages if isinstance(whole, Chain) else (whole,)
    for place, stage in enumerate(stages):
        for last in (stage.expression, stage) if isinstance(stage, Cut) else (stage,):
            prefix = chain((*stages[:place], last))
            if getattr(last, "kind", "") != "expander":
                hits = index.answer(query, index.pipeline(prefix), max(1, len(index))).hits
                yield StageRank(prefix, rank_in(hits, doc), len(hits))


def _changes(index: Index, query: Query, doc: int, pipeline: Pipeline, k: int, ranks: list[StageRank]) -> Iterator[str]:
    """Yield sentences about the reasons that keep a document from the first k hits, and about changes that help.

    The reasons are the query's condition, and filters that drop the document. The changes are depths and weights.
    """
    if (allowed := pipeline.allows(query)) is not None and not allowed.of(np.array([doc]))[0]:
        yield f"The query {query.tree or query.text} does not allow it."
    for before, after in zip(ranks, ranks[1:], strict=False):
        last = _last(after.expression)
        if before.rank and not after.rank and getattr(last, "kind", "") == "filter":
            yield f"{last} does not keep it."
        elif before.rank and not after.rank and before.rank > after.found:
            yield f"A depth of {before.rank:,} after % lets it through to the next stage."
    if ranks[-1].rank > k:
        yield f"With k = {ranks[-1].rank:,} it is shown."
    whole = pipeline.expression
    last = _last(whole)
    if not isinstance(last, Blend):
        return
    for number, part in enumerate(last.parts):
        weight = _weight_that_helps(pipeline, query, doc, k, number)
        if weight is not None:
            inner = part.expression if isinstance(part, Weighted) else part
            parts = (*last.parts[:number], Weighted(weight, inner), *last.parts[number + 1 :])
            changed = chain((*(whole.stages[:-1] if isinstance(whole, Chain) else ()), Blend(parts)))
            if 0 < rank_in(index.answer(query, index.pipeline(changed), k).hits, doc) <= k:
                yield f"With the weight {weight:g} for {inner} it is among the first {k:,}."


def _last(expression: Expression) -> Expression:
    """Return the last stage of an expression."""
    return expression.stages[-1] if isinstance(expression, Chain) else expression


def _weight_that_helps(pipeline: Pipeline, query: Query, doc: int, k: int, number: int) -> float | None:
    """Return a weight for part `number` of a blend that brings the document among the first k hits, or None.

    If several weights do so, return the nearest to the part's current weight. As the part's weight grows, the document
    and another candidate change their order at most once. So the rank of the document changes only at the weights where it
    and another candidate swap places. Sorted lists of these weights give the rank.
    """
    scoring = pipeline.scorer.start(State(query))
    if isinstance(scoring, ChainScoring):
        scoring = scoring.last
    assert isinstance(scoring, BlendScoring)
    docs, _ = scoring.candidates()
    place = np.flatnonzero(docs == doc)
    if not len(place):
        return None
    parts = [(part.weight, part.scale.of(docs, scorer.scores(docs))) for part, scorer in scoring.parts]
    weight, own = parts.pop(number)
    others = sum((other * scores for other, scores in parts), np.zeros(len(docs)))
    rise, gap = own[place[0]] - own, others - others[place[0]]
    always = np.count_nonzero((rise == 0) & (gap > 0))
    # At the weight gap / rise, the document passes a candidate that rises more slowly, and a candidate that rises
    # faster passes the document.
    passes, passed = np.sort(gap[rise > 0] / rise[rise > 0]), np.sort(gap[rise < 0] / rise[rise < 0])
    ends = np.unique(np.concatenate([passes, passed, [0.0]]))
    ends = ends[ends >= 0]
    tries = np.concatenate([(ends[:-1] + ends[1:]) / 2, [2 * ends[-1] + 1]])
    above = always + (len(passes) - np.searchsorted(passes, tries)) + np.searchsorted(passed, tries)
    good = tries[above < k]
    if not len(good):
        return None
    return float(f"{good[np.abs(good - weight).argmin()]:.3g}")
