"""Source-LDA as a plugin: registers the representation `sourcelda`, with labelled topics, and the command `match`."""

from typing import Any

from sublex.contracts.base import Param, Resource
from sublex.contracts.experiments import Experiment
from sublex.contracts.fitted import MAX_DF, MIN_DF, Representation
from sublex.contracts.hookspecs import Register, hookimpl
from sublex.estimators.topics.parameters import SCORE_PARAMS

sublex_api = 3

ABOVE_0 = (0, 10**6)
# The models in which lambda has a prior, and the models that have topics without a label.
INTEGRATED, WITH_OTHERS = ("model", ("full", "bijective")), ("model", ("full", "mixture", "eda", "ctm"))
PARAMS = [
    Param(
        "source",
        Resource,
        ...,
        stage="fit",
        help="a file with a label on each line, and the label's text or counts of words",
    ),
    Param(
        "k",
        int,
        100,
        stage="fit",
        range=(1, 10_000),
        only=WITH_OTHERS,
        help="the number of topics that remain in the end",
    ),
    Param(
        "model",
        str,
        "full",
        stage="fit",
        range=("full", "mixture", "bijective", "eda", "ctm"),
        help="topics: the best k of all, all labels and k others, or all labels alone; EDA and CTM, for comparison",
    ),
    Param("iterations", int, 500, stage="fit", range=(10, 10**6), help="sweeps of Gibbs sampling"),
    Param(
        "closeness",
        float,
        0.7,
        stage="fit",
        range=(0, 1),
        only=INTEGRATED,
        help="how closely labelled topics keep to their text: the mean of lambda",
    ),
    Param(
        "spread",
        float,
        0.3,
        stage="fit",
        range=(0, 10),
        only=INTEGRATED,
        help="how much topics differ in closeness: the standard deviation of lambda",
    ),
    Param(
        "points",
        int,
        25,
        stage="fit",
        range=(1, 1000),
        only=INTEGRATED,
        help="the number of values of lambda in its integral",
    ),
    Param(
        "alphas",
        float,
        10.0,
        stage="fit",
        range=ABOVE_0,
        open=True,
        help="prior of topics in a document, summed over topics",
    ),
    Param(
        "betas",
        float,
        200.0,
        stage="fit",
        range=ABOVE_0,
        open=True,
        only=WITH_OTHERS,
        help="prior of words in a topic without a label, summed over words",
    ),
    Param(
        "enrich",
        int,
        10,
        stage="fit",
        range=(0, 10**6),
        help="labels with fewer known words get more, from the documents that match their own; 0 for no label",
    ),
    MIN_DF,
    MAX_DF,
    Param("seed", int, 0, stage="fit", range=(0, 2**63 - 1), help="the seed of random draws"),
    Param("evidence", float, 0.2, range=(0, 1), help="the least evidence for a label that is shown; 0 for all"),
    Param(
        "likeness",
        float,
        0.0,
        range=(0, 1),
        help="the least similarity of a topic to its text with which it keeps the label",
    ),
    *SCORE_PARAMS,
]


def make(**params: Any) -> Representation:
    """Return Source-LDA: documents as mixtures of topics. Some of the topics have labels, and expect the words of the
    labels' texts.

    J. Wood, P. Tan, W. Wang and C. Arnold, Source-LDA: Enhancing probabilistic topic models using prior knowledge
    sources, ICDE 2017.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_sourcelda.representation import SourceLDARepresentation

    return SourceLDARepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `sourcelda`: the topics of query and document, among them those of labelled texts."""
    register("sourcelda", make, PARAMS)


@hookimpl
def register_operations(register: Register) -> None:
    """Add the operation `match`."""
    from sublex_sourcelda.operations import match

    register(match)


ARCHIVE = Param("archive", Resource, ..., help="the archive of the data that the authors published")
SWEEPS = Param("sweeps", int, 1000, range=(20, 100_000), help="sweeps of Gibbs sampling")
SEEDS = Param("seeds", int, 5, range=(1, 100), help="the number of seeds, each of which starts other chains")
ON_ARCHIVE = [ARCHIVE, SWEEPS, SEEDS]
GRAPHICAL = [
    *ON_ARCHIVE,
    Param("chains", int, 5, range=(1, 100), help="the number of chains, of which the likeliest counts"),
]
INTEGRATE = [*ON_ARCHIVE, Param("lambdas", tuple, (0.1, 0.5, 1.0), help="fixed values of lambda")]
REUTERS = [*ON_ARCHIVE, Param("k", int, 100, range=(1, 10_000), help="the number of topics that remain in the end")]
MIXED = [*ON_ARCHIVE, Param("mixed", bool, False, help="use all sources of the archive, and topics without a label")]
TRACE = [
    ARCHIVE,
    SEEDS,
    Param(
        "after",
        tuple,
        (1, 20, 50, 100, 150, 200, 300, 500),
        help="the numbers of sweeps after which the chain is measured",
    ),
]
SMOOTHING = [ARCHIVE, Param("sources", int, 10, range=(1, 80), help="the number of sources that are measured")]
CURVES = [*SMOOTHING, Param("steps", int, 10, range=(2, 100), help="the number of steps of lambda from 0 to 1")]


def graphical(**params: Any) -> Experiment:
    """Return the experiment with the graphical example: the divergence of topics over pixels from the true topics."""
    from sublex_sourcelda.experiments import GraphicalExample

    return GraphicalExample(**params)


def integrate(**params: Any) -> Experiment:
    """Return the experiment on the prior of lambda: accuracy and perplexity for several priors."""
    from sublex_sourcelda.experiments import IntegratedLambda

    return IntegratedLambda(**params)


def wiki(**params: Any) -> Experiment:
    """Return the experiment on a corpus that was drawn from known sources: how well topics are recovered."""
    from sublex_sourcelda.experiments import WikiTopics

    return WikiTopics(**params)


def reuters(**params: Any) -> Experiment:
    """Return the experiment on Reuters: how many labelled topics remain in the end, and their words."""
    from sublex_sourcelda.experiments import ReutersLabels

    return ReutersLabels(**params)


def smoothed_lambda(**params: Any) -> Experiment:
    """Return the experiment on smoothing: how far the divergence of topics from their sources is from a straight line
    in lambda.
    """
    from sublex_sourcelda.experiments import LambdaSmoothing

    return LambdaSmoothing(**params)


def likelihoods(**params: Any) -> Experiment:
    """Return the experiment on convergence: the likelihood of the graphical example after some sweeps."""
    from sublex_sourcelda.experiments import LikelihoodBySweep

    return LikelihoodBySweep(**params)


def source_spread(**params: Any) -> Experiment:
    """Return the experiment on the divergence of topics from the source from which they are drawn."""
    from sublex_sourcelda.experiments import SourceSpread

    return SourceSpread(**params)


def lambda_curves(**params: Any) -> Experiment:
    """Return the experiment on the divergence of topics from their source for each lambda."""
    from sublex_sourcelda.experiments import LambdaCurves

    return LambdaCurves(**params)


@hookimpl
def register_experiments(register: Register) -> None:
    """Register the experiments of the paper, on the data that its authors published."""
    register("sourcelda_graphical", graphical, GRAPHICAL)
    register("sourcelda_integrate", integrate, INTEGRATE)
    register("sourcelda_wiki", wiki, MIXED)
    register("sourcelda_reuters", reuters, REUTERS)
    register("sourcelda_smoothing", smoothed_lambda, SMOOTHING)
    register("sourcelda_trace", likelihoods, TRACE)
    register("sourcelda_sources", source_spread, SMOOTHING)
    register("sourcelda_curves", lambda_curves, CURVES)
