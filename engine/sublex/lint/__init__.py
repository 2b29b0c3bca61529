"""Lint: find faults in collections, topics, judgements and runs, and say what each fault causes.

`detect` tells what kind of file a file is. `lint` reads the file with a reader of `sublex.trec` or `sublex.readers`,
which reports every fault and reads on. `reader_faults` says what each of these faults causes. The modules `check_*`
check the contents of one file, or of all files together. They also check objects that `sublex.trec` has read. Every
fault is a `Finding`. `sublex.evaluation` warns about the findings that are errors.
"""

from sublex.lint.check_qrels import check_qrels
from sublex.lint.check_run import check_run
from sublex.lint.check_ties import TieBounds, ap_bounds
from sublex.lint.check_together import check_together, index_docnos
from sublex.lint.findings import ERROR, NOTE, Finding
from sublex.lint.lint_files import LintedFile, LintResult, lint

__all__ = [
    "ERROR",
    "NOTE",
    "Finding",
    "LintResult",
    "LintedFile",
    "TieBounds",
    "ap_bounds",
    "check_qrels",
    "check_run",
    "check_together",
    "index_docnos",
    "lint",
]
