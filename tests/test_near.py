"""The stage `near`: its scores are those of the definition over segments, deletions and merges, and mistakes cost a sentence."""

from __future__ import annotations

import json
import shutil

import naive
import numpy as np
import pytest
from click.testing import CliRunner
from command import invoke
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import manifest_of, texts, uncover, write_manifest
from strategies import examples

import sublex
from sublex.cli import cli
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.index.check import check
from sublex.index.directory import Directory
from sublex.index.format import FolderWriter
from sublex.representations import clusters, fitting, neighbours
from sublex.representations.clusters import Clusters
from sublex.representations.model_store import StoreWriter
from sublex.representations.neighbours import NO_NEIGHBOUR, STORED, UnitVectors
from sublex.representations.sketch import VectorSource

OVER = "lsi(e=4, min_df=1)"
GRAPH = f"near({OVER})"
QUERIES = ("w0 w3", "w1 w2 w9", "w39")


def documents(number: int, seed: int = 0, first: int = 0) -> list[dict[str, str]]:
    """Return documents of random words. Every fifth has the text of the one before, so that some cosines are equal."""
    written = texts(number, seed, 12)
    return [
        {"id": f"d{first + n:03}", "text": written[n - 1] if n % 5 == 4 else text} for n, text in enumerate(written)
    ]


def units_of(index: sublex.Index) -> dict[str, np.ndarray]:
    """Return the vectors of the live documents of an index by docno, scaled to norm 1, as the graph compares them."""
    over = index.representation(OVER)
    found = {}
    for segment in index.snapshot.segments:
        units = UnitVectors.of(VectorSource(over.model, over.inputs, segment, OVER)).units
        found |= {segment.docno(doc): unit for doc, unit in enumerate(units) if not segment.dead[doc]}
    return found


def expect_definition(index: sublex.Index, k: int = 10, own: float = 0.7, add: bool = False, depth: int = 1000) -> None:
    """Compare the scores of the stage with the definition."""
    units = units_of(index)
    for query in QUERIES:
        before = {hit.docno: hit.score for hit in index.search(query, f"BM25 % {depth}", k=1000)}
        stage = f"near({OVER}, k={k}, own={own}, add={str(add).lower()})"
        found = {hit.docno: hit.score for hit in index.search(query, f"BM25 % {depth} >> {stage}", k=1000)}
        wanted = naive.smoothed(before, units, k, own, add)
        assert found.keys() == wanted.keys()
        np.testing.assert_allclose([found[docno] for docno in wanted], list(wanted.values()), rtol=1e-6, atol=1e-7)


@pytest.fixture
def grown(tmp_path):
    """An index of three segments whose graph was fitted to the first, with deleted documents."""
    index = sublex.build(documents(60), tmp_path / "grown")
    index.fit(GRAPH)
    index.add(documents(25, 1, 100))
    index.add(documents(30, 2, 200))
    index.delete(["d003", "d104", "d220"])
    assert len(index.snapshot.segments) == 3
    return index


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "own", "add", "depth"), [(10, 0.7, False, 1000), (3, 0.0, False, 20), (5, 0.4, True, 15), (16, 1.0, True, 3)]
)
def test_scores_are_those_of_the_definition(grown, k, own, add, depth):
    expect_definition(grown, k, own, add, depth)


@settings(max_examples=examples(8), deadline=None)
@given(st.data())
def test_any_history_gives_the_scores_of_the_definition(tmp_path_factory, data):
    """Documents are added, deleted and merged in any order, also before the fit."""
    index = sublex.build(documents(data.draw(st.integers(8, 40))), tmp_path_factory.mktemp("near") / "index")
    steps = data.draw(st.lists(st.sampled_from(["add", "delete", "merge", "reorder"]), max_size=5))
    fit_at = data.draw(st.integers(0, len(steps)))
    for number, step in enumerate([*steps, "end"]):
        if number == fit_at:
            index.fit(GRAPH)
        live = sorted(units_of(index)) if index.fitted else sorted(map(str, index.snapshot.all_docnos))
        if step == "add":
            index.add(documents(data.draw(st.integers(1, 15)), number, 100 * (number + 1)))
        elif step == "delete" and index.fitted and len(live) > 2:
            index.delete(data.draw(st.lists(st.sampled_from(live), min_size=1, max_size=len(live) - 2, unique=True)))
        elif step in ("merge", "reorder"):
            index.merge(reorder=step == "reorder")
    expect_definition(index, k=4)


