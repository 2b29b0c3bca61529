"""Studies: figures equal to those of the commands, what runs again after which change, kills, checks, mistakes and hostile files."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import signal
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from child import Child
from shared import DEMO, QRELS, TOPICS
from strategies import ALL

import sublex as engine
from sublex.errors import InputError
from sublex.studies import identity, study_file
from sublex.studies.begin import begin_study
from sublex.studies.store import StudyStore, file_name
from sublex.studies.study_file import read_study, study_of
from sublex.studies.study_lock import read_lock
from sublex.studies.toml_lines import read_toml
from sublex.tools.outputs import LINE, is_sealed, sealed

MINIMAL = """
[collections]
demo = "documents.jsonl"
[topics]
file = "topics.trec"
qrels = "qrels.txt"
[systems]
BM25 = "BM25"
PL2 = "PL2"
"""
# The lines of a study whose parts are changed one by one.
WHOLE = """title = "The demo"
[collections]
demo = "documents.jsonl"
[models]
meaning = "lsi(e=5)"
[topics]
file = "topics.trec"
qrels = "qrels.txt"
[systems]
BM25 = "BM25"
latent = "BM25 + 0.3*meaning"
tuned = "BM25(b={0.2,0.7})"
[compare]
measures = ["AP", "P@10"]
[tune]
folds = 3
"""
EVERYTHING = {
    "index demo", "fit demo/lsi(e=5)", "comparison demo",
    *(f"{kind} demo/{name}" for kind in ("run", "measures") for name in ("BM25", "latent", "tuned")),
}  # fmt: skip


def write_files(folder: Path, text: str = MINIMAL) -> Path:
    folder.mkdir(exist_ok=True)
    for source in (DEMO, TOPICS, QRELS):
        shutil.copy(source, folder)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


@pytest.fixture
def study(tmp_path):
    """A function that writes a study with the files of the demo collection, and returns its path."""
    return lambda text=MINIMAL: write_files(tmp_path / "own", text)


@pytest.fixture(scope="module")
def finished_once(tmp_path_factory):
    file = write_files(tmp_path_factory.mktemp("finished") / "own", WHOLE)
    found = engine.study(file)
    assert set(found.done) == EVERYTHING and not found.failures
    return file.parent


@pytest.fixture
def finished(finished_once, tmp_path):
    """The file of a study that has run, for one test to change."""
    shutil.copytree(finished_once, tmp_path / "own")
    return tmp_path / "own" / "study.toml"


# Figures.


def test_the_smallest_study_has_the_figures_of_compare(study, built_demo):
    found = engine.study(study())
    expected = engine.compare(engine.open(built_demo), TOPICS, QRELS, ["BM25", "PL2"])
    assert found["demo"].measures == expected.measures
    for place, system in enumerate(found["demo"].systems):
        assert system.means == expected.evaluations[place].mean
        assert np.array_equal(system.values, expected.evaluations[place].values)
    # The last column of the second table has milliseconds.
    assert found["demo"].parts[0] == expected.parts()[0]
    assert [row[:-1] for row in found["demo"].parts[1].rows] == [tuple(row[:-1]) for row in expected.parts()[1].rows]
    assert found.comparison().sentences() == expected.sentences()
    frame = found.to_pandas()
    assert frame.loc[("demo", "PL2"), "AP"] == expected.mean("AP")[1]
    assert found.by_topic()["AP"].tolist() == expected.scores("AP").ravel().tolist()


def test_options_of_compare_reach_the_comparison(study, built_demo):
    more = '[compare]\nmeasures = ["P@5", "AP"]\ntest = "wilcoxon"\ncorrection = "bh"\n'
    more += 'alpha = 0.2\nseed = 3\nk = 7\nby = ["length"]\ngroups = 2\n'
    found = engine.study(
        study(MINIMAL.replace('PL2 = "PL2"', 'PL2 = {expression = "BM25", profile = "terrier"}') + more)
    )
    index = engine.open(built_demo)
    runs = {"BM25": index.run(TOPICS, "BM25", 7), "PL2": index.run(TOPICS, "BM25", 7, profile="terrier")}
    expected = engine.compare(
        index, TOPICS, QRELS, runs, "P@5 AP", test="wilcoxon", correction="bh", alpha=0.2, seed=3, by="length", groups=2
    )
    assert found["demo"].parts[0] == expected.parts()[0]
    assert found.comparison().sentences() == expected.sentences()
    assert [each.table() for each in found.comparison().slices] == [each.table() for each in expected.slices]


def test_a_tuned_system_has_each_topic_by_the_setting_that_the_other_folds_chose(finished):
    found = engine.study(finished)
    index = engine.open(finished.parent / "study-study" / "indexes" / "demo")
    tuning = engine.tune(index, TOPICS, QRELS, "BM25(b={0.2,0.7})", folds=3)
    (system,) = [each for each in found["demo"].systems if each.name == "tuned"]
    held_out = dict(zip(tuning.qids, tuning.held_out.tolist(), strict=True))
    assert dict(zip(found["demo"].qids, system.values[:, 0].tolist(), strict=True)) == pytest.approx(held_out)
    assert system.means["AP"] == pytest.approx(tuning.cross_validated)
    run = engine.read_run(finished.parent / "study-study" / "runs" / "demo" / "tuned.run.gz")
    for fold in tuning.folds:
        alone = index.run({qid: engine.read_topics(TOPICS)[qid].text for qid in fold.qids}, fold.setting.tree)
        assert all(list(run.get(qid, {}).items()) == list(alone[qid].items()) for qid in fold.qids)


def test_the_folder_has_runs_measures_a_report_and_a_lock(finished):
    folder = finished.parent / "study-study"
    import pyarrow.parquet

    rows = (folder / "measures.csv").read_text().splitlines()
    assert rows[0] == "topics,system,qid,AP,P@10" and len(rows) == 1 + 3 * 30
    assert pyarrow.parquet.read_table(folder / "measures.parquet").num_rows == 90
    assert "BM25 + 0.3*lsi(e=5)" in (folder / "runs" / "demo" / "latent.run.gz.yaml").read_text()
    lock = read_lock(StudyStore(folder))
    assert lock["systems"]["demo"] == {"BM25": "BM25", "latent": "BM25 + 0.3*lsi(e=5)", "tuned": "BM25(b={0.2,0.7})"}
    assert set(lock["plugins"]) == {"rankers", "lsi"} and lock["indexes"]["demo"]["documents"] == 252
    assert {"versions", "collections", "figures", "machine", "seconds"} <= lock.keys()
    assert is_sealed(folder / "report.html") and is_sealed(folder / "reports" / "demo.html")


def test_several_collections_and_sets_of_topics_have_tables_of_their_own(study):
    text = """
