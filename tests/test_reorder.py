"""Tests of reordering: similar documents come next to each other, and no hit, score, tie or text changes."""

from __future__ import annotations

import math
import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from forgeries import forge_component
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import DEMO, QUERIES, TOPICS, postings_of, scores, texts
from strategies import collections as odd_collections
from strategies import every, examples

import sublex
from sublex.building.reorder import bisection, bisection_kernels, rewrite
from sublex.building.reorder.bisection import log_slopes
from sublex.building.segment_builder import SegmentBuilder
from sublex.building.writer import merge_all
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, SublexError
from sublex.index.check import check
from sublex.pipeline.index import Index
from sublex.readers import batch

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")

RANKERS = ["BM25", "PL2", "TFIDF", "DirichletLM", "BM25 >> RM3 >> BM25", "BM25 % 20 >> DPH"]


@pytest.fixture(scope="module")
def reordered(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """Return an index of the demo collection with documents reordered, to be read only."""
    return sublex.build(DEMO, tmp_path_factory.mktemp("reordered") / "demo", reorder=True)


def docnos(index: Index) -> list[str]:
    """Return the docnos of all documents, deleted ones included, in their order."""
    return [docno for segment in index.snapshot.segments for docno in segment.docnos.texts()]


def bits(index: Index) -> float:
    """Return the cost that bisection makes small: the sum of log2 of all gaps in the posting lists of one segment."""
    (segment,) = index.snapshot.segments
    total = 0.0
    for term in range(len(segment.terms)):
        docs, _ = segment.postings(term, term + 1)
        total += float(np.log2(np.diff(docs.astype(np.int64), prepend=-1)).sum())
    return total


def run_bytes(index: Index, expression: str, topics: Path = TOPICS) -> bytes:
    """Return the run file of an expression."""
    path = index.path.parent / "reorder-test.run"
    index.run(sublex.read_topics(topics), expression, k=1000).write(path)
    return path.read_bytes()


def bytes_of(root: Path) -> dict[str, bytes]:
    """Return the content of all files of an index but the lock."""
    return {
        str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and p.name != "lock"
    }


# The order that the kernel finds equals that of a slow, plain implementation.


def naive_order(bags: Sequence[set[int]], docs: list[int]) -> list[int]:
    """Return documents in the order of recursive bisection; `bags` has the terms of each document."""
    if len(docs) <= bisection_kernels.LEAF:
        return docs
    middle = bisection_kernels.half.py_func(len(docs))
    slopes = log_slopes(len(bags)).tolist()
    halves = docs[:middle], docs[middle:]
    for step in range(bisection_kernels.ROUNDS):
        left, right = (Counter(term for doc in half for term in bags[doc]) for half in halves)
        rise = step * bisection_kernels.RISE // 2

        def gain_of_right(
            doc: int, there: list[int] = halves[0], left: Counter = left, right: Counter = right, rise: int = rise
        ) -> int:
            if doc in there:
                return sum(slopes[right[t]] - slopes[left[t] - 1] for t in bags[doc]) - rise
            return sum(slopes[right[t] - 1] - slopes[left[t]] for t in bags[doc]) + rise

        found = sorted(docs, key=lambda doc, there=halves[0]: (gain_of_right(doc), doc not in there))
        # Of equal documents that are on the side where only some of them stay, the first ones go left.
        before, halves = halves, (sorted(found[:middle]), sorted(found[middle:]))
        if len(set(before[0]) - set(halves[0])) * 2 * bisection_kernels.ENOUGH <= len(docs):
            break
    return naive_order(bags, halves[0]) + naive_order(bags, halves[1])


def kernel_order(bags: Sequence[set[int]], levels: int = 64) -> list[int]:
    """Return the order that the kernel finds."""
    starts = np.cumsum([0, *map(len, bags)])
    terms = np.array([term for bag in bags for term in sorted(bag)], np.int32)
    order = np.arange(len(bags), dtype=np.int32)
    bisection_kernels.bisect(order, levels, starts, terms, log_slopes(len(bags)), 1 + max(terms, default=0))
    return order.tolist()


@given(st.lists(st.sets(st.integers(0, 12), max_size=6), max_size=70))
def test_the_kernel_finds_the_order_of_the_naive_algorithm(bags):
    assert kernel_order(bags) == naive_order(bags, list(range(len(bags))))


def test_two_kinds_of_documents_are_parted_and_keep_their_order():
    first = [0, 1, 2, 3, 5, 8, *range(9, 64, 2)][:32]
    bags = [{0, 1, 2} if doc in first else {3, 4, 5} for doc in range(64)]
    order = kernel_order(bags)
    assert {frozenset(order[:32]), frozenset(order[32:])} == {frozenset(first), frozenset({*range(64)} - {*first})}


@pytest.mark.parametrize("bag", [set(), {0}, set(range(50))])
def test_documents_that_are_all_alike_are_all_kept(bag):
    order = kernel_order([bag] * 100)
    assert sorted(order) == list(range(100))
    assert all(part == sorted(part) for part in (order[k : k + 8] for k in range(0, 100, 8)))


@pytest.mark.parametrize("docs", [*range(9, 200), 1000, 999_999])
def test_the_left_half_has_whole_blocks_and_nearly_half_of_the_documents(docs):
    left = bisection_kernels.half(docs)
    assert left % bisection_kernels.LEAF == 0
    assert 0 < left < docs
    assert abs(docs - 2 * left) <= 2 * bisection_kernels.LEAF


def test_slopes_are_the_differences_of_the_cost():
    cost = [x * math.log2(x + 1) for x in range(1002)]
    assert np.abs(log_slopes(1000) - bisection_kernels.BIT * np.diff(cost)).max() <= 0.5001


@pytest.mark.slow
def test_the_gaps_of_the_demo_collection_take_fewer_bits(built_demo, tmp_path):
    given = random.Random(1).sample(list(sublex.open(built_demo).documents()), 252)
    plain, reordered = (sublex.build(given, tmp_path / str(reorder), reorder=reorder) for reorder in (False, True))
    assert bits(reordered) < 0.97 * bits(plain)


def test_documents_of_one_topic_come_together(tmp_path):
    chance = random.Random(1)
    kinds = [[f"t{topic}w{word}" for word in range(30)] for topic in range(8)]
    given = [
        Document(f"{topic}-{k}", " ".join(chance.choices(kinds[topic], k=25))) for k in range(64) for topic in range(8)
    ]
    found = docnos(sublex.build(given, tmp_path / "index", reorder=True))
    neighbours = sum(a[0] == b[0] for a, b in zip(found, found[1:], strict=False))
    assert neighbours >= 500  # of 511; as they were given there are none


# The index says the same.


@pytest.mark.slow
@pytest.mark.parametrize("expression", RANKERS)
def test_the_run_files_of_the_demo_collection_are_the_same_bytes(reordered, built_demo, expression):
    assert docnos(reordered) != docnos(sublex.open(built_demo))
    assert run_bytes(reordered, expression) == run_bytes(sublex.open(built_demo), expression)


def test_the_run_files_of_a_real_collection_with_ties_are_the_same_bytes(collections, tmp_path):
    plain, reordered = (
        sublex.build(collections / "cacm" / "docs.trec", tmp_path / name, reorder=name == "reordered")
        for name in ("plain", "reordered")
    )
    topics = collections / "cacm" / "topics.trec"
    for expression in ("BM25(lengths=lucene)", "CoordinateMatch"):
        found = run_bytes(plain, expression, topics)
        lines = [line.split() for line in found.splitlines()]
        assert sum(a[0] == b[0] and a[4] == b[4] for a, b in zip(lines, lines[1:], strict=False)) > 10  # ties
        assert run_bytes(reordered, expression, topics) == found


def test_ties_are_broken_by_docno_as_before(tmp_path):
    chance = random.Random(3)
    names = [f"d{k}" for k in chance.sample(range(1000), 200)]
    given = [
        Document(name, f"crane {'river' if k % 2 else 'harbour'} " + text)
        for k, (name, text) in enumerate(zip(names, texts(200, 2), strict=True))
    ]
    plain, reordered = (
        sublex.build(given, tmp_path / str(reorder), reorder=reorder, store="none") for reorder in (False, True)
    )
    assert docnos(plain) != docnos(reordered)
    for query in ("crane", "river", "crane river w1"):
        for k in (1, 7, 150):
            a, b = (index.search(query, "CoordinateMatch", k=k) for index in (plain, reordered))
            assert (a.docnos, a.scores.tolist()) == (b.docnos, b.scores.tolist())


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(odd_collections())
def test_any_collection_keeps_its_postings_and_documents(tmp_path_factory, given):
    root = tmp_path_factory.mktemp("odd")
    try:
        plain = sublex.build(given, root / "plain")
    except SublexError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bisection, "LEAST_DOCUMENTS", 1)
        reordered = sublex.build(given, root / "reordered", reorder=True)
    assert check(reordered.path) == []
    assert postings_of(plain.path) == postings_of(reordered.path)
    assert {d.docno: d for d in plain.documents()} == {d.docno: d for d in reordered.documents()}
    shutil.rmtree(root)


