"""Check judgements alone: topics without relevant documents, very large and negative grades, doubtful ids."""

from __future__ import annotations

import numpy as np

from sublex.lint.check_ids import check_ids
from sublex.lint.findings import ERROR, NOTE, Finding, show_id
from sublex.lint.located import Located, locate
from sublex.trec.qrels import LARGEST_GRADE, Qrels

# trec_eval allocates a table for the grades from 0 to the highest grade of a topic. If the highest grade is this or
# less, the size of the table is negative.
FATAL_GRADE = -2


def check_qrels(qrels: Qrels | Located) -> list[Finding]:
    """Return the findings about judgements taken alone, in the order of their lines."""
    located = locate(qrels)
    findings = [
        *_topics(located),
        *_negative_grades(located),
        *check_ids(located.qids(), "topic id"),
        *check_ids(located.docnos(), "docno"),
    ]
    return sorted(findings, key=lambda finding: finding.line)


def _topics(located: Located) -> list[Finding]:
    """Return the findings about topics by their highest grade."""
    qrels: Qrels = located.columns
    judged = np.flatnonzero(np.diff(qrels.offsets))
    if not len(judged):
        return []
    highest = np.maximum.reduceat(qrels.grades, qrels.offsets[:-1][judged])
    rules = (
        (
            highest > LARGEST_GRADE, "large", ERROR,
            f"has a grade above {LARGEST_GRADE:,}: trec_eval's code takes minutes or more to compute nDCG for it, so Sublex "
            "refuses the file; write smaller grades.",
        ),
        (
            (highest < 1) & (highest > FATAL_GRADE), "irrelevant", NOTE,
            "has no relevant document: trec_eval gives it 0 by every measure and counts it in the mean, while tools that leave "
            "such topics out report higher means.",
        ),
        (
            highest <= FATAL_GRADE, "negative", ERROR,
            f"has no grade above {FATAL_GRADE}: trec_eval, and tools built on it, crash on such a topic if another comes before it; "
            "write 0, or -1 for unjudged.",
        ),
    )  # fmt: skip
    ids, findings = located.qids(), []
    for chosen, rule, severity, text in rules:
        if chosen.any():
            places = ids.by_line(judged[chosen])
            subject = f"Topic {show_id(qrels.qids[places[0]])}"
            findings.append(Finding.at(located.file, ids.lines[places], rule, severity, f"{subject} {text}"))
    return findings


def _negative_grades(located: Located) -> list[Finding]:
    qrels: Qrels = located.columns
    rows = np.flatnonzero(qrels.grades < 0)
    if not len(rows):
        return []
    rows = rows[np.argsort(located.lines[rows], kind="stable")]
    return [Finding.at(
        located.file, located.lines[rows], "negative", NOTE,
        f"{show_id(qrels.docnos[int(qrels.docs[rows[0]])])} has the grade {qrels.grades[rows[0]]}: trec_eval reads a negative grade as "
        "pooled but unjudged, so AP and nDCG count the document as not relevant, and bpref ignores it.",
    )]  # fmt: skip
