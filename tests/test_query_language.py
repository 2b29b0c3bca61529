"""The query language: its grammar, the terms and conditions of queries, and the documents that they allow, by hand and naively."""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import examples

import sublex
from sublex.contracts.base import Document, Query
from sublex.contracts.operators import NOTHING, Condition, Operator, within
from sublex.errors import IndexProblem, InputError, SublexWarning
from sublex.faces.reading import QueryReader
from sublex.pipeline.index import Index
from sublex.pipeline.stages.condition import ConditionKeep
from sublex.pipeline.stages.mask import Mask
from sublex.pipeline.stages.stage import State
from sublex.query_language.expand import MOST, near_terms, terms_beginning
from sublex.query_language.read import DEEPEST_PARENTHESES, WRITTEN_OPERATORS, read_tree
from sublex.query_language.tree import Fuzzy, Prefix, QuotedPhrase, Stem, WrittenWord
from sublex.retrieval.term_table import TermTable

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")

DOCUMENTS = {
    "a": "stem cells grow and divide",
    "b": "red stem of the plants cell",
    "c": "cell state of the art",
    "d": "cells stem",
    "e": "stems only",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Index:
    """A few documents with positions, analysed by the default analyzer."""
    documents = [Document(docno, text) for docno, text in DOCUMENTS.items()]
    path = tmp_path_factory.mktemp("language") / "small"
    return sublex.build(documents, path, store=("text", "terms", "positions"))


def found(index: Index, text: str, expression: str = "BM25", k: int = 100) -> set[str]:
    return set(index.search(text, expression, k, language="query").docnos)


def allowed_by(index: Index, condition: Condition) -> Mask:
    """Return the mask that the stages of a pipeline obey."""
    query = Query("", (), condition=condition)
    mask = index.pipeline("BM25").scorer.start(State(query)).state.allowed
    assert mask is not None
    return mask


def as_text(condition: Condition | str | None) -> str:
    """Return a condition in brackets, as the tests write it."""
    if not isinstance(condition, Condition):
        return str(condition)
    return f"{condition.kind}({', '.join(map(as_text, condition.parts))})"


# The tree.

PIECES = [
    "stem", "cells", "the", "AND", "OR", "NOT", "(", ")", '"', "+", "-", "^2", "^2.5", "~1", "~3", "~", "*", "#1(", "#uw8(",
    "#syn(", "#3(", "'stem'", "'", "\\", ",", ":", " ", " ", " ", "title:", "\x00", "\n", "é", "\u2028", "1e5", "^1e5", "u{41}",
    "“", "”", "„", "«", "»",
    "\\,", "\\:+~", "title\\:", "text:", "full-text:", "#field(title:",
    "\\,~1", "\\,*", "year:", "kind:(", "kind:", "year:(", "title:=", "cs.IR", "..", "2015", ":[2015 TO 2016}", "'cs IR'", "!=", ">",
    "kind:'",
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.lists(st.sampled_from([p for p in PIECES if p not in "\\\"'"]), max_size=25).map(" ".join),
    st.text(max_size=20),
)


@settings(max_examples=examples(2000))
@given(
    TEXTS,
    st.sampled_from([(), ("title", "text"), ("full-text", "title")]),
    st.sampled_from([{}, {"year": "int", "kind": "text"}, {"kind": "text", "title": "text", "year": "date"}]),
)
@example("title:\\:+~", ("title",), {})
@example("title:\\//x", ("title",), {})
@example(r"title:\=x title:\[a TO b] title:=a title:!=b title:{a TO b] title:*", ("title",), {"title": "text"})
@example("kind:(a -b (c AND 'd e')) -kind:(+a b) year:(x 3) kind:(a", (), {"year": "int", "kind": "text"})
@example('kind:cs.* kind:=a* -kind:(b* "c d"*) kind:** year:2* year:"2"*', (), {"year": "int", "kind": "text"})
@example('kind:cs.* kind:=a* -kind:("c d"* =b*) kind:="*"*', ("kind",), {"year": "int", "kind": "text"})
def test_the_printed_form_is_read_back_as_the_same_tree(text, fields, columns):
    # #field names a field that may be unknown, which costs an error when the query is made.
    known = fields if "#field(title:" not in text else (*fields, "title")
    try:
        tree = read_tree(text, known, columns)
    except InputError as error:
        assert "takes one part" in str(error) or "cannot hold" in str(error)
        return
    assert read_tree(str(tree), known, columns) == tree
    assert str(read_tree(str(tree), known, columns)) == str(tree)


@given(st.text(min_size=1, max_size=8), st.integers(1, 2), st.integers(0, 9))
def test_any_word_can_be_written(text, edits, slop):
    letters = f"a{text}"
    for leaf in (WrittenWord(text), Stem(text), Prefix(letters), Fuzzy(letters, edits), QuotedPhrase(text, slop)):
        assert read_tree(str(leaf)).root == leaf
        assert read_tree(f"+{leaf}").root.clauses == (("+", leaf),)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        # AND binds more tightly than OR, and OR more tightly than a blank.
        ("a OR b AND c", "a OR b AND c"),
        ("(a OR b) AND c", "(a OR b) AND c"),
        ("(a AND b) OR c", "a AND b OR c"),
        ("a (b OR c)", "a b OR c"),
        ("NOT a AND b", "NOT a AND b"),
        ("NOT (a AND b) OR c", "NOT (a AND b) OR c"),
        ("((a)) (b)", "a b"),
        # + and - speak about all clauses in the same parentheses.
        ("+a OR b", "b +a"),
        ("a OR -b OR c", "a OR c -b"),
        ("+a AND b c", "+(a AND b) c"),
        ("a AND -b", "a AND NOT b"),
        ("NOT a NOT b", "-a -b"),
        ("NOT a AND NOT b", "-(a OR b)"),
        ("NOT NOT a", "a"),
        ("a -(b +c)", "a -(b +c)"),
        # Signs stand after a blank or a parenthesis, and before a part.
        ("a-b +c-d", "a-b +c-d"),
        ("- a + b", r"\- a \+ b"),
        ("--a +-b", r"\--a \+-b"),
        ("+AND -NOT", r"+\AND -\NOT"),
        # Weights.
        ("a^2 (b c)^.5 \"d e\"^3 #1(f g)^1.50 'h'^2", "a^2 (b c)^0.5 \"d e\"^3 #1(f g)^1.5 'h'^2"),
        ("(a^2)^3", "(a^2)^3"),
        ("a~^2 b*^3", "a~2^2 b*^3"),
        # Phrases and operators.
        ('"a b"~0 "a b"~3', '"a b" "a b"~3'),
        ('#1(a,b) #3(a * b) #uw8(a "b c") #syn(a #1(b c))', '#1(a b) #3(a * b) #uw8(a "b c") #syn(a #1(b c))'),
        ("#1('a','b\\u{20}c')", "#1('a' 'b\\u{20}c')"),
        (r"\"a b\" \+c \AND d\^2 e\~ f\* \(g\) \\ h\ i", r"\"a b\" \+c \AND d\^2 e\~ f\* \(g\) \\ h\u{20}i"),
        ("rock 'n' roll o'neil", "rock 'n' roll o'neil"),
        # Punctuation before * or ~ is plain text, since a prefix and a fuzzy word need a letter or a digit.
        (r"\,* \,~ \:+~ #syn(\,~ a) \,a~", r",\* ,\~ :+\~ #syn(\,\~ a) ,a~2"),
        ("", ""),
        ("() (( ))", ""),
    ],
)
def test_how_texts_are_read(text, printed):
    tree = read_tree(text)
    assert (str(tree), tree.notes) == (printed, ())


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("title:cell text:a", "title:cell text:a"),
        ('title:"stem cells"~3^2', 'title:"stem cells"~3^2'),
        # A group in a field is a group of parts in the field. Within it, the field of a part comes first.
        ("title:(a b) c", "(title:a title:b) c"),
        ("+title:(a -b (c text:d)^3)", "+(title:a -title:b (title:c text:d)^3)"),
        ("title:(a text:(b title:c))", "title:a (text:b title:c)"),
        ("+title:cell -title:(x y)^2", "+title:cell -(title:x title:y)^2"),
        ("NOT title:a AND title:'b'^2", "NOT title:a AND title:'b'^2"),
        ("title:cel*^2 title:cel~", "title:cel*^2 title:cel~2"),
        ("title:#uw8(a b) #1(title:a, text:b)", "title:#uw8(a b) #1(title:a text:b)"),
        ("#field(title:#1(a b))^2 #field(title: a)", "title:#1(a b)^2 title:a"),
        # What follows the colon is a word, whatever it begins with.
        (r"title:AND title:\+a title:\-b", r"title:\AND title:\+a title:\-b"),
        # A sign directly after the colon is one before the name.
        ("title:-a title:+b -title:-c #1(title:-d e)", r"-title:a +title:b -title:\-c #1(title:\-d e)"),
        ("a title:-(b text:+c)", "a -(title:b +text:c)"),
        # One field stands before a part.
        ("title:text:a", r"title:text\:a"),
        # A backslash makes the name a word. Addresses and names with two colons have no field.
        (r"title\:a title\:a* title\:abc~1", r"title\:a title\:a* title\:abc~1"),
        ("title://x title::y http://title:a", "title://x title::y http://title:a"),
    ],
)  # fmt: skip
def test_how_fields_are_read(text, printed):
    tree = read_tree(text, ("title", "text"))
    assert str(tree) == printed
    assert read_tree(printed, ("title", "text")) == tree


