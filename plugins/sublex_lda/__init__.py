"""Latent Dirichlet allocation as a plugin: registers the representation `lda`, and the filter `topic`."""

from typing import Any

from sublex import Expression
from sublex.contracts.base import Filter, Param
from sublex.contracts.fitted import MAX_DF, MIN_DF, Representation
from sublex.contracts.hookspecs import Register, hookimpl
from sublex.estimators.topics.parameters import SCORE_PARAMS

sublex_api = 3

ABOVE_0 = (0, 1000)
PARAMS = [
    Param("k", int, 100, stage="fit", range=(1, 10_000), help="the number of topics"),
    Param(
        "method",
        str,
        "gibbs",
        stage="fit",
        range=("gibbs", "variational"),
        help="collapsed Gibbs sampling, or variational Bayes",
    ),
    Param(
        "iterations",
        int,
        500,
        stage="fit",
        range=(1, 10**6),
        help="sweeps of Gibbs sampling, or the most iterations of variational Bayes",
    ),
    Param(
        "alpha",
        float,
        0.1,
        stage="fit",
        range=ABOVE_0,
        open=True,
        help="prior of topics in a document; small values give a document few topics",
    ),
    Param(
        "beta",
        float,
        0.01,
        stage="fit",
        range=ABOVE_0,
        open=True,
        help="prior of words in a topic; small values give a topic few words",
    ),
    Param(
        "learn_alpha",
        str,
        "no",
        stage="fit",
        range=("no", "symmetric", "asymmetric"),
        help="whether alpha is learned, as one value for all topics (symmetric) or one for each (asymmetric)",
    ),
    MIN_DF,
    MAX_DF,
    Param("seed", int, 0, stage="fit", range=(0, 2**63 - 1), help="the seed of random draws"),
    *SCORE_PARAMS,
]

FILTER_PARAMS = [
    Param("topic", object, ..., help="a topic: its number, or its label in quotes"),
    Param("of", Expression, ..., help="the fitted model that has the topic, such as lda(k=20)"),
    Param("share", float, 0.2, range=(0, 1), help="the least share of the topic in the documents that are kept"),
]


def make(**params: Any) -> Representation:
    """Return latent Dirichlet allocation: documents as mixtures of topics, compared by topics or by likelihood.

    T. Griffiths and M. Steyvers, Finding scientific topics, PNAS 101, 2004; D. Blei, A. Ng and M. Jordan, Latent Dirichlet
    allocation, JMLR 3, 2003.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_lda.representation import LDARepresentation

    return LDARepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `lda`: the topics of query and document, learned by latent Dirichlet allocation."""
    register("lda", make, PARAMS)


def make_filter(**params: Any) -> Filter:
    """Return the filter by topic: it keeps the documents in which a topic of a fitted model has at least a given share."""
    from sublex_lda.filter import TopicFilter

    return TopicFilter(**params)


@hookimpl
def register_filters(register: Register) -> None:
    """Register `topic`: keeps the documents that are about a topic of a fitted model."""
    register("topic", make_filter, FILTER_PARAMS)
