"""Tests of `where`, `sort` and conditions on columns: hits are those of the complete ranking whose stored fields pass."""

from __future__ import annotations

import json
import lzma
import random
import re
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import texts
from strategies import examples

import sublex
from sublex.contracts.base import Document
from sublex.contracts.comparisons import ColumnTest
from sublex.contracts.operators import Condition, within
from sublex.errors import InputError, SublexWarning, UnknownName
from sublex.language.conditions import parse_condition, printed_condition

COLUMNS = {"year": "int", "score": "float", "day": "date", "kind": "text"}
KINDS = ["cs.IR", "cs.CL", "two words", "and", "7"]


def fields_of(number):
    """Return the stored fields of a document; some are missing, and some have several values."""
    draw = random.Random(number)
    fields = {
        "year": draw.choice([2010, 2011, 2012, 2013, [2010, 2013]]),
        "score": draw.choice([0.5, 1.5, -1.0]),
        "day": draw.choice(["2012-02-29", "2012-12-31", "2013-01-01"]),
        "kind": draw.sample(KINDS, draw.randint(1, 3)),
    }
    return {name: value for name, value in fields.items() if draw.random() < 0.8}


@pytest.fixture(scope="module", params=[False, True], ids=["", "reordered"])
def index(tmp_path_factory, request):
    """An index of three segments, one of them merged and perhaps reordered, with deleted documents."""
    path = tmp_path_factory.mktemp("where") / "index"
    documents = [Document(f"d{k:03}", text, "", fields_of(k)) for k, text in enumerate(texts(240, 5))]
    built = sublex.build(documents[:90], path, columns=COLUMNS)
    built.add(documents[90:130])
    built.delete([f"d{k:03}" for k in range(0, 130, 7)])
    built.merge(reorder=request.param)
    built.add(documents[130:200])
    built.add(documents[200:])
    built.delete([f"d{k:03}" for k in range(131, 240, 9)])
    return sublex.open(path)


def values(fields, name):
    found = fields.get(name, [])
    return found if isinstance(found, list) else [found]


# Conditions, and for each what holds of the stored fields.
CONDITIONS = {
    "year >= 2012": lambda f: any(v >= 2012 for v in values(f, "year")),
    "year = 2011..2012 and not kind = cs.IR": lambda f: (
        any(2011 <= v <= 2012 for v in values(f, "year")) and "cs.IR" not in values(f, "kind")
    ),
    "kind in (cs.CL, 'two words', \"7\")": lambda f: bool({"cs.CL", "two words", "7"} & {*values(f, "kind")}),
    "kind not in (cs.CL) and 0 < score": lambda f: (
        "cs.CL" not in values(f, "kind") and any(v > 0 for v in values(f, "score"))
    ),
    "day > 2012-02 and day < 2013": lambda f: any(v == "2012-12-31" for v in values(f, "day")),
    "day = 2012 or (year between 2013 and 2014 AND score != 0.5)": lambda f: (
        any(v[:4] == "2012" for v in values(f, "day"))
        or (any(v == 2013 for v in values(f, "year")) and any(v != 0.5 for v in values(f, "score")))
    ),
    "2010 < year <= 2012": lambda f: (
        # One value has to lie between the two.
        any(2010 < v <= 2012 for v in values(f, "year"))
    ),
    'kind = "and"': lambda f: "and" in values(f, "kind"),
    "2013 > year >= 2011": lambda f: any(2011 <= v < 2013 for v in values(f, "year")),
    "year >= 2011 and year < 2013": lambda f: (
        any(v >= 2011 for v in values(f, "year")) and any(v < 2013 for v in values(f, "year"))
    ),
    "year > 3000": lambda f: False,
    "year is null": lambda f: not values(f, "year"),
    "kind IS NOT NULL and not score is not null": lambda f: bool(values(f, "kind")) and not values(f, "score"),
    "year = \"2012\" or 0 < score < '1.0'": lambda f: 2012 in values(f, "year") or 0.5 in values(f, "score"),
    "kind in (“two words”, ‘7’, «and»)": lambda f: bool({"two words", "7", "and"} & {*values(f, "kind")}),
    "year = 2011...2012 and score = ...0.5": lambda f: (
        any(2011 <= v <= 2012 for v in values(f, "year")) and any(v <= 0.5 for v in values(f, "score"))
    ),
    "year in (..2010, 2013..)": lambda f: any(v <= 2010 or v >= 2013 for v in values(f, "year")),
    "kind = cs.*": lambda f: any(v.startswith("cs.") for v in values(f, "kind")),
    "kind in (cs.C*, 'two w'*, '7')": lambda f: any(
        v.startswith(("cs.C", "two w")) or v == "7" for v in values(f, "kind")
    ),
}
# The same conditions in the query language.
ASKED = {
    "year:>=2012": "year >= 2012",
    "year:2011..2012 -kind:cs.IR": "year = 2011..2012 and not kind = cs.IR",
    '(kind:cs.CL OR kind:"two words" OR kind:7)': "kind in (cs.CL, 'two words', \"7\")",
    "(year:..2010 OR year:2013..)": "year in (..2010, 2013..)",
    "+kind:and": 'kind = "and"',
    "kind:(cs.CL OR 'two words' “7”)": "kind in (cs.CL, 'two words', \"7\")",
    "year:(..2010 2013..)": "year in (..2010, 2013..)",
    "year:[2011 TO 2012] -kind:(cs.IR)": "year = 2011..2012 and not kind = cs.IR",
    "year:{2010 TO 2012]": "2010 < year <= 2012",
    "year:(>=2011 AND <2013)": "year >= 2011 and year < 2013",
    "-year:*": "year is null",
    "kind:cs.*": "kind = cs.*",
    'kind:(cs.C* OR "two w"* OR 7)': "kind in (cs.C*, 'two w'*, '7')",
    "kind:* -score:*": "kind IS NOT NULL and not score is not null",
    'day:2012 OR (year:"2013"..2014 AND score:!=0.5)': "day = 2012 or (year between 2013 and 2014 AND score != 0.5)",
}


