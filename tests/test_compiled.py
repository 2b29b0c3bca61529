"""Tests of how kernels are compiled: one signature each, ahead of their first call, in several processes, into a safe cache."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command import invoke
from numba import config
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from shared import DEMO

import sublex
import sublex_fisher
from sublex.faces import compiling
from sublex.language import plugins
from sublex.operations.building import _tasks
from sublex.tools import compile_ahead, compiled
from sublex.tools.compile_ahead import CompileJob, all_jobs, compile_all, jobs_before, jobs_of, kernel_files, missing

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="kernels are not compiled")

ENGINE = Path(sublex.__file__).parent
MODULES = plugins.load().modules
# Two kernels that take a quarter of a second each to compile.
SMALL = [
    CompileJob("sublex.other_engines.postings_kernels", "collect_terms", 0),
    CompileJob("sublex.building.merge_kernels", "count_dead", 0),
]


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
from sublex.language import plugins
from sublex.tools.compile_ahead import kernel_files

promised = set()
compiling.compile_missing = lambda jobs: promised.update((job.module, job.name) for job in jobs)
modules = [import_module(name) for name in kernel_files(plugins.load().modules)]

def command(words):
    sys.argv = ["sublex", *words]
    assert cli.run() in (0, 1)
    for module in modules:
        for name, kernel in vars(module).items():
            if getattr(kernel, "declared", None) and kernel.overloads:
                assert (module.__name__, name) in promised, f"{module.__name__}.{name} is not compiled ahead for {words}"
                others = {tuple(types) for types in kernel.overloads} - set(kernel.declared)
                assert not others, f"{module.__name__}.{name} takes {others} in {words}"

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


@pytest.mark.slow
def test_commands_on_fields_and_columns_need_the_kernels_that_are_compiled_ahead(tmp_path):
    index, topics, qrels = tmp_path / "ix", DEMO.parent / "topics.trec", DEMO.parent / "qrels.txt"
    more = tmp_path / "more.jsonl"
    more.write_text(
        '{"id": "one", "title": "A crane", "text": "a crane and a crane", "theme": ["x", "y"], "seen": "2015"}\n'
    )
    stored, language = ("--store", "text,terms,positions"), ("--language", "query")
    columns = ("--columns", "theme,year:int,seen:date")
    documents = tmp_path / "documents.jsonl"
    given = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]
    seen = [{**each, "year": 1990 + k % 30, "seen": f"{1990 + k % 30}-05-04"} for k, each in enumerate(given)]
    documents.write_text("".join(json.dumps(each) + "\n" for each in seen))
    filtered = 'BM25F >> where("theme = birds and year in (1990..2010) and not seen > 2005")'
    commands = [
        ("index", index, documents, "--fields", "title,text,theme", *columns, *stored),
        ("search", index, 'title:crane text:"the river" +theme:birds year:1990..2010', *language),
        ("search", index, "title:cran* -year:1991 crane~1", "-r", "PL2F >> sort(seen)", *language),
        ("search", index, "crane river", "-r", filtered, "--facets", "3", "--of", "theme", "--of", "year"),
        ("search", index, "", "-r", 'where("year >= 1995")'), ("search", index, "theme:birds", *language),
        ("search", index, "crane", "-r", 'BM25 % 50 >> where("year >= 1995")'),
        ("explain", index, 'title:crane text:"the river"', "birds-05", "-r", "BM25F", *language),
        ("analyze", index, "title:crane", *language), ("info", index),
        ("run", index, topics, "-r", "BM25F + PL2F", "-o", tmp_path / "runs"),
        ("compare", index, topics, qrels, "-r", "BM25F", "-r", filtered),
        ("tune", index, topics, qrels, "BM25F(weights=[{1,2}, 1])"),
        ("add", index, more), ("split", index, tmp_path / "first", tmp_path / "second"), ("delete", index, "one"),
        ("merge", index, "--reorder"), ("check", index), ("join", tmp_path / "both", tmp_path / "first", tmp_path / "second"),
    ]  # fmt: skip
    python(USED, json.dumps(commands, default=str), SUBLEX_INDEXES=str(tmp_path / "indexes"))


def test_commands_that_ask_for_terms_again_compile_the_kernels_of_blocks_for_large_indexes_only(tmp_path, monkeypatch):
    asked: list[set[str]] = []
    monkeypatch.setattr(
        compile_ahead, "jobs_before", lambda *tasks: asked.append({job.name for job in jobs_before(*tasks)})
    )
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
        monkeypatch.setattr("sublex.retrieval.blocks.FEWEST", 2 if large else 3)
        for command in commands:
            done = invoke(*map(str, command))
            assert {"tokenize", "find_pairs", "put_impacts", "retrieve"} <= asked[-1], done
            many = command[0] not in ("search", "explain") or command[-1] == "BM25 >> RM3 >> BM25"
            assert ({"fill", "read_list"} <= asked[-1]) is (large and many), command


def test_the_check_of_stored_impacts_is_compiled_ahead_where_there_are_some(tmp_path, monkeypatch):
    asked: list[set[str]] = []
    monkeypatch.setattr(
        compile_ahead, "jobs_before", lambda *tasks: asked.append({job.name for job in jobs_before(*tasks)})
    )
    index = sublex.build([{"id": "a", "text": "a crane"}, {"id": "b", "text": "a river"}], tmp_path / "index")
    for stored in (False, True):
        index.store_impacts(["BM25"] if stored else [])
        for command in ("search", "explain"):
            invoke(command, str(tmp_path / "index"), "crane", *(["a"] if command == "explain" else []))
            assert ("sound" in asked[-1]) is stored, command


def test_the_kernels_of_positions_are_compiled_ahead_for_an_index_that_stores_them(tmp_path, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(compile_ahead, "jobs_before", lambda tasks, modules: asked.append(tasks) or [])
    (tmp_path / "more.jsonl").write_text('{"id": "c", "text": "a crane"}')
    more, root = str(tmp_path / "more.jsonl"), str(tmp_path / "index")
    for store in ("text,terms", "text,terms,positions"):
        for words in (
            ("index", root, more, "--overwrite", "--store", store),
            ("add", root, more, "--duplicates", "last"),
            ("merge", root),
        ):
            assert invoke(*words).code == 0
            assert ("positions" in asked[-1].split()) is ("positions" in store), words


def test_the_kernels_of_fields_are_compiled_ahead_for_an_index_that_has_them(tmp_path, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(compile_ahead, "jobs_before", lambda tasks, modules: asked.append(tasks) or [])
    (tmp_path / "more.jsonl").write_text('{"id": "c", "text": "a crane"}')
    more, root = str(tmp_path / "more.jsonl"), str(tmp_path / "index")
    for fields in ("", "text"):
        for words in (
            ("index", root, more, "--overwrite", "--fields", fields),
            ("add", root, more, "--duplicates", "last"),
            ("merge", root),
            ("search", root, "crane"),
        ):
            assert invoke(*words).code == 0
            task = "read-fields" if words[0] == "search" else "fields"
            assert (task in asked[-1].split()) is bool(fields), words


def test_the_kernels_of_operators_are_compiled_ahead_where_positions_are_stored(tmp_path, monkeypatch):
    asked: list[set[str]] = []
    monkeypatch.setattr(
        compile_ahead, "jobs_before", lambda *tasks: asked.append({job.name for job in jobs_before(*tasks)})
    )
    for store in ("text,terms", "positions"):
        sublex.build([{"id": "a", "text": "a crane"}], tmp_path / store, store=store)
        invoke("search", str(tmp_path / store), "crane")
        assert ({"occurrences", "combine", "copy_lists"} <= asked[-1]) is (store == "positions")


def test_the_tasks_that_commands_begin_are_those_that_kernels_name():
    rooms = [path for room in ("cli", "shell", "operations") for path in (ENGINE / room).rglob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in rooms)
    begun = re.findall(r'(?:say_if_compiling|compile_quietly|prepare)\("([^"]*)"', text)
    begun += [
        _tasks(["birds.json"], reorder=True, positions=True, fields=True),
        "fill-blocks",
        "check-positions",
        "check-stored-impacts",
        "operators",
        "read-fields",
    ]
    named = {task for job in all_jobs(MODULES) for task in job.kernel().before}
    assert set(" ".join(begun).split()) == named


def test_the_text_of_a_file_names_the_tasks_that_its_decorators_name():
    for module, path in kernel_files(MODULES).items():
        kernels = vars(importlib.import_module(module)).values()
        own = [
            kernel for kernel in kernels if getattr(kernel, "__module__", "") == module and hasattr(kernel, "before")
        ]
        assert compile_ahead._tasks(path) == set().union(*(kernel.before for kernel in own)), path


def test_a_job_for_each_signature_of_the_engine_and_the_plugins():
    jobs = all_jobs(MODULES)
    assert len(jobs) == len(set(jobs))
    roots = ENGINE, Path(sublex_fisher.__file__).parents[1]
    texts = {path: path.read_text(encoding="utf-8") for root in roots for path in root.rglob("*_kernels.py")}
    names = {
        (path.parent.name, name)
        for path, text in texts.items()
        # A decorator without a signature declares nothing.
        for name in re.findall(r"^@kernel\((?!\)).*?^def (\w+)", text, re.DOTALL | re.MULTILINE)
    }
    assert len(names) > 60 and {(job.module.split(".")[-2], job.name) for job in jobs} == names
    assert all(job.signature() for job in jobs)


def test_a_task_imports_only_the_files_with_its_kernels():
    program = (
        "import sys; from sublex.tools.compile_ahead import jobs_before\n"
        "print(*sorted(job.name for job in jobs_before('delete', ['sublex_fisher'])))\n"
        "print(*sorted(name for name in sys.modules if name.endswith('kernels')), 'sublex_fisher' in sys.modules)"
    )
    assert python(program).splitlines() == [
        "count_dead decode_terms",
        "sublex.building.merge_kernels sublex.index.posting_kernels False",
    ]


def test_kernels_of_plugins_are_found_in_the_folders_of_their_packages(monkeypatch, tmp_path):
    head = "from numba import int64\nfrom sublex.tools.compiled import kernel\n"
    texts = {
        "fowl/plugin.py": "raise ImportError('nobody imports it')",
        "fowl/wing/flap_kernels.py": head + "@kernel((int64,), (int64, int64), before='flap')\ndef flap(x, y=1):\n    return x\n",
        "fowl/wing/also_kernels.py": head + "from fowl.wing.flap_kernels import flap\n@kernel((int64,))\ndef fly(x):\n    return flap(x)\n",
        "fowl/wing/unlike_kernel.py": "raise ImportError('this is no file of kernels')",
        "fish/tail_kernels.py": head + "@kernel((int64,), before='swim')\ndef swim(x):\n    return x\n",
        "fish/__init__.py": "raise SystemExit(1)",
    }  # fmt: skip
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    known = ["fowl.plugin", "fish", "textwrap", "none_such"]
    flap = [CompileJob("fowl.wing.flap_kernels", "flap", 0), CompileJob("fowl.wing.flap_kernels", "flap", 1)]
    assert jobs_before("flap swim", known) == flap
    assert {*all_jobs(known)} - {*all_jobs([])} == {*flap, CompileJob("fowl.wing.also_kernels", "fly", 0)}


def test_every_kernel_releases_the_lock_of_python():
    jobs = all_jobs(MODULES)
    assert len(jobs) > 50
    holding = {f"{job.module}.{job.name}" for job in jobs if not job.kernel().targetoptions["nogil"]}
    assert not holding


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
    monkeypatch.setattr(compile_ahead, "_PROGRAM", "raise SystemExit(1)")
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
    monkeypatch.setattr("sublex.cli.warmup.compile_missing", lambda jobs: asked.extend(jobs))
    assert command("warmup") == (0, "", "All kernels are compiled.\n")
    assert asked == all_jobs(MODULES) and {"sublex.index.posting_kernels", "sublex_fisher.fisher_kernels"} <= {
        job.module for job in asked
    }


def test_the_largest_kernels_are_compiled_first(monkeypatch):
    monkeypatch.setattr(compiled, "has_code", lambda kernel, signature: False)
    names = [job.name for job in missing([*SMALL, *jobs_of("sublex.analysis.token_kernels")])]
    assert names[0] == "tokenize" and set(names[-4:]) >= {"collect_terms", "count_dead"}


def test_read_only_text_gets_the_same_machine_code_as_writable_text():
    from sublex.analysis import token_kernels
    from sublex.analysis.tokens import tokenize

    data = np.frombuffer(b"a crane", np.uint8)
    known = len(token_kernels.tokenize.overloads) or 1
    assert tokenize(data, np.array([7])).numbers.tolist() == tokenize(data.copy(), np.array([7])).numbers.tolist()
    assert len(token_kernels.tokenize.overloads) == known


# Files of kernels that reach others in each way that Numba knows: by a name, through a module, and through a module in a module.
BIRDS = {
    "nest/__init__.py": "",
    "nest/eggs_kernels.py": """
