"""Show the tree of an explanation: lines of text, HTML that a notebook can fold, and the columns of a DataFrame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sublex.forms.lines import Line, Span, line

# The end of the label of a word that the document lacks.
ABSENT = ": not in this document"
# The words for kinds of nodes whose parts are not added up.
OPERATIONS = {"product": "product of", "scaled": "factor times, plus offset"}


class Node(Protocol):
    """A node of an explanation, as `sublex.contracts.base.Explanation` defines it."""

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


def node_text(node: Node) -> tuple[str, str, str]:
    """Return the texts of one node: its value, its label with the operation on its parts, and its evidence or "".

    A value in brackets is evidence, which is not added.
    """
    value = "no score" if node.value == -math.inf else f"{node.value + 0:.6g}"
    if node.kind == "evidence":
        value = f"({value})" if node.value else ""
    operation = f" ({OPERATIONS[node.kind]})" if node.parts and node.kind in OPERATIONS else ""
    facts = "; ".join(f"{name} {_as_text(fact)}" for name, fact in node.evidence.items())
    return value, node.label + operation, facts


def tree_lines(node: Node, depth: int = 0) -> Iterator[Line]:
    """Yield a node as one line, and its parts below it, indented by their depth.

    Several words that an expander added and that the document lacks have one line together.
    """
    value, label, facts = node_text(node)
    shown = Span(f"  [{facts}]", "dim") if facts else Span("")
    yield line(f"{value:>12}  {'  ' * depth}{label}", shown, indent=16 + 2 * depth)
    lacking: dict[str, list[Node]] = {}
    for part in node.parts:
        if "from" in part.evidence and part.label.endswith(ABSENT):
            lacking.setdefault(str(part.evidence["from"]), []).append(part)
        else:
            yield from tree_lines(part, depth + 1)
    for origin, absent in lacking.items():
        if len(absent) == 1:
            yield from tree_lines(absent[0], depth + 1)
            continue
        label, words = (
            f"{len(absent)} words from {origin}{ABSENT}",
            [part.label.removesuffix(ABSENT) for part in absent],
        )
        yield line(f"{'':14}{'  ' * (depth + 1)}{label}", Span(f"  [{', '.join(words)}]", "dim"), indent=18 + 2 * depth)


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

    value, label, facts = map(html.escape, node_text(node))
    line = f"<b>{value}</b> {label}" + (f" <small>{facts}</small>" if facts else "")
    if not node.parts:
        return f'<div style="margin-left:1.5em">{line}</div>\n'
    parts = "".join(map(tree_html, node.parts))
    return f'<details open style="margin-left:1.5em"><summary>{line}</summary>\n{parts}</details>\n'


def _nodes(node: Node, depth: int) -> Iterator[tuple[int, Node]]:
    yield depth, node
    for part in node.parts:
        yield from _nodes(part, depth + 1)


def _as_text(fact: Any) -> str:
    if isinstance(fact, Mapping):
        return ", ".join(f"{name}{_colon(value)} {_as_text(value)}" for name, value in fact.items())
    if isinstance(fact, (list, tuple)):
        return ", ".join(map(_as_text, fact))
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def _colon(fact: Any) -> str:
    """Return the colon to write before a fact of several words; an empty string before any other fact."""
    return ":" if isinstance(fact, str) and " " in fact else ""
