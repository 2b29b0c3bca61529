"""Documents as vectors for use elsewhere: those of an index, or others, as NumPy's or Parquet's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from sublex import plugins
from sublex.base import Report
from sublex.errors import InputError, MissingExtra, counted
from sublex.fitted import Rows
from sublex.index.api import to_input
from sublex.index.index import Index
from sublex.represent.inputs import ROWS
from sublex.represent.rows import stacked
from sublex.represent.side import Side

FORMS = (".npz", ".parquet")
Vectors = Iterator[tuple[list[str], Rows]]
Say = Callable[[str], None]


def export(
    index: Index, side: Side, file: Path | None, output: Path, reader: str | None = None, say: Say = lambda text: None
) -> int:
    """Write vectors with their docnos; how many they are."""
    if output.suffix not in FORMS:
        raise InputError(f"{output} is neither {' nor '.join(FORMS)}; name the output so.")
    docnos: list[str] = []
    parts: list[Rows] = []
    for names, rows in _of_index(index, side) if file is None else _of_file(index, side, file, reader, say):
        docnos += names
        parts.append(rows)
    if not docnos:
        raise InputError(f"{file or index.path} holds no document to encode.")
    try:
        (_npz if output.suffix == ".npz" else _parquet)(output, docnos, stacked(parts))
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror or error}; choose another place.") from None
    return len(docnos)


def _of_index(index: Index, side: Side) -> Vectors:
    """The live documents of an index, some at a time: their docnos and their vectors."""
    for segment in index.segments:
        done = 0
        for inputs in side.inputs.blocks(segment):
            rows = side.vectors(inputs)
            live = np.flatnonzero(~segment.dead[done : done + rows.shape[0]])
            yield [segment.docno(done + doc) for doc in live.tolist()], rows[live]
            done += rows.shape[0]


def _of_file(index: Index, side: Side, file: Path, reader: str | None, say: Say) -> Vectors:
    """The documents of a file, analysed as those of the index."""
    report = Report()
    given = to_input(str(file), plugins.load(), reader, False)
    documents = chain.from_iterable(chosen.read(source, report) for source, _, chosen in given.sources)
    seen: set[str] = set()
    while some := list(islice(documents, ROWS)):
        docnos = [document.docno for document in some]
        twice = len(seen) + len(docnos) - len(seen | set(docnos))
        if twice:
            say(f"{counted(twice, 'document')} of {file} have docnos that came before; each has a row of its own.")
        seen.update(docnos)
        yield docnos, side.vectors(side.inputs.texts([document.contents for document in some]))
    if report.problems:
        first = report.problems[0]
        say(f"{counted(len(report.problems), 'record')} of {file} left out as malformed, the first {first}.")


def _npz(output: Path, docnos: list[str], rows: Rows) -> None:
    parts = (
        {name: getattr(rows, name) for name in ("data", "indices", "indptr", "shape")}
        if hasattr(rows, "indptr")
        else {"rows": rows}
    )
    arrays: dict[str, Any] = {name: np.asarray(part) for name, part in parts.items()}
    np.savez(output, docnos=np.array(docnos), **arrays)


def _parquet(output: Path, docnos: list[str], rows: Rows) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    dense = np.asarray(rows.todense() if hasattr(rows, "indptr") else rows)
    dense = dense.reshape(len(docnos), -1)
    values = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(dense.ravel()), dense.shape[1])
    pyarrow.parquet.write_table(pyarrow.table({"docno": docnos, "row": values}), output)
