"""Tuning: cross-validation as worked by hand, scores equal to those of the settings' runs, and mistakes refused."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import DEMO, QRELS, SUBLEX, TOPICS

import sublex
from sublex.evaluation.run_evaluation import evaluate
from sublex.language.expression import Call, Range, fill, ranges
from sublex.language.parser import parse
from sublex.language.pipelines import PIPELINES, around
from sublex.language.plugins import load
from sublex.pipeline.compose import Composer
from sublex.retrieval.searcher import Searcher
from sublex.tuning import search, space
from sublex.tuning.judge import Judge

TEXTS = {
    "a": "The crane nests by the river.",
    "b": "A crane at the building: the crane lifts beams, and the crane lifts stones for the tall building.",
    "c": "The bank of the river, a river of mud.",
    "d": "The bank lends money for the building.",
    "e": "River, river, river and bank.",
}
ASKED = [("1", "crane river"), ("2", "bank building"), ("3", "river bank"), ("4", "building crane"), ("5", "zzz")]
JUDGED = {"1": {"a": 1, "e": 0}, "2": {"d": 2, "b": 1}, "3": {"c": 1}, "4": {"b": 1, "d": 1, "a": -1}, "5": {"a": 1}}


@pytest.fixture
def small(tmp_path):
    return sublex.build([{"id": key, "text": text} for key, text in TEXTS.items()], tmp_path / "index")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return sublex.build(DEMO, tmp_path_factory.mktemp("tune") / "index")


def everything(found):
    return found.settings, found.scores.tolist(), found.folds, found.held_out.tolist(), found.best.setting


# What is found.


def by_hand(index, topics, qrels, expressions, measure, folds):
    """Return the scores of the settings by their runs, and the folds' choices by the reference."""
    scores = {}
    for text in expressions:
        evaluation = evaluate(qrels, index.run(topics, text, 1000), [measure], topics=[qid for qid, _ in topics])
        scores[text] = dict(zip(evaluation.qids, evaluation[measure].tolist(), strict=True))
    return scores, naive.cross_validated(scores, folds)


def test_cross_validation_equals_the_same_done_by_hand(small):
    found = sublex.tune(small, ASKED, JUDGED, "BM25(k1={0.1,1.2,5}, b={0..1})", "RR", folds=3, steps=3, seed=4)
    texts = [f"BM25(k1={k1}, b={b})" for k1 in (0.1, 1.2, 5) for b in (0, 0.5, 1)]
    assert [setting.text for setting in found.settings] == texts
    assert found.settings[4].expression == "BM25(b=0.5)" and found.settings[4].values == {"k1": 1.2, "b": 0.5}
    scores, _ = by_hand(small, ASKED, JUDGED, texts, "RR", [])
    assert found.scores.tolist() == [list(scores[text].values()) for text in texts]
    # Equals go by their distance from k1 = 1.2, b = 0.75, each on the scale of its range.
    nearest = sorted(
        texts, key=lambda t: abs(float(t[8:].split(",")[0]) - 1.2) / 4.9 + abs(float(t[:-1].split("b=")[1]) - 0.75)
    )
    folds = [fold.qids for fold in found.folds]
    expected = naive.cross_validated({text: scores[text] for text in nearest}, folds)
    assert [(fold.setting.text, pytest.approx(fold.held_out)) for fold in found.folds] == expected
    assert found.cross_validated == pytest.approx(
        sum(len(f) * mean for f, (_, mean) in zip(folds, expected, strict=True)) / 5
    )
    assert found.default.setting.text == "BM25" and found.default.score == pytest.approx(
        sublex.measure(JUDGED, small.run(ASKED, "BM25"), "RR").mean["RR"]
    )


tables = st.integers(2, 8).flatmap(
    lambda topics: st.lists(
        st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0]), min_size=topics, max_size=topics),
        min_size=1,
        max_size=6,
    )
)


