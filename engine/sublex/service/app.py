"""The server as an ASGI application: routes to operations, answers in JSON, refusals as problems, and the files of the page."""

from __future__ import annotations

import asyncio
import hashlib
import json
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Match, Route

from sublex.service import anserini
from sublex.service.calls import answered
from sublex.service.guard import OF_PAGE, SAFE, Guard
from sublex.service.limits import MOST_BODY, MOST_DOCUMENTS, MOST_QUERY, SLOW
from sublex.service.openapi import schema_of
from sublex.service.problems import MEDIA, Refused, as_bytes, body_of, problem_of
from sublex.service.server import RequestAnswer, Served, Server
from sublex.service.streams import AnswerLines
from sublex.service.tools import Endpoint
from sublex.service.work import AnswerThreads

Scope = Any
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
PAGE = Path(__file__).parent / "page"
JSON, NDJSON = b"application/json", b"application/x-ndjson"
# The types of the files of the page; others are not served.
TYPES = {
    ".html": b"text/html; charset=utf-8", ".js": b"text/javascript; charset=utf-8", ".mjs": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8", ".svg": b"image/svg+xml", ".png": b"image/png", ".json": JSON,
    ".txt": b"text/plain; charset=utf-8", ".woff2": b"font/woff2", ".ico": b"image/x-icon",
}  # fmt: skip
_FIXED = {kind: ((b"content-type", kind), *SAFE, (b"cache-control", b"no-store")) for kind in (JSON, NDJSON, MEDIA)}


