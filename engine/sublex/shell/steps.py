"""Steps: what the shell did last, as a command line and as Python code that do the same."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple


class Step(NamedTuple):
    """One step: the words of `sublex …` without the index, and a Python expression that uses `index`.

    The index stands in the command line where `INDEX` is. `result` is how the code shows the value: "hits", "value" or
    "rows". A step that only one of the two can do has the other empty.
    """

    words: tuple[str, ...] = ()
    python: str = ""
    result: str = "value"


# How code prints a result.
PRINTERS = {
    "hits": "for hit in {}:\n    print(hit.rank, hit.docno, hit.score)",
    "rows": "for row in {}:\n    print(row)",
    "value": "print({})",
}


def command_line(step: Step, path: object) -> str:
    """Return a step as a command line, quoted for the shell of the system."""
    where = str(path) if os.sep in str(path) else f"./{path}"
    return shlex.join(["sublex", *(where if word == "INDEX" else word for word in step.words)])


def python_code(step: Step, path: object) -> str:
    """Return a step as a Python program that prints its result."""
    where = str(path) if os.sep in str(path) else f"./{path}"
    shown = PRINTERS[step.result].format(step.python)
    return f"import sublex\n\nindex = sublex.open({where!r})\n{shown}"


def call(method: str, *args: Any, **options: Any) -> str:
    """Return a call of a method of `index` as code; options that are None are left out."""
    given = [*map(repr, args), *(f"{name}={value!r}" for name, value in options.items() if value is not None)]
    return f"index.{method}({', '.join(given)})"


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command line; those that are None or False are left out, and True is a flag."""
    words: list[str] = []
    for name, value in options.items():
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            words += [name, str(value)]
    return words
