"""Fisher vectors over bags of embedded words, as a plugin."""

from sublex import Expression
from sublex.base import Param
from sublex.hookspecs import hookimpl

sublex_api = 2

PARAMS = [
    Param("k", int, 16, stage="fit", range=(1, 1024), help="Gaussians"),
    Param(
        "words",
        Expression,
        "lsi:lsi(e=50, weighting=count)",
        stage="fit",
        help="the model that gives words their vectors",
    ),
    Param("idf", bool, False, stage="fit", help="weight words by ln(N/df)"),
    Param("variance", bool, False, stage="fit", help="take the gradient by the deviations too"),
    Param(
        "power", float, 1.0, stage="fit", range=(0, 1), open=False, help="bring each entry to this power, its sign kept"
    ),
    Param("starts", int, 5, stage="fit", range=(1, 100), help="of which the likeliest mixture is kept"),
    Param("seed", int, 0, stage="fit", range=(0, 2**63 - 1), help="of the starts"),
]


def make(**params):
    """The representation; what it needs is imported now."""
    from sublex_fisher.representation import FisherRepresentation

    return FisherRepresentation(**params)


@hookimpl
def register_representations(register):
    """fisher: cosines of Fisher vectors."""
    register("fisher", make, PARAMS)
