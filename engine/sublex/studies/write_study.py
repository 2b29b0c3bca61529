"""Write study files: TOML with a seal, which shows later whether somebody has changed the file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sublex.errors import InputError
from sublex.tools.files import replace_file
from sublex.tools.outputs import LINE, expect_output, sealed

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def key(name: str) -> str:
    """Return a name as a key of TOML, in quotes where it needs them."""
    return name if name and _PLAIN.issuperset(name) else text(name)


def text(value: str) -> str:
    """Return a text as a string of TOML, in quotes."""
    return (
        '"' + "".join(_ESCAPES.get(char, char if char.isprintable() else f"\\U{ord(char):08x}") for char in value) + '"'
    )


def value(given: object) -> str:
    """Return a text, a number, a truth value, or a list of these as a value of TOML."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, (int, float)):
        return repr(given)
    if isinstance(given, (list, tuple)):
        return f"[{', '.join(map(value, given))}]"
    return text(str(given))


def table(name: str, rows: Mapping[str, object]) -> str:
    """Return a table of TOML: its header, and a line for each key of `rows`."""
    return "\n".join([f"[{name}]", *(f"{key(each)} = {value(given)}" for each, given in rows.items()), ""])


def path_from(folder: Path, path: str) -> str:
    """Return a path as a study file in `folder` writes it: relative if it lies below the folder, otherwise absolute."""
    real, root = os.path.realpath(path), os.path.realpath(folder)
    return os.path.relpath(real, root) if real == root or real.startswith(os.path.join(root, "")) else real


def system_names(expressions: Sequence[str]) -> dict[str, str]:
    """Return the systems of a new study, by name: each expression is the name of its own system."""
    return {expression: expression for expression in expressions}


def write_study(file: str, content: str, overwrite: bool = False) -> None:
    """Write a study file. Raise InputError if a file is there that Sublex did not write, or that was changed since."""
    check_study_path(file, overwrite)
    try:
        replace_file(Path(file), sealed(content, LINE))
    except OSError as error:
        raise InputError(f"Cannot write {file}: {error.strerror}; choose another place.") from None


def check_study_path(file: str, overwrite: bool = False) -> None:
    """Raise InputError for a path that does not end in .toml, or where a file is that may not be replaced."""
    if not file.endswith(".toml"):
        raise InputError(f"{file} does not end in .toml; a study is a file in TOML.")
    expect_output(file, overwrite)
