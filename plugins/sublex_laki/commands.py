"""The commands `keyphrases`, `silhouette` and `hierarchy`: what texts are about, and what a keyphrase means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

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
    progress,
    read_documents,
    show,
    write_output,
)
from sublex.errors import InputError

if TYPE_CHECKING:
    from sublex.contracts.base import Document, TextWords
    from sublex_laki.keyphrases import Keyphrases
    from sublex_laki.representation import LAKIRepresentation

# The end of the message for a model of another plugin.
NO_KEYPHRASES = "has no keyphrases; name a fitted laki, such as laki(phrases=phrases(support=10))"
# Words that are listed as having evoked a keyphrase.
EVOKING = 3
# Texts of a file that are encoded at a time.
BLOCK = 64
HEAD = ("keyphrase", "strength", "mentioned", "evoked by")


class Row(NamedTuple):
    """A keyphrase of a text: its probability, whether the text mentions it, and the words that evoked it."""

    keyphrase: str
    strength: float
    mentioned: str
    evoked: str


class _Reader:
    """Finds the keyphrases of texts by a model."""

    def __init__(self, found: Any, number: int, latent: bool):
        self.model: LAKIRepresentation = found.model
        self.keyphrases: Keyphrases = self.model.keyphrases(found.view)
        self._number, self._latent = number, latent

    def rows(self, texts: TextWords) -> Iterator[list[Row]]:
        """Yield the keyphrases of each text, the most probable first."""
        from sublex_laki.keyphrases import falling, listed

        counts = self.model.units.of_texts(texts)
        chances = self.model.encode_units(counts)
        for text in range(len(texts)):
            own = counts[[text]]
            ordered = list(falling(chances[[text]]))
            mentioned = self.keyphrases.is_mentioned(own, [k for k, _ in ordered])
            best = [item for item in zip(ordered, mentioned, strict=True) if not (self._latent and item[1])]
            evoked = self.model.evoked(own)
            yield [
                Row(
                    self.keyphrases.names[k], round(value, 4), "yes" if here else "no",
                    listed(self.keyphrases.evoking(evoked, k, EVOKING)),
                )
                for (k, value), here in best[: self._number]
            ]  # fmt: skip


@click.command()
@index_argument
@model_argument
@click.argument("text", required=False)
@click.option("--file", metavar="FILE", help="A file of texts, in a format that sublex index reads.")
@click.option("--reader", metavar="NAME", help="The reader of the file; by default the one that recognises it.")
@click.option("-n", "--number", type=click.IntRange(1), default=10, show_default=True, help="Keyphrases of each text.")
@click.option("--latent", is_flag=True, help="List only keyphrases that the text does not mention.")
@output_option("An HTML page to write in place of the output.")
@format_option("table", "json", "csv")
def keyphrases(
    name: str,
    expression: str,
    text: str | None,
    file: str | None,
    reader: str | None,
    number: int,
    latent: bool,
    output: str | None,
    form: str,
) -> None:
    """List the keyphrases that a text is about, with their probability, whether the text mentions them or not.

    EXPR names the model. The last column shows the words of the text that evoked a keyphrase, with the probability that the
    keyphrase led to the word.

    \b
      sublex keyphrases papers laki "Training deep networks to recognise objects"
      sublex keyphrases papers laki --file titles.tsv --format csv
    """
    from sublex.contracts.base import Document
    from sublex_laki.representation import LAKIRepresentation

    if (text is None) == (file is None) or (reader is not None and file is None):
        raise InputError("Give either a text, in quotes, or a file of texts with --file.")
    if output is not None:
        check_output(output, ".html")
    index = open_index(name, allow_uncovered=True)
    found = fitted_model(index, expression, LAKIRepresentation, NO_KEYPHRASES)
    texts = _Reader(found, number, latent)
    documents = [Document("", text or "")] if file is None else read_documents(index, file, reader)
    results = _read(texts, found, documents, file is not None)
    if output is not None:
        from sublex_laki.page import texts_page

        write_output(output, texts_page(f"{name}: keyphrases by {expression}", HEAD, results))
        show(f"{output} shows the keyphrases of {len(results):,} text{'s' * (len(results) != 1)}.")
        return
    if file is None:
        print_records(form, HEAD, results[0][1])
        if form == "table" and not results[0][1]:
            show("The text has no keyphrase: the model knows none of its words, or they say too little.")
        return
    print_records(form, ("docno", *HEAD), [(document.docno, *row) for document, rows in results for row in rows])


def _read(reader: _Reader, found: Any, documents: list[Document], many: bool) -> list[tuple[Document, list[Row]]]:
    """Return the documents with their keyphrases."""
    results: list[tuple[Document, list[Row]]] = []
    with progress("Texts", "texts", len(documents) if many else None) as advance:
        for begin in range(0, len(documents), BLOCK):
            block = documents[begin : begin + BLOCK]
            words = found.inputs.of_documents(block)
            results += zip(block, reader.rows(words), strict=True)
            if many:
                advance(len(results), len(documents))
    return results


@click.command()
@index_argument
@model_argument
@click.argument("phrase")
@click.option(
    "-n", "--number", type=click.IntRange(1), default=20, show_default=True, help="Words and phrases to list."
)
@output_option("An HTML page to write in place of the output.")
@format_option("table", "json", "csv")
def silhouette(name: str, expression: str, phrase: str, number: int, output: str | None, form: str) -> None:
    """List the words and phrases that a keyphrase stands for, with broader and narrower keyphrases.

    EXPR names the model. PHRASE is a keyphrase in any of its forms, an abbreviation, or a number. The probability is that of a
    text about the keyphrase to have the word.

    \b
      sublex silhouette papers laki "support vector machine"
    """
    from sublex_laki.representation import LAKIRepresentation

    if output is not None:
        check_output(output, ".html")
    index = open_index(name, allow_uncovered=True)
    found = fitted_model(index, expression, LAKIRepresentation, NO_KEYPHRASES)
    known = found.model.keyphrases(found.view)
    k = known.number(phrase, expression)
    if output is not None:
        from sublex_laki.page import card, document

        note = "A word's size shows the probability that a text about the keyphrase has it."
        write_output(output, document(f"{name}: {known.names[k]} by {expression}", note, card(known, k)))
        show(f"{output} shows the silhouette of {known.names[k]}.")
        return
    parts = (
        ("silhouette", known.silhouette(k, number)),
        ("broader", known.broader(k)),
        ("narrower", known.narrower(k)),
    )
    rows = [(kind, item.name, round(item.weight, 4)) for kind, items in parts for item in items[:number]]
    print_records(form, ("relation", "name", "probability"), rows)


@click.command()
@index_argument
@model_argument
@output_option("A file that ends in .graphml or .csv.", required=True)
def hierarchy(name: str, expression: str, output: str) -> None:
    """Write the graph of keyphrases for another program: which keyphrase leads to which rarer one.

    EXPR names the model. GraphML has all keyphrases with the number of documents that are about them. CSV has a line for each
    link.

    \b
      sublex hierarchy papers laki -o keyphrases.graphml
    """
    from sublex_laki.export import as_csv, as_graphml
    from sublex_laki.representation import LAKIRepresentation

    kind = check_output(output, ".graphml", ".csv")
    index = open_index(name, allow_uncovered=True)
    found = fitted_model(index, expression, LAKIRepresentation, NO_KEYPHRASES)
    known = found.model.keyphrases(found.view)
    if kind == ".csv":
        text = as_csv(known)
    else:
        rows = found.view.rows()
        live = [k for k in range(len(found.view)) if found.view.docno(k) is not None]
        text = as_graphml(known, expression, (rows[live] >= found.model.least_share).sum(axis=0).tolist())
    write_output(output, text)
    links = known.network.hierarchy.nnz
    show(f"{output} has {known.network.keyphrases:,} keyphrases and {links:,} links between them.")
