"""The commands for resources, which are files that models read when they are fitted: resource add, remove, list."""

from __future__ import annotations

from pathlib import Path

import click

from sublex.cli import completion
from sublex.cli.lookup import open_index
from sublex.cli.options import examples, format_option, index_argument
from sublex.faces.output import print_help, print_json, print_table, show


@click.group(
    invoke_without_command=True,
    epilog=examples("sublex resource add demo glove glove.txt", 'sublex fit demo "vectors(glove)"'),
)
@click.pass_context
def resource(context: click.Context) -> None:
    """Keep files that models read, such as word vectors, with an index.

    A model names a resource in its expression.
    """
    print_help(context)


@resource.command(epilog=examples("sublex resource add demo glove glove.txt"))
@index_argument
@click.argument("resource", metavar="NAME")
@click.argument("file", shell_complete=completion.files)
def add(name: str, resource: str, file: str) -> None:
    """Copy FILE into an index under a name that expressions can use."""
    index = open_index(name)
    index.add_resource(resource, Path(file))
    show(f"{index.path} has {file} as {resource}")


@resource.command(epilog=examples("sublex resource remove demo words"))
@index_argument
@click.argument("resource", metavar="NAME")
def remove(name: str, resource: str) -> None:
    """Remove a resource from an index, unless a fitted model uses it."""
    index = open_index(name)
    index.remove_resource(resource)
    show(f"{resource} is gone from {index.path}")


@resource.command("list", epilog=examples("sublex resource list demo"))
@index_argument
@format_option("table", "json")
def list_resources(name: str, form: str) -> None:
    """List the resources of an index."""
    resources = sorted(open_index(name).resources.items())
    if form == "json":
        print_json([{"name": resource, **entry} for resource, entry in resources])
        return
    rows = [(resource, entry["file"], f"{entry['bytes']:,}") for resource, entry in resources]
    print_table(rows, ("name", "file", "bytes"))
