"""The shell in a real pseudo-terminal: type, complete, run, interrupt, resize, replay, and other processes that commit."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from shared import SUBLEX

pytest.importorskip("prompt_toolkit")
pytestmark = pytest.mark.slow

# Seconds that a loaded machine may take for what takes milliseconds.
PATIENCE = 180
# Sequences that steer a terminal, which the tests do not look at.
SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?<>= ]*[A-Za-z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")


class Terminal:
    """A process in a pseudo-terminal, with everything that it wrote."""

    def __init__(self, *arguments: str, size: tuple[int, int] = (60, 100), **environment: str):
        self.begin, self.seen = time.monotonic(), ""
        parent, child = pty.openpty()
        self.fd = parent
        self.resize(*size)
        # Some libraries set these, and they would hide the size of the terminal.
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [*SUBLEX, *arguments], stdin=child, stdout=child, stderr=child, start_new_session=True,
            env={**inherited, "TERM": "xterm-256color", **environment},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(child)

    def resize(self, rows: int, columns: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        """Type a text; \\r is Enter, \\t is Tab, \\x03 is Ctrl-C, \\x04 is Ctrl-D."""
        os.write(self.fd, text.encode())

    def wait(self, pattern: str) -> str:
        """Wait until the process wrote a pattern; return what it wrote since the last call, without sequences."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            plain = SEQUENCE.sub("", self.seen)
            if match := re.search(pattern, plain, re.DOTALL):
                self.seen = plain[match.end() :]
                return plain[: match.end()]
            self._read()
        raise AssertionError(f"{pattern} was not written, but:\n{SEQUENCE.sub('', self.seen)}")

    def _read(self) -> None:
        if select.select([self.fd], [], [], 0.05)[0]:
            try:
                data = os.read(self.fd, 65536).decode(errors="replace")
                self.seen += data
                # prompt_toolkit asks where the cursor is; without an answer it shows no toolbar.
                os.write(self.fd, b"\x1b[1;1R" * data.count("\x1b[6n"))
            except OSError:
                time.sleep(0.05)

    def ended(self) -> int:
        """Wait for the end of the process and return its exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self._read()
        return self.process.wait(1)

    def close(self) -> None:
        """End the process, if it still runs."""
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


@pytest.fixture
def terminal(demo, tmp_path) -> Iterator[Callable[..., Terminal]]:
    """A function that starts `sublex ARGUMENTS` in a pseudo-terminal, with a home of its own."""
    started: list[Terminal] = []

    def start(*arguments: str, **environment: str) -> Terminal:
        home = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
        started.append(Terminal(*arguments, **{**home, **environment}))
        return started[-1]

    yield start
    for each in started:
        each.close()


def ready(shell: Terminal) -> Terminal:
    """Wait until the shell has answered a query, so that all is loaded, and return it."""
    shell.wait("demo> ")
    shell.type("seal pup\r")
    shell.wait("Seal|seal")
    shell.wait(r"\d ms")
    return shell


def test_a_query_is_typed_and_answered_and_the_session_ends(terminal):
    shell = ready(terminal("shell", "demo"))
    shell.type("cranes by the river")
    assert "cranes→crane 9" in shell.wait("river 7")
    shell.type("\r")
    shell.wait("birds-05.*Crane")
    shell.type(":explain 1\r")
    shell.wait("birds-05 is at rank 1 of .*rarity.*demo> ")
    shell.type("\x04")
    assert shell.ended() == 0


@pytest.mark.parametrize("options", [(), ("--plain",)])
def test_a_banner_names_help_and_words_without_a_colon_mean_commands(terminal, options):
    shell = terminal("shell", "demo", *options, size=(120, 100))
    shell.wait(r"A line is a query; :help lists the commands, :quit or Ctrl-D ends\..*demo> ")
    shell.type("help\r")
    shell.wait("help means :help; to search for the word, write ::help.*Numbers refer to the last results.*demo> ")
    shell.type("exit\r")
    assert shell.ended() == 0


def test_tab_completes_words_commands_and_ranks(terminal):
    shell = ready(terminal("shell", "demo"))
    shell.type("mercur")
    shell.wait(r"Mercury +\d")
    shell.type("\t\r")
    shell.wait("1 .*Mercury")
    shell.type(":expl")
    shell.wait("explain +Show how the score")
    shell.type("\t 1\r")
    shell.wait("is at rank 1")


def test_an_interrupt_stops_the_work_and_not_the_shell(terminal):
    shell = ready(terminal("shell", "demo"))
    shell.type("half a line\x03")
    shell.type(":fit lda(k=200, iterations=100000)\r")
    shell.wait("Fitting")
    time.sleep(1)
    # The work itself takes hours.
    shell.type("\x03")
    shell.wait("interrupted; (the index is as it was before|what is being computed)")
    shell.type("crane\r")
    shell.wait("birds-05")


def test_lines_are_wrapped_to_the_width_that_the_terminal_has_now(terminal):
    shell = ready(terminal("shell", "demo", size=(60, 120)))
    shell.resize(60, 50)
    os.kill(shell.process.pid, signal.SIGWINCH)
    shell.type(":set bars=off k=2\r")
    shell.type("dancing cranes\r")
    passage = shell.wait("birds-05.*?medicine-16").replace("\r", "").split("\n")[-4:-1]
    assert [line[:5] for line in passage] == [" " * 5] * 3 and max(map(len, passage)) <= 50


def test_long_results_go_to_a_pager(terminal):
    Path("pager").write_text("#!/bin/sh\ncat >paged.txt\n", encoding="utf-8")
    Path("pager").chmod(0o755)
    shell = ready(terminal("shell", "demo", size=(45, 100), PAGER=str(Path("pager").absolute())))
    shell.type(":terms *\r")
    shell.type(":timing on\r")
    shell.wait("timing on")
    assert len(SEQUENCE.sub("", Path("paged.txt").read_text()).strip().splitlines()) == 51


def test_a_history_is_replayed_and_the_prompt_follows(terminal):
    Path("lines").write_text("dancing cranes\n:set k=1\n", encoding="utf-8")
    shell = terminal("shell", "demo", "--replay", "lines")
    shell.wait("demo> dancing cranes.*birds-05.*demo> :set k=1.*birds-05.*demo> ")
    shell.type(":history again\r")
    shell.wait("again has 2 lines")
    assert Path("again").read_text() == Path("lines").read_text()
    shell.type(":quit\r")
    assert shell.ended() == 0
    assert ":history again" in Path("state/sublex/shell_history").read_text()


def test_the_shell_notices_the_commit_of_another_process(terminal, demo):
    shell = ready(terminal("shell", "demo"))
    Path("more.jsonl").write_text('{"id": "new-1", "text": "a crane named zebulon"}\n', encoding="utf-8")
    assert demo("add", "demo", "more.jsonl")[0] == 0
    shell.wait("changed on disk; :reopen")
    shell.type(":reopen\r")
    shell.wait("generation 2, 253 documents")
    shell.type("zebulon\r")
    shell.wait("new-1")


def test_a_plain_prompt_and_no_colour_are_respected(terminal):
    shell = terminal("shell", "demo", "--plain")
    shell.wait("demo> ")
    shell.type("dancing cranes\r")
    assert "█" not in shell.wait("birds-05.*demo> ")
    shell.type("\x04")
    assert shell.ended() == 0
    Path("lines").write_text("crane\n:quit\n", encoding="utf-8")
    for variables, has_colour in (({}, True), ({"NO_COLOR": "1"}, False)):
        shell = terminal("shell", "demo", "--replay", "lines", **variables)
        assert shell.ended() == 0
        assert "birds-05" in shell.seen and bool(re.search(r"\x1b\[[0-9;]*3[0-7]m", shell.seen)) == has_colour


def test_the_prompt_is_drawn_before_compiled_code_is_loaded(demo):
    code = (
        "import sys\n"
        "from sublex.shell import painting, prompt\n"
        "from sublex.shell import start\n"
        "print([name for name in ('numba', 'scipy', 'llvmlite') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_prompt_toolkit_a_sentence_says_how_to_install_it(demo, monkeypatch):
    from sublex.errors import MissingExtra
    from sublex.shell.prompt import talk

    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    with pytest.raises(MissingExtra, match="--plain does without.*optional part; to install it: .*(prompt|shell)"):
        talk(None, "demo", None, [], plain=False)


def test_a_terminal_of_few_rows_has_a_prompt_without_a_toolbar(terminal):
    shell = terminal("shell", "demo", size=(6, 60))
    shell.type(":set k=1 pager=off\r")
    shell.type("dancing cranes\r")
    shell.wait("birds-05.*demo> ")
    shell.type(":quit\r")
    assert shell.ended() == 0 and "too small" not in shell.seen
