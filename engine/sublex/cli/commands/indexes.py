"""The command that lists indexes: indexes."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from sublex.cli.options import examples, format_option
from sublex.cli.output import print_json, print_table, say
from sublex.errors import SublexError
from sublex.index.lookup import index_home, known_indexes

HEAD = ("index", "documents", "bytes", "analyzer", "fitted", "changed")


@click.command(epilog=examples("sublex indexes", "sublex indexes --format json"))
@format_option("table", "json")
def indexes(form: str) -> None:
    """List the indexes that a bare name finds.

    They are in the index home and in the working directory. Each comes with its documents, its size on disk, its
    analyzer, its fitted models and the time of its last change.
    """
    from sublex.language import plugins

    registry, rows = plugins.load(), []
    for path in known_indexes():
        try:
            rows.append(_facts(path, registry))
        except SublexError as error:
            say(str(error))
    if form == "json":
        print_json(rows)
    elif rows:
        print_table([_cells(row) for row in rows], HEAD, [False, True, True, False, False, False])
    else:
        say(f"No index in {index_home()}; make one by: sublex index NAME FILE…")


def _facts(path: Path, registry: Any) -> dict[str, Any]:
    """Return the row of one index in the table. Only the manifest of the index is read."""
    from sublex.display.card import expressions_of
    from sublex.index.manifest import MANIFEST, read_manifest
    from sublex.language.expression import Call

    manifest = read_manifest(path)
    settings = manifest.analyzer.settings
    try:
        analyzer = str(registry.resolve("analyzer", Call(settings.name, (), settings.params)))
    except SublexError:
        # The plugin of the analyzer is gone.
        analyzer = settings.name
    return {
        "name": path.name,
        "path": str(path),
        "documents": manifest.statistics.docs,
        "bytes": _size(path),
        "analyzer": analyzer,
        "fitted": [e for entry in manifest.fitted.values() for e in expressions_of(entry)],
        "changed": datetime.fromtimestamp((path / MANIFEST).stat().st_mtime).isoformat(" ", "minutes"),
    }


def _size(folder: Path) -> int:
    """Return the bytes of all files below a folder; files that disappear meanwhile count nothing."""
    size = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                size += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return size


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    fitted = ", ".join(row["fitted"]) or "nothing"
    return row["name"], row["documents"], row["bytes"], row["analyzer"], fitted, row["changed"]
