"""Check the lines of a run file: ranks against scores, scores that are equal as float32, several tags."""

from __future__ import annotations

import numpy as np

from sublex.lint.check_ties import groups
from sublex.lint.findings import ERROR, NOTE, Finding, show_id, show_ids
from sublex.lint.located import Located
from sublex.tools.messages import counted
from sublex.trec.run_reader import RunFile


def check_lines(file: RunFile, path: str) -> tuple[list[Finding], Located]:
    """Return the findings about the lines of a run file, and the hits of the file as a run."""
    order = file.order()
    located = Located(file.run(order), path, file.hits.lines[order])
    findings = [*_ranks(file, path), *_tags(file, path), *_equal_as_float32(located, file.details.scores[order])]
    return findings, located


def _ranks(file: RunFile, path: str) -> list[Finding]:
    """Return a finding if the rank numbers of a file contradict its scores."""
    hits, ranks, scores = file.hits, file.details.ranks, file.details.scores
    order = np.lexsort((-scores, ranks, hits.topics))
    order = order[ranks[order] >= 0]
    below, above = order[1:], order[:-1]
    steps = (hits.topics[below] == hits.topics[above]) & (ranks[below] > ranks[above])
    rising = steps & (scores[below] > scores[above])
    if not rising.any():
        return []
    is_wrong = np.zeros(len(hits.qids), np.bool_)
    is_wrong[hits.topics[below[rising]]] = True
    falling = steps & is_wrong[hits.topics[below]] & (scores[below] < scores[above])
    # For each topic, keep one line: the first hit whose score is higher than that of a hit with a better rank.
    lines = np.full(len(is_wrong), np.iinfo(np.int64).max)
    np.minimum.at(lines, hits.topics[below[rising]], hits.lines[below[rising]])
    lines = np.sort(lines[is_wrong])
    pair = np.flatnonzero(rising & (hits.lines[below] == lines[0]))[0]
    low, high = below[pair], above[pair]
    distances = "" if falling.any() else ". No score falls as ranks go down: if the scores are distances, negate them"
    qid, *docnos = (show_id(text) for text in (hits.qids[hits.topics[low]], *hits.docnos.take(hits.docs[[low, high]])))
    return [Finding.at(
        path, lines, "rank", ERROR,
        f"In topic {qid} {docnos[0]} has the score {scores[low]:.6g} at rank {ranks[low]:.0f}, and {docnos[1]} has {scores[high]:.6g} at "
        f"rank {ranks[high]:.0f}: trec_eval and Sublex order by score and ignore ranks, so measures do not follow the ranks{distances}.",
    )]  # fmt: skip


def _tags(file: RunFile, path: str) -> list[Finding]:
    if len(file.tags) < 2:
        return []
    others = np.sort(np.unique(file.details.tags, return_index=True)[1])[1:]
    return [Finding.at(
        path, file.hits.lines[others], "tag", NOTE,
        f"The run has {len(file.tags):,} tags ({show_ids(file.tags)}): all lines are measured together, under the tag of the last "
        "line in trec_eval and of the first line in Sublex; write each run to its own file.",
    )]  # fmt: skip


def _equal_as_float32(located: Located, scores: np.ndarray) -> list[Finding]:
    """Return a finding if scores that differ in the file (float64, in the order of the run) are equal as float32."""
    tied = groups(located.columns)
    if not len(tied.starts):
        return []
    low, high = np.minimum.reduceat(scores, tied.starts), np.maximum.reduceat(scores, tied.starts)
    wrong = np.flatnonzero(low < high)
    if not len(wrong):
        return []
    # The groups of equal scores in which a hit has a higher score in the file than the hit above it.
    against = np.unique(tied.members[1:][(tied.members[1:] == tied.members[:-1]) & (scores[1:] > scores[:-1])])
    lines = np.minimum.reduceat(located.lines, tied.starts)[wrong]
    order = np.argsort(lines, kind="stable")
    group = wrong[order[0]]
    qid = located.columns.qids[located.columns.topic_of_rows()[tied.starts[group]]]
    return [Finding.at(
        located.file, lines[order], "float32", ERROR if len(against) else NOTE,
        f"In topic {show_id(qid)} the scores {float(high[group])!r} and {float(low[group])!r} are equal as float32, which trec_eval "
        f"and Sublex compare: docnos order such hits, against the scores in {len(against):,} of {counted(len(wrong), 'case')}; "
        "scale the scores apart.",
    )]  # fmt: skip
