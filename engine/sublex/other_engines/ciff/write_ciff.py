"""Write an index as a CIFF file.

Deleted documents are left out, the others get new numbers, and the posting lists of all segments are merged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.errors import InputError
from sublex.index.snapshot import Snapshot
from sublex.other_engines.ciff.header import DESCRIPTION, VERSION, CiffHeader
from sublex.other_engines.live_postings import LivePostings
from sublex.readers.source import COMPRESSED
from sublex.tools.outputs import expect_replaceable, is_device
from sublex.tools.strings import Strings, end_to_end, read_only
from sublex.tools.workers import Workers
from sublex.trec.run_writer import output_file


class Exported(NamedTuple):
    """The numbers of documents, terms and postings in a CIFF file, its size, and the number of deleted documents left out."""

    docs: int
    terms: int
    postings: int
    nbytes: int
    deleted: int


def write_ciff(
    snapshot: Snapshot,
    path: str | os.PathLike[str],
    workers: int,
    progress: Callable[[int, int], None] = lambda terms, total: None,
    overwrite: bool = False,
) -> Exported:
    """Write the postings and documents of an index as a CIFF file, and return the numbers of its parts.

    The file is compressed if its name ends in `.gz`. An existing file is replaced only with `overwrite`, and only when
    the new file is finished. If `path` is a pipe, the bytes are written into it.
    """
    target = Path(path)
    if target.suffix in set(COMPRESSED) - {".gz"}:
        raise InputError(f"Cannot write {path}: CIFF files are plain or end in .gz.")
    if not is_device(target):
        expect_replaceable(target, overwrite)
    if not len(snapshot):
        raise InputError(f"{snapshot.path} has no documents to export.")
    with Workers(workers) as pool, output_file(target) as stream:
        terms = _write(stream, snapshot, LivePostings(snapshot, pool), pool, progress)
    nbytes = target.stat().st_size
    deleted = sum(int(segment.dead.sum()) for segment in snapshot.segments)
    return Exported(len(snapshot), terms, snapshot.statistics.postings, nbytes, deleted)


def _write(
    stream: Any, snapshot: Snapshot, source: LivePostings, pool: Workers, progress: Callable[[int, int], None]
) -> int:
    """Write header, posting lists and documents. Return the number of terms."""
    terms, statistics = source.terms, snapshot.statistics
    header = CiffHeader(
        VERSION, terms, source.docs, terms, source.docs, statistics.tokens, statistics.mean_length,
        DESCRIPTION + snapshot.analyzer_expression,
    )  # fmt: skip
    stream.write(header.encoded())
    done = 0
    for count, data in pool.map(_lists, source.postings()):
        stream.write(data)
        done += count
        progress(done, terms)
    for data in pool.map(_records, _numbered(source.documents())):
        stream.write(data)
    return terms


def _lists(batch: PostingsBatch) -> tuple[int, memoryview]:
    """Return the number of posting lists of a batch, and their messages."""
    from sublex.other_engines.ciff import ciff_kernels

    return len(batch.terms), ciff_kernels.encode_lists(*end_to_end(batch.terms), batch.df, batch.docs, batch.tfs).data


def _numbered(batches: Iterator[DocumentsBatch]) -> Iterator[tuple[int, DocumentsBatch]]:
    """Yield the batches, each with the number of its first document."""
    first = 0
    for batch in batches:
        yield first, batch
        first += len(batch.docnos)


def _records(numbered: tuple[int, DocumentsBatch]) -> memoryview:
    """Return the messages of a batch of documents, whose docnos lie end to end."""
    from sublex.other_engines.ciff import ciff_kernels

    first, batch = numbered
    docnos = Strings.of(batch.docnos)
    return ciff_kernels.encode_documents(read_only(docnos.arena), docnos.sizes, batch.lengths, first).data
