"""Lint: a test for each rule and the line it names; the bounds of AP against every order of ties; hostile files."""

from __future__ import annotations

import gzip
import json
import math
import subprocess
import sys
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from command import invoke
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import trec_eval_order
from strategies import examples

import sublex
from sublex.cli import cli
from sublex.errors import InputError
from sublex.lint import ap_bounds, check_qrels, check_run, check_together, index_docnos, lint
from sublex.lint.check_ids import fold
from sublex.tools.strings import Strings
from sublex.trec.columns import offsets
from sublex.trec.qrels import Qrels
from sublex.trec.runs import Run, ranked

DEMO = Path(__file__).parents[1] / "queries" / "demo"
RUN = "1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n2 Q0 a 1 1 t\n"
QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n"
TOPICS = "1\tfirst words\n2\tsecond words\n"
DOCS = '{"id": "a", "title": "A", "text": "one"}\n{"id": "b", "title": "B", "text": "two"}\n'


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Return a function that writes files named by keyword, lints them, and returns the findings of one rule or of all."""
    monkeypatch.chdir(tmp_path)

    def checked(rule: str = "", known=None, **files: str | bytes):
        for name, content in files.items():
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        found = lint(list(files), known).findings
        for one in found:
            assert one.text.endswith(".") and "\n" not in one.text and one.severity in ("error", "note")
        return [one for one in found if rule in ("", one.rule)]

    return checked


def only(found):
    """Return the only finding."""
    assert len(found) == 1, found
    return found[0]


def calls_of(function) -> int:
    """Return the number of calls, of Python and of C functions, that a function makes."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


def lines(one) -> list[int]:
    return [one.line, *one.more]


# The kind of a file.


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("f", RUN, "run"),
        ("f", "1 Q0 a 1 3\n", "run"),
        ("f", "1 a 1 3 t\n", "run"),
        ("f", "1 Q0 a b 1 3 t\n1 Q0 c d 2 2 t\n", "run"),
        ("f", "nonsense\n1 Q0 a 1 nan t\n1 Q0 a 1 inf t\n", "run"),
        ("f", QRELS, "qrels"),
        ("f", QRELS.replace(" ", "\t"), "qrels"),
        ("f", "query-id\tcorpus-id\tscore\n1\ta\t1\n", "qrels"),
        ("f", "1 a 1\n1 b 0\n", "qrels"),
        ("f", '{"1": {"a": 1}}', "qrels"),
        ("f", '{\n "1": {\n  "a": 1}}', "qrels"),
        ("f", TOPICS, "topics"),
        ("f", "1\tthe year 2000\n2\tof the 7\n", "topics"),
        ("f", "1:words\n", "topics"),
        ("f", "qid,query\n1,words\n", "topics"),
        ("f", "<top>\n<num>1\n<title>x\n</top>\n", "topics"),
        ("f", '<topics><topic number="1"><query>x</query></topic></topics>', "topics"),
        ("f", '{"qid": 1, "query": "x"}\n', "topics"),
        ("queries.jsonl", '{"_id": "1", "text": "x"}\n', "topics"),
        ("passages.jsonl", '{"_id": "1", "text": "x"}\n', "collection"),
        ("f", json.dumps({"_id": "1", "text": "x " * 200}), "collection"),
        ("f", '{"_id": "1", "text": "x"}\n', "topics"),
        ("f", DOCS, "collection"),
        ("f", "docno\ttext\na\tx\n", "collection"),
        ("f", f"a\t{'x ' * 200}\nb\t{'y ' * 200}\n", "collection"),
        ("f", "<DOC>\n<DOCNO>a</DOCNO>\nx\n</DOC>\n", "collection"),
        ("f", ".I 1\n.W\nx\n", "collection"),
        ("f.txt", "a text of words\n", "unknown"),
        ("f", "<html>", "unknown"),
    ],
)
def test_the_kind_of_a_file_is_detected_from_its_content(name, content, kind, tmp_path):
    path = tmp_path / name
    for ending, data in (("", content.encode()), (".gz", gzip.compress(content.encode()))):
        path = tmp_path / f"{name}{ending}"
        path.write_bytes(data)
        files = lint([path]).files
        assert (only(files).kind or "unknown") == kind


def test_the_kind_of_an_ambiguous_file_can_be_given(tmp_path):
    path = tmp_path / "f"
    path.write_text('{"_id": "1", "text": "x"}\n')
    for kind in ("topics", "collection"):
        assert lint([path], None, {str(path): kind}).files[0].kind == kind
    path.write_text("just words\n")
    for kind in ("qrels", "run"):
        assert {one.rule for one in lint([path], None, {str(path): kind}).findings} == {"columns"}
    with pytest.raises(InputError, match="No kind of file words; there are collection, topics, qrels, run"):
        lint([path], None, {str(path): "words"})


def test_clean_files_give_nothing(check):
    assert not check(docs=DOCS, topics=TOPICS, qrels=QRELS, run=RUN)
    assert not check(run=RUN.replace(" ", "\t").replace("\n", "\r\n"))


