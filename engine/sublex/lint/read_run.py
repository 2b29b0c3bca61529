"""Read a run file past every mistake: findings about its lines and cells, and the run that is left."""

from __future__ import annotations

import numpy as np

from sublex.lint.check_run import check_run, not_finite
from sublex.lint.check_ties import groups
from sublex.lint.findings import ERROR, NOTE, Finding, show_id, show_ids
from sublex.lint.located import Located
from sublex.lint.read_rows import Rows, read_rows, without_header
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.trec.columns import first_repeated, offsets
from sublex.trec.run_reader import NUMBER, Layout
from sublex.trec.runs import Run, ranking

# Texts that C and Python read as numbers, but that are not finite.
NOT_FINITE = ("nan", "inf", "infinity")


def lint_run(source: FileSource, layout: Layout) -> tuple[str, list[Finding], Located]:
    """Read and check a run file of this layout.

    Return what it holds in words, the findings about it, and the run of its sound lines.
    """
    path = source.path
    rows, findings = read_rows(source, layout.columns, "qid Q0 docno rank score tag")
    junk = _scores(rows, layout.score)[1]
    rows, header = without_header(path, rows, not len(junk) or not junk[0])
    values, junk = _scores(rows, layout.score)
    with np.errstate(over="ignore"):
        scores = values.astype(np.float32)
    infinite = ~np.isfinite(scores) & ~junk
    findings += header + _bad_scores(path, rows, layout.score, junk, infinite)
    sound = ~junk & ~infinite
    rows, values, scores = rows.where(sound), values[sound], scores[sound]
    findings += _ranks(path, rows, layout, values)
    first, repeated = _repeated(path, rows, layout, scores)
    rows, values, scores = rows.where(first), values[first], scores[first]
    findings += repeated + _tags(path, rows, layout)
    located, values = _run(path, rows, layout, values, scores)
    findings += _equal_as_float32(located, values) + check_run(located)
    what = f"{counted(len(located.lines), 'hit')} of {counted(len(located.columns), 'topic')}"
    return what, findings, located


