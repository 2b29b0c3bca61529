"""Fusion: one run out of several, by what each says of a document's rank or score.

RRF: Cormack, Clarke and Buettcher (2009). CombSUM, CombMNZ: Fox and Shaw (1994).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.analysis.interner import Interner
from sublex.errors import InputError
from sublex.scores import NORMALISERS, Normaliser
from sublex.strings import Strings
from sublex.trec.run_names import tag_of
from sublex.trec.runs import Run, ranked

RRF_K = 60
METHODS = ("rrf", "combsum", "combmnz", "weighted")


def rrf(scores: np.ndarray) -> np.ndarray:
    """One by 60 plus the rank."""
    return 1 / np.arange(RRF_K + 1, RRF_K + 1 + len(scores))


_FUNCTIONS = NORMALISERS | {"rrf": rrf}


def fuse(
    runs: Sequence[Run],
    method: str = "rrf",
    weights: Sequence[float] | None = None,
    normalise: str | None = None,
    k: int = 1000,
) -> Run:
    """The runs as one, the best k of each topic.

    A document that a run lacks gets nothing from it; under `weighted` it counts as that run's lowest, as in an expression.
    """
    normalise = _normaliser(method, normalise)
    factors = _weights(runs, method, weights)
    docnos, docs = _common(runs)
    qids = list(dict.fromkeys(qid for run in runs for qid in run.qids))
    found_docs, found_scores = [np.empty(0, np.int32)], [np.empty(0)]
    with np.errstate(over="ignore", invalid="ignore"):
        for qid in qids:
            parts = [(names[run.slice(qid)], run.scores[run.slice(qid)]) for run, names in zip(runs, docs, strict=True)]
            topic = _topic(parts, factors, method, _FUNCTIONS[normalise])
            found_docs.append(topic[0])
            found_scores.append(topic[1])
        scores = np.concatenate(found_scores).astype(np.float32)
    topics = np.repeat(np.arange(len(qids), dtype=np.int32), [len(part) for part in found_docs[1:]])
    if not np.isfinite(scores).all():
        raise InputError("The fused scores are too large for a run; use smaller weights or --normalise minmax.")
    tag, metadata = _described(runs, method, factors, normalise)
    return ranked(qids, topics, np.concatenate(found_docs), scores, docnos, tag=tag, metadata=metadata).top(k)


def _normaliser(method: str, normalise: str | None) -> str:
    if method not in METHODS:
        raise InputError(f"No method of fusion {method}; there are {', '.join(METHODS)}.")
    if method == "rrf":
        if normalise is not None:
            raise InputError("rrf looks at ranks only and takes no normaliser; choose another method.")
        return "rrf"
    if normalise is not None and normalise not in NORMALISERS:
        raise InputError(f"No normaliser {normalise}; there are {', '.join(NORMALISERS)}.")
    return normalise or "minmax"


def _weights(runs: Sequence[Run], method: str, weights: Sequence[float] | None) -> np.ndarray:
    if len(runs) < 2:
        raise InputError("Fusion needs at least two runs.")
    if method != "weighted":
        if weights is not None:
            raise InputError(f"{method} takes no weights; the method that does is weighted.")
        return np.ones(len(runs))
    if weights is None or len(weights) != len(runs) or not np.isfinite(weights).all():
        raise InputError(f"weighted needs {len(runs)} weights, one finite number for each run in their order.")
    return np.asarray(weights, np.float64)


def _common(runs: Sequence[Run]) -> tuple[Strings, list[np.ndarray]]:
    """All docnos once, and each run's documents as places among them."""
    table = Interner()
    docs = [table.add(run.docnos.arena, run.docnos.starts, run.docnos.sizes)[run.docs] for run in runs]
    return table.strings(), docs


def _topic(
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
    factors: np.ndarray,
    method: str,
    normaliser: Normaliser,
) -> tuple[np.ndarray, np.ndarray]:
    """One topic's documents and what they have got from the runs."""
    docs, which = np.unique(np.concatenate([docs for docs, _ in parts]), return_inverse=True)
    values, everyone = [], 0.0
    for (_, scores), factor in zip(parts, factors, strict=True):
        value = normaliser(scores.astype(np.float64)) if len(scores) else np.empty(0)
        lowest = value.min() if method == "weighted" and len(value) else 0.0
        values.append(factor * (value - lowest))
        everyone += factor * lowest
    sums = np.bincount(which, np.concatenate(values), len(docs)) + everyone
    return docs, sums * np.bincount(which, minlength=len(docs)) if method == "combmnz" else sums


def _described(
    runs: Sequence[Run], method: str, factors: np.ndarray, normaliser: str
) -> tuple[str, dict[str, dict[str, object]]]:
    """The fused run's tag and metadata."""
    tags = [run.tag or f"run{number}" for number, run in enumerate(runs, 1)]
    about: dict[str, object] = {"name": method, "runs": tags}
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