def test_a_graph_that_grew_and_one_fitted_anew_give_equal_scores(grown, tmp_path):
    whole = sublex.build([*documents(60), *documents(25, 1, 100), *documents(30, 2, 200)], tmp_path / "whole")
    whole.delete(["d003", "d104", "d220"])
    whole.fit(GRAPH, grown.path)
    for query in QUERIES:
        hits = [index.search(query, f"BM25 >> {GRAPH}", k=1000) for index in (grown, whole)]
        assert [tuple(hit)[1:3] for hit in hits[0]] == [tuple(hit)[1:3] for hit in hits[1]]


def test_a_graph_over_given_vectors_is_that_of_the_definition(tmp_path):
    """Some documents have no vector, so that they have no near ones and are near to none; some are deleted."""
    index = sublex.build(documents(40), tmp_path / "index")
    index.add(documents(20, 1, 100))
    random = np.random.default_rng(5)
    names = [f"d{n:03}" for n in (*range(40), *range(100, 120)) if n % 7]
    vectors = {name: [*map(float, random.integers(-1, 3, 3)), 1.0] for name in names}
    index.add_vectors("given", vectors)
    stage = "near(dense(given), k=4, own=0.5, add=true)"
    index.fit(stage)
    index.delete(["d001", "d105"])
    live = {f"d{n:03}" for n in (*range(40), *range(100, 120))} - {"d001", "d105"}
    zero = np.zeros(4, np.float32)
    units = {
        name: np.float32(np.array(vectors[name]) / np.linalg.norm(vectors[name])) if name in vectors else zero
        for name in live
    }
    for merged in (False, True):
        before = {hit.docno: hit.score for hit in index.search("w0 w3", "BM25 % 20", k=1000)}
        found = {hit.docno: hit.score for hit in index.search("w0 w3", f"BM25 % 20 >> {stage}", k=1000)}
        wanted = naive.smoothed(before, units, 4, 0.5, True)
        assert found.keys() == wanted.keys() and len(found) > len(before)
        np.testing.assert_allclose([found[name] for name in wanted], list(wanted.values()), rtol=1e-6)
        if not merged:
            index.merge(reorder=True)
    graph = r"\S* \S*'?near\(dense\(given\).*\)'?"
    steps = (
        rf"^near.dense.given.* depends on the vectors given; run: sublex forget {graph}, "
        rf"then: sublex vectors add \S+ given FILE, then: sublex fit {graph}$"
    )
    with pytest.raises(IndexProblem, match=steps):
        index.add_vectors("given", {"d000": [1.0, 0.0, 0.0, 2.0]})


@pytest.mark.parametrize("reorder", [False, True])
def test_merging_changes_no_score(grown, reorder):
    before = [[tuple(hit)[:3] for hit in grown.search(query, f"BM25 >> {GRAPH}", k=1000)] for query in QUERIES]
    grown.merge(reorder=reorder)
    assert len(grown.snapshot.segments) == 1 and check(grown.path) == []
    after = [[tuple(hit)[:3] for hit in grown.search(query, f"BM25 >> {GRAPH}", k=1000)] for query in QUERIES]
    assert before == after


def test_a_list_from_which_too_many_documents_were_deleted_is_computed_anew(tmp_path):
    index = sublex.build(documents(90), tmp_path / "index")
    index.fit(GRAPH)
    first = next(iter(units_of(index)))
    near = naive.nearest(units_of(index)[first], {d: v for d, v in units_of(index).items() if d != first}, STORED)
    index.delete([docno for docno, _ in near[: STORED - 2]])
    expect_definition(index)


