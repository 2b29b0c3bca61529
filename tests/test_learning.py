"""Tests of learning to rank: rows of features, their files, learned models in expressions, and training by cross-validation."""

from __future__ import annotations

import csv
import json
import math
import pickle
import re
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared import QRELS, TOPICS
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import sublex
from sublex.errors import InputError, PluginError, SublexWarning, UnknownName
from sublex.language.python_filters import PythonFilter
from sublex.pipeline.index import Index
from sublex.tools.confinement import Confinement, confined
from sublex.tools.files import hash_of
from sublex.trees.forest import read_forest

pytestmark = [
    pytest.mark.usefixtures("plugins_loaded_once"),
    pytest.mark.filterwarnings("ignore::sublex.errors.SublexWarning"),
]
PARTS = ["BM25", "PL2", "zscore(DirichletLM)"]


@pytest.fixture(scope="module")
def demo_index(built_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index of the demo collection for the tests of this module, which keep runs in it."""
    return sublex.open(shutil.copytree(built_demo, tmp_path_factory.mktemp("learning") / "demo"))


class Weights:
    """A model that adds up its features with weights."""

    def __init__(self, *weights: float):
        self.weights = weights

    def predict(self, rows):
        return rows @ np.array(self.weights)


class Recorder:
    """A model that keeps what it learned from, in the class, and predicts the first feature."""

    calls: list[tuple[np.ndarray, np.ndarray, Any]] = []  # noqa: RUF012

    def fit(self, rows, grades, group=None):
        self.calls.append((rows, grades, group))
        return self

    def predict(self, rows):
        return rows[:, 0]


# Rows.


def test_a_row_has_the_scores_of_a_candidate_by_each_expression(demo_index):
    table = sublex.features(demo_index, TOPICS, QRELS, PARTS, "BM25 % 7")
    topics = {topic.qid: topic.text for topic in sublex.read_topics(TOPICS)}
    judged = sublex.read_qrels(QRELS)
    assert table.names == tuple(PARTS) and table.values.shape == (len(table), 3)
    for qid in ("1", "5", "12"):
        rows = table.groups[qid]
        hits = demo_index.search(topics[qid], "BM25", k=7)
        assert list(table.docnos[rows]) == list(hits.docnos)
        assert table.values[rows, 0] == pytest.approx(np.asarray(hits.scores))
        pl2 = {hit.docno: hit.score for hit in demo_index.search(topics[qid], "PL2", k=1000)}
        assert table.values[rows, 1] == pytest.approx([pl2[docno] for docno in table.docnos[rows]])
        # A normaliser sees the candidates, and no other document.
        dirichlet = {hit.docno: hit.score for hit in demo_index.search(topics[qid], "DirichletLM", k=1000)}
        raw = np.array([dirichlet[docno] for docno in table.docnos[rows]])
        assert table.values[rows, 2] == pytest.approx((raw - raw.mean()) / raw.std(), rel=1e-4)
        assert table.grades[rows].tolist() == [max(0, judged[qid].get(docno, 0)) for docno in table.docnos[rows]]
        assert table.judged[rows].tolist() == [docno in judged[qid] for docno in table.docnos[rows]]
    assert sum(table.sizes) == len(table) and max(table.sizes) == 7


def test_a_candidate_without_an_opinion_gets_the_lowest_score_of_the_topic(demo_index):
    # RM3 after a cut of 2 has an opinion on the documents that its own stages find alone.
    narrow = "BM25 % 2 >> PL2"
    table = sublex.features(demo_index, TOPICS, QRELS, [narrow], "BM25 % 6")
    topic = sublex.read_topics(TOPICS)[0]
    known = {hit.docno: hit.score for hit in demo_index.search(topic.text, narrow, k=10)}
    rows = table.groups[topic.qid]
    expected = [known.get(docno, min(known.values())) for docno in table.docnos[rows]]
    assert len(known) == 2 and table.values[rows, 0] == pytest.approx(expected)


def test_topics_without_candidates_and_candidates_without_judgements_are_said(demo_index):
    with pytest.warns(SublexWarning) as said:
        table = sublex.features(
            demo_index, [("a", "crane"), ("b", "xyzzy")], {"a": {"birds-05": 2}}, ["PL2"], "BM25 % 4"
        )
    texts = [str(each.message) for each in said]
    assert "Nothing was found for 1 topic; the first is b." in texts
    assert "75% of the candidates have no judgement and count as not relevant." in texts
    assert table.empty == ("b",) and list(table.groups) == ["a"]


def test_rows_are_the_same_for_any_number_of_threads(demo_index):
    one, four = (sublex.features(demo_index, TOPICS, QRELS, PARTS, workers=workers) for workers in (1, 4))
    assert one.docnos == four.docnos and one.qids == four.qids
    assert np.array_equal(one.values, four.values)


def test_a_profile_reaches_the_features_and_the_candidates(demo_index):
    given = {
        profile: sublex.features(demo_index, TOPICS, QRELS, ["BM25"], "BM25 % 5", profile=profile)
        for profile in ("sublex", "anserini")
    }
    written = sublex.features(
        demo_index, TOPICS, QRELS, ["BM25(k1=0.9, b=0.4, lengths=lucene)"], "BM25 % 5", profile="anserini"
    )
    assert np.array_equal(given["anserini"].values, written.values)
    assert not np.array_equal(given["anserini"].values[:50], given["sublex"].values[:50])


def test_topics_in_the_query_language_are_read_so(demo_index):
    asked = [("1", "crane -river")]
    plain, query = (sublex.features(demo_index, asked, None, ["BM25"], language=each) for each in ("plain", "query"))
    assert query.docnos == tuple(demo_index.search(asked[0][1], language="query", k=200).docnos)
    assert plain.docnos != query.docnos and plain.grades is None


# Files.


def written(command, built_demo: Path, name: str, *more: str) -> Path:
    """Run `sublex features` and return the path of the file."""
    arguments = [str(built_demo), str(TOPICS), str(QRELS), "-r", "BM25", "-r", "zscore(PL2)", "--from", "BM25 % 9"]
    done = command("features", *arguments, "-o", name, *more)
    assert done.code == 0, done.messages
    assert "with 2 features: BM25, zscore(PL2)" in done.output
    return Path(name)


def test_lines_are_read_back_exactly_by_another_library(command, built_demo, demo_index):
    path = written(command, built_demo, "train.letor")
    table = sublex.features(demo_index, TOPICS, QRELS, ["BM25", "zscore(PL2)"], "BM25 % 9")
    rows, grades, qids = load_svmlight_file(str(path), query_id=True)
    assert np.array_equal(rows.toarray(), table.values)
    assert grades.tolist() == table.grades.tolist() and qids.astype(str).tolist() == list(table.qids)
    lines = path.read_text().splitlines()
    assert lines[:3] == ["# candidates: BM25 % 9", "# 1: BM25", "# 2: zscore(PL2)"]
    assert [line.split(" # ")[1] for line in lines[3:]] == [
        f"{q} {d}" for q, d in zip(table.qids, table.docnos, strict=True)
    ]


TREES = Path(__file__).parent / "golden" / "trees"
FIVE = ["BM25", "PL2", "zscore(DirichletLM)", "DPH", "DFI"]


def test_the_features_of_an_object_may_be_names(demo_index):
    named, written = (
        "BM25 % 20" >> sublex.learned(Weights(0.5, 2.0), ["BM25", part], name="w", version=1)
        for part in ("good", "Burst >> BM25 >> Sharp >> BM25")
    )
    found = demo_index.search("cranes by the river", named)
    assert found.docnos == demo_index.search("cranes by the river", written).docnos
    alone = sublex.learned(Weights(0.5, 2.0), ["BM25", "good"], name="w", version=1)
    assert str(demo_index.written_out(alone)) == str(written).partition(" >> ")[2]


@pytest.fixture
def model(tmp_path):
    """The path of a model of LightGBM, and the expressions that stand for its features."""
    path = tmp_path / "model.txt"
    shutil.copy(TREES / "lightgbm_ranker.txt", path)
    return path, FIVE


def test_a_text_names_a_learned_model_by_its_file(demo_index, model, command):
    path, parts = model
    text = f'BM25 % 9 >> learned("{path}", [{", ".join(parts)}])'
    expected = demo_index.search("crane river", "BM25 % 9" >> sublex.learned(path, parts))
    found = demo_index.search("crane river", text)
    assert [(hit.docno, hit.score) for hit in found] == [(hit.docno, hit.score) for hit in expected]
    assert demo_index.search("crane river", sublex.parse(text)).docnos == expected.docnos
    table = sublex.features(demo_index, [("1", "crane river")], None, parts, "BM25 % 9")
    scores = dict(zip(table.docnos, read_forest(path).predict(table.values), strict=True))
    assert {hit.docno: hit.score for hit in found} == pytest.approx(scores, rel=1e-6)
    # The file's content is the identity, in the printed form and in the metadata of a run.
    mark = hash_of(path)[:16]
    assert f"model.txt@{mark}" in str(demo_index.pipeline(text))
    assert mark in str(demo_index.run({"1": "crane"}, text).metadata)
    code, output, said = command("search", demo_index.path, "crane river", "-r", text, "--format", "json")
    assert code == 0 and [hit["docno"] for hit in json.loads(output)["hits"]] == expected.docnos, said


def test_a_model_whose_file_changes_is_read_again(demo_index, model):
    path, parts = model
    text = f'BM25 % 9 >> learned("{path}", [{", ".join(parts)}])'
    before = demo_index.search("crane", text)
    path.write_text(re.sub(r"(?m)^leaf_value=.*$", lambda line: line.group().replace("0.", "3."), path.read_text()))
    after = demo_index.search("crane", text)
    assert [hit.score for hit in before] != [hit.score for hit in after]
    assert [hit.score for hit in after] == [
        hit.score for hit in demo_index.search("crane", "BM25 % 9" >> sublex.learned(path, parts))
    ]


def test_features_of_a_model_in_a_text_may_be_names_of_the_index(demo_index, model):
    path, parts = model
    demo_index.name("mine", parts[0])
    text = 'BM25 % 9 >> learned("{}", [{}])'
    named = demo_index.search("crane", text.format(path, ", ".join(["mine", *parts[1:]])))
    assert named.docnos == demo_index.search("crane", text.format(path, ", ".join(parts))).docnos
    demo_index.unname("mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learned(lost.txt, [BM25])", "lost.txt"),
        ("learned([BM25])", "Write learned"),
        ("learned(model.txt)", "learned needs the parameter parts.* Write learned"),
        ("learned(model.txt, BM25)", "has to be a list.* Write learned"),
        ("learned(model.txt, [7])", "7 is no expression; write learned"),
        ("learned(model.txt, [BM25])", "trained with . features, and 1 expressions are given"),
    ],
)
def test_a_wrong_model_in_a_text_costs_a_sentence(demo_index, model, monkeypatch, text, message):
    monkeypatch.chdir(model[0].parent)
    with pytest.raises(InputError, match=message):
        demo_index.search("crane", f"BM25 >> {text.replace('lost.txt', QUOTED).replace('model.txt', MODEL)}")


QUOTED, MODEL = '"lost.txt"', '"model.txt"'


def test_a_model_that_knows_the_topics_is_not_compared_without_a_warning(demo_index, model, command, tmp_path):
    path, parts = model
    (tmp_path / "train.tsv").write_text("a\tCRANE\nb\tunheard of\n")
    (tmp_path / "new.tsv").write_text("1\tcrane\n2\triver\n")
    (tmp_path / "qrels").write_text("1 0 birds-05 1\n2 0 birds-05 1\n")
    text = f'BM25 % 9 >> learned("{path}", [{", ".join(parts)}], topics="{tmp_path / "train.tsv"}")'
    message = "learned from 1 of these 2 topics, so its figures say little about new ones"
    given = ("compare", demo_index.path, tmp_path / "new.tsv", tmp_path / "qrels", "-r", "BM25", "-r")
    assert message in command(*given, text).messages
    assert "learned from" not in command(*given, text.replace(f', topics="{tmp_path / "train.tsv"}"', "")).messages
    known = "BM25 % 9" >> sublex.learned(path, parts, topics=tmp_path / "train.tsv")
    with pytest.warns(SublexWarning, match=message):
        sublex.compare(demo_index, tmp_path / "new.tsv", tmp_path / "qrels", ["BM25", known])
    with pytest.warns(SublexWarning, match=message):
        sublex.measure(tmp_path / "qrels", known, index=demo_index, topics=tmp_path / "new.tsv")
    # A model that was trained by cross-validation knows the topics of its training.
    tuned = sublex.tune(demo_index, TOPICS, QRELS, "BM25 % 50" >> sublex.learned(LinearRegression(), parts), "AP")
    with pytest.warns(SublexWarning, match="learned from 30 of these 30 topics"):
        sublex.compare(demo_index, TOPICS, QRELS, ["BM25", tuned.best.setting.tree])


def test_no_name_of_an_index_and_no_request_names_the_file_of_a_model(demo_index, model):
    path, parts = model
    text = f'learned("{path}", [{", ".join(parts)}])'
    with pytest.raises(InputError, match="can name no file of a model"):
        demo_index.name("mine", f"BM25 >> {text}")
    # Neither does a resource of the same name open the way.
    with confined(Confinement({str(path)})), pytest.raises(InputError, match="a request cannot name one"):
        demo_index.search("crane", f"BM25 >> {text}")


def test_topics_that_are_no_numbers_are_numbered_in_lines(command, built_demo, tmp_path):
    (tmp_path / "topics.tsv").write_text("b\tcrane\na\triver\n")
    (tmp_path / "qrels").write_text("b 0 birds-05 1\n")
    done = command("features", str(built_demo), "topics.tsv", "qrels", "-r", "BM25", "-o", "rows.svm")
    assert done.code == 0, done.messages
    lines = [line.split() for line in Path("rows.svm").read_text().splitlines() if not line.startswith("#")]
    assert list(dict.fromkeys((line[1], line[4]) for line in lines)) == [("qid:1", "b"), ("qid:2", "a")]


def test_tables_have_the_names_of_features(command, built_demo, demo_index):
    table = sublex.features(demo_index, TOPICS, QRELS, ["BM25", "zscore(PL2)"], "BM25 % 9")
    with open(written(command, built_demo, "rows.csv"), newline="") as opened:
        head, *rows = csv.reader(opened)
    assert head == ["qid", "docno", "grade", "BM25", "zscore(PL2)"]
    assert [(row[0], row[1], int(row[2]), float(row[3]), float(row[4])) for row in rows] == [
        (*given, *values)
        for *given, values in zip(table.qids, table.docnos, table.grades.tolist(), table.values.tolist(), strict=True)
    ]
    parquet = pytest.importorskip("pyarrow.parquet").read_table(written(command, built_demo, "rows.parquet"))
    assert parquet.to_pandas().equals(table.to_pandas())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-r", "BM25", "-o", "rows.xlsx"], "rows.xlsx does not end in .letor, .svm"),
        (["-o", "rows.csv"], "Name the features with -r"),
        (["-r", "BM25", "-r", "BM25", "-o", "rows.csv"], "The feature BM25 comes twice"),
        (["-r", "lsi", "-o", "rows.csv"], "lsi"),
        (["-r", "BM25", "--from", "RM3", "-o", "rows.csv"], "RM3 changes the query and finds nothing"),
        (["-r", "BM25(b={0..1})", "-o", "rows.csv"], "ranges are for sublex tune"),
    ],
)
def test_mistakes_cost_a_sentence(command, built_demo, arguments, message):
    done = command("features", str(built_demo), str(TOPICS), str(QRELS), *arguments)
    assert done.code == 2 and message in done.messages and not list(Path().glob("rows.*"))


def test_lines_without_judgements_are_refused_before_the_work(command, built_demo):
    done = command("features", str(built_demo), str(TOPICS), "-r", "BM25", "-o", "rows.letor")
    assert done.code == 2 and "give QRELS, or write .csv or .parquet" in done.messages


def test_a_file_of_another_program_is_not_replaced(command, built_demo):
    Path("rows.csv").write_text("mine")
    arguments = ["features", str(built_demo), str(TOPICS), "-r", "BM25", "-o", "rows.csv"]
    assert command(*arguments).code == 2 and Path("rows.csv").read_text() == "mine"
    assert command(*arguments, "--overwrite").code == 0 and Path("rows.csv").read_text() != "mine"


# Models in expressions.


def test_the_scores_are_the_predictions_for_the_rows_of_the_candidates(demo_index):
    table = sublex.features(demo_index, TOPICS, QRELS, PARTS, "BM25 % 9")
    expression = "BM25 % 9" >> sublex.learned(Weights(1, -2, 0.5), PARTS)
    for topic in sublex.read_topics(TOPICS)[:5]:
        rows = table.groups[topic.qid]
        expected = dict(zip(table.docnos[rows], table.values[rows] @ [1, -2, 0.5], strict=True))
        hits = demo_index.search(topic.text, expression, k=20)
        assert {hit.docno: pytest.approx(hit.score, rel=1e-6) for hit in hits} == expected
        assert list(hits.scores) == sorted(hits.scores, reverse=True)


def test_a_model_may_be_a_part_of_a_blend_and_come_before_other_stages(demo_index):
    model = sublex.learned(Weights(1.0, 0.0), ["BM25", "PL2"])
    same = demo_index.search("crane river", "BM25 % 30", k=30)
    assert demo_index.search("crane river", "BM25 % 30" >> model, k=30).docnos == same.docnos
    doubled = demo_index.search("crane river", 0.5 * ("BM25 % 30" >> model) + "0.5*BM25 % 30", k=30)
    assert doubled.docnos == same.docnos
    expanded = demo_index.search("crane river", "BM25 % 30" >> model >> "RM3" >> "BM25", k=5)
    assert expanded.docnos == demo_index.search("crane river", "BM25 % 30 >> RM3 >> BM25", k=5).docnos


def test_the_printed_form_tells_models_and_features_apart_and_no_text_can_name_it(demo_index):
    first, second = (sublex.learned(Weights(weight), ["BM25(k1=1)"]) for weight in (1.0, 2.0))
    assert str(first).startswith("learned(Weights@") and str(first).endswith(", [BM25(k1=1)])")
    assert str(first) != str(second) != str(sublex.learned(Weights(2.0), ["PL2"]))
    with pytest.raises(UnknownName, match="which a text cannot name"):
        sublex.parse(str(first))


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeRegressor(max_depth=2), LinearRegression()])
def test_models_of_scikit_learn_rank(demo_index, model):
    table = sublex.features(demo_index, TOPICS, QRELS, PARTS)
    model.fit(table.values, table.grades)
    topic = sublex.read_topics(TOPICS)[0]
    hits = demo_index.search(topic.text, "BM25 % 200" >> sublex.learned(model, PARTS), k=500)
    rows = table.groups[topic.qid]
    if hasattr(model, "predict_proba"):
        expected = model.predict_proba(table.values[rows]) @ model.classes_
    else:
        expected = model.predict(table.values[rows])
    assert {h.docno: pytest.approx(h.score, rel=1e-5, abs=1e-6) for h in hits} == dict(
        zip(table.docnos[rows], expected, strict=True)
    )


def test_a_model_that_learned_from_named_columns_does_not_warn_and_refuses_another_order(demo_index):
    table = sublex.features(demo_index, TOPICS, QRELS, PARTS).to_pandas()
    model = LinearRegression().fit(table[PARTS], table["grade"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert demo_index.search("crane", "BM25 % 9" >> sublex.learned(model, PARTS))
    with pytest.raises(InputError, match="give the expressions in this order"):
        sublex.learned(model, PARTS[::-1])
    with pytest.raises(InputError, match="was trained with 3 features, and 2 expressions are given"):
        sublex.learned(model, PARTS[:2])


def parts_of(tree) -> list:
    return [part for part in tree.parts if part.kind == "sum"]


def test_the_explanation_adds_up_what_each_feature_adds(demo_index):
    model = LinearRegression()
    model.coef_, model.intercept_, model.n_features_in_ = np.array([0.5, 0.25]), 3.0, 2
    expression = "BM25 % 9" >> sublex.learned(model, ["BM25", "PL2"])
    hits = demo_index.search("crane", expression)
    tree = demo_index.explain("crane", hits.docnos[0], expression)
    base, first, second = parts_of(tree)
    assert base.value == 3.0 and (first.label, second.label) == ("BM25 adds", "PL2 adds")
    scores = {name: demo_index.explain("crane", hits.docnos[0], name).value for name in ("BM25", "PL2")}
    assert first.value == pytest.approx(0.5 * scores["BM25"]) and second.value == pytest.approx(0.25 * scores["PL2"])
    assert tree.value == pytest.approx(hits.scores[0]) == pytest.approx(3 + first.value + second.value)
    assert first.parts[0].label.startswith("BM25") and first.evidence["feature"] == pytest.approx(scores["BM25"])


def test_a_model_that_cannot_say_what_features_add_shows_them(demo_index):
    expression = "BM25 % 9" >> sublex.learned(Weights(1.0, 1.0), ["BM25", "PL2"])
    tree = demo_index.explain("crane", "birds-05", expression)
    assert not parts_of(tree)
    assert [part.label for part in tree.parts if part.label in ("BM25", "PL2")] == ["BM25", "PL2"]
    missing = demo_index.explain("crane", "ships-01", expression)
    assert missing.value == -math.inf


def test_a_model_goes_to_other_processes_with_its_features(demo_index):
    expression = "BM25 % 9" >> sublex.learned(LinearRegression().fit([[0, 1], [1, 0]], [0, 1]), ["BM25", "PL2"])
    again = pickle.loads(pickle.dumps(expression))
    assert str(again) == str(expression)
    assert demo_index.search("crane", again).docnos == demo_index.search("crane", expression).docnos


def test_a_run_names_the_model_and_its_features(demo_index):
    run = demo_index.run(TOPICS, "BM25 % 9" >> sublex.learned(Weights(2.0), ["PL2"]))
    assert "learned(Weights@" in json.dumps(run.metadata, default=str) and "[PL2]" in json.dumps(
        run.metadata, default=str
    )


class NoNumbers:
    def predict(self, rows):
        return [math.nan] * len(rows)


class TooFew:
    def predict(self, rows):
        return [1.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sublex.learned(object(), ["BM25"]), "a model with a method predict"),
        (lambda: sublex.learned(Weights, ["BM25"]), "and not Weights; fit one first"),
        (lambda: sublex.learned(Weights(1), []), "1 to 1,000 expressions as features, and not 0"),
        (lambda: sublex.learned(Weights(1), "BM25"), "takes a list of expressions"),
        (lambda: sublex.learned(Weights(1), ["BM25", "BM25"]), "The feature BM25 comes twice"),
        (lambda: sublex.learned(Weights(1), ["BM25(b={0..1})"]), "ranges are for sublex tune"),
    ],
)
def test_what_is_no_model_or_no_feature_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        (
            sublex.learned(Weights(1.0), ["BM25"]),
            InputError,
            "nothing was found before it|finds no documents by itself",
        ),
        ("BM25" >> sublex.learned(Weights(1.0), ["nonsense"]), UnknownName, "nonsense"),
        ("BM25" >> sublex.learned(Weights(1.0), ["RM3"]), InputError, "RM3"),
        ("BM25" >> sublex.learned(NoNumbers(), ["BM25"]), PluginError, "gave nan for the document"),
        ("BM25" >> sublex.learned(TooFew(), ["BM25"]), PluginError, "gave 1 score for 9 documents"),
        ("BM25" >> sublex.learned(Weights(1.0, 2.0), ["BM25"]), PluginError, "Weights"),
    ],
)
def test_models_that_cannot_rank_cost_a_sentence(demo_index, expression, error, message):
    with pytest.raises(error, match=message):
        demo_index.search("crane", expression)


@pytest.mark.parametrize("name", ["lightgbm_ranker.txt", "xgboost_ranker_model.json"])
def test_a_model_in_a_file_ranks_without_the_program_that_saved_it(demo_index, name):
    parts = ["BM25", "PL2", "zscore(DirichletLM)", "DPH", "DFI"]
    path = Path(__file__).parent / "golden" / "trees" / name
    expression = "BM25 % 9" >> sublex.learned(path, parts)
    assert str(expression).startswith(f"BM25 % 9 >> learned({name}@")
    table = sublex.features(demo_index, [("1", "crane")], None, parts, "BM25 % 9")
    hits = demo_index.search("crane", expression)
    expected = dict(zip(table.docnos, read_forest(path).predict(table.values), strict=True))
    assert {hit.docno: pytest.approx(hit.score, abs=1e-6) for hit in hits} == expected
    tree = demo_index.explain("crane", hits.docnos[0], expression)
    adds = [part.value for part in parts_of(tree)]
    assert len(adds) == 6 and sum(adds) == pytest.approx(tree.value)
    again = pickle.loads(pickle.dumps(expression))
    assert str(again) == str(expression) and demo_index.search("crane", again).docnos == hits.docnos
    with pytest.raises(InputError, match="was trained with 5 features, and 2 expressions are given"):
        sublex.learned(path, parts[:2])


# Training.


def test_each_fold_is_measured_by_a_model_that_never_saw_its_topics(demo_index):
    Recorder.calls.clear()
    expression = "BM25 % 20" >> sublex.learned(Recorder(), ["PL2", "DPH"], version="1")
    found = sublex.tune(demo_index, TOPICS, QRELS, expression, "nDCG@10", folds=3)
    table = sublex.features(demo_index, TOPICS, QRELS, ["PL2", "DPH"], "BM25 % 20")
    *folds, last = Recorder.calls
    assert len(folds) == 3 and sum(len(fold.qids) for fold in found.folds) == len(found.qids)
    for fold, (rows, grades, group) in zip(found.folds, folds, strict=True):
        others = [qid for qid in found.qids if qid not in fold.qids]
        expected = table.of_topics(others)
        assert np.array_equal(rows, expected.values) and np.array_equal(grades, expected.grades)
        assert list(group) == expected.sizes
    assert np.array_equal(last[0], table.values)


def test_the_figures_are_those_of_runs_by_the_models(demo_index):
    expression = "BM25 % 20" >> sublex.learned(LinearRegression(), PARTS)
    found = sublex.tune(demo_index, TOPICS, QRELS, expression, "AP", folds=4)
    qrels = sublex.read_qrels(QRELS)

    def measured(ranker: Any, qids: Any) -> dict[str, float]:
        topics = [(topic.qid, topic.text) for topic in sublex.read_topics(TOPICS) if topic.qid in set(qids)]
        run = demo_index.run(topics, ranker)
        return {
            qid: sublex.measure({qid: qrels[qid]}, {qid: dict(run[qid])}, "AP")["AP"] if qid in run else 0.0
            for qid in qids
        }

    held_out = dict(zip(found.qids, found.held_out.tolist(), strict=True))
    for fold in found.folds:
        assert measured(fold.setting.tree, fold.qids) == pytest.approx({qid: held_out[qid] for qid in fold.qids})
    assert found.best.score == pytest.approx(np.mean([*measured(found.best.setting.tree, found.qids).values()]))
    assert found.default.score == pytest.approx(np.mean([*measured("BM25 % 20", found.qids).values()]))
    assert found.cross_validated == pytest.approx(found.held_out.mean())
    shown = str(found)
    assert "trained on all topics" in shown and "before the model" in shown and "4 folds" in shown


def test_the_model_of_the_expression_stays_as_it_was(demo_index):
    model = LinearRegression()
    sublex.tune(demo_index, TOPICS, QRELS, "BM25 % 20" >> sublex.learned(model, PARTS))
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("BM25" >> sublex.learned(Weights(1.0), ["PL2"]), "Weights has no method fit"),
        ("BM25" >> sublex.learned(Recorder(), ["PL2"]) >> "RM3" >> "BM25", "put it at the end of the expression"),
        ("BM25" >> sublex.learned(Recorder(), ["PL2"]) + "0.5*PL2", "put it at the end of the expression"),
        (sublex.keep(lambda document: False), "No candidates were found"),
    ],
)
def test_what_cannot_be_trained_costs_a_sentence(demo_index, expression, message):
    if isinstance(expression, PythonFilter):
        expression = "PL2" >> expression >> sublex.learned(Recorder(), ["PL2"])
    with pytest.raises(InputError, match=message):
        sublex.tune(demo_index, TOPICS, QRELS, expression)
