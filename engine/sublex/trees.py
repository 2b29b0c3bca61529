"""Show the tree of an explanation: as HTML that a notebook can fold, and as columns of a DataFrame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

# How the parts of a node make its value, where they are not added up.
OPERATIONS = {"product": "product of", "scaled": "factor times, plus offset"}


class Node(Protocol):
    """A node of an explanation, as `sublex.base.Explanation` defines it."""

    @property
    def value(self) -> float: ...
    @property
    def label(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def parts(self) -> Sequence[Node]: ...
    @property
    def evidence(self) -> Mapping[str, Any]: ...


def tree_columns(tree: Node) -> dict[str, list[Any]]:
    """Return the nodes of a tree as columns, each node before its parts; the root has depth 0."""
    nodes = list(_nodes(tree, 0))
    return {
        "depth": [depth for depth, _ in nodes],
        "value": [node.value for _, node in nodes],
        "label": [node.label for _, node in nodes],
        "kind": [node.kind for _, node in nodes],
        "evidence": [dict(node.evidence) for _, node in nodes],
    }


def tree_html(node: Node) -> str:
    """Return a tree as nested HTML elements that fold. A value in brackets is evidence, which is not added."""
    import html

    number = number_text(node)
    operation = f" ({OPERATIONS[node.kind]})" if node.parts and node.kind in OPERATIONS else ""
    facts = "; ".join(f"{name} {_as_text(fact)}" for name, fact in node.evidence.items())
    line = f"<b>{number}</b> {html.escape(node.label)}{operation}" + (
        f" <small>{html.escape(facts)}</small>" * bool(facts)
    )
    if not node.parts:
        return f'<div style="margin-left:1.5em">{line}</div>\n'
    parts = "".join(map(tree_html, node.parts))
    return f'<details open style="margin-left:1.5em"><summary>{line}</summary>\n{parts}</details>\n'


def number_text(node: Node) -> str:
    """Return the value of a node as it is shown: in brackets if it is evidence, and as `no score` if there is none."""
    if node.kind == "evidence" and not node.value:
        return ""
    number = "no score" if node.value == -math.inf else f"{node.value + 0:.6g}"
    return f"({number})" if node.kind == "evidence" else number


def _nodes(node: Node, depth: int) -> Iterator[tuple[int, Node]]:
    yield depth, node
    for part in node.parts:
        yield from _nodes(part, depth + 1)


def _as_text(fact: Any) -> str:
    if isinstance(fact, Mapping):
        return ", ".join(f"{name} {_as_text(value)}" for name, value in fact.items())
    if isinstance(fact, (list, tuple)):
        return ", ".join(map(_as_text, fact))
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)
