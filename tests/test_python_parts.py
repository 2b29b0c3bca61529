"""Tests of Python objects in expressions: rankers, functions that find, expanders; where they stand, and what they cost."""

from __future__ import annotations

import itertools
import math
import pickle
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import DEMO, QRELS, TOPICS
from strategies import examples

import sublex
from sublex.contracts.base import Query, QueryTerm, Ranker
from sublex.contracts.operators import Condition, synonyms
from sublex.errors import IndexProblem, InputError, PluginError, SublexWarning, UnknownName
from sublex.language.expression import Expression
from sublex.pipeline.index import Index

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")
WORDS = ["crane", "river", "sea"]


@pytest.fixture(scope="module")
def demo_index(built_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of the demo collection for the tests of this module, which keep runs in it."""
    return sublex.open(shutil.copytree(built_demo, tmp_path_factory.mktemp("parts") / "demo"))


class Plain:
    """A ranker that inherits from nothing: BM25 as Lucene has it."""

    reads = ("length",)

    def __init__(self, k1: float = 1.2, b: float = 0.75):
        self.k1, self.b = k1, b

    def score(self, tf, doc, term, collection):
        idf = np.log(1 + (collection.docs - term.df + 0.5) / (term.df + 0.5))
        return idf * tf / (tf + self.k1 * (1 - self.b + self.b * doc.length / collection.mean_length))


class Heir(Ranker):
    """A ranker that counts matching words."""

    reads = ()

    def score(self, tf, doc, term, collection):
        return np.ones_like(tf)


def bm25(tf, length, df, docs, mean_length, k1=1.2, b=0.75):
    idf = np.log(1 + (docs - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + k1 * (1 - b + b * length / mean_length))


def pairs(hits: Any) -> list[tuple[str, float]]:
    return [(hit.docno, hit.score) for hit in hits]


# Rankers: the hits are those of a plugin's ranker with the same formula.


@pytest.mark.parametrize(
    "own", [Plain(), sublex.ranker(Plain()), sublex.ranker(bm25)], ids=["object", "part", "formula"]
)
def test_a_formula_ranks_as_the_installed_ranker_with_it_does(demo_index, own):
    for query in ("crane", "cranes by the river", "seal pup beach", "zzzz", ""):
        expected = demo_index.search(query, "BM25", 1000)
        found = demo_index.search(query, own, 1000)
        assert found.docnos == expected.docnos and found.scores.tolist() == pytest.approx(expected.scores.tolist())
        assert demo_index.search(query, own, 3).docnos == expected.docnos[:3]


SCORES = st.lists(st.integers(-5, 5), min_size=30, max_size=30)


@settings(max_examples=examples(60))
@given(SCORES, st.integers(0, 10**6), st.integers(1, 12))
def test_any_formula_is_exact_over_segments_and_deletions(small, scores, seed, k):
    """Scores are whole numbers of any sign, by a table without any order, so sums have no rounding."""
    index, documents, dead = small

    def formula(tf, length, df, cf, unique):
        return np.array(scores, np.float64)[(7 * tf + 3 * length + 5 * df + 11 * cf + 13 * unique).astype(int) % 30]

    chance = random.Random(seed)
    words = [f"w{chance.randrange(12)}" for _ in range(chance.randrange(1, 5))]
    live = {docno: Counter(text.split()) for docno, text in documents.items() if docno not in dead}
    df = {word: sum(word in counts for counts in live.values()) for word in words}
    cf = {word: sum(counts[word] for counts in live.values()) for word in words}
    expected: dict[str, int] = {}
    for docno, counts in live.items():
        for word in words:
            if counts[word]:
                places = 7 * counts[word] + 3 * counts.total() + 5 * df[word] + 11 * cf[word] + 13 * len(counts)
                expected[docno] = expected.get(docno, 0) + scores[places % 30]
    best = sorted(expected.items(), key=lambda item: (item[1], item[0]), reverse=True)
    hits = index.search(" ".join(words), sublex.ranker(formula), k)
    assert pairs(hits) == best[:k]
    for docno, score in best[:2]:
        assert index.explain(" ".join(words), docno, sublex.ranker(formula)).value == score


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, dict[str, str], set[str]]:
    """An index of three segments with deleted documents; the text of each document ever added; the deleted ones."""
    chance = random.Random(3)
    documents = {
        f"d{number:02}": " ".join(f"w{chance.randrange(12)}" for _ in range(chance.randrange(1, 20)))
        for number in range(60)
    }
    names, folder = list(documents), tmp_path_factory.mktemp("small") / "index"
    parts = [[sublex.Document(docno, documents[docno]) for docno in names[begin : begin + 20]] for begin in (0, 20, 40)]
    index = sublex.build(parts[0], folder, analyzer="english(stem=none, stop=none)")
    index.add(parts[1])
    index.add(parts[2])
    dead = {names[place] for place in (1, 5, 22, 41, 59)}
    index.delete(dead)
    assert len(index.snapshot.segments) == 3
    return index, documents, dead


def test_a_formula_gets_what_the_names_of_its_parameters_say(demo_index):
    seen: dict[str, Any] = {}

    def formula(tf, length, unique, df, cf, docs, tokens, postings, mean_length, scale=2.0):
        seen.update(locals())
        return tf * scale

    part = sublex.ranker(formula, version=1)
    (best, *_) = demo_index.search("crane", part)
    facts, term = demo_index.statistics, demo_index.term("crane")
    assert (seen["docs"], seen["tokens"], seen["postings"]) == (facts.docs, facts.tokens, facts.postings)
    assert seen["mean_length"] == facts.mean_length and seen["scale"] == 2.0
    assert set(seen["df"].tolist()) == {term.df} and set(seen["cf"].tolist()) == {term.cf}
    docs, tfs = demo_index.postings("crane")
    assert best.score == 2 * max(tfs) and sorted(set(tfs.tolist())) == sorted(set(seen["tf"].tolist()))
    lengths = {len(demo_index.corpus.sequence(doc)) for doc in docs.tolist()}
    assert len(seen["length"]) == len(seen["unique"]) == len(seen["tf"]) and max(seen["unique"]) <= max(lengths)
    tree = demo_index.explain("crane", best.docno, part)
    assert tree.parts[0].evidence["df"] == term.df and tree.parts[0].evidence["docs"] == facts.docs
    assert "scale" not in tree.parts[0].evidence


def test_a_formula_reads_what_it_asks_for_and_nothing_else():
    assert sublex.ranker(lambda tf: tf).make().reads == ()
    assert sublex.ranker(lambda tf, length: tf).make().reads == ("length",)
    assert sublex.ranker(bm25).make().reads == ("length",)
    assert sublex.ranker(lambda unique, df: df).make().reads == ("unique",)
    assert sublex.ranker(Heir()).make().reads == () and sublex.ranker(Plain()).make().reads == ("length",)
    assert set(sublex.ranker(SimpleNamespace(score=max), version=1).make().reads) == {"length", "unique", "norm"}


def test_a_score_that_no_posting_changes_is_that_of_all(demo_index):
    assert set(demo_index.search("crane", sublex.ranker(lambda docs: docs)).scores.tolist()) == {252.0}


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (
            lambda tf: math.log(tf),
            "works on single numbers, .*; write np.log for math.log, np.where for if, and np.max",
        ),
        (lambda tf: tf if tf > 1 else 0, "works on single numbers, and it gets arrays of numbers; write np.log"),
        (lambda tf: max(tf, 2), "works on single numbers, and it gets arrays"),
        (lambda tf: tf * np.nan, "gave nan for tf=2; scores have to be finite float32 numbers.$"),
        (
            lambda length, df, tf, docs: 1 / (df - df) + 0 * tf,
            r"gave inf for tf=2, length=\d+, df=\d+, docs=252; scores have to be finite float32",
        ),
        (lambda tf: tf * 1e300, r"gave 2e\+300 for tf=2; scores have to be finite float32"),
        (
            lambda tf: tf[:1],
            r"gave scores of shape \(1,\) for \d+ postings; it has to give one number for each, so .* \(\d+,\), or one",
        ),
        (lambda tf: np.zeros((len(tf), 2)), r"gave scores of shape \(\d+, 2\) for \d+ postings"),
        (lambda tf: 1 / 0, r"failed \(ZeroDivisionError: division by zero\)"),
        (lambda tf: None, "gave None in place of scores; let it return them"),
        (lambda tf: tf * 1j, r"failed \(TypeError: it gave complex numbers\)"),
    ],
)
def test_a_wrong_formula_costs_a_sentence_that_names_it(demo_index, formula, message):
    with pytest.raises(PluginError, match=f"^The ranker odd ({message})") as caught:
        demo_index.search("crane", sublex.ranker(formula, name="odd"))
    if "numbers, " in message or "failed (" in message:
        assert isinstance(caught.value.__cause__, (TypeError, ValueError, ZeroDivisionError))


def test_an_object_for_single_numbers_gets_the_same_sentence(demo_index):
    class Single:
        def score(self, tf, doc, term, collection):
            return math.log(tf)

    with pytest.raises(PluginError, match="^The ranker Single works on single numbers, .*; write np.log for math.log"):
        demo_index.search("crane", Single())


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (
            lambda tf, doc, term, collection: tf / doc.len,
            "asks for len, which DocStats does not have; there are length, un",
        ),
        (lambda tf, doc, term, collection: tf / term.n_docs, "n_docs, which TermStats does not have; there are df, cf"),
        (
            lambda tf, doc, term, collection: tf / collection.N,
            "N, which Statistics does not .* docs, tokens, postings, mean_l",
        ),
        (lambda tf, doc, term, collection: None, "gave None in place of scores"),
    ],
)
def test_an_object_that_asks_for_no_statistic_gets_the_names_of_all(demo_index, score, message):
    own = SimpleNamespace(score=score, reads=("length",))
    with pytest.raises(PluginError, match=f"^The ranker own .*{message}"):
        demo_index.search("crane", sublex.ranker(own, name="own", version=message))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        *(
            (
                lambda make=make: make(Plain),
                rf"^Plain is a class; make an object of it: sublex.{make.__name__}\(Plain\(\)\)",
            )
            for make in (sublex.finder, sublex.keep, sublex.expander, sublex.rerank)
        ),
        (
            lambda: sublex.finder(lambda q, k: {}),
            r"^sublex.finder takes a function f\(query\), and lambda is lambda\(q, k\); write .* as in lambda query: ….$",
        ),
        (lambda: sublex.finder(lambda: THREE), r"f\(query\), and lambda is lambda\(\)"),
        (lambda: sublex.finder(lambda *, query: {}), r"f\(query\), and lambda is lambda\(query\)"),
        (
            lambda: sublex.keep(lambda q, d: True),
            r"^sublex.keep takes a function f\(document\), and lambda is lambda\(q, d\)",
        ),
        (lambda: sublex.rerank(lambda ds: []), r"^sublex.rerank .* f\(query, documents\), and lambda is lambda\(ds\)"),
        (lambda: sublex.expander(lambda q: q), r"^sublex.expander .* f\(query, context\), and lambda is lambda\(q\)"),
        (
            lambda: sublex.ranker(SimpleNamespace(score=max, reads="length")),
            r"SimpleNamespace has reads='length', a text; write a tuple of names: \('length',\)",
        ),
        (lambda: sublex.ranker(3), "takes an object with a method score, or a formula .*, not a value of type int"),
        (lambda: sublex.ranker("BM25"), "not a value of type str"),
        (lambda: sublex.ranker(Plain), r"Plain is a class; make an object of it: sublex.ranker\(Plain\(\)\)"),
        (
            lambda: sublex.ranker(lambda tf, dl: tf),
            r"asks for dl, which is no statistic; write length\. There are tf, length.*default",
        ),
        (lambda: sublex.ranker(lambda tf, avgdl: tf), r"no statistic; write mean_length\. There are tf"),
        (lambda: sublex.ranker(lambda tf, idf: tf), r"asks for idf, which is no statistic; "),
        (
            lambda: sublex.ranker(lambda tf, qtf: tf),
            "by which the engine multiplies what a formula returns; leave it out, or",
        ),
        (lambda: sublex.ranker(lambda tf, lenght: tf), r"no statistic; did you mean length\? There are tf,"),
        (lambda: sublex.ranker(lambda: 1), "asks for no statistic by the names of its parameters; there are tf"),
        (lambda: sublex.ranker(lambda tf, /: tf), "takes tf by its place alone; write a function around it"),
        (lambda: sublex.ranker(bm25, name=""), "name='' should be a text"),
        (lambda: sublex.ranker(sublex.ranker(bm25)), "not a value of type PythonRanker"),
        (lambda: sublex.finder(3), r"takes a function f\(query\), not a value of type int"),
        (lambda: sublex.expander(3), r"takes a function f\(query, context\), not a value of type int"),
        (lambda: sublex.expander(max, docs=-1), "docs=-1 should be at least 0"),
        (lambda: sublex.keep(3), r"takes a function f\(document\), not a value of type int"),
    ],
)
def test_a_wrong_argument_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


class Counted(Plain):
    """A ranker that tells a list of each posting that it scores. The list is no part of its identity."""

    calls: ClassVar[list[int]] = []

    def score(self, tf, doc, term, collection):
        type(self).calls.append(len(tf))
        return super().score(tf, doc, term, collection)


def test_searches_by_one_object_or_an_equal_one_share_a_pipeline(demo_index):
    index, one = sublex.open(demo_index.path), Plain()
    first = index.pipeline(one)
    assert (
        index.pipeline(one) is first and index.pipeline(Plain()) is first and index.pipeline(Plain(b=0.5)) is not first
    )
    one.b = 0.5
    second = index.pipeline(one)
    assert second is not first and index.pipeline(Plain(b=0.5)) is second
    one.b = 0.75
    assert index.pipeline(one) is first
    part = sublex.ranker(Plain())
    assert index.pipeline(part) is first
    assert index.pipeline("BM25" + 0.3 * part) is index.pipeline("BM25" + 0.3 * sublex.ranker(Plain()))


def test_impacts_are_computed_once(demo_index):
    """Counting calls is a change of the object; a version says that this does not matter."""
    index, ranker = sublex.open(demo_index.path), Counted()
    part = sublex.ranker(ranker, version=1)
    Counted.calls.clear()
    index.search("crane", part)
    number = len(Counted.calls)
    assert number
    index.search("crane", part)
    index.search("crane", sublex.ranker(Counted(), version=1))
    index.search("crane", "BM25" + 0.3 * part)
    assert len(Counted.calls) == number
    index.search("river", part)
    assert len(Counted.calls) > number


def test_the_pipelines_of_objects_that_change_stay_within_the_bounds(demo_index):
    index, ranker = sublex.open(demo_index.path), Plain()
    for number in range(150):
        ranker.k1 = 1 + number / 100
        index.search("crane", ranker, 1)
    composer = index._composer
    assert len(composer._pipelines) <= 64 and len(composer._given) <= 64


def test_a_part_whose_object_has_changed_gives_no_mixture_of_scores(demo_index):
    index, ranker = sublex.open(demo_index.path), Plain()
    part = sublex.ranker(ranker)
    before = pairs(index.search("crane", part))
    ranker.b = 0.1
    uses = [
        lambda: index.search(
            "crane", part
        ),  # The scores for this word were computed before, and those for the other were not.
        lambda: index.search("river", part),
        lambda: index.run({"1": "crane"}, part),
        lambda: index.pipeline(part).answer(index.query("crane"), 5),
        lambda: index.explain("crane", before[0][0], part),
    ]
    for use in uses:
        with pytest.raises(
            InputError, match=r"ranker\(Plain@\w+\) or a value that it reads has changed .*; make it again"
        ):
            use()
    # An equal object that has not changed is another part.
    fresh = [(docno, pytest.approx(score)) for docno, score in pairs(index.search("river", "BM25"))]
    assert pairs(index.search("river", Plain())) == fresh
    changed = [(docno, pytest.approx(score)) for docno, score in pairs(index.search("river", "BM25(b=0.1)"))]
    assert pairs(index.search("river", ranker)) == changed


SCALE = 1.0


def scaled(tf, df):
    return SCALE * tf / df


def test_a_global_is_part_of_the_formula(demo_index, monkeypatch):
    index = sublex.open(demo_index.path)
    part = sublex.ranker(scaled)
    before = index.search("crane", part).scores.tolist()
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    assert str(sublex.ranker(scaled)) != str(part)
    assert index.search("crane", sublex.ranker(scaled)).scores.tolist() == [2 * score for score in before]
    with pytest.raises(InputError, match="has changed since it was made"):
        index.search("river", part)


def test_a_ranker_may_keep_tables_of_its_own(demo_index):
    class Lazy(Plain):
        table: dict | None = None

        def score(self, tf, doc, term, collection):
            self.table = self.table or {}
            self.table[len(self.table)] = 1
            return super().score(tf, doc, term, collection)

    index = sublex.open(demo_index.path)
    part = sublex.ranker(Lazy())
    for query in ("crane", "river", "sea bank"):
        assert index.search(query, part).docnos == index.search(query, "BM25").docnos


def test_a_ranker_may_weigh_explain_and_normalise(demo_index):
    class Whole(Plain):
        def weight(self, qtf, term, collection):
            return 2 * qtf

        def explain(self, tf, doc, term, collection):
            return sublex.contracts.base.Explanation(
                float(self.score(tf, doc, term, collection)), "mine", evidence={"tf": tf}
            )

    index, ranker = sublex.open(demo_index.path), Whole()
    part = sublex.ranker(ranker)
    index.search("crane", part)
    ranker.k1 = 3
    with pytest.raises(InputError, match="has changed since it was made"):
        index.search("crane", part)  # Its weight may be another one now.
    hits, plain = demo_index.search("crane river", Whole()), demo_index.search("crane river", Plain())
    assert hits.docnos == plain.docnos and hits.scores.tolist() == pytest.approx((2 * plain.scores).tolist())
    tree = demo_index.explain("crane river", hits.docnos[0], Whole())
    assert tree.value == hits.scores[0] and any("mine" in part.parts[-1].label for part in tree.parts if part.parts)

    class Turned(Plain):
        def weight(self, qtf, term, collection):
            return 1j * qtf

    with pytest.raises(PluginError, match="Turned failed .TypeError: it gave complex numbers"):
        demo_index.search("crane", Turned())

    class Cosine:
        def norm_part(self, tf, doc, term, collection):
            return tf**2

        def score(self, tf, doc, term, collection):
            return tf / np.sqrt(doc.norm)

    best = demo_index.search("crane", Cosine(), 1)[0]
    terms = Counter(demo_index.analyze(demo_index.document(best.docno).contents))
    assert best.score == pytest.approx(terms["crane"] / math.sqrt(sum(tf**2 for tf in terms.values())))


def test_stored_impacts_of_an_object_are_found_again_by_its_hash(index):
    class Locked(Plain):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

    with pytest.raises(
        InputError, match=r"impacts of ranker\(Locked@object\d+\) cannot be stored, because its lock has a"
    ):
        index.store_impacts(Locked())
    index.store_impacts(["BM25", Plain()])
    name = str(sublex.ranker(Plain()))
    assert set(index.kept_impacts()) == {"BM25", name, "documents"}
    other = sublex.open(index.path)
    searcher = other.searcher(Plain())
    assert all(impacts.is_stored for impacts in searcher.impacts)
    assert not any(impacts.is_stored for impacts in other.searcher(Plain(b=0.5)).impacts)
    said: list[str] = []
    index.add([sublex.Document("new", "A crane.")], say=said.append)
    assert not said and all(impacts.is_stored for impacts in index.searcher(Plain()).impacts)
    other = sublex.open(index.path)
    other.add([sublex.Document("newer", "A crane.")], say=said.append)
    assert len(said) == 1 and f"The impacts of {name} cannot be stored." in said[0] and "Python object" in said[0]


# Functions that find.


def found(**scores: float) -> Callable[[str], dict[str, float]]:
    """Return a function that finds these documents, whose docnos are written with _ for -."""
    return lambda query: {docno.replace("_", "-"): score for docno, score in scores.items()}


THREE = {"birds-05": 3.0, "sea-01": 2.5, "law-14": 2.5}


@pytest.mark.parametrize(
    "form",
    [
        dict,
        lambda scores: list(scores.items()),
        lambda scores: iter(scores.items()),
        lambda scores: [list(pair) for pair in scores.items()],
        lambda scores: pytest.importorskip("pandas").DataFrame({"docno": list(scores), "score": list(scores.values())}),
        lambda scores: pytest.importorskip("pandas").Series(scores),
        lambda scores: pytest.importorskip("pandas").Series({**scores, "law-13": None}, dtype="Float64"),
        lambda scores: {docno: np.float32(score) for docno, score in scores.items()},
    ],
    ids=["dictionary", "pairs", "generator", "lists", "frame", "series", "series with NA", "numpy numbers"],
)
def test_a_finder_finds_what_its_function_returns(demo_index, form):
    hits = demo_index.search("crane", sublex.finder(lambda query: form(THREE)))
    # Equal scores stand in descending order of docno, as everywhere.
    assert pairs(hits) == [("birds-05", 3.0), ("sea-01", 2.5), ("law-14", 2.5)] and hits.scores.dtype == np.float32
    assert demo_index.search("crane", sublex.finder(lambda query: form(THREE)), 1).docnos == ["birds-05"]


def test_a_finder_may_return_hits_and_gets_the_text_of_the_query(demo_index):
    asked = []

    def longest(query):
        asked.append(query)
        return demo_index.search(max(query.split(), key=len), "PL2", 5)

    assert (
        demo_index.search("Cranes by river", sublex.finder(longest)).docnos
        == demo_index.search("Cranes", "PL2", 5).docnos
    )
    demo_index.search("Cranes by river", "RM3" >> sublex.finder(longest))
    assert asked == ["Cranes by river"] * 2


def test_a_finder_after_a_stage_scores_its_hits_and_drops_the_others(demo_index):
    first = demo_index.search("crane", "BM25", 1000).docnos
    hits = demo_index.search("crane", "BM25" >> sublex.finder(found(birds_05=1, sea_01=9, ships_09=2)))
    assert "sea-01" not in first and pairs(hits) == [("ships-09", 2.0), ("birds-05", 1.0)]
    cut = demo_index.search("crane", sublex.finder(found(birds_05=1, sea_01=9, ships_09=2)) % 2 >> sublex.parse("BM25"))
    assert cut.docnos == ["ships-09"]


def test_a_part_of_a_blend_finds_and_has_no_opinion_on_others(demo_index):
    crane = dict(pairs(demo_index.search("crane", "BM25", 1000)))
    part = sublex.finder(found(birds_05=3, sea_01=9))
    hits = dict(pairs(demo_index.search("crane", "BM25" + 0.5 * part, 1000)))
    assert set(hits) == {*crane, "sea-01"}
    low, high = min(crane.values()), max(crane.values())
    for docno, score in hits.items():
        lexical = (crane.get(docno, low) - low) / (high - low)
        assert score == pytest.approx(lexical + 0.5 * (docno == "sea-01"), abs=1e-6)


def test_a_finder_is_called_once_for_a_query_in_a_search_and_in_an_explanation(demo_index):
    asked: list[str] = []

    def function(query):
        asked.append(query)
        return THREE

    part = sublex.finder(function, version=1)  # The test empties a list that the function reads.
    for expression in (part, "BM25" + 0.3 * part, part >> sublex.parse("BM25") + part, part + 0.1 * (part % 2)):
        for act in (demo_index.search, lambda query, tree: demo_index.explain(query, "sea-01", tree)):
            asked.clear()
            act("crane", expression)
            assert asked == ["crane"], f"{act} by {expression}"
    asked.clear()
    topics = {str(number): f"crane {number}" for number in range(50)}
    demo_index.run(topics, "BM25" + 0.3 * part, workers=3)
    assert Counter(asked) == Counter(topics.values())
    asked.clear()
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    sublex.tune(demo_index, topics, qrels, "BM25" + "{0..1}" * part)
    assert Counter(asked) == Counter(topic.text for topic in topics)
    asked.clear()
    sublex.tune(demo_index, topics, qrels, sublex.parse("BM25 % {5,20}") >> sublex.parse("PL2") + 0.5 * part)
    assert Counter(asked) == Counter(topic.text for topic in topics)


def test_the_explanation_of_a_finder_has_its_name_the_rank_and_the_number_found(demo_index):
    part = sublex.finder(lambda query: THREE, name="dense", version=2)
    tree = demo_index.explain("crane", "sea-01", part)
    assert (tree.value, tree.evidence["rank"], tree.evidence["found"]) == (2.5, 2, 3)
    assert tree.label == "finder(dense@2): the score that the Python function gave"
    other = demo_index.explain("crane", "birds-17", part)
    assert other.value == -math.inf
    assert other.label == "finder(dense@2): not among the 3 documents that the Python function found"
    blend = demo_index.explain("crane", "sea-01", "BM25" + 0.5 * part)
    assert blend.parts[1].evidence == {"rank among the hits of this part": 2}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda q: 3, r"The finder odd for the query 'crane' returned 3 \(int\); return hits, a dictionary \{docno: score\}, pairs"),
        (lambda q: None, "odd for the query 'crane' returned None; return hits"),
        (lambda q: "birds-05", "odd for the query 'crane' returned 'birds-05'"),
        (lambda q: [("a", 1, 2)], "odd for the query 'crane' returned"),
        (lambda q: ["birds-05"], "odd for the query 'crane' returned"),
        (lambda q: itertools.repeat(("birds-05", 1)), "odd for the query 'crane' gave more than 1,000,000 pairs"),
        (lambda q: itertools.count(), "odd for the query 'crane' returned count"),
        (lambda q: np.zeros(500), r"odd .* returned an array of shape \(500,\); return a dictionary .* dict\(zip\(docnos, scores"),
        (lambda q: {"birds-05": math.nan}, "finder odd gave nan for the document birds-05; scores have to be finite"),
        (lambda q: {"birds-05": -math.inf}, "finder odd gave -inf for the document birds-05"),
        (lambda q: {"birds-05": 1e39}, r"finder odd gave 1e\+39 for the document birds-05"),
        (lambda q: {"birds-05": "1"}, "finder odd gave a score of type str"),
        (lambda q: [("birds-05", 1), ("birds-05", 1)], "finder odd found birds-05 twice"),
        (lambda q: {(1, 2): 1}, "document id .* is neither a text nor a whole number"),
        (lambda q: 1 / 0, r"finder odd for the query 'crane' failed \(ZeroDivisionError"),
    ],
)  # fmt: skip
def test_a_wrong_finding_costs_a_sentence(demo_index, function, message):
    with pytest.raises((InputError, PluginError), match=message) as caught:
        demo_index.search("crane", sublex.finder(function, name="odd"))
    assert "failed" not in message or isinstance(caught.value.__cause__, ZeroDivisionError)


def test_documents_that_are_not_there_are_left_out(index):
    part = sublex.finder(found(birds_05=3, nowhere=9))
    assert index.search("crane", part).docnos == ["birds-05"]
    alone = sublex.finder(found(birds_05=3))
    index.delete(["birds-05"])
    assert index.search("crane", part).docnos == index.search("crane", alone).docnos == []
    assert index.search("crane", sublex.finder(found(birds_05=3, sea_01=None))).docnos == []
    once = sublex.finder(found(sea_01=3))
    assert index.search("crane", once).docnos == ["sea-01"]
    index.delete(["sea-01"])
    index.merge()
    assert index.search("crane", once).docnos == []


def test_a_finder_of_another_collection_costs_one_warning_and_no_run(tmp_path):
    documents = [{"id": "a", "text": "crane"}, {"id": "b", "text": "tower"}]
    index = sublex.build(documents, tmp_path / "one", overwrite=True)
    other = sublex.build(documents, tmp_path / "other", overwrite=True)
    index.delete(["a"])
    index.merge()

    def made() -> Any:
        return sublex.finder(lambda query: {"a": 1.0, 7: 2.0} if "crane" in query else {"b": 1.0}, name="odd")

    sentence = (
        r"^The finder odd found 2 documents for 'crane', such as a, and .*one has none of them; let it return docnos"
    )
    part = made()
    with pytest.warns(SublexWarning, match=sentence) as caught:
        assert index.search("crane", part).docnos == []
        run = index.run({"1": "crane", "2": "tower", "3": "a crane"}, part)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert not run["1"] and list(run["2"]) == ["b"] and not run["3"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert other.search("crane", part).docnos == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(index.run({"2": "tower", "1": "crane"}, made(), workers=1)["2"]) == ["b"]
    elsewhere = sublex.finder(lambda query: {"x": 1.0}, name="odd")
    for each in (index, other):
        with pytest.warns(SublexWarning, match="has none of them"):
            assert each.search("crane", elsewhere).docnos == []


def test_what_a_finder_found_is_cached(demo_index, tmp_path):
    asked: list[str] = []

    def function(query):
        asked.append(query)
        return {"birds-05": 2.0, "sea-01": None, "law-14": 1}

    def search(query="crane", **options):
        asked.clear()
        part = sublex.finder(function, name="a/b", version=options.get("version", 1), cache=tmp_path / "cache")
        assert pairs(demo_index.search(query, part)) == [("birds-05", 2.0), ("law-14", 1.0)]
        return len(asked)

    assert search() == 1 and search() == 0 and search("river") == 1 and search("river") == 0
    assert search(version=2) == 1 and search() == 0
    (path,) = (tmp_path / "cache").iterdir()
    assert path.name == "a_b.found.sqlite"
    with pytest.raises(
        InputError, match=r"finder\(Unseen@object\d+\) has no lasting cache, because its lock has a value"
    ):
        sublex.finder(Unseen(), cache=tmp_path)

    for wrong in ("'[1]'", "'[\"birds-05\"'", "1", "x'00'", "'[' || hex(zeroblob(100)) || ']'", "'[[[[[[[]]]]]]]'"):
        for column in ("docnos", "scores"):
            search("damaged")
            with sqlite3.connect(path) as database:
                database.execute(f"UPDATE found SET {column} = {wrong}")
            database.close()
            with pytest.raises(
                InputError, match=r"The cache .* holds .* in place of documents with scores; delete the file"
            ):
                search("damaged")
            path.unlink()


class Unseen:
    """A function that cannot be hashed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, query):
        return THREE


