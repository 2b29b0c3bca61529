"""The operations that read, as tools of the Model Context Protocol: at /mcp of a server, and over standard input and output.

The official SDK implements the protocol. It takes a second to import, so it is imported at the first request for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from sublex import __version__
from sublex.errors import MissingExtra
from sublex.service.problems import Refused, problem_of, record_of

if TYPE_CHECKING:
    from sublex.service.server import RequestAnswer, Server

# Operations that are of no use to an agent: they say what a page needs, or stream.
WITHOUT_TOOL = frozenset(("run", "complete", "tree", "reading", "matches", "into-study", "costs"))
ABOUT = "Search engine for people who study ranking. Rankers are expressions, such as BM25 or BM25 >> RM3 >> BM25."


def is_installed() -> bool:
    """Return whether the SDK is installed. It is not imported for this."""
    return importlib.util.find_spec("mcp") is not None


def schema_of_tool(server: Server, name: str) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments."""
    fields = server.served[name].fields.values()
    properties = {
        each.name: {**each.schema(), "description": each.help} if each.help else each.schema() for each in fields
    }
    required = [each.name for each in fields if each.is_required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def tool_names(server: Server) -> list[str]:
    """Return the operations that are tools."""
    reading = [name for name, each in server.served.items() if each.operation.may_read and not each.operation.is_long]
    return [name for name in reading if name not in WITHOUT_TOOL]


def protocol_of(
    server: Server, answered: Callable[[Callable[[], RequestAnswer]], Awaitable[RequestAnswer | None]]
) -> Any:
    """Return a server of the MCP SDK that offers the operations of a server as tools. `answered` runs a call in another thread."""
    from mcp import types
    from mcp.server.lowlevel import Server as Protocol

    names = tool_names(server)

    async def list_tools(context: Any, params: Any) -> Any:
        tools = [
            types.Tool(
                name=name, description=server.served[name].operation.help, input_schema=schema_of_tool(server, name),
                annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
            )
            for name in names
        ]  # fmt: skip
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> Any:
        try:
            if params.name not in names:
                raise server.unknown(params.name, names)
            served = server.served[params.name]
            values = server.taken(served, params.arguments or {})
            if server.changes(served, values):
                raise Refused(403, f"With these arguments, {served.name} changes the index; tools only read.")
            answer = await answered(lambda: server.answer(served, values))
            text = answer.body.decode() if answer else ""
            return types.CallToolResult(content=[types.TextContent(type="text", text=text)])
        except Exception as error:
            sentence = record_of(server.named(problem_of(error)))["detail"]
            return types.CallToolResult(content=[types.TextContent(type="text", text=sentence)], is_error=True)

    return Protocol("sublex", version=__version__, instructions=ABOUT, on_list_tools=list_tools, on_call_tool=call_tool)


class Endpoint:
    """/mcp: the tools over HTTP, without sessions, so that no client can leave anything behind."""

    def __init__(
        self, server: Server, answered: Callable[[Callable[[], RequestAnswer]], Awaitable[RequestAnswer | None]]
    ):
        self._server, self._answered = server, answered
        self._lock = asyncio.Lock()
        self._manager: Any = None
        self._running: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request. Raise Refused if the SDK is not installed."""
        if not is_installed():
            raise Refused(501, str(MissingExtra("/mcp", "mcp")))
        async with self._lock:
            if self._manager is None:
                await self._start()
        await self._manager.handle_request(scope, receive, send)

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._manager = await loop.run_in_executor(None, self._made)
        ready = asyncio.Event()

        async def run() -> None:
            async with self._manager.run():
                ready.set()
                await self._over.wait()

        self._running = loop.create_task(run())
        await ready.wait()

    def _made(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from sublex.service.limits import MOST_BODY

        protocol = protocol_of(self._server, self._answered)
        return StreamableHTTPSessionManager(
            protocol, json_response=True, stateless=True, max_request_body_size=MOST_BODY
        )

    async def close(self) -> None:
        """End the tasks of the SDK, if they were started."""
        self._over.set()
        if self._running is not None:
            await self._running


def run_stdio(make_server: Callable[[], Server]) -> None:
    """Offer the tools on standard input and output until the input ends. Everything else goes to standard error."""
    if not is_installed():
        raise MissingExtra("sublex mcp", "mcp")
    with contextlib.redirect_stdout(sys.stderr):
        server = make_server()

    async def talk() -> None:
        from mcp.server.stdio import stdio_server

        from sublex.service.calls import answered
        from sublex.service.work import AnswerThreads

        pool = AnswerThreads(server.limits.threads, server.limits.waiting)
        protocol = protocol_of(server, lambda call: answered(pool, call, server.limits.seconds))
        async with stdio_server() as (incoming, outgoing):
            await protocol.run(incoming, outgoing, protocol.create_initialization_options())

    asyncio.run(talk())
