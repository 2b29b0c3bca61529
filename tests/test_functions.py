"""Tests of Python functions as stages: what they see, what they may return, their cache, and where a pipeline uses them."""

from __future__ import annotations

import itertools
import math
import re
import shutil
import sqlite3
import threading
import traceback
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared import DEMO, QRELS, TOPICS

import sublex
from sublex.errors import IndexProblem, InputError, PluginError, UnknownName
from sublex.language.functions import StoredDocument
from sublex.pipeline.index import Index
from sublex.pipeline.stages.score_cache import TABLE

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")


@pytest.fixture(scope="module")
def demo_index(built_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of the demo collection for the tests of this module, which keep runs in it."""
    return sublex.open(shutil.copytree(built_demo, tmp_path_factory.mktemp("functions") / "demo"))


class Calls:
    """A function for `sublex.rerank` that prefers short texts, and remembers its calls."""

    __name__ = "short"

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[StoredDocument]]] = []

    def __call__(self, query: str, documents: list[StoredDocument]) -> list[float]:
        self.calls.append((query, documents))
        return [-len(document.text) for document in documents]

    @property
    def docnos(self) -> list[str]:
        return [document.docno for _, documents in self.calls for document in documents]


class Locked:
    """A function with a value that cannot be hashed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, query: str, documents: list[StoredDocument]) -> list[float]:
        return [1.0] * len(documents)


def by_length(index: Index, docnos: list[str]) -> list[str]:
    """Return docnos by ascending length of the text, as `Calls` orders them."""
    return sorted(sorted(docnos, reverse=True), key=lambda docno: len(index.document(docno).text))


def test_a_function_scores_the_hits_of_the_stage_before(demo_index):
    first = demo_index.search("crane river", "BM25", 12)
    hits = demo_index.search("crane river", "BM25 % 12" >> sublex.rerank(Calls()), 1000)
    assert hits.docnos == by_length(demo_index, first.docnos) != first.docnos
    assert hits.scores.tolist() == [-len(demo_index.document(docno).text) for docno in hits.docnos]
    assert hits.scores.dtype == np.float32


def test_a_function_gets_the_query_and_documents_best_first_in_batches(demo_index):
    function = Calls()
    expression = "BM25 % 12" >> sublex.rerank(function, batch=5)
    demo_index.search("Cranes by the River!", expression)
    assert [len(documents) for _, documents in function.calls] == [5, 5, 2]
    assert {query for query, _ in function.calls} == {"Cranes by the River!"}
    assert function.docnos == demo_index.search("Cranes by the River!", "BM25", 12).docnos
    document = function.calls[0][1][0]
    assert document.contents == f"{document.title}\n{document.text}" == demo_index.document(document.docno).contents
    assert dict(document.fields) == {"theme": document.docno.partition("-")[0]}


def test_nothing_is_asked_about_no_hits(demo_index):
    function = Calls()
    assert len(demo_index.search("zzzz", "BM25" >> sublex.rerank(function))) == 0
    assert function.calls == []


@pytest.mark.parametrize(
    ("function", "name"),
    [(Calls(), "short"), (lambda query, documents: [], "lambda"), (Calls().__call__, "__call__"), (max, "max")],
)
def test_a_function_prints_its_name(function, name):
    printed = str("BM25 % 10" >> sublex.rerank(function) % 3)
    assert re.fullmatch(rf"BM25 % 10 >> rerank\({name}@[0-9a-f]{{6}}\) % 3", printed)
    assert str(0.5 * sublex.rerank(function, name="my model", version=2)) == '0.5*rerank("my model@2")'


def test_the_printed_form_does_not_parse_back(demo_index):
    for expression in ("BM25 >> rerank(f@3f2a9c)", "BM25 >> rerank(f)", "BM25 + 0.3*rerank(f)", "zscore(rerank)"):
        with pytest.raises(UnknownName, match=r"stands for a Python function.*make the expression in Python"):
            demo_index.search("crane", expression)