[collections]
one = "documents.jsonl"
two = {documents = ["documents.jsonl"], reader = "jsonl"}
[indexes]
plain = {collection = "two", analyzer = "plain"}
[topics.one]
file = "topics.trec"
qrels = "qrels.txt"
[topics.wordy]
index = "plain"
file = "topics.trec"
qrels = "qrels.txt"
fields = "desc"
[systems]
BM25 = "BM25"
PL2 = {expression = "PL2", topics = ["wordy"]}
[compare]
measures = ["AP", "P@5"]
[tables.both]
measures = ["AP"]
systems = ["BM25"]
tolerance = 0.01
published.BM25 = {one = 0.49, wordy = 0.9}
[tables.wide]
[plots.line]
x = {BM25 = 1, PL2 = 2}
"""
    found = engine.study(study(text))
    own = engine.open(study(text).parent / "study-study" / "indexes" / "plain")
    expected = engine.compare(own, engine.read_topics(TOPICS, "desc"), QRELS, ["BM25", "PL2"], "AP")
    assert [found.value("wordy", name, "AP") for name in ("BM25", "PL2")] == pytest.approx(expected.mean("AP").tolist())
    assert own.snapshot.analyzer_expression == "plain"
    assert [system.name for system in found["one"].systems] == ["BM25"]
    both, wide = found.study.tables
    assert list(found.table(both).head) == ["system", "one", "wordy"]
    assert list(found.table(wide).head) == ["system", "one AP", "one P@5", "wordy AP", "wordy P@5"]
    assert [each.verdict for each in found.published] == ["as published", "disagrees"]
    # PL2 does not run on the other topics.
    assert found.table(wide).rows[1][1] == "-" and "<polyline" in (found.folder / "report.html").read_text()


def test_a_run_of_another_program_is_a_system_too(study, built_demo):
    file = study(MINIMAL.replace('PL2 = "PL2"', 'other = {run = "other.run"}'))
    engine.open(built_demo).run(TOPICS, "DPH", 20).write(file.parent / "other.run")
    found = engine.study(file)
    expected = engine.measure(QRELS, file.parent / "other.run").mean
    assert found["demo"].system("other").means == expected
    engine.open(built_demo).run(TOPICS, "BM25", 20).write(file.parent / "other.run", overwrite=True)
    again = engine.study(file)
    assert set(again.done) == {"measures demo/other", "comparison demo"}


def test_an_index_that_is_named_by_its_path_is_read_and_never_changed(study, index, tmp_path):
    text = MINIMAL.replace('[collections]\ndemo = "documents.jsonl"', '[indexes]\ndemo = "../demo"')
    file = study(text.replace('"PL2"', '"BM25 + lsi(e=5)"'))
    before = {path: path.stat().st_mtime_ns for path in index.path.rglob("*")}
    with pytest.warns(engine.SublexWarning, match=r"line 9: lsi\(e=5\) is not fitted to .*; run: sublex fit"):
        found = engine.study(file, allow=[tmp_path / "demo"])
    assert found["demo"].system("BM25") and not found["demo"].system("PL2")
    assert before == {path: path.stat().st_mtime_ns for path in index.path.rglob("*")}
    index.fit("lsi(e=5)")
    assert "run demo/PL2" in engine.study(file, allow=[tmp_path / "demo"]).done


def test_a_published_order_holds_unless_a_pair_is_inverted_significantly(study):
    from scipy.stats import ttest_rel

    text = """
