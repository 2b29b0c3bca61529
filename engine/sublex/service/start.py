"""The operations of the command line that start a server: serve, mcp."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sublex.errors import InputError, MissingExtra
from sublex.faces.output import say, show
from sublex.forms.lines import Shown
from sublex.index.lookup import existing_path, index_home
from sublex.operations import Needs, OperationContext, operation, option, positional
from sublex.service.guard import Guard, addressed, is_loopback, own_names
from sublex.service.limits import Limits

if TYPE_CHECKING:
    from sublex.service.server import Server

PORT = 8642
# Bytes of a token that a user chooses, at least.
LEAST_TOKEN = 16
DEMO = "demo"

Indexes = Annotated[tuple[str, ...], positional("INDEX", completes="index")]
Topics = Annotated[tuple[str, ...], option("--topics", metavar="FILE", completes="file")]
Qrels = Annotated[tuple[str, ...], option("--qrels", metavar="FILE", completes="file")]
GivenRuns = Annotated[tuple[str, ...], option("--run", metavar="FILE", completes="file")]


@operation(needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def serve(
    context: OperationContext,
    indexes: Indexes,
    topics: Topics = (),
    qrels: Qrels = (),
    runs: GivenRuns = (),
    judge: Annotated[str, option(metavar="FILE", completes="file")] = "",
    write: bool = False,
    host: Annotated[str, option(metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, option(least=0)] = PORT,
    names: Annotated[tuple[str, ...], option("--name", metavar="NAME")] = (),
    threads: Annotated[int | None, option(least=1, shown="all cores")] = None,
    waiting: Annotated[int, option(least=0)] = 64,
    seconds: float = 30.0,
) -> Shown:
    """Show indexes in a browser, and answer programs over HTTP.

    Open the address that is printed. Requests read; --judge and --write let them change something. The server can be
    reached from this machine alone, unless --host says otherwise; then it needs a token, which it prints. Its messages name
    indexes and files, and not their paths. `sublex serve demo` builds the index of the demo collection if there is none.

    Args:
        topics: A topic file that requests may use; may be given several times.
        qrels: Judgements that requests may use; may be given several times.
        runs: A run file that requests may use; may be given several times.
        judge: Let users judge documents, and write the judgements into this file.
        write: Let requests add and delete documents, fit and forget models, and decide about labels and names.
        host: Listen on this address.
        port: Listen on this port; 0 for any free one.
        names: Another name of the server, as in --name search.example.org; may be given several times.
        threads: Threads that answer.
        waiting: Requests that may wait for a thread; more are refused.
        seconds: Seconds after which a request is stopped.

    Examples:
        sublex serve demo
        sublex serve papers --topics topics.trec --qrels qrels.txt --judge mine.txt
    """
    expect_serve()
    if not 0 < seconds <= 3600:
        raise InputError(f"--seconds is {seconds:g}; give a number above 0 and at most 3600.")
    from sublex.service.running import run_server

    token = _token(host)
    limits = Limits(
        threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, waiting, seconds
    )
    with closing(_listening(host, port)) as listening:
        port = listening.getsockname()[1]
        server = server_of(context, indexes, topics, qrels, runs, judge, write, limits)
        guard = Guard.of(own_names(host, names), port, token)
        run_server(server, guard, [listening], lambda: _say_where(host, port, names, token))
    return Shown(list)


@operation(needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def mcp(
    context: OperationContext, indexes: Indexes, topics: Topics = (), qrels: Qrels = (), runs: GivenRuns = ()
) -> Shown:
    """Offer the operations that read to agents, as tools.

    It speaks the Model Context Protocol on standard input and output.

    Args:
        topics: A topic file that tools may use; may be given several times.
        qrels: Judgements that tools may use; may be given several times.
        runs: A run file that tools may use; may be given several times.

    Examples:
        sublex mcp demo
    """
    from sublex.service.tools import run_stdio

    run_stdio(lambda: server_of(context, indexes, topics, qrels, runs, "", False, Limits(2)))
    return Shown(list)


def expect_serve() -> None:
    """Raise MissingExtra unless the packages of the extra `serve` are installed."""
    try:
        import httptools  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("sublex serve", "serve") from None


def server_of(
    context: OperationContext, indexes: Sequence[str], topics: Sequence[str], qrels: Sequence[str], runs: Sequence[str], judge: str,
    write: bool, limits: Limits,
) -> Server:  # fmt: skip
    """Open indexes and check the files that a server is given. The demo brings its topics and judgements."""
    from sublex.service.given import GivenFiles
    from sublex.service.held import held
    from sublex.service.server import Server

    if list(indexes) == [DEMO] and not (topics or qrels):
        from sublex.tools.demo_collection import demo_folder

        if _is_demo(context):
            folder = demo_folder()
            topics, qrels = (str(folder / "topics.trec"),), (str(folder / "qrels.txt"),)
    opened = held(_named(indexes))
    for each in opened.values():
        context.prepare("analyze search explain", each.last.index)
    files = GivenFiles(topics, qrels, runs, judge)
    for name in files.names("topics"):
        files.topics(name)
    for name in files.names("judgements"):
        files.judgements(name)
    files.runs(files.names("runs"))
    server = Server(opened, files, limits, write)
    say(*server.failures)
    return server


def _is_demo(context: OperationContext) -> bool:
    """Return whether the index called demo holds the demo collection, after it was built if there is none."""
    import json

    import sublex
    from sublex.tools.demo_collection import demo_folder

    path, documents = existing_path(DEMO), demo_folder() / "documents.jsonl"
    if not (path / "index.json").is_file():
        path = index_home() / DEMO
        context.prepare("analyze order-terms build read-json search")
        sublex.build(documents, path, say=say)
        show(f"Built the index of the demo collection, {path}")
    known = {json.loads(line)["id"] for line in documents.read_text(encoding="utf-8").splitlines()}
    return known.issuperset(sublex.open(path).snapshot.all_docnos.tolist())


def _named(indexes: Sequence[str]) -> dict[str, Path]:
    """Return the paths of indexes by their names. Raise InputError if two have the same name."""
    named: dict[str, Path] = {}
    for each in dict.fromkeys(indexes):
        path = existing_path(each)
        name = path.name or path.resolve().name
        if name in named:
            raise InputError(f"{named[name]} and {path} are both called {name}; rename one folder.")
        named[name] = path
    return named


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address. Raise InputError for an address that cannot be used."""
    if port > 65535:
        raise InputError(f"--port is {port}; give a number from 0 to 65535.")
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=128
        )
    except UnicodeError:
        raise InputError(f"{host!r} is no address; write for example 127.0.0.1.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"Port {port} of {host} is in use; choose another one by --port, or 0 for any.") from None
        reason = (error.strerror or str(error)).split(" (while")[0]
        raise InputError(f"Cannot listen on {host}, port {port}: {reason}.") from None


def _token(host: str) -> str:
    """Return the token that requests need; "" for a server that only this machine can reach."""
    chosen = os.environ.get("SUBLEX_TOKEN", "")
    if chosen and (len(chosen) < LEAST_TOKEN or not chosen.isascii() or not chosen.isprintable() or " " in chosen):
        raise InputError(f"SUBLEX_TOKEN has to be {LEAST_TOKEN} or more ASCII characters without blanks.")
    return chosen or ("" if is_loopback(host) else secrets.token_urlsafe(24))


def _say_where(host: str, port: int, names: Sequence[str], token: str) -> None:
    """Print the address of the page; with a token, that whoever has the link can read the indexes."""
    address = f"http://{addressed((names or own_names(host) if not is_loopback(host) else [host])[0], port)}/"
    if token:
        show(
            f"Open {address}#token={token} ; whoever has this link can ask this server, and nobody else. Ctrl-C ends it."
        )
    else:
        show(f"Open {address} ; only this machine can. Ctrl-C ends it.")
    sys.stdout.flush()
