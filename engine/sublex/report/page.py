"""The page: everything that a comparison says, in one HTML file with its style, its script and its data."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from sublex.base import VERSION
from sublex.errors import InputError
from sublex.evaluation.comparison import Comparison
from sublex.report import svg
from sublex.report.curves import Sweep, precision_and_gain, sweep
from sublex.report.rankings import JUDGED_AT, Rankings, flips, to_judge

TEMPLATES = Path(__file__).parent / "templates"
# So many documents are listed in the page's data, over all topics and systems.
LISTED = 100_000
LIBRARIES = ("numpy", "scipy", "ir-measures", "pytrec-eval-terrier")
# What tells a report from other files.
MARK = b'<meta name="generator" content="Sublex">'
# A system that loses more than this share of a topic's score has hurt it.
HURT = 0.1


def write_report(comparison: Comparison, path: str | os.PathLike[str], command: str = "") -> None:
    """Write the page; `command` is what would make it again."""
    check_place(path)
    text = page(comparison, command)
    temporary = Path(f"{os.fspath(path)}.new-{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a place that cannot be written to, or that holds anything but a report, before work is done."""
    if not os.fspath(path):
        raise InputError("The report needs the name of a file.")
    try:
        if os.path.lexists(path):
            with open(path, "rb") as file:
                if MARK not in file.read(4096):
                    raise InputError(f"{path} is there already and is no report of Sublex; choose another place.")
        elif not os.access(Path(path).parent, os.W_OK):
            raise InputError(f"Cannot write the report to {path}; choose another place.")
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str | os.PathLike[str], error: OSError) -> InputError:
    return InputError(f"Cannot write the report to {path}: {error.strerror}; choose another place.")


def page(comparison: Comparison, command: str = "") -> str:
    """The page as text."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"figure": lambda value: f"{value:.4f}", "share": lambda value: f"{100 * value:.0f} %"}
    rankings = Rankings(comparison)
    return environment.get_template("report.html").render(
        c=comparison,
        own=[letters.own for letters in comparison.letters()],
        title=_title(comparison),
        facts=_facts(comparison),
        table=comparison.table(),
        rows=_rows(comparison),
        hurt=_hurt(comparison),
        plots=_plots(comparison, rankings),
        swept=_swept(comparison),
        judged=rankings.judged().tolist(),
        judged_at=JUDGED_AT,
        flips=flips(comparison, rankings),
        to_judge=to_judge(rankings),
        provenance=_provenance(comparison),
        command=command,
        data=embedded(_data(comparison, rankings)),
    )


def embedded(data: Any) -> str:
    """JSON that may stand within a script element whatever it holds."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _title(comparison: Comparison) -> str:
    names = comparison.names
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]} and {len(names) - 1} others"


def _facts(comparison: Comparison) -> list[tuple[str, str]]:
    relevant = [sum(grade > 0 for grade in comparison.qrels[qid].values()) for qid in comparison.qids]
    found = []
    if comparison.index is not None:
        found.append(("Documents", f"{len(comparison.index):,} in {comparison.index.path.name}"))
    found += [
        (
            "Topics",
            f"{len(comparison.qids):,} judged" + (f" of {len(comparison.topics):,}" if comparison.topics else ""),
        ),
        ("Relevant documents", f"{sum(relevant):,}, {np.mean(relevant):.1f} a topic"),
        ("Systems", f"{len(comparison.systems):,}"),
        ("Test", _tested(comparison)),
    ]
    return found


def _tested(comparison: Comparison) -> str:
    plan = comparison.plan
    if len(comparison.systems) < 2:
        return "none, for one system"
    if plan.correction == "tukey":
        return f"Tukey's HSD at {plan.alpha:g}"
    named = {"t": "paired t", "wilcoxon": "Wilcoxon's signed ranks", "randomisation": "randomisation"}[plan.test]
    corrected = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini and Hochberg", "none": "nobody"}[
        plan.correction
    ]
    return f"{named}, corrected after {corrected}, at {plan.alpha:g}"


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """What the main measure says of each system, and of each against the first."""
    main = comparison.main
    pairs = {pair.b: pair for pair in comparison.pairs() if pair.a == comparison.names[0]}
    rows = []
    for place, system in enumerate(comparison.systems):
        low, high = comparison.intervals[main][place]
        rows.append(
            {
                "name": system.name,
                "mean": comparison.mean(main)[place],
                "interval": (low, high) if np.isfinite([low, high]).all() else None,
                "pair": pairs.get(system.name),
                "milliseconds": system.mean_milliseconds,
            }
        )  # fmt: skip
    return rows