def test_the_demo_collection_is_sound():
    linted = lint([DEMO / "documents.jsonl", DEMO / "topics.trec", DEMO / "qrels.txt"])
    assert [one.kind for one in linted.files] == ["collection", "topics", "qrels"]
    assert [one.what for one in linted.files] == [
        "252 documents (jsonl)", "30 topics (trec)", "368 judgements of 30 topics (trec)",
    ]  # fmt: skip
    assert linted.findings == ()


# Lines.


def test_lines_with_another_number_of_columns_are_reported_and_the_rest_is_read(check):
    found = check("columns", run=f"{RUN}1 Q0 c 3\n1 Q0 d e 3 1 t\n\n1 Q0 f 4 0.5 t\n")
    assert [(one.line, one.text[:9]) for one in found] == [(4, "4 columns"), (5, "7 columns")]
    assert lint(["run"]).files[0].what == "4 hits of 2 topics (six columns)"
    one = only(check("columns", qrels=f"{QRELS}1 0 c\n1 c\n1\n1 1\n1 1\n1\n1\n"))
    assert (one.times, lines(one)) == (7, [4, 5, 6, 7, 8])
    assert "trec_eval stops at such a line" in one.text


def test_header_lines_are_reported(check):
    one = only(check(run="qid Q0 docno rank score tag\n" + RUN))
    assert (one.rule, one.line) == ("header", 1) and "(qid Q0 docno rank score tag)" in one.text
    one = only(check(qrels="# a comment\n" + "topic iter docno rel\n" + QRELS))
    assert (one.rule, one.line) == ("header", 2)
    one = only(check(qrels="1 a 1\n1 b 0\n"))
    assert (one.rule, one.line) == ("header", 1) and "not the header query-id corpus-id score" in one.text
    assert not check(qrels="query-id\tcorpus-id\tscore\n1\ta\t1\n")


def test_bytes_that_are_not_utf8_are_reported(check):
    one = only(check("encoding", run=RUN.encode() + b"1 Q0 \xe9 3 1 t\n1 Q0 \xc3\xa9 4 .5 t\n2 Q0 \xe8 2 .5 t\n"))
    assert lines(one) == [4, 6] and one.severity == "error"
    one = only(check("encoding", topics=TOPICS.encode() + b"3\tZ\xfcrich\n"))
    assert one.severity == "note" and "Latin-1" in one.text
    one = only(check("encoding", docs=DOCS.encode() + b'{"id": "c", "title": "Z\xfcrich", "text": "x"}\n'))
    assert (one.line, one.severity) == (3, "note")


def test_byte_order_marks_and_utf16_are_reported(check):
    one = only(check("encoding", run=b"\xef\xbb\xbf" + RUN.encode()))
    assert one.line == 1 and "first topic id" in one.text
    assert only(check("encoding", qrels=b"\xef\xbb\xbf" + QRELS.encode())).line == 1
    one = only(check(qrels=QRELS.encode("utf-16")))
    assert (one.rule, one.line) == ("encoding", 1) and "UTF-16" in one.text


def test_nul_bytes_are_reported(check):
    one = only(check("nul", run=f"{RUN}1 Q0 c\0 3 1 t\n2 Q0 \0\0 2 .5 t\n"))
    assert lines(one) == [4, 5]
    assert only(check("nul", docs=DOCS + '{"id": "c", "title": "C", "text": "a\\u0000b"}\n')).line == 3


def test_empty_files_are_reported(check):
    assert only(check(run="")).rule == "empty"
    assert only(check(run="\n\n")).rule == "form"


# Runs.


def test_hits_that_come_twice_are_reported_with_or_without_another_score(check):
    found = check("duplicate", run=f"{RUN}1 Q0 b 3 2.0 t\n1 Q0 a 4 1 t\n2 Q0 a 2 1 t\n")
    assert [(one.line, lines(one)[1:], one.severity) for one in found] == [(4, [6], "error"), (5, [], "error")]
    assert "has b already on line 2, with the same score" in found[0].text
    assert "has a already on line 1, with another score" in found[1].text


def test_scores_that_are_no_numbers_or_not_finite_are_reported(check):
    found = check(
        "score", run=f"{RUN}1 Q0 c 3 high t\n1 Q0 d 4 nan t\n1 Q0 e 5 -Infinity t\n1 Q0 f 5 1e39 t\n1 Q0 g 6 1,5 t\n"
    )
    assert [(one.line, list(one.more)) for one in found] == [(4, [8]), (5, [6, 7])]
    assert "high is not a number" in found[0].text and "nan is not a finite number" in found[1].text