def _scores(rows: Rows, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the score of each row, float64, and a mask of the rows with a text that is no number at all."""
    texts = rows.tables[column].tobytes()
    numbers = [NUMBER.fullmatch(text) is not None for text in texts]
    values = [float(text) if number else np.nan for text, number in zip(texts, numbers, strict=True)]
    junk = [
        not number and text.decode("latin-1").lower().lstrip("+-") not in NOT_FINITE
        for text, number in zip(texts, numbers, strict=True)
    ]
    at = rows.numbers[column]
    return np.array(values, np.float64)[at], np.array(junk, np.bool_)[at]


def _bad_scores(path: str, rows: Rows, column: int, junk: np.ndarray, infinite: np.ndarray) -> list[Finding]:
    findings = []
    if junk.any():
        at = np.flatnonzero(junk)
        findings.append(Finding.at(
            path, rows.lines[at], "score", ERROR,
            f"The score {show_id(rows.cell(at[0], column))} is not a number: trec_eval reads the digits at its beginning, or 0, "
            "and Sublex refuses the run.",
        ))  # fmt: skip
    if infinite.any():
        at = np.flatnonzero(infinite)
        findings.append(not_finite(path, rows.lines[at], show_id(rows.cell(at[0], column))))
    return findings


def _repeated(path: str, rows: Rows, layout: Layout, scores: np.ndarray) -> tuple[np.ndarray, list[Finding]]:
    """Return a mask of the rows that have a document of a topic for the first time, and findings about the others."""
    earlier, later = first_repeated(rows.numbers[layout.qid], rows.numbers[layout.docno])
    first = np.ones(len(scores), np.bool_)
    first[later] = False
    findings = []
    same = scores[earlier] == scores[later]
    for chosen, score, sublex in (
        (same, "with the same score", " and Sublex counts one"),
        (~same, "with another score", ", and Sublex refuses the run"),
    ):
        a, b = earlier[chosen], later[chosen]
        if len(b):
            order = np.argsort(rows.lines[b])
            a, b = a[order], b[order]
            findings.append(Finding.at(
                path, rows.lines[b], "duplicate", ERROR,
                f"Topic {show_id(rows.cell(b[0], layout.qid))} has {show_id(rows.cell(b[0], layout.docno))} already on line "
                f"{rows.lines[a[0]]}, {score}: trec_eval stops, ir_measures takes the last line{sublex}; keep one.",
            ))  # fmt: skip
    return first, findings


def _ranks(path: str, rows: Rows, layout: Layout, values: np.ndarray) -> list[Finding]:
    """Return a finding if hits with a higher rank number have a higher score."""
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
    is_wrong = np.zeros(len(rows.tables[layout.qid]), np.bool_)
    is_wrong[wrong] = True
    falling = steps & is_wrong[topics[below]] & (values[below] < values[above])
    # One line for each topic: the first of its hits whose rank is too low for its score.
    lines = np.full(len(is_wrong), np.iinfo(np.int64).max)
    np.minimum.at(lines, topics[below[rising]], rows.lines[below[rising]])
    lines = np.sort(lines[wrong])
    pair = np.flatnonzero(rising & (rows.lines[below] == lines[0]))[0]
    low, high = below[pair], above[pair]
    distances = "" if falling.any() else ". No score falls as ranks go down: if the scores are distances, negate them"
    return [Finding.at(
        path, lines, "rank", ERROR,
        f"In topic {show_id(rows.cell(low, layout.qid))} {show_id(rows.cell(low, layout.docno))} has the score {values[low]:.6g} at "
        f"rank {ranks[low]}, and {show_id(rows.cell(high, layout.docno))} has {values[high]:.6g} at rank {ranks[high]}: trec_eval and "
        f"Sublex order by score and ignore ranks, so measures do not follow the ranks{distances}.",
    )]  # fmt: skip


def _tags(path: str, rows: Rows, layout: Layout) -> list[Finding]:
    tags = rows.tables[layout.tag] if layout.tag >= 0 else []
    if len(tags) < 2:
        return []
    firsts = np.sort(np.unique(rows.numbers[layout.tag], return_index=True)[1])[1:]
    return [Finding.at(
        path, rows.lines[firsts], "tag", NOTE,
        f"The run has {len(tags):,} tags ({show_ids(tags)}): all lines are measured together, under the tag of the last line in "
        "trec_eval and of the first line in Sublex; write each run to its own file.",
    )]  # fmt: skip


def _run(
    path: str, rows: Rows, layout: Layout, values: np.ndarray, scores: np.ndarray
) -> tuple[Located, np.ndarray]:  # fmt: skip
    """Return the rows as a run with the line of each hit, and the scores of its hits as float64."""
    topics, docs, docnos = rows.numbers[layout.qid], rows.numbers[layout.docno], rows.tables[layout.docno]
    order = ranking(topics, docs, scores, docnos)
    qids = rows.tables[layout.qid].tolist()
    tag = rows.cell(0, layout.tag) if layout.tag >= 0 and len(docs) else ""
    run = Run(qids, offsets(topics[order], len(qids)), docs[order], scores[order], docnos, tag)
    return Located(run, path, rows.lines[order]), values[order]


def _equal_as_float32(located: Located, values: np.ndarray) -> list[Finding]:
    """Return a finding if scores that differ in the file are equal as float32."""
    tied = groups(located.columns)
    if not len(tied.starts):
        return []
    low, high = np.minimum.reduceat(values, tied.starts), np.maximum.reduceat(values, tied.starts)
    wrong = np.flatnonzero(low < high)
    if not len(wrong):
        return []
    # The groups in which a hit has a higher score than the hit above it.
    against = np.unique(tied.members[1:][(tied.members[1:] == tied.members[:-1]) & (values[1:] > values[:-1])])
    lines = np.minimum.reduceat(located.lines, tied.starts)[wrong]
    order = np.argsort(lines, kind="stable")
    group = wrong[order[0]]
    qid = located.columns.qids[int(np.searchsorted(located.columns.offsets, tied.starts[group], side="right")) - 1]
    return [Finding.at(
        located.file, lines[order], "float32", ERROR if len(against) else NOTE,
        f"In topic {show_id(qid)} the scores {float(high[group])!r} and {float(low[group])!r} are equal as float32, which trec_eval "
        f"and Sublex compare: docnos order such hits, against the scores in {len(against):,} of {counted(len(wrong), 'case')}; "
        "scale the scores apart.",
    )]  # fmt: skip
