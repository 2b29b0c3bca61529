"""Operator terms: their identity, their printed form, and the conditions of queries."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import (
    GAP,
    Condition,
    Operator,
    OperatorKind,
    least_width,
    operator,
    ordered,
    synonyms,
    window,
    within,
    words_in,
    written_operator,
)
from sublex.errors import InputError

TERMS = st.text(min_size=1, max_size=6)


def operators(terms: st.SearchStrategy[str] = TERMS) -> st.SearchStrategy[str]:
    return st.recursive(
        terms,
        lambda parts: st.one_of(
            st.builds(ordered, st.lists(parts, min_size=2, max_size=3), st.integers(1, 9)),
            st.builds(lambda some: window(some, 100), st.lists(parts, min_size=2, max_size=3)),
            st.builds(synonyms, st.lists(parts, min_size=2, max_size=3)),
            st.builds(in_field, st.sampled_from(["title", "Größe_2", "full-text.en"]), parts),
        ),
        max_leaves=6,
    ).filter(lambda part: isinstance(part, Operator))


def in_field(field: str, part: str) -> str:
    """Return a part within a field; the part itself if it is in another field."""
    try:
        return within(field, part)
    except InputError:
        return part


@given(operators())
def test_the_printed_form_has_no_white_space_and_is_read_back(part):
    assert len(part.split()) == 1
    read = operator(str(part))
    assert (read, read.kind, read.width, read.parts) == (part, part.kind, part.width, part.parts)
    assert (read.field, read.fields, read.depth) == (part.field, part.fields, part.depth)
    assert pickle.loads(pickle.dumps(part)) == part


def test_a_field_goes_inward_past_synonyms_and_collapses():
    phrase = ordered(["stem", "cell"])
    made = within("title", phrase)
    assert (str(made), made.kind, made.width, made.parts) == (
        "#field(title:#1('stem','cell'))",
        OperatorKind.FIELD,
        0,
        (phrase,),
    )
    assert (made.field, phrase.field, made.fields, phrase.fields) == ("title", "", {"title"}, frozenset())
    assert within("title", made) is made
    assert (
        str(within("title", synonyms(["car", phrase]))) == "#syn(#field(title:#1('stem','cell')),#field(title:'car'))"
    )
    assert within("title", synonyms(["car", within("title", "car")])) == within("title", "car")
    assert ordered([within("title", "a"), within("text", "b")]).fields == {"title", "text"}
    assert operator("#field(title:#field(title:'a'))") is None
    assert written_operator("#field(title:#field(title:'a'))") == within("title", "a")


def test_only_operators_within_a_field_read_positions():
    word = within("title", "cell")
    assert not word.reads_positions
    assert not synonyms([word, "cell", within("text", "a")]).reads_positions
    assert within("title", ordered(["a", "b"])).reads_positions
    assert ordered([word, "a"]).reads_positions


def test_a_field_in_words_and_in_windows():
    assert words_in(within("title", "cell"), str.upper) == "title:CELL"
    assert words_in(within("title", ordered(["stem", "cell"]))) == 'title:"stem cell"'
    assert least_width(within("title", ordered(["a", "b"]))) == 2
    with pytest.raises(InputError, match="smaller than its 3 words"):
        window([within("title", ordered(["a", "b"])), "c"], 2)


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
        (lambda: within("title", GAP), "no word in the operator"),
        (lambda: within("title", within("text", "a")), r"#field\(title:…\) cannot hold #field\(text:…\)"),
        (lambda: within("title", ordered([within("text", "a"), "b"])), r"cannot hold #field\(text:…\)"),
        (lambda: within("two words", "a"), "'two words' is no name of a field"),
        (lambda: written_operator("#field(title:'a','b')"), "has 2 parts; it should have one"),
        (lambda: written_operator(f"#field({'x' * 201}:'a')"), "at most 200"),
    ):
        with pytest.raises(InputError, match=words):
            wrong()


def test_the_constructor_refuses_what_no_operator_can_be():
    deep = ordered(["a", "b"])
    for _ in range(15):
        deep = ordered([deep, "a"])
    for kind, width, parts, words in (
        (OperatorKind.ORDERED, 1, [], "0 parts"),
        (OperatorKind.ORDERED, 1, ["a"], "1 part;"),
        (OperatorKind.SYNONYMS, 0, ["a"] * 2_000, "2,000 parts"),
        (OperatorKind.ORDERED, 1 << 70, ["a", "b"], "The width"),
        (OperatorKind.WINDOW, 0, ["a", "b"], "The width 0"),
        (OperatorKind.WINDOW, 8, ["a", GAP, "b"], "A gap"),
        (OperatorKind.ORDERED, 1, [GAP, "a"], "A gap"),
        (OperatorKind.ORDERED, 1, ["a", 5], "list of terms"),
        (OperatorKind.ORDERED, 1, "ab", "list of terms"),
        (OperatorKind.ORDERED, 1, [deep, "a"], "deep within one another"),
        ("near", 1, ["a", "b"], "is not a kind of operator"),
        (OperatorKind.FIELD, 0, ["a"], "'' is no name of a field"),
    ):
        with pytest.raises(InputError, match=words):
            Operator(kind, width, parts)
    for field, kind, parts, words in (
        ("title", OperatorKind.ORDERED, ["a", "b"], "Only #field has a field"),
        ("title", OperatorKind.FIELD, ["a", "b"], "has 2 parts"),
        ("title", OperatorKind.FIELD, [], "has 0 parts"),
        ("title", OperatorKind.FIELD, [GAP], "A gap"),
        ("title", OperatorKind.FIELD, [synonyms(["a", "b"])], "within\\('title', part\\)"),
        ("title", OperatorKind.FIELD, [within("title", "a")], "within\\('title', part\\)"),
        ("1a", OperatorKind.FIELD, ["a"], "is no name of a field"),
        (None, OperatorKind.FIELD, ["a"], "is no name of a field"),
    ):
        with pytest.raises(InputError, match=words):
            Operator(kind, 0, parts, field)


@given(st.text(alphabet="#1uw(syn)field:'a\\,*^ ", max_size=14))
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


def test_an_operator_and_a_word_of_the_same_text_are_different_keys():
    phrase = ordered(["stem", "cell"])
    assert {str(phrase): 1, phrase: 2} == {phrase: 2, str(phrase): 1} and len({str(phrase), phrase}) == 2
    assert {phrase: 2}[ordered(("stem", "cell"))] == 2 and str(phrase) not in {phrase}


@pytest.mark.parametrize("kind", [*OperatorKind, "ordered", "window", "syn", "field"])
def test_an_operator_keeps_its_kind_whether_given_as_a_kind_or_as_text(kind):
    made = Operator(kind, 8, ["stem"], "title") if kind == "field" else Operator(kind, 8, ["stem", "cell"])
    assert (
        made.kind is OperatorKind(kind) and made.depth == 1 and made.fields == ({"title"} if kind == "field" else set())
    )
    assert made.reads_positions == (kind in ("ordered", "window"))
