"""Read the documents of a dataset of the package ir_datasets.

Its path is a name such as `irds:vaswani`.

ir_datasets downloads, unpacks and parses the dataset. This module turns its records into documents; `sublex.trec.irds` reads
its topics and judgements.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sublex.contracts.base import Document, Report, Source
from sublex.errors import InputError, MissingExtra
from sublex.readers.fields import TEXT_ALIASES, FieldNames, to_document

PREFIX = "irds:"
ID = "doc_id"


def source_name(path: str) -> str:
    """Return the name of a file without its folders. The name of a dataset, such as `irds:beir/scifact`, stays whole."""
    return path if path.startswith(PREFIX) else Path(path).name


class Irds:
    """The reader `irds`: a dataset of ir_datasets."""

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the path names a dataset."""
        return path.startswith(PREFIX)

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of the dataset."""
        name = source.path.removeprefix(PREFIX)
        for number, record in enumerate(_records(name), start=1):
            try:
                yield to_document(_fields(record), report, FieldNames(ids=(ID,)))
            except ValueError as error:
                report.malformed(source.path, number, str(error))


def _records(name: str) -> Iterator[Any]:
    """Yield the documents of a dataset as ir_datasets has them."""
    dataset = load(name, f"The reader irds ({PREFIX}{name})")
    if not dataset.has_docs():
        raise InputError(f"The dataset {name} of ir_datasets holds no documents: name the collection it belongs to.")
    yield from iterated(name, dataset.docs_iter)


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def load(name: str, what: str) -> Any:
    """Return a dataset of ir_datasets.

    If the package is not installed, the error message says that `what` needs it.
    """
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtra(what, "irds") from None
    # ir_datasets logs each of its steps. The user sees only the warnings.
    logging.getLogger("ir_datasets").addFilter(_is_warning)
    try:
        return ir_datasets.load(name)
    except KeyError:
        if not name:
            raise InputError("irds: names no dataset; write one after it, as in irds:cranfield.") from None
        raise InputError(f"ir_datasets knows no dataset {name}: its catalogue is at https://ir-datasets.com.") from None


def iterated(name: str, records: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Yield the records of a dataset. Any error in ir_datasets becomes an InputError of one sentence."""
    try:
        yield from records()
    except Exception as error:
        # ir_datasets raises errors of any type: a failed download, a licence to sign, a file in the wrong place. If an
        # error has several arguments, the first is the sentence for users.
        sentence = error.args[0] if len(error.args) > 1 and isinstance(error.args[0], str) else error
        reason = " ".join(str(sentence).partition(" (Caused by")[0].split())[:300].rstrip(".") or type(error).__name__
        raise InputError(f"ir_datasets cannot read {name}: {reason}.") from error


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields of a record, except for fields that are bytes.

    If no field with a known name has the text as a string, the record's default text is used. The title is then
    dropped, because the default text contains it.
    """
    fields = {name: value for name, value in record._asdict().items() if not isinstance(value, bytes)}
    known = next((name for name in TEXT_ALIASES if name in record._fields), None)
    if known is not None and isinstance(getattr(record, known), str | None):
        return fields
    fields.pop(known, None)
    fields.pop("title", None)
    return fields | {"text": _default_text(record)}


def _default_text(record: Any) -> str:
    """Return the default text of a record. If there is none, return all string fields except the id."""
    if hasattr(record, "default_text"):
        return record.default_text()
    return "\n".join(value for name, value in record._asdict().items() if name != ID and isinstance(value, str))