def test_scores_that_are_equal_as_float32_are_reported(check):
    # b comes before a among ties, and scores less.
    one = only(check("float32", run="1 Q0 a 1 0.50000001 t\n1 Q0 b 2 0.5 t\n2 Q0 b 1 0.50000001 t\n2 Q0 a 2 0.5 t\n"))
    assert (one.times, lines(one), one.severity) == (
        2,
        [1, 3],
        "error",
    ) and "against the scores in 1 of 2 cases" in one.text
    one = only(check("float32", run="1 Q0 b 1 0.50000001 t\n1 Q0 a 2 0.5 t\n"))
    assert one.severity == "note" and "0.50000001 and 0.5" in one.text
    assert not check("float32", run="1 Q0 b 1 1.0 t\n1 Q0 a 2 1 t\n")


def test_trec_eval_compares_scores_as_float32():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged = pytrec_eval.RelevanceEvaluator({"1": {"a": 1}}, {"recip_rank"})
    assert judged.evaluate({"1": {"a": 0.50000001, "b": 0.5}})["1"]["recip_rank"] == 0.5
    assert judged.evaluate({"1": {"a": 0.5000001, "b": 0.5}})["1"]["recip_rank"] == 1


def test_ranks_that_go_against_the_scores_are_reported(check):
    one = only(check(run="1 Q0 a 1 2 t\n1 Q0 b 2 3 t\n1 Q0 c 3 1 t\n2 Q0 a 1 1 t\n3 Q0 a 9 1 t\n3 Q0 b 10 2 t\n"))
    assert (one.rule, one.severity, one.times, lines(one)) == ("rank", "error", 2, [2, 6])
    assert "b has the score 3 at rank 2, and a has 2 at rank 1" in one.text and "distances" not in one.text
    one = only(check(run="1 Q0 a 1 .1 t\n1 Q0 b 2 .2 t\n1 Q0 c 3 .3 t\n"))
    assert "if the scores are distances, negate them" in one.text


def test_ranks_that_are_equal_or_no_numbers_are_ignored(check):
    assert not check("rank", run="1 Q0 a 1 1 t\n1 Q0 b 1 2 t\n1 Q0 c x 3 t\n")
    assert not check("rank", run="1 Q0 b 2 2 t\n1 Q0 a 1 2 t\n")


def test_several_tags_are_reported(check):
    one = only(check(run="1 Q0 a 1 3 t\n1 Q0 b 2 2 u\n2 Q0 a 1 1 t\n2 Q0 b 2 .5 v\n"))
    assert (one.rule, one.severity, lines(one)) == ("tag", "note", [2, 4]) and "3 tags (t, u, v)" in one.text


def test_ties_are_reported_with_their_number(check):
    one = only(
        check(
            run="1 Q0 a 1 3 t\n1 Q0 b 2 3 t\n1 Q0 c 3 3.0 t\n1 Q0 d 4 1 t\n2 Q0 a 1 1 t\n3 Q0 x 1 1 t\n3 Q0 y 2 1 t\n"
        )
    )
    assert (one.rule, one.severity, one.times, lines(one)) == ("tie", "note", 2, [1, 6])
    assert one.text.startswith("5 hits of 2 topics share their score with others, up to 3 at once")


def test_topics_with_few_or_many_hits_are_reported(check):
    full = "".join(f"{q} Q0 d{k} {k} {50 - k} t\n" for q in range(5) for k in range(40))
    found = check(run=full + "8 Q0 a 1 1 t\n" + "".join(f"9 Q0 d{k} {k} {50 - k} t\n" for k in range(41)))
    assert [(one.rule, one.line) for one in found] == [("depth", 201), ("depth", 202)]
    assert "Topic 8 has only 1 hit, and most topics have 40" in found[0].text
    assert "Topic 9 has 41 hits, and most topics have 40" in found[1].text


def test_ids_that_look_like_a_missing_value_are_reported(check):
    found = check(run=f"{RUN}1 Q0 NA 3 1 t\n1 Q0 null 4 .5 t\nnan Q0 a 1 1 t\n")
    assert [(one.rule, lines(one)) for one in found] == [("na", [4, 5]), ("na", [6])]
    assert "docno NA" in found[0].text and "topic id nan" in found[1].text
    assert only(check(qrels=f"{QRELS}2 0 None 1\n")).line == 4
    assert only(check(docs=DOCS + '{"id": "N/A", "title": "C", "text": "x"}\n')).line == 3
    assert only(check(topics=TOPICS + "NaN\twords\n")).line == 3


def test_ids_that_differ_only_in_case_or_zeros_are_reported(check):
    found = check(run="1 Q0 d7 1 3 t\n1 Q0 D7 2 2 t\n01 Q0 d7 1 1 t\n1 Q0 d07 3 1 t\n")
    assert [(one.rule, one.line) for one in found] == [("case", 2), ("zeros", 3), ("zeros", 4)]
    assert "The topic ids 1 and 01 differ only in leading zeros" in found[1].text
    assert [(one.rule, one.line) for one in check(docs=DOCS + '{"id": "A", "title": "C", "text": "x"}\n')] == [
        ("case", 3)
    ]
    assert [(one.rule, one.line) for one in check(qrels=f"{QRELS}002 0 a 1\n")] == [("zeros", 4)]
    assert [(one.rule, one.line) for one in check(topics=f"{TOPICS}002\twords\n")] == [("zeros", 3)]


