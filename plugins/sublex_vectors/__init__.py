"""Word vectors from a file as a plugin: registers the representation `vectors`."""

from typing import Any

from sublex.contracts.base import Param, Resource
from sublex.contracts.fitted import FIND, Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("file", Resource, ..., stage="fit", help="word vectors in word2vec's text format, plain or compressed"),
    Param("idf", bool, True, stage="fit", help="weight words by ln(N/df)"),
    FIND,
]


def make(**params: Any) -> Representation:
    """Return word vectors from a file: texts are compared by cosines of weighted sums of the vectors of their words."""
    # NumPy and the model are imported only when the representation is made.
    from sublex_vectors.representation import VectorsRepresentation

    return VectorsRepresentation(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register `vectors`: cosines of sums of word vectors from a file."""
    register("vectors", make, PARAMS)
