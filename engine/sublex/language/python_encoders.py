"""Encoders that a user writes in Python without a plugin: functions from texts to vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from sublex.contracts.encoders import KINDS, Encoded
from sublex.errors import InputError, PluginError, contract
from sublex.language.python_parts import PythonPart, check_called, make_part
from sublex.tools.messages import counted


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PythonEncoder(PythonPart):
    """A Python function `f(texts, role)` that encodes texts. `sublex.encoder` documents it.

    `output` is the kind of vectors that the function returns: "dense", "sparse" or "late". One thread at a time calls the
    function.
    """

    word = "encoder"
    output: str = "dense"

    def make(self) -> FunctionEncoder:
        """Return the function as a `sublex.contracts.encoders.Encoder`."""
        return FunctionEncoder(self)


class FunctionEncoder:
    """A Python function as an encoder."""

    def __init__(self, part: PythonEncoder):
        self.part, self.kind = part, part.output

    @property
    def identity(self) -> str:
        """A hash of the function's code and of the values that it reads, or of the version that the user gave it."""
        if not self.part.state:
            raise InputError(
                f"{self.part} has no hash, because {self.part.identity.reason}; "
                'write version="1" in sublex.encoder(…), and change the version with the code.'
            )
        return sha256(f"{self.part.name} {self.part.state} {self.kind}".encode()).hexdigest()[:32]

    def encode(self, texts: Sequence[str], role: str) -> Encoded:
        """Return the vectors of the texts, as the function computes them."""
        with self.part.call() as thing, contract("encoder", self.part.name):
            given = thing(list(texts), role)
            if isinstance(given, Encoded):
                return given
            return {"dense": _dense, "sparse": _sparse, "late": _late}[self.kind](given)

    def about(self) -> Mapping[str, str]:
        """Return the runtime that computes the vectors, for the metadata of runs."""
        return {"runtime": "Python"}


def _dense(given: Any) -> Encoded:
    return Encoded(_array(given if hasattr(given, "__array__") else list(given), 2))


def _array(given: Any, axes: int) -> np.ndarray:
    """Return numbers as a float32 array. Raise PluginError if they are not numbers, or if the array has not `axes` axes."""
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(given, np.float32)
    except (TypeError, ValueError):
        raise PluginError("it gave rows that are no numbers, or of different lengths") from None
    if array.size == 0 and array.ndim < axes:
        return array.reshape(0, *[0] * (axes - 1))
    if array.ndim != axes:
        raise PluginError(f"it gave an array of {counted(array.ndim, 'dimension')}, and has to give one of {axes}")
    return array


def _sparse(given: Any) -> Encoded:
    """Return the weights of a list of mappings from terms to weights."""
    from scipy.sparse import csr_array

    rows = list(given)
    if not all(isinstance(row, Mapping) and all(isinstance(term, str) for term in row) for row in rows):
        raise PluginError("it has to give a dictionary from terms to weights for each text")
    terms = sorted({term for row in rows for term in row})
    place = {term: number for number, term in enumerate(terms)}
    ends = np.cumsum([0, *map(len, rows)])
    weights = _array([weight for row in rows for weight in row.values()], 1)
    columns = np.array([place[term] for row in rows for term in row], np.int64)
    matrix = csr_array((weights, columns, ends), shape=(len(rows), len(terms)))
    matrix.sort_indices()
    return Encoded(matrix, terms)


def _late(given: Any) -> Encoded:
    """Return the rows of a list of matrices, one for each text."""
    matrices = [_array(each, 2) for each in given]
    filled = [each for each in matrices if len(each)]
    if len({each.shape[1] for each in filled}) > 1:
        raise PluginError("it gave matrices of different widths")
    rows = np.concatenate(filled) if filled else np.empty((0, 0), np.float32)
    return Encoded(rows, (), np.array([len(each) for each in matrices], np.int64))


def encoder(
    function: Callable[[list[str], str], Any], kind: str = "dense", name: str | None = None, version: object = None
) -> PythonEncoder:
    """Return an encoder as a part of an expression. `sublex.encoder` documents the parameters."""
    if not callable(function):
        raise InputError(
            f"sublex.encoder takes a function f(texts, role), not a value of type {type(function).__name__}."
        )
    if kind not in KINDS:
        raise InputError(f"kind={kind!r} is no kind of vectors; there are {', '.join(KINDS)}.")
    check_called("encoder", function, "texts", "role")
    return make_part(PythonEncoder, "encoder", function, name, version, output=kind)
