"""Help and discovery: examples in every help, -v, lists of components and indexes, and completion in a shell."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from click.shell_completion import BashComplete
from shared import DEMO, QRELS, SUBLEX, TOPICS, manifest_of, write_manifest
from strategies import ALL

import sublex as engine
from sublex import cli
from sublex.cli import completion
from sublex.language.expression import NORMALISERS
from sublex.testing import CHECKS_OF
from sublex.tools import messages


def commands(group: click.Group = cli.cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield every command of Sublex with its words, the commands of groups too."""
    for name in cli.COMMANDS if group is cli.cli else group.commands:
        command = group.get_command(click.Context(group), name)
        yield " ".join([*path, name]), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


COMMANDS = dict(commands())


def examples(command: click.Command) -> list[str]:
    """Return the command lines of a command's examples that begin with sublex."""
    lines = (command.epilog or "").split("\n")
    assert lines[:2] == ["\b", "Examples:"], f"{command.name} has no examples"
    return [line.strip() for line in lines[2:] if line.strip().startswith("sublex ")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_of_itself_that_parse(name):
    lines = examples(COMMANDS[name])
    assert any(line.startswith(f"sublex {name}") for line in lines)
    for line in lines:
        words = shlex.split(line)[1:]
        command: click.Command = cli.cli
        context = click.Context(cli.cli)
        while isinstance(command, click.Group):
            _, command, words = command.resolve_command(context, words)
            context = click.Context(command, context)
        command.make_context(command.name, list(words), parent=context.parent)


def write_whoosh(folder: Path) -> None:
    """Write a Whoosh index of one document."""
    from whoosh import fields, index

    folder.mkdir()
    schema = fields.Schema(id=fields.ID(stored=True, unique=True), text=fields.TEXT(stored=True))
    writer = index.create_in(folder, schema).writer()
    writer.add_document(id="crane", text="A crane by the river")
    writer.commit()


def write_encoder(folder: Path) -> None:
    """Write a model of two words for the encoder `static`."""
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("[UNK]\ncrane\n")
    header = b'{"embeddings": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}}'
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))


@pytest.fixture(scope="module")
def examples_made(tmp_path_factory, built_demo):
    """The folder in which examples run: the demo's files and index, runs, fitted models, a resource and a name."""
    folder = tmp_path_factory.mktemp("examples")
    for name, source in (("documents.jsonl", DEMO), ("topics.trec", TOPICS), ("qrels.txt", QRELS)):
        shutil.copy(source, folder / name)
    (folder / "more.jsonl").write_text('{"id": "new", "text": "A crane."}\n')
    (folder / "changed.jsonl").write_text('{"id": "birds-05", "text": "A crane."}\n')
    (folder / "glove.txt").write_text("crane 1 0\nriver 0 1\nbird 1 1\n")
    (folder / "animals").mkdir()
    write_encoder(folder / "models" / "potion")
    write_whoosh(folder / "papers-by-whoosh")
    shutil.copytree(built_demo, folder / "indexes" / "demo")
    index = engine.open(folder / "indexes" / "demo")
    parts = index.split([folder / "parts" / "first", folder / "parts" / "second"])
    engine.build_cluster(parts, folder / "indexes" / "halves")
    index.run(TOPICS).write(folder / "bm25.run")
    index.run(TOPICS, "PL2").write(folder / "pl2.run")
    index.fit("lsi(e=20)")
    index.fit("lsi(e=50)")
    index.fit("lda(k=20)")
    index.add_resource("words", folder / "glove.txt")
    index.name("both", "PL2 + 0.3*DirichletLM")
    docnos = [str(docno) for docno in index.snapshot.all_docnos]
    np.savez(folder / "bge.npz", docnos=docnos, rows=np.eye(len(docnos), 8))
    np.savez(folder / "queries.npz", ids=["the crane"], rows=np.ones((1, 8)))
    index.add_vectors("bge", folder / "bge.npz")
    return folder


@pytest.fixture
def examples_folder(command, examples_made):
    """The function `command`, in a copy of the folder in which examples run."""
    shutil.copytree(examples_made, ".", dirs_exist_ok=True)
    return command


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_runs_on_the_demo(examples_folder, monkeypatch, name):
    if not ALL:
        # The others build many indexes, and test_contract.py makes them.
        monkeypatch.setitem(CHECKS_OF, "representation", CHECKS_OF["representation"][2:5])
    for line in examples(COMMANDS[name]):
        if line == "sublex plugin test mine":
            continue  # It needs the package that the line before installs.
        if line.startswith(("sublex reproduce", "sublex serve", "sublex mcp")):
            # The first needs the collections of the paper. The others run until they are stopped; test_service.py starts them.
            continue
        if line.startswith("sublex plugin new mine"):
            shutil.rmtree("mine", ignore_errors=True)
        code, _, said = examples_folder(*shlex.split(line)[1:])
        assert code == 0 or (name == "lint" and code == 1), f"{line}: {said}"