def pairs(hits):
    return list(zip(hits.docnos, hits.scores.tolist(), strict=True))


def passing(index, hits, condition):
    """Return the docnos and scores of those hits whose stored fields pass."""
    return [(docno, score) for docno, score in pairs(hits) if CONDITIONS[condition](index.document(docno).fields)]


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from([*CONDITIONS]), st.integers(0, 200), st.integers(1, 40), st.sampled_from(["BM25", "PL2 + BM25"]))
def test_a_filter_by_columns_finds_what_passes_of_the_complete_ranking(index, condition, seed, k, ranker):
    query = " ".join(texts(1, seed)[0].split()[:3])
    complete = index.search(query, ranker, len(index))
    found = index.search(query, f"{ranker} >> where({as_text(condition)})", k)
    if ranker == "BM25":
        assert pairs(found) == passing(index, complete, condition)[:k]
    else:
        assert {docno for docno, _ in pairs(found)} <= {docno for docno, _ in passing(index, complete, condition)}
    cut = index.search(query, f"({ranker}) % 20 >> where({as_text(condition)})", k)
    assert pairs(cut) == passing(index, complete.first(20), condition)[:k]


def as_text(condition):
    return '"' + condition.replace('"', '\\"') + '"'


@pytest.mark.parametrize("written", ASKED)
def test_a_query_that_compares_columns_finds_what_a_filter_finds(index, written):
    words = " ".join(texts(1, 3)[0].split()[:3])
    filtered = index.search(words, f"BM25 >> where({as_text(ASKED[written])})", 50)
    query = index.query(f"{words} {written}", "query")
    assert query.text == words and query.tree.notes == ()
    assert len(filtered) and pairs(index.search(query, "BM25", 50)) == pairs(filtered)
    assert index.query(str(query.tree), "query") == query


@pytest.mark.parametrize("condition", CONDITIONS)
def test_filters_alone_list_documents_in_descending_order_of_docno(index, condition):
    expected = [d.docno for d in index.documents() if CONDITIONS[condition](d.fields)]
    listed = index.search("any words", f"where({as_text(condition)})", len(index))
    assert pairs(listed) == [(docno, 0.0) for docno in sorted(expected, reverse=True)]
    assert pairs(index.search("", f"where({as_text(condition)})", 3)) == pairs(listed)[:3]