def test_an_index_that_a_function_asks_counts_by_its_generation(index):
    def function(query):
        return index.search(query, "PL2", 5)

    before = str(sublex.finder(function))
    assert "object" not in before and str(sublex.finder(function)) == before
    index.search("crane")
    assert str(sublex.finder(function)) == before
    index.add([sublex.Document("new", "A crane.")])
    assert str(sublex.finder(function)) != before


# Expanders.


def test_the_words_of_an_expander_become_terms(demo_index):
    def terms(function, query="cranes by the river", **options):
        part = sublex.expander(function, name="mine", **options)
        answer = demo_index.answer(query, part >> sublex.parse("BM25"))
        return answer.query.text, [tuple(term) for term in answer.query.terms]

    # A term of the index stands for itself; any other word is analysed.
    text, made = terms(lambda query, context: {"crane": 2, "Lifting machines": np.float32(0.5), "the": 1})
    assert text == "cranes by the river"
    assert made == [("crane", 2.0, "query"), ("lift", 0.5, "mine"), ("machin", 0.5, "mine")]
    text, made = terms(lambda query, context: f"{query.text} harbour")
    assert text == "cranes by the river harbour"
    assert made == [("crane", 1.0, "query"), ("river", 1.0, "query"), ("harbour", 1.0, "mine")]
    _, made = terms(lambda query, context: query._replace(terms=(*query.terms, QueryTerm("sea", 0.5))))
    assert made[-1] == ("sea", 0.5, "mine")
    _, made = terms(lambda query, context: Query(query.text, (QueryTerm("sea", 0.5, "theirs"),)))
    assert made == [("sea", 0.5, "theirs")]
    assert terms(lambda query, context: query)[1] == [("crane", 1.0, "query"), ("river", 1.0, "query")]
    assert terms(lambda query, context: {})[1] == []


