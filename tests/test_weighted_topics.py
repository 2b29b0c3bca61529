"""Tests of topics whose texts are terms with weights: run, compare and tune with `--weighted`."""

from __future__ import annotations

import pytest

import sublex
from sublex.contracts.base import Query, QueryTerm
from sublex.errors import InputError

TOPICS = {"1": "river^2 crane^0.5", "2": "bank^1 river^0.25"}
QUERIES = {
    "1": Query("a", (QueryTerm("river", 2.0), QueryTerm("crane", 0.5))),
    "2": Query("b", (QueryTerm("bank", 1.0), QueryTerm("river", 0.25))),
}


@pytest.fixture
def files(demo, tmp_path):
    """The function that runs commands. In its folder are the demo index, topics.tsv (weighted topics) and qrels.txt."""
    (tmp_path / "topics.tsv").write_text("".join(f"{qid}\t{text}\n" for qid, text in TOPICS.items()))
    index = sublex.open("indexes/demo")
    best = {qid: index.search(query, "BM25", k=3).docnos for qid, query in QUERIES.items()}
    (tmp_path / "qrels.txt").write_text("".join(f"{qid} 0 {docno} 1\n" for qid, own in best.items() for docno in own))
    return demo


def test_a_run_of_weighted_topics_is_that_of_the_queries(files):
    index = sublex.open("indexes/demo")
    made = index.run(TOPICS, "BM25", k=20, language="weighted")
    for qid, query in QUERIES.items():
        assert made[qid] == {hit.docno: hit.score for hit in index.search(query, "BM25", k=20)}
    assert files("run", "demo", "topics.tsv", "-r", "BM25", "-k", "20", "--weighted", "-o", "w.run").code == 0
    written = sublex.read_run("w.run")
    assert {qid: list(own) for qid, own in written.items()} == {qid: list(own) for qid, own in made.items()}
    assert made["1"] != index.run(TOPICS, "BM25", k=20)["1"]


def test_comparison_and_tuning_read_weighted_topics(files):
    done = files("compare", "demo", "topics.tsv", "qrels.txt", "-r", "BM25", "-m", "P@3", "--weighted")
    assert done.code == 0 and "1.0000" in done.output
    plain = files("compare", "demo", "topics.tsv", "qrels.txt", "-r", "BM25", "-m", "P@3")
    assert plain.code == 0 and "BM25    0.6667" in plain.output
    tuned = files(
        "tune", "demo", "topics.tsv", "qrels.txt", "BM25(b={.3,.75})", "-m", "P@3", "--folds", "2", "--weighted"
    )
    assert tuned.code == 0 and "--language weighted" in tuned.output + tuned.messages


def test_weighted_topics_that_are_wrong_cost_one_sentence(files):
    done = files("run", "demo", "topics.tsv", "--weighted", "--language", "query")
    assert done.code and "Weighted terms are in no language; leave out --weighted, or --language." in done.messages
    with pytest.raises(InputError, match="Topic 7: crane^x is not a term with a weight".replace("^", r"\^")):
        sublex.open("indexes/demo").run({"7": "crane^x"}, "BM25", language="weighted")
