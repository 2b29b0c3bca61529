"""Compile kernels before they are called: find kernels whose machine code is not on disk, and share them among processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from sublex.errors import InputError

# The program of a process that compiles. It takes jobs from standard input.
_PROGRAM = "from sublex.tools.compile_ahead import serve; serve()"


class CompileJob(NamedTuple):
    """A signature to compile: the module and the name of a kernel, and the number of one of its declared signatures."""

    module: str
    name: str
    number: int

    def kernel(self) -> Any:
        """Return the kernel; the module is imported."""
        return getattr(import_module(self.module), self.name)

    def compile(self) -> None:
        """Compile the kernel for this signature and store the machine code, unless that has been done."""
        self.kernel().compile(self.signature())

    def signature(self) -> tuple[Any, ...]:
        """Return the types of the arguments."""
        return self.kernel().declared[self.number]


def all_jobs(modules: Iterable[str]) -> list[CompileJob]:
    """Return the jobs for all kernels of Sublex, and of the plugins in `modules`."""
    return _jobs(kernel_files(modules))


def jobs_before(tasks: str, modules: Iterable[str]) -> list[CompileJob]:
    """Return the jobs for the kernels of Sublex, and of the plugins in `modules`, that tasks such as "search merge" need.

    Only the files that contain such kernels are imported.
    """
    wanted = set(tasks.split())
    needed = [module for module, path in kernel_files(modules).items() if not wanted.isdisjoint(_tasks(path))]
    return [job for job in _jobs(needed) if not wanted.isdisjoint(job.kernel().before)]


def _jobs(modules: Iterable[str]) -> list[CompileJob]:
    """Return the jobs of several modules. A plugin that cannot be imported has none; `sublex plugins` says why."""
    jobs: list[CompileJob] = []
    for module in modules:
        try:
            jobs += jobs_of(module)
        except InputError:
            # The error says that it is not safe to use the folder of machine code.
            raise
        except (Exception, SystemExit):
            continue
    return jobs


def jobs_of(module: str) -> list[CompileJob]:
    """Return the jobs for the kernels that a module defines. A kernel is a function with the decorator `@kernel`."""
    return [
        CompileJob(module, name, number)
        for name, value in vars(import_module(module)).items()
        if getattr(value, "__module__", "") == module
        for number in range(len(getattr(value, "declared", ())))
    ]


def kernel_files(modules: Iterable[str]) -> dict[str, Path]:
    """Return the files with kernels of Sublex and of the packages of plugins in `modules`, by their module names.

    The name of a file with kernels ends in `_kernels.py`. Nothing is imported.
    """
    found = {}
    for module in ["sublex", *(module for module in modules if not module.startswith("sublex."))]:
        package, *inside = module.split(".")
        spec = find_spec(package)
        for top in (spec and spec.submodule_search_locations) or ():
            folder = Path(top, *inside)
            for path in _files_in(folder if folder.is_dir() else folder.parent):
                found[".".join((package, *path.relative_to(top).with_suffix("").parts))] = path
    return found


def _files_in(top: Path) -> Iterator[Path]:
    """Yield the files with kernels in a folder and in the folders inside it."""
    for folder, inside, files in os.walk(top):
        inside[:] = sorted(name for name in inside if name.isidentifier() and name != "__pycache__")
        yield from (Path(folder, file) for file in sorted(files) if file.endswith("_kernels.py"))


def _tasks(path: Path) -> set[str]:
    """Return the tasks that the kernels of a file name in `@kernel(…, before="…")`.

    The text of the file is read; nothing is imported.
    """
    return set(" ".join(re.findall(r"""before=["']([^"']*)""", path.read_text(encoding="utf-8"))).split())


def missing(jobs: Iterable[CompileJob]) -> list[CompileJob]:
    """Return the jobs whose machine code is not on disk; the jobs that take longest come first."""
    from sublex.tools.compiled import has_code

    left = [job for job in dict.fromkeys(jobs) if not has_code(job.kernel(), job.signature())]
    return sorted(left, key=_size, reverse=True)


def _size(job: CompileJob) -> int:
    """Return a measure of the time to compile a job: the size of its bytecode and of the functions that it calls."""
    from sublex.tools.compiled import functions_in

    return sum(len(function.__code__.co_code) for function in functions_in(job.kernel().py_func))


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compile_all(jobs: Iterable[CompileJob], processes: int, advance: Callable[[], None]) -> None:
    """Compile jobs in this process and in others, `processes` in all, and call `advance` after each job.

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
    """Start a process that compiles the jobs named on its standard input. It finds modules in the same folders as this one."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(os.path.abspath(folder) for folder in sys.path)}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
    )  # fmt: skip


def _feed(process: subprocess.Popen[str], waiting: deque[CompileJob], advance: Callable[[], None]) -> None:
    """Give a process one job after another, until no job is left or the process fails."""
    with suppress(IndexError, OSError), process:
        assert process.stdin and process.stdout
        # The process writes a line when it has started. Until then, this process takes the jobs.
        if process.stdout.readline():
            while True:
                process.stdin.write(" ".join(map(str, waiting.popleft())) + "\n")
                process.stdin.flush()
                if not process.stdout.readline():
                    return
                advance()


def serve() -> None:
    """Read jobs from standard input, a line for each job. Compile each job, and write a line when the job is done.

    An interrupt from the keyboard reaches all processes of a command. This process ignores the interrupt; the process
    that started it handles the interrupt.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers, sys.stdout = sys.stdout, sys.stderr
    import_module("numba")
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        module, name, number = line.split()
        CompileJob(module, name, int(number)).compile()
        answers.write(line)
        answers.flush()
