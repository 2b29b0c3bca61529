"""Export documents and queries as vectors for other programs, in the formats `.npz` and `.parquet`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from sublex.building.document_source import source_of
from sublex.contracts.base import Query, Report
from sublex.contracts.fitted import Rows
from sublex.errors import InputError
from sublex.forms.frames import arrow
from sublex.index.snapshot import Snapshot
from sublex.representations.inputs import DOCUMENTS_PER_BLOCK
from sublex.representations.loaded import LoadedRepresentation
from sublex.representations.rows import stacked
from sublex.tools.files import replacing
from sublex.tools.messages import counted
from sublex.tools.outputs import expect_replaceable
from sublex.vectors.matrices import Matrices

FORMS = (".npz", ".parquet")
# The largest array of docnos in a `.npz` file, in bytes. NumPy gives every docno the room of the longest, with 4 bytes
# per character.
MAX_DOCNO_BYTES = 1 << 32
Vectors = Iterator[tuple[list[str], Rows]]
Say = Callable[[str], None]


def export(
    index: Snapshot,
    representation: LoadedRepresentation,
    file: Path | None,
    output: Path,
    reader: str | None = None,
    say: Say = lambda text: None,
    overwrite: bool = False,
) -> int:
    """Write the vectors of documents with their docnos, and return the number of documents.

    The documents are the live documents of the index, or the documents of `file`. `reader` names the reader of the
    file; by default the format is detected. An existing `output` is replaced only with `overwrite`, after everything
    has been written.
    """
    vectors = (
        vectors_of_index(index, representation) if file is None else _of_file(index, representation, file, reader, say)
    )
    names, none = representation.column_names, f"{file or index.path} holds no document to encode."
    return _write(output, vectors, names, none, overwrite)


def export_queries(
    representation: LoadedRepresentation, queries: Mapping[str, Query], output: Path, overwrite: bool = False
) -> int:
    """Write the vectors of queries with their ids in the form in which `export` writes documents. Return their number.

    Weights of terms that no document has are left out.
    """
    names = representation.column_names

    def vectors() -> Vectors:
        if queries:
            rows = representation.query_vectors(list(queries.values()))
            # The rows of documents may have further columns, which do not belong to terms; queries do not have these.
            yield list(queries), rows[:, : len(names)] if names else rows

    return _write(output, vectors(), names, "The topics hold no query to encode.", overwrite)


def _write(output: Path, vectors: Vectors, names: Sequence[str], none: str, overwrite: bool) -> int:
    """Write vectors in the form that the ending of the output names.

    `names` has the names of columns, or is empty. `none` is the message if there are no vectors.
    """
    if output.suffix not in FORMS:
        raise InputError(f"{output} is neither {' nor '.join(FORMS)}; give the output one of these endings.")
    expect_replaceable(output, overwrite)
    try:
        with replacing(output) as stream:
            count = (_write_npz if output.suffix == ".npz" else _write_parquet)(stream, vectors, names)
            if not count:
                raise InputError(none)
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror or error}; choose another place.") from None
    return count


def vectors_of_index(index: Snapshot, representation: LoadedRepresentation) -> Vectors:
    """Yield the docnos and vectors of the live documents of an index, a block at a time."""
    for segment in index.segments:
        done = 0
        for inputs in representation.inputs.blocks(segment):
            rows = representation.vectors(inputs)
            known = _known(rows, bool(representation.column_names)) & representation.has_vectors(inputs)
            live = np.flatnonzero(~segment.dead[done : done + rows.shape[0]] & known)
            yield [segment.docno(done + doc) for doc in live.tolist()], rows[live]
            done += rows.shape[0]


def _known(rows: Rows, has_names: bool) -> np.ndarray:
    """Return the mask of the documents that have something to write.

    A document may have no matrix or no weights of terms. `has_names` says that the rows are sparse and their columns
    have names.
    """
    sizes = rows.sizes if isinstance(rows, Matrices) else np.diff(rows.indptr) if has_names else np.ones(rows.shape[0])
    known: np.ndarray = sizes > 0
    return known


def _of_file(
    index: Snapshot, representation: LoadedRepresentation, file: Path, reader: str | None, say: Say
) -> Vectors:
    """Yield the docnos and vectors of the documents of a file, analysed like those of the index, a block at a time."""
    report = Report()
    chosen = source_of(str(file), index.registry, reader, False)
    documents = chain.from_iterable(source.documents(report) for source in chosen.sources)
    seen: set[str] = set()
    while block := list(islice(documents, DOCUMENTS_PER_BLOCK)):
        docnos = [document.docno for document in block]
        repeated = len(seen) + len(docnos) - len(seen | set(docnos))
        if repeated:
            say(f"The docnos of {counted(repeated, 'document')} of {file} came before; each document gets its own row.")
        seen.update(docnos)
        texts = [document.contents for document in block]
        yield docnos, representation.vectors(representation.inputs.of_texts(texts))
    if report.problems:
        first = report.problems[0]
        say(f"{counted(len(report.problems), 'record')} of {file} left out as malformed, the first {first}.")


def _write_npz(stream: IO[bytes], vectors: Vectors, names: Sequence[str]) -> int:
    """Write all vectors as arrays of one archive, and return the number of documents. `names` are those of columns.

    All vectors are in memory at the same time.
    """
    docnos: list[str] = []
    blocks: list[Rows] = []
    for block_docnos, rows in vectors:
        docnos += block_docnos
        blocks.append(rows)
    if not docnos:
        return 0
    rows = stacked(blocks)
    arrays = _arrays_of(rows)
    if names:
        arrays["terms"] = np.array(names)
    longest = max(map(len, docnos))
    if 4 * longest * len(docnos) > MAX_DOCNO_BYTES:
        raise InputError(f"Docnos of {longest:,} characters are too long for an array of all docnos; write .parquet.")
    np.savez(stream, docnos=np.array(docnos), **arrays)
    return len(docnos)


def _arrays_of(rows: Rows) -> dict[str, Any]:
    """Return the arrays of rows, by their names in a `.npz` file."""
    if isinstance(rows, Matrices):
        return {"rows": rows.data, "sizes": rows.sizes}
    sparse = ("data", "indices", "indptr", "shape") if hasattr(rows, "indptr") else ()
    return {name: np.asarray(getattr(rows, name)) for name in sparse} or {"rows": rows}


def _write_parquet(stream: IO[bytes], vectors: Vectors, names: Sequence[str]) -> int:
    """Write vectors a block at a time, and return the number of documents.

    If columns have names, vectors are maps, otherwise lists.
    """
    pyarrow = arrow()
    count, writer = 0, None
    for docnos, rows in vectors:
        column = {"vector": _maps(rows, names, pyarrow)} if names else {"row": _lists(rows, len(docnos), pyarrow)}
        table = pyarrow.table({"docno": pyarrow.array(docnos, pyarrow.string()), **column})
        writer = writer or pyarrow.parquet.ParquetWriter(stream, table.schema)
        writer.write_table(table)
        count += len(docnos)
    if writer:
        writer.close()
    return count


def _maps(rows: Rows, names: Sequence[str], pyarrow: Any) -> Any:
    """Return sparse rows as maps from names to numbers."""
    keys = pyarrow.array(names, pyarrow.string()).take(pyarrow.array(rows.indices))
    starts = pyarrow.array(rows.indptr, pyarrow.int32())
    return pyarrow.MapArray.from_arrays(starts, keys, pyarrow.array(rows.data))


def _lists(rows: Rows, docs: int, pyarrow: Any) -> Any:
    """Return rows as lists of numbers, and matrices as lists of lists of numbers."""
    matrices = rows if isinstance(rows, Matrices) else None
    dense = np.asarray(rows.todense() if hasattr(rows, "indptr") else rows if matrices is None else rows.data)
    dense = dense.reshape(docs if matrices is None else len(dense), -1)
    values = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(dense.ravel()), dense.shape[1])
    return values if matrices is None else pyarrow.LargeListArray.from_arrays(pyarrow.array(matrices.starts), values)
