"""Tests of comparisons on columns: each is compared with a plain loop over the values of each document."""

from __future__ import annotations

import datetime
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import examples

from sublex.contracts.base import Query
from sublex.contracts.columns import Column, days_of, documents_of, meeting, without_column
from sublex.contracts.comparisons import RANGES, ColumnTest
from sublex.contracts.operators import Condition
from sublex.errors import InputError

TYPES = {"int": np.int64, "float": np.float64, "date": np.int32, "text": np.int32}
SIGNS = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
DAY = datetime.date(1970, 1, 1)
VALUES = {
    "int": st.integers(-5, 5) | st.sampled_from([2**63 - 1, -(2**63)]),
    "float": st.sampled_from([-1.5, 0.0, 0.1, 2.0, 1e300, -1e-300]),
    "date": st.dates(datetime.date(2019, 12, 1), datetime.date(2020, 3, 31)),
    "text": st.text("ab.é\U0001f600", max_size=3),
}
GIVEN = {
    "int": st.integers(-6, 6) | st.floats(-5, 5) | st.sampled_from([2**63, -(2**70), 0.5, 2**63 - 1]),
    "float": st.sampled_from([-1.5, 0.0, 0.1, 2.0, 1e300, 3, -(10**20)]),
    "date": VALUES["date"].map(str) | st.sampled_from(["2020-02", "2020", 2019, "2020-02-29T23:59:59Z"]),
    "text": VALUES["text"],
}


def column_of(kind, rows):
    """Return the column of the values of each document."""
    flat = [value for row in rows for value in sorted(set(row))]
    words = sorted(set(flat)) if kind == "text" else ()
    coded = [words.index(v) if kind == "text" else (v - DAY).days if kind == "date" else v for v in flat]
    starts = np.cumsum([0, *(len(set(row)) for row in rows)])
    return Column(
        kind, None if all(len(set(row)) == 1 for row in rows) else starts, np.array(coded, TYPES[kind]), words
    )


def compares(value, relation, wanted):
    """Return whether a value passes, by the definition. A month or a year passes as a whole."""
    if relation == "in":
        return any(compares(value, "=", each) for each in wanted)
    if relation == "begins":
        return value.startswith(wanted)
    if " " in relation:
        after, before = relation.split()
        return compares(value, after, wanted[0]) and compares(value, before, wanted[1])
    if relation == "between":
        return compares(value, ">=", wanted[0]) and compares(value, "<=", wanted[1])
    (given_,) = wanted if isinstance(wanted, tuple) else (wanted,)
    if isinstance(value, datetime.date):
        size = {4: 4, 7: 7}.get(len(str(given_)), 10)
        return SIGNS[relation](str(value)[:size], str(given_)[:size])
    return SIGNS[relation](value, given_)


def day_of(kind, value):
    """Return a value that a user writes as a value of the column: for a date, the first day that it means."""
    return datetime.date.fromisoformat((str(value) + "-01-01")[:10]) if kind == "date" else value


@st.composite
def asked(draw):
    kind = draw(st.sampled_from([*TYPES]))
    rows = draw(st.lists(st.lists(VALUES[kind], max_size=3), max_size=8))
    if draw(st.booleans()):
        rows = [row[:1] for row in rows if row]
    relation = draw(st.sampled_from([*SIGNS, "in", *RANGES, *["begins"] * (kind == "text")]))
    number = draw(st.integers(0, 4)) if relation == "in" else 2 if relation in RANGES else 1
    return kind, rows, ColumnTest("c", relation, tuple(draw(GIVEN[kind]) for _ in range(number)))


@settings(max_examples=examples(500), deadline=None)
@given(asked())
def test_a_document_passes_if_one_of_its_values_does(made):
    kind, rows, comparison = made
    if comparison.relation in RANGES and not compares(day_of(kind, comparison.values[0]), "<=", comparison.values[1]):
        with pytest.raises(InputError, match="for the greater value comes first"):
            documents_of(comparison, column_of(kind, rows))
        return
    found = documents_of(comparison, column_of(kind, rows))
    wanted = comparison.values if comparison.relation in ("in", *RANGES) else comparison.values[0]
    assert found.tolist() == [any(compares(value, comparison.relation, wanted) for value in row) for row in rows]


@settings(max_examples=examples(100), deadline=None)
@given(asked(), st.randoms(use_true_random=False), st.booleans())
def test_rows_counts_and_order_are_those_of_the_values(made, random, descending):
    kind, rows, _ = made
    docs = [random.randrange(len(rows)) for _ in range(5)] if rows else []
    column = column_of(kind, rows).rows(np.array(docs, np.int64))
    own = [rows[doc] for doc in docs]
    values, counts = column.counts()
    assert column.docs == len(docs)
    shown = {value.isoformat() if kind == "date" else value for row in own for value in row}
    assert {column.shown(value) for value in values} == shown
    assert counts.sum() == sum(len(set(row)) for row in own)
    key = max if descending else min
    found = column.order(descending).tolist()
    there = [k for k in found if own[k]]
    assert sorted(found) == list(range(len(own))) and found[len(there) :] == [k for k, row in enumerate(own) if not row]
    for first, second in zip(there, there[1:], strict=False):
        a, b = key(own[first]), key(own[second])
        assert (a > b if descending else a < b) or (a == b and first < second)


