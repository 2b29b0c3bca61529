"""Ids that C code misreads: a NUL character, at which trec_eval cuts an id, and half of a surrogate pair, which crashes it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from child import run

import sublex as engine
from sublex.building.indexing import build_index
from sublex.contracts.base import Document
from sublex.errors import InputError
from sublex.tools.strings import Strings, first_faulty_id
from sublex.trec.qrels import Qrels
from sublex.trec.runs import Run

STEERS = "\x1b[31m"
NUL, HALF = f"d1\0{STEERS}a", "d1\ud800"
QRELS = "1 0 d1 1\n1 0 d2 0\n"
RUN = "1 Q0 d1 1 3 t\n1 Q0 d2 2 1 t\n"


@pytest.fixture
def files(sublex):
    """Write good judgements and a good run; return the function that runs a command."""
    Path("good.txt").write_text(QRELS)
    Path("good.run").write_text(RUN)
    return sublex


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "name, text, place",
    [
        ("q.txt", f"1 0 d2 0\n1 0 {NUL} 1\n1 0 d1\0b 2\n", "q.txt:2: "),
        ("q.txt", "1\0 0 d2 0\n", "q.txt:1: "),
        ("q.json", json.dumps({"1": {"d2": 0, NUL: 1, "d1\0b": 2}}), "q.json: "),
        ("q.json", json.dumps({"1\0": {"d2": 0}}), "q.json: "),
        ("q.json", json.dumps({"1": {HALF: 0}}), "q.json: "),
    ],
)
def test_judgements_with_such_an_id_are_refused_with_their_place(files, name, text, place, compressed):
    name, place = (f"{name}.gz", place.replace(name, f"{name}.gz")) if compressed else (name, place)
    Path(name).write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    code, output, messages = files("eval", name, "good.run")
    assert (code, output) == (2, "") and messages.startswith(f"sublex: {place}") and messages.count("\n") == 1
    assert "\x1b" not in messages and "\0" not in messages
    assert files("lint", name)[0] == 1


def test_a_run_with_such_an_id_is_refused_with_its_line(files):
    Path("r.run").write_text(f"1 Q0 d2 1 3 t\n1 Q0 {NUL} 2 2 t\n")
    for command in (("eval", "good.txt", "r.run"), ("fuse", "good.run", "r.run", "-o", "f.run")):
        code, output, messages = files(*command)
        assert (code, output) == (2, "") and messages.startswith("sublex: r.run:2: ")
    assert not Path("f.run").exists()


@pytest.mark.parametrize(
    "name, text, place",
    [
        ("t.jsonl", '{"qid": "1", "query": "x"}\n{"qid": "a\\u0000b", "query": "x"}\n', "t.jsonl:2: "),
        ("t.jsonl", '{"qid": "a\\ud800", "query": "x"}\n', "t.jsonl:1: "),
        ("t.tsv", "1\tx\na\0b\tx\n", "t.tsv:2: "),
        ("t.trec", "<top>\n<num> Number: a\0b\n<title> x\n</top>\n", "t.trec:1: "),
    ],
)
def test_topics_with_such_an_id_are_refused_with_their_line(files, name, text, place):
    Path("d.jsonl").write_text('{"id": "d1", "text": "x"}\n')
    assert files("index", "papers", "d.jsonl")[0] == 0
    Path(name).write_text(text)
    code, output, messages = files("run", "papers", name)
    assert (code, output) == (2, "") and f"sublex: {place}the id 'a\\" in messages


@pytest.mark.parametrize(
    "name, text, line",
    [
        (
            "d.jsonl",
            '{"id": "a", "text": "x"}\n{"id": "a\\u0000b", "text": "x"}\n{"id": "b", "text": "x", "y": 1}\n',
            2,
        ),
        ("d.json", '[{"id": "a", "text": "x"},\n{"id": "a\\u0000b", "text": "x"},\n{"id": "b", "text": "x"}]\n', 2),
        ("d.tsv", "id\ttext\na\tx\na\0b\tx\nb\tx\n", 3),
        ("d.csv", 'id,text\na,x\n"a\0b",x\nb,x\n', 3),
        ("d.trec", "<DOC><DOCNO>a</DOCNO>x</DOC>\n<DOC><DOCNO>a\0b</DOCNO>x</DOC>\n<DOC><DOCNO>b</DOCNO>x</DOC>\n", 2),
    ],
)
def test_a_record_with_a_nul_in_its_docno_is_malformed(files, name, text, line):
    Path(name).write_text(text)
    summary = build_index("papers", name)
    assert (summary.read, summary.indexed) in ((2, 2), (3, 2))
    (problem,) = summary.problems
    assert (problem.file, problem.line) == (name, line) and "'a\\x00b' has a NUL character" in problem.reason
    assert [document.docno for document in engine.open("papers").documents()] == ["a", "b"]
    with pytest.raises(InputError, match=rf"^{name}:{line}: "):
        engine.build(name, "other", strict=True)


def test_fields_are_counted_once_when_a_docno_makes_all_lines_be_read_again(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"id": "a", "text": "x"}\n{"id": "a\\u0000b", "text": "x"}\n')
    summary = build_index(tmp_path / "papers", tmp_path / "d.jsonl")
    assert summary.fields == {"docno=id": 1, "text=text": 1}


@pytest.mark.parametrize("document", [Document("a\0", "x"), {"id": "a\0", "text": "x"}])
def test_a_document_from_python_with_a_nul_in_its_docno_is_malformed(tmp_path, document):
    with pytest.raises(InputError, match=r"^Document 2 cannot be indexed: .*'a\\x00' has a NUL character"):
        engine.build([{"id": "b", "text": "x"}, document], tmp_path / "papers", strict=True)
    assert not (tmp_path / "papers").exists()
    summary = build_index(tmp_path / "papers", [{"id": "b", "text": "x"}, document])
    (problem,) = summary.problems
    assert (summary.indexed, problem.line) == (1, 2) and "has a NUL character" in problem.reason


BAD = [NUL, HALF]


@pytest.mark.parametrize("bad", BAD)
def test_ids_from_python_are_refused_before_they_reach_c(bad):
    good = {"1": {"d1": 1, "d2": 0}}
    for qrels, ranking in (
        ({"1": {bad: 1, "d1": 0}}, good),
        (good, {"1": {bad: 1.0, "d1": 2.0}}),
        ({bad: {"d1": 1}}, good),
    ):
        ended = run(lambda qrels=qrels, ranking=ranking: engine.measure(qrels, ranking))
        assert isinstance(ended.error, InputError) and "\x1b" not in str(ended.error)


@pytest.mark.parametrize("bad", BAD)
def test_ids_of_an_index_from_elsewhere_are_refused_before_they_reach_c(bad):
    """An index that another program wrote may have any docnos, so its runs may."""
    docnos, ends, docs = Strings.of([bad, "d2"]), np.array([0, 2]), np.array([0, 1], np.int32)
    ranking = Run(["1"], ends, docs, np.array([2, 1], np.float32), docnos)
    qrels = Qrels(["1"], ends, docs, np.array([1, 0], np.int32), docnos)
    good = {"1": {"d1": 1, "d2": 0}}
    for work in (
        lambda: engine.measure(good, ranking),
        lambda: engine.measure(qrels, {"1": {"d1": 1.0}}),
        lambda: bool(ranking),
        lambda: ranking.write("r.run"),
    ):
        ended = run(work)
        assert isinstance(ended.error, InputError), ended


def test_a_faulty_id_is_found_among_others_and_not_between_them():
    ids = Strings.of(["a\0", "b", "é\ud7ff\ue000", "c\udfff"])
    assert [first_faulty_id(ids.take(np.array(places, np.int64))) for places in ([0], [1], [2], [3], [1, 2, 3], [])] == [
        "a\0", None, None, "c\udfff", "c\udfff", None,
    ]  # fmt: skip


def test_trec_eval_prints_nothing_about_ids_that_are_left(files, capfd):
    odd = [f"d{STEERS}", "d\x7f", "=1+1", "é", "e\u0301", "d\x01", "😀"]
    qrels = {qid: {docno: grade for grade, docno in enumerate(odd)} for qid in odd}
    ranking = {qid: {docno: float(score) for score, docno in enumerate(odd)} for qid in odd}
    measures = ["AP", "nDCG@10", "Bpref", "infAP", "Rprec", "RR", "P@5", "NumRet", "IPrec@0.1", "SetF", "Success@5"]
    assert engine.measure(qrels, ranking, measures=measures).mean["NumRet"] == len(odd) ** 2
    assert capfd.readouterr() == ("", "")
