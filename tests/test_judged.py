"""Feedback from judged documents, from Python, the command line, the shell and the service, and the residual collection.

The expanders' formulas are tested in `test_expanders.py`.
"""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import pytest
from shared import QRELS, TOPICS

import sublex
from sublex.contracts.base import JudgedDocnos
from sublex.errors import InputError, SublexWarning
from sublex.evaluation.residual import residual
from sublex.evaluation.systems import System, run_system
from sublex.shell.commands import built_in
from sublex.shell.session import Session
from sublex.shell.settings import ShellSettings
from sublex.trec.given_tables import qrels_of, run_of

SHARP = "BM25 >> Sharp >> BM25"
TEXTS = {
    "d0": "crane bird nest", "d1": "crane harbour steel", "d2": "bird nest egg", "d3": "harbour ship steel",
    "d4": "nest egg feather", "d5": "ship sail wind", "d6": "wind rain sun", "d7": "sun moon star",
}  # fmt: skip


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    documents = [{"id": docno, "text": text} for docno, text in TEXTS.items()]
    return sublex.build(documents, tmp_path_factory.mktemp("judged") / "index")


def test_a_judged_document_is_the_feedback_whatever_the_ranking_is(index):
    # d1 is about harbours, which no document that the query finds first needs to be.
    found = index.search("crane", "BM25 >> Rocchio(alpha=0, common=1) >> BM25", judged={"d1": 1})
    assert found.docnos[:2] == ["d1", "d3"]
    away = index.search("crane", "BM25 >> Rocchio(gamma=9, common=1) >> BM25", judged={"d1": 0})
    assert "d3" not in away.docnos and "d0" not in away.docnos
    # Without judgements, both documents with the word are feedback.
    assert {"d2", "d3"} <= set(index.search("crane", "BM25 >> Rocchio(common=1) >> BM25").docnos)


def test_the_weights_are_those_of_the_formula(index):
    # One relevant document with three words of equal idf part: each has 1/sqrt(3) of it. All documents have three words.
    query = index.answer("sail", "BM25 >> Sharp(original=0.5) >> BM25", judged={"d7": 1}).query
    df = {"sun": 2, "moon": 1, "star": 1}
    idf = {term: math.log(1 + (8 - n + 0.5) / (n + 0.5)) for term, n in df.items()}
    norm = math.sqrt(sum(weight**2 for weight in idf.values()))
    expected = {"sail": 0.5, **{term: 0.5 * weight / norm for term, weight in idf.items()}}
    assert query.weights() == pytest.approx(expected, rel=1e-6)


def test_judgements_stay_with_the_query_through_all_expanders(index):
    first = index.query("crane", judged={"d2": 1, "d3": 0, "none": 1})
    assert first.judged == JudgedDocnos(("d2", "none"), ("d3",)) and first != index.query("crane")
    assert hash(first) == hash(index.query("crane", judged={"d3": -1, "none": 2, "d2": 2}))
    twice = index.answer(first, "Burst >> BM25 >> Sharp >> RM3 >> BM25").query
    assert twice.judged == first.judged
    weights = index.answer(index.query("crane"), "Burst >> BM25 >> RM3 >> BM25").query.weights()
    assert "egg" not in weights and "egg" in twice.weights() and "ship" not in twice.weights()


def test_an_explanation_names_the_judged_documents(index):
    tree = index.explain("crane", "d2", SHARP, judged={"d2": 1, "d3": 0})
    labels = [tree.label, *(part.label for part in tree.parts)]
    assert any("with 1 relevant document and 1 other judged" in label for label in labels)
    assert not any("judged" in part.label for part in index.explain("crane", "d2", SHARP).parts)


@pytest.mark.parametrize("bad", [{"d0": "x"}, {"d0": 1.5}, {3: 1}, [("d0", 1)], "d0"])
def test_what_are_no_judgements_of_a_query_costs_a_sentence(index, bad):
    with pytest.raises(InputError) as caught:
        index.search("crane", SHARP, judged=bad)
    assert str(caught.value).count(".") <= 2


