"""Count the way of a query through the code: files, functions, calls, and calls from file to file and from room to room.

    python benchmarks/crossings.py [COLLECTION] [--text "cold water"] [--fit "lsi(e=100)"] [--pipelines "BM25" "BM25 + 0.3*lsi(e=100)"]
        [--show]

COLLECTION is by default the demo collection. The query and the pipeline are texts, as a user gives them. A room is a folder of
`sublex`, the modules beside these folders together, or a plugin. A call passes from the last function of the project that was called to
another; functions of other packages between the two do not count. The first queries, which compile kernels and compute what all
queries share, are not counted. `--show` prints each call with the room that it enters.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import sublex

DEMO = Path(__file__).parents[1] / "queries" / "demo" / "documents.jsonl"
ENGINE = Path(sublex.__file__).parent
# Queries before the one that is counted.
WARM_UP = 3


@cache
def room_of(file: str) -> str:
    """Return the room of a file: a folder of the engine, `sublex` for a module beside them, or a plugin; empty for all others."""
    path = Path(file)
    if path.is_relative_to(ENGINE):
        inside = path.relative_to(ENGINE).parts
        return inside[0] if len(inside) > 1 else "sublex"
    return next((part for part in path.parts if part.startswith("sublex_")), "")


class Way:
    """The code that ran within a `with`: its files and functions, and all calls, those into another file and into another room."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.calls: list[str] = []
        self.file_changes = self.room_changes = 0
        self._stack: list[str] = []

    @property
    def files(self) -> set[str]:
        return {function.co_filename for function in self.functions}

    def _event(self, frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not (room := room_of(file)):
            return
        if event == "return":
            del self._stack[-1:]
            return
        self.functions.add(frame.f_code)
        self.calls.append(f"{'  ' * len(self._stack)}{room}: {frame.f_code.co_qualname}")
        self.file_changes += bool(self._stack) and self._stack[-1] != file
        self.room_changes += bool(self._stack) and room_of(self._stack[-1]) != room
        self._stack.append(file)

    def __enter__(self) -> Way:
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)


def way_of(action: Callable[[], object]) -> Way:
    """Return the way of an action, after it ran a few times that are not counted."""
    for _ in range(WARM_UP):
        action()
    with Way() as way:
        action()
    return way


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", nargs="?", default=DEMO)
    parser.add_argument("--text", default="cold water")
    parser.add_argument("--fit", default="lsi(e=100)")
    parser.add_argument("--pipelines", nargs="+", default=["BM25", "BM25 + 0.3*lsi(e=100)"])
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        index = sublex.build(str(args.collection), Path(work) / "index")
        index.fit(args.fit)
        ways = {pipeline: way_of(lambda p=pipeline: index.search(args.text, p)) for pipeline in args.pipelines}
    if args.show:
        for pipeline, way in ways.items():
            print(f"{pipeline}\n\n" + "\n".join(way.calls) + "\n")
    print(
        "| query from text | files | functions | calls | into another file | into another room |\n|---|---|---|---|---|---|"
    )
    for pipeline, way in ways.items():
        counts = len(way.files), len(way.functions), len(way.calls), way.file_changes, way.room_changes
        print(f"| `{pipeline}` | {' | '.join(map(str, counts))} |")


if __name__ == "__main__":
    main()
