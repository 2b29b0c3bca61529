"""Documents as vectors for use elsewhere: those of an index, or others, as NumPy's or Parquet's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from sublex import plugins
from sublex.base import Report
from sublex.errors import InputError, MissingExtra
from sublex.fitted import Rows
from sublex.index.document_source import source_of
from sublex.index.snapshot import Snapshot
from sublex.messages import counted
from sublex.representations.inputs import ROWS
from sublex.representations.loaded import LoadedRepresentation
from sublex.representations.rows import stacked

FORMS = (".npz", ".parquet")
# Bytes that an array of docnos may take, in which each is as long as the longest.
MOST = 1 << 32
Vectors = Iterator[tuple[list[str], Rows]]
Say = Callable[[str], None]


def export(
    index: Snapshot,
    side: LoadedRepresentation,
    file: Path | None,
    output: Path,
    reader: str | None = None,
    say: Say = lambda text: None,
) -> int:
    """Write vectors with their docnos; how many they are."""
    if output.suffix not in FORMS:
        raise InputError(f"{output} is neither {' nor '.join(FORMS)}; name the output so.")
    if output.exists() and not output.is_file():
        raise InputError(f"{output} is no file; choose another place.")
    vectors = _of_index(index, side) if file is None else _of_file(index, side, file, reader, say)
    new = output.with_name(f"{output.name}.new")
    try:
        with open(new, "wb") as stream:
            count = (_npz if output.suffix == ".npz" else _parquet)(stream, vectors)
        if not count:
            raise InputError(f"{file or index.path} holds no document to encode.")
        new.replace(output)
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror or error}; choose another place.") from None
    finally:
        with suppress(OSError):
            new.unlink()
    return count


def _of_index(index: Snapshot, side: LoadedRepresentation) -> Vectors:
    """The live documents of an index, some at a time: their docnos and their vectors."""
    for segment in index.segments:
        done = 0
        for inputs in side.inputs.blocks(segment):
            rows = side.vectors(inputs)
            live = np.flatnonzero(~segment.dead[done : done + rows.shape[0]])
            yield [segment.docno(done + doc) for doc in live.tolist()], rows[live]
            done += rows.shape[0]


def _of_file(index: Snapshot, side: LoadedRepresentation, file: Path, reader: str | None, say: Say) -> Vectors:
    """The documents of a file, analysed as those of the index."""
    report = Report()
    given = source_of(str(file), plugins.load(), reader, False)
    documents = chain.from_iterable(chosen.read(source, report) for source, _, chosen in given.sources)
    seen: set[str] = set()
    while some := list(islice(documents, ROWS)):
        docnos = [document.docno for document in some]
        twice = len(seen) + len(docnos) - len(seen | set(docnos))
        if twice:
            say(
                f"The docnos of {counted(twice, 'document')} of {file} came before; each document has a row of its own."
            )
        seen.update(docnos)
        yield docnos, side.vectors(side.inputs.texts([document.contents for document in some]))
    if report.problems:
        first = report.problems[0]
        say(f"{counted(len(report.problems), 'record')} of {file} left out as malformed, the first {first}.")


def _npz(stream: IO[bytes], vectors: Vectors) -> int:
    """Arrays in one archive, which have to be whole before they are written."""
    docnos: list[str] = []
    parts: list[Rows] = []
    for names, rows in vectors:
        docnos += names
        parts.append(rows)
    if not docnos:
        return 0
    rows = stacked(parts)
    sparse = ("data", "indices", "indptr", "shape") if hasattr(rows, "indptr") else ()
    arrays: dict[str, Any] = {name: np.asarray(getattr(rows, name)) for name in sparse} or {"rows": rows}
    longest = max(map(len, docnos))
    if 4 * longest * len(docnos) > MOST:
        raise InputError(f"Docnos of {longest:,} characters do not fit into an array of all; write .parquet.")
    np.savez(stream, docnos=np.array(docnos), **arrays)
    return len(docnos)


def _parquet(stream: IO[bytes], vectors: Vectors) -> int:
    """Rows as lists of numbers, written as they come."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    count, writer = 0, None
    for names, rows in vectors:
        dense = np.asarray(rows.todense() if hasattr(rows, "indptr") else rows).reshape(len(names), -1)
        values = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(dense.ravel()), dense.shape[1])
        table = pyarrow.table({"docno": pyarrow.array(names, pyarrow.string()), "row": values})
        writer = writer or pyarrow.parquet.ParquetWriter(stream, table.schema)
        writer.write_table(table)
        count += len(names)
    if writer:
        writer.close()
    return count
