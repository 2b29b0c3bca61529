"""Measures: worked by hand, equal to trec_eval's on random runs with ties and on real collections; bad input is refused."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import sublex
from sublex.errors import InputError
from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures
from sublex.evaluation.run_evaluation import evaluate
from sublex.trec.run_writer import write_run

# Sublex's name, trec_eval's option, trec_eval's name in results.
TREC = [
    ("AP", "map", "map"),
    ("nDCG@10", "ndcg_cut.10", "ndcg_cut_10"),
    ("P@10", "P.10", "P_10"),
    ("R@1000", "recall.1000", "recall_1000"),
    ("RR", "recip_rank", "recip_rank"),
    ("Bpref", "bpref", "bpref"),
    ("Rprec", "Rprec", "Rprec"),
    ("Success@5", "success.5", "success_5"),
    ("nDCG", "ndcg", "ndcg"),
    ("NumRet", "num_ret", "num_ret"),
    ("NumRel", "num_rel", "num_rel"),
]


def as_trec_eval(qrels: dict, run: dict) -> dict[str, dict[str, float]]:
    """Return the measures of trec_eval -c, in which a judged topic without hits has an empty ranking."""
    # trec_eval's code writes out of bounds for an empty ranking and for a topic with only negative grades, and may crash.
    safe = {qid: judged if max(judged.values()) >= 0 else {**judged, "judged": 0} for qid, judged in qrels.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(safe, {option for _, option, _ in TREC})
    found = evaluator.evaluate({qid: run.get(qid) or {"found": 0.0} for qid in qrels})
    for qid in qrels:
        if not run.get(qid):
            found[qid]["num_ret"] = 0.0
    return found


def check(qrels: dict, run: dict, evaluation) -> None:
    expected = as_trec_eval(qrels, run)
    for name, _, trec in TREC:
        by_topic = [expected[qid][trec] for qid in evaluation.qids]
        assert evaluation[name].tolist() == pytest.approx(by_topic, abs=5e-5), name
        total = sum(by_topic) if name.startswith("Num") else sum(by_topic) / len(by_topic)
        assert evaluation.mean[name] == pytest.approx(total, abs=5e-5), name


def test_measures_worked_by_hand():
    qrels = {"1": {"a": 2, "b": 1, "c": 0, "d": 1}}
    run = {"1": {"a": 3.0, "x": 2.5, "b": 2.0, "c": 1.0}}
    found = evaluate(qrels, run, ["AP", "nDCG@10", "P@10", "R@1000", "RR", "Bpref", "NumRet", "NumRel"]).mean
    assert found["AP"] == pytest.approx((1 / 1 + 2 / 3) / 3)
    ideal = 2 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found["nDCG@10"] == pytest.approx((2 + 1 / math.log2(4)) / ideal)
    assert (found["P@10"], found["R@1000"], found["RR"]) == (0.2, pytest.approx(2 / 3), 1.0)
    assert found["Bpref"] == pytest.approx(2 / 3)
    assert (found["NumRet"], found["NumRel"]) == (4, 3)


documents = st.sampled_from([f"d{k}" for k in range(12)] + ["ß", "Z", "zz"])
tables = st.dictionaries(
    st.sampled_from(["1", "2", "3", "4", "05"]),
    st.dictionaries(documents, st.integers(-2, 3), min_size=1),
    min_size=1,
)
runs = st.dictionaries(
    st.sampled_from(["1", "2", "3", "05", "9"]),
    st.dictionaries(documents, st.sampled_from([0.0, -1.5, 1.0, 1.0 + 1e-9, 2.0, 3e5])),
)


@given(tables, runs)
def test_any_run_with_ties_and_missing_topics_is_measured_as_trec_eval_does(qrels, run):
    check(qrels, run, evaluate(qrels, run, [name for name, _, _ in TREC]))


def test_files_have_the_same_measures_as_their_contents(tmp_path):
    chance = random.Random(4)
    qrels = {
        str(qid): {f"d{k}": chance.choice([-1, 0, 0, 1, 2]) for k in chance.sample(range(300), 60)} for qid in range(40)
    }
    run = {
        str(qid): {f"d{k}": float(chance.randrange(20)) for k in chance.sample(range(300), 200)} for qid in range(3, 44)
    }
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()))
    lines = [f"{q} Q0 {d} 0 {s} x\n" for q, docs in run.items() for d, s in docs.items()]
    chance.shuffle(lines)
    (tmp_path / "run").write_text("# a comment\n" + "".join(lines))
    found = evaluate(
        sublex.read_qrels(tmp_path / "qrels"), sublex.read_run(tmp_path / "run"), [name for name, _, _ in TREC]
    )
    assert found.missing == ("0", "1", "2") and found.name == "x"
    check(qrels, run, found)


@pytest.mark.parametrize("name", ["adi", "cranfield", "medline", "cacm", "vaswani", "scifact"])
def test_real_collections_are_measured_as_trec_eval_does(name, collections, tmp_path):
    folder = collections / name
    qrels_file = folder / "qrels.txt" if name != "scifact" else folder / "qrels" / "test.tsv"
    sources = folder / "docs.trec" if name != "scifact" else folder / "corpus.jsonl"
    topics = sublex.read_topics(folder / "topics.trec" if name != "scifact" else folder / "queries.jsonl")
    if not sources.exists():
        sources = next(folder.glob("corpus.jsonl*"))
    index = sublex.build(sources, tmp_path / "index")
    # Impacts cut to whole numbers tie often.
    run = index.run(topics, "CoordinateMatch", 1000)
    write_run(tmp_path / "run", run.rows(), "run")
    plain: dict[str, dict[str, float]] = {}
    for line in (tmp_path / "run").read_text(encoding="utf-8").splitlines():
        qid, _, docno, _, score, _ = line.split()
        plain.setdefault(qid, {})[docno] = float(score)
    qrels = sublex.read_qrels(qrels_file)
    check(dict(qrels), plain, evaluate(qrels, sublex.read_run(tmp_path / "run"), [name for name, _, _ in TREC]))


def test_many_topics_are_measured_in_groups_with_the_same_result(monkeypatch):
    qrels = {str(k): {f"d{k % 7}": 1, "e": 0} for k in range(50)}
    run = {str(k): {f"d{j}": 1.0 / (j + k + 1) for j in range(9)} for k in range(3, 50)}
    whole = evaluate(qrels, run, measures := [name for name, _, _ in TREC])
    monkeypatch.setattr("sublex.evaluation.run_evaluation.GROUP", 7)
    np.testing.assert_array_equal(evaluate(qrels, run, measures).values, whole.values)


def test_negative_grades_are_not_relevant_and_gain_nothing():
    qrels = {"1": {"a": -2, "b": 1}}
    found = evaluate(qrels, {"1": {"a": 2.0, "b": 1.0}}, ["AP", "nDCG", "NumRel"]).mean
    assert found == {"AP": 0.5, "nDCG": pytest.approx(1 / math.log2(3)), "NumRel": 1.0}


def test_input_that_crashes_the_code_of_trec_eval_is_kept_from_it():
    measures = [name for name, _, _ in TREC]
    for _ in range(200):
        found = evaluate({"1": {"a": -1}, "2": {"a": 1}}, {"1": {"b": 1.0}, "2": {}}, measures)
    assert found.mean["AP"] == 0 and found.mean["NumRet"] == 1 and found.mean["NumRel"] == 1
    assert found.missing == ("2",)
    with pytest.raises(InputError, match="Topic 1 has a grade of 2,147,483,647; the highest grade allowed is 10,000"):
        evaluate({"1": {"a": 2**31 - 1}}, {"1": {"a": 1.0}})


def test_names_are_those_of_ir_measures_and_of_trec_eval():
    assert [str(m) for m in parse_measures(["map", "ndcg_cut_10", "P.5,10", "ndcg@20 mrr", "recip_rank"])] == [
        "AP", "nDCG@10", "P@5", "P@10", "nDCG@20", "RR",
    ]  # fmt: skip
    assert "Rprec" in [str(m) for m in parse_measures(["official"])]
    assert [str(m) for m in parse_measures(["AP(rel=2)", "nDCG(dcg='exp-log2')@10"])] == [
        "AP(rel=2)",
        "nDCG(dcg='exp-log2')@10",
    ]
    assert [str(m) for m in parse_measures(DEFAULT_MEASURES)] == list(DEFAULT_MEASURES)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nDGC@10", "No measure nDGC@10; did you mean nDCG@10?"),
        ("mapp", "did you mean"),
        ("Foo@10", "No measure Foo@10; there are AP"),
        ("P@0", "cutoff below 1"),
        ("P_0", "cutoff below 1"),
        ("AP(foo=1)", "No measure AP(foo=1)"),
        ("ERR", "needs a parameter; write for example ERR@10"),
        ("alpha_nDCG", "pip install"),
        ("__import__('os').getcwd()", "No measure"),
        ("", "No measure is named"),
    ],
)
def test_an_unknown_measure_is_refused_in_a_sentence(name, sentence):
    with pytest.raises(InputError) as error:
        parse_measures([name])
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_gains_of_one_measure_do_not_reach_another():
    qrels, run = {"1": {"a": 1, "b": 2}}, {"1": {"a": 2.0, "b": 1.0}}
    names = ["nDCG(gains={1:5,2:0})@10", "nDCG@10", "AP"]
    together = evaluate(qrels, run, names).mean
    assert list(together.values()) == [evaluate(qrels, run, [name]).mean[name] for name in together]


@pytest.mark.parametrize(
    "name", ["AP(rel=0)", "P(rel=99999999999)@5", "AP@99999999999999999999999", "P.5,x,10", "nDCG@x"]
)
def test_measures_that_fail_when_they_are_computed_are_refused_before(name):
    with pytest.raises(InputError) as error:
        parse_measures([name])
    assert f"did you mean {name}?" not in str(error.value)


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"1": {"a": 1.5}}, {"1": {"a": 1.0}}),
        ({1.5: {"a": 1}}, {"1": {"a": 1.0}}),
        ({"1": {"a": 1}}, {"1": {None: 1.0}}),
        ({"1": {"a": 1}}, {"1": {"a": math.nan}}),
        ({"1": {"a": 1}}, {"1": {"a": 1e300}}),
        ({"1": {"a": 1}}, {"1": {"a": "x"}}),
    ],
)
def test_dictionaries_that_are_no_qrels_or_run_are_refused(qrels, run):
    with pytest.raises(InputError):
        sublex.measure(qrels, run, "AP")


def test_an_evaluation_is_read_by_measure_and_by_topic():
    found = evaluate({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}}, ["AP", "NumRel"], "mine")
    assert found["AP"].tolist() == [1.0, 0.0] and found.missing == ("2",)
    assert dict(found.topics()) == {"1": {"AP": 1.0, "NumRel": 1.0}, "2": {"AP": 0.0, "NumRel": 1.0}}
    assert repr(found) == "<mine: AP 0.5000, NumRel 2.0000 over 2 topics>"
    assert "<td>mine</td>" in found._repr_html_() and ">2</td>" in found._repr_html_()
    with pytest.raises(InputError, match="RR was not computed; there are AP, NumRel"):
        found["RR"]
    frame = pytest.importorskip("pandas") and found.to_pandas()
    assert frame.loc["1", "AP"] == 1.0 and frame.index.name == "qid"


def test_measure_takes_files_and_dictionaries(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n")
    for qrels, run in (
        (tmp_path / "qrels", tmp_path / "run"),
        ({"1": {"a": 1}}, {"1": {"a": 1, "b": 2}}),
        (str(tmp_path / "qrels"), sublex.read_run(tmp_path / "run")),
    ):
        assert sublex.measure(qrels, run, "AP RR").mean == {"AP": 0.5, "RR": 0.5}
    assert sublex.measure(qrels, run).measures == DEFAULT_MEASURES


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n3 0 d 0\n")
    (tmp_path / "one.run").write_text("# mine\n1 Q0 b 1 2 one\n1 Q0 a 2 1 one\n1 Q0 a 2 1 one\n")
    (tmp_path / "two.run").write_text("2 Q0 c 1 2 two\n1 Q0 a 2 1 two\n")
    return str(tmp_path / "qrels"), str(tmp_path / "one.run"), str(tmp_path / "two.run")


def test_eval_prints_a_row_per_run_and_notes_about_the_input(command, files):
    code, output, messages = command("eval", *files, "-m", "AP", "-m", "NumRet NumRel")
    assert code == 0
    assert [line.split() for line in output.splitlines()] == [
        ["run", "AP", "NumRet", "NumRel"],
        ["one", "0.1667", "2", "2"],
        ["two", "0.6667", "2", "2"],
    ]
    assert "4 judgements of 3 topics" in messages
    assert (
        "one: 2 judged topics of" in messages
        and "(2, 3) are not in the run: Sublex counts each such topic as 0" in messages
    )
    assert "1 line repeats a hit with the same score and counts once" in messages


def test_eval_prints_topics_and_other_forms(command, files):
    lines = command("eval", *files[:2], "-m", "AP", "-q")[1].splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["one", "1", "0.5000"],
        ["one", "2", "0.0000"],
        ["one", "3", "0.0000"],
        ["one", "all", "0.1667"],
    ]
    found = json.loads(command("eval", *files, "-m", "AP", "-q", "--format", "json")[1])
    assert found[1]["measures"]["AP"] == pytest.approx(2 / 3) and found[0]["by topic"]["1"] == {"AP": 0.5}
    assert found[0]["missing"] == ["2", "3"]
    assert command("eval", *files, "-m", "AP", "--format", "csv")[1].startswith("run,AP\none,0.166666")
    assert "| one | 0.1667 |" in command("eval", *files, "-m", "AP", "--format", "markdown")[1]
    assert "one & 0.1667 \\\\" in command("eval", *files, "-m", "AP", "--format", "latex")[1]


def test_eval_refuses_bad_files_and_measures_in_a_sentence(command, files, tmp_path):
    (tmp_path / "bad.run").write_text("1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n")
    for arguments, sentence in [
        ((files[1], files[0]), "6 columns where 4 should be"),
        ((files[0], str(tmp_path / "none")), "No such file"),
        ((files[0], str(tmp_path / "bad.run")), "with another score; keep one"),
        ((files[0], files[1], "-m", "nope"), "No measure nope"),
    ]:
        code, output, messages = command("eval", *arguments)
        assert (code, output) == (2, "") and sentence in messages and "Traceback" not in messages
