"""Warn if runs, judgements, topics and documents do not fit each other, because this changes the measures.

The findings come from `sublex.lint`. This module uses only findings that are errors, and makes one warning for all
systems with the same error.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sublex.errors import SublexWarning
from sublex.evaluation.systems import System
from sublex.lint import ERROR, Finding, ap_bounds, check_together, index_docnos
from sublex.lint.located import locate
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics

# With fewer topics, Sublex does not conclude that a run was cut at one depth.
LEAST_TOPICS = 5
# A warning lists this number of names of systems, and counts the others.
LISTED = 3

TIES = "AP depends on the order of ties."
# Python repeats a warning for each line of code that gives it. This filter shows the warning about ties of the same
# systems once in a process, unless the user has another filter.
warnings.filterwarnings("once", re.escape(TIES), SublexWarning, append=True)


def input_warnings(
    systems: Sequence[System], qrels: Qrels, topics: Topics | None = None, index: Index | None = None
) -> list[str]:
    """Return sentences about faults of the inputs that change or prevent measures; an empty list if there are none."""
    docnos = None if index is None else index_docnos(index)
    judged = locate(qrels)._replace(file=qrels.path or "the judgements")
    systems_by_text: dict[str, list[str]] = {}
    tied = []
    for system in systems:
        for finding in check_together([system.run], judged, topics, docnos):
            if finding.severity != ERROR or finding.file == judged.file:
                continue
            if finding.rule == "tie":
                worst, actual, best = ap_bounds(system.run, qrels).means()
                tied.append(f"{system.name} {actual:.4f} ({worst:.4f} to {best:.4f})")
            else:
                systems_by_text.setdefault(_text(finding), []).append(system.name)
    sentences = [f"{_list_names(names)}: {text}" for text, names in systems_by_text.items()]
    sentences += [_text(found) for found in check_together([], judged, topics, docnos) if found.severity == ERROR]
    if not (qrels.grades > 0).any():
        sentences.append("No document is judged relevant, so every measure is 0.")
    if tied:
        sentences.append(f"{TIES} AP in trec_eval's (worst to best): {_list_names(tied)}.")
    return sentences + _depth_warnings(systems)


def _depth_warnings(systems: Sequence[System]) -> list[str]:
    """Return a warning for each run that seems to be cut at half the depth of the longest run, or less.

    The depth of a run is its largest number of hits for a topic.
    """
    sizes = {system.name: np.diff(system.run.offsets) for system in systems}
    depths = {name: int(hits.max(initial=0)) for name, hits in sizes.items()}
    # A run that was cut has its greatest number of hits for most topics. In a run that found few documents, the numbers
    # differ.
    cut = [name for name, hits in sizes.items() if len(hits) >= LEAST_TOPICS and (hits == depths[name]).mean() > 0.5]
    longest = max(depths, key=depths.__getitem__)
    return [
        f"{name} has {counted(depths[name], 'hit')} a topic and {longest} has up to {depths[longest]:,}: "
        "measures that look deeper favour the longer run."
        for name in cut
        if 2 * depths[name] <= depths[longest]
    ]


def _text(finding: Finding) -> str:
    """Return the finding's text. If it has no number yet, add how often the fault was found."""
    if finding.times > 1 and finding.rule not in ("missing", "overlap"):
        return f"{finding.text} ({finding.times:,} in all)"
    return finding.text


def _list_names(names: Sequence[str]) -> str:
    rest = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {counted(rest, 'other')}" if rest > 0 else "")
