"""Tests of TREC's files: topics of every format, qrels, runs, metadata and fusion, with damaged and hostile files."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import math
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
import zstandard
from command import invoke
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from naive import fused as naive_fused
from naive import run_text, score_text, trec_eval_order
from strategies import CHARACTERS, docnos, examples, values

import sublex
from sublex.errors import InputError, SublexError
from sublex.tools.strings import Strings
from sublex.trec.fuse import fuse
from sublex.trec.given_tables import qrels_of
from sublex.trec.metadata import from_yaml, to_comments, to_yaml, yaml_in_comments
from sublex.trec.run_names import file_name_of, is_run_file, path_in, tag_of
from sublex.trec.run_reader import PIECE, read_run
from sublex.trec.run_writer import check_docnos, run_lines, shortest, write_run
from sublex.trec.runs import Run, ranked
from sublex.trec.topics import read_topics

COMPRESSORS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(content: str | bytes, name: str = "file") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def message(error) -> str:
    """Return the message of an error, which is one sentence, without the folder of the test."""
    text = re.sub(r"\S*/", "", str(error.value))
    assert text.endswith(".") and "\n" not in text
    return text


# Topics.

CLASSIC = """<top>
<head> Tipster Topic Description
<num> Number: 051
<dom> Domain: International Economics
<title> Topic: Airbus &amp; its
 Subsidies
<desc> Description:
Who pays,
for what?
<narr> Narrative:
Money < goods.
</top>
<TOP>
<num>052</num>
<title>South <i>African</i> Sanctions</title>
<desc>Which?</desc>
</TOP>
"""

XML = """<?xml version="1.0"?>
<topics task="x">
<topic number="007" type="faceted">
  <query>obama &lt;family&gt; tree</query>
  <description><![CDATA[Find information]]> on it.</description>
  <subtopic number="1" type="nav">one</subtopic>
  <subtopic number="2" type="inf">two</subtopic>
