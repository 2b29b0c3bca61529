"""Run a server by uvicorn, until Ctrl-C."""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Callable, Sequence

import uvicorn

from sublex.service.app import App
from sublex.service.guard import Guard
from sublex.service.limits import IDLE
from sublex.service.protocol import LimitedProtocol
from sublex.service.server import Server

# The switch interval of Python's threads, in seconds. With the default of 5 ms, an answer of the event loop would wait
# this long for each search that runs.
TURN = 0.0005


def config_of(app: App) -> uvicorn.Config:
    """Return uvicorn's settings: no log, no names of programs in answers, and limits on what is read."""
    return uvicorn.Config(
        app, log_config=None, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="on",
        http=LimitedProtocol, ws="none", timeout_keep_alive=int(IDLE), timeout_graceful_shutdown=2, loop="auto",
    )  # fmt: skip


class _Announced(uvicorn.Server):
    """A server that says where it is when it listens."""

    def __init__(self, config: uvicorn.Config, say: Callable[[], None]):
        super().__init__(config)
        self._say = say

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say()


def run_server(server: Server, guard: Guard, sockets: Sequence[socket.socket], say: Callable[[], None]) -> None:
    """Answer requests on sockets until Ctrl-C."""
    sys.setswitchinterval(TURN)
    app = App(server, guard)
    # What is there now stays until the end. Otherwise the collector would look at all of it from time to time, and every request
    # would wait for 60 ms.
    gc.collect()
    gc.freeze()
    _Announced(config_of(app), say).run(list(sockets))
