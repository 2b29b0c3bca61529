"""Measure other engines beside Sublex: time to build or attach, bytes on disk, and milliseconds per query.

    python benchmarks/other_engines.py arxiv-cs.jsonl FOLDER [ENGINE...] [--documents 100000]

The indexes are kept in FOLDER and built only if they are not there; building Whoosh's takes minutes. A query is a title. Queries run
one after the other in one thread; the first one is not timed. ENGINES has a function for each engine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import sublex
from sublex.contracts.base import Document
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


def lucene(setting: Setting) -> Iterator[Row]:
    """Measure Lucene: Anserini builds an index with texts and document vectors; then time `LuceneBM25`, and `BM25` over the mirror."""
    folder, queries, seconds = setting.folder / "lucene", setting.queries(2000), None
    if not folder.exists():
        seconds = timed(lambda: write_lucene(setting, folder, {"text", "terms"}))
    mirror = setting.folder / "lucene-mirror"
    attached = timed(lambda: sublex.attach(f"lucene:{folder}", mirror, overwrite=True))
    index = sublex.open(mirror)
    yield row("Sublex: LuceneBM25", seconds, folder, index, "LuceneBM25", queries)
    yield row("Sublex over the mirror: BM25", attached, mirror, index, "BM25", queries)


def write_lucene(setting: Setting, folder: Path, store: set[str]) -> None:
    """Have Anserini write a Lucene index that stores these parts."""
    from sublex_lucene.backend import LuceneBackend

    documents = (Document(record["id"], record["text"], record["title"]) for record in setting.records())
    LuceneBackend(None, None).build(str(folder), documents, frozenset(store), 1 << 30)


def lucene_positions(setting: Setting) -> Iterator[Row]:
    """A Lucene index of postings and positions alone, and its mirror without and with positions, three times in turns."""
    yield from mirrors(setting, "lucene", lambda folder: write_lucene(setting, folder, {"positions"}))


def whoosh_positions(setting: Setting) -> Iterator[Row]:
    """A Whoosh index, and its mirror without and with positions, three times in turns."""
    yield from mirrors(setting, "whoosh", lambda folder: write_whoosh(setting, folder))


def mirrors(setting: Setting, backend: str, write: Callable[[Path], None]) -> Iterator[Row]:
    """Attach an index of another engine without and with positions, in turns, and search both mirrors."""
    folder, queries = setting.folder / f"{backend}-positions", setting.queries(2000)
    if not folder.exists():
        write(folder)
    for _ in range(3):
        for name, positions in (("without", False), ("with", True)):
            mirror = setting.folder / f"{backend}-{name}"
            attach = partial(sublex.attach, f"{backend}:{folder}", mirror, trust=True, overwrite=True)
            seconds = timed(partial(attach, positions=positions))
            yield row(f"{backend}, mirror {name} positions", seconds, mirror, sublex.open(mirror), "BM25", queries)


ENGINES = {
    "native": native, "whoosh": whoosh, "lucene": lucene, "whoosh-positions": whoosh_positions,
    "lucene-positions": lucene_positions,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("folder", type=Path)
    parser.add_argument("engines", nargs="*", default=["native", "whoosh", "lucene"])
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


if __name__ == "__main__":
    main()