def test_a_query_of_columns_alone_lists_documents_under_the_filters_of_the_expression(index):
    expected = [
        d.docno for d in index.documents() if 2012 in values(d.fields, "year") and "cs.IR" in values(d.fields, "kind")
    ]
    found = index.search("year:2012", 'BM25 >> RM3 >> BM25 >> where("kind = cs.IR")', 500, language="query")
    assert pairs(found) == [(docno, 0.0) for docno in sorted(expected, reverse=True)]
    excluded = index.search("-year:..2012 -year:2013..", "BM25", 500, language="query")
    assert [*excluded.docnos] == sorted((d.docno for d in index.documents() if "year" not in d.fields), reverse=True)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_puts_hits_in_the_order_of_a_column(index, column, descending):
    words = " ".join(texts(1, 3)[0].split()[:3])
    before = index.search(words, "BM25", 1000)
    expression = f"BM25 >> sort({column}{', descending=true' if descending else ''})"
    key = max if descending else min
    own = {hit.docno: values(hit.fields, column) for hit in before}
    there = [docno for docno in before.docnos if own[docno]]
    expected = sorted(there, key=lambda docno: key(own[docno]), reverse=False)
    if descending:
        ranks = sorted({key(own[docno]) for docno in there}, reverse=True)
        expected = sorted(there, key=lambda docno: ranks.index(key(own[docno])))
    expected += [docno for docno in before.docnos if not own[docno]]
    found = index.search(words, expression, 30)
    assert found.docnos == expected[:30]
    assert dict(pairs(found)).items() <= dict(pairs(before)).items()


def test_a_run_is_never_sorted(index):
    message = (
        "sort(year) puts hits in an order to look at, and a run has the order of the scores; leave sort(year) out."
    )
    with pytest.raises(InputError) as error:
        index.run({"1": "word"}, "BM25 >> sort(year)")
    assert str(error.value) == message


@pytest.mark.parametrize("bare", ["year >= 2015", "'year = 2015'", " kind in (a, b)", "year = 2015 and kind = a"])
def test_a_condition_without_quotes_is_told_to_have_them(index, bare):
    before = "BM25 >> where(" + " " * (len(bare) - len(bare.lstrip()))
    with pytest.raises(InputError) as error:
        index.search("word", f"BM25 >> where({bare}) >> BM25")
    first, _, caret = str(error.value).splitlines()
    column = len(before) + 1
    assert first == f'Expected the condition in double quotes, as in where("year >= 2015"), in column {column}:'
    assert caret == " " * (1 + column) + "^"


def test_facets_of_an_unknown_name_list_the_columns(index):
    columns = "the columns are day (date), kind (text), score (float), year (int)."
    for name, hint in (("yeer", "did you mean year? T"), ("zzzz", "t")):
        for found in ("word", index.search("word")):
            with pytest.raises(InputError) as error:
                index.facets(found, name)
            assert str(error.value) == f"No column {name}; {hint}{columns[1:]}"
    with pytest.raises(UnknownName, match="No component ldaa; did you mean lda"):
        index.facets("word", "ldaa")
    for unnamed in (5, None, ["kind", 5]):
        with pytest.raises(
            InputError, match="^Facets are of (5 .int.|None); give a column, a model, or a list of these.$"
        ):
            index.facets("word", unnamed)


def test_sort_orders_all_documents_found(tmp_path):
    documents = [{"id": f"d{n:04}", "text": "word " * (1 + (n < 1100)), "year": 2000 - n} for n in range(1200)]
    index = sublex.build(documents, tmp_path / "i", columns="year:int")
    # The documents with the lowest scores have the least years.
    for expression in (
        "BM25 >> sort(year)",
        'RM3 >> BM25 >> where("year < 3000") >> sort(year)',
        'where("year>0")>>sort(year)',
    ):
        hits = index.search("word", expression, k=1200)
        assert hits.docnos == [f"d{n:04}" for n in range(1199, -1, -1)]
    for cut in (10, 1150):
        hits = index.search("word", f"BM25 % {cut} >> sort(year, descending=true)", k=1200)
        assert len(hits) == cut
    assert index.explain("word", "d1199", "BM25 >> sort(year)").evidence["rank"] == 1