def test_topics_learn_each_from_its_own_judgements(index):
    topics, judged = {"1": "crane", "2": "crane", "3": "crane"}, {"1": {"d3": 1}, "2": {"d2": 1}}
    with pytest.warns(SublexWarning, match="1 topic of 3 without judgements"):
        run = index.run(topics, SHARP, judged=judged)
    assert run["1"] == dict(by_docno(index.search("crane", SHARP, 1000, judged=judged["1"])))
    assert run["2"] == dict(by_docno(index.search("crane", SHARP, 1000, judged=judged["2"])))
    assert run["3"] == dict(by_docno(index.search("crane", SHARP, 1000)))
    method = run.metadata["method"]
    assert method["automatic"] is False
    assert {name: method["judged"][name] for name in ("topics", "relevant", "others")} == {
        "topics": 2, "relevant": 2, "others": 0,
    }  # fmt: skip
    kept = pickle.loads(pickle.dumps(index.with_judged(judged)))
    assert kept.run({"1": "crane"}, SHARP)["1"] == run["1"]
    assert "judged" not in index.run(topics, SHARP).metadata["method"]


def by_docno(hits) -> dict[str, float]:
    return dict(zip(hits.docnos, map(float, hits.scores), strict=True))


def test_what_changes_nothing_is_said(index):
    with pytest.warns(SublexWarning, match=r"BM25 has no expander, so judgements change nothing"):
        index.run({"1": "crane"}, "BM25", judged={"1": {"d0": 1}})
    with pytest.warns(SublexWarning, match="1 judged document of 2 not in the index"):
        index.run({"1": "crane"}, SHARP, judged={"1": {"d0": 1, "gone": 1}})


def test_a_stored_run_is_that_of_its_judgements(index):
    pipeline, topics = index.pipeline(SHARP), sublex.read_topics(TOPICS)
    qids = [topic.qid for topic in topics]
    with_one, with_other = (index.with_judged({qids[0]: {docno: 1}}) for docno in ("d3", "d5"))
    runs = [run_system(each, topics, pipeline).run for each in (index, with_one, with_other)]
    again = [run_system(each, topics, pipeline) for each in (index, with_one, with_other)]
    assert all(each.cached for each in again)
    assert [dict(each.run) for each in again] == [dict(run) for run in runs]
    assert again[1].run.metadata["method"]["judged"] == runs[1].metadata["method"]["judged"]
    assert runs[1].metadata["method"]["judged"]["hash"] != runs[2].metadata["method"]["judged"]["hash"]


# The residual collection.


def test_the_residual_collection_worked_by_hand():
    run = run_of({"1": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0}, "2": {"a": 1.0}, "3": {"x": 2.0, "a": 1.0}})
    judgements = qrels_of({"1": {"a": 1, "c": 1, "d": 0}, "2": {"a": 1}, "3": {"x": 1}})
    seen = qrels_of({"1": {"a": 1, "z": 0}, "2": {"a": 1}})
    (system,), left, notes = residual([System("s", run)], judgements, seen, 2)
    # Of topic 1, the best two without a; topic 2 has no relevant document left; topic 3 was not seen.
    assert {qid: dict(hits) for qid, hits in system.run.items()} == {
        "1": {"b": 4.0, "c": 3.0}, "2": {}, "3": {"x": 2.0, "a": 1.0},
    }  # fmt: skip
    assert {qid: dict(grades) for qid, grades in left.items()} == {"1": {"c": 1, "d": 0}, "3": {"x": 1}}
    assert notes == [
        "2 judgements left out of 5, with their documents (residual).",
        "1 topic of 3 not measured: no relevant document is left.",
    ]
    # c stands at rank 2 of topic 1, and x at rank 1 of topic 3.
    with pytest.warns(SublexWarning, match="residual"):
        assert sublex.measure(judgements, run, "RR", residual=seen).mean["RR"] == (1 / 2 + 1) / 2
    with pytest.raises(InputError, match="All relevant documents are left out"):
        residual([System("s", run)], judgements, judgements)


def test_a_comparison_by_judged_feedback_warns_and_is_measured_on_the_rest(index):
    topics, qrels = {"1": "bird", "2": "ship"}, {"1": {"d0": 1, "d2": 1}, "2": {"d3": 1, "d5": 1}}
    seen = {"1": {"d0": 1}, "2": {"d3": 1}}
    with pytest.warns(
        SublexWarning, match="which flatters them; leave the documents out of rankings and judgements by residual"
    ):
        flattered = sublex.compare(index, topics, qrels, ["BM25", SHARP], "AP", judged=seen)
    with pytest.warns(SublexWarning, match="2 judgements left out of 4"):
        fair = sublex.compare(index, topics, qrels, ["BM25", SHARP], "AP", judged=seen, residual=seen, k=1)
    assert "flatters" not in " ".join(fair.notes)
    runs = [system.run for system in fair.systems]
    assert all(len(run[qid]) <= 1 and not set(run[qid]) & set(seen[qid]) for run in runs for qid in run)
    # d2 has two words of d0, and d0's word of the query besides. d1 has two words of d3, with the weight .65/√3 each, which
    # is more than the weight .35 + .65/√3 of the only one that d5 has.
    assert [list(runs[1][qid]) for qid in ("1", "2")] == [["d2"], ["d1"]]
    assert fair.evaluations[1]["AP"].tolist() == [1.0, 0.0]
    assert flattered.evaluations[1].mean["AP"] > fair.evaluations[1].mean["AP"]


