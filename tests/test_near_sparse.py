"""Graphs of near documents over sparse vectors: tf·idf, character n-grams and topics, by their definitions."""

from __future__ import annotations

import json
import math
from collections import Counter

import naive
import numpy as np
import pytest
from command import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from shared import texts, uncover
from strategies import examples

import sublex
from sublex.errors import IndexProblem, InputError
from sublex.filters.near import PER_PAIR
from sublex.index.check import check
from sublex.representations import neighbours, sparse_neighbours
from sublex.representations.neighbours import NO_NEIGHBOUR, STORED
from sublex.representations.sketch import VectorSource
from sublex.representations.sparse_neighbours import SparseVectors, vectors_of
from sublex_chars.model import ngrams

TERMS, CHARS = "terms(min_df=1)", "chars(n=2, min_df=1)"
QUERIES = ("w0 w3", "w1 w2 w9", "w39")


@pytest.fixture(autouse=True)
def sparse(monkeypatch):
    """Have few words make sparse vectors."""
    monkeypatch.setattr(sparse_neighbours, "WRITTEN_OUT", 0)


def documents(number: int, seed: int = 0, first: int = 0) -> list[dict[str, str]]:
    """Return documents of random words. Every fifth has the text of the one before, so that some cosines are equal."""
    written = texts(number, seed, 12)
    return [
        {"id": f"d{first + n:03}", "text": written[n - 1] if n % 5 == 4 else text} for n, text in enumerate(written)
    ]


FIRST = documents(60)
EVERY = [*FIRST, *documents(25, 1, 100), *documents(30, 2, 200)]


@pytest.fixture
def grown(tmp_path):
    """An index of three segments whose graphs were fitted to the first, with deleted documents."""
    index = sublex.build(FIRST, tmp_path / "grown")
    index.fit(f"near({TERMS})")
    index.fit(f"near({CHARS})")
    index.add(documents(25, 1, 100))
    index.add(documents(30, 2, 200))
    index.delete(["d003", "d104", "d220"])
    assert len(index.snapshot.segments) == 3
    return index


def units_of(index: sublex.Index, over: str) -> dict[str, np.ndarray]:
    """Return the vectors of the live documents of an index by docno, scaled to norm 1, as the graph compares them."""
    loaded, found = index.representation(over), {}
    for segment in index.snapshot.segments:
        vectors = vectors_of(VectorSource(loaded.model, loaded.inputs, segment, over))
        assert isinstance(vectors, SparseVectors)
        rows = vectors.units.toarray()
        found |= {segment.docno(doc): row for doc, row in enumerate(rows) if not segment.dead[doc]}
    return found


def expect_definition(
    index: sublex.Index, over: str, k: int = 10, own: float = 0.7, add: bool = False, depth: int = 99
):
    units = units_of(index, over)
    for query in QUERIES:
        before = {hit.docno: hit.score for hit in index.search(query, f"BM25 % {depth}", k=1000)}
        stage = f"near({over}, k={k}, own={own}, add={str(add).lower()})"
        found = {hit.docno: hit.score for hit in index.search(query, f"BM25 % {depth} >> {stage}", k=1000)}
        wanted = naive.smoothed(before, units, k, own, add)
        assert found.keys() == wanted.keys()
        np.testing.assert_allclose([found[docno] for docno in wanted], list(wanted.values()), rtol=1e-6, atol=1e-7)


def tf_idf(text: str) -> dict[str, float]:
    """Return the weights of a text's words by the documents of the first segment: (1 + ln tf) · ln(N / df)."""
    df = Counter(word for document in FIRST for word in set(document["text"].split()))
    return {
        word: (1 + math.log(tf)) * math.log(len(FIRST) / df[word])
        for word, tf in Counter(text.split()).items()
        if word in df
    }


