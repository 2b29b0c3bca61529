"""Latent keyphrases (LAKI) as a plugin: registers the representation `laki`, the filter `keyphrase`, and commands."""

from typing import Any

from sublex import Expression
from sublex.contracts.base import Filter, Param, Resource
from sublex.contracts.experiments import Experiment
from sublex.contracts.fitted import Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

# Parameters of Gibbs sampling have no effect on propagation.
GIBBS = ("inference", ("gibbs",))
PARAMS = [
    Param("phrases", Expression, "phrases:phrases", stage="fit", help="the phrases that may be keyphrases"),
    Param(
        "words",
        Expression,
        None,
        stage="fit",
        help="a model whose word vectors say how similar words and phrases are; by default the collection",
    ),
    Param(
        "max_df",
        float,
        0.1,
        stage="fit",
        range=(0, 1),
        help="the largest share of the documents that may mention a keyphrase",
    ),
    Param(
        "again",
        float,
        0.6,
        stage="fit",
        range=(0, 1),
        help="how often texts mention a keyphrase again, compared with how often they do so for phrases in general",
    ),
    Param(
        "named",
        float,
        0.4,
        stage="fit",
        range=(0, 1),
        help="the least probability that a single word is used as a name; a phrase of several words needs half of it",
    ),
    Param(
        "focus",
        float,
        1.6,
        stage="fit",
        range=(0, 1000),
        help="the least ratio of the mean cosine of a keyphrase's documents to that of any two documents",
    ),
    Param(
        "width",
        int,
        100,
        stage="fit",
        range=(1, 2000),
        help="the width of the vectors of words and phrases, by which focus is measured",
    ),
    Param(
        "weights",
        str,
        "shares",
        stage="fit",
        range=("shares", "similarity"),
        help="whether a keyphrase leads to the words that its documents have more often, or to similar words",
    ),
    Param(
        "alpha",
        float,
        0.5,
        stage="fit",
        range=(0.01, 1),
        help="the least p(K|K') of a link from a keyphrase K to a rarer keyphrase K'",
    ),
    Param("beta", float, 0.3, stage="fit", range=(0.01, 1), help="the least similarity of the two ends of a link"),
    Param(
        "links", int, 300, stage="fit", range=(1, 10_000), help="the most words and phrases that a keyphrase leads to"
    ),
    Param("iterations", int, 0, stage="fit", range=(0, 1000), help="the most iterations of EM"),
    Param("seed", int, 0, stage="fit", range=(0, 2**63 - 1), help="the seed of random draws"),
    Param(
        "inference",
        str,
        "alone",
        stage="encode",
        range=("alone", "propagation", "gibbs"),
        help="whether keyphrases are inferred each alone, or all together by belief propagation or Gibbs sampling",
    ),
    Param("sweeps", int, 5000, stage="encode", range=(10, 10**7), only=GIBBS, help="sweeps of Gibbs sampling"),
    Param(
        "swaps",
        int,
        0,
        stage="encode",
        range=(0, 10_000),
        only=GIBBS,
        help="how many swaps of two keyphrases are tried after each sweep",
    ),
    Param(
        "absent",
        str,
        "part",
        stage="encode",
        range=("part", "all"),
        help="whether the words that a short text lacks count in part, or in full, as in the paper",
    ),
    Param("most", int, 200, stage="encode", range=(1, 10_000), help="the most keyphrases that inference considers"),
    Param(
        "cap",
        float,
        1.0,
        stage="encode",
        range=(0.01, 100),
        help="the largest weight of the link from a keyphrase to its own words",
    ),
    Param(
        "strong",
        float,
        0.7,
        range=(0, 1),
        help="the least strength of a keyphrase that people are shown without the word perhaps",
    ),
    Param(
        "related",
        float,
        0.9,
        range=(0, 1),
        help="the least probability that a keyphrase that a text does not mention is related to it, for one that is listed",
    ),
    Param(
        "shown",
        str,
        "text",
        range=("text", "network"),
        help="whether the text itself decides which keyphrases are shown, and rare phrases too, or the model alone",
    ),
]

