"""The command that answers one query: search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

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
)
from sublex.cli.output import print_records, print_run, say, say_uncovered, wrapped
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.messages import command, one_line

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Answer, Pipeline

HIT = ("rank", "score", "docno", "title", "passage")
Span = tuple[int, int]


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
@format_option("table", "json", "csv", "trec")
@verbose_option
def search(
    name: str, words: tuple[str, ...], ranker: str | None, k: int, profile: str | None, allow_uncovered: bool, form: str
) -> None:
    """Find the documents that match QUERY best.

    Each hit is shown with its rank, score, docno and title, and with the passage of its text that matches best. Any text
    is a query; write -- before a query that begins with a dash.
    """
    from sublex.cli.query_forms import note_query

    query = words[0]
    if len(words) > 1:
        raise InputError(f"The query is one argument; put it in quotes: {command('search', name, ' '.join(words))}")
    say_if_compiling()
    index = open_index(name, allow_uncovered)
    with step("Made the pipeline"):
        pipeline = index.pipeline(ranker, profile)
    say_uncovered(pipeline)
    note_query(index, query)
    with step(f"Ranked by {pipeline}"):
        answer = index.answer(query, pipeline, k)
    with step("Compared the words of the query with those of the index"):
        corrected = _say_corrections(index, query)
    if form == "trec":
        _print_run(answer, pipeline)
    elif form == "table":
        _print_hits(index, answer)
        if not len(answer.hits) and not corrected:
            say(_nothing_found(index, answer, pipeline, ranker))
    else:
        # The shortest decimal form of each float32 score, which is what a run has.
        scores = [float(str(score)) for score in answer.hits.scores]
        pairs = zip(answer.hits, scores, strict=True)
        print_records(form, HIT, [(h.rank, score, h.docno, *_excerpt(index, answer, h.doc)[:2]) for h, score in pairs])


def _say_corrections(index: Index, query: str) -> bool:
    """Print for each unknown word of the query an indexed word that is spelt like it. Return whether there was one."""
    from sublex.index.spelling import suggestions

    found = suggestions(index.snapshot, query)
    for word, near in found.items():
        say(f'No document contains "{word}"; did you mean {near.surface}?')
    return bool(found)


def _print_run(answer: Answer, pipeline: Pipeline) -> None:
    """Print the hits as the lines of a TREC run, for a topic with the id 1."""
    from sublex.trec.run_names import tag_of
    from sublex.trec.run_writer import run_lines

    print_run(run_lines([("1", answer.hits.docnos, answer.hits.scores)], tag_of(str(pipeline))))


def _print_hits(index: Index, answer: Answer) -> None:
    """Print each hit on a line, and its passage on the next line, with the matching words in bold."""
    for hit in answer.hits:
        title, passage, spans = _excerpt(index, answer, hit.doc)
        docno = click.style(one_line(hit.docno), bold=True)
        click.echo(f"{hit.rank:>3}  {hit.score:<9.6g} {docno}  {one_line(title)}".rstrip())
        if passage:
            click.echo(wrapped(f"     {_with_bold(passage, spans)}", 5))


def _excerpt(index: Index, answer: Answer, doc: int) -> tuple[str, str, tuple[Span, ...]]:
    """Return the title of a document, its best passage and the spans of matching words; empty without stored texts."""
    if "text" not in index.store:
        return "", "", ()
    from sublex.pipeline.passages import passage

    document = index.snapshot.stored(doc)
    best = passage(document.text, index.analyzer, answer.query.weights())
    return document.title, best.text, best.spans


def _with_bold(text: str, spans: tuple[Span, ...]) -> str:
    parts, position = [], 0
    for begin, end in spans:
        parts += [one_line(text[position:begin]), click.style(one_line(text[begin:end]), bold=True)]
        position = end
    return "".join([*parts, one_line(text[position:])])


def _nothing_found(index: Index, answer: Answer, pipeline: Pipeline, ranker: str | None) -> str:
    """Return the sentence that says why there are no hits."""
    from sublex.cli.query_forms import words_of

    words = " or ".join(words_of(index, answer.query.text))
    if not words:
        return f"Nothing in {index.path} is found: the analyzer leaves no word of the query."
    if pipeline.models:
        return f"Nothing in {index.path} is found by {ranker} for {words}."
    return f"Nothing in {index.path} contains {words}."
