"""Call an encoder, and check what it returns before anything depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sublex.contracts.encoders import KINDS, ROLES, Encoded, Encoder
from sublex.errors import PluginError, contract
from sublex.tools.messages import counted


def encoded(encoder: Encoder, name: object, texts: Sequence[str], role: str) -> Encoded:
    """Return the vectors of texts, with float32 values and sizes of int64.

    `name` is the encoder's name in messages. Raise PluginError if the result does not fit the kind of the encoder: it has
    a wrong number of rows, a wrong type, or a number that is not finite.
    """
    assert role in ROLES
    with contract("encoder", name):
        kind = encoder.kind
        given = encoder.encode(texts, role)
        if kind not in KINDS:
            raise PluginError(f"it has the kind {str(kind)[:30]!r}; there are {', '.join(KINDS)}")
        if not isinstance(given, Encoded) or type(given.cut) is not int:
            raise PluginError(f"it returned a value of type {type(given).__name__}; return an Encoded")
        found = {"dense": _dense, "sparse": _sparse, "late": _late}[kind](given, len(texts))
        if not np.isfinite(_values(found)).all():
            raise PluginError("it gave a number that is no finite number of float32")
    return found


def identity_of(encoder: Encoder, name: object) -> str:
    """Return the identity of an encoder. Raise PluginError unless it has 8 to 128 hexadecimal digits."""
    with contract("encoder", name):
        identity: Any = encoder.identity
        if not isinstance(identity, str) or not 8 <= len(identity) <= 128 or set(identity) - set("0123456789abcdef"):
            raise PluginError("its identity is no text of 8 to 128 hexadecimal digits")
        return identity


def _values(found: Encoded) -> np.ndarray:
    values: Any = found.rows
    return values if isinstance(values, np.ndarray) else values.data


def _floats(values: Any) -> np.ndarray:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        raise PluginError("it gave rows that are no array of numbers")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, np.float32)


def _dense(given: Encoded, number: int) -> Encoded:
    rows = _floats(given.rows)
    if rows.ndim != 2 or len(rows) != number:
        raise PluginError(
            f"it gave rows of the shape {rows.shape} for {counted(number, 'text')}; give one row for each"
        )
    return Encoded(rows, (), None, given.cut)


def _sparse(given: Encoded, number: int) -> Encoded:
    from scipy.sparse import csr_array

    terms = list(given.terms)
    if not isinstance(given.rows, csr_array) or given.rows.shape != (number, len(terms)):
        raise PluginError(
            f"it gave no csr_array with a row for each of {counted(number, 'text')} and a column for each term"
        )
    if not all(isinstance(term, str) and term for term in terms) or len(set(terms)) < len(terms):
        raise PluginError("it gave terms that are empty, no texts, or there twice")
    rows = csr_array((_floats(given.rows.data), given.rows.indices, given.rows.indptr), shape=given.rows.shape)
    rows.check_format(full_check=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return Encoded(rows, terms, None, given.cut)


def _late(given: Encoded, number: int) -> Encoded:
    rows, sizes, terms = _floats(given.rows), given.sizes, list(given.terms)
    if rows.ndim != 2 or not isinstance(sizes, np.ndarray) or sizes.shape != (number,) or sizes.dtype.kind not in "iu":
        raise PluginError(f"it gave no rows with the number of rows of each of {counted(number, 'text')}")
    if (sizes < 0).any() or sizes.sum() != len(rows) or (terms and len(terms) != len(rows)):
        raise PluginError(f"it gave {counted(len(rows), 'row')}, and sizes or terms that do not add up to these")
    return Encoded(rows, terms, sizes.astype(np.int64), given.cut)
