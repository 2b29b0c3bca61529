"""Time the exchange of indexes with other engines, beside an index that Sublex builds of the same documents.

    python benchmarks/other_engines.py ciff arxiv-cs.jsonl [--documents 100000] [--rounds 3] [--toolkit 10000]
    python benchmarks/other_engines.py whoosh arxiv-cs.jsonl [--documents 100000] [--folder FOLDER]

`ciff` writes an index as a CIFF file, plain and compressed, and makes an index of each file. ciff-toolkit, an independent reader and
writer in Python, does the same where it is installed, with the posting lists of some documents only, because it is slow. Every figure is
the least of the rounds.

`whoosh` writes a Whoosh index, which takes minutes, attaches it, and times 100 titles as queries. Each figure is the median over the
queries, which run one after the other in one thread; the first one is not timed. With --folder the Whoosh index is kept for the next time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import sublex

# The numbers of hits for which queries are timed.
DEPTHS = (10, 1000)


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
    source = work / "index"
    index = build(args.collection, args.documents, source)
    rows = [
        ("`sublex index`, with texts", seconds(args.rounds, lambda: build(args.collection, args.documents, source)), source),
        (
            "`sublex index --store terms`",
            seconds(args.rounds, lambda: build(args.collection, args.documents, work / "terms", "terms")), work / "terms",
        ),
    ]  # fmt: skip
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


def whoosh(args: argparse.Namespace, work: Path) -> None:
    """Print the table of Whoosh: its own index and search, the mirror, and its scorer through Sublex."""
    from whoosh import index as whoosh_index
    from whoosh.qparser import OrGroup, QueryParser

    os.environ["XDG_CONFIG_HOME"] = str(work / "config")
    folder, mirror, own = (args.folder or work) / "whoosh", work / "mirror", work / "index"
    titles = [record["title"] for record in records(args.collection, args.documents)]
    few, many = titles[:: max(1, len(titles) // 100)][:100], titles[:: max(1, len(titles) // 2000)][:2000]
    written = None if folder.exists() else seconds(1, lambda: write_whoosh(args, folder))
    built = seconds(1, lambda: build(args.collection, args.documents, own))
    attached = seconds(1, lambda: sublex.attach(f"whoosh:{folder}", mirror, trust=True))
    print("| | s | MB | ms, k = 10 | ms, k = 1,000 |\n|---|---|---|---|---|")
    print(line("Sublex, its own index: `BM25`", built, own, own, "BM25", many), flush=True)
    print(line("Sublex, the mirror: `BM25`", attached, mirror, mirror, "BM25", many), flush=True)
    print(line("Sublex, attached: `WhooshBM25F`", None, folder, mirror, "WhooshBM25F", few), flush=True)
    with whoosh_index.open_dir(str(folder), readonly=True).searcher() as searcher:
        parser = QueryParser("text", searcher.schema, group=OrGroup)
        cells = [f"{latency(lambda text, k: searcher.search(parser.parse(text), limit=k), few, k):.2f}" for k in DEPTHS]
    took = "kept" if written is None else f"{written:.1f}"
    print(f"| Whoosh, its own search: BM25F | {took} | {nbytes(folder) / 1e6:,.1f} | {' | '.join(cells)} |")


def line(name: str, took: float | None, written: Path, path: Path, expression: str, queries: list[str]) -> str:
    """Return a line of the table: an expression on the index at `path`, and the bytes of what was written."""
    index = sublex.open(path)
    pipeline = index.pipeline(expression)

    def search(text: str, k: int) -> object:
        return pipeline.answer(index.query(text), k).hits.docs

    cells = [f"{latency(search, queries, k):.2f}" for k in DEPTHS]
    shown = "" if took is None else f"{took:.1f}"
    return f"| {name} | {shown} | {nbytes(written) / 1e6:,.1f} | {' | '.join(cells)} |"


def latency(search: Callable[[str, int], object], queries: list[str], k: int) -> float:
    """Return the median of the milliseconds per query."""
    search(queries[0], k)
    return statistics.median(seconds(1, partial(search, text, k)) for text in queries) * 1000


def write_whoosh(args: argparse.Namespace, folder: Path) -> None:
    """Write a Whoosh index with positions and stored texts, in one segment."""
    from whoosh import fields
    from whoosh import index as whoosh_index
    from whoosh.analysis import StemmingAnalyzer

    folder.mkdir(parents=True)
    text = fields.TEXT(stored=True, analyzer=StemmingAnalyzer())
    schema = fields.Schema(docno=fields.ID(stored=True, unique=True), title=fields.STORED, text=text)
    writer = whoosh_index.create_in(str(folder), schema).writer(limitmb=256)
    for record in records(args.collection, args.documents):
        writer.add_document(docno=record["id"], title=record["title"], text=f"{record['title']}\n{record['text']}")
    writer.commit()


PARTS = {"ciff": ciff, "whoosh": whoosh}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("collection")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--toolkit", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        PARTS[args.part](args, Path(work))


if __name__ == "__main__":
    main()
