"""The command that answers one query: search."""

from __future__ import annotations

import click

from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import (
    examples,
    format_option,
    hits_option,
    index_argument,
    profile_option,
    ranker_option,
    uncovered_option,
    weighted_option,
)
from sublex.cli.output import print_json, print_run, print_shown, say, say_uncovered
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.tools.messages import command


@click.command(
    epilog=examples(
        'sublex search demo "cranes by the river"',
        'sublex search demo "cranes by the river" -k 3 -r "PL2 + 0.3*DirichletLM"',
        'sublex search demo "cranes by the river" -r "BM25 >> RM3 >> BM25"',
    )
)
@index_argument
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@ranker_option
@hits_option(10)
@profile_option
@uncovered_option
@weighted_option
@click.option(
    "--facets",
    "facets",
    type=click.IntRange(1),
    metavar="N",
    help="Count the labels of a fitted model, such as topics, in the first 1,000 documents found, and show N of them.",
)
@click.option(
    "--of",
    "of",
    metavar="EXPR",
    shell_complete=completion.expressions,
    show_default="that of the ranker",
    help="The fitted model whose labels --facets counts, such as lda(k=20).",
)
@format_option("table", "json", "csv", "trec")
@verbose_option
def search(
    name: str, words: tuple[str, ...], ranker: str | None, k: int, profile: str | None, allow_uncovered: bool, weighted: bool,
    facets: int | None, of: str | None, form: str,
) -> None:  # fmt: skip
    """Find the documents that match QUERY best.

    Each hit is shown with its rank, score, docno and title, and with the passage of its text that matches best. Any text
    is a query; write -- before a query that begins with a dash.
    """
    from sublex.display.facets import DEPTH, labelled_model
    from sublex.display.facets import facets as facets_of
    from sublex.display.hits import corrections, hits, nothing_found, trec_lines
    from sublex.display.query_forms import query_notes
    from sublex.pipeline.weighted import weighted_query

    query = words[0]
    if len(words) > 1:
        raise InputError(f"The query is one argument; put it in quotes: {command('search', name, ' '.join(words))}")
    if of is not None and facets is None:
        raise InputError("--of names the model of --facets; write for example --facets 10, too.")
    if facets is not None and form not in ("table", "json"):
        raise InputError(f"--facets has no form {form}; leave it out, or choose --format json.")
    index = open_index(name, allow_uncovered)
    with step("Made the pipeline"):
        pipeline = index.pipeline(ranker, profile)
        model = "" if facets is None else of or labelled_model(index, pipeline)
    say_if_compiling("analyze search", index, once=not pipeline.expands)
    say_uncovered(pipeline)
    asked = weighted_query(query) if weighted else index.query(query)
    say(*([] if weighted else query_notes(index, query, pipeline)))
    with step(f"Ranked by {pipeline}"):
        found = index.answer(asked, pipeline, max(k, DEPTH) if model else k)
    answer = found._replace(hits=found.hits.first(k))
    labels = facets_of(index, found.hits, model, facets) if model and facets else None
    with step("Compared the words of the query with those of the index"):
        corrected = [] if weighted else corrections(index, query)
    say(*corrected)
    shown = hits(index, answer)
    if form == "trec":
        print_run(trec_lines(answer, pipeline, "1"))
    elif labels and form == "json":
        print_json({"hits": shown.data, **labels.data})
    else:
        print_shown(shown, form)
        if form == "table" and not len(answer.hits) and not corrected:
            say(nothing_found(index, asked, pipeline))
        elif labels:
            click.echo()
            print_shown(labels)