from typing import NamedTuple
from sublex.tools.compiled import inner

EGGS = 3
TABLE = (1, 2)

class Pair(NamedTuple):
    first: int
    second: int

@inner
def number():
    "Return the number of eggs."
    return EGGS

@inner
def unused():
    return 0
""",
    "nest/owner_kernels.py": """
from nest import eggs_kernels
from sublex.tools.compiled import inner

SHARE = 10

@inner
def share(x):
    return x * SHARE + eggs_kernels.number()
""",
    "bird_kernels.py": """
import numpy as np
import nest.eggs_kernels
from nest import owner_kernels as owner
from nest.eggs_kernels import TABLE, Pair
from numba import int64
from sublex.tools.compiled import inner, kernel

def made(times):
    @inner
    def repeat(x):
        return x * times
    return repeat

once = made(1)

@kernel((int64,))
def bird(x):
    pair = Pair(np.int64(5), np.int64(7))
    return owner.share(once(x)) + nest.eggs_kernels.EGGS + TABLE[0] + pair.second

@kernel()
def first_of(pair):
    return pair.first
""",
}


@pytest.fixture
def birds(tmp_path):
    """Return a function that runs the kernels of BIRDS in a new process, and returns their values and the names of those compiled."""
    for name, text in BIRDS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from bird_kernels import Pair, bird, first_of
print(bird(2), first_of(Pair(8, 9)), *(f.__name__ for f in (bird, first_of) if sum(f.stats.cache_misses.values())))
"""

    def run() -> str:
        return python(program, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"), PYTHONDONTWRITEBYTECODE="1").strip()

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "printed"),
    [
        # bird(2) is 2 * 10 + 3, and 3, 1 and 7 more.
        ("nest/eggs_kernels.py", "return EGGS", "return EGGS + 1", "35 8 bird"),
        ("nest/eggs_kernels.py", "EGGS = 3", "EGGS = 4", "36 8 bird"),
        ("nest/eggs_kernels.py", "TABLE = (1, 2)", "TABLE = (2, 2)", "35 8 bird"),
        ("nest/eggs_kernels.py", "first: int\n    second: int", "second: int\n    first: int", "32 9 bird first_of"),
        ("nest/owner_kernels.py", "SHARE = 10", "SHARE = 20", "54 8 bird"),
        ("bird_kernels.py", "made(1)", "made(2)", "54 8 bird"),
    ],
)
def test_a_change_of_what_a_kernel_reaches_is_seen_in_a_new_process(birds, tmp_path, file, old, new, printed):
    assert birds() == "34 8 bird first_of"
    assert birds() == "34 8"
    assert old in BIRDS[file]
    (tmp_path / file).write_text(BIRDS[file].replace(old, new))
    assert birds() == printed
    # The machine code from before is still there.
    (tmp_path / file).write_text(BIRDS[file])
    assert birds() == "34 8"


@pytest.mark.slow
def test_a_change_of_what_a_kernel_does_not_reach_compiles_nothing(birds, tmp_path):
    assert birds() == "34 8 bird first_of"
    eggs = BIRDS["nest/eggs_kernels.py"].replace("return 0", "return 1").replace('"Return the', '"Return all the')
    (tmp_path / "nest" / "eggs_kernels.py").write_text(eggs + "\nOTHER = 4\n# a comment\n")
    (tmp_path / "nest" / "__init__.py").write_text("OTHER = 4\n")
    (tmp_path / "bird_kernels.py").write_text("# A comment moves all lines.\n" + BIRDS["bird_kernels.py"])
    os.utime(tmp_path / "nest" / "owner_kernels.py", (0, 0))
    assert birds() == "34 8"


@pytest.mark.slow
def test_the_same_values_are_described_alike_in_all_processes():
    program = (
        "from sublex.tools import compiled; from sublex.tools.compile_ahead import all_jobs\n"
        "from sublex.language import plugins\n"
        "print(*(compiled._contents(job.kernel().py_func) for job in all_jobs(plugins.load().modules)))"
    )
    first, second = (python(program, PYTHONHASHSEED=seed) for seed in "12")
    assert first == second and len(set(first.split())) > 60
