"""Latent semantic indexing as a plugin: registers the representation `lsi`."""

from typing import Any

from sublex.contracts.base import Param
from sublex.contracts.fitted import FIND, MIN_DF, Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("e", int, 100, stage="fit", range=(1, 2000), help="the number of dimensions"),
    Param(
        "weighting",
        str,
        "logtfidf",
        stage="fit",
        range=("count", "tfidf", "logtfidf"),
        help="the weights of words in documents that are decomposed: counts, counts times idf, or log counts times idf",
    ),
    Param("unit", bool, False, stage="fit", help="scale documents to norm 1 before the decomposition"),
    MIN_DF,
    Param("seed", int, 0, stage="fit", range=(0, 2**63 - 1), help="the seed of the random start"),
    FIND,
]


def make(**params: Any) -> Representation:
    """Return latent semantic indexing: cosines of query and document in the space of the largest singular vectors.

    S. Deerwester et al., Indexing by latent semantic analysis, JASIS 41(6), 1990.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_lsi.representation import LSIRepresentation

    return LSIRepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `lsi`: cosines in the space of the largest singular vectors."""
    register("lsi", make, PARAMS)
