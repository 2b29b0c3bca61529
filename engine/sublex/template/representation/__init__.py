"""The hooks of NAME. Heavy imports belong into `make`: registering a plugin must be quick."""

from typing import Any

from sublex.contracts.base import Param
from sublex.contracts.fitted import Representation
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

PARAMS = [
    Param("r", int, 128, stage="fit", range=(1, 4096), help="the number of dimensions"),
    Param("seed", int, 0, stage="fit", range=(0, 2**31), help="the seed of the random directions"),
]


def make(**params: Any) -> Representation:
    """Return sums of random directions, compared by cosine. `sublex components NAME` shows this text."""
    from NAME.model import Model

    return Model(**params)


@hookimpl
def register_representations(register: Register) -> None:
    """Register NAME: cosines of sums of random directions."""
    register("NAME", make, PARAMS)
