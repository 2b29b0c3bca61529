"""What the built-in rankers share: parameters declared once, as the fields of a frozen dataclass, and explanations in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from sublex.base import DocStats, Explanation, Param, Ranker, Statistics, TermStats
from sublex.errors import InputError
from sublex.expression import Call
from sublex.parameters import matched, printed
from sublex.rank import lengths

LOG2_E = 1 / math.log(2)
# A formula over plain numbers or arrays of them.
Formula = Callable[..., Any]


def parameter(default: Any, help: str, range: tuple[Any, ...] | None = None, **options: Any) -> Any:
    """A field of a model that users set."""
    return field(default=default, metadata={"help": help, "range": range}, **options)


def params(model: type[Declared]) -> tuple[Param, ...]:
    """A model's parameters as its registration declares them."""
    found = sorted((f for f in fields(model) if f.metadata), key=lambda f: bool(f.kw_only))
    # A number that is not given by default has None there.
    types = (float if f.default is None else type(f.default) for f in found)
    return tuple(Param(f.name, of, f.default, **f.metadata) for f, of in zip(found, types, strict=True))


@dataclass(frozen=True)
class Declared:
    """What has its parameters as fields; printed and compared by them."""

    def __post_init__(self) -> None:
        name, declared = type(self).__name__, params(type(self))
        given = {param.name: getattr(self, param.name) for param in declared}
        for key, value in matched(Call(name, (), given), declared, lambda inner: inner, {}).items():
            object.__setattr__(self, key, value)

    def __str__(self) -> str:
        return printed(type(self).__name__, params(type(self)), vars(self))

    def refuse(self, *names: str, beside: str) -> None:
        """Refuse parameters that would mean nothing here, where they are not left alone."""
        for param in params(type(self)):
            if param.name in names and getattr(self, param.name) != param.default:
                raise InputError(f"{type(self).__name__}: {param.name} means nothing {beside}; leave it out.")


@dataclass(frozen=True)
class Model(Declared, Ranker):
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
