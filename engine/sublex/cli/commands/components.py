"""The command that describes what expressions are made of: components."""

from __future__ import annotations

import click

from sublex.cli import completion
from sublex.cli.options import examples, format_option
from sublex.cli.output import print_shown


@click.command(epilog=examples("sublex components", "sublex components BM25", "sublex components --format json"))
@click.argument("name", required=False, shell_complete=completion.named("component", "analyzer", "reader"))
@format_option("table", "json")
def components(name: str | None, form: str) -> None:
    """List what expressions are made of, or describe one component.

    These are the rankers, expanders, representations, filters and normalisers. The list has the parameters of each with
    their defaults and ranges, and the literature. NAME may also be an analyzer or a reader.
    """
    from sublex.display import components as display
    from sublex.language import plugins

    registry = plugins.load()
    print_shown(display.components(registry) if name is None else display.component(registry, name), form)
