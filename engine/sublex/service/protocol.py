"""uvicorn's HTTP protocol with limits on the size of a request's head, on its time of arrival, and on connections."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sublex.service.limits import MOST_BODY, MOST_CLIENTS, MOST_HEAD, SLOW
from sublex.service.problems import MEDIA, Refused, body_of


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        self._unread = 0
        self._waiting: asyncio.TimerHandle | None = None
        if len(self.connections) > MOST_CLIENTS:
            self._refuse(Refused(503, f"The server has {MOST_CLIENTS} connections; try again in a moment."))
            return
        self._expect_head()

    def _expect_head(self) -> None:
        """Close the connection if no whole head comes in time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(SLOW, self._late)

    def _late(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self._refuse(Refused(408, f"The request did not come within {SLOW:g} seconds."))

    def data_received(self, data: bytes) -> None:
        """Read bytes; those of a head are limited."""
        self._unread += len(data)
        if self._unread > MOST_HEAD + MOST_BODY and not self._in_body:
            self._refuse(Refused(431, f"The head of the request has more than {MOST_HEAD:,} bytes; send less."))
            return
        super().data_received(data)

    @property
    def _in_body(self) -> bool:
        return self.cycle is not None and self.cycle.more_body

    def on_message_begin(self) -> None:
        """Begin to read a head."""
        super().on_message_begin()
        self._expect_head()

    def on_url(self, url: bytes) -> None:
        """Take a part of the path with its query string."""
        super().on_url(url)
        if len(self.url) >= MOST_HEAD:
            self._refuse(Refused(414, f"The address of the request has {MOST_HEAD:,} bytes or more; ask for less."))

    def on_headers_complete(self) -> None:
        """Note that the head is there, and pass the request on."""
        self._unread = 0
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse data that are not an HTTP request."""
        self._refuse(Refused(400, "This is no request of HTTP that can be read."))

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: web sockets are refused."""

    def _refuse(self, refused: Refused) -> None:
        """Send a refusal and close the connection."""
        if self.transport.is_closing():
            return
        body = body_of(refused)
        head = b"HTTP/1.1 %d Refused\r\ncontent-type: %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        self.transport.write(head % (refused.status, MEDIA, len(body)) + body)
        self.transport.close()
