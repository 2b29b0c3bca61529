<<<<<<< HEAD
"""Time the exchange of indexes with other engines, beside an index that Sublex builds of the same documents.

    python benchmarks/other_engines.py ciff arxiv-cs.jsonl [--documents 100000] [--rounds 3] [--toolkit 10000]

`ciff` writes an index as a CIFF file, plain and compressed, and makes an index of each file. ciff-toolkit, an independent reader and
writer in Python, does the same where it is installed, with the posting lists of some documents only, because it is slow. Every figure is
the least of the rounds.
=======
"""Measure other engines beside Sublex: time to build or attach, bytes on disk, and milliseconds per query.

    python benchmarks/other_engines.py arxiv-cs.jsonl FOLDER [ENGINE...] [--documents 100000]

The indexes are kept in FOLDER and built only if they are not there; building Whoosh's takes minutes. A query is a title. Queries run
one after the other in one thread; the first one is not timed. ENGINES has a function for each engine.
>>>>>>> ec7aed3d13e3f6557d6f2cc3cd35006351d51e1b
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
<<<<<<< HEAD
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import sublex


def records(collection: str, number: int) -> Iterator[dict[str, str]]:
    """Yield the first documents of a file of JSON lines."""
    with open(collection, encoding="utf-8") as file:
        for line in itertools.islice(file, number):
            record = json.loads(line)
            yield {"id": record["id"], "title": record["title"], "text": record["text"]}


def seconds(rounds: int, call: Callable[[], object]) -> float:
    """Return the least time that a call takes."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def nbytes(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    return (
        sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size
    )


def build(collection: str, number: int, path: Path, store: str = "text,terms") -> sublex.Index:
    """Build an index of the first documents, from a file with these alone."""
    part = path.with_suffix(".jsonl")
    if not part.exists():
        part.write_text("".join(json.dumps(record) + "\n" for record in records(collection, number)), encoding="utf-8")
    return sublex.build(part, path, store=store, overwrite=True)


def ciff(args: argparse.Namespace, work: Path) -> None:
    """Print the table of CIFF: seconds, sizes, and speeds in MB of the plain file."""
    source, terms = work / "index", work / "terms"
    index = build(args.collection, args.documents, source)
    built = seconds(args.rounds, lambda: build(args.collection, args.documents, source))
    only_terms = seconds(args.rounds, lambda: build(args.collection, args.documents, terms, "terms"))
    rows = [("`sublex index`, with texts", built, source), ("`sublex index --store terms`", only_terms, terms)]
    for ending in (".ciff", ".ciff.gz"):
        file, copy = work / f"index{ending}", work / f"copy{ending}"
        index = sublex.open(source)
        rows.append(
            (f"export, `{ending}`", seconds(args.rounds, lambda index=index, file=file: index.to_ciff(file)), file)
        )
        imported = seconds(
            args.rounds,
            lambda file=file, copy=copy: sublex.from_ciff(file, copy, analyzer="english", overwrite=True),
        )
        rows.append((f"import, `{ending}`", imported, copy))
        assert sublex.open(copy).statistics == index.statistics
    plain, base = nbytes(work / "index.ciff") / 1e6, rows[0][1]
    postings = index.statistics.postings
    print(
        f"{args.documents:,} documents, {postings:,} postings, a CIFF file of {plain:,.1f} MB, {os.cpu_count()} cores\n"
    )
    print("| | s | MB/s of CIFF | million postings/s | of `sublex index` | MB written |\n|---|---|---|---|---|---|")
    for name, took, path in rows:
        speed = f"{plain / took:,.0f} | {postings / took / 1e6:.1f}" if "port" in name else "– | –"
        print(f"| {name} | {took:.2f} | {speed} | {took / base:.2f} | {nbytes(path) / 1e6:,.1f} |")
    toolkit(args, work)


def toolkit(args: argparse.Namespace, work: Path) -> None:
    """Print the speeds of ciff-toolkit and of Sublex on a smaller file."""
    try:
        from ciff_toolkit.read import CiffReader
        from ciff_toolkit.write import CiffWriter
    except ImportError:
        print("\nciff-toolkit is not installed.")
        return
    index = build(args.collection, args.toolkit, work / "small")
    file, other = work / "small.ciff", work / "other.ciff"

    def read() -> None:
        with CiffReader(file) as reader:
            reader.read_header()
            for found in reader.read_postings_lists():
                sum(posting.tf for posting in found.postings)
            for _ in reader.read_documents():
                pass

    def copy() -> None:
        with CiffReader(file) as reader, CiffWriter(other) as writer:
            writer.write_header(reader.read_header())
            writer.write_postings_lists(reader.read_postings_lists())
            writer.write_documents(reader.read_documents())

    rows = [
        ("Sublex, export", seconds(args.rounds, lambda: index.to_ciff(file))),
        ("Sublex, import", seconds(args.rounds, lambda: sublex.from_ciff(file, work / "s", analyzer="english", overwrite=True))),
        ("ciff-toolkit, read every frequency", seconds(1, read)),
        ("ciff-toolkit, read and write", seconds(1, copy)),
    ]  # fmt: skip
    assert other.read_bytes() == file.read_bytes()
    size = nbytes(file) / 1e6
    print(f"\n{args.toolkit:,} documents, a CIFF file of {size:,.1f} MB\n\n| | s | MB/s |\n|---|---|---|")
    for name, took in rows:
        print(f"| {name} | {took:.2f} | {size / took:,.1f} |")


PARTS = {"ciff": ciff}
=======
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import sublex
from sublex.pipeline.index import Index

DEPTHS = (10, 1000)


class Setting(NamedTuple):
    """The collection, its number of documents, and the folder of the indexes."""

    collection: str
    documents: int
    folder: Path

    def records(self) -> Iterator[dict[str, str]]:
        """Yield the documents."""
        with open(self.collection, encoding="utf-8") as file:
            yield from map(json.loads, itertools.islice(file, self.documents))

    def queries(self, number: int) -> list[str]:
        """Return titles from all over the collection."""
        step = max(1, self.documents // number)
        return [record["title"] for record in itertools.islice(self.records(), 0, None, step)][:number]


class Row(NamedTuple):
    """A line of the table: the name, the seconds to build or attach (None if the index was there), bytes, and ms per query by depth."""

    name: str
    seconds: float | None
    size: int
    latencies: Sequence[float]


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def size(folder: Path) -> int:
    """Return the bytes of the files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def latency(search: Callable[[str, int], object], queries: Sequence[str], k: int) -> float:
    """Return the median of the milliseconds per query."""
    search(queries[0], k)
    return statistics.median(timed(lambda text=text: search(text, k)) for text in queries) * 1000  # type: ignore[misc]


