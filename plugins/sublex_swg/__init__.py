"""Sparse word graphs as a plugin: the expander `swg`, the commands `senses` and `graph`, and the experiments of the paper."""

from typing import Any

from sublex import Expression
from sublex.contracts.base import Expander, Param, Resource
from sublex.contracts.experiments import Experiment
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("terms", int, 10, range=(0, 1000), help="the most terms that are added"),
    Param("weight", float, 0.1, range=(0, 10), help="the weight of the strongest added term"),
    Param(
        "sense",
        str,
        "auto",
        range=("auto", "main"),
        help="the topic in which a word is taken: the one that fits the other words, or that of most of its documents",
    ),
    Param("topics", Expression, "lda(k=10)", stage="fit", help="the model of topics, which is fitted first"),
    Param("senses", tuple, (), help='words whose topics the user chooses, as in ["bank:2"]'),
    Param(
        "rho",
        float,
        2.0,
        stage="fit",
        range=(0, 1000),
        open=True,
        help="the penalty of the regressions; larger values give fewer edges",
    ),
    Param(
        "near",
        str,
        "contexts",
        stage="fit",
        range=("contexts", "edges"),
        help="whether neighbours are chosen by shared documents, or by the weights of edges, as in the paper",
    ),
    Param(
        "documents",
        int,
        2000,
        stage="fit",
        range=(1, 10**9),
        help="the most documents of a topic from which its graph is made",
    ),
]

EDGES = [
    Param("counts", Resource, ..., help="documents in the format of lda-c, such as ap.dat"),
    Param("vocabulary", Resource, ..., help="the words of these documents, one on each line"),
    Param(
        "strongest",
        tuple,
        ...,
        help="topics with edges that should be among the strongest, such as 'War: united-states iraq-kuwait'",
    ),
    Param("neighbours", tuple, ..., help="the same topics with pairs of words that should be neighbours"),
    Param("rho", float, 0.1, range=(0, 1000), open=True, help="the penalty of the regressions"),
    Param("seeds", int, 5, range=(1, 100), help="the number of random starts of the topics"),
    Param("iterations", int, 60, range=(1, 10_000), help="iterations of EM"),
]


def make(**params: Any) -> Expander:
    """Return the expander by word senses: each word of the query is taken in the topic that the other words choose.

    R. Nallapati, A. Ahmed, W. Cohen and E. Xing, Sparse Word Graphs, 2007.
    """
    # SciPy and the graphs are imported only when the expander is made.
    from sublex_swg.expander import SWG

    return SWG(**params)


@hookimpl
def register_expanders(register: Register) -> None:
    """Register `swg`: adds neighbours of the query's words in the word graph of a topic."""
    register("swg", make, PARAMS)


@hookimpl
def register_operations(register: Register) -> None:
    """Add the operations `graph`, `sense` and `senses`."""
    from sublex_swg.operations import graph, sense, senses

    for operation in (graph, sense, senses):
        register(operation)


def topic_edges(**params: Any) -> Experiment:
    """Return the experiment on the edges of topics that the paper names: how many edges there are, and the ranks of
    those it shows.
    """
    from sublex_swg.experiments import TopicEdges

    return TopicEdges(**params)


@hookimpl
def register_experiments(register: Register) -> None:
    """Register `swg_edges`, on counts in the format of lda-c."""
    register("swg_edges", topic_edges, EDGES)
