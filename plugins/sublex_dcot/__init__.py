"""Dense cohorts of terms as a plugin: registers the representation `dcot`, and the experiments of its paper."""

from typing import Any

from sublex import Expression
from sublex.contracts.base import Param
from sublex.contracts.experiments import Experiment
from sublex.contracts.fitted import FIND, MAX_DF, MIN_DF, Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param(
        "r", int, 500, stage="fit", range=(1, 20000), help="the number of prototypes, which are the most frequent words"
    ),
    Param("layers", int, 1, stage="fit", range=(1, 10), help="layers, each learned from the output of the one before"),
    Param("p", float, 0.9, stage="fit", range=(0, 1), open=True, help="probability that a word is removed"),
    Param("log", bool, False, stage="fit", help="use log(1 + count) in place of counts"),
    MIN_DF,
    MAX_DF,
    Param("words", float, 0.0, range=(0, 1000), help="the weight of the words themselves next to the prototypes"),
    FIND,
]

ON_REUTERS = [
    Param("labels", int, 100, range=(2, 5000), help="labelled documents in a draw"),
    Param("draws", int, 5, range=(1, 100), help="draws of labelled documents"),
    Param("r", int, 500, range=(1, 20000), help="the number of prototypes"),
    Param(
        "p",
        tuple,
        (0.5, 0.7, 0.9),
        help="probabilities that a word is removed: dcot_classification chooses the best, dcot_noise measures each",
    ),
    Param(
        "layers",
        tuple,
        (1, 3, 5),
        help="numbers of layers: dcot_classification chooses the best, dcot_noise measures each",
    ),
    Param("unit", bool, False, help="scale the rows of each representation to length 1"),
]
CLASSIFICATION = [
    *ON_REUTERS,
    Param("widths", tuple, (50, 100, 200), help="numbers of dimensions of LSI, of which the best is chosen"),
    Param("tuning", int, 5, range=(1, 100), help="draws of labelled documents by which parameters are chosen"),
    Param("lda", Expression, None, help="a model of topics to compare with, such as lda(k=50)"),
]
NOISE = [
    *ON_REUTERS,
    Param("base", str, "log", range=("counts", "log"), help="what a row of words holds: counts, or their logarithms"),
    Param("weight", float, 0.5, range=(0, 1000), help="the weight of the words beside the prototypes"),
]
EVOKED = [
    Param("words", tuple, ..., help="pairs of a word and a prototype, such as 'reagan president'"),
    Param("r", int, 500, range=(1, 20000), help="the number of prototypes"),
    Param("p", float, 0.9, range=(0, 1), open=True, help="probability that a word is removed"),
    Param("layers", int, 1, range=(1, 10), help="the number of layers"),
]


def make(**params: Any) -> Representation:
    """Return the dense cohort of terms: it compares texts by the prototypes, frequent words, that their words evoke.

    Z. Xu, M. Chen, K. Weinberger and F. Sha, An alternative text representation to TF-IDF and Bag-of-Words, 2013.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_dcot.representation import DCoTRepresentation

    return DCoTRepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `dcot`, which compares query and document by the cosine of their vectors.

    A vector has one value for each prototype. The prototypes are the most frequent words.
    """
    register("dcot", make, PARAMS)


def classification(**params: Any) -> Experiment:
    """Return the experiment that classifies Reuters-21578 with few labels by dCoT, bags of words, LSI and LDA: their
    accuracy.
    """
    from sublex_dcot.experiments import ReutersClassification

    return ReutersClassification(**params)


def noise(**params: Any) -> Experiment:
    """Return the experiment that classifies Reuters-21578 by dCoT, for several probabilities of removal and numbers of
    layers.
    """
    from sublex_dcot.experiments import ReutersNoise

    return ReutersNoise(**params)


def evoked(**params: Any) -> Experiment:
    """Return the experiment that ranks given prototypes among all that a word of Reuters-21578 evokes."""
    from sublex_dcot.experiments import EvokedPrototypes

    return EvokedPrototypes(**params)


@hookimpl
def register_experiments(register: Register) -> None:
    """Register `dcot_classification`, `dcot_noise` and `dcot_evoked`, on an index of Reuters-21578."""
    register("dcot_classification", classification, CLASSIFICATION)
    register("dcot_noise", noise, NOISE)
    register("dcot_evoked", evoked, EVOKED)
