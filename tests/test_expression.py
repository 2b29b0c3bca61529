"""Tests of expressions: parsing and printing are inverse, Python's operators agree with the parser, errors have a caret."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sublex
from sublex.errors import InputError
from sublex.language.expression import Blend, Call, Chain, Cut, Range, Weighted, fill, no_ranges, print_value, ranges
from sublex.language.parser import DEEPEST, LONGEST, parse, parse_call

A, B, C = Call("a"), Call("b"), Call("c")

# Expressions as typed, with their printed forms.
GOLDEN = {
    "BM25": "BM25",
    "BM25()": "BM25",
    " ( ( BM25 ) ) ": "BM25",
    "PL2(c=7) + 0.3*lsi": "PL2(c=7) + 0.3*lsi",
    "PL2(c=7.0)+.3 * lsi": "PL2(c=7.0) + 0.3*lsi",
    "BM25>>RM3(docs=10,terms=10)>>BM25": "BM25 >> RM3(docs=10, terms=10) >> BM25",
    "BM25(variant=lucene) >> PL2": "BM25(variant=lucene) >> PL2",
    "BM25 % 200 >> fisher": "BM25 % 200 >> fisher",
    "zscore(PL2) + 0.3*dcot": "zscore(PL2) + 0.3*dcot",
    'BM25 >> topic("natural gas")': 'BM25 >> topic("natural gas")',
    'topic("gas")': "topic(gas)",
    "(BM25 + PL2) % 50 >> dcot": "(BM25 + PL2) % 50 >> dcot",
    "fisher(words=lsi(e=50))": "fisher(words=lsi(e=50))",
    "fisher(words=lsi())": "fisher(words=lsi)",
    "zscore((BM25 >> RM3 >> BM25))": "zscore(BM25 >> RM3 >> BM25)",
    "raw(0.5*BM25 + PL2)": "raw(0.5*BM25 + PL2)",
    "x(y=0.5*BM25 + PL2 % 7, z=2)": "x(y=0.5*BM25 + PL2 % 7, z=2)",
    "x(BM25 % 5)": "x(BM25 % 5)",
    "x([1, two, [], y(z=3), a >> b])": "x([1, two, [], y(z=3), a >> b])",
    "x(true, false, y=true)": "x(true, false, y=true)",
    'x("true", "inf", "1", "", "a b")': 'x("true", "inf", "1", "", "a b")',
    "x(-1, 1e5, 1E-5, -.5, inf, -inf)": "x(-1, 100000.0, 1e-05, -0.5, inf, -inf)",
    "x(stop=lists/my-words.txt, t=a.b:c)": "x(stop=lists/my-words.txt, t=a.b:c)",
    "x(stop=./7up.txt)": 'x(stop="./7up.txt")',
    "plugin:name(k=2) + my-plugin:dcot": "plugin:name(k=2) + my-plugin:dcot",
    "2*a": "2*a",
    "2.0*a": "2*a",
    "-0.30*a + -1e-9*b": "-0.3*a + -1e-09*b",
    "0.5*(0.3*a)": "0.5*(0.3*a)",
    "0.3*a % 200": "0.3*a % 200",
    "(0.3*a) % 200": "(0.3*a) % 200",
    "0.3*(a % 200)": "0.3*a % 200",
    "(a % 200) % 100": "(a % 200) % 100",
    "(a >> b) >> (c >> d)": "a >> b >> c >> d",
    "(a + b) + c": "(a + b) + c",
    "a + (b + c)": "a + (b + c)",
    "(a + b) >> c": "a + b >> c",
    "a >> (b + c)": "a >> b + c",
    "(a >> b) + c": "(a >> b) + c",
    "0.5*(a >> b) + (c)": "0.5*(a >> b) + c",
    "{0..1}*a + b": "{0..1}*a + b",
    "a(k={0.4 .. 2.0}, b={1, 2,5}) % {100,200}": "a(k={0.4..2.0}, b={1,2,5}) % {100,200}",
    "モデル + Übung(größe=5)": "モデル + Übung(größe=5)",
    "a\n >>\tb": "a >> b",
}


@pytest.mark.parametrize(("typed", "printed"), GOLDEN.items(), ids=GOLDEN)
def test_an_expression_has_one_printed_form_that_parses_to_the_same_tree(typed: str, printed: str) -> None:
    tree = parse(typed)
    assert str(tree) == printed
    assert parse(printed) == tree and repr(parse(printed)) == repr(tree)
    without_spaces = printed.replace(" ", "") if '"' not in printed else printed
    assert parse(without_spaces) == tree


def test_the_parser_builds_these_trees() -> None:
    assert repr(parse("a % 5 >> 0.3*b(x, k=1)")) == repr(Chain((Cut(A, 5), Weighted(0.3, Call("b", ("x",), {"k": 1})))))
    assert repr(parse("(a + b) + c")) == repr(Blend((Blend((A, B)), C)))
    assert parse("z(a >> b)").args == (Chain((A, B)),)
    assert parse("z(a)").args == parse('z("a")').args == parse("z((a))").args == Call("z", (A,)).args == ("a",)
    assert parse("{0..1}*a").weight == Range((0, 1), interval=True)


def test_integers_floats_and_booleans_keep_their_types() -> None:
    types = [type(value) for value in parse("x(7, 7.0, true, seven)").args]
    assert types == [int, float, bool, str]
    assert parse("x(c=7)") != parse("x(c=7.0)") and parse("x(c=1)") != parse("x(c=true)")
    assert len({parse("a+b"), parse("a + b"), parse("b + a")}) == 2


# Python's operators.


def test_operators_build_the_trees_of_the_parser() -> None:
    pairs = {
        "a >> b >> c": A >> B >> C,
        "a + b + c": A + B + C,
        "a + (b + c)": A + (B + C),
        "0.3*a": 0.3 * A,
        "0.3*a % 200": 0.3 * A % 200,
        "0.3*(0.5*a) % 9": 0.3 * (0.5 * A) % 9,
        "a + 0.3*b % 200 >> c": A + 0.3 * B % 200 >> C,
        "(a + b) % 50 >> c": (A + B) % 50 >> C,
        "(a >> b) + c": (A >> B) + C,
    }
    for text, tree in pairs.items():
        assert tree == parse(text) and repr(tree) == repr(parse(text))
    assert A >> (B >> C) == (A >> B) >> C == parse("(a >> b) >> c")
    assert sublex.parse("BM25") >> sublex.parse("RM3(docs=5)") == sublex.parse("BM25 >> RM3(docs=5)")


def test_numpy_numbers_are_weights() -> None:
    import numpy as np

    for weight in (np.float64(0.25), np.float32(0.25)):
        assert repr(weight * A) == repr(parse("0.25*a"))
    assert repr(A % np.int64(5)) == repr(parse("a % 5"))


def test_a_text_with_a_range_is_a_weight() -> None:
    assert repr("{0..1}" * A) == repr(parse("{0..1}*a"))
    for wrong in ("0..1", "{1..0}", "{0..1", "{0..1} + a", "[1]", ""):
        with pytest.raises(InputError, match="should be a finite number, or a range such as '{0..1}'"):
            wrong * A


def test_a_text_with_a_range_is_a_depth() -> None:
    assert repr(A % "{5,10}") == repr(parse("a % {5,10}"))
    assert repr(0.5 * A % "{5..10}") == repr(parse("0.5*a % {5..10}"))
    for wrong in ("5..10", "{10..5}", "{5", "{5} + a", "[1]", "a", ""):
        with pytest.raises(
            InputError, match="^The depth .* should be a whole number, 0 or above, or a range such as '{100"
        ):
            A % wrong


def test_a_weight_may_stand_behind() -> None:
    assert repr(A * 0.3) == repr(parse("0.3*a")) and repr(B + A * "{0..1}") == repr(parse("b + {0..1}*a"))
    assert repr(A * 0.3 % 200 + B) == repr(parse("0.3*a % 200 + b"))
    with pytest.raises(InputError, match="The weight b should be a finite number"):
        A * B


def test_operators_that_expressions_lack_say_what_to_write() -> None:
    for operation, instead in [
        (lambda: A - B, r"give a negative weight, as in a \+ -0.5 \* b"),
        (lambda: "a" - B, "give a negative weight"),
        (lambda: -A, "give a negative weight"),
        (lambda: A**2, r"write that as a formula, as in sublex.ranker\(f\)"),
        (lambda: A ^ B, "write that as a formula"),
        (lambda: A & B, "write one after the other, as in a >> b"),
        (lambda: "a" & B, "write one after the other"),
        (lambda: A | B, "write a function with both conditions"),
        (lambda: "a" | B, "write a function with both conditions"),
        (lambda: ~A, "as in lambda document: not f"),
    ]:
        with pytest.raises(InputError, match=f"^Expressions have the operators >>, \\+, \\* and % alone; .*{instead}"):
            operation()


def test_operators_refuse_invalid_operands() -> None:
    for wrong in (True, "2", None, math.nan, math.inf, 10**400):
        with pytest.raises(InputError, match="should be a finite number"):
            wrong * A
    for wrong in (-1, 2.5, True, "2", None):
        with pytest.raises(InputError, match="should be a whole number, 0 or above"):
            A % wrong
    for operation in (lambda: A + 1, lambda: 1 + A, lambda: A >> None, lambda: None >> A, lambda: (A + B) + [C]):
        with pytest.raises(InputError, match="The expression is .*; give a text such as 'BM25 >> RM3 >> BM25'"):
            operation()
    with pytest.raises(InputError, match=r"The function len becomes a stage by sublex.rerank\(…\)"):
        A >> len
    with pytest.raises(InputError, match="Expected a name"):
        A >> "b >>"


def test_texts_and_trees_mix() -> None:
    pairs = {
        "a >> b": ["a" >> B, A >> "b"],
        "a % 9 >> b >> c": ["a % 9" >> B >> C, A % 9 >> "b >> c", "a % 9 >> b" >> C],
        "a + b + c": ["a" + B + C, "a + b" + C, A + "b" + "c", A + B + "c"],
        "a + (b + c)": ["a" + (B + C)],
        "0.3*a + b": ["0.3*a" + B, 0.3 * A + "b"],
    }
    for text, trees in pairs.items():
        for tree in trees:
            assert repr(tree) == repr(parse(text))


# Random trees.

NAMES = st.from_regex(r"[^\W\d][\w.:/-]{0,6}", fullmatch=True)
NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
CHOICES = st.lists(NUMBERS, min_size=1, max_size=3).map(lambda numbers: Range(tuple(numbers)))
INTERVALS = st.tuples(NUMBERS, NUMBERS).filter(lambda ends: ends[0] < ends[1]).map(lambda ends: Range(ends, True))
RANGES = CHOICES | INTERVALS
LITERALS = st.one_of(st.booleans(), NUMBERS, st.just(math.inf), st.text(max_size=6), NAMES, RANGES)
TEXTS = ["true", "-inf", "1", "1e5", "a b", '"', "\\", "a+b", "{1}", "%", "\n", "\ud800"]


def larger(trees: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for the trees that the parser can build from smaller trees."""
    several = st.lists(trees, min_size=2, max_size=3)
    value = st.one_of(LITERALS, st.sampled_from(TEXTS), trees)
    values = st.one_of(value, st.lists(value, max_size=2), st.just([1, ["a"], []]))
    return st.one_of(
        st.builds(Call, NAMES, st.lists(values, max_size=2), st.dictionaries(NAMES, values, max_size=2)),
        st.builds(Cut, trees, st.integers(1, 2000) | RANGES),
        st.builds(Weighted, NUMBERS | RANGES, trees),
        several.map(lambda parts: Blend(tuple(parts))),
        several.map(sublex.language.expression.chain),
    )


