"""Tests of PyTerrier both ways, inside real PyTerrier pipelines and experiments. None of them needs Java."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from shared import QRELS, TOPICS, run_of

import sublex
from sublex.errors import IndexProblem, InputError, MissingExtra, PluginError, UnknownName
from sublex.pipeline.index import Index

pt = pytest.importorskip("pyterrier")
pd = pytest.importorskip("pandas")
pytestmark = [
    pytest.mark.usefixtures("plugins_loaded_once"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyterrier"),
]


@pytest.fixture(scope="module")
def index(built_demo: Path) -> Index:
    """The index of the demo collection, which tests only read."""
    return sublex.open(built_demo)


@pytest.fixture(scope="module")
def topics() -> pd.DataFrame:
    return pd.DataFrame([topic[:2] for topic in sublex.read_topics(TOPICS)], columns=["qid", "query"])


@pytest.fixture(scope="module")
def qrels() -> pd.DataFrame:
    judged = sublex.read_qrels(QRELS)
    rows = [(qid, docno, grade) for qid in judged for docno, grade in judged[qid].items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def scores(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the scores of a result frame by qid and docno; the rows of each query have to be in the order of their ranks."""
    found: dict[str, dict[str, float]] = {}
    for qid, rows in frame.groupby("qid", sort=False):
        assert rows["rank"].tolist() == list(range(len(rows)))
        assert rows["score"].is_monotonic_decreasing
        found[qid] = dict(zip(rows["docno"], rows["score"], strict=True))
    return found


def searched(index: Index, topics: pd.DataFrame, expression: str | sublex.Expression, k: int = 1000) -> dict:
    """Return what Sublex finds, by qid and docno, without topics for which it finds nothing."""
    answers = {row.qid: index.search(row.query, expression, k) for row in topics.itertuples()}
    return {qid: {hit.docno: hit.score for hit in hits} for qid, hits in answers.items() if len(hits)}


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["BM25", "BM25 >> RM3 >> BM25", "BM25 + 0.3*PL2", "PL2 % 20 >> BM25"])
def test_a_retriever_finds_the_hits_of_a_search(index, topics, expression):
    frame = sublex.pyterrier.Retriever(index, expression, k=30).transform(topics)
    assert list(frame.columns) == ["qid", "query", "docno", "rank", "score"]
    found = scores(frame)
    assert found == searched(index, topics, expression, 30)
    assert [list(hits) for hits in found.values()] == [
        list(hits) for hits in searched(index, topics, expression, 30).values()
    ]


def test_a_retriever_opens_the_index_and_ranks_by_its_own_ranker(built_demo):
    retriever = sublex.pyterrier.Retriever(built_demo)
    assert repr(retriever) == f"Retriever({str(built_demo)!r}, 'BM25', k=1000)"
    assert retriever.search("crane").docno[0] == "birds-05"
    assert retriever([{"qid": "7", "query": "crane", "more": 1}])[0] == {
        "qid": "7", "query": "crane", "more": 1, "docno": "birds-05", "rank": 0, "score": pytest.approx(2.0836856),
    }  # fmt: skip


def test_a_retriever_reads_the_query_language(index):
    asked = pd.DataFrame([("1", "+crane river -bird"), ("2", "tower AND NOT crane")], columns=["qid", "query"])
    retriever = sublex.pyterrier.Retriever(index, "BM25", k=30, language="query")
    expected = {qid: index.search(text, "BM25", 30, language="query") for qid, text in asked.itertuples(index=False)}
    assert {qid: list(hits) for qid, hits in scores(retriever.transform(asked)).items()} == {
        qid: hits.docnos for qid, hits in expected.items()
    }
    cut = retriever.fuse_rank_cutoff(5)
    assert (cut.k, cut.language) == (5, "query")
    assert repr(cut).endswith(", k=5, language='query')")
    # Candidates that the query does not allow are dropped.
    candidates = pd.DataFrame({"qid": "1", "query": "+crane river -bird", "docno": index.search("crane", k=30).docnos})
    kept = set(retriever.transform(candidates)["docno"])
    assert kept == set(expected["1"].docnos) & set(candidates["docno"])
    assert kept < set(candidates["docno"])
    with pytest.raises(IndexProblem, match="Topic 1: .*positions"):
        retriever.transform(pd.DataFrame({"qid": ["1"], "query": ['"crane river"']}))
    with pytest.raises(IndexProblem, match="Topic 1: .*positions"):
        retriever.transform(candidates.assign(query='"crane river"'))
    # Notes on how queries are read are one warning for all.
    odd = pd.DataFrame([("1", "crane^"), ("2", "river"), ("3", "tower^")], columns=["qid", "query"])
    ranked = pd.concat([odd.assign(docno=docno) for docno in expected["1"].docnos[:3]])
    for frame in (odd, ranked):
        with pytest.warns(sublex.SublexWarning) as warned:
            retriever.transform(frame)
        assert [str(each.message) for each in warned] == [
            "Topic 1: crane^ is plain text: ^ takes a number, as in stem^2.5. There are notes about 1 other topic."
        ]
        assert warned[0].filename == __file__
    with pytest.raises(InputError, match="give plain or query"):
        sublex.pyterrier.Retriever(index, language="lucene")