@given(st.lists(st.text(st.sampled_from("aAé0019-"), max_size=8), max_size=8), st.booleans(), st.booleans())
def test_folding_is_lower_case_and_numbers_without_zeros(texts, case, zeros):
    import re

    found = fold(Strings.of(texts), case, zeros)
    ascii_lower = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    folded = [text.translate(ascii_lower) if case else text for text in texts]
    assert list(found) == [re.sub(r"(?<![0-9])0+(?=[0-9])", "", text) if zeros else text for text in folded]


# Qrels.


def test_judgements_that_come_twice_are_reported_with_the_same_or_another_grade(check):
    found = check(qrels=f"{QRELS}1 0 a 1\n1 0 b 2\n2 0 a 1\n")
    assert [(one.rule, one.line, one.severity) for one in found] == [
        ("duplicate", 4, "note"),
        ("duplicate", 5, "error"),
    ]
    assert found[0].more == (6,)
    assert "Topic 1 judges b as 2 here and as 0 on line 2" in found[1].text


def test_grades_that_are_no_whole_numbers_are_reported(check):
    one = only(check("grade", qrels=f"{QRELS}1 0 c 0.7\n1 0 d high\n1 0 e 1e3\n2 0 f 99999999999\n"))
    assert (one.times, lines(one)) == (
        4,
        [4, 5, 6, 7],
    ) and "0.7 is not a whole number of 32 bits: trec_eval reads 0" in one.text
    assert "trec_eval reads 2" in only(check("grade", qrels=f"{QRELS}1 0 c 2.9\n")).text


def test_negative_grades_are_reported(check):
    one = only(check(qrels=f"{QRELS}1 0 c -1\n1 0 d -2\n"))
    assert (one.rule, one.severity, lines(one)) == ("negative", "note", [4, 5]) and "unjudged" in one.text
    found = check("negative", qrels=f"{QRELS}3 0 c -2\n")
    assert [(one.severity, one.line) for one in found] == [("error", 4), ("note", 4)] and "crash" in found[0].text


def test_trec_eval_reads_negative_grades_as_unjudged_and_crashes_where_there_is_no_other():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged = pytrec_eval.RelevanceEvaluator({"1": {"a": -1, "b": 1}}, {"map", "bpref", "num_nonrel_judged_ret"})
    found = judged.evaluate({"1": {"a": 2.0, "b": 1.0}})["1"]
    assert (found["map"], found["bpref"], found["num_nonrel_judged_ret"]) == (0.5, 1, 0)
    code = (
        "import pytrec_eval as p; qrels = {'1': {'a': 1}, '2': {'a': %d}}\n"
        "p.RelevanceEvaluator(qrels, {'map'}).evaluate({'1': {'a': 1.0}, '2': {'a': 1.0}})"
    )
    done = [subprocess.run([sys.executable, "-c", code % grade], capture_output=True).returncode for grade in (-1, -2)]
    assert done[0] == 0 and done[1] < 0


def test_topics_without_a_relevant_document_are_reported(check):
    one = only(
        check(qrels=f"{QRELS}3 0 a 0\n4 0 a 1\n5 0 a -1\n5 0 b 0\n").pop(0)
        and check("irrelevant", qrels=f"{QRELS}3 0 a 0\n5 0 b 0\n")
    )
    assert (one.severity, lines(one)) == ("note", [4, 5]) and "counts it in the mean" in one.text


def test_trec_eval_counts_topics_without_relevant_documents():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged = pytrec_eval.RelevanceEvaluator({"1": {"a": 0}}, {"map", "ndcg", "num_q"})
    assert judged.evaluate({"1": {"a": 1.0}})["1"] == {"map": 0, "ndcg": 0, "num_q": 1}


def test_json_judgements_are_checked_too(check):
    found = check(qrels='{"1": {"a": 1, "a": 0, "b": 0.5, "c": true}, "2": [], "3": {"a": "1"}}')
    assert {one.rule for one in found} == {"duplicate", "grade", "json"} and not any(one.line for one in found)
    one = only(check(qrels='{"1": {\n"a": 1,\n}}'))
    assert (one.rule, one.line) == ("json", 3)
    assert only(check(qrels='{"1": {"a": ' + "[" * 100_000)).rule == "json"


# Topics.


def test_topic_ids_that_come_twice_are_reported(check):
    one = only(check(topics=f"{TOPICS}1\tagain\n3\tx\n1\tagain\n"))
    assert (one.rule, one.severity, lines(one)) == ("duplicate", "error", [3, 5]) and "already on line 1" in one.text


