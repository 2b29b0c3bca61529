"""The declarations of the values that a fitted model stores: the shape, type and range of each.

`Fittable.declares` returns a declaration for each value that `save` puts into the store, and
`Representation.row_values` declares the rows of documents. Anybody can write a model with valid checksums, and kernels
do not check bounds. So the engine compares all values with their declarations before `load` gets them. A model that
does not fit its declarations is refused with one sentence.

A size is a number, or a name such as "words". A name stands for the same number in all declarations of a model: the first value that has
the size sets it. A size may also add or multiply other sizes, as in "words + 1" or "topics * words". Earlier values must have set
their names.
None allows any size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin

Size: TypeAlias = "int | str | None"
# The lower end of a range of numbers above 0. Code may divide by numbers of at least this size.
POSITIVE = 1e-300
# All numbers in JSON must be smaller than this, so that their sums and squares are finite.
HUGE = 1e150
# An array is compared with its range in blocks of this many numbers.
BLOCK = 1 << 16
# The types of numbers that any row may hold, as kinds of NumPy: floats and whole numbers.
ANY_TYPE = "f i u"


class Numbers(NamedTuple):
    """An array of finite numbers, or SciPy's sparse rows.

    * `shape`: the size of each dimension; None for any shape.
    * `types`: NumPy's names of the types that are allowed, such as "f8" or "i4 i8", or of kinds of types, such as "f".
      A kernel is compiled for one type, so a value that a kernel reads has one type.
    * `least` and `most`: the range of the numbers. `below` is a size: all numbers are smaller, as the number of each word
      is smaller than the number of words.
    * `sparse`: whether the values are sparse rows; None allows both. The columns of a sparse row always ascend.
    * `matrices`: whether the values are `sublex.vectors.matrices.Matrices`; None allows both. The shape has the number of
      documents and the width of the rows.
    * `order`: "ascending" if each number is at least the one before it, "rising" if it is above the one before it.
    """

    shape: tuple[Size, ...] | None
    types: str = "f8"
    least: float = -math.inf
    most: float = math.inf
    below: Size = None
    sparse: bool | None = False
    order: str = ""
    matrices: bool | None = False


class Places(NamedTuple):
    """Offsets: the places where the parts of a list begin, and the end of the last part.

    These are `parts` + 1 whole numbers that ascend from 0 to `of`, the length of the list.
    """

    parts: str
    of: str
    types: str = "i8"


class Json(NamedTuple):
    """A value that JSON can hold.

    * `kind`: `str`, `int`, `float` (a finite number, whole or not), a union such as `str | None`, `list[KIND]`,
      `dict[str, KIND]`, or `tuple[KIND, KIND]` for a list with one item of each kind. A text can be written in UTF-8.
    * `size`: the number of items of a list.
    * `distinct`: whether no text occurs twice.
    """

    kind: Any
    size: Size = None
    distinct: bool = False


Declared: TypeAlias = Numbers | Places | Json


class DeclarationMismatch(ValueError):
    """A value does not fit its declaration. The message follows the name of the value in a sentence."""


class Sizes:
    """The sizes that names stand for, found while the values of one model are checked."""

    def __init__(self, **known: int):
        self.known = known

    def check(self, value: Any, declared: Declared) -> None:
        """Raise `DeclarationMismatch` unless a value fits its declaration. New names get their sizes from the value."""
        if isinstance(declared, Json):
            if fault := _fault_of(declared.kind)(value):
                raise DeclarationMismatch(fault)
            self._expect(declared.size, len(value) if declared.size is not None else 0, "items")
            if declared.distinct and len(set(value)) != len(value):
                raise DeclarationMismatch(" holds a text twice")
        elif isinstance(declared, Places):
            last = self.of(declared.of)
            self.check(value, Numbers((f"{declared.parts} + 1",), declared.types, 0, last, order="ascending"))
            if value[0] != 0 or value[-1] != last:
                raise DeclarationMismatch(f" does not lead from 0 to {last:,}")
        else:
            self._check_numbers(value, declared)

    def of(self, size: str | int) -> int:
        """Return the number that a size stands for."""
        if isinstance(size, int):
            return size
        return sum(math.prod(self._factor(factor.strip()) for factor in term.split("*")) for term in size.split("+"))

    def _factor(self, text: str) -> int:
        return int(text) if text.isdecimal() else self.known[text]

    def _expect(self, size: Size, found: int, what: str) -> None:
        if isinstance(size, str) and size.isidentifier():
            self.known.setdefault(size, found)
        if size is not None and found != self.of(size):
            raise DeclarationMismatch(f" has {found:,} {what} where the model has {self.of(size):,}")

    def _check_numbers(self, values: Any, declared: Numbers) -> None:
        shape, is_sparse = getattr(values, "shape", None), hasattr(values, "indptr")
        if shape is None or declared.sparse not in (None, is_sparse):
            raise DeclarationMismatch(f" should be {'sparse rows' if declared.sparse else 'an array of numbers'}")
        has_matrices = hasattr(values, "starts")
        if declared.matrices not in (None, has_matrices):
            raise DeclarationMismatch(f" should be {'matrices' if declared.matrices else 'an array of numbers'}")
        if declared.shape is not None:
            if len(shape) != len(declared.shape):
                raise DeclarationMismatch(f" has {len(shape)} dimensions where the model has {len(declared.shape)}")
            for size, found in zip(declared.shape, shape, strict=True):
                self._expect(size, found, "entries")
        numbers = values.data if is_sparse or has_matrices else values
        if not {numbers.dtype.str[1:], numbers.dtype.kind} & set(declared.types.split()):
            raise DeclarationMismatch(f" has numbers of the type {numbers.dtype}")
        if numbers.size:
            self._check_range(numbers, declared)

    def _check_range(self, numbers: Any, declared: Numbers) -> None:
        # Both passes over a block read it from the processor's cache. The least number of a block is NaN if the block has a NaN.
        flat = numbers.reshape(-1)
        blocks = [flat[begin : begin + BLOCK] for begin in range(0, len(flat), BLOCK)]
        found = [edge.item() for block in blocks for edge in (block.min(), block.max())]
        if not all(map(math.isfinite, found)):
            raise DeclarationMismatch(" has numbers that are not finite")
        least, most = min(found), max(found)
        if least < declared.least or most > declared.most:
            outside = least if least < declared.least else most
            raise DeclarationMismatch(f" has the number {outside:g}, which is out of range")
        if declared.below is not None and most >= self.of(declared.below):
            raise DeclarationMismatch(f" has the number {most:,} where numbers are below {self.of(declared.below):,}")
        if declared.order:
            before, after = numbers[:-1], numbers[1:]
            if not ((after > before) if declared.order == "rising" else (after >= before)).all():
                raise DeclarationMismatch(" has numbers that do not ascend")


def is_text(value: object) -> bool:
    """Return whether a value from JSON is a text without lone surrogates, which JSON can write, but UTF-8 cannot."""
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value))


# Says what is wrong with a JSON value, as in "is no number"; "" if nothing is. The caller puts the place of the value before it.
_Fault: TypeAlias = "Callable[[Any], str]"


def _fault_of(kind: Any) -> _Fault:
    """Return a function that finds the fault of a JSON value. `kind` is the kind that the value should have, as in `Json`."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is list:
        return partial(_fault_of_list, _fault_of(parts[0]))
    if origin is dict:
        return partial(_fault_of_dict, _fault_of(parts[1]))
    if origin is tuple:
        return partial(_fault_of_tuple, [_fault_of(part) for part in parts])
    single = [_SINGLE[part] for part in parts or (kind,)]
    what, fits = f" should be {' or '.join(what for what, _ in single)}", [fits for _, fits in single]
    if len(fits) == 1:
        (only,) = fits
        return lambda value: "" if only(value) else what
    return lambda value: "" if any(each(value) for each in fits) else what


def _fault_of_list(fault_of: _Fault, value: Any) -> str:
    if type(value) is not list:
        return " should be a list"
    # A list may have millions of items, nearly always without a fault.
    if not any(map(fault_of, value)):
        return ""
    return next(f"[{number}]{fault}" for number, fault in enumerate(map(fault_of, value)) if fault)


def _fault_of_dict(fault_of: _Fault, value: Any) -> str:
    if type(value) is not dict or not all(map(is_text, value)):
        return " should be an object whose names are texts"
    return next((f"[{name!r}]{fault}" for name, item in value.items() if (fault := fault_of(item))), "")


def _fault_of_tuple(faults_of: list[_Fault], value: Any) -> str:
    if type(value) is not list or len(value) != len(faults_of):
        return f" should be a list of {len(faults_of)} items"
    for number, fault_of in enumerate(faults_of):
        if fault := fault_of(value[number]):
            return f"[{number}]{fault}"
    return ""


_SINGLE: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("a text", is_text),
    int: ("a whole number below 2^63", lambda value: type(value) is int and abs(value) < 1 << 63),
    float: ("a number", lambda value: type(value) in (int, float) and abs(value) < HUGE),
    type(None): ("null", lambda value: value is None),
}