poor = "BM25(k1=0)"
[compare]
measures = ["AP", "R@1000"]
alpha = 0.1
[claims.holds]
title = "Feedback finds more"
higher = ["feedback"]
lower = ["BM25", "PL2", "poor"]
measure = "R@1000"
source = "table 1"
[claims.fails]
higher = ["BM25", "PL2"]
lower = ["feedback"]
measure = "R@1000"
[claims.open]
higher = ["PL2"]
lower = ["BM25"]
[claims.missing]
higher = ["BM25"]
lower = ["none"]
[untested.rest]
title = "The rest"
why = "the data are licensed"
"""
    file = study(f"differs = 'The data.'\n{MINIMAL}feedback = 'BM25 >> RM3 >> BM25'\nnone = 'nothing'{text}")
    with pytest.warns(engine.SublexWarning):
        found = engine.study(file)
    _, fails, left, _ = found.claims
    verdicts = [claim.verdict for claim in found.claims]
    assert verdicts == ["same order", "disagrees", "same order", "not measured"]
    scores = {each.name: each.values for each in found["demo"].systems}
    p = [ttest_rel(scores[name][:, 1], scores["feedback"][:, 1]).pvalue for name in ("BM25", "PL2")]
    # Holm: the smaller p counts twice, and the larger one at least as much.
    low, high = min(1, 2 * min(p)), max(min(1, 2 * min(p)), max(p))
    assert sorted(order.corrected for order in fails.orders) == pytest.approx([low, high])
    assert [order.difference for order in fails.orders] == pytest.approx(
        [scores[name][:, 1].mean() - scores["feedback"][:, 1].mean() for name in ("BM25", "PL2")]
    )
    assert len(fails.inversions) == 2 and left.orders[0].difference < 0 and not left.inversions
    rows = found.claims_table().rows
    assert rows[0] == ["Feedback finds more", "table 1", "R@1000", "3 of 3", "0", "same order"]
    assert found.untested_table().rows == [["The rest", "", "not testable: the data are licensed"]]
    page = (found.folder / "report.html").read_text()
    assert "Feedback finds more" in page and "The data." in page and "the data are licensed" in page
    assert found.lock["claims"] == {
        "holds": "same order",
        "fails": "disagrees",
        "open": "same order",
        "missing": "not measured",
    }


def test_many_inverted_pairs_are_one_sentence():
    from sublex.studies.results import Claim, Order, _inversions
    from sublex.studies.study_plans import ClaimPlan

    plan = ClaimPlan("c", "A above B", ("a",), ("b",), "AP", ("demo",))
    orders = [Order("demo", "a", f"b{k}", -0.1 * k, 0.01 * k) for k in range(1, 5)] + [
        Order("demo", "a", "b", 0.1, 0.01)
    ]
    assert _inversions(Claim(plan, tuple(orders[1:]), 0.05, ())) == [
        f"A above B: on demo, b{k} is above a by {0.1 * k:.4f} (corrected p {0.01 * k:.4f})." for k in (2, 3, 4)
    ]
    (text,) = _inversions(Claim(plan, tuple(orders), 0.05, ()))
    assert text == "A above B: 4 of 5 pairs are inverted, by 0.1000 to 0.4000 (highest corrected p 0.0400)."


# What runs again.


def test_a_second_run_does_nothing(finished):
    state = {
        path: path.read_bytes() for path in (finished.parent / "study-study" / "runs").rglob("*") if path.is_file()
    }
    found = engine.study(finished)
    assert found.done == () and set(found.kept) == EVERYTHING - {
        name for name in EVERYTHING if name.startswith("measures")
    }
    assert all(path.read_bytes() == data for path, data in state.items())


def replaced(name, before, after):
    def change(folder):
        text = (folder / name).read_text()
        assert before in text
        (folder / name).write_text(text.replace(before, after, 1))

    return change


RUNS = {name for name in EVERYTHING if name.startswith("run")}
MEASURED = {name for name in EVERYTHING if name.startswith("measures")} | {"comparison demo"}
CHANGES = {
    "a comment": (replaced("study.toml", "[models]", "# A comment.\n[models]"), set()),
    "the title": (replaced("study.toml", "The demo", "Another"), set()),
    "a date": (lambda folder: os.utime(folder / "documents.jsonl", (1, 1)), set()),
    "an expression": (
        replaced("study.toml", 'BM25 = "BM25"', 'BM25 = "BM25(b=0.3)"'), {"run demo/BM25", "measures demo/BM25", "comparison demo"},
    ),
    "another spelling of an expression": (replaced("study.toml", 'BM25 = "BM25"', 'BM25 = "BM25( k1 = 1.2 )"'), set()),
    "a model": (
        replaced("study.toml", "lsi(e=5)", "lsi(e=6)"),
        {"fit demo/lsi(e=6)", "run demo/latent", "measures demo/latent", "comparison demo"},
    ),
    "the order of systems": (
        replaced("study.toml", 'BM25 = "BM25"\nlatent = "BM25 + 0.3*meaning"', 'latent = "BM25 + 0.3*meaning"\nBM25 = "BM25"'),
        {"comparison demo"},
    ),
    "a measure": (replaced("study.toml", '"P@10"', '"P@5"'), MEASURED),
    "a test": (replaced("study.toml", "[tune]", 'test = "wilcoxon"\n[tune]'), {"comparison demo"}),
    "the folds": (replaced("study.toml", "folds = 3", "folds = 4"), {"run demo/tuned"}),  # The folds choose alike, so the run stays.
    "the hits of a run": (replaced("study.toml", "[tune]", "k = 5\n[tune]"), RUNS | MEASURED),
    "the text of a topic": (replaced("topics.trec", "<title> crane", "<title> crane river"), RUNS | MEASURED),
    "a field of the topics that is not used": (replaced("topics.trec", "the tall wading birds", "wading birds"), set()),
    "a judgement": (
        lambda folder: (folder / "qrels.txt").write_text((folder / "qrels.txt").read_text() + "1 0 zzz 1\n"),
        {"run demo/tuned"} | MEASURED,
    ),
    "a document": (replaced("documents.jsonl", "crane", "heron"), EVERYTHING),
    "an option of the index": (
        replaced("study.toml", "[models]", '[indexes]\ndemo = {analyzer = "english(stop=none)"}\n[models]'), EVERYTHING,
    ),
    "a run that is gone": (
        lambda folder: (folder / "study-study/runs/demo/BM25.run.gz").unlink(), {"run demo/BM25"},
    ),
    "a report that is gone": (lambda folder: (folder / "study-study/reports/demo.html").unlink(), {"comparison demo"}),
    "an index that is gone": (lambda folder: shutil.rmtree(folder / "study-study/indexes/demo"), {"index demo", "fit demo/lsi(e=5)"}),
    "a damaged record": (
        lambda folder: next((folder / "study-study/state").glob("comparison*")).write_text("{"), {"comparison demo"},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_runs_again_what_depends_on_it_and_nothing_else(finished, name):
    change, expected = CHANGES[name]
    change(finished.parent)
    found = engine.study(finished)
    assert set(found.done) == expected and not found.failures
    assert engine.study(finished).done == ()


def test_another_source_of_a_plugin_fits_and_runs_again_what_uses_it(finished, monkeypatch):
    source = identity.source_hash
    monkeypatch.setattr(identity, "source_hash", lambda module: source(module) + "x" * (module == "sublex_lsi"))
    assert set(engine.study(finished).done) == {"fit demo/lsi(e=5)", "run demo/latent"}
    assert engine.study(finished).done == ()


def test_another_version_of_a_package_runs_everything_again(finished, monkeypatch):
    versions = identity.versions
    for module in ("steps", "run_study"):
        place = __import__(f"sublex.studies.{module}", fromlist=["x"])
        if hasattr(place, "versions"):
            monkeypatch.setattr(
                place, "versions", lambda packages=identity.ENGINE: {**versions(packages), "numpy": "0"}
            )
    assert set(engine.study(finished).done) >= {"index demo", "fit demo/lsi(e=5)", *RUNS}


def test_the_source_of_a_plugin_is_all_its_files(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine_one.py").write_text("a = 1\n")
    (tmp_path / "mine_many").mkdir()
    (tmp_path / "mine_many" / "__init__.py").write_text("")
    (tmp_path / "mine_many" / "part.py").write_text("b = 1\n")
    before = [identity.source_hash.__wrapped__(name) for name in ("mine_one", "mine_many")]
    (tmp_path / "mine_one.py").write_text("a = 2\n")
    (tmp_path / "mine_many" / "part.py").write_text("b = 2\n")
    after = [identity.source_hash.__wrapped__(name) for name in ("mine_one", "mine_many")]
    assert all(before) and not set(before) & set(after)


def test_a_system_that_fails_is_tried_again_and_leaves_the_others_alone(study):
    file = study(MINIMAL + 'broken = "BM25 >> nothing"\nlatent = "BM25 + lsi(e=100000)"\n')
    with pytest.warns(engine.SublexWarning) as warned:
        found = engine.study(file)
    assert [str(w.message) for w in warned] and found.value("demo", "broken", "AP") is None
    assert re.match(r".*study\.toml, line 10: No component nothing", found["demo"].systems[2].failure)
    assert "line 11: " in found["demo"].systems[3].failure
    assert found.overview().rows[2][2:] == ["failed"] * 8 and np.isnan(found.to_pandas().loc[("demo", "broken"), "AP"])
    assert "No component nothing" in (found.folder / "report.html").read_text()
    file.write_text(MINIMAL + 'broken = "BM25 >> RM3 >> BM25"\n')
    assert set(engine.study(file).done) == {"run demo/broken", "measures demo/broken", "comparison demo"}


# Kills.


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_nothing_that_was_finished(finished_once, tmp_path):
    file = write_files(tmp_path / "own", WHOLE)
    out, rng = tmp_path / "own" / "study-study", random.Random(7)
    seen: dict[str, bytes] = {}
    for _ in range(60 if ALL else 20):
        ended = Child(partial(run_and_die_at, file, rng.randrange(1, 12))).wait()
        state = {path.name: path.read_bytes() for path in (out / "state").glob("*.json")}
        assert all(json.loads(data) for data in state.values())
        finished = {name for name in seen if name.startswith(("index", "fit", "run", "comparison"))}
        assert all(state.get(name) == seen[name] for name in finished)
        seen = state
        if not ended.signal:
            break
        assert ended.signal == "SIGKILL"
    found = engine.study(file)
    assert found.lock["figures"] == read_lock(StudyStore(finished_once / "study-study"))["figures"]
    assert ended.signal or found.done == ()
    assert engine.study(file).done == ()


def run_and_die_at(file: Path, number: int) -> None:
    """Run a study, and kill this process before its nth rename, or right after it, by which every file and every record takes its place."""
    rename, calls, after = os.rename, [0], number % 2

    def renamed(*arguments, **options):
        calls[0] += 1
        if calls[0] == number and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*arguments, **options)
        if calls[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    os.rename = renamed
    engine.study(file)


def test_two_studies_at_once_do_not_share_a_folder(finished):
    with (
        StudyStore(finished.parent / "study-study").opened(""),
        pytest.raises(InputError, match="Another process runs a study"),
    ):
        engine.study(finished)


# Checks.


def change_lock(folder: Path, before: str, after: str) -> None:
    text = (folder / "study.lock").read_text()
    body = text[: text.rindex("# sublex.written")]
    assert before in body
    (folder / "study.lock").write_bytes(sealed(body.replace(before, after, 1), LINE))


@pytest.mark.slow
def test_a_check_says_which_figures_moved(command, finished):
    folder = finished.parent / "study-study"
    code, output, _ = command("study", str(finished), "--check")
    assert (code, output) == (0, "No figure moved, of 6; compared with study.lock.\n") and not (
        folder / "check"
    ).exists()
    found = engine.study(finished).value("demo", "BM25", "AP")
    before = (folder / "study.lock").read_bytes()
    change_lock(folder, f"AP: {found!r}", f"AP: {found + 0.0002!r}")
    code, output, _ = command("study", str(finished), "--check")
    assert code == 1 and "demo, BM25, AP: " in output and output.endswith("1 figure moved; compared with study.lock.\n")
    change_lock(folder, f"AP: {found + 0.0002!r}", f"AP: {found + 0.00002!r}")
    assert command("study", str(finished), "--check").code == 0
    (folder / "study.lock").write_bytes(before)
    # Seconds and the machine never count; a system that is gone does.
    change_lock(folder, "machine: ", "machine: another, ")
    change_lock(folder, "this run: ", "this run: 9")
    assert command("study", str(finished), "--check").code == 0
    finished.write_text(WHOLE.replace('BM25 = "BM25"\n', 'BM26 = "BM25"\n'))
    code, output, _ = command("study", str(finished), "--check")
    assert code == 1 and "demo, BM25, AP: nothing now" in output and "demo, BM26, AP: " in output


def test_a_check_compares_with_expected_figures_and_not_with_published_ones(command, study):
    text = MINIMAL + '[tables.one]\nmeasures = "AP"\ntolerance = 0.01\npublished.BM25 = 0.1\nexpected.BM25 = 0.49\n'
    file = study(text)
    assert command("study", str(file), "--check").code == 0
    assert (file.parent / "study-study" / "study.lock").exists()
    file.write_text(text.replace("0.49", "0.51"))
    code, output, _ = command("study", str(file), "--check")
    assert code == 1 and output.startswith("* one, BM25, AP: ")
    file.write_text(MINIMAL)
    shutil.rmtree(file.parent / "study-study")
    code, _, said = command("study", str(file), "--check")
    assert code == 2 and "so there is nothing to compare with" in said


def test_a_lock_of_another_version_or_changed_by_hand_is_refused(finished):
    folder = finished.parent / "study-study"
    change_lock(folder, "lock: 1", "lock: 2")
    with pytest.raises(InputError, match="has version 2, and this Sublex reads version 1"):
        engine.study(finished)
    change_lock(folder, "lock: 2", "lock: 1")
    (folder / "study.lock").write_text((folder / "study.lock").read_text().replace("252", "253"))
    with pytest.raises(InputError, match="nothing shows that a study wrote them"):
        engine.study(finished)


def test_a_plan_writes_nothing_and_says_what_a_run_then_does(command, study):
    file = study(WHOLE)
    code, output, _ = command("study", str(file), "--plan")
    assert code == 0 and not (file.parent / "study-study").exists()
    assert "163 kB" in output and re.search(r"^run demo/BM25 +new", output, re.M) and "4 steps of 4 to do" in output
    assert "Models to fit are listed when their index is there." in output
    code, output, _ = command("study", str(file))
    assert code == 0 and "5 steps done, 0 steps kept" in output
    code, output, _ = command("study", str(file), "--plan")
    assert "0 steps of 5 to do." in output
    file.write_text(WHOLE.replace("lsi(e=5)", "lsi(e=6)"))
    plan = json.loads(command("study", str(file), "--plan", "--format", "json").output)
    states = {step["step"]: step["state"] for step in plan["steps"]}
    assert states["fit demo/lsi(e=6)"] == "new" and states["run demo/latent"] == "after its models"
    assert {name for name, state in states.items() if state == "kept"} == {
        "index demo",
        "run demo/BM25",
        "tune demo/tuned",
    }
    file.write_text(WHOLE.replace("b={0.2,0.7}", "b={0.2,0.6}"))
    assert re.search(r"^tune demo/tuned +expression changed", command("study", str(file), "--plan").output, re.M)


# Mistakes.

MISTAKES = {
    "[collections": "line 1: this is no TOML: ",
    MINIMAL.replace("qrels =", "judgements ="): r"line 6: \[topics\] has no key judgements; ",
    MINIMAL.replace("[systems]", "[system]"): r"line 7: the study has no key system; did you mean systems\? There are: ",
    MINIMAL.replace('qrels = "qrels.txt"', ""): r"line 4: \[topics\] has topics and no judgements; add qrels",
    MINIMAL.replace('file = "topics.trec"', ""): r"line 4: \[topics\] has judgements and no topics; add file",
    MINIMAL.replace("documents.jsonl", "none.jsonl"): r"line 3: there is no none.jsonl in .*own; correct the path, or name a folder by",
    MINIMAL.replace("topics.trec", "none.trec"): r"line 5|line 4: there is no none.trec",
    MINIMAL.replace('"PL2"', "3"): r"line 9: systems.PL2 is 3 \(int\), and should be a table",
    MINIMAL.replace('"PL2"', '"PL2("'): r"line 9: Expected a value after \( in column 5 of 'PL2\('; correct the expression\.$",
    MINIMAL + 'BM25 = "DPH"\n': r"line 10: the name BM25 comes twice; give each one once",
    MINIMAL + '[models]\na = "BM25 + b"\nb = "PL2 + a"\n': r"line 11: the name a stands for itself: a > b > a",
    MINIMAL + '[models]\nlsi = "BM25"\n': r"line 11: lsi is a component, which no name may hide",
    MINIMAL + "[compare]\nk = -1\n": r"line 11: k is -1 \(int\); give a whole number, 1 to",
    MINIMAL + "[compare]\nk = true\n": r"line 11: k is True \(bool\); give a whole number",
    MINIMAL + '[compare]\nmeasures = ["APP"]\n': r"line 11: No measure APP; did you mean AP\?",
    MINIMAL + '[compare]\ntest = "u"\n': r"line 11: test is 'u' \(str\); give t, randomisation or wilcoxon",
    MINIMAL + "[compare]\nalpha = 1.5\n": r"line 11: alpha is 1.5; give a number between 0 and 1",
    MINIMAL + "[compare]\nalpha = nan\n": r"line 11: alpha is nan \(float\); give a number",
    MINIMAL + '[tune]\nfolds = "5"\n': r"line 11: folds is '5' \(str\); give a whole number, 2 to",
    MINIMAL + '[indexes]\nx = {collection = "demi"}\n': r"line 11: no collection demi; there are: demo",
    MINIMAL + '[indexes]\n"../x" = {collection = "demo"}\n': r"line 11: '../x' cannot be a name here",
    MINIMAL + '[tables.t]\nsystems = ["BM26"]\n': r"line 11: no system BM26; did you mean BM25\? There are: BM25, PL2",
    MINIMAL + '[tables.t]\nmeasures = "AP"\npublished.BM25 = 0.4\n': r"line 10: \[tables.t\] has published figures and no tolerance",
    MINIMAL + "[tables.t]\ntolerance = 1\npublished.BM25.APP = 0.4\n": r"line 12: no column APP; there are: AP",
    MINIMAL + "[tables.t]\nexpected.BM25 = 0.4\n": r"line 11: BM25 has 8 columns; write",
    MINIMAL + "[plots.p]\nx = {BM25 = 1}\n": r"line 10: \[plots.p\] needs x, a number for each of two systems",
    MINIMAL + '[claims.c]\nhigher = ["BM25"]\n': r"line 10: \[claims.c\] has no lower",
    MINIMAL + '[claims.c]\nhigher = ["BM25"]\nlower = ["BM25"]\n': "line 12: BM25 cannot be above itself",
    MINIMAL + "[untested.u]\ntitle = 'x'\n": r"line 10: \[untested.u\] has no why",
    MINIMAL + 'pl2 = "DPH"\n': "line 10: pl2 and PL2 differ in case alone, and both name files; rename one",
    MINIMAL + '[tables.a]\n[tables.A]\n': "line 11: A and a differ in case alone",
    MINIMAL + 'other = {run = "a.run", expression = "BM25"}\n': "line 10: other is neither an expression nor a run",
    MINIMAL + 'other = {expression = "BM25", on = 3}\n': r"line 10: \[systems.other\] has no key on",
    "[systems]\nBM25 = 'BM25'\n": r"study.toml: \[topics\] is empty or missing; write file",
    "a = " + "[" * 5000: "too many brackets|no TOML",
    "title = \"x\"\n" * 2: "line 2: the name title comes twice",
}  # fmt: skip


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: MISTAKES[text][:40])
def test_a_mistake_costs_a_sentence_with_the_line_of_the_file(study, text):
    file = study(text)
    with pytest.raises(InputError, match=MISTAKES[text]) as error:
        engine.study(file)
    assert str(error.value).startswith(str(file)) and "\n" not in str(error.value).split("\n  ")[0]
    assert not (file.parent / "study-study" / "runs" / "demo").exists()


def test_large_files_and_other_types_are_refused(tmp_path):
    (tmp_path / "large.toml").write_text("#" * (study_file.MOST_BYTES + 1))
    with pytest.raises(InputError, match="has more than 262,144 bytes"):
        read_study(tmp_path / "large.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not text in UTF-8"):
        read_study(tmp_path / "bytes.toml")
    with pytest.raises(InputError, match=r"the study has the key 3 \(int\)"):
        study_of({3: 4})
    with pytest.raises(InputError, match="needs a folder for its results"):
        begin_study(tomllib.loads(MINIMAL))


def test_small_files_that_would_take_long_are_refused(study):
    names = "\n".join(f'n{i} = "n{i + 1} + n{i + 1}"' for i in range(28))
    text = MINIMAL.replace("[systems]", f"[models]\n{names}\nn28 = 'BM25'\n[systems]\n")
    with pytest.raises(InputError, match=r"line 8: the name n0 stands for too much; names are written out to 10,000"):
        engine.study(study(text))
    for key in (".".join("a" * 100_000), f"[{'.'.join(['b c'] * 100_000)}]".replace("b c", '"b c"')):
        with pytest.raises(InputError, match="x, line 2: a key has more than 32 names"):
            read_toml(f"\n{key} = 1", "x")
    # Quotes that are never closed, and points in texts.
    with pytest.raises(InputError, match="x, line 1: this is no TOML"):
        read_toml('x = """' + '\\"' * 100_000, "x")
    assert read_toml(f"x = '{'a.' * 100}'\n# {'a.' * 100}", "x").lines == {("x",): 1}
    with pytest.raises(InputError, match="x has a number of too many digits"):
        read_toml(f"x = {'1' * 5_000}", "x")
    for key in ("steps", "samples"):
        with pytest.raises(InputError, match=f"{key} is 2147483647 .int.; give a whole number, [12] to 10,000"):
            read_study(study(f"{MINIMAL}[tune]\n{key} = 2147483647\n"))


