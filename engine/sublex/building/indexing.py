"""Building an index and adding documents to it, with options as users give them: names, and sizes as text.

This module checks the options and turns them into objects. `sublex.building.writer` does the work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sublex.building import writer
from sublex.building.build_settings import BuildSettings
from sublex.building.build_summary import BuildSummary
from sublex.building.columns import columns_of
from sublex.building.document_source import Documents, source_of
from sublex.building.duplicates import RULES
from sublex.building.segment_builder import Progress
from sublex.building.writer import DEFAULT_PARTS, STORED_PARTS, BeforeCommit
from sublex.contracts.base import Analyzer
from sublex.contracts.fields import field_names
from sublex.errors import InputError
from sublex.index.entries import AnalyzerEntry, AnalyzerSettings, Manifest
from sublex.index.manifest import analyzer_of
from sublex.language import plugins
from sublex.language.parser import parse_call
from sublex.language.profiles import profile as find_profile
from sublex.tools.arguments import shown

_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([KMGT]?)i?B?\s*", re.IGNORECASE)
# The least memory of a build, in bytes. With less, a build would write too many spills.
LEAST_MEMORY = 16 << 20


def build_index(
    path: str | os.PathLike[str],
    documents: Documents,
    *,
    profile: str = "sublex",
    analyzer: str | None = None,
    reader: str | None = None,
    roles: Mapping[str, str] | None = None,
    columns: str | Mapping[str, str] | Iterable[str] = (),
    store: str | Iterable[str] = DEFAULT_PARTS,
    fields: str | Iterable[str] = (),
    workers: int | None = None,
    memory: str | int = "1GB",
    overwrite: bool = False,
    resume: bool = False,
    strict: bool = False,
    reorder: bool = False,
    progress: Progress = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
    registry: plugins.Registry | None = None,
    share: tuple[int, int] = (0, 1),
) -> BuildSummary:
    """Build an index at `path` and return the summary of the build.

    The arguments are those of `sublex.build`; `registry` has the plugins, and by default the installed ones are loaded.
    With the `share` (k, n), only one of n shares of the documents is indexed, as `DocumentSource` describes.
    """
    writer.existing_index(Path(path), overwrite)
    registry = registry or plugins.load()
    chosen, described = chosen_analyzer(analyzer, profile, registry)
    settings = _settings(chosen, store, workers, memory, columns, fields)
    source = source_of(documents, registry, reader, strict, roles)._replace(share=share)
    source.announce(say)
    return writer.create(Path(path), source, settings, described, profile, progress, overwrite, resume, reorder)


def _settings(
    analyzer: Analyzer,
    store: str | Iterable[str],
    workers: int | None,
    memory: str | int,
    columns: str | Mapping[str, str] | Iterable[str],
    fields: str | Iterable[str],
) -> BuildSettings:
    """Return the settings of a build, with the options of `sublex.build` checked. Of documents with one docno, the first stays."""
    parts, threads, size = stored_parts(store), _threads(workers), parse_size(memory)
    return BuildSettings(analyzer, parts, threads, size, "first", columns_of(columns), field_names(fields))


def build_cluster(
    path: str | os.PathLike[str],
    documents: Documents,
    shards: int,
    *,
    profile: str = "sublex",
    analyzer: str | None = None,
    reader: str | None = None,
    roles: Mapping[str, str] | None = None,
    columns: str | Mapping[str, str] | Iterable[str] = (),
    store: str | Iterable[str] = DEFAULT_PARTS,
    fields: str | Iterable[str] = (),
    workers: int | None = None,
    memory: str | int = "1GB",
    overwrite: bool = False,
    resume: bool = False,
    strict: bool = False,
    progress: Progress = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
    registry: plugins.Registry | None = None,
) -> BuildSummary:
    """Build a cluster of `shards` shards at `path`, and return the summary of the build.

    The arguments are those of `sublex.build_cluster`; `registry` has the plugins.
    """
    from sublex.building import clusters

    writer.existing_index(Path(path), overwrite)
    registry = registry or plugins.load()
    chosen, described = chosen_analyzer(analyzer, profile, registry)
    settings = _settings(chosen, store, workers, memory, columns, fields)
    source = source_of(documents, registry, reader, strict, roles)
    source.announce(say)
    paths = [each.source.path for each in source.sources]
    options = clusters.PartOptions(
        paths, reader, profile, analyzer, dict(settings.columns), sorted(settings.store), list(settings.fields),
        max(LEAST_MEMORY, settings.memory // max(1, shards)), strict,
    )  # fmt: skip
    return clusters.build_cluster(
        Path(path),
        source,
        options if paths else None,
        shards,
        settings,
        described,
        profile,
        progress,
        overwrite,
        resume,
    )


def add_documents(
    path: str | os.PathLike[str],
    documents: Documents,
    *,
    duplicates: str = "error",
    reader: str | None = None,
    roles: Mapping[str, str] | None = None,
    workers: int | None = None,
    memory: str | int = "1GB",
    strict: bool = False,
    progress: Progress = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
    before_commit: BeforeCommit | None = None,
    registry: plugins.Registry | None = None,
    shard: str | None = None,
) -> BuildSummary:
    """Add documents to the index at `path` and return the summary of the addition.

    Most arguments are those of `Index.add`. `before_commit` is called before a segment is committed, as
    `writer.BeforeCommit` describes. `registry` has the plugins, by default the installed ones. `shard` is the shard of a
    cluster that gets the documents, by default the one with the fewest documents.
    """
    if duplicates not in RULES:
        raise InputError(f"There is no rule {duplicates} for duplicates; choose one of {', '.join(RULES)}.")
    registry = registry or plugins.load()
    source = source_of(documents, registry, reader, strict, roles)
    source.announce(say)

    def settings(manifest: Manifest) -> BuildSettings:
        analyzer, store = analyzer_of(manifest, registry), frozenset(manifest.store)
        size = parse_size(memory)
        return BuildSettings(analyzer, store, _threads(workers), size, duplicates, manifest.columns, manifest.fields)

    return writer.add(Path(path), source, settings, progress, before_commit, shard)


def chosen_analyzer(expression: str | None, profile: str, registry: plugins.Registry) -> tuple[Analyzer, AnalyzerEntry]:
    """Return the analyzer that `expression` names, by default the profile's, and its entry in the manifest.

    The entry has the settings from which the analyzer is made again, and the versions of its libraries.
    """
    default = find_profile(profile).analyzer
    text = default if expression is None else expression
    analyzer: Any = registry.make("analyzer", text)
    call = parse_call(text, unnamed=True)
    found = registry.find("analyzer", call.name)
    plugin = registry.plugin(found.plugin)
    # The index stores a name in the case in which the plugin registered it, even if the user wrote another case.
    name = found.name if call.name.casefold() == found.name.casefold() else call.name
    settings: dict[str, Any] = {"name": name, "params": registry.by_name("analyzer", call)}
    if hasattr(analyzer, "settings"):
        settings = analyzer.settings()
    versions = analyzer.versions() if hasattr(analyzer, "versions") else {plugin.distribution: plugin.version}
    return analyzer, AnalyzerEntry(AnalyzerSettings(settings["name"], settings["params"]), versions)


def _threads(workers: int | None) -> int:
    return max(1, workers or os.cpu_count() or 1)


def parse_size(text: str | int) -> int:
    """Return the bytes that a number or a text such as "256MB" means. Raise `InputError` below `LEAST_MEMORY`."""
    match = _SIZE.fullmatch(str(text))
    if not match:
        raise InputError(f"{text} is not a size; write for example 512MB or 2GB.")
    size = int(float(match[1]) * (1 << (10 * " KMGT".index(match[2].upper() or " "))))
    if size < LEAST_MEMORY:
        raise InputError(f"{text} of memory is too little; give at least {LEAST_MEMORY >> 20}MB.")
    return size


def stored_parts(store: str | Iterable[str]) -> frozenset[str]:
    """Return the names of the optional parts that `store` lists, in a text such as "text,terms" or in an iterable.

    Raise `InputError` for an unknown name.
    """
    if not isinstance(store, Iterable):
        raise InputError(
            f"The parts to store are {shown(store)}; give text, terms, positions, several of them or none."
        )
    names = [name.strip() for name in store.split(",")] if isinstance(store, str) else list(store)
    parts = frozenset(names) - {"none", ""}
    unknown = sorted(parts - set(STORED_PARTS))
    if unknown:
        raise InputError(f"Cannot store {', '.join(unknown)}; there are {', '.join(STORED_PARTS)}, or none.")
    return parts