def test_fields_without_a_part_and_unknown_ones_are_plain_text_with_a_note():
    alone = 'what is within a field stands directly after the colon, as in title:cell and title:"stem cells"'
    none, fields = "it names no field and no column", ("title", "full-text")
    for text, printed, notes in (
        ("title: cell", "title: cell", (f"title: is plain text: {alone}.",)),
        ("a title:", "a title:", (f"title: is plain text: {alone}.",)),
        ("title:(", "title:", ("( is plain text: it has no partner.", f"title: is plain text: {alone}.")),
        ("body:a", "body:a", (f"body: is plain text: {none}; the fields are title, full-text, and the index has no columns.",)),
        ("full-text:a full-text:", "full-text:a full-text:", (f"full-text: is plain text: {alone}.",)),
        ("title:title:a", r"title:title\:a", ("title: is plain text: a part has one field.",)),
        ("#1(title:(a b) c)", "#1(title: a b c)", ("( is plain text: within #1(…), only operators have parentheses.",)),
        ("#field(title:)", "", ("#field(title:) is plain text: it has no words.",)),
    ):  # fmt: skip
        tree = read_tree(text, fields)
        assert (str(tree), tree.notes) == (printed, notes), text


@pytest.mark.parametrize(
    ("text", "printed", "note"),
    [
        ('a "b c', "a b c", '"b c is plain text: its quotation mark has no partner.'),
        ("(a b", "a b", "( is plain text: it has no partner."),
        ("a) b", "a b", ") is plain text: it has no partner."),
        ("#1(a b", r"\#1 a b", "#1( is plain text: it has no partner."),
        ("#1() a", "a", "#1() is plain text: it has no words."),
        (
            "#combine(a b)",
            r"\#combine (a b)",
            "#combine is plain text: words side by side add up their scores; write (stem cell).",
        ),
        ("#weight(2 a)", r"\#weight (2 a)", "#weight is plain text: a weight follows its word; write (stem^2 cell)."),
        ("#od1(a b)", r"\#od1 (a b)", "#od1 is plain text: it names no operator here; write #1(stem cell)."),
        ("#od:4(a b)", r"\#od:4 (a b)", "#od:4 is plain text: it names no operator here; write #4(stem cell)."),
        ("#unordered:9(a b)", r"\#unordered:9 (a b)",
         "#unordered:9 is plain text: it names no operator here; write #uw9(stem cell)."),
        ("#band(a b)", r"\#band (a b)", "#band is plain text: write (stem AND cell)."),
        ("#foo(a b)", r"\#foo (a b)", "#foo is plain text: the operators are #1(…), #3(…), #uw8(…), #syn(…) and #field(title:…)."),
        ('"stem cel*"', '"stem cel*"',
         "cel* is plain text: no prefix and no fuzzy word stands between quotation marks; write #1(stem cel*)."),
        ('"stem cel~1"~3', '"stem cel~1"~3',
         "cel~1 is plain text: no prefix and no fuzzy word stands between quotation marks; write #uw5(stem cel~1)."),
        ('"cel*"', '"cel*"', "cel* is plain text: no prefix and no fuzzy word stands between quotation marks; write cel*."),
        ('"a b^2"', '"a b^2"',
         'b^2 is plain text: a weight stands after a phrase, as in "stem cells"^2, and not within it.'),
        ('"a b"~1.5', r'"a b" \~1.5',
         '~1.5 is plain text: ~ takes a whole number directly after a phrase, as in "stem cells"~3.'),
        ('"a b" ~3', r'"a b" \~3',
         '~3 is plain text: ~ takes a whole number directly after a phrase, as in "stem cells"~3.'),
        ("(a b)~3", r"(a b) \~3", "~3 is plain text: ~ stands after words and phrases."),
        ("(a b)^x", r"(a b) \^x", "^x is plain text: ^ takes a number, as in stem^2.5."),
        ("wing^", r"wing\^", "wing^ is plain text: ^ takes a number, as in stem^2.5."),
        ("a * b", r"a \* b", "* is plain text: a * stands for letters at the end of a word, and for one word within #3(…)."),
        ("*:*", r"\*:\*", "*:* is plain text: a * stands for letters at the end of a word, and for one word within #3(…)."),
        ("“a b", "a b", "“a b is plain text: its quotation mark has no partner."),
        ("a » b » c", "a b c", "» b » c is plain text: its quotation mark has no partner."),
        ("a AND", r"a \AND", "AND is plain text: AND and OR stand between two parts, and NOT before one."),
        ("OR a", r"\OR a", "OR is plain text: AND and OR stand between two parts, and NOT before one."),
        ("a NOT", r"a \NOT", "NOT is plain text: AND and OR stand between two parts, and NOT before one."),
        ("title:a", "title:a",
         "title: is plain text: it names no field and no column; an index has them if it is built with them."),
        ('title:"a b"', 'title: "a b"',
         "title: is plain text: it names no field and no column; an index has them if it is built with them."),
        ("a^b", r"a\^b", "a^b is plain text: ^ takes a number, as in stem^2.5."),
        ("a^-1", r"a\^-1", "a^-1 is plain text: ^ takes a number, as in stem^2.5."),
        ("a~3", r"a\~3", "a~3 is plain text: ~ takes 1 or 2 after a word, as in stem~1."),
        ("a~0.8", r"a\~0.8", "a~0.8 is plain text: ~ takes 1 or 2 after a word, as in stem~1."),
        ("wom?n", "wom?n", "wom?n is plain text: only a * at the end of a word stands for letters."),
        ("*ing", r"\*ing", "*ing is plain text: only a * at the end of a word stands for letters."),
        ("#1(a^2 b)", "#1(a b)", "^2 is plain text: a weight stands after #1(…), not within it."),
        ("#1((a b) c)", "#1(a b c)", "( is plain text: within #1(…), only operators have parentheses."),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_plain_text_with_a_note(text, printed, note):
    tree = read_tree(text)
    assert (str(tree), tree.notes) == (printed, (note,))


@pytest.mark.parametrize("text", ["“a b”", "„a b“", "”a b”", "«a b»", "»a b«", '"a b"'])
def test_quotation_marks_of_all_kinds_stand_around_phrases(text):
    tree = read_tree(f"+{text}~3^2 c")
    assert (str(tree), tree.notes) == ('+"a b"~3^2 c', ())
    assert read_tree(f"\\{text}").root != read_tree(text).root


def test_marks_within_a_phrase_of_other_marks_are_plain_text():
    assert read_tree('“a "b" c”').root == QuotedPhrase('a "b" c')
    assert read_tree('"a “b” c"').root == QuotedPhrase("a “b” c")


def test_ordinary_text_has_no_notes():
    for text in ("~5 km", "is it so ?", "x ^ y", "#3(a * b)"):
        assert read_tree(text).notes == ()


def test_characters_without_a_shape_are_printed_as_codes():
    tree = read_tree("stem\u200bs \u202ecell\ufeff*")
    assert str(tree) == r"stem\u{200b}s \u{202e}cell\u{feff}*"
    assert read_tree(str(tree)) == tree


NO_NAMES = """
see http://x.org/a:b at 10:30 or std::vector|Author: Smith|Objective: to study (a b)|localhost:8080|Genesis:1|Ti:Sapphire laser
H2O:MeOH (1:1)|urn:isbn:123|C:drive|the ratio: 2015|yeer\\:2015
"""


@pytest.mark.parametrize("text", NO_NAMES.strip().replace("\n", "|").split("|"))
def test_addresses_times_and_names_of_things_are_no_fields(text):
    assert read_tree(text, ("title", "text"), {"year": "int", "category": "text"}).notes == ()
    assert read_tree(text).notes == ()


@pytest.mark.parametrize(
    ("text", "name", "meant"),
    [
        ("stem yeer:2015", "yeer", "year"),
        ("Year:2015", "Year", "year"),
        ("-titel:2015", "titel", "title"),
        ("Title: stem", "Title", "title"),
        ("+categroy:cs.IR", "categroy", "category"),
        ('titel:"stem cells" yeer:3', "titel", "title"),
        ("(yeer:>=2015)", "yeer", "year"),
        ("yeer:[2015 TO 2016]", "yeer", "year"),
        ("yeer:(2015 OR 2016)", "yeer", "year"),
        ("yeer:20*", "yeer", "year"),
        ("author:smith", "author", ""),
        ("Journal:2", "Journal", ""),
    ],
)
def test_a_name_that_the_index_lacks_has_a_note_with_the_names_that_it_has(text, name, meant):
    hint = f"did you mean {meant}? T" if meant else "t"
    listed = "he fields are title, text, and the columns are category, year."
    said = f"{name}: is plain text: it names no field and no column; "
    assert read_tree(text, ("title", "text"), {"year": "int", "category": "text"}).notes[0] == f"{said}{hint}{listed}"
    few = read_tree(text, (), {"year": "int"}).notes
    if meant == "year":
        assert few[0] == f"{said}did you mean year? The index has no fields, and the columns are year."
    if not text.startswith("Title: "):
        assert read_tree(text).notes[0] == f"{said}an index has them if it is built with them."


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("stem kind:(a OR b)", "stem kind:a OR kind:b"),
        ("kind:(a b) -kind:(c 'd e')", 'kind:a OR kind:b -(kind:c OR kind:"d e")'),
        ("kind:(a b -c)", "kind:a OR kind:b -kind:c"),
        ("kind:(a AND NOT (b c))", "kind:a AND NOT (kind:b OR kind:c)"),
        # Beside a required value, another adds nothing.
        ("+kind:(+a b)^2 stem", "+(+kind:a)^2 stem"),
        ("year:(2015 OR 2016..2018 >=2020 [3 TO 4] *)",
         "(year:2015 OR year:2016..2018) OR year:>=2020 OR year:3..4 OR year:*"),
        # A part that names a column or a field of its own keeps it. Colons are ordinary characters in values.
        ("kind:(a year:2015 title:stem x:y title:(b))", "kind:a OR year:2015 OR title:stem OR kind:x:y OR title:b"),
        # A value that the column cannot have is the word that the name and the value make.
        ("year:(soon 2015)", r"year\:soon OR year:2015"),
        ("kind:() stem", "stem"),
        ("stem kind:(a b", "stem kind:a kind:b"),
        # Signs and quotes.
        ("year:=2015 year:==2016 year:!=2017", "year:2015 year:2016 year:!=2017"),
        ("kind:'a b' kind:“a” kind:«a» kind:'7' year:'7'", 'kind:"a b" kind:a kind:a kind:7 year:7'),
        ("'stem' rock 'n' roll", "'stem' rock 'n' roll"),
        ("kind:o'neil", "kind:\"o'neil\""),
        ("year:2015...2016 year:...3 year:3...", "year:2015..2016 year:<=3 year:>=3"),
        ("year:[2015 TO 2016] year:{3 TO *] year:[* TO 4} year:[* TO *]", "year:2015..2016 year:>3 year:<4 year:*"),
        ("year:[3 TO 4} year:{3 TO 4]^2 kind:{'a b' TO \"c\"}", 'year:[3 TO 4} year:{3 TO 4]^2 kind:{"a b" TO c}'),
        # Of a field and a column of one name, a word is one of the field.
        ("both:a both:=a both:!=a both:* both:a.. both:(a b)", "both:a both:=a both:!=a both:* both:>=a (both:a both:b)"),
    ],
)  # fmt: skip
def test_how_values_of_columns_are_read(text, printed):
    names = ("title", "both"), {"year": "int", "kind": "text", "both": "text"}
    assert str(read_tree(text, *names)) == printed
    assert read_tree(printed, *names) == read_tree(text, *names)


