"""The command line: its output, its messages, its exit codes, and one sentence for every mistake."""

from __future__ import annotations

import ast
import gzip
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest
from click.testing import CliRunner
from shared import DEMO, QRELS, ROOT, SUBLEX, TOPICS

import sublex as sublex_module
from sublex import cli, operations
from sublex.cli import meant
from sublex.cli.context import CommandContext
from sublex.cli.deriving import command_of
from sublex.faces import output
from sublex.forms.tables import Table
from sublex.operations import OperationContext


def test_the_bare_program_prints_its_help(sublex):
    code, output, messages = sublex()
    assert code == 0 and messages == "" and output == sublex("--help")[1] and len(output.splitlines()) > 30


def rows(output: str) -> dict[str, str]:
    """Return the rows of a table: the text after the first column, by the text of the first column."""
    return {line[:31].strip(): line[31:].strip() for line in output.splitlines()[1:]}


def test_a_build_says_what_it_read_and_ends_with_a_table(sublex):
    code, output, messages = sublex("index", "demo", str(DEMO))
    assert code == 0 and output.startswith("Index indexes/demo\nread")
    assert rows(output)["indexed"] == "252"
    assert f"Reading {DEMO} as jsonl." in messages and "docno from id; text from text; title from title" in messages


def test_the_table_names_what_was_odd_and_a_file_lists_all(sublex):
    lines = ['{"id": "a", "text": "whale"}', "broken", '{"id": "a", "text": "again"}', '{"id": "b c", "text": ""}']
    Path("odd.jsonl").write_text("\n".join(lines))
    code, output, messages = sublex("index", "odd", "odd.jsonl")
    found = rows(output)
    assert code == 0
    assert [found[k].split()[0] for k in list(found)[:6]] == ["4", "2", "1", "1", "1", "1"]
    assert "odd.jsonl:2: not JSON: Expecting value" in output and "b c" in output
    assert "33% of the documents give no terms" in messages
    listing = Path("indexes/odd/last-build.tsv").read_text().splitlines()
    assert [line.split("\t")[1] for line in listing] == ["b c", "a", "odd.jsonl:2: not JSON: Expecting value", "b c"]


def test_every_option_of_index_reaches_the_function_that_python_calls(sublex, monkeypatch):
    """A profile that the user does not name is left to `build`, since another engine has its own."""
    given: list[tuple[tuple, dict]] = []
    real = sublex_module.build

    def build(*args, **options):
        given.append((args, {k: v for k, v in options.items() if k not in ("progress", "say")}))
        return real(*args, **options)

    monkeypatch.setattr(sublex_module, "build", build)
    Path("a.jsonl").write_text('{"id": "d1", "title": "A", "text": "crane", "a": 1, "b": "b", "c": "c"}\n')
    options = "--reader jsonl --profile pisa --analyzer plain --store terms --workers 1 --memory 64MB"
    options += " --fields text --fields title --columns a:int --columns b,c --resume --reorder --strict"
    assert sublex("index", "x", "a.jsonl", "--overwrite", *options.split())[0] == 0
    assert sublex("index", "y", "a.jsonl", "--reader", "jsonl")[0] == 0
    default = {
        "reader": "jsonl", "profile": None, "analyzer": None, "store": "text,terms", "fields": "", "columns": "",
        "workers": None, "memory": "1GB", "backend": None, "resume": False, "overwrite": False, "reorder": False, "strict": False,
    }  # fmt: skip
    named = {
        "profile": "pisa", "analyzer": "plain", "store": "terms", "fields": "text,title", "columns": "a:int,b,c",
        "workers": 1, "memory": "64MB", "resume": True,
        "overwrite": True, "reorder": True, "strict": True,
    }  # fmt: skip
    places = [(["a.jsonl"], Path("indexes/x")), (["a.jsonl"], Path("indexes/y"))]
    assert given == [(places[0], default | named), (places[1], default)]
    built = sublex_module.open("x")
    assert (built.profile, built.store, built.snapshot.analyzer_expression) == ("pisa", {"terms"}, "plain")


def test_json_output_is_for_programs(demo):
    assert json.loads(demo("info", "demo", "--format", "json")[1])["documents"] == 252
    assert json.loads(demo("terms", "demo", "crane", "--format", "json")[1]) == [
        {"term": "crane", "df": 9, "cf": 11, "written": "crane"}
    ]
    assert json.loads(demo("doc", "demo", "sea-01", "--format", "json")[1])["fields"] == {"theme": "sea"}
    assert json.loads(demo("analyze", "Cranes!", "--format", "json")[1])["terms"] == ["crane"]
    report = json.loads(demo("index", "more", str(DEMO), "--format", "json")[1])
    assert report["index"] == "indexes/more" and report["outcome"]["read"]["count"] == 252