TREES = st.recursive(NAMES.map(Call), larger, max_leaves=8)


@given(TREES)
def test_the_printed_form_parses_to_the_same_tree(tree: Any) -> None:
    parsed = parse(str(tree))
    assert parsed == tree and hash(parsed) == hash(tree)
    assert repr(parsed) == repr(tree)


def arithmetic(trees: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for the trees that Python's operators can build: no blend begins with a blend, no cut is of a weighted part."""
    weights = st.sampled_from([-2, -0.5, 0, 0.3, 1])
    return st.one_of(
        st.builds(Cut, trees.filter(lambda tree: not isinstance(tree, Weighted)), st.integers(1, 9)),
        st.builds(Weighted, weights, trees),
        st.tuples(trees.filter(lambda tree: not isinstance(tree, Blend)), trees).map(Blend),
        st.tuples(trees, trees).map(sublex.language.expression.chain),
    )


@given(st.recursive(st.sampled_from([A, B, C]), arithmetic, max_leaves=8))
def test_python_evaluates_a_printed_form_to_the_tree_of_the_parser(tree: Any) -> None:
    assert repr(eval(str(tree), {"a": A, "b": B, "c": C})) == repr(tree)


# Ranges.


def test_ranges_are_listed_and_filled_in_reading_order() -> None:
    tree = parse("{0..1}*a(k={1,2}, b=[3, {4,5}], c=x({6..7})) % {100,200} >> b")
    assert list(map(str, ranges(tree))) == ["{0..1}", "{1,2}", "{4,5}", "{6..7}", "{100,200}"]
    assert str(fill(tree, [0.5, 2, 5, 6.5, 100])) == "0.5*a(k=2, b=[3, 5], c=x(6.5)) % 100 >> b"
    with pytest.raises(InputError) as caught:
        no_ranges(tree)
    assert "contains the range {0..1}; ranges are for sublex tune" in str(caught.value)
    assert no_ranges(A) is A and ranges(parse("a(k=3) >> b")) == []


# Mistakes, each with its message and the column of the caret.

WRONG = {
    "": ("Expected a name or (", 1),
    "   ": ("Expected a name or (", 4),
    "BM25 >> ": ("Expected a name or ( after >>", 9),
    "BM25 >> >> PL2": ("Expected a name or ( after >>", 9),
    "BM25 PL2": ("Expected >>, + or the end after BM25", 6),
    "BM25 > PL2": ("Expected >> in place of >", 6),
    "BM25 - PL2": ("Expected >>, + or the end after BM25 (to subtract, give a negative weight, as in a + -0.5*b)", 6),
    "(BM25 + PL2": ("Expected >>, + or ) after PL2", 12),
    "keyphrase('river bank')": (
        'Expected , or ) after \'river (a text of several words stands in ", as in "river bank")',
        18,
    ),
    "BM25)": ("Expected >>, + or the end after BM25", 5),
    "0.3 lsi": ("Expected * and a name after 0.3", 5),
    "0.3*": ("Expected a name or ( after *", 5),
    "lsi*0.3": ("Expected >>, + or the end after lsi (a weight comes first, as in 0.5*a)", 4),
    "BM25 % 2.5": ("Expected a whole number, 0 or above after %", 8),
    "BM25 % many": ("Expected a whole number, 0 or above after %", 8),
    "BM25 % 5 % 6": ("Expected >>, + or the end after 5", 10),
    "1e999*BM25": ("Expected a number below 1e308", 1),
    "7up": ("Expected * after 7", 2),
    "0.3BM25": ("Expected * after 0.3", 4),
    "BM25|PL2": ("Expected no | in a name", 5),
    "BM25 >> RM3;": ("Expected no ; in a name", 12),
    "|BM25": ("Expected a name or (", 1),
    '"BM25"': ("Expected a name or (", 1),
    "RM3(docs=10": ("Expected , or ) after 10", 12),
    "RM3(docs=)": ("Expected a value after =", 10),
    "RM3(docs=10,)": ("Expected parameter=value after ,", 13),
    "topic(gas,)": ("Expected a value after ,", 11),
    "RM3(docs 10)": ("Expected , or ) after docs", 10),
    "RM3(docs=10, 5)": ("Expected parameter=value after ,", 14),
    "RM3(docs=10, docs=5)": ("RM3 gives docs twice", 14),
    "topic(natural gas)": ("Expected , or ) after natural", 15),
    'topic("natural gas)': ('Expected a closing " for the text that begins', 7),
    'topic("\\x")': ('"\\x" is not a valid JSON string; write \\\\ for a backslash', 7),
    "x([1, 2)": ("Expected , or ] after 2", 8),
    "x([1 2])": ("Expected , or ] after 1", 6),
    "{0..1": ("Expected numbers and a closing } for the range that begins", 1),
    "x}": ("Expected no } without a { before it", 2),
    "{}*x": ("{} is not a range such as {0..1} or {1,2,5}", 1),
    "{2..1}*x": ("{2..1} is not a range such as {0..1} or {1,2,5}", 1),
    "{1,a}*x": ("{1,a} is not a range such as {0..1} or {1,2,5}", 1),
    "{0..1}": ("Expected * and a name after {0..1}", 7),
    "x" * 80 + " y": (f"Expected >>, + or the end after {'x' * 30}…", 82),
    "(" * LONGEST: (f"Expected at most {DEEPEST} nested parentheses", DEEPEST + 1),
    "x(" * 4000: (f"Expected at most {DEEPEST} nested parentheses", 2 * DEEPEST + 2),
    "x([" + "[" * 4000: (f"Expected at most {DEEPEST} nested parentheses", DEEPEST + 2),
    "a+" * LONGEST: (f"Expected the end (an expression has at most {LONGEST} characters)", LONGEST + 1),
}


def under_the_caret(message: str) -> tuple[str, str, str]:
    """Return the sentence, the line of text, and the rest of this line from the caret on. Columns are those of a terminal."""
    sentence, shown, pointer = message.split("\n")
    assert shown.startswith("  ") and pointer.strip() == "^"
    left, at = pointer.index("^"), 0
    for place, character in enumerate(shown):
        if at >= left and not unicodedata.combining(character):
            return sentence, shown, shown[place:]
        at += 0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
    assert at == left
    return sentence, shown, ""


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:20])
def test_a_mistake_is_reported_with_its_column_and_a_caret(text: str) -> None:
    expected, column = WRONG[text]
    with pytest.raises(InputError) as caught:
        parse(text)
    sentence, shown, rest = under_the_caret(str(caught.value))
    assert sentence == f"{expected} in column {column}:"
    assert rest.rstrip("…") == text[column - 1 :][: len(rest.rstrip("…"))]
    assert len(shown) <= 64