def row(name: str, seconds: float | None, folder: Path, index: Index, expression: str, queries: Sequence[str]) -> Row:
    """Return the line of one expression on an index."""
    pipeline = index.pipeline(expression)

    def search(text: str, k: int) -> object:
        return pipeline.answer(index.query(text), k).hits.docs

    return Row(name, seconds, size(folder), [latency(search, queries, k) for k in DEPTHS])


def native(setting: Setting) -> Iterator[Row]:
    """Sublex's own index."""
    folder, seconds = setting.folder / "native", None
    if not (folder / "index.json").exists():
        seconds = timed(lambda: sublex.build(setting.records(), folder))
    yield row("Sublex: BM25", seconds, folder, sublex.open(folder), "BM25", setting.queries(2000))


def whoosh(setting: Setting) -> Iterator[Row]:
    """Whoosh: its own index and search, the mirror, and its scorer through Sublex."""
    from whoosh import index as whoosh_index
    from whoosh.qparser import OrGroup, QueryParser

    folder, queries, seconds = setting.folder / "whoosh", setting.queries(100), None
    if not folder.exists():
        seconds = timed(lambda: write_whoosh(setting, folder))
    mirror = setting.folder / "whoosh-mirror"
    attached = timed(lambda: sublex.attach(f"whoosh:{folder}", mirror, trust=True, overwrite=True))
    index = sublex.open(mirror)
    with whoosh_index.open_dir(str(folder), readonly=True).searcher() as searcher:
        parser = QueryParser("text", searcher.schema, group=OrGroup)
        times = [latency(lambda text, k: searcher.search(parser.parse(text), limit=k), queries, k) for k in DEPTHS]
        yield Row("Whoosh's own search: BM25F", seconds, size(folder), times)
    yield row("Sublex over the mirror: BM25", attached, mirror, index, "BM25", setting.queries(2000))
    yield row("Sublex: WhooshBM25F", None, folder, index, "WhooshBM25F", queries)


def write_whoosh(setting: Setting, folder: Path) -> None:
    """Write a Whoosh index with positions and stored texts, in one segment."""
    from whoosh import fields
    from whoosh import index as whoosh_index
    from whoosh.analysis import StemmingAnalyzer

    folder.mkdir()
    text = fields.TEXT(stored=True, analyzer=StemmingAnalyzer())
    schema = fields.Schema(docno=fields.ID(stored=True, unique=True), title=fields.STORED, text=text)
    writer = whoosh_index.create_in(str(folder), schema).writer(limitmb=256)
    for record in setting.records():
        title, content = record["title"], record["text"]
        writer.add_document(docno=record["id"], title=title, text=f"{title}\n{content}")
    writer.commit()


ENGINES = {"native": native, "whoosh": whoosh}
>>>>>>> ec7aed3d13e3f6557d6f2cc3cd35006351d51e1b


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
<<<<<<< HEAD
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("collection")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--toolkit", type=int, default=10_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        PARTS[args.part](args, Path(work))
=======
    parser.add_argument("collection")
    parser.add_argument("folder", type=Path)
    parser.add_argument("engines", nargs="*", default=[*ENGINES])
    parser.add_argument("--documents", type=int, default=100_000)
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    os.environ["XDG_CONFIG_HOME"] = str(args.folder / "config")
    setting = Setting(args.collection, args.documents, args.folder)
    print(f"{'':30} {'seconds':>8} {'MB':>7}" + "".join(f"{f'ms, k={k}':>12}" for k in DEPTHS))
    for name in args.engines:
        for line in ENGINES[name](setting):
            seconds = "" if line.seconds is None else f"{line.seconds:.1f}"
            times = "".join(f"{ms:12.2f}" for ms in line.latencies)
            print(f"{line.name:30} {seconds:>8} {line.size / 1e6:7.1f}{times}", flush=True)
>>>>>>> ec7aed3d13e3f6557d6f2cc3cd35006351d51e1b


if __name__ == "__main__":
    main()