# Terms and plain words.


@pytest.mark.parametrize(
    ("text", "terms", "words"),
    [
        ("stem cells", {"stem": 1, "cell": 1}, "stem cells"),
        ("stems^2 (cells growing^3)^2", {"stem": 2, "cell": 2, "grow": 6}, "stems cells growing"),
        ("stem stem", {"stem": 2}, "stem stem"),
        ('"stem cells"', {"#1('stem','cell')": 1}, "stem cells"),
        # A stop word takes one position within a phrase; at the ends of a phrase it takes none.
        ('"the state of the art"', {"#1('state',*,*,'art')": 1}, "the state of the art"),
        ('"the art"', {"art": 1}, "the art"),
        # The words and so many more positions, in any order.
        ('"stem cells"~3', {"#uw5('cell','stem')": 1}, "stem cells"),
        ('"the state of the art"~2', {"#uw6('art','state')": 1}, "the state of the art"),
        ("#3(stem cells)", {"#3('stem','cell')": 1}, "stem cells"),
        ("#1(state of the art)", {"#1('state',*,*,'art')": 1}, "state of the art"),
        ("#1(state-of-the-art cell)", {"#1(#1('state',*,*,'art'),'cell')": 1}, "state-of-the-art cell"),
        ("#1(cell of-the art)", {"#1('cell',*,*,'art')": 1}, "cell of-the art"),
        ("#3(stem * cells)", {"#3('stem',*,'cell')": 1}, "stem cells"),
        ("#uw8(the stems cells)", {"#uw8('cell','stem')": 1}, "the stems cells"),
        ("#syn(cells cell red)", {"#syn('cell','red')": 1}, "cells cell red"),
        # A word of several terms is a phrase within an operator, and several words outside of one.
        ("#syn(wi-fi wifi)", {"#syn(#1('wi','fi'),'wifi')": 1}, "wi-fi wifi"),
        ("wi-fi", {"wi": 1, "fi": 1}, "wi-fi"),
        # 'stems' is a term as it is, and is not stemmed.
        ("'stems' #1('stems' cells)", {"stems": 1, "#1('stems','cell')": 1}, "stems stems cells"),
        # What is excluded adds no score.
        ("stem -cells NOT red", {"stem": 1}, "stem"),
        ("stem AND NOT (cells OR red)", {"stem": 1}, "stem"),
        ("+stem cells OR red", {"stem": 1, "cell": 1, "red": 1}, "stem cells red"),
    ],
)
def test_the_terms_and_the_plain_words_of_a_query(small, text, terms, words):
    query = small.query(text, language="query")
    assert ({str(term): weight for term, weight in query.weights().items()}, query.text) == (terms, words)
    assert all(isinstance(term, Operator) for term in query.weights() if "#" in term)
    assert {term.origin for term in query.terms} == {"query"}
    assert small.query(str(query.tree), language="query") == query