def test_the_lines_of_keys_are_those_of_the_file():
    text = '''# one
title = """two
[not.a.table]
three"""

[a."b.c"] # a comment with [brackets]
d = [
  "x", # =
  'y = [',
]
'e f'.g = {h = 1}
[[list]]
i = 1
'''
    lines = read_toml(text, "x").lines
    assert lines == {
        ("title",): 2,
        ("a", "b.c"): 6,
        ("a", "b.c", "d"): 7,
        ("a", "b.c", "e f", "g"): 11,
        ("list",): 12,
        ("list", "i"): 13,
    }


# Files of other people.


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("documents.jsonl", "../secret.jsonl"),
        ("documents.jsonl", "{outside}/secret.jsonl"),
        ("documents.jsonl", "link.jsonl"),
        ("documents.jsonl", "folder"),
        ("topics.trec", "../secret.jsonl"),
        ("qrels.txt", "link.jsonl"),
        ('PL2 = "PL2"', 'PL2 = {{run = "../secret.jsonl"}}'),
        ('[systems]', '[indexes]\\ndemo = {{analyzer = "english(stop=\\"../secret.jsonl\\")"}}\\n[systems]'),
    ],
)  # fmt: skip
def test_a_study_reads_nothing_outside_of_its_folder(study, tmp_path, before, after):
    shutil.copy(DEMO, tmp_path / "secret.jsonl")
    text = MINIMAL.replace(before, after.format(outside=tmp_path).replace("\\n", "\n"))
    file = study(text)
    (file.parent / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (file.parent / "folder").mkdir()
    (file.parent / "folder" / "inner.jsonl").symlink_to(tmp_path / "secret.jsonl")
    try:
        found = engine.study(file)
    except InputError as error:
        problem = str(error)
    else:
        (problem,) = found.failures
    assert re.search(r"line \d+: .*(secret|link|folder|inner).* lies outside of the study's folder", problem)


def test_a_path_that_goes_up_from_a_link_reads_the_file_that_was_checked(study, tmp_path):
    file = study(MINIMAL.replace("qrels.txt", "link/../qrels.txt"))
    (file.parent / "deep" / "inner").mkdir(parents=True)
    shutil.move(file.parent / "qrels.txt", file.parent / "deep")
    (file.parent / "link").symlink_to("deep/inner")
    shutil.copy(QRELS, tmp_path / "secret.txt")
    (file.parent / "qrels.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(InputError, match=r"line 4: link/\.\./qrels.txt lies outside of the study's folder"):
        engine.study(file)


def test_files_that_expressions_name_are_found_from_the_study_s_folder_alone(study, tmp_path, monkeypatch):
    words = "\n".join(f"{word} {n} {n + 1}" for n, word in enumerate(("crane", "river", "bank", "seal")))
    (tmp_path / "words.txt").write_text(f"4 2\n{words}\n")
    file = study(MINIMAL.replace('"PL2"', "'PL2 + vectors(\"../words.txt\")'"))
    with pytest.warns(engine.SublexWarning, match=r"line 9: \.\./words.txt lies outside of the study's folder"):
        engine.study(file)
    shutil.copy(tmp_path / "words.txt", file.parent)
    file.write_text(MINIMAL.replace('"PL2"', "'PL2 + vectors(\"words.txt\")'"))
    monkeypatch.chdir("/")
    found = engine.study(file)
    assert found["demo"].system("PL2").means["AP"] > 0
    # The content of the file counts.
    (file.parent / "words.txt").write_text(f"4 2\n{words.replace('bank 2 3', 'bank 3 -2')}\n")
    assert "run demo/PL2" in engine.study(file).done


def test_data_sets_are_read_if_the_user_allows_it(study, command):
    file = study(MINIMAL.replace("documents.jsonl", "irds:vaswani"))
    with pytest.raises(
        InputError, match="line 3: irds:vaswani is a data set of ir_datasets, which may be downloaded; allow this by"
    ):
        engine.study(file)
    code, output, _ = command("study", str(file), "--plan")
    assert code == 2 and re.search(r"irds:vaswani +may be downloaded", output)


def test_a_folder_that_is_not_a_study_s_is_left_alone(study, tmp_path):
    file, other = study(), tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="other holds files, and nothing shows that a study wrote them"):
        engine.study(file, other)
    assert [path.name for path in other.iterdir()] == ["mine.txt"]
    (tmp_path / "link").symlink_to(other)
    with pytest.raises(InputError, match="link is no folder of a study"):
        engine.study(file, tmp_path / "link")


@pytest.mark.parametrize(
    "name", ["runs", "runs/demo", "state", "reports", "indexes", "indexes/demo", "indexes/demo/representations"]
)
def test_nothing_is_written_through_a_link_in_the_folder_of_a_study(finished, tmp_path, name):
    place = finished.parent / "study-study" / name
    shutil.move(place, tmp_path / "moved")
    place.symlink_to(tmp_path / "moved")
    before = sorted(path for path in (tmp_path / "moved").rglob("*"))
    with pytest.raises(InputError, match="is a symbolic link, and studies read and write through none"):
        engine.study(finished)
    assert before == sorted(path for path in (tmp_path / "moved").rglob("*"))


@pytest.mark.parametrize("kind", ["run", "comparison"])
def test_a_record_without_its_files_is_not_done(finished, kind):
    state = finished.parent / "study-study" / "state"
    (path,) = state.glob("run-demo_BM25-*" if kind == "run" else "comparison-demo*")
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "files": {}}))
    assert f"{kind} {record['name']}" in engine.study(finished).done
    assert set(json.loads(path.read_text())["files"]) == set(record["files"])