@pytest.mark.slow
def test_a_large_segment_is_compared_by_clusters(tmp_path, monkeypatch):
    """Nearly all neighbours are found, and those that are found have their cosines and their order."""
    index = sublex.build(documents(400), tmp_path / "index")
    index.fit(OVER)
    monkeypatch.setattr(fitting, "EXACT", 1)
    monkeypatch.setattr(clusters, "PER_CLUSTER", 10)
    monkeypatch.setattr(clusters, "PROBES", 6)
    index.fit(GRAPH)
    units = units_of(index)
    shared = []
    for docno, unit in units.items():
        others = {other: vector for other, vector in units.items() if other != docno}
        found = [(hit.docno, hit.score) for hit in index.similar(docno, STORED)]
        if not unit.any():
            assert found == []
            continue
        cosines = {other: naive.nearest(unit, {other: others[other]}, 1)[0][1] for other, _ in found}
        assert found == sorted(cosines.items(), key=lambda item: (-item[1], item[0])) and len(found) == STORED
        shared.append(len(cosines.keys() & dict(naive.nearest(unit, others, STORED)).keys()) / STORED)
    assert len(shared) > 300 and 0.85 < np.mean(shared) < 1


def groups_of_vectors(number: int, seed: int) -> np.ndarray:
    """Return vectors of norm 1 around twenty directions; every fiftieth is 0."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((20, 8))[random.integers(0, 20, number)]
    vectors += 0.5 * random.standard_normal((number, 8))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    vectors[::50] = 0
    return np.float32(vectors)


def test_each_vector_is_in_the_cluster_with_the_nearest_centre(monkeypatch):
    monkeypatch.setattr(clusters, "PER_CLUSTER", 12)
    units = groups_of_vectors(600, 1)
    found = Clusters.of(units)
    assert len(found.centres) == (600 - 12) // 12 == len(found.members)
    own = {doc: number for number, docs in enumerate(found.members) for doc in docs.tolist()}
    assert sorted(own) == [doc for doc in range(600) if doc % 50]
    for doc, number in own.items():
        products = [float(np.float64(units[doc]) @ np.float64(centre)) for centre in found.centres]
        assert products[number] == pytest.approx(max(products), abs=1e-6)
    # Most centres moved to the means of near vectors, so that vectors are nearer to them than to the vectors of a sample.
    sample = units[units.any(axis=1)][:: len(own) // len(found.centres)][: len(found.centres)]
    chosen = [max(float(units[doc] @ vector) for vector in sample) for doc in own]
    moved = [float(units[doc] @ found.centres[number]) for doc, number in own.items()]
    assert np.mean(moved) > np.mean(chosen)


def test_a_segment_without_vectors_has_no_clusters_and_no_neighbours():
    nothing = UnitVectors(np.zeros((30, 8), np.float32), np.arange(30, dtype=np.int32))
    found = Clusters.of(nothing.units)
    assert not found.members and not list(neighbours.likely_nearest(groups_of_vectors(20, 1), nothing, found))


@pytest.mark.parametrize("same", [False, True])
def test_neighbours_are_the_nearest_of_the_probed_clusters(monkeypatch, same):
    monkeypatch.setattr(clusters, "PER_CLUSTER", 12)
    monkeypatch.setattr(clusters, "PROBES", 5)
    units = groups_of_vectors(600, 2)
    others = UnitVectors(units, np.arange(600, dtype=np.int32))
    some, first = (units, 0) if same else (groups_of_vectors(130, 3), NO_NEIGHBOUR)
    found, grouped = neighbours.NeighbourLists.empty(len(some)), Clusters.of(units)
    for rows, lists in neighbours.likely_nearest(some, others, grouped, first):
        found.docs[rows], found.cosines[rows] = lists
    for row, unit in enumerate(some):
        docs = found.docs[row][found.docs[row] != NO_NEIGHBOUR].tolist()
        if not unit.any():
            assert docs == [] and not found.cosines[row].any()
            continue
        near = np.argsort(-(grouped.centres @ unit), kind="stable")[:5]
        looked = {f"{doc:03}": units[doc] for number in near for doc in grouped.members[number].tolist()}
        looked.pop(f"{row:03}" if same else "", None)
        wanted = naive.nearest(unit, looked, STORED)
        assert [f"{doc:03}" for doc in docs] == [name for name, _ in wanted]
        assert found.cosines[row][: len(wanted)].tolist() == [cosine for _, cosine in wanted]


def test_the_explanation_adds_up_and_names_the_near_documents(grown):
    ranking = f"BM25 % 10 >> near({OVER}, k=3, add=true)"
    hits = grown.search("w0 w3", ranking, k=1000)
    before = grown.search("w0 w3", "BM25 % 10", k=1000).docnos
    assert len(hits) > 10
    for hit in hits:
        tree = grown.explain("w0 w3", hit.docno, ranking)
        assert tree.value == pytest.approx(hit.score, rel=1e-6)
        assert ("not found, counts as the lowest hit" in str(tree)) or hit.docno in before
    near = naive.nearest(
        units_of(grown)[hits[0].docno], {d: v for d, v in units_of(grown).items() if d != hits[0].docno}, 3
    )
    assert all(docno in str(grown.explain("w0 w3", hits[0].docno, ranking)) for docno, _ in near)
    far = next(docno for docno in units_of(grown) if docno not in hits.docnos)
    assert "neither a hit before this stage nor near one" in str(grown.explain("w0 w3", far, ranking))


def test_a_part_of_a_blend_can_bring_in_documents(grown):
    part = f"(BM25 % 5 >> near({OVER}, add=true))"
    added = set(grown.search("w0 w3", part, k=1000).docnos)
    found = grown.search("w0 w3", f"DirichletLM % 5 + {part}", k=1000).docnos
    assert added <= set(found) and len(added) > 5


def test_filters_after_and_before_the_stage_hold(tmp_path):
    given = [{**document, "year": 2000 + n % 3} for n, document in enumerate(documents(60))]
    index = sublex.build(given, tmp_path / "index", columns="year:int")
    index.fit(GRAPH)
    after = index.search("w0 w3", f'BM25 >> {GRAPH} >> where("year = 2001")', k=1000)
    everything = {hit.docno: hit.score for hit in index.search("w0 w3", f"BM25 >> {GRAPH}", k=1000)}
    assert after and all(everything[hit.docno] == hit.score and hit.fields["year"] == 2001 for hit in after)
    before = index.search(
        "w0 w3", f'BM25 >> where("year = 2001") >> near({OVER}, add=true) >> where("year > 2000")', k=1000
    )
    assert {hit.fields["year"] for hit in before} <= {2001, 2002}


# Documents like another one.


def test_similar_documents_are_those_of_the_definition(grown):
    units = units_of(grown)
    for docno in ("d000", "d110", "d229"):
        others = {other: unit for other, unit in units.items() if other != docno}
        for k, graph in ((1, None), (10, GRAPH), (STORED, "near(lsi, own=0.1)"), (500, None)):
            found = grown.similar(docno, k, graph)
            wanted = naive.nearest(units[docno], others, min(k, STORED))
            assert [(hit.docno, hit.score) for hit in found] == wanted and found[0].rank == 1


def test_similar_documents_come_from_the_first_graph_unless_one_is_named(grown):
    other = "lsi(e=2, min_df=1)"
    grown.fit(f"near({other})")
    first, second = grown.similar("d000"), grown.similar("d000", graph=f"near({OVER})")
    assert first.docnos == grown.similar("d000", graph=f"near({other})").docnos != second.docnos


@pytest.mark.parametrize(
    ("docno", "graph", "message"),
    [
        ("d000", "near(lsi(e=9))", "No near.lsi.e=9.. in grown; fitted: near.* Run: sublex fit .*near.lsi.e=9"),
        ("d000", OVER, r"lsi\(e=4, min_df=1\) is no graph of near documents; name one such as"),
        ("d003", None, "No document d003 in"),
        ("nowhere", None, "No document nowhere in"),
    ],
)
def test_a_wrong_question_for_similar_documents_costs_a_sentence(grown, docno, graph, message):
    with pytest.raises((InputError, IndexProblem), match=message):
        grown.similar(docno, graph=graph)


def test_similar_documents_need_a_graph_in_python(tmp_path):
    index = sublex.build(documents(20), tmp_path / "index")
    with pytest.raises(InputError, match="has no graph of near documents; run: sublex fit .* 'near.lsi.'"):
        index.similar("d000")
    # The command compares the best terms then, and says nothing of a graph.
    done = json.loads(invoke("similar", str(index.path), "d000", "--format", "json", "-k", "3").output)
    assert "graph" not in done and len(done["hits"]) == 3


def test_the_command_names_the_graph_that_it_used(grown):
    done = invoke("similar", str(grown.path), "d000", "-k", "3")
    assert done.code == 0 and f"The documents nearest to d000 in {GRAPH}, with their cosines." in done.messages
    assert [line.split()[2] for line in done.output.splitlines() if line.split()[0] in "123"] == (
        grown.similar("d000", 3).docnos
    )
    data = json.loads(invoke("similar", str(grown.path), "d000", "near(lsi)", "--format", "json").output)
    assert data["graph"] == GRAPH and [hit["docno"] for hit in data["hits"]] == grown.similar("d000").docnos
    # A representation compares the text of the document, as before.
    by_text = invoke("similar", str(grown.path), "d000", OVER, "--format", "json")
    assert "graph" not in json.loads(by_text.output) and GRAPH not in by_text.messages


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        ("near(lsi)", "finds no documents by itself; put a ranker before it"),
        ("BM25 + near(lsi)", "smooths the scores of hits, and nothing was found before it; put a ranker before it"),
        ("BM25 >> near(lsi, k=17)", "k=17 lies outside 1 to 16"),
        ("BM25 >> near(lsi(e=9))", "No near.lsi.e=9.. in grown; fitted: near.* Run: sublex fit .*near.lsi.e=9"),
    ],
)
def test_a_wrong_use_costs_a_sentence(grown, ranking, message):
    with pytest.raises((InputError, IndexProblem), match=message):
        grown.search("w0 w3", ranking)


def test_a_graph_needs_a_representation_that_compares_vectors(grown):
    with pytest.raises(InputError, match="BM25 needs no fit; name a model that needs one"):
        grown.fit("near(BM25)")


def test_the_shares_of_topics_are_vectors_too(grown):
    topics = "lda(k=5, iterations=10)"
    grown.fit(f"near({topics})")
    loaded = grown.representation(topics)
    rows = loaded.view.rows(grown.corpus.docs).toarray().astype(np.float64)
    docnos = [grown.docno(doc) for doc in grown.corpus.docs.tolist()]
    # A document without known words has no topics, and is near no other.
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    known = norms[:, 0] > 0
    units = {docno: unit for docno, unit in zip(docnos, rows / np.maximum(norms, 1e-9), strict=True) if unit.any()}
    assert known.sum() == len(units) > 60
    for docno in [*units][::9]:
        hits = grown.similar(docno, k=10, graph=f"near({topics})")
        others = {other: unit for other, unit in units.items() if other != docno}
        expected = naive.nearest(units[docno], others, 10)
        wanted = [cosine for _, cosine in expected if cosine > 0]
        np.testing.assert_allclose(hits.scores, wanted, rtol=1e-5)
    query = QUERIES[0]
    before = {hit.docno: hit.score for hit in grown.search(query, "BM25 % 1000", k=1000)}
    found = {hit.docno: hit.score for hit in grown.search(query, f"BM25 % 1000 >> near({topics}, k=16)", k=1000)}
    assert found.keys() == before.keys() and found != before


def test_documents_that_a_graph_does_not_cover_cost_a_sentence(grown):
    uncover(grown.path, "near")
    with pytest.raises(
        IndexProblem, match=r"near\(.*\) does not cover 29 documents of .*; run: sublex fit .* --update"
    ):
        sublex.open(grown.path).search("w0", f"BM25 >> {GRAPH}")
    assert sublex.open(grown.path, allow_uncovered=True).search("w0", f"BM25 >> {GRAPH}")
    sublex.open(grown.path).fit(GRAPH)
    expect_definition(sublex.open(grown.path))


def test_the_representation_of_a_graph_cannot_be_forgotten_before_it(grown):
    with pytest.raises(IndexProblem, match=r"near\(.*\) depends on lsi"):
        grown.forget(OVER)
    grown.forget(GRAPH, OVER)
    assert not grown.fitted


def test_the_card_has_the_size_of_the_lists(grown):
    card = grown.card(GRAPH)
    assert card["documents"] == 112
    # Three segments of 60, 25 and 30 documents: each document has a list for each segment.
    assert card["bytes of the lists"] > 3 * 115 * STORED * 8
    shown = CliRunner().invoke(cli, ["card", str(grown.path), GRAPH])
    assert shown.exit_code == 0 and "bytes of the lists" in shown.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "forge", "message"),
    [
        ("docs", lambda values: values + 60, "out of range"),
        ("docs", lambda values: values - 2, "out of range"),
        ("docs", lambda values: values[:, :5], "where the model has 24"),
        ("docs", lambda values: values.astype(np.float32), "numbers of the type"),
        ("cosines", lambda values: values + 1, "out of range"),
        ("cosines", lambda values: values * np.nan, "not finite"),
        ("cosines", lambda values: values[1:], "where the model has"),
        ("", lambda values: values, "has no neighbours of segment"),
    ],
)
def test_forged_lists_cost_a_sentence(grown, name, forge, message):
    index = sublex.open(shutil.copytree(grown.path, grown.path.parent / "forged"))
    manifest = manifest_of(index.path)
    model, entry = next(item for item in manifest["fitted"].items() if item[0].startswith("near"))
    (folder, rows), *_ = entry["rows"].items()
    segment = manifest["segments"][0]["name"]
    place = index.path / "representations" / model / folder / segment
    kept = {
        kind: np.load(place / f"{kind}_{segment}_{segment}.npy").reshape(-1, STORED) for kind in ("docs", "cosines")
    }
    shutil.rmtree(place)
    with FolderWriter(Directory(place)) as writer:
        store = StoreWriter(writer)
        for kind, values in kept.items():
            if name:
                store.put(f"{kind}_{segment}_{segment}", forge(values) if kind == name else values)
        rows["segments"][segment]["data"] = store.finish()._asdict()
    write_manifest(index.path, manifest)
    with pytest.raises(IndexCorrupt, match=message):
        sublex.open(index.path).search("w0 w3", f"BM25 >> {GRAPH}")


@settings(max_examples=examples(30))
@given(st.integers(1, 60), st.integers(1, 6), st.integers(0, 1000), st.booleans())
def test_the_kernel_finds_the_nearest(number, width, seed, same):
    random = np.random.default_rng(seed)
    units = random.integers(-2, 3, (number, width)).astype(np.float64)
    norms = np.linalg.norm(units, axis=1)
    units = (units / np.where(norms > 0, norms, 1)[:, None]).astype(np.float32)
    ranks = random.permutation(number).astype(np.int32)
    some = units if same else units[: number // 2 + 1][::-1].copy()
    found = neighbours.NeighbourLists.stacked(
        list(neighbours.nearest(some, UnitVectors(units, ranks), 0 if same else NO_NEIGHBOUR))
    )
    names = [f"{rank:03}" for rank in ranks.tolist()]
    for row, unit in enumerate(some):
        others = {names[n]: units[n] for n in range(number) if not (same and n == row)}
        wanted = naive.nearest(unit, others, STORED)
        docs = found.docs[row][found.docs[row] != NO_NEIGHBOUR].tolist()
        assert [names[doc] for doc in docs] == [name for name, _ in wanted]
        assert found.cosines[row][: len(wanted)].tolist() == [cosine for _, cosine in wanted]