# Conditions.


@pytest.mark.parametrize(
    ("text", "condition", "docnos"),
    [
        ("stem cells", "None", "abcde"),
        ("stem OR cells", "None", "abcde"),
        ('"stem cells" OR (grow art)', "None", "ac"),
        ("+stem cells", "all(stem)", "abde"),
        ("stem -cells", "not(cell)", "e"),
        ("stem NOT cells", "not(cell)", "e"),
        ("stem cells -grow", "not(grow)", "bcde"),
        ("stem AND cells", "all(stem, cell)", "abd"),
        ("stem AND cells art", "any(all(stem, cell), art)", "abcd"),
        ("+(stem art) -red", "all(any(stem, art), not(red))", "acde"),
        ("stem AND NOT cells", "all(stem, not(cell))", "e"),
        ("stem AND (grow OR red)", "all(stem, any(grow, red))", "ab"),
        ("-(stem AND cells) stem", "not(all(stem, cell))", "e"),
        ('+"stem cells" red', "all(#1('stem','cell'))", "a"),
        ('cells -"stem cells"', "not(#1('stem','cell'))", "bcd"),
        ("+stem +(+red cells)", "all(stem, red)", "b"),
        # Documents without the excluded word, or with the other one; a ranker finds those with a word that is not excluded.
        ("art OR NOT stem", "any(art, not(stem))", "c"),
        # A word of several terms: all of them, where it is required or excluded.
        ("+stem-cells", "all(stem, cell)", "abd"),
        ("stem cells -stem-cells", "not(all(stem, cell))", "ce"),
        # Stop words require and exclude nothing.
        ("+the stem", "None", "abde"),
        ("stem -the", "None", "abde"),
        ("the AND red", "all(red)", "b"),
        # A prefix without terms is in no document.
        ("+zz* stem", "all(any())", ""),
        ("stem -zz*", "not(any())", "abde"),
        ("+unknown stem", "all(unknown)", ""),
        # Exclusions alone find nothing.
        ("-stem", "any()", ""),
        ("NOT (stem OR cells)", "any()", ""),
        ("the -stem", "any()", ""),
        ("sta* OR 'plant'", "None", "bc"),
    ],
)
def test_the_condition_of_a_query(small, text, condition, docnos):
    query = small.query(text, language="query")
    expected = condition if condition != "all(any())" else "any()"
    assert as_text(query.condition) == expected
    assert found(small, text) == set(docnos)


