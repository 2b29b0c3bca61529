"""Tests of retrieval by blocks: it finds what adding up every impact finds, also where bounds and thresholds are equal."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import WORDS, texts
from strategies import examples
from test_search import RANKERS, queries

import sublex
from sublex.base import Document
from sublex.errors import IndexCorrupt
from sublex.index import derived
from sublex.rankers.bm25 import BM25
from sublex.rankers.coordination_level import CoordinateMatch
from sublex.retrieval.blocks import blocks
from sublex.retrieval.blocks.blocks import Blocks
from sublex.retrieval.kernels import MOST_TERMS
from sublex.retrieval.searcher import Searcher

# Costs with which every query with a row is answered by blocks, whatever it takes.
FREE = np.array([0.0, 0.0, 1e-9])


@pytest.fixture(scope="module", autouse=True)
def blocks_always_pay() -> Iterator[pytest.MonkeyPatch]:
    """Give small collections blocks, and let them pay for every query."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "FEWEST", 1)
        patch.setattr("sublex.retrieval.searcher.COSTS", FREE)
        yield patch


def rows_of(searcher: Searcher) -> list[np.ndarray]:
    """Give all frequent terms of the searcher rows, and return the rows of each segment."""
    searcher._prepare()
    for impacts in searcher.impacts:
        for _ in range(2):
            impacts.settle(np.arange(len(impacts.segment.terms)))
    return [impacts.blocks.row_of for impacts in searcher.impacts]


def answered(searcher: Searcher, query: Mapping[str, float], k: int) -> list[bool]:
    """Return for each segment whether blocks answer the query."""
    flags = [False] * len(searcher.impacts)
    real = Searcher._by_blocks

    def noting(self: Searcher, blocks: Blocks, *arguments: np.ndarray) -> None:
        real(self, blocks, *arguments)  # type: ignore[arg-type]
        flags[[impacts.blocks for impacts in searcher.impacts].index(blocks)] = bool(arguments[-1].all())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Searcher, "_by_blocks", noting)
        searcher.search(query, k)
    return flags


def check(searcher: Searcher, query: Mapping[str, float], k: int) -> None:
    """Assert that the hits are those of adding up every impact."""
    hits = searcher.search(query, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Searcher, "_by_blocks", lambda *_: None)
        expected = searcher.search(query, k)
    assert hits.docs.tolist() == expected.docs.tolist()
    assert hits.scores.tolist() == expected.scores.tolist()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    """An index of two segments with deleted documents."""
    index = sublex.build(
        [Document(f"d{k}", text) for k, text in enumerate(texts(1500, 1))], tmp_path_factory.mktemp("blocks") / "index"
    )
    index.add([Document(f"é{k}", text) for k, text in enumerate(texts(700, 2))])
    index.delete([f"d{k}" for k in range(0, 1500, 7)])
    return index


@pytest.mark.parametrize("name", RANKERS)
@given(query=queries, k=st.sampled_from([1, 2, 10, 50, 1000, 5000]), rows=st.booleans())
@settings(max_examples=examples(60))
def test_hits_by_blocks_are_those_of_adding_up_everything(index, name, query, k, rows):
    # Without rows, the first search computes the impacts, and the second one fills in rows.
    searcher = Searcher(index.snapshot, RANKERS[name])
    if rows:
        rows_of(searcher)
    for _ in range(2):
        check(searcher, query, k)


@given(query=queries, k=st.sampled_from([1, 10, 300]))
@settings(max_examples=examples(20))
def test_hits_by_blocks_equal_those_of_the_definition(index, query, k):
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    hits = searcher.search(query, k)
    docs, scores = naive.retrieve(searcher.snapshot, searcher.ranker, query, k)
    assert (hits.docs.tolist(), hits.scores.tolist()) == (docs, scores)


def _collections() -> dict[str, list[str]]:
    chance = random.Random(4)
    rare = [f"rare{k}" for k in range(40)]
    return {
        "all alike": ["whale sea"] * 1200,
        "one term everywhere": [f"sea {chance.choice(WORDS)}" for _ in range(1200)],
        "two kinds": ["whale sea", "sea"] * 600,
        "rare terms": [f"sea {' '.join(chance.choices([*rare, 'whale'], k=3))}" for _ in range(1200)],
        "a run of hits": ["sea"] * 600 + ["whale whale sea"] * 30 + ["whale"] * 600,
        "one document": ["whale sea"],
        "a last block of one": ["whale sea"] * 1025,
    }


@pytest.mark.parametrize("ranker", [BM25(), CoordinateMatch()], ids=str)
@pytest.mark.parametrize("name", _collections())
def test_equal_scores_and_thresholds_that_are_hit_exactly(tmp_path, name, ranker):
    documents = [Document(f"{7919 * k % 10007}", text) for k, text in enumerate(_collections()[name])]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain", store="none", workers=1)
    searcher = Searcher(index.snapshot, ranker)
    rows_of(searcher)
    for query in (
        {"sea": 1.0},
        {"whale": 1.0, "sea": 1.0},
        {"whale": 0.1, "sea": 0.3},
        {"whale": 1.0, "sea": -0.25},
        {"rare1": 1.0, "rare2": 1.0, "sea": 1.0, "whale": 1e-6},
    ):
        for k in (1, 9, 10, 11, 600, 2000):
            check(searcher, query, k)


