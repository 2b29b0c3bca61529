"""Disagreement: the topics on which rankings differ most, the documents that move, and what moves them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from shared import DEMO, QRELS, TOPICS

import sublex as engine
from sublex.contracts.base import Explanation
from sublex.errors import InputError
from sublex.evaluation.disagreement import standardised
from sublex.statistics.agreement import rbo, tau_ap

A, B = "BM25", "BM25 >> RM3 >> BM25"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return engine.build(DEMO, tmp_path_factory.mktemp("disagree") / "demo")


@pytest.fixture(scope="module")
def found(index):
    return engine.disagree(index, TOPICS, A, B, QRELS, number=4, documents=3, depth=50, measure="nDCG@10")


def test_topics_come_by_their_agreement_with_the_measures_of_both_rankings(found, index):
    runs = [index.run(engine.read_topics(TOPICS), each) for each in (A, B)]
    measures = [engine.measure(QRELS, run, "nDCG@10") for run in runs]
    assert len(found.topics) == 30
    assert [topic.rbo for topic in found.topics] == sorted(topic.rbo for topic in found.topics)
    for topic in found.topics:
        one, two = (list(run[topic.qid])[:50] for run in runs)
        tau = (tau_ap(one, two) + tau_ap(two, one)) / 2
        assert topic.rbo == rbo(one, two) and topic.tau == pytest.approx(tau, nan_ok=True)
        place = measures[0].qids.index(topic.qid)
        assert topic.scores == tuple(float(each["nDCG@10"][place]) for each in measures)
    assert [bool(topic.movers) for topic in found.topics] == [True] * 4 + [False] * 26


def test_the_documents_that_move_most_come_first_with_their_grades(found, index):
    qrels, topics = engine.read_qrels(QRELS), engine.read_topics(TOPICS)
    for topic in found.shown:
        one, two = (index.search(topics[topic.qid].text, each, 50).docnos for each in (A, B))
        gains = [{docno: 1 / math.log2(1 + rank) for rank, docno in enumerate(each, 1)} for each in (one, two)]
        change = {docno: gains[1].get(docno, 0) - gains[0].get(docno, 0) for docno in {*one, *two}}
        sizes = sorted(map(abs, change.values()), reverse=True)
        assert [abs(change[mover.docno]) for mover in topic.movers] == pytest.approx(sizes[:3])
        for mover in topic.movers:
            for rank, ranked in ((mover.a, one), (mover.b, two)):
                assert ranked[rank - 1] == mover.docno if rank else mover.docno not in ranked
            assert mover.grade == qrels[topic.qid].get(mover.docno)
            rose = change[mover.docno] > 0
            wanted = "" if mover.grade is None else "b" if rose == (mover.grade > 0) else "a"
            assert mover.right == wanted and mover.title == index.document(mover.docno).title
            assert all((cause.moves > 0) == rose for cause in mover.causes) and len(mover.causes) <= 3


def test_what_moves_a_document_does_not_depend_on_the_number_shown(found, index):
    fewer = engine.disagree(index, TOPICS, A, B, QRELS, number=1, documents=1, depth=50, measure="nDCG@10")
    assert fewer.topics[0].movers == found.topics[0].movers[:1] and not fewer.topics[1].movers


def test_the_parts_of_a_standard_score_add_up_to_it(index):
    text, docnos = "crane lifting heavy loads", index.search("crane lifting heavy loads", A, 8).docnos
    for expression in (A, B, "BM25 + 0.3*DirichletLM"):
        pipeline = index.pipeline(expression)
        trees = pipeline.explanations(index.query(text), [index.doc(docno) for docno in docnos])
        values = np.array([index.explain(text, docno, expression).value for docno in docnos])
        assert [tree.value for tree in trees] == pytest.approx(values.tolist())
        shares = standardised(trees)
        wanted = (values - values.mean()) / values.std()
        assert [sum(each.values()) for each in shares] == pytest.approx(wanted.tolist(), abs=1e-4)
        wanted = (values - values[:5].mean()) / values[:5].std()
        assert [sum(each.values()) for each in standardised(trees, 5)] == pytest.approx(wanted.tolist(), abs=1e-4)


def test_standard_scores_of_documents_without_a_score_or_without_differences():
    tree = Explanation(3.0, "score", parts=(Explanation(2.0, "crane"), Explanation(1.0, "bird")))
    assert standardised([tree, tree]) == [{}, {}] and standardised([]) == []
    lost = Explanation(-math.inf, "not found", parts=(Explanation(2.0, "crane"),))
    # The scores are 3 and 0: their mean is 1.5, and so is their standard deviation.
    assert standardised([tree, lost]) == [{"crane": pytest.approx(2 / 3), "bird": pytest.approx(1 / 3)},
                                          {"crane": pytest.approx(-2 / 3), "bird": pytest.approx(-1 / 3)}]  # fmt: skip


def test_what_moves_a_document_is_the_word_that_one_ranking_weighs_more(tmp_path):
    documents = [
        {"id": "one", "text": "crane crane crane crane"},
        {"id": "two", "text": "heron crane"},
        {"id": "three", "text": "heron heron heron"},
        {"id": "four", "text": "stork"},
    ]
    index = engine.build(documents, tmp_path / "birds")
    heron = engine.expander(lambda query, context: {"heron": 1.0, "crane": 0.1}, version=1)
    done = engine.disagree(index, {"1": "crane"}, "BM25", heron >> "BM25")
    movers = {mover.docno: mover for mover in done.topics[0].movers}
    moves = {docno: {cause.label: cause.moves > 0 for cause in mover.causes} for docno, mover in movers.items()}
    # The first ranking wants cranes, which the third document lacks; the second one wants herons, which the first one lacks.
    assert movers["three"].a is None and movers["three"].b == 1 and moves["three"] == {"heron": True, "crane": True}
    assert movers["one"].a == 1 and moves["one"] == {"heron": False, "crane": False}


def test_the_same_rankings_and_foreign_judgements_are_refused(index):
    with pytest.raises(InputError, match="Both rankings are BM25; name two"):
        engine.disagree(index, TOPICS, "BM25", "BM25(k1=1.2)")
    with pytest.raises(InputError, match="No topic is judged"):
        engine.disagree(index, TOPICS, "BM25", "PL2", {"zzz": {"a": 1}})
    with pytest.raises(InputError, match="need an index"):
        engine.disagree(None, TOPICS, "BM25", "PL2")


def test_rankings_that_agree_have_no_movers(index):
    done = engine.disagree(index, {"1": "stargazing"}, "BM25", "PL2")
    assert done.topics[0].rbo == 1 and math.isnan(done.topics[0].tau) and not done.topics[0].movers
    assert "Topic 1" not in str(done)
    frame = done.to_pandas()
    assert list(frame.columns) == ["qid", "text", "rbo", "tau"]


def test_disagree_on_the_command_line(demo):
    arguments = ("disagree", "demo", str(TOPICS), "-r", "BM25", "-r", "PL2", "-r", B)
    code, output, _ = demo(
        *arguments, "-n", "2", "--documents", "2", "-o", "page.html", "--qrels", str(QRELS), "-m", "RR"
    )
    assert code == 0
    page = Path("page.html").read_text()
    assert "<h1>Where BM25 and PL2 and BM25 &gt;&gt; RM3 &gt;&gt; BM25 disagree</h1>" in page and "RR BM25" in page
    data = json.loads(demo(*arguments, "-n", "2", "--documents", "2", "--depth", "7", "--format", "json")[1])
    assert [(each["a"], each["b"], each["depth"]) for each in data] == [("BM25", "PL2", 7), ("BM25", B, 7)]
    assert [len(topic["movers"]) for topic in data[1]["topics"]] == [2, 2] + [0] * 28
    assert all(topic["scores"] is None for topic in data[1]["topics"])
    csv = demo(*arguments, "-n", "2", "--format", "csv")[1].splitlines()
    assert csv[0] == "against,topic,query,RBO,τ_AP" and len(csv) == 5
    code, output, messages = demo("disagree", "demo", str(TOPICS), "-r", "BM25")
    assert (code, output) == (2, "") and "Name two rankings or more with -r." in messages
    assert "stands for several measures" in demo(*arguments, "-m", "official")[2]


def test_disagree_in_the_shell_uses_the_loaded_topics_and_judgements(demo):
    script = (
        "-c",
        f":topics {TOPICS}",
        "-c",
        f":qrels {QRELS}",
        "-c",
        f":disagree '{B}'",
        "-c",
        ":to-cli",
        "-c",
        ":to-python",
    )
    code, output, messages = demo("shell", "demo", *script)
    assert code == 0, messages
    assert f"{B} against BM25: mean RBO" in output and "grade" in output
    assert f"--qrels {QRELS}" in output and "sublex disagree" in output
    assert f"sublex.disagree(index, {str(TOPICS)!r}, 'BM25', '{B}', {str(QRELS)!r})" in output
    given = ":disagree -n 2 --documents 3 --depth 40 -m P@5 PL2"
    output = demo(
        "shell",
        "demo",
        "-c",
        f":topics {TOPICS}",
        "-c",
        f":qrels {QRELS}",
        "-c",
        given,
        "-c",
        ":to-cli",
        "-c",
        ":to-python",
    )[1]
    assert "-n 2 --documents 3 --depth 40 --measure P@5" in output
    assert "number=2, documents=3, depth=40, measure='P@5')" in output
    assert "P@5 needs judgements" in "".join(
        demo("disagree", "demo", str(TOPICS), "-r", "BM25", "-r", "PL2", "-m", "P@5")[1:]
    )
    code, output, messages = demo("shell", "demo", "-c", ":disagree PL2")
    assert "load them by :topics FILE" in messages + output
