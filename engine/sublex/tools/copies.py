"""Objects that never change: a copy is the object itself, and an unpickled object is made again when it is first used.

A pickled object of these kinds says how to make it again, and has no data of an index. An error during unpickling
would end a worker process, or stop it for ever, before it could report the error. So the error comes only at the first
use.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Self


class Uncopied:
    """An object that never changes: `copy.copy` and `copy.deepcopy` return the object itself."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Deferred(Uncopied):
    """An object that never changes.

    In place of its data, its `origin` is pickled, a function that makes the object again. `pickled` names the
    attributes that are pickled too, so that they can be read before the object is made.
    """

    pickled: ClassVar[tuple[str, ...]]
    origin: Callable[[], Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return deferred, (type(self), self.origin, {name: getattr(self, name) for name in self.pickled})

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Make the whole object. Python calls this when an attribute that was not pickled is first read."""
            state = self.__dict__
            if "_making" in state and not name.startswith("__"):
                with state["_making"]:
                    if "_made" not in state:
                        state.update(state["origin"]().__dict__ | state, _made=True)
                if name in state:
                    return state[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def deferred(kind: type[Deferred], origin: Callable[[], Any], known: dict[str, Any]) -> Any:
    """Return an object with the attributes `known`. When another attribute is first read, `origin` makes the whole object."""
    new = object.__new__(kind)
    new.__dict__.update(known, origin=origin, _making=RLock())
    return new