def test_standard_input_and_compressed_files_are_collections_too(sublex):
    data = DEMO.read_bytes()
    assert rows(sublex("index", "piped", "-", stdin=data)[1])["indexed"] == "252"
    assert rows(sublex("index", "zipped", "-", stdin=gzip.compress(data))[1])["indexed"] == "252"
    Path("demo.jsonl.gz").write_bytes(gzip.compress(data))
    assert rows(sublex("index", "file", "demo.jsonl.gz")[1])["indexed"] == "252"
    fingerprints = {
        json.loads(sublex("info", name, "--format", "json")[1])["fingerprint"] for name in ("piped", "zipped", "file")
    }
    assert len(fingerprints) == 1


def test_a_bare_name_is_looked_up_in_its_home(sublex, tmp_path, monkeypatch):
    sublex("index", "here", str(DEMO))
    assert (tmp_path / "indexes" / "here" / "index.json").exists()
    monkeypatch.setenv("SUBLEX_INDEXES", str(tmp_path / "elsewhere"))
    sublex("index", "there", str(DEMO))
    assert (tmp_path / "elsewhere" / "there" / "index.json").exists()
    monkeypatch.delenv("SUBLEX_INDEXES")
    (tmp_path / "indexes").rename(tmp_path / "moved")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    sublex("index", "home", str(DEMO))
    assert (tmp_path / "data" / "sublex" / "indexes" / "home" / "index.json").exists()
    assert sublex("info", "moved/here")[0] == 0
    # A folder called indexes hides the indexes of the user; the message says where the one is that was meant.
    (tmp_path / "indexes").mkdir()
    code, _, said = sublex("info", "home")
    place = tmp_path / "data" / "sublex" / "indexes" / "home"
    assert code == 2 and f"No index at indexes/home; there is one at {place}, which is found by its path" in said


def test_check_says_sound_or_names_the_damage_with_exit_code_1(demo):
    assert demo("check", "demo") == (0, "indexes/demo is sound\n", "")
    path = next(Path("indexes/demo/segments").glob("*/tails.npy"))
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    code, output, _ = demo("check", "demo")
    assert code == 1 and "tails.npy is damaged" in output