</topic>
<topic><number>8</number><query>french lick</query><narrative/></topic>
</topics>
"""

FORMS = {
    "trec": (CLASSIC, [("051", "Airbus & its Subsidies"), ("052", "South African Sanctions")]),
    "trecxml": (XML, [("007", "obama <family> tree"), ("8", "french lick")]),
    "tsv": ("007\tone: two\n8\tthree, four \n", [("007", "one: two"), ("8", "three, four")]),
    "colon": ("007:one: two\n\n8 : three\n", [("007", "one: two"), ("8", "three")]),
    "jsonl": (
        '{"_id": "007", "text": "one\\ttwo", "metadata": {}}\n\n{"_id": 8, "text": "three"}\n',
        [("007", "one\ttwo"), ("8", "three")],
    ),
    "csv": ('qid,Query,desc\r\n007,"one, two",d\r\n8,"th\nree",e\r\n', [("007", "one, two"), ("8", "th\nree")]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ending", COMPRESSORS)
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_topics_are_read_whatever_their_form_and_compression(form, ending, bom, file):
    content, expected = FORMS[form]
    found = sublex.read_topics(file(COMPRESSORS[ending](bom + content.encode()), f"topics{ending}"))
    assert found.format == form
    assert [(topic.qid, topic.text) for topic in found] == expected


def test_the_fields_of_a_classic_topic_lose_their_labels_and_markup(file):
    first, second = read_topics(file(CLASSIC))
    assert first.fields == {
        "head": "Tipster Topic Description",
        "dom": "International Economics",
        "title": "Airbus & its Subsidies",
        "desc": "Who pays, for what?",
        "narr": "Money < goods.",
    }
    assert second.fields == {"title": "South African Sanctions", "desc": "Which?"}


def test_repeated_elements_are_one_field(file):
    first, second = read_topics(file(XML))
    assert first.fields["subtopic"] == "one two" and first.fields["description"] == "Find information on it."
    assert second.fields == {"query": "french lick", "narrative": ""}


def test_asked_fields_are_joined_and_go_by_their_other_names_too(file):
    path = file(CLASSIC)
    assert read_topics(path, "title+desc")[0].text == "Airbus & its Subsidies Who pays, for what?"
    assert read_topics(path, "narrative+query").used == ("narr", "title")
    assert read_topics(path, "narrative+query")[0].text == "Money < goods. Airbus & its Subsidies"
    assert read_topics(file(XML, "xml"), "title").used == ("query",)


def test_a_topic_file_says_what_it_is(file):
    found = read_topics(file(CLASSIC), "title")
    shown = re.sub(r"\S*/", "", str(found))
    assert shown == "2 topics from file (trec), by title; the first is 051: Airbus & its Subsidies"
    assert found.available == ("head", "dom", "title", "desc", "narr") and not found.notes
    assert found[-1].qid == "052" and [topic.qid for topic in found[:1]] == ["051"]


def test_what_some_topics_lack_is_noted(file):
    notes = read_topics(file(CLASSIC), "narr").notes
    assert [re.sub(r"\S*/", "", note) for note in notes] == [
        "file: 1 topic (052) without narr",
        "file: 1 topic (052) with an empty query, which finds nothing",
    ]
    assert read_topics(file("1\t\n2\tx\n"))[0] == ("1", "", {"query": ""})


def test_headers_of_tables_are_told_from_topics(file):
    assert [t.qid for t in read_topics(file("query_id\ttext\tnarrative\n1\tx\ty\n"))] == ["1"]
    assert read_topics(file("query_id\ttext\tnarrative\n1\tx\ty\n"), "narr")[0].text == "y"
    assert [t.qid for t in read_topics(file("q1\ttopic\nq2\tid\n"))] == ["q1", "q2"]


def test_json_topics_go_by_many_names(file):
    for name in ("id", "qid", "query_id", "_id", "topic_id", "number"):
        for text in ("query", "title", "text", "question"):
            found = read_topics(file(json.dumps({name: "01", text: "words", "more": "m", "deep": {}, "n": 3})))
            assert found[0] == ("01", "words", {text: "words", "more": "m"})


def test_topics_that_are_not_utf8_are_read_as_latin1_with_a_note(file):
    found = read_topics(file("1\tZürich\n".encode("latin-1")))
    assert found[0].text == "Zürich" and "Latin-1" in found.notes[0]


def test_topics_come_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(CLASSIC.encode()))))
    assert [topic.qid for topic in read_topics("-")] == ["051", "052"]


@pytest.mark.parametrize(
    ("content", "fields", "sentence"),
    [
        ("", "title", "file is empty; expected are <top>"),
        ("just words\n", "title", "file is no topic file that Sublex knows; expected are <top>"),
        ("<html>", "title", "file is no topic file that Sublex knows"),
        (CLASSIC, "title+body", "No topic of file has a field body; the fields are: head, dom, title, desc, narr."),
        ("<top><num>1</top>", "title", "No topic of file has a field title; the fields are: none."),
        (CLASSIC, "title+", "No topic of file has a field without a name; the fields are"),
        (CLASSIC + CLASSIC, "title", "file:18: topic 051 is on line 1 already; keep one of the two."),
        ("\n<top>\n<title> x\n</top>", "title", "file:2: <top> has no id; give it <num>"),
        ("<topics>\n<topic><query>x</query></topic>", "title", 'give it <num> or number="…".'),
        ("<topics></topics><topic", "title", "file is no topic file"),
        ("1\tx\n2 y\n", "title", "file:2: 1 column where 2 (qid, query) should be."),
        ("1\tx\n2\ty\tz\n", "title", "file:2: 3 columns where 2 (qid, query) should be."),
        ("1\tx\n \ty\n", "title", "file:2: the id qid is not a string or a whole number, or is empty."),
        ("1:x\nsome words\n", "title", "file:2: no colon after the topic's id; write qid:query."),
        ('{"id": 1, "query": "x"}\n{"id": 1}', "title", "file:2: topic 1 is on line 1 already; keep one of the two."),
        ('{"id": 1, "query": "x"}\n{"id" 2}', "title", "file:2:7: not JSON (Expecting ':' delimiter); write"),
        ('{"id": 1, "query": "x"}\n[]', "title", "file:2: not a JSON object; write one object per line."),
        ('{"id": ' + "[" * 100_000, "title", "file:1"),
        ('{"id": ' + "1" * 10_000 + "}", "title", "file:1: not JSON that Sublex can read"),
        ('{"id": 1.5, "query": "x"}', "title", "file:1: the id id is not a string or a whole number, or is empty."),
        ('{"id": true, "query": "x"}', "title", "file:1: the id id is not a string"),
        ('{"query": "x"}', "title", "file:1: no id; name it qid, query_id"),
        ("qid,query\n1,x\n2\n", "title", "file:3: 1 column where 2 (qid, query) should be."),
        ('qid,query\n1,"x"y\n', "title", "file:2: not CSV ("),
        ("qid,query\n", "title", "file holds no topics."),
        (gzip.compress(CLASSIC.encode())[:-9], "title", "file is cut short"),
    ],
)
def test_bad_topics_get_a_sentence_with_the_place(content, fields, sentence, file):
    with pytest.raises(InputError) as error:
        read_topics(file(content), fields)
    assert sentence in message(error)


@pytest.mark.parametrize(
    "content",
    [
        '<topic number="1" ' + "a" * 300_000 + "><query>x</query></topic>",
        "<top><num>1</num><title>x" + "<a>" * 50_000,
        "<top><num>1</num><title>x" + "</a><b>" * 30_000,
        "<top><num>1</num><title>x" + "<!--" * 50_000 + "&a" * 50_000,
        "1" * 300_000 + ":x",
    ],
)
def test_hostile_topics_are_read_or_refused(content, file):
    """A reader whose time grew with the square of the size would take hours."""
    path = file(content)
    with contextlib.suppress(InputError):
        assert len(read_topics(path)) <= 1


def test_an_absent_file_or_a_folder_gets_a_sentence(tmp_path):
    for read in (sublex.read_topics, sublex.read_qrels, sublex.read_run):
        with pytest.raises(InputError, match=r"Cannot read .*absent: No such file or directory\."):
            read(tmp_path / "absent")
        with pytest.raises(InputError, match=r"Cannot read .*: Is a directory\."):
            read(tmp_path)


@given(
    st.binary(max_size=200), st.sampled_from([b"", b"<top>", b"<topic number=", b"{", b"1\t", b"1:", b"qid,query\n"])
)
def test_any_bytes_are_topics_or_a_sentence(tmp_path_factory, data, head):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(head + data)
    for read in (sublex.read_topics, sublex.read_qrels, sublex.read_run):
        try:
            assert len(read(path)) > 0 or read is sublex.read_run
        except InputError as error:
            assert str(error).endswith(".")


@given(
    st.dictionaries(
        st.text(CHARACTERS, min_size=1).filter(lambda qid: qid.strip() and "\0" not in qid),
        st.text(CHARACTERS),
        min_size=1,
    )
)
def test_json_topics_keep_their_ids_and_texts(tmp_path_factory, queries):
    path = tmp_path_factory.getbasetemp() / "topics.jsonl"
    path.write_text("".join(json.dumps({"qid": qid, "query": text}) + "\n" for qid, text in queries.items()))
    assume(len({qid.strip() for qid in queries}) == len(queries))
    found = read_topics(path)
    assert {topic.qid: topic.text for topic in found} == {qid.strip(): text.strip() for qid, text in queries.items()}


# Qrels.


def test_qrels_are_read_whatever_their_form(file):
    expected = {"01": {"b": 2, "a": 0}, "2": {"a": -1}}
    assert dict(sublex.read_qrels(file("# judged\n01 0 b 2\n01\t0\ta\t0\n\n2 Q0 a -1\n"))) == expected
    assert dict(sublex.read_qrels(file("query-id\tcorpus-id\tscore\n01\tb\t2\n2\ta\t-1\n01\ta\t0\n"))) == expected
    found = sublex.read_qrels(file(json.dumps(expected, indent=1)))
    assert dict(found) == expected and found.format == "json"
    assert re.sub(r"\S*/", "", str(found)) == "3 judgements of 2 topics from file (json)"
    assert "01" in found and "1" not in found
    with pytest.raises(KeyError):
        found["1"]


def test_judgements_given_twice_count_once_with_a_note(file):
    found = sublex.read_qrels(file("1 0 a 1\n1 0 b 2\n1 0 a 1\n1 0 a 1\n"))
    assert found["1"] == {"a": 1, "b": 2} and len(found.grades) == 2
    assert "2 judgements repeat another with the same grade" in found.notes[0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "file holds no judgements; expected are TREC's qid 0 docno grade"),
        ("# nothing\n\n", "file holds no judgements"),
        ("1 0 a 1\n1 0 b\n", "file:2: 3 columns where 4 should be; expected are"),
        ("1 0 a 1 1\n", "file:1: 5 columns where 4 should be"),
        ("1 0 a 1.0\n", "file:1: the grade '1.0' is not a whole number."),
        ("1 0 a ١\n", "is not a whole number."),
        ("1 0 a 99999999999\n", "is not a whole number."),
        (
            "1 0 a 1\n# c\n1 0 a 2\n",
            "file:3: topic 1 judges a as 2, and before (line 1) as 1; keep one of the two, or choose by "
            "--contradictions first, last or highest (in Python contradictions='first').",
        ),
        ("query-id corpus-id score\n1 a 1\n1 0 a 1\n", "file:3: 4 columns where 3 should be"),
        ('{"1": {"a": 1,}}', "file:1:"),
        ('\n\n{"1":\n {"a" 1}}', "file:4:"),
        ('{"1": {"a": true}}', "file: topic 1: the grade of a is not a whole number."),
        ('{"1": {"a": 1.0}}', "file: topic 1: the grade of a is not a whole number."),
        ('{"1": 1}', 'file: topic 1 has no object of grades; write {"1": {"docno": 1}}.'),
        (
            '{"1": {"a": 1, "a": 2}}',
            "file: topic 1 judges a as 2, and before as 1; keep one of the two, or choose by --contra",
        ),
        ('{"1": ' + "{" * 100_000, "file"),
    ],
)
def test_bad_qrels_get_a_sentence_with_the_place(content, sentence, file):
    with pytest.raises(InputError) as error:
        sublex.read_qrels(file(content))
    assert sentence in message(error)


@given(
    st.lists(st.tuples(st.sampled_from("12"), st.sampled_from("abc"), st.integers(-1, 3)), min_size=1),
    st.sampled_from(["first", "last", "highest"]),
)
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_contradictory_judgements_are_settled_by_the_rule_that_the_user_chooses(file, judged, rule):
    expected: dict = {}
    for qid, docno, grade in judged:
        grades = expected.setdefault(qid, {})
        if docno not in grades or rule == "last" or (rule == "highest" and grade > grades[docno]):
            grades[docno] = grade
    path = file("".join(f"{qid} 0 {docno} {grade}\n" for qid, docno, grade in judged))
    found = sublex.read_qrels(path, rule)
    assert dict(found) == expected and [list(found[qid]) for qid in found] == [list(expected[qid]) for qid in expected]
    grades_of = {pair: {row[2] for row in judged if row[:2] == pair} for pair in {row[:2] for row in judged}}
    contradicted = sum(len(grades) > 1 for grades in grades_of.values())
    notes = [note for note in found.notes if f"the {rule} grade counts" in note]
    assert len(notes) == (contradicted > 0) and all(f"for {contradicted} pair" in note for note in notes)
    records = [{"qid": qid, "docno": docno, "label": grade} for qid, docno, grade in judged]
    assert dict(qrels_of(records, rule)) == expected


@pytest.mark.parametrize(("rule", "expected"), [("first", [0, 0]), ("last", [1, 0]), ("highest", [1, 1])])
def test_every_command_and_function_that_reads_judgements_takes_a_rule_for_contradictions(demo, rule, expected):
    Path("twice.txt").write_text("1 0 birds-05 0\n1 0 birds-05 2\n1 0 birds-05 1\n2 0 birds-05 2\n")
    Path("topics.tsv").write_text("1\tcrane\n2\tcrane\n")
    Path("one.run").write_text("1 Q0 birds-05 1 1 one\n2 Q0 birds-05 1 1 one\n")
    measures = ["P(rel=1)@1", "P(rel=2)@1"]
    # Topic 2 has 1 by both measures.
    means = [(value + 1) / 2 for value in expected]
    option = ("--contradictions", rule, "--format", "json", "-m")
    done = demo("eval", "twice.txt", "one.run", *option, " ".join(measures))
    assert list(json.loads(done.output)[0]["measures"].values()) == means
    assert f"the {rule} grade counts" in done.messages
    done = demo("compare", "twice.txt", "one.run", *option, " ".join(measures))
    assert list(json.loads(done.output)["systems"][0]["measures"].values()) == means
    assert list(sublex.measure("twice.txt", "one.run", measures, contradictions=rule).mean.values()) == means
    compared = sublex.compare(None, None, "twice.txt", "one.run", measures, contradictions=rule)
    assert [compared.mean(measure)[0] for measure in compared.measures] == means
    for measure, mean in zip(measures, means, strict=True):
        done = demo(
            "tune", "indexes/demo", "topics.tsv", "twice.txt", "BM25(b={0,1})", "--folds", "2", *option, measure
        )
        assert json.loads(done.output)["best on all topics"]["score"] == mean
        tuned = sublex.tune(
            "indexes/demo", "topics.tsv", "twice.txt", "BM25(b={0,1})", measure, folds=2, contradictions=rule
        )
        assert tuned.best.score == mean


def test_a_refusal_of_judgements_from_python_names_the_parameter(file):
    records = [{"qid": 1, "docno": "a", "label": grade} for grade in (1, 2)]
    with pytest.raises(InputError, match=r"or choose by contradictions='first', 'last' or 'highest'\.") as error:
        sublex.measure(records, {})
    assert "--" not in message(error)
    with pytest.raises(InputError, match="no rule most for contradictions; choose one of error, first, last, highest"):
        sublex.read_qrels(file("1 0 a 1"), "most")


def words() -> st.SearchStrategy[str]:
    """Draw ids that TREC's files can hold."""
    return docnos().filter(lambda text: not any(c.isspace() for c in text) and not text.startswith("#"))


