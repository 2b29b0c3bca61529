"""Ties: hits with equal scores, and what their order can make of average precision.

trec_eval orders them by docno, others as they please. AP is highest when the relevant ones of each tie come first, lowest when last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.trec.columns import Columns
from sublex.trec.qrels import Qrels
from sublex.trec.runs import Run

# No grade of a file is so low.
UNJUDGED = np.iinfo(np.int64).min


class Groups(NamedTuple):
    """Hits with the same score within a topic: where each group begins, how many it has, and each hit's group."""

    starts: np.ndarray
    sizes: np.ndarray
    members: np.ndarray


class Bounds(NamedTuple):
    """AP of each judged topic in the worst order of the ties, in trec_eval's and in the best."""

    qids: tuple[str, ...]
    worst: np.ndarray
    actual: np.ndarray
    best: np.ndarray

    def means(self) -> tuple[float, float, float]:
        """Worst, trec_eval's, best: over all judged topics, found or not."""
        judged = max(1, len(self.qids))
        return float(self.worst.sum()) / judged, float(self.actual.sum()) / judged, float(self.best.sum()) / judged


def groups(run: Run) -> Groups:
    """The run's hits by topic and score."""
    first = np.ones(len(run.docs), np.bool_)
    first[1:] = run.scores[1:] != run.scores[:-1]
    begins = run.offsets[:-1]
    first[begins[begins < len(first)]] = True
    starts = np.flatnonzero(first)
    return Groups(starts, np.diff(starts, append=len(first)), np.cumsum(first) - 1)


def grades_of(run: Run, qrels: Qrels) -> np.ndarray:
    """The grade of each of the run's hits; UNJUDGED where it has none."""
    # Only what is judged is looked up: most of a run is not.
    from sublex.lint.check_ids import meet

    met = meet(run.docnos, qrels.docnos)
    found = np.full(len(run.docs), UNJUDGED)
    held = np.full(int(max(met.mine.max(initial=-1), met.theirs.max(initial=-1))) + 1, UNJUDGED)
    for qid in run.qids:
        if qid in qrels:
            rows, judged = run.slice(qid), qrels.slice(qid)
            docs = met.theirs[qrels.docs[judged]]
            held[docs] = qrels.grades[judged]
            found[rows] = held[met.mine[run.docs[rows]]]
            held[docs] = UNJUDGED
    return found


def topics_of(columns: Columns) -> np.ndarray:
    """Each row's topic, as its place."""
    return np.repeat(np.arange(len(columns.qids)), np.diff(columns.offsets))


def ap_bounds(run: Run, qrels: Qrels, level: int = 1) -> Bounds:
    """The least and the greatest AP that an order of the ties can give, exactly, and what trec_eval's gives."""
    return bounds_of(run, qrels, grades_of(run, qrels), level)


def bounds_of(run: Run, qrels: Qrels, grades: np.ndarray, level: int = 1) -> Bounds:
    """The same, given each hit's grade."""
    relevant = np.flatnonzero(grades >= level)
    starts, sizes, members = groups(run)
    topic = topics_of(run)[relevant]
    begins = run.offsets[topic]
    # How many relevant hits stand before, in the topic and in the group, this one included.
    order = np.arange(len(relevant))
    rank = order - np.searchsorted(topic, topic) + 1
    mine = members[relevant]
    nth = order - np.searchsorted(mine, mine) + 1
    together = np.searchsorted(mine, mine, side="right") - np.searchsorted(mine, mine)
    top = starts[mine] - begins
    places = top + sizes[mine] - together + nth, relevant - begins + 1, top + nth
    total = np.bincount(topics_of(qrels)[qrels.grades >= level], minlength=len(qrels.qids))
    known = {qid: place for place, qid in enumerate(run.qids)}
    rows = [known.get(qid, -1) for qid in qrels.qids]
    values = []
    for place in places:
        sums = np.append(np.bincount(topic, rank / place, len(run.qids)), 0.0)
        values.append(sums[rows] / np.maximum(total, 1))
    return Bounds(tuple(qrels.qids), *values)