def test_what_lacks_a_stored_part_names_the_rebuild(sublex):
    sublex("index", "bare", str(DEMO), "--store", "none")
    code, _, message = sublex("doc", "bare", "sea-01")
    assert code == 2 and "sublex index indexes/bare SOURCE… --overwrite --store text" in message


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["index", "x", "absent.jsonl"], "No file or folder absent.jsonl."),
        (["index", "x", "empty.jsonl"], "empty.jsonl is empty."),
        (["index", "x", "blank.jsonl"], "No reader knows the format of blank.jsonl"),
        (["index", "x", "noise.bin"], "No reader knows the format of noise.bin"),
        (
            ["index", "x", "noise.bin", "--reader", "jsonl"],
            "There is no document to index; the first of 2 malformed records",
        ),
        (["index", "x", str(DEMO), "--reader", "jsonk"], "No reader jsonk; did you mean json?"),
        (["index", "x", "cut.jsonl.gz"], "cut.jsonl.gz is cut short"),
        (
            ["index", "demo", str(DEMO)],
            "indexes/demo is already an index; replace it by --overwrite (in Python overwrite=True), or add documents to it: sublex add ",
        ),
        (["index", "x", str(DEMO), "--memory", "lots"], "lots is not a size; write for example 512MB or 2GB."),
        (
            ["index", "x", str(DEMO), "--store", "words"],
            "Cannot store words; there are text, terms, positions, or none.",
        ),
        (["index", "x", str(DEMO), "--profile", "lucene"], "No profile lucene"),
        (["index", "x", str(DEMO), "--analyzer", "english(stop=3"], "Cannot read 'english(stop=3'"),
        (
            ["index", "x", str(DEMO), "--analyzer", "english(stem=porter3)"],
            "stem=porter3 is unknown; did you mean porter? There are: porter, porter2",
        ),
        (["index", "./noise.bin", str(DEMO)], "noise.bin is a file, not a folder for an index."),
        (["index", "./other", str(DEMO)], "other holds other files and is not an index; choose another place."),
        (["index", "x", "irds:nothing-of-that-name"], "nothing-of-that-name"),
        (["index", "x", str(QRELS)], "qrels.txt holds relevance judgements, not documents; name the files of"),
        (["index", "x", "mine.tsv"], "mine.tsv holds relevance judgements, not documents"),
        (["index", "x", "mine.txt"], "mine.txt holds a run, not documents; name the files of the collection."),
        (["explain", "demo", "the of", "sea-01"], "No term is left of the query, so there is no score"),
        (["add", "x", str(DEMO)], "No index at indexes/x"),
        (["add", "demo", str(DEMO)], "Document birds-01 is there twice, so nothing was added"),
        (["info", "other/"], "other is not an index: it has no index.json."),
        (["info", ""], "An index needs a name or a path."),
        (["doc", "demo", "sea-99"], "No document sea-99 in indexes/demo."),
        (["delete", "demo", "sea-01", "sea-99"], "No document sea-99 in the index, so nothing was deleted."),
        (["analyze", "demo", "x", "--analyzer", "english"], "Name an index or --analyzer, not both."),
        (["indx"], "No command indx; did you mean index?"),
        (["index"], "Missing argument 'INDEX'; see sublex index --help."),
        (["terms", "demo", "-n", "-1"], "'-n': -1 has to be at least 0"),
        (["info", "demo", "--terms", "-5"], "'--terms': -5 has to be at least 0"),
        (["info", "x" * 5000], "No file system takes a name as long as xxx"),
        (["index", "x" * 300, str(DEMO)], "No file system takes a name as long as xxx"),
        (["search", "demo", "-foo"], "No option -f; if it is no option, write -- before it"),
        (["search", "demo", "crane", "-k", "0"], "'-k': 0 has to be at least 1"),
        (["search", "demo", "crane", "-r", "bm52"], "did you mean BM25?"),
        (["search", "demo", "crane", "-r", "BM25(k=1)"], "BM25 has no parameter k; did you mean k1?"),
        (["search", "demo", "crane", "-k", "ten"], "'-k': 'ten' is not a whole number; see sublex search --help."),
        (["tune", "demo", "t", "q", "BM25", "--folds", "x"], "'--folds': 'x' is not a whole number"),
        (["search", "demo", "crane", "wing"], "put it in quotes: sublex search demo 'crane wing'"),
        (["explain", "demo", "crane", "wing", "birds-05"], "for: birds-05; put text of several words in quotes; see"),
        (
            ["search", "dmeo", "crane"],
            "No index at indexes/dmeo; did you mean demo? To list all indexes: sublex indexes",
        ),
        (["info", "nothing"], "No index at indexes/nothing; make one by: sublex index indexes/nothing FILE…"),
        (["search", "demo", "crane", "-r", "nothing"], "No component nothing; there are:"),
        (["index", "x", str(DEMO), "--analyzer", ""], "Cannot read ''"),
        (["search", "demo", "crane", "-r", ""], "The expression after -r is empty; write for example -r BM25"),
        (["index", "x", ""], "No file or folder ''."),
        (["doc", "demo", ""], "No document '' in indexes/demo."),
    ],
)
def test_a_mistake_costs_one_sentence_and_nothing_is_lost(demo, arguments, sentence):
    Path("empty.jsonl").write_bytes(b"")
    Path("blank.jsonl").write_bytes(b"\n \n")
    Path("noise.bin").write_bytes(bytes(range(256)))
    Path("cut.jsonl.gz").write_bytes(gzip.compress(DEMO.read_bytes())[:-1000])
    Path("mine.txt").write_text("1 Q0 a 1 2.5 tag\n1 Q0 b 2 1e-3 tag\n")
    Path("mine.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n")
    Path("other").mkdir()
    Path("other/file").write_text("mine")
    before = demo("info", "demo", "--format", "json")[1]
    code, _, message = demo(*arguments)
    assert code == 2 and sentence in message, message
    assert "Traceback" not in message and message.startswith(("sublex: ", "Reading ")) and "Usage" not in message
    assert demo("info", "demo", "--format", "json")[1] == before
    assert not Path("indexes/x/index.json").exists() and Path("other/file").read_text() == "mine"


