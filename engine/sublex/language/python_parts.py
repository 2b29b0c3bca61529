"""Python objects as parts of an expression: the base of their nodes, their printed names, and lookups among them.

`python_rankers.py`, `finders.py`, `python_filters.py`, `python_expanders.py` and `functions.py` have the kinds of nodes. A
node is a component that no plugin registered: it holds the object itself. It prints a name and a hash of the object's code, so a
printed form says which object was meant, but no text can name the object.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, TypeVar

from sublex.errors import InputError
from sublex.language.expression import NAME, Change, Expression, walk
from sublex.language.object_identity import ObjectIdentity, Watch, identity_of
from sublex.language.pickling import has_own_code, picklable
from sublex.language.plugins import PYTHON, Component, Registration

# Digits of the hash in a printed form.
PRINTED = 6
_NUMBERS = count(1)
_MARK = re.compile(r"[\w.:/-]+")
Node = TypeVar("Node", bound="PythonPart")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PythonPart(Component):
    """A Python object as a part of an expression. It prints as `word(name@hash)`, which the parser refuses.

    `thing` is the object. `identity` says which code and values the object had when the part was made, and `watch` tells
    whether they have changed since. `number` differs for each part of this process. `lock` lets one thread at a time call
    the object.
    """

    word: ClassVar[str]
    # Whether results are kept so long that even the items of large collections are checked for changes, which takes time.
    thorough: ClassVar[bool] = False
    thing: Any
    identity: ObjectIdentity
    watch: Watch = field(repr=False)
    number: int = field(default_factory=partial(next, _NUMBERS))
    lock: Any = field(default_factory=RLock, repr=False)

    def __str__(self) -> str:
        return self._printed

    def __repr__(self) -> str:
        return f"<{self}>"

    @cached_property
    def _printed(self) -> str:
        mark = self.identity.version or self.identity.digest[:PRINTED] or f"object{self.number}"
        shown = f"{self.name}@{mark}"
        plain = NAME.fullmatch(self.name) and _MARK.fullmatch(mark)
        return f"{self.word}({shown if plain else json.dumps(shown, ensure_ascii=False)})"

    def children(self) -> Iterable[Any]:
        return ()

    def map(self, change: Change) -> PythonPart:  # type: ignore[override]
        return self

    def make(self) -> Any:
        return self.thing

    def __reduce__(self) -> Any:
        # A field of a subclass is an option of the user, if its `repr` is on. Other fields hold what this process keeps.
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.repr and each.name not in _COMMON}
        own |= {name: value.absolute() for name, value in own.items() if isinstance(value, Path)}
        thing, identity = picklable(self.thing, str(self)), self.identity
        later = tuple(sorted({*self.watch.digests()} - {identity.digest}))
        made = (type(self), self.kind, self.name, thing, identity.digest, identity.version, own)
        return _remade, (*made, later) if later else made

    def refuse_changed(self) -> None:
        """Raise InputError if the object's code or a value has changed since the part was made.

        Earlier results of the part are kept under the hash of its old code and values. Results of the new code must not
        be mixed with them.
        """
        with self.lock:
            if self.watch.has_changed():
                raise InputError(
                    f"{self} or a value that it reads has changed since it was made; make it again by sublex.{self.word}(…)."
                )

    @contextmanager
    def call(self) -> Iterator[Any]:
        """Yield the object to a `with` block that calls it. Other threads wait until the block ends.

        Raise InputError if the object has changed. The object may change itself within the block, as when it fills a
        table.
        """
        with self.lock:
            self.refuse_changed()
            try:
                yield self.thing
            finally:
                self.watch.allow_changes()

    @cached_property
    def state(self) -> str:
        """A text that names the code and the values of the object, also for other processes; "" if there is no such text."""
        identity = self.identity
        return f"version {identity.version}" if identity.version else identity.digest and f"code {identity.digest}"

    @cached_property
    def key(self) -> tuple[object, ...]:
        """The key under which the results of a part are kept. Parts with equal keys share results.

        By default each part has its own key, because its object is called for every query, and no other object may be
        called in its place.
        """
        return (self.number,)

    def refuse_cache(self, cache: object) -> None:
        """Raise InputError if the user asks for a cache, but the object has neither a hash nor a version."""
        if cache is not None and not self.state:
            raise InputError(
                f"{self} has no lasting cache, because {self.identity.reason}; "
                'write version="1" beside cache=, and change the version with the code.'
            )


def called(part: PythonPart, query: str) -> str:
    """Return words for a message about a part and the query for which its object is called."""
    return f"{part.name} for the query {query[:60]!r}"


def check_called(word: str, function: Any, *names: str) -> None:
    """Raise InputError for a class, and for a function that cannot be called with arguments of these names.

    `word` is the function of `sublex` that makes the part.
    """
    name = name_of(function)
    if isinstance(function, type):
        raise InputError(f"{name} is a class; make an object of it: sublex.{word}({name}()).")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # Python does not know the parameters of some functions that are written in C.
    try:
        signature.bind(*names)
    except TypeError:
        call, own = ", ".join(names), ", ".join(signature.parameters)
        raise InputError(
            f"sublex.{word} takes a function f({call}), and {name} is {name}({own}); "
            f"write a function around it, as in lambda {call}: …."
        ) from None


_COMMON = frozenset(each.name for each in fields(PythonPart))


def make_part(node: type[Node], kind: str, thing: Any, name: str | None, version: object, **options: Any) -> Node:
    """Return a node of the class `node` for the object `thing`, with the object's identity as it is now.

    `kind` is the kind of component, such as "ranker". `name` and `version` are the user's, or None. `options` are
    values of further fields of the node.
    """
    chosen, text = _named(thing, name), _version(version)
    return _node(node, kind, chosen, thing, identity_of(thing, text), options)


def _node(
    node: type[Node], kind: str, name: str, thing: Any, identity: ObjectIdentity, options: Mapping[str, Any]
) -> Node:
    watch = Watch(thing, (identity.digest,), identity, node.thorough)
    return _of(node, kind, name, {"thing": thing, "identity": identity, "watch": watch, **options})


def _of(node: type[Node], kind: str, name: str, options: Mapping[str, Any]) -> Node:
    registration = Registration(kind, name, PYTHON, make_part, ())
    return node(name=name, registration=registration, values={}, **options)


def _remade(
    node: type[Node],
    kind: str,
    name: str,
    thing: Any,
    digest: str,
    version: str,
    options: Mapping[str, Any],
    later: tuple[str, ...] = (),
) -> Node:
    """Return an unpickled node for `thing`, the copy of its object in this process.

    `digest` is the hash of the object that was pickled, and `later` are the hashes that it had after changes that it
    made itself.

    Code that came with the copy is not compared with `digest`: cloudpickle, for one, leaves slots out of classes, so the
    comparison would fail. Code that this process finds by name may be another version, so it is compared: at the first use
    and not here, because many pools of workers hang after an error while unpickling.
    """
    identity, known, digests = ObjectIdentity(digest, version), None, (digest, *later) if digest else ()
    if not version and (not digest or has_own_code(thing)):
        known = identity_of(thing, "")
        identity, digests = identity._replace(reason=known.reason), (known.digest,) if digest else ()
    watch = Watch(thing, digests, known, node.thorough)
    return _of(node, kind, name, {"thing": thing, "identity": identity, "watch": watch, **options})


def python_parts(expression: Expression) -> list[PythonPart]:
    """Return the Python objects in an expression, each once.

    Raise InputError if two different objects have the same printed form.
    """
    found: dict[str, PythonPart] = {}
    for node in walk(expression):
        if isinstance(node, PythonPart):
            first = found.setdefault(str(node), node)
            same = first.identity.digest == node.identity.digest if node.identity.digest else first.thing is node.thing
            if not same:
                raise InputError(
                    f"Two Python objects in {expression} print as {node}; give one of them another name by name=."
                )
    return list(found.values())


def refuse_changed(expression: Expression) -> None:
    """Raise InputError if a Python object in an expression has changed since its part was made."""
    for node in python_parts(expression):
        node.refuse_changed()


class SharedPart(PythonPart):
    """A Python object whose results depend only on its code and values. Parts with equal code and values share results."""

    @cached_property
    def key(self) -> tuple[object, ...]:
        return (str(self), self.state) if self.state else (self.number,)


def states(expression: Expression) -> dict[str, str]:
    """Return the state of each Python object in an expression by its printed form. Objects without a state are left out."""
    return {str(node): node.state for node in python_parts(expression) if node.state}


def is_lasting(expression: Expression) -> bool:
    """Return whether every Python object in an expression has a hash or a version, so that its hits may be kept on disk."""
    return all(node.state for node in python_parts(expression))


def name_of(thing: object) -> str:
    """Return the name of a function, or of an object's class."""
    return str(getattr(thing, "__name__", "") or type(thing).__name__).strip("<>")


def _named(thing: object, name: str | None) -> str:
    """Return `name`, or without it the name of the function or object."""
    name = name_of(thing) if name is None else name
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"name={name!r} should be a text: the name that the expression shows.")
    return name


def _version(version: object) -> str:
    """Return a version as a text; "" for no version."""
    if version is None:
        return ""
    if isinstance(version, bool) or not isinstance(version, (str, int, float)) or not str(version):
        raise InputError(f'version={version!r} should be a text or a number, such as "1".')
    return str(version)
