"""The source of a build's documents: files with the readers for their formats, or documents in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import Document, Report
from sublex.errors import InputError
from sublex.forms.frames import frame_records, is_frame
from sublex.index.directory import Directory
from sublex.index.manifest import MANIFEST, SEGMENTS, SHARDS
from sublex.language import plugins
from sublex.readers import SourceReader, choose_readers
from sublex.readers.batch import MakeBatch, batches
from sublex.readers.fields import ALIASES, ID_ALIASES, TEXT_ALIASES, TITLE, FieldNames, id_value, to_document
from sublex.readers.source import files_below
from sublex.tools.arguments import shown, text
from sublex.tools.strings import id_fault

# One path or several paths: files, folders, `-` for standard input, or `irds:NAME`. Or the documents themselves:
# `Document`s, mappings with an id and a text, or a DataFrame.
Documents = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Iterable[Document | Mapping[str, Any]]

# The parts of a document that a user can name in `roles`.
ROLES = ("id", "text", "title")
# The pattern of a string that means a path rather than the text of a document: it is empty or `-`, or has a slash, an
# ending, or the name of a source before a colon.
_PATH = re.compile(r"^-?$|[/\\]|\.\w+$|^\w+:\S")
NAMES_OF_DOCUMENT = FieldNames(("docno",), ("text",))


class DocumentSource(NamedTuple):
    """The source of documents: files with their readers in `sources`, or documents in memory in `documents`.

    With `strict`, a malformed record raises an error. `report` has the problems and notes from the choice of readers.
    `names` are the fields of documents in memory that the user named; it is None if the user named none. With the
    `share` (k, n), the source has one of n shares of the documents: the batches k, k + n, k + 2n and so on.
    """

    sources: Sequence[SourceReader] = ()
    documents: Iterable[Document | Mapping[str, Any]] = ()
    strict: bool = False
    report: Report | None = None
    names: FieldNames | None = None
    share: tuple[int, int] = (0, 1)

    def batch_makers(self) -> Iterator[MakeBatch]:
        """Yield functions that each make one batch of documents, to be called in any thread."""
        place, number = self.share
        yield from islice(self._all_batch_makers(), place, None, number)

    def _all_batch_makers(self) -> Iterator[MakeBatch]:
        """Yield the functions for all batches, whatever the share."""
        report = Report(self.strict)
        for chosen in self.sources:
            if hasattr(chosen.reader, "batches"):
                yield from chosen.reader.batches(chosen.source, report)
            else:
                yield from batches(chosen.documents(report), report)
        if not self.sources:
            yield from batches(_checked_documents(self.documents, self.names, report), report)

    def identity(self) -> list[Any] | None:
        """Return the names, sizes and modification times of all files; None if the source cannot be read a second time.

        An interrupted build can be resumed only if this value is still the same.
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


def source_of(
    documents: Documents,
    registry: plugins.Registry,
    reader: str | None,
    strict: bool,
    roles: Mapping[str, str] | None = None,
) -> DocumentSource:
    """Return the source for the paths or documents that a user gives.

    `reader` is an expression that names the reader; without it, the format of each file is detected. `roles` maps "id", "text"
    and "title" to the names of fields, for documents in memory. With `strict` the first malformed record raises
    `InputError`.
    """
    if isinstance(documents, (str, os.PathLike)):
        documents = [documents]
    if isinstance(documents, Sequence) and documents and all(isinstance(d, (str, os.PathLike)) for d in documents):
        if roles is not None:
            raise InputError(
                "roles= names the fields of documents that Python code gives; for files, name the fields in the reader, "
                "as in reader='jsonl(id=paper_id, text=abstract)'."
            )
        _refuse_indexes(documents)
        _refuse_texts(documents)
        report = Report(strict)
        return DocumentSource(choose_readers(documents, registry, reader, report), strict=strict, report=report)  # type: ignore[arg-type]
    if isinstance(documents, (Mapping, Document)) or not isinstance(documents, Iterable):
        raise InputError(f"The documents are {shown(documents)}; give a path, a DataFrame, or a list of documents.")
    if reader is not None:
        raise InputError(
            f"reader={reader!r} names the format of files, and Python code gives these documents; leave it out, and name "
            "their fields by roles={'id': …, 'text': …, 'title': …}."
        )
    if is_frame(documents) and isinstance(roles, Mapping):
        known = list(documents.columns)  # type: ignore[union-attr]
        # A DataFrame may have numbers as names of columns. In records the names are texts.
        roles = {role: str(name) if name in known else name for role, name in roles.items()}
    names = _names(roles)
    if is_frame(documents):
        documents = _rows(documents, roles or {}, names or ALIASES)
    return DocumentSource((), documents, strict, names=names)  # type: ignore[arg-type]


def _rows(frame: Any, roles: Mapping[str, str], names: FieldNames) -> Iterator[dict[str, Any]]:
    """Return the rows of a DataFrame as records.

    Raise InputError if it lacks the id, the text, or a column in `roles`.
    """
    there = list(map(str, frame.columns))
    if missing := [name for name in roles.values() if name not in there]:
        raise InputError(f"The DataFrame has no column {missing[0]}; it has {', '.join(there)}.")
    wanted = {"id": names.ids, "text": (*names.texts, names.title)}
    if lacking := [role for role, known in wanted.items() if not set(known) & set(there)]:
        # Columns such as ID or Text have a known name in another case.
        likely = {role: next((name for name in there if name.lower() in wanted[role]), "…") for role in lacking}
        own = getattr(getattr(frame, "index", None), "name", None)
        reset = f" {own} is its index; df.reset_index() makes it a column." if own else ""
        raise InputError(
            f"The DataFrame has the columns {', '.join(there)}, and none for the {lacking[0]}; name it, as in "
            f"roles={likely}.{reset}"
        )
    return frame_records(frame)


