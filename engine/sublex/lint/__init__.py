"""Lint: faults of collections, topics, judgements and runs, alone and against each other, and what they lead to.

`lint` reads files and goes on after every mistake; the checks take what is read already and cost little.
"""

from sublex.lint.check_qrels import check_qrels
from sublex.lint.check_run import check_run
from sublex.lint.check_ties import Bounds, ap_bounds
from sublex.lint.check_together import check_together, index_docnos
from sublex.lint.findings import ERROR, NOTE, Finding
from sublex.lint.lint_files import Linted, Looked, lint

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
