"""What the built-in rankers share: the choice of lengths, and explanations in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.base import DocStats, Explanation, Ranker, Statistics, TermStats
from sublex.parameters import Declared, parameter
from sublex.rankers import lengths

LOG2_E = 1 / math.log(2)
# A formula over plain numbers or arrays of them.
Formula = Callable[..., Any]


@dataclass(frozen=True)
class WeightingModel(Declared, Ranker):
    """A built-in ranker."""

    lengths: str = parameter(
        "exact", "document lengths: exact, or in one byte as Lucene's", lengths.CHOICES, kw_only=True
    )

    def value(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> float:
        """The score of one document."""
        return float(self.score(np.asarray(tf, dtype=np.float64), doc, term, collection))


def product(label: str, *parts: Explanation) -> Explanation:
    """Parts that multiply to a value; those of kind `evidence` are only shown."""
    return Explanation(math.prod(p.value for p in parts if p.kind != "evidence"), label, "product", parts)


def total(label: str, *parts: Explanation) -> Explanation:
    """Parts that add up to a value; those of kind `evidence` are only shown."""
    return Explanation(sum(p.value for p in parts if p.kind != "evidence"), label, "sum", parts)


def shown(part: Explanation) -> Explanation:
    """The same, to be shown and not counted."""
    return part._replace(kind="evidence")


def of_parts(value: Any, label: str, formula: str, *parts: Explanation) -> Explanation:
    """A value that a formula makes of its parts, neither adding nor multiplying them."""
    return Explanation(float(value), label, "sum", tuple(map(shown, parts)), {"formula": formula})


def leaf(value: Any, label: str, formula: str, **numbers: Any) -> Explanation:
    """A value that is not taken apart further, with its formula and what goes into it."""
    plain = {name: number.item() if isinstance(number, np.generic) else number for name, number in numbers.items()}
    return Explanation(float(value), label, evidence={"formula": formula} | plain)


def frequency(
    value: Any, tf: float, doc: DocStats, collection: Statistics, formula: str, **numbers: Any
) -> Explanation:
    """The leaf for a word's frequency in the document, weighed by the document's length."""
    label = f"frequency: {tf:g} of the document's {doc.length:g} words (mean {collection.mean_length:.4g})"
    return leaf(value, label, formula, tf=tf, length=doc.length, mean_length=collection.mean_length, **numbers)


def rarity(value: Any, term: TermStats, collection: Statistics, formula: str) -> Explanation:
    """The leaf for how few documents hold a word."""
    return leaf(
        value, f"rarity: in {int(term.df):,} of {collection.docs:,} documents", formula, df=term.df, N=collection.docs
    )


def commonness(value: Any, term: TermStats, collection: Statistics, formula: str, **numbers: Any) -> Explanation:
    """The leaf for how often a word stands in the whole collection."""
    label = f"rarity: {int(term.cf):,} of the collection's {collection.tokens:,} words"
    return leaf(value, label, formula, cf=term.cf, tokens=collection.tokens, **numbers)
