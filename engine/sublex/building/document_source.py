"""The source of a build's documents: files with the readers for their formats, or documents in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from sublex.contracts.base import Document, Report
from sublex.errors import InputError
from sublex.forms.frames import frame_records, is_frame
from sublex.index.directory import Directory
from sublex.index.manifest import MANIFEST, SEGMENTS
from sublex.language import plugins
from sublex.readers import SourceReader, choose_readers
from sublex.readers.batch import MakeBatch, batches
from sublex.readers.fields import to_document
from sublex.readers.source import files_below
from sublex.tools.arguments import shown
from sublex.tools.strings import NUL_FAULT

# One path or several paths: files, folders, `-` for standard input, or `irds:NAME`. Or the documents themselves:
# `Document`s, mappings with an id and a text, or a DataFrame.
Documents = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Iterable[Document | Mapping[str, Any]]


class DocumentSource(NamedTuple):
    """The source of documents: files with their readers in `sources`, or documents in `documents`.

    With `strict`, a malformed record raises an error. `report` has the problems and notes from the choice of readers.
    """

    sources: Sequence[SourceReader] = ()
    documents: Iterable[Document] = ()
    strict: bool = False
    report: Report | None = None

    def batch_makers(self) -> Iterator[MakeBatch]:
        """Yield functions that each make one batch of documents, to be called in any thread."""
        report = Report(self.strict)
        for chosen in self.sources:
            if hasattr(chosen.reader, "batches"):
                yield from chosen.reader.batches(chosen.source, report)
            else:
                yield from batches(chosen.documents(report), report)
        if not self.sources:
            yield from batches(self.documents, report)

    def identity(self) -> list[Any] | None:
        """Return the names, sizes and times of change of all files; None if the source cannot be read a second time.

        An interrupted build can be resumed only if this value has not changed.
        """
        if not self.sources or any(chosen.source.path == "-" for chosen in self.sources):
            return None
        return [
            [chosen.name, path, *_size_and_time(path)] for chosen in self.sources for path in _files(chosen.source.path)
        ]

    def announce(self, say: Callable[[str], None]) -> None:
        """Say which files are read by which reader."""
        for name, group in groupby(self.sources, lambda chosen: chosen.name):
            paths = [chosen.source.path for chosen in group]
            say(f"Reading {paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''} as {name}.")


def source_of(documents: Documents, registry: plugins.Registry, reader: str | None, strict: bool) -> DocumentSource:
    """Return the source for the paths or documents that a user gives.

    `reader` is an expression that names the reader; without it each file's format is detected. With `strict` the first
    malformed record raises `InputError`.
    """
    if isinstance(documents, (str, os.PathLike)):
        documents = [documents]
    if isinstance(documents, Sequence) and documents and all(isinstance(d, (str, os.PathLike)) for d in documents):
        _refuse_indexes(documents)
        report = Report(strict)
        return DocumentSource(choose_readers(documents, registry, reader, report), (), strict, report)  # type: ignore[arg-type]
    if is_frame(documents):
        documents = frame_records(documents)
    if isinstance(documents, (Mapping, Document)) or not isinstance(documents, Iterable):
        raise InputError(f"The documents are {shown(documents)}; give a path, a DataFrame, or a list of documents.")
    return DocumentSource((), _checked_documents(documents), strict)  # type: ignore[arg-type]


def _refuse_indexes(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError if one of the paths is an index of Sublex, whose files no reader understands."""
    for path in paths:
        if os.path.isdir(path) and all(Directory(Path(path)).has(name) for name in (MANIFEST, SEGMENTS)):
            raise InputError(f"{path} is an index of Sublex and no collection; name the files of the collection.")


def _checked_documents(documents: Iterable[Document | Mapping[str, Any]]) -> Iterator[Document]:
    """Yield the items as documents; an item that is a mapping becomes a document.

    Raise `InputError` for an item that cannot be indexed, such as a number or a document whose text is not a string.
    """
    report = Report()
    for number, item in enumerate(documents, 1):
        try:
            if isinstance(item, Document):
                _check(item)
                yield item
            elif isinstance(item, Mapping):
                yield to_document(item, report)
            else:
                raise ValueError("it is neither a Document nor a mapping with an id and a text")
        except ValueError as error:
            raise InputError(f"Document {number} cannot be indexed: {error}.") from None


def _check(item: Document) -> None:
    """Raise `ValueError` if a document's docno, text, title or fields are of a wrong type."""
    for name in ("docno", "text", "title"):
        if not isinstance(getattr(item, name), str):
            raise ValueError(f"its {name} is of type {type(getattr(item, name)).__name__}, not a string")
    if "\0" in item.docno:
        raise ValueError(f"its docno {item.docno!r} {NUL_FAULT}")
    if not isinstance(item.fields, Mapping):
        raise ValueError(f"its fields are of type {type(item.fields).__name__}, not a mapping")


def _files(path: str) -> list[str]:
    return list(files_below(path)) if os.path.isdir(path) else [path]


def _size_and_time(path: str) -> list[int]:
    if not os.path.exists(path):
        return []
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]
