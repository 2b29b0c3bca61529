"""Ties: hits with equal scores, and the bounds of average precision over all orders of them.

trec_eval orders ties by docno, other tools in other ways. AP is highest if the relevant documents of each tie come first, and
lowest if they come last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.lint.check_ids import match
from sublex.trec.qrels import Qrels
from sublex.trec.runs import Run

# The value for "no grade". All grades in files are higher.
UNJUDGED = np.iinfo(np.int64).min


class Groups(NamedTuple):
    """The hits of a run, grouped by topic and score.

    `starts` has the first hit of each group, `sizes` the size of each group, and `members` the group of each hit.
    """

    starts: np.ndarray
    sizes: np.ndarray
    members: np.ndarray


class TieBounds(NamedTuple):
    """The average precision (AP) of each judged topic in three orders of ties: the worst, trec_eval's, and the best."""

    qids: tuple[str, ...]
    worst: np.ndarray
    actual: np.ndarray
    best: np.ndarray

    def means(self) -> tuple[float, float, float]:
        """Return three means of AP over all judged topics: worst, actual and best.

        A topic that the run lacks counts as 0.
        """
        judged = max(1, len(self.qids))
        return float(self.worst.sum()) / judged, float(self.actual.sum()) / judged, float(self.best.sum()) / judged


def groups(run: Run) -> Groups:
    """Return the hits of a run grouped by topic and score; a hit without a tie is a group of size 1."""
    first = np.ones(len(run.docs), np.bool_)
    first[1:] = run.scores[1:] != run.scores[:-1]
    begins = run.offsets[:-1]
    first[begins[begins < len(first)]] = True
    starts = np.flatnonzero(first)
    return Groups(starts, np.diff(starts, append=len(first)), np.cumsum(first) - 1)


def grades_of(run: Run, qrels: Qrels) -> np.ndarray:
    """Return the grade of each hit of the run. A hit without a grade has UNJUDGED."""
    matched = match(run.docnos, qrels.docnos)
    grades = np.full(len(run.docs), UNJUDGED)
    # The grades of the current topic, by document number. After each topic, the entries of its judged documents are
    # reset.
    of_topic = np.full(int(max(matched.mine.max(initial=-1), matched.theirs.max(initial=-1))) + 1, UNJUDGED)
    for qid in run.qids:
        if qid in qrels:
            rows, judged = run.slice(qid), qrels.slice(qid)
            docs = matched.theirs[qrels.docs[judged]]
            of_topic[docs] = qrels.grades[judged]
            grades[rows] = of_topic[matched.mine[run.docs[rows]]]
            of_topic[docs] = UNJUDGED
    return grades


def ap_bounds(run: Run, qrels: Qrels, level: int = 1) -> TieBounds:
    """Return the AP of each judged topic in three orders of ties: the worst, trec_eval's, and the best.

    The values are exact. Documents of grade `level` or more are relevant.
    """
    return bounds_of(run, qrels, grades_of(run, qrels), level)


def bounds_of(run: Run, qrels: Qrels, grades: np.ndarray, level: int = 1) -> TieBounds:
    """Return the AP of each judged topic in three orders of ties: the worst, trec_eval's, and the best.

    `grades` has the grade of each hit of the run, from `grades_of`. Documents of grade `level` or more are relevant.
    """
    relevant = np.flatnonzero(grades >= level)
    starts, sizes, members = groups(run)
    topic = run.topic_of_rows()[relevant]
    begins = run.offsets[topic]
    # Each relevant hit has two numbers, from 1: its number among the relevant hits of its topic, and its number among
    # the relevant hits of its group.
    order = np.arange(len(relevant))
    rank = order - np.searchsorted(topic, topic) + 1
    group = members[relevant]
    nth = order - np.searchsorted(group, group) + 1
    in_group = np.searchsorted(group, group, side="right") - np.searchsorted(group, group)
    above = starts[group] - begins
    # The ranks of the relevant hits in the worst, the actual and the best order.
    places = above + sizes[group] - in_group + nth, relevant - begins + 1, above + nth
    total = np.bincount(qrels.topic_of_rows()[qrels.grades >= level], minlength=len(qrels.qids))
    known = {qid: place for place, qid in enumerate(run.qids)}
    # A topic that the run lacks takes the appended 0.
    rows = [known.get(qid, -1) for qid in qrels.qids]
    values = []
    for place in places:
        sums = np.append(np.bincount(topic, rank / place, len(run.qids)), 0.0)
        values.append(sums[rows] / np.maximum(total, 1))
    return TieBounds(tuple(qrels.qids), *values)