def test_names_that_look_alike_have_files_of_their_own():
    odd = file_name("a b")
    assert odd != "a b" and len({odd, file_name(odd), file_name("a_b"), file_name("a  b")}) == 4


def test_a_study_that_fails_before_any_result_leaves_no_folder(study, tmp_path):
    file = study(MINIMAL.replace("topics.trec", "none.trec"))
    with pytest.raises(InputError, match="there is no none.trec"):
        engine.study(file)
    assert not (file.parent / "study-study").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="there is no none.trec"):
        engine.study(file, out=tmp_path / "mine")
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize("name", ["report.html", "reports/demo.html", "measures.csv"])
def test_a_file_that_was_changed_by_hand_is_not_replaced(finished, name):
    path = finished.parent / "study-study" / name
    path.write_text(path.read_text() + "mine")
    finished.write_text(WHOLE.replace("b={0.2,0.7}", "b={0.2,0.6}"))
    with pytest.raises(InputError, match=f"{re.escape(name)} is "):
        engine.study(finished)
    assert path.read_text().endswith("mine")


def test_texts_on_the_report_are_escaped(study):
    hostile = "</script><img src=x onerror=alert(1)>{{ 7*7 }}"
    text = f"title = '{hostile}'\n{MINIMAL}'{hostile}' = \"DPH\"\n'broken {hostile}' = \"none\"\n"
    text += f"[tables.t]\ntitle = '{hostile}'\nsource = '{hostile}'\n"
    with pytest.warns(engine.SublexWarning):
        found = engine.study(study(text))
    page = (found.folder / "report.html").read_text()
    assert "<img" not in page and "49" not in page.split("&lt;img")[1][:40] and page.count("&lt;img") >= 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "forged",
    [
        {"plot": "<img src=x>"},
        {"main": "<img src=x>"},
        {"intervals": {"BM25": ["<img src=x>", 1]}},
        {"values": {}},
        {"means": [1]},
        {"parts": [{"head": 3}]},
        {"qids": None},
        {"parts": ["<img src=x>"], "notes": ["<img src=x>"]},
    ],
)
def test_a_forged_record_of_a_comparison_puts_no_markup_on_the_report(study, forged):
    path = study(MINIMAL)
    first = engine.study(path)
    record = next((first.folder / "state").glob("comparison*"))
    told = json.loads(record.read_text())
    told["data"] |= forged
    record.write_text(json.dumps(told))
    again = engine.study(path)
    assert "<img" not in (again.folder / "report.html").read_text()
    assert again["demo"].system("BM25").means == first["demo"].system("BM25").means


