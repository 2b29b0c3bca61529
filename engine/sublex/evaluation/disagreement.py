"""Disagreement of two rankings: the topics on which they differ most, the documents that move most, and the causes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.contracts.base import Explanation
from sublex.errors import InputError
from sublex.evaluation.run_evaluation import evaluate
from sublex.evaluation.systems import run_system
from sublex.forms.frames import data_frame
from sublex.forms.parts import InParts, Part
from sublex.forms.tables import Table
from sublex.pipeline.difference import units
from sublex.statistics.agreement import rbo, tau_ap
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import counted, cut

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics

# The number of hits for a topic in the runs that are measured, and the number of first hits that are compared.
RUN_HITS, DEPTH = 1000, 100
# To find the causes of a move, a document is compared with this number of first documents of each ranking.
TOP = 10
# The number of words or topics that are named for a document.
CAUSES = 3


class Wanted(NamedTuple):
    """The numbers of topics and of documents per topic to show, and the depth to which rankings are compared.

    `measure` is the measure of both rankings, if there are judgements.
    """

    topics: int = 10
    documents: int = 5
    depth: int = DEPTH
    measure: str = "AP"


class Cause(NamedTuple):
    """A part of a score, such as a word or topic, and how far it moves a document up, in standard deviations of scores."""

    label: str
    moves: float


class Mover(NamedTuple):
    """A document that two rankings place differently.

    `a` and `b` are its ranks; a rank below the compared depth is None. `causes` are the parts of the score that move it
    most in its direction. `grade` is None if the document is not judged. `right` is the ranking that the judgement
    supports, "a" or "b"; it is empty if there is none.
    """

    docno: str
    title: str
    a: int | None
    b: int | None
    causes: tuple[Cause, ...]
    grade: int | None
    right: str


class TopicDifference(NamedTuple):
    """The difference of two rankings on a topic. `scores` are the measures of both rankings; None without judgements."""

    qid: str
    text: str
    rbo: float
    tau: float
    scores: tuple[float, float] | None
    movers: tuple[Mover, ...]


class Disagreement(InParts):
    """Two rankings of the same topics. `topics` begin with the largest differences, and the first of them have `movers`."""

    def __init__(self, names: tuple[str, str], topics: Sequence[TopicDifference], wanted: Wanted):
        self.names, self.topics, self.wanted = names, tuple(topics), wanted

    @property
    def shown(self) -> tuple[TopicDifference, ...]:
        """The topics that differ most."""
        return self.topics[: self.wanted.topics]

    def parts(self) -> list[Part]:
        """Return a table of topics, and a table of documents for each topic shown."""
        a, b = self.names
        mean = float(np.mean([topic.rbo for topic in self.topics]))
        found: list[Part] = [
            f"{b} against {a}: mean RBO {mean:.4f} over {counted(len(self.topics), 'topic')}",
            self.table(),
        ]
        for topic in self.shown:
            if topic.movers:
                found += [f"Topic {topic.qid}: {topic.text}", _movers_table(topic.movers, self.names)]
        return found

    def table(self) -> Table:
        """Return a table with a row for each topic shown."""
        is_judged = any(topic.scores for topic in self.topics)
        measured = [f"{self.wanted.measure} {name}" for name in self.names] if is_judged else []
        rows = []
        for topic in self.shown:
            scores = [f"{score:.4f}" for score in topic.scores] if topic.scores else ["-", "-"]
            tau = "-" if math.isnan(topic.tau) else f"{topic.tau:.4f}"
            rows.append([topic.qid, cut(topic.text), f"{topic.rbo:.4f}", tau, *(scores if is_judged else [])])
        return Table(["topic", "query", "RBO", "τ_AP", *measured], rows, 2)

    def to_json(self) -> dict[str, Any]:
        """Return all topics as a value for JSON."""
        a, b = self.names
        topics = []
        for each in self.topics:
            movers = [
                {**mover._asdict(), "causes": [cause._asdict() for cause in mover.causes]} for mover in each.movers
            ]
            topics.append({**each._asdict(), "movers": movers})
        return {"a": a, "b": b, "measure": self.wanted.measure, "depth": self.wanted.depth, "topics": topics}

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each topic; pandas must be installed."""
        names = ("qid", "text", "rbo", "tau")
        columns: dict[str, list[Any]] = {name: [getattr(topic, name) for topic in self.topics] for name in names}
        if any(topic.scores for topic in self.topics):
            for place, name in enumerate("ab"):
                scores = [topic.scores[place] if topic.scores else math.nan for topic in self.topics]
                columns[f"{self.wanted.measure} {name}"] = scores
        return data_frame(columns)

    def __repr__(self) -> str:
        return f"<{' and '.join(self.names)} over {counted(len(self.topics), 'topic')}>"


def _movers_table(movers: Sequence[Mover], names: tuple[str, str]) -> Table:
    is_judged = any(mover.grade is not None for mover in movers)
    has_titles = any(mover.title for mover in movers)
    head = ["document", *(["title"] if has_titles else []), "moved by", f"rank {names[0]}", f"rank {names[1]}"]
    rows = []
    for mover in movers:
        causes = ", ".join(f"{cause.label} {cause.moves:+.2f}" for cause in mover.causes) or "-"
        row = [mover.docno, *([cut(mover.title)] if has_titles else []), causes]
        row += ["-" if rank is None else f"{rank:,}" for rank in (mover.a, mover.b)]
        if is_judged:
            right = names["ab".index(mover.right)] if mover.right else "-"
            row += ["-" if mover.grade is None else f"{mover.grade}", right]
        rows.append(row)
    return Table([*head, *(["grade", "right"] if is_judged else [])], rows, 2 + has_titles)


