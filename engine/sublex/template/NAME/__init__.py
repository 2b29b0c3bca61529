"""The hooks of NAME. What is heavy is imported when the model is made, not when it is registered."""

from sublex.base import Param
from sublex.hookspecs import hookimpl

sublex_api = 2

PARAMS = [
    Param("r", int, 128, stage="fit", range=(1, 4096), help="directions"),
    Param("seed", int, 0, stage="fit", range=(0, 2**31), help="of the random numbers"),
]


def make(**params):
    """The representation."""
    from NAME.model import Model

    return Model(**params)


@hookimpl
def register_representations(register):
    """NAME: cosines of sums of random directions."""
    register("NAME", make, PARAMS)
