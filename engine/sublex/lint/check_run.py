"""Check a run alone: scores that are not finite, ties, topics with few or many hits, doubtful ids."""

from __future__ import annotations

import numpy as np

from sublex.lint.check_ids import check_ids
from sublex.lint.check_ties import groups
from sublex.lint.findings import ERROR, NOTE, Finding, show_id
from sublex.lint.located import Located, locate
from sublex.lint.reader_faults import NOT_FINITE
from sublex.tools.messages import counted
from sublex.trec.runs import Run

# A topic has few hits if it has less than this share of the usual number.
FEW = 0.1
# If topics usually have fewer hits than this, the number may be chance. Otherwise it is taken for a chosen depth.
LEAST_DEPTH = 10


def check_run(run: Run | Located) -> list[Finding]:
    """Return the findings about a run taken alone, in the order of their lines."""
    located = locate(run)
    findings = [
        *_not_finite(located),
        *_ties(located),
        *_depth(located),
        *check_ids(located.qids(), "topic id"),
        *check_ids(located.docnos(), "docno"),
    ]
    return sorted(findings, key=lambda finding: finding.line)


def describe_ties(located: Located) -> tuple[np.ndarray, str]:
    """Return the first line of each tie of a run, and a text with the numbers of tied hits and of their topics.

    If there is no tie, the lines and the text are empty.
    """
    run: Run = located.columns
    starts, sizes, _ = groups(run)
    several = np.flatnonzero(sizes > 1)
    if not len(several):
        return several, ""
    lines = np.sort(np.minimum.reduceat(located.lines, starts)[several])
    topics, tied = len(np.unique(run.topic_of_rows()[starts[several]])), sizes[several]
    share = "share their score with others" if len(tied) > 1 else "share one score"
    hits = f"{counted(int(tied.sum()), 'hit')} of {counted(topics, 'topic')}"
    return lines, f"{hits} {share}, up to {int(tied.max()):,} at once"


def _not_finite(located: Located) -> list[Finding]:
    run: Run = located.columns
    rows = np.flatnonzero(~np.isfinite(run.scores))
    if not len(rows):
        return []
    rows = rows[np.argsort(located.lines[rows], kind="stable")]
    text = NOT_FINITE.format(cell=run.scores[rows[0]])
    return [Finding.at(located.file, located.lines[rows], "score", ERROR, text)]


def _ties(located: Located) -> list[Finding]:
    lines, ties = describe_ties(located)
    text = (
        f"{ties}: trec_eval and Sublex order ties by docno, the last first, and other tools in other ways, "
        "so measures depend on the tool."
    )
    return [Finding.at(located.file, lines, "tie", NOTE, text)] if len(lines) else []


def _depth(located: Located) -> list[Finding]:
    """Return findings about topics that have far fewer hits, or more hits, than most topics."""
    run: Run = located.columns
    sizes = np.diff(run.offsets)
    if not len(sizes):
        return []
    values, times = np.unique(sizes, return_counts=True)
    usual = int(values[np.argmax(times)])
    if usual < LEAST_DEPTH or 2 * times.max() < len(sizes) or len(values) == 1:
        return []
    ids, findings = located.qids(), []
    for places, only, cause in (
        (np.flatnonzero(sizes < FEW * usual), "only ", "its query finds little, or the run was cut short"),
        (np.flatnonzero(sizes > usual), "", "perhaps the file holds two runs"),
    ):
        if len(places):
            places = ids.by_line(places)
            findings.append(Finding.at(
                located.file, ids.lines[places], "depth", NOTE,
                f"Topic {show_id(run.qids[places[0]])} has {only}{counted(int(sizes[places[0]]), 'hit')}, and most topics have "
                f"{usual:,}: {cause}.",
            ))  # fmt: skip
    return findings
