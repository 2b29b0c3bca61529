"""Measure how long the shell takes to show its prompt and to answer its first query, in a pseudo-terminal.

    python benchmarks/shell.py INDEX [--query TEXT] [--repeats 9]

Times count from the start of the process. The query is typed at the moment at which the prompt stands. Two programs stand
beside: `import numba`, which the first answer needs, and `import prompt_toolkit`, which every such prompt needs. The
programs take turns, because the machine may be shared; medians count, and processor seconds more than seconds.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import resource
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import NamedTuple

SHELL = [sys.executable, "-c", "from sublex.cli import main; main()", "shell"]
BESIDE = ("numba", "prompt_toolkit")
# Seconds after which a program is taken to hang.
PATIENCE = 60


class Time(NamedTuple):
    """Seconds, and processor seconds."""

    wall: float
    processor: float

    def since(self, other: Time) -> Time:
        """Return the time from another moment to this one."""
        return Time(self.wall - other.wall, self.processor - other.processor)


class Terminal:
    """The shell in a pseudo-terminal of 100 rows, which show ten hits without a pager."""

    def __init__(self, index: str):
        self.begin, self.seen = time.monotonic(), b""
        self.fd, child = pty.openpty()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 100, 0, 0))
        self.process = subprocess.Popen(
            [*SHELL, index], stdin=child, stdout=child, stderr=child, start_new_session=True
        )
        os.close(child)

    def time_until(self, text: bytes) -> Time:
        """Wait until the shell has written a text, and return the time since its start."""
        while text not in self.seen:
            if not select.select([self.fd], [], [], PATIENCE)[0]:
                raise SystemExit(f"The shell writes nothing more; {text!r} is not in {self.seen!r}.")
            data = os.read(self.fd, 65536)
            self.seen += data
            # A program may ask where the cursor stands; a terminal answers.
            os.write(self.fd, b"\x1b[1;1R" * data.count(b"\x1b[6n"))
        wall, self.seen = time.monotonic() - self.begin, self.seen.partition(text)[2]
        ticks = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return Time(wall, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"))

    def close(self) -> None:
        """End the shell."""
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


def shell_times(index: str, query: str) -> tuple[Time, Time, Time]:
    """Return the time until the prompt, until the first answer, and from Enter to the second answer."""
    shell = Terminal(index)
    try:
        prompt = shell.time_until(b"> ")
        os.write(shell.fd, query.encode() + b"\r")
        first = shell.time_until(b"  1  ")
        typed = shell.time_until(b"> ")
        os.write(shell.fd, query.encode() + b"\r")
        return prompt, first, shell.time_until(b"  1  ").since(typed)
    finally:
        shell.close()


def import_time(module: str) -> Time:
    """Return the time of a Python that imports a module."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Time(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index")
    parser.add_argument("--query", default="neural networks")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    shell_times(options.index, options.query)
    names = ["the prompt stands", "first answer", "second answer, from Enter"]
    rows: dict[str, list[Time]] = {name: [] for name in (*names, *(f"import {module}" for module in BESIDE))}
    for _ in range(options.repeats):
        for name, measured in zip(names, shell_times(options.index, options.query), strict=True):
            rows[name].append(measured)
        for module in BESIDE:
            rows[f"import {module}"].append(import_time(module))
    print(f"| median of {options.repeats} | seconds | lowest | processor seconds |\n|---|---|---|---|")
    for name, times in rows.items():
        wall, processor = zip(*times, strict=True)
        print(f"| {name} | {statistics.median(wall):.2f} | {min(wall):.2f} | {statistics.median(processor):.2f} |")


if __name__ == "__main__":
    main()
