"""Collections to documents: one file a format, and the choice among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sublex.base import Reader, Report
from sublex.errors import InputError
from sublex.hookspecs import Register, hookimpl
from sublex.parser import parse_call
from sublex.plugins import Registry
from sublex.readers.fields import PARAMS
from sublex.readers.source import FileSource, files_below

sublex_api = 2

BUILT_IN = {
    "beir": "beir:Beir",
    "csv": "tsv:Csv",
    "irds": "irds:Irds",
    "jsonl": "jsonl:JsonLines",
    "reuters": "reuters:Reuters",
    "smart": "smart:Smart",
    "text": "text:Text",
    "trec": "trec:Trec",
    "trecweb": "trecweb:TrecWeb",
    "tsv": "tsv:Tsv",
    "warc": "warc:Warc",
}


@hookimpl
def register_readers(register: Register) -> None:
    """The built-in readers, imported when they are asked for."""
    for name, place in BUILT_IN.items():
        register(name, _lazily(*place.split(":")), PARAMS if name in ("csv", "jsonl", "tsv") else ())


def _lazily(module: str, name: str) -> Callable[[], Reader]:
    def make(**names: str | None) -> Reader:
        from importlib import import_module

        return getattr(import_module(f"sublex.readers.{module}"), name)(**names)

    return make


class Chosen(NamedTuple):
    """A source and the reader that will read it."""

    source: FileSource
    name: str
    reader: Reader


def choose(
    paths: Sequence[str | os.PathLike[str]], registry: Registry, name: str | None, report: Report
) -> list[Chosen]:
    """The sources behind these paths, each with its reader: the named one, or the one that knows the format."""
    if name is not None:
        name = str(registry.resolve("reader", parse_call(name)))
    chosen: list[Chosen] = []
    for path in [os.fspath(path) for path in paths]:
        if path != "-" and ":" not in path and not os.path.exists(path):
            raise InputError(f"No file or folder {path or repr(path)}.")
        found = detect(FileSource(path), registry, name)
        if found:
            chosen.append(found)
        elif os.path.isdir(path):
            chosen += _inside(path, registry, name, report)
        elif not os.path.exists(path) and path != "-":
            raise InputError(f"No file or folder {path or repr(path)}.")
        elif os.path.isfile(path) and os.path.getsize(path) == 0:
            raise InputError(f"{path} is empty.")
        else:
            raise InputError(f"No reader knows the format of {path}; name one by --reader: {_names(registry)}.")
    return chosen


def _inside(folder: str, registry: Registry, name: str | None, report: Report) -> list[Chosen]:
    found = []
    for path in files_below(folder, report):
        chosen = detect(FileSource(path), registry, name)
        if chosen:
            found.append(chosen)
        else:
            report.note(f"{path} was left out: no reader knows its format")
    if any(chosen.name != "text" for chosen in found):
        for chosen in [chosen for chosen in found if chosen.name == "text"]:
            report.note(f"{chosen.source.path} was left out: it is plain text beside collection files")
            found.remove(chosen)
    if not found:
        raise InputError(
            f"{folder} holds no file whose format a reader knows; name one by --reader: {_names(registry)}."
        )
    return found


def _names(registry: Registry) -> str:
    return ", ".join(registry.names("reader"))


def detect(source: FileSource, registry: Registry, name: str | None) -> Chosen | None:
    """The source with the reader of this name, or with the one that knows its format, if there is one."""
    if name:
        reader = registry.make("reader", name)
        whole = not os.path.isdir(source.path) or getattr(reader, "folders", False)
        return Chosen(source, name, reader) if whole else None
    head = source.head()
    claims = [
        (n, r) for n in registry.names("reader") if (r := registry.build("reader", n, {})).detect(source.path, head)
    ]
    if len(claims) > 1:
        names = " or ".join(n for n, _ in claims)
        raise InputError(f"{source.path} could be {names}; choose by --reader.")
    return Chosen(source, *claims[0]) if claims else None
