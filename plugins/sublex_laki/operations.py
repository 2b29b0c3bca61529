"""The operations `keyphrases`, `silhouette` and `hierarchy`: what texts are about, and what a keyphrase means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from sublex.errors import InputError
from sublex.forms.lines import Shown, line, records
from sublex.operations import File, Needs, OperationContext, operation, option, positional
from sublex.operations.parameters import Model

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
HEAD = ("keyphrase", "about it", "strength", "mentioned", "evoked by")


class Row(NamedTuple):
    """A keyphrase of a text: whether the text is about it ("yes" or "perhaps"), its strength, whether the text mentions it, and
    the words that evoked it.
    """

    keyphrase: str
    about: str
    strength: float
    mentioned: str
    evoked: str


class _Reader:
    """Finds the keyphrases of texts by a fitted model: at most `number`, with a strength of `least` or more.

    With `latent`, keyphrases that a text mentions are left out.
    """

    def __init__(self, found: Any, number: int, latent: bool, least: float):
        self.model: LAKIRepresentation = found.model
        self._view = found.view
        self.keyphrases: Keyphrases = self.model.keyphrases(found.view)
        self._number, self._latent, self._least = number, latent, least

    def rows(self, texts: TextWords) -> Iterator[list[Row]]:
        """Yield the keyphrases of each text, the strongest first."""
        from sublex_laki.keyphrases import PERHAPS, listed

        counts = self.model.units.of_texts(texts)
        for text, found in enumerate(self.model.shown(self._view, texts, counts, self._least)):
            evoked = self.model.evoked(counts[[text]])
            best = [item for item in found if not (self._latent and item.mentioned)]
            yield [
                Row(
                    item.name, "yes" if item.strength >= self.model.least_share else PERHAPS, round(item.strength, 4),
                    "yes" if item.mentioned else "no",
                    "" if item.keyphrase is None else listed(self.keyphrases.evoking(evoked, item.keyphrase, EVOKING)),
                )
                for item in best[: self._number]
            ]  # fmt: skip


PAGE = File((".html",))


@operation(needs=Needs.MODEL, forms=("table", "json", "csv"), file=PAGE)
def keyphrases(
    context: OperationContext,
    expression: Model,
    text: Annotated[str | None, positional("TEXT", completes="word")] = None,
    docno: Annotated[str | None, option(metavar="DOCNO", completes="docno")] = None,
    file: Annotated[str | None, option(completes="file")] = None,
    reader: Annotated[str | None, option(metavar="NAME", completes="reader")] = None,
    number: Annotated[int, option("-n", "--number", least=1)] = 10,
    perhaps: bool = False,
    latent: bool = False,
) -> Shown:
    """List the keyphrases that a text is about, with their strength, whether the text mentions them or not.

    EXPR names the model. Strength is the probability that the text is about a keyphrase. Only strong keyphrases are
    listed: those of .7 or more, or of the parameter strong of the model. Phrases of the text that are too rare for the
    model are listed too, unless the model has the parameter shown=network. A keyphrase that says nearly the same as a
    stronger one is left out. The last column shows the words of the text that evoked a keyphrase, each with the
    probability that the keyphrase led to the word.

    Args:
        docno: Read the text of this document of the index.
        file: A file of texts, in a format that sublex index reads.
        reader: The reader of the file; by default the one that recognises it.
        number: The most keyphrases of each text.
        perhaps: List weaker keyphrases too, which the text is perhaps about.
        latent: List only keyphrases that the text does not mention, weaker ones too, since hardly any is strong.
        output: An HTML page to write in place of the output.

    Examples:
        sublex keyphrases papers laki "Training deep networks to recognise objects"
        sublex keyphrases papers laki --perhaps "Training deep networks to recognise objects"
        sublex keyphrases papers laki --docno 1610.00125
        sublex keyphrases papers laki --file titles.tsv --format csv
    """
    from sublex.contracts.base import Document
    from sublex_laki.page import texts_page
    from sublex_laki.representation import LAKIRepresentation

    if sum(given is not None for given in (text, docno, file)) != 1 or (reader is not None and file is None):
        raise InputError("Give a text, in quotes, or a document with --docno, or a file of texts with --file.")
    found = context.fitted_model(expression, LAKIRepresentation, NO_KEYPHRASES)
    if file is not None:
        documents = context.read_documents(file, reader)
    else:
        documents = [Document("", text or "") if docno is None else context.index.document(docno)]
    least = 0.0 if perhaps or latent else found.model.least_share
    results = _read(context, _Reader(found, number, latent, least), found, documents, file is not None)
    if file is None:
        shown = records(HEAD, results[0][1])
        if not results[0][1]:
            weaker = least and _read(context, _Reader(found, number, latent, 0.0), found, documents, False)[0][1]
            nothing = (
                "The text has no strong keyphrase; --perhaps shows those that it is perhaps about."
                if weaker
                else "No keyphrase that the text does not mention is likely related to it; with the parameter related=0, as in "
                "laki(related=0), the model lists less likely ones too."
                if latent
                else "The text has no keyphrase: the model knows none of its words, or they say too little."
            )
            shown = Shown(lambda: [*records(HEAD, []).lines, line(nothing)], list, HEAD)
    else:
        shown = records(("docno", *HEAD), [(document.docno, *row) for document, rows in results for row in rows])
        without = sum(not rows for _, rows in results)
        if without:
            shown = shown.between(below=[line(f"Texts without a keyphrase to list: {without:,} of {len(results):,}.")])
    title = f"{context.path.name}: keyphrases by {expression}"
    shown.files = {".html": lambda: texts_page(title, HEAD, results)}
    shown.about = f"shows the keyphrases of {len(results):,} text{'s' * (len(results) != 1)}."
    return shown


def _read(
    context: OperationContext, reader: _Reader, found: Any, documents: list[Document], many: bool
) -> list[tuple[Document, list[Row]]]:
    """Return the documents with their keyphrases."""
    results: list[tuple[Document, list[Row]]] = []
    with context.progress("Texts", "texts", len(documents) if many else None) as advance:
        for begin in range(0, len(documents), BLOCK):
            block = documents[begin : begin + BLOCK]
            words = found.inputs.of_documents(block)
            results += zip(block, reader.rows(words), strict=True)
            if many:
                advance(len(results), len(documents))
    return results


@operation(needs=Needs.MODEL, forms=("table", "json", "csv"), file=PAGE)
def silhouette(
    context: OperationContext,
    expression: Model,
    phrase: Annotated[str, positional("PHRASE", completes="word")],
    number: Annotated[int, option("-n", "--number", least=1)] = 20,
) -> Shown:
    """List the words and phrases that a keyphrase stands for, with broader and narrower keyphrases.

    EXPR names the model. PHRASE is a keyphrase in any of its forms, an abbreviation, or a number. The column
    probability says how likely a text about the keyphrase has the word.

    Args:
        number: Words and phrases to list.
        output: An HTML page to write in place of the output.

    Examples:
        sublex silhouette papers laki "support vector machine"
    """
    from sublex_laki.page import card, document
    from sublex_laki.representation import LAKIRepresentation

    found = context.fitted_model(expression, LAKIRepresentation, NO_KEYPHRASES)
    known = found.model.keyphrases(found.view)
    k = known.number(phrase, expression)
    parts = (
        ("silhouette", known.silhouette(k, number)),
        ("broader", known.broader(k)),
        ("narrower", known.narrower(k)),
    )
    rows = [(kind, item.name, round(item.weight, 4)) for kind, items in parts for item in items[:number]]
    shown, title = (
        records(("relation", "name", "probability"), rows),
        f"{context.path.name}: {known.names[k]} by {expression}",
    )
    note = "A word's size shows the probability that a text about the keyphrase has it."
    shown.files = {".html": lambda: document(title, note, card(known, k))}
    shown.about = f"shows the silhouette of {known.names[k]}."
    return shown


@operation(
    needs=Needs.MODEL,
    forms=("table",),
    file=File((".graphml", ".csv"), required=True),
)
def hierarchy(context: OperationContext, expression: Model) -> Shown:
    """Write the graph of keyphrases for another program: which keyphrase leads to which rarer one.

    EXPR names the model. A GraphML file has all keyphrases, with the number of documents that are about each. A CSV
    file has a line for each link.

    Args:
        output: A file that ends in .graphml or .csv.

    Examples:
        sublex hierarchy papers laki -o keyphrases.graphml
    """
    from sublex_laki.export import as_csv, as_graphml
    from sublex_laki.representation import LAKIRepresentation

    found = context.fitted_model(expression, LAKIRepresentation, NO_KEYPHRASES)
    known = found.model.keyphrases(found.view)

    def graph() -> str:
        return as_graphml(known, expression, found.model.documents(found.view).tolist())

    links = known.network.hierarchy.nnz
    about = f"has {known.network.keyphrases:,} keyphrases and {links:,} links between them."
    return Shown(list, files={".graphml": graph, ".csv": lambda: as_csv(known)}, about=about)
