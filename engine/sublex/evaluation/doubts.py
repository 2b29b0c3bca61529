"""What should be known before figures are believed: lint's findings that would change them, said once for all systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sublex.evaluation.systems import System
from sublex.lint import ERROR, Finding, ap_bounds, check_together, index_docnos
from sublex.messages import counted

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics

# Of fewer topics it cannot be told whether a run was cut.
LEAST = 5


def doubts(
    systems: Sequence[System], qrels: Qrels, topics: Topics | None = None, index: Index | None = None
) -> list[str]:
    """Sentences about runs, judgements, topics and documents that do not fit each other."""
    docnos = None if index is None else index_docnos(index)
    said: dict[str, list[str]] = {}
    tied = []
    for system in systems:
        for found in check_together([system.run], qrels, topics, docnos):
            if found.severity != ERROR or found.file == qrels.path:
                continue
            if found.rule == "tie":
                worst, actual, best = ap_bounds(system.run, qrels).means()
                tied.append(f"{system.name} {actual:.4f} ({worst:.4f} to {best:.4f})")
            else:
                said.setdefault(_said(found), []).append(system.name)
    sentences = [f"{_listed(names)}: {text}" for text, names in said.items()]
    sentences += [_said(found) for found in check_together([], qrels, topics, docnos) if found.severity == ERROR]
    if not (qrels.grades > 0).any():
        sentences.append("No document is judged relevant, so every measure is 0.")
    if tied:
        sentences.append(
            f"Scores tie, and AP depends on the order of ties, which is that of trec_eval: {', '.join(tied)}."
        )
    return sentences + _depths(systems)


def _depths(systems: Sequence[System]) -> list[str]:
    """Runs cut at different depths are no fair comparison."""
    sizes = {system.name: np.diff(system.run.offsets) for system in systems}
    most = {name: int(own.max(initial=0)) for name, own in sizes.items()}
    # A run that found no more has fewer hits too; one that was cut has as many for most topics.
    cut = [name for name, own in sizes.items() if len(own) >= LEAST and (own == most[name]).mean() > 0.5]
    longest = max(most, key=most.__getitem__)
    shorter = [name for name in cut if 2 * most[name] <= most[longest]]
    return [
        f"{name} has {counted(most[name], 'hit')} a topic and {longest} up to {most[longest]:,}: "
        "measures that look deeper favour the longer run."
        for name in shorter
    ]


def _said(found: Finding) -> str:
    return (
        f"{found.text} ({found.times:,} in all)"
        if found.times > 1 and found.rule not in ("missing", "overlap")
        else found.text
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} others" if len(names) > 3 else "")
