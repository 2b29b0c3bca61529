"""Rankers that a user writes in Python without a plugin: objects with a method `score`, and formulas as functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import (
    LARGEST_SCORE,
    DocStats,
    Explanation,
    FieldStatistics,
    Ranker,
    Statistics,
    TermStats,
    evidence_of,
)
from sublex.contracts.scores import real
from sublex.errors import InputError, PluginError
from sublex.language.python_parts import SharedPart, make_part
from sublex.tools.messages import counted, nearest

# The statistics that a formula gets by naming its parameters so: of documents, of terms, and of the collection.
OF_DOCUMENT = ("length", "unique")
OF_TERM = ("df", "cf")
OF_COLLECTION = ("docs", "tokens", "postings", "mean_length")
STATISTICS = ("tf", *OF_DOCUMENT, *OF_TERM, *OF_COLLECTION)
# The statistics in the arguments of a ranker's method `score`.
_STATISTICS_OF = {
    DocStats: DocStats._fields, TermStats: OF_TERM, Statistics: OF_COLLECTION, FieldStatistics: OF_COLLECTION
}  # fmt: skip
# Names of statistics in other programs, and their names here, for messages.
OTHER_NAMES = {
    "dl": "length", "doclen": "length", "doc_len": "length", "avgdl": "mean_length", "avg_dl": "mean_length",
    "avdl": "mean_length", "ctf": "cf", "n_docs": "docs", "N": "docs",
}  # fmt: skip
KEYWORD = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class PythonRanker(SharedPart):
    """A ranker that is a Python object or a formula. `sublex.ranker` documents it."""

    word = "ranker"
    thorough = True

    def make(self) -> GivenRanker:
        return _Object(self) if is_ranker(self.thing) else _Formula(self)


class GivenRanker(Ranker):
    """A user's ranker under its printed name. The class `Ranker` has all methods that the user does not define.

    The engine uses computed scores for all later queries. So once the user's code, or a value that the code reads, has
    changed, the ranker refuses to compute more scores. One thread at a time calls the user's code.
    """

    def __init__(self, part: PythonRanker):
        self.use(part)

    def use(self, part: PythonRanker) -> None:
        """Replace the Python object by that of `part`, whose code and values have to be the same, so that scores stay."""
        self.part = part

    def __str__(self) -> str:
        return self.part.name

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        with self.part.call():
            try:
                scores = self._score(tf, doc, term, collection)
                if scores is None:
                    raise PluginError(f"The ranker {self.part.name} gave None in place of scores; let it return them.")
            except AttributeError as error:
                if not isinstance(error.obj, tuple(_STATISTICS_OF)):
                    raise
                there = f"there are {', '.join(_STATISTICS_OF[type(error.obj)])}"
                raise PluginError(
                    f"The ranker {self.part.name} asks for {error.name}, which {type(error.obj).__name__} does not have; {there}."
                ) from error
            except (TypeError, ValueError) as error:
                if not _takes_numbers(error):
                    raise
                raise PluginError(
                    f"The ranker {self.part.name} works on single numbers, and it gets arrays of numbers; "
                    "write np.log for math.log, np.where for if, and np.maximum for max."
                ) from error
        return scores

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        with self.part.call(), np.errstate(all="ignore"):
            return self._explain(tf, doc, term, collection)

    def _score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        raise NotImplementedError

    def _explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        raise NotImplementedError


class _Object(GivenRanker):
    """An object with a method `score`."""

    def use(self, part: PythonRanker) -> None:
        super().use(part)
        given = part.thing
        self.lengths, self.reads = getattr(given, "lengths", Ranker.lengths), getattr(given, "reads", Ranker.reads)
        self.fields = getattr(given, "fields", Ranker.fields)
        self.norm_part = getattr(given, "norm_part", None)
        if getattr(getattr(given, "weight", Ranker.weight), "__func__", Ranker.weight) is not Ranker.weight:
            self.weight = self._weight  # type: ignore[method-assign]

    def _weight(self, qtf: np.ndarray, term: TermStats, collection: Statistics) -> np.ndarray:
        with self.part.call() as thing:
            return thing.weight(qtf, term, collection)

    def _score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return self.part.thing.score(tf, doc, term, collection)

    def _explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        given = self.part.thing
        if hasattr(given, "explain") and getattr(type(given), "explain", None) is not Ranker.explain:
            return given.explain(tf, doc, term, collection)
        value = np.ravel(real(self._score(*_arrays(tf, doc, term), collection)))[0]
        return Explanation(float(value), self.part.name, evidence=evidence_of(tf, doc, term))


class _Formula(GivenRanker):
    """A ranker that is a function. The names of the function's parameters say which statistics it gets."""

    def use(self, part: PythonRanker) -> None:
        super().use(part)
        parameters = inspect.signature(part.thing).parameters
        self._asked = [name for name in STATISTICS if name in parameters and parameters[name].kind in KEYWORD]
        self.reads = tuple(name for name in OF_DOCUMENT if name in self._asked)

    def _score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        given = self.part.thing(**self._given(tf, doc, term, collection))
        # A formula without statistics of postings, such as `lambda docs: 1 / docs`, returns one score for all postings.
        return np.full(np.shape(tf), given) if given is not None and np.ndim(given) == 0 else given

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        scores = np.asarray(super().score(tf, doc, term, collection))
        if scores.shape != np.shape(tf):
            raise PluginError(
                f"The ranker {self.part.name} gave scores of shape {scores.shape} for {counted(len(tf), 'posting')}; "
                f"it has to give one number for each, so scores of shape {np.shape(tf)}, or one number for all."
            )
        if scores.dtype.kind in "fiu" and len(wrong := np.flatnonzero(~(np.abs(scores) <= LARGEST_SCORE))):
            arrays = self._given(tf, doc, term, collection).items()
            posting = ", ".join(f"{name}={np.broadcast_to(value, scores.shape)[wrong[0]]:g}" for name, value in arrays)
            raise PluginError(
                f"The ranker {self.part.name} gave {scores[wrong[0]]:g} for {posting}; "
                "scores have to be finite float32 numbers."
            )
        return scores

    def _explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        value = np.ravel(real(self._score(*_arrays(tf, doc, term), collection)))[0]
        evidence = {name: float(number) for name, number in self._given(tf, doc, term, collection).items()}
        return Explanation(float(value), self.part.name, evidence=evidence)

    def _given(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> dict[str, Any]:
        """Return the arguments that the formula asks for."""
        known: dict[str, Any] = {"tf": tf}
        for group, names in ((doc, OF_DOCUMENT), (term, OF_TERM), (collection, OF_COLLECTION)):
            known |= {name: getattr(group, name) for name in names}
        return {name: known[name] for name in self._asked}


def _arrays(tf: Any, doc: DocStats, term: TermStats) -> tuple[Any, DocStats, TermStats]:
    """Return the statistics of one posting as arrays with one item, because rankers take arrays."""
    stats = DocStats(*(None if value is None else _array(value) for value in doc))  # type: ignore[arg-type]
    return _array(tf), stats, TermStats(*map(_array, term))


def _array(value: Any) -> Any:
    """Return a number as an array with one item, or each number of a mapping by field."""
    if isinstance(value, Mapping):
        return {field: _array(own) for field, own in value.items()}
    return np.array([value], np.float64)


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
    elif isinstance(reads := getattr(given, "reads", ()), str):
        raise InputError(f"{type(given).__name__} has reads={reads!r}, a text; write a tuple of names: ({reads!r},).")
    elif isinstance(fields := getattr(given, "fields", ()), str):
        raise InputError(
            f"{type(given).__name__} has fields={fields!r}, a text; write a tuple of names: ({fields!r},)."
        )
    return make_part(PythonRanker, "ranker", given, name, version)


def is_ranker(thing: object) -> bool:
    """Return whether an object has the method `score`, as rankers do."""
    return callable(getattr(thing, "score", None)) and not isinstance(thing, type)


def _check_formula(formula: Callable[..., Any]) -> None:
    """Raise InputError if a parameter of a formula names no statistic and has no default."""
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
                f"The formula {name} takes {parameter.name} by its place alone; write a function around it, "
                f"as in lambda tf: {name}(tf)."
            )
        if parameter.name == "qtf":
            raise InputError(
                f"The formula {name} asks for qtf, by which the engine multiplies what a formula returns; leave it out, or "
                "give an object with the methods score and weight."
            )
        meant = OTHER_NAMES.get(parameter.name)
        hint = f"write {meant}. " if meant else nearest(parameter.name, STATISTICS)
        raise InputError(
            f"The formula {name} asks for {parameter.name}, which is no statistic; {hint}{there if not hint else 'T' + there[1:]}. "
            "A constant needs a default."
        )
    if not any(parameter.name in STATISTICS for parameter in parameters):
        raise InputError(f"The formula {name} asks for no statistic by the names of its parameters; {there}.")


def _takes_numbers(error: Exception) -> bool:
    """Return whether an error says that a function for single numbers got an array."""
    return any(words in str(error) for words in ("Python scalars", "truth value of an array"))
