"""Explanations: one document's score for one query, taken apart along the pipeline."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from sublex.base import DocStats, Explanation, Query, TermStats
from sublex.errors import contract
from sublex.index.segment import Segment
from sublex.pipeline.stages import (
    Blend,
    Chain,
    Cut,
    Expand,
    Keep,
    Normalise,
    Rank,
    Represent,
    Scorer,
    Stage,
    Work,
)
from sublex.retrieval.hits import Hits
from sublex.scores import NO_OPINION, rank, with_opinion


@singledispatch
def explain(stage: Stage, work: Work, doc: int) -> Explanation:
    """What a stage says of a document, for the work's query; the value is -inf where it says nothing."""
    raise NotImplementedError(type(stage).__name__)


@explain.register
def _(stage: Rank, work: Work, doc: int) -> Explanation:
    query, searcher = work.query, stage.searcher
    weights = query.weights()
    known = searcher.terms(weights)
    unknown = [term for term in weights if term not in {name for name, *_ in known}]
    parts = tuple(_word(stage, query, *term, doc) for term in known)
    score = stage.scores(work, np.array([doc], np.int32))[0]
    evidence = {"in no document": unknown} if unknown else {}
    return Explanation(float(score), f"{searcher.name}, added up over the words", "sum", parts, evidence)


def _word(stage: Rank, query: Query, term: str, number: int, weight: float, doc: int) -> Explanation:
    """What one term adds; evidence where the document lacks it."""
    searcher = stage.searcher
    index, term_table = searcher.index, searcher.term_table
    found = index.term(term)
    label = found.surface if found else term
    origins = ", ".join(dict.fromkeys(t.origin for t in query.terms if t.term == term))
    origin = {} if origins == "query" else {"from": origins}
    segment, local = index.place(doc)
    k = index.segments.index(segment)
    stats = TermStats(*(values[number] for values in term_table.stats))
    tf = _frequency(segment, term_table.ordinal(k, number), local)
    if not tf:
        missing = {"documents that have it": int(stats.df)} | origin
        return Explanation(0.0, f"{label}: not in this document", "evidence", evidence=missing)
    impacts = searcher.impacts[k]
    norm = None if impacts.norm is None else impacts.norm[local]
    document = DocStats(impacts.length[local], impacts.unique[local], norm)
    with contract("ranker", searcher.ranker):
        inner = searcher.ranker.explain(tf, document, stats, index.statistics)
    if weight == 1 and not origin:
        return inner._replace(label=f"{label}: {inner.label}")
    factor = Explanation(weight, "weight in the query", evidence=origin)
    return Explanation(weight * inner.value, label, "product", (factor, inner))


def _frequency(segment: Segment, ordinal: int, local: int) -> int:
    """How often a document has a term of its segment."""
    if ordinal < 0:
        return 0
    docs, tfs = segment.postings(ordinal, ordinal + 1)
    at = int(np.searchsorted(docs, local))
    return int(tfs[at]) if at < len(docs) and docs[at] == local else 0


@explain.register
def _(stage: Represent, work: Work, doc: int) -> Explanation:
    side = stage.side
    tree = side.explain(side.query(work.query), doc)
    evidence = {**tree.evidence, **side.inputs.evidence(work.query, side.view.surface)}
    return tree._replace(label=f"{side.name}: {tree.label}", evidence=evidence)


@explain.register
def _(stage: Cut, work: Work, doc: int) -> Explanation:
    return explain(stage.inner, stage.deep(work), doc)


@explain.register
def _(stage: Chain, work: Work, doc: int) -> Explanation:
    if isinstance(stage.last, Keep) and stage.before and isinstance(stage.before[-1], Scorer):
        return _filtered(stage.last, Chain(stage.before[:-1], stage.before[-1]), work, doc)
    steps = []
    for before in stage.before:
        work = before.run(work)
        steps.append(_step(before, work, doc))
    last = explain(stage.last, work, doc)
    if work.hits is not None and not _place(work.hits, doc):
        label = "not among the documents that the stage before found"
        return Explanation(float(NO_OPINION), label, "evidence", (*steps, last._replace(kind="evidence")))
    return last._replace(parts=(*steps, *last.parts))