@pytest.mark.slow
@pytest.mark.parametrize("second", ["PL2", "BM25 + 0.5*PL2", "PL2 % 3", "zscore(PL2)"])
def test_retrievers_are_chained_as_stages_are(index, topics, second):
    retriever = sublex.pyterrier.Retriever
    pipeline = retriever(index, "BM25") % 12 >> retriever(index, second)
    expected = searched(index, topics, f"BM25 % 12 >> {second}")
    for frame in (pipeline.transform(topics), pipeline.compile().transform(topics)):
        found = scores(frame)
        assert found.keys() == expected.keys()
        for qid, hits in found.items():
            assert hits == pytest.approx(expected[qid], rel=1e-6)


def test_documents_of_a_frame_are_scored_exactly(index):
    """Among them documents that a search does not find first, in any order, with other columns, and one without an opinion."""
    exact = searched(index, pd.DataFrame([("1", "crane river")], columns=["qid", "query"]), "BM25")["1"]
    chosen = [*list(exact)[-3:], "medicine-01", list(exact)[2]]
    assert "medicine-01" not in exact
    frame = pd.DataFrame({"qid": "1", "query": "crane river", "docno": chosen, "text": [f"t {d}" for d in chosen]})
    ranked = sublex.pyterrier.Retriever(index, "BM25").transform(frame)
    assert scores(ranked)["1"] == {docno: exact[docno] for docno in chosen if docno in exact}
    assert ranked["text"].tolist() == [f"t {docno}" for docno in ranked["docno"]]
    expanded = sublex.pyterrier.Retriever(index, "BM25 >> RM3 >> BM25").transform(frame)
    assert set(expanded["docno"]) <= set(chosen) and scores(expanded)["1"] != scores(ranked)["1"]


def test_the_operators_of_pyterrier_work(index, topics):
    bm25, pl2 = (sublex.pyterrier.Retriever(index, name) for name in ("BM25", "PL2"))
    first = topics.head(3)
    sums, cut = (bm25 + 2 * pl2).transform(first), (bm25 % 4).transform(first)
    a, b = searched(index, first, "BM25"), searched(index, first, "PL2")
    for row in sums.itertuples():
        assert row.score == pytest.approx(a[row.qid][row.docno] + 2 * b[row.qid][row.docno], rel=1e-6)
    assert scores(cut) == searched(index, first, "BM25", 4)
    assert repr((bm25 % 4).compile()) == repr(sublex.pyterrier.Retriever(index, "BM25", k=4))
    features = (bm25 % 4 >> (bm25**pl2)).transform(first)
    for row in features.itertuples():
        assert row.features.tolist() == pytest.approx([a[row.qid][row.docno], b[row.qid][row.docno]])
    assert len((bm25 % 4 | pl2 % 4).transform(first)) >= len(cut) >= len((bm25 % 4 & pl2 % 4).transform(first))


def test_an_experiment_measures_what_sublex_measures(index, topics, qrels):
    names = ["BM25", "BM25 >> RM3 >> BM25"]
    systems = [sublex.pyterrier.Retriever(index, name) for name in names]
    table = pt.Experiment(systems, topics, qrels, ["map", "ndcg_cut_10"], names=names, baseline=0)
    for name, row in zip(names, table.itertuples(), strict=True):
        run = run_of(searched(index, topics, name), "run")
        mean = sublex.measure(QRELS, run, "AP nDCG@10").mean
        assert (row.map, row.ndcg_cut_10) == pytest.approx((mean["AP"], mean["nDCG@10"]), abs=1e-6)


