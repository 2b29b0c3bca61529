"""Lucene's scorers by their names in Sublex, with Anserini's parameters. Only the process that runs Java imports this
module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jnius import autoclass, cast

_PACKAGE = "org.apache.lucene.search.similarities."


def _made(name: str, *arguments: Any) -> Any:
    return autoclass(_PACKAGE + name)(*arguments)


def _as(name: str, made: Any) -> Any:
    return cast(_PACKAGE + name, made)


def _inl2(c: float) -> Any:
    """Return the divergence-from-randomness scorer with inverse document frequency, Laplace's after-effect and the
    second normalisation.
    """
    return _made(
        "DFRSimilarity",
        _as("BasicModel", _made("BasicModelIn")),
        _as("AfterEffect", _made("AfterEffectL")),
        _as("Normalization", _made("NormalizationH2", c)),
    )


def _spl(c: float) -> Any:
    """Return the information-based scorer with the smoothed power law."""
    return _made(
        "IBSimilarity",
        _as("Distribution", _made("DistributionSPL")),
        _as("Lambda", _made("LambdaDF")),
        _as("Normalization", _made("NormalizationH2", c)),
    )


MODELS: dict[str, Callable[..., Any]] = {
    "LuceneBM25": lambda k1, b: _made("BM25Similarity", k1, b),
    "LuceneQLD": lambda mu: _made("LMDirichletSimilarity", mu),
    "LuceneQLJM": lambda lam: _made("LMJelinekMercerSimilarity", lam),
    "LuceneInL2": _inl2,
    "LuceneSPL": _spl,
    "LuceneF2Exp": lambda s: _made("AxiomaticF2EXP", s),
}


def similarity(model: dict[str, Any]) -> Any:
    """Return the scorer that a request names, with its parameters."""
    return MODELS[model["name"]](**model["parameters"])
