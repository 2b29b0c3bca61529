"""Dense cohorts of terms as a plugin: registers the representation `dcot`."""

from typing import Any

from sublex.contracts.base import Param
from sublex.contracts.fitted import FIND, MAX_DF, MIN_DF, Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("r", int, 500, stage="fit", range=(1, 20000), help="prototypes, the most frequent words"),
    Param("layers", int, 1, stage="fit", range=(1, 10), help="layers, each learned from the output of the one before"),
    Param("p", float, 0.9, stage="fit", range=(0, 1), open=True, help="probability that a word is removed"),
    Param("log", bool, False, stage="fit", help="log(1 + count) in place of counts"),
    MIN_DF,
    MAX_DF,
    Param("words", float, 0.0, range=(0, 1000), help="the weight of the words themselves next to the prototypes"),
    FIND,
]


def make(**params: Any) -> Representation:
    """Return the dense cohort of terms: cosines of the prototypes, frequent words, that query and document evoke.

    Z. Xu, M. Chen, K. Weinberger and F. Sha, An alternative text representation to TF-IDF and Bag-of-Words, 2013.
    """
    # SciPy and the model are imported only when the representation is made.
    from sublex_dcot.representation import DCoTRepresentation

    return DCoTRepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `dcot`, which compares query and document by the cosine of their vectors.

    A vector has one value for each prototype. Prototypes are the most frequent words.
    """
    register("dcot", make, PARAMS)
