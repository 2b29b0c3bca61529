"""Lint: faults of collections, topics, judgements and runs, alone and against each other, and what they lead to.

`lint` reads files and goes on after every mistake; the checks take what is read already and cost little.
"""

from sublex.evaluate.lint.files import Linted, Looked, lint
from sublex.evaluate.lint.findings import ERROR, NOTE, Finding
from sublex.evaluate.lint.qrels import check_qrels
from sublex.evaluate.lint.runs import check_run
from sublex.evaluate.lint.ties import Bounds, ap_bounds
from sublex.evaluate.lint.together import check_together, index_docnos

__all__ = [
    "ERROR",
    "NOTE",
    "Bounds",
    "Finding",
    "Linted",
    "Looked",
    "ap_bounds",
    "check_qrels",
    "check_run",
    "check_together",
    "index_docnos",
    "lint",
]
