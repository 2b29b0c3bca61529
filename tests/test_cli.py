"""The command line: what it prints and where, exit codes, and one sentence for every mistake."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sublex import cli

DEMO = Path(__file__).parents[1] / "queries" / "demo" / "documents.jsonl"
SUBLEX = [sys.executable, "-c", "from sublex.cli import main; main()"]


@pytest.fixture
def sublex(tmp_path, monkeypatch):
    """Runs a command in an empty folder; gives (exit code, output, messages)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "indexes").mkdir()
    for name in ("SUBLEX_INDEXES", "SUBLEX_PLUGINS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        done = subprocess.run([*SUBLEX, *arguments], input=stdin, capture_output=True)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


@pytest.fixture
def demo(sublex):
    assert sublex("index", "demo", str(DEMO))[0] == 0
    return sublex


def rows(output: str) -> dict[str, str]:
    """A table's first column and what stands beside it."""
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
        (["index", "x", str(DEMO), "--reader", "json"], "No reader json; did you mean jsonl?"),
        (["index", "x", "cut.jsonl.gz"], "cut.jsonl.gz is cut short"),
        (["index", "demo", str(DEMO)], "indexes/demo is already an index; --overwrite replaces it"),
        (["index", "x", str(DEMO), "--memory", "lots"], "lots is not a size; write for example 512MB or 2GB."),
        (["index", "x", str(DEMO), "--store", "words"], "Cannot store words; there are text, terms, or none."),
        (["index", "x", str(DEMO), "--profile", "lucene"], "No profile lucene"),
        (["index", "x", str(DEMO), "--analyzer", "english(stop=3"], "Cannot read 'english(stop=3'"),
        (
            ["index", "x", str(DEMO), "--analyzer", "english(stem=porter3)"],
            "stem=porter3 is unknown; did you mean porter? There are: none, porter, porter2",
        ),
        (["index", "noise.bin", str(DEMO)], "noise.bin is a file, not a folder for an index."),
        (["index", "other", str(DEMO)], "other holds other files and is not an index; choose another place."),
        (["index", "x", "irds:nothing-of-that-name"], "nothing-of-that-name"),
        (["add", "x", str(DEMO)], "No index at indexes/x"),
        (["add", "demo", str(DEMO)], "Document birds-01 is there twice, so nothing was added"),
        (["info", "other"], "other is not an index: it has no index.json."),
        (["info", ""], "An index needs a name or a path."),
        (["doc", "demo", "sea-99"], "No document sea-99 in indexes/demo."),
        (["delete", "demo", "sea-01", "sea-99"], "No document sea-99 in the index, so nothing was deleted."),
        (["terms", "demo", "cranes"], "the analyzer makes 'cranes' into 'crane'"),
        (["analyze", "x", "--index", "demo", "--analyzer", "english"], "Give --index or --analyzer, not both."),
        (["indx"], "No command indx; did you mean index?"),
        (["index"], "Missing argument 'INDEX'"),
    ],
)
def test_a_mistake_costs_one_sentence_and_nothing_is_lost(demo, arguments, sentence):
    Path("empty.jsonl").write_bytes(b"")
    Path("blank.jsonl").write_bytes(b"\n \n")
    Path("noise.bin").write_bytes(bytes(range(256)))
    Path("cut.jsonl.gz").write_bytes(gzip.compress(DEMO.read_bytes())[:-1000])
    Path("other").mkdir()
    Path("other/file").write_text("mine")
    before = demo("info", "demo", "--format", "json")[1]
    code, _, message = demo(*arguments)
    assert code == 2 and sentence in message, message
    assert "Traceback" not in message
    assert demo("info", "demo", "--format", "json")[1] == before
    assert not Path("indexes/x/index.json").exists() and Path("other/file").read_text() == "mine"


def test_text_that_looks_like_a_command_to_the_terminal_is_shown_harmless(sublex):
    Path("evil.jsonl").write_text(
        json.dumps({"id": "a\x1b[2J", "title": "\x1b]0;owned\x07", "text": "red \x1b[31malert", "x": "\x9b1m"})
    )
    assert sublex("index", "evil", "evil.jsonl")[0] == 0
    for arguments in (("doc", "evil", "a\x1b[2J"), ("terms", "evil"), ("info", "evil"), ("analyze", "\x1b[31mred")):
        code, output, messages = sublex(*arguments)
        assert code == 0 and "\x1b" not in output + messages and "\x9b" not in output


def test_impacts_of_a_ranker_that_is_gone_do_not_fail_a_change_that_is_made(demo):
    Path("indexes/demo/derived").mkdir()
    Path("indexes/demo/derived/declared.json").write_text('["Gone(x=1)"]')
    Path("new.jsonl").write_text('{"id": "new", "text": "whale"}')
    for command in (("add", "demo", "new.jsonl"), ("delete", "demo", "new"), ("merge", "demo")):
        code, output, messages = demo(*command)
        assert code == 0 and output
        assert "The impacts of Gone(x=1) cannot be kept. No component Gone" in messages
    assert demo("index", "other", "new.jsonl", "--impacts", "BM25")[0] == 0


def test_a_machine_without_a_place_for_compiled_kernels_is_told_what_to_name(monkeypatch, capsys):
    def failing(**_):
        raise RuntimeError("cannot cache function 'scan': no locator available for file 'kernels.py'")

    monkeypatch.setattr(cli, "cli", failing)
    assert cli.run() == 2
    assert capsys.readouterr().err.startswith(
        "sublex: No place to keep compiled kernels; name a folder in NUMBA_CACHE_DIR"
    )


def test_a_closed_pipe_ends_quietly(demo):
    command = " ".join(f"'{part}'" for part in [*SUBLEX, "terms", "demo", "-n", "0"])
    done = subprocess.run(f"{command} | head -1", shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("term") and done.stderr == ""


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


def test_version_and_help_are_quick_to_load():
    code = "import sys; from sublex.cli import cli; cli(['--version'], standalone_mode=False); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