def _filtered(stage: Keep, before: Scorer, work: Work, doc: int) -> Explanation:
    """What the stages before a filter say, and whether it lets that stand."""
    tree = explain(before, work, doc)
    kept = bool(_place(stage.found(before.run(work)), doc))
    said = Explanation(float(kept), f"{stage.name} {'keeps' if kept else 'does not keep'} it", "evidence")
    return tree._replace(value=tree.value if kept else float(NO_OPINION), parts=(said, *tree.parts))


def _step(stage: Stage, work: Work, doc: int) -> Explanation:
    """What happened before the last stage: evidence, never added."""
    if isinstance(stage, Expand):
        surface = stage.first.searcher.index.corpus.surface
        added = {surface(t.term): round(t.weight, 6) for t in work.query.terms if t.origin != "query"}
        label = f"{stage.name} made the query {len(work.query.terms)} words"
        return Explanation(float(len(added)), label, "evidence", evidence={"added": added})
    place = _place(work.hits, doc) if work.hits is not None else 0
    said = f"found at rank {place}" if place else "not found"
    return Explanation(float(place), f"{said} by the stage before", "evidence")


@explain.register
def _(stage: Normalise, work: Work, doc: int) -> Explanation:
    hits = stage.inner.found(work)
    return _scaled(stage, work, doc, hits.docs, hits.scores)


@explain.register
def _(stage: Blend, work: Work, doc: int) -> Explanation:
    hits = stage.parts[0][1].inner.found(work)
    label = f"blend over {len(hits):,} candidates"
    if not _place(hits, doc):
        shown = tuple(explain(part.inner, work, doc)._replace(kind="evidence") for _, part in stage.parts)
        return Explanation(float(NO_OPINION), f"{label}, which this document is not among", "evidence", shown)
    parts = []
    for number, (weight, part) in enumerate(stage.parts):
        raw = part.inner.scores(work, hits.docs) if number else hits.scores
        scaled = _scaled(part, work, doc, hits.docs, raw)
        factor = Explanation(weight, "weight")
        parts.append(Explanation(weight * scaled.value, f"{weight:g} times", "product", (factor, scaled)))
    return Explanation(sum(part.value for part in parts), label, "sum", tuple(parts))


def _scaled(part: Normalise, work: Work, doc: int, docs: np.ndarray, raw: np.ndarray) -> Explanation:
    """A normalised score among those of the candidates: factor times raw score, plus offset."""
    name = f"{part.normaliser.__name__} over the candidates"
    inner = explain(part.inner, work, doc)
    at = np.flatnonzero(docs == doc)
    if not len(at):
        shown = (inner._replace(kind="evidence"),)
        return Explanation(float(NO_OPINION), f"{name}, which this document is not among", "evidence", shown)
    filled = with_opinion(raw)
    values = part.normaliser(filled)
    if raw[at[0]] == NO_OPINION:
        inner = Explanation(
            float(filled[at[0]]), "no opinion, which counts as the lowest", "sum", (inner._replace(kind="evidence"),)
        )
    value, low, high = float(values[at[0]]), int(filled.argmin()), int(filled.argmax())
    if part.normaliser is rank:
        return Explanation(
            value, f"1 / rank {round(1 / value)} among the candidates", "sum", (inner._replace(kind="evidence"),)
        )
    spread = float(filled[high]) - float(filled[low])
    factor = float(values[high] - values[low]) / spread if spread else 0.0
    offset = float(values[low]) - factor * float(filled[low])
    return Explanation(value, name, "scaled", (inner, Explanation(factor, "factor"), Explanation(offset, "offset")))


def _place(hits: Hits, doc: int) -> int:
    """The rank of a document among hits, 0 where it is not there."""
    at = np.flatnonzero(hits.docs == doc)
    return int(at[0]) + 1 if len(at) else 0
