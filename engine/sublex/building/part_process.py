"""The process that builds shards of a cluster: it reads tasks from standard input, and writes lines of JSON."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def main() -> None:
    """Build the index of each task, a line of JSON. Write {"docs": n} now and then, and after each an outcome or an error."""
    from sublex.errors import SublexError
    from sublex.tools.child_processes import own_output

    out = own_output()

    def say(values: dict[str, Any]) -> None:
        os.write(out, json.dumps(values).encode() + b"\n")

    # If the parent is gone, so are the pipes.
    with suppress(BrokenPipeError):
        for line in sys.stdin.buffer:
            try:
                say({"outcome": _build(json.loads(line), lambda docs: say({"docs": docs}))})
            except SublexError as error:
                say({"error": str(error)})


def _build(task: dict[str, Any], progress: Any) -> Any:
    """Build the index and return the outcome in the form of the journal."""
    from sublex.building.indexing import build_index
    from sublex.building.journal import JOURNAL
    from sublex.index.directory import Directory
    from sublex.index.manifest import BUILDING
    from sublex.index.schema import as_json

    path, resume = Path(task["path"]), task["resume"]
    # Without a spill there is nothing to resume.
    resume = resume and (Directory(path) / BUILDING).has(JOURNAL)
    summary = build_index(
        path, task["sources"], profile=task["profile"], analyzer=task["analyzer"], reader=task["reader"],
        columns=task["columns"], store=task["store"], fields=task["fields"], workers=task["workers"], memory=task["memory"],
        strict=task["strict"], resume=resume, progress=progress, share=tuple(task["share"]),
    )  # fmt: skip
    return as_json(summary.outcome())