@given(st.dictionaries(words(), st.dictionaries(words(), st.integers(-3, 5), min_size=1, max_size=5), min_size=1))
def test_qrels_are_what_was_written(tmp_path_factory, judged):
    path = tmp_path_factory.getbasetemp() / "qrels"
    lines = [f"{qid} 0 {docno} {grade}\n" for qid, grades in judged.items() for docno, grade in grades.items()]
    assume(not lines[0].startswith("{"))
    path.write_text("".join(lines[::2] + lines[1::2]), newline="")
    assert dict(sublex.read_qrels(path)) == judged


# Runs.

SCORES = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(lambda n: n / 2),
    st.floats(0, 30, width=32),
)
RUNS = st.dictionaries(words(), st.dictionaries(words(), SCORES, min_size=1, max_size=8), min_size=1, max_size=5)


def as_run(run: dict[str, dict[str, float]], tag: str = "t") -> Run:
    """Return a run made of dictionaries."""
    names = list(dict.fromkeys(docno for hits in run.values() for docno in hits))
    rows = [(t, names.index(d), s) for t, hits in enumerate(run.values()) for d, s in hits.items()]
    columns = np.array([r[0] for r in rows], np.int32), np.array([r[1] for r in rows], np.int32)
    return ranked(list(run), *columns, np.array([r[2] for r in rows], np.float32), Strings.of(names), tag=tag)


def text_of(run: Run, tag: str) -> str:
    return b"".join(bytes(lines) for lines in run_lines(run.rows(), tag)).decode()


@given(RUNS)
def test_a_run_is_ordered_and_written_as_the_definition_says(run):
    made = as_run(run)
    assert [(qid, list(hits.items())) for qid, hits in made.items()] == [
        (qid, trec_eval_order(hits)) for qid, hits in run.items()
    ]
    assert text_of(made, "t") == run_text(run, "t")


@given(RUNS, st.randoms())
def test_a_run_comes_back_whatever_the_order_of_its_lines(tmp_path_factory, run, random):
    path = tmp_path_factory.getbasetemp() / "shuffled.run"
    lines = run_text(run, "t").split("\n")[:-1]
    random.shuffle(lines)
    path.write_text("\n".join(lines), newline="")
    found = sublex.read_run(path)
    assert {qid: list(hits.items()) for qid, hits in found.items()} == {
        qid: trec_eval_order(hits) for qid, hits in run.items()
    }
    assert found.tag == "t"


@given(RUNS)
def test_writing_what_was_read_gives_the_same_columns(tmp_path_factory, run):
    folder = tmp_path_factory.getbasetemp()
    made = as_run(run)
    for name in ("a.run", "a.run.gz"):
        assert write_run(folder / name, made.rows(), "t", overwrite=True) == len(made.docs)
        found = sublex.read_run(folder / name)
        assert found.qids == made.qids and (found.offsets == made.offsets).all()
        assert found.scores.tobytes() == made.scores.tobytes() and found.scores.dtype == np.float32
        assert found.docnos.take(found.docs).tolist() == made.docnos.take(made.docs).tolist()


def test_docnos_may_come_as_strings_and_are_written_alike():
    scores = np.array([2.5, 1e-7, -12], np.float32)
    arena = Strings(np.frombuffer(b"abcd", np.uint8), np.array([0, 1, 3]), np.array([2, 3, 1]))
    expected = b"q Q0 ab 1 2.5 t\nq Q0 bcd 2 1e-07 t\nq Q0 d 3 -12.0 t\n"
    assert b"".join(map(bytes, run_lines([("q", ["ab", "bcd", "d"], scores)], "t"))) == expected
    assert b"".join(map(bytes, run_lines([("q", arena, scores)], "t"))) == expected


def written(scores: np.ndarray) -> list[str]:
    lines = bytes(next(iter(run_lines([("q", ["d"] * len(scores), scores)], "t")))).split(b"\n")
    return [line.split()[4].decode() for line in lines[:-1]]


