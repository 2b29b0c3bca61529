"""Pickle the Python functions in expressions: by name if they have one, otherwise by the package cloudpickle.

Sublex itself unpickles nothing. Worker processes of the user do, such as those of multiprocessing, joblib and Ray.
"""

from __future__ import annotations

import sys
from functools import partial
from types import FunctionType, MethodType
from typing import Any
from weakref import WeakValueDictionary

from sublex.errors import InputError
from sublex.tools.messages import in_short


class ByValue:
    """A function without a name, which cloudpickle pickles with its code. `shown` names it in messages."""

    def __init__(self, function: Any, shown: str):
        self.function, self.shown = function, shown

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            import cloudpickle
        except ImportError:
            raise InputError(
                f"{self.shown} holds a lambda or a local function, which no other process can find by its name; "
                "define it by def at the top of a module, or install cloudpickle."
            ) from None
        try:
            return cloudpickle.loads, (cloudpickle.dumps(self.function),)
        except Exception as error:
            raise InputError(f"The function in {self.shown} cannot be pickled ({in_short(error)}).") from error


# The `ByValue` objects of the pickles that are being made, by the `id` of the function.
_BY_VALUE: WeakValueDictionary[int, ByValue] = WeakValueDictionary()


def picklable(function: Any, shown: str) -> Any:
    """Return an object that pickles a function with its code.

    A function that can be found by its name is returned itself. For these, joblib and Ray have their own ways of
    pickling. `shown` names the function in messages.
    """
    if _has_name(function):
        return function
    # Parts with the same function share this object. So the function is pickled once, and the copies of the parts share it too.
    return _BY_VALUE.setdefault(id(function), ByValue(function, shown))


def _has_name(thing: Any) -> bool:
    """Return whether a function can be found by its name. An object is found if its class and the functions in it are."""
    if isinstance(thing, MethodType):
        return _has_name(thing.__self__)
    if not isinstance(thing, FunctionType):
        held = (thing.func, *thing.args) if isinstance(thing, partial) else getattr(thing, "__dict__", {}).values()
        named = "<locals>" not in (thing if isinstance(thing, type) else type(thing)).__qualname__
        return named and all(_has_name(each) for each in held if isinstance(each, FunctionType))
    return _is_found(thing)


def has_own_code(thing: Any) -> bool:
    """Return whether an unpickled object brought its code along: in this process, no name leads to its function or class."""
    if isinstance(thing, MethodType):
        return has_own_code(thing.__self__)
    if isinstance(thing, partial):
        return has_own_code(thing.func)
    return not _is_found(thing if isinstance(thing, (FunctionType, type)) else type(thing))


def _is_found(named: Any) -> bool:
    """Return whether a function or class stands in its module under its name."""
    found = sys.modules.get(named.__module__)
    for name in named.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is named
