"""Dense cohorts of terms, as a plugin."""

from sublex.base import Param
from sublex.hookspecs import hookimpl

sublex_api = 2

PARAMS = [
    Param("r", int, 500, stage="fit", range=(1, 20000), help="prototypes: the most frequent words"),
    Param("layers", int, 1, stage="fit", range=(1, 10), help="maps, each learned from the one before"),
    Param("p", float, 0.9, stage="fit", range=(0, 1), open=True, help="probability that a word is removed"),
    Param("log", bool, False, stage="fit", help="log(1 + count) in place of counts"),
    Param("min_df", int, 2, stage="fit", range=(1, 10**9), help="documents that a word must be in"),
    Param(
        "max_df", float, 0.1, stage="fit", range=(0, 1), open=False, help="the largest share of documents it may be in"
    ),
    Param("words", float, 0.0, range=(0, 1000), help="the weight of the words themselves beside what they evoke"),
]


def make(**params):
    """The representation; what it needs is imported now."""
    from sublex_dcot.representation import DCoTRepresentation

    return DCoTRepresentation(**params)


@hookimpl
def register_representations(register):
    """dcot: cosines of the prototypes that texts evoke."""
    register("dcot", make, PARAMS)
