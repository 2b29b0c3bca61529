"""Ends of a process that nobody plans: an interrupt within compiled code or at the very end, and a limit on memory."""

from __future__ import annotations

import ctypes
import gc
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from command import invoke
from shared import DEMO, SUBLEX
from strategies import every

import sublex
from sublex.analysis.interner_kernels import describe
from sublex.errors import LITTLE_MEMORY, IndexCorrupt, MissingExtra, contract, is_interrupt, is_out_of_memory
from sublex.faces.interrupts import handle_unraisable, interrupt
from sublex.faces.work import Work

# A command whose search comes to `{moment}`, which interrupts it, and then goes on for a minute.
INTERRUPTED = """
import signal, sys, time, weakref
from sublex import cli
from sublex.retrieval import retrieval_kernels

class Node: ...

def interrupt(*_):
    signal.raise_signal(signal.SIGINT)

def retrieve(*_):
    {moment}
    time.sleep(60)

retrieval_kernels.retrieve = retrieve
cli.main()
"""
# A command that is interrupted whenever LLVM asks Python for the machine code of a kernel.
LOADING = """
import signal
from llvmlite.binding import ExecutionEngine
from sublex import cli

set_object_cache = ExecutionEngine.set_object_cache

def interrupted(engine, notify, get):
    set_object_cache(engine, notify, lambda module: signal.raise_signal(signal.SIGINT) or get(module))

ExecutionEngine.set_object_cache = interrupted
cli.main()
"""
# A command that is interrupted whenever a kernel asks Python for the class of the arrays that it returns.
RETURNING = """
import signal, sys
from numba.core import serialize
from sublex import cli

code = serialize._numba_unpickle.__code__

def trace(frame, event, argument):
    if frame.f_code is code:
        # A second interrupt could cut off the cleaning up after the first one.
        sys.settrace(None)
        print("returning", flush=True)
        signal.raise_signal(signal.SIGINT)

sys.settrace(trace)
cli.main()
"""
# Work in a thread that is interrupted whenever LLVM asks Python for the machine code of a kernel.
LOADING_WORK = """
import sys, threading, time
from llvmlite.binding import ExecutionEngine
import sublex
from sublex.faces.interrupts import interrupt
from sublex.faces.work import Work

set_object_cache = ExecutionEngine.set_object_cache

def asked(module, get):
    threading.Thread(target=interrupt, args=(threading.get_ident(),), daemon=True).start()
    time.sleep(0.05)
    return get(module)

ExecutionEngine.set_object_cache = lambda engine, notify, get: set_object_cache(engine, notify, lambda m: asked(m, get))
try:
    Work(lambda: sublex.open(sys.argv[1]).search("crane")).result()
except KeyboardInterrupt:
    print("interrupted")
"""


def interrupted(*arguments: object) -> None:
    """End as a call of a kernel ends when an interrupt comes while its arguments are looked at."""
    raise SystemError("CPUDispatcher(…) returned a result with an exception set") from KeyboardInterrupt()


