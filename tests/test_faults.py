"""Faults of runs, qrels and topics: what the strict readers refuse, lint reports, and the other way round."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import examples

import sublex
from sublex.contracts.base import Report
from sublex.errors import InputError
from sublex.lint import lint
from sublex.readers.source import FileSource
from sublex.trec.qrels_reader import read_judgements
from sublex.trec.rows import Fault, refuse
from sublex.trec.run_reader import read_hits
from sublex.trec.topic_formats import read_records

READERS = {"run": sublex.read_run, "qrels": sublex.read_qrels, "topics": sublex.read_topics}
# Errors for which Sublex does not refuse a file: other programs misread it, or measures change.
READ_ALL_THE_SAME = {
    "run": {"empty", "encoding", "nul", "space", "rank", "float32"},
    "qrels": {"encoding", "nul", "space", "negative", "large"},
    "topics": {"space"},
}
# Errors found after the lines were read, which name a line that the message of the reader does not.
FOUND_LATER = {"field", "unreadable"}
IDS = st.sampled_from(["1", "2", "a", "b", "Q0", "0", "#", "1.5", "NA", "é", "\xa0"])
NUMBERS = st.sampled_from(
    ["1", "2", "-1", "0.5", "1e3", "1e39", "nan", "inf", "x", "score", "1_0", "99999999999", "+.5"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\n# c\n"])
TEXTS = st.sampled_from(["words", "", " ", "a\tb", "a,b", '"', "<b>", "é"])


def rows(*cells: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Draw lines of these cells; in some of them the last cells are missing, or a cell follows."""
    whole = st.tuples(*cells).map(list)
    cut = st.tuples(whole, st.integers(0, len(cells) - 1)).map(lambda drawn: drawn[0][: drawn[1]])
    line = st.one_of(whole, whole, whole, cut, whole.map(lambda row: [*row, "more"])).map(" ".join)
    return st.lists(st.tuples(line, ENDS).map("".join), max_size=8).map("".join)


def mixed(*texts: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """Draw files: one of the texts, or two of them after one another, in UTF-8 or not."""
    text = st.one_of(*texts)
    encoded = st.tuples(st.one_of(text, st.tuples(text, text).map("".join)), st.sampled_from(["utf-8", "latin-1"]))
    return encoded.map(lambda drawn: drawn[0].encode(drawn[1], "replace"))


def refused_at(kind: str, path: str) -> int | None:
    """Return the line in the message with which Sublex refuses a file: 0 if it names none, None if it reads the file."""
    try:
        READERS[kind](path)
    except InputError as error:
        place = re.match(rf"{re.escape(path)}:([0-9]+):", str(error))
        return int(place[1]) if place else 0
    return None


def check_agreement(kind: str, path, data: bytes) -> None:
    """Check that Sublex refuses a file if and only if lint reports an error for which it does, at the same line."""
    path.write_bytes(data)
    errors = [one for one in lint([path], None, {str(path): kind}).findings if one.severity == "error"]
    errors = [one for one in errors if one.rule not in READ_ALL_THE_SAME[kind] or "UTF-16" in one.text]
    errors = [one for one in errors if "Sublex counts one" not in one.text]
    # Topics without a query are an error of lint; Sublex notes them.
    errors = [one for one in errors if not (one.rule == "empty" and "its query is empty" in one.text)]
    at = refused_at(kind, str(path))
    assert (at is not None) == bool(errors), (at, errors)
    if at and not any(one.rule == "unreadable" for one in errors):
        # A reader of rows compares documents with those before when it has read all lines.
        lines = [
            one.line for one in errors if one.rule not in FOUND_LATER and (one.rule != "duplicate" or kind == "topics")
        ]
        assert at == (lines or [one.line for one in errors])[0], (at, errors)


RUN_ROWS = (
    rows(IDS, st.sampled_from(["Q0", "0", "q0"]), IDS, st.sampled_from(["1", "2", "x"]), NUMBERS, IDS),
    rows(IDS, st.just("Q0"), IDS, st.sampled_from(["1", "2"]), NUMBERS),
    rows(IDS, IDS, st.sampled_from(["1", "2"]), NUMBERS, IDS),
    st.just("qid Q0 docno rank score tag\n"),
)
QRELS_ROWS = (
    rows(IDS, st.just("0"), IDS, NUMBERS),
    rows(IDS, IDS, NUMBERS),
    st.just("query-id\tcorpus-id\tscore\n"),
    st.just("qid 0 docno label\n"),
)
GRADES = st.one_of(st.integers(-3, 3), st.sampled_from([True, None, 0.5, "1", [], {}, 2**40]))
JSON_QRELS = st.lists(
    st.tuples(IDS, st.one_of(st.integers(), st.lists(st.tuples(IDS, GRADES), max_size=3))), max_size=3
)


def as_json(topics) -> bytes:
    """Return JSON in which names may come twice."""

    def pairs(items) -> str:
        return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in items) + "}"

    shown = (
        (qid, json.dumps(js) if isinstance(js, int) else pairs((d, json.dumps(g)) for d, g in js)) for qid, js in topics
    )
    return pairs(shown).encode()


