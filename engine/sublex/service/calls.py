"""Await a call in a thread of the pool: until it returns, its client leaves, or the deadline comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from sublex.service.problems import Refused, busy
from sublex.service.work import AnswerThreads, Stopped

# Seconds after which a request that is not answered yet is watched for its client's leaving.
WATCHED = 0.02
# Seconds that a call which is stopped has to end; compiled code runs to its end, and its result is dropped.
GRACE = 0.5
Result = TypeVar("Result")


async def answered(
    pool: AnswerThreads, call: Callable[[], Result], seconds: float, receive: Callable[[], Awaitable[Any]] | None = None
) -> Result | None:
    """Have a thread make a call, and return its result; None if the client leaves. Raise Refused after the deadline.

    `receive` is that of ASGI; without it, nobody can leave. Whatever ends the wait before the call has returned stops the
    call.
    """
    loop = asyncio.get_running_loop()
    job = pool.start(call)
    why: list[str] = []
    watching: list[asyncio.Task[None]] = []

    def stop(reason: str) -> None:
        why.append(reason)
        loop.run_in_executor(None, job.stop)
        loop.call_later(GRACE, give_up)

    def give_up() -> None:
        if not job.future.done():
            job.future.set_exception(Stopped())

    async def watch() -> None:
        assert receive is not None
        while (await receive())["type"] != "http.disconnect":
            pass
        stop("left")

    def begin_to_watch() -> None:
        watching.append(loop.create_task(watch()))

    deadline = loop.call_later(seconds, stop, "late")
    soon = loop.call_later(WATCHED, begin_to_watch) if receive else None
    try:
        result: Result = await job.future
        return result
    except Stopped:
        if "left" in why:
            return None
        if why:
            raise Refused(504, f"The answer takes longer than {seconds:g} seconds; ask for less.") from None
        raise busy("The server stopped this request; try again.") from None
    finally:
        deadline.cancel()
        if soon:
            soon.cancel()
        for task in watching:
            task.cancel()
        if not job.future.done():
            loop.run_in_executor(None, job.stop)
