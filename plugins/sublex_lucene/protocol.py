"""Messages between Sublex and the process that runs Java: a line of JSON, then the bytes of arrays. Nothing is unpickled."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, BinaryIO

# The largest line of JSON in a message, in bytes.
LONGEST_LINE = 1 << 28


def send(stream: BinaryIO, content: dict[str, Any], parts: Sequence[Any] = ()) -> None:
    """Write a message: its content as JSON, then its parts as bytes."""
    views = [memoryview(part).cast("B") for part in parts]
    stream.write(json.dumps(content | {"sizes": [len(view) for view in views]}).encode() + b"\n")
    for view in views:
        stream.write(view)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], list[bytearray]]:
    """Return the content and the parts of the next message.

    Raise EOFError if the stream ends before the message ends. Raise OverflowError if the line of the message has
    `LONGEST_LINE` bytes or more.
    """
    line = stream.readline(LONGEST_LINE)
    if len(line) == LONGEST_LINE:
        raise OverflowError
    if not line.endswith(b"\n"):
        raise EOFError
    content = json.loads(line)
    return content, [_exactly(stream, size) for size in content.pop("sizes")]


def _exactly(stream: BinaryIO, size: int) -> bytearray:
    """Return the next `size` bytes."""
    part = bytearray(size)
    view, done = memoryview(part), 0
    while done < size:
        read = stream.readinto(view[done:])  # type: ignore[attr-defined]
        if not read:
            raise EOFError
        done += read
    return part
