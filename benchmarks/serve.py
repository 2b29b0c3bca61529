"""Time the service: what a request costs beside the search itself, how long answers take under load, and trivial requests.

    python benchmarks/serve.py INDEX TOPICS [--queries 300] [--rounds 5] [--seconds 5]

INDEX stores texts; TOPICS is a file of queries like titles. The server is a process of its own, and so is the client, which is
a small one of asyncio over sockets; wrk and oha are not needed. Each round asks all queries one after the other on one
connection, and takes the server's processor time from /proc. The searches of one thread in this process, by the same queries, are
what the ratios are of; rounds of all kinds take turns, and the least counts.

The load is that of `--connections` clients, each of which asks as soon as it has its answer: that is the saturating rate. Then
requests begin at half of this rate, whether others are answered or not.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from urllib.parse import quote

import sublex

BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def health(request):
    return JSONResponse({"status": "ok"})
app = Starlette(routes=[Route("/v1/health", health)])
print("Open http://127.0.0.1:%s/" % sys.argv[1], flush=True)
uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False)
"""


class Program:
    """A server in a process of its own."""

    def __init__(self, words: list[str], port: int):
        self.port = port
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout
        while "Open" not in (line := self.process.stdout.readline()):
            assert line, "the server has ended"
        asyncio.run(self.until_up())

    async def until_up(self) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.05)

    @property
    def processor(self) -> float:
        """The seconds of the processor that the process has taken."""
        seconds = 0.0
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{thread}/schedstat") as file:
                seconds += int(file.read().split()[0]) / 1e9
        return seconds

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


def request(port: int, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()


async def answered(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return await reader.readexactly(size)


async def ask_all(port: int, paths: list[str]) -> list[float]:
    """Ask one after the other on one connection; return the seconds of each."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seconds = []
    for path in paths:
        begin = time.perf_counter()
        writer.write(request(port, path))
        await answered(reader)
        seconds.append(time.perf_counter() - begin)
    writer.close()
    return seconds


async def saturate(port: int, paths: list[str], connections: int, seconds: float) -> float:
    """Return the answers a second that several clients get."""
    end, done = time.perf_counter() + seconds, 0

    async def client(first: int) -> None:
        nonlocal done
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        place = first
        while time.perf_counter() < end:
            writer.write(request(port, paths[place % len(paths)]))
            await answered(reader)
            place, done = place + 1, done + 1
        writer.close()

    await asyncio.gather(*(client(n * 17) for n in range(connections)))
    return done / seconds


async def at_rate(port: int, paths: list[str], rate: float, seconds: float, connections: int) -> list[float]:
    """Return the seconds from when a request should have begun to its answer, at a rate that does not wait for answers."""
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    taken: list[float] = []

    async def one(path: str, due: float) -> None:
        reader, writer = await free.get()
        writer.write(request(port, path))
        await answered(reader)
        taken.append(time.perf_counter() - due)
        free.put_nowait((reader, writer))

    begin, tasks = time.perf_counter(), []
    for n in range(int(rate * seconds)):
        due = begin + n / rate
        while (left := due - time.perf_counter()) > 0:
            await asyncio.sleep(left if left > 0.002 else 0)
        tasks.append(asyncio.create_task(one(paths[n % len(paths)], due)))
    await asyncio.gather(*tasks)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("topics")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--port", type=int, default=8653)
    args = parser.parse_args()
    index = sublex.open(args.index)
    texts = [topic.text for topic in sublex.read_topics(args.topics)][: args.queries]
    pipeline = index.pipeline("BM25")
    port = args.port
    service = Program([sys.executable, "-m", "sublex", "serve", args.index, "--port", str(port)], port)
    bare = Program([sys.executable, "-c", BARE, str(port + 1)], port + 1)
    search = [f"/v1/search?query={quote(text)}&k=10" for text in texts]
    docnos = [f"{path}&docnos=true" for path in search]
    trivial = ["/v1/health"] * max(1000, len(texts))

    def local() -> float:
        begin = time.process_time()
        for text in texts:
            _ = pipeline.answer(index.query(text), 10).hits.docnos
        return (time.process_time() - begin) / len(texts)

    def remote(program: Program, paths: list[str]) -> float:
        begin = program.processor
        asyncio.run(ask_all(program.port, paths))
        return (program.processor - begin) / len(paths)

    steps: dict[str, Callable[[], float]] = {
        "`answer` with docnos": local,
        "`/v1/search`, docnos": lambda: remote(service, docnos),
        "`/v1/search`, titles and passages": lambda: remote(service, search),
        "bare Starlette": lambda: remote(bare, trivial),
        "`/v1/health`": lambda: remote(service, trivial),
    }
    found: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        step()
    for _ in range(args.rounds):
        for name, step in steps.items():
            found[name].append(step())
    least = {name: min(times) for name, times in found.items()}
    print(f"{len(index):,} documents, {len(texts)} queries, k = 10; microseconds of the processor for a request\n")
    print("| request | µs | ratio |\n|---|---|---|")
    names = list(steps)
    for name in names:
        base = least[names[0]] if names.index(name) < 3 else least["bare Starlette"]
        print(f"| {name} | {1e6 * least[name]:.0f} | {least[name] / base:.2f} |")
    print("\n| requests | saturating rate | at half: median ms | p99 ms | p99 / median |\n|---|---|---|---|---|")
    for name, paths in (("docnos", docnos), ("titles and passages", search)):
        rate = asyncio.run(saturate(port, paths, args.connections, args.seconds))
        taken = asyncio.run(at_rate(port, paths, rate / 2, args.seconds, 64))
        median, high = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
        print(f"| {name} | {rate:,.0f}/s | {1000 * median:.2f} | {1000 * high:.2f} | {high / median:.1f} |")
    service.end()
    bare.end()


if __name__ == "__main__":
    main()
