"""Read TOML with the line of each key, so that messages can name the line of the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sublex.errors import InputError

Path = tuple[str, ...]
# The end of tomllib's messages, and the beginnings of its messages about a repeated key.
_AT = re.compile(r" \((?:at line (\d+), column \d+|at end of document)\)$")
_TWICE = ("Cannot overwrite a value", "Cannot declare", "Cannot mutate")
# The pattern of TOML's strings; those in three quotation marks come first.
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|' r"'''.*?'{3,5}|" r'"(?:[^"\\\n]|\\.)*"|' r"'[^'\n]*'", re.DOTALL)
# The pattern of strings and comments. An unclosed string reaches to the end of the text or line, so matching takes
# linear time.
_APART = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\\?\Z)|'
    r"'''.*?(?:'{3,5}|\Z)|"
    r'"(?:[^"\\\n]|\\.)*"?|'
    r"'[^'\n]*'?|"
    r"#[^\n]*",
    re.DOTALL,
)
# The largest number of parts of a dotted key. The time of tomllib is quadratic in this number.
MOST_NAMES = 32
_LONG_KEY = re.compile(rf'(?<![\w"-])(?:(?:[\w-]+|"")[ \t]*\.[ \t]*){{{MOST_NAMES}}}')


class Toml(NamedTuple):
    """The content of a TOML file, and the line of each key by its path, such as ("systems", "BM25")."""

    name: str
    data: dict[str, Any]
    lines: dict[Path, int]

    def where(self, path: Sequence[str]) -> str:
        """Return the beginning of a message about a key: the file, and the line of the key or of the table around it."""
        whole = tuple(path)
        known = next((whole[:size] for size in range(len(whole), 0, -1) if whole[:size] in self.lines), None)
        return f"{self.name}, line {self.lines[known]}" if known else self.name


def read_toml(text: str, name: str) -> Toml:
    """Return the tables of a text in TOML. Raise InputError, with the line, for a text that is no TOML."""
    _refuse_long_keys(text, name)
    try:
        return Toml(name, tomllib.loads(text), {path: line for line, path in reversed(list(_keys(text)))})
    except tomllib.TOMLDecodeError as error:
        raise InputError(_sentence(str(error), text, name)) from None
    except ValueError:
        raise InputError(f"{name} has a number of too many digits; a study needs few.") from None
    except RecursionError:
        raise InputError(f"{name} has too many brackets within one another; a study needs few.") from None


def _refuse_long_keys(text: str, name: str) -> None:
    """Raise InputError for a dotted key with so many parts that reading it would take too long."""
    bare = _APART.sub(lambda match: '""' + "\n" * match[0].count("\n"), text)
    if long := _LONG_KEY.search(bare):
        line = bare.count("\n", 0, long.start()) + 1
        raise InputError(f"{name}, line {line}: a key has more than {MOST_NAMES} names; a study needs few.")


def _sentence(problem: str, text: str, name: str) -> str:
    """Return the message about a text that is not TOML. `problem` is the message of tomllib."""
    found = _AT.search(problem)
    line = int(found[1]) if found and found[1] else text.count("\n") + 1
    what = _AT.sub("", problem)
    if what.startswith(_TWICE):
        keys = [path for at, path in _keys(text) if at <= line]
        if keys and keys[-1] in keys[:-1]:
            return f"{name}, line {line}: the name {keys[-1][-1]} comes twice; give each one once."
        return f"{name}, line {line}: a name comes twice; give each one once."
    return f"{name}, line {line}: this is no TOML: {what[:1].lower()}{what[1:]}."


def _keys(text: str) -> Iterator[tuple[int, Path]]:
    """Yield the line and the path of each table and of each key at the beginning of a line.

    Stop where the text is not TOML.
    """
    table: Path = ()
    at, line, counted = 0, 1, 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _end_of_line(text, at)
        else:
            is_table = text[at] == "["
            end = _end(text, at, "" if is_table else "=")
            path = _path(text[at:end], is_table)
            if path is None:
                return
            line, counted = line + text.count("\n", counted, at), at
            table = path if is_table else table
            yield line, path if is_table else (*table, *path)
            at = end if is_table else _end(text, end + 1, "")


def _end(text: str, at: int, mark: str) -> int:
    """Return the place of the next `mark` outside of strings and comments, or of the end of its line.

    If `mark` is "", return the place of the next end of a line that is not within a string or brackets.
    """
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "\"'" and (string := _STRING.match(text, at)):
            at = string.end()
            continue
        if (mark and char == mark) or (char == "\n" and (mark or depth <= 0)):
            return at
        if char == "#":
            at = _end_of_line(text, at)
            continue
        depth += (char in "[{") - (char in "]}")
        at += 1
    return at


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _path(text: str, is_table: bool) -> Path | None:
    """Return the path that a dotted key, or the header of a table, stands for; None if it cannot be read."""
    try:
        node: Any = tomllib.loads(text if is_table else f"{text} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    path: list[str] = []
    while node:
        node = node[0] if isinstance(node, list) else node
        if not isinstance(node, dict) or not node:
            break
        name, node = next(iter(node.items()))
        path.append(name)
    return tuple(path)
