"""Lint: find faults in collections, topics, judgements and runs, and say what each fault leads to.

`detect` tells what kind of file a file is. `lint` reads it by the reader of `sublex.trec` or `sublex.readers`, which goes on past
every mistake and reports it; `reported` says what each of these faults leads to. The `check_*` files check what was read, alone and
together, and also take objects that `sublex.trec` has read. Every fault is a `Finding`. `sublex.evaluation` warns of the errors
among them.
"""

from sublex.lint.check_qrels import check_qrels
from sublex.lint.check_run import check_run
from sublex.lint.check_ties import Bounds, ap_bounds
from sublex.lint.check_together import check_together, index_docnos
from sublex.lint.findings import ERROR, NOTE, Finding
from sublex.lint.lint_files import LintedFile, LintResult, lint

__all__ = [
    "ERROR",
    "NOTE",
    "Bounds",
    "Finding",
    "LintResult",
    "LintedFile",
    "ap_bounds",
    "check_qrels",
    "check_run",
    "check_together",
    "index_docnos",
    "lint",
]
