"""The base class of rankers that weigh fields, such as the title and the text of documents.

It normalises the frequency of a term in each field by the length of the field, and adds up the weighted results. Both
`BM25F` and `PL2F` make a score of this sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, FieldStatistics
from sublex.errors import InputError
from sublex.language.expression import print_value
from sublex.language.parameters import parameter
from sublex.rankers.explanations import leaf, total
from sublex.rankers.weighting_model import WeightingModel
from sublex.tools.messages import counted

# A length is divided by a mean length of at least this. A field that is empty in all documents has the mean length 0.
LEAST_MEAN = 1e-300


@dataclass(frozen=True)
class FieldWeightingModel(WeightingModel):
    """A ranker with the parameters `fields` and `weights`.

    `normalisation` names the parameter of the normalisation by length. This parameter has one number for each field, or one
    number for all fields; `weights` does too.
    """

    normalisation = ""
    normalisation_formula = ""

    fields: tuple[str, ...] = parameter(("title", "text"), "The fields to read, as the index names them.")
    weights: float | tuple[float, ...] = parameter(
        1.0, "The weight of each field, as in [2, 1], or one number for all fields.", (0, 1000), type=object
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        shown = f"{type(self).__name__}: fields={print_value(self.fields)}"
        if not self.fields or not all(isinstance(field, str) for field in self.fields):
            raise InputError(f"{shown} has to name one field or more, as in [title, text].")
        if len(set(self.fields)) < len(self.fields):
            raise InputError(f"{shown} names a field twice; drop one.")
        for name in ("weights", self.normalisation):
            self._expect_numbers(name)

    def _expect_numbers(self, name: str) -> None:
        """Raise InputError unless a parameter is a number, or has one number for each field."""
        value = getattr(self, name)
        shown = f"{type(self).__name__}: {name}={print_value(value)}"
        items = value if isinstance(value, tuple) else (value,)
        if not all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items):
            raise InputError(f"{shown} has to be a number, or a list of numbers, as in [2, 1].")
        if isinstance(value, tuple) and len(value) != len(self.fields):
            raise InputError(
                f"{shown} has {counted(len(value), 'number')} for {counted(len(self.fields), 'field')}, "
                f"{print_value(self.fields)}; write one for each field, or one number for all."
            )

    def _by_field(self) -> Iterator[tuple[str, float, float]]:
        """Yield the name of each field, its weight, and its number for the normalisation."""
        weights, numbers = (
            value if isinstance(value, tuple) else (value,) * len(self.fields)
            for value in (self.weights, getattr(self, self.normalisation))
        )
        yield from zip(self.fields, weights, numbers, strict=True)

    def normalised(self, tf: Any, length: Any, mean: float, number: float) -> Any:
        """Return the frequency of a term in a field, normalised by the length of the field.

        `number` is the field's number for the normalisation. `tf`, `length` and `mean` are above 0.
        """
        raise NotImplementedError

    def frequency(self, tf: Any, doc: DocStats, collection: FieldStatistics) -> Any:
        """Return the sum of the weighted and normalised frequencies of the fields; 0 if the term is in none of them."""
        return sum(value for _, value in self._parts(tf, doc, collection))

    def _parts(self, tf: Any, doc: DocStats, collection: FieldStatistics) -> Iterator[tuple[str, Any]]:
        """Yield the name of each field, and the number that it adds to `frequency`."""
        for field, weight, number in self._by_field():
            there = np.asarray(tf[field]) > 0
            mean = max(collection.mean_length[field], LEAST_MEAN)
            # If the field does not have the term, the length of the field may be 0, and the normalisation would divide by 0.
            own, length = np.where(there, tf[field], 1.0), np.where(there, doc.length[field], mean)
            yield field, np.where(there, weight * self.normalised(own, length, mean, number), 0.0)

    def explained_frequency(self, tf: Any, doc: DocStats, collection: FieldStatistics) -> Explanation:
        """Return the explanation of `frequency`, with a part for each field."""
        parts = []
        values = dict(self._parts(tf, doc, collection))
        for field, weight, number in self._by_field():
            length, mean = doc.length[field], collection.mean_length[field]
            label = f"{field}: {tf[field]:g} of the field's {length:g} words (mean {mean:.4g})"
            numbers = {"tf": tf[field], "length": length, "mean_length": mean, "w": weight, self.normalisation: number}
            parts.append(leaf(values[field], label, self.normalisation_formula, **numbers))
        return total("frequency, weighted and normalised by field", *parts)
