"""A run file line by line: what its cells get wrong, and the run that is left."""

from __future__ import annotations

import numpy as np

from sublex.lint.check_run import check_run, not_finite
from sublex.lint.check_ties import groups
from sublex.lint.findings import ERROR, NOTE, Finding, Placed, counted, finding, shown, some
from sublex.lint.read_lines import Rows, read_rows, without_header
from sublex.readers.source import FileSource
from sublex.trec.columns import first_repeated, offsets
from sublex.trec.run_reader import NUMBER, Layout
from sublex.trec.runs import Run, ranking

# What C and Python take for numbers, and a run must not hold.
ENDLESS = ("nan", "inf", "infinity")


def lint_run(source: FileSource, layout: Layout) -> tuple[str, list[Finding], Placed]:
    """What the file holds, what is wrong with it, and the run of its sound lines."""
    path = source.path
    rows, found = read_rows(source, layout.columns, "qid Q0 docno rank score tag")
    junk = _scores(rows, layout.score)[1]
    rows, header = without_header(path, rows, not len(junk) or not junk[0])
    values, junk = _scores(rows, layout.score)
    found += header
    with np.errstate(over="ignore"):
        scores = values.astype(np.float32)
    endless = ~np.isfinite(scores) & ~junk
    if junk.any():
        at = np.flatnonzero(junk)
        found.append(finding(
            path, rows.lines[at], "score", ERROR,
            f"The score {shown(rows.cell(at[0], layout.score))} is not a number: trec_eval reads the digits it begins with, or 0, "
            "and Sublex refuses the run.",
        ))  # fmt: skip
    if endless.any():
        at = np.flatnonzero(endless)
        found.append(not_finite(path, rows.lines[at], shown(rows.cell(at[0], layout.score))))
    sound = ~junk & ~endless
    rows, values, scores = rows.where(sound), values[sound], scores[sound]
    found += _rank(path, rows, layout, values)
    kept, repeated = _repeated(path, rows, layout, scores)
    rows, values, scores = rows.where(kept), values[kept], scores[kept]
    found += repeated + _tags(path, rows, layout)
    given, values = _run(path, rows, layout, values, scores)
    found += _float32(given, values) + check_run(given)
    what = f"{counted(len(given.lines), 'hit')} of {counted(len(given.columns), 'topic')}"
    return what, found, given


