"""The command that answers one query: search."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

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
)
from sublex.cli.output import print_json, print_records, print_run, print_table, say, say_uncovered, show, wrapped
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.messages import command, counted, one_line

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Answer, Pipeline

HIT = ("rank", "score", "docno", "title", "passage")
FACET = ("documents", "number", "label")
# Documents found in which labels are counted, at least; a retrieval finds as many candidates for the stages after it.
DEPTH = 1000
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
    name: str, words: tuple[str, ...], ranker: str | None, k: int, profile: str | None, allow_uncovered: bool,
    facets: int | None, of: str | None, form: str,
) -> None:  # fmt: skip
    """Find the documents that match QUERY best.

    Each hit is shown with its rank, score, docno and title, and with the passage of its text that matches best. Any text
    is a query; write -- before a query that begins with a dash.
    """
    from sublex.cli.query_forms import note_query

    query = words[0]
    if len(words) > 1:
        raise InputError(f"The query is one argument; put it in quotes: {command('search', name, ' '.join(words))}")
    if of is not None and facets is None:
        raise InputError("--of names the model of --facets; write for example --facets 10, too.")
    if facets is not None and form not in ("table", "json"):
        raise InputError(f"--facets has no form {form}; leave it out, or choose --format json.")
    say_if_compiling()
    index = open_index(name, allow_uncovered)
    with step("Made the pipeline"):
        pipeline = index.pipeline(ranker, profile)
        model = "" if facets is None else of or _labelled_model(index, pipeline)
    say_uncovered(pipeline)
    note_query(index, query)
    with step(f"Ranked by {pipeline}"):
        found = index.answer(query, pipeline, max(k, DEPTH) if model else k)
    answer = found._replace(hits=found.hits.first(k))
    labels = index.facets(found.hits, model)[:facets] if model else []
    with step("Compared the words of the query with those of the index"):
        corrected = _say_corrections(index, query)
    if form == "trec":
        _print_run(answer, pipeline)
    elif form == "table":
        _print_hits(index, answer)
        if not len(answer.hits) and not corrected:
            say(_nothing_found(index, answer, pipeline, ranker))
        elif model:
            click.echo()
            show(f"{counted(len(found.hits), 'document')} by the labels of {model}:")
            print_table([(facet.docs, facet.number, facet.label) for facet in labels], FACET)
    elif model:
        hits = [dict(zip(HIT, row, strict=True)) for row in _rows(index, answer)]
        facet_rows = [dict(zip(FACET, (f.docs, f.number, f.label), strict=True)) for f in labels]
        print_json({"hits": hits, "of": model, "counted": len(found.hits), "facets": facet_rows})
    else:
        print_records(form, HIT, _rows(index, answer))


def _labelled_model(index: Index, pipeline: Pipeline) -> str:
    """Return the only model of a pipeline that names topics or keyphrases; raise InputError if there is not exactly one."""
    models = index.labelled_models(pipeline)
    if len(models) == 1:
        return models[0]
    found = f"{pipeline} has several models with labels" if models else f"No model in {pipeline} has labels to count"
    raise InputError(f"{found}; name one, for example --of {shlex.quote(models[0] if models else 'lda(k=20)')}.")


def _rows(index: Index, answer: Answer) -> list[tuple[Any, ...]]:
    """Return each hit as values for the fields of HIT."""
    # The shortest decimal form of each float32 score, which is what a run has.
    scores = [float(str(score)) for score in answer.hits.scores]
    pairs = zip(answer.hits, scores, strict=True)
    return [(hit.rank, score, hit.docno, *_excerpt(index, answer, hit.doc)[:2]) for hit, score in pairs]


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