def gram_weights(text: str) -> dict[str, float]:
    """Return the weights of a text's character bigrams by the documents of the first segment: saturated counts times idf."""
    bags = [Counter(gram for word in d["text"].split() for gram in ngrams(word, 2)) for d in FIRST]
    df = Counter(gram for bag in bags for gram in bag)
    own = {g: tf for g, tf in Counter(g for word in text.split() for g in ngrams(word, 2)).items() if g in df}
    mean, length = sum(map(Counter.total, bags)) / len(bags), sum(own.values())
    # Lengths keep four binary digits.
    step = 2 ** max(length.bit_length() - 4, 0)
    pivot = 1.2 * (0.25 + 0.75 * (length // step * step) / mean)
    return {gram: tf / (tf + pivot) * math.log((len(FIRST) + 1) / (df[gram] + 0.5)) for gram, tf in own.items()}


def cosine(one: dict[str, float], other: dict[str, float]) -> float:
    norms = math.hypot(*one.values()) * math.hypot(*other.values())
    return math.fsum(one[word] * other[word] for word in one.keys() & other.keys()) / norms if norms else 0.0


@pytest.mark.parametrize(("over", "weights"), [(TERMS, tf_idf), (CHARS, gram_weights)])
def test_cosines_are_those_of_the_texts(grown, over, weights):
    """The definition reads the texts alone. The weights are those of the documents of the fit."""
    vectors = {document["id"]: weights(document["text"]) for document in EVERY}
    for docno in ("d003", "d104", "d220"):
        del vectors[docno]
    for docno in [*vectors][::7]:
        wanted = sorted((cosine(vectors[docno], vectors[other]) for other in vectors if other != docno), reverse=True)
        hits = grown.similar(docno, STORED, f"near({over})")
        np.testing.assert_allclose(hits.scores, [value for value in wanted[:STORED] if value > 0], rtol=1e-5)
        for hit in hits:
            assert hit.score == pytest.approx(cosine(vectors[docno], vectors[hit.docno]), rel=1e-5)


@pytest.mark.parametrize("over", [TERMS, CHARS])
@pytest.mark.parametrize(("k", "own", "add", "depth"), [(10, 0.7, False, 99), (5, 0.4, True, 15), (16, 0.0, True, 3)])
def test_scores_are_those_of_the_definition(grown, over, k, own, add, depth):
    expect_definition(grown, over, k, own, add, depth)


@pytest.mark.parametrize("over", [TERMS, CHARS])
def test_a_graph_that_grew_and_one_fitted_anew_give_equal_scores(grown, tmp_path, over):
    whole = sublex.build(EVERY, tmp_path / "whole")
    whole.delete(["d003", "d104", "d220"])
    whole.fit(f"near({over})", grown.path)
    scores = [found_by(index, over) for index in (grown, whole)]
    grown.forget(f"near({over})")
    grown.fit(f"near({over})")
    assert scores[0] == scores[1] == found_by(grown, over) and all(scores[0])


def found_by(index: sublex.Index, over: str) -> list[list[tuple[str, float]]]:
    hits = [index.search(query, f"BM25 >> near({over})", k=1000) for query in QUERIES]
    return [[(hit.docno, hit.score) for hit in found] for found in hits]


@pytest.mark.parametrize("over", [TERMS, CHARS])
def test_merging_changes_no_score(grown, over):
    before = [[tuple(hit)[:3] for hit in grown.search(query, f"BM25 >> near({over})", k=1000)] for query in QUERIES]
    grown.merge(reorder=True)
    assert len(grown.snapshot.segments) == 1 and check(grown.path) == []
    after = [[tuple(hit)[:3] for hit in grown.search(query, f"BM25 >> near({over})", k=1000)] for query in QUERIES]
    assert before == after


@settings(max_examples=examples(6), deadline=None)
@given(st.data())
def test_any_history_gives_the_scores_of_the_definition(tmp_path_factory, data):
    """Documents are added, deleted and merged in any order, also before the fit."""
    index = sublex.build(documents(data.draw(st.integers(8, 40))), tmp_path_factory.mktemp("near") / "index")
    steps = data.draw(st.lists(st.sampled_from(["add", "delete", "merge", "reorder"]), max_size=5))
    fit_at = data.draw(st.integers(0, len(steps)))
    for number, step in enumerate([*steps, "end"]):
        if number == fit_at:
            index.fit(f"near({TERMS})")
        live = [index.docno(doc) for doc in index.corpus.docs.tolist()]
        if step == "add":
            index.add(documents(data.draw(st.integers(1, 15)), number, 100 * (number + 1)))
        elif step == "delete" and len(live) > 8:
            index.delete(data.draw(st.lists(st.sampled_from(live), min_size=1, max_size=len(live) - 6, unique=True)))
        elif step in ("merge", "reorder"):
            index.merge(reorder=step == "reorder")
    expect_definition(index, TERMS, k=4)


def test_a_list_from_which_too_many_documents_were_deleted_is_computed_anew(tmp_path):
    index = sublex.build(documents(90), tmp_path / "index")
    index.fit(f"near({TERMS})")
    units = units_of(index, TERMS)
    first = next(iter(units))
    near = naive.nearest(units.pop(first), units, STORED)
    index.delete([docno for docno, _ in near[: STORED - 2]])
    expect_definition(index, TERMS)


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_stores_the_same_lists(grown, monkeypatch, workers):
    monkeypatch.setattr(sparse_neighbours, "PER_BLOCK", 7)
    before = [grown.similar(docno, STORED, f"near({TERMS})") for docno in ("d000", "d110", "d229")]
    grown.forget(f"near({TERMS})")
    grown.fit(f"near({TERMS})", workers=workers)
    for docno, hits in zip(("d000", "d110", "d229"), before, strict=True):
        anew = grown.similar(docno, STORED, f"near({TERMS})")
        assert [tuple(hit)[:3] for hit in anew] == [tuple(hit)[:3] for hit in hits] and len(hits) == STORED


def test_sparse_and_dense_vectors_give_the_same_graph(grown, monkeypatch):
    """The same vectors are compared once as sparse rows, and once as dense ones."""
    docnos = [grown.docno(doc) for doc in grown.corpus.docs.tolist()][::5]
    topics = "lda(k=5, iterations=10)"
    for over in (TERMS, topics):
        graph, found = f"near({over})", []
        for written_out in (0, 1024):
            monkeypatch.setattr(sparse_neighbours, "WRITTEN_OUT", written_out)
            if grown.is_fitted(graph):
                grown.forget(graph)
            grown.fit(graph)
            found.append([grown.similar(docno, 8, graph) for docno in docnos])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6)


def test_the_explanation_names_the_near_documents(grown):
    ranking = f"BM25 % 10 >> near({TERMS}, k=3, add=true)"
    hits = grown.search("w0 w3", ranking, k=1000)
    units = units_of(grown, TERMS)
    for hit in hits:
        tree = grown.explain("w0 w3", hit.docno, ranking)
        assert tree.value == pytest.approx(hit.score, rel=1e-6)
        others = {docno: unit for docno, unit in units.items() if docno != hit.docno}
        assert all(docno in str(tree) for docno, _ in naive.nearest(units[hit.docno], others, 3))


def test_similar_uses_the_graph(grown):
    data = json.loads(invoke("similar", str(grown.path), "d000", "near(terms)", "--format", "json").output)
    assert data["graph"] == f"near({TERMS})"
    assert [hit["docno"] for hit in data["hits"]] == grown.similar("d000", graph=f"near({TERMS})").docnos


def test_documents_that_the_graph_does_not_cover_cost_a_sentence(grown):
    uncover(grown.path, "near")
    with pytest.raises(
        IndexProblem, match=r"near\(.*\) does not cover 29 documents of .*; run: sublex fit .* --update"
    ):
        sublex.open(grown.path).search("w0", f"BM25 >> near({TERMS})")
    sublex.open(grown.path).fit(f"near({TERMS})")
    expect_definition(sublex.open(grown.path), TERMS)


def test_too_little_memory_costs_a_sentence(grown):
    grown.forget(f"near({TERMS})")
    with pytest.raises(InputError, match=r"The vectors of terms.* take more than 0 MB, which is what memory allows"):
        grown.fit(f"near({TERMS})", memory=1)


def test_the_cost_grows_with_all_pairs(grown, monkeypatch):
    """Sparse vectors have no clusters, so a large index costs as many pairs as it has."""
    model = grown.registry.resolve("component", sublex.parse("near(terms)")).make()
    statistics = grown.statistics._replace(docs=1_000_000)
    assert model.cost(statistics, 1000).seconds == pytest.approx(PER_PAIR * 1e12)
    dense = grown.registry.resolve("component", sublex.parse("near(lsi)")).make()
    assert dense.cost(statistics, 1000).seconds < PER_PAIR * 1e12 / 10


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(1, 60),
    st.integers(1, 8),
    st.integers(0, 1000),
    st.booleans(),
    st.booleans(),
    st.sampled_from([-1.0, 0.1, 0.4, 1.0]),
)
def test_the_kernel_finds_the_nearest(number, width, seed, same, signed, common):
    """For any share of common columns, whose lists are not read, and for weights below 0."""
    random = np.random.default_rng(seed)
    given_rows = random.integers(-2 if signed else 0, 3, (number, width)).astype(np.float64)
    units = sparse_neighbours.unit_weights(csr_array(given_rows))
    dense = units.toarray()
    lengths = np.linalg.norm(given_rows, axis=1)
    np.testing.assert_allclose(dense, given_rows / np.where(lengths > 0, lengths, 1)[:, None], rtol=1e-6)
    ranks = random.permutation(number).astype(np.int32)
    some = units if same else units[: number // 2 + 1][::-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_neighbours, "COMMON", common)
        patch.setattr(sparse_neighbours, "PER_BLOCK", 13)
        blocks = SparseVectors(units, ranks).nearest(csr_array(some), 0 if same else NO_NEIGHBOUR)
        found = neighbours.NeighbourLists.stacked(list(blocks))
    names = [f"{rank:03}" for rank in ranks.tolist()]
    for row, unit in enumerate(some.toarray()):
        others = {names[n]: dense[n] for n in range(number) if not (same and n == row)}
        wanted = naive.nearest(unit, others, STORED)
        docs = found.docs[row][found.docs[row] != NO_NEIGHBOUR].tolist()
        assert [names[doc] for doc in docs] == [name for name, _ in wanted]
        assert found.cosines[row][: len(wanted)].tolist() == [value for _, value in wanted]


def test_vectors_with_huge_and_tiny_weights_have_norm_one():
    rows = csr_array(np.array([[1e300, 0, 1e300], [0, 1e-300, 0], [0, 0, 0], [3e-310, 0, 4e-310]]))
    units = sparse_neighbours.unit_weights(rows).toarray()
    np.testing.assert_allclose(units, [[0.5**0.5, 0, 0.5**0.5], [0, 1, 0], [0, 0, 0], [0.6, 0, 0.8]], rtol=1e-6)


def test_given_weights_of_terms_make_a_graph(tmp_path):
    """A document without weights has no near documents, and is near no other."""
    index = sublex.build(documents(40), tmp_path / "index")
    random = np.random.default_rng(4)
    weights = {
        f"d{n:03}": {f"t{t}": round(float(random.uniform(0.1, 3)), 2) for t in random.integers(0, 12, 5)}
        for n in range(40)
        if n % 6
    }
    index.add_vectors("given", weights)
    index.fit("near(sparse(given))")
    index.add([{"id": "later", "text": "w0 w3"}])
    with pytest.raises(IndexProblem, match="does not cover 1 document of .*, which came after its vectors"):
        index.similar("d002", 5, "near(sparse(given))")
    index.delete(["d001", "later"])
    del weights["d001"]
    for docno in [*weights][::5]:
        hits = index.similar(docno, STORED, "near(sparse(given))")
        wanted = sorted((cosine(weights[docno], weights[o]) for o in weights if o != docno), reverse=True)[:STORED]
        np.testing.assert_allclose(hits.scores, [value for value in wanted if value > 0], rtol=1e-2)
    assert not index.similar("d000", 5, "near(sparse(given))")


def test_documents_of_many_vectors_make_no_graph(tmp_path):
    index = sublex.build(documents(4), tmp_path / "index")
    index.add_vectors("many", {f"d00{n}": [[1.0, n], [0.5, 2.0]] for n in range(4)})
    with pytest.raises(
        InputError, match=r"Near documents are found by vectors, and late\(many\) compares none; name lsi"
    ):
        index.fit("near(late(many))")
