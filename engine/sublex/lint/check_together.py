"""Check whether runs, judgements, topics and documents use the same ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sublex.lint.check_ids import check_near, match
from sublex.lint.check_run import describe_ties
from sublex.lint.check_ties import UNJUDGED, bounds_of, grades_of
from sublex.lint.findings import ERROR, NOTE, Finding, show_id, show_ids
from sublex.lint.located import Ids, Located, locate
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.qrels import Qrels
from sublex.trec.runs import Run
from sublex.trec.topics import Topics

# Measures are printed with four decimals. A smaller difference of AP is below that precision.
PRINTED = 1e-4


def check_together(
    runs: Sequence[Run | Located],
    qrels: Qrels | Located | None,
    topics: Topics | Ids | None = None,
    docnos: Iterable[str] | Ids | None = None,
) -> list[Finding]:
    """Return the findings about runs, judgements, topics and docnos that do not fit each other.

    `docnos` are the docnos of the index or collection. An argument that is None is not checked.
    """
    judged = None if qrels is None else locate(qrels)
    known_topics = topics if topics is None or isinstance(topics, Ids) else _topic_ids(topics)
    known_docnos = docnos if docnos is None or isinstance(docnos, Ids) else Ids.without_lines(docnos, "the index")
    findings: list[Finding] = []
    ranked = [locate(run) for run in runs]
    for located in [*ranked, judged] if judged else ranked:
        if judged and located is not judged:
            findings += _run_and_qrels(located, judged)
        if known_topics:
            findings += _unknown_topics(located, known_topics)
        if known_docnos:
            findings += _unknown_docnos(located, known_docnos)
    return findings


def index_docnos(index: Any) -> Ids:
    """Return the docnos of the documents in an open index, without deleted documents."""
    segments = index.snapshot.segments
    parts = [segment.docnos.arrays() for segment in segments]
    arena = np.concatenate([np.empty(0, np.uint8), *(arena for arena, _ in parts)])
    size = np.concatenate([np.empty(0, np.int64), *(sizes for _, sizes in parts)])
    live = np.flatnonzero(~np.concatenate([np.empty(0, np.bool_), *(segment.dead for segment in segments)]))
    return Ids.without_lines(Strings(arena, np.cumsum(size) - size, size).take(live), str(index.path))


def _topic_ids(topics: Topics) -> Ids:
    return Ids.without_lines((topic.qid for topic in topics), topics.path or "the topics")


def _run_and_qrels(run: Located, qrels: Located) -> Iterator[Finding]:
    mine, theirs = run.qids(), qrels.qids()
    matched = match(mine.strings, theirs.strings)
    if len(mine.strings) and len(theirs.strings) and not matched.mine_known.any():
        yield _nothing_in_common(mine, theirs, "topic id")
        yield from check_near(mine, theirs, "topic id", matched)
        return
    yield from check_near(mine, theirs, "topic id", matched)
    missing = np.flatnonzero(~matched.theirs_known)
    if len(missing):
        verb, each = ("are", "each such topic") if len(missing) > 1 else ("is", "the topic")
        yield Finding.at(
            run.file, [0] * len(missing), "missing", ERROR,
            f"{counted(len(missing), 'judged topic')} of {qrels.file} ({show_ids(theirs.strings.take(missing))}) {verb} not in the "
            f"run: Sublex counts {each} as 0, as trec_eval does with -c; without -c trec_eval leaves it out of the mean.",
        )  # fmt: skip
    extra = mine.by_line(np.flatnonzero(~matched.mine_known))
    if len(extra):
        yield Finding.at(
            run.file, mine.lines[extra], "unjudged", NOTE,
            f"Topic {show_id(mine.strings[extra[0]])} has no judgements in {qrels.file}: measures ignore it.",
        )  # fmt: skip
    if not len(run.lines):
        return
    grades = grades_of(run.columns, qrels.columns)
    if (grades == UNJUDGED).all():
        yield from _no_common_document(run, qrels)
        return
    yield from check_near(run.docnos(), qrels.docnos(), "docno", match(run.columns.docnos, qrels.columns.docnos))
    yield from _tied(run, qrels, grades)


def _nothing_in_common(mine: Ids, theirs: Ids, noun: str) -> Finding:
    first = mine.by_line(np.arange(len(mine.strings)))
    return Finding.at(
        mine.file, mine.lines[first[:1]], "overlap", ERROR,
        f"No {noun} of the run is in {theirs.file}: every measure will be 0. The run has {show_ids(mine.strings.take(first))} and "
        f"{theirs.file} has {show_ids(theirs.strings)}; use the files that belong together.",
        len(first),
    )  # fmt: skip


def _no_common_document(run: Located, qrels: Located) -> Iterator[Finding]:
    mine, theirs = run.docnos(), qrels.docnos()
    matched = match(mine.strings, theirs.strings)
    if not matched.mine_known.any():
        yield _nothing_in_common(mine, theirs, "docno")
        yield from check_near(mine, theirs, "docno", matched)
        return
    yield Finding.at(
        run.file, run.lines[:1], "overlap", ERROR,
        f"No topic of the run has a document that {qrels.file} judges for the same topic, only for other topics: every measure will "
        "be 0. Check that both files number the topics in the same way.",
    )  # fmt: skip


def _tied(run: Located, qrels: Located, grades: np.ndarray) -> Iterator[Finding]:
    """Yield a finding about ties, with the lowest and the highest AP that their order allows.

    The finding is an error if the order of ties changes the mean AP by a visible amount.
    """
    lines, ties = describe_ties(run)
    if not len(lines):
        return
    bounds = bounds_of(run.columns, qrels.columns, grades)
    worst, actual, best = bounds.means()
    changed = int((bounds.best > bounds.worst).sum())
    # The difference is rounded, so that 0.4124 and 0.4123 differ by PRINTED exactly.
    visible = round(best - worst, 9) >= PRINTED
    if visible:
        effect = (
            f"depending on the order of ties AP lies between {worst:.4f} and {best:.4f} over the judged topics. It is {actual:.4f} as "
            f"trec_eval and Sublex order them (by docno, the last first); {counted(changed, 'topic')} can change"
        )
    elif changed:
        effect = f"AP is {actual:.4f} over the judged topics, and the order of ties moves it by less than {PRINTED:.4f}"
    else:
        effect = f"AP is {actual:.4f} over the judged topics in any order"
    yield Finding.at(run.file, lines, "tie", ERROR if visible else NOTE, f"{ties}: {effect}.")


def _unknown_topics(located: Located, topics: Ids) -> Iterator[Finding]:
    """Yield findings about topics that only the run or judgements have, and topics that only the topics file has."""
    mine, is_run = located.qids(), isinstance(located.columns, Run)
    matched = match(mine.strings, topics.strings)
    yield from check_near(mine, topics, "topic id", matched)
    extra = mine.by_line(np.flatnonzero(~matched.mine_known))
    if len(extra):
        effect = (
            f"is not in {topics.file}: the run was made for other topics"
            if is_run
            else f"is judged but not in {topics.file}: a run of these topics cannot have it, so it counts as 0 in every mean"
        )
        text = f"Topic {show_id(mine.strings[extra[0]])} {effect}."
        yield Finding.at(located.file, mine.lines[extra], "topic", NOTE if is_run else ERROR, text)
    lacking = np.flatnonzero(~matched.theirs_known)
    if len(lacking) and not is_run:
        lacking = topics.by_line(lacking)
        yield Finding.at(
            topics.file, topics.lines[lacking], "unjudged", NOTE,
            f"Topic {show_id(topics.strings[lacking[0]])} has no judgements in {located.file}: measures ignore it.",
        )  # fmt: skip
    elif len(lacking) and matched.mine_known.any():
        yield Finding.at(
            located.file, [0] * len(lacking), "topic", NOTE,
            f"{counted(len(lacking), 'topic')} of {topics.file} ({show_ids(topics.strings.take(lacking))}) "
            f"{'have' if len(lacking) > 1 else 'has'} no hits: no document was found, or the run was cut short.",
        )  # fmt: skip


def _unknown_docnos(located: Located, known: Ids) -> Iterator[Finding]:
    """Yield findings about documents of a run or of judgements that `known`, an index or a collection, lacks."""
    mine = located.docnos()
    matched = match(mine.strings, known.strings)
    yield from check_near(mine, known, "docno", matched)
    unknown = mine.by_line(np.flatnonzero(~matched.mine_known))
    if not len(unknown):
        return
    effect = (
        "no run over it can find the document, so recall stays below 1 if it is relevant"
        if isinstance(located.columns, Qrels)
        else "the run was made over other documents"
    )
    yield Finding.at(
        located.file, mine.lines[unknown], "unknown", ERROR,
        f"{show_id(mine.strings[unknown[0]])} is not in {known.file}: {effect}.",
    )  # fmt: skip
