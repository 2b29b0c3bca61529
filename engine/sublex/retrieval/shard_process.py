"""The process that answers for some shards of a cluster: it reads requests from standard input, and writes replies."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from sublex.errors import SublexError, is_out_of_memory
from sublex.retrieval.shard_messages import (
    REQUEST_TYPES,
    BadMessage,
    Gone,
    Reply,
    Request,
    checked_request,
    receive,
    send,
)
from sublex.retrieval.shard_search import ShardSearch
from sublex.tools.child_processes import own_output
from sublex.tools.messages import in_short


def main() -> None:
    """Answer requests until the coordinator ends or closes the pipe."""
    out = own_output()
    shards: ShardSearch | None = None
    with suppress(Gone):
        while True:
            try:
                request, arrays = receive(0, Request, REQUEST_TYPES)
            except BadMessage as error:
                # The next message cannot be found behind a bad one.
                send(out, Reply(0, 0, "0" * 32, f"The process got a bad request: {error}.", ()), {})
                return
            shards = _answer(out, request, arrays, shards)


def _answer(out: int, request: Request, arrays: list[np.ndarray], shards: ShardSearch | None) -> ShardSearch | None:
    """Answer a request, and return the shards that are open. A process with another generation opens the present one."""
    state, error, answer = (0, "0" * 32), "", {}
    try:
        if shards is None or shards.identity != request.identity:
            shards = ShardSearch(Path(request.path), request.shards)
        state = (shards.generation, shards.identity)
        wanted = request.docs, request.tokens, request.postings
        if state != (request.generation, request.identity) or tuple(shards.statistics) != wanted:
            error = (
                f"it is at generation {shards.generation:,}, and the index was opened at generation {request.generation:,}; "
                "open the cluster again"
            )
        else:
            asked = checked_request(request, arrays)
            counts, docs, scores, largest = (
                shards.search(request.ranker, request.k, asked)
                if request.k
                else (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.float32), 0.0)
            )
            answer = {"counts": counts, "docs": docs, "scores": scores, "largest": np.array([largest], np.float64)}
    except BadMessage as problem:
        error = f"it refused a request: {problem}"
    except SublexError as problem:
        error = str(problem).rstrip(".")
    except Exception as problem:
        if is_out_of_memory(problem):
            raise
        error = in_short(problem).rstrip(".")
    send(out, Reply(request.number, *state, error, ()), answer)
    return shards
