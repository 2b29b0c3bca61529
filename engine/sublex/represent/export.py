"""Rows for use elsewhere: those of an index, or of other documents, as NumPy's or Parquet's files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sublex import plugins
from sublex.errors import InputError, MissingExtra, contract
from sublex.fitted import Rows
from sublex.index.api import to_input
from sublex.index.index import Index
from sublex.represent.inputs import ROWS, Vocabulary
from sublex.represent.rows import checked, stacked
from sublex.represent.side import Side

FORMS = (".npz", ".parquet")


def export(index: Index, side: Side, file: Path | None, output: Path) -> int:
    """Write rows with their docnos; how many they are."""
    if output.suffix not in FORMS:
        raise InputError(f"{output} is neither {' nor '.join(FORMS)}; name the output so.")
    if file is None:
        docs = index.corpus.docs
        docnos, rows = [index.docno(doc) for doc in docs.tolist()], side.view.rows(docs)
    else:
        docnos, rows = _encoded(index, side, file)
    try:
        (_npz if output.suffix == ".npz" else _parquet)(output, docnos, rows)
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror or error}; choose another place.") from None
    return len(docnos)


def _encoded(index: Index, side: Side, file: Path) -> tuple[list[str], Rows]:
    """The documents of a file, analysed as those of the index."""
    documents = _documents(file)
    docnos, parts = [], []
    while some := list(islice(documents, ROWS)):
        docnos += [document.docno for document in some]
        counted = [index.analyze(document.contents) for document in some]
        with contract("representation", side.name):
            parts.append(checked(side.model.encode_documents(_counts(side.vocabulary, counted)), len(some), side.name))
    if not parts:
        raise InputError(f"{file} holds no document to encode.")
    return docnos, stacked(parts)


def _documents(file: Path) -> Iterator[Any]:
    from sublex.base import Report

    report = Report()
    for source, _, reader in to_input(str(file), plugins.load(), None, False).sources:
        yield from reader.read(source, report)


def _counts(vocabulary: Vocabulary, texts: list[list[str]]) -> Any:
    from scipy.sparse import csr_array, vstack

    rows = []
    for terms in texts:
        weights: dict[str, float] = {}
        for term in terms:
            weights[term] = weights.get(term, 0.0) + 1.0
        rows.append(vocabulary.query(weights))
    return csr_array(vstack(rows))


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