def test_indexes_and_components_are_found_whatever_their_case(demo):
    assert demo("search", "DEMO", "crane", "-r", "bm25(k1=.9) >> rm3 >> Bm25") == demo(
        "search", "demo", "crane", "-r", "BM25(k1=.9) >> RM3 >> BM25"
    )
    assert (
        demo("explain", "Demo", "crane", "birds-05", "-r", "MinMax(Rankers:pl2)")[1]
        .splitlines()[0]
        .endswith("by minmax(PL2)")
    )
    demo("index", "DEMO", str(DEMO))
    assert Path("indexes/DEMO").is_dir() and json.loads(demo("info", "DEMO", "--format", "json")[1])["documents"] == 252
    code, _, message = demo("info", "Demo")
    assert code == 2 and message == "sublex: Several indexes are called Demo; write DEMO or demo.\n"
    assert demo("index", "german", str(DEMO), "--analyzer", "GERMAN", "--reader", "JSONL")[0] == 0
    assert json.loads(demo("info", "german", "--format", "json")[1])["analyzer"] == "german"


def test_text_that_looks_like_a_command_to_the_terminal_is_shown_harmless(sublex):
    Path("evil.jsonl").write_text(
        json.dumps({"id": "a\x1b[2J", "title": "\x1b]0;owned\x07", "text": "red \x1b[31malert", "x": "\x9b1m"})
    )
    assert sublex("index", "evil", "evil.jsonl")[0] == 0
    for arguments in (("doc", "evil", "a\x1b[2J"), ("terms", "evil"), ("info", "evil"), ("analyze", "\x1b[31mred")):
        code, output, messages = sublex(*arguments)
        assert code == 0 and "\x1b" not in output + messages and "\x9b" not in output


