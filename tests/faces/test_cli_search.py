"""The commands search, explain and run: their output, their files, and their messages for bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from shared import DEMO, QRELS, TOPICS

import sublex as engine
from sublex.cli import cli
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import Pipeline
from sublex.pipeline.running import times_of


def test_search_shows_rank_score_title_and_a_passage(demo):
    code, output, _ = demo("search", "demo", "dancing cranes", "-k", "2")
    lines = output.splitlines()
    assert code == 0 and len(lines) == 4
    assert lines[0].split()[0] == "1" and "birds-05" in lines[0] and "Crane" in lines[0]
    assert len(lines[1]) < 220


def test_search_in_other_forms(demo):
    found = json.loads(demo("search", "demo", "crane", "--format", "json")[1])["hits"]
    assert [hit["rank"] for hit in found] == list(range(1, len(found) + 1)) and found[0]["docno"] == "birds-05"
    assert "rane" in found[0]["passage"]
    assert (
        demo("search", "demo", "crane", "--format", "csv", "-k", "1")[1].splitlines()[0]
        == "rank,score,docno,title,passage"
    )
    line = demo("search", "demo", "crane", "--format", "trec", "-k", "1", "-r", "PL2 % 5")[1].split()
    assert line[:4] == ["1", "Q0", "birds-05", "1"] and line[5] == "PL2%5"


@pytest.mark.parametrize("query", ["", "the", "zzzz", "\"'(>>*", "-5", "日本 \x00 \ud800"])
def test_no_text_is_an_illegal_query(demo, query):
    argument = query.encode("utf-8", "surrogatepass").decode("utf-8", "replace").replace("\x00", " ")
    code, output, messages = demo("search", "demo", "--", argument)
    assert (code, output) == (0, "") and "Nothing in" in messages


def test_an_index_without_texts_is_searched_too(sublex):
    sublex("index", "bare", str(DEMO), "--store", "none")
    code, output, _ = sublex("search", "bare", "crane", "-k", "1")
    assert code == 0 and len(output.splitlines()) == 1 and "birds-05" in output
    code, _, messages = sublex("search", "bare", "crane", "-r", "RM3 >> BM25")
    assert code == 2 and "--store terms" in messages and messages.count("\n") == 1


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("BM25 >>", "Expected a name or ( after >>"),
        ("BM52", "did you mean BM25?"),
        ("BM25(k1=-1)", "k1=-1"),
        ("RM3", "put a ranker after it"),
        ("BM25(k1={0..1})", "ranges are for sublex tune"),
    ],
)
def test_an_expression_that_is_wrong_costs_a_sentence(demo, expression, message):
    for command in (
        ("search", "demo", "crane"),
        ("explain", "demo", "crane", "birds-05"),
        ("run", "demo", str(TOPICS)),
    ):
        code, output, messages = demo(*command, "-r", expression)
        assert code == 2 and output == "" and message in messages and "Traceback" not in messages


def test_explain_says_where_a_document_stands_and_why(demo):
    code, output, _ = demo("explain", "demo", "crane river zzz Qwertys", "birds-05")
    assert code == 0 and output.startswith("birds-05 is at rank 1 of")
    assert "in no document zzz, Qwertys" in output and "not in this document" in output
    code, output, _ = demo("explain", "demo", "crane", "sea-01")
    assert code == 0 and "sea-01 is not among the" in output
    tree = json.loads(demo("explain", "demo", "crane", "birds-05", "-r", "minmax(BM25)", "--format", "json")[1])
    assert tree["kind"] == "scaled" and tree["evidence"]["rank"] == 1 and tree["value"] == 1
    code, _, messages = demo("explain", "demo", "crane", "nowhere")
    assert code == 2 and messages == "sublex: No document nowhere in indexes/demo.\n"


def test_run_writes_a_run_for_each_ranker_and_goes_on_after_a_mistake(demo):
    code, output, messages = demo(
        "run", "demo", str(TOPICS), "-r", "BM25", "-r", "BM52", "-r", "PL2(c=7)", "-o", "runs/new", "-k", "5"
    )
    assert code == 2 and messages.count("sublex:") == 1 and "30 topics from" in messages
    assert [line.split()[0] for line in output.splitlines()] == ["runs/new/BM25.run", "runs/new/PL2(c=7).run"]
    assert {path.name for path in Path("runs/new").iterdir()} == {
        "BM25.run", "BM25.run.yaml", "PL2(c=7).run", "PL2(c=7).run.yaml",
    }  # fmt: skip
    lines = [line.split() for line in Path("runs/new/BM25.run").read_text().splitlines()]
    assert len({line[0] for line in lines}) == 29 and max(int(line[3]) for line in lines) == 5
    metadata = Path("runs/new/PL2(c=7).run.yaml").read_text()
    assert "PL2(c=7)" in metadata and "fingerprint" in metadata


def test_the_times_of_a_run_leave_out_the_first_query(demo):
    output = demo("run", "demo", str(TOPICS))[1]
    assert re.search(r"p99 \S+ a query without the first \(\S+ ms, with the warm-up\); ", output)
    times = times_of([9, 1, 2, 3], 16, 1)
    assert (times.queries, times.first, times.mean, times.p50) == (4, 9000, 2000, 2000)
    assert str(times).startswith(
        "mean 2,000 ms, p50 2,000, p95 2,900, p99 2,980 a query without the first (9,000 ms, with"
    )
    Path("one.tsv").write_text("1\tcranes\n", encoding="utf-8")
    assert "ms for the only query, with the warm-up; " in demo("run", "demo", "one.tsv")[1]


def test_a_run_goes_to_the_file_that_is_named_with_the_tag_that_is_given(demo):
    code, output, _ = demo(
        "run", "demo", str(TOPICS), "-r", "PL2", "-o", "new/mine.run.gz", "--tag", "first", "-k", "1"
    )
    assert code == 0 and output.startswith("new/mine.run.gz  ")
    run = engine.read_run("new/mine.run.gz")
    assert run.tag == run.metadata["tag"] == "first" and run.metadata["method"]["expression"] == "PL2"
    messages = demo("run", "demo", str(TOPICS), "-o", "new/mine.run.gz", "-k", "1")[2]
    assert "The new/mine.run.gz that was there was made with another expression; it is replaced." in messages
    for options, sentence in (
        (("--tag", "a b"), "The tag 'a b' is empty or has white space"),
        (("--tag", "x", "-r", "BM25", "-r", "PL2"), "--tag x would name 2 runs; give one ranker, or leave --tag out."),
        (
            ("-o", "new/x.csv"),
            "A run is written in TREC's format, which .csv is not; name x.run, or a folder by new/x.csv/",
        ),
        (("-o", "-"), "sublex run writes files; name a file or a folder with -o."),
        (
            ("-o", "mine.txt", "-r", "BM25", "-r", "PL2"),
            "mine.txt is a file for one run, and there are 2; name a folder",
        ),
        (("-o", "mine.txt"), "mine.txt is there, and nothing shows that Sublex wrote it as it is; choose another"),
    ):
        Path("mine.txt").write_text("my notes\n")
        code, output, messages = demo("run", "demo", str(TOPICS), *options)
        assert (code, output) == (2, "") and sentence in messages, messages
        assert Path("mine.txt").read_text() == "my notes\n"
    assert "folder.run/BM25.run" in demo("run", "demo", str(TOPICS), "-o", "folder.run/", "-k", "1")[1]
    assert "both.run/PL2.run" in demo("run", "demo", str(TOPICS), "-o", "both.run/", "-r", "BM25", "-r", "PL2")[1]
    # A folder that is there may be called like a file.
    assert "both.run/DPH.run" in demo("run", "demo", str(TOPICS), "-o", "both.run", "-r", "BM25", "-r", "DPH")[1]


def test_runs_in_a_folder_are_named_by_their_expressions(demo):
    rankers = ("BM25 >> RM3 >> BM25", "PL2 + 0.3*BM25", "PL2 % 3 >> 0.3*BM25")
    options = [word for ranker in rankers for word in ("-r", ranker)]
    for _ in range(2):
        assert demo("run", "demo", str(TOPICS), *options, "--profile", "anserini", "-k", "2", "-o", "runs")[0] == 0
        names = sorted(path.name for path in Path("runs").glob("*.run"))
        assert len(names) == 3 and not any(name.startswith("BM25-") for name in names)
    colliding = Path("runs") / "PL2(c=7).run"
    demo("run", "demo", str(TOPICS), "-r", "PL2(c=7)", "-o", "runs", "-k", "1", "--metadata", "header")
    colliding.write_text(colliding.read_text().replace("PL2(c=7)", "Other"))
    output = demo("run", "demo", str(TOPICS), "-r", "PL2(c=7)", "-o", "runs", "-k", "1")[1]
    assert re.match(r"runs/PL2\(c=7\)-[0-9a-f]{16}\.run  ", output) and "Other" in colliding.read_text()


def test_metadata_go_where_they_are_wanted(demo):
    demo("run", "demo", str(TOPICS), "-o", "header", "--metadata", "header")
    assert Path("header/BM25.run").read_text().startswith("# ir_metadata.start\n")
    demo("run", "demo", str(TOPICS), "-o", "none", "--metadata", "none")
    assert [path.name for path in Path("none").iterdir()] == ["BM25.run"]
    lines = Path("header/BM25.run").read_text().splitlines()
    assert [line for line in lines if line[0] != "#"] == Path("none/BM25.run").read_text().splitlines()
    assert lines[-1].startswith("# sublex.written ")


def test_a_run_has_its_name_without_what_the_profile_gives_and_its_tag_with_it(demo):
    options = ("--profile", "anserini", "-k", "2", "-o", "runs")
    rankers = ("BM25", "BM25(k1=1.2)", "BM25 >> RM3(docs=5) >> BM25", "0.5*PL2 + zscore(BM25(k1=0.9))")
    assert demo("run", "demo", str(TOPICS), *options, *(word for text in rankers for word in ("-r", text))).code == 0
    names = {"BM25.run", "BM25(k1=1.2).run", "BM25_RM3(docs=5)_BM25.run", "0.5_PL2+zscore(BM25).run"}
    assert {path.name for path in Path("runs").glob("*.run")} == names
    assert Path("runs/BM25.run").read_text().splitlines()[0].endswith(" BM25(k1=0.9,b=0.4,lengths=lucene)")
    # Without a ranker it is the profile's own; the run of another profile gets a name of its own beside it.
    assert demo("run", "demo", str(TOPICS), *options).output.startswith("runs/BM25.run  ")
    done = demo("run", "demo", str(TOPICS), "--profile", "pisa", "-k", "2", "-o", "runs")
    assert done.output.startswith("runs/BM25(k1=0.9,b=0.4,variant=pisa).run  ")
    assert demo("run", "demo", str(TOPICS), "--profile", "anserini").output.startswith("BM25.run  ")
    code, _, messages = demo("search", "demo", "crane", "--profile", "anserine")
    assert code == 2 and "did you mean anserini?" in messages


def test_an_expression_is_resolved_once_and_with_the_profile_of_the_command(demo, monkeypatch):
    resolved = []
    resolve = Index.pipeline

    def pipeline(index, expression=None, profile=None):
        if not isinstance(expression, Pipeline):
            resolved.append((expression, profile))
        return resolve(index, expression, profile)

    monkeypatch.setattr(Index, "pipeline", pipeline)
    for arguments in (
        ("search", "demo", "crane"),
        ("search", "demo", "crane", "--format", "trec"),
        ("search", "demo", "zzzz"),
        ("explain", "demo", "crane", "birds-05"),
        ("run", "demo", str(TOPICS)),
        ("compare", "demo", str(TOPICS), str(TOPICS.with_name("qrels.txt"))),
    ):
        resolved.clear()
        done = CliRunner().invoke(cli, [*arguments, "-r", "BM25", "--profile", "anserini"])
        assert done.exit_code == 0 and resolved == [("BM25", "anserini")], done.output


def test_runs_need_docnos_without_white_space(sublex):
    Path("odd.jsonl").write_text('{"id": "a b", "text": "crane"}\n')
    sublex("index", "odd", "odd.jsonl")
    code, output, messages = sublex("run", "odd", str(TOPICS))
    assert (code, output) == (2, "") and "white space" in messages and not list(Path().glob("*.run"))
    code, output, messages = sublex("search", "odd", "crane", "--format", "trec")
    assert (code, output) == (2, "") and "white space" in messages


def test_impacts_are_kept_as_long_as_they_are_wanted(sublex):
    code, _, messages = sublex("index", "demo", str(DEMO), "--impacts", "BM52")
    assert code == 2 and "did you mean BM25?" in messages and not Path("indexes/demo").exists()
    assert sublex("index", "demo", str(DEMO), "--impacts", "BM25", "--impacts", "PL2(c=7)")[0] == 0
    kept = Path("indexes/demo/derived")
    assert len(list(kept.glob("impacts-*"))) == 2
    before = sublex("search", "demo", "crane")[1]
    names = {path.name for path in kept.glob("impacts-*")}
    assert sublex("delete", "demo", "sea-01")[0] == 0
    assert len(list(kept.glob("impacts-*"))) == 2 and names.isdisjoint(path.name for path in kept.glob("impacts-*"))
    assert sublex("search", "demo", "crane")[1].split()[2] == before.split()[2]
    assert sublex("index", "demo", str(DEMO), "--overwrite")[0] == 0 and not kept.exists()


def test_scores_beyond_float32_are_refused_and_zero_has_no_sign(demo):
    for expression in ("1e308*BM25", "raw(1e39*BM25) + PL2", "1e308*(1e300*BM25 + PL2)"):
        for command in (("search", "demo", "crane"), ("explain", "demo", "crane", "birds-05")):
            code, output, messages = demo(*command, "-r", expression)
            assert (code, output) == (2, "") and messages == (
                "sublex: The scores of a blend are too large for float32; use smaller weights.\n"
            )
    assert demo("search", "demo", "crane", "-k", "1", "-r", "BM25 % 1 >> -1*BM25")[1].split()[1] == "0"


def test_scores_are_printed_as_runs_have_them(demo):
    demo("run", "demo", str(TOPICS), "-k", "1")
    line = Path("BM25.run").read_text().splitlines()[0]
    assert demo("search", "demo", "crane", "-k", "1", "--format", "trec")[1] == f"{line}\n"
    score = line.split()[4]
    assert demo("search", "demo", "crane", "-k", "1", "--format", "csv")[1].splitlines()[1].split(",")[1] == score
    assert f'"score": {score},' in demo("search", "demo", "crane", "-k", "1", "--format", "json")[1]


def test_search_and_explain_say_which_words_no_document_contains(demo):
    said = 'No document contains "zyzzyva" or "Qwghlm".\n'
    query = "zyzzyva cranes by the Qwghlm"
    for form in ((), ("--format", "csv"), ("--format", "trec")):
        code, output, messages = demo("search", "demo", query, "-k", "1", "-r", "BM25 >> RM3 >> PL2", *form)
        assert (code, messages) == (0, said) and "birds-05" in output and "zyzzyva" not in output
    output = demo("search", "demo", query, "-k", "1", "--format", "json")[1]
    assert json.loads(output)["missing"] == ["zyzzyva", "Qwghlm"] and len(json.loads(output)["hits"]) == 1
    weighted = demo("search", "demo", "crane^2 zyzzyva^0.5", "--weighted", "-k", "1", "--format", "json")
    assert weighted[2] == 'No document contains "zyzzyva".\n' and json.loads(weighted[1])["missing"] == ["zyzzyva"]
    assert demo("explain", "demo", query, "birds-05")[2] == said
    output = demo("explain", "demo", query, "birds-05", "--why-not", "-k", "3")[1]
    assert re.search(r"^Qwghlm +1\.00 +in no document$", output, re.MULTILINE)
    # Where no word is known, one sentence says it; stop words are not missing.
    assert demo("search", "demo", "zyzzyva of the Qwghlm")[2] == "Nothing in indexes/demo contains zyzzyva or Qwghlm.\n"
    assert demo("search", "demo", "the crane of the river", "-k", "1")[2] == ""


def test_run_compare_and_tune_count_the_words_that_no_document_contains(demo):
    Path("t.tsv").write_text(
        "7\tzyzzyva crane Qwghlm\n8\triver\n9\tThe ZYZZYVAS by the quux foobaz\n", encoding="utf-8"
    )
    said = (
        '2 of 3 topics have 4 words that no document contains, such as "zyzzyva" (topic 7), "Qwghlm" (topic 7), '
        '"quux" (topic 9).\n'
    )
    code, _, messages = demo("run", "demo", "t.tsv", "-r", "BM25", "-r", "PL2", "-o", "runs")
    assert code == 0 and messages.count(said) == 1
    Path("q.txt").write_text("7 0 birds-05 1\n8 0 river-08 1\n", encoding="utf-8")
    assert said in demo("compare", "demo", "t.tsv", "q.txt", "-r", "BM25", "-r", "PL2")[2]
    assert said in demo("tune", "demo", "t.tsv", "q.txt", "BM25(b={.3,.5})", "--folds", "2")[2]
    assert said in demo("shell", "demo", "-c", ":topics t.tsv")[2]
    Path("t.tsv").write_text("8\triver\n", encoding="utf-8")
    assert "contains" not in demo("run", "demo", "t.tsv", "-o", "runs", "--overwrite")[2]


def test_a_run_is_made_once_and_says_what_it_replaces(demo):
    code, output, messages = demo("run", "demo", str(TOPICS), "-r", "BM25", "-r", "BM25(k1=1.2)")
    assert (
        code == 0
        and output.count("BM25.run") == 1
        and "BM25(k1=1.2) is the same as BM25, which is run once." in messages
    )
    assert "replaced" not in demo("run", "demo", str(TOPICS))[2]
    said = "The BM25.run that was there was made with other topics, another -k; it is replaced."
    assert said in demo("run", "demo", str(TOPICS), "--fields", "desc", "-k", "5")[2]
    demo("delete", "demo", "sea-01")
    options = ("--fields", "desc", "-k", "5", "--metadata", "header")
    assert "made with another index; it" in demo("run", "demo", str(TOPICS), *options)[2]
    assert "replaced" not in demo("run", "demo", str(TOPICS), *options)[2]
    Path("BM25.run").write_text("1 Q0 a 1 1 x\n")
    assert demo("run", "demo", str(TOPICS))[0] == 2
    assert "had no metadata; it is replaced" in demo("run", "demo", str(TOPICS), "--overwrite")[2]


def test_a_run_that_found_nothing_is_read_again_and_measured(demo):
    Path("none.tsv").write_text(f"1\t{'zzzz ' * 30}\n")
    code, _, messages = demo("run", "demo", "none.tsv")
    assert code == 0 and f"the first is 1: {('zzzz ' * 16)[:79]}…\n" in messages and messages.startswith("1 topic from")
    assert Path("BM25.run").read_bytes() == b""
    code, output, messages = demo("fuse", "BM25.run", "BM25.run")
    assert (code, output) == (0, "") and messages.count("BM25.run holds no hits") == 2
    code, output, messages = demo("eval", str(TOPICS.with_name("qrels.txt")), "BM25.run", "-m", "AP")
    assert code == 0 and output.split()[-1] == "0.0000" and "BM25.run holds no hits" in messages


def test_options_reach_the_engine(demo, monkeypatch):
    from sublex.evaluation import systems
    from sublex.pipeline.index import Index

    calls: list[tuple] = []
    run_system, fit = systems.run_system, Index.fit

    def spy_run(*args, **options):
        calls.append((args[3], options["workers"], options["fresh"]))
        return run_system(*args, **options)

    def spy_fit(index, expression, source=None, **options):
        calls.append((expression, source, options["workers"], options["memory"]))
        return fit(index, expression)

    monkeypatch.setattr(systems, "run_system", spy_run)
    monkeypatch.setattr(Index, "fit", spy_fit)
    topics, qrels = str(TOPICS), str(QRELS)
    assert demo("compare", "demo", topics, qrels, "-r", "BM25", "-k", "7", "--workers", "1", "--fresh")[0] == 0
    assert demo("fit", "demo", "lsi", "--from", "demo", "--seed", "3", "--workers", "1", "--memory", "3GB")[0] == 0
    assert calls == [(7, 1, True), ("lsi(seed=3)", Path("indexes/demo"), 1, 3 << 30)]
    demo("run", "demo", topics, "-o", "a.run", "-k", "9")
    assert "a.run: the first 2 hits of each topic count (-k)." in demo("compare", qrels, "a.run", "-k", "2")[2]
    tune = ("tune", "demo", topics, qrels, "BM25(b={.3,.5})", "--folds", "2", "--format", "json", "--seed")
    folds = [[fold["topics"] for fold in json.loads(demo(*tune, seed)[1])["folds"]] for seed in ("0", "1", "1")]
    assert folds[0] != folds[1] == folds[2]
