"""Operations on resources, which are files that models read when they are fitted: resource add, remove, list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from sublex.forms.lines import Shown, sentence, table_lines
from sublex.operations.context import Context
from sublex.operations.declaring import operation, positional
from sublex.operations.parameters import DataFile

Name = Annotated[str, positional("NAME")]


@operation("resource add", faces=("cli",), forms=("table",))
def add(context: Context, name: Name, file: DataFile) -> Shown:
    """Copy FILE into an index under a name that expressions can use.

    Examples:
        sublex resource add demo glove glove.txt
    """
    context.index.add_resource(name, Path(file))
    return sentence(f"{context.path} has {file} as {name}")


@operation("resource remove", faces=("cli",), forms=("table",))
def remove(context: Context, name: Name) -> Shown:
    """Remove a resource from an index, unless a fitted model uses it.

    Examples:
        sublex resource remove demo words
    """
    context.index.remove_resource(name)
    return sentence(f"{name} is gone from {context.path}")


@operation("resource list", faces=("cli", "service"))
def list_resources(context: Context) -> Shown:
    """List the resources of an index.

    Examples:
        sublex resource list demo
    """
    from sublex.index.schema import as_json

    resources = sorted(context.index.resources.items())
    rows = [(name, entry.file, f"{entry.bytes:,}") for name, entry in resources]
    return Shown(
        lambda: table_lines(rows, ("name", "file", "bytes")),
        lambda: [{"name": name, **as_json(entry)} for name, entry in resources],
    )
