"""Tests of coded postings: every layout gives back documents and impacts, searches by it are exact, and forged ones are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import texts
from strategies import examples

import sublex
from sublex.contracts.base import DocStats, Document, Ranker, Statistics, TermStats
from sublex.errors import IndexCorrupt, PluginError
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.rankers.bm25 import BM25
from sublex.retrieval.blocks import Blocks
from sublex.retrieval.bounds import LEVELS, ImpactBounds
from sublex.retrieval.coding import pairs
from sublex.retrieval.coding.coded_postings import CodedPostings
from sublex.retrieval.coding.coding_kernels import BEGIN, COUNT, MOST_IN_ONE, MOST_IN_TWO, RUN, VALUES, WIDTH
from sublex.retrieval.key_kernels import unpack
from sublex.retrieval.rescoring_kernels import PASSES, best_of, rescore
from sublex.retrieval.retrieval_kernels import LOWEST, retrieve
from sublex.retrieval.scratch import Scratch
from sublex.retrieval.searcher import CHOICES, Searcher

DOCUMENTS = 200_000
# Documents at the borders of 65,536 documents and of windows.
BORDERS = [0, 1, 16_383, 16_384, 65_534, 65_535, 65_536, 65_537, 131_071, 131_072, DOCUMENTS - 1]


class Made(NamedTuple):
    """Coded postings, and the documents and impacts that they were made from; NaN is the impact of a deleted document."""

    coded: CodedPostings
    bounds: ImpactBounds
    docs: list[np.ndarray]
    impacts: list[np.ndarray]


def made(docs: list[np.ndarray], impacts: list[np.ndarray], documents: int = DOCUMENTS) -> Made:
    """Code the postings of some terms."""
    df = np.array([len(own) for own in docs], np.int64)
    coded, terms = CodedPostings(df, documents), np.arange(len(df))
    bounds = ImpactBounds.unknown(len(df))
    values, live, numbers, ends = [], [], [], []
    for own in impacts:
        there = ~np.isnan(own)
        bits, number, count = np.unique(own[there].view(np.int32), return_inverse=True, return_counts=True)
        numbers.append(np.full(len(own), -1, np.int32))
        numbers[-1][there] = number
        values.append(bits.astype(np.int32).view(np.float32))
        live.append(count.astype(np.int32))
        ends.append(len(bits))
    coded.put(
        terms, np.concatenate(docs).astype(np.int32), np.concatenate(numbers), np.cumsum(ends), np.concatenate(values),
        np.concatenate(live), bounds,
    )  # fmt: skip
    return Made(coded, bounds, docs, impacts)


def drawn(seed: int) -> Made:
    """Return coded postings of terms of all kinds: with one posting, in all documents, of few and of many impacts, of any sign."""
    chance = np.random.default_rng(seed)
    docs = [np.array([doc]) for doc in BORDERS[:4]]
    docs += [np.array(BORDERS), np.arange(DOCUMENTS), np.arange(65_536), np.arange(65_536, 65_540)]
    docs += [np.flatnonzero(chance.random(DOCUMENTS) < share) for share in (0.5, 0.1, 0.01, 0.001, 0.4, 0.4)]
    few = np.array([-1.5, -0.0, 0.0, 0.25, 3.5], np.float32)
    many = chance.normal(size=3000).astype(np.float32)
    impacts = [chance.choice(few if k % 3 else many, len(own)) for k, own in enumerate(docs)]
    # As many values as postings; more than two bytes can number; deleted documents.
    impacts[-1] = chance.permutation(len(docs[-1])).astype(np.float32)
    impacts[5] = chance.permutation(len(docs[5])).astype(np.float32) % 70_000
    for own in (impacts[-2], impacts[1], impacts[4]):
        own[:: 1 + len(own) // 3] = np.nan
    return made(docs, impacts)


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether impacts are equal, bit for bit; all NaN are alike."""
    nan = np.isnan(expected)
    return bool((np.isnan(found) == nan).all() and (found[~nan].view(np.int32) == expected[~nan].view(np.int32)).all())


@pytest.fixture(scope="module")
def postings() -> Made:
    return drawn(1)


