"""Fuse several runs into one, by the ranks or scores of each document in the runs.

RRF: Cormack, Clarke and Buettcher (2009). CombSUM and CombMNZ: Fox and Shaw (1994). `weighted` is a weighted sum of
normalised scores, as the operator + of expressions computes it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.scores import NORMALISERS, RRF_K, Normaliser, expect_no_loss, expect_weights, rrf
from sublex.errors import InputError
from sublex.tools.strings import Strings
from sublex.trec.metadata import FINGERPRINT, value_at
from sublex.trec.run_names import tag_of
from sublex.trec.runs import Run, ranked

# The number of characters that a message shows of a fingerprint.
SHOWN_PRINT = 12
METHODS = ("rrf", "combsum", "combmnz", "weighted")


def fuse(
    runs: Sequence[Run],
    method: str = "rrf",
    weights: Sequence[float] | None = None,
    normalise: str | None = None,
    k: int = 1000,
    names: Sequence[str] = (),
) -> Run:
    """Return a run that combines the runs, with the best k documents of each topic.

    `method` is one of METHODS. `weights` has a number for each run, and is only for the method `weighted`. `normalise`
    names a normaliser of the scores of a topic in a run, by default `minmax`; `rrf` needs none. A run that lacks a
    document adds nothing to the score of the document. Under `weighted`, the document gets the lowest score of the run
    that lacks it, as in an expression. `names` are the names of the runs in the tag of the result; by default these are
    the tags of the runs.
    """
    normalise = _normaliser(method, normalise)
    factors = _weights(runs, method, weights)
    docnos, docs = _common(runs)
    qids = list(dict.fromkeys(qid for run in runs for qid in run.qids))
    fused_docs, fused_scores = [np.empty(0, np.int32)], [np.empty(0)]
    with np.errstate(over="ignore", invalid="ignore"):
        for qid in qids:
            parts = [(names[run.slice(qid)], run.scores[run.slice(qid)]) for run, names in zip(runs, docs, strict=True)]
            topic_docs, topic_scores = _fused_topic(parts, factors, method, NORMALISERS[normalise])
            fused_docs.append(topic_docs)
            fused_scores.append(topic_scores)
        scores = np.concatenate(fused_scores).astype(np.float32)
    topics = np.repeat(np.arange(len(qids), dtype=np.int32), [len(part) for part in fused_docs[1:]])
    if not np.isfinite(scores).all():
        raise InputError("The fused scores are too large for a run; use smaller weights or the normaliser minmax.")
    expect_weights(factors.tolist())
    expect_no_loss(scores[np.concatenate(fused_scores) != 0], factors.tolist())
    tag, metadata = _described(
        names or [run.tag or f"run{number}" for number, run in enumerate(runs, 1)], method, factors, normalise
    )
    return ranked(qids, topics, np.concatenate(fused_docs), scores, docnos, tag=tag, metadata=metadata).top(k)


def _normaliser(method: str, normalise: str | None) -> str:
    """Return the name of the function that changes a run's scores. Raise InputError for an unknown method or normaliser."""
    if method not in METHODS:
        raise InputError(f"No fusion method {method}; there are {', '.join(METHODS)}.")
    if method == "rrf":
        if normalise is not None:
            raise InputError("rrf uses ranks only and takes no normaliser; leave it out or choose another method.")
        return "rrf"
    if normalise is not None and normalise not in NORMALISERS:
        raise InputError(f"No normaliser {normalise}; there are {', '.join(NORMALISERS)}.")
    return normalise or "minmax"


def _weights(runs: Sequence[Run], method: str, weights: Sequence[float] | None) -> np.ndarray:
    """Return the factor of each run; raise InputError for weights that do not fit the method or the runs."""
    if len(runs) < 2:
        raise InputError("Fusion needs at least two runs.")
    if method != "weighted":
        if weights is not None:
            raise InputError(f"{method} takes no weights; use the method weighted.")
        return np.ones(len(runs))
    try:
        factors = np.array([] if weights is None else weights, np.float64)
    except (TypeError, ValueError):
        factors = np.array([])
    if factors.shape != (len(runs),) or not np.isfinite(factors).all():
        raise InputError(f"weighted needs {len(runs)} weights: a finite number for each run, in the order of the runs.")
    return factors


def fusion_notes(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """Return sentences about runs that do not fit each other: they share no topic, or come from different indexes.

    `names` are the names of the runs in the sentences.
    """
    notes = []
    seen = dict.fromkeys(runs[0].qids)
    for name, run in zip(names[1:], runs[1:], strict=True):
        if run.qids and seen and seen.keys().isdisjoint(run.qids):
            notes.append(
                f"{name} has no topic in common with the runs before it: it has {', '.join(run.qids[:3])}, and they have "
                f"{', '.join([*seen][:3])}; fuse runs of the same topics."
            )
        seen |= dict.fromkeys(run.qids)
    indexes: dict[str, list[str]] = {}
    for name, run in zip(names, runs, strict=True):
        fingerprint = value_at(run.metadata, FINGERPRINT)
        if isinstance(fingerprint, str):
            indexes.setdefault(fingerprint, []).append(name)
    if len(indexes) > 1:
        listed = "; ".join(f"{fingerprint[:SHOWN_PRINT]}: {', '.join(those)}" for fingerprint, those in indexes.items())
        notes.append(
            f"The runs come from different indexes, whose documents or analyzers differ (by fingerprint {listed})."
        )
    return notes


def _common(runs: Sequence[Run]) -> tuple[Strings, list[np.ndarray]]:
    """Return the distinct docnos of all runs, and the documents of each run as positions in these docnos."""
    table = Interner()
    docs = [table.add(run.docnos.arena, run.docnos.starts, run.docnos.sizes)[run.docs] for run in runs]
    return table.strings(), docs


def _fused_topic(
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
    factors: np.ndarray,
    method: str,
    normaliser: Normaliser,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents of one topic and their fused scores (float64).

    `parts` are the documents and scores of the topic in each run, and `factors` the weights of the runs.
    """
    docs, which = np.unique(np.concatenate([docs for docs, _ in parts]), return_inverse=True)
    values, everyone = [], 0.0
    for (_, scores), factor in zip(parts, factors, strict=True):
        # The hits of a run are in the order of their ranks. This order also decides between equal scores.
        value = normaliser(scores.astype(np.float64), np.arange(len(scores))[::-1])
        lowest = value.min() if method == "weighted" and normaliser is not rrf and len(value) else 0.0
        values.append(factor * (value - lowest))
        everyone += factor * lowest
    sums = np.bincount(which, np.concatenate(values), len(docs)) + everyone
    return docs, sums * np.bincount(which, minlength=len(docs)) if method == "combmnz" else sums


def _described(
    tags: Sequence[str], method: str, factors: np.ndarray, normaliser: str
) -> tuple[str, dict[str, dict[str, object]]]:
    """Return the tag and the metadata of the fused run, from the names of its parts."""
    about: dict[str, object] = {"name": method, "runs": list(tags)}
    inside = ", ".join(tags)
    if method == "rrf":
        about["k"] = RRF_K
    else:
        about["normaliser"] = normaliser
        inside = f"{inside}, normalise={normaliser}" if normaliser != "minmax" else inside
    if method == "weighted":
        about["weights"] = factors.tolist()
        inside = inside.replace(", ".join(tags), " + ".join(f"{w:g}*{t}" for w, t in zip(factors, tags, strict=True)))
    return tag_of(f"{method}({inside})"), {"method": {"fusion": about}}
