"""An expression as a tree that a page can edit: stages, parts with weights, and components with all parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sublex.language.expression import Blend, Chain, Cut, Expression, Normalised, Weighted, print_value
from sublex.language.parser import parse
from sublex.language.plugins import Component

if TYPE_CHECKING:
    from sublex.contracts.base import Param
    from sublex.pipeline.index import Index


def tree_of(index: Index, text: str) -> dict[str, Any]:
    """Return the tree of an expression as the index reads it, with its names written out."""
    pipeline = index.pipeline(text)
    return {
        "printed": str(pipeline),
        "short": pipeline.short,
        "written": str(parse(text)),
        "tree": _node(pipeline.expression),
    }


def _node(node: Any) -> dict[str, Any]:
    match node:
        case Chain(stages=stages):
            return {"kind": "chain", "parts": list(map(_node, stages))}
        case Blend(parts=parts):
            return {"kind": "blend", "parts": list(map(_node, parts))}
        case Weighted(weight=weight, expression=inner):
            return {"kind": "weighted", "weight": weight, "parts": [_node(inner)]}
        case Cut(expression=inner, depth=depth):
            return {"kind": "cut", "depth": depth, "parts": [_node(inner)]}
        case Normalised(normaliser=name, expression=inner):
            return {"kind": "normalised", "name": name, "parts": [_node(inner)]}
        case Component():
            parameters = [_parameter(each, node.values[each.name]) for each in node.registration.params]
            return {"kind": node.kind, "name": node.name, "printed": str(node), "parameters": parameters}
    return {"kind": "other", "printed": str(node)}


def _parameter(each: Param, value: Any) -> dict[str, Any]:
    """Return a parameter with its value, its default, its range and its help."""
    plain = value if isinstance(value, (int, float, str, bool)) or value is None else print_value(value)
    default = None if each.default is ... else each.default
    return {
        "name": each.name,
        "type": getattr(each.type, "__name__", str(each.type)),
        "value": plain if not isinstance(value, Expression) else str(value),
        "default": default if isinstance(default, (int, float, str, bool)) or default is None else print_value(default),
        "range": list(each.range or ()),
        "help": each.help,
        "stage": each.stage,
    }
