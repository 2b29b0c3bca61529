"""Tests of how kernels are compiled: one signature each, ahead of their first call, in several processes, into a safe cache."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from command import invoke
from numba import config
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from shared import DEMO

import sublex
from sublex.faces import compiling
from sublex.language import plugins
from sublex.tools import compile_kernels, compiled
from sublex.tools.compile_kernels import MODULES, Job, all_jobs, compile_all, jobs_of, missing

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="kernels are not compiled")

# Two kernels that take a quarter of a second each to compile.
SMALL = [Job("sublex.index.kernels", "collect_terms", 0), Job("sublex.index.kernels", "count_dead", 0)]


def python(program: str, *arguments: str | os.PathLike[str], **environment: str) -> str:
    """Run a program in a new Python and return what it prints."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    path = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | path | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


USED = """
import json, os, sys
from importlib import import_module
from sublex import cli
from sublex.faces import compiling
from sublex.tools.compile_kernels import MODULES

promised = set()
compiling.compile_missing = lambda jobs: promised.update((job.module, job.name) for job in jobs)
modules = [import_module(name) for name in (*MODULES, "sublex_fisher.kernels", "sublex_dcot.kernels")]

def command(words):
    sys.argv = ["sublex", *words]
    assert cli.run() in (0, 1)
    for module in modules:
        for name, kernel in vars(module).items():
            if getattr(kernel, "declared", None) and kernel.overloads:
                assert (module.__name__, name) in promised, f"{module.__name__}.{name} is not compiled ahead for {words}"
                assert {tuple(types) for types in kernel.overloads} <= set(kernel.declared), kernel.overloads

for words in json.loads(sys.argv[1]):
    # Each command runs in a process that has called no kernel.
    if not (child := os.fork()):
        command(words)
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, words
"""


@pytest.mark.slow
def test_a_command_needs_the_kernels_that_are_compiled_ahead_with_the_types_that_they_declare(tmp_path):
    index, run = tmp_path / "ix", tmp_path / "a.run"
    (tmp_path / "indexes").mkdir()
    topics, qrels = DEMO.parent / "topics.trec", DEMO.parent / "qrels.txt"
    run.write_text("1 Q0 birds-05 1 2.5 tag\n")
    more = tmp_path / "more.jsonl"
    more.write_text('{"id": "one", "text": "a crane and a crane"}\n{"id": "two", "text": "no bird"}\n')
    commands = [
        ("index", index, DEMO), ("search", index, "crane by the river"), ("run", index, topics, "-o", tmp_path / "runs"),
        ("explain", index, "crane", "medicine-05"), ("eval", qrels, run), ("fuse", run, run, "-o", tmp_path / "b.run"),
        ("lint", topics, qrels, run), ("analyze", "the cranes"), ("add", index, more), ("delete", index, "one"),
        ("merge", index), ("check", index), ("demo", "-o", tmp_path / "demo.html"),
        ("compare", index, topics, qrels, "-r", "BM25", "-r", "PL2"),
    ]  # fmt: skip
    python(USED, json.dumps(commands, default=str), SUBLEX_INDEXES=str(tmp_path / "indexes"))


