"""Any collection that the package ir_datasets knows, as `irds:vaswani`.

Download, unpacking and parsing are that package's; here its documents are given a docno, a title and a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sublex.base import Document, Report, Source
from sublex.errors import InputError, MissingExtra
from sublex.readers.fields import TEXT_ALIASES, Names, document

PREFIX = "irds:"
ID = "doc_id"


class Irds:
    """Reads a dataset of ir_datasets."""

    def detect(self, path: str, head: bytes) -> bool:
        return path.startswith(PREFIX)

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        name = source.path.removeprefix(PREFIX)
        for number, record in enumerate(_records(name), start=1):
            try:
                yield document(_fields(record), report, Names(ids=(ID,)))
            except ValueError as error:
                report.malformed(source.path, number, str(error))


def _records(name: str) -> Iterator[Any]:
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtra(f"The reader irds ({PREFIX}{name})", "irds") from None
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise InputError(f"ir_datasets knows no dataset {name}: its catalogue is at https://ir-datasets.com.") from None
    if not dataset.has_docs():
        raise InputError(f"The dataset {name} of ir_datasets holds no documents: name the collection it belongs to.")
    try:
        yield from dataset.docs_iter()
    except Exception as error:  # a download, a licence to sign, a file in the wrong place: anything may come up
        # Of several arguments the first is the sentence; what caused it is for programmers.
        said = error.args[0] if len(error.args) > 1 and isinstance(error.args[0], str) else error
        reason = " ".join(str(said).partition(" (Caused by")[0].split())[:300].rstrip(".") or type(error).__name__
        raise InputError(f"ir_datasets cannot read {name}: {reason}.") from error


def _fields(record: Any) -> dict[str, Any]:
    """The record's fields without raw bytes; where none is known as text, its default text takes that place."""
    fields = {name: value for name, value in record._asdict().items() if not isinstance(value, bytes)}
    known = next((name for name in TEXT_ALIASES if name in record._fields), None)
    if known is not None and isinstance(getattr(record, known), str | None):
        return fields
    fields.pop(known, None)
    fields.pop("title", None)
    return fields | {"text": _default_text(record)}


def _default_text(record: Any) -> str:
    if hasattr(record, "default_text"):
        return record.default_text()
    return "\n".join(value for name, value in record._asdict().items() if name != ID and isinstance(value, str))
