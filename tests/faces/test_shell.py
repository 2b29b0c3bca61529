"""The shell without a terminal: commands and their twins on the command line, rewriting, code, topics, pipes and failures."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import threading
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import child
import numpy as np
import pytest
from command import Done, invoke
from shared import QRELS, TOPICS

import sublex as engine
from sublex.contracts.base import QueryTerm
from sublex.contracts.hookspecs import hookimpl
from sublex.contracts.operators import Operator, ordered, synonyms, window, within
from sublex.display.versus import versus as side_by_side
from sublex.errors import InputError, SublexError, UnknownName
from sublex.faces import judging as judgements
from sublex.faces.output import say
from sublex.faces.reading import QueryReader
from sublex.faces.vocabulary import Vocabulary
from sublex.faces.work import terminal_of_another
from sublex.forms.lines import Line, Shown, Span, line, sentence, table_lines, wrapped
from sublex.language import plugins
from sublex.operations import PLUGINS, WITHOUT_COMMAND, Needs, OperationContext, operation, positional
from sublex.pipeline.pipeline import Pipeline
from sublex.pipeline.side_by_side import NamedRanking
from sublex.pipeline.weighted import query_of, weighted_query
from sublex.shell.arguments import split
from sublex.shell.batch import answer_lines
from sublex.shell.commands import add_plugins, built_in
from sublex.shell.completing import Completions, fuzzy
from sublex.shell.failures import Failed, Interrupted, attempt
from sublex.shell.prompt import Talker
from sublex.shell.rewriting import after_expanders, with_expander, with_parameter
from sublex.shell.saved import read_saved
from sublex.shell.session import Session
from sublex.shell.settings import ShellSettings
from sublex.shell.start import _replayed
from sublex.tools import files
from sublex.tools.messages import Message, Step
from sublex.tools.strings import Strings

QUERY = "cranes by the river"
MODELS = ("lda(k=4)", "lsi(e=10)")


@pytest.fixture(scope="module")
def fitted(built_demo, tmp_path_factory) -> Path:
    """The demo collection with two fitted models; tests only read it."""
    import shutil

    path = tmp_path_factory.mktemp("fitted") / "demo"
    shutil.copytree(built_demo, path)
    index = engine.open(path)
    for model in MODELS:
        index.fit(model)
    return path


@pytest.fixture
def session(fitted, tmp_path, monkeypatch) -> Session:
    """A session on the fitted index, in an empty folder, with a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    said: list[str] = []
    session = Session(lambda: engine.open(fitted), fitted, built_in(), ShellSettings(bars=False), said.append)
    add_plugins(session.commands, session.index.registry)
    return session


def text_of(shown: Shown | None) -> str:
    assert shown is not None
    return "".join(f"{each.text}\n" for each in shown.lines)


def docnos(session: Session) -> list[str]:
    assert session.answer is not None
    return session.answer.hits.docnos


def shell(path: Path, *lines: str, stdin: bytes = b"", options: tuple[str, ...] = ()) -> Done:
    return invoke("shell", str(path), *options, *(word for text in lines for word in ("-c", text)), stdin=stdin)


# Twins: a command of the shell and the command line that :to-cli names print the same.

TWINS = [
    ["crane"],
    [":set k=3", "what is a seal"],
    [":rank BM25 >> RM3 >> PL2 + 0.3*lsi(e=10)", "seal pup beach"],
    ["zzzz"],
    [QUERY, ":explain 1"],
    [QUERY, ":rank PL2 + 0.3*lsi(e=10)", ":explain sea-01"],
    [QUERY, ":expand RM3(terms=4)", ":drop 2 4"],
    [QUERY, ":expand RM3(terms=4)", ":drop 2 4", ":explain 2"],
    [QUERY, ":explain 1 vs 3"],
    [":set k=3", QUERY, ":why-not sea-01"],
    [f":topics {TOPICS}", f":qrels {QRELS}", ":compare BM25 PL2"],
    [QUERY, ":doc 2"],
    [":doc birds-05"],
    [":terms net*"],
    [":terms zzz"],
    [":term Nets"],
    [":analyze The cranes' nests"],
    [":overview"],
    [":set language=query", "+crane river -bird"],
    [":set language=query", "+crane \\-river (nest OR seal)^2", ":explain 1"],
    [":set language=query", ":analyze +crane (river OR seal*) -bird"],
    [":set language=query", f":topics {TOPICS}", f":qrels {QRELS}", ":compare BM25 PL2"],
    [":card"],
    [":card lda(k=4)"],
    [":components"],
    [":components RM3"],
    [":check"],
]


@pytest.mark.parametrize("lines", TWINS, ids=lambda lines: " ".join(lines))
@pytest.mark.parametrize("form", ["table", "json"])
def test_a_command_prints_what_its_twin_on_the_command_line_prints(session, fitted, lines, form):
    if form == "json" and lines[-1] in (":check",):
        return
    for text in lines[:-1]:
        session.run(text)
    session.settings.format = form
    output = io.StringIO()
    with redirect_stdout(output):
        answer_lines(session, lines[-1:], None)
    twin = shlex.split(text_of(session.run(":to-cli")))
    assert twin[0] == "sublex"
    options = ("--format", "json") if form == "json" else ()
    done = invoke(twin[1], *options, *twin[2:])
    assert (done.code, done.output) == (0, output.getvalue())


def test_facets_are_those_of_search(session):
    session.run(":rank BM25 + 0.5*lda(k=4)")
    session.run("river")
    shown = text_of(session.run(":facets"))
    twin = shlex.split(text_of(session.run(":to-cli")))
    assert invoke(*twin[1:]).output.endswith(shown) and "by the labels of lda(k=4)" in shown
    assert text_of(session.run(":facets 'lda(k=4)'")) == shown
    counted = session.index.facets("river", "lda(k=4)", "BM25 + 0.5*lda(k=4)")
    assert python_of(session) == f"{counted[:10]}\n" and len(counted) > 1


# Code.


def python_of(session: Session) -> str:
    code, output = text_of(session.run(":to-python")), io.StringIO()
    with redirect_stdout(output):
        exec(compile(code, "the step", "exec"), {})
    return output.getvalue()


@pytest.mark.parametrize(
    "lines",
    [
        ['it\'s a "crane"'],
        [":set k=4", QUERY, ":rank PL2(c=7)"],
        [QUERY, ":expand RM3(terms=5)", ":drop 1"],
        [":set profile=anserini", QUERY],
        [QUERY, ":similar 1"],
        [QUERY, ":similar 1 lsi(e=10)"],
    ],
    ids=str,
)
def test_the_python_of_a_query_finds_the_same_hits(session, lines):
    for text in lines:
        session.run(text)
    rows = [row.split() for row in python_of(session).splitlines()]
    hits = session.answer.hits
    assert [(int(r), d, float(s)) for r, d, s in rows] == [(hit.rank, hit.docno, hit.score) for hit in hits] != []


def test_the_python_of_other_steps_runs(session):
    session.run(QUERY)
    for text, expected in (
        (":doc 1", "birds-05"), (":explain 1", "BM25, added up over the words"), (":term cranes", "Term(term='crane'"),
        (":terms cran*", "Term(term='crane'"), (":analyze the cranes", "['crane']"), (":overview", "Statistics(docs=252"),
        (":card", "lda"), (":card lsi(e=10)", "'expression': 'lsi(e=10)'"), (":versus BM25 PL2", "birds-05"),
        (":explain 1 vs 3", "BM25, added up over the words"), (":why-not sea-01", "[rank None; found"),
    ):  # fmt: skip
        session.run(text)
        assert expected in python_of(session), text
    session.step = None
    for text in (":to-python", ":to-cli"):
        with pytest.raises(InputError, match="no code"):
            session.run(text)


# Ranking.


def test_rank_answers_the_last_query_again(session):
    session.run(QUERY)
    before = session.answer
    shown = text_of(session.run(":rank PL2"))
    assert shown.startswith("ranking by PL2\n") and session.answer is not before
    assert text_of(session.run(":rank")) == "ranking by PL2\n"
    with pytest.raises(UnknownName, match="did you mean BM25"):
        session.run(":rank BM52")
    assert session.settings.expression == "PL2"


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("BM25", "BM25.b=0.4", "BM25(b=0.4)"),
        ("BM25 >> RM3 >> BM25(k1=2.0)", "bm25.b=0.4", "BM25(b=0.4) >> RM3 >> BM25(k1=2.0, b=0.4)"),
        ("BM25 + 0.3*lsi(e=10)", "lsi.e=20", "BM25 + 0.3*lsi(e=20)"),
        ("swg(topics=lda(k=4)) >> BM25", "lda.k=8", "swg(topics=lda(k=8)) >> BM25"),
        ("minmax(PL2 % 20)", "PL2.c=2", "minmax(PL2(c=2) % 20)"),
    ],
)
def test_a_parameter_changes_wherever_the_component_stands(before, change, after):
    name, value = change.split("=")
    assert with_parameter(before, *name.split("."), value) == after


def test_expanders_are_put_in_and_taken_out():
    assert with_expander("BM25", "RM3") == "BM25 >> RM3 >> BM25"
    assert with_expander("BM25 + PL2", "KL(docs=3)") == "BM25 + PL2 >> KL(docs=3) >> BM25 + PL2"
    assert with_expander("BM25 % 100 >> PL2", "RM3") == "BM25 % 100 >> PL2 >> RM3 >> PL2"
    is_expander = {"RM3", "KL"}.__contains__
    assert after_expanders("BM25 >> RM3 >> PL2 % 10 >> DPH", is_expander) == "PL2 % 10 >> DPH"
    assert after_expanders("BM25 >> PL2", is_expander) == "BM25 >> PL2"