@pytest.mark.parametrize(
    "expression", ["BM25 >> rerank(f@3f2a9c)", "finder(dense@1) % 5", "BM25 + 0.3*ranker(x)", "keep"]
)
def test_parse_refuses_the_printed_form(expression):
    with pytest.raises(
        UnknownName, match=r"\(…\) stands for a Python .*, which a text cannot name; make the expression in"
    ):
        sublex.parse(expression)


def test_no_plugin_may_take_the_name(demo_index):
    registry = demo_index.registry
    with pytest.raises(PluginError, match="a word with another meaning"):
        registry._register(registry.plugins[0], "ranker", "rerank", object)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda q, d: None, "gave a value of type NoneType for 9 documents; it has to give one number for each"),
        (lambda q, d: 1.5, "gave a value of type float for 9 documents"),
        (lambda q, d: "123456789", "gave a value of type str for 9 documents"),
        (lambda q, d: dict.fromkeys(range(9)), "gave a value of type dict for 9 documents"),
        (lambda q, d: [1], "gave 1 score for 9 documents"),
        (lambda q, d: [1] * 10, "gave 10 scores for 9 documents"),
        (lambda q, d: itertools.repeat(1.0), "gave more than 9 scores for 9 documents"),
        (lambda q, d: range(10**12), "gave 1,000,000,000,000 scores for 9 documents"),
        (lambda q, d: np.zeros((9, 2)), r"gave scores of shape \(9, 2\) for 9 documents"),
        (lambda q, d: [[1], [1, 2]], "gave lists of different lengths for 9 documents"),
        (lambda q, d: ["1"] * 9, "gave a score of type str for 9 documents"),
        (lambda q, d: [1.0] * 8 + [[]], "gave lists of different lengths for 9 documents"),
        (lambda q, d: [1.0] * 7 + [None, math.nan], r"gave nan for the document \w+-\d+; scores have to be finite"),
        (lambda q, d: [Decimal(1)] * 9, "gave a score of type Decimal for 9 documents"),
        (lambda q, d: [10**400] * 9, r"gave inf for the document birds-05; scores have to be finite"),
        (lambda q, d: [1j] * 9, "gave a score of type complex for 9 documents"),
        (lambda q, d: [math.nan] * 9, "gave nan for the document birds-05; scores have to be finite float32 numbers"),
        (
            lambda q, d: [0] * 8 + [-math.inf],
            r"gave -inf for the document \w+-\d+; scores have to be finite float32 numbers",
        ),
        (lambda q, d: [1e300] * 9, r"gave 1e\+300 for the document birds-05; scores have to be finite"),
        (lambda q, d: 1 / 0, r"for the query 'crane' failed \(ZeroDivisionError: division by zero\)"),
        (lambda q, d: (1 / 0 for _ in d), r"failed \(ZeroDivisionError: division by zero\)"),
        (lambda q, d: exit("bye"), r"for the query 'crane' failed \(SystemExit: bye\)"),
    ],
)
def test_a_wrong_result_is_refused_in_a_sentence_that_names_the_function(demo_index, function, message):
    with pytest.raises(PluginError, match=f"^The function odd {message}"):
        demo_index.search("crane", "BM25" >> sublex.rerank(function, name="odd"))


@pytest.mark.parametrize(
    "wrap",
    [list, tuple, np.array, iter, lambda x: np.array(x, object), lambda x: [np.float32(n) for n in x]],
    ids=["list", "tuple", "array", "generator", "objects", "numpy numbers"],
)
def test_numbers_may_come_in_any_sequence(demo_index, wrap):
    def function(query: str, documents: list[StoredDocument]) -> Any:
        return wrap([float(len(document.docno)) for document in documents])

    expected = sorted((float(len(docno)) for docno in demo_index.search("crane", "BM25").docnos), reverse=True)
    assert demo_index.search("crane", "BM25" >> sublex.rerank(function)).scores[: len(expected)].tolist() == expected