def test_the_notes_of_a_query(small):
    for text, note in (
        ("+the stem", "+the requires nothing: the analyzer leaves no word of it."),
        ("stem -(of the)", "-of the excludes nothing: the analyzer leaves no word of it."),
        ('stem "to be or not to be"', '"to be or not to be" has no word that the index could hold, and is left out.'),
        ("#uw3(the of)", "#uw3(the of) has no word that the index could hold, and is left out."),
        ("stem zz*", "No term of the index matches zz*."),
        ("stem growing*", "No term of the index matches growing*; grow* matches grow, the stem of growing."),
        ("stem dividing~1", "No term of the index matches dividing~1; divid~1 matches divid, the stem of dividing."),
        ("-stem", "The query only excludes, which finds nothing; write a word to look for, too."),
    ):
        assert small.query(text, language="query").tree.notes == (note,)


def test_a_query_of_which_only_exclusions_are_left_says_that_it_finds_nothing(small):
    nothing = "No word to look for is left, so the query finds nothing."
    required = "+the requires nothing: the analyzer leaves no word of it."
    assert small.query("+the -stem", language="query").tree.notes == (required, nothing)
    assert small.query("the -stem", language="query").tree.notes == (nothing,)


def test_mistakes_cost_a_sentence(small):
    deep = "(" * 100 + "a b" + " c)" * 100
    for text, words in (
        ("#uw2(stem cells red)", "#uw2 is smaller than its 3 words; write #uw3 or more"),
        ("#0(stem cells)", "The width 0 of an operator"),
        ('"stem cells" ' * 10_000, f"10,000 phrases and operators; the most are {WRITTEN_OPERATORS:,}"),
        (deep, f"100 deep; the most are {DEEPEST_PARENTHESES}"),
        ("#1(a1 " * 30 + "b1" + ")" * 30, "operators are .* deep within one another"),
        ("stem^1e300", "lies outside float32"),
        ('"stem cells"~9999999', "The width 10000001"),
        ("#123456789(stem cells)", "The width 123456789"),
    ):
        with pytest.raises(InputError, match=words):
            small.query(text, language="query")
    with pytest.raises(
        InputError, match=r"The language of queries is 'lucene' \(str\); give plain or query or weighted\."
    ):
        small.query("a", language="lucene")
    with pytest.raises(InputError, match=r"Topic 7: #uw1 is smaller"):
        small.run({"6": "stem", "7": "#uw1(stem cells)"}, language="query")


def test_python_gets_the_notes_as_warnings(small):
    note = "wing^ is plain text: ^ takes a number, as in stem^2.5."
    for ask in (small.query, small.search):
        with pytest.warns(SublexWarning) as warned:
            ask("stem wing^", language="query")
        assert [str(each.message) for each in warned] == [note]
        assert warned[0].filename == __file__
    with pytest.warns(SublexWarning) as warned:
        small.run({"1": "stem", "2": "wing^", "3": "cell^"}, language="query")
    assert [str(each.message) for each in warned] == [f"Topic 2: {note} There are notes about 1 other topic."]


def test_compare_and_tune_give_one_warning_for_all_topics(small):
    topics = {"0": "red", "1": "stem", "2": "wing^", "3": "cell^"}
    qrels = {qid: {"a": 1} for qid in "123"} | {"0": {"b": 1}}
    sentence = "Topic 2: wing^ is plain text: ^ takes a number, as in stem^2.5. There are notes about 1 other topic."

    def warned(call: Callable[[], Any]) -> list[str]:
        with pytest.warns(SublexWarning) as given:
            call()
        assert {each.filename for each in given} == {__file__}
        return [str(each.message) for each in given if "order of ties" not in str(each.message)]

    def compared() -> sublex.Comparison:
        return sublex.compare(small, topics, qrels, ["BM25", "PL2"], "RR", language="query")

    assert warned(compared) == [sentence]
    assert sentence in compared().notes
    # The runs are stored by now; the notes are given all the same.
    assert warned(compared) == [sentence]
    assert warned(lambda: sublex.tune(small, topics, qrels, "BM25(b={0,1})", language="query", folds=2)) == [sentence]
    # Only the topics that are run count.
    one = {qid: qrels[qid] for qid in "013"}
    assert warned(lambda: sublex.tune(small, topics, one, "BM25(b={0,1})", language="query", folds=2)) == [
        "Topic 3: cell^ is plain text: ^ takes a number, as in stem^2.5.",
        "1 topics have no judgements and are left out.",
    ]
    # Runs that exist already read no topics.
    done = {"1": {"a": 1.0}}
    assert not any("plain text" in note for note in sublex.compare(small, topics, qrels, {"done": done}, "RR",
                                                                    language="query").notes)  # fmt: skip


def test_an_error_of_a_search_names_its_topic(tmp_path):
    index = sublex.build([Document("a", "stem cells")], tmp_path / "plain")
    with pytest.raises((IndexProblem, InputError), match=r"^Topic 12: .*positions"):
        index.run({"11": "stem", "12": '"stem cells"'}, language="query")


def test_conditions_made_by_hand_are_checked():
    for kind, parts, words in (
        ("xor", ("a",), "'xor' is not a kind of condition; the kinds are all, any and not"),
        ("all", "ab", "parts of a condition should be a list"),
        ("all", (1,), "parts of a condition should be a list"),
        ("not", ("a", "b"), "2 parts; it should have one"),
    ):
        with pytest.raises(InputError, match=words):
            Condition(kind, parts)
    assert Condition("all", ["a", "b"]) == Condition("all", ("a", "b"))
    assert pickle.loads(pickle.dumps(Condition("not", ["a"]))) == Condition("not", ("a",))
    with pytest.raises(InputError, match="not a kind"):
        Condition("all", ("a",))._replace(kind="none")
    with pytest.raises(InputError, match="deep within one another"):
        deep = Condition("all", ("a",))
        for _ in range(5_000):
            deep = Condition("not", (deep,))


def test_the_deepest_parentheses_make_a_condition(small):
    text = "(NOT a AND b OR c -d +e NOT " * DEEPEST_PARENTHESES + "x" + ")" * DEEPEST_PARENTHESES
    assert small.query(text, language="query").condition