def _scores(rows: Rows, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Each row's score, and whether it is no number at all."""
    texts = rows.tables[column].tobytes()
    numbers = [NUMBER.fullmatch(text) is not None for text in texts]
    values = [float(text) if number else np.nan for text, number in zip(texts, numbers, strict=True)]
    junk = [
        not number and text.decode("latin-1").lower().lstrip("+-") not in ENDLESS
        for text, number in zip(texts, numbers, strict=True)
    ]
    at = rows.numbers[column]
    return np.array(values, np.float64)[at], np.array(junk, np.bool_)[at]


def _repeated(path: str, rows: Rows, layout: Layout, scores: np.ndarray) -> tuple[np.ndarray, list[Finding]]:
    """Which rows are the first of their topic and document, and what is wrong with the others."""
    earlier, later = first_repeated(rows.numbers[layout.qid], rows.numbers[layout.docno])
    kept = np.ones(len(scores), np.bool_)
    kept[later] = False
    found = []
    same = scores[earlier] == scores[later]
    for chosen, how in ((same, "with the same score"), (~same, "with another score")):
        a, b = earlier[chosen], later[chosen]
        if len(b):
            order = np.argsort(rows.lines[b])
            a, b = a[order], b[order]
            refuses = ", and Sublex refuses the run" if how.endswith("another score") else " and Sublex counts one"
            found.append(finding(
                path, rows.lines[b], "duplicate", ERROR,
                f"Topic {shown(rows.cell(b[0], layout.qid))} has {shown(rows.cell(b[0], layout.docno))} already on line "
                f"{rows.lines[a[0]]}, {how}: trec_eval stops, ir_measures takes the last line{refuses}; keep one.",
            ))  # fmt: skip
    return kept, found


def _rank(path: str, rows: Rows, layout: Layout, values: np.ndarray) -> list[Finding]:
    """Ranks that say otherwise than the scores."""
    column = layout.score - 1
    texts = rows.tables[column].tobytes()
    known = np.array([int(text) if text.isdigit() and len(text) < 18 else -1 for text in texts], np.int64)
    ranks, topics = known[rows.numbers[column]], rows.numbers[layout.qid]
    order = np.lexsort((-values, ranks, topics))
    order = order[ranks[order] >= 0]
    below, above = order[1:], order[:-1]
    steps = (topics[below] == topics[above]) & (ranks[below] > ranks[above])
    rising = steps & (values[below] > values[above])
    if not rising.any():
        return []
    wrong = np.unique(topics[below[rising]])
    inside = np.zeros(len(rows.tables[layout.qid]), np.bool_)
    inside[wrong] = True
    falling = steps & inside[topics[below]] & (values[below] < values[above])
    # One line for each topic: the first of those that the ranks put too low.
    lines = np.full(len(inside), np.iinfo(np.int64).max)
    np.minimum.at(lines, topics[below[rising]], rows.lines[below[rising]])
    lines = np.sort(lines[wrong])
    pair = np.flatnonzero(rising & (rows.lines[below] == lines[0]))[0]
    low, high = below[pair], above[pair]
    distances = "" if falling.any() else "; no score falls with the ranks, so if they are distances, negate them"
    return [finding(
        path, lines, "rank", ERROR,
        f"In topic {shown(rows.cell(low, layout.qid))} {shown(rows.cell(low, layout.docno))} scores {values[low]:.6g} at rank "
        f"{ranks[low]} and {shown(rows.cell(high, layout.docno))} {values[high]:.6g} at rank {ranks[high]}: trec_eval and Sublex do "
        f"not look at ranks and order by score, so figures do not follow the ranks{distances}.",
    )]  # fmt: skip


def _tags(path: str, rows: Rows, layout: Layout) -> list[Finding]:
    tags = rows.tables[layout.tag] if layout.tag >= 0 else []
    if len(tags) < 2:
        return []
    firsts = np.sort(np.unique(rows.numbers[layout.tag], return_index=True)[1])[1:]
    return [finding(
        path, rows.lines[firsts], "tag", NOTE,
        f"The run has {len(tags):,} tags ({some(tags)}): figures are of all lines together, under the name that the last line has "
        "in trec_eval and the first in Sublex; write one run a file.",
    )]  # fmt: skip


def _run(
    path: str, rows: Rows, layout: Layout, values: np.ndarray, scores: np.ndarray
) -> tuple[Placed, np.ndarray]:  # fmt: skip
    """The run with the line of each hit, and its scores in full."""
    topics, docs, docnos = rows.numbers[layout.qid], rows.numbers[layout.docno], rows.tables[layout.docno]
    order = ranking(topics, docs, scores, docnos)
    qids = rows.tables[layout.qid].tolist()
    tag = rows.cell(0, layout.tag) if layout.tag >= 0 and len(docs) else ""
    run = Run(qids, offsets(topics[order], len(qids)), docs[order], scores[order], docnos, tag)
    return Placed(run, path, rows.lines[order]), values[order]


def _float32(given: Placed, values: np.ndarray) -> list[Finding]:
    """Scores that differ in the file and are one as float32."""
    tied = groups(given.columns)
    if not len(tied.starts):
        return []
    low, high = np.minimum.reduceat(values, tied.starts), np.maximum.reduceat(values, tied.starts)
    wrong = np.flatnonzero(low < high)
    if not len(wrong):
        return []
    # Hits of one group that stand below others and score higher.
    against = np.unique(tied.members[1:][(tied.members[1:] == tied.members[:-1]) & (values[1:] > values[:-1])])
    lines = np.minimum.reduceat(given.lines, tied.starts)[wrong]
    order = np.argsort(lines, kind="stable")
    group = wrong[order[0]]
    qid = given.columns.qids[int(np.searchsorted(given.columns.offsets, tied.starts[group], side="right")) - 1]
    return [finding(
        given.file, lines[order], "float32", ERROR if len(against) else NOTE,
        f"In topic {shown(qid)} the scores {float(high[group])!r} and {float(low[group])!r} are one as float32, as which trec_eval "
        f"and Sublex compare them: docnos order such hits, in {len(against):,} of {counted(len(wrong), 'case')} against the scores.",
    )]  # fmt: skip