def test_the_error_of_a_function_is_the_cause_of_the_message(demo_index):
    def careless(query: str, documents: list[StoredDocument]) -> list[float]:
        return [{}["no"] for _ in documents]

    with pytest.raises(PluginError, match="The function careless for the query 'crane' failed") as caught:
        demo_index.search("crane", "BM25" >> sublex.rerank(careless))
    assert isinstance(caught.value.__cause__, KeyError)
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert any(frame.name == "careless" and frame.filename == __file__ for frame in frames)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sublex.rerank(3), r"takes a function f\(query, documents\), not a value of type int"),
        (lambda: sublex.rerank("BM25"), "not a value of type str"),
        (lambda: sublex.rerank(max, batch=0), "batch=0 should be at least 1"),
        (lambda: sublex.rerank(max, batch=2.5), "batch is 2.5 \\(float\\); give a whole number"),
        (
            lambda: sublex.rerank(Locked(), cache="scores"),
            r"rerank\(Locked@object\d+\) has no lasting cache, because its lock has a value of type lock, whose content "
            'cannot be seen; write version="1" beside cache=, and change the version with the code',
        ),
        (lambda: sublex.rerank(max, name=" "), "name=' ' should be a text"),
        (lambda: sublex.rerank(max, name=3), "name=3 should be a text"),
        (lambda: sublex.rerank(max, version=""), "version='' should be a text or a number"),
        (lambda: sublex.rerank(max, version=[1]), r"version=\[1\] should be a text or a number"),
    ],
)
def test_a_wrong_parameter_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_function_finds_nothing_itself(demo_index):
    stage = sublex.rerank(max)
    for expression in (stage, stage >> "BM25", 2 * stage, stage + sublex.rerank(min)):
        with pytest.raises(InputError, match="finds no documents by itself; put a ranker before it"):
            demo_index.search("crane", expression)
    with pytest.raises(InputError, match=r"put a ranker before it, as in BM25 % 100 >> rerank\(max@\w+\)"):
        demo_index.search("crane", "RM3" >> stage)


def test_what_is_no_expression_is_refused(demo_index):
    with pytest.raises(InputError, match=r"The function max becomes a stage by sublex.rerank\(…\)"):
        demo_index.search("crane", max)
    for wrong in (3, ["BM25"], b"BM25"):
        with pytest.raises(InputError, match=rf"The expression is .* \({type(wrong).__name__}\); give a text such as"):
            demo_index.search("crane", wrong)
    with pytest.raises(InputError, match=r"The expression is .* \(Pipeline\); give a text"):
        demo_index.pipeline("BM25") >> sublex.rerank(max)


def test_two_functions_of_one_name_are_told_apart_or_refused(demo_index):
    one, other = Calls(), Calls()
    first = sublex.rerank(one, version=1)
    with pytest.raises(InputError, match=r"Two Python objects in .* print as rerank\(short@1\); give one .* by name="):
        demo_index.search("crane", "BM25" >> first >> sublex.rerank(other, version=1))
    demo_index.search("crane", "BM25" >> first >> first)
    demo_index.search("crane", "BM25" >> first >> sublex.rerank(other, name="other", version=1))
    demo_index.search("crane", "BM25" >> first >> sublex.rerank(other, version=2))
    assert str(sublex.rerank(one)) != str(sublex.rerank(other))  # `one` was called more often, and remembers its calls.
    demo_index.search("crane", "BM25" >> sublex.rerank(one) >> sublex.rerank(other))


def test_a_search_calls_the_function_that_it_was_given_and_no_other_of_its_name(demo_index):
    one, other = Calls(), Calls()
    for function, calls in ((one, (1, 0)), (other, (1, 1)), (one, (2, 1))):
        demo_index.search("crane", "BM25 % 5" >> sublex.rerank(function))
        assert (len(one.calls), len(other.calls)) == calls