class Forgetful:
    """A stranger's expander, written before queries had trees and conditions: it makes each query anew."""

    docs = 1

    def __init__(self, added):
        self.added = added

    def expand(self, query, context):
        return Query(query.text, (*query.terms, *(QueryTerm(term, 0.5, "Forgetful") for term in self.added)))


def test_conditions_outlive_a_strangers_expander(demo_index):
    condition = Condition("all", ("crane", Condition("not", (Condition("any", ("river", synonyms(["sea", "lion"]))),))))
    tree = object()
    asked = Query("crane -river", (QueryTerm("crane"),), tree=tree, condition=condition)
    part = Forgetful(("sea", "river", synonyms(["sea", "lion"]), "bank"))
    made = demo_index.answer(asked, sublex.parse("BM25") >> part >> sublex.parse("BM25")).query
    assert (made.condition, made.tree) == (condition, tree)
    assert [term.term for term in made.terms] == ["crane", "sea", "bank"]


def test_an_expander_cannot_make_conditions_of_its_own(demo_index):
    def function(query, context):
        return query._replace(condition=Condition("not", ("crane",)), tree="mine")

    made = demo_index.answer("crane", sublex.expander(function) >> sublex.parse("BM25")).query
    assert made.condition is None and made.tree is None


def test_a_word_of_the_query_stays_although_it_is_excluded(demo_index):
    asked = Query("crane", (QueryTerm("crane"), QueryTerm("river")), condition=Condition("not", ("river",)))
    part = Forgetful(["river"])
    made = demo_index.answer(asked, part >> sublex.parse("BM25")).query
    assert [term.term for term in made.terms] == ["crane", "river", "river"]