def test_an_index_without_positions_says_how_it_gets_them(tmp_path):
    index = sublex.build([Document("a", "stem cells")], tmp_path / "plain")
    for text in ('"stem cells"', 'stem -"stem cells"'):
        with pytest.raises((IndexProblem, InputError), match="positions"):
            index.search(text, language="query")
    assert found(index, "stem AND cel*") == {"a"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["(", "(a ", ")", '"', "'", "#1(", "a^", "NOT ", "a AND ", "\\", "+", "a~", "'a ", "#", "~", "a*", '"a ', "9", "a^9", "a:",
     "\x00", "*?", "a OR -b ", "\\u{", "#syn(", "^1e9", ",", "“", "« ", "»", '"a* ', "#od1(", '"a"~x', "*"],
)  # fmt: skip
def test_hostile_texts_cost_a_sentence_at_most(small, piece):
    """Reading takes time that grows as the text does; if it grew with the square, this test would take an hour."""
    try:
        tree = read_tree(piece * 80_000)
        assert len(tree.notes) < 10
        assert all(len(note) < 200 for note in tree.notes)
    except InputError as error:
        assert len(str(error)) < 200
    try:
        small.query(piece * 3_000, language="query")
    except InputError as error:
        assert len(str(error).splitlines()) == 1


# Prefixes and fuzzy words.