def test_records_that_are_no_topics_are_reported_and_the_rest_is_read(check):
    one = only(check(topics=f"{TOPICS}3\tx\ty\n4\tz\n"))
    assert (one.rule, one.line) == ("record", 3) and "3 columns where 2 (qid, query) should be" in one.text
    assert lint(["topics"]).files[0].what == "3 topics (tsv)"
    one = only(check(topics='{"qid": 1, "query": "x"}\n{"qid": 2,}\n[]\n{"query": "y"}\n{"qid": 3, "query": "z"}\n'))
    assert (one.rule, lines(one)) == ("record", [2, 3, 4])
    assert only(check(topics="<top>\n<num>1\n<title>x\n</top>\n<top>\n<title>y\n</top>\n")).line == 5
    assert only(check(topics='qid,query\n1,"x"y"\n2,z\n')).line == 2
    assert only(check(topics="1:x\nwords\n2:y\n")).line == 2


def test_topics_without_query_or_with_fields_missing_are_reported(check):
    found = check(topics="1\t\n2\tx\n3\t \n")
    assert [(one.rule, one.severity, lines(one)) for one in found] == [("empty", "error", [1, 3])]
    top = "<top>\n<num>{}\n<title>x\n<desc>y\n</top>\n"
    one = only(check(topics=top.format(1) + top.format(2) + top.format(3).replace("<desc>y\n", "")))
    assert (one.rule, one.severity, one.line) == ("field", "note", 11) and "has no desc" in one.text
    one = only(check(topics="<top>\n<num>1\n<desc>y\n</top>\n"))
    assert (one.rule, one.severity, one.line) == ("field", "error", 1)


def test_ids_with_white_space_are_reported(check):
    one = only(check(topics=f"{TOPICS}3 a\tx\n"))
    assert (one.rule, one.severity, one.line) == ("space", "error", 3)
    one = only(check(docs=DOCS + '{"id": "a b", "title": "C", "text": "x"}\n{"id": " c", "title": "C", "text": "x"}\n'))
    assert (one.rule, one.severity, lines(one)) == ("space", "error", [3, 4])
    # Python splits at white space beyond ASCII too, C does not.
    assert only(check(qrels=f"{QRELS}1 0 x\u00a0y 1\n")).line == 4
    assert only(check(qrels='{"1": {"": 1}}')).rule == "space"


# Collections.

TREC_DOC = "<DOC>\n<DOCNO> {} </DOCNO>\n{}\n</DOC>\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (DOCS + DOCS[: DOCS.index("\n") + 1], 3),
        ("docno\ttext\na\tx\nb\ty\na\tz\n", 4),
        ('docno,text\na,"x\ny"\na,z\n', 4),
        (TREC_DOC.format("a", "x") + TREC_DOC.format("a", "y"), 5),
        (".I 1\n.W\nx\n.I 1\n.W\ny\n", 4),
        ('<REUTERS NEWID="1"><TEXT><BODY>x</BODY></TEXT></REUTERS>\n' * 2, 2),
    ],
)
def test_docnos_that_come_twice_are_reported(content, line, check):
    one = only(check(docs=content))
    assert (one.rule, one.severity, one.line, one.times) == ("duplicate", "error", line, 1)


def test_docnos_are_compared_over_all_files_of_a_collection(check):
    one = only(check(one=DOCS, two=DOCS.splitlines(True)[1]))
    assert (one.file, one.rule, one.line) == (
        "two",
        "duplicate",
        1,
    ) and "b is already on line 2 of one" in one.text


def test_duplicates_are_found_in_long_collections(check):
    text = "".join(f'{{"id": "d{k % 20_000}", "title": "t", "text": "x"}}\n' for k in range(20_003))
    one = only(check(docs=text))
    assert (one.times, lines(one)) == (3, [20_001, 20_002, 20_003])


def test_malformed_records_and_documents_without_text_are_reported(check):
    found = check(docs=DOCS + '{"id": "c"\n{"id": "d", "title": "", "text": " "}\n{"text": "x"}\n')
    assert [(one.rule, one.severity, lines(one)) for one in found] == [
        ("record", "error", [3, 5]),
        ("empty", "note", [4]),
    ]
    one = only(check(docs="<DOC>\n<DOCNO>a</DOCNO>x\n</DOC>\n<DOC>\nx\n</DOC>\n"))
    assert (one.rule, one.line) == ("record", 4) and "<DOC> without a <DOCNO>" in one.text
    one = only(check(docs="<DOC>\n<DOCNO>a</DOCNO>x\n<DOC>\n<DOCNO>b</DOCNO>y\n</DOC>\n"))
    assert (one.rule, one.line) == ("reader", 1) and "never closed" in one.text


# Together.