def test_expanders_see_the_query_before_all_expanders(demo_index):
    seen = []

    def function(query, context):
        seen.append(context.original)
        return query

    first, rewritten = (
        sublex.expander(function, name="first"),
        sublex.expander(lambda q, c: "sea lions", name="rewritten"),
    )
    bm25, asked = sublex.parse("BM25"), demo_index.query("crane river")
    demo_index.search(asked, first >> bm25)
    demo_index.search(asked, bm25 >> sublex.parse("RM3") >> first >> bm25)
    assert seen == [asked, asked]
    # A new text is a new query.
    demo_index.search(asked, rewritten >> first >> bm25)
    assert seen[2].text == "sea lions" and [term.term for term in seen[2].terms] == ["sea", "lion"]


def test_an_operator_among_the_weights_of_an_expander_stays_one(demo_index):
    either = synonyms(["river", "sea"])
    part = sublex.expander(lambda query, context: {"crane": 1, either: 0.5}, name="mine")
    made = demo_index.answer("crane", part >> sublex.parse("BM25")).query
    assert made.terms[-1] == (either, 0.5, "mine")


def test_an_expander_learns_from_as_many_documents_as_it_asks_for(demo_index):
    seen: list[list[str]] = []

    def function(query, context):
        seen.append([demo_index.docno(doc) for doc in context.docs.tolist()])
        return query

    demo_index.search("crane", sublex.expander(function) >> sublex.parse("BM25"))
    demo_index.search("crane", sublex.expander(function, docs=3) >> sublex.parse("BM25"))
    demo_index.search("crane", "PL2 % 2" >> sublex.expander(function) >> sublex.parse("BM25"))
    assert seen == [[], demo_index.search("crane", "BM25", 3).docnos, demo_index.search("crane", "PL2", 2).docnos]


