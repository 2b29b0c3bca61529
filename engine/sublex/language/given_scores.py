"""Check the scores that a user's Python code gives to documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.contracts.base import LARGEST_SCORE
from sublex.errors import PluginError, contract
from sublex.language.python_parts import PythonPart
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.language.rerankers import NamedReranker


def finite_scores(part: PythonPart | NamedReranker, given: Any, docnos: Sequence[str]) -> np.ndarray:
    """Return the scores that a part gave to documents as float64. None and pandas' NA, which mean "no opinion", become -inf.

    Raise PluginError unless there is one number for each document, finite as float32.
    """
    scores = _numbers(part, given, len(docnos))
    is_known = np.ones(len(scores), np.bool_)
    if scores.dtype.kind == "O":
        is_known = np.array([not _is_missing(item) for item in scores.tolist()], np.bool_)
        # An array of Python objects may hold whole numbers that are too large for float64.
        known = [np.inf if abs(item) > LARGEST_SCORE else item for item in scores[is_known].tolist()]
        scores = np.zeros(len(scores))
        scores[is_known] = known
    wrong = np.flatnonzero(~(np.abs(scores) <= LARGEST_SCORE))
    if len(wrong):
        value, docno = scores[wrong[0]], docnos[wrong[0]]
        raise PluginError(
            f"The {part.kind} {part.name} gave {value:g} for the document {docno}; "
            "scores have to be finite float32 numbers."
        )
    return np.where(is_known, scores.astype(np.float64), -np.inf)


def _numbers(part: PythonPart | NamedReranker, given: Any, number: int) -> np.ndarray:
    """Return the result of a part as an array of `number` numbers, or of Python objects that are numbers or missing values."""

    def refusal(what: str) -> PluginError:
        return PluginError(
            f"The {part.kind} {part.name} gave {what} for {counted(number, 'document')}; "
            "it has to give one number for each document, in their order."
        )

    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping, set, frozenset)):
        raise refusal(f"a value of type {type(given).__name__}")
    with contract(part.kind, part.name):
        # NumPy would turn the NA of a Series or an array of pandas into NaN, and a NaN is an error. So the items are taken one
        # by one.
        has_na = _is_missing(getattr(getattr(given, "dtype", None), "na_value", 0))
        if hasattr(given, "__array__") and not has_na:
            items: Any = given
        else:
            items = list(islice(given, number + 1))  # A generator may have no end.
            if len(items) > number:
                size = (
                    counted(len(given), "score")
                    if isinstance(given, Sized)
                    else f"more than {counted(number, 'score')}"
                )
                raise refusal(size)
        try:
            array = np.asarray(items)
        except ValueError:
            raise refusal("lists of different lengths") from None
    if array.shape != (number,):
        raise refusal(counted(array.size, "score") if array.ndim == 1 else f"scores of shape {array.shape}")
    if array.dtype.kind in "fiub":
        return array
    for item in array.tolist():
        if not isinstance(item, (int, float)) and not _is_missing(item):
            raise refusal(f"a score of type {type(item).__name__}")
    return array.astype(object)


def _is_missing(item: object) -> bool:
    """Return whether an item is None, or the value that pandas has in place of None."""
    return item is None or type(item).__name__ == "NAType"
