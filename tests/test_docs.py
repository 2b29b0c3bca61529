"""README and docs are true: their commands print what they say, and their Python runs."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import invoke
from shared import ROOT

from sublex.cli import COMMANDS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "queries" / "demo" / "README.md"]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder like a checkout's: the demo collection and an empty home for indexes."""
    (tmp_path / "queries").symlink_to(ROOT / "queries")
    (tmp_path / "indexes").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUBLEX_INDEXES", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def run(command: str, place: Path) -> str:
    """Return what a command line prints: in this process if all it does is run sublex, else by a shell."""
    program, *arguments = shlex.split(command)
    parts = shlex.shlex(command, posix=True, punctuation_chars=True)
    if program == "sublex" and not any(part in ("|", ">", ">>", "<", "&", ";") for part in parts):
        return invoke(*arguments, merged=True).output
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    done = subprocess.run(
        command, shell=True, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    # What has to be compiled depends on what ran here before.
    return re.sub(r"^Compiling kernels.*\n", "", done.stdout, flags=re.MULTILINE)


def sessions(block: str):
    """The commands of a console block with what they print."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    for part in parts[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_as_they_stand(page, place):
    names: dict = {}
    checker = doctest.OutputChecker()
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(block, str(page), "exec"), names)
            continue
        for command, expected in sessions(block):
            found = "\n".join(line.rstrip() for line in run(command, place).split("\n"))
            assert checker.check_output(expected, found, doctest.ELLIPSIS), (
                f"$ {command}\nprints\n{found}\nnot\n{expected}"
            )


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_program_is_installed(place):
    assert shutil.which("sublex", path=str(Path(sys.executable).parent))
    assert "Usage: sublex [OPTIONS] COMMAND" in run("sublex --help | head", place)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_stands_in_the_docs(command, place):
    assert "Usage: sublex" in run(f"sublex {command} --help", place)
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert re.search(rf"sublex {command}\b", pages)