FILTER_PARAMS = [
    Param("phrase", object, ..., help="a keyphrase in quotes, or its number"),
    Param("of", Expression, ..., help="the fitted model that has the keyphrase, such as laki"),
    Param(
        "share",
        float,
        None,
        range=(0, 1),
        help="the least strength of the keyphrase in a kept document; by default the parameter strong of the model",
    ),
]


def make(**params: Any) -> Representation:
    """Return LAKI: texts as the keyphrases that they are about, mentioned or not, compared by cosine.

    J. Liu, X. Ren, J. Shang, T. Cassidy, C. Voss and J. Han, Representing Documents via Latent Keyphrase Inference, WWW 2016.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_laki.representation import LAKIRepresentation

    return LAKIRepresentation(**params)


def make_filter(**params: Any) -> Filter:
    """Return the filter by keyphrase: it keeps the documents that are about a keyphrase of a fitted model."""
    from sublex_laki.filter import Keyphrase

    return Keyphrase(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `laki`: the keyphrases that query and document are about, mentioned or not."""
    register("laki", make, PARAMS)


@hookimpl
def register_filters(register: Register) -> None:
    """Register `keyphrase`: keeps the documents that are about a keyphrase of a fitted model."""
    register("keyphrase", make_filter, FILTER_PARAMS)


@hookimpl
def register_operations(register: Register) -> None:
    """Add the operations `hierarchy`, `keyphrases` and `silhouette`."""
    from sublex_laki.operations import hierarchy, keyphrases, silhouette

    for operation in (hierarchy, keyphrases, silhouette):
        register(operation)


COMPARED = [
    Param("model", Expression, "laki:laki", help="the fitted model of keyphrases"),
    Param("lda", Expression, None, help="a model of topics to compare with, such as lda(k=100)"),
    Param("width", int, 200, range=(1, 2000), help="dimensions of LSI"),
]
TITLES = [
    Param("category", str, "category", help="the stored field with the category of a document"),
    Param("categories", int, 10, range=(2, 1000), help="the number of categories, which are those with most titles"),
    Param("each", int, 500, range=(2, 10**6), help="the most titles that are taken of a category"),
    Param("splits", int, 5, range=(1, 100), help="splits into titles to learn from and titles to measure"),
]
CLASSIFICATION = [*COMPARED, *TITLES]
SETTINGS = [
    COMPARED[0],
    *TITLES,
    Param("most", tuple, (10, 50, 100, 150, 200, 400), help="numbers of keyphrases that inference considers"),
    Param("sweeps", tuple, (10, 100, 1000, 5000), help="numbers of sweeps of Gibbs sampling"),
]
RELATEDNESS = [
    *COMPARED,
    Param("pairs", Resource, ..., help="pairs of phrases with ratings, such as WikiSRS_relatedness.csv"),
    Param("least", int, 10, range=(1, 10**9), help="the least number of occurrences of either phrase in the index"),
    Param("parts", int, 10, range=(1, 100), help="the number of disjoint parts into which the pairs are divided"),
]


def classification(**params: Any) -> Experiment:
    """Return the experiment that classifies titles by keyphrases, topics, LSI, words and mentioned keyphrases: their
    accuracy.
    """
    from sublex_laki.experiments import TitleClassification

    return TitleClassification(**params)


def settings(**params: Any) -> Experiment:
    """Return the experiment that classifies titles by keyphrases, for several settings of their inference."""
    from sublex_laki.experiments import TitleSettings

    return TitleSettings(**params)


def relatedness(**params: Any) -> Experiment:
    """Return the experiment that correlates people's ratings of pairs of phrases with cosines of the phrases'
    representations.
    """
    from sublex_laki.experiments import PhraseRelatedness

    return PhraseRelatedness(**params)


@hookimpl
def register_experiments(register: Register) -> None:
    """Register `laki_classification`, `laki_settings` and `laki_relatedness`, on an index to which the models are fitted."""
    register("laki_classification", classification, CLASSIFICATION)
    register("laki_settings", settings, SETTINGS)
    register("laki_relatedness", relatedness, RELATEDNESS)