def test_v_says_what_is_done_and_how_long_it_took(demo):
    code, output, said = demo("search", "demo", "crane", "-v")
    lines = said.splitlines()
    assert code == 0 and output == demo("search", "demo", "crane")[1]
    assert lines[0].startswith("Opened indexes/demo: ") and any(line.startswith("Ranked by BM25: ") for line in lines)
    assert all(re.fullmatch(r".+(: |took )[0-9.e+]+ m?s\.?", line) for line in lines), lines
    assert lines[-1].startswith("The command took ")
    for arguments in (
        ("run", "demo", str(TOPICS), "-o", "a.run"), ("eval", str(QRELS), "a.run"), ("check", "demo"), ("merge", "demo"),
        ("fit", "demo", "lsi(e=5)"), ("index", "new", str(DEMO)), ("explain", "demo", "crane", "birds-05"),
        ("compare", str(QRELS), "a.run", "-m", "AP"), ("fuse", "a.run", "a.run"), ("lint", str(QRELS)),
    ):  # fmt: skip
        said = demo(*arguments, "--verbose")[2]
        assert len(re.findall(r": [0-9.e+]+ m?s$", said, re.M)) >= 1 and "The command took " in said, said
        assert "The command took" not in demo(*arguments)[2]


# components and indexes.


def test_a_component_says_with_which_values_of_another_a_parameter_has_an_effect(command):
    assert (
        "mu=1000.0 (number; 0 to 1,000,000,000, both excluded; only with score=likelihood)"
        in command("components", "lda").output
    )
    assert "only with model=full or bijective" in command("components", "sourcelda").output
    assert (
        "sweeps=5000 (whole number; 10 to 10,000,000; changes the rows of documents; only with inference=gibbs)"
        in command("components", "laki").output
    )


def test_components_lists_all_with_parameters_ranges_and_literature(command):
    code, output, _ = command("components")
    assert code == 0 and [line for line in output.splitlines() if line[:1] not in ("", " ")][:10] == [
        "Rankers", "Expanders", "Representations", "Filters", "Smoothers", "Retrievers", "Rerankers", "Encoders", "Normalisers",
        output.splitlines()[-3],
    ]  # fmt: skip
    assert "k1=1.2 (0 to 1,000), b=0.75 (0 to 1)" in output and "2009, eq. 3.15" in output
    from sublex.language import plugins

    registry = plugins.load()
    for name in [*registry.names("component"), *NORMALISERS]:
        assert re.search(rf"^  {name} ", output, re.M), name
    listed = {entry["name"]: entry for entry in json.loads(command("components", "--format", "json")[1])}
    assert listed.keys() == {*registry.names("component"), *NORMALISERS}
    assert all(entry["description"] and entry["distribution"] for entry in listed.values())
    without = {name for name, entry in listed.items() if not entry["source"]}
    assert without <= {"DFRee", "dense", "keyphrase", "onnx", "sort", "topic", "vectors", "where", *NORMALISERS}
    for entry in listed.values():
        params = {param["name"]: param for param in entry["params"]}
        assert all(param["help"] and param["type"] for param in params.values()), entry["name"]


def test_components_describes_one_whatever_its_case_and_kind(command):
    code, output, _ = command("components", "bm25")
    assert code == 0 and output.startswith("BM25, a ranker of sublex ")
    for part in (
        "Okapi BM25",
        "S. Robertson",
        "  k1=1.2 (number; 0 to 1,000)",
        "Term-frequency saturation",
        "k3 (number; 0 to 1,000,000; optional)",
    ):
        assert part in output
    assert "changes the fit" in command("components", "lsi:LSI")[1]
    assert command("components", "english")[1].startswith("english, an analyzer of")
    assert "needs no" not in command("components", "vectors")[1]
    assert "file (resource; required; changes the fit)" in command("components", "vectors")[1]
    code, output, _ = command("components", "bm25(k1=1)")
    assert (
        code == 0
        and output.startswith("BM25(k1=1), a ranker of sublex ")
        and "  k1=1" in output
        and "  b=0.75" in output
    )
    assert "stop=none" in command("components", "english(stop=none)")[1]
    for wrong, sentence in (
        ("BM25(k1=x)", "has to be a number"),
        ("BM25 + PL2(c=1)", "is not one component"),
        ("X(y=1)", "No component X"),
    ):
        assert sentence in command("components", wrong)[2]
    code, output, messages = command("components", "BM52")
    assert (code, output) == (2, "") and messages == (
        "sublex: No component BM52; did you mean BM25? To list all components: sublex components\n"
    )


