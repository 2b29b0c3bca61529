"""Readers: turn the files of a collection into documents, one module for each format.

The package also finds the reader for a path. Commands and `sublex.build` pass paths to it. It reads the first bytes of
each file, and passes documents, or batches of documents, to the index builder. It does not analyse text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sublex.contracts.base import Document, Reader, Report
from sublex.contracts.hookspecs import Register, hookimpl
from sublex.errors import InputError
from sublex.language.parser import parse_call
from sublex.language.plugins import Registry
from sublex.readers.batch import with_sound_ids
from sublex.readers.fields import ELEMENTS, PARAMS
from sublex.readers.signatures import archive_format, signature
from sublex.readers.source import FileSource, files_below
from sublex.tools.messages import near_names

sublex_api = 3

# The module and the class of each built-in reader.
BUILT_IN = {
    "beir": "beir:Beir",
    "csv": "tsv:Csv",
    "irds": "irds:Irds",
    "json": "json_array:JsonArray",
    "jsonl": "jsonl:JsonLines",
    "reuters": "reuters:Reuters",
    "smart": "smart:Smart",
    "text": "text:Text",
    "trec": "trec:Trec",
    "trecweb": "trecweb:TrecWeb",
    "tsv": "tsv:Tsv",
    "warc": "warc:Warc",
}


# Readers of records with named fields.
NAMED_FIELDS = ("csv", "json", "jsonl", "tsv")
# Formats of files that are not part of a collection, and the names of their content in messages.
NO_COLLECTION = {"run": "a run", "qrels": "relevance judgements"}


@hookimpl
def register_readers(register: Register) -> None:
    """Register the built-in readers; a reader's module is imported when the reader is made."""
    params = {**dict.fromkeys(NAMED_FIELDS, PARAMS), "trec": ELEMENTS}
    for name, place in BUILT_IN.items():
        register(name, _factory(*place.split(":")), params.get(name, ()))


def _factory(module: str, class_name: str) -> Callable[[], Reader]:
    """Return a function that imports and makes a built-in reader."""

    def make(**params: str | None) -> Reader:
        from importlib import import_module

        return getattr(import_module(f"sublex.readers.{module}"), class_name)(**params)

    return make


class SourceReader(NamedTuple):
    """A source, the reader for it, and the name that the reader is registered under."""

    source: FileSource
    name: str
    reader: Reader

    def documents(self, report: Report) -> Iterator[Document]:
        """Yield the documents of the source. Malformed documents are reported and left out."""
        return with_sound_ids(self.reader.read(self.source, report), self.source.path, report)


def choose_readers(
    paths: Sequence[str | os.PathLike[str]], registry: Registry, name: str | None, report: Report
) -> list[SourceReader]:
    """Return the sources at the paths, each with its reader.

    `name` is the name of the reader. If it is None, the reader that detects the format of the source is used. If no
    reader reads a folder as one source, each file in the folder is a source. Raise InputError for a path without a
    source or without a reader.
    """
    if name is not None:
        name = str(registry.resolve("reader", parse_call(name)))
    chosen: list[SourceReader] = []
    for path in [os.fspath(path) for path in paths]:
        if path != "-" and ":" not in path and not os.path.exists(path):
            raise InputError(f"No file or folder {path or repr(path)}.")
        detected = detect_reader(FileSource(path), registry, name)
        if detected:
            chosen.append(detected)
        elif os.path.isdir(path):
            chosen += _readers_of_files(path, registry, name, report)
        elif not os.path.exists(path) and path != "-":
            raise InputError(f"No file or folder {path or repr(path)}.")
        elif os.path.isfile(path) and os.path.getsize(path) == 0:
            raise InputError(f"{path} is empty.")
        else:
            raise InputError(_unknown(path, registry))
    return chosen


def _unknown(path: str, registry: Registry) -> str:
    """Return the message for a file whose format no reader detects."""
    kind = signature(FileSource(path).head()) if os.path.isfile(path) else ""
    if kind in NO_COLLECTION:
        return f"{path} holds {NO_COLLECTION[kind]}, not documents; name the files of the collection."
    return f"No reader knows the format of {path}; name one by --reader: {_names(registry, path)}."


def _readers_of_files(folder: str, registry: Registry, name: str | None, report: Report) -> list[SourceReader]:
    """Return the files below a folder that have a reader. Leave out plain text if there are files of another format."""
    chosen = []
    for path in files_below(folder, report):
        detected = detect_reader(FileSource(path), registry, name)
        if detected:
            chosen.append(detected)
        else:
            report.note(f"{path} was left out: no reader knows its format")
    if any(each.name != "text" for each in chosen):
        for each in [each for each in chosen if each.name == "text"]:
            report.note(f"{each.source.path} was left out: it is plain text next to collection files")
            chosen.remove(each)
    if not chosen:
        raise InputError(
            f"{folder} holds no file whose format a reader knows; name one by --reader: {_names(registry, folder)}."
        )
    return chosen


def _names(registry: Registry, path: str) -> str:
    """Return the readers whose names are nearest to the ending of a path."""
    return near_names(os.path.splitext(path)[1].lstrip("."), registry.names("reader"))


def detect_reader(source: FileSource, registry: Registry, name: str | None) -> SourceReader | None:
    """Return the source with the reader called `name` or, by default, with the reader that detects the format.

    Return None if no reader fits the source. If no reader detects an archive as a whole, each of its members gets a
    reader.
    """
    readers = [(n, registry.make("reader", n)) for n in ([name] if name else registry.names("reader"))]
    # If the reader is named, do not read a pipe before its documents are wanted.
    head = b"" if name and not os.path.isfile(source.path) else source.head()
    claim = _claim(readers, source.path, head)
    if not claim and (kind := archive_format(source.path, head)):
        from sublex.readers.archive import Archive

        chosen = readers[0] if name else None
        return SourceReader(source, kind, Archive(lambda path, head: chosen or _claim(readers, path, head)))
    if name and (not os.path.isdir(source.path) or getattr(readers[0][1], "folders", False)):
        return SourceReader(source, *readers[0])
    return SourceReader(source, *claim) if claim else None


def _claim(readers: Sequence[tuple[str, Reader]], path: str, head: bytes) -> tuple[str, Reader] | None:
    """Return the name and the reader that detects the format of a file, or None if no reader detects the format.

    Raise InputError if several readers detect the format.
    """
    claims = [(name, reader) for name, reader in readers if reader.detect(path, head)]
    if len(claims) > 1:
        raise InputError(f"{path} could be {' or '.join(name for name, _ in claims)}; choose by --reader.")
    return claims[0] if claims else None