def samples() -> np.ndarray:
    """Return two million float32: any bits, rankers' scores, short decimals, whole numbers, powers of two and their neighbours."""
    random = np.random.default_rng(7)
    powers = np.float32(2.0) ** np.arange(-149, 128, dtype=np.float32)
    scales = 10.0 ** np.arange(-9, 17)
    return np.concatenate(
        [
            random.integers(0, 2**32, 500_000, dtype=np.uint32).view(np.float32),
            random.gamma(3, 4, 500_000).astype(np.float32),
            (random.random(500_000) * random.choice(scales, 500_000)).astype(np.float32),
            (random.integers(0, 10**6, 500_000) / random.choice(scales, 500_000)).astype(np.float32),
            np.arange(2**24 - 5000, 2**24 + 5000).astype(np.float32),
            *(np.nextafter(powers, np.float32(towards)) for towards in (0, np.inf)),
            powers,
            np.float32([0, -0.0, 1e16, 9.9e15, 1e-4, 9.9e-5, 999.99994, 1000, 0.099999994, 3.4028235e38]),
        ]
    )


@pytest.mark.slow
def test_scores_read_back_to_the_same_float32_and_are_as_short_as_numpy_makes_them():
    scores = samples()
    scores = scores[np.isfinite(scores)]
    texts = written(scores)
    assert (np.fromstring("\n".join(texts), sep="\n").astype(np.float32).view(np.int32) == scores.view(np.int32)).all()
    some = np.random.default_rng(8).choice(len(scores), 200_000, replace=False)
    wrong = [(texts[k], score_text(scores[k])) for k in some if texts[k] != score_text(scores[k])]
    assert not wrong


def test_nearly_all_scores_of_rankers_are_decided_by_the_kernel():
    from sublex.trec import run_kernels

    scores = np.random.default_rng(9).gamma(3, 4, 100_000).astype(np.float32)
    assert (run_kernels.shortest(scores, scores.view(np.int32), run_kernels.TENS)[0] < 0).mean() < 0.001
    assert (shortest(scores)[0] > 0).all()


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
@example([16777216.0, 33554432.0, 2.0**-126, 1e-45])
def test_shortest_scores_are_numpys(scores):
    assert written(np.array(scores, np.float32)) == [score_text(score) for score in scores]


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, allow_nan=False, places=12).map(str),
    st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


@given(st.lists(NUMBERS.filter(lambda text: abs(float(text)) < 1e38), min_size=1))
@example(
    ["16777217", "16777217.000000000001", "1.00000005960464477539", "0e-30", "-0", "9" * 25, "0." + "0" * 30 + "1"]
)
def test_scores_are_read_as_trec_eval_reads_them(tmp_path_factory, texts):
    path = tmp_path_factory.getbasetemp() / "scores.run"
    path.write_text("".join(f"{k} Q0 d 1 {text} t\n" for k, text in enumerate(texts)))
    found = sublex.read_run(path).scores
    assert found.tolist() == [float(np.float32(float(text))) for text in texts]


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le"])
def test_a_run_in_utf_16_is_told_by_its_bytes(tmp_path, coding):
    (tmp_path / "run").write_text("1 Q0 document 1 2.5 tag\n", encoding=coding)
    with pytest.raises(InputError, match="is in UTF-16; save it as UTF-8"):
        sublex.read_run(tmp_path / "run")


def test_a_hit_that_stands_there_twice_with_the_same_score_counts_once(file):
    run = sublex.read_run(file("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 a 1 1 t\n1 Q0 a 1 2.0 t\n1 Q0 a 3 2 t\n"))
    assert {qid: dict(run[qid]) for qid in run} == {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}
    assert [note.split(": ")[1] for note in run.notes] == ["2 lines repeat a hit with the same score and count once"]


@pytest.mark.slow
def test_long_files_are_read_in_pieces(file):
    lines = [f"{k // 1000} Q0 doc{k % 1000} 1 {k % 7} tag\n" for k in range(800_000)]
    content = "".join(lines)
    assert len(content) > PIECE
    found = sublex.read_run(file(content))
    assert len(found.docs) == 800_000 and len(found) == 800 and len(found.docnos) == 1000
    assert (
        list(found["799"])[:2]
        == [d for d, _ in trec_eval_order({f"doc{k % 1000}": k % 7 for k in range(799000, 800000)})][:2]
    )
    with pytest.raises(
        InputError, match=":800001: topic 3 has doc4 already on line 3005, with another score; keep one"
    ):
        sublex.read_run(file(content + "3 Q0 doc4 1 9 tag\n"))


def test_runs_may_lack_a_column_have_tabs_comments_and_other_line_ends(file):
    expected = {"1": {"b": 2.0, "a": 1.0}}
    for content in (
        "1 Q0 a 2 1 t\n1 Q0 b 1 2 t\n",
        "# c\r\n1\tQ0\ta\t2\t1\tt\r\n\r\n# d\r\n 1  Q0 b 1 2.0e0 t",
        "1 Q0 a 2 1\n1 Q0 b 1 2\n",
        "1 a 2 1.0 t\n1 b 1 +2. t\n",
        b"\xef\xbb\xbf1 0 a 2 1 t\n1 0 b 1 2 t\n",
    ):
        assert dict(sublex.read_run(file(content))) == expected
    assert dict(sublex.read_run(file("1 Q0 \xe9 2 1 t\n".encode("latin-1")))) == {"1": {"é": 1.0}}


@pytest.mark.parametrize("content", ["", "\n", "# only\n"])
def test_a_run_without_hits_is_one_with_a_note(content, file):
    found = sublex.read_run(file(content))
    assert dict(found) == {} and found.notes[0].endswith("file holds no hits")
    assert dict(fuse([found, as_run({"1": {"a": 1}})])) == {"1": {"a": float(np.float32(1 / 61))}}


def test_several_tags_are_noted(file):
    found = sublex.read_run(file("1 Q0 a 1 1 t\n1 Q0 b 2 0 u\n"))
    assert found.tag == "t" and "2 different tags (t, u…)" in found.notes[0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1 Q0 a 1 1 t\n1 Q0 b c 2 0 t\n", "file:2: 7 columns where 6 should be; a run has six"),
        ("1 Q0 a 1 1 t\n1\n", "file:2: 1 column where 6 should be"),
        ("1 Q0 a 1\n", "file:1: 4 columns where 6 should be"),
        ("1 0 5 1 2\n", "file:1: 5 columns where 6 should be"),
        ("1 a b c d\n", "file:1: 5 columns where 6 should be"),
        ("1 Q0 a 1 1 t\n\n1 Q0 b 1 nan t\n", "file:3: the score nan is not a finite float32 number."),
        ("1 Q0 a 1 inf t\n", "file:1: the score inf is not a finite"),
        ("1 Q0 a 1 1e39 t\n", "file:1: the score 1e39 is not a finite"),
        ("1 Q0 a 1 1e999 t\n", "file:1: the score 1e999 is not a finite"),
        ("1 Q0 a 1 1_0 t\n", "file:1: the score 1_0 is not a finite"),
        ("1 Q0 a 1 0x10 t\n", "file:1: the score 0x10 is not a finite"),
        ("1 Q0 a 1 ١ t\n", "file:1: the score ١ is not a finite"),
        ("1 Q0 a 1 - t\n", "file:1: the score - is not a finite"),
        ("1 Q0 a 1 . t\n", "file:1: the score . is not a finite"),
        ("1 Q0 a 1 1e t\n", "file:1: the score 1e is not a finite"),
        (
            "1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 a 2 0 t\n",
            "file:3: topic 1 has a already on line 1, with another score; keep one of the two.",
        ),
    ],
)
def test_bad_runs_get_a_sentence_with_the_place(content, sentence, file):
    with pytest.raises(InputError) as error:
        sublex.read_run(file(content))
    assert sentence in message(error)