def test_texts_titles_fields_and_explanations_are_the_same(reordered, built_demo, monkeypatch):
    plain = sublex.open(built_demo)
    for docno in docnos(plain):
        assert reordered.document(docno) == plain.document(docno)
    hit = plain.search("cranes by the river")[0].docno
    assert reordered.explain("cranes by the river", hit) == plain.explain("cranes by the river", hit)
    assert check(reordered.path) == []


def test_texts_that_do_not_fit_the_memory_are_written_in_parts(tmp_path, built_demo, monkeypatch):
    monkeypatch.setattr(rewrite, "LEAST_TEXTS", 1)
    monkeypatch.setattr(rewrite, "TEXTS_PER_CALL", 5000)
    index = Index(shutil.copytree(built_demo, tmp_path / "demo"))
    postings = index.statistics.postings
    before = {document.docno: document for document in index.documents()}
    assert sum(len(document.text) for document in before.values()) > 1.5 * 4 * postings
    index.merge(reorder=True)
    assert {document.docno: document for document in index.documents()} == before
    assert check(index.path) == []


@pytest.mark.parametrize("store", ["none", "text", "terms"])
def test_what_is_stored_changes_nothing_else(tmp_path, reordered, store):
    index = sublex.build(DEMO, tmp_path / "index", store=store, reorder=True)
    assert docnos(index) == docnos(reordered)
    assert run_bytes(index, "BM25") == run_bytes(reordered, "BM25")


