"""Type hints whose types are imported only when a program reads the hints.

A module that has to load quickly imports some types under `if TYPE_CHECKING:`, where only type checkers see them.
Python's `typing.get_type_hints` then finds no such names. With `resolve_hints(__name__)` at its end, a module imports
these types at the moment when the hints of one of its functions are read.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, KeysView
from functools import cache, cached_property
from importlib import import_module
from types import FunctionType
from typing import Any


class _Hints(dict[str, Any]):
    """The annotations of a function. Reading all of them imports the types that they name."""

    def __init__(self, annotations: dict[str, Any], module: str):
        super().__init__(annotations)
        self._module = module

    # `typing` and `inspect` first copy the annotations by `dict(hints)`. For a subclass of dict that defines `__iter__`, Python
    # makes this copy by calling `keys`.

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        for name in types_for_checkers(self._module):
            import_type(self._module, name)
        return super().keys()


def resolve_hints(module: str) -> None:
    """Change the functions and methods of a module, so that reading their hints imports the types in the hints."""
    for thing in [*vars(sys.modules[module]).values()]:
        if getattr(thing, "__module__", None) == module:
            for function in _functions(thing):
                # Two classes may share a function. A class may also have functions of other modules, such as `typing`.
                if function.__module__ == module and not isinstance(function.__annotations__, _Hints):
                    function.__annotations__ = _Hints(function.__annotations__, module)


def import_type(module: str, name: str) -> Any:
    """Import a type that a module imports for type checkers, and make it a name of the module."""
    names = vars(sys.modules[module])
    if name not in names:
        source, own = types_for_checkers(module)[name]
        names[name] = getattr(import_module(source), own) if own else import_module(source)
    return names[name]


@cache
def types_for_checkers(module: str) -> dict[str, tuple[str, str]]:
    """Return the types that a module imports for type checkers, by name: the other module, and the type's name there.

    The second name is empty if the module imports a whole module.
    """
    found: dict[str, tuple[str, str]] = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                if isinstance(each, ast.ImportFrom):
                    found |= {alias.asname or alias.name: (str(each.module), alias.name) for alias in each.names}
                elif isinstance(each, ast.Import):
                    found |= {alias.asname or alias.name: (alias.name, "") for alias in each.names}
    return found


def _functions(thing: Any) -> Iterator[FunctionType]:
    """Yield a function, or the functions of a class."""
    members = [thing] if isinstance(thing, FunctionType) else vars(thing).values() if isinstance(thing, type) else ()
    for member in members:
        if isinstance(member, property):
            member = member.fget
        elif isinstance(member, cached_property):
            member = member.func
        elif isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        if isinstance(member, FunctionType):
            yield member
