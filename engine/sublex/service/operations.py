"""The operations that only the service has: its state, topics and judgements, runs, how queries are read, and completion."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sublex.errors import UnknownDocument
from sublex.faces.continuations import begins, continuations_of
from sublex.forms.lines import Shown
from sublex.operations import Needs, operation, option, positional
from sublex.operations.parameters import (
    AllowUncovered,
    Asked,
    Docno,
    Language,
    LanguageName,
    Measures,
    Model,
    Profile,
    Ranker,
    Rankers,
    RunHits,
)
from sublex.operations.searching import read_query, reading_notes

# Imported at once: a request that is stopped in the middle of an import would leave a module half made for the next one.
from sublex.service.costs import costs as costs_of
from sublex.service.into_study import into_study as study_of
from sublex.service.into_study import note_of
from sublex.service.limits import MOST_HITS
from sublex.service.matches import matches as matches_of
from sublex.service.trees import tree_of

if TYPE_CHECKING:
    from sublex.service.context import RequestContext

SERVICE = ("service",)
# Continuations of an expression that are offered at most.
OFFERED = 200

TopicsOfServer = Annotated[Any, option(hidden=True)]
Qid = Annotated[str, positional("TOPIC")]
# A person takes back judgements of the same name alone. A page makes up a name that nobody can guess.
By = Annotated[str, option(metavar="NAME")]


def _shown(data: Any, notes: tuple[str, ...] = ()) -> Shown:
    """Return a value as a result that has no lines."""
    return Shown(list, lambda: data, notes=notes)


@operation(needs=Needs.NOTHING, faces=SERVICE)
def health(context: RequestContext) -> Shown:
    """Tell what the server has: indexes with their generations, files, operations and limits."""
    server = context.server
    return _shown(server.health())


@operation(needs=Needs.NOTHING, faces=SERVICE)
def indexes(context: RequestContext) -> Shown:
    """List the indexes of the server. The first is that of requests that name none."""
    return _shown(context.server.health()["indexes"])


@operation(needs=Needs.INDEX, faces=SERVICE)
def topics(context: RequestContext, loaded_topics: TopicsOfServer) -> Shown:
    """List the topics of a file, with the number of their judged and of their relevant documents."""
    rows = []
    for topic in loaded_topics:
        grades = context.server.grades(topic.qid)
        relevant = sum(grade > 0 for grade in grades.values())
        row = {"qid": topic.qid, "text": topic.text, "fields": dict(topic.fields), "judged": len(grades)}
        rows.append({**row, "relevant": relevant})
    return _shown(rows, loaded_topics.notes)


@operation(needs=Needs.INDEX, faces=SERVICE)
def judgements(context: RequestContext, topic: Qid, judgements: TopicsOfServer) -> Shown:
    """Return the grades of the judged documents of a topic."""
    known = judgements is not None and topic in judgements
    return _shown({"topic": topic, "grades": dict(judgements[topic]) if known else {}})


@operation(needs=Needs.INDEX, faces=SERVICE, changes=True)
def judge(
    context: RequestContext,
    topic: Qid,
    docno: Docno,
    grade: Annotated[int, option("--grade", least=-(2**31) + 1)],
    by: By = "",
) -> Shown:
    """Write the grade of a document for a topic into the file of judgements of the server.

    The answer comes when the judgement is on the disk. If the server has topics, the topic is one of them.

    Args:
        by: A name for whoever judges, with which `unjudge` takes the judgement back.
    """
    if docno not in context.index:
        raise UnknownDocument(f"No document {docno or repr(docno)} in {context.path}.")
    context.server.expect_topic(topic)
    return _shown(context.server.judge(topic, docno, grade, by))


@operation(needs=Needs.INDEX, faces=SERVICE, changes=True)
def unjudge(context: RequestContext, by: By = "") -> Shown:
    """Take back your last judgement in the file of judgements of the server. Those of others stay.

    Args:
        by: The name with which the judgement was made.
    """
    return _shown(context.server.unjudge(by))


@operation(needs=Needs.INDEX, faces=SERVICE)
def run(
    context: RequestContext,
    loaded_topics: TopicsOfServer,
    ranker: Ranker = None,
    k: RunHits = MOST_HITS,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    language: Language = "plain",
) -> Shown:
    """Run the topics of a file: a line of JSON for each topic, as soon as it is ranked."""
    index, pipeline = context.index, context.pipeline(ranker, profile)

    def lines() -> Iterator[dict[str, Any]]:
        queries = index.queries(loaded_topics, language)
        begin = time.perf_counter()
        answers = pipeline.answers(queries, k, 1, [topic.qid for topic in loaded_topics])
        for topic, answer in zip(loaded_topics, answers, strict=True):
            hits = [{"rank": hit.rank, "docno": hit.docno, "score": float(str(hit.score))} for hit in answer.hits]
            now = time.perf_counter()
            yield {"topic": topic.qid, "query": topic.text, "hits": hits, "seconds": now - begin}
            begin = now

    return Shown(list, list, forms={"ndjson": lines})


@operation(needs=Needs.INDEX, faces=SERVICE)
def reading(context: RequestContext, asked: Asked) -> Shown:
    """Tell how a query is read: its words with their terms and documents, unknown words, and pieces with styles."""
    from sublex.analysis.tokens import located_terms

    index, reader = context.index, context.generation.reader  # type: ignore[union-attr]
    pipeline = context.pipeline(asked.ranker, asked.profile)
    query = read_query(index, asked)
    language: LanguageName = "weighted" if asked.weighted else asked.language
    words = []
    for _, raw, terms in located_terms(index.analyzer, asked.query) if language == "plain" else ():
        for term in terms or [""]:
            known = index.snapshot.term(term) if term else None
            near = None if known or not term else reader.nearest(term, raw)
            state = "stop" if not term else "known" if known else "unknown"
            word: dict[str, Any] = {"text": raw, "term": term, "df": known.df if known else 0, "state": state}
            words.append({**word, "nearest": near.surface if near else ""})
    line = reader.read(asked.query, language) if language != "weighted" else None
    parts = [list(span) for span in line.spans] if line else []
    weights = [{"term": str(term), "weight": weight} for term, weight in query.weights().items()]
    found = {"words": words, "parts": parts, "terms": weights, "ranking": str(pipeline)}
    return _shown(found, tuple(reading_notes(context, asked, query, pipeline)))


@operation(needs=Needs.INDEX, faces=SERVICE)
def complete(
    context: RequestContext,
    text: Annotated[str, positional("TEXT")] = "",
    what: Literal["word", "expression"] = "word",
    number: Annotated[int, option("-n", least=1)] = 10,
) -> Shown:
    """Complete the end of a text: a word of the index, or what may follow in an expression.

    The result has the `word` at the end of the text, and `offers` that may stand in its place.
    """
    if what == "expression":
        return _shown(_expressions(context, text, number))
    blank = not text or text[-1].isspace()
    word = "" if blank else text.split()[-1]
    generation = context.generation
    assert generation is not None
    offers = []
    if word:
        vocabulary = generation.vocabulary
        found = vocabulary.beginning(word, number)
        known = {each.written for each in found}
        found += [each for each in vocabulary.spelt_alike(word, number) if each.written not in known]
        offers = [{"text": each.written, "help": f"{each.df:,}", "df": each.df} for each in found[:number]]
    return _shown({"word": word, "offers": offers})


def _expressions(context: RequestContext, text: str, number: int) -> dict[str, Any]:
    """Return what may follow in an expression: components, parameters, columns, names and fitted models."""
    from sublex.language.names import built_in
    from sublex.representations.stored_models import expressions_of

    index = context.index
    word, continuations = continuations_of(text, context.registry, index.snapshot.columns)
    offers = [(each, help) for each, help in continuations if begins(each, word)]
    if "raw" in dict(continuations):
        fitted = [each for entry in index.fitted.values() for each in expressions_of(entry)]
        named = {**built_in(index.names), **index.names, **dict.fromkeys(fitted, "fitted")}
        offers += [(each, help) for each, help in named.items() if begins(each, word)]
    return {"word": word, "offers": [{"text": each, "help": help} for each, help in offers[: min(number, OFFERED)]]}


@operation(needs=Needs.INDEX, faces=SERVICE)
def marks(context: RequestContext, asked: Asked, docno: Docno, expression: Model) -> Shown:
    """Return the words of a document with the labels, such as topics, that a fitted model gives to them."""
    index = context.index
    expression = context.meaning(expression)
    found = index.marks(read_query(index, asked), docno, expression)
    return _shown([each._asdict() for each in found])


@operation(needs=Needs.INDEX, faces=SERVICE)
def matches(context: RequestContext, asked: Asked, docno: Docno) -> Shown:
    """Return a document in pieces, each with the word of the query, after all expanders, that stands there, or ""."""
    return _shown(
        matches_of(
            context.index, context.pipeline(asked.ranker, asked.profile), read_query(context.index, asked), docno
        )
    )


@operation(needs=Needs.INDEX, faces=SERVICE)
def costs(context: RequestContext, asked: Asked) -> Shown:
    """Tell what each stage of an expression costs for a query: its milliseconds, and how many documents it hands on.

    The query is answered by the stages up to each one, several times; the least times count.
    """
    query, pipeline = read_query(context.index, asked), context.pipeline(asked.ranker, asked.profile)
    return _shown(costs_of(context.index, query, pipeline, asked.k))


@operation(name="into-study", needs=Needs.INDEX, faces=SERVICE)
def into_study(
    context: RequestContext,
    loaded_topics: TopicsOfServer,
    loaded_qrels: TopicsOfServer,
    rankers: Rankers = (),
    query: Annotated[str, positional("QUERY")] = "",
    measures: Measures = (),
    profile: Profile = None,
    language: Language = "plain",
) -> Shown:
    """Return rankings as a study: the text of a file that compares them on the topics of the server.

    The result has the text of the `study`, the name of its `file`, the `command` that runs the file, and the `topics` that are
    the query.
    """
    given = rankers or (str(context.pipeline(None, profile)),)
    for ranker in given:
        context.pipeline(ranker, profile)
    options = {"measures": tuple(measures)} if measures else {}
    unique = tuple(dict.fromkeys(given))
    found = study_of(
        context, loaded_topics, loaded_qrels, unique, query, profile=profile, language=language, options=options
    )
    return _shown(found, tuple(note_of(found, loaded_topics, query)))


@operation(needs=Needs.INDEX, faces=SERVICE)
def tree(context: RequestContext, expression: Annotated[str, positional("EXPR", completes="expression")]) -> Shown:
    """Return an expression as a tree: its stages, parts with weights, and components with all parameters and their ranges."""
    return _shown(tree_of(context.index, expression))


@operation(needs=Needs.INDEX, faces=SERVICE, changes=True)
def add(
    context: RequestContext,
    documents: Annotated[tuple[dict, ...], option()],
    duplicates: Literal["error", "first", "last"] = "error",
) -> Shown:
    """Add documents to an index: objects with a docno, a title, a text, and fields to store. All are added, or none."""
    index = context.index
    summary = index.add(list(documents), duplicates=duplicates, say=context.say)
    return _shown({"documents": len(index), "generation": index.generation, "indexed": summary.indexed})


OWN = (
    health,
    indexes,
    topics,
    judgements,
    judge,
    unjudge,
    run,
    reading,
    complete,
    marks,
    matches,
    tree,
    costs,
    into_study,
    add,
)