def test_an_index_without_texts_serves_functions_that_need_none(tmp_path):
    index = sublex.build(DEMO, tmp_path / "bare", store="terms")
    prior = sublex.rerank(lambda query, documents: [int(document.docno[-2:]) for document in documents], name="prior")
    assert index.search("crane", "BM25" >> prior, 3).scores.tolist() == [17, 17, 14]
    with pytest.raises(
        IndexProblem, match=r"without stored text, which rerank\(short@\w+\) reads; rebuild it: sublex index"
    ):
        index.search("crane", "BM25" >> sublex.rerank(Calls()))


def test_none_drops_a_document_after_a_stage_and_is_no_opinion_in_a_blend(demo_index):
    pandas = pytest.importorskip("pandas")

    def evens(query: str, documents: list[StoredDocument]) -> list[float | None]:
        return [float(document.docno[-1]) if int(document.docno[-1]) % 2 == 0 else None for document in documents]

    found = demo_index.search("crane river", "BM25", 1000)
    even = {docno for docno in found.docnos if int(docno[-1]) % 2 == 0}
    assert 0 < len(even) < len(found)

    def as_pandas(scores: list[float | None]) -> list[Any]:
        return [pandas.NA if score is None else score for score in scores]

    def nullable(scores: list[float | None]) -> Any:
        return pandas.Series(as_pandas(scores), dtype="Float64")

    forms: list[Callable[[list], Any]] = [list, tuple, iter, lambda scores: np.array(scores, object), as_pandas]
    forms += [nullable, lambda scores: nullable(scores).array]
    for form in forms:
        hits = demo_index.search(
            "crane river", "BM25" >> sublex.rerank(lambda q, d, form=form: form(evens(q, d))), 1000
        )
        assert set(hits.docnos) == even
        assert {hit.docno: hit.score for hit in hits} == {docno: float(docno[-1]) for docno in even}
    # In a blend the others count as the lowest, as the page on ranking says of documents without an opinion.
    both = demo_index.search(
        "crane river", 0 * sublex.parse("BM25") + sublex.parse("BM25") + sublex.rerank(evens), 1000
    )
    assert set(both.docnos) == set(found.docnos)
    scores, (least, most) = {hit.docno: hit.score for hit in found}, (min, max)
    low, high = least(scores.values()), most(scores.values())
    digits = [float(docno[-1]) for docno in even]
    for hit in both:
        given = float(hit.docno[-1]) if hit.docno in even else min(digits)
        scaled = (given - min(digits)) / (max(digits) - min(digits))
        assert hit.score == pytest.approx((scores[hit.docno] - low) / (high - low) + scaled, abs=1e-6)
    odd = next(docno for docno in found.docnos if docno not in even)
    tree = demo_index.explain("crane river", odd, "BM25" >> sublex.rerank(evens))
    assert tree.value == -math.inf and tree.label.endswith("no score from the Python function gave")


# The cache.


def test_a_score_that_is_none_is_cached(demo_index, tmp_path):
    def none(query: str, documents: list[StoredDocument]) -> list[float | None]:
        return [None if "1" in document.docno else 1.0 for document in documents]

    for _ in range(2):
        hits = demo_index.search("crane", "BM25" >> sublex.rerank(none, cache=tmp_path))
        assert hits.docnos and not any("1" in docno for docno in hits.docnos)


def test_scores_are_cached_until_the_version_or_the_document_changes(index, tmp_path):
    def search(version: object = 1, query: str = "crane", name: str = "short") -> list[str]:
        """Return the docnos that the function was asked about."""
        function = Calls()
        stage = sublex.rerank(function, version=version, cache=tmp_path / "deep" / "scores", batch=4, name=name)
        hits = index.search(query, "BM25 % 9" >> stage)
        assert hits.docnos == by_length(index, hits.docnos)
        return sorted(function.docnos)

    found = search()
    assert len(found) == 9 and search() == []
    assert search(2) == found and search(name="other") == found and search() == []
    assert search(query="cranes") == found
    changed = index.document(found[0])
    index.add([changed._replace(text=f"{changed.text} A crane.")], "last")
    assert search() == [found[0]] and search() == []


