"""Commands about resources: files that models read when they are fitted."""

from __future__ import annotations

from pathlib import Path

import click

import sublex
from sublex.cli.output import format_option, index_path, show_help, show_json, table


@click.group(invoke_without_command=True)
@click.pass_context
def resource(context: click.Context) -> None:
    """Files for models to read, such as word vectors, kept with an index: add, list, remove."""
    show_help(context)


@resource.command()
@click.argument("index")
@click.argument("name")
@click.argument("file")
def add(index: str, name: str, file: str) -> None:
    """Copy FILE into the index; expressions then name it, as in vectors(NAME)."""
    path = index_path(index)
    sublex.open(path).add_resource(name, Path(file))
    click.echo(f"{path} has {file} as {name}")


@resource.command()
@click.argument("index")
@click.argument("name")
def remove(index: str, name: str) -> None:
    """Drop a resource that no model was fitted with."""
    path = index_path(index)
    sublex.open(path).remove_resource(name)
    click.echo(f"{name} is gone from {path}")


@resource.command(name="list")
@click.argument("index")
@format_option("table", "json")
def show(index: str, form: str) -> None:
    """List the resources of an index."""
    found = sublex.open(index_path(index)).resources
    if form == "json":
        show_json([{"name": name, **entry} for name, entry in sorted(found.items())])
        return
    table(
        [(name, entry["file"], f"{entry['bytes']:,}") for name, entry in sorted(found.items())],
        ("name", "file", "bytes"),
    )