def test_settings_change_with_their_types(session):
    session.run(":set k=3 BM25.b=0.4 BM25.k1=2 timing=on labels=lda(k=4)")
    assert (session.settings.k, session.settings.expression) == (3, "BM25(k1=2, b=0.4)")
    assert session.settings.timing and session.settings.labels == "lda(k=4)"
    listed = text_of(session.run(":set"))
    assert "lda(k=4)" in listed and re.search(r"rank +BM25\(k1=2, b=0.4\)\n", listed)
    assert re.search(r"timing +on\n", listed) and re.search(r"profile +none\n", listed)
    for change, message in (
        ("k=0", "above 0"), ("k=x", "whole number"), ("bars=maybe", "on or off"), ("kk=3", "No setting kk; did you mean k"),
        ("format=xml", "table or json"), ("k", "has no value"), ("PL2.c=3", "PL2 is not in"), ("BM25.b=9", "b=9"),
    ):  # fmt: skip
        with pytest.raises(InputError if "No setting" not in message else (InputError, UnknownName), match=message):
            session.run(f":set {change}")
    assert session.settings.expression == "BM25(k1=2, b=0.4)"


def test_dropped_terms_leave_a_weighted_query(session):
    session.run(QUERY)
    session.run(":expand RM3(terms=4)")
    listed = [row.split() for row in text_of(session.run(":drop")).splitlines()[1:]]
    text_of(session.run(f":drop {listed[0][0]}"))
    assert session.settings.expression == "BM25" and session.is_weighted()
    assert set(session.query.weights()) == {row[2] for row in listed[1:]}
    again = weighted_query(session.query.text)
    assert again.weights() == session.query.weights()
    with pytest.raises(InputError, match="no term 9"):
        session.run(":drop 9")
    with pytest.raises(InputError, match="No term would be left"):
        session.run(f":drop {' '.join(str(k + 1) for k in range(len(listed) - 1))}")


def test_no_term_is_dropped_from_a_query_that_excludes_words(session):
    """Weighted terms cannot exclude a word, so the excluded documents would come back."""
    session.run(":set language=query")
    session.run("crane river -bird")
    with pytest.raises(InputError, match="requires or excludes words"):
        session.run(":drop 1")
    assert not session.is_weighted()


def test_weighted_queries_hold_terms_within_fields():
    phrase, either = within("title", ordered(["stem", "cell"])), synonyms([within("title", "a"), "b"])
    query = weighted_query("#field(title:#1('stem','cell'))^2 #syn('b',#field(title:'a'))^0.5")
    assert query.weights() == {phrase: 2.0, either: 0.5}
    assert weighted_query(query.text) == query
    # A word that looks like the beginning of such a term stands in quotes.
    word = query_of([QueryTerm("#field(title:")])
    assert weighted_query(word.text).terms == word.terms and not isinstance(word.terms[0].term, Operator)
    with pytest.raises(InputError, match="is not an operator as Sublex prints it"):
        weighted_query("#field(title:'cell'")


def test_weighted_queries_are_read_back():
    query = weighted_query("crane^1 a^b^-0.5 river 日本^2e-3")
    assert query.weights() == {"crane": 1.0, "a^b": -0.5, "river": 1.0, "日本": 0.002}
    assert weighted_query(query_of(query.terms).text).terms == query.terms
    text = r"crane^0.5 #1('crane','a^2','b\u{20}c\'')^-0.5 #uw8(#1('a','b'),'c') #syn('x','y')^2"
    query = weighted_query(text)
    phrase, near = (term.term for term in query.terms[1:3])
    assert phrase == ordered(["crane", "a^2", "b c'"]) and near == window([ordered(["a", "b"]), "c"], 8)
    assert query.weights() == {"crane": 0.5, phrase: -0.5, near: 1.0, synonyms(["x", "y"]): 2.0}
    assert weighted_query(query_of(query.terms).text).terms == query.terms
    # People may write the parts of windows and synonyms in any order.
    assert weighted_query("#uw8('b','a') #syn('b','a','b')").text == "#uw8('a','b')^1 #syn('a','b')^1"
    # A term of an index may look like an operator, or like such a term in quotes.
    terms = [QueryTerm(term) for term in ("#1('a','b')", "#uw8(a", "'#1('a','b')'", "'a'", ordered(["a", "b"]))]
    assert weighted_query(query_of(terms).text).terms == tuple(terms)
    assert [type(term.term) for term in weighted_query(query_of(terms).text).terms] == [str] * 4 + [Operator]
    with pytest.raises(InputError, match="#uw1 is smaller than its 2 words; write #uw2 or more"):
        weighted_query("#uw1('a','b')^2")
    for wrong in ("#1(crane river)", "crane #syn('a'", "#1('a','b')'^3", "#2()"):
        with pytest.raises(InputError, match="is not an operator as Sublex prints it; write for example #1"):
            weighted_query(wrong)
    assert weighted_query('"a b"c "d').weights() == {'"a': 1.0, 'b"c': 1.0, '"d': 1.0}
    for wrong in ('"crane river"', 'nest "crane river"^2'):
        with pytest.raises(InputError, match='Weighted terms have no phrase "crane river"'):
            weighted_query(wrong)
    for wrong in ("", "x^", "^2", "x^nan", "x^1e999"):
        with pytest.raises(InputError, match="crane\\^1 river\\^0.5"):
            weighted_query(wrong)


def test_versus_shows_moves_new_and_gone(session):
    session.run(":set k=5")
    session.run(QUERY)
    shown = session.run(":versus BM25 'lsi(e=10)'")
    first, second = shown.data
    for place, hit in enumerate(second["hits"]):
        docno = hit["docno"]
        ranks = [other["rank"] for other in first["hits"] if other["docno"] == docno]
        assert hit["new"] == (not ranks) and (hit["new"] or hit["rose"] == ranks[0] - place - 1)
    assert second["shared"] + len(second["gone"]) == 5
    text = text_of(shown)
    assert "new" in text and f"lsi(e=10) shares {second['shared']} of 5 with BM25" in text
    assert [r["ranking"] for r in session.run(":versus PL2").data] == ["BM25", "PL2"]


def test_versus_stays_readable_in_forty_columns():
    names = ["BM25", "PL2 + 0.3*lda(k=4, iterations=60)", "lda(k=4, iterations=60)", "lsi(e=10)"]
    found = [[f"building-{(place * step) % 11:02}" for place in range(8)] for step in (1, 2, 3, 5)]
    rankings = list(map(NamedRanking, names, found))
    short = [NamedRanking(name, [f"d{place}" for place in range(3)]) for name in names[:3]]
    assert all(len(row.text) <= 40 for each in side_by_side(short, 40).lines for row in wrapped(each, 40))
    for width in (40, 60, 80, 200):
        shown = side_by_side(rankings, width)
        rows = [row.text for each in shown.lines for row in wrapped(each, width)]
        assert max(map(len, rows)) <= width
        # No docno is cut, and each ranking has a head.
        text = "\n".join(rows)
        new = sum(hit["new"] for ranking in shown.data[1:] for hit in ranking["hits"])
        assert all(re.fullmatch(r"building-\d\d", docno) for docno in re.findall(r"build[^\s,]*", text))
        assert text.count("  new") == new > 0
        assert text.count("rank  BM25") == (1 if width >= 80 else 3)
    assert len(side_by_side(rankings).lines) == 1 + 8 + 3


# Names.


def test_names_are_given_used_and_removed(session):
    model = "lda(k=4)"
    assert text_of(session.run(f":name topics {model}")).startswith(f"topics stands for {model} in ")
    session.run(":name both BM25 >> RM3 >> BM25 + 0.3*topics")
    session.run(":name fb RM3(docs=3)")
    whole = f"BM25 >> RM3 >> BM25 + 0.3*{model}"
    session.run(QUERY)
    assert (
        text_of(session.run(":rank both")).startswith(f"ranking by {whole}\n") and session.settings.expression == whole
    )
    assert whole in text_of(session.run(":to-cli")) and whole in text_of(session.run(":to-python"))
    assert [each["ranking"] for each in session.run(":versus BM25 topics").data] == ["BM25", model]
    session.run(":rank BM25")
    assert text_of(session.run(":expand fb")).startswith("ranking by BM25 >> RM3(docs=3) >> BM25\n")
    session.run(":set rank=topics labels=topics")
    assert (session.settings.expression, session.settings.labels) == (model, model)
    assert text_of(session.run(":card topics")) == text_of(session.run(f":card {model}"))
    assert text_of(session.run(":facets topics")) == text_of(session.run(f":facets {model}"))
    assert text_of(session.run(":similar sea-01 topics")) == text_of(session.run(f":similar sea-01 {model}"))
    shown = session.run(":name")
    assert [row[0] for row in shown.rows] == ["both", "fb", "topics"]
    assert session.run(":fit --as topics lda(k=4)").code == 0
    with pytest.raises(InputError, match=r"Options stand before the arguments: :fit --as …"):
        session.run(":fit lda(k=4) --as topics")
    for name in ("both", "fb", "topics"):
        session.run(f":unname {name}")
    with pytest.raises(SublexError, match="No name topics; it has none"):
        session.run(":unname topics")


def test_the_only_model_that_matches_is_taken_and_named(session):
    said: list[str] = []
    session.say = said.append
    session.run(QUERY)
    session.run(":rank BM25 + 0.3*lda")
    sentence = "lda means lda(k=4) here, the only fitted model that matches; its defaults are not fitted."
    assert said == [sentence] and session.settings.expression == "BM25 + 0.3*lda(k=4)"
    session.run(":set labels=lda")
    session.run(":card lda")
    session.run(":versus lsi BM25+lsi")
    assert sum(text.startswith("lsi means") for text in said) == 1
    assert said.count(sentence) == 3 and "lsi means lsi(e=10) here" in said[-1]
    assert session.settings.labels == "lda(k=4)"


# Understanding.


def test_the_difference_of_two_scores_is_the_sum_of_its_parts(session):
    session.run(QUERY)
    for expression in ("BM25", "PL2 + 0.3*lsi(e=10)", "BM25 >> RM3 >> zscore(PL2) + 0.5*lda(k=4)"):
        session.run(f":rank {expression}")
        shown = session.run(":explain 1 vs 3")
        hits = session.answer.hits
        gap = sum(row[0] for row in shown.rows)
        assert gap == pytest.approx(hits[0].score - hits[2].score, abs=1e-5), expression
    with pytest.raises(InputError, match=r"Write :explain N \| DOCNO \[vs N \| DOCNO\]\."):
        session.run(":explain 1 and 3")