# The command line.


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with judgements of topic 1 of the demo."""
    grades = dict(sublex.read_qrels(QRELS)["1"])
    relevant = next(docno for docno, grade in grades.items() if grade > 0)
    other = next(docno for docno, grade in grades.items() if grade <= 0)
    (tmp_path / "mine.txt").write_text(f"1 0 {relevant} 1\n1 0 {other} 0\n")
    return relevant, other


def test_a_search_on_the_command_line_learns_from_one_topic(demo, files):
    relevant, other = files
    index, text = sublex.open("demo"), sublex.read_topics(TOPICS)["1"].text
    code, out, err = demo("search", "demo", text, "-r", SHARP, "--judged", "mine.txt", "--qid", "1", "--format", "json")
    assert code == 0, err
    found = [hit["docno"] for hit in json.loads(out)["hits"]]
    assert found == index.search(text, SHARP, judged={relevant: 1, other: 0}).docnos != index.search(text, SHARP).docnos
    code, out, err = demo("explain", "demo", text, relevant, "-r", SHARP, "--judged", "mine.txt", "--qid", "1")
    assert code == 0 and "with 1 relevant document and 1 other judged" in out
    for words, said in (
        (["--judged", "mine.txt"], "mine.txt judges 1; name the query's topic by --qid."),
        (["--judged", "mine.txt", "--qid", "7"], "mine.txt judges 1, and not topic 7."),
        (["--qid", "1"], "--qid names a topic of --judged; name the file of judgements, too."),
    ):
        code, out, err = demo("search", "demo", text, "-r", SHARP, *words)
        assert code == 2 and err == f"sublex: {said}\n"
    code, out, err = demo("search", "demo", text, "--judged", "mine.txt", "--qid", "1")
    assert code == 0 and "BM25 has no expander, so judgements change nothing" in err


def test_a_run_warns_and_leaves_the_judged_documents_out(demo, files):
    options = ["-r", SHARP, "--judged", "mine.txt", "--metadata", "header", "-k", "5"]
    code, out, err = demo("run", "demo", TOPICS, *options, "-o", "all.run")
    assert code == 0 and "by --residual mine.txt." in err
    code, out, err = demo("run", "demo", TOPICS, *options, "-o", "rest.run", "--residual", "mine.txt")
    assert code == 0 and "flatters" not in err
    every, rest = sublex.read_run("all.run"), sublex.read_run("rest.run")
    index, judged = sublex.open("demo"), sublex.read_qrels("mine.txt")
    with pytest.warns(SublexWarning, match="without judgements"):
        expected = index.run(sublex.read_topics(TOPICS), SHARP, 7, judged=judged)
    assert [*every["1"]] == [*expected.top(5)["1"]]
    assert [*rest["1"]] == [*expected.without(judged).top(5)["1"]] and len(rest["1"]) == 5
    assert rest.metadata["method"]["hits"] == 5 and rest.metadata["method"]["residual"] == {"topics": 1, "documents": 2}
    # The metadata of a run file tell that it learned from judgements.
    for words in (("eval", QRELS), ("compare", QRELS)):
        code, out, err = demo(*words, "all.run", "rest.run", "-m", "AP")
        assert (
            code == 0
            and "Made by feedback from judged documents: all.run. These" in err
            and "by --residual QRELS" in err
        )
        assert "flatters" not in demo(*words, "all.run", "rest.run", "-m", "AP", "--residual", "mine.txt")[2]
    with pytest.warns(SublexWarning, match="Made by feedback from judged documents"):
        sublex.compare(None, None, QRELS, ["all.run", "rest.run"], "AP")
    code, out, err = demo("eval", QRELS, "rest.run", "-m", "AP", "--residual", "mine.txt", "--format", "json")
    assert code == 0, err
    with pytest.warns(SublexWarning, match="left out"):
        measured = sublex.measure(QRELS, "rest.run", "AP", residual="mine.txt").mean["AP"]
    assert json.loads(out)[0]["measures"]["AP"] == pytest.approx(measured)


def test_a_comparison_on_the_command_line_is_that_of_python(demo, files):
    options = ["-r", "BM25", "-r", SHARP, "-m", "AP", "--format", "json"]
    code, out, err = demo("compare", "demo", TOPICS, QRELS, *options, "--judged", "mine.txt")
    assert code == 0 and "flatters" in err
    code, out, err = demo("compare", "demo", TOPICS, QRELS, *options, "--judged", "mine.txt", "--residual", "mine.txt")
    assert code == 0 and "2 judgements left out of" in err
    with pytest.warns(SublexWarning):
        done = sublex.compare("demo", TOPICS, QRELS, ["BM25", SHARP], "AP", judged="mine.txt", residual="mine.txt")
    means = [evaluation.mean["AP"] for evaluation in done.evaluations]
    assert [system["measures"]["AP"] for system in json.loads(out)["systems"]] == pytest.approx(means)
    code, out, err = demo("compare", QRELS, "x.run", "--judged", "mine.txt")
    assert code == 2 and err.count("\n") == 1
    code, out, err = demo("compare", "demo", TOPICS, QRELS, *options, "--judged", "mine.txt", "--save-study", "s.toml")
    assert code == 2 and "A study cannot have --judged yet" in err


# The shell.


def test_the_shell_learns_from_what_was_judged(built_demo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    session = Session(
        lambda: sublex.open(built_demo), built_demo, built_in(), ShellSettings(bars=False, expression=SHARP)
    )
    with pytest.raises(InputError, match="There are no judgements; load them by :qrels FILE"):
        session.run(":set judged=on")
    assert session.settings.judged is False
    for line in (f":topics {TOPICS}", ":qrels mine.txt", ":topic 1"):
        session.run(line)
    before = session.answer.hits.docnos
    session.run(":judge 4 1")
    session.run(":judge 1 0")
    session.run(":set judged=on")
    text, grades = sublex.read_topics(TOPICS)["1"].text, {before[3]: 1, before[0]: 0}
    expected = session.index.search(text, SHARP, judged=grades).docnos
    assert session.answer.hits.docnos == expected != before
    session.run(":judge 2 1")
    session.run(":topic 1")
    judged = grades | {expected[1]: 1}
    assert session.answer.hits.docnos == session.index.search(text, SHARP, judged=judged).docnos
    assert "--judged mine.txt --qid 1" in text_of(session.run(":to-cli"))
    assert "judged=sublex.read_qrels('mine.txt')['1']" in text_of(session.run(":to-python"))
    assert "other judged" in text_of(session.run(":explain 1"))
    # Another query is no judged topic.
    session.run("seal pup")
    assert session.answer.hits.docnos == session.index.search("seal pup", SHARP).docnos
    session.run(":run mine.run")
    run = sublex.read_run("mine.run")
    assert [*run["1"]] == [*session.index.search(text, SHARP, 1000, judged=judged).docnos]


def text_of(shown) -> str:
    return "".join(f"{each.text}\n" for each in shown.lines)


def test_a_note_says_that_a_name_without_an_expander_learns_nothing(index):
    assert index.pipeline("good").learns and not index.pipeline("Burst >> BM25").learns
    assert Path(index.path).exists()


def test_docnos_are_looked_up_together_as_one_by_one(tmp_path):
    index = sublex.build([{"id": f"d{n}", "text": "crane"} for n in range(700)], tmp_path / "index")
    index.add([{"id": f"e{n}é", "text": "bird"} for n in range(300)])
    index.delete(["d5", "e7é"])
    index.add([{"id": "d5", "text": "crane again"}])
    snapshot = index.snapshot
    docnos = [*(f"d{n}" for n in range(0, 700, 5)), "e7é", "e8é", "x", "\ud800", "d1\0"]
    expected = sorted(doc for doc in map(snapshot.doc, docnos) if doc is not None)
    assert snapshot.docs_of(docnos).tolist() == expected and len(expected) == 141
    # A few are looked up one by one.
    assert snapshot.docs_of(docnos[:3]).tolist() == sorted(map(snapshot.doc, docnos[:3]))
    assert snapshot.docs_of(["x"]).tolist() == snapshot.docs_of([]).tolist() == []
    docs = snapshot.corpus.docs
    assert snapshot.docnos(docs) == [snapshot.docno(doc) for doc in docs.tolist()] and snapshot.docnos(docs[:0]) == []