class App:
    """The ASGI application of a server. `close` ends its threads."""

    def __init__(self, server: Server, guard: Guard, page: Path = PAGE):
        self.server, self.guard = server, guard
        self.pool = AnswerThreads(server.limits.threads, server.limits.waiting)
        self.tools = Endpoint(server, self.answered)
        self.schema = as_bytes(schema_of(server))
        self.files = {name: _sent(name, data) for name, data in _files(page, server).items()}
        self._health: tuple[Any, bytes] = None, b""
        routes = [
            Route("/v1/{name}", _Endpoint(self._operation)),
            Route("/v1/{index}/search", _Endpoint(self._anserini_search), methods=["GET"]),
            Route("/v1/{index}/doc/{docid:path}", _Endpoint(self._anserini_doc), methods=["GET"]),
            Route("/mcp", _Endpoint(self._mcp), methods=["GET", "POST", "DELETE"]),
            Route("/openapi.json", _Endpoint(self._schema), methods=["GET"]),
            Route("/", _Endpoint(self._page), methods=["GET"]),
            Route("/page/{name:path}", _Endpoint(self._page), methods=["GET"]),
        ]
        self.routes = Starlette(routes=routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._lifespan(scope, receive, send)
            return
        try:
            path = scope["path"]
            headers = dict(scope["headers"])
            is_page = path == "/" or path.startswith("/page/")
            self.guard.check(headers, strict=scope["method"] != "GET" or path.startswith("/mcp"), is_page=is_page)
            endpoint = self._endpoint(scope)
            await endpoint(scope, receive, send)
        except Exception as error:
            await self._refuse(scope, send, self.server.named(problem_of(error)))

    def _endpoint(self, scope: Scope) -> Any:
        """Return the endpoint for the path of a request. Raise Refused for an unknown path or a wrong method."""
        for route in self.routes.router.routes:
            match, child = route.matches(scope)
            if match is Match.FULL:
                scope.update(child)
                return child["endpoint"].answer if isinstance(child.get("endpoint"), _Endpoint) else route.handle
            if match is Match.PARTIAL:
                methods = sorted((getattr(route, "methods", None) or {"GET"}) - {"HEAD"})
                raise _other_method(f"{scope['method']} is no method of {scope['path'][:80]}", methods)
        raise Refused(404, f"There is nothing at {scope['path'][:80]!r}; /openapi.json lists what there is.")

    async def _operation(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for an operation."""
        served, method = self.server.find(scope["path_params"]["name"]), scope["method"]
        operation = served.operation
        methods = ["GET"] * operation.may_read + ["POST"] * operation.may_change
        if (method if method != "HEAD" else "GET") not in methods:
            what = f"{method} is no method of {served.name}, which"
            raise _other_method(f"{what} {'reads' if operation.may_read else 'changes something'}", methods)
        if method == "POST":
            self.server.expect_leave(served)
            values = self.server.taken(served, await self._body(served, scope, receive))
        else:
            values = self.server.given(served, _query(scope))
            if self.server.changes(served, values):
                raise _other_method(f"With these parameters, {served.name} changes something", ["POST"])
        if served.name == "health":
            await self._send(send, 200, JSON, self._health_now())
            return
        try:
            answer = await self.answered(lambda: self.server.answer(served, values), receive)
            if answer is not None and answer.lines is not None:
                await AnswerLines(self, answer.lines, receive, send).send()
                return
        except Refused as refused:
            if refused.status == 410:
                refused.more["now"] = _without_generation(scope)
            raise
        if answer is not None:
            await self._send(send, 200, JSON, answer.body)

    def _health_now(self) -> bytes:
        """Return the state of the server, made anew when an index has another generation."""
        generations = [held.last.number for held in self.server.indexes.values()]
        if self._health[0] != (generations, self.server.limits):
            record = {"result": self.server.health(), "notes": []}
            self._health = (generations, self.server.limits), as_bytes(record)
        return self._health[1]

    async def answered(self, call: Callable[[], RequestAnswer], receive: Receive | None = None) -> RequestAnswer | None:
        """Have a thread make a call, and return its answer; None if the client leaves. Raise Refused after the deadline."""
        return await answered(self.pool, call, self.server.limits.seconds, receive)

    async def _body(self, served: Served, scope: Scope, receive: Receive) -> Mapping[str, Any]:
        """Return the JSON object in the body of a request.

        Raise Refused for another body, and if it is too large or cut.
        """
        kind = dict(scope["headers"]).get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind != JSON:
            raise Refused(415, "The body is no JSON; send an object with the Content-Type application/json.")
        most = MOST_DOCUMENTS if served.name == "add" else MOST_BODY
        pieces, size = [], 0
        while True:
            try:
                message = await asyncio.wait_for(receive(), SLOW)
            except TimeoutError:
                raise Refused(408, f"The body did not come within {SLOW:g} seconds.") from None
            if message["type"] == "http.disconnect":
                raise Refused(400, "The body was cut.")
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > most:
                raise Refused(413, f"The body has more than {most:,} bytes; send less.")
            if not message.get("more_body"):
                break
        try:
            body = json.loads(b"".join(pieces), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise Refused(400, "The body is no JSON object.") from None
        if not isinstance(body, dict):
            raise Refused(400, "The body is no JSON object.")
        return body

    async def _anserini_search(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._anserini(anserini.search, scope, receive, send)

    async def _anserini_doc(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._anserini(anserini.document, scope, receive, send)

    async def _anserini(self, answer: Any, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of a client of Anserini, whose errors are in the member `error`."""
        query = _query(scope)
        try:
            body = await self.answered(lambda: answer(self.server, scope["path_params"], query), receive)
        except Exception as error:
            refused = self.server.named(problem_of(error))
            refused.more["error"] = str(refused)
            await self._refuse(scope, send, refused)
            return
        if body is not None:
            await self._send(send, 200, JSON, body.body)

    async def _mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of the Model Context Protocol."""

        async def safely(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *SAFE]}
            await send(message)

        await self.tools.handle(scope, receive, safely)

    async def _schema(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._send(send, 200, JSON, self.schema)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a file of the page."""
        name = scope["path_params"].get("name") or "index.html"
        found = self.files.get(name)
        if found is None:
            raise Refused(404, f"The page has no file {name[:80]!r}.")
        kind, tag, data = found
        headers = [*SAFE, *OF_PAGE, (b"cache-control", b"no-cache"), (b"etag", tag)]
        if dict(scope["headers"]).get(b"if-none-match") == tag:
            await send({"type": "http.response.start", "status": 304, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        headers += [(b"content-type", kind), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": data})

    async def _send(self, send: Send, status: int, kind: bytes, body: bytes, more: tuple = ()) -> None:
        headers = [*_FIXED[kind], (b"content-length", b"%d" % len(body)), *more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _refuse(self, scope: Scope, send: Send, refused: Refused) -> None:
        await self._send(send, refused.status, MEDIA, body_of(refused), refused.headers)

    async def _lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take part in the start and the end of the server; refuse a web socket."""
        if scope["type"] != "lifespan":
            await send({"type": "websocket.close"})
            return
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.tools.close()
                self.pool.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


class _Endpoint:
    """A method of the application as the endpoint of a route."""

    def __init__(self, answer: Callable[[Scope, Receive, Send], Awaitable[None]]):
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.answer(scope, receive, send)


def _query(scope: Scope) -> dict[str, list[str]]:
    """Return the fields of a query string, each with its texts. Raise Refused if it is too long or not UTF-8."""
    text = scope["query_string"]
    if not text:
        return {}
    if len(text) > MOST_QUERY:
        raise Refused(414, f"The query string has more than {MOST_QUERY:,} bytes; ask for less.")
    fields: dict[str, list[str]] = {}
    try:
        for name, value in urllib.parse.parse_qsl(
            text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=256
        ):
            fields.setdefault(name, []).append(value)
    except UnicodeDecodeError:
        raise Refused(400, "The query string is no UTF-8; write other bytes as %XX.") from None
    except ValueError:
        raise Refused(400, "The query string has more than 256 fields.") from None
    return fields


def _other_method(sentence: str, methods: list[str]) -> Refused:
    """Return the refusal of an HTTP method. `sentence` says why; the allowed `methods` are added to it."""
    return Refused(405, f"{sentence}; send it by {' or '.join(methods)}.", ((b"allow", ", ".join(methods).encode()),))


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _without_generation(scope: Scope) -> str:
    """Return the link of a request without its generation, so that it leads to the current one."""
    pairs = [(name, value) for name, values in _query(scope).items() for value in values if name != "generation"]
    return f"{scope['path']}?{urllib.parse.urlencode(pairs)}".rstrip("?")


def _files(folder: Path, server: Server) -> dict[str, bytes]:
    """Return the files of the page and of the panels of plugins by name. No other file is ever sent."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix in TYPES)
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    for panel in server.panels:
        found |= panel.files
    return found


def _sent(name: str, data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the content type, the ETag and the content of a file."""
    return TYPES[Path(name).suffix], f'"{hashlib.sha256(data).hexdigest()[:16]}"'.encode(), data
