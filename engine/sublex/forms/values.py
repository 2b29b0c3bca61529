"""Values as text: the cell of a table, and JSON that every reader accepts."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from sublex.tools.messages import STEERING, one_line

# Characters that JSON allows without an escape, but that control a terminal or end a line on it.
_ESCAPED = re.compile(f"[{STEERING}\x85\u2028\u2029]")


def as_text(value: Any) -> str:
    """Return a value as the text of a table cell, without control characters."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return one_line(str(value))


def to_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON text.

    NaN and infinities become null, NumPy's numbers and arrays become numbers and lists, and any other object that JSON
    does not know, such as an object that a plugin returns, becomes its `str`. Control characters of terminals are
    escaped.
    """
    try:
        lines = _ONE_LINE if indent is None else json.JSONEncoder(**_STRICT, indent=indent)
        text = lines.encode(value)
    except ValueError:
        # The value contains a number that is not finite.
        text = json.dumps(_jsonable(value), ensure_ascii=False, indent=indent, default=str)
    # JSON escapes the other control characters of ASCII.
    if text.isascii() and "\x7f" not in text:
        return text
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _plain(value: Any) -> Any:
    """Return a value that JSON knows in the place of a value that it does not know."""
    return _jsonable(value) if hasattr(value, "tolist") else str(value)


_STRICT: dict[str, Any] = {"ensure_ascii": False, "default": _plain, "allow_nan": False}
# A new encoder for each value would take as long as the encoding of a small one.
_ONE_LINE = json.JSONEncoder(**_STRICT)


def _jsonable(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _jsonable(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