def test_indexes_lists_what_a_bare_name_finds(demo):
    shutil.copytree("indexes/demo", "here")
    Path("indexes/broken").mkdir()
    Path("indexes/broken/index.json").write_text("{")
    demo("fit", "demo", "lsi(e=5)")
    code, output, said = demo("indexes")
    lines = [re.split(r"  +", line) for line in output.splitlines()]
    assert code == 0 and lines[0] == ["index", "documents", "bytes", "analyzer", "fitted", "changed"]
    assert [line[0] for line in lines[1:]] == ["demo", "here"] and "indexes/broken" in said
    assert lines[1][1] == "252" and lines[1][3:5] == ["english", "lsi(e=5)"] and lines[2][4] == "nothing"
    found = json.loads(demo("indexes", "--format", "json")[1])[0]
    size = sum(file.stat().st_size for file in Path("indexes/demo").rglob("*") if file.is_file())
    assert (found["path"], found["bytes"], found["fitted"]) == ("indexes/demo", size, ["lsi(e=5)"])


def test_no_indexes_are_no_mistake(command):
    assert command("indexes") == (0, "", "No index in indexes; make one by: sublex index NAME FILE…\n")


# Completion.


def completions(line: str) -> list[str]:
    """Return what bash is offered at the end of a command line, by click's own machinery."""
    words = (
        [*line.split(" ")] if '"' not in line else [*line[: line.index('"')].split(" ")[:-1], line[line.index('"') :]]
    )
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(words), str(len(words) - 1)
    complete = BashComplete(cli.cli, {}, "sublex", completion.VARIABLE)
    return complete.complete().split("\n")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("sublex compo", ["plain,components"]),
        ("sublex search D", ["plain,demo"]),
        ("sublex info indexes/d", ["dir,indexes/d"]),
        ("sublex index new do", ["file,do"]),
        ("sublex run demo q", ["file,q"]),
        ("sublex compare ", ["plain,demo"]),
        ("sublex compare demo t", ["file,t"]),
        ("sublex compare zz", ["file,zz"]),
        ("sublex index x y --reader json", ["plain,json", "plain,jsonl"]),
        ("sublex index x y --analyzer eng", ["plain,english"]),
        ("sublex search demo x --profile ans", ["plain,anserini"]),
        ("sublex components axi", ["plain,Axiomatic"]),
        ("sublex search demo x -r bm25p", ["plain,BM25PRF"]),
        ('sublex search demo x -r "BM25 >> rm', ["plain,BM25 >> RM3"]),
        ("sublex search demo x -r bette", ["plain,better"]),
        ("sublex fit demo bes", ["plain,best"]),
        ('sublex search demo x -r "0.3*zsc', ["plain,0.3*zscore"]),
        ('sublex search demo x -r "minmax(PL', ["plain,minmax(PL2", "plain,minmax(PL2F"]),
        ('sublex search demo x -r "bm25(k', ["plain,bm25(k1=", "plain,bm25(k3="]),
        ('sublex search demo x -r "BM25(k1=1, b', ["plain,BM25(k1=1, b=", "plain,BM25(k1=1, b=0.75"]),
        ('sublex search demo x -r "BM25(variant=te', ["plain,BM25(variant=terrier"]),
        ('sublex search demo x -r "RM3(filter=', ["plain,RM3(filter=true", "plain,RM3(filter=false"]),
        ('sublex search demo x -r "RM3(docs=3) >> Hi', ["plain,RM3(docs=3) >> HiemstraLM"]),
        ('sublex search demo x -r "nothing(k', ["plain,nothing(KL", "plain,nothing(keyphrase"]),
        ("sublex nothing x", [""]),
        ("sublex search demo x -r )))((", [""]),
    ],
)
def test_a_shell_is_offered_what_fits(demo, monkeypatch, line, offered):
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.setenv(name, "")
    found = completions(line)
    assert found == offered or (line.endswith("((") and offered == [""] and len(found) > 10)


def test_columns_are_offered_before_models(demo, monkeypatch):
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.setenv(name, "")
    assert demo("index", "wide", str(DEMO), "--columns", "theme").code == 0
    assert completions("sublex search wide x --facets 3 --of th") == ["plain,theme"]
    assert completions("sublex search wide x --show T") == ["plain,theme"]
    assert "plain,lsi" in completions("sublex search wide x --facets 3 --of ls") and completions(
        "sublex search demo x --show t"
    ) == [""]


