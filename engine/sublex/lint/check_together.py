"""Runs, judgements, topics and documents against each other: whether they speak of the same things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sublex.lint.check_ids import Meeting, check_near, meet
from sublex.lint.check_run import ties
from sublex.lint.check_ties import UNJUDGED, bounds_of, grades_of, groups, topics_of
from sublex.lint.findings import ERROR, NOTE, Finding, Ids, Placed, counted, finding, placed, shown, some
from sublex.strings import Strings
from sublex.trec.qrels import Qrels
from sublex.trec.runs import Run
from sublex.trec.topics import Topics

# A smaller difference in AP does not show in four decimals.
VISIBLE = 5e-5


def check_together(
    runs: Sequence[Run | Placed],
    qrels: Qrels | Placed | None,
    topics: Topics | Ids | None = None,
    docnos: Iterable[str] | Ids | None = None,
) -> list[Finding]:
    """What keeps these from fitting each other; `docnos` are those of the index or collection."""
    given = [placed(run) for run in runs]
    judged = None if qrels is None else placed(qrels)
    asked = _topics(topics)
    known = docnos if docnos is None or isinstance(docnos, Ids) else _ids(Strings.of(docnos), "the index")
    found: list[Finding] = []
    for run in given:
        if judged:
            found += _judged(run, judged)
        if asked:
            found += _asked(run, asked)
        if known:
            found += _unknown(run, known)
    if judged and asked:
        found += _judged_topics(judged, asked)
    if judged and known:
        found += _unknown(judged, known)
    return found


def _topics(topics: Topics | Ids | None) -> Ids | None:
    if topics is None or isinstance(topics, Ids):
        return topics
    return _ids(Strings.of(topic.qid for topic in topics), topics.path or "the topics")


def _ids(strings: Strings, file: str) -> Ids:
    return Ids(strings, file, np.zeros(len(strings), np.int64))


def _judged(run: Placed, qrels: Placed) -> Iterator[Finding]:
    """A run against its judgements."""
    mine, theirs = run.qids(), qrels.qids()
    met = meet(mine.strings, theirs.strings)
    if len(mine.strings) and len(theirs.strings) and not met.mine_known.any():
        yield _strangers(mine, theirs, "topic id")
        yield from check_near(mine, theirs, "topic id", met)
        return
    yield from check_near(mine, theirs, "topic id", met)
    missing = np.flatnonzero(~met.theirs_known)
    if len(missing):
        yield finding(
            run.file, [0] * len(missing), "missing", ERROR,
            f"{counted(len(missing), 'judged topic')} of {qrels.file} ({some(theirs.strings.take(missing))}) "
            f"{'are' if len(missing) > 1 else 'is'} not in the run: Sublex counts such a topic 0, as trec_eval does with -c, while "
            "without it trec_eval leaves it out of the mean.",
        )  # fmt: skip
    extra = mine.first(np.flatnonzero(~met.mine_known))
    if len(extra):
        yield finding(
            run.file, mine.lines[extra], "unjudged", NOTE,
            f"Topic {shown(mine.strings[extra[0]])} has no judgements in {qrels.file}: it counts for nothing.",
        )  # fmt: skip
    if not len(mine.strings):
        return
    grades = grades_of(run.columns, qrels.columns)
    if (grades == UNJUDGED).all():
        yield from _no_common_document(run, qrels)
        return
    yield from check_near(run.docnos(), qrels.docnos(), "docno", meet(run.columns.docnos, qrels.columns.docnos))
    yield from _tied(run, qrels, grades)


def _strangers(mine: Ids, theirs: Ids, what: str) -> Finding:
    first = mine.first(np.arange(len(mine.strings)))
    return finding(
        mine.file, mine.lines[first[:1]], "overlap", ERROR,
        f"No {what} of the run is in {theirs.file}: every measure will be 0, because the one says "
        f"{some(mine.strings.take(first))} and the other {some(theirs.strings)}.",
        len(first),
    )  # fmt: skip


def _no_common_document(run: Placed, qrels: Placed) -> Iterator[Finding]:
    mine, theirs = run.docnos(), qrels.docnos()
    met = meet(mine.strings, theirs.strings)
    if not met.mine_known.any():
        yield _strangers(mine, theirs, "docno")
        yield from check_near(mine, theirs, "docno", met)
        return
    yield finding(
        run.file, run.lines[:1], "overlap", ERROR,
        f"No topic of the run has a document that {qrels.file} judges for that topic, only for others: every measure will be 0, "
        "perhaps because the topics are numbered in another way.",
    )  # fmt: skip


def _tied(run: Placed, qrels: Placed, grades: np.ndarray) -> Iterator[Finding]:
    """What the ties can make of AP."""
    tied = groups(run.columns)
    several = np.flatnonzero(tied.sizes > 1)
    if not len(several):
        return
    bounds = bounds_of(run.columns, qrels.columns, grades)
    worst, actual, best = bounds.means()
    lines = np.sort(np.minimum.reduceat(run.lines, tied.starts)[several])
    topics = len(np.unique(topics_of(run.columns)[tied.starts[several]]))
    differ = int((bounds.best - bounds.worst > VISIBLE).sum())
    if differ:
        leads = (
            f"by the order of ties AP lies between {worst:.4f} and {best:.4f} over the judged topics, {actual:.4f} as trec_eval and "
            f"Sublex order them (by docno, the last first), and {counted(differ, 'topic')} can change"
        )
    else:
        leads = f"AP is {actual:.4f} over the judged topics in any order"
    severity = ERROR if f"{best:.4f}" != f"{worst:.4f}" else NOTE
    yield finding(run.file, lines, "tie", severity, f"{ties(tied, topics)}: {leads}.")


def _asked(run: Placed, topics: Ids) -> Iterator[Finding]:
    """A run against the topics it was made for."""
    mine = run.qids()
    met = meet(mine.strings, topics.strings)
    yield from check_near(mine, topics, "topic id", met)
    extra = mine.first(np.flatnonzero(~met.mine_known))
    if len(extra):
        yield finding(
            run.file, mine.lines[extra], "topic", NOTE,
            f"Topic {shown(mine.strings[extra[0]])} is not in {topics.file}: the run was made for other topics.",
        )  # fmt: skip
    lacking = np.flatnonzero(~met.theirs_known)
    if len(lacking) and met.mine_known.any():
        yield finding(
            run.file, [0] * len(lacking), "topic", NOTE,
            f"{counted(len(lacking), 'topic')} of {topics.file} ({some(topics.strings.take(lacking))}) "
            f"{'have' if len(lacking) > 1 else 'has'} no hits: nothing was found or the run was cut short.",
        )  # fmt: skip


def _judged_topics(qrels: Placed, topics: Ids) -> Iterator[Finding]:
    """Judgements against the topics."""
    mine = qrels.qids()
    met = meet(mine.strings, topics.strings)
    yield from check_near(mine, topics, "topic id", met)
    extra = mine.first(np.flatnonzero(~met.mine_known))
    if len(extra):
        yield finding(
            qrels.file, mine.lines[extra], "topic", ERROR,
            f"Topic {shown(mine.strings[extra[0]])} is judged and not in {topics.file}: no run of these topics can have it, and it "
            "counts 0 in every mean.",
        )  # fmt: skip
    unjudged = topics.first(np.flatnonzero(~met.theirs_known))
    if len(unjudged):
        yield finding(
            topics.file, topics.lines[unjudged], "unjudged", NOTE,
            f"Topic {shown(topics.strings[unjudged[0]])} has no judgements in {qrels.file}: it counts for nothing.",
        )  # fmt: skip


def _unknown(given: Placed, known: Ids) -> Iterator[Finding]:
    """Documents that the index or the collection does not hold."""
    mine = given.docnos()
    met: Meeting = meet(mine.strings, known.strings)
    yield from check_near(mine, known, "docno", met)
    unknown = mine.first(np.flatnonzero(~met.mine_known))
    if not len(unknown):
        return
    leads = (
        "no run over it can find the document, so recall stays below 1 where it is relevant"
        if isinstance(given.columns, Qrels)
        else "the run was made over other documents"
    )
    yield finding(
        given.file, mine.lines[unknown], "unknown", ERROR,
        f"{shown(mine.strings[unknown[0]])} is not in {known.file}: {leads}.",
    )  # fmt: skip


def index_docnos(index: Any) -> Ids:
    """The docnos of an open index's live documents."""
    segments = index.snapshot.segments
    arenas, sizes = zip(*(segment.docnos.arrays() for segment in segments), strict=True) if segments else ((), ())
    arena = np.concatenate([np.empty(0, np.uint8), *arenas])
    size = np.concatenate([np.empty(0, np.int64), *sizes])
    live = np.flatnonzero(~np.concatenate([np.empty(0, np.bool_), *(segment.dead for segment in segments)]))
    return _ids(Strings(arena, np.cumsum(size) - size, size).take(live), str(index.path))
