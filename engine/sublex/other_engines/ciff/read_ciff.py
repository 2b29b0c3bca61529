"""Make an index from a CIFF file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from sublex.building.build_summary import BuildSummary
from sublex.errors import InputError
from sublex.index.snapshot import Snapshot
from sublex.language import plugins
from sublex.language.profiles import profile as find_profile
from sublex.other_engines.ciff.ciff_file import CiffFile
from sublex.other_engines.from_postings import create_from_postings

# The number of terms on which the analyzer is tried, and the share of these terms that it should not change. The right
# analyzer of a language leaves about nine of ten terms unchanged, because a stemmer may shorten a stem again. If the
# terms were not stemmed, a stemmer leaves four of ten unchanged.
SAMPLE, LEAST_KEPT = 1000, 0.8
NOT_CARRIED = "CIFF carries no texts and no written forms of words, so documents cannot be shown"


def analyzer_for(source: CiffFile, analyzer: str | None, profile: str | None, registry: plugins.Registry) -> str:
    """Return the expression of the analyzer for the terms of a file.

    It is `analyzer`, or the analyzer of `profile` if this is None. Raise an error for an analyzer or a profile that
    does not exist. Raise `InputError` if both are None, because the file does not name its analyzer, and with a wrong
    analyzer queries find nothing.
    """
    if analyzer is not None or profile is not None:
        default = "" if profile is None else find_profile(profile).analyzer
        expression = default if analyzer is None else analyzer
        registry.make("analyzer", expression)
        return expression
    known = source.header.analyzer
    hint = f"its description says {known}" if known else "for example english"
    raise InputError(
        f"{source.name} does not name the analyzer that made its terms, as CIFF has no place for it; "
        f"name it by --analyzer, in Python by analyzer=…: {hint}."
    )


def read_ciff(
    path: str | Path,
    source: CiffFile,
    *,
    profile: str | None = None,
    analyzer: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] = lambda terms, total: None,
    registry: plugins.Registry | None = None,
) -> BuildSummary:
    """Make an index at `path` from an open CIFF file, and return the summary of its documents."""
    registry = registry or plugins.load()
    expression = analyzer_for(source, analyzer, profile, registry)
    total = source.header.num_postings_lists
    summary = create_from_postings(
        path, source, profile=profile or "sublex", analyzer=expression, workers=workers, overwrite=overwrite,
        progress=lambda terms: progress(terms, total), registry=registry,
    )  # fmt: skip
    kept = _share_kept(Snapshot(path, lambda: registry))
    if kept < LEAST_KEPT:
        source.report.note(
            f"Warning: the analyzer {expression} changes {1 - kept:.0%} of the terms in {source.name}, so that queries do not "
            "find them; name the analyzer that made them"
        )
    source.report.note(NOT_CARRIED)
    summary.add_report(source.report)
    return summary


def _share_kept(snapshot: Snapshot) -> float:
    """Return the share of terms that the analyzer does not change, in a sample from all parts of the lexicon."""
    (segment,) = snapshot.segments
    count = len(segment.terms)
    ordinals = np.unique(np.linspace(0, count - 1, SAMPLE).astype(int)).tolist() if count else []
    terms = [segment.terms.text(ordinal) for ordinal in ordinals]
    return float(np.mean([snapshot.analyze(term) == [term] for term in terms])) if terms else 1.0
