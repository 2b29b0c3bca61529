"""Time the service: what a request costs beside the search itself, how long answers take under load, and trivial requests.

    python benchmarks/serve.py INDEX TOPICS [--queries 300] [--rounds 5] [--seconds 5] [--page 20]

INDEX stores texts; TOPICS is a file of queries like titles. The server is a process of its own, and so is the client, which is
a small one of asyncio over sockets; wrk and oha are not needed. Each round asks all queries one after the other on one
connection, and takes the server's processor time from /proc. The searches of one thread in this process, by the same queries, are
what the ratios are of; rounds of all kinds take turns, and the least counts.

The load is that of `--connections` clients, each of which asks as soon as it has its answer: that is the saturating rate. Then
requests begin at half of this rate, whether others are answered or not; of all rounds, that with the lowest p99 counts.

With --page N, the first N queries are typed into the page in Chromium (playwright), letter by letter, each when the hits of the
one before are painted. A keystroke ends with the frame after the one in which its hits stand; the pause in which the page
waits for the next letter is a part of it. The server's part is that of the search alone, as the browser measured it.
Without other figures: --rounds 0.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import selectors
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any
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


def finely(steps: Coroutine[Any, Any, list[float]]) -> list[float]:
    """Run steps in a loop that sleeps by microseconds; the usual one rounds to milliseconds. One that is busy takes a core."""
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        return runner.run(steps)


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
            await asyncio.sleep(left)
        tasks.append(asyncio.create_task(one(paths[n % len(paths)], due)))
    await asyncio.gather(*tasks)
    return taken


# In the page: note when each letter came, and when its hits were painted.
RECORDER = """() => {
    window.painted = [];
    // Resolves when this number of letters is painted. To ask again and again would take the page's time.
    window.untilPainted = (number) => new Promise((resolve) => {
        const look = () => (window.painted.length >= number ? resolve() : (window.whenPainted = look));
        look();
    });
    addEventListener('input', (event) => {
        const [begin, value] = [event.timeStamp, event.target.value];
        const look = () => {
            const isThere = new URLSearchParams(location.search).get('query') === value
                && !document.querySelector('.is-old, [aria-busy=true]') && document.querySelector('.hits, .notes, .problem');
            if (!isThere) return requestAnimationFrame(look);
            requestAnimationFrame(() => setTimeout(() => {
                window.painted.push(performance.now() - begin);
                window.whenPainted?.();
            }));
        };
        requestAnimationFrame(look);
    }, true);
}"""


def typed(port: int, texts: list[str]) -> tuple[list[float], list[float]]:
    """Type queries into the page; return the milliseconds of each keystroke, and those of the server for each search."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"http://127.0.0.1:{port}/?query=the")
        page.wait_for_selector("#query")
        page.evaluate(RECORDER)
        searches: list[float] = []

        def finished(request: Any) -> None:
            if "/v1/search" in request.url:
                searches.append(request.timing["responseStart"] - request.timing["requestStart"])

        page.on("requestfinished", finished)
        done = 0
        for text in texts:
            page.keyboard.press("Escape")
            page.keyboard.press("/")
            for letter in text:
                done += 1
                # The query before is selected, so the first letter replaces it.
                page.keyboard.type(letter)
                page.evaluate("(number) => window.untilPainted(number)", done)
        painted = page.evaluate("window.painted")
        browser.close()
    return painted, searches


def measure(
    args: argparse.Namespace,
    index: sublex.Index,
    pipeline: sublex.Pipeline,
    texts: list[str],
    service: Program,
    bare: Program,
) -> None:
    """Print what requests cost the processor, and how long answers take under load."""
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
    print("\n| requests | saturating rate | µs of the processor | at half: median ms | p99 ms | p99 / median |")
    print("|---|---|---|---|---|---|")
    for name, paths in (("docnos", docnos), ("titles and passages", search)):
        begin = service.processor
        rate = asyncio.run(saturate(service.port, paths, args.connections, args.seconds))
        each = (service.processor - begin) / (rate * args.seconds)
        rounds = [finely(at_rate(service.port, paths, rate / 2, args.seconds, 64)) for _ in range(args.rounds)]
        high, median = min((statistics.quantiles(taken, n=100)[98], statistics.median(taken)) for taken in rounds)
        print(
            f"| {name} | {rate:,.0f}/s | {1e6 * each:.0f} | {1000 * median:.2f} | {1000 * high:.2f} | {high / median:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("topics")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--port", type=int, default=8653)
    parser.add_argument("--page", type=int, default=0)
    args = parser.parse_args()
    index = sublex.open(args.index)
    texts = [topic.text for topic in sublex.read_topics(args.topics)][: args.queries]
    pipeline = index.pipeline("BM25")
    port = args.port
    service = Program([sys.executable, "-m", "sublex", "serve", args.index, "--port", str(port)], port)
    bare = Program([sys.executable, "-c", BARE, str(port + 1)], port + 1)
    if args.rounds:
        measure(args, index, pipeline, texts, service, bare)
    if args.page:
        print("| in the page | median ms | p95 ms | number |\n|---|---|---|---|")
        names = "keystroke to painted hits", "the server's part of a search"
        for name, taken in zip(names, typed(port, texts[: args.page]), strict=True):
            high = statistics.quantiles(taken, n=20)[18]
            print(f"| {name} | {statistics.median(taken):.1f} | {high:.1f} | {len(taken)} |")
    service.end()
    bare.end()


if __name__ == "__main__":
    main()
