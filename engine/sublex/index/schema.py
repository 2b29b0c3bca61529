"""Records and the JSON of an index: values are checked when they become records, and records become JSON values again.

A record is a `NamedTuple`. The types of its fields say what the JSON may hold:

* a type: a value of exactly this type; `object`: anything; `Annotated[TYPE, RULE]`: one that fulfils a rule too,
* `list[X]` or `tuple[X, ...]`: a list; `dict[K, V]` or `Mapping[K, V]`: an object with members of any name,
* a record: an object with its members.

A member may be absent if its field has a default, and a field that was left at its default is not written. Members that a record does
not have are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

# The default of a field for an object that may be absent. An object that is present and empty is another, and is written.
ABSENT: Mapping[str, Any] = MappingProxyType({})
_KINDS = {int: "a whole number", str: "a text", list: "a list", dict: "an object", bool: "true or false"}
Record = TypeVar("Record")


class Mismatch(ValueError):
    """A value is not what a record may hold. The message names the field and what it should be."""


class Rule(NamedTuple):
    """A condition that a value fulfils; `what` describes the value in a message."""

    what: str
    holds: Callable[[Any], bool]


def record_of(value: Any, record: type[Record]) -> Record:
    """Return the record that a JSON value describes. Raise `Mismatch` if a member is missing or is not what it should be."""
    return _checked(value, record, "")


def as_json(value: Any) -> Any:
    """Return a record, or a value in a record, as JSON values."""
    if hasattr(value, "_asdict"):
        defaults, members = value._field_defaults, value._asdict()
        return {name: as_json(m) for name, m in members.items() if name not in defaults or m is not defaults[name]}
    if isinstance(value, Mapping):
        return {name: as_json(member) for name, member in value.items()}
    return list(map(as_json, value)) if isinstance(value, (list, tuple)) else value


def _checked(value: Any, kind: Any, place: str) -> Any:
    """Return a JSON value as its kind, which is the type of a field. `place` names the value in a message."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _checked(value, parts[0], place)
    if origin is Annotated:
        if type(value) is not parts[0] or not parts[1].holds(value):
            raise Mismatch(f"{place} should be {parts[1].what}")
    elif origin in (list, tuple):
        _expect(value, list, place)
        return origin(_checked(item, parts[0], f"{place}[{number}]") for number, item in enumerate(value))
    elif origin in (dict, Mapping):
        return _members(value, parts[0], parts[1], place)
    elif hasattr(kind, "_fields"):
        return _record(value, kind, place)
    elif kind not in (object, Any):
        _expect(value, kind, place)
    return value


def _expect(value: Any, kind: type, place: str) -> None:
    if type(value) is not kind:
        raise Mismatch(f"{place or 'the whole'} should be {_KINDS[kind]}")


def _members(value: Any, names: Any, kind: Any, place: str) -> dict[str, Any]:
    _expect(value, dict, place)
    inner = f"{place}." if place else ""
    for name in value:
        _checked(name, names, f"{inner}{name!r}")
    return {name: _checked(member, kind, f"{inner}{name}") for name, member in value.items()}


def _record(value: Any, record: Any, place: str) -> Any:
    _expect(value, dict, place)
    inner = f"{place}." if place else ""
    fields = {}
    for name, kind in _fields(record).items():
        if name in value:
            fields[name] = _checked(value[name], kind, f"{inner}{name}")
        elif name not in record._field_defaults:
            raise Mismatch(f"{inner}{name} is missing")
    return record(**fields)


@lru_cache(maxsize=64)
def _fields(record: Any) -> dict[str, Any]:
    """Return the types of a record's fields."""
    return get_type_hints(record, include_extras=True)
