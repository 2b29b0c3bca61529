"""README and docs are true: their commands print what the pages show, and their Python runs."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import notebooks
import pytest
from command import invoke
from shared import ROOT

from sublex.cli import COMMANDS
from sublex.language import plugins

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "queries" / "demo" / "README.md"]
EXAMPLE = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Fenced blocks and rows of tables, which Markdown cannot break into several lines.
UNBREAKABLE = re.compile(r"^```.*?^```|^\|.*?$", re.MULTILINE | re.DOTALL)
LONGEST_LINE = 120


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory like a checkout, with the demo collection and no index yet."""
    (tmp_path / "queries").symlink_to(ROOT / "queries")
    (tmp_path / "indexes").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("SUBLEX_INDEXES", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def run(command: str, folder: Path) -> str:
    """Return what a command line prints: in this process if all it does is run sublex, else by a shell."""
    program, *arguments = shlex.split(command)
    parts = shlex.shlex(command, posix=True, punctuation_chars=True)
    if program == "sublex" and not any(part in ("|", ">", ">>", "<", "&", ";") for part in parts):
        return invoke(*arguments, merged=True).output
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    # Kernels are compiled only the first time that they run on a machine.
    return re.sub(r"^Compil(ing|ed) .*\bkernels?\b.*\n", "", done.stdout, flags=re.MULTILINE)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output that follows it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:pyterrier")
@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_examples_of_a_page_run_as_they_stand(page, folder):
    if page.name == "pyterrier.md":
        pytest.importorskip("pyterrier")
    variables: dict = {}
    checker = doctest.OutputChecker()
    for language, block in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(block, str(page), "exec"), variables)
            continue
        for command, expected in commands(block):
            printed = "\n".join(line.rstrip() for line in run(command, folder).split("\n"))
            assert checker.check_output(expected, printed, doctest.ELLIPSIS), (
                f"$ {command}\nprints\n{printed}\nnot\n{expected}"
            )


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=name)
def test_the_outputs_of_a_notebook_are_those_of_its_code(path, tmp_path):
    notebook = notebooks.read(path)
    again = notebooks.run(notebook, tmp_path)
    for cell, now in zip(notebook["cells"], again["cells"], strict=True):
        code = "".join(cell["source"])
        assert cell == now, f"{code}\nprints something else; run python tests/notebooks.py if that is meant"
    assert path.read_text(encoding="utf-8") == notebooks.written(notebook)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_lines_of_a_page_are_short(page):
    prose = UNBREAKABLE.sub(lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"))
    long = [number for number, line in enumerate(prose.splitlines(), 1) if len(line) > LONGEST_LINE]
    assert not long, f"{name(page)} has lines of more than {LONGEST_LINE} columns: {long}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{name(page)} links to {target}"


def test_the_site_has_every_page_and_its_links_lead_to_pages():
    """`make site` checks the same, and the anchors, with MkDocs, which tests do not need."""
    import yaml

    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "site" / "pages.py")
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    settings = yaml.safe_load((ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = set(re.findall(r"[\w/]+\.md", str(settings["nav"])))
    docs = {str(path.relative_to(ROOT / "docs")): path for path in (ROOT / "docs").rglob("*.md")}
    reference = {f"reference/{name}.md" for name in pages.REFERENCE}
    assert listed == {*docs, *pages.ELSEWHERE, *reference}
    for here, path in {**docs, **{page: ROOT / source for page, source in pages.ELSEWHERE.items()}}.items():
        text = pages.with_links_of_the_site(path.read_text(encoding="utf-8"), here)
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", pages._FENCES.sub("", text)):
            wanted = os.path.normpath(os.path.join(os.path.dirname(here), target))
            assert wanted in listed or (ROOT / "docs" / wanted).is_file(), f"{here} links to {target}"
    assert pages.with_links_of_the_site("[a `b`](../benchmarks/laki.py) [c](lint.md#x) [d](no.md)", "cli.md") == (
        "a `b` [c](lint.md#x) [d](no.md)"
    )


def test_the_program_is_installed(folder):
    assert shutil.which("sublex", path=str(Path(sys.executable).parent))
    assert "Usage: sublex [OPTIONS] [COMMAND]" in run("sublex --help | head", folder)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_docs(command):
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert re.search(rf"sublex {command}\b", pages)


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_every_component_is_named_in_the_documentation(kind):
    pages = "".join(page.read_text(encoding="utf-8") for page in [ROOT / "CHANGELOG.md", *PAGES])
    words = set(re.findall(r"\w+", pages))
    assert not set(plugins.load().names(kind)) - words