@pytest.mark.parametrize(
    "expression", ["sort(year) >> BM25", "BM25 + (PL2 >> sort(year))", "BM25 >> sort(year) >> sort(day)"]
)
def test_a_sort_comes_last(index, expression):
    with pytest.raises(InputError, match="so it comes last"):
        index.pipeline(expression)


@pytest.mark.parametrize("condition, message, place", [
    ("year >= ", "Expected a value after >=", 8),
    ("year 2015", "Expected =, !=, <, <=, >, >=, in, between or is after year", 5),
    ("kind = two words", 'Expected and, or or the end after two (a text of several words stands in ", as in "two words")', 11),
    ("(year = 1", "Expected and, or or ) after 1", 9),
    ("year = 1 or or", "Expected a column or ( after or", 12),
    ("kind in (a b)", 'Expected , or ) after a (a text of several words stands in ", as in "two words")', 11),
    ("year between 1 or 2", "Expected and after 1", 15),
    ("year = 1 && year = 2", "Expected and in place of &&", 9),
    ("year = 1||year = 2", "Expected or in place of ||", 8),
    ("!(year = 1)", "Expected not or != in place of !", 0),
    ("year is 1", "Expected null or not null after is", 8),
    ("year is not 1", "Expected null after not", 12),
    ("year = NULL", 'Expected a value (write is null, or the text "null" in quotes)', 7),
    ("kind = “a", "Expected a closing “ for the text that begins", 7),
    ("year ! 1", "Expected not or != in place of !", 5),
    ('kind = "a', 'Expected a closing " for the text that begins', 7),
    ("2015 <= 2016", "Expected a column after <=", 8),
    ("2 < year > 1", "Expected < or <= after year", 9),
    ("year = 1e999", "Expected a number below 1e308", 7),
    ("not " * 31 + "year = 1", "Expected at most 30 nested parentheses", 120),
    ("__import__('os')", "Expected =, !=, <, <=, >, >=, in, between or is after __import__", 10),
])  # fmt: skip
def test_a_mistake_in_a_condition_has_a_caret_under_it(condition, message, place):
    with pytest.raises(InputError) as error:
        parse_condition(condition)
    first, _, caret = str(error.value).split("\n")
    assert first == f"{message} in column {place + 1}:"
    assert len(condition) > 60 or caret == " " * (place + 2) + "^"


@pytest.mark.parametrize("condition, message", [
    ("yeer = 1", "No column yeer; did you mean year? The columns are day (date), kind (text), score (float), year (int)."),
    ("year > soon", 'year is a column of whole numbers, and "soon" is no number.'),
    ("kind = 7", 'kind is a column of texts, and 7 is a number; write it in quotes: kind = "7".'),
    ("day = 2012-02-30", 'day is a column of dates, and "2012-02-30" is none; write 2015-03-01, 2015-03 or 2015.'),
    ("year = 3..2", "year cannot lie in 3..2, for the greater value comes first; write 2..3."),
])  # fmt: skip
def test_a_condition_that_the_columns_cannot_have_is_refused_before_a_search(index, condition, message):
    with pytest.raises(InputError) as error:
        index.pipeline(f'BM25 >> where("{condition}")')
    assert str(error.value) == message


def test_in_the_query_language_a_wrong_value_is_plain_text_with_a_note(index):
    notes = index.query("year:soon word", "query").tree.notes
    assert notes == ('year:soon is plain text: year is a column of whole numbers, and "soon" is no number.',)
    notes = index.query("score:0..1e400 word", "query").tree.notes
    assert notes == ('score:0..1e400 is plain text: score is a column of numbers, and "1e400" is no number.',)


