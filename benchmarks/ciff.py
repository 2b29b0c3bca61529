"""Time CIFF: write an index as a file, plain and compressed, and make an index of each file, beside `sublex index`.

    python benchmarks/ciff.py arxiv-cs.jsonl [--documents 100000] [--rounds 3] [--toolkit 10000]

ciff-toolkit, an independent reader and writer in Python, copies the file of the first documents, where it is installed. Every figure is
the least of the rounds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--toolkit", type=int, default=10_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        ciff(args, Path(work))


if __name__ == "__main__":
    main()