def test_blocks_answer_queries_with_frequent_terms_and_leave_others(index):
    searcher = Searcher(index.snapshot, BM25())
    assert all((own >= 0).any() for own in rows_of(searcher))
    assert answered(searcher, {"w1": 1.0, "w2": 0.5}, 10) == [True, True]
    # No term can raise a score.
    assert answered(searcher, {"w1": -1.0}, 10) == [False, False]


def test_a_query_with_more_terms_than_bounds_allow_is_added_up(tmp_path):
    terms = [f"t{k}" for k in range(MOST_TERMS + 1)]
    index = sublex.build([Document(f"d{k}", " ".join(terms[k:])) for k in range(20)], tmp_path / "index")
    searcher = Searcher(index.snapshot, CoordinateMatch())
    rows_of(searcher)
    assert answered(searcher, dict.fromkeys(terms[1:], 1.0), 10) == [True]
    assert answered(searcher, dict.fromkeys(terms, 1.0), 10) == [False]
    check(searcher, dict.fromkeys(terms, 1.0), 10)
    check(searcher, dict.fromkeys(terms[1:], 1.0), 10)


def test_a_term_gets_its_row_when_it_is_searched_for_again(index):
    searcher = Searcher(index.snapshot, BM25())
    for rows in (0, 1, 1):
        searcher.search({"w1": 1.0}, 10)
        searcher.scores([{"w1": 1.0, "w2": 1.0}], [np.arange(9, dtype=np.int32)])
        assert [(impacts.blocks.row_of >= 0).sum() for impacts in searcher.impacts] == [rows, rows]


def test_blocks_that_would_be_visited_too_often_are_left_with_a_threshold(index, blocks_always_pay):
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sublex.retrieval.searcher.COSTS", np.array([0.0, 0.0, 1e9]))
        assert not all(answered(searcher, dict.fromkeys(WORDS[:5], 1.0), 200))
        for k in (1, 10, 200):
            check(searcher, dict.fromkeys(WORDS[:5], 1.0), k)


def test_collections_below_the_limit_have_no_rows(index):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "FEWEST", 1 << 14)
        assert all((own < 0).all() for own in rows_of(Searcher(index.snapshot, BM25())))


@pytest.mark.parametrize("segment", [0, 1])
def test_rows_have_the_documents_ranks_and_bounds_of_their_terms(index, segment):
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    impacts = searcher.impacts[segment]
    own = impacts.blocks
    for term in np.flatnonzero(own.row_of >= 0).tolist():
        docs, values = impacts.lists.read(term)
        row = own.row_of[term]
        bits = np.unpackbits(own.bytes[row], bitorder="little")
        assert np.flatnonzero(bits).tolist() == docs.tolist()
        assert own.ranks[row].tolist() == np.searchsorted(docs, 64 * np.arange(own.words)).tolist()
        live = ~np.isnan(values)
        bounds = own.bounds[row].astype(np.float64) * impacts.most[term] / 255
        # Dividing by the greatest impact rounds.
        assert (bounds[docs[live] >> 3] * (1 + 1e-6) >= values[live]).all()


def test_stored_documents_that_do_not_ascend_are_corrupt(tmp_path):
    index = sublex.build([Document(f"d{k}", "w1 w2") for k in range(50)], tmp_path / "index")
    index.store_impacts(["BM25"])
    segment = index.snapshot.segments[0]
    folder = index.searcher("BM25")._folders(segment)[0]
    arrays = {name: component.all().copy() for name, component in derived.read(folder)}
    arrays["docs"][:2] = arrays["docs"][1::-1]
    derived.write(folder, arrays)
    searcher = sublex.open(index.path).searcher("BM25")
    searcher.search({"w1": 1.0}, 3)
    with pytest.raises(IndexCorrupt, match="delete that file"):
        searcher.search({"w1": 1.0}, 3)


@pytest.mark.parametrize(("visit", "by_blocks"), [(1e-9, True), (20.0, False)])
def test_rounds_visit_the_blocks_that_are_left_unless_there_are_many(tmp_path, visit, by_blocks):
    # The first round takes blocks of some 40 of 59 groups of 64 blocks, and leaves a thousand that reach the threshold.
    chance = random.Random(5)
    lines = [" ".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(30_000)]
    documents = [Document(f"d{k}", line) for k, line in enumerate(lines)]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain", store="none", workers=1)
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sublex.retrieval.searcher.COSTS", np.array([0.0, 0.0, visit]))
        for k in (1, 5, 20):
            check(searcher, {"a": 1.0, "b": 0.7, "c": 0.5}, k)
            assert answered(searcher, {"a": 1.0, "b": 0.7, "c": 0.5}, k) == [by_blocks]
