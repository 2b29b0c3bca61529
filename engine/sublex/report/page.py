"""Write the report of a comparison: fill the HTML template with tables, plots, style, script and data."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import numpy as np

from sublex.contracts.base import VERSION
from sublex.errors import InputError
from sublex.evaluation.comparison import Comparison
from sublex.evaluation.slices import Slices
from sublex.language import plugins
from sublex.readers.irds import source_name
from sublex.report import svg
from sublex.report.curves import Sweep, precision_and_gain, sweep
from sublex.report.page_data import HURT, embedded_json, page_data
from sublex.report.rankings import JUDGED_CUTOFFS, Rankings, reversals, to_judge
from sublex.statistics.sentences import CORRECTIONS, p_cell
from sublex.statistics.significance import TUKEY
from sublex.tools.messages import counted
from sublex.tools.outputs import expect_output, write_output

TEMPLATES = Path(__file__).parent / "templates"
LIBRARIES = ("numpy", "scipy", "ir-measures", "pytrec-eval-terrier")
TESTS = {"t": "paired t test", "wilcoxon": "Wilcoxon's signed rank test", "randomisation": "randomisation test"}


def write_report(
    comparison: Comparison, path: str | os.PathLike[str], command: str = "", overwrite: bool = False
) -> None:
    """Write the report to a file.

    An earlier report is replaced if nobody has changed it.

    The page shows `command`, which makes the page again. `overwrite` replaces any file.

    Raise InputError if the file cannot be written or may not be replaced.
    """
    check_report_path(path, overwrite)
    write_output(path, render_page(comparison, command))


def check_report_path(path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Raise InputError if a report cannot be written to this path, or would replace a file that must stay."""
    if not os.fspath(path):
        raise InputError("The report needs the name of a file.")
    expect_output(path, overwrite)


def render_page(comparison: Comparison, command: str = "") -> str:
    """Return the report as the text of an HTML page."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "figure": lambda value: f"{value:.4f}",
        "p": p_cell,
        "share": lambda value: f"{100 * value:.0f} %",
    }
    rankings = Rankings(comparison)
    letters = [letters.letter for letters in comparison.letters()]
    return environment.get_template("report.html").render(
        comparison=comparison,
        letters=letters,
        title=_title(comparison),
        facts=_facts(comparison),
        table=comparison.table(),
        rows=comparison.summaries(),
        hurt=_hurt_topics(comparison),
        plots=_plots(comparison, rankings, letters),
        sweep=_sweep_plot(comparison),
        slices=[(each, each.table(), _slices_plot(each)) for each in comparison.slices],
        judged_shares=rankings.judged_shares().tolist(),
        judged_cutoffs=JUDGED_CUTOFFS,
        reversals=reversals(comparison, rankings),
        to_judge=to_judge(rankings),
        provenance=_provenance(comparison),
        command=command,
        data=embedded_json(page_data(comparison, rankings)),
    )


def _title(comparison: Comparison) -> str:
    names = comparison.names
    return " and ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} others"


def _facts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the facts at the head of the page, as names and values."""
    relevant = [sum(grade > 0 for grade in comparison.qrels[qid].values()) for qid in comparison.qids]
    documents = []
    if comparison.index is not None:
        documents = [("Documents", f"{len(comparison.index):,} in {comparison.index.path.name}")]
    of_all = f" of {len(comparison.topics):,}" if comparison.topics else ""
    return [
        *documents,
        ("Topics", f"{len(comparison.qids):,} judged{of_all}"),
        ("Relevant documents", f"{sum(relevant):,}, {np.mean(relevant):.1f} a topic"),
        ("Systems", f"{len(comparison.systems):,}"),
        *((each.name, each.expression) for each in comparison.systems if each.expression not in ("", each.name)),
        ("Test", _test(comparison)),
    ]


def _test(comparison: Comparison) -> str:
    """Return the name of the test, its correction and its level."""
    plan = comparison.plan
    if len(comparison.systems) < 2:
        return "none, for one system"
    test = "" if plan.correction == TUKEY else f"{TESTS[plan.test]}, "
    return f"{test}{CORRECTIONS[plan.correction]}, level {plan.alpha:g}"


def _hurt_topics(comparison: Comparison) -> list[int]:
    """Return the number of topics that each system hurts: its score is over a tenth lower than the first system's."""
    scores = comparison.scores(comparison.main)
    return (scores < (1 - HURT) * scores[0]).sum(axis=1).tolist()


def _plots(comparison: Comparison, rankings: Rankings, letters: list[str]) -> dict[str, str]:
    """Return the plots of the page as SVG, by name. `letters` has the letter of each system, such as "a"."""
    precision, gain = precision_and_gain(comparison)
    main, names = comparison.main, comparison.names
    plots = {
        "intervals": svg.intervals(names, comparison.mean(main).tolist(), comparison.intervals[main], main),
        "precision": svg.lines(precision, "recall", "precision"),
        "gain": svg.lines(gain, "k", "nDCG@k", log=True),
    }
    if len(names) > 1:
        overlap, correlation = rankings.agreement()
        plots["overlap"] = svg.heat(letters, names, overlap, "rank-biased overlap of the systems' rankings")
        plots["correlation"] = svg.heat(letters, names, correlation, "τ_AP of the systems' rankings")
    return plots


def _sweep_plot(comparison: Comparison) -> tuple[Sweep, str] | None:
    """Return the parameter in which the systems differ, and a plot of the measures by it.

    Return None without such a parameter.
    """
    expressions = [each.expression or each.name for each in comparison.systems]
    swept = sweep(expressions, comparison.index.registry if comparison.index else plugins.load())
    if swept is None:
        return None
    order = list(swept.systems)
    curves = [(name, swept.values, comparison.mean(name)[order].tolist()) for name in comparison.tested]
    return swept, svg.lines(curves, swept.parameter, "measure")


def _slices_plot(slices: Slices) -> str:
    """Return a plot of the gains over the first system in each group of topics. For a single system, plot its means."""
    main, rows = slices.comparison.main, slices.slices()
    shown = [row for row in rows if row.difference is not None]
    if not shown:
        ends = np.full((len(rows), 2), np.nan)
        return svg.intervals([row.group for row in rows], [row.mean for row in rows], ends, main)
    several = len(slices.comparison.names) > 2
    names = [f"{row.group}{f', {row.system}' * several} ({counted(row.topics, 'topic')})" for row in shown]
    ends = np.array([row.interval or (np.nan, np.nan) for row in shown])
    label = f"gain over {slices.comparison.names[0]} in {main}"
    return svg.intervals(names, [row.difference or 0.0 for row in shown], ends, label)


def _provenance(comparison: Comparison) -> list[tuple[str, str]]:
    """Return versions, fingerprint, files and seed, as names and values."""
    facts = [("Sublex", f"{VERSION}, Python {platform.python_version()}")]
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            facts.append((name, metadata.version(name)))
    if comparison.index is not None:
        facts.append(("Index fingerprint", comparison.index.fingerprint))
        facts.append(("Analyzer", comparison.index.snapshot.analyzer_expression))
    if comparison.topics is not None:
        given, used = source_name(comparison.topics.path) or "given", "+".join(comparison.topics.used)
        facts.append(("Topics", f"{given}, by {used}" if used else given))
    facts.append(("Judgements", source_name(comparison.qrels.path) or "given"))
    facts.append(("Seed", str(comparison.plan.seed)))
    return facts
