"""The command that uses an index of another engine: attach."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

import sublex
from sublex.cli import completion
from sublex.cli.options import examples, index_argument
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.faces.compiling import say_if_compiling
from sublex.faces.interrupts import reporting_interrupts
from sublex.faces.output import say, show
from sublex.faces.progress import progress
from sublex.index.lookup import index_path
from sublex.tools.messages import Step, counted

if TYPE_CHECKING:
    from sublex.pipeline.index import Index


@click.command(
    epilog=examples("sublex attach papers whoosh:papers-by-whoosh --trust", "sublex attach papers --refresh --trust")
)
@index_argument
@click.argument("source", required=False, metavar="[BACKEND:PATH]")
@click.option(
    "--analyzer",
    metavar="ANALYZER",
    shell_complete=completion.named("analyzer"),
    show_default="as the other engine",
    help="How queries become terms; it has to be as the documents were analysed.",
)
@click.option(
    "--profile",
    metavar="PROFILE",
    shell_complete=completion.profiles,
    show_default="the back end's",
    help="Defaults of the rankers: sublex, anserini, terrier or pisa.",
)
@click.option(
    "--field", metavar="FIELD", show_default="the back end chooses", help="The field whose postings are read."
)
@click.option(
    "--docno", metavar="FIELD", show_default="the back end chooses", help="The field with the ids of documents."
)
@click.option(
    "--trust", is_flag=True, help="Allow code that the other index holds to run. Use it only if you trust its author."
)
@click.option("--refresh", is_flag=True, help="Read the other index again if it has changed, or say where it is now.")
@click.option("--overwrite", is_flag=True, help="Replace an existing index when the new one is finished.")
@verbose_option
def attach(
    name: str, source: str | None, analyzer: str | None, profile: str | None, field: str | None, docno: str | None,
    trust: bool, refresh: bool, overwrite: bool,
) -> None:  # fmt: skip
    """Use an index of another engine.

    Sublex reads the terms, postings, lengths and ids of the other index once, and writes them as the index INDEX. All
    rankers and models then work as on any index. Stored texts and the rankers of the other engine are read from the other
    index, which is never changed. `sublex backends` lists the engines.
    """
    if source is None and not refresh and ":" in name and os.sep not in name.partition(":")[0]:
        raise InputError(f"Name the new index before the other one: {Step('attach', 'NAME', name)}")
    path = index_path(name)
    say_if_compiling()
    with (
        step(f"Attached {path}"),
        progress(f"Reading {source or path}", "terms") as advance,
        reporting_interrupts(path),
    ):
        index = sublex.attach(
            source, path, analyzer=analyzer, profile=profile, field=field, docno=docno, trust=trust, refresh=refresh,
            overwrite=overwrite, progress=advance, say=say,
        )  # fmt: skip
    show(_attached(path, index))


def _attached(path: Path, index: Index) -> str:
    """Return the sentence that says what an attached index holds."""
    statistics = index.statistics
    numbers = counted(statistics.docs, "document"), counted(index.vocabulary_size, "term")
    return f"{path} mirrors {', '.join(numbers)} and {counted(statistics.postings, 'posting')}."
