"""The printed form of a component, `name(parameter=value, …)`: parse and print.

The printed form is the component's identity; what is parsed and printed again stays the same.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from sublex.errors import InputError

_TOKEN = re.compile(r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[^\s(),="]+)|(?P<mark>[(),=]))""")
_WORD = re.compile(r"[A-Za-z_][\w.:/+-]*")
_KEYWORDS = {"true": True, "false": False}


class Spec(NamedTuple):
    """A name with parameters."""

    name: str
    params: dict[str, Any]

    def __str__(self) -> str:
        inside = ", ".join(f"{key}={print_value(value)}" for key, value in self.params.items())
        return f"{self.name}({inside})" if inside else self.name


def print_value(value: Any) -> str:
    """A number, truth value or string as it is written inside a spec."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    return text if _WORD.fullmatch(text) and _value(text) == text else json.dumps(text, ensure_ascii=False)


def parse(text: str) -> Spec:
    """Read `name` or `name(parameter=value, …)`."""
    tokens = _tokens(text)
    name = tokens.pop(0)
    if not _is_word(name):
        raise _wrong(text)
    if tokens == [""]:
        return Spec(name, {})
    params: dict[str, Any] = {}
    if tokens.pop(0) != "(":
        raise _wrong(text)
    while tokens[0] != ")":
        if len(tokens) < 4 or not _is_word(tokens[0]) or tokens[1] != "=" or tokens[2] in "(),=":
            raise _wrong(text)
        key, value = tokens[0], tokens[2]
        if key in params:
            raise InputError(f"{text!r} gives {key} twice.")
        params[key] = _value(value)
        tokens = tokens[3:]
        if tokens[0] == "," and tokens[1] != ")":
            tokens.pop(0)
        elif tokens[0] != ")":
            raise _wrong(text)
    if tokens != [")", ""]:
        raise _wrong(text)
    return Spec(name, params)


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if not match:
            raise _wrong(text)
        tokens.append(match.group().strip())
        at = match.end()
    return [*(tokens or [""]), ""]


def _is_word(token: str) -> bool:
    return token != "" and token[0] not in '"(),='


def _value(token: str) -> Any:
    if token.startswith('"'):
        try:
            return json.loads(token)
        except ValueError:
            raise InputError(f"{token} is not a string a computer can read; write \\\\ for a backslash.") from None
    if token in _KEYWORDS:
        return _KEYWORDS[token]
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            pass
    return token


def _wrong(text: str) -> InputError:
    return InputError(f"Cannot read {text!r}; write it as name or name(parameter=value, parameter=value).")