# The same bytes, whoever builds.


def test_the_bytes_are_the_same_for_any_number_of_workers(tmp_path, reordered, monkeypatch):
    monkeypatch.setattr(bisection, "DOCUMENTS_PER_CALL", 20)
    for workers in (1, 2, 3):
        index = sublex.build(DEMO, tmp_path / str(workers), workers=workers, reorder=True)
        assert index.fingerprint == reordered.fingerprint
        assert bytes_of(index.path) == bytes_of(reordered.path)


def test_the_bytes_are_the_same_if_the_build_spills(tmp_path, reordered, monkeypatch):
    monkeypatch.setattr(batch, "BATCH_BYTES", 8192)
    monkeypatch.setattr("sublex.building.indexing.LEAST_MEMORY", 1)
    merges, merge_spills = [], SegmentBuilder._merge_spills
    monkeypatch.setattr(SegmentBuilder, "_merge_spills", lambda *given: (merges.append(given), merge_spills(*given))[1])
    index = sublex.build(DEMO, tmp_path / "spilled", memory=1, reorder=True)
    assert len(merges) == 1
    assert bytes_of(index.path) == bytes_of(reordered.path)


def test_the_fingerprint_changes_and_that_of_an_index_without_the_option_does_not(reordered, built_demo, tmp_path):
    assert reordered.fingerprint != sublex.open(built_demo).fingerprint
    assert sublex.build(DEMO, tmp_path / "plain", reorder=False).fingerprint == sublex.open(built_demo).fingerprint


def test_merging_an_index_gives_the_bytes_of_a_reordered_build(tmp_path, built_demo, reordered):
    index = Index(shutil.copytree(built_demo, tmp_path / "demo"))
    index.merge(reorder=True)
    assert index.fingerprint == reordered.fingerprint
    assert len(index.snapshot.segments) == 1


# Changes before and after.


@pytest.fixture
def changed(index: Index) -> Index:
    """Return an index of three segments with deletions."""
    for number in range(2):
        index.add([Document(f"new-{number}-{k}", f"crane river {text}") for k, text in enumerate(texts(60, number))])
    index.delete(["birds-02", "birds-05", "new-0-3", "new-1-4"])
    return index


def everything(index: Index) -> dict[str, object]:
    """Return all scores of some queries, and all documents."""
    found: dict[str, object] = {expression: scores(index, expression) for expression in ("BM25", "PL2", RANKERS[4])}
    return found | {"documents": {document.docno: document for document in index.documents()}}


def test_segments_with_deletions_are_merged_and_reordered(changed):
    before = everything(changed)
    changed.merge(reorder=True)
    assert len(changed.snapshot.segments) == 1
    assert everything(changed) == before
    assert check(changed.path) == []


def test_documents_are_added_deleted_and_merged_afterwards(tmp_path, reordered, index):
    other = Index(shutil.copytree(reordered.path, tmp_path / "reordered"))
    for one in (index, other):
        one.add([Document("birds-02", "A crane by the river."), Document("more", "crane")], duplicates="last")
        one.delete(["birds-05"])
    assert everything(other) == everything(index)
    other.merge()
    index.merge(reorder=True)
    assert everything(other) == everything(index)
    assert check(other.path) == check(index.path) == []


def test_an_index_without_live_documents_is_reordered(tmp_path):
    index = sublex.build([Document("a", "crane"), Document("b", "river")], tmp_path / "index")
    index.delete(["a", "b"])
    index.merge(reorder=True)
    assert len(index) == 0
    assert check(index.path) == []


