"""Slices: groups of topics, their figures, and the tests of whether a difference depends on the group."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from shared import DEMO, QRELS, TOPICS, qrels_of, run_of
from strategies import examples

import sublex as engine
from sublex.errors import InputError
from sublex.evaluation.grouping import GROUPS, grouped
from sublex.evaluation.topic_properties import clarity_of
from sublex.report.page import render_page
from sublex.retrieval.term_table import TermTable
from sublex.statistics.agreement import rbo
from sublex.statistics.corrections import holm
from sublex.statistics.interaction import interaction, welch_anova

RANDOM = np.random.default_rng(7)
VALUES, NUMBERS = RANDOM.normal(size=40), RANDOM.integers(0, 4, 40)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = engine.build(DEMO, tmp_path_factory.mktemp("slices") / "demo")
    made.fit("lda(k=5, iterations=20)")
    return made


@pytest.fixture(scope="module")
def comparison(index):
    return engine.compare(
        index, TOPICS, QRELS, ["BM25", "PL2", "BM25 >> RM3 >> BM25"], "AP RR", by=["length", "relevant"]
    )


def test_more_groups_than_topics_are_one_for_each_value():
    few, many = (grouped("x", [3.0, 1.0, 2.0, 1.0], groups) for groups in (4, 10**15))
    assert few.names == many.names == ("1", "2", "3") and many.numbers.tolist() == [2, 0, 1, 0]


def test_a_model_without_an_index_is_refused_with_what_is_missing(comparison):
    run = run_of({"1": {"a": 1.0}}, "r")
    with pytest.raises(
        InputError, match=r"--by lda\(k=20\) reads an index; use sublex compare with INDEX TOPICS QRELS"
    ):
        engine.compare(None, None, {"1": {"a": 1}}, run, by="lda(k=20)")


# Statistics.


def test_welchs_analysis_of_variance_is_that_of_statsmodels():
    from statsmodels.stats.oneway import anova_oneway

    parts = [VALUES[number == NUMBERS] for number in range(4)]
    assert welch_anova(parts) == pytest.approx(anova_oneway(parts, use_var="unequal").pvalue, rel=1e-9)
    assert welch_anova(parts[:2]) == pytest.approx(stats.ttest_ind(*parts[:2], equal_var=False).pvalue, rel=1e-9)
    assert welch_anova([*parts, np.array([5.0]), np.zeros(3)]) == welch_anova(parts), "they have no variance"
    assert math.isnan(welch_anova([parts[0], np.zeros(9)]))


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_each_group_is_tested_against_the_rest_as_scipy_does(test):
    found = interaction(VALUES, NUMBERS, test)
    alone = {"t": lambda a, b: stats.ttest_ind(a, b, equal_var=False), "wilcoxon": stats.mannwhitneyu}[test]
    for number in range(4):
        wanted = alone(VALUES[number == NUMBERS], VALUES[number != NUMBERS]).pvalue
        assert found.groups[number] == pytest.approx(wanted, rel=1e-9)
    if test == "wilcoxon":
        assert found.overall == pytest.approx(stats.kruskal(*(VALUES[k == NUMBERS] for k in range(4))).pvalue)


def test_the_randomisation_test_agrees_with_all_assignments():
    values, numbers = np.array([0.9, 0.8, 0.1, 0.0, 0.2, 0.1, 0.3]), np.array([0, 0, 0, 1, 1, 2, 2])

    def sums(order):
        return np.array([sum(values[k] - values.mean() for k in range(7) if order[k] == group) for group in range(3)])

    every = [sums(order) for order in set(itertools.permutations(numbers.tolist()))]
    sizes, observed = np.bincount(numbers), sums(numbers.tolist())
    found = interaction(values, numbers, "randomisation")
    for group in range(3):
        share = np.mean([abs(each[group]) >= abs(observed[group]) - 1e-9 for each in every])
        assert found.groups[group] == pytest.approx(share, abs=0.015)
    spread = [(each**2 / sizes).sum() for each in every]
    assert found.overall == pytest.approx(np.mean(np.array(spread) >= (observed**2 / sizes).sum() - 1e-9), abs=0.015)
    assert interaction(values, numbers, "randomisation")[0] == found[0], "the seed is fixed"
    assert interaction(values, numbers, "randomisation", seed=1)[0] != found[0]


def test_groups_without_variance_or_company_have_the_p_that_follows():
    found = interaction([0.0, 0, 0, 1, 1], [0, 0, 0, 1, 1])
    assert found.groups.tolist() == [0.0, 0.0] and math.isnan(found.overall)
    assert interaction([0.5] * 5, [0, 0, 0, 1, 1]).groups.tolist() == [1.0, 1.0]
    assert interaction([0.5] * 5, [0, 0, 0, 1, 1], "wilcoxon")[0] == 1
    lonely = interaction([0.1, 0.2, 0.4], [0, 0, 1])
    assert np.isnan(lonely.groups).all()
    assert math.isnan(interaction([0.1, 0.3], [0, 0]).overall)
    for values, numbers, test in (([1.0], [1], "t"), ([1.0, np.nan], [0, 1], "t"), ([1.0, 2.0], [0, 1], "z")):
        with pytest.raises(InputError):
            interaction(values, numbers, test)


# Groups.


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=30), st.integers(2, 5))
def test_numbers_make_groups_of_neighbours_with_equal_numbers_together(values, groups):
    found = grouped("x", [None if value is None else float(value) for value in values], groups)
    assert set(found.numbers.tolist()) == set(range(len(found.names)))
    by_value = {}
    for value, number in zip(values, found.numbers.tolist(), strict=True):
        assert by_value.setdefault(value, number) == number
    known = sorted(value for value in by_value if value is not None)
    assert [by_value[value] for value in known] == sorted(by_value[value] for value in known)
    assert len(set(map(by_value.get, known))) <= groups
    if None in by_value:
        assert found.names[by_value[None]] == "none" and by_value[None] not in [by_value[value] for value in known]
    for name, number in zip(found.names, range(len(found.names)), strict=True):
        inside = [value for value, own in by_value.items() if own == number and value is not None]
        assert not inside or name == (f"{min(inside)} to {max(inside)}" if len(set(inside)) > 1 else f"{inside[0]}")


def test_distinct_numbers_make_groups_of_about_equal_size():
    assert grouped("x", [float(k) for k in range(10)], 3).sizes.tolist() == [3, 3, 4]
    assert grouped("x", ["3", "1", "2", "10"], 2).names == ("1 to 2", "3 to 10"), (
        "texts that are numbers count as numbers"
    )
    texts = grouped("x", ["b", None, "a", "b", "b", "a"], GROUPS)
    assert texts.names == ("b", "a", "none") and texts.numbers.tolist() == [0, 2, 1, 0, 0, 1]


def test_a_field_with_a_text_for_each_topic_makes_no_groups():
    with pytest.raises(InputError, match="x has 4 different texts for 4 topics"):
        grouped("x", list("abcd"), 3)


# Figures.


def test_the_figures_of_groups_are_those_of_their_topics_alone(comparison, index):
    slices = comparison.slices[0]
    assert slices.by == "length" and [*map(len, slices.groups.values())] == [14, 16]
    texts = {topic.qid: topic.text for topic in engine.read_topics(TOPICS)}
    assert all(len(index.analyze(texts[qid])) == 1 for qid in slices.groups["1"])
    for measure in ("AP", "RR"):
        gains, p = comparison.scores(measure) - comparison.scores(measure)[0], []
        for row in slices.slices(measure):
            inside = np.isin(comparison.qids, slices.groups[row.group])
            place = comparison.names.index(row.system)
            assert row.topics == inside.sum() and row.mean == pytest.approx(
                comparison.scores(measure)[place, inside].mean()
            )
            if not place:
                assert row.difference is row.p is None
                continue
            assert row.difference == pytest.approx(gains[place, inside].mean())
            assert row.interval[0] <= row.difference <= row.interval[1]
            assert row.p == pytest.approx(
                stats.ttest_ind(gains[place, inside], gains[place, ~inside], equal_var=False).pvalue
            )
            p.append((row.p, row.corrected))
        # Two groups are one hypothesis for each system.
        assert [one for _, one in p[:2]] == pytest.approx(holm([one for one, _ in p[:2]]).tolist())
        assert p[:2] == p[2:]


def test_p_values_are_corrected_over_groups_and_systems(comparison):
    tested = [row for row in comparison.slices[1].slices() if row.p is not None]
    assert len(tested) == 6
    assert [row.corrected for row in tested] == pytest.approx(holm([row.p for row in tested]).tolist())
    overall = comparison.slices[1].overall()
    gains = comparison.scores("AP") - comparison.scores("AP")[0]
    alone = [interaction(row, comparison.slices[1].grouping.numbers).overall for row in gains[1:]]
    assert list(overall.values()) == pytest.approx(holm(alone).tolist())


def test_a_dependence_is_said_in_a_sentence_with_the_groups():
    one = {str(k): {"a": 1.0, "b": 2.0} for k in range(24)}
    two = {str(k): {"a": 1.0 + 2 * (k % 2 or k == 0), "b": 2.0} for k in range(24)}
    qrels = qrels_of("".join(f"{k} 0 a 1\n" for k in range(24)))
    by = {str(k): "odd" if k % 2 else "even" for k in range(24)}
    found = engine.compare(None, None, qrels, {"one": one, "two": two}, "RR P@1", by=by, test="randomisation").slices[0]
    (text,) = found.sentences()
    assert text.startswith("The gain of two over one in RR depends on group (p < .001)")
    assert "it is .500 for the group odd, and .042 for even" in text
    few = engine.compare(None, None, qrels, {"one": one, "two": two}, "RR", by={"0": "x", "1": "x"}).slices[0]
    assert few.remarks == ["Small groups, of fewer than 10 topics, say little: x."]
    assert [row[2] for row in few.table().rows] == ["2 (small)", "2 (small)", "22", "22"]


# Properties.


def test_properties_are_those_of_their_definitions(comparison, index):
    topics, qrels = engine.read_topics(TOPICS), engine.read_qrels(QRELS)

    def values(by):
        return comparison.sliced(by, 2).grouping

    relevant = [sum(grade > 0 for grade in qrels[qid].values()) for qid in comparison.qids]
    for by, wanted in (
        ("relevant", relevant),
        (
            "df",
            [
                np.mean([getattr(index.term(term), "df", 0) for term in topics[qid].text.split()])
                for qid in comparison.qids
            ],
        ),
        ("judged", [_judged(comparison, qid) for qid in comparison.qids]),
        ("agreement", [_agreement(comparison, qid) for qid in comparison.qids]),
    ):
        plain = grouped(by, wanted, 2)
        assert values(by).names == plain.names and values(by).numbers.tolist() == plain.numbers.tolist(), by


def _judged(comparison, qid):
    tops = [list(system.run[qid])[:10] for system in comparison.systems]
    found = [docno in comparison.qrels[qid] for top in tops for docno in top]
    return float(np.mean(found)) if found else None


def _agreement(comparison, qid):
    lists = [list(system.run[qid])[:100] for system in comparison.systems]
    return float(np.mean([rbo(a, b) for a, b in itertools.combinations(lists, 2)]))


def test_clarity_is_the_divergence_of_the_query_from_the_collection(index):
    counts = {
        document.docno: Counter(index.analyze(f"{document.title} {document.text}")) for document in index.documents()
    }
    collection = sum(counts.values(), Counter())
    tokens = collection.total()
    for text in ("crane", "river bank", "bow string instrument"):
        terms = [term for term in index.analyze(text) if term in collection]
        found = {docno: own for docno, own in counts.items() if any(term in own for term in terms)}
        assert len(found) <= 500
        models = {
            docno: {term: 0.6 * own[term] / own.total() + 0.4 * cf / tokens for term, cf in collection.items()}
            for docno, own in found.items()
        }
        chance = {docno: math.prod(model[term] for term in terms) for docno, model in models.items()}
        query = {term: sum(chance[d] * models[d][term] for d in models) / sum(chance.values()) for term in collection}
        wanted = sum(p * math.log2(p / (collection[term] / tokens)) for term, p in query.items())
        assert clarity_of(index, TermTable(index.snapshot), text) == pytest.approx(wanted, rel=1e-6)
    assert clarity_of(index, TermTable(index.snapshot), "zzzz") is None


def test_topics_are_grouped_by_the_label_of_their_relevant_documents(comparison, index):
    model = index.representation("lda(k=5, iterations=20)")
    found = comparison.sliced("lda(k=5, iterations=20)")
    for label, qids in found.groups.items():
        for qid in qids:
            docs = [index.doc(docno) for docno, grade in comparison.qrels[qid].items() if grade > 0]
            shares = sum(model.label_shares(np.array([doc])).toarray()[0] for doc in docs)
            assert model.labels[int(np.argmax(shares))] == label


def test_topics_are_grouped_by_their_fields(index, tmp_path):
    lines = [{"qid": topic.qid, "query": topic.text, "kind": "even" if int(topic.qid) % 2 == 0 else "odd", "length": "7"}
             for topic in engine.read_topics(TOPICS)]  # fmt: skip
    path = tmp_path / "topics.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = engine.compare(index, path, QRELS, ["BM25", "PL2"], "AP", by=["kind", "field:length", "length"])
    kind, field, length = done.slices
    assert set(kind.groups) == {"even", "odd"} and all(int(qid) % 2 for qid in kind.groups["odd"])
    assert list(field.groups) == ["7"] and len(length.groups) > 1


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        ("nope", "cannot be grouped by nope; there are length, df, clarity, relevant, judged, agreement"),
        ("lda(k=3)", "No lda"),
        ("field:nope", "No topic has a field nope; there are"),
        (3, "grouped by 3 .int.; give a name"),
    ],
)
def test_unknown_properties_are_refused_in_a_sentence(index, by, sentence):
    with pytest.raises(engine.SublexError, match=sentence):
        engine.compare(index, TOPICS, QRELS, ["BM25"], "AP", by=by)


def test_properties_that_need_an_index_or_topics_say_so():
    runs = [run_of({"1": {"a": 1.0}}, "x"), run_of({"1": {"a": 1.0}}, "y")]
    for by, sentence in (
        ("df", "reads an index"),
        ("length", "reads the topics"),
        ("lda(k=2)", "reads an index"),
        ("nope", "cannot be grouped"),
    ):
        with pytest.raises(InputError, match=sentence):
            engine.compare(None, None, qrels_of("1 0 a 1\n"), runs, "AP", by=by)
    with pytest.raises(InputError, match="compares systems"):
        engine.compare(None, None, qrels_of("1 0 a 1\n"), runs[:1], "AP", by="agreement")


# Faces.


def test_the_report_shows_each_slice_with_a_plot(comparison):
    page = render_page(comparison)
    assert "<h3>By length</h3>" in page and "<h3>By relevant</h3>" in page
    for row in comparison.slices[0].table().rows:
        assert all(f"{cell}</td>" in page for cell in row[2:])
    assert 'aria-label="gain over BM25 in AP with its interval, by system"' in page


def test_compare_groups_topics_on_the_command_line(demo):
    arguments = ("compare", "demo", str(TOPICS), str(QRELS), "-r", "BM25", "-r", "PL2", "-m", "AP")
    code, output, _ = demo(*arguments, "--by", "length", "--by", "relevant", "--groups", "2")
    assert code == 0 and "length  system" in output and "relevant  system" in output
    found = json.loads(demo(*arguments, "--by", "relevant", "--groups", "2", "--format", "json")[1])["slices"]
    assert len(found) == 1 and len(found[0]["groups"]) == 2
    assert found[0]["measures"]["AP"]["slices"][1]["system"] == "PL2"
    csv = demo(*arguments, "--by", "relevant", "--format", "csv")[1].splitlines()
    assert csv[0].startswith("by,group,system,topics,AP,difference") and csv[1].startswith("relevant,3,BM25,8 (small)")
    code, _, messages = demo(*arguments, "--by", "nope")
    assert code == 2 and "cannot be grouped by nope" in messages


def test_eval_groups_topics_on_the_command_line(demo):
    demo("run", "demo", str(TOPICS), "-r", "BM25", "-r", "PL2", "-o", "runs")
    arguments = ("eval", str(QRELS), "runs/BM25.run", "runs/PL2.run", "-m", "AP")
    found = json.loads(demo(*arguments, "--by", "relevant", "--groups", "2", "--format", "json")[1])
    qrels, alone = engine.read_qrels(QRELS), engine.measure(QRELS, "runs/BM25.run", "AP")
    relevant = np.array([sum(grade > 0 for grade in qrels[qid].values()) for qid in alone.qids])
    for name, each in found[0]["slices"]["relevant"].items():
        low, _, high = name.partition(" to ")
        inside = (relevant >= int(low)) & (relevant <= int(high or low))
        assert each == {"topics": inside.sum(), "measures": {"AP": pytest.approx(alone["AP"][inside].mean())}}
    code, output, _ = demo(*arguments, "--by", "length", "--topics", str(TOPICS))
    assert code == 0 and "length" in output and "(small)" not in output.splitlines()[0]
    assert "reads the topics" in demo(*arguments, "--by", "length")[2]
    assert "reads an index" in demo(*arguments, "--by", "df", "--topics", str(TOPICS))[2]
    Path("one.tsv").write_text("1\tcrane\n")
    assert (
        "Topic 2 is judged and is not among the topics" in demo(*arguments, "--by", "length", "--topics", "one.tsv")[2]
    )