def test_an_expander_is_an_origin_in_explanations(demo_index):
    part = sublex.expander(lambda query, context: {"crane": 1, "sea": 0.5}, name="mine", version=1)
    hit = next(iter(demo_index.search("sea", "BM25", 1)))
    tree = demo_index.explain("crane", hit.docno, part >> sublex.parse("BM25"))
    assert tree.parts[0].label == "expander(mine@1) made the query 2 words" and tree.parts[0].evidence == {
        "added": {"sea": 0.5}
    }
    assert any(inner.evidence.get("from") == "mine" for part in tree.parts for inner in part.parts)


class Expands:
    """An expander as a plugin has it."""

    docs = 2

    def expand(self, query, context):
        return query._replace(terms=(*query.terms, QueryTerm(context.names(np.array([0]))[0], 0.1)))


def test_an_object_with_expand_is_an_expander(demo_index):
    answer = demo_index.answer("crane", sublex.parse("BM25") >> Expands() >> sublex.parse("BM25"))
    assert answer.query.terms[-1].origin == "Expands" and len(answer.query.terms) == 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda q, c: None,
            "The expander odd gave None; return a query, a dictionary from terms to weights, or a text",
        ),
        (lambda q, c: {"crane": math.nan}, r"The expander odd gave crane the weight nan \(float\); weights are finite"),
        (lambda q, c: {"crane": "1"}, "The expander odd gave crane the weight '1'"),
        (lambda q, c: {3: 1.0}, r"The expander odd gave the term 3 \(int\); terms are texts"),
        (lambda q, c: Query("a", ("crane",)), "The expander odd gave 'crane' .* as a term"),
        (lambda q, c: Query(5, q.terms), r"The expander odd gave 5 \(int\) as the text of the query or as a term"),
        (
            lambda q, c: Query("a", (QueryTerm("crane", 1.0, 7),)),
            r"The expander odd gave 7 \(int\) as .* or its origin",
        ),
        (lambda q, c: 1 / 0, r"The expander odd for the query 'crane' failed \(ZeroDivisionError"),
    ],
)
def test_a_wrong_query_costs_a_sentence(demo_index, function, message):
    with pytest.raises(PluginError, match=f"^{message}"):
        demo_index.search("crane", sublex.expander(function, name="odd") >> sublex.parse("BM25"))