@given(table=tables, data=st.data())
def test_any_scores_are_cross_validated_as_the_reference_does(demo, table, data):
    topics = len(table[0])
    folds, seed = data.draw(st.integers(2, topics)), data.draw(st.integers(0, 5))
    asked, judged = [(str(k), "crane") for k in range(topics)], {str(k): {"a": 1} for k in range(topics)}
    choices = ",".join(str(k) for k in range(len(table)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_run", lambda plan, *rest: np.array([*table, table[0]][: len(plan.runs)]))
        found = sublex.tune(demo, asked, judged, f"BM25 % 5 + {{{choices}}}*PL2", folds=folds, seed=seed)
    parts = [fold.qids for fold in found.folds]
    assert sorted(qid for part in parts for qid in part) == sorted(found.qids)
    sizes = {len(part) for part in parts}
    assert max(sizes) - min(sizes) <= 1
    # The default weight is 1: settings are preferred by how near it they are.
    nearest = sorted(range(len(table)), key=lambda k: (abs(k - 1), k))
    scores = {str(k): dict(zip(found.qids, table[k], strict=True)) for k in nearest}
    expected = naive.cross_validated(scores, parts)
    assert [
        (f"{fold.setting.values['weight of PL2']:g}", pytest.approx(fold.held_out)) for fold in found.folds
    ] == expected
    # Held-out topics never gain by not having been seen.
    assert found.cross_validated <= found.best.score + 1e-9
    assert found.best.score == pytest.approx(max(found.means))
    assert all(
        fold.training == pytest.approx(max(np.delete(found.scores, [int(q) for q in fold.qids], 1).mean(axis=1)))
        for fold in found.folds
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
def test_the_result_is_the_same_for_any_number_of_workers(demo, workers, monkeypatch):
    monkeypatch.setattr(search, "GROUP", 4)
    for expression, more in [
        ("PL2(c={1..7}) + {0..1}*BM25", {"steps": 3}),
        ("BM25(k1={0..3}) % {5..50} >> RM3(docs={2..9}) >> BM25", {"search": "random", "samples": 7, "seed": 3}),
    ]:
        one = sublex.tune(demo, TOPICS, QRELS, expression, workers=1, **more)
        assert everything(one) == everything(sublex.tune(demo, TOPICS, QRELS, expression, workers=workers, **more))


def test_weights_and_b_of_fields_are_tuned_one_by_one_or_together(tmp_path):
    texts = {
        "a": ("crane", "the bird nests"),
        "b": ("the bird", "a crane and another crane nest"),
        "c": ("nests", "mud"),
    }
    index = sublex.build(
        [{"id": key, "title": title, "text": text} for key, (title, text) in texts.items()],
        tmp_path / "i",
        fields="title,text",
    )
    topics, qrels = [("1", "crane"), ("2", "bird")], {"1": {"a": 1}, "2": {"b": 1}}
    expression = "BM25F(weights=[{0.1,1,20}, 1], b=[{0.2,0.5}, {0.75,1}])"
    found = sublex.tune(index, topics, qrels, expression, folds=2)
    assert [tuned.name for tuned in space.ranges_of(sublex.parse(expression), load(), {})] == [
        "weights of title",
        "b of title",
        "b of text",
    ]
    assert len(found.settings) == 12 and found.best.setting.values["weights of title"] == 20 and found.best.score == 1
    for setting, means in zip(
        found.settings, found.scores.T if found.scores.shape[0] == 2 else found.scores, strict=True
    ):
        run = index.run(topics, setting.text)
        assert means.mean() == pytest.approx(sublex.measure(qrels, run, "AP")["AP"].mean())
    together = sublex.tune(index, topics, qrels, "BM25F(b={0..1}, weights={1,2})", folds=2)
    assert set(together.best.setting.values) == {"b", "weights"}


def test_seeds_make_folds_and_samples(demo):
    found = [
        sublex.tune(demo, TOPICS, QRELS, "BM25(b={0..1})", search="random", samples=4, seed=seed) for seed in (1, 1, 2)
    ]
    assert everything(found[0]) == everything(found[1])
    assert [fold.qids for fold in found[0].folds] != [fold.qids for fold in found[2].folds]
    assert found[0].settings != found[2].settings
    more = sublex.tune(demo, TOPICS, QRELS, "BM25(b={0..1})", search="random", samples=6, seed=1)
    assert more.settings[:4] == found[0].settings


MEASURES = [
    "AP", "AP(rel=2)", "AP@7", "nDCG", "nDCG@10", "P@5", "P(judged_only=True)@5", "R@20", "RR", "Rprec", "Bpref", "Success@3",
    "IPrec@0.2", "infAP", "SetF", "Judged@5", "RR@4",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["BM25", "CoordinateMatch", "PL2 % 30 >> BM25", "BM25 >> RM3 >> BM25"])
@pytest.mark.parametrize("k", [3, 1000])
def test_scores_are_those_of_the_run(demo, expression, k):
    topics, qrels = sublex.read_topics(TOPICS), sublex.read_qrels(QRELS)
    asked = [topic for topic in topics if topic.qid in qrels]
    run = demo.run(asked, expression, k)
    values = evaluate(qrels, run, MEASURES, topics=run)
    made = demo.pipeline(expression)
    for measure in MEASURES:
        judge = Judge(demo, qrels, [topic.qid for topic in asked], measure, k)
        hits = [made.answer(demo.query(topic.text), judge.depth).hits for topic in asked]
        assert judge.scores(hits).tolist() == values[str(judge.measure)].tolist(), measure


def test_documents_are_told_apart_whatever_their_names(small):
    names = ["?0", "??1", " 2", "3", "-"]
    index = sublex.build(
        [{"id": name, "text": text} for name, text in zip(names, TEXTS.values(), strict=True)],
        small.path.parent / "odd",
    )
    qrels = {"1": {"?0": 1, "-": 1, "gone": 1, "?": 1}, "3": {" 2": 1}}
    found = sublex.tune(index, ASKED, qrels, "BM25(b={0,.5})", folds=2)
    assert found.default.by_topic.tolist() == evaluate(qrels, index.run(ASKED, "BM25"), ["AP"])["AP"].tolist()


def test_an_index_that_has_changed_is_tuned_as_it_is(small):
    small.delete(["b"])
    small.add([{"id": "b", "text": "A building crane."}, {"id": "a", "text": "Mud."}], duplicates="last")
    index = sublex.open(small.path)
    assert len(index.snapshot.segments) > 1
    found = sublex.tune(index, ASKED, JUDGED, "BM25(b={0,.5})", folds=2)
    assert found.default.by_topic.tolist() == evaluate(JUDGED, index.run(ASKED, "BM25"), ["AP"])["AP"].tolist()


def test_every_setting_is_run_once_and_unused_rankers_are_released(small, monkeypatch):
    alive, progress = [], []
    release = Composer.release_unused

    def counted(composer):
        release(composer)
        alive.append(set(composer._searchers))

    monkeypatch.setattr(Composer, "release_unused", counted)
    found = sublex.tune(
        small,
        ASKED,
        JUDGED,
        "{0,.5,1}*PL2 + BM25(k1={1.2,1.20,2})",
        folds=2,
        progress=lambda *done: progress.append(done),
    )
    assert len(found.settings) == 6 and progress == [(5 * k, 35) for k in range(1, 8)]
    # A ranker's impacts serve all weights, and are gone when another's turn has come.
    assert alive == [{"PL2", "BM25"}] * 3 + [{"PL2", "BM25(k1=2)"}] * 3 + [{"PL2", "BM25"}]
    assert found.default.setting.expression == "PL2 + BM25" and found.settings[4].expression == "1*PL2 + BM25"


def test_tuning_writes_nothing_and_can_be_interrupted(small):
    def files():
        return {path: path.stat().st_mtime_ns for path in small.path.rglob("*")}

    def interrupt(done, total):
        if done > 7:
            raise KeyboardInterrupt

    before = files()
    sublex.tune(small, ASKED, JUDGED, "BM25(b={0..1})", folds=2)
    with pytest.raises(KeyboardInterrupt):
        sublex.tune(small, ASKED, JUDGED, "BM25(b={0..1})", folds=2, workers=2, progress=interrupt)
    assert files() == before


def test_topics_without_judgements_and_judgements_without_topics_are_left_out(small):
    qrels = {**JUDGED, "9": {"a": 1}}
    del qrels["2"]
    found = sublex.tune(small, ASKED, qrels, "BM25(b={0,1})", folds=2)
    assert found.qids == ("1", "3", "4", "5") and found.unused == ("9",)


def test_the_profile_has_the_defaults(demo):
    found = sublex.tune(demo, TOPICS, QRELS, "BM25(k1={0.9..3})", profile="anserini", steps=2)
    assert found.default.setting.expression == "BM25(k1=0.9, b=0.4, lengths=lucene)"
    assert [s.expression for s in found.settings] == [f"BM25(k1={k1}, b=0.4, lengths=lucene)" for k1 in (0.9, 3)]
    assert found.default.by_topic.tolist() == found.scores[0].tolist()


def test_tuning_on_the_demo_collection_equals_its_runs(demo):
    found = sublex.tune(demo.path, TOPICS, QRELS, "PL2(c={1,7}) + {0..1}*BM25", "nDCG@10", fields="title+desc", steps=3)
    topics, qrels = sublex.read_topics(TOPICS, "title+desc"), sublex.read_qrels(QRELS)
    for setting, mean in zip(found.settings, found.means, strict=True):
        assert mean == pytest.approx(sublex.measure(qrels, demo.run(topics, setting.text), "nDCG@10").mean["nDCG@10"])
    asked = [topic[:2] for topic in topics]
    assert found.default.setting.expression == "PL2 + BM25"
    expected = by_hand(demo, asked, qrels, [s.text for s in found.settings], "nDCG@10", [f.qids for f in found.folds])[
        1
    ]
    assert [fold.held_out for fold in found.folds] == pytest.approx([mean for _, mean in expected])


def test_settings_that_differ_in_weights_share_what_their_parts_find(demo, monkeypatch):
    calls = {"search": 0, "scores": 0}

    def counted(name):
        real = getattr(Searcher, name)

        def call(self, *given):
            calls[name] += 1
            return real(self, *given)

        monkeypatch.setattr(Searcher, name, call)

    for name in calls:
        counted(name)
    expression = "PL2 + {0,0.5,1}*(BM25 >> Bo1 >> BM25) + {1,2}*zscore(TFIDF)"
    found = sublex.tune(demo, TOPICS, QRELS, expression, workers=1)
    # PL2, BM25 before and after feedback, and TFIDF find once. Without feedback there are other candidates than with it: PL2
    # and TFIDF score those that they did not find twice, and BM25 once.
    assert calls["search"] == 4 * len(found.qids)
    assert 0 < calls["scores"] <= 5 * len(found.qids)
    for setting, mean in zip(found.settings, found.means, strict=True):
        run = demo.run(sublex.read_topics(TOPICS), setting.text)
        assert mean == pytest.approx(sublex.measure(sublex.read_qrels(QRELS), run, "AP").mean["AP"])


# The settings.


@pytest.mark.parametrize(
    ("expression", "names", "settings", "plain"),
    [
        ("BM25(k1={0.4..2.0})", ["k1"], ["BM25(k1=0.4)", "BM25(k1=0.8)", "BM25(k1=1.2)", "BM25(k1=1.6)", "BM25(k1=2)"], "BM25"),
        ("BM25({1,2.5}, 0.3)", ["k1"], ["BM25(1, 0.3)", "BM25(2.5, 0.3)"], "BM25(b=0.3)"),
        ("RM3(docs={5..10}) >> PL2", ["docs"], [f"RM3(docs={n}) >> PL2" for n in (5, 6, 8, 9, 10)], "RM3 >> PL2"),
        ("RM3(docs={1..2}) >> PL2", ["docs"], ["RM3(docs=1) >> PL2", "RM3(docs=2) >> PL2"], "RM3 >> PL2"),
        ("(BM25 >> PL2) % {5,9} >> PL2", ["depth of BM25 >> PL2"],
         ["(BM25 >> PL2) % 5 >> PL2", "(BM25 >> PL2) % 9 >> PL2"], "BM25 >> PL2 >> PL2"),
        ("{1,2}*BM25 + {3,4}*BM25(b={0})", ["weight of BM25", "weight of BM25 (2)", "b"],
         [f"{i}*BM25 + {j}*BM25(b=0)" for i in (1, 2) for j in (3, 4)], "BM25 + BM25"),
        ("BM25 + {1,2}*zscore(PL2)", ["weight of zscore(PL2)"], [f"BM25 + {i}*zscore(PL2)" for i in (1, 2)], "BM25 + zscore(PL2)"),
        ("BM25F(fields=[head, body], b=[0.5, {0,1}])", ["b of body"],
         [f"BM25F(fields=[head, body], b=[0.5, {b}])" for b in (0, 1)], "BM25F(fields=[head, body])"),
        ("BM25F(b=[{0,1}, 0.5, 0.5])", ["b 1"], [f"BM25F(b=[{b}, 0.5, 0.5])" for b in (0, 1)], "BM25F"),
        ("zscore(BM25(b={0,1})) + 0.3*PL2 % {7}", ["b", "depth of PL2"],
         [f"zscore(BM25(b={b})) + 0.3*PL2 % 7" for b in (0, 1)], "zscore(BM25) + 0.3*PL2"),
    ],
)  # fmt: skip
def test_ranges_become_numbers(expression, names, settings, plain):
    tree, registry = sublex.parse(expression), load()
    tuned_ranges = space.ranges_of(tree, registry, {})
    assert [tuned.name for tuned in tuned_ranges] == names and [tuned.range for tuned in tuned_ranges] == ranges(tree)
    assert [str(fill(tree, numbers)) for numbers in space.grid(tuned_ranges, 5)] == settings
    assert str(space.without_ranges(tree, registry)) == plain


def test_evenly_spaced_numbers_are_short_and_end_where_the_interval_does():
    tuned = space.TunedRange("b", Range((0.0, 1.0), True), False, None)
    assert [n for (n,) in space.grid([tuned], 4)] == [0, 0.33333, 0.66667, 1]
    wide = tuned._replace(range=Range((-12345.678, 1e6), True))
    assert [n for (n,) in space.grid([wide], 3)] == [-12345.678, 493830, 1e6]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(0, 9))
def test_numbers_by_chance_lie_within_their_range(low, width, seed):
    tuned_ranges = [
        space.TunedRange("x", Range((low, low + width), True), False, None),
        space.TunedRange("n", Range((3, 5), True), True, None),
        space.TunedRange("c", Range((1, 7)), False, None),
    ]
    drawn = space.sample(tuned_ranges, 40, seed)
    assert all(low <= x <= low + width for x, _, _ in drawn)
    assert {n for _, n, _ in drawn} == {3, 4, 5} and {c for _, _, c in drawn} == {1, 7}


@pytest.mark.parametrize("values", [(), (1.0, float("inf")), (float("nan"),)])
def test_a_range_made_in_python_is_checked(values):
    with pytest.raises(sublex.InputError, match="is not a range such as"):
        Range(values)
    for ends in [(2, 1), (1, 1), (1, 2, 3), (-1e308, 1e308)]:
        with pytest.raises(sublex.InputError, match="is not a range such as"):
            Call("BM25", (), {"b": Range(ends, interval=True)})


# What it looks like.


def test_of_equal_settings_the_nearest_to_the_defaults_is_chosen(small):
    same = sublex.tune(small, ASKED[:2], {"1": {"zz": 1}, "2": {"zz": 1}}, "BM25(k1={0..3}, b={0.1,0.7,0.8})", folds=2)
    assert same.best.setting.values == {"k1": 1.5, "b": 0.7} and same.at_end == ()
    assert {fold.setting.text for fold in same.folds} == {"BM25(k1=1.5, b=0.7)"}


@pytest.mark.slow
def test_a_built_in_name_is_tuned_around_its_learned_weights(tmp_path):
    index = sublex.build(DEMO, tmp_path / "index", store="text,terms")
    for model in index.models_in("better"):
        index.fit(model)
    topics = list(sublex.read_topics(TOPICS))[:8]
    judged = sublex.read_qrels(QRELS)
    qrels = {topic.qid: judged[topic.qid] for topic in topics}
    found = sublex.tune(index, topics, qrels, "better")
    lsi = "lsi(e=200)"
    words = "(Burst >> BM25 >> Sharp >> BM25)"
    assert found.expression == f"{words} + {{0,0.1,0.2}}*{lsi} >> near({lsi}, own={{0.7,0.8,0.9}})"
    learned = {"weight of lsi": 0.1, "own": 0.8}
    assert found.names == tuple(learned) and len(found.settings) == 9
    assert found.default.setting.values == learned
    own = sublex.measure(qrels, index.run(topics, PIPELINES["better"]), "AP")
    assert found.default.score == pytest.approx(own.mean["AP"])
    # Several settings find all relevant documents, and of these the nearest to the learned weights wins.
    equal = sublex.tune(index, topics, qrels, "better", "R@1000")
    assert (equal.means == 1).sum() > 1 and equal.best.setting.values == learned
    # A name of the user is tuned by its own ranges.
    index.name("better", "BM25(b={0,1})")
    assert sublex.tune(index, topics, qrels, "better").names == ("b",)
    with pytest.raises(
        sublex.InputError, match="good has no weights to tune; write a range in place of a number in Burst >>"
    ):
        sublex.tune(index, topics, qrels, "good")


@pytest.mark.parametrize("name", ["better", "best"])
def test_the_ranges_of_a_name_hold_what_it_stands_for(name):
    text, learned = around(PIPELINES[name])
    tree = parse(text)
    assert all(number in each.values for number, each in zip(learned, ranges(tree), strict=True))
    resolved = [str(load().resolve_all(one)) for one in (fill(tree, learned), parse(PIPELINES[name]))]
    assert resolved[0] == resolved[1]


def test_a_tuning_is_shown_as_tables(small):
    found = sublex.tune(small, ASKED, JUDGED, "BM25(k1={0.5,3}, b={0..1})", folds=2, steps=3)
    grid = found.settings_table()
    assert grid.head == ["k1 \\ b", "0", "0.5", "1"] and [row[0] for row in grid.rows] == ["0.5", "3"]
    (row, column), best = grid.bold[0], found.best
    assert grid.rows[row][column] == f"{best.score:.4f}"
    assert (float(grid.rows[row][0]), float(grid.head[column])) == tuple(best.setting.values.values())
    assert [row[0] for row in found.table(figures=True).rows] == [
        "1", "2", "cross-validated", "best on all topics", "defaults",
    ]  # fmt: skip
    assert repr(found).startswith("<BM25(k1={0.5,3}, b={0..1}) by AP: cross-validated 0.")
    assert "6 settings, 5 topics, 2 folds>" in repr(found) and "<table>" in found._repr_html_()
    caption, folds, settings, *remark = str(found).split("\n\n")
    assert caption == "BM25(k1={0.5,3}, b={0..1}) by AP: 6 settings, 5 topics, 2 folds"
    assert folds.split("\n")[-2].split()[:5] == ["best", "on", "all", "topics", "5"] and settings.startswith("k1 \\ b ")
    assert remark and remark[0].startswith("The best setting has ") and remark[0] in found._repr_html_()
    frame = pytest.importorskip("pandas") and found.to_pandas()
    assert list(frame.columns) == ["k1", "b", "AP"] and frame.index[1] == "BM25(k1=0.5, b=0.5)"
    assert frame["AP"].tolist() == found.means.tolist()
    line = sublex.tune(small, ASKED, JUDGED, "BM25(k1={3,.5})", folds=2).settings_table()
    assert line.head == ["k1", "AP"] and [row[0] for row in line.rows] == ["0.5", "3"]
    wide = sublex.tune(small, ASKED, JUDGED, "BM25(k1={0,1}, b={0..1})", folds=2, steps=11).settings_table()
    assert wide.head == ["k1", "b", "AP"] and len(wide.rows) == 10
    many = sublex.tune(
        small, ASKED, JUDGED, "BM25(k1={0..3}, b={0..1})", folds=2, search="random", samples=30
    ).settings_table()
    means = [float(row[2]) for row in many.rows]
    assert len(means) == 10 and means == sorted(means, reverse=True) and many.bold[0][1] == 2


# What is refused.


@pytest.mark.parametrize(
    ("expression", "options", "sentence"),
    [
        ("BM25", {}, "BM25 has no range to tune; write one"),
        ("{0..1}*BM25", {}, "A weight of BM25 alone changes no ranking; blend it with another, as in PL2 + {0..1}*BM25."),
        ("BM25 >> {.5,2}*PL2", {}, "A weight of PL2 alone changes no ranking"),
        ("BM25(variant={0..1})", {}, "BM25: variant={0..1} is a range, and variant takes no number; write one of lucene,"),
        ("RM3(filter={0,1}) >> BM25", {}, "RM3: filter={0,1} is a range, and filter takes no number; write one of true, false."),
        ("zscore({0..1})", {}, "zscore: x={0..1} is a range, and x takes no number; write a value."),
        ("BM25(k={0..1})", {}, "BM25 has no parameter k; did you mean k1?"),
        ("BM25(b={0..1}, k1=x)", {}, "BM25: k1=x has to be a number."),
        ("BM25({0..1}, 1, tf, 2, 3, exact, {7..8})", {}, "BM25 was given too many values"),
        ("BM25(b={0..2})", {}, "BM25: b=1.5 lies outside 0 to 1."),
        ("BM25F(b=[{0..2}, 1])", {}, "BM25F: b=1.5 lies outside 0 to 1."),
        ("BM25F(fields=[{0..2}, text])", {}, "fields=[0, text] has to name one field or more"),
        ("RM3(docs={.5..3}) >> BM25", {}, "RM3: docs={0.5..3} should have whole numbers only."),
        ("BM25 % {1.5,3}", {}, "% {1.5,3} should have whole numbers only."),
        ("BM25 % {0,3}", {}, "BM25 % 0 finds nothing, so it can only be a part of a blend"),
        ("BM52(b={0..1})", {}, "did you mean BM25?"),
        ("RM3(docs={1,2})", {}, "changes the query and finds nothing itself"),
        ("BM25(k1={0..1}, b={0..1})", {"steps": 101}, "This grid has 10,201 settings, and 10,000 is the most; draw some by"),
        ("BM25(b={0..1})", {"steps": 1}, "steps=1 should be at least 2"),
        ("BM25(b={0..1})", {"search": "random", "samples": 0}, "samples=0 should lie between 1 and 10,000."),
        ("BM25(b={0..1})", {"search": "bayes"}, "No search bayes; there are grid, random."),
        ("BM25(b={0..1})", {"folds": 1}, "folds=1 should be at least 2"),
        ("BM25(b={0..1})", {"folds": 6}, "5 judged topics are too few for 6 folds; take fewer folds."),
        ("BM25(b={0..1})", {"seed": -1}, "seed=-1 should be at least 0."),
        ("BM25(b={0..1})", {"k": 0}, "k=0 should be at least 1."),
        ("BM25(b={0..1})", {"workers": -2}, "workers=-2 should be at least 1."),
        ("BM25(b={0..1})", {"measure": "nDGC@10"}, "No measure nDGC@10; did you mean nDCG@10?"),
        ("BM25(b={0..1})", {"measure": "AP RR"}, "AP RR stands for 2 measures; tune by one, such as AP."),
        ("BM25(b={0..1})", {"measure": ["AP", "nDCG@10"]}, "AP nDCG@10 stands for 2 measures; tune by one, such as AP."),
        ("BM25(b={0..1})", {"measure": 3}, "The measures are 3 (int); give names such as"),
        ("BM25(b={0..1})", {"measure": "NumRet"}, "NumRet is a count, and a higher count is not better"),
        ("BM25(b={0..1})", {"profile": "anserine"}, "No profile anserine; did you mean anserini?"),
        ("BM25(b={0..1})", {"topics": [("7", "crane")]}, "None of these topics has judgements"),
        ("BM25(b={0..1})", {"topics": [*ASKED, ASKED[0]]}, "Topics 1 and 6 have the same id 1; keep one of the two."),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_in_a_sentence(small, expression, options, sentence):
    with pytest.raises(sublex.SublexError) as error:
        sublex.tune(small, options.pop("topics", ASKED), JUDGED, expression, **{"folds": 2} | options)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_a_grid_of_10_000_settings_is_allowed(small):
    assert len(space.grid(space.ranges_of(sublex.parse("BM25(k1={0..1}, b={0..1})"), load(), {}), 100)) == 10_000


# The command.


@pytest.fixture
def tune(command):
    assert command("index", "demo", str(DEMO))[0] == 0
    return lambda *arguments: command("tune", "demo", str(TOPICS), str(QRELS), *arguments)


def test_tune_prints_folds_figures_and_the_command_to_go_on_with(tune, command):
    code, output, messages = tune(
        "BM25(k1={0.4..4}, b={.3,.75})", "--folds", "3", "--steps", "3", "--profile", "anserini"
    )
    lines = output.splitlines()
    assert code == 0 and lines[0] == "BM25(k1={0.4..4}, b={0.3,0.75}) by AP: 6 settings, 30 topics, 3 folds"
    assert lines[2].split() == ["fold", "topics", "best", "setting", "training", "held", "out"]
    assert [line.split()[:2] for line in lines[3:6]] == [["1", "10"], ["2", "10"], ["3", "10"]]
    assert "368 judgements of 30 topics" in messages
    figures = {line[:20].strip(): line[20:].split(None, 1) for line in lines[7:10]}
    assert list(figures) == ["cross-validated", "best on all topics", "defaults"]
    best, what = figures["best on all topics"]
    assert what.endswith(" (chosen and measured on the same topics: optimistic)")
    again = shlex.split(lines[-1].removeprefix("Run it: sublex "))
    assert again[-2:] == ["--profile", "anserini"] and command(*again)[0] == 0
    (written,) = Path().glob("*.run")
    assert command("eval", str(QRELS), str(written), "-m", "AP")[1].split()[-1] == best


def test_tune_prints_other_forms(tune):
    arguments = ("PL2 + {0..1}*BM25", "-m", "P@5", "--search", "random", "--samples", "3", "--seed", "7", "-k", "50")
    found = json.loads(tune(*arguments, "--format", "json")[1])
    assert len(found["settings"]) == 3 and len(found["folds"]) == 5 and found["measure"] == "P@5"
    assert sum(len(fold["topics"]) for fold in found["folds"]) == len(found["topics"]) == 30
    assert found["cross-validated"] <= found["best on all topics"]["score"] + 1e-9
    assert found["defaults"]["expression"] == "PL2 + BM25" and found["command"].endswith(" -k 50")
    lines = tune(*arguments, "--format", "csv")[1].splitlines()
    assert lines[0] == "fold,topics,best setting,training,held out" and len(lines) == 9
    assert float(lines[6].split(",")[-1]) == pytest.approx(found["cross-validated"])
    assert tune(*arguments, "--format", "markdown")[1].startswith("| fold | topics |")
    assert "\\toprule" in tune(*arguments, "--format", "latex")[1]


@pytest.mark.slow
def test_a_command_that_is_interrupted_says_so(tune):
    arguments = ["tune", "demo", str(TOPICS), str(QRELS), "BM25(k1={0..9}, b={0..1})", "--steps", "100"]
    before = sorted(Path().rglob("*"))
    child = subprocess.Popen([*SUBLEX, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stderr and "30 topics" in child.stderr.readline()
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    output, messages = child.communicate()
    assert child.returncode == 130 and output == "" and messages.endswith("sublex: interrupted.\n")
    assert sorted(Path().rglob("*")) == before


def test_tune_refuses_in_a_sentence(tune):
    for arguments, sentence in [
        (("BM25",), "sublex: BM25 has no range to tune"),
        (("BM25(b={0..1}",), "Expected , or ) after {0..1} in column 14"),
        (("BM25(b={0..1})", "--folds", "31"), "30 judged topics are too few for 31 folds"),
        (("BM25(b={1..0})",), "is not a range such as {0..1} or {1,2,5}"),
    ]:
        code, output, messages = tune(*arguments)
        assert (code, output) == (2, "") and sentence in messages and "Traceback" not in messages


def test_a_printed_tuning_says_how_to_run_its_best_setting(demo):
    """Also with a Python object in the expression, which no text can name."""
    function = sublex.ranker(lambda tf, length: tf / (tf + length))
    tuning = sublex.tune(demo, TOPICS, QRELS, "BM25(b={0,1})" + 0.5 * function, folds=2)
    marker, code = str(tuning).splitlines()[-1].split(": ")
    assert marker == "To run the best setting"
    hits = eval(code, {"index": demo, "query": "crane", "tuning": tuning})
    assert hits.docnos == demo.search("crane", f"BM25(b={tuning.best.setting.values['b']:g})" + 0.5 * function).docnos


def test_topics_in_the_query_language_are_tuned_in_it(small):
    asked = [("1", "+crane river"), ("2", "bank -building"), ("3", "river AND bank")]
    found = sublex.tune(small, asked, JUDGED, "BM25(b={0.0,1.0})", "AP", folds=3, language="query")
    for row, setting in zip(found.scores, found.settings, strict=True):
        run = small.run(asked, setting.expression, 1000, language="query")
        assert row.tolist() == evaluate(JUDGED, run, ["AP"], topics=["1", "2", "3"])["AP"].tolist()
    plain = sublex.tune(small, asked, JUDGED, "BM25(b={0.0,1.0})", "AP", folds=3)
    assert found.scores.tolist() != plain.scores.tolist()
    assert (found.language, plain.language) == ("query", "plain")
    assert found.parts()[-1].endswith("tuning.best.setting.tree, language='query')")
    assert plain.parts()[-1].endswith("tuning.best.setting.tree)")


def test_the_command_tunes_a_built_in_name_around_its_learned_weights(command, built_demo):
    shutil.copytree(built_demo, "indexes/demo")
    assert command("fit", "demo", "better").code == 0
    given = ["tune", "demo", str(TOPICS), str(QRELS), "better", "--search", "random", "--samples", "3", "--folds", "2"]
    code, output, said = command(*given)
    assert code == 0, said
    assert "weight of lsi" in output and "own" in output and "Run it: sublex run demo" in output
    code, _, said = command("tune", "demo", str(TOPICS), str(QRELS), "good")
    assert code == 2 and "good has no weights to tune" in said