@pytest.mark.parametrize(
    ("row", "tag", "sentence"),
    [
        (("1", ["a", "b c"], [2, 1]), "t", "Document 'b c' cannot be in a run"),
        (("1", ["a", "b\u00a0c"], [2, 1]), "t", "cannot be in a run"),
        (("1", ["a", ""], [2, 1]), "t", "Document '' cannot be in a run"),
        (("1 2", ["a"], [1]), "t", "The topic id '1 2' is empty or has white space"),
        (("#1", ["a"], [1]), "t", "The topic id '#1' begins with #"),
        (("", ["a"], [1]), "t", "The topic id '' is empty"),
        (("0", ["a"], [1]), "t", "Topic 0 comes twice in one run"),
        (("1", ["a"], [1]), "a b", "The tag 'a b' is empty or has white space"),
        (("1", ["a", "b"], [1]), "t", "Topic 1 has 2 documents and 1 scores"),
        (("1", ["a", "b"], [1, math.nan]), "t", "Topic 1: the score of b is nan"),
        (("1", ["a"], [-math.inf]), "t", "Topic 1: the score of a is -inf"),
    ],
)
def test_what_a_run_cannot_hold_is_refused_and_nothing_is_left(row, tag, sentence, tmp_path):
    rows = [("0", ["x"], np.float32([1])), (row[0], row[1], np.array(row[2], np.float32))]
    with pytest.raises(SublexError) as error:
        write_run(tmp_path / "a.run", rows, tag)
    assert sentence in message(error)
    assert not list(tmp_path.iterdir())


def test_docnos_can_be_refused_before_any_query_is_run():
    check_docnos(Strings.of(["a", "é", "文書"]))
    with pytest.raises(InputError, match="Document 'a\\\\tb' cannot be in a run"):
        check_docnos(Strings.of(["a", "a\tb"]))


def test_a_run_replaces_the_one_before_only_when_it_is_whole(tmp_path):
    path = tmp_path / "a.run"
    write_run(path, [("1", ["a"], np.float32([1]))], "t", {"platform": {"software": "x"}})
    before = path.read_bytes()

    def rows():
        yield "1", ["b"], np.float32([1])
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        write_run(path, rows(), "t")
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.run", "a.run.yaml"]
    with pytest.raises(SublexError, match="Cannot write .*: No such file or directory"):
        write_run(tmp_path / "absent" / "a.run", [], "t")


def test_equal_runs_are_equal_bytes_also_compressed(tmp_path):
    for name in ("a.run.gz", "b.run.gz"):
        write_run(tmp_path / name, [("1", ["a"], np.float32([1]))], "t")
    assert (tmp_path / "a.run.gz").read_bytes() == (tmp_path / "b.run.gz").read_bytes()


def test_the_best_k_of_a_run(file):
    run = as_run({"1": {"a": 3, "b": 2, "c": 1}, "2": {"a": 1}})
    assert dict(run.top(2)) == {"1": {"a": 3.0, "b": 2.0}, "2": {"a": 1.0}}
    assert dict(run.top(9)) == dict(run)


# Metadata.

METADATA = {
    "platform": {"software": "sublex", "versions": {"numpy": "2.1"}},
    "research goal": {"description": "Find: the #1 — “best”"},
    "method": {"retrieval": [{"name": "BM25", "k1": 0.9, "b": 1e-07}, {"name": "x", "of": []}], "automatic": True},
    "data": {"topics": ["a", "- b", "", "yes", "1", None, 3, -0.5], "more": {}},
    "1": "007",
}


@pytest.mark.parametrize("where", ["sidecar", "header", "none"])
@pytest.mark.parametrize("name", ["a.run", "a.run.gz"])
def test_metadata_travel_with_the_run(where, name, tmp_path):
    path = tmp_path / name
    write_run(path, [("1", ["a"], np.float32([1]))], "t", METADATA, where)
    assert (tmp_path / f"{name}.yaml").exists() == (where == "sidecar")
    assert sublex.read_run(path).metadata == ({} if where == "none" else METADATA)
    assert dict(sublex.read_run(path)) == {"1": {"a": 1.0}}


def test_a_sidecar_that_cannot_be_read_is_noted_and_not_passed_over_in_silence(tmp_path, monkeypatch):
    path = tmp_path / "a.run"
    write_run(path, [("1", ["a"], np.ones(1))], "t", {"tag": "t"})

    def refused(self, *_, **__):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refused)
        notes = read_run(path).notes
    assert "its metadata could not be read and are left out ([Errno 13] Permission denied)" in notes[0]
    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(
        SublexError, match=r"Cannot remove .*a.run.yaml, which may describe another run: Permission denied"
    ):
        write_run(path, [("1", ["a"], np.ones(1))], "t")


@pytest.mark.parametrize(
    "score", ["999999999999999999000000000000000000000", "100000000000000000e22", "1e39", "-1e400"]
)
def test_scores_beyond_float32_are_refused(tmp_path, score):
    (tmp_path / "a.run").write_text(f"1 Q0 a 1 {score} t\n")
    with pytest.raises(InputError, match=r"a.run:1: the score .* is not a finite float32 number"):
        read_run(tmp_path / "a.run")


def test_a_sidecar_does_not_outlive_its_run(tmp_path):
    path, beside = tmp_path / "a.run", tmp_path / "a.run.yaml"
    rows = [("1", ["a"], np.float32([1]))]
    write_run(path, rows, "t", METADATA)
    write_run(path, rows, "t")
    assert not beside.exists()
    beside.write_text("mine: true\n")
    write_run(path, rows, "t", overwrite=True)
    assert beside.exists() and sublex.read_run(path).metadata == {"mine": True}


def test_metadata_go_nowhere_else():
    with pytest.raises(InputError, match="Metadata cannot go to footer; use sidecar, header or none"):
        write_run("a.run", [], "t", METADATA, "footer")


TREES = st.dictionaries(st.text(CHARACTERS, max_size=6), values(), max_size=4)


@given(TREES)
@example(METADATA)
@settings(max_examples=examples(300))
def test_metadata_are_yaml_that_reads_back(tree):
    text = to_yaml(tree)
    assert from_yaml(text) == tree == yaml.safe_load(text)
    assert from_yaml(yaml_in_comments(to_comments(tree).split("\n"))) == tree


def test_metadata_keep_their_order_and_become_the_types_that_yaml_has():
    mixed = {"b": MappingProxyType({"z": np.float64(0.5)}), "a": (True, Path("x")), 3: [1, 2]}
    assert to_yaml(mixed) == 'b:\n  z: 0.5\na:\n  - true\n  - x\n"3":\n  - 1\n  - 2\n'
    repeated = [1]
    assert "&" not in to_yaml({"a": repeated, "b": repeated})


def test_metadata_written_before_pyyaml_was_used_are_still_read():
    text = """platform:
  software: sublex
  versions:
    numpy: "2.1"
research goal:
  description: "Find: the #1 — “best”"
method:
  retrieval:
    - name: BM25
      k1: 0.9
      b: 1.0e-07
    - name: x
      of: []
  automatic: true
data:
  topics:
    - a
    - "- b"
    - ""
    - "yes"
    - "1"
    - null
    - 3
    - -0.5
  more: {}
"1": "007"
"""
    assert from_yaml(text) == METADATA


