"""The command that runs a file of topics: run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import sublex
from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import (
    examples,
    fields_option,
    hits_option,
    index_argument,
    metadata_option,
    profile_option,
    rankers_option,
    topics_argument,
    uncovered_option,
    workers_option,
)
from sublex.cli.output import say, say_uncovered, show
from sublex.cli.progress import progress
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError, SublexError

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline


# Endings of files in other formats; a user who names such a file does not mean a folder.
OTHER_FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", ".html", ".md", ".yaml", ".xml", ".qrels")


@click.command(
    epilog=examples(
        'sublex run demo topics.trec -r BM25 -r "BM25 >> RM3 >> BM25" -o runs',
        "sublex run demo topics.trec -r PL2 -o pl2.run.gz --tag mine",
    )
)
@index_argument
@topics_argument
@rankers_option
@hits_option(1000)
@click.option(
    "-o",
    "--output",
    default=".",
    show_default=True,
    metavar="PATH",
    shell_complete=completion.files,
    help="Write the runs to this folder, or the run of one ranker to a file, such as bm25.run or bm25.run.gz.",
)
@click.option(
    "--tag", metavar="TAG", show_default="the expression", help="The tag of the run, the last column of its lines."
)
@fields_option
@metadata_option
@workers_option
@profile_option
@uncovered_option
@verbose_option
@click.pass_context
def run(
    context: click.Context, name: str, topics: str, rankers: tuple[str, ...], k: int, output: str, tag: str | None,
    fields: str, metadata: str, workers: int | None, profile: str | None, allow_uncovered: bool,
) -> None:  # fmt: skip
    """Run a topic file and write a TREC run for each ranker.

    The files in a folder are named after their rankers, as in BM25.run. TOPICS may have any usual format: TREC, TSV, CSV, JSON lines.
    Without -r, the ranker is BM25. If a ranker is wrong, the others are run all the same, and the exit code is 2.
    """
    from sublex.display.query_forms import topics_notes
    from sublex.pipeline.running import write

    _check_tag(tag, rankers)
    place = place_of_run(output, rankers)
    index = open_index(name, allow_uncovered)
    say_if_compiling("analyze search write-runs", index)
    with step(f"Read {topics}"):
        queries = sublex.read_topics(topics, fields)
    say(str(queries), *queries.notes)
    say(*topics_notes(queries))
    pipelines, failures = _compose(index, rankers or (None,), profile)
    for pipeline in pipelines:
        with step(f"Ran {pipeline}"), progress(str(pipeline), "topics", len(queries)) as advance:
            done = write(index, queries, pipeline, k, place, metadata, workers, advance, tag or "")
        if done.replaced:
            say(f"The {done.path} that was there {done.replaced}; it is replaced.")
        show(f"{done.path}  {done.times}")
    if failures:
        context.exit(2)


def _check_tag(tag: str | None, rankers: Sequence[str]) -> None:
    """Raise InputError for a tag that a run cannot have, and for a tag of several runs."""
    from sublex.trec.run_writer import check_word

    if tag is not None:
        check_word(tag, "tag")
        if len(rankers) > 1:
            raise InputError(f"--tag {tag} would name {len(rankers)} runs; give one ranker, or leave --tag out.")


def place_of_run(output: str, rankers: Sequence[str]) -> Path:
    """Return where the runs go: a file or a folder. Raise InputError for a file that is no run and would be replaced."""
    from sublex.lint.detect import RUN, detect_kind
    from sublex.readers.source import FileSource
    from sublex.trec.run_names import is_run_file

    if output == "-":
        raise InputError("sublex run writes files; name a file or a folder with -o.")
    path = Path(output)
    if not is_run_file(path):
        if path.suffix.lower() in OTHER_FILES and not output.endswith(os.sep) and not path.is_dir():
            raise InputError(
                f"A run is written in TREC's format, which {path.suffix} is not; name {path.stem}.run, or a folder by {output}/"
            )
        return path
    if len(rankers) > 1 or output.endswith(os.sep):
        if path.exists():
            raise InputError(f"{output} is a file; name a folder with -o.")
        path.mkdir(parents=True)
        return path
    holds_text = path.is_file() and path.stat().st_size > 0
    if holds_text and detect_kind(FileSource(path)) != RUN:
        raise InputError(f"{output} is there and is no run; write the run elsewhere.")
    return path


def _compose(index: Index, rankers: Sequence[str | None], profile: str | None) -> tuple[list[Pipeline], int]:
    """Return the distinct pipelines of the rankers, and the number of rankers that failed, each with a message."""
    pipelines: dict[str, Pipeline] = {}
    failures = 0
    for ranker in rankers:
        try:
            pipeline = index.pipeline(ranker, profile)
        except SublexError as error:
            failures += 1
            say(f"sublex: {error}")
            continue
        if str(pipeline) in pipelines:
            say(f"{ranker} is the same as {pipeline}, which is run once.")
        say_uncovered(pipeline)
        pipelines[str(pipeline)] = pipeline
    return list(pipelines.values()), failures