def test_pyterrier_knows_the_columns_before_it_runs(index):
    retriever = sublex.pyterrier.Retriever(index)
    assert pt.inspect.transformer_inputs(retriever) == [["qid", "query"], ["qid", "docno", "query"]]
    assert pt.inspect.transformer_outputs(retriever, ["qid", "query"]) == ["qid", "query", "docno", "rank", "score"]
    with pytest.raises(pt.validate.InputValidationError, match="missing_columns=.*'query'"):
        retriever.transform(pd.DataFrame({"qid": ["1"]}))
    assert len(retriever.transform(pd.DataFrame({"qid": ["1"], "query": ["zzzz"]}))) == 0


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"qid": ["1"], "query": [3]}, "The query of topic 1 is 3 \\(int\\); give a text"),
        ({"qid": ["1"], "query": [None]}, "The query of topic 1 is None; give a text"),
        ({"qid": ["1"], "query": ["a"], "docno": ["nope"]}, "No document nope in .*; rerank documents of this index"),
        ({"qid": ["1"], "query": ["a"], "docno": ["sea-01"], "score": [float("nan")]}, "of query 1 is not a finite"),
    ],
)
def test_a_wrong_frame_is_refused_in_a_sentence(index, frame, message):
    with pytest.raises(InputError, match=message):
        sublex.pyterrier.Retriever(index).transform(pd.DataFrame(frame))


def test_a_wrong_parameter_is_refused(index):
    for wrong in (0, 2.5, True, "10"):
        with pytest.raises(InputError, match="should be at least 1|give a whole number"):
            sublex.pyterrier.Retriever(index, "BM25", k=wrong)
    with pytest.raises(UnknownName, match="did you mean BM25"):
        sublex.pyterrier.Retriever(index, "BM52")
    with pytest.raises(InputError, match=r"of type int is no transformer: it has no method transform\(frame\)"):
        sublex.pyterrier.stage(3)


def test_a_transformer_is_a_stage(index):
    short = pt.apply.doc_score(lambda row: -len(row["text"]))
    bm25 = sublex.parse("BM25")
    hits = index.search("crane river", bm25 % 12 >> short, 1000)
    first = index.search("crane river", "BM25", 12).docnos
    assert sorted(hits.docnos) == sorted(first)
    assert hits.scores.tolist() == [-len(index.document(docno).text) for docno in hits.docnos]
    named = "BM25 % 12" >> sublex.pyterrier.stage(short, name="short", version=3)
    assert str(named) == "BM25 % 12 >> rerank(short@3)"
    assert str(bm25 >> short) == str(bm25 >> sublex.rerank(short))
    assert str(bm25 >> short).startswith("BM25 >> rerank(ApplyDocumentScoringTransformer@")
    assert index.search("crane river", named).docnos == hits.docnos[:10]
    tree = index.explain("crane river", hits[0].docno, named)
    assert tree.value == hits[0].score and tree.label == "rerank(short@3): the score that the Python transformer gave"
    assert index.pipeline(named).models == {"rerank(short@3)": "version 3"}


def test_a_transformer_sees_the_hits_of_the_stage_before(index):
    frames = []
    keep = pt.apply.generic(lambda frame: (frames.append(frame), frame)[1])
    hits = index.search("crane river", sublex.parse("BM25 % 12") >> keep, 1000)
    before = index.search("crane river", "BM25", 12)
    (frame,) = frames
    assert list(frame.columns) == ["qid", "query", "docno", "title", "text", "score", "rank"]
    assert frame["docno"].tolist() == before.docnos == hits.docnos
    assert frame["score"].tolist() == before.scores.tolist() == hits.scores.tolist()
    assert frame["rank"].tolist() == list(range(12))


def test_a_transformer_may_drop_documents_and_stand_in_a_blend(index):
    keep, score = pt.Transformer.identity() % 3, pt.apply.doc_score(lambda row: -len(row["text"]))
    best = index.search("crane river", "BM25", 3).docnos
    assert index.search("crane river", sublex.parse("BM25 % 12") >> keep >> "PL2").docnos == best
    assert index.explain("crane river", "river-01", sublex.parse("BM25") >> keep).value == float("-inf")
    blend = "BM25" + 0.4 * sublex.pyterrier.stage(score)
    function = sublex.rerank(lambda query, documents: [-len(document.text) for document in documents])
    expected = index.search("crane river", "BM25" + 0.4 * function)
    assert index.search("crane river", blend).scores.tolist() == expected.scores.tolist()
    with pytest.raises(InputError, match=r"in a blend needs sublex.pyterrier.stage\(…\) around it"):
        sublex.parse("BM25") + 0.4 * score


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda frame: frame[["qid"]], "gave a frame with the columns qid; a stage needs the columns docno and score"),
        (lambda frame: 3, "gave a value of type int; a stage needs the columns docno and score"),
        (lambda frame: pd.concat([frame, frame]), "gave a document twice; a stage scores or drops"),
        (lambda frame: frame.assign(docno="x"), "gave x, which it did not get; a stage scores or drops"),
        (lambda frame: frame.assign(score=float("nan")), "gave nan for the document birds-05"),
        (lambda frame: frame.assign(score="high"), "gave a score of type str for 9 documents"),
        (lambda frame: frame["nope"], r"failed \(KeyError: 'nope'\)"),
    ],
)
def test_a_wrong_result_is_refused_in_a_sentence_that_names_the_transformer(index, function, message):
    expression = "BM25" >> sublex.pyterrier.stage(pt.apply.generic(function), name="odd")
    with pytest.raises(PluginError, match=f"^The transformer odd (for the query 'crane' )?{message}"):
        index.search("crane", expression)