@given(mixed(*RUN_ROWS) | st.binary(max_size=60))
@example(b"")
@example(b"\xfe\xff")
@example(b"# only a comment\n")
@example(b"1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n1 Q0 b\n")
@example(b"1 Q0 a 1 x t\n1 Q0 b\n")
@example(b"1 Q0 b\n1 Q0 a 1 x t\n")
@example("1 Q0 a 1 1 t\n".encode("utf-16-le") * 3)
@settings(max_examples=examples(300))
def test_runs_are_refused_at_the_line_of_the_first_error_that_lint_reports(tmp_path_factory, data):
    check_agreement("run", tmp_path_factory.getbasetemp() / "agreement.run", data)


@given(mixed(*QRELS_ROWS) | JSON_QRELS.map(as_json) | st.binary(max_size=60))
@example(b"")
@example(b"\xfe\xff")
@example(b"# only a comment\n")
@example(b"1 a 1\n1 b 0\n")
@example(b"1 0 a 1\n1 b 0\n1 0 c x\n")
@example(b"2 0 b 1\n1 0 a 1\n1 0 a 2\n2 0 b 0\n")
@example(b'# c\n{"1": {"a": 1,}}')
@example(b'{"1": {"a": "1"}}')
@example(b"{}")
@settings(max_examples=examples(300))
def test_qrels_are_refused_at_the_line_of_the_first_error_that_lint_reports(tmp_path_factory, data):
    check_agreement("qrels", tmp_path_factory.getbasetemp() / "agreement.qrels", data)


TOPIC_TEXTS = {
    "tsv": rows(IDS, TEXTS).map(lambda text: text.replace(" ", "\t")),
    "tsv with a header": rows(IDS, TEXTS).map(lambda text: "qid\tquery\n" + text.replace(" ", "\t")),
    "csv": rows(IDS, TEXTS).map(lambda text: "qid,query\n" + text.replace(" ", ",")),
    "colon": rows(IDS, TEXTS).map(lambda text: "9:x\n" + text.replace(" ", ":", 1)),
    "jsonl": st.lists(
        st.dictionaries(st.sampled_from(["qid", "query", "desc"]), st.one_of(IDS, st.integers(1, 3), st.none())).map(json.dumps)
        | st.sampled_from(["{", "[]", '{"qid": 1.5}', '{"qid": "1", "query": ""}']),
        max_size=5,
    ).map("\n".join).map(lambda text: text if text.startswith("{") else '{"qid": 9, "query": "x"}\n' + text),
    "trec": st.lists(st.tuples(IDS, TEXTS).map(lambda t: f"<top>\n<num> {t[0]}\n<title> {t[1]}\n</top>\n"), max_size=4).map("".join)
    | st.just("<top>\n<title> x\n</top>\n"),
    "trecxml": st.lists(
        st.tuples(IDS, TEXTS).map(lambda t: f'<topic number="{t[0]}">\n<query>{t[1]}</query></topic>\n'), max_size=4
    ).map("".join)
    | st.just("<topic><query>x</query></topic>"),
}  # fmt: skip
TOPIC_TEXTS["json"] = TOPIC_TEXTS["jsonl"].map(lambda text: "[" + ",\n".join(text.split("\n")) + "]")