def test_an_interrupt_within_a_kernel_is_an_interrupt(tmp_path, monkeypatch):
    monkeypatch.setattr("sublex.analysis.interner_kernels.intern", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sublex.build(DEMO, tmp_path / "index")
    assert not (tmp_path / "index").exists()
    done = invoke("index", tmp_path / "index", DEMO)
    assert done.code == 130
    assert done.messages.endswith("sublex: interrupted; the index is as it was before.\n")


def test_an_interrupt_within_a_kernel_of_a_plugin_or_a_search_is_an_interrupt(index, monkeypatch):
    with pytest.raises(KeyboardInterrupt), contract("ranker", "BM25"):
        interrupted()
    monkeypatch.setattr("sublex.retrieval.retrieval_kernels.retrieve", interrupted)
    done = invoke("search", index.path, "crane")
    assert (done.code, done.messages) == (130, "sublex: interrupted.\n")


def in_a_weak_reference(call: Callable[[], None]) -> None:
    """Make a call where Python ignores exceptions: in the callback of a weak reference."""
    node = Node()
    reference = weakref.ref(node, lambda _: call())
    del node


def in_a_finalizer(call: Callable[[], None]) -> None:
    """Make a call where Python ignores exceptions: when an object goes."""
    type("Finalized", (), {"__del__": lambda self: call()})()


def in_a_closed_generator(call: Callable[[], None]) -> None:
    """Make a call where Python ignores exceptions: when a generator goes that did not run to its end."""

    def generate() -> Iterator[None]:
        try:
            yield
        finally:
            call()

    next(generate())


def in_a_collection_of_garbage(call: Callable[[], None]) -> None:
    """Make a call where Python ignores exceptions: while it collects garbage."""
    gc.callbacks.append(callback := lambda phase, _: call() if phase == "start" else None)
    try:
        gc.collect(0)
    finally:
        gc.callbacks.remove(callback)


def in_a_callback_of_compiled_code(call: Callable[[], None]) -> None:
    """Make a call where Python ignores exceptions: in a function that compiled code calls."""
    ctypes.CFUNCTYPE(None)(call)()


class Node:
    """An object that weak references can refer to."""


IGNORING = [
    in_a_weak_reference, in_a_finalizer, in_a_closed_generator, in_a_collection_of_garbage, in_a_callback_of_compiled_code,
]  # fmt: skip


@pytest.mark.parametrize("ignoring", IGNORING)
def test_an_interrupt_that_python_ignores_is_delivered_again(ignoring, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", handle_unraisable)
    with pytest.raises(KeyboardInterrupt):
        ignoring(lambda: signal.raise_signal(signal.SIGINT))
        time.sleep(60)


@pytest.mark.parametrize("ignoring", IGNORING)
def test_an_interrupt_that_python_ignores_in_a_thread_is_delivered_to_this_thread_again(ignoring, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", handle_unraisable)

    def answer() -> None:
        ignoring(lambda: interrupt(threading.get_ident()))
        for _ in range(6000):
            time.sleep(0.01)

    work = Work(answer)
    with pytest.raises(KeyboardInterrupt):
        work.result()
    assert not work.given_up


def test_other_exceptions_that_python_ignores_are_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "unraisablehook", handle_unraisable)
    in_a_weak_reference(lambda: 1 // 0)
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment",
    [
        "node = Node(); weak = weakref.ref(node, interrupt); del node",
        # Another interrupt comes while the first one is reported, which a hand on the keyboard manages.
        "cli._say = interrupt; interrupt()",
    ],
)
def test_a_command_ends_by_an_interrupt_at_a_bad_moment(index, moment):
    program = INTERRUPTED.format(moment=moment)
    command = [sys.executable, "-c", program, "search", index.path, "crane"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    said = "\n" if "_say" in moment else "\nsublex: interrupted.\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


@pytest.mark.slow
def test_an_interrupt_while_machine_code_is_loaded_ends_a_command_without_a_crash(index):
    assert invoke("search", index.path, "crane").code == 0
    command = [sys.executable, "-c", LOADING, "search", index.path, "crane"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nsublex: interrupted.\n")


@pytest.mark.slow
def test_an_interrupt_while_a_kernel_returns_arrays_ends_a_command_without_a_crash(tmp_path):
    assert invoke("index", tmp_path / "first", DEMO).code == 0
    command = [sys.executable, "-c", RETURNING, "index", tmp_path / "index", DEMO]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 130 and "returning" in done.stdout, done
    assert done.stderr.endswith("sublex: interrupted; the index is as it was before.\n")
    assert not (tmp_path / "index").exists()


def test_a_kernel_that_returns_arrays_takes_no_step_in_python_after_its_first_call():
    """An interrupt that came while the kernel ran would be raised at this step, where the kernel crashes."""
    text, starts = np.zeros(80, np.uint8), np.arange(4)
    describe(text, starts, starts)
    steps: list[str] = []
    sys.setprofile(lambda frame, event, _: steps.append(frame.f_code.co_name) if event == "call" else None)
    try:
        describe(text, starts, starts)
    finally:
        sys.setprofile(None)
    assert set(steps) <= {"describe"}


@pytest.mark.slow
def test_an_interrupt_while_a_thread_loads_machine_code_ends_its_work_without_a_crash(index):
    assert invoke("search", index.path, "crane").code == 0
    command = [sys.executable, "-c", LOADING_WORK, index.path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_an_interrupt_within_python_that_a_kernel_calls_is_an_interrupt():
    with pytest.raises(SystemError) as raised:
        try:
            interrupted()
        except SystemError as inner:
            raise SystemError("CPUDispatcher(…) returned a result with an exception set") from inner
    assert is_interrupt(raised.value)


def test_other_errors_of_the_system_are_no_interrupts():
    assert not is_interrupt(SystemError("x")) and not is_interrupt(KeyboardInterrupt())
    error = SystemError("x")
    error.__cause__ = ValueError("y")
    assert not is_interrupt(error)


@pytest.mark.parametrize("megabytes", [100, 300, 500, 630])
def test_a_limit_on_memory_that_is_too_low_costs_a_sentence(index, megabytes):
    limit = megabytes << 20
    process = subprocess.run(
        [*SUBLEX, "search", index.path, "crane"], capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    expected = f"The limit on memory is {megabytes} MB, and Sublex needs at least 640 MB; raise it by ulimit -v."
    assert (process.returncode, process.stdout, process.stderr) == (2, "", f"sublex: {expected}\n")


def test_too_little_memory_for_the_work_costs_a_sentence(index, monkeypatch):
    def exhausted(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sublex.retrieval.retrieval_kernels.retrieve", exhausted)
    done = invoke("search", index.path, "crane")
    assert done.code == 2 and done.messages.startswith("sublex: There is not enough memory for this;")


LITTLE = [
    MemoryError("Unable to allocate 8 GiB"),
    OSError(12, "Cannot allocate memory"),
    ImportError("libopenblas.so: failed to map segment from shared object: Cannot allocate memory"),
    RuntimeError("can't start new thread"),
]


@pytest.mark.parametrize("error", LITTLE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "place",
    [
        "sublex.retrieval.retrieval_kernels.retrieve",
        "sublex.rankers.bm25.BM25.score",
        "sublex.trec.topics.read_records",
        "sublex.trec.run_writer.run_lines",
    ],
)
def test_too_little_memory_anywhere_costs_one_sentence(index, monkeypatch, tmp_path, place, error):
    """A plugin, a reader, the loading of a library or of a plugin, or a new thread may be the first to lack memory."""

    def exhausted(*arguments: object, **more: object) -> None:
        raise error

    monkeypatch.setattr(place, exhausted)
    (tmp_path / "t.tsv").write_text("1\tcrane\n")
    done = invoke("run", index.path, tmp_path / "t.tsv", "-r", "BM25(k1=1.21)", "-o", tmp_path / "a.run")
    assert done.code == 2 and not (tmp_path / "a.run").exists()
    assert done.messages.splitlines()[-1] == f"sublex: {LITTLE_MEMORY}" and "Error" not in done.messages


@pytest.mark.parametrize("error", LITTLE, ids=lambda error: type(error).__name__)
def test_an_error_that_hides_too_little_memory_is_told_from_others(error):
    with pytest.raises(MemoryError), contract("ranker", "mine"):
        raise error
    try:
        try:
            raise error
        except Exception:
            raise MissingExtra("Parquet", "parquet") from None
    except MissingExtra as missing:
        assert is_out_of_memory(missing)
    try:
        try:
            raise error
        except Exception:
            raise IndexCorrupt("a file claims any size") from None
    except IndexCorrupt as corrupt:
        assert not is_out_of_memory(corrupt)
    assert not any(map(is_out_of_memory, (ImportError("no module"), RuntimeError("x"), OSError(2, "No such file"))))


@pytest.mark.parametrize("error", LITTLE, ids=lambda error: type(error).__name__)
def test_a_check_without_memory_calls_nothing_damaged(index, monkeypatch, error):
    def exhausted(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("sublex.index.format.ComponentFile.all", exhausted)
    done = invoke("check", index.path)
    assert done.code == 2 and "damaged" not in done.output + done.messages
    assert done.messages == f"sublex: {LITTLE_MEMORY}\n"


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [640, 700, 900])
def test_a_command_that_meets_the_limit_ends_with_one_sentence(index, tmp_path, megabytes):
    limit = megabytes << 20
    lines = (f'{{"id": "d{k}", "text": "crane {k} {k * 7} river w{k % 97}"}}\n' for k in range(200_000))
    (tmp_path / "documents.jsonl").write_text("".join(lines))
    for command in (
        ("index", tmp_path / "new", tmp_path / "documents.jsonl", "--workers", "2"),
        ("search", index.path, "crane", "-r", "BM25 >> RM3 >> BM25 + PL2"),
        ("fit", index.path, "lda(k=2, iterations=3, min_df=1, max_df=1)"),
    ):
        process = subprocess.run(
            [*SUBLEX, *command], capture_output=True, text=True, timeout=300, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )  # fmt: skip
        assert process.returncode in (0, 2), process
        assert "Traceback" not in process.stderr and "Error" not in process.stderr, process


@pytest.mark.slow
def test_an_interrupt_at_any_moment_of_a_command_ends_it_in_one_line(tmp_path):
    (tmp_path / "documents.jsonl").write_text(
        "".join(f'{{"id": "d{k}", "text": "crane {k} {k * 7} river w{k % 97}"}}\n' for k in range(60_000))
    )
    command = [*SUBLEX, "index", "./index", "documents.jsonl", "--overwrite", "--store", "none"]
    building = tmp_path / "index" / "building"

    def started() -> tuple[subprocess.Popen[str], float]:
        """Start the command and wait until it works; Python itself answers an interrupt before that."""
        # An interrupt between the making of this folder and the next step leaves an empty one.
        shutil.rmtree(building, ignore_errors=True)
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not building.exists() and process.poll() is None:
            time.sleep(0.001)
        return process, time.monotonic()

    process, begin = started()
    process.communicate(timeout=600)
    assert process.returncode == 0
    whole = time.monotonic() - begin
    codes = set()
    for part in range(0, 25, every(6)):
        process, _ = started()
        time.sleep(whole * part / 22)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=600)
        codes.add(process.returncode)
        assert process.returncode in (0, 130), (part, messages)
        assert all(word not in messages for word in ("Traceback", "Exception ignored", "SystemError")), (part, messages)
    assert 130 in codes
    assert sublex.open(tmp_path / "index").statistics.docs == 60_000