def test_ids_that_almost_match_are_reported(check):
    one = only(check("zeros", qrels="051 0 a 1\n052 0 a 1\n", run="51 Q0 a 1 2 t\n51 Q0 b 2 1 t\n52 Q0 a 1 2 t\n"))
    assert (one.file, one.severity, lines(one)) == (
        "run",
        "error",
        [1, 3],
    ) and "topic id 51 is 051 in qrels" in one.text
    one = only(check("case", qrels=QRELS, run="1 Q0 A 1 2 t\n1 Q0 b 2 1 t\n2 Q0 A 1 2 t\n"))
    assert (one.file, lines(one)) == ("run", [1]) and "docno A is a in qrels" in one.text
    one = only(check("case or zeros", qrels="Q01 0 a 1\n", run="q1 Q0 a 1 2 t\n"))
    assert "case and leading zeros" in one.text
    one = only(check("zeros", topics="01\tx\n02\ty\n", qrels=QRELS))
    assert (one.file, lines(one)) == ("qrels", [1, 3])


def test_ids_that_are_cut_off_are_reported(check):
    qrels = "1 0 doc-00000001-x 1\n1 0 doc-00000002-y 1\n1 0 short 1\n"
    one = only(check("cut", qrels=qrels, run="1 Q0 short 1 9 t\n1 Q0 doc-00000001 2 3 t\n1 Q0 doc-00000002 3 2 t\n"))
    assert (one.file, one.severity, lines(one)) == ("run", "error", [2, 3]) and "cut off at 12 bytes" in one.text
    assert not check(
        "cut", qrels="1 0 doc10000 1\n1 0 doc2 1\n", run="1 Q0 doc1000 1 2 t\n1 Q0 doc2000 2 1 t\n1 Q0 doc2 3 0 t\n"
    )


def test_runs_and_judgements_without_a_common_topic_or_document_are_reported(check):
    one = only(check("overlap", qrels=QRELS, run="7 Q0 a 1 2 t\n8 Q0 a 1 2 t\n"))
    assert one.text == (
        "No topic id of the run is in qrels: every measure will be 0. The run has 7, 8 and qrels has 1, 2; "
        "use the files that belong together."
    )
    one = only(check("overlap", qrels=QRELS, run="1 Q0 x 1 2 t\n2 Q0 y 1 2 t\n"))
    assert (
        (one.line, one.severity) == (1, "error")
        and "No docno" in one.text
        and "The run has x, y and qrels has a, b" in one.text
    )
    one = only(check("overlap", qrels="1 0 a 1\n2 0 b 1\n", run="1 Q0 b 1 2 t\n2 Q0 a 1 2 t\n"))
    assert "number the topics in the same way" in one.text
    assert not check("overlap", qrels=QRELS, run="1 Q0 b 1 2 t\n2 Q0 x 1 2 t\n")


def test_judged_topics_that_a_run_lacks_and_topics_without_judgement_are_reported(check):
    found = check(qrels=f"{QRELS}3 0 a 1\n4 0 b 1\n", run=f"{RUN}9 Q0 a 1 1 t\n")
    assert [(one.rule, one.severity, one.line) for one in found] == [("missing", "error", 0), ("unjudged", "note", 4)]
    assert "2 judged topics of qrels (3, 4) are not in the run" in found[0].text
    found = check(topics=f"{TOPICS}3\tx\n", qrels=f"{QRELS}4 0 b 1\n")
    assert [(one.file, one.rule, one.severity, one.line) for one in found] == [
        ("topics", "unjudged", "note", 3), ("qrels", "topic", "error", 4),
    ]  # fmt: skip
    found = check(topics=f"{TOPICS}3\tx\n", run=f"{RUN}9 Q0 a 1 1 t\n")
    assert [(one.file, one.rule, one.line) for one in found] == [("run", "topic", 0), ("run", "topic", 4)]


def test_docnos_unknown_to_the_collection_or_the_index_are_reported(check, tmp_path):
    found = check(docs=DOCS, qrels=f"{QRELS}2 0 x 1\n", run=f"{RUN}2 Q0 y 2 .5 t\n")
    assert [(one.file, one.rule, one.severity, one.line) for one in found] == [
        ("qrels", "unknown", "error", 4), ("run", "unknown", "error", 4),
    ]  # fmt: skip
    sublex.build([{"id": "a", "text": "x"}, {"id": "b", "text": "y"}, {"id": "y", "text": "z"}], tmp_path / "index")
    index = sublex.open(tmp_path / "index")
    index.add([{"id": "more", "text": "x"}])
    assert sorted(index_docnos(sublex.open(tmp_path / "index")).strings) == ["a", "b", "more", "y"]
    one = only(check(known=index_docnos(index), run=f"{RUN}2 Q0 y 2 .5 t\n2 Q0 x 2 .4 t\n"))
    assert (one.rule, one.line) == ("unknown", 5) and "x is not in" in one.text


# Ties and average precision.


def as_run(hits) -> Run:
    """Return a run with these scores, `{qid: {docno: score}}`."""
    rows = [(q, d, s) for q, topic in hits.items() for d, s in topic.items()]
    qids, docnos = list(hits), list(dict.fromkeys(d for _, d, _ in rows))
    topics = np.array([qids.index(q) for q, _, _ in rows], np.int32)
    docs = np.array([docnos.index(d) for _, d, _ in rows], np.int32)
    return ranked(qids, topics, docs, np.array([s for _, _, s in rows], np.float32), Strings.of(docnos), tag="t")