@pytest.mark.slow
@pytest.mark.parametrize("forged", [{"values": [[float("nan")]]}, {"values": "x"}, {"qids": None}, {"missing": 3}])
def test_forged_measures_of_a_run_are_measured_again(study, forged):
    path = study(MINIMAL)
    first = engine.study(path)
    state = first.folder / "state"
    next(state.glob("comparison*")).unlink()
    for record in state.glob("measures*"):
        told = json.loads(record.read_text())
        told["data"] |= forged
        record.write_text(json.dumps(told))
    again = engine.study(path)
    assert again["demo"].system("BM25").means == first["demo"].system("BM25").means
    assert sum(step.startswith("measures ") for step in again.done) == len(list(state.glob("measures*")))


# The command line.


def test_a_new_study_runs_as_it_is_written(command, tmp_path):
    write_files(tmp_path / "own")
    code, output, _ = command("study", "new", "own/new.toml", "--documents", "own/documents.jsonl", "--topics", "own/topics.trec",
                              "--qrels", "own/qrels.txt", "-r", "BM25", "-r", "BM25 >> RM3 >> BM25")  # fmt: skip
    assert code == 0 and "sublex study own/new.toml" in output
    assert '"documents.jsonl"' in Path("own/new.toml").read_text()
    code, output, _ = command("study", "own/new.toml", "--format", "csv")
    assert code == 0 and "new,BM25 >> RM3 >> BM25," in output
    # Markdown has all parts, as the lines do, and not only the table of means.
    code, output, _ = command("study", "own/new.toml", "--format", "markdown")
    lines = output.splitlines()
    assert (
        code == 0 and lines[0] == "new: 30 topics, 252 documents" and any(each.startswith("| --- |") for each in lines)
    )
    assert any(each.startswith(r"| b | BM25 \>\> RM3 \>\> BM25 |") for each in lines)
    assert lines[-1].startswith("* ")
    # All that the comments propose can be used.
    text = Path("own/new.toml").read_text()
    text = text[: text.index("# sublex.written")].replace("# Everything", "Everything").replace("# A ", "A ")
    Path("own/all.toml").write_text(
        re.sub(r"^(Everything|A ).*$", "", re.sub(r"^# (?=\[|\w+[.\w]* =)", "", text, flags=re.M), flags=re.M)
    )
    asked = read_study("own/all.toml")
    assert asked.models and asked.compare.by and asked.tables and asked.systems["tuned"].is_tuned
    # A file that nobody changed is replaced, and another one is not.
    assert command("study", "new", "own/new.toml").code == 0
    Path("own/new.toml").write_text("mine")
    code, _, said = command("study", "new", "own/new.toml")
    assert code == 2 and "nothing shows that Sublex wrote it" in said and Path("own/new.toml").read_text() == "mine"
    Path("far").mkdir()
    # Files beside the folder of the study have to be allowed, and the sentence says so.
    code, output, _ = command("study", "new", "far/new.toml", "--documents", "own/documents.jsonl", "--topics", "own/topics.trec",
                              "--qrels", "own/qrels.txt")  # fmt: skip
    allowed = shlex.split(output.split("run it: sublex ")[1])
    assert code == 0 and allowed == ["study", "far/new.toml", "--allow", os.path.realpath("own")]
    assert command(*allowed, "--plan").code == 0
    assert command("study", "new", "own/new.txt").code == 2


