"""The identity of a Python object: a hash of its code and of the values that the code reads, the same in every process.

The code of a function is its bytecode with constants, names and the functions inside it. File, lines, comments and
docstring do not change the hash. The values are defaults, values of closures, and the globals that the code names; these
may be other functions, with their own code. For an installed package, only its name and version are hashed. An instance
is hashed by its class and its attributes, as pickling would store them. The order in sets and dictionaries does not count.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import xxhash

from sublex.contracts.base import VERSION
from sublex.tools.messages import in_short

# Types of values that are hashed by their `repr`. An int is not among them: it is hashed by `hex`, which has no size limit.
PLAIN = frozenset((type(None), bool, float, complex, type(...), type(NotImplemented), range))
# Types of things that are hashed by their name: parts of the interpreter, and methods written in C.
NAMED = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType,
    types.ClassMethodDescriptorType, types.MemberDescriptorType, types.GetSetDescriptorType, np.ufunc,
)  # fmt: skip
# Entries of a class that no method reads, or that repeat other entries.
UNREAD = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __qualname__ __annotations__ __annotate__ __annotations_cache__ __firstlineno__ "
    "__static_attributes__ __dataclass_fields__ __dataclass_params__ __match_args__ __abstractmethods__ _abc_impl "
    "__slotnames__".split()
)
# The arrays of SciPy's sparse matrices. The other attributes of these matrices are caches, which the hash ignores.
SPARSE = ("data", "indices", "indptr", "row", "col", "offsets")
# The size in bytes of an object whose class has no slots and no base class that is written in C.
PLAIN_SIZE = type("Plain", (), {}).__basicsize__
# Instructions that read the value of a name outside the function.
READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
# Descriptors, and the functions inside them.
WRAPPERS = {
    types.MethodType: ("__func__", "__self__"), property: ("fget", "fset", "fdel"), staticmethod: ("__func__",),
    classmethod: ("__func__",), functools.cached_property: ("func",), functools._lru_cache_wrapper: ("__wrapped__",),
}  # fmt: skip
# Stands in the place of a missing value.
ABSENT = object()
# A message shows at most this number of the names that lead to a value, as in "its model.weights".
SHOWN = 3
# The greatest depth of values within values.
DEEPEST = 100
# A value that contains itself, directly or within other values, is hashed again wherever it occurs. If many values contain
# one another, the number of occurrences explodes. So this is the largest number of occurrences that are hashed again.
MOST_AGAIN = 10_000
# An object with more values, or with more thousands of bytes in arrays, takes more than a millisecond or two to hash.
LARGE = 1000


class ObjectIdentity(NamedTuple):
    """The facts that distinguish a Python object from other objects.

    `digest` is the hash of its code and values. If the object cannot be hashed, or if the user gave a version, `digest` is
    "", and `reason` says why. `version` is the user's version, or "". `seen` has the hashed values whose places can be
    looked at again quickly. `sealed` says that it has all hashed values, and `is_large` that hashing takes long.
    """

    digest: str = ""
    version: str = ""
    reason: str = ""
    seen: Seen | None = None
    sealed: bool = False
    is_large: bool = False

    def still_holds(self) -> bool:
        """Return whether a quick look shows that nothing has changed. False may also mean that a quick look is not enough."""
        return self.sealed and self.seen is not None and self.seen.still_holds()


class Seen(NamedTuple):
    """The values that a hash depends on, each with its place: items of mappings, attributes of objects, sizes of mappings.

    A value is immutable, or its own content is in these lists too. So if each place still has the same object, nothing has
    changed.
    """

    items: list[tuple[Mapping[str, Any], str, Any]]
    attributes: list[tuple[Any, str, Any]]
    sizes: list[tuple[Mapping[str, Any], int]]

    def still_holds(self) -> bool:
        """Return whether each place still has the same object."""
        # Loops take half the time of `all` with generators.
        for mapping, name, value in self.items:
            if mapping.get(name, ABSENT) is not value:
                return False
        for holder, name, value in self.attributes:
            try:
                if getattr(holder, name) is not value:
                    return False
            except (AttributeError, ValueError):
                return False
        return all(len(mapping) == size for mapping, size in self.sizes)


def identity_of(thing: Any, version: str) -> ObjectIdentity:
    """Return the identity of an object as it is now. An object with a version is not hashed."""
    if version:
        return ObjectIdentity("", version, "it has a version")
    hashed = _Hash()
    try:
        digest = hashed.of(thing).hex()
    except Unhashable as error:
        return ObjectIdentity(reason=str(error))
    except Exception as error:  # An object may raise anything when it is looked at.
        return ObjectIdentity(reason=f"it cannot be looked at ({in_short(error)})")
    return ObjectIdentity(digest, seen=hashed.seen, sealed=hashed.sealed, is_large=hashed.size > LARGE)


class Watch:
    """Tells whether somebody changed the code or a value of an object. Changes that the object makes itself are allowed.

    `digests` are the hashes that the object may have at first; a copy gets the hashes of the object that was pickled. With
    `thorough`, the items of large collections are checked too.
    """

    def __init__(
        self, thing: Any, digests: Collection[str], known: ObjectIdentity | None = None, thorough: bool = False
    ):
        self.thing, self._digests, self._known, self._thorough = thing, tuple(digests), known, thorough

    def has_changed(self) -> bool:
        """Return whether the code or a value has changed."""
        if not any(self._digests) or self._holds():
            return False
        now = identity_of(self.thing, "")
        if now.digest in self._digests:
            self._digests, self._known = (now.digest,), now
            return False
        return True

    def allow_changes(self) -> None:
        """Accept the object as it is now: later calls of `has_changed` compare with this state."""
        if any(self._digests) and not self._holds():
            now = identity_of(self.thing, "")
            self._digests, self._known = (now.digest,), now

    def digests(self) -> tuple[str, ...]:
        """Return the hashes that a copy of the object may have."""
        if self._known is not None and not self._known.sealed and self._known.is_large and not self._thorough:
            return (*self._digests, identity_of(self.thing, "").digest)
        return self._digests

    def _holds(self) -> bool:
        known = self._known
        if known is None or known.seen is None or not (known.sealed or (known.is_large and not self._thorough)):
            return False
        return known.seen.still_holds()


class Unhashable(Exception):
    """An object contains a value whose content cannot be read. The message is the second half of a sentence."""


class _Code(NamedTuple):
    """A code object: its hash, the globals that it reads, the attributes that it names, and the modules that it imports."""

    digest: bytes
    globals: tuple[str, ...]
    attributes: tuple[str, ...]
    imports: tuple[str, ...]


class _Hash:
    """Hashes one object with the values in it.

    It keeps known hashes, and the recursion stack of the values being hashed.
    """

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._kept: list[Any] = []
        self._outer: dict[int, int] = {}
        self._met: set[int] = set()
        self._again = 0
        # The lowest depth on the recursion stack to which the current value refers back, in a cycle.
        self._lowest = DEEPEST
        # The names that lead to the current value, for messages.
        self._path: tuple[str, ...] = ()
        # `size` counts values, and thousands of bytes in arrays.
        self.seen, self.sealed, self.size = Seen([], [], []), True, 0

    def of(self, value: Any) -> bytes:
        """Return the hash of a value: 16 bytes."""
        kind = type(value)
        self.size += 1
        if kind is str:
            return _joined("str", value.encode("utf-8", "surrogatepass"))
        if kind is int:
            return _joined("int", hex(value).encode())
        if kind is bytes:
            return _joined("bytes", xxhash.xxh3_128_digest(value))
        if kind in PLAIN:
            return _joined(kind.__name__, repr(value).encode())
        place, depth = id(value), len(self._outer)
        if place in self._known:
            return self._known[place]
        if place in self._outer:
            # A cycle. The hash is that of the distance on the stack, which does not depend on the order within a set.
            self._lowest = min(self._lowest, self._outer[place])
            return _joined("outer", str(depth - self._outer[place]).encode())
        if depth >= DEEPEST:
            raise Unhashable(f"{self._what()} values more than {DEEPEST} levels deep")
        if place in self._met:
            self._again += 1
            if self._again > MOST_AGAIN:
                raise Unhashable(f"{self._what()} values that contain one another in too many ways")
        self._met.add(place)
        self._outer[place], lowest, self._lowest = depth, self._lowest, DEEPEST
        try:
            digest = self._content(value, kind)
        finally:
            del self._outer[place]
        if self._lowest >= depth:
            # The hash of a value that refers to an outer value is not kept, because it is valid only at this place.
            self._known[place] = digest
            self._kept.append(value)
            self._lowest = DEEPEST
        self._lowest = min(lowest, self._lowest)
        return digest

    def _content(self, value: Any, kind: type) -> bytes:
        if kind is types.FunctionType:
            return self._function(value)
        if kind is tuple:
            return self._all("tuple", value)
        if kind is frozenset:
            return _joined("set", *sorted(map(self.of, value)))
        if isinstance(value, type):
            return self._class(value)
        if kind is types.CodeType:
            return _code(value).digest
        if kind is types.ModuleType:
            return _joined("module", *_texts(value.__name__, _version(value.__name__) or ""))
        if isinstance(value, np.generic) and kind is not np.void and kind is not np.object_:
            return _joined("number", *_texts(value.dtype.str), value.tobytes())
        if kind in WRAPPERS:
            return self._all(kind.__name__, [getattr(value, name) for name in WRAPPERS[kind]])
        if isinstance(value, NAMED) or _is_installed(value):
            return self._by_name(value)
        if "py_func" in getattr(value, "__dict__", ()):  # A function that Numba compiles.
            return self._all("compiled", (value.py_func,))
        if _is_plain(kind) and not _is_sparse(value):
            self.seen.attributes.append((value, "__class__", kind))
            return _joined("object", self.of(kind), self._namespace(vars(value)))
        self.sealed, seen = False, self.seen
        # The items of a collection are not kept in `seen`, because the old items do not show that it has other ones
        # now.
        self.seen = Seen([], [], [])
        try:
            return self._changeable(value, kind)
        finally:
            self.seen = seen

    def _changeable(self, value: Any, kind: type) -> bytes:
        """Return the hash of a value whose content may change while the object stays the same."""
        if kind is list:
            return self._all("list", value)
        if kind is dict or kind is types.MappingProxyType:
            return self._pairs(value.items())
        if kind is set:
            return _joined("set", *sorted(map(self.of, value)))
        if kind is np.ndarray or kind is np.memmap:
            return self._array(value)
        if kind in (bytearray, memoryview):
            return _joined(kind.__name__, xxhash.xxh3_128_digest(bytes(value)))
        if _is_sparse(value):
            shown = value.tocsr() if value.format in ("dok", "lil") else value
            arrays = [getattr(shown, name, None) for name in SPARSE]
            return self._all("sparse", (kind, shown.format, tuple(map(int, shown.shape)), *arrays))
        return self._reduced(value, kind)

    def _by_name(self, value: Any) -> bytes:
        """Return the hash of a function written in C, or of a thing that stands in an installed module."""
        name, own = getattr(value, "__qualname__", value.__name__), getattr(value, "__self__", None)
        if own is not None and not isinstance(own, types.ModuleType):
            return _joined("method", *_texts(name), self.of(own))
        module = str(getattr(value, "__module__", ""))
        return _joined("named", *_texts(module, _version(module) or "", name))

    def _reduced(self, value: Any, kind: type) -> bytes:
        """Return the hash of the data that pickling would store for a value."""
        try:
            known = copyreg.dispatch_table.get(kind)
            reduced = known(value) if known else value.__reduce_ex__(2)
        except Exception:
            reduced = None
        if isinstance(reduced, str) and _version(kind.__module__) is not None:
            return _joined("named", *_texts(kind.__module__, kind.__qualname__, reduced))
        if not isinstance(reduced, tuple) or not 2 <= len(reduced) <= 6:
            raise Unhashable(f"{self._what()} a value of type {kind.__name__}, whose content cannot be seen")
        make, args, state, items, pairs, setter = [*reduced, None, None, None, None][:6]
        listed = self._all("items", items or ())
        return _joined("object", *map(self.of, (make, args, state, setter)), listed, self._pairs(pairs or ()))

    def _function(self, function: types.FunctionType) -> bytes:
        if _is_installed(function):
            return self._by_name(function)
        code, seen = _code(function.__code__), self.seen
        parts = [code.digest]
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            seen.attributes.append((function, name, getattr(function, name)))
        parts += [self.of(function.__defaults__), self.of(function.__kwdefaults__)]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            parts.append(self._value(name, _in_cell(cell)))
            if parts[-1] is not NOTHING:
                seen.attributes.append((cell, "cell_contents", _in_cell(cell)))
        if _version(function.__module__ or "") is None:
            parts += self._read(function, code)
        # A decorator stores the function that it wraps; the wrapper's closure has it too.
        own = {name: value for name, value in vars(function).items() if name != "__wrapped__"}
        seen.sizes.append((vars(function), len(vars(function))))
        if own:
            parts.append(self._namespace(own))
        return _joined("function", *parts)

    def _read(self, function: types.FunctionType, code: _Code) -> Iterator[bytes]:
        """Yield the hashes of the globals that a function reads, and of the attributes that it may read in the user's own modules."""
        for name in code.globals:
            yield from self._item(function.__globals__, name, name, code.attributes, ())
        for name in code.imports:
            yield _joined(name, *_texts(_version(name) or ""))

    def _item(
        self, scope: dict[str, Any], name: str, shown: str, attributes: Iterable[str], modules: tuple[Any, ...]
    ) -> Iterator[bytes]:
        """Yield the hash of a name in a scope. For a module of the user's own, also yield the hashes of `attributes` in it."""
        value = scope.get(name, ABSENT)
        self.seen.items.append((scope, name, value))
        if value is ABSENT:
            yield NOTHING
            return
        yield self._value(shown, value)
        if isinstance(value, types.ModuleType) and _version(value.__name__) is None and value not in modules:
            for attribute in attributes:
                yield from self._item(vars(value), attribute, f"{shown}.{attribute}", attributes, (*modules, value))

    def _value(self, name: str, value: Any) -> bytes:
        """Return the hash of a value. `name` is the value's name for messages."""
        if value is ABSENT:
            return NOTHING
        before, self._path = self._path, (*self._path, name)
        digest = _joined(name, self.of(value))
        self._path = before
        return digest

    def _class(self, kind: type) -> bytes:
        installed = _version(kind.__module__)
        if installed is not None:
            return _joined("class", *_texts(kind.__module__, installed, kind.__qualname__))
        self.seen.attributes.append((kind, "__bases__", kind.__bases__))
        return _joined("class", *_texts(kind.__name__), self.of(kind.__bases__), self._namespace(vars(kind), UNREAD))

    def _namespace(self, names: Mapping[str, Any], unread: Collection[str] = ()) -> bytes:
        """Return the hash of the attributes of an object or a class: `names` maps their names to values.

        The attributes in `unread` do not count.
        """
        seen, parts = self.seen, []
        seen.sizes.append((names, len(names)))
        for name, value in names.items():
            if name not in unread:
                seen.items.append((names, name, value))
                parts.append(self._value(name, value))
        return _joined("names", *sorted(parts))

    def _array(self, array: np.ndarray) -> bytes:
        if array.dtype.hasobject:
            return self._all("array", (array.dtype.str, array.shape, array.tolist()))
        self.size += array.nbytes // 1000
        content = xxhash.xxh3_128_digest(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return _joined("array", *_texts(str(array.dtype.descr), str(array.shape)), content)

    def _all(self, tag: str, values: Iterable[Any]) -> bytes:
        return _joined(tag, *map(self.of, values))

    def _pairs(self, pairs: Iterable[tuple[Any, Any]]) -> bytes:
        return _joined("pairs", *sorted(self.of(key) + self.of(value) for key, value in pairs))

    def _what(self) -> str:
        return f"its {'.'.join(self._path[:SHOWN])} has" if self._path else "it has"


def _joined(tag: str, *parts: bytes) -> bytes:
    """Return the hash of some parts. The length of each part is hashed before it, so that no two lists of parts look the same."""
    return xxhash.xxh3_128_digest(b"".join([tag.encode(), *[b"%d:%b" % (len(part), part) for part in parts]]))


NOTHING = _joined("nothing")


def _texts(*texts: str) -> Iterator[bytes]:
    return (text.encode("utf-8", "surrogatepass") for text in texts)


def _in_cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # The variable has no value yet.
        return ABSENT


def _is_installed(value: Any) -> bool:
    """Return whether a value stands in an installed module under its own name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or _version(module) is None:
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _is_sparse(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocsr")


@lru_cache(1 << 10)
def _is_plain(kind: type) -> bool:
    """Return whether the content of a user's object is its attributes: the class has no slots and pickles as usual."""
    usual = all(
        getattr(kind, name, None) is getattr(object, name, None)
        for name in ("__reduce_ex__", "__reduce__", "__getstate__")
    )
    slots = any(vars(base).get("__slots__") for base in kind.__mro__)
    # Objects of a class that inherits from a class written in C are larger.
    return usual and not slots and kind.__basicsize__ == PLAIN_SIZE and kind.__dictoffset__ != 0


@lru_cache(1 << 12)
def _code(code: types.CodeType) -> _Code:
    """Return the hash of a code object and the names in it. Both include all code inside it."""
    constants, inner = (
        list(code.co_consts),
        [_code(each) for each in code.co_consts if isinstance(each, types.CodeType)],
    )
    instructions = list(dis.get_instructions(code))
    read = {each.arg for each in instructions if each.opcode in dis.hasconst}
    if constants and isinstance(constants[0], str) and 0 not in read:
        constants[0] = None  # The docstring.
    values = _Hash()
    parts = [
        values.of(
            (code.co_code, getattr(code, "co_exceptiontable", b""), code.co_flags, code.co_names, code.co_varnames)
        ),
        values.of(
            (code.co_freevars, code.co_cellvars, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        ),
        values.of(constants),
    ]
    outside = {each.argval for each in instructions if each.opname in READS}
    imported = {each.argval for each in instructions if each.opname == "IMPORT_NAME"}
    return _Code(
        _joined("code", *parts),
        tuple(sorted(outside.union(*(each.globals for each in inner)))),
        tuple(sorted((set(code.co_names) - outside).union(*(each.attributes for each in inner)))),
        tuple(sorted(imported.union(*(each.imports for each in inner)))),
    )


def _version(module: str) -> str | None:
    """Return the version of the package of a module; "" if the package has no version, None for a module of the user's own."""
    top = module.partition(".")[0]
    if top == "sublex":
        return VERSION
    if top in sys.stdlib_module_names and top != "__main__":
        return ""
    return _installed_version(top) if top in sys.modules else None


@lru_cache(1 << 10)
def _installed_version(package: str) -> str | None:
    module = sys.modules[package]
    file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), "")
    if package == "__main__" or not {"site-packages", "dist-packages"}.intersection(
        str(file).replace("\\", "/").split("/")
    ):
        return None
    version: Mapping[str, Any] | Any = getattr(module, "__version__", None)
    if isinstance(version, str):
        return version
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
