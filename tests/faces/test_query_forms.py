"""Queries in a query language: each form is named once with its reading, and ordinary text costs no word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shared import DEMO, QRELS

import sublex
from sublex.pipeline.query_forms import forms_notes, forms_of, query_notes
from sublex.trec.topics import Topic


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ('"stem cells"', '"stem cells" is not a phrase'),
        ("+stem cells", "+stem requires nothing"),
        ("stem -cells", "-cells excludes nothing"),
        ('stem -"red cells"', '"red cells" is not a phrase, - excludes nothing'),
        ("title:crane", "title: names no field"),
        ("anything:[1 TO 5]", "anything: names no field, [1 TO 5] is not a range"),
        ("stem^3", "stem^3 gives no weight"),
        ('"stem cells"^0.5', '"stem cells" is not a phrase, cells"^0.5 gives no weight'),
        ("cats AND dogs", "AND is not an operator"),
        ("(cats OR dogs) AND NOT birds", "OR is not an operator, AND is not an operator, NOT is not an operator"),
        ("wild*", "wild* matches no other words"),
        ("wom?n", "wom?n matches no other words"),
        ("te?ts of n*work", "te?ts matches no other words"),
        ("*work", "*work matches no other words"),
        ("network~", "network~ matches no other spellings"),
        ("netwrk~2 crane", "netwrk~2 matches no other spellings"),
        ("roam~0.8^2", "roam~0.8^2 matches no other spellings"),
        ('"red crane"~5', '"red crane" is not a phrase, ~5 allows no distance'),
        ("crane NEAR/3 river", "NEAR/3 allows no distance"),
        ("[2010 TO 2015]", "[2010 TO 2015] is not a range"),
        ("cranes {a TO *}^2.5", "{a TO *}^2.5 is not a range"),
        ("year:[2010 TO 2015]", "year: names no field, [2010 TO 2015] is not a range"),
        ("/joh?n(ath[oa]n)/", "/joh?n(ath[oa]n)/ is not a pattern"),
        ("title:/cran.s?/", "/cran.s?/ is not a pattern"),
        ("crane && river", "&& is not an operator"),
        ("crane || river", "|| is not an operator"),
        ("crane !river", "!river excludes nothing"),
        ("crane[ti] river[MeSH]", "[ti] names no field"),
        ("filetype:pdf crane", "filetype: names no field"),
        ("#combine(stem cells)", "#combine() is not an operator"),
        ("#uw:8(stem cells)", "#uw:8() is not an operator"),
        ("#combine:0=0.5:1=.5(stem cells)", "#combine:0=0.5:1=.5() is not an operator"),
    ],
)
def test_every_form_is_named_with_its_reading(query, note):
    assert ", ".join(forms_of(query).values()) == note


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("title:crane", "title: does not ask for the field"),
        ("+title:(a b) full-text:x", "+title requires nothing, title: does not ask for the field"),
        ("year:2015..2020 crane", "year: does not ask for the column"),
        ("year:>=2015", "year: does not ask for the column"),
        ("category:cs.IR title:crane author:smith",
         "category: does not ask for the column, title: does not ask for the field, author: names no field"),
        ("title: a subtitle and title::x", ""),
    ],
)  # fmt: skip
def test_a_field_or_a_column_of_the_index_is_named_as_one_that_plain_words_do_not_ask_for(query, note):
    names = {"title": "field", "full-text": "field", "year": "column", "category": "column"}
    assert ", ".join(forms_of(query, names).values()) == note


def test_notes_know_the_fields_and_columns_of_the_index(tmp_path):
    documents = [{"id": "1", "title": "A crane", "text": "river", "year": 2015}]
    index = sublex.build(documents, tmp_path / "index", fields="title", columns="year:int")
    said = "Sublex reads a query as plain words: {}. It looks for: {}. --language query reads the query language."
    assert query_notes(index, "title:crane") == [said.format("title: does not ask for the field", "title:crane")]
    assert query_notes(index, "year:2015") == [said.format("year: does not ask for the column", "year, 2015")]
    topics = [Topic("7", "title:crane", {"title": "title:crane"})]
    assert forms_notes(topics, index)[0].startswith(
        "1 of 1 topic has forms of a query language, read as plain words: title: does not ask for the field (topic 7)."
    )


ORDINARY = """
state-of-the-art mother-in-law|C++ and C#|title: subtitle|O'Neil's rock 'n' roll|at 10:30 or 10:30:45|the year: 2010
see http://x.org/a:b?c=d+e|mailto:me@x.org|doi:10.1/x|localhost:8080|std::vector|x^2 + y^2 = z^2|10^6 km^2|sin^2 x|O(n^2)
the A* search|M*A*S*H|5" x 7" photo|a 6'2" man|RESEARCH AND DEVELOPMENT|METHODS AND FINDINGS in short|Portland, OR
you must NOT smoke|the AND gate|Why NOT|AND|NOT cats|pre- and post-war|- a list|north - south|-5 degrees|+44 20 7946
male:female ratio|a ratio of 3:1|Ti:sapphire and Nd:YAG|CD4+CD8- cells|Na+ K+ pump|D-(+)-glucose|+/- 5|-ve and +ve
what?|~5 mm|about ~100 nm|a~b|/usr/bin/env|and/or|/home/me/ files|km/h|1/2|a[i]|x[0]|[12] and [3, 4]|5 TO 7
from [A TO Z of cranes|{a, b}|a |b| c|&|hello!|!|wow !!|~|# and /|s/he|TCP/IP|w/o|24/7|9/11/2001
*very important* word*
*very important*|**bold**|the "green" party|called "the dust of the blood,"|#1 song|#hashtag|What?|"|""|" "|-|+|*|^|:|AC/DC
"""


@pytest.mark.parametrize("text", ORDINARY.strip().replace("\n", "|").split("|"))
def test_ordinary_text_has_no_form(text):
    assert forms_of(text) == {}


@pytest.mark.parametrize(
    "piece", ['"', '" ', "a:", "-a", 'x"^', "*a", "~", "a~", "[a TO ", "/a", "/[", "a?", "!a", '"~', "a*"]
)
def test_beginnings_of_forms_that_never_end_are_plain_words(piece):
    # A pattern that looks to the end of the text from each of its places would not come back from this.
    assert forms_of(piece * 50_000) == {}


def test_search_and_explain_say_it_once_with_the_words_that_they_look_for(demo):
    said = (
        'Sublex reads a query as plain words: "cranes nest" is not a phrase. It looks for: cranes, nest. '
        "--language query reads the query language.\n"
    )
    assert demo("search", "demo", '"cranes nest" the').messages == said
    assert demo("explain", "demo", '"cranes nest" the', "birds-05").messages == said
    assert demo("search", "demo", "cranes nest").messages == ""
    assert demo("search", "demo", "\x1b[1mfoo:(bar)").messages.count("\x1b") == 0


def test_operators_of_other_engines_are_translated(demo):
    said = demo("search", "demo", "#weight(#od1(tall cranes) #uw8(crane nest) #Od1(a b))").messages
    assert said.startswith(
        "Sublex reads a query as plain words: #weight() is not an operator. It looks for: weight, od1,"
    )
    assert (
        "--language query reads the query language. For #weight(…): write (stem^2 cell). "
        "For #od1(…): write #1(stem cell).\n"
    ) in said
    read = "--language query reads the query language."
    assert f"{read} For #sdm(…): rank with SDM >> BM25.\n" in demo("search", "demo", "#sdm(tall crane)").messages
    assert f"{read}\n" in demo("search", "demo", "#1(tall crane) #foo(nest)").messages
    Path("t.tsv").write_text("1\tplain\n2\t#band(tall crane)\n3\t#uw5(tall crane)\n", encoding="utf-8")
    translated = f"{read} For #band(…): write (stem AND cell)."
    assert translated in demo("run", "demo", "t.tsv", "-r", "BM25").messages


def test_a_query_that_finds_nothing_is_answered_in_the_words_of_the_user(demo):
    assert (
        demo("search", "demo", "Zebras galloping").messages == "Nothing in indexes/demo contains Zebras or galloping.\n"
    )


def test_the_topics_of_a_file_share_one_note(demo):
    Path("t.tsv").write_text('1\tplain\n2\t"two words"\n3\tcranes -river\n4\t"more words"\n', encoding="utf-8")
    note = (
        '3 of 4 topics have forms of a query language, read as plain words: "two words" is not a phrase (topic 2), '
        "-river excludes nothing (topic 3). --language query reads the query language.\n"
    )
    assert demo("run", "demo", "t.tsv", "-r", "BM25", "-r", "PL2").messages.count(note) == 1
    assert demo("compare", "demo", "t.tsv", QRELS, "-r", "BM25", "-r", "PL2").messages.count(note) == 1
    assert demo("tune", "demo", "t.tsv", QRELS, "BM25(b={.2,.5})", "--folds", "2").messages.count(note) == 1


# The query language: each face reads it where it is asked for, and says how.

ASKED = "+crane river -bird"


@pytest.fixture
def language_topics(demo) -> Path:
    """Topics in the query language, in a folder with the demo index."""
    Path("q.tsv").write_text(f'1\t{ASKED}\n2\tcrane AND NOT title:loads\n3\t"tower\n', encoding="utf-8")
    return Path("q.tsv")


def test_search_explain_and_analyze_take_the_language(demo):
    index = sublex.open("indexes/demo")
    expected = index.search(ASKED, language="query").docnos
    assert expected
    assert expected != index.search(ASKED).docnos
    found = json.loads(demo("search", "demo", ASKED, "--language", "query", "--format", "json").output)
    assert [hit["docno"] for hit in found["hits"]] == expected
    assert demo("search", "demo", ASKED, "--language", "query").messages == ""
    shown = demo("explain", "demo", ASKED, expected[0], "--language", "query").output
    assert "the query +crane river -bird allows it" in shown
    assert "documents  crane AND NOT bird" in demo("analyze", "demo", ASKED, "--language", "query").output
    assert "documents  crane AND NOT bird" in demo("analyze", ASKED, "--language", "query").output
    for text, documents in (("crane river", "with any of the terms"), ("the of", "none"), ("-crane", "none")):
        assert demo("analyze", "demo", "--language", "query", "--", text).output.endswith(f"documents  {documents}\n")
    assert demo("search", "demo", "the of", "--language", "query").messages == (
        "Nothing in indexes/demo is found: no term is left of the query.\n"
    )
    data = json.loads(demo("analyze", "demo", "crane^2 riv*", "--language", "query", "--format", "json").output)
    assert (data["words"], data["terms"][0], data["documents"]) == ("crane riv", "crane^2", None)


def test_notes_of_the_language_are_said_by_search_and_explain(demo):
    noted = (
        "title: is plain text: it names no field and no column; an index has them if it is built with them.\n"
        "The query language has no such form: && is not an operator.\n"
        'No document contains "title:crane".\n'
    )
    assert demo("search", "demo", "title:crane && river", "--language", "query").messages == noted
    assert demo("explain", "demo", "title:crane && river", "birds-05", "--language", "query").messages == noted
    assert (
        "Nothing in indexes/demo meets the query +crane +zyzzyva"
        in demo("search", "demo", "+crane +zyzzyva crane", "--language", "query").messages
    )
    only = demo("search", "demo", "--language", "query", "--", "-crane").messages
    assert only == "The query only excludes, which finds nothing; write a word to look for, too.\n"
    nothing = demo("search", "demo", "#syn(zebra lynx) gnu^2", "--language", "query").messages
    assert "Nothing in indexes/demo contains" in nothing and "or gnu" in nothing
    nothing = demo("explain", "demo", "--language", "query", "--", "-crane", "birds-05").messages
    assert "No term is left of the query, so there is no score to explain." in nothing
    missed = demo("explain", "demo", "+crane -tall", "birds-05", "--why-not", "--language", "query").output
    assert "The query +crane -tall does not allow it." in missed
    refused = demo("search", "demo", "crane^1", "--weighted", "--language", "query").messages
    assert "Weighted terms are in no language" in refused
    refused = demo("search", "demo", '"tall birds"', "--language", "query").messages
    assert len(refused.splitlines()) == 1
    assert "--store positions,terms,text" in refused


def test_runs_and_their_metadata_have_the_language(demo, language_topics):
    index, topics = sublex.open("indexes/demo"), sublex.read_topics(language_topics)
    said = demo("run", "demo", "q.tsv", "--language", "query", "-o", "read.run").messages
    assert (
        "Topic 2: title: is plain text: it names no field and no column; an index has them if it is built with them. There"
        in said
    )
    assert "are notes about 1 other topic." in said
    run, plain = sublex.read_run("read.run"), index.run(topics)
    expected = index.run(topics, language="query")
    assert dict(run["1"]) == dict(expected["1"]) != dict(plain["1"])
    assert run.metadata["method"]["language"] == expected.metadata["method"]["language"] == "query"
    assert "language" not in plain.metadata["method"]
    replaced = demo("run", "demo", "q.tsv", "-o", "read.run").messages
    assert "was made with another language of queries; it is replaced" in replaced


def test_compare_and_tune_take_the_language_and_keep_their_runs_apart(demo, language_topics):
    index, topics, qrels = sublex.open("indexes/demo"), sublex.read_topics(language_topics), sublex.read_qrels(QRELS)
    means = {}
    for language in ("plain", "query"):
        expected = sublex.measure(qrels.only(["1", "2", "3"]), index.run(topics, language=language), "AP").mean["AP"]
        for _ in range(2):  # The second time, the run comes from the cache.
            shown = demo("compare", "demo", "q.tsv", QRELS, "-r", "BM25", "-m", "AP", "--language", language,
                         "--format", "json").output  # fmt: skip
            compared = sublex.compare(index, topics, qrels, ["BM25"], "AP", language=language)
            assert compared.mean("AP")[0] == pytest.approx(expected)
            assert f"{expected:.4f}"[:5] in shown
        tuned = sublex.tune(index, topics, qrels, "BM25(b={.75,.75})", "AP", folds=2, language=language)
        assert tuned.best.score == pytest.approx(expected)
        assert ("tree, language='query')" in str(tuned)) == (language == "query")
        means[language] = expected
        best = demo("tune", "demo", "q.tsv", QRELS, "BM25(b={.2,.75})", "--folds", "2", "--language", language).output
        assert ("--language query" in best) == (language == "query")
    assert means["plain"] != means["query"]
    stored = compared.systems[0].run.metadata["method"]
    assert (compared.systems[0].cached, stored["language"]) == (True, "query")


def test_the_plain_note_names_the_option_only_for_what_the_language_reads(demo):
    assert "--language query reads" in demo("search", "demo", "crane -bird").messages
    assert "--language" not in demo("search", "demo", "crane && bird").messages


def test_filters_alone_say_that_they_do_not_read_the_words(demo):
    assert demo("index", "wide", str(DEMO), "--columns", "theme").code == 0
    birds = 'where("theme = birds")'
    note = f"{birds} alone lists documents, whatever the words are; for a ranking of them: BM25 >> {birds}.\n"
    found = demo("search", "wide", "zebra", "-k", "1", "-r", birds)
    assert found.messages == note and found.output.startswith("  1  0  ")
    assert demo("search", "wide", "", "-k", "1", "-r", birds).messages == ""
    none = 'where("theme = none")'
    assert demo("search", "wide", "crane", "-r", none).messages == (
        "No document has the value none in the column theme; did you mean money?\n"
        + note.replace(birds, none)
        + f"Nothing in indexes/wide passes {none}.\n"
    )


def test_hits_show_the_columns_that_are_asked_for(demo):
    more = [
        {"id": "x", "text": "crane", "title": "T", "year": [2, 1], "kind": "a"},
        {"id": "y", "text": "crane crane", "year": 1},
    ]
    Path("more.jsonl").write_text("".join(json.dumps(each) + "\n" for each in more))
    assert demo("index", "more", "more.jsonl", "--columns", "year:int,kind").code == 0
    first, second = [
        line
        for line in demo("search", "more", "crane", "-r", "BM25 >> sort(year)", "--show", "kind").output.splitlines()
        if " · " in line
    ]
    assert first.endswith("y   · year is 1 · kind is missing") and second.endswith("x  T · year is 1, 2 · kind is a")
    found = json.loads(demo("search", "more", "crane", "--show", "kind", "--show", "year", "--format", "json").output)[
        "hits"
    ]
    assert [(hit["kind"], hit["year"]) for hit in found] == [([], [1]), (["a"], [1, 2])]
    table = demo("search", "more", "crane", "--show", "kind,year", "--format", "csv").output.splitlines()
    assert table[0] == "rank,score,docno,title,passage,kind,year" and table[2].endswith(',a,"1, 2"')
    assert demo("search", "more", "crane", "--format", "csv").output.splitlines()[0] == "rank,score,docno,title,passage"
    assert demo("search", "more", "crane", "--show", "yeer").messages.startswith(
        "sublex: No column yeer; did you mean year?"
    )
    many = json.dumps({"id": "z", "text": "crane", "kind": "k" * 5000})
    Path("more.jsonl").write_text(many)
    assert demo("index", "more", "more.jsonl", "--columns", "kind", "--overwrite").code == 0
    assert max(map(len, demo("search", "more", "crane", "--facets", "3", "--of", "kind").output.splitlines())) < 400
    assert "k" * 5000 in demo("search", "more", "crane", "--facets", "3", "--of", "kind", "--format", "json").output