def test_impacts_of_a_ranker_that_is_gone_do_not_fail_a_change_that_is_made(demo):
    Path("indexes/demo/derived").mkdir(exist_ok=True)
    Path("indexes/demo/derived/declared.json").write_text('["Gone(x=1)"]')
    Path("new.jsonl").write_text('{"id": "new", "text": "whale"}')
    for command in (("add", "demo", "new.jsonl"), ("delete", "demo", "new"), ("merge", "demo")):
        code, output, messages = demo(*command)
        assert code == 0 and output
        assert "The impacts of Gone(x=1) cannot be stored. No component Gone" in messages
    assert demo("index", "other", "new.jsonl", "--impacts", "BM25")[0] == 0


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(demo):
    command = " ".join(f"'{part}'" for part in [*SUBLEX, "terms", "demo", "-n", "0"])
    done = subprocess.run(f"{command} | head -1", shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("term") and done.stderr == ""


@pytest.mark.slow
def test_ctrl_c_leaves_no_index_and_says_so(sublex, tmp_path):
    reading, writing = os.pipe()
    process = subprocess.Popen([*SUBLEX, "index", "x", "-", "--reader", "jsonl"], stdin=reading, stderr=subprocess.PIPE)
    os.write(writing, b'{"id": "a", "text": "b"}\n')
    while not (tmp_path / "indexes" / "x" / "building").exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    message = process.communicate()[1].decode()
    os.close(reading)
    os.close(writing)
    assert process.returncode == 130 and "interrupted; the index is as it was before." in message
    assert "No finished index" not in message and not (tmp_path / "indexes" / "x" / "index.json").exists()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_neither_numpy_nor_numba(option):
    code = f"import sys; sys.argv = ['sublex', '{option}']; from sublex import cli; cli.run(); print(list(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "scipy", "rich"} & set(ast.literal_eval(done.stdout.splitlines()[-1]))


def helps(group: click.Group = cli.cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, those within groups too."""
    yield path
    for name in cli.COMMANDS if group is cli.cli else group.commands:
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from helps(command, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize("command", list(helps()), ids=" ".join)
def test_help_fits_a_terminal_and_begins_with_a_whole_sentence(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(cli.cli, [*command, "--help"], prog_name="sublex").output.splitlines()
    assert lines[0].startswith(" ".join(["Usage: sublex", *command])) and lines[2].endswith(".")
    assert all(len(line) <= 80 for line in lines) and not any(line.endswith("...") for line in lines[1:])


def test_a_name_with_a_slash_is_a_path_and_an_index_here_goes_before_one_in_the_home(sublex):
    assert sublex("index", "./here", str(DEMO))[1].startswith("Index here\n")
    Path("folder").mkdir()
    assert sublex("index", "folder", str(DEMO))[1].startswith("Index indexes/folder\n")
    assert "No index at absent" in sublex("info", "absent/")[2] and not list(Path("folder").iterdir())
    assert json.loads(sublex("info", "here", "--format", "json")[1])["path"] == "here"


@pytest.mark.slow
def test_the_demo_replaces_itself_and_nothing_else(sublex):
    code, output, _ = sublex("demo")
    assert code == 0 and sublex("demo")[0] == 0
    # Each sense of an ambiguous word ranks another document first.
    senses = [line.split(": ", 1)[1].split("; ")[0] for line in output.splitlines() if line.startswith("* as in")]
    assert len(senses) == len(set(senses)) == 2
    Path("own.jsonl").write_text('{"id": "own", "text": "mine"}\n')
    assert sublex("index", "demo", "own.jsonl", "--overwrite")[0] == 0
    code, _, message = sublex("demo")
    assert code == 2 and "indexes/demo holds documents of your own" in message
    assert json.loads(sublex("doc", "demo", "own", "--format", "json")[1])["text"] == "mine"


def shell(command: str, **environment: str) -> subprocess.CompletedProcess:
    """Run a shell command in which SUBLEX stands for the program."""
    program = " ".join(f"'{part}'" for part in SUBLEX)
    return subprocess.run(
        command.replace("SUBLEX", program), shell=True, capture_output=True, text=True, env=os.environ | environment
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="no git to ask")
def test_the_demo_leaves_nothing_untracked_in_a_clone(sublex):
    shutil.copy(ROOT / ".gitignore", ".gitignore")
    Path("indexes/README.md").write_text("the home of indexes")
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@x.org")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "clone")):
        subprocess.run([*git, *words], check=True)
    assert sublex("demo")[0] == 0 and Path("demo.html").is_file() and Path("indexes/demo/index.json").is_file()
    assert subprocess.run([*git, "status", "--porcelain"], check=True, capture_output=True).stdout == b""


@pytest.mark.slow
def test_output_that_cannot_be_written_costs_a_sentence(demo):
    if Path("/dev/full").exists():
        # What is compiled for a first search is said on the same stream.
        shell("SUBLEX search demo crane")
        for command in ("search demo crane", "info demo"):
            done = shell(f"SUBLEX {command} > /dev/full")
            assert done.returncode == 2 and done.stderr == "sublex: Cannot write the output: No space left on device.\n"
    assert shell("SUBLEX search demo crane >&-").stderr == ""
    done = shell("SUBLEX doc demo 日本", PYTHONIOENCODING="latin-1")
    assert done.returncode == 2 and done.stderr == "sublex: No document \\u65e5\\u672c in indexes/demo.\n"


@pytest.mark.slow
def test_an_index_that_is_being_built_is_not_called_interrupted(sublex, tmp_path):
    reading, writing = os.pipe()
    process = subprocess.Popen([*SUBLEX, "index", "x", "-", "--reader", "jsonl"], stdin=reading, stderr=subprocess.PIPE)
    while not (tmp_path / "indexes" / "x" / "building").exists() and process.poll() is None:
        time.sleep(0.02)
    message = sublex("search", "x", "word")[2]
    process.kill()
    process.communicate()
    assert message == "sublex: indexes/x holds no finished index yet: it is being built; try again when that is done.\n"
    assert "its build was interrupted" in sublex("search", "x", "word")[2]
    os.close(reading)
    os.close(writing)


def test_only_what_changes_an_index_says_that_it_is_unchanged(demo, monkeypatch, capsys):
    from sublex.faces.interrupts import reporting_interrupts

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sublex.open", interrupted)
    monkeypatch.setattr(sys, "argv", ["sublex", "search", "demo", "crane"])
    assert cli.run() == 130 and capsys.readouterr().err.strip() == "sublex: interrupted."
    resume = "; to continue the build, run the same command with --resume"
    for sources, advice in ((None, ""), ([], resume)):
        Path("x/building").mkdir(parents=True, exist_ok=True)
        Path("x/building/journal.json").write_text(json.dumps({"sources": sources}))
        expected = f"^the index is as it was before{advice}$"
        with pytest.raises(KeyboardInterrupt, match=expected), reporting_interrupts(Path("x")):
            interrupted()
    with pytest.raises(KeyboardInterrupt, match="^$"), reporting_interrupts(Path("x")):
        Path("x/index.json").write_text("committed")
        interrupted()


def test_json_has_no_nan_and_takes_what_plugins_return():
    value = {"a": [math.nan, (1.5, -math.inf)], "b": np.float32("inf"), "c": np.arange(2), "d": Path("x"), "é": True}
    assert output.to_json(value) == '{"a": [null, [1.5, null]], "b": null, "c": [0, 1], "d": "x", "é": true}'


def test_figures_are_aligned_after_the_labels_and_bold_ones_are_marked(monkeypatch, capsys):
    table = Table(["system", "AP"], [["BM25", ".5"], ["long name\x1b", "10.5"]], bold=[(0, 1)])
    output.print_figures(table)
    assert capsys.readouterr().out == "system        AP\nBM25          .5\nlong name\ufffd  10.5\n"
    monkeypatch.setattr(output.click, "style", lambda text, bold: f"<{text}>")
    output.print_figures(table)
    assert "BM25        <  .5>\n" in capsys.readouterr().out
    output.print_figures(table, "markdown")
    assert "**.5**" in capsys.readouterr().out


def test_a_pattern_is_read_in_the_letters_of_terms(demo):
    small = demo("terms", "demo", "cran*")[1]
    assert "crane" in small
    assert demo("terms", "demo", "CRAN*")[1] == demo("terms", "demo", "Cran[A-Z]*")[1] == small
    index = sublex_module.open("indexes/demo")
    assert [term.term for term in index.terms("Cran?")] == ["crane"]
    assert demo("shell", "demo", "-c", ":terms Cran*")[1].strip() == small.strip()


def test_analyze_takes_the_index_before_the_text(demo):
    assert demo("index", "german", str(DEMO), "--analyzer", "german")[0] == 0
    assert demo("analyze", "german", "Die Kraniche")[1].splitlines()[0].split() == ["analyzer", "german"]
    assert demo("analyze", "demo", "Die Kraniche")[1].splitlines()[0].split() == ["analyzer", "english"]
    assert demo("analyze", "Die Kraniche")[1].splitlines()[0].split() == ["analyzer", "english"]
    assert demo("analyze", "demo")[1].splitlines()[-1].split() == ["terms", "demo"]
    said = "sublex: No index The; if it belongs to the text, put the text in quotes: sublex analyze 'The cranes'\n"
    assert demo("analyze", "The", "cranes") == (2, "", said)
    code, _, messages = demo("analyze", "demo", "the", "cranes")
    assert code == 2 and "put it in quotes: sublex analyze demo 'the cranes'" in messages
    assert demo("shell", "german", "-c", ":analyze Die Kraniche", "-c", ":to-cli")[1].endswith(
        "german 'Die Kraniche'\n"
    )


def test_terms_that_are_not_there_are_no_mistake(demo):
    said = "No term of indexes/demo fits cranes; the analyzer makes 'cranes' into 'crane'.\n"
    assert demo("terms", "demo", "cranes") == (0, "", said)
    assert demo("terms", "demo", "zzz*") == (0, "", "No term of indexes/demo fits zzz*.\n")
    assert demo("terms", "demo", "zzz", "--format", "csv")[:2] == (0, "term,df,cf,written\n")


def test_check_and_info_know_the_impacts_that_are_kept(sublex):
    sublex("index", "demo", str(DEMO), "--impacts", "BM25")
    kept = json.loads(sublex("info", "demo", "--format", "json")[1])["impacts"]
    assert list(kept) == ["BM25", "documents"] and min(kept.values()) > 10_000
    assert "impacts kept" in sublex("info", "demo")[1] and sublex("check", "demo")[0] == 0
    path = next(Path("indexes/demo/derived").rglob("codes.npy"))
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    code, output, _ = sublex("check", "demo")
    assert (
        code == 1
        and output == f"{path.parent} is damaged; delete that folder. Sublex works without it and makes it again.\n"
    )


def test_ids_with_tabs_and_line_ends_stay_on_one_line(sublex):
    Path("odd.jsonl").write_text('{"id": "a\\tb\\nc", "text": ""}\n{"id": "d", "text": "word"}\n')
    output = sublex("index", "odd", "odd.jsonl")[1]
    assert "a\\tb\\nc" in output
    assert "docno with white space\ta\\tb\\nc\n" in Path("indexes/odd/last-build.tsv").read_text()


def test_what_json_cannot_hold_is_null_and_what_no_text_can_is_said(sublex):
    Path("odd.jsonl").write_text('{"id": "\\ud800", "text": "word", "x": [NaN, 1.5]}\n' + '{"a":' * 100_000)
    code, output, messages = sublex("index", "odd", "odd.jsonl")
    assert code == 0 and "halves of surrogate pairs, which are no characters, were read as U+FFFD" in messages
    assert "odd.jsonl:2: nested too deeply" in output and "recursion" not in output
    assert json.loads(sublex("doc", "odd", "\ufffd", "--format", "json")[1])["fields"] == {"x": [None, 1.5]}


def test_a_plugin_that_is_asked_for_and_not_there_is_listed_as_failed(demo, monkeypatch):
    monkeypatch.setenv("SUBLEX_PLUGINS", "nope,,readers")
    output = demo("plugins")[1]
    assert "failed: SUBLEX_PLUGINS" in output and output.count("failed") == 1


def test_a_terminal_of_any_width_shows_whole_words(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    text = "12  " + "some words " * 12
    output.print_table([("name", text)])
    assert capsys.readouterr().out == f"name  {text.rstrip()}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.print_table([("name", text)])
    first, *rest = capsys.readouterr().out.splitlines()
    assert rest and first.startswith("name  12  some")
    assert all(line.startswith("      ") and len(line) <= 40 for line in rest)


def test_the_bar_begins_with_the_documents_and_says_when_they_are_merged(monkeypatch):
    from rich import progress as bars

    from sublex.faces.progress import progress

    seen: list[object] = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(bars.Progress, "start", lambda self: seen.append("start"))
    monkeypatch.setattr(bars.Progress, "update", lambda self, task, **what: seen.append(what["rate"]))
    with progress("Indexing x") as advance:
        assert seen == []
        advance(5)
        advance(5)
    assert seen[1::2] == ["start", "start"] and seen[0].endswith("/s") and seen[2] == "merging and writing"


def test_options_of_other_tools_are_understood_and_named(demo):
    for arguments, sentence in (
        (["search", "demo", "crane", "--k", "5"], "No option --k; write -k N; see sublex search --help."),
        (["search", "demo", "crane", "--top_k=5"], "No option --top_k; write -k N;"),
        (["run", "demo", "-topics", "x"], "No option -topics; TOPICS stands without a name: sublex run [OPTIONS] INDEX TOPICS;"),
        (["run", "demo", "x", "-hits"], "No option -hits; write -k N;"),
        (["run", "--index", "demo", "x"], "No option --index; INDEX stands without a name: sublex run [OPTIONS] INDEX TOPICS;"),
        (["run", "demo", "x", "--output-dir", "o"], "No option --output-dir; write -o PATH;"),
        (["index", "x", "y", "--force"], "No option --force; write --overwrite;"),
        (["index", "x", "--input", "y"], "SOURCE stands without a name: sublex index [OPTIONS] INDEX SOURCE...;"),
        (["run", "demo", "x", "--bm25"], "a ranker is an expression, such as -r 'BM25 >> RM3 >> BM25';"),
        (["run", "demo", "x", "--bm25.k1", "2"], "parameters stand in the expression, as in -r 'BM25(k1=0.9, b=0.4)';"),
        (["eval", "-c", "q", "r"], "No option -c: figures are always means over all judged topics"),
        (["eval", "q", "r", "--metric", "map"], "No option --metric; write -m MEASURE;"),
        (["tune", "d", "t", "q", "BM25", "--threads", "2"], "No option --threads; write --workers N;"),
        (["search", "demo", "x", "--zz"], "No option --zz; if it is no option, write -- before it; see sublex search --help."),
        (["search", "demo", "x", "--rankr", "BM25"], "No option --rankr; did you mean --ranker? If it is no option,"),
        (["--index", "demo"], "No option --index; if it is no option,"),
    ):  # fmt: skip
        done = demo(*arguments)
        assert sentence in done.messages + done.output and done.messages.count("\n") <= 1, done.messages


def test_what_newcomers_type_first_is_answered_with_what_to_type(demo):
    for arguments, sentence in (
        (["search", "crane", "demo"], "crane is no index, and demo is one; the index comes first: sublex search demo crane\n"),
        (["run", "t.trec", "demo"], "the index comes first: sublex run demo t.trec\n"),
        (["delete", "birds-01", "-x", "demo"], "No option -x"),
        (["explain", "it's", "demo", "birds-01"], "the index comes first: sublex explain demo \"it's\" birds-01\n"),
        (["list"], "No command list; did you mean sublex indexes?"), (["version"], "did you mean sublex --version?"),
        (["search", "nothing", "crane"], "No index at indexes/nothing"),
        (["fit", "demo", "lda(topics=3)"], "lda has no parameter topics; did you mean k (the number of topics)? It takes "),
    ):  # fmt: skip
        done = demo(*arguments)
        assert done.code == 2 and sentence in done.messages, done.messages
    # An index of the same name as a query is still the index.
    assert demo("search", "demo", "demo").code == 0
    for arguments in (["help"], ["help", "search"], ["help", "plugin", "new"]):
        assert demo(*arguments) == demo(*arguments[1:], "--help")
    assert demo("help", "nope").messages == "sublex: No command nope; see sublex --help.\n"


def test_what_other_tools_call_an_option_stands_for_one_option_of_a_command():
    """No name stands for two options, and no option of Sublex is explained away."""
    for name in operations.NAMES:
        command = command_of(operations.find(name))
        flags = {flag.lstrip("-") for each in command.params if isinstance(each, click.Option) for flag in each.opts}
        for flag, others in meant.OPTIONS.items():
            if flag.lstrip("-") in flags:
                assert not [n for n in others.split() if f"--{n}" in {f"--{f}" for f in flags if len(f) > 1}], (
                    name,
                    flag,
                )


def test_a_missing_folder_is_named_before_the_work_begins(demo, monkeypatch):
    monkeypatch.setattr(OperationContext, "prepare", lambda *_, **__: pytest.fail("the work began"))
    monkeypatch.setattr(CommandContext, "prepare", lambda *_, **__: pytest.fail("the work began"))
    for name in ("a.run", "b.run"):
        Path(name).write_text("1 Q0 d 1 1.0 x\n")
    files = [str(TOPICS), str(QRELS)]
    for arguments in (
        ["compare", "demo", *files, "-r", "BM25", "-r", "PL2", "-o", "no/folder/r.html"],
        ["fuse", "a.run", "b.run", "-o", "no/folder/f.run"],
        ["encode", "demo", "lsi(e=4)", "-o", "no/folder/x.npz"], ["ciff", "export", "demo", "no/folder/x.ciff"],
        ["card", "demo", "lda(k=2)", "-o", "no/folder/c.html"], ["demo", "-o", "no/folder/d.html"],
    ):  # fmt: skip
        done = demo(*arguments)
        said = f"sublex: There is no folder no/folder for {arguments[-1][10:]}; make one, or choose another place.\n"
        assert (done.code, done.messages) == (2, said)
    done = demo("fuse", "a.run", "b.run", "-o", "a.run/f.run")
    assert done.messages == "sublex: a.run is no folder for f.run; make one, or choose another place.\n"
    assert not Path("no").exists()


@pytest.mark.parametrize(
    ("expression", "fitting"),
    [
        ("lda(k=2, iterations=3)", "2 of 3 sweeps"), ("lda(k=2, method=variational, iterations=2)", "1 of 2 iterations"),
        ("lsi(e=4)", "252 of 252 documents"), ("fisher(k=2, starts=2)", "1 of 2 starts"), ("dcot(r=8)", "8 of 8 columns"),
        ("phrases(support=4)", "8 of 8 steps"),
    ],
)  # fmt: skip
def test_the_bar_of_a_fit_counts_what_it_says_and_then_the_documents_that_are_encoded(
    demo, monkeypatch, expression, fitting
):
    from rich import progress as bars

    seen: list[tuple[str, str]] = []

    monkeypatch.setattr("sublex.faces.progress.sys", SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True)))
    monkeypatch.setattr(bars.Progress, "start", lambda self: None)
    monkeypatch.setattr(bars.Progress, "update", lambda self, task, **what: seen.append((what["count"], what["rate"])))
    assert demo("fit", "demo", expression).code == 0
    counts = [count for count, _ in seen]

    assert fitting in counts
    if not expression.startswith("phrases"):
        assert counts[-1] == "252 of 252 documents"
    assert all(rate.endswith("/s") for _, rate in seen)


def test_the_rate_of_another_count_begins_with_the_end_of_the_one_before(monkeypatch):
    from rich import progress as bars

    from sublex.faces import progress

    now, seen = [100.0], list[str]()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True)))
    monkeypatch.setattr(bars.Progress, "start", lambda self: None)
    monkeypatch.setattr(
        bars.Progress, "update", lambda self, task, **what: seen.append(f"{what['count']} {what['rate']}")
    )
    with progress.progress("x", "steps") as advance:
        for seconds, done, unit in (
            (10, 20, "sweeps"),
            (10, 40, "sweeps"),
            (4, 100, "documents"),
            (4, 200, "documents"),
            (5, 50, None),
        ):
            now[0] += seconds
            advance(done, 500, unit)
    assert seen == [
        "20 of 500 sweeps 2/s", "40 of 500 sweeps 2/s", "100 of 500 documents 25/s", "200 of 500 documents 25/s",
        "50 of 500 documents 10/s",
    ]  # fmt: skip


def test_the_bar_shows_brackets_and_no_escape_sequence_of_its_label(monkeypatch):

    from sublex.faces.progress import progress

    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "200")
    with progress('swg(senses=["bank:3"]) \x1b[2Jx', "topics", 3) as advance:
        advance(1)
    assert 'swg(senses=["bank:3"]) \N{REPLACEMENT CHARACTER}[2Jx' in stream.getvalue()
    assert "1 of 3 topics" in stream.getvalue() and "\x1b[2Jx" not in stream.getvalue()
