"""Building and adding as people call it: paths or documents, names and sizes as text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sublex import plugins
from sublex.base import Analyzer, Document, Report
from sublex.errors import InputError
from sublex.index.build import Progress, Settings
from sublex.index.manifest import Manifest
from sublex.index.outcome import Outcome
from sublex.index.writer import PARTS, BeforeCommit, Input, do_nothing
from sublex.parser import parse_call
from sublex.profiles import profile as find_profile
from sublex.readers import choose_readers
from sublex.readers.fields import to_document

_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)i?B?\s*", re.IGNORECASE)
LEAST_MEMORY = 16 << 20
Documents = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Iterable[Document | Mapping[str, Any]]


def create(
    path: str | os.PathLike[str],
    documents: Documents,
    *,
    profile: str = "sublex",
    analyzer: str | None = None,
    reader: str | None = None,
    store: str | Iterable[str] = PARTS,
    workers: int | None = None,
    memory: str | int = "1GB",
    overwrite: bool = False,
    resume: bool = False,
    strict: bool = False,
    progress: Progress = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Build an index of collection files, or of documents."""
    from sublex.index import writer

    writer.replaceable(Path(path), overwrite)
    registry = plugins.load()
    chosen = find_profile(profile).analyzer
    spec = chosen if analyzer is None else analyzer
    made = registry.make("analyzer", spec)
    settings = _settings(made, _parts(store), workers, memory, "first")
    given = to_input(documents, registry, reader, strict)
    _announce(given, say)
    described = _describe(made, spec, registry)
    return writer.create(Path(path), given, settings, described, profile, progress, overwrite, resume)


def add(
    path: str | os.PathLike[str],
    documents: Documents,
    *,
    duplicates: str = "error",
    reader: str | None = None,
    workers: int | None = None,
    memory: str | int = "1GB",
    strict: bool = False,
    progress: Progress = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
    before_commit: BeforeCommit = do_nothing,
) -> Outcome:
    """Add collection files, or documents, to an index; `before_commit` is called before they are committed."""
    from sublex.index import writer

    if duplicates not in ("error", "first", "last"):
        raise InputError(f"duplicates={duplicates} is none of error, first, last.")
    registry = plugins.load()
    given = to_input(documents, registry, reader, strict)
    _announce(given, say)

    def settings(manifest: Manifest) -> Settings:
        stored = manifest["analyzer"]["settings"]
        made = registry.build("analyzer", stored["name"], stored["params"])
        return _settings(made, frozenset(manifest["store"]), workers, memory, duplicates)

    return writer.add(Path(path), given, settings, progress, before_commit)


def _announce(given: Input, say: Callable[[str], None]) -> None:
    for name, group in groupby(given.sources, lambda chosen: chosen.name):
        paths = [chosen.source.path for chosen in group]
        say(f"Reading {paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''} as {name}.")


def _describe(made: Any, spec: str, registry: plugins.Registry) -> Manifest:
    """What the manifest must say for the analyzer to be made again, and which versions made it."""
    call = parse_call(spec)
    plugin = next(p for p in registry.plugins if p.name == registry.find("analyzer", call.name).plugin)
    settings = made.settings() if hasattr(made, "settings") else {"name": call.name, "params": call.params}
    return {
        "settings": settings,
        "versions": made.versions() if hasattr(made, "versions") else {plugin.distribution: plugin.version},
    }


def _settings(
    made: Analyzer, store: frozenset[str], workers: int | None, memory: str | int, duplicates: str
) -> Settings:
    return Settings(made, store, max(1, workers or os.cpu_count() or 1), size_of(memory), duplicates)


def size_of(text: str | int) -> int:
    """Bytes, from a number or a text such as 256MB."""
    match = _SIZE.fullmatch(str(text))
    if not match:
        raise InputError(f"{text} is not a size; write for example 512MB or 2GB.")
    size = int(float(match[1]) * (1 << (10 * " KMGT".index(match[2].upper() or " "))))
    if size < LEAST_MEMORY:
        raise InputError(f"{text} of memory is too little; give at least {LEAST_MEMORY >> 20}MB.")
    return size


def _parts(store: str | Iterable[str]) -> frozenset[str]:
    names = [name.strip() for name in store.split(",")] if isinstance(store, str) else list(store)
    parts = frozenset(names) - {"none", ""}
    if parts - set(PARTS):
        raise InputError(
            f"Cannot store {', '.join(sorted(parts - set(PARTS)))}; there are {', '.join(PARTS)}, or none."
        )
    return parts


def to_input(documents: Documents, registry: plugins.Registry, reader: str | None, strict: bool) -> Input:
    """Paths become sources with their readers; anything else is taken as documents."""
    if isinstance(documents, (str, os.PathLike)):
        documents = [documents]
    if isinstance(documents, Sequence) and documents and all(isinstance(d, (str, os.PathLike)) for d in documents):
        notes = Report(strict)
        return Input(choose_readers(documents, registry, reader, notes), (), strict, notes)  # type: ignore[arg-type]
    return Input((), _documents(documents), strict)  # type: ignore[arg-type]


def _documents(given: Iterable[Document | Mapping[str, Any]]) -> Iterator[Document]:
    report = Report()
    for number, item in enumerate(given, 1):
        try:
            if isinstance(item, Document):
                yield _checked(item)
            elif isinstance(item, Mapping):
                yield to_document(item, report)
            else:
                raise ValueError("it is neither a Document nor a mapping with an id and a text")
        except ValueError as error:
            raise InputError(f"Document {number} cannot be indexed: {error}.") from None


def _checked(given: Document) -> Document:
    """The document, if it holds what it should."""
    for name in ("docno", "text", "title"):
        if not isinstance(getattr(given, name), str):
            raise ValueError(f"its {name} is of type {type(getattr(given, name)).__name__}, not a string")
    if not isinstance(given.fields, Mapping):
        raise ValueError(f"its fields are of type {type(given.fields).__name__}, not a mapping")
    return given