def test_postings_are_read_as_they_were_written(postings):
    for term, (docs, impacts) in enumerate(zip(postings.docs, postings.impacts, strict=True)):
        found_docs, found = postings.coded.read(term)
        assert (found_docs == docs).all() and same(found, impacts)
        live = impacts[~np.isnan(impacts)]
        if len(live):
            assert (postings.bounds.least[term], postings.bounds.most[term]) == (live.min(), live.max())
        for level, k in enumerate(LEVELS):
            expected = -np.inf if len(live) < k else np.sort(live)[-k]
            assert postings.bounds.kth[level, term] == expected


def test_each_term_has_the_shortest_code(postings):
    rows = postings.coded.lists
    assert set(rows[:, WIDTH]) == {1, 2, 4}
    for impacts, row in zip(postings.impacts, rows, strict=True):
        values = len(np.unique(impacts[~np.isnan(impacts)].view(np.int32))) + bool(np.isnan(impacts).any())
        sizes = {4: 4 * len(impacts)}
        if values <= MOST_IN_TWO:
            sizes[2] = 4 * values + -(-len(impacts) // 2) * 4
        if values <= MOST_IN_ONE:
            sizes[1] = 4 * values + -(-len(impacts) // 4) * 4
        assert sizes[row[WIDTH]] == min(sizes.values())


@given(seed=st.integers(0, 1000), k=st.sampled_from([1, 10, 1000, DOCUMENTS]))
@settings(max_examples=examples(16), deadline=None)
def test_searches_and_scores_equal_the_sums_of_all_impacts(postings, seed, k):
    chance = np.random.default_rng(seed)
    live = [term for term, own in enumerate(postings.impacts) if not np.isnan(own).any()]
    terms = chance.choice(live, chance.integers(1, 6), replace=False).astype(np.int64)
    weights = chance.choice([1.0, 0.5, 2.0, -0.75], len(terms))
    sums, there = np.zeros(DOCUMENTS), np.zeros(DOCUMENTS, bool)
    for term, weight in zip(terms.tolist(), weights.tolist(), strict=True):
        sums[postings.docs[term]] += weight * postings.impacts[term].astype(np.float64)
        there[postings.docs[term]] = True
    scores = sums.astype(np.float32) + np.float32(0)
    ranks = chance.permutation(DOCUMENTS).astype(np.int32)
    expected = np.flatnonzero(there)
    expected = expected[np.lexsort((-ranks[expected], -scores[expected]))][:k]
    coded = postings.coded
    found, blocks = np.empty((1, k), np.uint64), Blocks(DOCUMENTS, coded.lists[:, COUNT])
    retrieve(
        *coded.arrays, ranks, postings.bounds.least, postings.bounds.most,
        np.empty(0, bool), np.full(len(coded.lists), -np.inf, np.float32), *blocks.arrays, np.array([len(terms)]), terms, weights,
        np.array([LOWEST]), CHOICES, *Scratch().arrays(len(terms), k), found,
    )  # fmt: skip
    found.sort(axis=1)
    docs, values = np.empty((1, k), np.int32), np.empty((1, k), np.float32)
    counts, by_rank = np.empty(1, np.int64), np.argsort(ranks).astype(np.int32)
    unpack(found, by_rank, docs, values, counts)
    assert docs[0, : counts[0]].tolist() == expected.tolist()
    assert values[0, : counts[0]].tolist() == scores[expected].tolist()
    rare = min(map(postings.docs.__getitem__, terms.tolist()), key=len)
    wanted = np.unique([*BORDERS, *chance.choice(DOCUMENTS, 50), *chance.choice(rare, 20)]).astype(np.int32)
    rescored = np.empty(len(wanted))
    rescore(
        coded.docs, coded.runs, coded.codes, coded.lists, np.array([len(terms)]), terms, weights, np.array([len(wanted)]),
        wanted, rescored,
    )  # fmt: skip
    assert rescored.tolist() == np.where(there, sums, -np.inf)[wanted].tolist()
    # The same among documents that pass a filter: by documents and by postings, without rows of terms and with them.
    passing = np.ones(DOCUMENTS, np.uint8)
    passing[wanted] = PASSES
    for rows in (np.empty(0, np.int64), np.sort(terms)):
        assert blocks.add(rows, coded, postings.bounds.most)
        bits, ranks_of, _, row_of = blocks.arrays
        looked_up, few = np.empty(len(wanted) + 1), np.empty((1, len(wanted)), np.uint64)
        best_of(
            *coded.arrays, ranks, bits, ranks_of, row_of, passing, terms, weights, wanted, looked_up,
            np.empty(len(wanted) + 1, np.uint64), few,
        )  # fmt: skip
        assert looked_up[:-1].tolist() == rescored.tolist()
        assert (few > 0).sum() == there[wanted].sum()


# On disk.


def whole(arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return arrays whose pieces are put together."""
    return {
        key: values if isinstance(values, np.ndarray) else np.concatenate([*values]) for key, values in arrays.items()
    }


def stored(postings: Made, root: Any, **forged: np.ndarray) -> CodedPostings:
    """Write coded postings to disk, with some arrays forged, and map and check them."""
    folders = []
    for name, arrays in (("d", postings.coded.stored_documents()), ("i", postings.coded.stored_impacts())):
        whole = {
            key: values if isinstance(values, np.ndarray) else np.concatenate([*values])
            for key, values in arrays.items()
        }
        derived.write(Directory(root) / name, {key: forged.get(key, values) for key, values in whole.items()})
        folder = derived.read(Directory(root) / name)
        assert folder
        folders.append(folder)
    coded = CodedPostings(postings.coded.lists[:, COUNT], DOCUMENTS)
    coded.map(*folders)
    coded.check(np.arange(len(coded.lists)), *folders)
    return coded


def test_stored_postings_are_those_in_memory(postings, tmp_path):
    coded = stored(postings, tmp_path)
    for term, (docs, impacts) in enumerate(zip(postings.docs, postings.impacts, strict=True)):
        found_docs, found = coded.read(term)
        assert (found_docs == docs).all() and same(found, impacts)
    size = sum(file.stat().st_size for file in tmp_path.rglob("*.npy"))
    assert size < 5 * len(coded.docs)


def changed(values: np.ndarray, place: int, value: int) -> np.ndarray:
    """Return a copy with one other value."""
    values = values.copy()
    values[place] = value
    return values


def forgeries(coded: CodedPostings) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name of a stored array, and a forged one."""
    documents, impacts = whole(coded.stored_documents()), whole(coded.stored_impacts())
    runs, run_counts, docs = documents["runs"], documents["run_counts"], documents["docs"]
    yield "runs", changed(runs, 0, 0x7FFF0000)
    yield "runs", changed(runs, -1, 0xFFFFFFFF)
    yield "runs", changed(runs, len(runs) // 2, 5)
    yield "run_counts", changed(run_counts, 0, int(run_counts[0]) + 1)
    yield "docs", changed(docs, len(docs) - 1, 65_535)
    widths, values, codes = impacts["widths"], impacts["values"], impacts["codes"]
    yield "widths", changed(widths, 0, 3)
    yield "widths", changed(widths, 0, 2)
    yield "values", changed(values, 5, int(values[5]) + 1)
    sizes = 4 * values.astype(np.int64) + (coded.lists[:, COUNT] * widths + 3) // 4 * 4
    for width in (1, 2):
        term = np.flatnonzero((coded.lists[:, WIDTH] == width) & (coded.lists[:, COUNT] > 4))[0]
        yield (
            "codes",
            changed(codes, int(sizes[:term].sum() + 4 * values[term] + width), 255)
            if width == 1
            else changed(codes, int(sizes[:term].sum() + 4 * values[term] + 3), 255),
        )


def test_forged_postings_are_refused(postings, tmp_path):
    for name, values in forgeries(postings.coded):
        with pytest.raises(IndexCorrupt):
            stored(postings, tmp_path, **{name: values})


def test_more_values_than_a_term_can_have_are_refused(postings, tmp_path):
    """Arrays to which postings are copied have room for four bytes a posting."""
    impacts = whole(postings.coded.stored_impacts())
    term = int(np.flatnonzero(impacts["widths"] == 4)[0])
    values, widths = impacts["values"].astype(np.int64), changed(impacts["widths"], term, 1)
    counts = postings.coded.lists[:, COUNT]
    values[term] = counts[term] + 1000
    sizes = 4 * values + (counts * widths + 3) // 4 * 4
    forged = {"values": values.astype(np.uint64), "widths": widths, "codes": np.zeros(sizes.sum(), np.uint8)}
    with pytest.raises(IndexCorrupt, match="more values than a term can have"):
        stored(postings, tmp_path, **forged)


# Pairs.


class Reader(Ranker):
    """A ranker that scores by the number of distinct terms of a document, for frequent terms only, and says that it reads `reads`."""

    def __init__(self, *reads: str):
        if reads:
            self.reads = reads

    def __str__(self) -> str:
        return "Reader"

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return tf / np.where(term.df < 20, 1, doc.unique)


@pytest.mark.parametrize("reads", [(), ("unique",), ("length", "unique"), ("length", "unique", "norm")])
def test_documents_that_differ_in_what_a_ranker_reads_are_scored_apart(tmp_path, reads):
    index = sublex.build([Document(f"d{k}", text) for k, text in enumerate(texts(120, 3))], tmp_path / "index")
    index.delete([f"d{k}" for k in range(0, 120, 9)])
    ranker, snapshot = Reader(*reads), index.snapshot
    searcher = Searcher(snapshot, ranker)
    for query in ({"w1": 1.0}, {"w30": 1.0, "w2": 0.5}, {"w1": -1.0, "w40": 2.0}):
        hits = searcher.search(query, 200)
        assert (hits.docs.tolist(), hits.scores.tolist()) == naive.retrieve(snapshot, ranker, query, 200)


@pytest.mark.parametrize(
    ("ranker", "sentence"),
    [
        (
            Reader("length"),
            "The ranker Reader gave a score that is not a finite number; its results are not used. "
            "Its reads leaves out unique and norm, which it gets as NaN.",
        ),
        (Reader("length", "titles"), "The ranker Reader says that it reads titles; documents have length, unique and norm."),
    ],
)  # fmt: skip
def test_a_ranker_that_reads_more_than_it_says_is_refused(tmp_path, ranker, sentence):
    index = sublex.build([Document(f"d{k}", text) for k, text in enumerate(texts(120, 3))], tmp_path / "index")
    with pytest.raises(PluginError, match=f"^{re.escape(sentence)}$"):
        Searcher(index.snapshot, ranker).search({"w1": 1.0})


def test_documents_of_all_lengths_and_frequencies_have_pairs_of_their_own(tmp_path):
    # Frequencies above those that share pairs, and documents that are deleted.
    documents = [Document(f"d{k}", "w " * (1 + k % 50) + f"x{k % 7} " * (k % 3)) for k in range(400)]
    index = sublex.build(documents, tmp_path / "index", analyzer="plain")
    index.delete([f"d{k}" for k in range(0, 400, 11)])
    searcher = index.searcher("BM25")
    for query in ({"w": 1.0}, {"w": 1.0, "x1": 0.5, "x2": -1.0}):
        hits = searcher.search(query, 400)
        assert (hits.docs.tolist(), hits.scores.tolist()) == naive.retrieve(index.snapshot, BM25(), query, 400)
    rows = searcher.impacts[0].postings.lists
    assert rows[searcher.term_table.numbers(["w"])[0], VALUES] > 0 and (rows[:, [BEGIN, RUN]] >= 0).all()


@given(
    st.integers(1, 14).flatmap(
        lambda fields: st.lists(
            st.tuples(*[st.one_of(st.integers(0, 3), st.integers(0, 5000))] * fields), min_size=1, max_size=60
        )
    )
)
def test_columns_of_frequencies_get_equal_numbers_only_if_they_are_equal(columns):
    tfs = np.array(columns, np.int32).T
    numbers, examples = pairs._numbered_rows(tfs)
    assert [columns[example] for example in examples[numbers]] == columns
    # Small frequencies in up to six fields share their numbers, and the most frequent column has the first one.
    if len(tfs) <= 6:
        small = [column for column in columns if max(column) <= 3]
        assert len({int(numbers[columns.index(column)]) for column in small}) == len(set(small))
        assert all(
            len({int(n) for n, own in zip(numbers, columns, strict=True) if own == column}) == 1 for column in small
        )
    assert (np.diff(np.bincount(numbers)) <= 0).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40_000_000), st.integers(0, 2)), min_size=1, max_size=30))
def test_rows_of_statistics_are_numbered_as_wholes(rows):
    numbers, examples = pairs._numbered_together([*np.array(rows).T], len(rows))
    assert [rows[example] for example in examples[numbers].tolist()] == rows
    assert len(examples) == len(set(rows))
