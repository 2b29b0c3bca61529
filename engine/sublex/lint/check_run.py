"""What is to be known of a run: scores that are none, ties, topics with few or many hits, doubtful ids."""

from __future__ import annotations

import numpy as np

from sublex.lint.check_ids import check_ids
from sublex.lint.check_ties import Groups, groups
from sublex.lint.findings import ERROR, NOTE, Finding, Placed, counted, finding, placed, shown
from sublex.trec.runs import Run

# Topics with less than this part of the usual number of hits have few.
FEW = 0.1
# A smaller number of hits is not one that was asked for.
LEAST = 10


def check_run(run: Run | Placed) -> list[Finding]:
    """What is doubtful about a run taken alone."""
    given = placed(run)
    found = [
        *_not_finite(given),
        *_ties(given, groups(given.columns)),
        *_depth(given),
        *check_ids(given.qids(), "topic id"),
        *check_ids(given.docnos(), "docno"),
    ]
    return sorted(found, key=lambda finding: finding.line)


def _not_finite(given: Placed) -> list[Finding]:
    run: Run = given.columns
    rows = np.flatnonzero(~np.isfinite(run.scores))
    if not len(rows):
        return []
    rows = rows[np.argsort(given.lines[rows], kind="stable")]
    return [not_finite(given.file, given.lines[rows], str(run.scores[rows[0]]))]


def not_finite(file: str, lines: np.ndarray, score: str) -> Finding:
    """The finding about scores that are not finite as float32, of which this is the first."""
    return finding(
        file, lines, "score", ERROR,
        f"The score {score} is not a finite number of float32: it cannot be compared with others, so the order of its topic is "
        "left to chance in trec_eval, and Sublex refuses the run.",
    )  # fmt: skip


def _ties(given: Placed, tied: Groups) -> list[Finding]:
    run: Run = given.columns
    several = np.flatnonzero(tied.sizes > 1)
    if not len(several):
        return []
    lines = np.minimum.reduceat(given.lines, tied.starts)[several]
    order = np.argsort(lines, kind="stable")
    topics = len(np.unique(np.searchsorted(run.offsets, tied.starts[several], side="right")))
    text = (
        f"{ties(tied, topics)}: trec_eval and Sublex order them by docno, the last first, and other tools in other ways, "
        "so figures depend on the tool."
    )
    return [finding(given.file, lines[order], "tie", NOTE, text)]


def ties(tied: Groups, topics: int) -> str:
    """How many ties there are, and where."""
    sizes = tied.sizes[tied.sizes > 1]
    hits = "hits share their score with others" if len(sizes) > 1 else "hits share one score"
    return f"In {counted(topics, 'topic')} {int(sizes.sum()):,} {hits}, up to {int(sizes.max()):,} at once"


def _depth(given: Placed) -> list[Finding]:
    run: Run = given.columns
    sizes = np.diff(run.offsets)
    if not len(sizes):
        return []
    values, times = np.unique(sizes, return_counts=True)
    usual = int(values[np.argmax(times)])
    if usual < LEAST or 2 * times.max() < len(sizes) or len(values) == 1:
        return []
    ids = given.qids()
    found = []
    for places, word, why in (
        (np.flatnonzero(sizes < FEW * usual), "only ", "a query that finds little, or one that was cut short"),
        (np.flatnonzero(sizes > usual), "", "two runs in one file, perhaps"),
    ):
        if len(places):
            places = ids.first(places)
            found.append(finding(
                given.file, ids.lines[places], "depth", NOTE,
                f"Topic {shown(run.qids[places[0]])} has {word}{counted(int(sizes[places[0]]), 'hit')} where most topics have "
                f"{usual:,}: {why}.",
            ))  # fmt: skip
    return found