def test_the_lines_of_the_message() -> None:
    with pytest.raises(InputError) as caught:
        parse("BM25 >> ")
    assert str(caught.value) == "Expected a name or ( after >> in column 9:\n  BM25 >> \n          ^"
    with pytest.raises(InputError) as caught:
        parse(" + ".join(f"part{n}" for n in range(20)) + " ?")
    assert str(caught.value).split("\n")[1:] == [
        "  …rt13 + part14 + part15 + part16 + part17 + part18 + part19 ?",
        "                                                              ^",
    ]
    with pytest.raises(InputError) as caught:
        parse("東京 +\n)")
    assert str(caught.value).split("\n")[1:] == ["  東京 + )", "         ^"]


@given(st.text('ab=(),"\\ 1.e>+*%{}[]-:\n', max_size=24) | st.text(max_size=12))
@example("\ud800 >> \x00")
@example("e\u0301 (")
def test_any_text_parses_or_is_refused_with_a_caret_within_it(text: str) -> None:
    try:
        tree = parse(text)
    except InputError as error:
        under_the_caret(str(error))
        return
    assert repr(parse(str(tree))) == repr(tree)


@given(TREES, st.data())
def test_a_damaged_printed_form_parses_or_is_refused_with_a_caret_within_it(tree: Any, data: st.DataObject) -> None:
    text = str(tree)
    place = data.draw(st.integers(0, len(text)))
    damaged = text[:place] + data.draw(st.text('()[]{}%*+>=,"1a', max_size=2)) + text[place + 1 :]
    try:
        parse(damaged)
    except InputError as error:
        under_the_caret(str(error))


def test_parse_call_takes_a_name_with_named_parameters_only() -> None:
    assert parse_call("english(stop=lists/my-words.txt)") == Call("english", (), {"stop": "lists/my-words.txt"})
    assert parse_call("fisher(words=lsi(e=50))").params["words"] == Call("lsi", (), {"e": 50})
    for text, place in {
        "a >> b": "after a in column 3",
        "a(1)": "parameter=value in column 3",
        "(a)": "column 1",
    }.items():
        with pytest.raises(InputError, match="Cannot read .*; write it as name or name.parameter=value") as caught:
            parse_call(text)
        assert place in str(caught.value) and "\n" not in str(caught.value)


def test_numpy_values_print_as_numbers() -> None:
    import numpy as np

    assert print_value(np.float64(0.5)) == "0.5"
