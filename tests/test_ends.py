"""Ends of a process that nobody plans: an interrupt within compiled code or at the very end, and a limit on memory."""

from __future__ import annotations

import resource
import signal
import subprocess
import time

import pytest
from command import invoke
from shared import DEMO, SUBLEX
from strategies import every

import sublex
from sublex.errors import contract, is_interrupt


def interrupted(*arguments: object) -> None:
    """End as a call of a kernel ends when an interrupt comes while its arguments are looked at."""
    raise SystemError("CPUDispatcher(…) returned a result with an exception set") from KeyboardInterrupt()


def test_an_interrupt_within_a_kernel_is_an_interrupt(tmp_path, monkeypatch):
    monkeypatch.setattr("sublex.analysis.kernels.intern", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sublex.build(DEMO, tmp_path / "index")
    assert not (tmp_path / "index").exists()
    done = invoke("index", tmp_path / "index", DEMO)
    assert done.code == 130
    assert done.messages.endswith("sublex: interrupted; the index is as it was before.\n")


def test_an_interrupt_within_a_kernel_of_a_plugin_or_a_search_is_an_interrupt(index, monkeypatch):
    with pytest.raises(KeyboardInterrupt), contract("ranker", "BM25"):
        interrupted()
    monkeypatch.setattr("sublex.retrieval.kernels.retrieve", interrupted)
    done = invoke("search", index.path, "crane")
    assert (done.code, done.messages) == (130, "sublex: interrupted.\n")


def test_other_errors_of_the_system_are_no_interrupts():
    assert not is_interrupt(SystemError("x")) and not is_interrupt(KeyboardInterrupt())
    error = SystemError("x")
    error.__cause__ = ValueError("y")
    assert not is_interrupt(error)


@pytest.mark.parametrize("megabytes", [100, 300, 500])
def test_a_limit_on_memory_that_is_too_low_costs_a_sentence(index, megabytes):
    limit = megabytes << 20
    process = subprocess.run(
        [*SUBLEX, "search", index.path, "crane"], capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    expected = f"The limit on memory is {megabytes} MB, and Sublex needs at least 512 MB; raise it by ulimit -v."
    assert (process.returncode, process.stdout, process.stderr) == (2, "", f"sublex: {expected}\n")


def test_too_little_memory_for_the_work_costs_a_sentence(index, monkeypatch):
    def exhausted(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sublex.retrieval.kernels.retrieve", exhausted)
    done = invoke("search", index.path, "crane")
    assert done.code == 2 and done.messages.startswith("sublex: There is not enough memory for this;")


@pytest.mark.slow
def test_an_interrupt_at_any_moment_of_a_command_ends_it_in_one_line(tmp_path):
    (tmp_path / "documents.jsonl").write_text(
        "".join(f'{{"id": "d{k}", "text": "crane {k} {k * 7} river w{k % 97}"}}\n' for k in range(60_000))
    )
    command = [*SUBLEX, "index", "./index", "documents.jsonl", "--overwrite", "--store", "none"]
    building = tmp_path / "index" / "building"

    def started() -> tuple[subprocess.Popen[str], float]:
        """Start the command and wait until it works; Python itself answers an interrupt before that."""
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not building.exists() and process.poll() is None:
            time.sleep(0.001)
        return process, time.monotonic()

    process, begin = started()
    process.communicate(timeout=60)
    assert process.returncode == 0
    whole = time.monotonic() - begin
    codes = set()
    for part in range(0, 25, every(6)):
        process, _ = started()
        time.sleep(whole * part / 22)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
        codes.add(process.returncode)
        assert process.returncode in (0, 130), (part, messages)
        assert all(word not in messages for word in ("Traceback", "Exception ignored", "SystemError")), (part, messages)
    assert 130 in codes
    assert sublex.open(tmp_path / "index").statistics.docs == 60_000
