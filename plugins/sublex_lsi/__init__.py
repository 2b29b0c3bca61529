"""LSI as a plugin: latent semantic indexing."""

from sublex.base import Param
from sublex.hookspecs import hookimpl

sublex_api = 2

PARAMS = [
    Param("e", int, 100, stage="fit", range=(1, 2000), help="dimensions"),
    Param("weighting", str, "tfidf", stage="fit", range=("count", "tfidf", "logtfidf"), help="what is factorised"),
    Param("unit", bool, False, stage="fit", help="bring documents to length 1 before"),
    Param("min_df", int, 2, stage="fit", range=(1, 10**9), help="documents that a word must be in"),
    Param("seed", int, 0, stage="fit", range=(0, 2**63 - 1), help="of the random start"),
]


def make(**params):
    """The representation; what it needs is imported now."""
    from sublex_lsi.representation import LSIRepresentation

    return LSIRepresentation(**params)


@hookimpl
def register_representations(register):
    """lsi: cosines in the space of the largest singular vectors."""
    register("lsi", make, PARAMS)
