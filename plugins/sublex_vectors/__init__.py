"""Word vectors that somebody else trained, as a plugin: documents and queries as sums of them."""

from sublex.base import Param, Resource
from sublex.hookspecs import hookimpl

sublex_api = 2

PARAMS = [
    Param("file", Resource, ..., stage="fit", help="word vectors in word2vec's text format, plain or compressed"),
    Param("idf", bool, True, stage="fit", help="weight words by ln(N/df)"),
]


def make(**params):
    """The representation; what it needs is imported now."""
    from sublex_vectors.representation import VectorsRepresentation

    return VectorsRepresentation(**params)


@hookimpl
def register_representations(register):
    """vectors: cosines of sums of given word vectors."""
    register("vectors", make, PARAMS)
