"""Tests of the identity of Python objects: what changes it, what does not, and that every process computes the same."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import os
import re
import subprocess
import sys
import threading
from collections import namedtuple
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from sublex.language.object_identity import identity_of


def digest(thing: Any) -> str:
    found = identity_of(thing, "")
    assert found.digest, found.reason
    return found.digest


def defined(code: str, name: str = "f", **values: Any) -> Any:
    """Return what `code` defines under a name in a module of its own, as a cell of a notebook does."""
    scope = {"__name__": "__main__", "np": np, "math": math, **values}
    exec(code, scope)
    return scope[name]


BASE = '''
def f(tf, k=2, *, j=3):
    """Text."""
    return helper(tf * SCALE) + k + np.log(1.5)
def helper(x): return [y + 1 for y in (x,) if y not in {"a", "b", "c"}]
SCALE = 1.5
'''


@pytest.mark.parametrize(
    "change",
    [
        ("# A comment\n\n", ""), ('"""Text."""', '"""Another."""'), ("SCALE = 1.5", "SCALE = 1.5\nOTHER = 4"),
        ('{"a", "b", "c"}', '{"c", "b", "a"}'), ("k=2, *, j=3", "k=2,  *, j = 3"),
        ("def helper(x): return [", "def helper(x):\n    # So.\n    return ["),
    ],
    ids=repr,
)  # fmt: skip
def test_an_equal_function_has_the_same_hash(change):
    assert digest(defined(BASE)) == digest(defined(BASE)) == digest(defined(BASE.replace(*change)))


@pytest.mark.parametrize(
    "change",
    [
        ("k=2", "k=3"), ("j=3", "j=4"), ("SCALE = 1.5", "SCALE = 2.5"), ("SCALE = 1.5", "SCALE = 1.50000001"),
        ("y + 1", "y + 2"), ("np.log", "np.log2"), ("1.5)", "2.5)"), ('"c"}', '"d"}'), ("+ k", "- k"),
        ("helper(tf * SCALE)", "helper(tf) * SCALE"), ("SCALE = 1.5", ""), ("SCALE = 1.5", "SCALE = True"),
        ("SCALE = 1.5", "SCALE = np.array([1.5])"), ("tf, k", "length, k"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_change_of_code_defaults_or_globals_changes_the_hash(change):
    assert digest(defined(BASE)) != digest(defined(BASE.replace(*change)))


def test_the_values_of_a_closure_count():
    def make(number: float, table: Any = None) -> Any:
        def inner(x):
            return x * number if table is None else table[x]

        return inner

    assert digest(make(1)) == digest(make(1)) != digest(make(2)) != digest(make(2.0))
    assert digest(make(1, {"a": 1, "b": 2})) == digest(make(1, {"b": 2, "a": 1})) != digest(make(1, {"b": 1, "a": 2}))
    late = digest(lambda: undefined_so_far)  # noqa: F821  # A name that is nowhere yet.
    assert late == digest(lambda: undefined_so_far)  # noqa: F821


class Holder:
    """An object with an attribute."""

    kind = "a"

    def __init__(self, value: Any = 1):
        self.value = value

    def score(self) -> Any:
        return self.value

    @property
    def twice(self) -> Any:
        return 2 * self.value


@dataclasses.dataclass
class Data:
    """A dataclass."""

    a: int = 1
    b: list[int] = dataclasses.field(default_factory=list)


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1
    BLUE = 2


Pair = namedtuple("Pair", "x y")
SPARSE = scipy.sparse.csr_matrix(np.eye(3))


@pytest.mark.parametrize(
    ("one", "equal", "other"),
    [
        (np.arange(6), np.arange(6), np.arange(6)[::-1]),
        (np.arange(6).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.arange(6).reshape(3, 2)),
        (np.arange(3), np.arange(3), np.arange(3.0)),
        (np.array(["a", None], object), np.array(["a", None], object), np.array(["a", 1], object)),
        (np.float32(1), np.float32(1), np.float64(1)),
        (SPARSE, SPARSE.copy(), SPARSE * 2),
        (SPARSE.tocoo(), SPARSE.tocoo(), SPARSE.T.tocsc()),
        ({1, "a", 2.5}, {2.5, 1, "a"}, {1, "a"}),
        ({"a": {1: 2}, "b": [1]}, {"b": [1], "a": {1: 2}}, {"a": {1: 2}, "b": [2]}),
        ([1, 2], [1, 2], [2, 1]),
        ([1], [1], (1,)),
        ([1], [1], [True]),
        (0.0, 0.0, -0.0),
        ("1", "1", b"1"),
        (b"1", b"1", bytearray(b"1")),
        (10**5000, 10**5000, 10**5000 + 1),
        (Holder(), Holder(), Holder(2)),
        (Holder(np.eye(2)), Holder(np.eye(2)), Holder(np.ones((2, 2)))),
        (Data(), Data(), Data(2)),
        (Data(), Data(), Data(1, [1])),
        (Colour.RED, Colour.RED, Colour.BLUE),
        (Pair(1, 2), Pair(1, 2), Pair(2, 1)),
        (functools.partial(max, 1), functools.partial(max, 1), functools.partial(max, 2)),
        (re.compile("a"), re.compile("a"), re.compile("a", re.I)),
        (Holder().score, Holder().score, Holder(2).score),
        (np.log, np.log, np.log2),
        (math.log, math.log, math.exp),
        (len, len, max),
        (np.random.default_rng(0), np.random.default_rng(0), np.random.default_rng(1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_hashed_by_their_content(one, equal, other):
    assert digest(one) == digest(equal) != digest(other)


def test_a_class_counts_with_its_code_its_bases_and_its_attributes():
    code = "class Base:\n    def base(self): return 1\nclass f(Base):\n    a = 1\n    def score(self): return self.a"
    one = digest(defined(code)())
    assert one == digest(defined(code)())
    for change in (("return 1", "return 2"), ("a = 1", "a = 2"), ("self.a", "self.a + 1"), ("(Base)", "")):
        assert digest(defined(code.replace(*change))()) != one, change


def test_what_a_value_was_asked_before_does_not_count():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    before = digest(matrix)
    _ = matrix.has_sorted_indices, matrix.has_canonical_format, matrix @ np.ones(3)
    assert digest(matrix) == before

    @functools.lru_cache
    def cached(x):
        return x + 1

    before = digest(cached)
    cached(1)
    assert digest(cached) == before
    holder = Holder()
    before = digest(holder)
    holder.__reduce_ex__(2)
    assert digest(holder) == before


def test_functions_that_call_one_another_have_hashes():
    code = "def f(n): return g(n) + 1\ndef g(n): return f(n - 1) if n else 0"
    assert digest(defined(code)) == digest(defined(code)) != digest(defined(code.replace("else 0", "else 1")))
    assert digest(defined(code)) != digest(defined(code, "g"))
    loop: list[Any] = [1]
    loop.append(loop)
    other: list[Any] = [1]
    other.append(other)
    assert digest(loop) == digest(other)


def test_of_an_own_module_what_is_used_counts_of_an_installed_one_its_version(monkeypatch):
    module = ModuleType("mine")
    exec("def g(x): return x + ONE\nONE = 1\nUNUSED = 2", vars(module))
    monkeypatch.setitem(sys.modules, "mine", module)
    one = digest(defined("def f(x): return mine.g(x)", mine=module))
    module.UNUSED = 3
    assert digest(defined("def f(x): return mine.g(x)", mine=module)) == one
    module.ONE = 2
    assert digest(defined("def f(x): return mine.g(x)", mine=module)) != one
    before = digest(defined("def f(x): return np.log(x)"))
    from sublex.language import object_identity

    object_identity._installed_version.cache_clear()
    monkeypatch.setattr(np, "__version__", "0.0")
    assert digest(defined("def f(x): return np.log(x)")) != before
    object_identity._installed_version.cache_clear()


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (threading.Lock(), "it has a value of type lock, whose content cannot be seen"),
        (Holder(threading.Lock()), "its value has a value of type lock, whose content cannot be seen"),
        (Holder([{"a": (x for x in "ab")}]), "its value has a value of type generator"),
        (defined("f = lambda: FILE", FILE=threading.Lock()), "its FILE has a value of type"),
    ],
    ids=["lock", "attribute", "inside", "global"],
)
def test_what_cannot_be_hashed_is_named(thing, reason):
    found = identity_of(thing, "")
    assert found.digest == "" and found.reason.startswith(reason)


def test_an_object_that_raises_when_it_is_looked_at_has_no_hash():
    class Shy:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("no")

        def __reduce__(self) -> Any:
            raise RuntimeError("no")

    assert identity_of(Shy(), "").digest == "" and identity_of(Shy(), "").reason


def test_deep_values_have_a_bound():
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    assert "levels deep" in identity_of(deep, "").reason


def test_values_that_all_contain_one_another_have_a_bound():
    def all_of(number: int) -> list[Any]:
        nodes: list[Any] = [[] for _ in range(number)]
        for node in nodes:
            node.extend(other for other in nodes if other is not node)
        return nodes

    assert digest(all_of(4)) != digest(all_of(5))
    # 30 values have more paths through all of them than there are atoms in a house.
    assert "contain one another in too many ways" in identity_of(all_of(30), "").reason


def test_a_tree_whose_nodes_know_their_parents_is_hashed_at_any_size():
    class Node:
        def __init__(self, levels: int, parent: Any = None):
            self.parent = parent
            self.children = [Node(levels - 1, self) for _ in range(2)] if levels else []

    assert digest(Node(14))


def test_the_hash_of_deep_values_does_not_depend_on_the_frames_below():
    def further(frames: int, code: Any) -> str:
        return further(frames - 1, code) if frames else identity_of(code, "").digest

    for levels in range(10, 200, 10):
        lines = [f"def f{k}(): return f{k + 1}()" for k in range(levels)]
        chain = defined("\n".join(lines), "f0")
        assert further(200, chain) == identity_of(chain, "").digest
        assert identity_of(chain, "").digest or "levels deep" in identity_of(chain, "").reason
    shared: list[Any] = [1]
    for _ in range(60):  # 2 ** 60 paths lead to the 1.
        shared = [shared, shared]
    assert digest(shared)


def test_a_version_takes_the_place_of_the_hash():
    assert identity_of(threading.Lock(), "2")[:2] == ("", "2")


PROGRAM = """
import numpy as np, scipy.sparse, dataclasses
from sublex.language.object_identity import identity_of
WORDS = {"b": {"x", "y", "z"}, "a": frozenset("abcdefgh")}
MATRIX = scipy.sparse.csr_matrix(np.eye(4))
@dataclasses.dataclass
class Mine:
    names: dict
    def score(self, tf, doc, term, collection):
        return helper(tf) + len(WORDS) + MATRIX.sum() + (tf in {"p", "q", "r", "s"})
