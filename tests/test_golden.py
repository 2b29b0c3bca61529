"""Tests against figures from outside the engine.

Lucene's hits for the demo collection, and the effectiveness of every ranker as computed by the references alone.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import ir_measures
import pytest
from ir_measures import AP, nDCG

import sublex

GOLDEN = Path(__file__).parent / "golden"
DEMO = Path(__file__).parents[1] / "queries" / "demo"
FIGURES = [line.split() for line in (GOLDEN / "effectiveness.txt").read_text().splitlines() if not line.startswith("#")]


@pytest.fixture(scope="module")
def topics():
    return sublex.read_topics(DEMO / "topics.trec")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    return sublex.build(DEMO / "documents.jsonl", tmp_path_factory.mktemp("golden") / "index")


def test_the_first_hundred_are_lucenes(tmp_path, topics):
    index = sublex.build(DEMO / "documents.jsonl", tmp_path / "index", profile="anserini")
    golden = json.loads((GOLDEN / "lucene-top.json").read_text())
    assert golden.pop("made with").startswith("Anserini")
    for expression, lucene in golden.items():
        run = index.run(topics, expression, 100)
        assert {qid for qid in run if run[qid]} == set(lucene)
        for qid, hits in lucene.items():
            scores = [score for _, score in hits]
            assert list(run[qid].values()) == pytest.approx(scores, rel=1e-4, abs=1e-4), (expression, qid)
            # Lucene breaks ties by the order of indexing, so hits that tie with the hundredth may differ.
            last = scores[-1] if len(scores) == 100 else -math.inf
            ours = {docno: score for docno, score in run[qid].items() if score > last + 1e-3}
            theirs = {docno: score for docno, score in hits if score > last + 1e-3}
            assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4), (expression, qid)


def test_the_table_names_every_ranker():
    registered = sublex.language.plugins.load().names("ranker")
    # Rankers with fields need an index with fields; `test_search.py` compares them with their definition.
    assert [name for name, *_ in FIGURES] == sorted({*registered} - {"BM25F", "PL2F"})


@pytest.mark.parametrize(("name", "ap", "ndcg"), FIGURES)
def test_a_ranker_is_as_effective_as_its_reference(index, topics, name, ap, ndcg):
    judged = sublex.read_qrels(DEMO / "qrels.txt")
    run = index.run(topics, name)
    # Negative ranks in place of scores leave no ties to the measures.
    ranks = {qid: {docno: float(-rank) for rank, docno in enumerate(run[qid])} for qid in run}
    means = ir_measures.calc_aggregate([AP, nDCG @ 10], {qid: dict(judged[qid]) for qid in judged}, ranks)
    assert (f"{means[AP]:.4f}", f"{means[nDCG @ 10]:.4f}") == (ap, ndcg)
