"""The operations `senses` and `sense`, which list the senses of a word or rank by one, and `graph`, which draws the graph of a topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import sublex
from sublex.errors import InputError
from sublex.forms.lines import Shown, records
from sublex.operations import File, Needs, OperationContext, operation, option, positional
from sublex.operations.parameters import Model

HEAD = ("topic", "chance", "documents", "neighbours", "examples")
# Documents and neighbours that are listed for a sense.
DOCUMENTS, NEIGHBOURS = 3, 6
# The end of the message for a model of another plugin.
NO_GRAPHS = "has no word graphs; name a fitted swg, such as swg(topics=lda(k=10))"

Word = Annotated[str, positional("WORD", completes="word")]


@operation(needs=Needs.MODEL, forms=("table", "json", "csv"))
def senses(
    context: OperationContext,
    word: Word,
    expression: Model,
    query: Annotated[str, option(metavar="TEXT")] = "",
    neighbours: Annotated[int, option("-n", "--neighbours", least=1)] = NEIGHBOURS,
) -> Shown:
    """List the senses of a word: the topics in which it has neighbours, with these and with documents.

    EXPR names the model. The most likely sense comes first. To search by another sense, name its topic in the
    expression: senses=["bank:2"].

    Args:
        query: Other words, which change how likely each sense is.
        neighbours: Neighbours to list.

    Examples:
        sublex senses animals bank "swg(topics=lda(k=10))"
        sublex senses animals bank "swg(topics=lda(k=10))" --query "river otter"
    """
    from sublex.contracts.base import Query, QueryTerm
    from sublex_swg.expander import SWG
    from sublex_swg.word_senses import chances

    index, model = context.index, context.fitted_model(expression, SWG, NO_GRAPHS).model
    graphs = model.graphs
    terms = index.analyze(word)
    if len(terms) > 1 and word.casefold() not in model.surfaces:
        raise InputError(f"{word} is {len(terms)} words; name one, and give the others as the query.")
    _check(index, word)
    number = graphs.numbers[terms[0]] if len(terms) == 1 and terms[0] in graphs.numbers else model.word(word)
    others = [graphs.numbers[term] for term in dict.fromkeys(index.analyze(query)) if term in graphs.numbers]
    found = graphs.senses(number, others)
    if not found:
        raise InputError(f"{word} has no senses in {expression}: {model.why_no_sense(number)}.")
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
    return records(HEAD, rows)


@operation(needs=Needs.SESSION)
def sense(session: Any, word: Word, topic: Annotated[str, positional("TOPIC")] = "") -> Shown:
    """List the senses of a word by a fitted swg, or take the word in the sense of a topic from now on: :sense bank 2.

    The model is the swg in the current expression. If the expression has none, it is the only fitted swg, which is then
    put before the expression.
    """
    _check(session.index, word)
    text = str(session.pipeline())
    call = next(_calls(sublex.parse(text)), None)
    model = call or _fitted(session.index)
    shown = session.ask(senses, word=word, expression=str(model), query=session.query.text if session.query else "")
    if not topic:
        return shown
    if topic not in [str(row[0]) for row in shown.rows]:
        raise InputError(f"{word} has no sense of the topic {topic}; :sense {word} lists its senses.")
    others = [each for each in model.params.get("senses", ()) if each.partition(":")[0] != word]
    chosen = type(model)(model.name, model.args, {**model.params, "senses": (*others, f"{word}:{topic}")})
    return session.rank_by(text.replace(str(call), str(chosen), 1) if call else f"{chosen} >> {text}")


def _check(index: sublex.Index, word: str) -> None:
    """Raise InputError for a word that no document has."""
    terms = index.analyze(word)
    if not terms:
        raise InputError(f"The analyzer leaves nothing of {word}, so it has no senses.")
    if not any(map(index.term, terms)):
        raise InputError(f"No document of {index.path} contains {word}, so it has no senses.")


def _calls(node: Any) -> Iterator[Any]:
    """Yield the calls of swg in an expression."""
    if getattr(node, "name", "") == "swg":
        yield node
    for child in node.children() if isinstance(node, sublex.Expression) else node if isinstance(node, tuple) else ():
        yield from _calls(child)


def _fitted(index: sublex.Index) -> Any:
    """Return the call of the only fitted swg; raise InputError if there is not exactly one."""
    found = [call for entry in index.fitted.values() for call in _calls(sublex.parse(entry.expression))]
    if len(found) != 1:
        problem = "Several swg are fitted; rank by one of them first" if found else "No swg is fitted; fit one first"
        raise InputError(
            f"{problem}, as in :{'rank' if found else 'fit'} swg(topics=lda(k=10)){' >> BM25' * bool(found)}."
        )
    return found[0]


@operation(
    needs=Needs.MODEL,
    forms=("table",),
    file=File((".html", ".svg", ".graphml"), required=True),
)
def graph(context: OperationContext, expression: Model, topic: Annotated[int, positional("TOPIC")]) -> Shown:
    """Draw the word graph of a topic, or write it for another program.

    EXPR names the model; sublex card lists its topics. An HTML page shows two pictures: the most frequent words, and
    the strongest edges, each with the strongest neighbours of the words. An SVG file has only the second picture, and a
    GraphML file has the whole graph.

    Args:
        output: A file that ends in .html, .svg or .graphml.

    Examples:
        sublex graph animals "swg(topics=lda(k=10))" 2 -o topic.html
    """
    from sublex_swg import drawing
    from sublex_swg.expander import SWG

    graphs = context.fitted_model(expression, SWG, NO_GRAPHS).model.graphs
    if not 0 <= topic < graphs.topics:
        raise InputError(f"{expression} has no topic {topic}; its topics are 0 to {graphs.topics - 1}.")
    if not graphs.graph(topic).nnz:
        raise InputError(f"Topic {topic} of {expression} has no edges; name another one.")

    def surface(word: int) -> str:
        return context.index.corpus.surface(graphs.vocabulary[word])

    files: dict[str, Callable[[], str]] = {
        ".html": lambda: drawing.page(graphs, [topic], surface, f"{expression}, topic {topic}"),
        ".svg": lambda: drawing.svg(drawing.pictures(graphs, topic)[1], surface),
        ".graphml": lambda: drawing.graphml(graphs, topic, surface),
    }
    return Shown(list, files=files, about=f"shows topic {topic} of {expression}")
