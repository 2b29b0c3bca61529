"""Pools: which documents are worth judging next, the form that has them, and how far unjudged documents could change a comparison."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import QRELS, TOPICS, qrels_of, run_of
from strategies import examples

import sublex as engine
from sublex.errors import InputError
from sublex.evaluation.comparison import compare
from sublex.evaluation.pooling import Chosen, form_text, pool, read_form
from sublex.evaluation.systems import System

DOCS = "abcdefgh"
rankings = st.lists(st.lists(st.sampled_from(DOCS), unique=True, min_size=1), min_size=2, max_size=3)
grades = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 2))


def systems_of(*rankings):
    """Return a system for each ranking of one topic, or for each dictionary of rankings by topic."""
    found = []
    for number, given_ranking in enumerate(rankings):
        by_topic = given_ranking if isinstance(given_ranking, dict) else {"1": given_ranking}
        run = {qid: {d: float(-rank) for rank, d in enumerate(docs)} for qid, docs in by_topic.items()}
        found.append(System(f"s{number}", run_of(run, f"s{number}")))
    return found


# Choosing.


@settings(max_examples=examples(60), deadline=None)
@given(rankings, grades, st.integers(1, 8))
def test_a_pool_by_depth_has_the_first_documents_of_each_run_by_their_best_rank(ranked, judged, depth):
    found = pool(systems_of(*ranked), {"1": judged}, depth=depth)
    wanted = {doc for docs in ranked for doc in docs[:depth]}
    best = {doc: min(docs.index(doc) for docs in ranked if doc in docs) for doc in wanted}
    assert {each.docno for each in found} == wanted and len(found) == len(wanted)
    assert [best[each.docno] for each in found] == sorted(best.values())
    assert all(each.grade == judged.get(each.docno) for each in found)


@settings(max_examples=examples(60), deadline=None)
@given(rankings, grades)
def test_a_pool_by_change_comes_by_the_largest_difference_of_gains(ranked, judged):
    found = pool(systems_of(*ranked), {"1": judged}, "change", depth=8)
    gains = {doc: [1 / math.log2(2 + docs.index(doc)) if doc in docs else 0 for docs in ranked] for doc in DOCS}
    change = [max(gains[each.docno]) - min(gains[each.docno]) for each in found]
    assert change == pytest.approx(sorted(change, reverse=True))
    said = [f"{value:.4f}" if value else "the" for value in change]
    assert said == [each.why.split()[0] for each in found]


def test_move_to_front_follows_the_run_that_gives_relevant_documents():
    # By hand: both runs have priority 0, so s0 gives a (not relevant, priority -1); s1 gives e and f (relevant, 0) and then g
    # (-1), so that s0 is before it again: b (-2); s1 gives h (-2); s0 gives c (-3) and, as s1 is at its end, d.
    found = pool(systems_of("abcd", "efgh"), {"1": {"e": 1, "f": 2, "a": 0}}, "front", depth=4)
    assert "".join(each.docno for each in found) == "aefgbhcd"
    assert found[2].why == "rank 2 of s1"
    plain = pool(systems_of("abcd", "aefg"), {}, "front", depth=4)
    assert "".join(each.docno for each in plain) == "aebfcgd", "a document of both runs is taken once"


def test_a_budget_is_shared_among_topics_and_spent_on_documents_without_a_grade():
    runs = systems_of({"1": "abc", "2": "a", "3": "bcd"}, {"1": "cba", "3": "dcb"})
    found = pool(runs, {"1": {"a": 1}}, budget=5)
    assert [(each.qid, each.docno) for each in found] == [("1", "c"), ("1", "b"), ("2", "a"), ("3", "b"), ("3", "d")]
    assert len(pool(runs, {}, budget=100)) == 7 and all(each.grade is None for each in found)
    assert [each.docno for each in pool(runs, {}, depth=1, budget=100)] == ["a", "c", "a", "b", "d"]


def test_a_pool_without_a_size_or_with_an_unknown_method_is_refused():
    runs = systems_of("ab", "ba")
    for arguments, sentence in (
        ({}, "by --depth"), ({"depth": 1, "method": "nope"}, "No method nope"), ({"depth": 1, "method": "change"}, "two or more"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=sentence):
            pool(runs[:1], {}, **arguments)


# Forms.


def test_a_form_is_read_as_it_was_filled_in(tmp_path):
    form = tmp_path / "form.tsv"
    form.write_text(
        form_text([Chosen("1", "a", None, "rank\t1"), Chosen("1", "b", 2, "x"), Chosen("2", "ü", None, "y")])
    )
    assert list(read_form(form)) == [("1", "b", 2)]
    form.write_bytes(form.read_bytes().replace(b"?\trank", b" -1 \trank").replace(b"\n", b"\r\n"))
    assert list(read_form(form)) == [("1", "a", -1), ("1", "b", 2)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1\ta\n", "line 1: a form has topic, docno and grade"),
        ("# x\n1 1\ta\t1\n", "line 2: a form has"),
        ("1\ta\tyes\n", "line 1: yes is no grade"),
        ("1\ta\t99999999999\n", "is no grade"),
        ("1\ta\t²\n", "is no grade"),
        ("1\ta\t" + "9" * 5000 + "\n", "is no grade"),
        ("1\ta\t" + "0" * 12 + "9" * 5000 + "\n", "is no grade"),
        ("1\ta\t00000000000009999999999\n", "is no grade"),
        ("#1\ta\tx\n", "line 1: x is no grade"),
        ("1\ta\t1\n1\ta\t1\n1\ta\t0\n", "line 3: a has the grade 1 for topic 1 on a line above; keep one"),
    ],
)
def test_a_form_with_a_fault_is_refused_with_its_line(tmp_path, text, sentence):
    form = tmp_path / "form.tsv"
    form.write_text(text)
    with pytest.raises(InputError, match=sentence):
        list(read_form(form))


def test_a_form_that_is_missing_or_not_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="Cannot read"):
        list(read_form(tmp_path / "none.tsv"))
    (tmp_path / "bytes.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        list(read_form(tmp_path / "bytes.tsv"))


def test_a_topic_whose_id_begins_with_a_number_sign_is_no_comment(tmp_path):
    form = tmp_path / "form.tsv"
    form.write_text(form_text([Chosen("#1", "a", 2, "x")]))
    assert list(read_form(form)) == [("#1", "a", 2)]


def test_pools_from_python_are_those_of_the_command():
    runs = {"one": {"1": {"a": 2.0, "b": 1.0}}, "two": {"1": {"b": 2.0, "a": 1.0}}}
    found = engine.pool(runs, {"1": {"a": 1}}, method="change", budget=1)
    assert found == (Chosen("1", "b", None, "0.3691 for two over one"),)
    assert found.form().endswith("1\tb\t?\t0.3691 for two over one\n")
    assert engine.pool(runs, {"1": {"a": 1}}, depth=1)[0].grade == 1
    assert [each.docno for each in engine.pool(runs, depth=1)] == ["a", "b"]
    assert list(found.to_pandas()["docno"]) == ["b"]
    with pytest.raises(InputError, match="depth"):
        engine.pool(runs, depth=0)


def test_runs_and_judgements_of_other_topics_are_said():
    runs = {"one": {"1": {"a": 1.0}}, "two": {"X1": {"a": 1.0}}}
    with pytest.warns(engine.SublexWarning) as said:
        engine.pool(runs, {"Z": {"a": 1}}, depth=1)
    assert [str(each.message) for each in said] == [
        "two has no topic of one; use runs of the same topics.",
        "The judgements have no topic of one; use those of the same topics.",
    ]


# Bounds.


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.sampled_from(DOCS[:6]), unique=True, min_size=3), st.lists(st.sampled_from(DOCS[:6]), unique=True, min_size=3),
       st.dictionaries(st.sampled_from(DOCS[:6]), st.integers(0, 1), max_size=4), st.sampled_from(["P@3", "AP", "nDCG@3"]))  # fmt: skip
def test_bounds_are_those_of_all_judgements_that_could_be_made(one, other, judged, measure):
    judged["zz"] = 1  # a relevant document that neither finds, so that no topic is without one
    done = compare(
        systems_of(one, other), qrels_of("".join(f"1 0 {d} {g}\n" for d, g in judged.items())), names=[measure]
    )
    (found,) = done.bounds()
    names = dict(zip(("s0", "s1"), (one, other), strict=True))
    a, b = names[found.a], names[found.b]
    depth = 3 if "@" in measure else 10
    unjudged = [doc for doc in dict.fromkeys([*a[:depth], *b[:depth]]) if doc not in judged]
    assert (found.depth, found.unjudged) == (depth, len(unjudged))
    differences = []
    for chosen in itertools.product((0, 1), repeat=len(unjudged)):
        qrels = {"1": {**judged, **dict(zip(unjudged, chosen, strict=True))}}
        scores = [
            engine.measure(qrels, {"1": {d: float(-r) for r, d in enumerate(docs)}}, measure)[measure][0]
            for docs in (a, b)
        ]
        differences.append(float(scores[0] - scores[1]))
    assert any(found.best == pytest.approx(each) for each in differences)
    assert any(found.worst == pytest.approx(each) for each in differences)
    if measure == "P@3":
        assert (found.worst, found.best) == (pytest.approx(min(differences)), pytest.approx(max(differences)))


def test_bounds_say_whether_judging_could_reverse_the_order():
    done = compare(systems_of("abcd", "badc"), qrels_of("1 0 a 1\n1 0 b 0\n1 0 c 0\n1 0 d 0\n"), names=["RR"])
    assert done.bounds()[0].sentence() == "No document among the first 10 of s0 or s1 for each topic is unjudged."
    done = compare(systems_of("ax", "ya"), qrels_of("1 0 a 1\n"), names=["P@1"])
    assert done.bounds()[0].sentence() == (
        "1 document among the first 1 of s0 or s1 for each topic is unjudged, which could reverse their order: if those that favour "
        "s1 were relevant, both would have the same P@1; if those that favour s0 were, s0 would be ahead by 1.000 P@1."
    )
    done = compare(systems_of("abx", "zyw"), qrels_of("1 0 a 1\n1 0 b 1\n1 0 z 0\n1 0 y 0\n"), names=["P@3"])
    assert done.bounds()[0].is_safe and "which would not reverse their order" in str(done)


# Faces.


def test_pool_on_the_command_line(demo):
    demo("run", "demo", str(TOPICS), "-r", "BM25", "-r", "BM25 >> RM3 >> BM25", "-o", "runs")
    runs = ("runs/BM25.run", "runs/BM25_RM3_BM25.run")
    found = json.loads(
        demo("pool", *runs, "--budget", "7", "--method", "change", "--qrels", str(QRELS), "--format", "json")[1]
    )
    wanted = pool([System(r.tag, r) for r in map(engine.read_run, runs)], engine.read_qrels(QRELS), "change", budget=7)
    assert [tuple(each.values()) for each in found] == [tuple(each) for each in wanted] and len(found) == 7
    code, output, _ = demo("pool", *runs, "--depth", "2", "--qrels", str(QRELS), "-o", "form.tsv")
    assert code == 0 and output.startswith("form.tsv is a form: ")
    assert len(list(read_form(Path("form.tsv")))) == int(output.split()[-2])
    code, output, messages = demo("pool", *runs)
    assert (code, output) == (2, "") and "by --depth of each ranking, or by --budget in all" in messages


def test_a_form_is_judged_in_the_shell_and_taken_back(demo):
    Path("form.tsv").write_text("1\tbirds-05\t2\tx\n1\tbirds-06\t?\tx\n2\tbirds-07\t0\tx\n")
    code, output, messages = demo("shell", "demo", "-c", ":qrels mine.txt", "-c", ":judge --form form.tsv")
    assert code == 0 and "2 judgements of form.tsv written to mine.txt" in output, messages
    assert Path("mine.txt").read_text() == "1 0 birds-05 2\n2 0 birds-07 0\n"
    assert "no new judgement" in demo("shell", "demo", "-c", ":qrels mine.txt", "-c", ":judge --form form.tsv")[1]
    demo("shell", "demo", "-c", ":qrels mine.txt", "-c", ":unjudge")
    assert Path("mine.txt").read_text() == "1 0 birds-05 2\n"
    Path("bad.tsv").write_text("1\tbirds-08\t1\n1\tbirds-09\tgood\n")
    output, messages = demo("shell", "demo", "-c", ":qrels mine.txt", "-c", ":judge --form bad.tsv")[1:]
    assert "bad.tsv, line 2: good is no grade" in output + messages
    assert Path("mine.txt").read_text() == "1 0 birds-05 2\n", "a form with a fault writes nothing"
    Path("others.txt").write_text("1 0 birds-01 1\n")
    output, messages = demo("shell", "demo", "-c", ":qrels others.txt", "-c", ":judge --form form.tsv")[1:]
    assert "was not made by :judge" in output + messages and ":judge --write --form form.tsv" in output + messages
    assert Path("others.txt").read_text() == "1 0 birds-01 1\n"
    output, messages = demo("shell", "demo", "-c", ":qrels mine.txt", "-c", ":judge --form nowhere.tsv")[1:]
    assert "There is no form nowhere.tsv" in output + messages
