"""The commands `senses`, which lists the senses of a word, and `graph`, which draws the word graph of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sublex.cli.plugin_commands import (
    check_output,
    fitted_model,
    format_option,
    index_argument,
    model_argument,
    open_index,
    output_option,
    print_records,
    show,
    write_output,
)
from sublex.errors import InputError

if TYPE_CHECKING:
    from sublex import Index

HEAD = ("topic", "chance", "documents", "neighbours", "examples")
# Documents and neighbours that are listed for a sense.
DOCUMENTS, NEIGHBOURS = 3, 6
# The end of the message for a model of another plugin.
NO_GRAPHS = "has no word graphs; name a fitted swg, such as swg(topics=lda(k=10))"


@click.command()
@index_argument
@click.argument("word")
@model_argument
@click.option("--query", default="", metavar="TEXT", help="Other words, which change how likely each sense is.")
@click.option(
    "-n", "--neighbours", type=click.IntRange(1), default=NEIGHBOURS, show_default=True, help="Neighbours to list."
)
@format_option("table", "json", "csv")
def senses(name: str, word: str, expression: str, query: str, neighbours: int, form: str) -> None:
    """List the senses of a word: the topics in which it has neighbours, with these and with documents.

    EXPR names the model. The most likely sense comes first. To search with another one, name its topic in the
    expression: senses=["bank:2"].

    \b
      sublex senses animals bank "swg(topics=lda(k=10))"
      sublex senses animals bank "swg(topics=lda(k=10))" --query "river otter"
    """
    print_records(form, HEAD, sense_rows(open_index(name, allow_uncovered=True), word, expression, query, neighbours))


def sense_rows(
    index: Index, word: str, expression: str, query: str = "", neighbours: int = NEIGHBOURS
) -> list[tuple[Any, ...]]:
    """Return the senses of a word as rows of the table HEAD, the most likely sense first."""
    from sublex.contracts.base import Query, QueryTerm
    from sublex_swg.expander import SWG
    from sublex_swg.word_senses import chances

    model = fitted_model(index, expression, SWG, NO_GRAPHS).model
    graphs = model.graphs
    terms = index.analyze(word)
    number = graphs.numbers[terms[0]] if len(terms) == 1 and terms[0] in graphs.numbers else model.word(word)
    others = [graphs.numbers[term] for term in dict.fromkeys(index.analyze(query)) if term in graphs.numbers]
    found = graphs.senses(number, others)
    if not found:
        raise InputError(f"{word} has no neighbours in any topic of {expression}.")
    pipeline, rows = index.pipeline("BM25"), []
    for sense, chance in zip(found, chances(found), strict=True):
        near = graphs.neighbours(number, sense.topic, neighbours)
        sought = (
            QueryTerm(graphs.vocabulary[number], float(len(near))),
            *(QueryTerm(graphs.vocabulary[k]) for k, _ in near),
        )
        hits = pipeline.answer(Query("", sought), DOCUMENTS).hits
        listed = ", ".join(index.corpus.surface(graphs.vocabulary[neighbour]) for neighbour, _ in near)
        rows.append((sense.topic, round(chance, 4), sense.docs, listed, ", ".join(hit.docno for hit in hits)))
    return rows


@click.command()
@index_argument
@model_argument
@click.argument("topic", type=int)
@output_option("A file that ends in .html, .svg or .graphml.", required=True)
def graph(name: str, expression: str, topic: int, output: str) -> None:
    """Draw the word graph of a topic, or write it for another program.

    EXPR names the model; sublex card lists its topics. An HTML page shows two pictures: the most frequent words, and the
    strongest edges, each with the strongest neighbours of the words. SVG has the second alone, and GraphML the whole graph.

    \b
      sublex graph animals "swg(topics=lda(k=10))" 2 -o topic.html
    """
    from sublex_swg import drawing
    from sublex_swg.expander import SWG

    kind = check_output(output, ".html", ".svg", ".graphml")
    index = open_index(name, allow_uncovered=True)
    graphs = fitted_model(index, expression, SWG, NO_GRAPHS).model.graphs
    if not 0 <= topic < graphs.topics:
        raise InputError(f"{expression} has no topic {topic}; its topics are 0 to {graphs.topics - 1}.")
    if not graphs.graph(topic).nnz:
        raise InputError(f"Topic {topic} of {expression} has no edges; name another one.")

    def surface(word: int) -> str:
        return index.corpus.surface(graphs.vocabulary[word])

    if kind == ".graphml":
        text = drawing.graphml(graphs, topic, surface)
    elif kind == ".svg":
        text = drawing.svg(drawing.pictures(graphs, topic)[1], surface)
    else:
        text = drawing.page(graphs, [topic], surface, f"{expression}, topic {topic}")
    write_output(output, text)
    show(f"{output} shows topic {topic} of {expression}")
