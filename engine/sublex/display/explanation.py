"""Show an explanation: the parts of a document's score, as a tree of indented lines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from sublex.contracts.base import Explanation
from sublex.errors import InputError
from sublex.forms.lines import Line, Shown, line
from sublex.forms.trees import tree_lines


def explanation(tree: Explanation, docno: str, pipeline: object, has_words: bool = True) -> Shown:
    """Return an explanation as Shown. `tree` is a result of `Index.explain`.

    Raise InputError if the query has no words, so that there is no score.
    """
    if tree.value == -math.inf and not has_words:
        raise InputError("No term is left of the query, so there is no score to explain.")
    return Shown(lambda: _lines(tree, docno, pipeline), lambda: as_json(tree))


def place_of(tree: Explanation) -> str:
    """Return the place of the document among the hits as text, such as "at rank 3 of 20"."""
    rank, hits = tree.evidence["rank"], tree.evidence["found"]
    return f"at rank {rank:,} of {hits:,}" if rank else f"not among the {hits:,} found"


def _lines(tree: Explanation, docno: str, pipeline: object) -> Iterator[Line]:
    yield line(f"{docno} is {place_of(tree)} by {pipeline}", indent=0)
    yield line()
    facts = {name: fact for name, fact in tree.evidence.items() if name not in ("rank", "found")}
    yield from tree_lines(tree._replace(evidence=facts))


def as_json(node: Explanation) -> dict[str, Any]:
    """Return an explanation as nested objects."""
    return {
        "value": node.value,
        "label": node.label,
        "kind": node.kind,
        "evidence": dict(node.evidence),
        "parts": [as_json(part) for part in node.parts],
    }
