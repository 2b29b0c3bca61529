"""Metadata of runs as ir_metadata has them (https://www.ir-metadata.org): YAML at a run's head or in a file beside it.

Of YAML this writes and reads what such metadata need: nested mappings and lists, numbers, truth values, null and strings, which
it writes as JSON does. Anchors, tags and flow collections other than JSON's are not read.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

START, END = "# ir_metadata.start", "# ir_metadata.end"
# Words that YAML 1.1 takes for something other than a string, in whatever case.
RESERVED = {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "~", ""}
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
DEEPEST = 50

_PLAIN = re.compile(r"[A-Za-z_][\w()./+,;=-]*(?: [\w()./+,;=-]+)*", re.ASCII)
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'\[\]{}#&*!|>%@`-][^#]*?|-[^\s][^#]*?):(?:\s+|$)""")
_WHOLE = re.compile(r"[+-]?[0-9]{1,300}", re.ASCII)
_FRACTION = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}


def sidecar(path: str | os.PathLike[str]) -> str:
    """The file beside a run that holds its metadata: `bm25.run.yaml` for `bm25.run`."""
    return f"{os.fspath(path)}.yaml"


def comments(metadata: Mapping[str, Any]) -> str:
    """The metadata as comment lines for a run's head."""
    lines = "".join(f"# {line}\n" for line in emit(metadata).splitlines())
    return f"{START}\n{lines}{END}\n"


def from_comments(lines: Iterable[str]) -> str | None:
    """The YAML among a run's comment lines, or None when there is none."""
    found: list[str] | None = None
    for line in lines:
        if line == START:
            found = []
        elif line == END:
            break
        elif found is not None:
            found.append(line.removeprefix("#").removeprefix(" "))
    return None if found is None else "\n".join(found)


def emit(metadata: Mapping[str, Any]) -> str:
    """Metadata as YAML."""
    return "".join(f"{line}\n" for line in _lines(metadata)) if metadata else "{}\n"


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            if _nested(inner):
                yield f"{_scalar(str(key))}:"
                yield from (f"  {line}" for line in _lines(inner))
            else:
                yield f"{_scalar(str(key))}: {_scalar(inner)}"
    elif isinstance(value, (list, tuple)) and value:
        for inner in value:
            first, *rest = _lines(inner)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _scalar(value)


def _nested(value: Any) -> bool:
    return isinstance(value, (Mapping, list, tuple)) and len(value) > 0


def _scalar(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(float(value))
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in RESERVED:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _float(value: float) -> str:
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    mantissa, mark, exponent = repr(value).partition("e")
    # YAML 1.1 knows a number with an exponent only by its point.
    return f"{mantissa}{'' if '.' in mantissa else '.0'}e{exponent}" if mark else mantissa


def parse(text: str) -> dict[str, Any]:
    """Read metadata; a ValueError names the line that is beyond what is read here."""
    lines = [
        (number, len(line) - len(line.lstrip(" ")), line.strip(" \r"))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#") and line.strip() != "---"
    ]
    if not lines:
        return {}
    reader = _Reader(lines)
    found = reader.block(lines[0][1], 0)
    if reader.at < len(lines):
        raise reader.wrong("indented otherwise than what stands above it")
    if not isinstance(found, dict):
        raise ValueError("line 1: not a mapping")
    return found


class _Reader:
    """Goes down the lines, each as (number, indentation, content)."""

    def __init__(self, lines: list[tuple[int, int, str]]):
        self.lines, self.at = lines, 0

    def wrong(self, why: str) -> ValueError:
        return ValueError(f"line {self.lines[min(self.at, len(self.lines) - 1)][0]}: {why}")

    def block(self, indent: int, depth: int) -> Any:
        """A mapping, a list or a scalar whose lines begin at this indentation."""
        if depth > DEEPEST:
            raise self.wrong("nested too deeply")
        content = self.lines[self.at][2]
        if content == "-" or content.startswith("- "):
            return self._list(indent, depth)
        if _KEY.match(content):
            return self._mapping(indent, depth)
        self.at += 1
        return self._value(content)

    def _here(self, indent: int) -> str:
        """The content of the present line if it stands at this indentation, else nothing."""
        if self.at >= len(self.lines) or self.lines[self.at][1] != indent:
            return ""
        return self.lines[self.at][2]

    def _list(self, indent: int, depth: int) -> list[Any]:
        found: list[Any] = []
        while (content := self._here(indent)) == "-" or content.startswith("- "):
            number, rest = self.lines[self.at][0], content[1:].lstrip(" ")
            if rest:
                # What follows the dash is a block of its own that begins further in.
                inner = indent + len(content) - len(rest)
                self.lines[self.at] = (number, inner, rest)
                found.append(self.block(inner, depth + 1))
            else:
                self.at += 1
                found.append(self._inner(indent, depth))
        return found

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while content := self._here(indent):
            key = _KEY.match(content)
            if not key:
                raise self.wrong(f"{content[:50]} is not a key with a colon")
            name, rest = str(self._string(key[1].strip())), content[key.end() :]
            if name in found:
                raise self.wrong(f"{name} stands there twice")
            if rest[:1] in ("|", ">"):
                found[name] = self._folded(indent, rest)
                continue
            self.at += 1
            empty = not rest or rest.startswith("#")
            found[name] = self._inner(indent, depth, list_here=True) if empty else self._value(rest)
        return found

    def _inner(self, indent: int, depth: int, list_here: bool = False) -> Any:
        """The block that belongs to the line above, if one does; a list may stand as far out as its key."""
        if self.at < len(self.lines):
            _, inner, content = self.lines[self.at]
            if inner > indent or (list_here and inner == indent and (content == "-" or content.startswith("- "))):
                return self.block(inner, depth + 1)
        return None

    def _folded(self, indent: int, style: str) -> str:
        """Lines further in as one string, with their breaks (|) or without (>)."""
        self.at += 1
        parts = []
        while self.at < len(self.lines) and self.lines[self.at][1] > indent:
            parts.append(self.lines[self.at][2])
            self.at += 1
        return ("\n" if style[0] == "|" else " ").join(parts)

    def _value(self, text: str) -> Any:
        if text[0] in "[{":
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                self.at -= 1
                raise self.wrong("a list or mapping on one line that is not JSON") from None
        return self._string(text)

    def _string(self, text: str) -> Any:
        if text[0] in "\"'":
            return self._quoted(text)
        text = text.partition(" #")[0].strip()
        if text.lower() in WORDS:
            return WORDS[text.lower()]
        if text in _SPECIAL:
            return _SPECIAL[text]
        return int(text) if _WHOLE.fullmatch(text) else float(text) if _FRACTION.fullmatch(text) else text

    def _quoted(self, text: str) -> str:
        if text[0] == "'" and text[-1] == "'" and len(text) > 1:
            return text[1:-1].replace("''", "'")
        try:
            return str(json.loads(text))
        except ValueError:
            raise ValueError(f"line {self.lines[max(self.at - 1, 0)][0]}: {text[:50]} is not a string") from None
