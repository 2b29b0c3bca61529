"""Tests of retrieval with looked-up terms, needs of blocks and guesses: the hits are those of adding up every impact."""

from __future__ import annotations

import random
from collections.abc import Mapping

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import RANKERS, WORDS, texts
from strategies import examples
from test_search import queries

import sublex
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, InputError
from sublex.index import derived
from sublex.rankers.bm25 import BM25
from sublex.rankers.coordination_level import CoordinateMatch
from sublex.retrieval import blocks
from sublex.retrieval.retrieval_kernels import MOST_SORTED
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.window_kernels import PLACE, STOP, WINDOW

# Choices of the kernel. With NEVER, all terms are added up. With LOOK_UP, terms are looked up in every query where this gives the same
# hits. With ALWAYS, the kernel also computes needs of blocks and makes guesses in every such query.
LOOK_UP, ALWAYS, NEVER = np.array([0, 0, 0, 0]), np.array([0, 0, 1 << 30, 1 << 30]), np.array([1 << 40, 0, 0, 0])


@pytest.fixture(scope="module", autouse=True)
def small_collections_have_blocks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "FEWEST", 1)
        yield


def rows_of(searcher: Searcher) -> list[np.ndarray]:
    """Give all frequent terms of the searcher rows, and return the rows of each segment."""
    searcher._prepare()
    for impacts in searcher.impacts:
        for _ in range(2):
            impacts.settle(np.arange(len(impacts.segment.terms)))
    return [impacts.blocks.row_of for impacts in searcher.impacts]