def test_several_threads_may_share_a_cache(demo_index, tmp_path):
    topics = [(str(k), text) for k, text in enumerate(["crane", "river", "bank", "seal", "ship", "bird"] * 12)]
    functions = [Calls(), Calls()]
    runs = [
        demo_index.run(topics, "BM25 % 9" >> sublex.rerank(function, version=1, cache=tmp_path), workers=4)
        for function in functions
    ]
    assert functions[0].calls and not functions[1].calls
    assert [dict(runs[0][qid]) for qid in runs[0]] == [dict(runs[1][qid]) for qid in runs[1]]


def database(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


HOSTILE: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.write_bytes(b"no database at all " * 400), "file is not a database; delete the file"),
    (lambda path: path.write_bytes(path.read_bytes()[:4096] + b"\x55" * 4096), "delete the file, or choose another"),
    (lambda path: (path.unlink(), path.mkdir()), "unable to open database file; delete the file, or choose another"),
    (lambda path: database(path, "CREATE TABLE more (x)"), "is not a cache of scores; choose another folder"),
    (lambda path: database(path, "CREATE VIEW v AS SELECT 1"), "is not a cache of scores; choose another folder"),
    (
        lambda path: database(path, "CREATE TRIGGER t AFTER INSERT ON scores BEGIN DELETE FROM scores; END"),
        "is not a cache of scores; choose another folder",
    ),
    (
        lambda path: database(path, "UPDATE scores SET score = 'high'"),
        "holds 'high' in place of a score; delete the file",
    ),
    (
        lambda path: database(path, "UPDATE scores SET score = 9e999"),
        "holds 'inf' in place of a score; delete the file",
    ),
    (lambda path: database(path, "UPDATE scores SET score = x'00'"), "in place of a score; delete the file"),
]


