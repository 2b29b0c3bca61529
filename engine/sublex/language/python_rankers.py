"""Rankers that a user writes in Python without a plugin: objects with a method `score`, and formulas as functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Ranker, Statistics, TermStats
from sublex.errors import InputError, PluginError
from sublex.language.python_parts import SharedPart, make_part
from sublex.tools.messages import nearest

# The statistics that a formula can ask for by the names of its parameters, and what each is.
OF_DOCUMENT = ("length", "unique")
OF_TERM = ("df", "cf")
OF_COLLECTION = ("docs", "tokens", "postings", "mean_length")
STATISTICS = ("tf", *OF_DOCUMENT, *OF_TERM, *OF_COLLECTION)
KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class PythonRanker(SharedPart):
    """A ranker that is a Python object or a formula. `sublex.ranker` documents it."""

    word = "ranker"

    def make(self) -> Ranker:
        return _ObjectRanker(str(self), self.thing) if is_ranker(self.thing) else FormulaRanker(str(self), self.thing)


class _ObjectRanker(Ranker):
    """A user's ranker under its printed name. What its class does not define is as `Ranker` has it."""

    def __init__(self, name: str, ranker: Any):
        self._name, self._ranker = name, ranker
        self.lengths = getattr(ranker, "lengths", Ranker.lengths)
        self.reads = getattr(ranker, "reads", Ranker.reads)
        self.norm_part = getattr(ranker, "norm_part", None)
        if hasattr(ranker, "weight"):
            self.weight = ranker.weight  # type: ignore[method-assign]

    def __str__(self) -> str:
        return self._name

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return self._ranker.score(tf, doc, term, collection)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        if hasattr(self._ranker, "explain"):
            return self._ranker.explain(tf, doc, term, collection)
        return super().explain(tf, doc, term, collection)._replace(label=self._name)


class FormulaRanker(Ranker):
    """A formula as a ranker: the names of the function's parameters say which statistics it gets."""

    def __init__(self, name: str, formula: Callable[..., Any]):
        self._name, self._formula = name, formula
        self._asked = [name for name in STATISTICS if name in parameters_of(formula)]
        self.reads = tuple(name for name in OF_DOCUMENT if name in self._asked)

    def __str__(self) -> str:
        return self._name

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        try:
            given = self._formula(**self._given(tf, doc, term, collection))
        except (TypeError, ValueError) as error:
            if _takes_numbers(error):
                raise PluginError(
                    f"{self._name} works on single numbers, and it gets arrays of numbers; "
                    "write np.log for math.log, np.where for if, and np.maximum for max."
                ) from error
            raise
        # A formula without a statistic of postings, such as `lambda docs: 1 / docs`, gives all of them one score.
        return np.broadcast_to(given, np.shape(tf)) if np.ndim(given) == 0 else given

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        given = self._given(np.float64(tf), doc, term, collection)
        value = float(np.float32(self._formula(**given)))
        return Explanation(value, self._name, evidence={name: float(number) for name, number in given.items()})

    def _given(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> dict[str, Any]:
        """Return the arguments that the formula asks for."""
        known: dict[str, Any] = {"tf": tf}
        for group, names in ((doc, OF_DOCUMENT), (term, OF_TERM), (collection, OF_COLLECTION)):
            known |= {name: getattr(group, name) for name in names}
        return {name: known[name] for name in self._asked}


def ranker(given: Any, name: str | None = None, version: object = None) -> PythonRanker:
    """Return a Python object or a formula as a ranker. `sublex.ranker` documents the parameters."""
    if isinstance(given, type):
        raise InputError(f"{given.__name__} is a class; make an object of it: sublex.ranker({given.__name__}()).")
    if not is_ranker(given):
        if not callable(given):
            raise InputError(
                f"sublex.ranker takes an object with a method score, or a formula such as f(tf, df, docs), "
                f"not a value of type {type(given).__name__}."
            )
        _check_formula(given)
    return make_part(PythonRanker, "ranker", given, name, version)


def is_ranker(thing: object) -> bool:
    """Return whether an object has the method of rankers."""
    return callable(getattr(thing, "score", None)) and not isinstance(thing, type)


def parameters_of(formula: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a formula that it can be given by name."""
    return {
        name: parameter
        for name, parameter in inspect.signature(formula).parameters.items()
        if parameter.kind in KEYWORD
    }


def _check_formula(formula: Callable[..., Any]) -> None:
    """Raise InputError for a formula with a parameter that is neither a statistic nor has a default."""
    name = getattr(formula, "__name__", type(formula).__name__).strip("<>")
    try:
        parameters = inspect.signature(formula).parameters.values()
    except (TypeError, ValueError):
        raise InputError(
            f"The parameters of {name} cannot be read; write a function around it, as in lambda tf: {name}(tf)."
        ) from None
    there = f"there are {', '.join(STATISTICS)}"
    for parameter in parameters:
        if parameter.kind in KEYWORD and (parameter.name in STATISTICS or parameter.default is not parameter.empty):
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind == parameter.POSITIONAL_ONLY:
            raise InputError(
                f"The formula {name} takes {parameter.name} by its place alone; leave out the / behind it."
            )
        hint = nearest(parameter.name, STATISTICS)
        raise InputError(
            f"The formula {name} asks for {parameter.name}, which is no statistic; {hint}{there if not hint else 'T' + there[1:]}. "
            "A constant needs a default."
        )
    if not any(parameter.name in STATISTICS for parameter in parameters):
        raise InputError(f"The formula {name} asks for no statistic by the names of its parameters; {there}.")


def _takes_numbers(error: Exception) -> bool:
    """Return whether an error says that a function for single numbers got an array."""
    return any(words in str(error) for words in ("Python scalars", "truth value of an array"))