def test_a_transformer_without_texts_gets_no_text(tmp_path):
    bare = sublex.build([{"id": "a", "text": "crane"}, {"id": "b", "text": "crane bird"}], tmp_path / "i", store="none")
    columns = []
    keep = pt.apply.generic(lambda frame: (columns.extend(frame.columns), frame)[1])
    assert bare.search("crane", sublex.parse("BM25") >> keep).docnos == ["a", "b"]
    assert columns == ["qid", "query", "docno", "score", "rank"]


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "sublex.pyterrier", raising=False)
    monkeypatch.delattr(sublex, "pyterrier", raising=False)
    monkeypatch.setitem(sys.modules, "pyterrier", None)
    with pytest.raises(MissingExtra, match="sublex.pyterrier needs an optional part; to install it: .*pyterrier"):
        sublex.pyterrier  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'pyterier'"):
        sublex.pyterier  # noqa: B018


def test_transformers_are_measured_and_compared(index):
    retriever = sublex.pyterrier.Retriever(index, "BM25")
    found = sublex.compare(index, TOPICS, QRELS, {"sublex": "BM25", "pyterrier": retriever}, "AP")
    first, second = found.mean("AP")
    assert first == second > 0
    assert sublex.compare(index, TOPICS, QRELS, [retriever % 2], "AP").names == (str(retriever % 2),)
    with pytest.raises(InputError, match="The transformer Retriever.* cannot be run without topics; give them"):
        sublex.measure(QRELS, retriever, "AP")


# Worker processes.


class Shortest(pt.Transformer):
    """A transformer that ranks short docnos first. A worker finds it by its name in this file."""

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        return inp.assign(score=-inp["docno"].str.len())


@pytest.mark.slow
def test_retrievers_and_stages_go_to_workers_and_are_copied(index, topics):
    bm25 = sublex.pyterrier.Retriever(index, "BM25 >> RM3 >> BM25", k=20)
    staged = sublex.pyterrier.Retriever(index, "BM25 % 20" >> sublex.pyterrier.stage(Shortest()))
    pl2 = sublex.pyterrier.Retriever(index, "PL2(c=2)", k=9)
    for made in (bm25, staged, bm25 % 5, bm25 + pl2, bm25 >> pl2, bm25 >> Shortest()):
        pipeline = made if isinstance(made, sublex.pyterrier.Retriever) else made.compile()
        expected = pipeline(topics[:5])
        for other in (pickle.loads(pickle.dumps(pipeline)), copy.copy(pipeline), copy.deepcopy(pipeline)):
            assert (
                other(topics[:5]).equals(expected)
                and repr(other).partition(" at ")[0] == repr(pipeline).partition(" at ")[0]
            )
    assert len(pickle.dumps(bm25)) < 1500
    assert "k=20" in repr(copy.copy(bm25)) and copy.deepcopy(bm25).index.snapshot is index.snapshot
    doubled = bm25 >> pt.apply.doc_score(lambda row: 2 * row["score"])
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(doubled)(topics[k : k + 1]) for k in range(3))
    joblib.externals.loky.get_reusable_executor().shutdown(wait=True)
    assert pd.concat(parts, ignore_index=True).equals(doubled(topics[:3]).reset_index(drop=True))


def test_a_stage_with_a_lambda_is_pickled(index, topics):
    shortest = pt.apply.doc_score(lambda row: -len(row["text"]))
    staged = sublex.pyterrier.Retriever(index, "BM25 % 20" >> sublex.pyterrier.stage(shortest, name="f"))
    assert pickle.loads(pickle.dumps(staged))(topics[:3]).equals(staged(topics[:3]))


# Dense frames.


@pytest.fixture
def dense(tmp_path: Path) -> Index:
    """An index of three documents with vectors, which came in a frame of PyTerrier."""
    made = sublex.build([{"id": f"d{k}", "text": "crane"} for k in range(3)], tmp_path / "i")
    rows = [np.array([1, 0], np.float32), np.array([0, 1], np.float32), np.array([3, 2], np.float32)]
    made.add_vectors("v", pd.DataFrame({"docno": ["d0", "d1", "d2"], "doc_vec": rows, "text": ["", "", ""]}))
    return made


