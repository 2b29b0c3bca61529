"""Rewrite expressions: change a parameter, add an expander, or remove the expanders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sublex.errors import InputError
from sublex.language.expression import Call, Chain, Expression, chain
from sublex.language.parser import parse, parse_call


def with_parameter(text: str, component: str, name: str, value: str) -> str:
    """Return an expression in which each call of a component has a new value for a parameter.

    The expression `text` and the `value` are written as a user types them.

    Raise InputError if the expression does not name the component.
    """
    given = parse_call(f"{component}({name}={value})").params[name]
    found = False

    def change(node: Any) -> Any:
        nonlocal found
        if isinstance(node, tuple):
            return tuple(map(change, node))
        if not isinstance(node, Expression):
            # A component without parameters is a plain name among the parameters of another component.
            return change(Call(node)) if isinstance(node, str) and node.casefold() == component.casefold() else node
        node = node.map(change)
        if isinstance(node, Call) and node.name.casefold() == component.casefold():
            found = True
            return Call(node.name, node.args, {**node.params, name: given})
        return node

    changed = change(parse(text))
    if not found:
        raise InputError(f"{component} is not in {text}; name a part of the expression, as in :set BM25.b=0.4.")
    return str(changed)


def with_expander(text: str, expander: str) -> str:
    """Add an expander to an expression: after the first retrieval, expand the query, and rank by the last stage again."""
    whole = parse(text)
    last = whole.stages[-1] if isinstance(whole, Chain) else whole
    return str(chain((whole, parse(expander), last)))


def after_expanders(text: str, is_expander: Callable[[str], bool]) -> str:
    """Return the stages of an expression after its last expander. Return the expression itself if it has no expander."""
    whole = parse(text)
    stages = whole.stages if isinstance(whole, Chain) else (whole,)
    places = [place for place, stage in enumerate(stages) if isinstance(stage, Call) and is_expander(stage.name)]
    return str(chain(stages[places[-1] + 1 :])) if places else text
