"""Functions with which the built-in rankers build explanations: nodes with parts, and leaves for the usual statistics.

Each function returns an `Explanation`. A leaf shows its formula, and the numbers in the formula as evidence.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats


def product(label: str, *parts: Explanation) -> Explanation:
    """Return the product of the parts; parts of kind `evidence` are shown but not multiplied."""
    return Explanation(math.prod(p.value for p in parts if p.kind != "evidence"), label, "product", parts)


def total(label: str, *parts: Explanation) -> Explanation:
    """Return the sum of the parts; parts of kind `evidence` are shown but not added."""
    return Explanation(sum(p.value for p in parts if p.kind != "evidence"), label, "sum", parts)


def as_evidence(part: Explanation) -> Explanation:
    """Return the explanation as evidence: it is shown, but the value of the node above does not contain it."""
    return part._replace(kind="evidence")


def computed(value: Any, label: str, formula: str, *inputs: Explanation) -> Explanation:
    """Return a value that a formula computes from inputs.

    The inputs are evidence: the value is not their sum or product.
    """
    return Explanation(float(value), label, "sum", tuple(map(as_evidence, inputs)), {"formula": formula})


def leaf(value: Any, label: str, formula: str, **numbers: Any) -> Explanation:
    """Return an explanation without parts: a value, its formula, and the numbers in the formula."""
    plain = {name: number.item() if isinstance(number, np.generic) else number for name, number in numbers.items()}
    return Explanation(float(value), label, evidence={"formula": formula} | plain)


def term_frequency(
    value: Any, tf: float, doc: DocStats, collection: Statistics, formula: str, **numbers: Any
) -> Explanation:
    """Return the leaf of a value that `formula` computes from the term's frequency and the document's length.

    `numbers` are further numbers in the formula.
    """
    label = f"frequency: {tf:g} of the document's {doc.length:g} words (mean {collection.mean_length:.4g})"
    return leaf(value, label, formula, tf=tf, length=doc.length, mean_length=collection.mean_length, **numbers)


def document_frequency(value: Any, term: TermStats, collection: Statistics, formula: str) -> Explanation:
    """Return the leaf of a value computed from the number of documents that hold the term, such as an idf."""
    label = f"rarity: in {int(term.df):,} of {collection.docs:,} documents"
    return leaf(value, label, formula, df=term.df, N=collection.docs)


def collection_frequency(value: Any, term: TermStats, collection: Statistics, formula: str) -> Explanation:
    """Return the leaf of a value computed from the term's share of all words of the collection."""
    label = f"rarity: {int(term.cf):,} of the collection's {collection.tokens:,} words"
    return leaf(value, label, formula, cf=term.cf, tokens=collection.tokens)