def _names(roles: Mapping[str, str] | None) -> FieldNames | None:
    """Return the names of fields that a user gives. Raise InputError for a value that is not the name of a field."""
    if roles is None:
        return None
    if not isinstance(roles, Mapping):
        raise InputError(f"The roles are {shown(roles)}; give a dictionary such as {{'id': 'paper_id'}}.")
    if unknown := [role for role in roles if role not in ROLES]:
        meant = next((role for role, names in (("id", ID_ALIASES), ("text", TEXT_ALIASES)) if unknown[0] in names), "")
        raise InputError(
            f"roles= names {shown(unknown[0])}, and a document has only {', '.join(ROLES)}; "
            f"{f'write {meant}' if meant else 'leave it out'}."
        )
    names = {role: text(name, f"The role {role}") for role, name in roles.items()}
    return FieldNames.of(names.get("id"), names.get("text"))._replace(title=names.get("title", TITLE))


def _refuse_indexes(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError if one of the paths is an index of Sublex, whose files no reader understands."""
    for path in paths:
        folder = Directory(Path(path))
        if os.path.isdir(path) and folder.has(MANIFEST) and (folder.has(SEGMENTS) or folder.has(SHARDS)):
            raise InputError(f"{path} is an index of Sublex and no collection; name the files of the collection.")


def _refuse_texts(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Raise InputError if none of the paths exists and all look like texts. A text alone is not a document."""
    # A single word is more likely a mistyped path than a text.
    several = len(paths) > 1 or " " in os.fspath(paths[0])
    if several and not any(os.path.exists(path) or _PATH.search(os.fspath(path)) for path in paths):
        document = {"id": "1", "text": str(paths[0])}
        raise InputError(f"No file or folder {paths[0]}; to index texts, give documents, as in [{document}].")


def _checked_documents(
    documents: Iterable[Document | Mapping[str, Any]], names: FieldNames | None, report: Report
) -> Iterator[Document]:
    """Yield the items as documents; an item that is a mapping becomes a document.

    A malformed item, such as a document whose text is a number, is left out and reported. Raise `InputError` for a malformed
    item if the report is strict, for an item of any other type, and for a `Document` if the user gave `names`.
    """
    known = names or ALIASES
    for number, item in enumerate(documents, 1):
        try:
            if isinstance(item, Document):
                if names:
                    raise InputError(
                        f"Document {number} is a sublex.Document, in which roles= has no meaning; leave it out."
                    )
                yield _with_sound_id(_checked(item))
            elif isinstance(item, Mapping):
                document = to_document({name: _plain(name, item[name], known) for name in item}, report, known)
                if len(texts := [name for name in known.texts if name in item]) > 1:
                    report.note(
                        f"The text is the field {texts[0]}, not {' or '.join(texts[1:])}; choose by roles={{'text': …}}"
                    )
                yield _with_sound_id(document)
            else:
                raise InputError(
                    f"Document {number} cannot be indexed: it is neither a Document nor a mapping with an id and a text."
                )
        except ValueError as error:
            if report.strict:
                raise InputError(f"Document {number} cannot be indexed: {error}.") from None
            report.malformed("documents", number, str(error))


def _plain(name: str, value: Any, names: FieldNames) -> Any:
    """Return the value of a field as a Python value. A missing value is empty: "" for id, text and title, otherwise None."""
    if _is_missing(value):
        return "" if name in names.all else None
    is_time = isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "mM"
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) and not is_time else value


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or a mark of pandas for a missing value."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        # Such a comparison is neither true nor false for pandas.NA, and is an array for arrays.
        return type(value).__name__ == "NAType"


def _checked(item: Document) -> Document:
    """Return a document whose docno, text and title are texts; raise `ValueError` if a value is of a wrong type."""
    values = {name: _plain(name, getattr(item, name), NAMES_OF_DOCUMENT) for name in ("docno", "text", "title")}
    values["docno"] = id_value(values["docno"])
    for name, value in values.items():
        if not isinstance(value, str):
            raise ValueError(f"its {name} is of type {type(value).__name__}, not a string")
    if not values["docno"]:
        raise ValueError("its docno is empty")
    if not isinstance(item.fields, Mapping):
        raise ValueError(f"its fields are of type {type(item.fields).__name__}, not a mapping")
    return item._replace(**values)


def _with_sound_id(document: Document) -> Document:
    """Return the document unchanged. Raise `ValueError` if its docno cannot be the id of a document."""
    if fault := id_fault(document.docno):
        raise ValueError(f"its docno {document.docno!r} {fault}")
    return document


def _files(path: str) -> list[str]:
    return list(files_below(path)) if os.path.isdir(path) else [path]


def _size_and_time(path: str) -> list[int]:
    if not os.path.exists(path):
        return []
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]
