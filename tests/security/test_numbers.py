"""Numbers at the edge of float32: wherever a score would leave it, there is one sentence and no ranking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sublex as engine
from sublex.contracts.base import Document, Query, QueryTerm
from sublex.contracts.scores import SMALLEST_SCORE
from sublex.errors import InputError, SublexError
from sublex.pipeline.weighted import weighted_query
from sublex.retrieval.hits import Hits
from sublex.trec.fuse import fuse
from sublex.trec.given_tables import run_of

DOCUMENTS = [
    Document("a", "crane crane by the river"), Document("b", "a crane"), Document("c", "the river bank"),
    Document("d", "ships in the harbour"), Document("e", "old trees in a wood"), Document("f", "stones and birds"),
]  # fmt: skip
RIGHT = ["1", "1e30", "-1e30", "1e-30", "-1e-30", "1e37", "1e-36"]
WRONG = ["1e308", "-1e308", "3e39", "1e-39", "-1e-46", "1e-308"]


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Any:
    return engine.build(DOCUMENTS, tmp_path_factory.mktemp("numbers") / "papers")


def asked(*weights: float) -> Query:
    return Query("x", tuple(map(QueryTerm, ("crane", "river"), weights)))


def is_sound(hits: Hits) -> bool:
    """Return whether the scores are finite, differ where those of usual weights differ, and are no lost zeros."""
    return bool(np.isfinite(hits.scores).all() and (np.abs(hits.scores) >= SMALLEST_SCORE).all()) and len(hits) > 0


@pytest.mark.parametrize("pipeline", ["BM25", "PL2", "BM25 >> PL2", "BM25 + PL2", "raw(BM25)"])
@pytest.mark.parametrize("weight", RIGHT)
def test_weights_within_float32_rank_as_weights_of_usual_size(index, weight, pipeline):
    usual = index.search(asked(np.sign(float(weight))), pipeline)
    hits = index.search(asked(float(weight)), pipeline)
    assert [hit.docno for hit in hits] == [hit.docno for hit in usual]
    assert "PL2" in pipeline and "+" in pipeline or is_sound(hits)


@pytest.mark.parametrize("pipeline", ["BM25", "PL2", "BM25 >> PL2", "BM25 + PL2", "raw(BM25)", "BM25 >> RM3 >> BM25"])
@pytest.mark.parametrize("weight", WRONG)
def test_a_weight_of_a_query_outside_float32_costs_a_sentence(index, weight, pipeline):
    for query in (asked(float(weight)), asked(float(weight), 1.0), asked(1.0, float(weight))):
        for ask in (
            index.search,
            lambda *given: index.explain(given[0], "a", given[1]),
            lambda *g: list(index.search(*g, k=1)),
        ):
            with pytest.raises(InputError, match="float32"):
                ask(query, pipeline)


@pytest.mark.parametrize("weight", WRONG)
def test_weighted_terms_as_text_are_checked_when_they_are_read(weight):
    with pytest.raises(InputError, match=r"outside float32.*; use weights between 1e-30 and 1e\+30\.$"):
        weighted_query(f"river crane^{weight}")


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_no_numbers_are_refused_from_python(index, weight):
    with pytest.raises(InputError, match="float32"):
        index.search(asked(weight))


def test_terms_whose_sum_leaves_float32_are_refused_and_each_alone_is_not(index):
    """The scores of the two terms are finite, and their sum is not; with opposite signs, a document may have either."""
    weight = 3.4e38
    assert is_sound(index.search(asked(weight)))
    for other in (weight, -weight):
        with pytest.raises(InputError, match="too large for float32"):
            index.search(asked(weight, other))


def test_a_batch_is_refused_for_the_query_that_leaves_float32_only(index):
    searcher = index.searcher("BM25")
    good, bad = {"crane": 1.0}, {"crane": 3.4e38, "river": 3.4e38}
    with pytest.raises(InputError, match="too large"):
        list(searcher.batch([good, bad, good]))
    many = [{"crane": 1e38}] * 200
    assert [len(hits) for hits in searcher.batch(many)] == [2] * 200
    small = [{"crane": 1e-36}, {"none": 1.0}, {"river": 1.0}]
    assert [len(hits) for hits in searcher.batch(small)] == [2, 0, 2]


@pytest.mark.parametrize("weight", ["1e308", "1e39", "1e-39", "1e-46", "1e-308"])
@pytest.mark.parametrize(
    "expression",
    [
        "{}*BM25",
        "{}*BM25 + PL2",
        "raw({}*BM25)",
        "BM25 >> {}*PL2",
        "BM25 >> RM3 >> {}*raw(BM25)",
        "zscore({}*raw(BM25)) + PL2",
    ],
)
def test_a_weight_of_an_expression_outside_float32_costs_a_sentence(index, weight, expression):
    with pytest.raises(InputError, match="float32"):
        index.search("crane river", expression.format(weight))


def test_small_scores_of_a_blend_are_refused_only_for_small_weights(index):
    tiny = engine.rerank(lambda query, documents: [10.0 ** -(36 + k) for k, _ in enumerate(documents)], name="tiny")
    assert len(index.search("crane river", "BM25" >> tiny)) == 3
    assert len(index.search("crane river", "BM25" + tiny)) == 3
    with pytest.raises(InputError, match="too small for float32"):
        index.search("crane river", "2e-38*BM25 + 2e-38*PL2")


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), 1e39])
def test_hits_have_finite_scores(index, value):
    snapshot = index.snapshot
    with pytest.raises(InputError, match="^The score of b is .*no finite float32 number"):
        Hits.ranked(snapshot, np.array([0, 1], np.int32), np.array([1.0, value]))


@pytest.mark.parametrize("weights", [(1e308, 1), (1e-46, 1), (1e-39, 1e-39), (3e38, 3e38), (-1e39, 0)])
def test_a_fusion_that_leaves_float32_is_refused(weights):
    runs = [run_of({"1": {"a": 3.0, "b": 2.0, "c": 1.0}}), run_of({"1": {"a": 5.0, "b": 4.0}})]
    with pytest.raises(InputError, match="float32|too large"):
        fuse(runs, "weighted", weights)
    assert len(fuse(runs, "weighted", (1e-30, 1e30))) == 1


def test_a_query_of_weights_0_says_so(index, command):
    code, output, messages = command("search", str(index.path), "--weighted", "crane^0", merged=False)
    assert code == 0 and "the weights of all terms are 0" in output + messages
    assert "contains" not in output + messages
    assert index.search(asked(0.0, 1.0))[0].docno == "c"


def test_stored_impacts_know_their_largest(index):
    index.store_impacts(["BM25"])
    try:
        fresh = engine.open(index.path)
        with pytest.raises(InputError, match="too large"):
            fresh.search(asked(3.4e38, 3.4e38), "BM25")
    finally:
        index.store_impacts([])


def test_what_a_ranker_gives_is_finite(index):
    class Wild:
        def __init__(self, value: float):
            self.value = value

        def score(self, tf, doc, term, collection):
            return np.full(len(tf), self.value)

    from sublex.contracts.base import Ranker
    from sublex.retrieval.searcher import Searcher

    for value in (np.inf, np.nan, 1e39, -1e300):
        ranker = type("Wild", (Wild, Ranker), {})(value)
        with pytest.raises(SublexError, match="not a finite number"):
            Searcher(index.snapshot, ranker).search({"crane": 1.0})
    large = Searcher(index.snapshot, type("Wild", (Wild, Ranker), {})(2e38))
    assert len(large.search({"crane": 1.0})) == 2
    with pytest.raises(InputError, match="too large"):
        large.search({"crane": 1.0, "river": 1.0})
    negative = Searcher(index.snapshot, type("Wild", (Wild, Ranker), {})(-2e38))
    with pytest.raises(InputError, match="too large"):
        negative.scores({"crane": 1.0, "river": 1.0}, np.array([0, 1], np.int32))