def helper(x):
    return np.log(x)
print(identity_of(Mine({"k": 1, "j": {2, "3"}}), "").digest, identity_of(helper, "").digest)
"""


@pytest.mark.slow
def test_every_process_computes_the_same_hash():
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(printed) == 1 and re.fullmatch("[0-9a-f]{32} [0-9a-f]{32}\n", printed.pop())


def test_a_quick_look_sees_what_changes_the_hash():
    scope: dict[str, Any] = {"__name__": "__main__", "np": np}
    exec("class Mine:\n    a = 1\n    def score(self): return self.b * B + g()\nB = 2\ndef g(): return 1", scope)
    thing = scope["Mine"]()
    thing.b = 1.5

    def changes() -> list[Any]:
        yield lambda: setattr(thing, "b", 2.5)
        yield lambda: setattr(thing, "c", 2.5)
        yield lambda: delattr(thing, "c")
        yield lambda: scope.update(B=3)
        yield lambda: exec("def g(): return 2", scope)
        yield lambda: setattr(scope["g"], "__defaults__", (1,))
        yield lambda: setattr(scope["Mine"], "a", 2)
        yield lambda: setattr(scope["Mine"], "score", lambda self: 1)

    for change in changes():
        before = identity_of(thing, "")
        assert before.seen is not None and before.seen.still_holds()
        change()
        assert not before.seen.still_holds() and identity_of(thing, "").digest != before.digest
    thing.b = [1]  # What can change where it stands is hashed again each time.
    assert not identity_of(thing, "").still_holds()
