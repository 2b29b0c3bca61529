"""Names that an index gives to expressions, and expressions that mean the only fitted model that matches."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from command import invoke
from shared import DEMO, QRELS, TOPICS

import sublex
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError, SublexWarning, UnknownName
from sublex.index.lock import locked
from sublex.index.manifest import commit, read_manifest
from sublex.language.names import check_name
from sublex.language.parser import DEEPEST, parse
from sublex.language.pipelines import LSI, PIPELINES
from sublex.pipeline.index import Index
from sublex.representations.identity import Namer
from sublex.representations.neighbours import STORED

pytestmark = pytest.mark.filterwarnings("error::sublex.SublexWarning", "ignore:.*order of ties:sublex.SublexWarning")
MODEL = "lda(k=3, iterations=20)"


@pytest.fixture(scope="module")
def fitted(built_demo, tmp_path_factory) -> Path:
    """The demo collection with three fitted models; tests copy it."""
    path = tmp_path_factory.mktemp("named") / "demo"
    shutil.copytree(built_demo, path)
    index = sublex.open(path)
    for model in (MODEL, "lsi(e=10)", "fisher(k=2, words=lsi(e=10))"):
        index.fit(model)
    return path


@pytest.fixture
def index(fitted, tmp_path, monkeypatch) -> Index:
    """A copy of the fitted index, in an empty folder."""
    shutil.copytree(fitted, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    return sublex.open("demo")


def forged(index: Index, **names: str) -> Index:
    """Write names into the manifest without any check, and open the index anew."""
    with locked(index.path, "forge"):
        commit(index.path, read_manifest(index.path).next(names=names))
    return sublex.open(index.path)


# What a name stands for.


def test_a_name_ranks_as_what_it_stands_for_and_is_printed_so(index):
    index.name("topics", MODEL)
    index.name("both", "BM25 + 0.3*topics")
    whole = f"BM25 + 0.3*{MODEL}"
    assert str(index.pipeline("both")) == str(index.pipeline("BOTH")) == whole
    assert str(index.pipeline("both % 50 >> zscore(topics)")) == f"({whole}) % 50 >> zscore({MODEL})"
    assert str(index.pipeline(parse("both") >> parse("PL2"))) == f"{whole} >> PL2"
    named, plain = index.search("crane", "both"), index.search("crane", whole)
    assert named.docnos == plain.docnos and named.scores.tolist() == plain.scores.tolist()
    assert index.explain("crane", "birds-05", "both") == index.explain("crane", "birds-05", whole)
    run = index.run(TOPICS, "both", k=5)
    assert run.metadata["method"]["expression"] == whole and "both" not in json.dumps(run.metadata["method"])
    assert run.tag == "both" and index.run(TOPICS, whole, k=5).tag == whole.replace(" ", "")
    # A run is repeated from its metadata without the name.
    index.unname("both")
    again = index.run(TOPICS, run.metadata["method"]["expression"], k=5)
    assert again.docs.tolist() == run.docs.tolist() and again.scores.tolist() == run.scores.tolist()


def test_names_stand_wherever_an_expression_is_taken(index):
    for name, text in (
        ("topics", MODEL),
        ("both", "BM25 + 0.3*topics"),
        ("words", "lsi(e=10)"),
        ("found", "BM25 >> RM3"),
    ):
        index.name(name, text)
    assert index.fitted_model("topics").name == index.representation("Topics").name == MODEL
    assert index.card("topics") == index.card(MODEL)
    hits = index.search("river", "BM25")
    assert index.facets(hits, "topics") == index.facets(hits, MODEL)
    assert index.searcher("BM25") and index.labelled_models("both") == [MODEL]
    # As the value of a parameter, also of a filter, and in a chain, which stays one chain.
    assert index.fitted_model("fisher(k=2, words=words)").name == "fisher(k=2, words=lsi(e=10))"
    assert str(index.pipeline("BM25 >> topic(1, of=topics)")) == f"BM25 >> topic(1, {MODEL})"
    assert str(index.pipeline("found >> PL2")) == "BM25 >> RM3 >> PL2"
    compared = sublex.compare(index, TOPICS, QRELS, ["BM25", "both"], "R@1000")
    assert [system.name for system in compared.systems] == ["BM25", "both"]
    assert [system.expression for system in compared.systems] == ["BM25", f"BM25 + 0.3*{MODEL}"]
    assert f"both stands for BM25 + 0.3*{MODEL}" in str(compared) and "BM25 stands" not in str(compared)
    index.name("tried", "PL2 + {0,1}*topics")
    tuned = sublex.tune(index, TOPICS, QRELS, "tried", "R@1000")
    assert tuned.expression == f"PL2 + {{0,1}}*{MODEL}" and tuned.names == ("weight of lda",)
    index.name("two", "lsi(e=2)")
    index.fit("two")
    assert "lsi(e=2)" in {entry.expression for entry in index.fitted.values()}
    index.forget("two")
    assert "lsi(e=2)" not in {entry.expression for entry in index.fitted.values()} and "two" in index.names


def test_a_ranker_has_a_name_for_one_command(index):
    given = ("./demo", str(TOPICS), str(QRELS), "-m", "AP", "-r", "mine=BM25 >> RM3 >> BM25", "-r", "PL2")
    done, plain = invoke("compare", *given), invoke("compare", *given[:-3], "BM25 >> RM3 >> BM25", "-r", "PL2")
    assert "* mine stands for BM25 >> RM3 >> BM25\n" in done.output
    figures = [shown.output.split("\n\n")[0].replace("BM25 >> RM3 >> BM25", "mine").split() for shown in (done, plain)]
    assert figures[0] == figures[1] and "mine" in figures[0]
    (one, other) = json.loads(invoke("compare", *given, "--format", "json").output)["systems"]
    assert (one["name"], one["expression"], other["name"]) == ("mine", "BM25 >> RM3 >> BM25", "PL2")
    assert invoke("run", *given[:2], "-r", given[-3], "-o", "runs").code == 0
    assert sublex.read_run("runs/mine.run").metadata["method"]["expression"] == "BM25 >> RM3 >> BM25"
    assert invoke("compare", *given, "--save-study", "study.toml").code == 0
    assert '"mine" = "BM25 >> RM3 >> BM25"' in Path("study.toml").read_text()
    for written, sentence in (
        ("BM25=PL2", "BM25 is a component, which no name may hide; choose another name."),
        ("1st=PL2", "1st cannot be a name; take a letter first, then letters, digits, _ and -, 64 in all."),
    ):
        done = invoke("compare", *given[:3], "-r", written, "-r", "PL2")
        assert done.code == 2 and sentence in done.messages
    done = invoke("run", *given[:2], "-r", "BM25", "-r", "PL2", "-o", "one.run")
    assert (
        done.code == 2
        and "one.run is a file for one run, and there are 2; name a folder, such as one/" in done.messages
    )
    # One ranker, written in two ways, makes one run.
    assert invoke("run", *given[:2], "-r", "BM25", "-r", "bm25", "-o", "one.run").code == 0
    assert Path("one.run").is_file()


def test_commands_take_names(index):
    assert invoke("name", "./demo", "topics", MODEL) == (0, f"topics stands for {MODEL} in demo\n", "")
    assert invoke("name", "./demo", "both", "BM25 + 0.3*topics").code == 0
    whole = f"BM25 + 0.3*{MODEL}"
    assert invoke("name", "./demo").output.splitlines() == [
        "name    expression", "both    BM25 + 0.3*topics", f"topics  {MODEL}",
    ]  # fmt: skip
    assert "names " in invoke("info", "./demo").output and "both, topics" in invoke("info", "./demo").output
    assert invoke("name", "./demo", "BOTH").output == "both stands for BM25 + 0.3*topics\n"
    for words in (
        ("search", "./demo", "crane", "-r"), ("explain", "./demo", "crane", "birds-05", "-r"),
        ("compare", "./demo", str(TOPICS), str(QRELS), "--format", "csv", "-r", "BM25", "-r"),
        ("tune", "./demo", str(TOPICS), str(QRELS), "-m", "P@5", "--steps", "2"),
    ):  # fmt: skip
        text = "PL2 + {0,1}*" if words[0] == "tune" else ""
        named, plain = invoke(*words, f"{text}topics"), invoke(*words, f"{text}{MODEL}")
        assert named.code == plain.code == 0
        if words[0] != "compare":
            assert named.output == plain.output, words
    assert invoke("card", "./demo", "topics").output == invoke("card", "./demo", MODEL).output
    of = ("search", "./demo", "river", "--facets", "2", "--of")
    assert invoke(*of, "topics").output == invoke(*of, MODEL).output
    assert invoke("encode", "./demo", "topics", "-o", "vectors.npz").code == 0
    assert invoke("run", "./demo", str(TOPICS), "-r", "both", "-o", "runs").code == 0
    assert [path.name for path in Path("runs").glob("*.run")] == ["both.run"]
    assert f"BM25 + 0.3*{MODEL}" in Path("runs/both.run.yaml").read_text()
    # What the name stands for is shown once, below the table.
    shown = invoke("eval", str(QRELS), "runs/both.run", "-m", "AP").output
    assert shown.splitlines()[1].startswith("both  0.") and shown.endswith(
        f"\n\n* both stands for BM25 + 0.3*{MODEL}\n"
    )
    assert f'expression: "{whole}"' in next(Path("runs").glob("*.yaml")).read_text()
    done = invoke("unname", "./demo", "topics")
    assert (done.code, done.messages) == (2, "sublex: both contains topics; change that first.\n")
    assert invoke("unname", "./demo", "both").code == invoke("unname", "./demo", "Topics").code == 0
    assert invoke("name", "./demo").output == "name  expression\n" or not sublex.open("demo").names


def test_a_model_is_fitted_under_a_name(index):
    done = invoke("fit", "./demo", "lsi(e=3)", "--as", "small", "--seed", "1")
    assert done.code == 0 and sublex.open("demo").names == {"small": "lsi(e=3, seed=1)"}
    fits = len(sublex.open("demo").fitted)
    for name, reason in (("lsi", "is a component"), ("a b", "cannot be a name"), ("raw", "another meaning")):
        done = invoke("fit", "./demo", "lsi(e=4)", "--as", name)
        assert done.code == 2 and reason in done.messages
    done = invoke("fit", "./demo", "lsi(e=4)", "lsi(e=5)", "--as", "two")
    assert done.code == 2 and "--as two names one model" in done.messages
    # A mistake in the name costs no fit.
    assert len(sublex.open("demo").fitted) == fits


def test_names_follow_what_they_contain(index):
    index.name("inner", "PL2")
    index.name("outer", "BM25 + inner")
    assert index.name("inner", "TFIDF") == "PL2"
    assert str(index.pipeline("outer")) == "BM25 + TFIDF"
    done = invoke("name", "./demo", "inner", "DFI")
    assert done.output == "inner stands for DFI in demo; before, it stood for TFIDF\n"


def test_names_stay_in_the_index_and_change_nothing_else(index):
    before = read_manifest(index.path)
    assert "names" not in json.loads((index.path / "index.json").read_text())
    index.name("both", "BM25 + PL2")
    index.add([{"id": "new", "text": "A crane."}])
    index.delete("new")
    index.merge()
    assert sublex.open(index.path).names == {"both": "BM25 + PL2"}
    with pytest.warns(SublexWarning, match="The models fitted to the replaced index are gone"):
        sublex.build(DEMO, index.path, overwrite=True)
    assert sublex.open(index.path).names == {"both": "BM25 + PL2"}
    assert read_manifest(index.path).fingerprint == before.fingerprint
    sublex.open(index.path).unname("both")
    assert "names" not in json.loads((index.path / "index.json").read_text())


def test_an_interrupted_commit_keeps_the_names_from_before(index, monkeypatch):
    index.name("both", "BM25 + PL2")
    from sublex.index.directory import Directory

    def killed(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Directory, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            index.name("both", "PL2")
        with pytest.raises(KeyboardInterrupt):
            index.unname("both")
    assert sublex.open(index.path).names == {"both": "BM25 + PL2"}


# Which names are allowed.


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("BM25", "is a component"), ("bm25", "is a component"), ("LSI", "is a component"), ("topic", "is a component"),
        ("minmax", "another meaning"), ("True", "another meaning"), ("inf", "another meaning"), ("none", "another meaning"),
        ("rerank", "another meaning"), ("lambda", "another meaning"), ("not", "another meaning"),
        ("lda-0123456789abcdef", "another meaning"), ("a b", "cannot be a name"), ("", "cannot be a name"),
        ("4", "cannot be a name"), ("rankers:BM25", "cannot be a name"), ("x.run", "cannot be a name"),
        ("a/b", "cannot be a name"), ("x" * 65, "cannot be a name"), ("x\n", "cannot be a name"), ("-x", "cannot be a name"),
    ],
)  # fmt: skip
def test_no_name_hides_what_means_something_already(index, name, reason):
    with pytest.raises(InputError, match=reason):
        index.name(name, "PL2")
    assert not index.names


def test_the_name_of_a_component_that_is_lost_is_not_free(index, monkeypatch):
    registry = Namer(index.path, None).registry
    with pytest.raises(InputError, match="is a component"):
        check_name("gone", registry, ["gone"])
    registry.miss("lost", "it is not installed")
    with pytest.raises(InputError, match="is a component"):
        check_name("lost", registry)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("x", "stands for itself: x > x"), ("BM25 + x", "stands for itself"), ("nothing", "No component nothing"),
        ("BM25(k=1)", "has no parameter k"), ("BM25 >>", "Expected a name"), ("zscore(x)", "stands for itself"),
        ('vectors("/etc/passwd")', "is no resource of the index"),
        ('fisher(words=vectors("/etc/passwd"))', "is no resource of the index"),
    ],
)  # fmt: skip
def test_a_name_needs_an_expression_that_can_be_used(index, expression, reason):
    with pytest.raises(SublexError, match=reason):
        index.name("x", expression)
    assert not index.names


def test_names_that_contain_each_other_are_refused(index):
    index.name("a", "BM25")
    index.name("b", "a + PL2")
    with pytest.raises(InputError, match="stands for itself: "):
        index.name("a", "0.5*b + PL2")
    assert index.names["a"] == "BM25"


def test_a_name_takes_no_parameters_and_misspelt_ones_are_suggested(index):
    index.name("both", "BM25 + PL2")
    with pytest.raises(InputError, match=r"both is a name for BM25 \+ PL2, and takes no parameters"):
        index.pipeline("both(k=3)")
    with pytest.raises(UnknownName, match=r"No component boht; did you mean both\? To list the names: sublex name"):
        index.pipeline("boht")
    with pytest.raises(IndexProblem, match=r"No name boht; did you mean both"):
        index.unname("boht")


# Names of a hostile index.


@pytest.mark.slow
def test_hostile_names_cost_a_sentence(index, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("crane 1 0\n")
    bomb = {"x0": "BM25 + PL2"} | {f"x{n}": f"x{n - 1} + x{n - 1}" for n in range(1, 25)}
    deep = {"y0": "BM25"} | {f"y{n}": f"{'(' * 20}zscore(y{n - 1}){')' * 20}" for n in range(1, 29)}
    nested = {"z0": "BM25"} | {f"z{n}": f"zscore(raw(rank(z{n - 1})))" for n in range(1, 20)}
    nested |= {"a0": "BM25"} | {f"a{n}": f"{'zscore(raw(' * 14}a{n - 1}{'))' * 14}" for n in range(1, 29)}
    chain = {"w0": "BM25"} | {f"w{n}": f"w{n - 1}" for n in range(1, DEEPEST + 10)}
    others = {"one": "two", "two": "one", "file": f'vectors("{secret}")', "BM25": "PL2", "raw": "PL2", "ok": "PL2"}
    hostile = forged(index, **bomb, **deep, **nested, **chain, **others)
    for name, reason in {
        "x24": "stands for too much", "z19": "too deep", "a28": "too", f"w{DEEPEST + 9}": "stands for too much",
        "one": "stands for itself: one > two > one", "file": "is no resource of the index",
    }.items():  # fmt: skip
        with pytest.raises(InputError, match=reason) as caught:
            hostile.pipeline(name)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    # A component stays what it is, and other names work.
    assert str(hostile.pipeline("BM25")) == "BM25" and str(hostile.pipeline("ok + raw(BM25)")) == "PL2 + raw(BM25)"
    done = invoke("name", "./demo")
    assert done.code == 0 and "is a component now, which hides it" in done.output and "stands for itself" in done.output
    assert invoke("search", "./demo", "crane", "-r", "one").code == 2 and invoke("check", "./demo").code == 0


@pytest.mark.parametrize(
    "names", [{"a b": "PL2"}, {"../x": "PL2"}, {"x\x1b": "PL2"}, {"x": "PL2 >>"}, {"x": 3}, {"x": "("  * 40}, ["x"], "x"]
)  # fmt: skip
def test_a_manifest_with_broken_names_is_refused_in_a_sentence(index, names):
    with locked(index.path, "forge"):
        commit(index.path, read_manifest(index.path).next(names=names))
    with pytest.raises(IndexCorrupt, match=r"index.json is damaged: names.* should be .*; rebuild the index"):
        sublex.open(index.path)
    done = invoke("search", "./demo", "crane")
    assert done.code == 2 and done.messages.count("\n") == 1 and "\x1b" not in done.messages


# Expressions that mean the only fitted model that matches.


def means(index: Index, expression: str) -> str:
    """Return what an expression is read as; its warnings are looked at elsewhere."""
    return index.meaning(expression)[0]


@pytest.mark.slow
def test_a_plain_name_means_the_only_fitted_model_and_says_so(index):
    text, notes = index.meaning("PL2 + 0.3*lda")
    assert text == f"PL2 + 0.3*{MODEL}"
    assert notes == (f"lda means {MODEL} here, the only fitted model that matches; its defaults are not fitted.",)
    with pytest.warns(SublexWarning, match="lda means") as caught:
        run = index.run(TOPICS, "PL2 + 0.3*lda", k=3)
    assert caught[0].filename == __file__ and run.metadata["method"]["expression"] == text
    with pytest.warns(SublexWarning, match="lda means"):
        assert index.fitted_model("lda").name == MODEL
    for words in (
        ("search", "./demo", "crane", "-r", "lda"), ("card", "./demo", "lda"), ("explain", "./demo", "crane", "birds-05", "-r", "lda"),
        ("encode", "./demo", "lda", "-o", "v.npz"), ("search", "./demo", "crane", "--facets", "1", "--of", "lda"),
        ("run", "./demo", str(TOPICS), "-r", "lda", "-o", "out"),
        ("compare", "./demo", str(TOPICS), str(QRELS), "-r", "BM25", "-r", "lda"),
        ("tune", "./demo", str(TOPICS), str(QRELS), "PL2 + {0,1}*lda"),
    ):  # fmt: skip
        done = invoke(*words)
        assert done.code == 0 and done.messages.count(notes[0]) == 1, words


def test_what_is_given_has_to_match(index):
    assert means(index, "lda(k=3)") == means(index, "lda(3)") == means(index, "lda(iterations=20)") == MODEL
    assert "; lda(k=3) itself is not fitted" in index.meaning("lda(k=3)")[1][0]
    # A value that is given matches no other, also if it is the default.
    for text in ("lda(k=4)", "lda(k=3, iterations=500)", "lda(iterations=500)", "lda(3, method=variational)"):
        assert means(index, text) != MODEL
        with pytest.raises(IndexProblem, match="No lda"):
            index.fitted_model(text)
    # Values for queries change no model, so they stay as they are given.
    assert means(index, "lsi(find=approximate)") == "lsi(e=10, find=approximate)"
    assert means(index, "lsi(10, find=approximate)") == "lsi(e=10, find=approximate)"
    # Also within other models: the whole has to be fitted, whatever its parts would mean by themselves.
    assert means(index, "fisher(words=lsi)") == means(index, "fisher(k=2)") == "fisher(k=2, words=lsi(e=10))"
    index.fit("lsi(e=5)")
    assert means(index, "fisher(words=lsi)") == "fisher(k=2, words=lsi(e=10))"
    assert means(index, "fisher(words=lsi(e=5))") == "fisher(words=lsi(e=5))"
    assert str(index.meaning("BM25 >> topic(1, of=lda)")[0]) == f"BM25 >> topic(1, of={MODEL})"


def test_parameters_without_a_default_may_be_left_out_too(index):
    Path("words.txt").write_text("crane 1 0\nriver 0 1\n")
    Path("other.txt").write_text("crane 1 2\nriver 3 1\n")
    index.add_resource("words", "words.txt")
    index.fit("vectors(words, idf=false)")
    text, notes = index.meaning("BM25 + 0.3*vectors(find=approximate)")
    assert text == "BM25 + 0.3*vectors(words, idf=false, find=approximate)"
    assert notes[0].endswith("means vectors(words, idf=false) here, the only fitted model that matches.")
    assert means(index, "vectors(words)") == "vectors(words, idf=false)"
    assert means(index, "vectors(idf=true)") == "vectors(idf=true)"
    # The index of a model with such an expression can have names, and a plugin that is lost is still named as the cause.
    index.name("both", "BM25 + 0.3*vectors(words)")
    with pytest.raises(UnknownName, match="No component nothing"):
        index.pipeline("nothing")
    index.fit("vectors(words)")
    assert means(index, "vectors(words)") == "vectors(words)"
    with pytest.raises(IndexProblem, match="vectors matches 2 fitted models"):
        index.pipeline("vectors")


def test_the_defaults_come_first_and_several_models_are_listed(index):
    index.fit("lsi(e=5)")
    with pytest.raises(
        IndexProblem, match=r"lsi matches 2 fitted models of demo.*: lsi\(e=10\), lsi\(e=5\)\. Write one"
    ) as caught:
        index.pipeline("BM25 + lsi")
    assert "sublex name demo NAME 'lsi(e=10)'" in str(caught.value) or "sublex name ./demo NAME" in str(caught.value)
    assert means(index, "lsi(e=5)") == "lsi(e=5)"
    index.fit("lsi(e=20)")
    index.fit("lsi")
    assert means(index, "lsi") == "lsi" and str(index.pipeline("lsi")) == "lsi"


def test_fitting_and_forgetting_take_what_is_written(index):
    done = invoke("forget", "./demo", "lsi")
    assert done.code == 2 and "No lsi in demo" in done.messages
    index.fit("lsi")
    assert {"lsi", "lsi(e=10)"} <= {entry.expression for entry in index.fitted.values()}


def test_a_model_that_is_outdated_is_not_passed_over(index, monkeypatch):
    index.fit("lsi")
    from sublex_lsi.representation import LSIRepresentation

    monkeypatch.setattr(LSIRepresentation, "version", "another")
    index.fit("lsi(e=7)")
    with pytest.raises(IndexProblem, match="lsi was fitted in demo with another version of the plugin"):
        sublex.open(index.path).pipeline("lsi")


# The built-in names.


def test_built_in_names_stand_for_pipelines_in_every_index(index):
    assert str(index.pipeline("good")) == str(index.pipeline("GOOD")) == "Burst >> BM25 >> Sharp >> BM25"
    whole = index.written_out("BM25 + 0.1*(best % 20)")
    assert str(whole) == f"BM25 + 0.1*({PIPELINES['best']}) % 20"
    assert str(index.written_out("best(find=approximate)")) == (
        PIPELINES["best"]
        .replace(f"*{LSI} ", f"*{LSI} % 0 ")
        .replace("score=likelihood)", "score=likelihood) % 0")
        .replace("*chars", "*chars % 0")
    )
    assert not index.names


def test_each_built_in_name_parses_and_prints_as_itself(index):
    assert set(PIPELINES) == {"good", "better", "best"}
    for text in PIPELINES.values():
        assert str(parse(text)) == text


def test_built_in_names_are_listed_unless_a_name_hides_them(index):
    done = invoke("name", "demo")
    assert "Built in: good, better, best. To see what one stands for: sublex name ./demo best" in done.messages
    index.name("BEST", "BM25")
    assert "Built in: good, better." in invoke("name", "demo").messages


def test_a_name_of_the_index_hides_the_built_in_one(index):
    assert index.name("Best", "BM25 + 0.1*good") == ""
    assert str(index.pipeline("best")) == "BM25 + 0.1*(Burst >> BM25 >> Sharp >> BM25)"
    assert invoke("name", "demo", "best").output == "Best stands for BM25 + 0.1*good\n"
    index.unname("best")
    assert invoke("name", "demo", "best").output == f"best is built in and stands for {PIPELINES['best']}\n"
    with pytest.raises(IndexProblem, match="best is built in, and not a name of"):
        index.unname("best")
    with pytest.raises(InputError, match="The name best stands for itself: best > best"):
        index.name("best", "best + lsi")
    told = invoke("name", "demo", "good", "BM25").output
    assert told == f"good stands for BM25 in demo; before, it stood for {PIPELINES['good']}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("best(3)", "best takes nothing but find=exact or find=approximate"),
        ("best(find=nearly)", "best takes nothing but find=exact or find=approximate"),
        ("best(e=3)", "best takes nothing but find=exact or find=approximate"),
        ("good(find=approximate)", "good has no part that could find approximately; write good"),
        ("bestt", "No component bestt; did you mean best?"),
        (
            "better",
            r"better needs lsi\(e=200\), near\(.*\), not fitted in demo; run: sublex fit ./demo better",
        ),
        (
            "best(find=approximate)",
            r"best\(find=approximate\) needs .*; run: sublex fit ./demo 'best\(find=approximate\)'",
        ),
    ],
)
def test_a_wrong_use_of_a_built_in_name_costs_a_sentence(index, text, message):
    with pytest.raises(SublexError, match=message):
        index.pipeline(text)


def test_fit_takes_a_pipeline_and_says_before_what_it_costs(index):
    shown = invoke("fit", "demo", "better")
    told, done = shown.messages, shown.output
    for name in PIPELINES:
        assert all(index.cost_of(model) for model in index.models_in(name))
    cost = r"better fits lsi\(e=200\), near\(.*\), which takes about \d+ \w+ on \d+ cores? and \d+ MB\."
    assert re.match(cost, told) and "is fitted on demo" in done
    assert sublex.open("demo").search("cranes", "better").docnos
    assert "was fitted already" in invoke("fit", "demo", "better", "BM25 + 0.2*lsi(e=10)").output
    assert invoke("fit", "demo", "good").output == "good needs no fitted model.\n"


def test_a_pipeline_is_fitted_from_python(index):
    text = "BM25 + 0.2*lsi(e=10) + 0.1*lsi(e=12)"
    index.fit(text)
    generation = index.generation
    assert all(map(index.is_fitted, ("lsi(e=10)", "lsi(e=12)"))) and index.search("cranes", text).docnos
    index.fit(text)
    assert index.generation == generation
    with pytest.raises(InputError, match="not a single component"):
        index.fit("good")


def test_the_card_of_a_pipeline_names_its_models_and_what_is_missing(index):
    near = f"near({LSI}, own=0.7)"
    shown = invoke("card", "demo", "best", "--format", "json")
    assert [(row["model"], row["fitted"]) for row in json.loads(shown.output)] == [
        (LSI, "no"), ("lda(score=likelihood)", "no"), ("chars", "no"), (near, "no"),
    ]  # fmt: skip
    assert all(float(row["about MB"].replace(",", "")) >= 0 for row in json.loads(shown.output))
    assert "Not all models are fitted; run: sublex fit ./demo best" in shown.messages
    index.fit(LSI)
    index.fit(near)
    shown = invoke("card", "demo", "better", "--format", "json")
    assert [row["fitted"] for row in json.loads(shown.output)] == ["yes", "yes"]
    assert f"better is {PIPELINES['better']}." in shown.messages and "Not all" not in shown.messages
    good = invoke("card", "demo", "good")
    assert good.code == 0 and "good needs no fitted model." in good.messages
    assert invoke("card", "demo", "best", "-o", "page.html").code == 2 and not Path("page.html").exists()


def test_the_cost_of_a_fit_grows_with_the_collection_and_the_model(index):
    small, large = index.cost_of("lsi(e=10)"), index.cost_of("lsi(e=100)")
    assert large.seconds == pytest.approx(10 * small.seconds) and large.nbytes > small.nbytes
    assert index.cost_of(MODEL).seconds * 20 == pytest.approx(index.cost_of("lda(k=3, iterations=400)").seconds)
    assert index.cost_of(f"near({LSI})").nbytes == len(index) * STORED * 8
    assert index.cost_of("fisher") is None and index.is_fitted("lsi(e=10)") and not index.is_fitted("lsi(e=11)")


def test_a_run_has_what_a_built_in_name_stands_for(index, tmp_path):
    assert invoke("run", "demo", str(TOPICS), "-r", "good", "-o", "good.run").code == 0
    assert "Burst >> BM25 >> Sharp >> BM25" in (tmp_path / "good.run.yaml").read_text()