def test_a_condition_joins_comparisons():
    column = column_of("int", [[1], [2, 3], [], [5]])
    below, three = ColumnTest("c", "<", (3,)), ColumnTest("c", "=", (3,))
    assert meeting(Condition("all", (below, three)), lambda name: column).tolist() == [False, True, False, False]
    assert meeting(Condition("any", (below, three)), lambda name: column).tolist() == [True, True, False, False]
    assert meeting(Condition("not", (below,)), lambda name: column).tolist() == [False, False, True, True]


def test_a_condition_loses_what_reads_one_column_alone():
    a, b = ColumnTest("a", "=", (1,)), ColumnTest("b", "=", (1,))
    both = Condition("any", (a, b))
    assert without_column(Condition("all", (a, b, Condition("not", (a,)))), "a") == Condition("all", (b,))
    assert without_column(both, "a") == both
    assert without_column(a, "a") is None


@pytest.mark.parametrize("kind, value, message", [
    ("int", "x", 'c is a column of whole numbers, and "x" is no number.'),
    ("float", "1e999", 'c is a column of numbers, and "1e999" is no number.'),
    ("text", 2, 'c is a column of texts, and 2 is a number; write it in quotes: c = "2".'),
    ("date", "soon", 'c is a column of dates, and "soon" is none; write 2015-03-01, 2015-03 or 2015.'),
    ("date", "2015-02-30", 'c is a column of dates, and "2015-02-30" is none; write 2015-03-01, 2015-03 or 2015.'),
    ("date", "2015-*", 'c is a column of dates, and "2015-*" is none; write 2015-03-01, 2015-03 or 2015.'),
    ("date", 2015.5, "c is a column of dates, and 2015.5 is none; write 2015-03-01, 2015-03 or 2015."),
])  # fmt: skip
def test_a_value_of_another_type_costs_a_sentence(kind, value, message):
    with pytest.raises(InputError) as error:
        documents_of(ColumnTest("c", "=", (value,)), column_of(kind, []))
    assert str(error.value) == message


@pytest.mark.parametrize("kind, called", [("int", "whole numbers"), ("float", "numbers"), ("date", "dates")])
def test_only_texts_have_a_beginning(kind, called):
    with pytest.raises(InputError, match=f"^c is a column of {called}, and 2015\\* is the beginning of a text.$"):
        documents_of(ColumnTest("c", "begins", ("2015",)), column_of(kind, []))


def test_days_are_counted_from_1970():
    assert days_of("1970-01-02") == (1, 1)
    assert days_of("1970") == (0, 364)
    assert days_of("2020-02") == (18293, 18321)
    for written in (
        "26-FEB-1987 15:01:01.79", "26-FEB-1987", "26 February 1987", "26/Feb/1987 15:01 GMT", " 26-feb-1987 15:01:01.79\t\tE F",
        "26 Feb 1987 15:01:01 +0100", "1987-02-26", "31-MAR-1987 605:12:19.12",
        "26-FEB-1987 00:00:00.00    # a guess", "26-FEB-1987 00:02:59.13M C F",
    ):  # fmt: skip
        day = datetime.date(1987, 2, 26) if "26" in written else datetime.date(1987, 3, 31)
        assert days_of(written) == 2 * ((day - datetime.date(1970, 1, 1)).days,)
    assert days_of("3 sept 2015") == days_of("03-September-2015") == days_of("2015-09-03")
    for written in (
        "0-MAR-1987",
        "30-FEB-1987",
        "26-FEV-1987",
        "26-FEB 1987",
        "26-FEB-87",
        "1 May 2001 to 3 May 2001",
        "May 2001",
    ):
        assert days_of(written) is None
    assert days_of("70") is None and days_of("2020-13") is None and days_of("0000") is None


@pytest.mark.parametrize("made, message", [
    (("c", "=", ()), "c = with 0 values is no comparison."),
    (("c", "between", (1,)), "c between with 1 value is no comparison."),
    (("c", "~", (1,)), "'c' (str) '~' (str) is no comparison; give the name of a column and one of =, !=, <, "),
    ((None, "=", (1,)), "None '=' (str) is no comparison; give the name of a column and one of =, !=, <, "),
    (("c", ["="], (1,)), "'c' (str) ['='] (list) is no comparison; give the name of a column and one of =, !=, <, "),
    (("c", "=", "2015"), "The values of a comparison are '2015' (str); give a list."),
    (("c", "=", None), "The values of a comparison are None; give a list."),
    (("c", "in", ([1],)), "[1] (list) is no value of a column; give a text, or a number below 1e308."),
    (("c", "<", (None,)), "None is no value of a column; give a text, or a number below 1e308."),
    (("c", "<", (10**5000,)), "an object of type int is no value of a column; give a text, or a number below 1e308."),
])  # fmt: skip
def test_what_is_no_comparison_costs_a_sentence(made, message):
    with pytest.raises(InputError) as error:
        ColumnTest(*made)
    assert str(error.value).startswith(message)


def test_a_comparison_takes_any_list_and_numbers_of_numpy():
    assert ColumnTest("c", "in", [np.int64(3), np.float32(0.5), "x"]) == ("c", "in", (3, 0.5, "x"))
    with pytest.raises(InputError, match="The condition of a query is 5 .int.; give a Condition."):
        Query("", (), condition=5)