WORDS = st.sampled_from(["7", "1e5", "and", "NULL", "’", "”"])
texts_of = st.text("ab .,=<>()\"'\\é\n", max_size=6)
compared = st.builds(
    ColumnTest, st.sampled_from(["year", "a.b-c", "é_1"]), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.tuples(WORDS | st.integers(-(10**20), 10**20) | st.floats(-1e300, 1e300) | texts_of),
)  # fmt: skip
conditions = st.recursive(
    compared,
    lambda inner: (
        st.builds(Condition, st.sampled_from(["all", "any"]), st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(Condition, st.just("not"), st.tuples(inner))
    ),
    max_leaves=6,
)


@settings(max_examples=examples(300), deadline=None)
@given(conditions)
def test_a_printed_condition_is_read_back(condition):
    assert parse_condition(printed_condition(condition)) == (
        condition if isinstance(condition, Condition) else Condition("all", (condition,))
    )


@settings(max_examples=examples(300), deadline=None)
@given(st.text("ayer (),=<>!.'\"\\0123-&or notin", max_size=30))
def test_any_text_is_a_condition_or_costs_a_sentence(text):
    try:
        parse_condition(text)
    except InputError as error:
        assert "^" in str(error)


def test_tuning_comparing_and_pyterrier_refuse_to_sort(index, tmp_path):
    pytest.importorskip("pyterrier")
    from sublex.pyterrier import Retriever

    qrels = {"1": {"d001": 1}, "2": {"d002": 1}, "3": {"d003": 1}}
    topics = {"1": "word", "2": "word", "3": "word"}
    asked = (
        lambda: sublex.tune(index, topics, qrels, "BM25(k1={1,2}) >> sort(year)", folds=2),
        lambda: sublex.compare(index, topics, qrels, ["BM25", "BM25 >> sort(year)"]),
        lambda: Retriever(index, "BM25 >> sort(year)"),
    )
    for ask in asked:
        with pytest.raises(InputError, match=r"leave sort\(year\) out"):
            ask()


def counted(documents, column):
    """Return the number of documents with each value, the most frequent first, and equal ones ascending."""
    numbers = Counter(value for document in documents for value in values(document.fields, column))
    return sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0]))


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("filtered", ["", "year >= 2012", "kind not in (cs.CL) and 0 < score"])
def test_facets_of_a_column_count_all_documents_with_a_word_of_the_query_that_pass(index, column, filtered):
    words = " ".join(texts(1, 3)[0].split()[:2])
    expression = f"BM25 >> where({as_text(filtered)})" if filtered else "BM25 >> PL2"
    terms = {*index.analyze(words)}
    passing = [
        document for document in index.documents()
        if terms & {*index.analyze(document.text)} and (not filtered or CONDITIONS[filtered](document.fields))
    ]  # fmt: skip
    found = index.facets(words, column, expression)
    assert [(each.value, each.docs) for each in found] == counted(passing, column) != []


def test_facets_of_a_column_count_hits_as_they_are(index):
    hits = index.search(texts(1, 3)[0], k=20)
    assert [(each.value, each.docs) for each in index.facets(hits, "kind")] == counted(hits, "kind")
    assert index.facets(texts(1, 3)[0], "kind", "BM25 % 20") == index.facets(hits, "kind")


def test_the_counts_of_a_column_ignore_the_filter_on_this_column(index):
    words = texts(1, 3)[0]
    where = "kind = cs.IR and year = 2010..2012"
    found = index.facets(words, ["kind", "year", "score"], where=where)
    hits = index.search(words, "BM25", len(index))
    in_kind = [hit for hit in hits if "cs.IR" in values(hit.fields, "kind")]
    in_year = [hit for hit in hits if any(2010 <= year <= 2012 for year in values(hit.fields, "year"))]
    in_both = [hit for hit in in_kind if hit.docno in {other.docno for other in in_year}]
    for column, documents in (("kind", in_year), ("year", in_kind), ("score", in_both)):
        assert [(each.value, each.docs) for each in found[column]] == counted(documents, column)


def test_a_search_prints_facets_of_several_columns(index, command):
    query = " ".join(texts(1, 3)[0].split()[:2])
    of = ("--facets", "2", "--of", "kind", "--of", "year")
    output = command("search", index.path, query, "-k", "1", *of).output
    kinds, years = index.facets(query, ["kind", "year"]).values()
    all_found = len(index.search(query, k=len(index)))
    assert (
        f"All {all_found} documents found, by kind:" in output
        and f"All {all_found} documents found, by year:" in output
    )
    for each in (*kinds[:2], *years[:2]):
        assert re.search(rf"^ *{each.docs}  {each.value}$", output, re.MULTILINE)
    assert f"{kinds[2].docs}  {kinds[2].value}\n" not in output


