"""Tests of retrieval: ranks and scores equal those of the exhaustive definition in `naive.py`; and of impacts stored on disk."""

from __future__ import annotations

import gc
import itertools
import random
import weakref
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
import strategies
from child import run
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import RANKERS, WORDS, AnySign, texts
from strategies import every, examples

import sublex
from sublex.contracts.base import DocStats, Document, FieldStatistics, Ranker, Statistics, TermStats
from sublex.contracts.operators import ordered, synonyms, window, within
from sublex.errors import InputError, PluginError, SublexError
from sublex.index import derived
from sublex.language import plugins
from sublex.rankers.bm25 import BM25
from sublex.rankers.bm25f import BM25F
from sublex.rankers.coordination_level import CoordinateMatch
from sublex.rankers.pl2f import PL2F
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.window_kernels import WINDOW

pytestmark = pytest.mark.usefixtures("plugins_loaded_once", "impacts_computed_once")


@pytest.fixture(scope="module")
def impacts_computed_once():
    """Keep naive impacts and norms, which many queries and depths ask for again; a snapshot does not change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(naive, "impacts_of", lru_cache(1000)(naive.impacts_of))
        patch.setattr(naive, "norm_of", lru_cache(10_000)(naive.norm_of))
        patch.setattr(naive, "fields_in", lru_cache(10_000)(naive.fields_in))
        patch.setattr(naive, "field_statistics", lru_cache(100)(naive.field_statistics))
        yield


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    """An index of three segments with deleted documents; some terms of a segment are in no live document."""
    index = sublex.build(
        [Document(f"d{k}", text) for k, text in enumerate(texts(300, 1))], tmp_path_factory.mktemp("search") / "index"
    )
    index.add([Document(f"é{k}", text) for k, text in enumerate(texts(200, 2))])
    index.add([Document("x", "unique w1"), Document("y", "w1 w1")])
    index.delete(["x", *(f"d{k}" for k in range(0, 300, 7))])
    return index


queries = st.dictionaries(
    st.sampled_from([*WORDS, "unique", "absent"]), st.sampled_from([1.0, 1.0, 2.0, 0.5, -1.0, 0.0, 3.25]), max_size=6
)


def check(searcher: Searcher, query: Mapping[str, float], k: int) -> None:
    """Assert that the hits are those of the exhaustive definition."""
    hits = searcher.search(query, k)
    docs, scores = naive.retrieve(searcher.snapshot, searcher.ranker, query, k)
    assert hits.docs.tolist() == docs
    assert hits.scores.tolist() == scores


@pytest.mark.parametrize("name", RANKERS)
@given(query=queries, k=st.sampled_from([1, 2, 9, 10, 11, 50, 1000, 5000]))
@settings(max_examples=examples(60))
def test_hits_equal_those_of_the_exhaustive_definition(index, name, query, k):
    check(Searcher(index.snapshot, RANKERS[name]), query, k)


@given(documents=strategies.collections(1, 8), more=strategies.collections(0, 4), data=st.data())
@settings(max_examples=examples(40))
def test_hits_of_arbitrary_collections_equal_those_of_the_exhaustive_definition(
    tmp_path_factory, documents, more, data
):
    index = sublex.build(documents, tmp_path_factory.mktemp("odd") / "index", workers=1)
    docnos = {document.docno for document in documents}
    if new := [document for document in more if document.docno not in docnos]:
        index.add(new, workers=1)
    terms = [term.term for term in index.terms()] or ["none"]
    query = data.draw(st.dictionaries(st.sampled_from(terms), st.sampled_from([1.0, 2.0, -0.5]), max_size=5))
    check(
        Searcher(index.snapshot, data.draw(st.sampled_from([*RANKERS.values()]))), query, data.draw(st.integers(1, 12))
    )


@given(batch=st.lists(queries, max_size=8), k=st.integers(1, 30), workers=st.integers(1, 3))
@settings(max_examples=examples(30))
def test_a_batch_of_queries_gives_the_hits_of_each_query_alone(index, batch, k, workers):
    searcher = Searcher(index.snapshot, BM25())
    for query, hits in zip(batch, searcher.batch(batch, k, workers), strict=True):
        alone = searcher.search(query, k)
        assert (hits.docs.tolist(), hits.scores.tolist()) == (alone.docs.tolist(), alone.scores.tolist())


# Rankers with fields.


class AnySignByField(Ranker):
    """A ranker with fields that reads everything that it can read; its scores have any sign."""

    fields = ("title", "place")

    def score(self, tf: Any, doc: DocStats, term: TermStats, collection: FieldStatistics) -> np.ndarray:
        means = sum(collection.mean_length.values())
        read = tf["title"] + 3 * tf["place"] + doc.length["title"] + 2 * doc.length["place"] + doc.unique + doc.norm
        return np.round(3 * np.sin(read + term.df + means)) / 2

    def norm_part(self, tf: Any, doc: DocStats, term: TermStats, collection: FieldStatistics) -> np.ndarray:
        return tf["title"] + 2 * tf["place"]


BY_FIELD = {
    "BM25F": BM25F(fields=("title", "text", "place"), weights=(3, 1, 0.5), b=(0.2, 0.9, 1)),
    "whoosh": BM25F(fields=("place", "text"), variant="whoosh"),
    "plus": BM25F(fields=("title",), variant="plus", k1=0.0),
    "PL2F": PL2F(fields=("text", "title"), weights=(1, 2.5), c=(2, 0.5)),
    "any sign": AnySignByField(),
}


def with_fields(number: int, seed: int, name: str) -> list[Document]:
    """Return documents with titles and places, of which some are empty; some frequencies are large."""
    chance = random.Random(seed)

    def words(most: int) -> str:
        return " ".join(chance.choices(WORDS, weights=range(len(WORDS), 0, -1), k=chance.randint(0, most)))

    return [
        Document(
            f"{name}{k}", words(30) + " w1" * (100 if k % 90 == 5 else 0), words(6), {"place": [words(4), k, words(9)]}
        )
        for k in range(number)
    ]


@pytest.fixture(scope="module")
def by_field(tmp_path_factory: pytest.TempPathFactory):
    """An index with fields of three segments, with deleted documents."""
    index = sublex.build(
        with_fields(150, 1, "d"), tmp_path_factory.mktemp("fields") / "index", fields="title,text,place"
    )
    index.add(with_fields(80, 2, "é"))
    index.add([Document("x", "unique w1", "w1"), Document("y", "w2", fields={"place": "unique"})])
    index.delete(["x", *(f"d{k}" for k in range(0, 150, 7))])
    return index


@pytest.mark.parametrize("name", BY_FIELD)
@given(query=queries, k=st.sampled_from([1, 3, 10, 50, 1000]))
@settings(max_examples=examples(40))
def test_hits_of_rankers_with_fields_equal_those_of_the_exhaustive_definition(by_field, name, query, k):
    searcher = Searcher(by_field.snapshot, BY_FIELD[name])
    check(searcher, query, k)
    hits = searcher.search(query, 1000)
    assert searcher.scores(query, hits.docs).tolist() == hits.scores.tolist()


@pytest.mark.parametrize("reorder", [False, True])
def test_hits_of_rankers_with_fields_stay_right_after_merging(tmp_path, reorder):
    index = sublex.build(with_fields(60, 1, "d"), tmp_path / "index", fields="title,text,place")
    index.add(with_fields(40, 2, "e"))
    index.delete([f"d{k}" for k in range(0, 60, 7)])
    index.merge(reorder=reorder)
    assert len(index.snapshot.segments) == 1
    for ranker in BY_FIELD.values():
        for query in ({"w0": 1.0, "w5": 2.0}, {"w1": 1.0, "w20": -1.0}):
            check(Searcher(index.snapshot, ranker), query, 100)


@pytest.mark.parametrize("variant", ["lucene", "robertson", "terrier", "plus", "L", "whoosh"])
@pytest.mark.parametrize("lengths", ["exact", "lucene"])
def test_an_index_whose_only_text_is_one_field_ranks_by_bm25f_as_by_bm25(tmp_path, variant, lengths):
    index = sublex.build(
        [Document(f"d{k}", text) for k, text in enumerate(texts(120, 1, 60))], tmp_path / "i", fields=["text"]
    )
    index.delete([f"d{k}" for k in range(0, 120, 9)])
    for query in ("w1 w2", "w0 w30 w39", "w5 w5 w7"):
        whole = index.search(query, f"BM25(variant={variant}, lengths={lengths}, k1=0.9, b=0.4)", 200)
        found = index.search(query, f"BM25F(fields=[text], variant={variant}, lengths={lengths}, k1=0.9, b=0.4)", 200)
        scores = {hit.docno: hit.score for hit in whole}
        assert len(scores) == len(found) > 0
        assert all(abs(hit.score - scores[hit.docno]) <= 1e-6 * max(1, abs(hit.score)) for hit in found)


def test_operators_have_the_frequencies_within_each_field(tmp_path):
    index = sublex.build(
        with_fields(120, 4, "d"), tmp_path / "i", fields="title,text,place", store="text,terms,positions"
    )
    index.add(with_fields(60, 5, "e"))
    index.delete([f"d{k}" for k in range(0, 120, 7)])
    known = naive.WithOperators(index.snapshot)
    operators = [
        ordered(["w1", "w0"]), window(["w0", "w2"], 6), synonyms(["w4", "w9"]), ordered([synonyms(["w0", "w3"]), "w1"], 3),
    ]  # fmt: skip
    for ranker in (BY_FIELD["BM25F"], BY_FIELD["PL2F"]):
        searcher = Searcher(index.snapshot, ranker)
        for query in [{operator: 1.0, "w5": 0.5} for operator in operators] + [dict.fromkeys(operators, 2.0)]:
            hits = searcher.search(query, 300)
            docs, scores = naive.retrieve(known, ranker, query, 300)
            assert (hits.docs.tolist(), hits.scores.tolist()) == (docs, scores) and len(hits)
            alone = next(iter(searcher.batch([query, query], 300)))
            assert alone.scores.tolist() == scores


def test_a_term_of_one_field_has_no_frequency_in_the_others(tmp_path):
    texts = [("crane", "crane crane"), ("", "crane"), ("bird", ""), ("crane bird", "")]
    documents = [Document(f"d{k}", text, title) for k, (title, text) in enumerate(texts)]
    index = sublex.build(documents, tmp_path / "index", fields="title,text")

    class Frequencies(Ranker):
        fields = ("title", "text")

        def score(self, tf: Any, doc: DocStats, term: TermStats, collection: FieldStatistics) -> np.ndarray:
            return 10 * tf["title"] + tf["text"]

    def found(term: str) -> dict[str, float]:
        hits = Searcher(index.snapshot, Frequencies()).search({term: 1.0}, 9)
        return dict(zip(hits.docnos, hits.scores.tolist(), strict=True))

    assert found("crane") == {"d0": 12, "d1": 1, "d3": 10}
    assert found(within("title", "crane")) == {"d0": 10, "d3": 10}
    assert found(within("text", "crane")) == {"d0": 2, "d1": 1}
    assert found(synonyms([within("title", "bird"), within("text", "crane")])) == {"d0": 2, "d1": 1, "d2": 10, "d3": 10}
    tree = index.explain("title:crane", "d0", "BM25F", language="query")
    title, text = tree.parts[0].parts[1].parts[0].parts
    assert (title.evidence["tf"], text.evidence["tf"]) == (1, 0)
    assert tree.value == pytest.approx(index.search("title:crane", "BM25F", language="query")[0].score, rel=1e-6)


def test_an_explanation_by_fields_has_the_score_of_search(by_field):
    expression = "BM25F(fields=[title, place], weights=[3, 1])"
    for hit in by_field.search("w1 w3 absent", expression, 20):
        tree = by_field.explain("w1 w3 absent", hit.docno, expression)
        assert tree.value == pytest.approx(hit.score, rel=1e-6)
        document = by_field.document(hit.docno)
        place = "\n".join(map(str, document.fields["place"])) if document.fields else ""
        for word, part in zip(("w1", "w3"), sorted(tree.parts, key=lambda part: part.label), strict=True):
            if part.kind == "evidence":
                continue
            fields = part.parts[1].parts[0].parts
            assert [own.evidence["tf"] for own in fields] == [
                document.title.split().count(word),
                place.split().count(word),
            ]


def test_impacts_of_rankers_with_fields_are_stored(tmp_path, monkeypatch):
    index = sublex.build(with_fields(60, 1, "d"), tmp_path / "index", fields="title,text,place")
    expression = "BM25F(fields=[title, text, place], weights=[3, 1, 2])"
    computed = [(hit.docno, hit.score) for hit in index.search("w1 w4", expression, 50)]
    index.store_impacts([expression])
    monkeypatch.setattr(BM25F, "score", None)
    again = sublex.open(tmp_path / "index")
    assert [(hit.docno, hit.score) for hit in again.search("w1 w4", expression, 50)] == computed


@pytest.mark.parametrize(
    ("fields", "expression", "sentence"),
    [
        ("", "BM25F", "no field title|without fields"),
        ("title", "BM25F", "has no field text; its fields are title"),
        ("title", "BM25 + BM25F(fields=[title, place])", "has no field place; its fields are title"),
    ],
)
def test_a_field_that_the_index_lacks_costs_a_sentence_before_any_query(tmp_path, fields, expression, sentence):
    index = sublex.build([Document("a", "text", "title")], tmp_path / "index", fields=fields)
    with pytest.raises(InputError, match=sentence):
        index.pipeline(expression)


def test_the_attribute_fields_of_a_ranker_is_a_sequence_of_names(by_field):
    class Wrong(AnySign):
        fields = "title"

    with pytest.raises(PluginError, match="write a tuple of names"):
        Searcher(by_field.snapshot, Wrong())


def test_a_python_ranker_may_have_fields(by_field):
    hits = by_field.search("w1 w2", sublex.ranker(AnySignByField(), name="mine"), 5)
    docs, scores = naive.retrieve(by_field.snapshot, AnySignByField(), {"w1": 1.0, "w2": 1.0}, 5)
    assert [(hit.docno, hit.score) for hit in hits] == [
        (by_field.snapshot.docno(doc), score) for doc, score in zip(docs, scores, strict=True)
    ]
    tree = by_field.explain("w1", hits[0].docno, sublex.ranker(AnySignByField(), name="mine"))
    assert "tf in title" in str(tree)


def test_repeated_terms_add_up_and_unknown_terms_are_ignored(index):
    searcher = Searcher(index.snapshot, BM25())
    twice = searcher.search(["w3", "w3", "absent"], 20)
    check(searcher, {"w3": 2.0}, 20)
    assert twice.scores.tolist() == searcher.search({"w3": 2.0}, 20).scores.tolist()
    assert len(searcher.search([], 5)) == len(searcher.search(["absent"], 5)) == 0


@pytest.mark.parametrize("name", RANKERS)
@given(query=queries, data=st.data())
@settings(max_examples=examples(30))
def test_rescoring_gives_the_scores_of_retrieval(index, name, query, data):
    searcher = Searcher(index.snapshot, RANKERS[name])
    docs = np.array(data.draw(st.lists(st.integers(0, int(index.snapshot.bases[-1]) - 1), max_size=40)), np.int32)
    docs = docs[np.isin(docs, index.corpus.docs)]
    hits = searcher.search(query, 5000)
    score_of = dict(zip(hits.docs.tolist(), hits.scores.tolist(), strict=True))
    assert searcher.scores(query, docs).tolist() == [score_of.get(doc, -np.inf) for doc in docs.tolist()]
    assert searcher.scores({}, docs).tolist() == [-np.inf] * len(docs)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory):
    """An index of two segments; the first fills three windows."""
    chance = random.Random(3)
    common = ["the", *WORDS[:6]]

    def documents(first: int, number: int) -> list[Document]:
        return [
            Document(f"n{k}", " ".join([chance.choice(WORDS), *chance.choices(common, k=chance.randint(1, 4))]))
            for k in range(first, first + number)
        ]

    index = sublex.build(documents(0, 3 * WINDOW), tmp_path_factory.mktemp("wide") / "index", store="none")
    index.add(documents(3 * WINDOW, WINDOW + 5))
    return index


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 11, 1000, 70_000, 10, 100, 999, 1001][: 8 // every(2)])
@pytest.mark.parametrize("name", ["BM25", "PL2", "any sign"])
def test_hits_over_several_windows_and_segments_equal_those_of_the_definition(wide, name, k):
    searcher = Searcher(wide.snapshot, RANKERS[name])
    for query in ({"w1": 1.0, "w20": 1.0}, {"w0": 1.0, "w2": 2.0, "w39": 0.5}, {"w5": 1.0, "w4": -1.0}):
        check(searcher, query, k)


def test_of_equal_scores_the_higher_docno_ranks_first(tmp_path):
    docnos = ["a", "b", "B", "é", "aa", "10", "9"]
    index = sublex.build([Document(docno, "whale") for docno in docnos[:4]], tmp_path / "index")
    index.add([Document(docno, "whale") for docno in docnos[4:]])
    best = sorted(docnos, key=str.encode, reverse=True)
    assert [Searcher(index.snapshot, BM25()).search(["whale"], k).docnos for k in range(1, 8)] == [
        best[:k] for k in range(1, 8)
    ]


@pytest.mark.parametrize("weights", list(itertools.permutations([0.5, -0.4, -0.1])))
def test_documents_are_found_when_weights_cancel_out(cancelling, weights):
    check(
        Searcher(cancelling.snapshot, CoordinateMatch()),
        dict(zip(["alpha", "beta", "gamma"], weights, strict=True)),
        10,
    )


@pytest.fixture(scope="module")
def cancelling(tmp_path_factory: pytest.TempPathFactory):
    """An index of three terms; each document with a rarer term has the more frequent terms too."""
    texts = ["alpha beta gamma"] * 20 + ["beta gamma"] * 3 + ["gamma"] * 3
    documents = [Document(f"d{k}", text) for k, text in enumerate(texts)]
    return sublex.build(documents, tmp_path_factory.mktemp("cancelling") / "index", analyzer="plain")


def test_searches_deeper_than_all_levels_share_an_empty_bound(index):
    bounds = Searcher(index.snapshot, BM25()).impacts[0].bounds
    assert bounds.best(1001) is bounds.best(5000)
    assert np.isneginf(bounds.best(1001)).all()
    assert [bounds.best(k) is not None for k in (1, 10, 11, 1000)] == [True] * 4


def test_the_term_table_remembers_a_bounded_number_of_names(index, monkeypatch):
    monkeypatch.setattr("sublex.retrieval.term_table.REMEMBERED", 3)
    term_table = Searcher(index.snapshot, BM25()).term_table
    numbers = np.array(term_table.numbers(WORDS))
    assert all(term_table.names(numbers[k : k + 1]) == [WORDS[k]] for k in range(len(WORDS)))
    assert len(term_table._name_of) <= 4


@pytest.mark.parametrize("name", ["cranfield"])
def test_hits_of_cranfield_topics_equal_those_of_the_definition(collections, tmp_path, name):
    index = sublex.build(collections / name / "docs.trec", tmp_path / "index", store="none")
    for topic in sublex.read_topics(collections / name / "topics.trec")[:12]:
        for ranker in ("BM25", "PL2", "DirichletLM", "TFIDF", "DPH", "LGD"):
            check(index.searcher(ranker), index.query(topic.text).weights(), 20)


# Rankers that break their contract.


class Broken(Ranker):
    """A ranker with a `score` that raises, or returns values of a wrong shape or that are not finite."""

    def __init__(self, how: str):
        self.how = how

    def __str__(self) -> str:
        return "Broken"

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        if self.how == "raises":
            raise ZeroDivisionError("division by zero")
        values = {"nan": np.nan, "inf": np.inf, "huge": 1e300}
        return tf[:-1] if self.how == "shape" else np.where(tf > 0, values[self.how], tf)


@pytest.mark.parametrize("how", ["nan", "inf", "huge", "shape", "raises"])
def test_a_ranker_that_breaks_its_contract_is_named_in_one_sentence(index, how):
    with pytest.raises(PluginError, match=r"^The ranker Broken .*\.$"):
        Searcher(index.snapshot, Broken(how)).search(["w1"])


def bm25_with(function: str, value: object) -> Ranker:
    """Return BM25 with one of its functions replaced: by a call of `value`, or by a function that returns it."""
    replaced = {function: lambda *_: value() if callable(value) else value, "__str__": lambda _: "BM25With"}
    return type("BM25With", (BM25,), replaced)()


def raises() -> float:
    return 1 / 0


@pytest.mark.parametrize("function", ["weight", "norm_part"])
@pytest.mark.parametrize(
    "value", [raises, np.nan, np.array([np.inf]), np.array([1.0, 2.0]), "text"], ids=["raises", "nan", "inf", "shape", "text"]
)  # fmt: skip
def test_every_function_of_a_ranker_is_checked(index, function, value):
    with pytest.raises(PluginError, match=r"^The ranker BM25With .*\.$"):
        Searcher(index.snapshot, bm25_with(function, value)).search(["w1"])


@pytest.mark.parametrize("smart", ["lnc.ltc", "lnu.ltu"])
def test_an_index_without_live_documents_can_be_searched(tmp_path, smart):
    index = sublex.build([Document("a", "whale")], tmp_path / "index")
    index.delete("a")
    assert len(index.search("whale", f"TFIDF(smart={smart})")) == 0


def test_a_searcher_refuses_a_text_in_place_of_terms(index):
    with pytest.raises(SublexError, match="not a text; index.analyze makes terms"):
        Searcher(index.snapshot, BM25()).search("w1")


# Impacts on disk.


@pytest.fixture
def small(tmp_path: Path):
    """An index of two segments, for tests that change it."""
    index = sublex.build([Document(f"d{k}", text) for k, text in enumerate(texts(60, 5))], tmp_path / "index")
    index.add([Document(f"e{k}", text) for k, text in enumerate(texts(30, 6))])
    return index


def scores_of_words(index) -> list[list[float]]:
    """Return the BM25 scores of each word of WORDS."""
    return [index.searcher("BM25").search([word], 10).scores.tolist() for word in WORDS]


def test_impacts_are_stored_with_the_parameters_of_the_named_profile(tmp_path):
    index = sublex.build([Document("a", "crane river")], tmp_path / "index", profile="anserini")
    index.store_impacts("BM25", "sublex")
    reopened = sublex.open(index.path)
    assert [reopened.searcher("BM25", p).impacts[0].is_stored for p in ("sublex", "anserini")] == [True, False]
    assert list(reopened.kept_impacts()) == ["BM25", "documents"]


def test_stored_impacts_give_the_scores_of_computed_impacts(small):
    before = scores_of_words(small)
    small.store_impacts(["BM25", "PL2(c=7)"])
    reopened = sublex.open(small.path)
    assert scores_of_words(reopened) == before
    assert all(impacts.is_stored for impacts in reopened.searcher("BM25").impacts)
    assert not any(impacts.is_stored for impacts in reopened.searcher("BM25(b=0.1)").impacts)
    assert reopened.fingerprint == small.fingerprint


def test_stored_impacts_are_computed_again_when_the_index_changes(small):
    small.store_impacts(["BM25"])
    for change in (
        lambda: small.add([Document("new", "w1 w1 w2")]),
        lambda: small.delete(["d1", "e3"]),
        lambda: small.merge(),
    ):
        change()
        reopened = sublex.open(small.path)
        assert all(impacts.is_stored for impacts in reopened.searcher("BM25").impacts)
        for word in WORDS:
            check(reopened.searcher("BM25"), {word: 1.0}, 10)
    stored = {path.name.split("-")[0] for path in (small.path / derived.DERIVED).iterdir()}
    assert stored == {"documents", "impacts", "declared.json"}
    small.store_impacts([])
    assert not (small.path / derived.DERIVED).exists()


def test_impacts_that_cannot_be_stored_are_reported_and_the_index_changes(small):
    small.store_impacts(["PL2", "BM25"])
    (small.path / derived.DERIVED / "declared.json").write_text('["Gone(x=1)", "BM25"]')
    messages: list[str] = []
    small.add([Document("new", "w1")], say=messages.append)
    small.delete(["d1"], say=messages.append)
    small.merge(say=messages.append)
    assert len(small) == 90
    assert all("The impacts of Gone(x=1) cannot be stored. No component Gone" in text for text in messages)
    assert len(messages) == 3
    assert all(impacts.is_stored for impacts in sublex.open(small.path).searcher("BM25").impacts)
    assert len(list((small.path / derived.DERIVED).glob("impacts-*"))) == 1


def test_impacts_of_another_version_of_a_plugin_are_not_used(small, monkeypatch):
    small.store_impacts(["CoordinateMatch"])
    monkeypatch.setattr(CoordinateMatch, "score", lambda ranker, tf, doc, term, collection: 7 * np.ones_like(tf))
    monkeypatch.setattr(plugins.Registry, "version", lambda registry, registration: "upgraded 2.0")
    assert set(sublex.open(small.path).search("w1", "CoordinateMatch").scores) == {7.0}


def _check_damaged(root: Path, expected: list[list[float]]) -> None:
    """Assert that a damaged index gives the expected scores or an error about its derived data."""
    try:
        assert scores_of_words(sublex.open(root)) == expected
    except SublexError as error:
        assert "derived" in str(error)


@pytest.mark.slow
def test_damaged_impacts_give_an_error_or_the_right_scores_but_no_crash(small):
    expected = scores_of_words(small)
    small.store_impacts(["BM25"])
    chance = random.Random(8)
    for path in sorted((small.path / derived.DERIVED).rglob("*")):
        if not path.is_file():
            continue
        whole = path.read_bytes()
        places = {0, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(6))}
        flipped = [whole[:k] + bytes([whole[k] ^ (1 << chance.randrange(8))]) + whole[k + 1 :] for k in places]

        def work(path: Path, *damaged: bytes) -> None:
            for data in damaged:
                path.write_bytes(data)
                _check_damaged(small.path, expected)

        ended = run(partial(work, path, whole[:-1], *flipped))
        assert not ended.signal and ended.error is None, f"{path.name}: {ended}"
        path.write_bytes(whole)


def test_only_the_impacts_of_single_rankers_can_be_stored(small):
    for expression in ("BM25 + PL2", "BM25 >> RM3 >> BM25", "RM3"):
        with pytest.raises(SublexError):
            small.store_impacts([expression])


def test_hits_and_searchers_keep_working_on_the_generation_they_were_made_for(small):
    searcher = small.searcher("BM25")
    hits = searcher.search(["w1"], 3)
    before = hits.docnos, hits.scores.tolist()
    everything = searcher.search(["w1"], 100).docnos
    assert "d1" in everything
    small.delete(["d1"])
    small.merge()
    assert (hits.docnos, hits.scores.tolist()) == before and hits[0].docno == before[0][0]
    assert searcher.search(["w1"], 100).docnos == everything
    assert np.array_equal(searcher.scores(["w1"], hits.docs), hits.scores)
    assert "d1" not in small.search("w1", k=100).docnos


@pytest.mark.slow
def test_hits_do_not_keep_a_searcher_alive(small):
    hits = small.search("w1", "PL2")
    searcher = weakref.ref(small.searcher("PL2"))
    small.delete(["d1"])
    gc.collect()
    assert searcher() is None and len(hits.docnos) == len(hits)


def test_k_is_at_least_one(small):
    with pytest.raises(SublexError, match="k=0 should be at least 1"):
        small.search("w1", k=0)
