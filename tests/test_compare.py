"""Comparisons: their figures, their sentences and warnings, and the command with good and with bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from shared import DEMO, QRELS, TOPICS, qrels_of, run_of

import sublex as engine
from sublex.errors import SublexError
from sublex.evaluation.comparison import Plan, compare
from sublex.evaluation.systems import System

RANKERS = ["TFIDF", "BM25", "BM25 >> RM3 >> BM25"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return engine.build(DEMO, tmp_path_factory.mktemp("compare") / "demo")


@pytest.fixture(scope="module")
def comparison(index):
    return engine.compare(index, TOPICS, QRELS, RANKERS)


def test_a_comparison_has_the_figures_of_evaluations_and_tests(comparison, index):
    topics, qrels = engine.read_topics(TOPICS), engine.read_qrels(QRELS)
    assert comparison.names == tuple(RANKERS) and comparison.main == "AP" and len(comparison.qids) == 30
    for place, ranker in enumerate(RANKERS):
        alone = engine.measure(qrels, index.run(topics, ranker))
        np.testing.assert_array_equal(comparison.scores("AP")[place], alone["AP"])
        assert comparison.mean("nDCG@10")[place] == alone.mean["nDCG@10"]
        low, high = comparison.intervals["AP"][place]
        assert low < alone.mean["AP"] < high
    from scipy import stats

    first, second, _ = comparison.scores("AP")
    pair = comparison.pairs()[0]
    assert (pair.a, pair.b) == ("TFIDF", "BM25")
    assert pair.p == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert pair.wins + pair.losses + pair.ties == 30


def test_letters_sentences_and_tables_of_a_comparison(comparison):
    assert comparison.letters()[2].letter == "c" and comparison.letters()[2].beats == ("a", "b")
    assert len(comparison.sentences()) == 3 and len(comparison.headlines()) == 2
    assert any(text.startswith("BM25 >> RM3 >> BM25 beats TFIDF by") for text in comparison.headlines())
    table = comparison.table()
    assert table.head[:3] == ["", "system", "AP"]
    assert table.rows[2][1] == "BM25 >> RM3 >> BM25" and table.rows[2][2].endswith(" ab")
    assert (2, 2) in table.bold and (0, 2) not in table.bold
    assert "<table>" in comparison._repr_html_() and "AP over 30 topics" in repr(comparison)
    frame = pytest.importorskip("pandas") and comparison.to_pandas()
    assert frame.loc["BM25", "AP"] == comparison.mean("AP")[1]


def test_counts_are_shown_and_not_tested(comparison):
    assert "NumRel" in comparison.measures and "NumRel" not in comparison.tested
    assert "NumRel" not in comparison.intervals


def test_runs_alone_are_compared_without_an_index():
    runs = [run_of({"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}, "x"), run_of({"1": {"b": 2.0, "a": 1.0}}, "y")]
    qrels = "1 0 a 1\n2 0 a 1\n3 0 a 1\n"
    found = engine.compare(None, None, qrels_of(qrels), runs, "AP")
    assert found.scores("AP").tolist() == [[1.0, 1.0, 0.0], [0.5, 0.0, 0.0]]
    assert any("not in the run" in note for note in found.notes)


def test_judged_topics_outside_the_topic_file_are_left_out_with_a_note(index, tmp_path):
    (tmp_path / "some.tsv").write_text("1\tcrane\n2\tseal\n99\tbank\n")
    found = engine.compare(index, tmp_path / "some.tsv", QRELS, ["BM25"], "AP")
    assert found.qids == ("1", "2") and found.pairs() == [] and found.letters()[0].letter == "a"
    assert "28 of 30 judged topics are not among the topics and are left out." in found.notes


@pytest.mark.parametrize(
    ("systems", "options", "sentence"),
    [
        ([], {}, "nothing to compare"),
        (["BM25", "BM25(k1=1.2)"], {}, "Two systems have the name BM25; compare each system once"),
        (["BM25", "PL2"], {"alpha": 0}, "level"),
        (["BM25", "PL2"], {"measures": "NumRet"}, "Counts alone"),
        (["BM25", "PL2"], {"measures": "nope"}, "No measure nope"),
        (["BM25", "nope"], {}, "No component nope"),
    ],
)
def test_systems_and_measures_that_cannot_be_compared_are_refused_in_a_sentence(index, systems, options, sentence):
    with pytest.raises(SublexError, match=sentence):
        engine.compare(index, TOPICS, QRELS, systems, **options)
    with pytest.raises(SublexError, match="without an index"):
        engine.compare(None, None, QRELS, ["BM25"])


def test_unknown_tests_and_corrections_are_refused_in_a_sentence(index):
    for options in ({"test": "nope"}, {"correction": "nope"}):
        with pytest.raises(SublexError, match="No (test|correction) nope"):
            engine.compare(index, TOPICS, QRELS, ["BM25", "PL2"], "AP", **options)


def test_a_single_expression_is_a_system_too(index):
    assert engine.compare(index, TOPICS, QRELS, "BM25", "AP").names == ("BM25",)


def test_runs_of_different_depths_give_a_warning_unless_they_are_cut_at_one_depth(index):
    topics = engine.read_topics(TOPICS)
    deep, short = index.run(topics, "BM25 >> RM3 >> BM25"), index.run(topics, "PL2", 3)
    found = engine.compare(None, None, QRELS, [deep, short], "AP NumRet")
    assert any(note.startswith("PL2 has 3 hits a topic and BM25>>RM3>>BM25 has up to") for note in found.notes)
    same = engine.compare(None, None, QRELS, [deep, short], "AP NumRet", k=3)
    assert not any("hits a topic" in note for note in same.notes)
    assert same.mean("NumRet").max() <= 90


def test_judgements_without_a_relevant_document_give_a_warning():
    found = engine.compare(None, None, qrels_of("1 0 a 0\n"), [run_of({"1": {"a": 1.0}}, "x")], "AP")
    assert "No document is judged relevant, so every measure is 0." in found.notes


def test_topics_and_qrels_without_a_common_id_are_refused(index, tmp_path):
    (tmp_path / "other.tsv").write_text("q1\tcrane\n")
    with pytest.raises(SublexError, match="no id in common: the topics have q1; the qrels have 1, 2, 3"):
        engine.compare(index, tmp_path / "other.tsv", QRELS, ["BM25"])


def test_a_plan_chooses_test_and_correction():
    runs = [System(name, run_of({str(k): {"a": float((k * place) % 5), "b": 2.5} for k in range(1, 20)}, name))
            for place, name in enumerate(("x", "y", "z"), 1)]  # fmt: skip
    qrels = qrels_of("".join(f"{k} 0 a 1\n" for k in range(1, 20)))
    plain = compare(runs, qrels, names=["AP"], plan=Plan(correction="none"))
    cautious = compare(runs, qrels, names=["AP"], plan=Plan(correction="bonferroni"))
    other = compare(runs, qrels, names=["AP"], plan=Plan("wilcoxon", "none"))
    for a, b, c in zip(plain.pairs(), cautious.pairs(), other.pairs(), strict=True):
        assert b.corrected == min(1, 3 * a.p) and c.test == "wilcoxon"


# The command.


def test_compare_prints_tables_and_sentences(demo):
    arguments = ("compare", "demo", str(TOPICS), str(QRELS), "-r", "TFIDF", "-r", "BM25 >> RM3 >> BM25", "-m", "AP RR")
    code, output, messages = demo(*arguments)
    lines = output.splitlines()
    assert code == 0 and lines[0].split() == ["system", "AP", "RR"]
    assert "BM25 >> RM3 >> BM25" in lines[2] and lines[2].split()[-2] == "a"
    assert "95 % interval" in lines[4] and "better/same/worse" in lines[4] and "ms a topic" in lines[4]
    assert lines[-3].startswith("* BM25 >> RM3 >> BM25 beats TFIDF by")
    assert lines[-1].startswith(
        "* 95 documents among the first 10 of BM25 >> RM3 >> BM25 or TFIDF for each topic are unjudged"
    )
    assert "AP depends on the order of ties" in messages and "TFIDF 0.4911 (0.4860 to 0.4937)" in messages
    again = demo(*arguments)
    assert again[1] == output, "a cached run is used again, with the times of when it was made"
    assert demo(*arguments, "--fresh")[0] == 0


@pytest.mark.slow
def test_the_warning_about_ties_is_given_once_for_the_same_systems(index):
    compare = f"sublex.compare({str(index.path)!r}, {str(TOPICS)!r}, {str(QRELS)!r}, ['TFIDF', 'BM25'], 'AP')"
    lines = ["import sublex", compare, compare, "import warnings; warnings.simplefilter('always')", compare]
    for code, times in ((lines[:3], 1), (lines, 2)):
        ran = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=True)
        said = [line for line in ran.stderr.splitlines() if "SublexWarning" in line]
        assert len(said) == times, ran.stderr
        assert "AP depends on the order of ties. AP in trec_eval's (worst to best): TFIDF 0.4911 (" in said[0]


def test_compare_in_other_forms(demo, tmp_path):
    arguments = ("compare", "demo", str(TOPICS), str(QRELS), "-r", "BM25", "-r", "PL2", "-m", "AP", "--format")
    found = json.loads(demo(*arguments, "json")[1])
    assert [system["name"] for system in found["systems"]] == ["BM25", "PL2"]
    assert found["pairs"][0]["a"] == "BM25" and 0 <= found["pairs"][0]["corrected"] <= 1
    assert len(found["systems"][0]["by topic"]) == found["topics"] == 30
    assert "**" in demo(*arguments, "markdown")[1] and "\\textbf" in demo(*arguments, "latex")[1]
    assert demo(*arguments, "csv")[1].splitlines()[0] == ",system,AP"


def test_compare_takes_run_files_with_and_without_an_index(demo):
    demo("run", "demo", str(TOPICS), "-r", "BM25", "-r", "PL2", "-o", "runs")
    code, output, _ = demo("compare", str(QRELS), "runs/BM25.run", "runs/PL2.run", "-m", "AP")
    assert code == 0 and [line.split()[1] for line in output.splitlines()[1:3]] == ["BM25", "PL2"]
    code, output, _ = demo("compare", "demo", str(TOPICS), str(QRELS), "runs/PL2.run", "-r", "DPH", "-m", "AP")
    assert code == 0 and [line.split()[1] for line in output.splitlines()[1:3]] == ["DPH", "PL2"]


def test_a_ranker_that_cannot_be_run_stops_before_anything_is_run(demo):
    code, output, messages = demo(
        "compare", "demo", str(TOPICS), str(QRELS), "-r", "BM25", "-r", "BM52", "-r", "PL2", "-m", "AP", "-o", "x.html"
    )
    assert (code, output) == (2, "") and "did you mean BM25?" in messages and not Path("x.html").exists()


def test_a_report_replaces_reports_and_nothing_else(demo):
    arguments = ("compare", "demo", str(TOPICS), str(QRELS), "-r", "BM25", "-m", "AP", "-o")
    Path("notes.html").write_text("mine")
    code, output, messages = demo(*arguments, "notes.html")
    assert (
        (code, output) == (2, "")
        and "nothing shows that Sublex wrote it" in messages
        and Path("notes.html").read_text() == "mine"
    )
    assert demo(*arguments, "report.html")[0] == demo(*arguments, "report.html")[0] == 0
    assert "does not end in .html or .htm" in demo(*arguments, "report.txt")[2]
    assert demo(*arguments, "notes.html/x.html")[0] == demo(*arguments, "")[0] == demo(*arguments, "x" * 300)[0] == 2


def test_runs_with_the_same_tag_are_named_by_their_files(demo):
    demo("run", "demo", str(TOPICS), "-r", "BM25", "-o", "runs")
    Path("copy.run").write_bytes(Path("runs/BM25.run").read_bytes())
    code, output, _ = demo("compare", str(QRELS), "runs/BM25.run", "copy.run", "-m", "AP")
    assert code == 0 and [line.split()[1] for line in output.splitlines()[1:3]] == ["runs/BM25.run", "copy.run"]
    code, output, _ = demo("compare", "demo", str(TOPICS), str(QRELS), "copy.run", "-r", "BM25", "-m", "AP")
    assert code == 0 and [line.split()[1] for line in output.splitlines()[1:3]] == ["BM25", "copy.run"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Missing argument"),
        ((str(QRELS),), "nothing to compare"),
        (("demo", str(TOPICS), str(QRELS)), "nothing to compare"),
        (("demo", str(TOPICS), "-r", "BM25"), "Name INDEX TOPICS QRELS"),
        (("nowhere", str(TOPICS), str(QRELS), "-r", "BM25"), "nowhere"),
        (("demo", str(TOPICS), str(TOPICS), "-r", "BM25"), "1 column where"),
        (
            ("demo", str(TOPICS), str(QRELS), "-r", "BM25", "-o", "no/such/place.html"),
            "There is no folder no/such for place.html",
        ),
        (("demo", str(TOPICS), str(QRELS), "-r", "BM25", "--alpha", "2"), "level"),
    ],
)
def test_compare_refuses_bad_input_in_a_sentence(demo, arguments, sentence):
    code, _, messages = demo("compare", *arguments)
    assert code == 2 and sentence in messages and "Traceback" not in messages


def test_a_tiny_p_is_never_printed_as_zero(sublex):
    topics = range(30)
    Path("q.txt").write_text("".join(f"{k} 0 a 1\n{k} 0 b 0\n" for k in topics))
    for name, docno in (("good", "a"), ("bad", "b")):
        Path(f"{name}.run").write_text("".join(f"{k} Q0 {docno} 1 1 {name}\n" for k in topics))
    code, output, _ = sublex("compare", "q.txt", "good.run", "bad.run", "-m", "AP", "-o", "r.html")
    row = next(line for line in output.splitlines() if "-1.0000" in line)
    assert code == 0 and row.split("-1.0000")[1].split()[:2] == ["<", ".0001"]
    assert '<td class="n best">&lt; .0001</td>' in Path("r.html").read_text()


def test_the_note_about_ties_names_three_systems_and_counts_the_others(demo):
    rankers = [word for b in (0.1, 0.2, 0.3, 0.4, 0.5) for word in ("-r", f"BM25(b={b})")]
    messages = demo("compare", "demo", str(TOPICS), str(QRELS), *rankers, "-m", "AP")[2]
    assert messages.count("BM25(b=") == 3 and messages.endswith(" and 2 others.\n")
