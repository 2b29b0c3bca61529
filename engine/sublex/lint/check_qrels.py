"""What is to be known of judgements: topics without relevant documents, negative grades, doubtful ids."""

from __future__ import annotations

import numpy as np

from sublex.lint.check_ids import check_ids
from sublex.lint.findings import ERROR, NOTE, Finding, Placed, finding, placed, shown
from sublex.trec.qrels import LARGEST_GRADE, Qrels

# trec_eval makes a table of grades from 0 to a topic's highest, which from here on down has a negative size.
FATAL = -2


def check_qrels(qrels: Qrels | Placed) -> list[Finding]:
    """What is doubtful about judgements taken alone."""
    given = placed(qrels)
    found = [
        *_topics(given),
        *_negative(given),
        *check_ids(given.qids(), "topic id"),
        *check_ids(given.docnos(), "docno"),
    ]
    return sorted(found, key=lambda finding: finding.line)


def _topics(given: Placed) -> list[Finding]:
    """Topics by their highest grade."""
    qrels: Qrels = given.columns
    held = np.flatnonzero(np.diff(qrels.offsets))
    if not len(held):
        return []
    highest = np.maximum.reduceat(qrels.grades, qrels.offsets[:-1][held])
    ids, found = given.qids(), []
    vast = held[highest > LARGEST_GRADE]
    if len(vast):
        places = ids.first(vast)
        found.append(finding(
            given.file, ids.lines[places], "large", ERROR,
            f"Topic {shown(qrels.qids[places[0]])} has a grade above {LARGEST_GRADE:,}: nDCG by trec_eval's code takes minutes and more "
            "for it, so Sublex refuses it.",
        ))  # fmt: skip
    without, fatal = held[(highest < 1) & (highest > FATAL)], held[highest <= FATAL]
    if len(without):
        places = ids.first(without)
        found.append(finding(
            given.file, ids.lines[places], "irrelevant", NOTE,
            f"Topic {shown(qrels.qids[places[0]])} has no relevant document: trec_eval gives it 0 by every measure and counts it "
            "in the mean; tools that leave such topics out report higher means.",
        ))  # fmt: skip
    if len(fatal):
        places = ids.first(fatal)
        found.append(finding(
            given.file, ids.lines[places], "negative", ERROR,
            f"Topic {shown(qrels.qids[places[0]])} has no grade above {FATAL}: trec_eval, and what is built on it, crashes on such "
            "a topic after another one; write 0, or -1 for unjudged.",
        ))  # fmt: skip
    return found


def _negative(given: Placed) -> list[Finding]:
    qrels: Qrels = given.columns
    rows = np.flatnonzero(qrels.grades < 0)
    if not len(rows):
        return []
    rows = rows[np.argsort(given.lines[rows], kind="stable")]
    return [finding(
        given.file, given.lines[rows], "negative", NOTE,
        f"{shown(qrels.docnos[int(qrels.docs[rows[0]])])} has the grade {qrels.grades[rows[0]]}: trec_eval reads a negative grade as "
        "in the pool but unjudged, so it is not relevant to AP and nDCG, and to bpref it is not there.",
    )]  # fmt: skip
