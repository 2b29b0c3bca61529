"""What a terminal is sent: no docno, title, name or path steers it, begins a line of its own, or becomes a link or formula."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import sublex as engine
from sublex.faces.output import print_run
from sublex.forms.tables import Table
from sublex.tools.messages import STEERING, clean_lines, one_line

# Sets the title of a terminal and rings; C1's CSI; a right-to-left override; the line separators; a new line like a message.
HOSTILE = "\x1b]0;owned\x07\x9b31m\u202e\u2066\u2028\u2029\x85\nsublex: all is well"
STEERS = re.compile(f"[{STEERING}\x85\u2028\u2029]")
DOCNO = "a\x1b[31m\x07\x9b\u202e"


def test_a_text_on_one_line_keeps_its_words():
    assert one_line("a\tb\nc\r\nd\u2028é 😀 בית") == "a b c  d é 😀 בית"
    assert not STEERS.search(one_line(HOSTILE)) and "owned" in one_line(HOSTILE)


def test_a_message_keeps_its_caret_and_no_other_line():
    assert clean_lines("No RM4 in column 1:\n  RM4\n  ^") == "No RM4 in column 1:\n  RM4\n  ^"
    assert clean_lines("no file x\nsublex: done") == "no file x sublex: done"


@pytest.fixture
def hostile(sublex):
    """Build an index of hostile documents; return the function that runs a command."""
    documents = [
        {"id": DOCNO, "title": f"Crane {HOSTILE}", "text": f"A crane. {HOSTILE}", HOSTILE: HOSTILE},
        {"id": "=1+1", "title": "=HYPERLINK(\"http://x.org\")", "text": "-2 cranes [here](http://x.org) a@b.org www.x.org"},
        {"id": "c", "title": "", "text": "crane"},
    ]  # fmt: skip
    Path("d.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    Path("t.jsonl").write_text(json.dumps({"id": "1", "query": f'"crane {HOSTILE[:-21]}" x'}) + "\n", encoding="utf-8")
    Path("q.txt").write_text(f"1 0 {DOCNO} 1\n1 0 gone\x1b 1\n", encoding="utf-8")
    run = f"1 Q0 {DOCNO} 1 2 tag\x1b[31m\u202e\n1 Q0 c 2 1 tag\x1b[31m\u202e\n"
    Path("r\x1b\u202e.run").write_text(run, encoding="utf-8")
    Path("r2.run").write_text(run.replace("tag", "gat"), encoding="utf-8")
    assert sublex("index", "bad", "d.jsonl")[0] == 0
    return sublex


RUN = "r\x1b\u202e.run"
COMMANDS = [
    ("index", "x\x1b\u202e", "d.jsonl"),
    ("index", "bad", "d.jsonl"),
    ("index", "new", f"no {HOSTILE}"),
    ("add", "bad", "d.jsonl"),
    ("delete", "bad", DOCNO),
    ("delete", "bad", HOSTILE),
    ("merge", "bad"),
    ("check", "bad"),
    ("check", HOSTILE),
    ("info", "bad"),
    ("info", "bad", "--format", "json"),
    ("doc", "bad", DOCNO),
    ("doc", "bad", DOCNO, "--format", "json"),
    ("doc", "bad", HOSTILE),
    ("terms", "bad", HOSTILE),
    ("terms", "bad", "--format", "csv"),
    ("analyze", HOSTILE),
    ("search", "bad", "crane"),
    ("search", "bad", "crane", "--format", "csv"),
    ("search", "bad", "crane", "--format", "spreadsheet"),
    ("search", "bad", "crane", "--format", "json"),
    ("search", "bad", f'"{HOSTILE}" x'),
    ("search", "bad", "crane", "-r", HOSTILE),
    ("search", "bad", "crane", "-r", f"BM25 >> {HOSTILE}"),
    ("search", f"no/{HOSTILE}", "crane"),
    ("explain", "bad", f"crane {HOSTILE}", DOCNO),
    ("explain", "bad", f"crane {HOSTILE}", DOCNO, "--format", "json"),
    ("explain", "bad", "crane", HOSTILE),
    ("shell", "bad", "-c", "crane", "-c", ":doc 1", "-c", ":explain 1 vs 2", "-c", ":why-not c", "-c", ":to-cli", "-c", ":drop"),
    ("shell", "bad", "-c", f"crane {HOSTILE[:-21]}", "-c", f":{HOSTILE}", "-c", f":doc {HOSTILE}", "-c", f":rank {HOSTILE}"),
    ("shell", "bad", "-c", ":topics t.jsonl", "-c", ":topic", "-c", ":next", "-c", ":versus BM25 PL2", "-c", ":similar c"),
    ("shell", "bad", "-c", "crane", "--format", "json", "-c", ":help", "-c", f":set k={HOSTILE}", "-c", f":snapshot {HOSTILE}"),
    ("run", "bad", "t.jsonl", "-o", "o\x1b\u202e"),
    ("run", "bad", f"no{HOSTILE}"),
    ("fuse", RUN, "r2.run", "-o", "f\x1b.run"),
    ("eval", "q.txt", RUN),
    ("eval", "q.txt", RUN, "-q", "--format", "json"),
    ("eval", "q.txt", RUN, "r2.run", "--format", "markdown"),
    ("eval", "q.txt", RUN, "-m", HOSTILE),
    ("compare", "q.txt", RUN, "r2.run", "-o", "report\x1b.html"),
    ("compare", "q.txt", RUN, "r2.run", "--format", "latex"),
    ("compare", "bad", "t.jsonl", "q.txt", "-r", "BM25", RUN),
    ("tune", "bad", "t.jsonl", "q.txt", "BM25(b={.2,.5})", "--folds", "1"),
    ("lint", "d.jsonl", "t.jsonl", "q.txt", RUN),
    ("lint", "q.txt", RUN, "--format", "json"),
    ("fit", "bad", HOSTILE),
    ("forget", "bad", HOSTILE),
    ("card", "bad", HOSTILE),
    ("encode", "bad", HOSTILE, "-o", "x.npz"),
    ("resource", "add", "bad", "r", f"no{HOSTILE}"),
    ("resource", "remove", "bad", HOSTILE),
    ("plugin", "new", HOSTILE),
    ("plugin", "test", HOSTILE),
    (HOSTILE,),
    ("search", f"--{HOSTILE}"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: ascii(" ".join(arguments))[:60])
def test_no_command_sends_a_control(hostile, arguments):
    code, output, messages = hostile(*arguments)
    assert code in (0, 1, 2)
    assert not STEERS.search(output) and not STEERS.search(messages)
    # The text of a document has lines of its own.
    lines = messages.splitlines() + (output.splitlines() if arguments[0] not in ("doc", "shell") else [])
    assert not any(line.startswith("sublex: all is well") for line in lines)


def test_json_gives_back_the_very_text(hostile):
    hits = json.loads(hostile("search", "bad", "crane", "--format", "json")[1])["hits"]
    assert DOCNO in {hit["docno"] for hit in hits}
    assert json.loads(hostile("doc", "bad", DOCNO, "--format", "json")[1])["title"] == f"Crane {HOSTILE}"


def test_a_record_of_a_table_stays_on_its_line(hostile):
    output = hostile("search", "bad", "crane", "--format", "csv")[1]
    records = list(csv.reader(io.StringIO(output)))
    assert len(records) == len(output.splitlines()) == 4
    table = Table(["system", "AP"], [[f"a{HOSTILE}|b", "1"]])
    assert len(table.markdown().splitlines()) == 3 and len(table.csv().splitlines()) == 2
    assert len(table.latex().splitlines()) == 7 and not STEERS.search(table.html().replace("\n", ""))


def test_a_run_is_written_byte_for_byte_unless_to_a_terminal(hostile, monkeypatch, capsys):
    for arguments in (("search", "bad", "crane", "--format", "trec"), ("fuse", RUN, "r2.run")):
        assert f"1 Q0 {DOCNO} " in hostile(*arguments)[1]
    lines = np.frombuffer(f"1 Q0 {DOCNO} 1 2 tag\n1 Q0 c 2 1 tag\n".encode(), np.uint8)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_run([lines])
    shown = capsys.readouterr().out
    assert not STEERS.search(shown) and shown.endswith("1 2 tag\n1 Q0 c 2 1 tag\n")


def test_a_spreadsheet_reads_no_formula(hostile):
    rows = list(csv.DictReader(io.StringIO(hostile("search", "bad", "crane", "--format", "spreadsheet")[1])))
    odd = next(row for row in rows if row["docno"] == "'=1+1")
    assert odd["title"].startswith("'=HYPERLINK") and odd["passage"].startswith("'-2 cranes") and odd["score"][0] != "'"
    plain = hostile("search", "bad", "crane", "--format", "csv")[1]
    assert "\n1,=" not in plain and ",=1+1," in plain
    table = Table(["system", "difference"], [["@x", "-0.1"], ["+y", "+0.1"]])
    assert table.spreadsheet() == "system,difference\n'@x,-0.1\n'+y,+0.1\n"


def test_markdown_makes_no_link_of_a_name():
    names = ["[x](http://x.org)", "![x](y)", "https://x.org", "www.x.org", "me@x.org", "P@10"]
    cells = Table(["system", "AP"], [[name, "1"] for name in names]).markdown().splitlines()[2:]
    assert [cell.split(" | ")[0][2:] for cell in cells] == [
        r"\[x\](http\://x.org)", r"\!\[x\](y)", r"https\://x.org", r"www\.x.org", r"me\@x.org", "P@10",
    ]  # fmt: skip


def test_letters_are_raised_in_latex_and_html():
    table = Table(["", "system", "AP"], [["a", "x", "0.5000 bc"], ["b", "y 1", "0.4000   "]], 2, {(0, 2)}, raised=True)
    assert (
        r"a & x & \textbf{0.5000}\textsuperscript{bc} \\" in table.latex() and r"b & y 1 & 0.4000 \\" in table.latex()
    )
    assert "<b>0.5000</b><sup>bc</sup></td>" in table.html() and "<td>y 1</td>" in table.html()
    assert "| **0.5000** bc |" in table.markdown() and "0.5000 bc\n" in table.csv()
    plain = Table(["system", "interval"], [["x", "0.1 to 0.2"]])
    assert "textsuperscript" not in plain.latex() and "0.1 to 0.2" in plain.html()


def test_the_api_keeps_texts_as_they_are(hostile):
    assert engine.open("indexes/bad").document(DOCNO).title == f"Crane {HOSTILE}"