def test_the_column_query_vec_has_the_vectors_of_queries(dense):
    """The scores are products worked out by hand."""
    frame = pd.DataFrame({"qid": ["1", "2"], "query": ["crane"] * 2, "query_vec": [np.array([1.0, 0]), [0, 10]]})
    retriever = sublex.pyterrier.Retriever(dense.with_queries({"v": {"1": [9, 9]}}), "dense(v)")
    found = retriever(frame)
    assert scores(found) == {"1": {"d2": 3, "d0": 1, "d1": 0}, "2": {"d2": 20, "d1": 10, "d0": 0}}
    assert found["query_vec"].iloc[-1] == [0, 10]
    # Candidates are scored by the same vectors.
    candidates = frame.merge(pd.DataFrame({"docno": ["d0", "d1"]}), how="cross").assign(score=1.0)
    assert scores(retriever(candidates)) == {"1": {"d0": 1, "d1": 0}, "2": {"d1": 10, "d0": 0}}
    # Without the column, the vectors of the index's own file count.
    assert scores(retriever(frame.drop(columns="query_vec")[:1])) == {"1": {"d2": 45, "d1": 9, "d0": 9}}
    # An expression without vectors does not read the column.
    assert len(sublex.pyterrier.Retriever(dense, "BM25")(frame.assign(query_vec="no vector"))) == 6


def test_documents_of_a_frame_get_their_vectors(dense, tmp_path):
    dense.add([{"id": "d3", "text": "crane river"}])
    dense.add_vectors("v", {"d1": [0.0, 1.0]})
    added = sublex.pyterrier.DocumentVectors(tmp_path / "i", "v")
    frame = pd.DataFrame({"qid": ["1"] * 4, "query": ["crane"] * 4, "docno": ["d2", "d3", "d0", "d2"], "score": 1.0})
    found = pickle.loads(pickle.dumps(added))(frame)
    assert [None if row is None else row.tolist() for row in found["doc_vec"]] == [[3, 2], None, [1, 0], [3, 2]]
    assert found["doc_vec"][0].dtype == np.float32 and found.drop(columns="doc_vec").equals(frame)
    assert list(added(frame[:0])) == [*frame, "doc_vec"]
    # The frame is one that `add_vectors` takes.
    other = sublex.build([{"id": f"d{k}", "text": "crane"} for k in range(3)], tmp_path / "other")
    assert other.add_vectors("w", found.dropna()[1:]).matched == 2
    # A stage of PyTerrier can score by both columns.
    product = pt.apply.doc_score(lambda row: float(row["query_vec"] @ row["doc_vec"]))
    retriever = sublex.pyterrier.Retriever(dense, "dense(v)")
    first = retriever(pd.DataFrame({"qid": ["1"], "query": ["crane"], "query_vec": [np.array([1.0, 2.0])]}))
    assert scores((added >> product)(first)) == scores(first) == {"1": {"d2": 7, "d1": 2, "d0": 1}}


def test_vectors_that_are_not_there_cost_a_sentence(dense):
    with pytest.raises(IndexProblem, match="has no vectors w"):
        sublex.pyterrier.DocumentVectors(dense, "w")
    with pytest.raises(InputError, match="No document d9 in"):
        sublex.pyterrier.DocumentVectors(dense, "v")(pd.DataFrame({"docno": ["d9"]}))


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (np.array([1.0]), "query's vector has 1 number.* where the vectors v have 2"),
        ([1.0, float("nan")], "vector of 1 holds NaN"),
        ("text", "vector of 1 is no list of numbers"),
        (None, "vector of 1 is no list of numbers"),
    ],
)
def test_a_bad_vector_in_a_frame_costs_a_sentence(dense, vector, message):
    frame = pd.DataFrame({"qid": ["1"], "query": ["crane"], "query_vec": [vector]})
    with pytest.raises(InputError, match=message):
        sublex.pyterrier.Retriever(dense, "dense(v)")(frame)


def test_one_column_cannot_have_the_vectors_of_two_names(dense):
    dense.add_vectors("w", {"d0": [1.0, 2.0]})
    frame = pd.DataFrame({"qid": ["1"], "query": ["crane"], "query_vec": [[1.0, 0.0]]})
    with pytest.raises(InputError, match="query_vec cannot have the vectors of v, w at once"):
        sublex.pyterrier.Retriever(dense, "dense(v) + dense(w)")(frame)