def disagreement(
    index: Index,
    topics: Topics,
    pipelines: tuple[Pipeline, Pipeline],
    qrels: Qrels | None = None,
    wanted: Wanted = Wanted(),  # noqa: B008, a Wanted never changes
    language: str = "plain",
    progress: Callable[[int], None] = lambda topics: None,
) -> Disagreement:
    """Run two pipelines over topics, and return their disagreement, with the documents that move and the causes.

    The topics with the smallest RBO come first. Raise InputError if both pipelines are the same.
    """
    a, b = map(str, pipelines)
    if a == b:
        raise InputError(f"Both rankings are {a}; name two.")
    runs = [run_system(index, topics, each, RUN_HITS, progress=progress, language=language).run for each in pipelines]
    queries = dict(zip([topic.qid for topic in topics], index.queries(topics, language), strict=True))
    measured = _scores(topics, qrels, runs, wanted.measure) if qrels is not None else {}
    found = []
    for topic in topics:
        lists = [run.docnos.take(run.topic(topic.qid)[0][: wanted.depth]).tolist() for run in runs]
        found.append((topic, lists, rbo(lists[0], lists[1]), tau_ap(lists[0], lists[1], True)))
    found.sort(key=lambda each: (each[2], each[3] if each[3] == each[3] else 1.0))
    differences = []
    for place, (topic, lists, overlap, tau) in enumerate(found):
        grades = qrels[topic.qid] if qrels is not None and topic.qid in qrels else {}
        movers: tuple[Mover, ...] = ()
        if place < wanted.topics and overlap < 1:
            movers = _movers(index, queries[topic.qid], pipelines, lists, grades, wanted)
        differences.append(TopicDifference(topic.qid, topic.text, overlap, tau, measured.get(topic.qid), movers))
    return Disagreement((a, b), differences, wanted)


def _scores(topics: Topics, qrels: Qrels, runs: Sequence[Any], measure: str) -> dict[str, tuple[float, float]]:
    """Return, for each judged topic, the scores of both runs by the measure."""
    qids = [topic.qid for topic in topics if topic.qid in qrels]
    if not qids:
        raise InputError("No topic is judged; give the judgements of these topics.")
    first, second = (evaluate(qrels, run, [measure], topics=qids) for run in runs)
    return dict(zip(qids, zip(first.values[:, 0].tolist(), second.values[:, 0].tolist(), strict=True), strict=True))


def _movers(
    index: Index,
    query: Any,
    pipelines: Sequence[Pipeline],
    lists: Sequence[list[str]],
    grades: Mapping[str, int],
    wanted: Wanted,
) -> tuple[Mover, ...]:
    """Return the documents of a topic whose ranks differ most between two rankings, with the causes of their moves.

    `lists` has the docnos of each ranking, best first. `grades` has the grades of the topic's judged documents.
    """
    ranks = [{docno: rank for rank, docno in enumerate(ranked, 1)} for ranked in lists]
    docnos = list(dict.fromkeys(docno for ranked in lists for docno in ranked))
    rises = {docno: _gain(ranks[1].get(docno)) - _gain(ranks[0].get(docno)) for docno in docnos}
    moved = sorted((docno for docno in docnos if rises[docno]), key=lambda docno: -abs(rises[docno]))[
        : wanted.documents
    ]
    tops = dict.fromkeys(docno for ranked in lists for docno in ranked[:TOP])
    compared = list(dict.fromkeys([*tops, *moved]))
    docs = [int(index.doc(docno) or 0) for docno in compared]
    before, after = (standardised(each.explanations(query, docs), len(tops)) for each in pipelines)
    movers = []
    for docno in moved:
        place = compared.index(docno)
        direction, grade = math.copysign(1, rises[docno]), grades.get(docno)
        gaps = {
            label: after[place].get(label, 0.0) - before[place].get(label, 0.0)
            for label in (*before[place], *(label for label in after[place] if label not in before[place]))
        }
        causes = sorted(gaps.items(), key=lambda gap: -gap[1] * direction)[:CAUSES]
        kept = tuple(Cause(label, value) for label, value in causes if value * direction > 0.005)
        right = "" if grade is None else "b" if (grade > 0) == (direction > 0) else "a"
        shown = index.snapshot.shown(docs[place])
        movers.append(
            Mover(docno, shown.heading() if shown else "", ranks[0].get(docno), ranks[1].get(docno), kept, grade, right)
        )
    return tuple(movers)


def _gain(rank: int | None) -> float:
    """Return the discount of a rank, as in nDCG; 0 for a document without a rank."""
    return 1 / math.log2(1 + rank) if rank else 0.0


def standardised(trees: Sequence[Explanation], first: int | None = None) -> list[dict[str, float]]:
    """For each explanation, return its parts, such as words, with their share of the document's standard score.

    A standard score is the score minus the mean, in standard deviations. Mean and deviation are those of the `first`
    documents, by default of all. The shares of all parts add up to the standard score, so two rankings with different
    scales can be compared. A document that was not found has no parts.
    """
    found: list[dict[str, float]] = []
    for tree in trees:
        parts: dict[str, float] = {}
        for unit in units(tree) if math.isfinite(tree.value) else ():
            if math.isfinite(unit.value):
                label = unit.label if unit.label != "offset" else f"offset of {unit.part}"
                parts[label] = parts.get(label, 0.0) + unit.value
        found.append(parts)
    labels = list(dict.fromkeys(label for parts in found for label in parts))
    table = np.array([[parts.get(label, 0.0) for label in labels] for parts in found]).reshape(len(found), len(labels))
    spread = float(table[:first].sum(1).std()) if labels else 0.0
    if not spread:
        return [{} for _ in found]
    shares = (table - table[:first].mean(0)) / spread
    return [dict(zip(labels, row, strict=True)) for row in shares.tolist()]


resolve_hints(__name__)
