"""Check the expressions of a request before anything is done: errors name the parameter, and the cost is limited."""

from __future__ import annotations

from functools import lru_cache

from sublex.errors import InputError
from sublex.language.expression import Call, Cut, walk
from sublex.language.parser import parse
from sublex.service.limits import MOST_COMPONENTS, MOST_DEPTH
from sublex.service.problems import problem_of

# Expressions that are remembered as sound.
KEPT = 1024


def expect_sound(text: str, parameter: str) -> None:
    """Raise Refused, with the parameter and the place of the mistake, for an expression that cannot be read or costs too much."""
    try:
        _check(text)
    except InputError as error:
        refused = problem_of(error)
        refused.more["parameter"] = parameter
        raise refused from None


@lru_cache(KEPT)
def _check(text: str) -> None:
    nodes = list(walk(parse(text)))
    components = sum(isinstance(node, Call) for node in nodes)
    if components > MOST_COMPONENTS:
        raise InputError(
            f"The expression has {components} components, and a request at most {MOST_COMPONENTS}; take some away."
        )
    for node in nodes:
        if isinstance(node, Cut) and isinstance(node.depth, int) and node.depth > MOST_DEPTH:
            raise InputError(
                f"% {node.depth} keeps more candidates than a request may, {MOST_DEPTH:,}; write a smaller number."
            )