def distance(a: str, b: str) -> int:
    """The edits between two words, swaps of neighbours among them, by the recursion that defines them."""
    rows = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = min(rows[i - 1, j] + 1, rows[i, j - 1] + 1, rows[i - 1, j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                best = min(best, rows[i - 2, j - 2] + 1)
            rows[i, j] = best
    return rows[len(a), len(b)]


@pytest.mark.parametrize("segments", [1, 3])
def test_prefixes_and_fuzzy_words_stand_for_exactly_the_terms_that_match(tmp_path, segments):
    chance = random.Random(segments)
    words = sorted({"".join(chance.choices("abcé", k=chance.randint(1, 6))) for _ in range(400)})
    docs = [Document(str(n), " ".join(chance.choices(words, k=20))) for n in range(90)]
    index = sublex.build(docs[::segments], tmp_path / "words", analyzer="plain")
    for part in range(1, segments):
        index.add(docs[part::segments])
    index.delete([str(n) for n in range(0, 90, 7)])
    live = {term.term for term in index.snapshot.terms()}
    for letters in ("a", "ab", "é", "cé", "zz", *chance.sample(words, 20)):
        assert sorted(terms_beginning(index.snapshot, letters).terms) == sorted(
            t for t in live if t.startswith(letters)
        )
        for edits in (1, 2):
            near = near_terms(index.snapshot, letters, edits).terms
            assert sorted(near) == sorted(t for t in live if distance(letters, t) <= edits)
            assert [distance(letters, t) for t in near] == sorted(distance(letters, t) for t in near)


def test_letters_are_normalised_and_not_stemmed(small):
    terms = {text: list(small.query(text, language="query").weights()) for text in ("STEM*", "Stems*", "celss~2")}
    assert terms == {"STEM*": ["stem"], "Stems*": [], "celss~2": ["cell"]}


def test_too_many_terms_are_cut_with_a_note(tmp_path):
    words = [f"x{number:04}" for number in range(3000)]
    docs = [Document("a", " ".join(words)), Document("b", " ".join(words[1000:1010]))]
    index = sublex.build(docs, tmp_path / "many", analyzer="plain")
    query = index.query("x*", language="query")
    (term,) = query.weights()
    assert len(term.parts) == MOST
    assert set(words[1000:1010]) <= set(term.parts)
    assert query.tree.notes == (f"x* matches 3,000 terms; it stands for the {MOST:,} most frequent.",)
    assert found(index, "x*") == {"a", "b"}


# Documents, by a naive definition.


class Asked(NamedTuple):
    """A query, whether it holds for a list of words, and the words and phrases that add to scores."""

    text: str
    holds: Callable[[list[str]], bool]
    scored: tuple[tuple[str, ...], ...]


def has(document: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(tuple(document[k : k + size]) == phrase for k in range(len(document)))


def asked(chance: random.Random, depth: int) -> Asked:
    """Return a random query; a group is in parentheses."""
    words = tuple(chance.choices("uvwxyz", k=2))
    kind = chance.choice(
        ["word", "phrase", "and", "or", "list", "list", "not"] if depth else ["word", "word", "phrase"]
    )
    if kind == "word":
        return Asked(words[0], lambda document: words[0] in document, (words[:1],))
    if kind == "phrase":
        return Asked(f'"{" ".join(words)}"', lambda document: has(document, words), (words,))
    parts = [asked(chance, depth - 1) for _ in range(chance.randint(2, 3))]
    scored = tuple(leaf for part in parts for leaf in part.scored)
    if kind == "and":
        return Asked(f"({' AND '.join(p.text for p in parts)})", lambda d: all(p.holds(d) for p in parts), scored)
    if kind == "or":
        return Asked(f"({' OR '.join(p.text for p in parts)})", lambda d: any(p.holds(d) for p in parts), scored)
    if kind == "not":
        one, other = parts[:2]
        text = f"({one.text} AND NOT {other.text})"
        return Asked(text, lambda d: one.holds(d) and not other.holds(d), one.scored)
    signs = [chance.choice(["", "", "+", "-"]) for _ in parts]
    signs[0] = chance.choice(["", "+"])
    signed = list(zip(signs, parts, strict=True))

    def holds(document: list[str]) -> bool:
        required = [part.holds(document) for sign, part in signed if sign == "+"]
        others = [part.holds(document) for sign, part in signed if not sign]
        excluded = any(part.holds(document) for sign, part in signed if sign == "-")
        return not excluded and (all(required) if required else any(others))

    text = " ".join(sign + part.text for sign, part in signed)
    return Asked(f"({text})", holds, tuple(leaf for sign, part in signed if sign != "-" for leaf in part.scored))


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> tuple[Index, dict[str, list[str]]]:
    """An index of three segments with deleted documents and positions, and the words of its live documents."""
    chance = random.Random(5)
    words = {f"d{n:03}": chance.choices("uvwxyz", [9, 5, 3, 2, 1, 1], k=chance.randint(0, 6)) for n in range(240)}
    docs = [Document(docno, " ".join(own)) for docno, own in words.items()]
    path = tmp_path_factory.mktemp("language") / "many"
    index = sublex.build(docs[:100], path, analyzer="plain", store=("text", "terms", "positions"))
    index.add(docs[100:180])
    index.add(docs[180:])
    gone = chance.sample(list(words), 40)
    index.delete(gone)
    index.fit("lsi(e=2)")
    return index, {docno: own for docno, own in words.items() if docno not in gone}


@pytest.mark.parametrize("seed", range(120))
def test_hits_are_those_that_a_naive_definition_allows(many, seed):
    index, documents = many
    query = asked(random.Random(seed), 3)
    allowed = {docno for docno, own in documents.items() if query.holds(own)}
    sought = {docno for docno, own in documents.items() if any(has(own, leaf) for leaf in query.scored)}
    made = index.query(query.text, language="query")
    assert found(index, query.text, "BM25", 300) == allowed & sought
    # The best k among all are the best of those that pass, with the scores that they have without a condition.
    free = index.search(made._replace(condition=None), "BM25", 300)
    passing = [(hit.docno, hit.score) for hit in free if hit.docno in allowed]
    for k in (1, 5, 20):
        hits = index.search(made, "BM25", k)
        assert [(hit.docno, hit.score) for hit in hits] == passing[:k]


@pytest.mark.parametrize(
    "expression",
    ["BM25 + 0.4*PL2", "BM25 + lsi(e=2)", "zscore(BM25) + rank(PL2)", "BM25 % 20 >> PL2", "BM25 >> RM3(docs=3) >> BM25",
     "RM3(docs=3) >> BM25", "lsi(e=2)", "BM25 % 10 >> lsi(e=2)", "zscore(BM25) >> PL2", "(BM25 % 5 + PL2 % 7)"],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(8))
def test_every_stage_obeys_before_its_best_are_taken(many, expression, seed):
    index, _ = many
    text = ["+u -v", "u AND w", "(u v w) -x", '+"u v" w', "u v w x y z -y", "+(u w) -v", "w AND NOT u", "+z u v"][seed]
    query = index.query(text, language="query")
    holds = allowed_by(index, query.condition).of(np.arange(int(index.snapshot.bases[-1])))
    answer = index.answer(query, expression, 300)
    assert holds[answer.hits.docs].all()
    # Statistics stay those of the collection, so an index of allowed documents alone would score differently; but a filter
    # that keeps the same documents, as far as filters reach, gives the same hits.
    docnos = {index.snapshot.docno(int(doc)) for doc in np.flatnonzero(holds)}
    free = query._replace(condition=None)
    if "RM3" not in expression and "%" not in expression:
        filtered = index.search(free, expression >> sublex.keep(lambda document: document.docno in docnos), 300)
        assert [*zip(answer.hits.docnos, answer.hits.scores.tolist(), strict=True)] == [
            *zip(filtered.docnos, filtered.scores.tolist(), strict=True)
        ]
    for k in (1, 3, 10):
        if "RM3" not in expression:
            assert index.search(query, expression, k).docnos == answer.hits.docnos[:k]


def test_a_cut_counts_what_passes(many):
    index, _ = many
    ranked = index.search("u AND w", "BM25", 300, language="query").docnos
    assert index.search("u AND w", "BM25 % 7", 300, language="query").docnos == ranked[:7]


def test_the_first_retrieval_of_an_expander_obeys(many):
    index, documents = many
    seen = []

    def look(query, context):
        seen.append([index.snapshot.docno(int(doc)) for doc in context.docs])
        return query

    index.search("+u -v", sublex.expander(look, docs=5) >> sublex.parse("BM25"), language="query")
    index.search(
        "+u -v", sublex.parse("PL2") >> sublex.expander(look, docs=5) >> sublex.parse("BM25"), language="query"
    )
    assert all("u" in documents[docno] and "v" not in documents[docno] for docnos in seen for docno in docnos)
    assert [len(docnos) >= 5 for docnos in seen] == [True, True]


def test_finders_and_functions_see_allowed_documents_and_plain_words(many):
    index, documents = many
    asked_for, seen = [], []

    def find(text):
        asked_for.append(text)
        return {docno: 1.0 + place for place, docno in enumerate(documents)}

    def score(text, some):
        seen.extend(document.docno for document in some)
        asked_for.append(text)
        return [1.0] * len(some)

    hits = index.search('+u "v w"^2 -z', sublex.finder(find), 300, language="query")
    assert set(hits.docnos) == {d for d, own in documents.items() if "u" in own and "z" not in own}
    index.search('+u "v w"^2 -z', "BM25" >> sublex.rerank(score), 300, language="query")
    assert all("u" in documents[docno] and "z" not in documents[docno] for docno in seen)
    assert set(asked_for) == {"u v w"}


def test_plain_words_are_read_as_without_the_language(small, many):
    for index in (small, many[0]):
        for text in ("stem cells grow", "u v w", "the", ""):
            plain, read = index.query(text), index.query(text, language="query")
            assert (plain.terms, plain.text, read.condition) == (read.terms, read.text, None)
            assert index.search(text).docnos == index.search(text, language="query").docnos


def test_an_explanation_says_whether_the_query_allows_the_document(small):
    tree = small.explain("+stem -cells", "e", language="query")
    assert "the query +stem -cells allows it" in str(tree)
    tree = small.explain("+stem -cells", "a", language="query")
    assert tree.value == -np.inf
    assert "the query +stem -cells does not allow it" in str(tree)
    assert tree.evidence["rank"] is None


def test_missing_words_are_those_of_operators_too(small):
    hits = small.search('"stem zebra" #uw9(cells #syn(lynx red))', language="query")
    assert hits.missing == ["zebra", "lynx"]


def test_a_mask_of_a_condition_is_kept_for_the_next_query(many):
    index, _ = many
    condition = index.query("+u -v", language="query").condition
    assert allowed_by(index, condition) is allowed_by(index, Condition(*condition))
    assert index.query("-u", language="query").condition == NOTHING
    assert isinstance(index.query("+u", language="query"), Query)
    assert re.fullmatch(r"\+u -v", str(index.query("+u  -v", language="query").tree))


def test_a_condition_reads_no_more_postings_once_no_document_is_left(small, monkeypatch):
    table, read = TermTable(small.snapshot), list[str]()
    postings = table.postings
    monkeypatch.setattr(table, "postings", lambda term, k: (read.append(term), postings(term, k))[1])
    condition = Condition("all", ("stem", "unknown", "cell", Condition("any", ("red", "art"))))
    keep = ConditionKeep(condition, table, small.snapshot)
    mask = Mask(keep, small.snapshot)
    assert not mask.of(np.arange(5)).any() and mask.passing is not None
    assert read == ["stem", "unknown"]
    # All answers are known, so the mask does not hold what gave them.
    assert not hasattr(mask, "_keep")


def test_the_terms_of_a_part_are_looked_for_once_while_a_query_is_typed(small, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "sublex.query_language.make_query.near_terms", lambda *args: (calls.append(args), near_terms(*args))[1]
    )
    reader = QueryReader(small.snapshot)
    lines = [reader.read(text, "query") for text in ("celss~2", "celss~2 s", "celss~2 st")]
    assert len(calls) == 1 and all("cell" in str(line) for line in lines)


# Fields.


@pytest.fixture(scope="module")
def fielded(tmp_path_factory) -> Index:
    """Documents with titles and tags, which are fields, and a year, which is a field and a column."""
    documents = [
        Document("a", "red cells grow from stem cells", "Stem cells", {"tags": ["biology", "stem cell"], "year": 2015}),
        Document("b", "the cell of a plant; stem cells", "Red wine", {"tags": "wine", "year": 2019}),
        Document("c", "wine is kept in a cellar", "Cells of the stem", {"tags": "wine, cellar", "year": 2020}),
    ]
    path = tmp_path_factory.mktemp("language") / "fielded"
    store = ("text", "terms", "positions")
    return sublex.build(documents, path, store=store, fields="title,tags,year", columns="year:int")


@pytest.mark.parametrize(
    ("text", "terms", "words", "condition", "docnos"),
    [
        ("title:cells", ["#field(title:'cell')"], "cells", "None", "ac"),
        ('title:"stem cells"', ["#field(title:#1('stem','cell'))"], "stem cells", "None", "a"),
        ('title:"cells stem"~2', ["#field(title:#uw4('cell','stem'))"], "cells stem", "None", "ac"),
        ("title:(red cells)^2 wine", ["#field(title:'red')", "#field(title:'cell')", "wine"], "red cells wine", "None",
         "abc"),
        ("title:cel*", ["#syn(#field(title:'cell'),#field(title:'cellar'))"], "cel", "None", "ac"),
        ("tags:'stem'", ["#field(tags:'stem')"], "stem", "None", "a"),
        # A word of several terms is several words, and a phrase within an operator.
        ("title:red-cells", ["#field(title:'red')", "#field(title:'cell')"], "red-cells", "None", "abc"),
        ("#1(title:stem-cells x)", ["#1(#field(title:#1('stem','cell')),'x')"], "stem-cells x", "None", ""),
        ("#uw9(title:stem cells)", ["#uw9(#field(title:'stem'),'cell')"], "stem cells", "None", "ac"),
        ("#3(title:cells title:the title:stem)", ["#3(#field(title:'cell'),*,#field(title:'stem'))"], "cells the stem",
         "None", "c"),
        # Conditions.
        ("+title:cell wine", ["#field(title:'cell')", "wine"], "cell wine", "all(#field(title:'cell'))", "ac"),
        ('cells -title:"stem cells"', ["cell"], "cells", "not(#field(title:#1('stem','cell')))", "bc"),
        ("title:cell AND text", ["#field(title:'cell')", "text"], "cell text", "all(#field(title:'cell'), text)", ""),
        ("wine -title:(red OR stem)", ["wine"], "wine", "not(any(#field(title:'red'), #field(title:'stem')))", ""),
        ("title:cell -title:the", ["#field(title:'cell')"], "cell", "None", "ac"),
        ("+title:zz* wine", ["wine"], "zz wine", "any()", ""),
        # A field comes before a column of the same name, but for a range.
        ("year:2015", ["#field(year:'2015')"], "2015", "None", "a"),
        ("title:(cell year:2016..)", ["#field(title:'cell')"], "cell", "all(year:>=2016)", "c"),
        (r"year:2015\..2016", ["#field(year:'2015')", "#field(year:'2016')"], "2015..2016", "None", "a"),
    ],
)  # fmt: skip
def test_the_terms_and_the_condition_of_a_query_with_fields(fielded, text, terms, words, condition, docnos):
    query = fielded.query(text, language="query")
    assert ([str(term) for term in query.weights()], query.text) == (terms, words)
    assert as_text(query.condition) == condition
    assert found(fielded, text) == set(docnos)
    assert fielded.query(str(query.tree), language="query") == query


def test_mistakes_with_fields_cost_a_sentence_or_a_note(fielded, small):
    for text, words in (
        ("#field(author:cell)", "has no field author; its fields are title, tags, year"),
        ("#1(#field(author:cell) stem)", "has no field author"),
        ("#field(title:stem cells)", r"#field\(title:…\) takes one part; write title:\(…\)"),
        ("#field(title:#field(tags:wine))", r"cannot hold #field\(tags:…\)"),
        ("title:#syn(tags:wine red)", r"cannot hold #field\(tags:…\)"),
    ):
        with pytest.raises(InputError, match=words):
            fielded.search(text, language="query")
    with pytest.raises(InputError, match="was built without fields"):
        small.search("#field(title:cell)", language="query")
    unknown = fielded.query("author:cell", language="query")
    assert unknown.tree.notes == (
        "author: is plain text: it names no field and no column; the fields are title, tags, year, and the columns are year.",
    )
    assert "#field" not in "".join(unknown.weights())


def test_words_that_are_in_no_title_are_missing(fielded):
    query = fielded.query("title:grow title:zebra title:red +tags:plant cel* title:wi*", language="query")
    assert list(fielded.snapshot.missing(query).values()) == ["zebra", "title:grow", "tags:plant"]
    assert fielded.search("title:grow cells", language="query").missing == ["title:grow"]
    run = fielded.snapshot.absent(["grow", within("title", "grow"), within("title", "zebra"), "zebra"])
    assert run == ["zebra", within("title", "grow")]


def test_deleted_documents_leave_words_missing_in_fields(tmp_path):
    documents = [Document("a", "cell wine", "cell"), Document("b", "cell", "wine")]
    index = sublex.build(documents, tmp_path / "index", fields="title")
    index.add([Document("c", "cell", "plant")])
    index.delete(["a"])
    missing = index.snapshot.missing(index.query("title:cell title:plant wine", language="query"))
    assert missing == {within("title", "cell"): "title:cell"}


def test_explanations_and_dependence_models_know_fields(fielded):
    explained = fielded.explain("title:cells wine", "c", language="query")
    assert explained.parts[0].label.startswith("title:") and explained.value == pytest.approx(
        fielded.search("title:cells wine", language="query").scores[0]
    )
    made = fielded.answer("title:(stem cells)", "SDM >> BM25", language="query").query
    assert "#1(#field(title:'stem'),#field(title:'cell'))" in list(map(str, made.weights()))
