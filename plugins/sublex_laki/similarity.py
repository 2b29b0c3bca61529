"""Vectors of units, made of the word vectors of another model or of the collection. Their cosines say how similar units
are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sublex import Expression
from sublex.contracts.fitted import Job
from sublex.errors import InputError
from sublex_laki.units import Units


def vectors_of_model(
    units: Units, model: Any, name: Expression, job: Job, analyze: Callable[[str], list[str]]
) -> np.ndarray:
    """Return a vector for each unit, made of the word vectors of `model`.

    A unit's vector is the mean of the vectors of its words; it is all zeros if no word has a vector. If the model has a
    vector for a phrase as a whole, the phrase gets this vector. Raise `InputError`, whose message has `name`, if the
    model has no vectors for the units.
    """
    words = model.word_vectors() if hasattr(model, "word_vectors") else None
    if words is None:
        raise InputError(f"laki: {name} has no word vectors; name a model that has, such as words=lsi(e=100).")
    numbers = {term: number for number, term in enumerate(model.vocabulary)}
    vectors = np.zeros((len(units), words.shape[1]))
    for unit, terms in enumerate(units.terms):
        known = [numbers[term] for term in terms if term in numbers]
        if known:
            vectors[unit] = words[known].mean(axis=0)
    if not vectors.any():
        raise InputError(f"laki: {name} has a vector for none of the words; is it in their language?")
    if hasattr(model, "vectors_of_texts"):
        own = model.vectors_of_texts(units.terms, analyze, job)
        known = ~np.isnan(own[:, 0])
        vectors[known] = own[known]
    return vectors