def test_the_exit_code_says_that_a_system_failed(command, study):
    code, output, said = command("study", str(study(MINIMAL + 'broken = "nothing"\n')), "--format", "json")
    found = json.loads(output)
    assert code == 2 and found["topics"]["demo"]["systems"][2]["failure"] and found["topics"]["demo"]["topics"] == 30
    code, _, said = command("study", "none.toml")
    assert code == 2 and said.count("\n") == 1 and "none.toml" in said
    assert command("study", str(study()), "--plan", "--check").code == 2


def test_a_comparison_is_saved_as_a_study_that_has_its_figures(demo, tmp_path):
    for source in (TOPICS, QRELS):
        shutil.copy(source, tmp_path)
    demo("run", "demo", "topics.trec", "-r", "DPH", "-o", "dph.run", "-k", "9")
    options = [
        "-k",
        "9",
        "-m",
        "P@5",
        "-m",
        "AP",
        "--test",
        "wilcoxon",
        "--alpha",
        "0.1",
        "--by",
        "length",
        "--groups",
        "2",
    ]
    options += ["--fields", "title+desc", "--profile", "terrier", "--save-study", "saved.toml", "--format", "json"]
    words = ("compare", "demo", "topics.trec", "qrels.txt", "dph.run", "-r", "BM25", "-r", "BM25 >> RM3 >> BM25")
    code, output, said = demo(*words, *options)
    assert code == 0
    found = re.search(r"saved.toml is written; to run it: sublex (.*)", said)
    again = demo(*found[1].split(), "--format", "json")
    assert again.code == 0
    systems = json.loads(again.output)["topics"]["demo"]["systems"]
    assert [each["measures"] for each in systems] == [each["measures"] for each in json.loads(output)["systems"]]
    assert read_study("saved.toml").compare == study_file.ComparePlan(
        ("P@5", "AP"), "wilcoxon", "holm", 0.1, 0, 9, ("length",), 2
    )
    code, _, said = demo("compare", "qrels.txt", "dph.run", "--save-study", "no.toml")
    assert code == 2 and "A study needs an index" in said and not Path("no.toml").exists()
    Path("mine.toml").write_text("mine")
    words = ("compare", "demo", "topics.trec", "qrels.txt", "-r", "BM25", "--save-study")
    assert (
        demo(*words, "mine.toml").code == 2
        and demo(*words, "x.txt").code == 2
        and Path("mine.toml").read_text() == "mine"
    )