def test_an_explanation_names_the_values_that_a_filter_reads(tmp_path):
    documents = [
        {"id": "a", "text": "word", "year": 2015, "day": "2015-03-01"}, {"id": "b", "text": "word", "year": [2018, 2012]},
    ]  # fmt: skip
    index = sublex.build(documents, tmp_path / "i", columns="year:int,day:date")

    def labels(docno, expression):
        return [part.label for part in index.explain("word", docno, expression).parts]

    late = 'where("year > 2016 or year < 2000")'
    assert labels("a", f"BM25 >> {late}")[0] == f"{late} does not keep it (year is 2015)"
    assert labels("b", f"BM25 >> {late}")[0] == f"{late} keeps it (year is 2012, 2018)"
    both = 'where("day > 2014 and year > 2000")'
    assert labels("b", f"BM25 % 9 >> {both}")[0] == f"{both} does not keep it (day is missing; year is 2012, 2018)"
    assert labels("a", "BM25 >> sort(day)")[0] == "sort(day) puts it at rank 1 (day is 2015-03-01)"


def test_on_a_real_collection_filters_facets_and_fields_are_those_of_the_documents(tmp_path, collections):
    with lzma.open(collections / "arxiv-cs" / "arxiv-cs.jsonl.xz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in islice(file, 3000)]
    index = sublex.build(records, tmp_path / "index", fields="title,text", columns="category,year:int")
    index.delete([record["id"] for record in records[::50]])
    live = {record["id"]: record for number, record in enumerate(records) if number % 50}
    assert [d.docno for d in index.documents()] == [*live]
    for field in ("title", "text"):
        tfs = {docno: Counter(index.analyze(record[field])) for docno, record in live.items()}
        assert index.snapshot.field_tokens(field) == sum(sum(each.values()) for each in tfs.values())
        for term in index.analyze("learning networks of graphs"):
            docs, found = index.postings(within(field, term))
            assert dict(zip(map(index.docno, docs), found.tolist(), strict=True)) == {
                docno: each[term] for docno, each in tfs.items() if each[term]
            }
    queries = [record["title"] for record in records[7:100:9]]
    chosen = Counter(str(record["category"]) for record in live.values()).most_common(3)[2][0]
    condition = f'year >= 2015 and category = "{chosen}"'
    passes = {docno for docno, record in live.items() if int(record["year"]) >= 2015 and record["category"] == chosen}
    assert 20 < len(passes) < 1000
    for query in queries:
        for ranker in ("BM25", "BM25F"):
            complete = index.search(query, ranker, len(index))
            kept = [(docno, score) for docno, score in pairs(complete) if docno in passes]
            for k in (3, 1000):
                assert pairs(index.search(query, f"{ranker} >> where({as_text(condition)})", k)) == kept[:k]
        counts = Counter(live[docno]["category"] for docno in index.search(query, "BM25", len(index)).docnos)
        assert dict(index.facets(query, "category")) == counts


def test_the_few_documents_of_one_filter_pass_the_other_filters_too(tmp_path):
    documents = [{"id": str(k), "text": "crane " * (k % 7 + 1), "n": k} for k in range(300)]
    index = sublex.build(documents, tmp_path / "index", columns="n:int")
    hits = index.search("crane", 'BM25 >> where("n < 5") >> where("n >= 3")', len(index))
    assert sorted(hits.docnos) == ["3", "4"]
    every = dict(pairs(index.search("crane", "BM25", len(index))))
    assert dict(pairs(hits)) == {docno: every[docno] for docno in hits.docnos}


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    """An index with a field and a column, `kind`, of one name; the only document with cs.XX and with 2035 is deleted."""
    documents = [
        {"id": "a", "text": "stem cells", "kind": "cs.IR", "year": 2015, "date": "2015-03-01"},
        {"id": "b", "text": "stem", "kind": ["cs.IR", "two words"], "year": 2016},
        {"id": "c", "text": "stem", "kind": "cs.XX", "year": 2035},
    ]
    path, store = tmp_path_factory.mktemp("papers") / "index", "text,terms,positions"
    index = sublex.build(documents, path, store=store, fields="kind", columns="kind,year:int,date:date")
    index.delete(["c"])
    return index


@pytest.mark.parametrize("condition, asked, said", [
    ("kind = cs.ir", "kind:=cs.ir", "the value cs.ir in the column kind; did you mean cs.IR?"),
    ("kind = cs.XX", "kind:=cs.XX", "the value cs.XX in the column kind; did you mean cs.IR?"),
    ("kind in (cs.IR, words)", "kind:(=cs.IR OR =words)", "the value words in the column kind; did you mean two words?"),
    ("kind = zzz", "-kind:=zzz", "the value zzz in the column kind; its values are cs.IR, two words."),
    ("kind >= v", "kind:>=v", "a value in >=v in the column kind; its values are cs.IR, two words."),
    ("kind = cs.X*", "kind:=cs.X*", "a value like cs.X* in the column kind; its values are cs.IR, two words."),
    ("year = 2035", "year:2035", "the value 2035 in the column year; its values are from 2015 to 2016."),
    ("year = 2017..2019", "year:2017..2019", "a value in 2017..2019 in the column year; its values are from 2015 to 2016."),
    ("date = 2014", "date:2014", "the value 2014 in the column date; its values are from 2015-03-01 to 2015-03-01."),
])  # fmt: skip
def test_a_value_that_no_document_has_is_said(papers, condition, asked, said):
    with pytest.warns(SublexWarning) as warned:
        assert papers.pipeline(f'BM25 >> where("{condition}")').notes == [f"No document has {said}"]
    assert [str(each.message) for each in warned] == [f"No document has {said}"]
    if "(" not in asked:
        assert papers.query(f"stem {asked}", "query").tree.notes == (f"No document has {said}",)


def test_values_that_documents_have_need_no_words(papers):
    assert (
        papers.pipeline(
            "BM25 >> where(\"kind = cs.IR and not year = 2016 or date != 2015 or 'two words' = kind\")"
        ).notes
        == []
    )
    assert papers.pipeline('BM25 >> where("kind = cs.* or kind = two*")').notes == []
    assert papers.query("stem kind:=cs.IR kind:=t* kind:* -year:2016 (year:!=7 OR kind:>=cs)", "query").tree.notes == ()


def test_of_a_field_and_a_column_of_one_name_a_word_is_one_of_the_field(papers):
    def found(text):
        return [*papers.search(text, language="query").docnos], papers.query(text, "query").tree.notes

    note = "asks for words of the field; kind:={} asks for the column."
    assert found("kind:two") == (["b"], ())
    assert found("kind:cs.IR kind:words") == (["b", "a"], (f"kind:cs.IR {note.format('cs.IR')}",))
    assert found('kind:"two words"')[1] == (f'kind:"two words" {note.format(chr(34) + "two words" + chr(34))}',)
    assert found("kind:=cs.IR") == (["b", "a"], ()) and papers.query("kind:=cs.IR", "query").weights() == {}
    assert found("-kind:!=cs.IR stem") == (["a"], ())


def test_the_first_missing_values_are_named(papers):
    notes = papers.query(f"stem year:({' '.join(map(str, range(3000, 7000)))})", "query").tree.notes
    assert len(notes) == 5 and all(note.startswith("No document has the value 300") for note in notes)


def test_search_says_which_value_no_document_has(papers, command):
    for asked in (("stem year:2035", "--language", "query"), ("stem", "-r", 'BM25 >> where("year = 2035")')):
        said = command("search", papers.path, *asked).messages.splitlines()
        assert said[0] == "No document has the value 2035 in the column year; its values are from 2015 to 2016."
        assert len(said) == 2 and said[1].startswith("Nothing")
    alone = command("search", papers.path, "year:2035", "--language", "query").messages.splitlines()
    assert alone[1] == f"Nothing in {papers.path} meets the query year:2035."