def test_commands_that_ask_for_terms_again_compile_the_kernels_of_blocks_for_large_indexes_only(tmp_path, monkeypatch):
    asked: list[Mapping[str, str]] = []
    monkeypatch.setattr(compiling, "_jobs", lambda needed: asked.append(needed) or [])
    index = tmp_path / "index"
    sublex.build([{"id": "a", "text": "a crane"}, {"id": "b", "text": "a river"}], index)
    (tmp_path / "topics.tsv").write_text("1\tcrane\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    topics, qrels = tmp_path / "topics.tsv", tmp_path / "qrels.txt"
    commands = [
        ("run", index, topics, "-o", tmp_path / "runs"), ("compare", index, topics, qrels, "-r", "BM25", "-r", "PL2"),
        ("tune", index, topics, qrels, "BM25(k1={1,2})", "--folds", "1"), ("search", index, "crane", "-r", "BM25 >> RM3 >> BM25"),
        ("search", index, "crane"), ("explain", index, "crane", "a"),
    ]  # fmt: skip
    for large in (False, True):
        monkeypatch.setattr("sublex.retrieval.blocks.blocks.FEWEST", 2 if large else 3)
        for command in commands:
            done = invoke(*map(str, command))
            assert "retrieval" in asked[-1], done
            many = command[0] not in ("search", "explain") or command[-1] == "BM25 >> RM3 >> BM25"
            assert ("retrieval.blocks" in asked[-1]) is (large and many), command
            # No table hides the kernels that another one names for the same room.
            assert {"find_pairs", "put_impacts"} <= {*asked[-1]["retrieval.coding"].split()}


def test_the_check_of_stored_impacts_is_compiled_ahead_where_there_are_some(tmp_path, monkeypatch):
    asked: list[Mapping[str, str]] = []
    monkeypatch.setattr(compiling, "_jobs", lambda needed: asked.append(needed) or [])
    index = sublex.build([{"id": "a", "text": "a crane"}, {"id": "b", "text": "a river"}], tmp_path / "index")
    for stored in (False, True):
        index.store_impacts(["BM25"] if stored else [])
        for command in ("search", "explain"):
            invoke(command, str(tmp_path / "index"), "crane", *(["a"] if command == "explain" else []))
            assert ("sound" in asked[-1]["retrieval.coding"].split()) is stored, command


def test_every_kernel_of_the_table_exists_and_every_module_of_kernels_is_listed():
    for needed in (compiling.BLOCKS, *compiling.NEEDED.values()):
        for room, names in needed.items():
            assert len(jobs_of(compiling.module_of(room), names.split())) >= len(names.split())
    engine = Path(compile_kernels.__file__).parent
    paths = [path for path in engine.rglob("kernels.py") if "@kernel(" in path.read_text(encoding="utf-8")]
    found = [path.relative_to(engine).with_suffix("") for path in paths]
    assert {".".join(("sublex", *path.parts)) for path in found} == set(MODULES)


def test_a_job_for_each_signature_of_the_engine_and_the_plugins():
    jobs = all_jobs()
    assert len(jobs) == len(set(jobs))
    assert {"sublex_fisher.kernels", "sublex_dcot.kernels", *MODULES} == {job.module for job in jobs}
    assert all(job.signature() for job in jobs)


def test_every_kernel_releases_the_lock_of_python():
    jobs = all_jobs()
    assert len(jobs) > 50
    holding = {f"{job.module}.{job.name}" for job in jobs if not job.kernel().targetoptions["nogil"]}
    assert not holding


def test_a_plugin_that_is_a_single_module_has_no_kernels(monkeypatch):
    class Lonely:
        module, error = "textwrap", ""

    monkeypatch.setattr(plugins.Registry, "plugins", [Lonely()], raising=False)
    monkeypatch.setattr(plugins, "load", lambda: Lonely)
    monkeypatch.setattr(Lonely, "plugins", [Lonely()], raising=False)
    assert {job.module for job in all_jobs()} == set(MODULES)


@pytest.mark.slow
def test_processes_compile_side_by_side_and_nothing_is_compiled_twice(tmp_path):
    program = (
        "from test_compiled import SMALL; from sublex.faces.compiling import compile_missing\n"
        "assert compile_missing(SMALL) and not compile_missing(SMALL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parent,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    started, ended = done.stderr.splitlines()
    assert started.startswith("Compiling 2 kernels on ") and started.endswith("stored for every later command.")
    assert ended.startswith("Compiled 2 kernels in ")
    assert len(list(tmp_path.rglob("*.nbi"))) == len(list(tmp_path.rglob("*.nbc"))) == 2


def test_one_kernel_is_stored_in_the_singular():
    assert compiling._fate(SMALL[:1]) == "which is then stored for every later command"
    assert compiling._fate(SMALL[:2]) == "which are then stored for every later command"


def test_processes_that_fail_leave_their_kernels_to_this_process(monkeypatch):
    monkeypatch.setattr(compile_kernels, "_PROGRAM", "raise SystemExit(1)")
    counted = []
    compile_all(SMALL, 3, lambda: counted.append(1))
    assert counted == [1, 1]


def test_where_no_folder_can_be_written_to_kernels_last_as_long_as_the_process(monkeypatch, tmp_path):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [UserProvidedCacheLocator])
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setattr(compiled.tempfile, "tempdir", str(tmp_path))

    kernel = compiled.kernel((compiled_int64(),))(_double)
    assert kernel(21) == 42 and kernel.declared
    assert compiled.is_temporary(kernel) and compiled.has_code(kernel, kernel.declared[0])
    assert os.environ["NUMBA_CACHE_DIR"].startswith(str(tmp_path))

    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setattr(compiled.tempfile, "mkdtemp", _full)
    kernel = compiled.kernel((compiled_int64(),))(_double)
    assert kernel(21) == 42 and compiled.has_code(kernel, kernel.declared[0])


def test_a_change_of_an_imported_file_has_a_kernel_compiled_again(monkeypatch, tmp_path):
    own = tmp_path / "kernels_with_a_friend.py"
    other = tmp_path / "kernels_of_a_friend.py"
    other.write_text("from sublex.tools.compiled import inner\n\n\n@inner\ndef twice(x):\n    return 2 * x\n")
    own.write_text(
        "from kernels_of_a_friend import twice\nfrom numba import int64\nfrom sublex.tools.compiled import kernel\n\n\n"
        "@kernel((int64,))\ndef four(x):\n    return twice(twice(x))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    four = importlib.import_module("kernels_with_a_friend").four
    assert not compiled.has_code(four, four.declared[0])
    assert four(3) == 12 and compiled.has_code(four, four.declared[0])
    os.utime(other, (0, 0))
    assert not compiled.has_code(four, four.declared[0])


def _double(x):
    return x * 2


def _full(**_: str) -> str:
    raise FileNotFoundError("no temporary folder")


def compiled_int64():
    from numba import int64

    return int64


def test_a_second_signature_gets_files_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    config.reload_config()
    kernel = compiled.kernel()(_double)
    assert kernel(2) == 4 and kernel(2.5) == 5.0
    names = {path.name.rpartition("py")[2].split(".")[1] for path in tmp_path.rglob("*.nbc")}
    assert len(names) == 2
    again = compiled.kernel()(_double)
    assert again(2.5) == 5.0 and sum(again.stats.cache_hits.values()) == 1
    monkeypatch.undo()
    config.reload_config()


@pytest.mark.slow
def test_search_loads_machine_code_without_the_compiler_and_info_needs_no_numba(built_demo):
    invoke("search", built_demo, "crane")
    program = """
import sys
from sublex import cli
sys.argv = ["sublex", *sys.argv[1:]]
assert cli.run() == 0
print("loaded:", *(name for name in ("numba", "numba.np.linalg", "scipy.linalg", "rich") if name in sys.modules))
"""
    assert python(program, "search", built_demo, "crane").splitlines()[-1] == "loaded: numba"
    assert python(program, "info", built_demo).splitlines()[-1] == "loaded:"


def test_warmup_compiles_all_that_is_missing(command, monkeypatch):
    asked = []
    monkeypatch.setattr("sublex.cli.commands.warmup.compile_missing", lambda jobs: asked.extend(jobs))
    assert command("warmup") == (0, "", "All kernels are compiled.\n")
    assert asked == all_jobs()


def test_the_largest_kernels_are_compiled_first(monkeypatch):
    monkeypatch.setattr(compiled, "has_code", lambda kernel, signature: False)
    names = [job.name for job in missing([*SMALL, *jobs_of("sublex.analysis.kernels")])]
    assert names[0] == "tokenize" and set(names[-4:]) >= {"collect_terms", "count_dead"}


def test_read_only_text_gets_the_same_machine_code_as_writable_text():
    from sublex.analysis import kernels
    from sublex.analysis.tokens import tokenize

    data = np.frombuffer(b"a crane", np.uint8)
    known = len(kernels.tokenize.overloads) or 1
    assert tokenize(data, np.array([7])).numbers.tolist() == tokenize(data.copy(), np.array([7])).numbers.tolist()
    assert len(kernels.tokenize.overloads) == known


def test_a_change_of_a_file_that_kernels_call_through_another_one_has_them_compiled_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    head = "from sublex.tools.compiled import inner, kernel\n"
    (tmp_path / "deepest.py").write_text(head + "@inner\ndef one():\n    return 1\n")
    (tmp_path / "between.py").write_text(head + "from deepest import one\n@inner\ndef two():\n    return one() + 1\n")
    (tmp_path / "above.py").write_text(
        head + "from between import two\n@kernel()\ndef three():\n    return two() + 1\n"
    )
    three = importlib.import_module("above").three
    before = compiled._stamps_of_others(three.py_func)
    assert three() == 3 and len(before) == 2
    with open(tmp_path / "deepest.py", "a") as file:
        file.write("# longer\n")
    assert compiled._stamps_of_others(three.py_func) != before
