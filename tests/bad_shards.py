"""Processes of shards that answer wrongly, each in its own way, for tests. `SUBLEX_BAD_SHARD` names the way."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from sublex.retrieval import shard_process
from sublex.retrieval.shard_messages import REQUEST_TYPES, Reply, receive, send
from sublex.retrieval.shard_messages import Request as Request
from sublex.tools.child_processes import own_output

WAYS = {
    "nan": lambda r, a: a["scores"].fill(np.nan),
    "infinite": lambda r, a: a["scores"].fill(np.inf),
    "ascending": lambda r, a: a.update(scores=a["scores"][::-1] + np.arange(len(a["scores"]), dtype=np.float32)),
    "out of range": lambda r, a: a["docs"].fill(2**31 - 1),
    "negative": lambda r, a: a["docs"].fill(-1),
    "twice": lambda r, a: a["docs"].fill(0),
    "too many": lambda r, a: a.update(counts=a["counts"] + 1000),
    "negative counts": lambda r, a: a.update(counts=a["counts"] - 1000),
    "fewer": lambda r, a: a.update(docs=a["docs"][:-1]),
    "another type": lambda r, a: a.update(scores=a["scores"].astype(np.float64)),
    "no arrays": lambda r, a: a.clear(),
    "largest": lambda r, a: a["largest"].fill(np.nan),
}


def main() -> None:
    """Answer as a process of shards does, but wrongly."""
    way = os.environ["SUBLEX_BAD_SHARD"]
    if way == "ended":
        sys.exit(1)
    out, shards = own_output(), None
    while True:
        request, arrays = receive(0, Request, REQUEST_TYPES)
        if way == "silent":
            time.sleep(600)
        if way in ("huge record", "bytes", "half a record", "not JSON", "a record of numbers"):
            os.write(out, {
                "huge record": (2**60).to_bytes(8, "little"), "bytes": os.urandom(4000), "half a record": (900).to_bytes(8, "little"),
                "not JSON": (4).to_bytes(8, "little") + b"\x80\x04K\x01", "a record of numbers": (2).to_bytes(8, "little") + b"12",
            }[way])  # fmt: skip
            os.close(out)
            return
        sent = shard_process.send

        def forged(pipe: int, reply: Reply, answer: dict) -> None:
            if way in WAYS:
                WAYS[way](reply, answer)
            elif way == "another request":
                reply = reply._replace(number=reply.number + 1)
            elif way == "another generation":
                reply = reply._replace(generation=reply.generation + 1)
            elif way == "another identity":
                reply = reply._replace(identity="0" * 32)
            elif way == "an error":
                reply, answer = reply._replace(error="the disk is gone"), {}
            send(pipe, reply, answer)

        shard_process.send = forged
        try:
            shards = shard_process._answer(out, request, arrays, shards)
        finally:
            shard_process.send = sent
