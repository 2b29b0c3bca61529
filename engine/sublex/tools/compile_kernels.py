"""Compile kernels before they are called: find those whose machine code is not on disk, and share them among processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, NamedTuple

# The modules of Sublex and its plugins that contain kernels.
ROOMS = (
    "sublex.analysis sublex.building.reorder sublex.estimators sublex.estimators.phrases sublex.estimators.topics sublex.index sublex.lint "
    "sublex.other_engines.ciff sublex.readers sublex.representations sublex.retrieval sublex.retrieval.blocks sublex.retrieval.coding "
    "sublex.retrieval.keys sublex.retrieval.rescoring sublex.trec sublex_dcot sublex_fisher sublex_lda "
    "sublex_sourcelda sublex_swg"
)
MODULES = (
    *(f"{room}.kernels" for room in ROOMS.split()),
    *(f"sublex_laki.estimator.{name}_kernels" for name in ("propagation", "sampling", "subgraph")),
    *(f"sublex_phrases.{name}_kernels" for name in ("forest", "mining")),
)
# The program of a process that compiles. It takes jobs from standard input.
_PROGRAM = "from sublex.tools.compile_kernels import serve; serve()"


class Job(NamedTuple):
    """A signature that a kernel declares, by the module and the name of the kernel and the signature's number."""

    module: str
    name: str
    number: int

    def kernel(self) -> Any:
        """Return the kernel; the module is imported."""
        return getattr(import_module(self.module), self.name)

    def compile(self) -> None:
        """Compile the kernel for this signature, unless that is done, and store the machine code."""
        self.kernel().compile(self.signature())

    def signature(self) -> tuple[Any, ...]:
        """Return the types of the arguments."""
        return self.kernel().declared[self.number]


def jobs_of(module: str, names: Iterable[str] | None = None) -> list[Job]:
    """Return the jobs for all kernels of a module, or for those of the given names."""
    functions = vars(import_module(module))
    return [
        Job(module, name, number)
        for name in (functions if names is None else names)
        for number in range(len(getattr(functions[name], "declared", ())))
    ]


def all_jobs() -> list[Job]:
    """Return the jobs for all kernels of Sublex, and of the plugins that keep kernels in a module called `kernels`."""
    from sublex.language import plugins

    modules = [f"{plugin.module.partition(':')[0]}.kernels" for plugin in plugins.load().plugins if not plugin.error]
    found = [module for module in modules if module not in MODULES and _exists(module)]
    return [job for module in (*MODULES, *found) for job in jobs_of(module)]


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        # A plugin that is no package has no modules inside.
        return False


def missing(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs whose machine code is not on disk, those that take longest first."""
    from sublex.tools.compiled import has_code

    left = [job for job in dict.fromkeys(jobs) if not has_code(job.kernel(), job.signature())]
    return sorted(left, key=lambda job: -_size(job.kernel().py_func.__code__, import_module(job.module), set()))


def _size(code: CodeType, module: ModuleType, seen: set[str]) -> int:
    """Return the size of a function's bytecode, with that of the functions of its module that it calls."""
    size = len(code.co_code)
    for name in code.co_names:
        called = getattr(getattr(module, name, None), "py_func", None)
        if called and name not in seen:
            seen.add(name)
            size += _size(called.__code__, module, seen)
    return size


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compile_all(jobs: Iterable[Job], processes: int, advance: Callable[[], None]) -> None:
    """Compile in several processes, of which this is one, and call `advance` after each job.

    A process that fails leaves its jobs undone; the kernels are then compiled when they are called.
    """
    waiting = deque(jobs)
    with ThreadPoolExecutor(max(1, processes - 1)) as pool:
        others = [_start() for _ in range(processes - 1)]
        futures = [pool.submit(_feed, process, waiting, advance) for process in others]
        try:
            while waiting:
                waiting.popleft().compile()
                advance()
            for future in futures:
                future.result()
        except BaseException:
            waiting.clear()
            for process in others:
                process.terminate()
            raise


def _start() -> subprocess.Popen[str]:
    """Start a process that compiles the jobs it is told."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=_environment(),
    )  # fmt: skip


def _feed(process: subprocess.Popen[str], waiting: deque[Job], advance: Callable[[], None]) -> None:
    """Tell a process one job after another, until none is left or the process fails."""
    with suppress(IndexError, OSError), process:
        assert process.stdin and process.stdout
        # The process says when it has started; until then this one takes the jobs.
        if process.stdout.readline():
            while True:
                process.stdin.write(" ".join(map(str, waiting.popleft())) + "\n")
                process.stdin.flush()
                if not process.stdout.readline():
                    return
                advance()


def _environment() -> dict[str, str]:
    """Return this process's environment, with its search path for modules."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(os.path.abspath(folder) for folder in sys.path)}


def serve() -> None:
    """Compile the jobs that standard input names, a line for each, and answer each with a line.

    An interrupt from the keyboard reaches all processes of a command. This one leaves it to the process that started it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout, sys.stderr
    import_module("numba")
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        module, name, number = line.split()
        Job(module, name, int(number)).compile()
        answers.write(line)
        answers.flush()