@pytest.mark.parametrize("number", [1, 8, 50])
def test_indexes_of_one_document_and_of_equal_ones_are_reordered(tmp_path, number):
    given = [Document(f"d{k}", "crane by the river") for k in range(number)]
    plain, reordered = (sublex.build(given, tmp_path / str(reorder), reorder=reorder) for reorder in (False, True))
    assert scores(plain, "BM25", ["crane", "river"]) == scores(reordered, "BM25", ["crane", "river"])
    assert plain.fingerprint == reordered.fingerprint
    assert check(reordered.path) == []


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["lsi(e=8)", "lda(k=3, iterations=5, min_df=5)", "projection(r=4)"])
def test_the_rows_of_a_fitted_model_move_with_their_documents(index, projection, expression):
    index.fit(expression)
    index.add([Document(f"new-{k}", text) for k, text in enumerate(texts(40, 7))])
    index.delete(["birds-02"])
    before = rows_by_docno(index, expression)
    found = {query: index.search(query, expression, k=300) for query in QUERIES}
    index.merge(reorder=True)
    after = rows_by_docno(index, expression)
    assert before.keys() == after.keys()
    assert all((before[docno] == after[docno]).all() for docno in before)
    for query, hits in found.items():
        again = index.search(query, expression, k=300)
        assert {h.docno: pytest.approx(h.score, rel=1e-5, abs=1e-6) for h in hits} == {h.docno: h.score for h in again}


def rows_by_docno(index: Index, expression: str) -> dict[str, np.ndarray]:
    """Return the row of each live document."""
    docs = index.corpus.docs
    rows, names = index.representation(expression).view.rows(docs), [index.docno(doc) for doc in docs]
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    return dict(zip(names, dense, strict=True))


def test_stored_impacts_are_made_again(index):
    index.store_impacts(["BM25"])
    before = scores(index, "BM25")
    index.merge(reorder=True)
    assert index.kept_impacts()
    assert scores(index, "BM25") == before


def test_an_exported_index_is_imported_with_the_same_hits(reordered, built_demo, tmp_path):
    reordered.to_ciff(tmp_path / "reordered.ciff")
    sublex.open(built_demo).to_ciff(tmp_path / "plain.ciff")
    a, b = (
        sublex.from_ciff(tmp_path / f"{name}.ciff", tmp_path / name, analyzer="english")
        for name in ("reordered", "plain")
    )
    assert run_bytes(a, "BM25") == run_bytes(b, "BM25")
    b.merge(reorder=True)
    assert run_bytes(a, "BM25") == run_bytes(b, "BM25")


# The command line, and what is refused.


def test_the_command_line_reorders(sublex: Callable, monkeypatch):
    assert sublex("index", "plain", DEMO).code == 0
    assert sublex("index", "new", DEMO, "--reorder").code == 0
    assert sublex("search", "plain", "crane").output == sublex("search", "new", "crane").output
    done = sublex("merge", "plain", "--reorder")
    assert done.output == "indexes/plain has one segment, with similar documents next to each other\n"
    assert sublex("check", "plain").code == 0


def test_an_index_that_another_engine_builds_is_not_reordered(sublex: Callable):
    done = sublex("index", "new", DEMO, "--backend", "lucene", "--reorder")
    assert (done.code, done.messages.strip().count("\n")) == (2, 0)
    assert "reorder does not go with the back end lucene" in done.messages


@pytest.mark.slow
def test_a_forged_segment_is_refused_or_written_whole(tmp_path, built_demo):
    given = [
        Document(f"{document.docno}-{k}", document.text, document.title, document.fields)
        for k in range(2)
        for document in sublex.open(built_demo).documents()
    ]
    whole, refused = sublex.build(given, tmp_path / "whole").path, 0
    for seed in range(every(3), 60, every(3)):
        copy = Path(shutil.copytree(whole, tmp_path / str(seed)))
        forge_component(copy, random.Random(seed), [copy / "segments" / "000001"])
        try:
            merge_all(copy, 2, reorder=True)
        except SublexError:
            refused += 1
            assert not (copy / "building").exists()
    assert refused > 10 // every(3)


@pytest.mark.parametrize("component", ["tails", "docnos", "texts", "document_terms", "terms", "lengths"])
def test_a_damaged_component_is_told_and_the_index_stays(index, component):
    (folder,) = (index.path / "segments").iterdir()
    path = folder / f"{component}.npy"
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    generation = index.generation
    with pytest.raises(IndexCorrupt):
        sublex.open(index.path).merge(reorder=True)
    assert sublex.open(index.path).generation == generation
    assert not (index.path / "building").exists()