def test_metadata_as_people_write_them_are_read():
    text = """---
# a comment
tag: bm25   # another
research goal:
  description: |-
    two
    lines
platform:
  hardware: {"ram": "64 GB", os: Linux}
  libraries:
  - numpy
  - 'it''s'
method:
  retrieval:
    -
      name: "a: b"
      k: ~
    - name: "x"
      deep:
        - - 1
          - .5
          - 1e3
data: [2024-05-01, no, 1:20, 0x1F, "\\ud83d\\ude00"]
"""
    assert from_yaml(text) == {
        "tag": "bm25",
        "research goal": {"description": "two\nlines"},
        "platform": {"hardware": {"ram": "64 GB", "os": "Linux"}, "libraries": ["numpy", "it's"]},
        "method": {"retrieval": [{"name": "a: b", "k": None}, {"name": "x", "deep": [[1, 0.5, 1000.0]]}]},
        "data": ["2024-05-01", "no", "1:20", "0x1F", "\N{GRINNING FACE}"],
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\na: 2", "line 2: the key a occurs twice"),
        ("a: 1\nwords", "line 2: could not find expected ':'"),
        ("a: [1, b", "line 1: expected ',' or ']'"),
        ("a: 1\n   b: 2", "line 2: mapping values are not allowed here"),
        ("- 1", "line 1: the metadata are not a mapping"),
        ("a: 1\n---\nb: 2", "line 3: a second document begins"),
        ('a: "x', "line 1: found unexpected end of stream"),
        ('a: "\\UFFFFFFFF"', "out of"),
        ("? [a]\n: 1", "line 1: a key is not plain text"),
        ("a: 1\nb: \x07", "line 2: YAML allows no character U+0007"),
        ("a: &x [1]\nb: *x", "line 2: the alias *x is not read"),
        ("a: &x {b: *x}", "line 1: the alias *x is not read"),
        ('a: !!python/object/apply:os.system ["echo"]', "line 1: the tag tag:yaml.org,2002:python/object/apply"),
        ("\n".join(" " * k + "a:" for k in range(80)), "nested more than 50 levels deep"),
        ("- " * 5000 + "1", "nested more than 50 levels deep"),
        ("[" * 200_000, "nested more than 50 levels deep"),
        ("a: " + "1" * 300_000, "line 1: the text is longer than 262,144 characters"),
    ],
)
def test_metadata_that_cannot_be_read_are_noted_and_the_run_is_read(text, reason, file):
    with pytest.raises(ValueError, match=re.escape(reason)):
        from_yaml(text)
    file(text, "file.yaml")
    found = sublex.read_run(file("1 Q0 a 1 1 t\n"))
    assert dict(found) == {"1": {"a": 1.0}} and found.metadata == {}
    assert "its metadata could not be read" in found.notes[0] and reason in found.notes[0]


@given(st.text(st.sampled_from("a:- \n#\"'[]{}|>,1.?&*!%~"), max_size=40))
def test_any_text_is_metadata_or_an_error(text):
    with contextlib.suppress(ValueError):
        assert isinstance(from_yaml(text), dict)


# Names.


def test_tags_are_the_print_without_spaces_however_long_an_expression_is():
    assert tag_of("BM25(k1=0.9, b=0.4) >> RM3") == "BM25(k1=0.9,b=0.4)>>RM3"
    assert tag_of('BM25 >> topic("gas")') == 'BM25>>topic("gas")'
    long = "BM25" + " + 0.3*PL2" * 20
    assert tag_of(long) == long.replace(" ", "")
    assert re.fullmatch(r'BM25>>topic\("natural_gas"\)-[0-9a-f]{16}', tag_of('BM25 >> topic("natural gas")'))
    assert tag_of('BM25 >> topic("natural gas")') != tag_of('BM25 >> topic("natural  gas")')
    assert len(tag_of("x" * 1000)) == 1000 and len(tag_of("x" * 10_000)) == 1017 and not tag_of("#x").startswith("#")


def test_file_names_are_the_tag_where_every_file_system_takes_it(tmp_path):
    assert file_name_of("BM25(k1=0.9,b=0.4)") == "BM25(k1=0.9,b=0.4).run"
    assert file_name_of("BM25>>RM3>>BM25") == "BM25_RM3_BM25.run"
    assert "/" not in file_name_of("../a") and not file_name_of("-x").startswith("-")
    assert len(file_name_of("x" * 999)) == 204 and file_name_of('""') == "run.run"