def as_qrels(grades) -> Qrels:
    """Return judgements with these grades, `{qid: {docno: grade}}`."""
    rows = [(q, d, g) for q, topic in grades.items() for d, g in topic.items()]
    qids, docnos = list(grades), list(dict.fromkeys(d for _, d, _ in rows))
    topics = np.array([qids.index(q) for q, _, _ in rows], np.int32)
    docs = np.array([docnos.index(d) for _, d, _ in rows], np.int32)
    return Qrels(
        qids, offsets(topics, len(qids)), docs, np.array([g for _, _, g in rows], np.int32), Strings.of(docnos), "q"
    )


def orders(hits):
    """Yield every order of the documents that the scores allow."""
    levels = sorted(set(hits.values()), reverse=True)
    for parts in product(*(permutations([d for d, s in hits.items() if s == level]) for level in levels)):
        yield [docno for part in parts for docno in part]


DOCNOS = st.sampled_from("abcdef")


@given(
    st.dictionaries(
        st.sampled_from("12"), st.dictionaries(DOCNOS, st.sampled_from([0.0, 1.0, 2.0]), min_size=1), min_size=1
    ),
    st.dictionaries(st.sampled_from("123"), st.dictionaries(DOCNOS, st.integers(-1, 2), min_size=1), min_size=1),
)
@example({"1": dict.fromkeys("abcdef", 1.0)}, {"1": {"a": 1, "f": 0}})
@settings(max_examples=examples(150))
def test_no_order_of_the_ties_gives_more_or_less_than_the_bounds(hits, grades):
    ir_measures = pytest.importorskip("ir_measures")
    bounds = ap_bounds(as_run(hits), as_qrels(grades))
    assert bounds.qids == tuple(grades)

    def ap(qid, run):
        measured = ir_measures.iter_calc([ir_measures.AP], {qid: grades[qid]}, {qid: run})
        return next((metric.value for metric in measured), 0.0)

    for place, qid in enumerate(grades):
        found = hits.get(qid, {})
        every = [ap(qid, {d: float(-k) for k, d in enumerate(order)}) for order in orders(found)]
        assert bounds.worst[place] == pytest.approx(min(every), abs=1e-12)
        assert bounds.best[place] == pytest.approx(max(every), abs=1e-12)
        # trec_eval's own figure, and no other: the same sums in the same order.
        assert bounds.actual[place] == ap(qid, found)
        assert [d for d, _ in trec_eval_order(found)] in list(orders(found))


def test_ties_with_judgements_are_reported_with_what_they_do_to_ap(check):
    one = only(check(qrels="1 0 a 1\n1 0 b 0\n", run="1 Q0 a 1 3 t\n1 Q0 b 2 3 t\n"))
    assert (one.rule, one.severity, one.line) == ("tie", "error", 1)
    assert "AP lies between 0.5000 and 1.0000 over the judged topics. It is 0.5000 as trec_eval" in one.text
    # The relevant document stands at rank 99 or 100: 1/99 and 1/100 differ by .0001; at rank 101 and 102 they do not.
    for above, severity, said in ((98, "error", "between 0.0100 and 0.0101"), (100, "note", "by less than 0.0001")):
        hits = "".join(f"1 Q0 x{k} {k} {200 - k} t\n" for k in range(above))
        one = only(check(qrels="1 0 a 1\n1 0 b 0\n", run=f"{hits}1 Q0 a {above + 1} 3 t\n1 Q0 b {above + 2} 3 t\n"))
        assert (one.rule, one.severity) == ("tie", severity) and said in one.text
    one = only(check(qrels="1 0 a 1\n1 0 b 1\n", run="1 Q0 a 1 3 t\n1 Q0 b 2 3 t\n"))
    assert one.severity == "note" and "AP is 1.0000 over the judged topics in any order" in one.text


# Objects that were read before.


def test_objects_are_checked_without_files():
    run, qrels = as_run({"1": {"a": 1, "b": 1}, "01": {"a": 2}}), as_qrels({"1": {"a": 0, "B": -1}})
    assert [(one.file, one.line, one.rule) for one in check_run(run)] == [("t", 0, "tie"), ("t", 0, "zeros")]
    assert [(one.file, one.line, one.rule) for one in check_qrels(qrels)] == [
        ("q", 0, "irrelevant"),
        ("q", 0, "negative"),
    ]
    rules = [one.rule for one in check_together([run], qrels, None, ["a", "b"])]
    assert rules == ["unjudged", "case", "tie", "case", "unknown"]
    topics = sublex.read_topics(DEMO / "topics.trec")
    assert not check_together([], sublex.read_qrels(DEMO / "qrels.txt"), topics)
    assert [one.rule for one in check_run(as_run({"1": {"a": math.inf, "b": math.nan}}))] == ["score"]