def _hurt(comparison: Comparison) -> list[tuple[str, int, int]]:
    """Each system with how many topics it hurts and helps by more than a tenth, as against the first."""
    scores = comparison.scores(comparison.main)
    first = scores[0]
    return [
        (name, int((own < (1 - HURT) * first).sum()), int((own > (1 + HURT) * first).sum()))
        for name, own in zip(comparison.names[1:], scores[1:], strict=True)
    ]


def _plots(comparison: Comparison, rankings: Rankings) -> dict[str, str]:
    own = [letters.own for letters in comparison.letters()]
    precision, gain = precision_and_gain(comparison)
    main = comparison.main
    made = {
        "intervals": svg.intervals(comparison.names, comparison.mean(main).tolist(), comparison.intervals[main], main),
        "precision": svg.lines(precision, "recall", "precision"),
        "gain": svg.lines(gain, "k", "nDCG@k", log=True),
    }
    if len(own) > 1:
        overlap, correlation = rankings.agreement()
        made["overlap"] = svg.heat(own, comparison.names, overlap, "rank-biased overlap of the systems' rankings")
        made["correlation"] = svg.heat(own, comparison.names, correlation, "τ_AP of the systems' rankings")
    return made


def _swept(comparison: Comparison) -> tuple[Sweep, str] | None:
    found = sweep(comparison.names)
    if found is None:
        return None
    order = list(found.systems)
    curves = [(name, found.values, comparison.mean(name)[order].tolist()) for name in comparison.tested]
    return found, svg.lines(curves, found.parameter, "measure")


def _provenance(comparison: Comparison) -> list[tuple[str, str]]:
    found = [("Sublex", f"{VERSION}, Python {platform.python_version()}")]
    for name in LIBRARIES:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    if comparison.index is not None:
        found += [
            ("Index fingerprint", comparison.index.fingerprint),
            ("Analyzer", str(comparison.index.analyzer)),
        ]
    if comparison.topics is not None:
        found.append(("Topics", f"{Path(comparison.topics.path).name}, by {'+'.join(comparison.topics.used)}"))
    found.append(("Judgements", Path(comparison.qrels.path).name or "given"))
    found.append(("Seed", str(comparison.plan.seed)))
    return found


def _data(comparison: Comparison, rankings: Rankings) -> dict[str, Any]:
    """What the page's script shows: scores by topic, rankings, grades, titles."""
    systems, topics = len(comparison.systems), len(comparison.qids)
    depth = max(10, min(100, LISTED // (systems * topics)))
    lists = [[ranked[:depth] for ranked in own] for own in rankings.lists]
    listed = sorted({doc for own in lists for ranked in own for doc in ranked})
    places = {number: place for place, number in enumerate(listed)}
    titles = rankings.titles(comparison.index, listed)
    texts = {topic.qid: topic for topic in comparison.topics or ()}
    scores = np.stack([comparison.scores(name) for name in comparison.tested])
    return {
        "systems": comparison.names,
        "measures": comparison.tested,
        "best": int(np.argmax(comparison.mean(comparison.main)[1:])) + 1 if systems > 1 else 0,
        "hurt": HURT,
        "depth": depth,
        "sentences": {f"{pair.a}\n{pair.b}": text for pair, text in zip(comparison.pairs(), comparison.sentences(), strict=True)},
        "documents": [[rankings.docnos[number], titles.get(number, "")] for number in listed],
        "topics": [
            {
                "qid": qid,
                "text": texts[qid].text if qid in texts else "",
                "fields": {k: v for k, v in texts[qid].fields.items() if v and v != texts[qid].text} if qid in texts else {},
                "length": _length(comparison, texts[qid].text) if qid in texts else None,
                "relevant": sum(grade > 0 for grade in comparison.qrels[qid].values()),
                "scores": np.round(scores[:, :, topic], 5).tolist(),
                "lists": [[places[doc] for doc in own[topic]] for own in lists],
                "grades": {places[doc]: grade for doc, grade in rankings.grades[topic].items() if doc in places},
            }
            for topic, qid in enumerate(comparison.qids)
        ],
    }  # fmt: skip


def _length(comparison: Comparison, text: str) -> int:
    """How many terms a query has, or words where no index says."""
    return len(comparison.index.analyze(text) if comparison.index is not None else text.split())
