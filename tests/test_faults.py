"""Faults of runs, qrels and topics: what the strict readers refuse, lint reports, and the other way round."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import examples

import sublex
from sublex.errors import InputError
from sublex.lint import lint

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
    errors = [one for one in errors if one.rule not in READ_ALL_THE_SAME[kind] and "Sublex counts one" not in one.text]
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
