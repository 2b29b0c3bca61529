"""The process that runs Java: it opens one Lucene index and answers requests until its standard input closes.

Only `connection.py` starts this process, by `python -m sublex_lucene.child JAR CLASSES MEMORY`. The process exits when
the process that started it ends.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import Any

from sublex_lucene.protocol import receive, send

# The milliseconds between two checks of whether the parent process is still alive.
PAUSE = 1000


def watch(parent: int) -> None:
    """End this process when its standard input closes or its parent process ends, even while Java computes.

    Linux could do this by PR_SET_PDEATHSIG. But Linux takes the thread that started this process for its parent, so the
    process would end with that thread.
    """
    poll = select.poll()
    poll.register(0, 0)
    while not poll.poll(PAUSE) and os.getppid() == parent:
        pass
    os._exit(0)


def start_java(jar: str, classes: str, memory: str) -> None:
    """Start the Java virtual machine in this process. `memory` limits the memory of Java's objects."""
    import jnius_config

    jnius_config.set_classpath(jar, classes)
    # One thread collects garbage, because the process should not use all cores. With `-Xrs`, Python handles the
    # signals.
    jnius_config.add_options(f"-Xmx{memory}", "-XX:+UseSerialGC", "-Xrs", "-Djava.awt.headless=true")
    # Without this setting, a crash of Java would leave files in the working folder.
    jnius_config.add_options("-XX:ErrorFile=/dev/null", "-XX:ReplayDataFile=/dev/null", "-XX:-CreateCoredumpOnCrash")
    import jnius  # noqa: F401


def main() -> None:
    """Answer requests until the input ends."""
    jar, classes, memory = sys.argv[1:]
    # Java prints to standard output. So answers are written to a copy of standard output, and Java's prints go to
    # standard error.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()
    start_java(jar, classes, memory)
    from sublex_lucene.opened import LuceneFailed, OpenedIndex, build

    requests = sys.stdin.buffer
    index: OpenedIndex | None = None
    while True:
        try:
            request, parts = receive(requests)
        except EOFError:
            return
        try:
            command = request.pop("command")
            if command == "build":
                answer: tuple[dict[str, Any], list[Any]] = build(**request), []
            elif command == "open":
                index = OpenedIndex(**request)
                answer = index.described(), []
            else:
                answer = getattr(index, f"answer_{command}")(*parts, **request)
        except LuceneFailed as error:
            answer = {"error": str(error), "kind": error.kind}, []
        send(answers, *answer)


if __name__ == "__main__":
    main()