def test_a_hash_is_in_the_file_name_only_where_another_expression_has_the_name(tmp_path):
    first = path_in(tmp_path, "PL2 + 0.3*lsi", lambda path: True)
    assert first.name == "PL2+0.3_lsi.run"
    first.write_text("")
    assert path_in(tmp_path, "PL2 + 0.3*lsi", lambda path: False) == first
    assert re.fullmatch(r"PL2\+0\.3_lsi-[0-9a-f]{16}\.run", path_in(tmp_path, "PL2 + 0.3_lsi", lambda path: True).name)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("bm25.run", True), ("a/b.run.gz", True), ("out.txt", True), ("X.RES", True), ("runs", False), ("runs/", False),
        ("a.gz", False), ("v1.2", False), ("folder.run", False), ("/dev/null", True),
    ],
)  # fmt: skip
def test_a_path_with_the_ending_of_a_run_is_a_file(tmp_path, monkeypatch, path, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.run").mkdir()
    assert is_run_file(path) is expected


@given(st.lists(st.text(st.sampled_from('aB1.*>"()+-/_é '), min_size=1, max_size=80), unique=True, max_size=30))
def test_different_expressions_get_different_tags(expressions):
    # White space between words means nothing, white space in a quoted string does.
    different = {text if '"' in text else "".join(text.split()) for text in expressions}
    tags = [tag_of(text) for text in different]
    assert '"' in "".join(expressions) or len(set(tags)) == len(different)
    assert all(not re.search(r"\s", tag) for tag in tags)
    names = [file_name_of(tag) for tag in tags]
    assert all(len(name) < 210 and re.fullmatch(r"[A-Za-z0-9.,=()_+-]+", name) for name in names)


def test_a_json_array_of_topics_is_read_and_a_broken_one_named(file):
    topics = read_topics(file('[{"qid": 1, "query": "a"},\n {"qid": "2", "query": "b", "x": []}]', "topics.json"))
    assert topics.format == "json" and [(topic.qid, topic.text) for topic in topics] == [("1", "a"), ("2", "b")]
    with pytest.raises(InputError, match=r"topics.json:2:1: not JSON"):
        read_topics(file('[{"qid": 1, "query": "a"},\n x]', "topics.json"))


# ir_datasets.


@pytest.fixture
def dataset(monkeypatch) -> Callable[..., str]:
    """A function that registers a dataset of ir_datasets with these records, and returns its name as users write it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_datasets = pytest.importorskip("ir_datasets")
    from ir_datasets.formats import BaseQrels, BaseQueries

    class Queries(BaseQueries):
        def __init__(self, records):
            self.queries_iter = lambda: iter(records)

    class Judgements(BaseQrels):
        def __init__(self, records):
            self.qrels_iter = lambda: iter(records)

    def register(queries: Sequence[Any] = (), qrels: Sequence[Any] = ()) -> str:
        parts = [*([Queries(queries)] if queries else []), *([Judgements(qrels)] if qrels else [])]
        registry = ir_datasets.registry
        monkeypatch.setitem(registry._registered, "sublex-test/small", ir_datasets.Dataset(*parts))
        return "irds:sublex-test/small"

    return register


def test_the_queries_of_a_dataset_are_topics(dataset):
    from ir_datasets.formats import GenericQuery, TrecQuery

    topics = sublex.read_topics(dataset([GenericQuery("7", "night\n herons"), GenericQuery("8", "")]))
    assert [(topic.qid, topic.text) for topic in topics] == [("7", "night herons"), ("8", "")]
    assert topics.used == ("text",) and "1 topic (8) with an empty query" in topics.notes[0]
    assert str(topics).startswith("2 topics from irds:sublex-test/small (irds), by text; the first is 7: night herons")
    name = dataset([TrecQuery("1", "a", "b", "c")])
    assert sublex.read_topics(name, "title+desc")[0].text == "a b"
    with pytest.raises(InputError, match="irds:sublex-test/small:2: topic 1 is on line 1 already"):
        sublex.read_topics(dataset([GenericQuery("1", "a"), GenericQuery("1", "b")]))


def test_the_judgements_of_a_dataset_are_qrels(dataset, tmp_path, monkeypatch):
    from ir_datasets.formats import GenericQrel, GenericQuery, TrecQrel

    name = dataset([GenericQuery("1", "crane")], [TrecQrel("1", "a", 2, "0"), TrecQrel("1", "b", 0, "0")])
    qrels = sublex.read_qrels(name)
    assert dict(qrels) == {"1": {"a": 2, "b": 0}} and qrels.format == "irds"
    monkeypatch.chdir(tmp_path)
    sublex.build([{"id": "a", "text": "A crane."}], "indexes/x")
    code, _, messages = invoke("run", "./indexes/x", name, "-o", "x.run")
    assert code == 0 and 'name: "irds:sublex-test/small"' in (tmp_path / "x.run.yaml").read_text(), messages
    assert invoke("eval", name, "x.run", "-m", "AP").output.split()[-1] == "1.0000"
    invoke("run", "./indexes/x", name, "-o", "y.run", "-r", "PL2")
    assert invoke("compare", name, "x.run", "y.run", "-m", "AP").code == 0
    assert invoke("compare", "./indexes/x", name, name, "-r", "BM25", "-m", "AP").code == 0
    with pytest.raises(InputError, match="document a: the grade '0.5' is not a whole number"):
        sublex.read_qrels(dataset(qrels=[GenericQrel("1", "a", 0.5)]))


@pytest.mark.parametrize("read", [sublex.read_topics, sublex.read_qrels])
def test_a_dataset_without_what_is_wanted_costs_a_sentence(dataset, read):
    with pytest.raises(
        InputError, match="The dataset sublex-test/small of ir_datasets holds no (queries|judgements); h"
    ):
        read(dataset())
    with pytest.raises(InputError, match="ir_datasets knows no dataset sublex-test/none"):
        read("irds:sublex-test/none")


# Fusion.


@given(
    st.lists(RUNS, min_size=2, max_size=3),
    st.sampled_from(["rrf", "combsum", "combmnz", "weighted"]),
    st.sampled_from(["minmax", "zscore", "rank", "rrf", "raw"]),
    st.integers(1, 8),
)
def test_fusion_is_what_the_definition_says(runs, method, how, k):
    small = [{q: {d: s for d, s in hits.items() if abs(s) < 1e6} for q, hits in run.items()} for run in runs]
    weights = [0.5, 2.0, -0.25][: len(runs)]
    options = {} if method == "rrf" else {"normalise": how}
    if method == "weighted":
        options["weights"] = weights
    made = fuse([as_run(run) for run in small], method, k=k, **options)
    assert set(made) == {qid for run in small for qid in run}
    for qid, hits in made.items():
        topic = [{d: float(np.float32(s)) for d, s in run.get(qid, {}).items()} for run in small]
        expected = naive_fused(topic, method, "rrf" if method == "rrf" else how, weights)
        assert len(hits) == min(k, len(expected))
        for docno, score in hits.items():
            assert score == pytest.approx(expected[docno], rel=1e-5, abs=1e-6)
        assert list(hits.items()) == trec_eval_order(hits)
        left_out = [score for docno, score in expected.items() if docno not in hits]
        assert not left_out or max(left_out) <= min(hits.values()) + 1e-4 * max(1, abs(min(hits.values())))


def test_rrf_by_hand():
    parts = [as_run({"1": {"a": 9, "b": 8}}, "x"), as_run({"1": {"b": 0.2, "c": 0.1}}, "y")]
    assert sublex.fuse({"one": parts[0], "two": parts[1]}).tag == "rrf(one,two)"
    made = fuse(parts)
    assert list(made["1"].items()) == [
        ("b", pytest.approx(1 / 62 + 1 / 61)), ("a", pytest.approx(1 / 61)), ("c", pytest.approx(1 / 62)),
    ]  # fmt: skip
    assert made.tag == "rrf(x,y)" and made.metadata["method"]["fusion"]["k"] == 60


def test_a_weighted_sum_counts_a_missing_document_as_the_lowest():
    runs = [as_run({"1": {"a": 4, "b": 2}}, "x"), as_run({"1": {"b": 10, "c": 5}}, "y")]
    made = fuse(runs, "weighted", [1, 0.5], "raw")
    assert made["1"] == {"b": 7.0, "a": 6.5, "c": 4.5}
    assert made.tag == "weighted(1*x+0.5*y,normalise=raw)"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "borda"}, "No fusion method borda; there are rrf"),
        ({"method": "rrf", "normalise": "minmax"}, "rrf uses ranks only"),
        ({"method": "combsum", "normalise": "softmax"}, "No normaliser softmax; there are minmax"),
        ({"method": "combsum", "weights": [1, 2]}, "combsum takes no weights"),
        ({"method": "weighted"}, "weighted needs 2 weights"),
        ({"method": "weighted", "weights": [1]}, "weighted needs 2 weights"),
        ({"method": "weighted", "weights": [1, math.nan]}, "weighted needs 2 weights"),
        ({"method": "weighted", "weights": [1e300, 1e300]}, "The fused scores are too large"),
        ({"method": "weighted", "weights": [1e308, 1e308], "normalise": "raw"}, "The fused scores are too large"),
    ],
)
def test_fusion_refuses_what_makes_no_sense(options, sentence):
    run = as_run({"1": {"a": 2, "b": 1}})
    with pytest.raises(InputError) as error:
        fuse([run, run], **options)
    assert sentence in message(error)
    with pytest.raises(InputError, match="at least two runs"):
        fuse([run])


def test_the_command_fuses_files_and_standard_output_is_a_run(file, tmp_path):
    one, two = file("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n", "one"), file("1 Q0 b 1 9 y\n", "two")
    command = ["fuse", one, two]
    done = invoke(*command)
    assert done.output.split("\n")[0].startswith("1 Q0 b 1 0.03252247") and done.output.endswith("rrf(x,y)\n")
    more = ["--method", "weighted", "--weights", "1,.5", "-k", "1", "-o", tmp_path / "out.run.gz"]
    done = invoke(*command, *more)
    assert re.fullmatch(
        r"Fused 2 runs of 1 topic into \S*out.run.gz: 1 hit, tag weighted\(1\*x\+0.5\*y\)\n", done.output
    )
    found = sublex.read_run(tmp_path / "out.run.gz")
    assert dict(found) == {"1": {"a": 1.0}} and found.metadata["method"]["fusion"]["weights"] == [1.0, 0.5]
    done = invoke(*command, "--method", "weighted", "--weights", "1;2")
    assert done.code == 2 and "--weights 1;2 is not a list of numbers" in done.messages


def test_a_pipe_is_written_to_a_link_refused_and_an_input_never_overwritten(file, tmp_path):
    one, two = file("1 Q0 a 1 2 x\n", "one"), file("1 Q0 b 1 9 y\n", "two")
    command = ["fuse", one, two, "-o"]
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    assert invoke(*command, pipe).code == 0
    assert len(reader.communicate(timeout=60)[0].splitlines()) == 2 and pipe.is_fifo()
    read, write = os.pipe()  # A link such as /dev/stdout may lead to a pipe that has no path.
    assert invoke(*command, f"/dev/fd/{write}").code == 0
    os.close(write)
    with open(read) as received:
        assert len(received.read().splitlines()) == 2
    link.symlink_to(target)
    for options in ((), ("--overwrite",)):
        done = invoke(*command, link, *options)
        assert done.code == 2 and "link is a symbolic link, and Sublex writes through none" in done.messages
    assert {path.name for path in tmp_path.iterdir()} == {"one", "two", "pipe", "link"} and link.is_symlink()
    (tmp_path / "again").symlink_to(one)
    for output in (two, tmp_path / "again"):
        done = invoke(*command, output)
        assert done.code == 2 and "is read by this command" in done.messages
    assert one.read_text() == "1 Q0 a 1 2 x\n"
    done = invoke(*command[:-1], "--metadata", "header")
    assert done.output.startswith("# ir_metadata.start\n") and done.output.endswith("rrf(x,y)\n")


def test_topics_and_qrels_need_neither_compiler_nor_yaml(file):
    topics, qrels = file(CLASSIC, "topics"), file("1 0 a 1\n", "qrels")
    reads = f"sublex.read_topics({str(topics)!r}); sublex.read_qrels({str(qrels)!r})"
    code = f"import sys, sublex; {reads}; print({{'numba', 'yaml'}} & {{*sys.modules}})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


# Real collections and other tools.

COUNTS = {  # Topics, judged topics, judgements.
    "adi": (35, 35, 170),
    "cranfield": (225, 225, 1837),
    "medline": (30, 30, 696),
    "cacm": (64, 52, 796),
    "vaswani": (93, 93, 2083),
}


@pytest.mark.parametrize("name", COUNTS)
def test_topics_and_qrels_of_real_collections(name, collections):
    topics = sublex.read_topics(collections / name / "topics.trec")
    qrels = sublex.read_qrels(collections / name / "qrels.txt")
    assert (len(topics), len(qrels), len(qrels.grades)) == COUNTS[name]
    assert topics.format == "trec" and not topics.notes and not qrels.notes
    assert set(qrels) <= {topic.qid for topic in topics} and all(topic.text for topic in topics)


def test_topics_and_qrels_of_a_beir_collection(collections):
    topics = sublex.read_topics(collections / "scifact" / "queries.jsonl")
    test, train = (sublex.read_qrels(collections / "scifact" / "qrels" / f"{part}.tsv") for part in ("test", "train"))
    assert len(topics) == 1109 and topics[0] == (
        "0",
        "0-dimensional biomaterials lack inductive properties.",
        topics[0].fields,
    )
    assert (len(test), len(test.grades), len(train), len(train.grades)) == (300, 339, 809, 919)
    assert {*test, *train} == {topic.qid for topic in topics}


def test_ten_thousand_queries_of_a_table(collections):
    topics = sublex.read_topics(collections / "queries" / "web-10k.tsv")
    assert (topics.format, len(topics), topics[1].text) == ("tsv", 10_000, "ebay")


def test_ir_measures_reads_the_same_qrels_and_runs(collections, tmp_path):
    ir_measures = pytest.importorskip("ir_measures")
    for name in COUNTS:
        path = collections / name / "qrels.txt"
        theirs: dict[str, dict[str, int]] = {}
        for judgement in ir_measures.read_trec_qrels(str(path)):
            theirs.setdefault(judgement.query_id, {})[judgement.doc_id] = judgement.relevance
        assert dict(sublex.read_qrels(path)) == theirs
    scores = samples()[:200_000]
    scores = -np.sort(-scores[np.isfinite(scores)])
    path = tmp_path / "a.run"
    write_run(path, [("7", [f"d{k}" for k in range(len(scores))], scores)], "t", METADATA)
    theirs = {hit.doc_id: hit.score for hit in ir_measures.read_trec_run(str(path))}
    ours = sublex.read_run(path)
    assert theirs.keys() == ours["7"].keys()
    assert (np.float32([theirs[docno] for docno in ours["7"]]) == ours.scores).all()


@given(RUNS, st.randoms())
@settings(max_examples=examples(30))
def test_trec_eval_sees_the_order_that_a_run_has(run, random):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    # Its reader of Python dictionaries knows ASCII docnos only as C strings.
    plain = {f"q{k}": {f"d{j:03d}": s for j, s in enumerate(hits.values())} for k, hits in enumerate(run.values())}
    made = as_run(plain)
    for qid, hits in made.items():
        wanted = random.choice(list(hits))
        judged = pytrec_eval.RelevanceEvaluator({qid: {wanted: 1}}, {"recip_rank"})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = judged.evaluate({qid: plain[qid]})[qid]["recip_rank"]
        assert theirs == pytest.approx(1 / (list(hits).index(wanted) + 1))


SWAPPED = {
    "topics": {
        "t.trec": "<top>\n<num> 1\n<title> blue cranes\n</top>\n", "t.tsv": "1\tblue cranes\n2\tred river nests\n",
        "t.txt": "1: blue cranes\n2: red\n", "t.jsonl": '{"qid": "1", "query": "blue cranes"}\n', "t.csv": "qid,query\n1,blue\n",
    },
    "judgements": {
        "q.txt": "1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n", "q.tab": "1\t0\td1\t1\n2\t0\td2\t0\n", "q.json": '{"1": {"d1": 1}}',
        "q.tsv": "query-id\tcorpus-id\tscore\n1\td1\t1\n2\td2\t1\n",
    },
    "a run": {"r.run": "1 Q0 d1 1 3.0 x\n1 Q0 d2 2 2.0 x\n", "r.tab": "1\tQ0\td1\t1\t3.0\tx\n2\tQ0\td1\t1\t3.0\tx\n"},
}  # fmt: skip


@pytest.mark.parametrize("kind", SWAPPED)
def test_a_file_of_another_kind_is_recognised_and_said(file, kind):
    readers = {"topics": sublex.read_topics, "judgements": sublex.read_qrels, "a run": sublex.read_run}
    for name, text in SWAPPED[kind].items():
        path = file(text, name)
        for expected, read in readers.items():
            if expected == kind:
                read(path)
                continue
            with pytest.raises(InputError) as raised:
                read(path)
            said = f"{path} looks like {kind}, and not like {expected}; are two files swapped? {path}"
            assert str(raised.value).startswith(said)


def test_a_damaged_file_of_the_right_kind_keeps_its_own_message(file):
    for read, name, text in (
        (sublex.read_qrels, "q.txt", "1 0 d1 1\n1 0 d2\n"), (sublex.read_run, "r.run", "1 Q0 d1 1 3.0 x\n1 Q0 d2 2 x\n"),
        (sublex.read_topics, "t.txt", "blue cranes"), (sublex.read_qrels, "q.txt", ""), (sublex.read_qrels, "q.txt", "what is this\n"),
    ):  # fmt: skip
        with pytest.raises(InputError) as raised:
            read(file(text, name))
        assert "swapped" not in str(raised.value)
    with pytest.raises(InputError, match="No such file"):
        sublex.read_qrels("nowhere")
