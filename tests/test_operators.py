"""Operator terms: their identity, their printed form, and the conditions of queries."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import GAP, Condition, Kind, Operator, operator, ordered, synonyms, window
from sublex.errors import InputError

TERMS = st.text(min_size=1, max_size=6)


def operators(terms: st.SearchStrategy[str] = TERMS) -> st.SearchStrategy[str]:
    return st.recursive(
        terms,
        lambda parts: st.one_of(
            st.builds(ordered, st.lists(parts, min_size=2, max_size=3), st.integers(1, 9)),
            st.builds(lambda some: window(some, 100), st.lists(parts, min_size=2, max_size=3)),
            st.builds(synonyms, st.lists(parts, min_size=2, max_size=3)),
        ),
        max_leaves=6,
    ).filter(lambda part: isinstance(part, Operator))


@given(operators())
def test_the_printed_form_has_no_white_space_and_is_read_back(part):
    assert len(part.split()) == 1
    read = operator(str(part))
    assert (read, read.kind, read.width, read.parts) == (part, part.kind, part.width, part.parts)
    assert pickle.loads(pickle.dumps(part)) == part


def test_an_operator_is_equal_to_operators_alone():
    phrase = ordered(["stem", "cell"])
    assert phrase == ordered(["stem", "cell"])
    assert str(phrase) == "#1('stem','cell')"
    assert phrase != "#1('stem','cell')"
    assert phrase not in {"#1('stem','cell')"}
    assert {phrase: 1}.get("#1('stem','cell')") is None


def test_equal_synonyms_count_once_and_the_order_within_windows_says_nothing():
    assert synonyms(["b", "a", "b"]) == synonyms(["a", "b"])
    assert window(["b", "a"], 4) == window(["a", "b"], 4)
    assert ordered(["b", "a"]) != ordered(["a", "b"])


def test_one_part_alone_is_no_operator():
    assert [ordered(["a"]), window(["a"], 1), synonyms(["a", "a"])] == ["a"] * 3
    assert ordered([GAP, "a", GAP]) == "a"
    assert str(ordered([GAP, "state", GAP, "art", GAP])) == "#1('state',*,'art')"


def test_a_mistake_costs_one_sentence():
    deep = "a"
    with pytest.raises(InputError, match="deep within one another"):
        for _ in range(20):
            deep = ordered([deep, "a"])
    for wrong, words in (
        (lambda: window(["a", "b", ordered(["c", "d"])], 3), "#uw3 is smaller than its 4 words"),
        (lambda: ordered([GAP]), "no word in the operator"),
        (lambda: synonyms(map(str, range(2_000))), "2,000 parts"),
        (lambda: ordered(["a", "b"], 0), "The width 0"),
    ):
        with pytest.raises(InputError, match=words):
            wrong()


def test_the_constructor_refuses_what_no_operator_can_be():
    deep = ordered(["a", "b"])
    for _ in range(15):
        deep = ordered([deep, "a"])
    for kind, width, parts, words in (
        (Kind.ORDERED, 1, [], "0 parts"),
        (Kind.ORDERED, 1, ["a"], "1 part;"),
        (Kind.SYNONYMS, 0, ["a"] * 2_000, "2,000 parts"),
        (Kind.ORDERED, 1 << 70, ["a", "b"], "The width"),
        (Kind.WINDOW, 0, ["a", "b"], "The width 0"),
        (Kind.WINDOW, 8, ["a", GAP, "b"], "A gap"),
        (Kind.ORDERED, 1, [GAP, "a"], "A gap"),
        (Kind.ORDERED, 1, ["a", 5], "list of terms"),
        (Kind.ORDERED, 1, "ab", "list of terms"),
        (Kind.ORDERED, 1, [deep, "a"], "deep within one another"),
        ("near", 1, ["a", "b"], "is not a kind of operator"),
    ):
        with pytest.raises(InputError, match=words):
            Operator(kind, width, parts)


@given(st.text(alphabet="#1uw(syn)'a\\,*^ ", max_size=12))
def test_other_texts_are_no_operators(text):
    read = operator(text)
    assert read is None or str(read) == text


def test_queries_that_allow_other_documents_differ():
    plain = Query("a", (QueryTerm("a"),))
    without = plain._replace(condition=Condition("not", ("b",)))
    assert plain != without
    assert len({plain, without, without._replace(evidence=())}) == 2
    assert without._replace(text="c").condition == Condition("not", ("b",))


def test_what_a_condition_excludes():
    condition = Condition("all", ("a", Condition("not", ("b",)), Condition("not", (Condition("any", ("c", "d")),))))
    assert condition.excluded() == {"b", "c", "d"}
    assert list(condition.leaves()) == ["a", "b", "c", "d"]
    assert Condition("any", ("a", Condition("not", ("b",)))).excluded() == frozenset()