def test_names_and_models_are_offered_as_a_printed_command_has_them(demo, monkeypatch):
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.setenv(name, "")
    index = engine.open("indexes/demo")
    index.fit("lsi(e=3, weighting=count)")
    index.name("lsmine", "lsi(e=3, weighting=count)")
    model = "lsi(e=3, weighting=count)"
    printed = str(messages.Step("card", "demo", model)).removeprefix("sublex card demo ")
    monkeypatch.setenv(completion.VARIABLE, "bash_complete")
    for line in ("sublex card demo ls", "sublex encode demo LS", "sublex search demo x --facets 2 --of ls"):
        assert completions(line) == ["plain,lsmine", f"plain,{printed}"], line
    # Within quotes, the shell has the first quote already.
    assert completions('sublex card demo "lsi') == [f"plain,{model}"]
    for line in ('sublex search demo x -r "PL2 + lsm', 'sublex compare demo t q -r "PL2 + lsm'):
        assert completions(line) == ["plain,PL2 + lsmine"]
    assert completions("sublex run demo t -r lsi") == ["plain,lsi", f"plain,{printed}"]
    assert completions("sublex unname demo ") == completions("sublex name demo l") == ["plain,lsmine"]
    assert completions("sublex search nowhere x -r lsm") == completions("sublex name nowhere ") == [""]
    # Other shells put quotes where they need them.
    monkeypatch.setenv(completion.VARIABLE, "zsh_complete")
    assert completions("sublex card demo lsi") == [f"plain,{model}"]
    # A shell may run what stands between quotes, so a hostile index's texts are not offered.
    manifest = manifest_of(index.path)
    (entry,) = manifest["fitted"].values()
    for evil in ('lsi(e=3, words="$(touch x)")', "lsi(e=3, words='`x`')"):
        for rows in entry["rows"].values():
            rows["expression"] = evil
        write_manifest(index.path, manifest)
        assert "lsmine" in completions('sublex card demo "ls')[0] and "words" not in "".join(
            completions('sublex card demo "lsi')
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("sublex card demo ls", "plain,lsi"),
        ("sublex search de", "plain,demo"),
        ('sublex search demo x -r "BM25(b', "plain,BM25(b="),
    ],
)
def test_completion_is_quick_and_never_prints_an_error(demo, line, offered):
    environment = os.environ | {completion.VARIABLE: "bash_complete", "COMP_WORDS": line}
    place = str(len(shlex.split(line + ('"' if '"' in line else ""))) - 1)
    code = "import sys; from sublex import cli; cli.run(); print(list(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment | {"COMP_CWORD": place}
    )
    *found, modules = done.stdout.splitlines()
    assert found[0] == offered and done.stderr == ""
    assert not {"numba", "scipy", "rich"} & set(ast.literal_eval(modules))
    broken = environment | {"COMP_CWORD": "x", "SUBLEX_INDEXES": "/dev/null/x"}
    done = subprocess.run(SUBLEX, capture_output=True, text=True, env=broken)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not here")
def test_bash_completes_a_command_line_after_the_one_line_of_the_docs(demo):
    script = subprocess.run(
        SUBLEX, capture_output=True, text=True, env=os.environ | {completion.VARIABLE: "bash_source"}
    )
    assert script.returncode == 0 and "complete -o nosort -F _sublex_completion sublex" in script.stdout
    program = Path("bin/sublex").absolute()
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {shlex.join(SUBLEX)}\n")
    program.chmod(0o755)
    ask = f"""PATH={program.parent}:$PATH
    {script.stdout}
    COMP_WORDS=(sublex search de); COMP_CWORD=2; _sublex_completion sublex; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("demo\n", "")


# Commands that install missing parts.


@pytest.mark.parametrize(
    ("files", "pip", "expected"),
    [
        ((), "env/bin/pip", r"pip install 'ir[-_]datasets>=0.5.6'"),
        ((), "elsewhere/pip", r"\S+/env/bin/python -m pip install 'ir[-_]datasets>=0.5.6'"),
        (("pipx_metadata.json",), "env/bin/pip", r"pipx inject env 'ir[-_]datasets>=0.5.6'"),
        (("uv-receipt.toml",), "env/bin/pip", r"uv pip install --python \S+/env/bin/python 'ir[-_]datasets>=0.5.6'"),
        (None, "", r"uv pip install --python \S+/env/bin/python 'ir[-_]datasets>=0.5.6'"),
    ],
)
def test_the_command_to_install_a_part_fits_how_sublex_was_installed(monkeypatch, tmp_path, files, pip, expected):
    environment = tmp_path / "env"
    (environment / "bin").mkdir(parents=True)
    for name in files or ():
        (environment / name).touch()
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / "python"))
    monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / pip))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if files is None else object())
    assert re.fullmatch(expected, messages.install_command("irds"))
    assert messages.install_command("nothing").endswith("'sublex[nothing]'")
