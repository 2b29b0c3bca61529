"""Vectors of units, whose cosines say how similar units are: from the collection, or from the word vectors of another model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sublex import Expression
from sublex.contracts.fitted import Job
from sublex.errors import InputError
from sublex_laki.units import Units
from sublex_vectors.reader import read_vectors


def vectors_of_model(
    units: Units, model: Any, name: Expression, job: Job, analyze: Callable[[str], list[str]]
) -> np.ndarray:
    """Return a vector for each unit by a model that has word vectors; a unit without known words gets zeros.

    A unit's vector is the mean of those of its words. If the vectors come from a file that has a phrase itself, the phrase gets that one.
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
    if isinstance(getattr(model, "file", None), str):
        own = _own_vectors(units, job.resource(model.file), analyze, job)
        found = ~np.isnan(own[:, 0])
        vectors[found] = own[found]
    return vectors


def _own_vectors(units: Units, path: Any, analyze: Callable[[str], list[str]], job: Job) -> np.ndarray:
    """Return the vectors that a file has for units as a whole, as in `machine_learning`; NaN for others."""
    keys = [" ".join(terms) for terms in units.terms]
    # Two units may have the same terms, such as a phrase with a stop word and one without.
    distinct = list(dict.fromkeys(keys))
    vectors = read_vectors(path, distinct, lambda text: [" ".join(analyze(text.replace("_", " ")))], job.progress)
    places = {key: place for place, key in enumerate(distinct)}
    return vectors[[places[key] for key in keys]]