def test_empty_objects_are_sound():
    empty, none = as_run({}), as_qrels({})
    assert not check_run(empty) and not check_qrels(none) and not check_together([empty], none, None, [])
    assert ap_bounds(empty, none).means() == (0, 0, 0)


@pytest.mark.slow
def test_large_runs_are_checked_by_columns():
    topics, hits, judged = 2_000, 1_000, 20
    generator = np.random.default_rng(7)
    docnos = Strings.of([f"doc-{k}" for k in range(50_000)])
    scores = -np.sort(-generator.random((topics, hits)).astype(np.float32), axis=1)
    docs = np.concatenate([generator.choice(50_000, hits, replace=False) for _ in range(topics)]).astype(np.int32)
    qids = [str(k) for k in range(topics)]
    run = Run(qids, np.arange(topics + 1) * hits, docs, scores.ravel(), docnos, "t")
    rows = docs.reshape(topics, hits)[:, :judged].ravel()
    qrels = Qrels(qids, np.arange(topics + 1) * judged, rows, np.ones(len(rows), np.int32), docnos, "q")

    def findings():
        return [*check_run(run), *check_qrels(qrels), *check_together([run], qrels, None, docnos)]

    assert {one.rule for one in findings()} == {"tie"}
    # A check that loops over hits would make two million calls; these loop over topics.
    assert calls_of(findings) < 100 * topics


# Hostile files, and the command.


@given(st.binary(max_size=300) | st.text(st.sampled_from('12 Q0ab\t\n\0#{}<>":,.\r'), max_size=120).map(str.encode))
@example(b"1 0 a 1\n\n\n1 0\x1c a 1\n")
@example(b"1 0 a 1\n1 0 \xe2\x80\xa8 1\n")
@settings(max_examples=examples(300))
def test_any_bytes_as_any_kind_give_findings_and_no_exception(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("lint") / "f"
    path.write_bytes(data)
    for wanted in ("", "collection", "topics", "qrels", "run"):
        for one in lint([path], None, {str(path): wanted} if wanted else None).findings:
            assert one.text.endswith(".") and "\n" not in one.text


def test_a_giant_line_and_cut_archives_are_reported(check):
    assert only(check(run=b"x" * 30_000_000)).rule == "form"
    one = only(check("columns", run=RUN.encode() + b"1 " * 5_000_000))
    assert one.line == 4 and "5,000,000 columns" in one.text
    one = only(check(run=gzip.compress(RUN.encode() * 1000)[:-20]))
    assert one.rule == "unreadable" and "cut short" in one.text


def test_many_mistakes_cost_no_more_than_few(check):
    mistakes = "1 Q0 a\n1 Q0 a 1 nan t\n"
    found = check(run=RUN + mistakes * 100_000)
    assert {one.rule for one in found} == {"columns", "score"}
    assert [(one.times, len(one.more)) for one in found] == [(100_000, 4), (100_000, 4)]
    # A loop over mistakes would make 200,000 calls or more.
    assert calls_of(lambda: lint(["run"])) < 10_000


def command(*arguments):
    return CliRunner().invoke(cli, ["lint", *map(str, arguments)], standalone_mode=False)


def test_the_command_prints_the_kinds_of_files_and_exits_with_1_if_there_are_findings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text(RUN)
    Path("b.run").write_text(f"{RUN}1 Q0 a 3 1 t\n")
    done = CliRunner().invoke(cli, ["lint", "a.run"])
    assert done.exit_code == 0
    assert done.stdout == "a.run  run  3 hits of 2 topics (six columns)\n\nThe file is sound.\n"
    done = CliRunner().invoke(cli, ["lint", "a.run", "b.run"])
    assert done.exit_code == 1 and "b.run:4  error  duplicate\n    Topic 1 has a already on line 1, " in done.stdout
    assert done.stdout.endswith("\n1 error, 0 notes\n")
    done = CliRunner().invoke(cli, ["lint", "b.run", "--format", "json"])
    shown = json.loads(done.stdout)
    assert shown["files"] == [{"file": "b.run", "kind": "run", "what": "3 hits of 2 topics (six columns)"}]
    assert only(shown["findings"])["rule"] == "duplicate" and done.exit_code == 1
    done = invoke("lint", "no.run")
    assert (done.code, done.messages) == (2, "sublex: No file or folder no.run.\n")
    done = invoke("lint", "--as", "a.run")
    assert done.code == 2 and "--as a.run names no file" in done.messages


def test_the_command_reads_standard_input_and_an_index(tmp_path):
    sublex.build([{"id": "a", "text": "x"}], tmp_path / "index")
    done = invoke("lint", "-", "--index", tmp_path / "index", stdin=RUN.encode())
    assert done.code == 1 and "-:2  error  unknown\n    b is not in " in done.output
    done = invoke("lint", "-", stdin=DOCS.encode() * 2)
    assert "-:3  error  duplicate\n    a is already on line 1:" in done.output