def test_an_expander_finds_nothing_itself(demo_index):
    part = sublex.expander(lambda query, context: query)
    with pytest.raises(
        InputError, match=r"expander\(lambda@\w+\) changes the query and finds nothing itself; put a ranker"
    ):
        demo_index.search("crane", part)


# Every kind of object, in everything that runs expressions.


def first_letters(query, documents):
    return [float(ord(document.docno[0])) for document in documents]


def by_theme(query):
    return {f"birds-{number:02}": number / 10 for number in range(1, 18)}


def longer(query, context):
    return {**{term.term: 1.0 for term in query.terms}, "bird": 0.5}


def early(document):
    return int(document.docno[-2:]) < 12


KINDS: dict[str, Callable[[], Expression]] = {
    "ranker": lambda: sublex.ranker(Plain(b=0.3)),
    "formula": lambda: sublex.ranker(bm25),
    "finder": lambda: sublex.finder(by_theme),
    "expander": lambda: sublex.expander(longer) >> sublex.parse("BM25"),
    "filter": lambda: sublex.parse("BM25") >> sublex.keep(early),
    "rerank": lambda: sublex.parse("BM25 % 20") >> sublex.rerank(first_letters),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_runs_everywhere(index, kind, tmp_path):
    part, topics, qrels = KINDS[kind](), sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    blend = "PL2" + 0.5 * part
    texts = {topic.qid: topic.text for topic in topics}
    # Search, and explain: the tree has the score and the rank of the search.
    for tree in (part, blend, part >> sublex.parse("PL2"), 1 * blend % 5):
        for hit in index.search("cranes by the river", tree, 4):
            explained = index.explain("cranes by the river", hit.docno, tree)
            assert explained.value == pytest.approx(hit.score, abs=1e-5) and explained.evidence["rank"] == hit.rank
    # Run: the tag and the metadata name the object, and say that text alone does not repeat it.
    run = index.run(topics, blend, 20)
    assert {qid: list(run[qid]) for qid in run} == {qid: index.search(texts[qid], blend, 20).docnos for qid in texts}
    (name,) = re.findall(r"\w+\(\w+@[0-9a-f]{6}\)", str(part))
    assert name in run.tag and name in run.metadata["method"]["expression"]
    note = f"{name} is a Python object; the run cannot be repeated from this text alone"
    assert run.metadata["method"]["note"] == note == run.metadata["implementation"]["executable"]["note"]
    assert re.fullmatch("code [0-9a-f]{32}", run.metadata["data"]["models"][name])
    run.write(tmp_path / "mine.run")
    assert sublex.read_run(tmp_path / "mine.run").tag == run.tag and note in (tmp_path / "mine.run.yaml").read_text()
    # Compare and measure; the second comparison reads the run that the first one kept, and finds it by the hash.
    for _ in range(2):
        comparison = sublex.compare(index, topics, qrels, ["BM25", part, blend], "AP")
        assert comparison.names == ("BM25", str(part), str(blend))
    kept = len(list(index.path.rglob("run-*")))
    again = sublex.compare(index, topics, qrels, ["BM25", KINDS[kind](), "PL2" + 0.5 * KINDS[kind]()], "AP")
    assert list(again.mean("AP")) == list(comparison.mean("AP")) and len(list(index.path.rglob("run-*"))) == kept == 3
    # Tune: a weight and a depth around it.
    tuned = sublex.tune(index, topics, qrels, sublex.parse("PL2") % 50 + "{0,0.5}" * KINDS[kind](), "AP", folds=2)
    by_hand = sublex.measure(qrels, index.run(topics, "PL2 % 50" + 0.5 * part), "AP").mean["AP"]
    assert tuned.means[1] == pytest.approx(by_hand, abs=1e-6)
    assert (
        len(sublex.tune(index, topics, qrels, KINDS[kind]() % sublex.parse("a % {5,20}").depth, "AP", folds=2).settings)
        == 2
    )
    # Fuse, and a plain list of systems.
    assert str(part).replace(" ", "") in sublex.fuse([part, "BM25"], index=index, topics=topics).tag


def test_objects_stand_beside_texts_and_expressions(demo_index):
    plain = Plain()
    name = str(sublex.ranker(plain))
    bm25_ = sublex.parse("BM25")
    assert str(bm25_ >> plain) == f"BM25 >> {name}" and str(bm25_ + plain) == f"BM25 + {name}"
    assert str(plain >> bm25_) == f"{name} >> BM25" and str("BM25" >> sublex.ranker(plain)) == f"BM25 >> {name}"
    assert str(bm25_ + 0.3 * sublex.ranker(plain)) == f"BM25 + 0.3*{name}"
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    assert sublex.compare(demo_index, topics, qrels, [plain, "BM25"], "AP").names == (name, "BM25")
    assert sublex.compare(demo_index, topics, qrels, plain, "AP").names == (name,)
    assert sublex.measure(qrels, plain, "AP", index=demo_index, topics=topics).name == name
    with pytest.raises(InputError, match=r"Plain is a class; make an object of it: Plain\(\)"):
        demo_index.search("crane", Plain)
    with pytest.raises(InputError, match=r"becomes a stage by sublex.rerank\(…\), .* sublex.finder, sublex.keep or"):
        demo_index.search("crane", by_theme)


def test_a_part_of_a_blend_may_have_a_normaliser(demo_index):
    part = sublex.finder(found(birds_05=3, sea_01=9))
    raw = "raw(BM25)" + 0.5 * part.normalised("raw")
    assert str(raw) == f"raw(BM25) + 0.5*raw({part})"
    crane = dict(pairs(demo_index.search("crane", "BM25", 1000)))
    scores = dict(pairs(demo_index.search("crane", raw, 1000)))
    assert scores["birds-05"] == pytest.approx(crane["birds-05"] + 1.5)
    with pytest.raises(InputError, match="No normaliser max; there are minmax, zscore, rank, raw, rrf"):
        part.normalised("max")
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    tuned = sublex.tune(demo_index, topics, qrels, "BM25" + "{0,1}" * part.normalised("zscore"), folds=2)
    assert len(tuned.settings) == 2


@pytest.mark.parametrize("word", ["ranker", "finder", "keep", "expander", "rerank"])
def test_a_text_cannot_name_an_object(demo_index, word):
    for text in (f"{word}(mine@3f2a9c)", f"BM25 >> {word}(mine@3f2a9c)", f"BM25 + 0.3*{word}(mine)", word):
        with pytest.raises(UnknownName, match=rf"{word}\(…\) stands for a Python \w+, .*in Python by sublex.{word}"):
            demo_index.search("crane", text)


def test_parts_travel_to_other_processes(demo_index):
    for kind in KINDS:
        part = KINDS[kind]()
        copy = pickle.loads(pickle.dumps(part))
        assert str(copy) == str(part)
        assert pairs(demo_index.search("crane", copy)) == pairs(demo_index.search("crane", part))


def test_copies_of_parts_with_one_function_have_one_function(demo_index):
    def plain(tf):
        return tf

    expression = sublex.ranker(plain, version=1) + 0.5 * sublex.ranker(plain, version=1)
    copy = pickle.loads(pickle.dumps(expression))
    assert pairs(sublex.open(demo_index.path).search("crane", copy)) == pairs(demo_index.search("crane", expression))


def test_a_copy_of_a_ranker_whose_class_was_pickled_with_it_scores(demo_index):
    """cloudpickle leaves the slots out of a class, so its code is not quite the same after that."""
    cloudpickle = pytest.importorskip("cloudpickle")
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(
        "class Slots:\n    __slots__ = ('a',)\n    def score(self, tf, doc, term, collection): return tf * self.a",
        scope,
    )
    thing = scope["Slots"]()
    thing.a = 2.0
    part = sublex.ranker(thing)
    program = (
        "import pickle, sublex, sys\n"
        "from sublex.language.object_identity import identity_of\n"
        "index, part = sublex.open(sys.argv[1]), pickle.loads(sys.stdin.buffer.read())\n"
        "print(part, identity_of(part.thing, '').digest != part.identity.digest, *index.search('crane', part).docnos)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, demo_index.path], input=cloudpickle.dumps(part), capture_output=True, check=True
    )
    assert done.stdout.decode().split() == [str(part), "True", *demo_index.search("crane", part).docnos]


LIMIT = 1.0


def limited(form):
    return lambda *given: form(LIMIT, *given)


# What a function of each kind returns for the global's value.
LIMITED: dict[str, Callable[..., Any]] = {
    "keep": lambda **options: "BM25" >> sublex.keep(limited(lambda limit, document: limit > 0), **options),
    "rerank": lambda **options: "BM25" >> sublex.rerank(limited(lambda limit, query, docs: [limit] * len(docs)), **options),
    "finder": lambda **options: sublex.finder(limited(lambda limit, query: {"sea-01": limit}), **options),
    "expander": lambda **options: (
        sublex.expander(limited(lambda limit, query, context: {"river": limit}), **options) >> sublex.parse("BM25")
    ),
}  # fmt: skip


@pytest.mark.parametrize("word", LIMITED)
def test_every_part_is_refused_after_a_change_of_what_it_reads(demo_index, monkeypatch, word):
    index, part = sublex.open(demo_index.path), LIMITED[word]()
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    before = pairs(index.search("crane", part))
    assert before and sublex.compare(index, topics, qrels, [part, "BM25"], "AP").table()
    monkeypatch.setitem(globals(), "LIMIT", 2.0)
    uses: list[Callable[[], Any]] = [
        lambda: index.search("crane", part),
        lambda: index.search("river", part),
        lambda: index.run(topics, part),
        lambda: index.explain("crane", before[0][0], part),
        lambda: sublex.compare(index, topics, qrels, [part, "BM25"], "AP"),
        lambda: sublex.measure(qrels, part, "AP", index=index, topics=topics),
        lambda: sublex.tune(index, topics, qrels, "BM25" + "{0.1,0.2}" * part, "AP"),
    ]
    said = rf"{word}\(\w+@\w+\) or a value that it reads has changed .*; make it again by sublex.{word}\(…\)\.$"
    for use in uses:
        with pytest.raises(InputError, match=said):
            use()
    monkeypatch.setitem(globals(), "LIMIT", 1.0)
    assert pairs(index.search("crane", part)) == before
    monkeypatch.setitem(globals(), "LIMIT", 2.0)
    assert index.search("crane", LIMITED[word]()).docnos
    versioned = LIMITED[word](version=1)
    index.search("crane", versioned)
    monkeypatch.setitem(globals(), "LIMIT", 3.0)
    index.search("crane", versioned)  # The user answers for a version.


def test_a_kept_run_of_a_changed_ranker_is_refused(demo_index, monkeypatch):
    index, part = sublex.open(demo_index.path), sublex.ranker(scaled)
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    sublex.compare(index, topics, qrels, [part, "BM25"], "AP")
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    with pytest.raises(InputError, match="has changed since it was made"):
        sublex.compare(index, topics, qrels, [part, "BM25"], "AP")
    with pytest.raises(InputError, match="has changed since it was made"):
        sublex.measure(qrels, part, "AP", index=index, topics=topics)


@pytest.mark.parametrize("word", ["rerank", "finder"])
def test_a_changed_function_stores_and_reads_no_scores(demo_index, monkeypatch, tmp_path, word):
    part = LIMITED[word](cache=tmp_path)
    first = demo_index.search("crane", part, 1)[0]
    monkeypatch.setitem(globals(), "LIMIT", -1.0)
    for query in ("crane", "river"):  # The scores of the first query are stored.
        with pytest.raises(InputError, match="has changed since it was made"):
            demo_index.search(query, part)
    monkeypatch.setitem(globals(), "LIMIT", 1.0)
    assert demo_index.search("river", part, 1)[0].score == first.score == 1


def test_a_part_may_keep_tables_of_its_own_and_fail(demo_index):
    table: dict[str, int] = {}

    def counting(query):
        table[query] = len(table)
        if query == "fail":
            raise ValueError("no")
        return THREE

    part = sublex.finder(counting)
    for query in ("crane", "river"):
        assert demo_index.search(query, part).docnos == list(THREE)
    with pytest.raises(PluginError):
        demo_index.search("fail", part)
    assert demo_index.search("crane", pickle.loads(pickle.dumps(part))).docnos == list(THREE)
    assert demo_index.search("tower", part).docnos == list(THREE)
    table.clear()
    with pytest.raises(InputError, match="has changed since it was made"):
        demo_index.search("crane", part)


def test_a_large_collection_is_hashed_once(demo_index, monkeypatch):
    from sublex.language import object_identity

    large, factor = {str(number): number for number in range(5000)}, [1.0]
    part = sublex.finder(lambda query: {"sea-01": factor[0] + 0 * len(large) * LIMIT})
    hashed: list[object] = []
    real = object_identity.identity_of
    monkeypatch.setattr(
        object_identity, "identity_of", lambda thing, version: hashed.append(thing) or real(thing, version)
    )
    for query in ("crane", "river"):
        assert len(demo_index.search(query, part)) == 1
    assert not hashed
    monkeypatch.setitem(globals(), "LIMIT", 2.0)
    with pytest.raises(InputError, match="has changed since it was made"):
        demo_index.search("crane", part)


def by_limit(query):
    return {"sea-01": LIMIT}


def kept_by_limit(document):
    return LIMIT > 0


def scored_by_limit(query, documents):
    return [LIMIT] * len(documents)


def expanded_by_limit(query, context):
    return {"river": LIMIT}


@pytest.mark.parametrize(
    "make",
    [
        lambda: sublex.ranker(scaled),
        lambda: sublex.finder(by_limit),
        lambda: "BM25" >> sublex.keep(kept_by_limit),
        lambda: "BM25" >> sublex.rerank(scored_by_limit),
        lambda: sublex.expander(expanded_by_limit) >> sublex.parse("BM25"),
    ],
)
def test_an_unpickled_part_refuses_other_code_than_it_was_made_with(demo_index, monkeypatch, make):
    index, stored = sublex.open(demo_index.path), pickle.dumps(make())
    monkeypatch.setitem(globals(), "LIMIT", 2.0)
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    copy = pickle.loads(stored)
    with pytest.raises(InputError, match="has changed since it was made"):
        index.search("crane", copy)
    monkeypatch.setitem(globals(), "LIMIT", 1.0)
    monkeypatch.setitem(globals(), "SCALE", 1.0)
    assert pairs(index.search("crane", pickle.loads(pickle.dumps(copy)))) == pairs(index.search("crane", make()))


def test_a_name_that_is_no_word_is_quoted():
    assert str(sublex.ranker(bm25, name="my formula", version="2 b")) == 'ranker("my formula@2 b")'
    assert str(sublex.finder(by_theme, name="dense", version="L6-v2")) == "finder(dense@L6-v2)"


def test_an_index_without_texts_serves_rankers_and_finders(tmp_path):
    index = sublex.build(DEMO, tmp_path / "bare", store="none")
    assert index.search("crane", Plain()).docnos and index.search("crane", sublex.finder(by_theme)).docnos
    with pytest.raises(IndexProblem, match=r"without stored text, which keep\(\w+@\w+\) reads"):
        index.search("crane", "BM25" >> sublex.keep(lambda document: bool(document.title)))