def test_documents_that_are_not_found_are_compared_in_words(session):
    session.run("river")
    session.run(":set k=100")
    found = session.answer.hits.docnos[0]
    sentence = f"{found} is found for river, and music-01 is not"
    compared = text_of(session.run(f":explain {found} vs music-01"))
    assert compared.startswith(sentence) and "inf" not in compared
    assert text_of(session.run(f":explain music-01 vs {found}")).startswith(sentence)
    assert text_of(session.run(":explain music-01 vs music-02")) == "music-01 and music-02 are not found for river\n"
    with pytest.raises(InputError, match=f"Both are {found}; name two documents."):
        session.run(f":explain 1 vs {found}")


def test_a_ranker_is_no_expander(session):
    session.run(QUERY)
    with pytest.raises(InputError, match="BM25 is no expander, it is a ranker; write :expand RM3, or :rank BM25"):
        session.run(":expand BM25")
    assert session.settings.expression is None
    session.run(":expand RM3(terms=4)")
    assert session.settings.expression == "BM25 >> RM3(terms=4) >> BM25"


def test_nothing_kept_yet_is_said(session):
    for command, message in (
        (":snapshot", "no snapshots"), (":diff x", ":snapshot NAME first"), (":queries", "no saved queries"),
        (":", "Write a command after the colon"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            session.run(command)
    session.run(QUERY)
    session.run(":snapshot a")
    with pytest.raises(InputError, match="Write :diff NAME"):
        session.run(":diff")


def test_an_unknown_word_is_named_as_it_was_typed(session):
    assert session.run(":term cranes zzzies").notes == [f"No document of {session.path} contains zzzies."]


def test_the_text_of_a_document_is_wrapped_at_blanks(session):
    rows = [row.text for each in session.run(":doc birds-05").lines for row in wrapped(each, 60)]
    assert max(map(len, rows)) <= 60 and any(row.endswith("marsh and grassland,") for row in rows)


def test_why_not_names_words_stages_and_changes_that_help(session):
    session.run(":set k=5")
    session.run(QUERY)
    shown = session.run(":why-not river-12")
    assert shown.data["rank"] == 6 and shown.data["changes"] == ["With k = 6 it is shown."]
    assert {word["word"]: word["tf"] > 0 for word in shown.data["words"]} == {"crane": False, "river": True}
    session.run(":rank BM25 % 5 >> PL2")
    shown = session.run(":why-not river-12")
    assert [stage["rank"] for stage in shown.data["stages"]] == [6, None, None]
    assert shown.data["changes"] == ["A depth of 6 after % lets it through to the next stage."]
    session.run(":rank BM25 % 6 >> PL2")
    session.run(":set k=6")
    assert "river-12" in docnos(session)


def test_the_weight_that_why_not_names_brings_the_document_in(session):
    session.run(":set k=5")
    session.run("river floods")
    helped = 0
    session.run(":rank BM25 + 0.1*lsi(e=10)")
    for docno in session.index.search("river floods", "lsi(e=10)", 12).docnos:
        if docno in docnos(session):
            continue
        for change in session.run(f":why-not {docno}").data["changes"]:
            if match := re.fullmatch(r"With the weight (\S+) for lsi\(e=10\) it is among the first 5\.", change):
                found = session.index.search("river floods", f"BM25 + {match[1]}*lsi(e=10)", 5)
                assert docno in found.docnos
                helped += 1
    assert helped


def test_similar_documents_share_the_best_terms(session):
    session.run(QUERY)
    session.run(":similar birds-05")
    assert session.query.text.count("^") == 25
    # The document itself is left out, also when another ranker answers.
    found = docnos(session)
    assert len(found) == 10 and "birds-05" not in found and session.answer.hits[0].rank == 1
    session.run(":rank PL2")
    assert len(docnos(session)) == 10 and "birds-05" not in docnos(session)
    assert "birds-05" not in text_of(session.run(":versus BM25 PL2"))
    with pytest.raises(InputError, match="try :to-python"):
        session.run(":similar 1") and session.run(":to-cli")
    session.run(QUERY)
    assert "birds-05" in docnos(session)
    session.run(":similar birds-05 'lsi(e=10)'")
    assert len(docnos(session)) == 10 and "birds-05" not in docnos(session) and not session.is_weighted()
    assert "is at rank 2 of 252 by lsi(e=10)" in text_of(session.run(":explain 1"))


def test_similar_documents_come_from_a_fitted_graph(fitted, tmp_path):
    import shutil

    shutil.copytree(fitted, tmp_path / "copy")
    session = Session(lambda: engine.open(tmp_path / "copy"), tmp_path / "copy", built_in(), ShellSettings())
    session.index.fit("near(lsi(e=10))")
    session.run(QUERY)
    shown = session.run(":similar birds-05")
    nearest = session.index.similar("birds-05", session.settings.k)
    assert docnos(session) == nearest.docnos and shown.data["graph"] == "near(lsi(e=10))"
    assert "birds-05 in near(lsi(e=10))" in shown.notes[0]
    code, command = python_of(session), text_of(session.run(":to-cli"))
    assert [row.split()[1] for row in code.splitlines()] == nearest.docnos
    assert re.search(r"sublex similar \S+ birds-05 'near\(lsi\(e=10\)\)'", command)
    # The terms of the document are the last query, so that other rankings of it can be looked at.
    session.run(":rank PL2")
    assert session.query.text.count("^") == 25 and "birds-05" not in docnos(session)
    session.run(":set k=30")
    assert len(session.run(":similar birds-05 near(lsi)").data["hits"]) == 24


def test_words_of_a_query_are_read_while_they_are_typed(session):
    reader = QueryReader(session.index.snapshot)
    read = reader.read("the cranes by rivver ")
    assert read.text == "the  cranes→crane 9  by  rivver unknown, river?"
    assert [style for text, style in read.spans if text in ("the", "cranes→crane")] == ["stopped", "kept"]
    assert "unknown" not in reader.read("rivv").text


def test_a_query_in_the_query_language_is_read_while_it_is_typed(session):
    reader = QueryReader(session.index.snapshot)
    read = reader.read('+the (cranes OR rivver) -nets^2 "tall bird"~2 ne* xyz* ', "query").text
    assert read.startswith("+the  cranes→crane 9 OR rivver unknown, river?  -nets→net 8 ^2  ")
    assert '"tall bird"~2→(bird … tall) within 4 words' in read
    assert re.search(r"ne\*→near or nearbi or .*  xyz\*$", read.rstrip())
    assert Talker(lambda: session, "demo", ShellSettings(language="query")).reading("x").text == ""
    talker = Talker(lambda: session, "demo", ShellSettings(language="query"))
    talker.reader = reader
    assert talker.reading("+cranes").text == "+cranes→crane 9"
    assert (
        talker.reading("(" * 200 + "a" + ")" * 200).text
        == "The parentheses of the query are 200 deep; the most are 64."
    )
    talker.settings.language = "plain"
    assert talker.reading("+cranes").text == "cranes→crane 9"


def test_the_setting_language_changes_how_queries_are_read(session):
    asked = "+crane river -bird"
    plain, read = (session.index.search(asked, k=10, language=language).docnos for language in ("plain", "query"))
    session.run(asked)
    assert docnos(session) == plain
    session.run(":set language=query")
    assert docnos(session) == read != plain
    assert (session.asked_text(), session.is_weighted()) == (asked, False)
    assert "--language query" in text_of(session.run(":to-cli"))
    assert "language='query'" in text_of(session.run(":to-python"))
    assert python_of(session).splitlines()[0].split()[1] == read[0]
    assert "allows it" in text_of(session.run(":explain 1"))
    assert "--language query" in text_of(session.run(":to-cli"))
    session.run(":save mine")
    session.run(":set language=plain")
    assert docnos(session) == plain
    assert "--language" not in text_of(session.run(":to-cli"))
    session.run(":queries mine")
    assert docnos(session) == read
    # Weighted terms are in no language.
    session.run("crane river")
    session.run(":expand RM3(terms=4)")
    session.run(":drop 1")
    assert session.is_weighted()
    session.run(":explain 1")
    assert "--weighted" in text_of(session.run(":to-cli"))
    assert "--language" not in text_of(session.run(":to-cli"))
    with pytest.raises(InputError, match="language is plain or query, not lucene"):
        session.run(":set language=lucene")


def test_topics_are_run_in_the_language_of_the_session(session):
    Path("q.tsv").write_text("1\t+crane -river\n2\ttitle:crane\n", encoding="utf-8")
    noted = session.run(":topics q.tsv").notes
    assert ":set language=query reads the query language." in noted[0]
    session.run(":set language=query")
    noted = session.run(":topics q.tsv").notes
    assert noted[0].startswith("Topic 2: title: is plain text")
    # A query that cannot be read costs a sentence, and the other topics are loaded.
    Path("bad.tsv").write_text("1\tcrane\n2\t#uw1(tall crane)\n", encoding="utf-8")
    assert session.run(":topics bad.tsv").notes == ["Topic 2: #uw1 is smaller than its 2 words; write #uw2 or more."]
    session.run(":topic 1")
    with pytest.raises(InputError, match="#uw1 is smaller"):
        session.run(":topic 2")
    session.run(":topics q.tsv")
    session.run(":run read.run")
    assert "--language query" in text_of(session.run(":to-cli"))
    run = engine.read_run("read.run")
    assert run.metadata["method"]["language"] == "query"
    expected = session.index.run(engine.read_topics("q.tsv"), language="query")
    assert dict(run["1"]) == dict(expected["1"])
    session.run(":next")
    assert docnos(session) == session.index.search("+crane -river", language="query").docnos
    session.run(f":qrels {QRELS}")
    measured = text_of(session.run(":eval BM25"))
    qrels = engine.read_qrels(QRELS)
    assert f"{engine.measure(qrels, expected, 'AP').mean['AP']:.4f}" in measured
    assert "--language query" in text_of(session.run(":to-cli"))


def test_labels_are_marked_in_passages(session):
    session.run(":set labels=lda(k=4) k=3")
    shown = session.run("river")
    styles = {style for each in shown.lines for _, style in each.spans}
    assert "match" in styles and any(style.startswith("label-") for style in styles)
    plain = [each.text for each in shown.lines]
    session.run(":set labels=none")
    assert [text for text in plain if text.startswith(("  1", "     "))]


# Topics and judgements.


def test_topics_are_asked_and_hits_show_their_grades(session):
    session.run(f":topics {TOPICS}")
    session.run(f":qrels {QRELS}")
    shown = text_of(session.run(":next"))
    topics, qrels = engine.read_topics(TOPICS), engine.read_qrels(QRELS)
    assert session.topic == topics[0].qid and shown.startswith(f"topic {topics[0].qid}: {topics[0].text}\n")
    expected = engine.measure(
        qrels.only([session.topic]),
        {session.topic: dict(zip(docnos(session), (-k for k in range(len(docnos(session)))), strict=True))},
        "P@10 nDCG@10",
    )
    assert session.measures() == expected.mean
    assert f"P@10 {expected.mean['P@10']:.4f}" in shown
    grades = [row.split()[2] for row in shown.splitlines() if re.match(r" *\d+  \d", row)]
    assert grades == [str(qrels[session.topic].get(docno, "?")) for docno in docnos(session)]
    assert session.run(":next") and session.topic == topics[1].qid
    # Another query between two topics is not a topic, and the next topic follows all the same.
    for text in ("seal pup", ":similar 1"):
        assert "P@10" not in text_of(session.run(text)) and session.topic == ""
    assert session.run(":next") and session.topic == topics[2].qid
    session.run(f":topic {topics[-1].qid}")
    with pytest.raises(InputError, match="is the last one"):
        session.run(":next")


def test_a_judgement_is_written_changed_and_measured(session):
    Path("mine.qrels").write_bytes(b"# by me\n9 0 x 1\n1 0 old 1")
    session.run(f":topics {TOPICS}")
    session.run(":qrels mine.qrels")
    session.run(":topic 1")
    docno = docnos(session)[2]
    session.run(":judge --write 3 2")
    assert Path("mine.qrels").read_bytes() == b"# by me\n9 0 x 1\n1 0 old 1\n" + f"1 0 {docno} 2\n".encode()
    shown = text_of(session.run(":judge 3 1"))
    assert Path("mine.qrels").read_bytes().endswith(f"1 0 {docno} 1\n".encode()) and "P@10 0.1000" in shown
    session.run(":qrels new.qrels")
    session.run(f":judge {docno} 1")
    assert Path("new.qrels").read_text() == f"1 0 {docno} 1\n"
    Path("table.tsv").write_text("query-id\tcorpus-id\tscore\n1\tx\t1\n")
    session.run(":qrels table.tsv")
    with pytest.raises(InputError, match="not in TREC's format"):
        session.run(":judge 1 1")
    with pytest.raises(InputError, match="not a whole number"):
        session.run(":judge 1 good")
    assert not [path for path in os.listdir() if ".new-" in path]


def judging(session: Session, file: str) -> Session:
    """Load judgements, and ask a topic with hits."""
    for text in (f":topics {TOPICS}", f":qrels {file}", ":topic 1"):
        session.run(text)
    return session


def test_a_judgement_is_written_to_a_file_of_somebody_else_only_with_leave(session):
    before = b"1 Q0 old 1\r\n1 0 x 2"
    Path("theirs").write_bytes(before)
    judging(session, "theirs")
    with pytest.raises(InputError, match=r"theirs was not made by :judge.*; to write to it: :judge --write N GRADE"):
        session.run(":judge 1 1")
    asked: list[str] = []
    answers = [False, True]
    session.confirm = lambda question: asked.append(question) or answers.pop(0)
    with pytest.raises(InputError, match="theirs stays as it is; load another file"):
        session.run(":judge 1 1")
    assert Path("theirs").read_bytes() == before
    first, second, *_ = docnos(session)
    session.run(":judge 1 1")
    session.run(":judge 2 0")
    session.run(":qrels theirs")
    session.run(":judge 1 2")
    assert len(asked) == 2 and asked[0].startswith("theirs was not made by :judge")
    assert Path("theirs").read_bytes() == before + b"\n" + f"1 0 {first} 2\n1 0 {second} 0\n".encode()
    # A later session may go on without a question, until somebody else changes the file.
    later = judging(Session(session.open_index, session.path, built_in(), ShellSettings(bars=False)), "theirs")
    later.run(":judge 1 1")
    with Path("theirs").open("ab") as file:
        file.write(b"9 0 z 1\n")
    other = judging(Session(session.open_index, session.path, built_in(), ShellSettings(bars=False)), "theirs")
    with pytest.raises(InputError, match="was changed since"):
        other.run(":judge 1 2")
    with pytest.raises(InputError, match="was changed since"):
        other.run(":unjudge")
    # A file that the first judgement makes needs no leave.
    other.run(":qrels mine")
    other.run(":judge 1 2")


def test_each_judgement_is_taken_back(session):
    before = b"# mine\n1 Q0 first  1\n1\t0\tother\t2\n1 Q0 first 1\n"
    Path("theirs").write_bytes(before)
    judging(session, "theirs")
    docno = docnos(session)[0]
    Path("theirs").write_bytes(before := before.replace(b"first", docno.encode()))
    session.run(":qrels theirs")
    session.run(":judge --write 1 0")
    session.run(":judge 1 0")
    session.run(":judge 2 1")
    states = [Path("theirs").read_bytes()]
    session.run(":judge 1 2")
    assert "has grade 0 again" in text_of(session.run(":unjudge")) and Path("theirs").read_bytes() == states[0]
    # Also in a later session, and step by step to the beginning: lines have what they had, each about one document together.
    later = judging(Session(session.open_index, session.path, built_in(), ShellSettings(bars=False)), "theirs")
    assert "is not judged any more" in text_of(later.run(":unjudge")) and later.qrels["1"][docno] == 0
    assert "has grade 1 again" in text_of(later.run(":unjudge"))
    assert sorted(Path("theirs").read_bytes().splitlines()) == sorted(before.splitlines())
    with pytest.raises(InputError, match="There is no judgement in theirs to take back"):
        later.run(":unjudge")
    # What somebody else wrote in place of a judgement stays.
    later.run(":judge 3 1")
    later.run(":judge 4 1")
    third, fourth = docnos(later)[2:4]
    changed = Path("theirs").read_text().replace(f"1 0 {fourth} 1", f"1 0 {fourth} 2")
    Path("theirs").write_text(changed)
    with pytest.raises(InputError, match=f"theirs has another judgement of {fourth} for topic 1 now, which stays"):
        later.run(":unjudge --write")
    assert Path("theirs").read_text() == changed
    later.run(":unjudge")
    assert Path("theirs").read_text() == changed.replace(f"1 0 {third} 1\n", "")
    # A file that is empty again holds no judgements.
    later.run(":qrels new")
    later.run(":judge 1 1")
    later.run(":unjudge")
    assert Path("new").read_bytes() == b"" and later.qrels is None


@pytest.mark.parametrize("moment", ["in the journal", "after the journal", "in the file"])
def test_a_kill_loses_at_most_the_judgement_just_typed(session, monkeypatch, moment):
    judging(session, "mine")
    first, second, third, *_ = docnos(session)
    session.run(":judge 1 1")
    before, journal = Path("mine").read_bytes(), judgements.journal_path(Path("mine"))
    kept = journal.read_bytes()

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(
            judgements if moment != "in the file" else files,
            "replace_file" if moment != "in the file" else "_new_file",
            killed,
        )
        with pytest.raises(KeyboardInterrupt):
            session.run(":judge 2 1")
    assert Path("mine").read_bytes() == before and journal.read_bytes() != kept
    if moment == "in the journal":
        journal.write_bytes(journal.read_bytes()[:-9])
    later = judging(Session(session.open_index, session.path, built_in(), ShellSettings(bars=False)), "mine")
    later.run(":judge 3 1")
    assert Path("mine").read_text() == f"1 0 {first} 1\n1 0 {third} 1\n"
    later.run(":unjudge")
    later.run(":unjudge")
    assert Path("mine").read_bytes() == b"" and second
    with pytest.raises(InputError, match="no judgement"):
        later.run(":unjudge")


def test_a_step_that_was_not_made_is_dropped_however_the_journal_is_written(session, monkeypatch):
    judging(session, "mine")
    session.run(":judge 1 1")
    journal = judgements.journal_path(Path("mine"))
    with monkeypatch.context() as patch:
        patch.setattr(judgements, "replace_file", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            session.run(":judge 2 1")
    spaced = [json.dumps(json.loads(line), separators=(" ,  ", " :  ")) for line in journal.read_text().splitlines()]
    journal.write_text("\n".join(spaced) + "\n")
    later = judging(Session(session.open_index, session.path, built_in(), ShellSettings(bars=False)), "mine")
    later.run(":judge 3 1")
    assert len(journal.read_text().splitlines()) == 2
    later.run(":unjudge")
    later.run(":unjudge")
    assert Path("mine").read_bytes() == b""


# A line of a journal, but for the line of the file that the step replaced.
STEP = b'{"qid": "1", "docno": "a", "grade": 1, "before": [%s], "old": "x", "new": "y", "is_undone": false}\n'


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_journal_that_is_a_link_is_not_written(session, link):
    judging(session, "mine")
    journal = judgements.journal_path(Path("mine"))
    journal.parent.mkdir(parents=True)
    Path("precious").write_bytes(b"precious without a line end")
    link(Path("precious").absolute(), journal)
    with pytest.raises(InputError, match="the journal of :judge, is a link; move it away"):
        session.run(":judge 1 1")
    assert Path("precious").read_bytes() == b"precious without a line end" and not Path("mine").exists()


def test_only_what_can_be_read_again_is_judged(session):
    judging(session, "mine")
    for grade in ("2147483648", "-9999999999"):
        with pytest.raises(InputError, match="is no grade that trec_eval can read"):
            session.run(f":judge 1 {grade}")
    with pytest.raises(InputError, match="topic id 'a b' holds white space"):
        judgements.write_judgement(Path("mine"), "a b", "birds-05", 1)
    assert not Path("mine").exists()
    session.run(":judge 1 -2147483647")
    assert engine.read_qrels("mine")


def test_a_judged_file_keeps_its_mark_and_who_may_read_it(session):
    Path("theirs").write_bytes(b"\xef\xbb\xbf1 0 a 1\n1 0 b 1\n")
    Path("theirs").chmod(0o600)
    for docno, grade in (("a", 2), ("b", 0), ("c", 1)):
        judgements.write_judgement(Path("theirs"), "1", docno, grade)
    assert Path("theirs").read_bytes() == b"\xef\xbb\xbf1 0 a 2\n1 0 b 0\n1 0 c 1\n"
    assert Path("theirs").stat().st_mode & 0o777 == 0o600
    for _ in range(3):
        judgements.take_back(Path("theirs"))
    assert Path("theirs").read_bytes() == b"\xef\xbb\xbf1 0 a 1\n1 0 b 1\n"


def test_a_run_does_not_take_the_place_of_the_loaded_judgements(session):
    judging(session, "mine")
    session.run(":judge 1 1")
    before = Path("mine").read_bytes()
    with pytest.raises(InputError, match="mine is read by this command"):
        session.run(":run --overwrite mine")
    assert Path("mine").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"x\n",
        b"[]\n",
        b'{"qid": 1}\n',
        STEP % b'"\\ud800"',
        STEP % b'"x"',
        STEP % b'"1 0 a 1\\n2 0 b 1"',
        b"[" * 5000 + b"\n",
        b"\xff\n",
    ],
)
def test_a_broken_journal_costs_a_sentence_and_no_judgement(session, content):
    judging(session, "mine")
    session.run(":judge 1 1")
    before = Path("mine").read_bytes()
    judgements.journal_path(Path("mine")).write_bytes(content)
    for text in (":judge 2 1", ":unjudge"):
        with pytest.raises(InputError, match="the journal of :judge; move it away to begin a new one"):
            session.run(text)
    assert Path("mine").read_bytes() == before


def test_two_sessions_that_judge_lose_nothing(session):
    sessions = [
        judging(Session(session.open_index, session.path, built_in(), ShellSettings(bars=False, k=20)), "both")
        for _ in "ab"
    ]
    names = docnos(sessions[0])
    steps = [[f":judge {docno} 1" for docno in names[part::2]] for part in (0, 1)]
    threads = [
        threading.Thread(target=lambda s=s, t=t: list(map(s.run, t))) for s, t in zip(sessions, steps, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(Path("both").read_text().splitlines()) == sorted(f"1 0 {docno} 1" for docno in names)


def test_the_loaded_topics_are_run_and_measured(session):
    session.run(f":topics {TOPICS}")
    session.run(f":qrels {QRELS}")
    shown = session.run(":eval BM25 'PL2(c=7)'")
    twin = shlex.split(text_of(session.run(":to-cli")))
    compared = json.loads(invoke(*twin[1:], "--format", "json").output)["systems"]
    assert [each["measures"] for each in shown.data] == [each["measures"] for each in compared]
    session.run(":rank PL2(c=7)")
    session.run(":run mine.run")
    twin = shlex.split(text_of(session.run(":to-cli")))
    twin[twin.index("mine.run")] = "twin.run"
    assert invoke(*twin[1:]).code == 0
    assert Path("mine.run").read_bytes() == Path("twin.run").read_bytes()


def test_contradictory_judgements_are_loaded_by_a_rule_that_commands_name(session):
    Path("twice.qrels").write_text("1 0 sea-01 1\n1 0 sea-01 2\n2 0 birds-05 1\n")
    session.run(f":topics {TOPICS}")
    with pytest.raises(InputError, match="choose by --contradictions first, last or highest"):
        session.run(":qrels twice.qrels")
    shown = session.run(":qrels --contradictions last twice.qrels")
    assert session.qrels["1"] == {"sea-01": 2} and "the last grade counts" in shown.notes[0]
    session.run(":compare BM25 PL2")
    twin = shlex.split(text_of(session.run(":to-cli")))
    assert twin[-2:] == ["--contradictions", "last"] and invoke(*twin[1:]).code == 0
    assert text_of(session.run(":to-python")).count(", contradictions='last')") == 1
    session.run(":topic 1")
    session.run(":judge --write birds-05 1")
    assert session.qrels["1"] == {"sea-01": 2, "birds-05": 1}
    session.run(f":qrels {QRELS}")
    session.run(":compare BM25 PL2")
    assert "contradictions" not in text_of(session.run(":to-cli"))


# Keeping.


def test_snapshots_and_saved_queries(session):
    session.run(QUERY)
    session.run(":snapshot before")
    session.run(":rank lsi(e=10)")
    first, second = session.run(":diff before").data
    assert [hit["docno"] for hit in second["hits"]] == docnos(session) and first["ranking"] == "before"
    session.run(":save mine")
    session.run(":rank BM25")
    session.run("something else")
    assert QUERY in text_of(session.run(":queries"))
    session.run(":queries mine")
    assert docnos(session) == [hit["docno"] for hit in second["hits"]] and session.settings.expression == "lsi(e=10)"
    session.run(":similar 1")
    session.run(":save weighted")
    found = docnos(session)
    session.run("something else")
    session.run(":queries weighted")
    assert docnos(session) == found
    for text, message in (
        (":diff x", "there are: before"),
        (":queries x", "there are: mine, weighted"),
        (":unsave x", "mine"),
    ):
        with pytest.raises(InputError, match=message):
            session.run(text)
    assert text_of(session.run(":unsave mine")) == "mine is deleted\n" and "mine" not in text_of(
        session.run(":queries")
    )
    Path("state/sublex/queries.json").write_text("[1]")
    with pytest.raises(InputError, match="move it away"):
        session.run(":queries")


def test_numbers_are_ranks_first_and_docnos_otherwise(tmp_path):
    documents = [{"id": str(number), "text": "crane " * number} for number in range(1, 15)]
    index = engine.build(documents, tmp_path / "numbers")
    session = Session(lambda: index, index.path, built_in(), ShellSettings())
    assert session.docno("3") == "3"
    session.run("crane")
    assert [session.docno("1"), session.docno("=1"), session.docno("12")] == [docnos(session)[0], "1", "12"]
    assert docnos(session)[0] != "1"
    for wrong in ("99", "=99", "x"):
        with pytest.raises(InputError):
            session.docno(wrong)


@pytest.mark.parametrize("query", ["caf\udce9 crane", "crane\x85seal\x0briver \u2028", "\ud800 crane"])
def test_a_query_of_any_characters_is_saved_and_asked_again(session, query):
    """A terminal gives bytes that are not UTF-8 as surrogates."""
    found, asked = session.run(query).data, session.query.text
    assert "is saved" in text_of(session.run(":save odd"))
    session.run("something else")
    assert read_saved()["odd"].query == session.run(":queries").data[0]["query"] == asked
    assert session.run(":queries odd").data == found and session.query.text == asked


def test_replayed_lines_are_printed_before_their_answers(fitted, tmp_path):
    lines = tmp_path / "lines"
    lines.write_text("crane\n:set k=1\nseal \x1b[2J pup\n")
    done = shell(fitted, ":rank PL2", options=("--replay", str(lines), "-k", "1"))
    printed = [row for row in done.output.splitlines() if row.startswith("demo> ")]
    assert printed == ["demo> crane", "demo> :set k=1", "demo> seal \N{REPLACEMENT CHARACTER}[2J pup"]
    assert done.output.startswith("demo> crane\n  1  ") and "ranking by PL2\n" in done.output
    # Results for programs stay as they are.
    for form in ("json", "csv", "trec"):
        plain = shell(fitted, "crane", options=("-k", "1", "--format", form))
        lines.write_text("crane\n")
        done = shell(fitted, ":quit", options=("--replay", str(lines), "-k", "1", "--format", form))
        assert done.output == plain.output and "demo> crane\n" in done.messages


def test_other_words_for_commands_are_known_everywhere(session):
    assert session.commands.known("q") is session.commands.find("quit") and session.commands.known("?").shell == "help"
    assert text_of(session.run(":help ?")).startswith(":help [COMMAND]")
    assert offered(session, ":? jud")[:1] == ["judge"]
    assert text_of(session.run(":?")) == text_of(session.run(":help"))
    session.run(":q")
    assert session.ended


def test_a_history_has_the_bytes_that_were_typed_and_is_replayed_line_by_line(session):
    lines = ["caf\udce9 crane", "crane\x85seal\x0b river\u2028"]
    session.lines += lines
    session.run(":history new")
    assert Path("new").read_bytes().startswith(b"caf\xe9 crane\ncrane\xc2\x85seal")
    assert _replayed("new") == lines


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("config/sublex/shell.toml", ""),
        ("state/sublex/queries.json", ":queries"),
        ("state/sublex/queries.json", ":save x"),
    ],
)
def test_no_pipe_in_the_place_of_the_users_files_makes_the_shell_wait(fitted, session, name, command):
    Path(name).parent.mkdir(parents=True)
    os.mkfifo(name)

    def work() -> str:
        signal.alarm(60)
        return shell(fitted, "crane", *filter(None, [command])).messages

    ended = child.run(work)
    assert f"Cannot read {Path(name).resolve()}" in ended.answer, ended


def test_files_of_the_user_are_not_replaced(session):
    Path("mine").write_text("my notes")
    for text, message in (
        (":history mine", "mine exists; choose another name"), (":out mine", "mine exists"),
            (":out no/where", "There is no folder no for where; make one, or choose another place"),
        (":run mine.txt", "is there, and nothing shows that Sublex wrote it"),
    ):  # fmt: skip
        Path("mine.txt").write_text("my notes")
        session.run(f":topics {TOPICS}")
        with pytest.raises(InputError, match=message):
            session.run(text)
        assert Path("mine").read_text() == Path("mine.txt").read_text() == "my notes"
    session.run(":history new")
    session.run(":history new")


def test_results_go_to_a_file(session, capsys):
    assert answer_lines(session, [":out hits.txt", "crane", ":out", "seal"], None)
    written = Path("hits.txt").read_text()
    assert "birds-05" in written and "birds-05" not in capsys.readouterr().out


# Pipes.


def test_a_pipe_of_queries_makes_a_run(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    topics = engine.read_topics(TOPICS)
    lines = "".join(f"{topic.qid}\t{topic.text}\n" for topic in topics)
    done = shell(fitted, options=("--format", "trec", "-k", "1000", "-r", "PL2"), stdin=lines.encode())
    assert done.code == 0
    Path("piped.run").write_text(done.output)
    run, piped = engine.open(fitted).run(topics, "PL2"), engine.read_run("piped.run")
    assert {qid: dict(run[qid]) for qid in run if run[qid]} == {qid: dict(piped[qid]) for qid in piped}


def test_a_pipe_numbers_lines_and_prints_json_lines(fitted):
    done = shell(fitted, options=("--format", "json", "-k", "2"), stdin=b"crane\n\nseven\tseal pup\n:set k=1\nbank\r\n")
    rows = [json.loads(row) for row in done.output.split("\n") if row.startswith("{")]
    assert [(row["qid"], row["query"], len(row["hits"])) for row in rows] == [
        ("1", "crane", 2),
        ("seven", "seal pup", 2),
        ("3", "bank", 1),
    ]


def test_a_pipe_may_hold_any_bytes(fitted):
    done = shell(
        fitted,
        options=("--format", "json", "-k", "1"),
        stdin=b"\xef\xbb\xbfone\tcrane\ntwo\tseal \xff\x00\n\t\n\tseal\n",
    )
    rows = [json.loads(row) for row in done.output.splitlines()]
    assert done.code == 0 and [(row["qid"], len(row["hits"])) for row in rows] == [("one", 1), ("two", 1), ("3", 1)]


def test_a_failed_line_costs_a_sentence_and_the_next_is_answered(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = shell(
        fitted,
        ":nope",
        ":merge x",
        ":doc 3",
        ":doc nowhere",
        "crane",
        ":explain x y",
        ":topics no.file",
        "::doc",
        ":quit",
        "seal",
    )
    assert done.code == 2 and "birds-05" in done.output and "sea-01" not in done.output
    sentences = done.messages.splitlines()
    for expected in (
        "No command :nope", "The shell has no command :merge; run sublex merge outside of it.",
        "No hit 3 among the last results; there are none", "No document nowhere", "Write :explain N",
    ):  # fmt: skip
        assert any(f"sublex: {expected}" in sentence for sentence in sentences), expected
    assert "Traceback" not in done.messages
    assert shell(Path("nowhere/x"), "crane").code == 2
    assert (
        shell(fitted, options=("--replay", "no.file")).messages
        == "sublex: Cannot read no.file: No such file or directory.\n"
    )


@pytest.mark.slow
def test_hostile_lines_end_no_session(session):
    names = session.commands.names()
    lines = [
        f":{name} {rest}"
        for name in names
        for rest in ("", "'", "\x00 \x1b[31m", "9 9 9 9", "vs", "BM25 >>", "[", "日本")
    ]
    for text in ["\ud800", "\x00", "'", "::", ":", ": x", *lines, QUERY, *lines]:
        if not text.startswith((":edit", ":quit", ":check", ":history", ":run", ":out", ":save")):
            try:
                attempt(session, text)
            except Failed as failure:
                assert "failed (" not in str(failure), (text, failure)
    assert not session.ended


# Tests of the help, of commands that plugins add, and of completion.


def test_every_command_has_help_and_a_page(session):
    page = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")
    listed = text_of(session.run(":help"))
    for command in session.commands:
        assert command.summary.endswith(".") and f":{command.shell}" in listed, command.shell
        assert f":{command.shell}" in page or command.section == PLUGINS, command.shell
        assert text_of(session.run(f":help {command.shell}")).startswith(f":{command.shell}")
    with pytest.raises(UnknownName, match="did you mean :explain"):
        session.run(":help explian")


def test_operations_of_plugins_work_and_their_failures_cost_a_sentence(session):
    @operation()
    def shout(context: OperationContext, text: Annotated[str, positional("TEXT", completes="word")]) -> Shown:
        """Show a text in capitals."""
        return sentence(text.upper())

    @operation(needs=Needs.SESSION)
    def crash(session):
        """Fail."""
        return 1 / 0

    class Registry:
        call_all = plugins.Registry.call_all

        def hook(self, name):
            return [(plugins.Plugin("loud", "loud"), lambda register: [register(each) for each in (shout, crash)])]

    assert add_plugins(session.commands, Registry()) == []
    assert text_of(session.run(":shout hear 'me")) == "HEAR 'ME\n"
    with pytest.raises(Failed, match=r"^:crash failed \(ZeroDivisionError: division by zero\)\.$"):
        attempt(session, ":crash")
    assert add_plugins(session.commands, Registry()) == [
        "There is a command :shout already.",
        "There is a command :crash already.",
    ]


def test_a_plugin_may_declare_fewer_parameters_than_its_hook_has(monkeypatch):
    seen = []

    class Old:
        @staticmethod
        @hookimpl
        def register_operations():
            seen.append(True)

    registry = plugins.Registry([])
    registry._manager.register(Old, "old")
    monkeypatch.setattr(plugins.Registry, "plugins", [plugins.Plugin("old", "old")])
    ((_, function),) = registry.hook("register_operations")
    function(register=1)
    assert seen == [True]


def offered(session: Session, text: str) -> list[str]:
    completions = Completions(session)
    completions.prepare()
    return [offer.text for offer in completions.complete(text)]


def test_what_may_follow_is_offered(session):
    assert offered(session, "cranes by the merc")[0] == "Mercury"
    assert (
        offered(session, "merkur")[0] == offered(session, "emrcur")[0] == "Mercury" and offered(session, "mercx") != []
    )
    assert offered(session, "mercery")[0] == "Mercury" and offered(session, "zzzzzz") == []
    assert set(offered(session, ":ex")[:2]) == {"expand", "explain"}
    assert offered(session, ":rank BM25(")[:2] == ["k1=", "b="]
    assert "lsi(e=10)" in offered(session, ":rank BM25 + ls")
    assert offered(session, ":card ls") == ["lsi(e=10)"]
    assert offered(session, ":set BM25.k") == ["k1=", "k3="]
    assert offered(session, ":doc birds-0")[0] == "birds-01"
    # Names, models and several of them; brackets hold a model with blanks together, as in messages.
    session.run(":name mine BM25 + 0.3*lda(k=4)")
    session.run(":name model lda(k=4)")
    assert "mine" in offered(session, ":rank PL2 + mi") and "model" in offered(session, ":similar 1 mod")
    assert offered(session, ":unname m") == offered(session, ":name m") == ["mine", "model"]
    assert offered(session, ":forget lda(k=4) ls") == offered(session, ":card ls") == ["lsi(e=10)"]
    assert offered(session, ":rank goo") == ["good"] and offered(session, ":fit bett") == ["better"]
    assert offered(session, ":fit mod")[:1] == ["model"] and "mine" not in offered(session, ":fit mi")
    for name in ("mine", "model"):
        session.run(f":unname {name}")
    session.run(QUERY)
    assert offered(session, ":explain 1 vs 1") == ["1", "10"]
    assert "RM3" in offered(session, ":components RM")
    Path("some.txt").touch()
    Path("some folder").mkdir()
    assert offered(session, ":topics so") == ["'some folder/", "some.txt"]
    session.run(f":topics {TOPICS}")
    assert offered(session, ":topic 1")[:2] == ["1", "10"]
    assert {"RM3", "phrases"} <= set(offered(session, ":expand ")) and "BM25" not in offered(session, ":expand ")
    assert {"lsi", "phrases"} <= set(offered(session, ":fit ")) and not {"BM25", "RM3"} & set(offered(session, ":fit "))
    assert "e=" in offered(session, ":fit lsi(") and "rank=" in offered(session, ":set ")
    assert offered(session, ":nope x") == offered(session, ":overview x") == []


def small(text: str) -> str:
    """Return a text with A to Z in small letters."""
    return text.encode().lower().decode()


def test_fuzzy_names_begin_first():
    assert fuzzy("rm", ["Term", "RM3", "Normaliser", "x"]) == ["RM3", "Term", "Normaliser"]


@pytest.mark.parametrize("segments", [1, 3])
def test_the_vocabulary_offers_what_a_scan_finds(tmp_path, segments):
    rng = np.random.default_rng(0)
    words = [
        "Éclair",
        "éclair",
        "日本",
        "Cranes",
        "cranes",
        "CRANE",
        "x" * 40,
        "x" * 40 + "b",
        *(f"w{k}" for k in range(300)),
    ]
    index = None
    for part in range(segments):
        documents = [{"id": f"{part}-{k}", "text": " ".join(rng.choice(words, 20))} for k in range(30)]
        if index is None:
            index = engine.build(documents, tmp_path / "x", analyzer="plain")
        else:
            index.add(documents)
    index.delete(["0-0", "0-1"])
    vocabulary = Vocabulary(index.snapshot)
    assert len(vocabulary) >= index.vocabulary_size
    terms = list(index.terms())
    for prefix in ("", "c", "CR", "w1", "é", "日", "x" * 40, "zzz", "W29"):
        expected = {term.surface.lower() for term in terms if small(term.surface).startswith(small(prefix))}
        found = {word.written.lower() for word in vocabulary.beginning(prefix, 1000)}
        # Segments may write a term in different ways, of which the index shows the most frequent.
        assert found >= expected and (segments > 1 or found == expected), prefix
        frequencies = [word.df for word in vocabulary.beginning(prefix, 5)]
        assert frequencies == sorted(frequencies, reverse=True)


@pytest.mark.slow
def test_the_most_frequent_of_a_million_words_complete_a_beginning():
    class Segment:
        """A segment with a million terms and nothing else."""

        class lexicon:  # noqa: N801
            @staticmethod
            def written():
                strings = Strings.of(f"word{k * 7919 % 1_000_003:x}" for k in range(1_000_000))
                return strings.arena, strings.starts, strings.sizes

        live_df = np.random.default_rng(0).zipf(1.5, 1_000_000).clip(1, 10_000)

    class Snapshot:
        segments = (Segment,)

    vocabulary = Vocabulary(Snapshot())
    words = [f"word{k * 7919 % 1_000_003:x}" for k in range(1_000_000)]
    for prefix, most in (("w", 30), ("word1f", 30), ("word1f3a", 30), ("x", 0)):
        highest = sorted(
            (df for word, df in zip(words, Segment.live_df.tolist(), strict=True) if word.startswith(prefix))
        )[-30:]
        found = vocabulary.beginning(prefix, 30)
        assert all(word.written.startswith(prefix) for word in found) and len(found) <= most
        assert [word.df for word in found] == highest[::-1]
    alike = vocabulary.spelt_alike("wrod", 30)
    assert len(alike) == 30 and all(word.written.startswith("word") for word in alike)
    assert [word.df for word in alike] == sorted((word.df for word in alike), reverse=True)


def test_settings_come_from_a_file(session, fitted, tmp_path):
    folder = tmp_path / "config" / "sublex"
    folder.mkdir(parents=True)
    (folder / "shell.toml").write_text('rank = "PL2"\nk = 2\ntiming = true\nkeys = "vi"\n')
    done = shell(fitted, "crane", ":rank")
    assert len(re.findall(r"^ +\d  \d", done.output, re.M)) == 2 and done.output.endswith("ranking by PL2\n")
    assert len(re.findall(r"^ +\d  \d", shell(fitted, "crane", options=("-k", "1")).output, re.M)) == 1
    (folder / "shell.toml").write_text('colour = "blue"\n')
    done = shell(fitted, "crane")
    assert done.code == 2 and "shell.toml: No setting colour" in done.messages
    (folder / "shell.toml").write_text("k =\n")
    assert "Cannot read" in shell(fitted, "crane").messages


def test_wrapped_lines_keep_their_styles_and_their_words():
    long = line("   some words and ", Span("a match", "match"), " and more words to the end", indent=5)
    rows = list(wrapped(long, 30))
    assert all(len(row.text) <= 30 for row in rows) and all(row.text.startswith("     ") for row in rows[1:])
    assert " ".join(" ".join(row.text for row in rows).split()) == long.text.strip()
    assert [row.text for row in wrapped(Line(long.spans, None), 30)] == [long.text]
    assert "".join(text for row in rows for text, style in row.spans if style).split() == ["a", "match"]


def test_tables_are_shortened_and_their_columns_stay_aligned():
    rows = [("lda(k=20, seed=7, iterations=1000)", 12.5, "a text of several words that may well be wrapped at its blanks"),
            ("lsi", 3.25, "short")]  # fmt: skip
    wide = table_lines(rows, ("expression", "score", "description"))
    for width in (200, 100, 60, 40):
        cut = [row.text for long in wide for row in wrapped(long, width)]
        assert max(map(len, cut)) <= width or width == 200
        columns = {row.index(word) for row in cut for word in ("score", "12.50", " 3.25") if word in row}
        assert len(columns) == 1, cut
    assert [row.text.split("  ")[0] for row in wrapped(wide[1], 50)][0] == "lda(k=20, seed=7, it…"  # noqa: RUF015
    narrow = [row.text for long in wide for row in wrapped(long, 10)]
    assert any(row.startswith("lda(k=2…") for row in narrow)
    ranks = side_by_side([NamedRanking("BM25(k1=1.25, b=0.75)", ["a" * 30, "b"]), NamedRanking("PL2", ["b", "c" * 30])])
    cut = [row.text for long in ranks.lines[:3] for row in wrapped(long, 50)]
    assert max(map(len, cut)) <= 50 and "↑1" in cut[1] and cut[2].endswith("new")


def test_messages_name_the_commands_of_the_shell(session):
    session.run("crane")
    for text, message in (
        (":rank lsi(e=30)", "Run: :fit lsi(e=30)"), (":rank lsi(e=3, samples=2)", "samples"), (":card lda(k=7)", "Run: :fit lda(k=7)"),
        (":facets lsi(e=10)", "has no labels"), (":components BM52", "did you mean BM25"),
        (":facets", r"name a fitted one: :facets lda\(k=4\)"),
    ):  # fmt: skip
        with pytest.raises(Failed, match=re.sub(r"(?<=Run: )(.*)", lambda m: re.escape(m[1]), message)) as raised:
            attempt(session, text)
        assert "sublex " not in str(raised.value)
    path, other = session.path, Path("elsewhere")
    for message, expected in (
        (Message("run: ", Step("fit", path, "lsi(e=5)", update=True)), "run: :fit --update lsi(e=5)"),
        (Message("run: ", Step("fit", path, "lsi(e=5, samples=2)")), "run: :fit lsi(e=5, samples=2)"),
        (
            Message("run: ", Message(Step("forget", path, "lsi"), ", then: "), Step("fit", path.absolute(), "lsi")),
            "run: :forget lsi, then: :fit lsi",
        ),
        (Message(Step("card", "INDEX", "lda(k=4)"), " or ", Step("info", path)), ":card lda(k=4) or :overview"),
        (Message(Step("forget", path, "a", "b c"), " && ", Step("fit", path, "a")), ":forget a 'b c', then :fit a"),
        (
            Message(Step("fit", other, "lsi"), "; ", Step("merge", path)),
            f"sublex fit ./elsewhere lsi; sublex merge {path}",
        ),
        ("plain", "plain"),
    ):
        assert session.worded(message) == expected


def test_steps_of_messages_are_command_lines_that_work(session, fitted):
    for text, step in (
        (":rank lsi(e=30)", "sublex fit {} 'lsi(e=30)'"),
        (":components BM52", "sublex components"),
    ):
        with pytest.raises(SublexError, match=re.escape(step.format(fitted))):
            session.run(text)


def test_options_stand_before_arguments(session):
    assert len(session.run(":terms -n 3 net*").rows) == 3 and len(session.run(":terms -n=2 net*").rows) == 2
    assert text_of(session.run(":analyze --analyzer plain the cranes")).endswith("the | cranes\n")
    assert "raw tokens   q\n" in text_of(session.run(":analyze -q"))
    session.run(QUERY)
    assert text_of(session.run(":explain --ranker PL2 1")).splitlines()[0].endswith(" by PL2")
    with pytest.raises(InputError, match="-n needs a value"):
        session.run(":terms -n")
    with pytest.raises(InputError, match="number has to be at least 0"):
        session.run(":terms -n -1")


def test_a_page_is_written_by_an_option(session):
    assert text_of(session.run(":card -o topics.html lda(k=4)")) == "topics.html shows lda(k=4)\n"
    assert "<html" in Path("topics.html").read_text()
    with pytest.raises(InputError, match="does not end in"):
        session.run(":card -o topics.pdf lda(k=4)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("BM25 'PL2 + 0.3*dcot'", ["BM25", "PL2 + 0.3*dcot"]),
        ("BM25(b=.3, k1=2) PL2", ["BM25(b=.3, k1=2)", "PL2"]),
        ('topic("natural gas", of=lda) x', ['topic("natural gas", of=lda)', "x"]),
        ("a(']') b", ["a(']')", "b"]),
        ("", []),
    ],
)
def test_expressions_are_words_with_their_brackets(text, words):
    assert split(text, brackets=True) == (words, "")


@pytest.mark.parametrize("text", ["a b", "'a b' c", "a'b c'd \"e f\"", "'' x", "  a  "])
def test_words_are_those_of_a_shell(text):
    assert split(text)[0] == shlex.split(text)


def test_every_operation_of_the_shell_alone_has_no_command(session):
    assert {each.name for each in session.commands if "cli" not in each.faces and each.needs is not Needs.SESSION} == (
        WITHOUT_COMMAND
    )


def test_a_parameter_needs_no_component_if_only_one_has_it(session):
    session.run(":set b=0.4")
    assert session.settings.expression == "BM25(b=0.4)"
    session.run(":rank BM25 + 0.5*PL2")
    session.run(":set c=3")
    assert session.settings.expression == "BM25 + 0.5*PL2(c=3)"
    session.run(":rank BM25 >> RM3 >> BM25 >> BM25PRF >> BM25")
    with pytest.raises(InputError, match="RM3 and BM25PRF have docs"):
        session.run(":set docs=5")
    with pytest.raises(InputError, match="No setting q; .*No part of .* has a parameter q"):
        session.run(":set q=3")


def test_a_model_is_forgotten(session, fitted, tmp_path):
    import shutil

    shutil.copytree(fitted, tmp_path / "copy")
    own = Session(lambda: engine.open(tmp_path / "copy"), tmp_path / "copy", built_in(), ShellSettings())
    assert "lsi(e=10) is gone" in text_of(own.run(":forget lsi(e=10)")) and len(own.index.fitted) == 1
    with pytest.raises(Failed, match="fitted: lda"):
        attempt(own, ":forget lsi(e=10)")


def test_a_change_that_is_wrong_changes_nothing(session):
    session.run(":rank PL2")
    for wrong in ("k=3 profile=nope", "k=3 labels=BM25", "k=3 PL2.c=x", "k=3 rank=BM52", "allow_uncovered=on"):
        with pytest.raises(SublexError):
            session.run(f":set {wrong}")
        assert (session.settings.k, session.settings.profile, session.settings.labels) == (10, None, None)
        assert session.settings.expression == "PL2"


def press_ctrl_c() -> None:
    """Interrupt the main thread, as Ctrl-C does; the thread that calls this waits for the work's end meanwhile."""
    os.kill(os.getpid(), signal.SIGINT)


def interrupted(session: Session, text: str) -> str:
    """Answer a line whose work presses Ctrl-C, and return the message."""
    with pytest.raises(Interrupted) as raised:
        attempt(session, text)
    return str(raised.value)


def test_an_interrupt_ends_work_in_python_and_lets_it_clean_up(session):
    cleaned = []

    @operation(needs=Needs.SESSION)
    def work(session):
        session.topic = "changed"
        try:
            press_ctrl_c()
            while True:
                pass
        finally:
            cleaned.append(True)

    session.commands.add(work)
    assert interrupted(session, ":work") == "interrupted." and cleaned and session.topic == ""


@pytest.mark.slow
def test_an_interrupt_gives_up_work_that_takes_no_notice(session, capsys):
    compiled, ended = threading.Event(), threading.Event()

    @operation(needs=Needs.SESSION)
    def work(session):
        """Wait as compiled code works: without a step in Python."""
        try:
            session.topic = "changed"
            press_ctrl_c()
            compiled.wait(60)
            session.snapshots["late"] = []
        finally:
            say("late")
            ended.set()

    session.commands.add(work)
    assert (
        interrupted(session, ":work") == "interrupted; what is being computed still ends, but its result is not used."
    )
    shown = attempt(session, "crane")
    assert shown is not None and session.topic == "" and not ended.is_set()
    compiled.set()
    assert ended.wait(60) and not session.snapshots and capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_an_interrupt_is_left_to_an_editor(session):
    @operation(needs=Needs.SESSION)
    def work(session):
        with terminal_of_another():
            press_ctrl_c()
            # The main thread has this time to take notice.
            time.sleep(0.5)
        return Shown(lambda: [line("done")])

    session.commands.add(work)
    assert text_of(attempt(session, ":work")) == "done\n"


def test_a_command_without_arguments_refuses_them(session):
    with pytest.raises(Failed, match=":reopen takes nothing after it; leave other out"):
        attempt(session, ":reopen other")


def test_long_words_are_cut_in_messages(session):
    (message,) = session.run("x" * 100_000).notes
    assert len(message) < 500


def test_a_line_that_fails_changes_nothing(session):
    @operation(needs=Needs.SESSION)
    def work(session):
        session.topic, session.settings.k = "changed", 3
        raise InputError("Too bad.")

    session.commands.add(work)
    with pytest.raises(Failed, match="Too bad"):
        attempt(session, ":work")
    assert (session.topic, session.settings.k, session.lines) == ("", 10, [":work"])


def test_an_interrupt_ends_a_pipe(session, monkeypatch, capsys):
    def interrupt(*anything):
        raise KeyboardInterrupt

    monkeypatch.setattr(Pipeline, "answer", interrupt)
    with pytest.raises(KeyboardInterrupt):
        answer_lines(session, ["crane"], ["seal"])


def test_the_last_query_is_written_anew_in_an_editor(session, monkeypatch):
    Path("editor").write_text('#!/bin/sh\necho "seal pup" >"$1"\n', encoding="utf-8")
    Path("editor").chmod(0o755)
    monkeypatch.setenv("EDITOR", str(Path("editor").absolute()))
    session.run("crane")
    session.run(":edit")
    assert session.query.text == "seal pup" and docnos(session)[0] == "sea-01"


def test_the_prompt_says_what_goes_on(session):
    talker = Talker(lambda: session, "demo", session.settings)
    assert (
        talker.facts() == "demo · getting ready" and talker.reading("crane").text == "" and not [*talker.complete("cr")]
    )
    printed: list[str] = []
    assert talker.answer("cranes", lambda lines: printed.extend(each.text for each in lines))
    assert "birds-05" in printed[0] and re.fullmatch(r"demo · 252 documents · BM25 · k 10 · \S+ ms", talker.facts())
    assert talker.reading("cranes ").text == "cranes→crane 9"
    assert talker.reading(":versus B").text.startswith(":versus EXPR...  Show the rankings")
    assert not talker.answer(":nope", print)
    talker.answer(f":topics {TOPICS}", lambda lines: None)
    talker.answer(f":qrels {QRELS}", lambda lines: None)
    talker.answer(":next", lambda lines: None)
    assert "topic 1  P@10 0." in talker.facts()
    assert talker.reading("help").text.startswith(":help [COMMAND]  List the commands")
    broken = Talker(
        lambda: Session(lambda: engine.open("no/index"), Path("no/index"), built_in(), ShellSettings()),
        "x",
        ShellSettings(),
    )
    assert not broken.answer("crane", print) and "No index at no/index" in broken.facts()


def test_words_that_people_type_for_help_and_to_leave_do_what_they_mean(session, capsys):
    def lines(text: str) -> list[str]:
        printed: list[str] = []
        assert talker.typed(text, lambda lines: printed.extend(each.text for each in lines))
        return printed

    talker = Talker(lambda: session, "demo", session.settings)
    for text in ("help", " Help ", "?", "help()"):
        assert lines(text)[0].startswith("A line is a query.") and session.query is None
        assert f"to search for the word, write ::{text.strip()}" in capsys.readouterr().err
    assert lines(":h") == lines("help")
    for text in ("::help", "help me", "quit smoking", "exits", "HELP the cranes"):
        lines(text)
        assert session.query.text == text.removeprefix(":") and not talker.ended
    for text in ("exit", "quit", "Quit;", "exit()", ":exit", ":q", ":quit"):
        session.ended = False
        lines(text)
        assert talker.ended, text
    # What a person typed is kept as the command that it meant.
    assert ":help" in session.lines and "help" not in session.lines


def test_lines_of_programs_are_queries_whatever_they_say(fitted):
    """In a pipe and after -c, the words for help and the end are words to search for."""
    done = shell(fitted, "help", "exit", options=("--format", "trec"), stdin=b"")
    assert done.code == 0 and "No hits" not in done.output
    done = shell(fitted, stdin=b"quit\nriver\n", options=("--format", "trec"))
    assert done.code == 0 and "2 Q0 " in done.output


def test_commands_that_people_guess_are_answered_with_what_to_write(session):
    for text, said in (
        (":search crane", "There is no command :search, for a line without a colon is a query; leave :search out."),
        (":k 5", "No command :k, but a setting; write :set k=VALUE."),
        (":exlpain 1", "did you mean :explain?"), (":run x", "There are no topics"), (":add x", "run sublex add outside of it"),
    ):  # fmt: skip
        with pytest.raises(SublexError, match=re.escape(said)):
            session.run(text)


def test_the_shell_completes_reads_and_counts_words_within_fields(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = [
        {"id": "a", "title": "Stem cells", "text": "tiny cells grow"},
        {"id": "b", "title": "x", "text": "titles"},
    ]
    engine.build(documents, tmp_path / "index", fields="title", store="text,terms,positions")
    session = Session(
        lambda: engine.open(tmp_path / "index"),
        tmp_path / "index",
        built_in(),
        ShellSettings(bars=False, language="query"),
    )
    assert offered(session, "+ti")[0] == "title:" and "title:" not in offered(session, "title:ti")
    assert offered(session, "title:cel") == ["cells"]
    session.run(":set language=plain")
    assert "title:" not in offered(session, "ti")
    read = QueryReader(session.index.snapshot).read("title:cells grow year:1", "query")
    assert read.text.startswith("title:cells→title:cell  grow")
    shown = session.run(":term title:cells grow title:grow")
    assert json.loads(json.dumps(shown.data)) == [
        {"term": "#field(title:'cell')", "df": 1, "cf": 1, "written": "title:cells"},
        {"term": "grow", "df": 1, "cf": 1, "written": "grow"},
    ]
    assert shown.notes == [f"No document of {tmp_path / 'index'} contains title:grow."]
    session.run(":term title:cells")
    assert "index.term('title:cells')" in text_of(session.run(":to-python"))
    assert "#field(title:" in text_of(session.run(":to-cli"))
    session.run(":set language=query")
    first = session.run("title:cells").lines[0]
    assert [span.text for span in first.spans if span.style == "match"] == ["cells"]


def test_the_shell_completes_the_columns_that_facets_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = [{"id": "a", "text": "crane", "kind": "bird", "year": 2015}]
    engine.build(documents, tmp_path / "index", columns="kind,year:int")
    session = Session(lambda: engine.open(tmp_path / "index"), tmp_path / "index", built_in(), ShellSettings())
    assert offered(session, ":facets ")[:2] == ["kind", "year"] and offered(session, ":facets kind ye")[:1] == ["year"]


def test_the_python_of_facets_counts_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = [
        {
            "id": f"d{k}",
            "text": "crane river" if k else "river",
            "kind": "bird" if k < 3 else "ship",
            "year": 2010 + k % 2,
        }
        for k in range(4)
    ]
    engine.build(documents, tmp_path / "index", columns="kind,year:int")
    settings = ShellSettings(bars=False, language="query")
    session = Session(lambda: engine.open(tmp_path / "index"), tmp_path / "index", built_in(), settings)
    session.run("+crane river -year:1999")
    session.run(":facets kind")
    assert python_of(session) == "[ValueCount(value='bird', docs=2), ValueCount(value='ship', docs=1)]\n"
    session.run(":facets -n 1 kind year")
    assert python_of(session) == (
        "{'kind': [ValueCount(value='bird', docs=2)], 'year': [ValueCount(value=2011, docs=2)]}\n"
    )
    session.run(":set language=plain")
    session.run("river")
    session.run(':rank BM25 >> where("year = 2010")')
    session.run(":facets kind")
    assert python_of(session) == "[ValueCount(value='bird', docs=2)]\n"
    session.run(":similar d1")
    session.run(":facets kind")
    with pytest.raises(InputError, match="try :to-cli"):
        session.run(":to-python")


@pytest.mark.parametrize("typed, columns", [
    ('where("', ["kind", "year"]), ("where(condition='k", ["kind"]), ('where("year > 2 and ', ["kind", "year"]),
    ('where("not (y', ["year"]), ('where("year > 2 or kind in (', []), ('where("year > 2 ', []), ('where("year > ', []),
    ("sort(", ["kind", "year"]), ('sort("ki', ["kind"]), ("sort(column=", ["kind", "year"]), ("sort(year, ", []),
    ('where("year > 2") >> sort(y', ["year"]), ("", []), ("BM25(", []),
])  # fmt: skip
def test_the_shell_completes_columns_within_where_and_sort(session_with_columns, typed, columns):
    found = offered(session_with_columns, f":rank BM25 >> {typed}")
    assert [text for text in found if text in ("kind", "year")] == columns
    if typed.startswith("where") and ")" not in typed:
        assert found == columns


@pytest.fixture(scope="module")
def session_with_columns(tmp_path_factory):
    path = tmp_path_factory.mktemp("columns") / "index"
    engine.build([{"id": "a", "text": "crane", "kind": "bird", "year": 2015}], path, columns="kind,year:int")
    return Session(lambda: engine.open(path), path, built_in(), ShellSettings())
