"""Commands that Sublex prints can be pasted: into a POSIX shell, or into the shell of Sublex."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from command import Done, invoke
from hypothesis import given
from hypothesis import strategies as st
from shared import QRELS, TOPICS

import sublex as engine
from sublex.contracts.operators import Operator
from sublex.shell.arguments import arguments_of, spoken, typed
from sublex.shell.batch import answer_lines
from sublex.shell.commands import built_in
from sublex.shell.completing import Completions
from sublex.shell.session import Session
from sublex.shell.settings import ShellSettings
from sublex.tools.messages import Message, Step, clean_lines, command_line, one_line, shell_word

# Ids that a shell, an option parser or a terminal would take for something else.
ODD = [
    "--help", "-v", "-k", "--", "-", "a b", "a\tb", "\ta", "a\x1b[1mb", "it's", 'a"b', "a'b\"c", "a\\tb", "3", "=3", "*", "$HOME",
    "`id`", "a;b", "#a", "~", "a\u202eb", "a\u2028b", "a\nb", "!a", "%s", "é",
]  # fmt: skip
# A line is run by `sh` with a program of this name, which prints its arguments, each with a NUL after it.
PROGRAM = 'sublex() {{ printf "%s\\0" "$@"; }}; {}'


def in_sh(line: str) -> list[str]:
    """Return the words after `sublex` that a POSIX shell reads in a line."""
    done = subprocess.run(["sh", "-c", PROGRAM.format(line)], capture_output=True, check=True)
    assert not done.stderr
    return [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]


@pytest.fixture(scope="module")
def odd(tmp_path_factory) -> Path:
    """An index whose documents have odd ids."""
    path = tmp_path_factory.mktemp("odd") / "index of odd ids"
    engine.build([{"id": docno, "text": f"crane {'river ' * n}"} for n, docno in enumerate(ODD)], path)
    return path


@pytest.fixture
def session(odd, tmp_path, monkeypatch) -> Iterator[Session]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield Session(lambda: engine.open(odd), odd, built_in(), ShellSettings(bars=False))


def printed(session: Session, text: str) -> str:
    """Return what the shell prints for a line."""
    output = io.StringIO()
    with redirect_stdout(output):
        assert answer_lines(session, [text], None), text
    return output.getvalue()


ANY = st.text(
    st.one_of(
        st.sampled_from("ab '\"\\$`!*~#\t\r\x1b\x85\u202e\udcff%=-;"),
        st.characters(exclude_characters="\0", codec="utf-8"),
    )
)


@given(st.lists(ANY, max_size=6))
def test_a_command_line_has_its_words_in_any_posix_shell(words):
    line = command_line(["sublex", *words])
    # What is printed is the line itself: nothing in it is replaced.
    if not any(word.endswith("\n") for word in words):
        assert clean_lines(line) == line == one_line(line)
    if words:
        assert in_sh(line) == words


def test_odd_words_are_quoted_and_ordinary_ones_are_not():
    assert command_line(["sublex", "search", "./x", "", "a b"]) == "sublex search ./x '' 'a b'"
    assert command_line(["a\tb", "\n\n", "\x1b\n["]) == "a\"$(printf '\\011')\"b '\n\n' \"$(printf '\\033\\012\\133')\""


def test_a_step_puts_two_dashes_before_what_begins_with_a_dash_and_keeps_the_option_0():
    assert str(Step("doc", "x", "-v")) == "sublex doc x -- -v"
    assert (
        str(Step("explain", "-x", "q", "d", r="-v", k=0, u=False, w=None, y=True))
        == "sublex explain -r -v -k 0 -y -- -x q d"
    )


@pytest.mark.parametrize("docno", ODD)
def test_what_to_cli_prints_for_an_odd_id_does_the_same_in_sh(session, odd, docno):
    shown = session.ask(session.commands.find("doc"), docno=docno)
    words = in_sh(printed(session, ":to-cli"))
    done: Done = invoke(*words)
    assert done.code == 0 and [each.text for each in shown.lines] == done.output.splitlines()
    session.run("crane")
    session.ask(session.commands.find("explain"), docno=docno, query=f"crane {docno}", ranker="BM25(b=0)")
    words = in_sh(printed(session, ":to-cli"))
    found = json.loads(invoke(*words[:1], "--format", "json", *words[1:]).output)
    assert found["value"] == engine.open(odd).explain(f"crane {docno}", docno, "BM25(b=0)").value


@pytest.mark.parametrize("docno", ODD)
def test_a_completion_of_an_odd_id_is_read_as_this_id(session, docno):
    session.run("crane")
    completions, found = Completions(session), []
    completions.prepare()
    for start in range(1, len(docno) + 1):
        line = f":doc {docno[:start]}"
        if docno[:start].strip() == docno[:start] and not set(docno[:start]) & set("'\"\n"):
            found += [line[: len(line) - offer.replaces] + offer.text for offer in completions.complete(line)]
    assert found or docno[0] in "\t\n"
    wanted = []
    for text in found:
        name, _, rest = text[1:].partition(" ")
        if not text.endswith(("-k", "--verbose")) or docno == "-k":
            arguments, *_ = arguments_of(session.commands.find(name), rest.strip(), session)
            wanted.append(arguments["docno"])
    assert docno in wanted or not found


@pytest.mark.parametrize("name", ["doc", "fit", "explain", "card", "rank", "terms"])
def test_a_step_in_the_shell_is_read_as_the_same_arguments(session, name):
    operation = session.commands.find(name)
    given = spoken(operation)[:1]
    ids = given[0].completes == "docno"
    words = (
        [word for word in ODD if one_line(word) == word]
        if ids
        else ["lsi(e=5, samples=2)", "a b", "'x'", "-v", "--", "it's"]
    )
    session.query = session.index.query("crane")
    for word in words:
        line = typed(operation, [word], {})
        assert line.startswith(f":{name} ")
        arguments, *_ = arguments_of(operation, line.partition(" ")[2], session)
        assert arguments[given[0].name] == ((word,) if given[0].many else word), line


def test_a_step_with_characters_that_cannot_be_typed_is_a_command_line(session, odd):
    assert session.worded(Message("see ", Step("doc", odd, "a b"))) == "see :doc 'a b'"
    line = session.worded(Message(Step("doc", odd, "a\tb")))
    assert in_sh(line) == ["doc", str(odd), "a\tb"]


@pytest.mark.parametrize("where", ["sidecar", "header"])
def test_the_command_in_the_metadata_of_a_run_can_be_pasted(demo, where):
    words = ["run", "demo", str(TOPICS), "-r", "BM25 >> RM3 >> BM25", "-o", 'it\'s "here"/\t.run', "--metadata", where]
    Path('it\'s "here"').mkdir()
    assert demo(*words).code == 0
    run = engine.read_run(words[6])
    assert in_sh(run.metadata["implementation"]["executable"]["cmd"]) == words
    # As it stands in the file, without YAML's escapes.
    lines = Path(words[6] + (".yaml" if where == "sidecar" else "")).read_text().split("\n")
    (line,) = [line.removeprefix("#").strip() for line in lines if "printf" in line]
    assert in_sh(line) == words
    assert not Path("RM3").exists()


def test_the_command_in_a_report_can_be_pasted(demo):
    words = ["compare", "demo", str(TOPICS), str(QRELS), "-r", "BM25", "-r", "BM25 >> RM3 >> BM25", "-o", "a\tb.html"]
    assert demo(*words).code == 0
    assert "a&#34;$(printf &#39;\\011&#39;)&#34;b.html" in Path(words[-1]).read_text()


def test_a_tuned_expression_and_files_are_quoted(demo):
    Path("my topics.trec").write_bytes(TOPICS.read_bytes())
    done = demo("tune", "demo", "my topics.trec", QRELS, "PL2 + {0,1}*BM25", "--folds", "2")
    assert done.code == 0
    line = done.output.splitlines()[-1].removeprefix("Run it: ")
    words = in_sh(line)
    assert words[:3] == ["run", "demo", "my topics.trec"] and words[3] == "-r" and "BM25" in words[4]


def test_a_query_of_several_words_is_shown_in_quotes(demo):
    done = demo("search", "demo", "--", "-v", "it's", "a\tcrane")
    assert done.code == 2
    assert in_sh(done.messages.partition("in quotes: ")[2]) == ["search", "demo", "--", "-v it's a\tcrane"]


@pytest.fixture(scope="module")
def near(tmp_path_factory) -> Path:
    """An index with positions."""
    path = tmp_path_factory.mktemp("near") / "index"
    texts = ("the crane river bank", "river crane bank", "crane by a bank of the river", "bank river crane sea")
    rows = [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)]
    engine.build(rows, path, store="text,terms,positions")
    return path


@pytest.mark.slow
def test_dropped_operators_are_read_back_in_sh_and_in_python(near, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    session = Session(lambda: engine.open(near), near, built_in(), ShellSettings(bars=False))
    session.run(":rank SDM >> BM25")
    session.run("crane river sea bank")
    assert "#1('crane','river')" in printed(session, ":drop")
    printed(session, ":drop 1")
    kept = {term: weight for term, weight in session.query.weights().items() if isinstance(term, Operator)}
    assert len(kept) == 6
    expected = [(hit.docno, hit.score) for hit in session.answer.hits]
    assert expected and session.is_weighted()
    words = in_sh(printed(session, ":to-cli"))
    found = json.loads(invoke(*words[:1], "--format", "json", *words[1:]).output)["hits"]
    assert [(hit["docno"], pytest.approx(hit["score"], rel=1e-6)) for hit in found] == expected
    program = subprocess.run(
        [sys.executable, "-c", printed(session, ":to-python")], capture_output=True, text=True, check=True
    )
    assert [line.split()[1] for line in program.stdout.splitlines()] == [docno for docno, _ in expected]
    # A saved query comes back with its operators.
    printed(session, ":save near")
    session.run("river")
    printed(session, ":queries near")
    assert {t: w for t, w in session.query.weights().items() if isinstance(t, Operator)} == pytest.approx(kept)


def test_words_get_the_shortest_quotes_that_a_shell_reads():
    for word, written in (
        ("stem", "stem"),
        ("stem cell", "'stem cell'"),
        ('"a b"', "'\"a b\"'"),
        ("#1('a','b')", "\"#1('a','b')\""),
        ("it's $5!", "'it'\"'\"'s $5!'"),
    ):
        assert shell_word(word) == written