def test_the_shell_writes_its_comparison_as_a_study(index, tmp_path, monkeypatch):
    from sublex.shell.commands import built_in
    from sublex.shell.session import Session
    from sublex.shell.settings import ShellSettings

    monkeypatch.chdir(tmp_path)
    session = Session(lambda: index, index.path, built_in(), ShellSettings())
    with pytest.raises(InputError, match="There are no topics"):
        session.run(":to-study s.toml")
    session.run(f":topics {TOPICS}")
    session.run(f":qrels {QRELS}")
    session.run(":compare -m P@5 BM25 PL2")
    # The study has the rankers of the comparison, although a query was asked after it.
    session.run("cranes")
    session.run(":to-study s.toml")
    asked = read_study("s.toml")
    assert list(asked.systems) == ["BM25", "PL2"] and asked.compare.measures == ("P@5",)
    found = engine.study("s.toml", allow=[TOPICS.parent])
    assert found.value("demo", "PL2", "P@5") == engine.compare(index, TOPICS, QRELS, ["PL2"], "P@5").mean("P@5")[0]
    given = {**session.comparison.arguments, "queries": ("lsi=rows.npz",)}
    session.comparison = session.comparison._replace(arguments=given)
    with pytest.raises(InputError, match="A study cannot name vectors of queries yet"):
        session.run(":to-study t.toml")


def test_papers_have_studies_that_can_be_read():
    from sublex.studies.papers_shipped import papers, study_file_of

    for paper in papers():
        for quick in (False, True):
            asked = read_study(study_file_of(paper, quick))
            assert asked.untested and asked.differs
            assert (asked.claims or asked.tables) and (asked.systems or asked.experiments)
    with pytest.raises(InputError, match="No study of the paper ficher; did you mean fisher"):
        study_file_of("ficher", False)


# The tables and figures of each paper, by its text.
PAPERS = {
    "dcot": "table 1, figures 1, 2, 3, 4",
    "fisher": "tables 1, 2, 3, 4, 5, figures 1, 2",
    "laki": "tables 1, 2, 3, 4, 5, 6, 7, 8, figures 1, 2, 3, 4, 5, 6, 7, 8, 9",
    "sourcelda": "table I, figures 1, 2, 3, 4, 5, 6, 7, 8a, 8b, 8c, 8d, 8e, 8f",
    "swg": "table 1, figures 1, 2, 3, 4, 5, 6",
}


def parts_of_papers(sources):
    """The tables and figures that texts such as "tables 1, 2, figure 8a" name."""
    found = set()
    for source in sources:
        kind = ""
        for word in source.replace(",", " ").split():
            kind = word.rstrip("s") if word.startswith(("table", "figure", "section")) else kind
            found |= {(kind, word)} if word != kind and not word.startswith(kind) else set()
    return {part for part in found if part[0] != "section"}


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("paper", PAPERS)
def test_each_table_and_figure_of_a_paper_is_measured_or_not_testable(paper, quick):
    from sublex.studies.papers_shipped import study_file_of

    asked = read_study(study_file_of(paper, quick))
    measured = parts_of_papers(each.source for each in (*asked.tables, *asked.claims))
    named = measured | parts_of_papers(each.source for each in asked.untested)
    assert named >= parts_of_papers([PAPERS[paper]]) and measured


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("SUBLEX_TESTS") != "papers", reason="the study of a paper takes minutes")
@pytest.mark.parametrize("paper", PAPERS)
def test_the_quick_study_of_a_paper_has_the_figures_that_it_expects(command, collections, paper):
    code, output, said = command("reproduce", paper, "--quick", "--check", "--collections", str(collections))
    assert code == 0 and re.match(r"No figure moved, of \d+; compared with the expected figures", output), output + said


def test_the_shell_runs_a_study_and_says_it_in_python(study, index):
    from sublex.shell.commands import built_in
    from sublex.shell.session import Session
    from sublex.shell.settings import ShellSettings

    session, file = Session(lambda: index, index.path, built_in(), ShellSettings()), study()
    shown = session.run(f":study {file}")
    assert any("steps done" in each.text for each in shown.lines)
    assert f"sublex.study({str(file)!r})" in "".join(each.text for each in session.run(":to-python").lines)