@pytest.mark.parametrize("form", TOPIC_TEXTS)
@settings(max_examples=examples(100))
@given(data=st.data())
def test_topics_are_refused_at_the_line_of_the_first_error_that_lint_reports(tmp_path_factory, form, data):
    text = data.draw(mixed(TOPIC_TEXTS[form]))
    check_agreement("topics", tmp_path_factory.getbasetemp() / f"agreement.{form.split()[0]}", text)


# What readers report.


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Return a function that writes a file called `f` and returns it as a source."""
    monkeypatch.chdir(tmp_path)

    def write(content: str | bytes) -> FileSource:
        Path("f").write_bytes(content.encode() if isinstance(content, str) else content)
        return FileSource("f")

    return write


def kinds(faults: list[Fault]) -> list[tuple[str, list[int]]]:
    return [(fault.kind, list(fault.lines)) for fault in faults]


def test_a_run_is_read_past_its_faults_which_are_reported_with_their_lines(source):
    lines = [
        "qid Q0 docno rank score tag", "1 Q0 a 1 3 t", "1 Q0 b", "1 Q0 b 2 2 t u", "1 Q0 c 3 x t", "1 Q0 d 4 inf t", "1 Q0 e",
        "1 Q0 a 5 3.0 t", "1 Q0 a 6 1 t", "2 Q0 f x 0.09412864224039919 u", "\0 Q0 g 2 1 t",
    ]  # fmt: skip
    faults: list[Fault] = []
    read = read_hits(source("\n".join(lines)), faults.extend, Report(), detailed=True)
    assert sorted(kinds(faults)) == [
        ("few columns", [3, 7]), ("header", [1]), ("infinite", [6]), ("many columns", [4]), ("nul", [11]), ("other number", [9]),
        ("same number", [8]), ("score", [5]),
    ]  # fmt: skip
    assert [fault.kind for fault in faults if not fault.refusal] == ["same number"]
    assert {qid: dict(hits) for qid, hits in read.run(read.order()).items()} == {
        "1": {"a": 3}, "2": {"f": float(np.float32(0.09412864224039919))}, "\0": {"g": 1},
    }  # fmt: skip
    assert read.hits.lines.tolist() == [2, 10, 11] and read.layout.name == "six columns"
    assert [read.tags[int(k)] for k in read.details.tags] == ["t", "u", "t"]
    assert str(read.details.ranks.tolist()) == "[1.0, nan, 2.0]" and read.details.scores.tolist() == [
        3,
        0.09412864224039919,
        1,
    ]


def test_judgements_are_read_past_their_faults(source):
    faults: list[Fault] = []
    text = "1 0 a 1\n1 a\n1 0 b 2.9\n2 0 b high\n1 0 b 2\n1 0 a 0\n"
    qrels, lines = read_judgements(source(text), faults.extend)
    assert kinds(faults) == [
        ("few columns", [2]), ("grade", [3, 4]), ("same number", [5]), ("other number", [6]),
    ]  # fmt: skip
    assert dict(qrels) == {"1": {"a": 1, "b": 2}, "2": {"b": 0}} and lines.tolist() == [1, 3, 4]


def test_judgements_are_cut_at_the_white_space_of_ascii_in_every_piece_of_a_file(source, monkeypatch):
    monkeypatch.setattr("sublex.trec.qrels_reader.PIECE", 8)
    text = "# c\n\n1\v0\fa\t 1\r\n \n  # c 0 b 1\n1 0 \x1c\xa0 2\n1 0 b 2 3\n2 0 a -1"
    faults: list[Fault] = []
    qrels, lines = read_judgements(source(text), faults.extend)
    assert dict(qrels) == {"1": {"a": 1, "\x1c\xa0": 2}, "2": {"a": -1}} and lines.tolist() == [3, 6, 8]
    assert kinds(faults) == [("many columns", [7])]


def test_topics_are_read_past_their_faults(source):
    faults: list[Fault] = []
    form, records = read_records(source("1\tx\n2\n1\ty\n3\tz\n"), faults.extend, Report())
    assert (form, [(one.qid, one.line) for one in records]) == ("tsv", [("1", 1), ("3", 4)])
    assert kinds(faults) == [("record", [2]), ("topic again", [3])]


def test_the_first_line_with_a_refused_fault_is_the_error():
    refuse([Fault("nul", [1])])
    with pytest.raises(InputError, match="earlier"):
        refuse([Fault("nul", [1]), Fault("score", [7], "later."), Fault("columns", [3, 9], "earlier.")])


def test_most_lines_and_not_the_first_one_show_the_layout(source):
    with pytest.raises(InputError, match="f:1: 5 columns where 6 should be; a run has six"):
        sublex.read_run(source("1 Q0 a 1 2\n1 Q0 b 1 2 t\n1 Q0 c 1 2 t\n").path)
    # Of the first line it is not clear which column is missing.
    assert dict(sublex.read_run(source("1 0 5 1 2\n1 Q0 a 1 2\n").path)) == {"1": {"a": 2, "5": 2}}
    with pytest.raises(InputError, match="f:1: 3 columns where 4 should be"):
        sublex.read_qrels(source("1 b 1\n1 0 c 1\n1 0 d 1\n").path)


def test_judgements_may_have_comments_before_json_and_no_utf_16(source):
    assert dict(sublex.read_qrels(source('# c\n\n {"1": {"a": 1}}').path)) == {"1": {"a": 1}}
    with pytest.raises(InputError, match="f:3:1: not JSON"):
        sublex.read_qrels(source('# c\n{"1": {"a": 1},\n}').path)
    # The last line has no end, and comments stand before it.
    with pytest.raises(InputError, match="f:2:12: not JSON"):
        sublex.read_qrels(source('# c\n{"1": {"a" 1}}').path)
    with pytest.raises(InputError, match="f is in UTF-16; save it as UTF-8"):
        sublex.read_qrels(source("1 0 a 1\n".encode("utf-16")).path)


def test_a_byte_order_mark_before_json_is_no_fault(source):
    path = source(b"\xef\xbb\xbf" + b'{"1": {"a": 1}}').path
    assert not lint([path]).findings and dict(sublex.read_qrels(path)) == {"1": {"a": 1}}


def test_files_without_judgements_or_topics_are_reported(source):
    for kind, content, noun in (
        ("qrels", "# c\n", "judgements"),
        ("qrels", "{}", "judgements"),
        ("topics", "qid\tquery\n", "topics"),
    ):
        path = source(content).path
        (found,) = lint([path], None, {path: kind}).findings
        assert (found.rule, found.severity, found.text) == (
            "empty",
            "error",
            f"The file holds no {noun}, so Sublex refuses it.",
        )


@given(
    st.lists(
        st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), st.decimals(-9, 9, places=12).map(str))
    )
)
@example(["0.1", "9007199254740993", "0.12345678901234567", "1e22", "123456789012345678e-20"])
def test_scores_of_which_the_kernel_is_certain_are_the_nearest_float64(texts):
    from sublex.trec import run_kernels

    ends = np.cumsum([len(text) for text in texts], dtype=np.int32)
    spans = np.ascontiguousarray(np.stack([np.append(0, ends)[:-1], ends], axis=1), np.int32)
    values, certainties = run_kernels.parse(
        np.frombuffer("".join(texts).encode() or b"", np.uint8), spans, run_kernels.TENS
    )
    for text, value, certainty in zip(texts, values.tolist(), certainties.tolist(), strict=True):
        assert certainty < 2 or value == float(text)
        assert certainty < 1 or np.float32(value) == np.float32(float(text))
