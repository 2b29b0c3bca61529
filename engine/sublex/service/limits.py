"""The limits of a server: what a request may hold, how long it may take, and how many may wait. docs/security.md lists them."""

from __future__ import annotations

from typing import NamedTuple

# Bytes of the line of a request with its headers, of its query string, and of a body; a body of documents may be larger.
MOST_HEAD, MOST_QUERY, MOST_BODY, MOST_DOCUMENTS = 1 << 16, 1 << 15, 1 << 16, 1 << 25
# Bytes of an answer.
MOST_ANSWER = 1 << 25
# Characters of a value, and values of a parameter that takes several.
MOST_TEXT, MOST_VALUES = 16_384, 64
# The highest rank of a hit that an answer may hold, and the highest value of any other number that counts things.
MOST_HITS, MOST_COUNT = 1_000, 10_000
# Of an expression: its characters, its components, and the candidates that a stage keeps.
MOST_LETTERS, MOST_COMPONENTS, MOST_DEPTH = 2_000, 32, 10_000
# Connections at a time. A client has SLOW seconds for the head and the body of a request; an idle connection is closed after IDLE.
MOST_CLIENTS, SLOW, IDLE = 256, 10.0, 15.0
# Generations of an index that are held, and seconds for which one is held after another replaced it.
GENERATIONS, HELD = 3, 600.0
# Seconds after which a 503 says to try again.
RETRY_AFTER = 1


class Limits(NamedTuple):
    """The limits that users of `sublex serve` choose: threads that answer, requests that wait, and seconds of a request."""

    threads: int
    waiting: int = 64
    seconds: float = 30.0