@pytest.mark.parametrize(("damage", "message"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_cache_holds_is_checked(demo_index, tmp_path, damage, message):
    def search() -> None:
        demo_index.search("crane", "BM25" >> sublex.rerank(Calls(), version=1, cache=tmp_path))

    search()
    (path,) = tmp_path.iterdir()
    damage(path)
    with pytest.raises(InputError, match=message) as caught:
        search()
    assert str(path) in str(caught.value)


def test_a_cache_is_one_table_and_its_folder_must_be_writable(demo_index, tmp_path):
    stage = sublex.rerank(Calls(), name="a/../b model", version=1, cache=tmp_path / "cache")
    demo_index.search("crane", "BM25" >> stage)
    (path,) = (tmp_path / "cache").iterdir()
    assert path.name == "a____b_model.sqlite"
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT sql FROM sqlite_master").fetchall() == [(TABLE,)]
        assert connection.execute("SELECT count(*) FROM scores").fetchall() == [(9,)]
    connection.close()
    with pytest.raises(InputError, match="Cannot use the cache .*; delete the file, or choose another folder"):
        demo_index.search("crane", "BM25" >> sublex.rerank(Calls(), version=1, cache=path))


# In pipelines.


def test_a_blend_adds_the_scores_of_a_function(demo_index):
    both = demo_index.search("crane river", "BM25" + 0.4 * sublex.rerank(Calls()), 1000)
    turned = demo_index.search("crane river", 0.4 * sublex.rerank(Calls()) + "BM25", 1000)
    assert turned.docnos == both.docnos and turned.scores.tolist() == both.scores.tolist()
    bm25 = {hit.docno: hit.score for hit in demo_index.search("crane river", "BM25", 1000)}
    lengths = {docno: -len(demo_index.document(docno).text) for docno in bm25}
    assert set(both.docnos) == set(bm25)

    def scaled(values: dict[str, float], docno: str) -> float:
        low, high = min(values.values()), max(values.values())
        return (values[docno] - low) / (high - low)

    for hit in both:
        assert hit.score == pytest.approx(scaled(bm25, hit.docno) + 0.4 * scaled(lengths, hit.docno), rel=1e-5)


@pytest.mark.parametrize(
    "expression",
    [
        "BM25 % 12" >> sublex.rerank(Calls(), batch=5),
        "BM25 % 12" >> sublex.rerank(Calls()) >> "PL2",
        "BM25 % 12" >> "PL2" + 0.3 * sublex.rerank(Calls()),
        "BM25 + PL2" + 0.3 * sublex.rerank(Calls()),
    ],
    ids=str,
)
def test_explanations_give_the_scores_of_the_search(demo_index, expression):
    for hit in demo_index.search("crane river", expression):
        tree = demo_index.explain("crane river", hit.docno, expression)
        assert tree.value == pytest.approx(hit.score, abs=1e-6) and tree.evidence["rank"] == hit.rank


def test_the_leaf_of_an_explanation_names_the_function(demo_index):
    expression = "BM25 % 12" >> sublex.rerank(Calls())
    best = demo_index.search("crane", expression, 1)[0]
    tree = demo_index.explain("crane", best.docno, expression)
    assert (
        tree.label == f"{expression.stages[-1]}: the score that the Python function gave" and tree.value == best.score
    )
    other = demo_index.explain("crane", "sea-01", expression)
    assert other.value == -math.inf and "not among the documents" in other.label


def test_one_thread_at_a_time_calls_a_function(demo_index):
    inside, overlaps, busy = threading.Lock(), [], set()

    def function(query: str, documents: list[StoredDocument]) -> list[float]:
        overlaps.append(not inside.acquire(blocking=False))
        busy.add(threading.get_ident())
        values = [float(len(document.text)) for document in documents]
        inside.release()
        return values

    topics = [(str(k), "crane river bank") for k in range(200)]
    demo_index.run(topics, "BM25 % 9" >> sublex.rerank(function), workers=4)
    assert len(overlaps) == 200 and not any(overlaps)


def test_compare_keeps_the_run_of_a_function_by_its_hash_or_version(index):
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)

    def asked(function: Any, **options: Any) -> int:
        expression = "BM25 % 9" >> sublex.rerank(function, **options)
        comparison = sublex.compare(index, topics, qrels, ["BM25", expression])
        assert comparison.names == ("BM25", str(expression))
        return len(function.calls)

    assert asked(Calls()) and not asked(Calls())
    assert asked(Calls(), version=1) and not asked(Calls(), version=1) and not asked(Calls(), version="1")
    assert asked(Calls(), version=2) and not asked(Calls(), version=2)

    class Secret(Calls):
        """A function that cannot be hashed."""

        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

    kept = set(index.path.rglob("run-*"))
    assert asked(Secret()) and asked(Secret()) and set(index.path.rglob("run-*")) == kept
    assert asked(Secret(), version=3) and not asked(Secret(), version=3)


def test_tune_chooses_numbers_around_a_function(demo_index):
    topics = sublex.read_topics(TOPICS)
    expression = "BM25 % {5,20}" >> "BM25" + sublex.parse("{0,0.5}*PL2") + 0.2 * sublex.rerank(Calls())
    tuning = sublex.tune(demo_index, topics, sublex.read_qrels(QRELS), expression, folds=2)
    assert len(tuning.settings) == 4 and "rerank(short@" in tuning.best.setting.expression
    best = sublex.measure(sublex.read_qrels(QRELS), tuning.best.setting.tree, "AP", index=demo_index, topics=topics)
    assert best.mean["AP"] == pytest.approx(tuning.best.score)
    assert {str(each.tree) for each in tuning.settings} == {each.expression for each in tuning.settings}
    assert tuning.default and str(tuning.default.setting.tree) == tuning.default.setting.expression


def test_a_run_says_the_version_of_its_functions(demo_index, tmp_path):
    from sublex.pipeline.run_metadata import describe

    pipeline = demo_index.pipeline("BM25 % 9" >> sublex.rerank(Calls(), version="2b"))
    topics = sublex.read_topics(TOPICS)
    assert describe(topics, pipeline, 9)["data"]["models"] == {"rerank(short@2b)": "version 2b"}
    run = demo_index.run(topics, pipeline, 9)
    assert run.tag == "BM25%9>>rerank(short@2b)"


@pytest.mark.slow
def test_a_trained_cross_encoder_reranks(demo_index):
    """The model has the interface of a cross-encoder of sentence-transformers: `predict(pairs)` gives an array."""
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    def features(pairs: list[tuple[str, str]]) -> np.ndarray:
        sets = [(set(query.lower().split()), text.lower().split()) for query, text in pairs]
        return np.array(
            [
                [len(query & set(words)) / len(query), len(words), sum(w in query for w in words)]
                for query, words in sets
            ]
        )

    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    texts = {topic.qid: topic.text for topic in topics}
    judged = [(texts[qid], docno, grade) for qid in qrels for docno, grade in qrels[qid].items()]
    pairs = [(query, demo_index.document(docno).contents) for query, docno, _ in judged]
    model = make_pipeline(FunctionTransformer(features), LinearRegression())
    model.fit(pairs, [grade for *_, grade in judged])

    def cross_encoder(query: str, documents: list[StoredDocument]) -> np.ndarray:
        return model.predict([(query, document.contents) for document in documents])

    expression = "BM25 % 50" >> sublex.rerank(cross_encoder, version="1")
    hits = demo_index.search("crane lifting heavy loads", expression)
    contents = [demo_index.document(docno).contents for docno in hits.docnos]
    expected = model.predict([("crane lifting heavy loads", text) for text in contents])
    assert hits.scores.tolist() == pytest.approx(expected.tolist(), rel=1e-6) == sorted(hits.scores, reverse=True)
    comparison = sublex.compare(demo_index, topics, qrels, ["BM25 % 50", expression], "AP")
    assert comparison.mean("AP")[1] > 0.1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cross_encoder_of_sentence_transformers_reranks(demo_index, tmp_path):
    """The model is a small BERT with random weights, made here; the six lines after it are those of docs/python.md."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = {
        word for document in demo_index.documents() for word in document.contents.lower().split() if word.isalpha()
    }
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]))
    tokenizer = BertTokenizerFast(str(tmp_path / "vocab.txt"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    bert = BertConfig(vocab_size=len(tokenizer), initializer_range=1.0, num_labels=1, **sizes)
    BertForSequenceClassification(bert).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")

    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(tmp_path / "model"))

    def minilm(query: str, documents: list[StoredDocument]) -> np.ndarray:
        return model.predict([(query, document.contents) for document in documents])

    expression = "BM25 % 100" >> sublex.rerank(minilm, version="L6-v2", cache=tmp_path / "scores")
    hits = demo_index.search("bird migration", expression, 100)
    assert sorted(hits.docnos) == sorted(demo_index.search("bird migration", "BM25", 100).docnos)
    pairs = [("bird migration", demo_index.document(docno).contents) for docno in hits.docnos]
    assert hits.scores.tolist() == pytest.approx(model.predict(pairs).tolist(), rel=1e-3)
    assert len(set(hits.scores.tolist())) > len(hits) / 2
    assert demo_index.search("bird migration", expression, 100).scores.tolist() == hits.scores.tolist()


def test_tune_chooses_the_weight_of_a_function(demo_index):
    function = sublex.rerank(
        lambda query, documents: [len(document.text) for document in documents], name="length", version=1
    )
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    found = sublex.tune(demo_index, topics, qrels, "BM25 % 20" >> sublex.parse("PL2") + "{0,1}" * function)
    assert found.names == ("weight of rerank(length)",)
    assert [setting.expression for setting in found.settings] == [
        "BM25 % 20 >> PL2 + 0*rerank(length@1)", "BM25 % 20 >> PL2 + 1*rerank(length@1)"
    ]  # fmt: skip
