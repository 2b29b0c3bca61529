"""Fisher vectors over bags of embedded words as a plugin: registers the representation `fisher`, and an experiment of its paper."""

from typing import Any

from sublex import Expression
from sublex.contracts.base import Param
from sublex.contracts.experiments import Experiment
from sublex.contracts.fitted import FIND, Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("k", int, 16, stage="fit", range=(1, 1024), help="the number of Gaussians"),
    Param(
        "words",
        Expression,
        "lsi:lsi(e=50, weighting=count)",
        stage="fit",
        help="the model that gives words their vectors",
    ),
    Param("idf", bool, False, stage="fit", help="weight words by ln(N/df)"),
    Param("variance", bool, False, stage="fit", help="add the gradient by the standard deviations to the vector"),
    Param(
        "power",
        float,
        1.0,
        stage="fit",
        range=(0, 1),
        open=False,
        help="the power to which the magnitude of each entry is raised",
    ),
    Param("starts", int, 5, stage="fit", range=(1, 100), help="random starts; the likeliest mixture is kept"),
    Param("seed", int, 0, stage="fit", range=(0, 2**63 - 1), help="the seed of the random starts"),
    Param(
        "documents",
        int,
        0,
        stage="fit",
        range=(0, 10**9),
        open=False,
        help="learn the mixture from this number of random documents; 0 for all",
    ),
    FIND,
]


def make(**params: Any) -> Representation:
    """Return Fisher vectors over bags of embedded words: texts are compared by the cosine of gradients of a mixture of
    Gaussians.

    S. Clinchant and F. Perronnin, Aggregating continuous word embeddings for information retrieval, CVSC workshop of
    ACL, 2013.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_fisher.representation import FisherRepresentation

    return FisherRepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `fisher`: cosines of Fisher vectors."""
    register("fisher", make, PARAMS)


CLUSTERS = [
    Param("label", str, "label", help="the field with the label of a document"),
    Param("width", int, 20, range=(1, 1000), help="dimensions of LSI"),
    Param("gaussians", tuple, (8, 16), help="numbers of Gaussians for which Fisher vectors are compared"),
    Param("plsa", bool, True, help="whether PLSA is compared too"),
    Param("lda", Expression, None, help="a model of topics to compare with, such as lda(k=20)"),
    Param(
        "yule",
        int,
        0,
        range=(0, 1000),
        help="dimensions of word vectors by Yule's measure, which are compared too; 0 for none",
    ),
    Param("runs", int, 20, range=(1, 100), help="runs, each from another random start"),
]


def clusters(**params: Any) -> Experiment:
    """Return the experiment that clusters documents by Fisher vectors, LSI, PLSA and LDA, and compares clusters and
    labels.
    """
    from sublex_fisher.experiments import LabelClusters

    return LabelClusters(**params)


@hookimpl
def register_experiments(register: Register) -> None:
    """Register `fisher_clusters`, on an index of documents with labels."""
    register("fisher_clusters", clusters, CLUSTERS)