def search(searcher: Searcher, query: Mapping[str, float], k: int, choices: np.ndarray) -> tuple[list, list]:
    """Return the documents and the scores of a search with these choices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sublex.retrieval.searcher.CHOICES", choices)
        hits = searcher.search(query, k)
    return hits.docs.tolist(), hits.scores.tolist()


def check(searcher: Searcher, query: Mapping[str, float], k: int) -> None:
    """Assert that the hits are those of adding up every impact, whatever the choices."""
    expected = search(searcher, query, k, NEVER)
    assert search(searcher, query, k, LOOK_UP) == expected
    assert search(searcher, query, k, ALWAYS) == expected


def looked_up(searcher: Searcher, query: Mapping[str, float], k: int, choices: np.ndarray = LOOK_UP) -> int:
    """Return how many terms of a query are only looked up in the last segment."""
    places = searcher.scratch.arrays(len(query), k)[0]
    places[STOP] = -1
    search(searcher, query, k, choices)
    return (places[STOP, : len(query)] == -1).sum()


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
def test_hits_are_those_of_adding_up_everything(index, name, query, k, rows):
    # Without rows, the first search computes the impacts, and the second one fills in rows.
    searcher = Searcher(index.snapshot, RANKERS[name])
    if rows:
        rows_of(searcher)
    for _ in range(2):
        check(searcher, query, k)


@given(query=queries, k=st.sampled_from([1, 10, 300]))
@settings(max_examples=examples(20))
def test_hits_equal_those_of_the_definition(index, query, k):
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    expected = naive.retrieve(searcher.snapshot, searcher.ranker, query, k)
    assert search(searcher, query, k, LOOK_UP) == search(searcher, query, k, ALWAYS) == expected


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


def test_terms_that_cannot_make_a_hit_alone_are_looked_up(index):
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    assert looked_up(searcher, {"w1": 1.0, "w2": 1e-3}, 10) == 1
    assert looked_up(searcher, {"w1": 1.0, "w2": 1e-3, "w3": -1e-3}, 10) == 2
    assert looked_up(searcher, {"w1": 1.0, "w2": 1e-3}, 10, NEVER) == 0
    # Both are needed.
    assert looked_up(searcher, {"w1": 1.0, "w2": 1.0}, 2000) == 0


@pytest.mark.parametrize("rows", [True, False])
def test_the_choices_say_which_terms_are_looked_up(tmp_path, rows):
    documents = [Document(f"d{k}", "sea" if k % 10 else "sea whale") for k in range(3000)]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain")
    # The 3,000 postings are 300 times the hits, and ten times the postings of the rarer term.
    choices = {(299, 0): 1, (301, 0): 0, (0, 9): 1, (0, 11): int(rows)}
    for (hits, added), expected in choices.items():
        searcher = Searcher(index.snapshot, BM25())
        if rows:
            rows_of(searcher)
        assert looked_up(searcher, {"whale": 1.0, "sea": 1.0}, 10, np.array([hits, added, 0, 0])) == expected


def test_a_guess_that_too_few_documents_reach_is_given_up(tmp_path):
    # All good documents are in the sample, which therefore promises many more.
    sizes = {"first": range(30), "last": range(3000, 3030), "spread": range(0, 4000, 133)}
    for name, good in sizes.items():
        documents = [Document(f"d{k}", f"sea {'whale ' * (k % 7) if k in good else ''}") for k in range(4000)]
        index = sublex.build(documents, tmp_path / name, analyzer="plain")
        for k in (1, 5, 20, 30, 31, 500):
            check(Searcher(index.snapshot, BM25()), {"sea": 1.0, "whale": 2.0}, k)


def test_a_guess_leaves_candidates_out(tmp_path):
    # No threshold is known for so many hits, so without a guess each document becomes a candidate.
    chance = random.Random(7)
    documents = [Document(f"d{k}", "whale " * chance.randint(1, 9) + "sea " * 9) for k in range(70_000)]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain", store="none")
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    candidates = searcher.scratch.arrays(1, 3000)[-2]
    found = []
    for choices in (LOOK_UP, ALWAYS):
        candidates[:] = -1
        hits = search(searcher, {"whale": 1.0}, 3000, choices)
        found.append(np.count_nonzero(candidates >= 0))
        assert hits == search(searcher, {"whale": 1.0}, 3000, NEVER)
    assert found[0] == WINDOW and found[1] < WINDOW / 3
    # The sea is everywhere, and is looked up in documents beyond the first 65,536, too.
    for k in (10, 7000):
        check(searcher, {"whale": 1.0, "sea": 0.01}, k)
    assert looked_up(searcher, {"whale": 1.0, "sea": 0.01}, 10) == 1


def test_scores_are_rounded_as_in_the_order_of_the_query(tmp_path):
    # Added from the rarest term on, the small weights are not lost; the sum is above the middle of two float32 numbers. The frequent term
    # with the large weight comes first where terms are looked up; added in this order, the sum is the middle, which is rounded down.
    documents = [
        Document(f"d{k}", "much half few fewer" if k < 5 else "much half" if k < 900 else "much") for k in range(1000)
    ]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain")
    searcher = Searcher(index.snapshot, CoordinateMatch())
    rows_of(searcher)
    query = {"much": 1.0, "half": 2.0**-24, "few": 0.9 * 2.0**-53, "fewer": 0.9 * 2.0**-53}
    scores = search(searcher, query, 5, LOOK_UP)[1]
    assert scores == [1 + 2.0**-23] * 5 == search(searcher, query, 5, NEVER)[1]
    check(searcher, query, 7)


@given(chance=st.randoms(use_true_random=False), k=st.sampled_from([1, 10, 100]))
@settings(max_examples=examples(60))
def test_weights_of_any_size_give_the_sums_of_the_definition(index, chance, k):
    sizes = [1.0, 1e-9, 1e-29, 1e20, 1e29, -1.0, -1e9]
    query = {
        term: chance.choice(sizes) * (1 - 0.9 * chance.random()) for term in chance.sample(WORDS, chance.randint(1, 9))
    }
    searcher = Searcher(index.snapshot, BM25())
    rows_of(searcher)
    check(searcher, query, k)
    with np.errstate(over="ignore"):
        assert search(searcher, query, k, NEVER) == naive.retrieve(searcher.snapshot, searcher.ranker, query, k)


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf, 1e39, 1e-46])
def test_a_weight_outside_float32_is_refused(index, weight):
    with pytest.raises(InputError, match="outside float32"):
        Searcher(index.snapshot, BM25()).search({"w1": 1.0, "w9": weight}, 10)


def test_a_query_keeps_its_order_when_too_many_sums_depend_on_it(tmp_path):
    # Beside 1e20 the order of adding can change each of the other scores.
    chance = random.Random(6)
    names = [f"t{k}" for k in range(60)]
    documents = [
        Document(f"d{k}", f"sea {' '.join(chance.sample(names, 4))}{' whale' * (k % 3 == 0)}") for k in range(3000)
    ]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain", store="none", workers=1)
    searcher = Searcher(index.snapshot, BM25())
    for whale, kept in ((-1.0, False), (-1e20, True)):
        query = {**{name: chance.random() for name in names}, "sea": 3.0, "whale": whale}
        hits = search(searcher, query, 100, NEVER)
        places = searcher.scratch.arrays(len(query), 100)[0][PLACE, : len(query)]
        assert (places.tolist() == [*range(len(query))]) == kept
        assert hits == naive.retrieve(searcher.snapshot, searcher.ranker, query, 100)
        check(searcher, query, 100)


def test_queries_of_many_terms_keep_their_order(tmp_path):
    names = [f"t{k}" for k in range(MOST_SORTED + 1)]
    documents = [Document(f"d{k}", " ".join(names[k % 50 :: 50])) for k in range(600)]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain", store="none", workers=1)
    searcher = Searcher(index.snapshot, BM25())
    for terms, kept in ((len(names) - 1, False), (len(names), True)):
        query = {name: float(k + 1) for k, name in enumerate(names[:terms])}
        hits = search(searcher, query, 9, ALWAYS)
        places = searcher.scratch.arrays(terms, 9)[0][PLACE, :terms]
        assert (np.diff(places) == 1).all() == kept
        assert hits == naive.retrieve(searcher.snapshot, searcher.ranker, query, 9)


def test_a_term_gets_its_row_when_it_is_searched_for_again(index):
    searcher = Searcher(index.snapshot, BM25())
    for rows in (0, 1, 1):
        searcher.search({"w1": 1.0}, 10)
        searcher.scores({"w1": 1.0, "w2": 1.0}, np.arange(9, dtype=np.int32))
        assert [(impacts.blocks.row_of >= 0).sum() for impacts in searcher.impacts] == [rows, rows]


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
        docs, values = impacts.postings.read(term)
        row = own.row_of[term]
        bits = np.unpackbits(own.bits[row].view(np.uint8), bitorder="little")
        assert np.flatnonzero(bits).tolist() == docs.tolist()
        assert own.ranks[row].tolist() == np.searchsorted(docs, 64 * np.arange(own.words)).tolist()
        live = ~np.isnan(values)
        bounds = own.bounds[row].astype(np.float64) * impacts.bounds.most[term] / 255
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
