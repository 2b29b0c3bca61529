"""Records and the JSON of an index: values are checked when they become records, and records become JSON values again.

A record is a `NamedTuple`. The types of its fields say what the JSON may hold:

* a type: a value of exactly this type; `object`: anything; `Annotated[TYPE, RULE]`: a value of the type that fulfils the rule,
* `list[X]` or `tuple[X, ...]`: a list; `dict[K, V]` or `Mapping[K, V]`: an object with members of any name,
* a record: an object with its members.

A member may be absent if its field has a default, and a field that was left at its default is not written. Members that a record does
not have are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints


class _Absent(Mapping[str, Any]):
    """An empty mapping that is pickled by its name, so that it is still the same object after unpickling."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __reduce__(self) -> str:
        return "ABSENT"


# The default of a field whose JSON object may be absent. An empty object differs from ABSENT: it is written.
ABSENT: Mapping[str, Any] = _Absent()
_KINDS = {int: "a whole number", str: "a text", list: "a list", dict: "an object", bool: "true or false"}
Record = TypeVar("Record")


class SchemaMismatch(ValueError):
    """A value does not fit a record. The message names the field and says what its value should be."""


class Rule(NamedTuple):
    """A condition on a value. `holds` tells whether a value fulfils it; `what` describes the right values in a message."""

    what: str
    holds: Callable[[Any], bool]


def record_of(value: Any, record: type[Record]) -> Record:
    """Return the record that a JSON value describes.

    Raise `SchemaMismatch` if a member is missing or does not fit its field.
    """
    read: Callable[[Any, str], Record] = _reader(record)  # type: ignore[arg-type]
    return read(value, "")


def as_json(value: Any) -> Any:
    """Return a record, or a value in a record, as JSON values."""
    if hasattr(value, "_asdict"):
        defaults, members = value._field_defaults, value._asdict()
        return {name: as_json(m) for name, m in members.items() if name not in defaults or m is not defaults[name]}
    if isinstance(value, Mapping):
        return {name: as_json(member) for name, member in value.items()}
    return list(map(as_json, value)) if isinstance(value, (list, tuple)) else value


@cache
def _reader(kind: Any) -> Callable[[Any, str], Any]:
    """Return a function that checks a JSON value and converts it to `kind`, which is the type of a field.

    The function's second argument is the place of the value, for a message.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _reader(parts[0])
    if origin is Annotated:
        return partial(_ruled, *parts)
    if origin in (list, tuple):
        return partial(_items, origin, _reader(parts[0]))
    if origin in (dict, Mapping):
        return partial(_members, _reader(parts[0]), _reader(parts[1]))
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind, include_extras=True)
        return partial(_record, kind, {name: _reader(hint) for name, hint in hints.items()})
    return (lambda value, place: value) if kind in (object, Any) else partial(_exactly, kind)


def _exactly(kind: type, value: Any, place: str) -> Any:
    if type(value) is not kind:
        raise SchemaMismatch(f"{place or 'the whole'} should be {_KINDS[kind]}")
    return value


def _ruled(kind: type, rule: Rule, value: Any, place: str) -> Any:
    if type(value) is not kind or not rule.holds(value):
        raise SchemaMismatch(f"{place} should be {rule.what}")
    return value


def _items(kind: type, read: Any, value: Any, place: str) -> Any:
    return kind(read(item, f"{place}[{number}]") for number, item in enumerate(_exactly(list, value, place)))


def _members(read_name: Any, read: Any, value: Any, place: str) -> dict[str, Any]:
    inner = f"{place}." if place else ""
    return {
        read_name(name, f"{inner}{name!r}"): read(member, f"{inner}{name}")
        for name, member in _exactly(dict, value, place).items()
    }


def _record(record: Any, readers: Mapping[str, Any], value: Any, place: str) -> Any:
    inner = f"{place}." if place else ""
    _exactly(dict, value, place)
    members = {}
    for name, read in readers.items():
        if name in value:
            members[name] = read(value[name], f"{inner}{name}")
        elif name not in record._field_defaults:
            raise SchemaMismatch(f"{inner}{name} is missing")
    return record(**members)
