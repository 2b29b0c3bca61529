"""Operations that find documents: for a query, like another document, by several rankers side by side.

And their facets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from sublex.contracts.operators import Operator
from sublex.errors import InputError, UnknownName
from sublex.forms.lines import Shown, line
from sublex.operations.context import OperationContext
from sublex.operations.declaring import operation, option, positional
from sublex.operations.parameters import Asked, Docno, HitCount, LanguageName, Profile, Rankers, Ranking
from sublex.tools.messages import Step, shell_word

if TYPE_CHECKING:
    from sublex.contracts.base import Query
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Answer, Pipeline

# Labels of facets are counted in at least this number of hits. A retrieval finds the same number of candidates.
DEPTH = 1000
# The number of labels that are shown.
LABELS = 10


def call_code(method: str, given: Mapping[str, Any], *args: str, **options: Any) -> str:
    """Return Python code that calls a ranking method of `index` with the query and the ranker in `given`.

    `args` are further arguments, as code, and `options` further arguments with names.
    """
    query = repr(given["query"])
    if given["weighted"]:
        from sublex.pipeline.weighted import weighted_query

        terms = weighted_query(given["query"]).terms
        listed = ", ".join(f"sublex.contracts.base.QueryTerm({_term_code(t.term)}, {t.weight!r})" for t in terms)
        query = f"sublex.contracts.base.Query({query}, ({listed},))"
    ranker = [repr(given["ranker"])] if given["ranker"] else []
    language = given["language"] if given["language"] != "plain" and not given["weighted"] else None
    vectors = dict(text.split("=", 1) for text in given["queries"]) or None
    named = {**options, "profile": given["profile"], "language": language, "queries": vectors}
    last = [f"{n}={v!r}" for n, v in named.items() if v is not None]
    last += [f"judged=sublex.read_qrels({given['judged']!r})[{given['qid']!r}]"] if given["judged"] else []
    return f"index.{method}({', '.join([query, *args, *ranker, *last])})"


def _term_code(term: str) -> str:
    """Return the Python code of a term or an operator."""
    return f"sublex.contracts.operators.operator({str(term)!r})" if isinstance(term, Operator) else repr(term)


def search_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `search`. A document that the session leaves out of the hits is not left out."""
    without = given["without"]
    searched = call_code("search", given, k=given["k"] + bool(without))
    return f"{searched}.without(index.doc({without!r})).first({given['k']})" if without else searched


@operation(faces=("cli", "service"), forms=("table", "json", "csv", "trec"), python=search_code, prints="hits")
def search(
    context: OperationContext,
    asked: Asked,
    facets: Annotated[int | None, option(least=1)] = None,
    of: Annotated[
        tuple[str, ...], option(metavar="NAME", completes="column or model", shown="the model of the ranker")
    ] = (),
    show: Annotated[tuple[str, ...], option(metavar="NAMES", completes="column")] = (),
    start: Annotated[int, option("--from", least=1)] = 1,
    docnos: bool = False,
    parts: bool = False,
) -> Shown:
    """Find the documents that match QUERY best.

    Each hit is shown with its rank, score, docno and title, and with the passage of its text that matches best. Any text
    is a query; write -- before a query that begins with a dash.

        Args: facets: Count the documents found by the values of a column, or by the labels of a fitted model, such as
        topics, and show the N most frequent. of: A column, such as year, or a fitted model, such as lda(k=20), that
        --facets counts; may be given several times. show: Show the values of these columns, such as year,category; that
        of a sort stage is shown anyway. start: Show the hits from this rank on; -k is their number. docnos: Show ranks,
        scores and docnos alone; read no titles and texts, and say nothing of the words of the query. parts: In JSON,
        also cut titles and passages into pieces, each with the term of the query that it matches, or "".

    Examples:
        sublex search demo "cranes by the river"
        sublex search demo "cranes by the river" -k 3 -r "PL2 + 0.3*DirichletLM"
        sublex search demo "cranes by the river" -r "BM25 >> RM3 >> BM25"
    """
    from sublex.contracts.operators import NOTHING
    from sublex.display.hits import NO_EXTRAS, hits, nothing_found, trec_lines
    from sublex.pipeline.judged import judged_notes
    from sublex.pipeline.missing_words import corrections, left_out_notes, missing_notes

    if of and facets is None:
        raise InputError("--of names a column or the model of --facets; write for example --facets 10, too.")
    give(context, asked)
    index, pipeline = context.index, context.pipeline(asked.ranker, asked.profile)
    last = start + asked.k - 1
    named = [name.strip() for name in ",".join(show).split(",") if name.strip()]
    for name in named:
        index.snapshot.need_column(name)
    counted = _counted(context, of, lambda: _labelled(index, pipeline)) if facets else []
    context.prepare("analyze search", index, once=not pipeline.expands)
    query = read_query(index, asked)
    with context.step(f"Ranked by {pipeline}"):
        found = answered(index, query, pipeline, max(last, context.least_hits, DEPTH if counted else 0), asked.without)
    answer = found._replace(hits=found.hits.first(last))
    context.remember(query=query, answer=answer, used=asked.ranker, found=found.hits, like=asked.without)
    with context.step("Compared the words of the query with those of the index"):
        looked_up = pipeline.reads_plain_words and pipeline.scores_words and not docnos
        missing = index.snapshot.missing(query) if looked_up else {}
        corrected = corrections(index.snapshot, missing)
    notes = [*pipeline.notes, *judged_notes(pipeline, [query])]
    notes += [] if docnos else reading_notes(context, asked, query, pipeline)
    if query.terms and not pipeline.scores_words:
        notes.append(
            f"{pipeline} alone lists documents, whatever the words are; for a ranking of them: BM25 >> {pipeline}."
        )
    # If nothing is found because no word is known, one sentence is enough.
    if len(answer.hits) or corrected or len(missing) < len(query.weights()):
        notes += missing_notes(missing, corrected)
    if not docnos:
        notes += left_out_notes(pipeline.left_out(query), missing.values())
    # If a query cannot find anything, its notes give the reason.
    if not len(answer.hits) and not corrected and query.condition != NOTHING:
        notes.append(nothing_found(index, query, pipeline))
    columns = tuple(dict.fromkeys((*pipeline.sorted_by, *named)))
    extras = (context.extras or NO_EXTRAS)._replace(columns=columns, start=start, docnos=docnos, parts=parts)
    shown = hits(index, answer, extras)

    def data() -> dict[str, Any]:
        return {"hits": shown.data, "missing": list(missing.values())}

    if not counted:
        forms = {"trec": lambda: trec_lines(answer, pipeline, context.topic, start)}
        return Shown(lambda: shown.lines, data, shown.head, shown.rows, notes, forms=forms)
    labels = _facets(index, query, pipeline, counted, facets or LABELS, asked.without)
    below = [line(), *labels.lines] if len(answer.hits) or corrected else []
    return Shown(lambda: [*shown.lines, *below], lambda: {**data(), **labels.data}, notes=notes)


def read_query(index: Index, asked: Asked) -> Query:
    """Return the query that a user gave as text or as weighted terms, with the judgements of its topic."""
    from sublex.pipeline.weighted import weighted_query

    if asked.weighted and asked.language != "plain":
        raise InputError("Weighted terms are in no language; leave out --weighted, or --language.")
    judged = index.judged[asked.qid] if index.judged is not None and asked.qid in index.judged else None
    text = weighted_query(asked.query) if asked.weighted else asked.query
    return index.query(text, asked.language, judged=judged)


def give(context: OperationContext, asked: Asked) -> None:
    """Give the index what the user gives besides a query: vectors and judgements."""
    context.give_queries(asked.queries)
    context.give_judged(asked.judged, asked.qid if asked.judged or asked.qid else None)


def language_of(language: LanguageName, weighted: bool) -> LanguageName:
    """Return the language of topics. The option --weighted also names a language. Raise InputError if the user names two."""
    if weighted and language == "query":
        raise InputError("Weighted terms are in no language; leave out --weighted, or --language.")
    return "weighted" if weighted else language


def reading_notes(context: OperationContext, asked: Asked, query: Query, pipeline: Pipeline) -> list[str]:
    """Return sentences about parts of a query's text that are not read as users may expect."""
    from sublex.pipeline.query_forms import language_notes, query_notes

    if query.tree is not None:
        return language_notes(asked.query, query)
    return [] if asked.weighted else query_notes(context.index, asked.query, pipeline, context.language_option)


def answered(index: Index, query: Query, pipeline: Pipeline, k: int, without: str = "") -> Answer:
    """Return the best k documents for a query of the index, without the document with the docno `without`."""
    found = pipeline.answer(query, k + bool(without))
    return found._replace(hits=found.hits.without(index.doc(without)).first(k)) if without else found


def facets_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `facets`; "" if no name is given, or if `Index.facets` cannot do the same."""
    of, number = given["of"], given["number"]
    if not of or given["without"] or given["queries"] or given["judged"]:
        return ""
    counted = call_code("facets", given, repr(of[0] if len(of) == 1 else list(of)))
    if len(of) == 1:
        return f"{counted}[:{number}]"
    return f"{{name: counts[:{number}] for name, counts in {counted}.items()}}"


@operation(faces=("shell", "service"), python=facets_code)
def facets(
    context: OperationContext,
    asked: Asked,
    of: Annotated[tuple[str, ...], positional("NAME", completes="column or model")] = (),
    number: Annotated[int, option("-n", least=1)] = LABELS,
) -> Shown:
    """Count the documents found for the last query by the values of columns, or by the labels of fitted models, such as topics.

    A column counts all documents found; labels, and columns if a representation ranks, count the first 1,000. Without
    NAME, the model is the one in the expression.

    Args:
        number: Values or labels to show.
    """
    give(context, asked)
    index, pipeline = context.index, context.pipeline(asked.ranker, asked.profile)
    counted = _counted(context, of, lambda: _labelled(index, pipeline, lambda model: Step("facets", "INDEX", model)))
    shown = _facets(index, read_query(index, asked), pipeline, counted, number, asked.without)
    shown.step = search.step({**asked._asdict(), "facets": number, "of": tuple(counted)}, index.path)
    return shown


def _labelled(
    index: Index, pipeline: Pipeline, naming: Callable[[str], object] = lambda model: f"--of {shell_word(model)}"
) -> str:
    from sublex.pipeline.labelled import labelled_model

    return labelled_model(index, pipeline, naming)


def _counted(context: OperationContext, of: tuple[str, ...], labelled: Callable[[], str]) -> list[str]:
    """Return the columns and the expressions of the models that a user names; without any, the model that has labels."""
    columns = context.index.snapshot.columns
    try:
        return list(dict.fromkeys(name if name in columns else context.meaning(name) for name in of)) or [labelled()]
    except UnknownName:
        from sublex.pipeline.facets import refuse_unknown

        for name in of:
            refuse_unknown(context.index, name)
        raise


def _facets(index: Index, query: Query, pipeline: Pipeline, counted: list[str], number: int, without: str) -> Shown:
    from sublex.display.facets import facets as shown
    from sublex.pipeline.facets import facets_of

    left_out = index.doc(without) if without else None
    return shown([facets_of(index, query, pipeline, of, without=left_out) for of in counted], number)


def similar_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `similar`, which finds the nearest documents of a document in a graph."""
    graph = f", {given['ranker']!r}" if given["ranker"] else ""
    return f"index.similar({given['docno']!r}, {given['k']}{graph})"


@operation(forms=("table", "json", "csv"), python=similar_code, prints="hits")
def similar(
    context: OperationContext,
    docno: Docno,
    ranker: Annotated[str | None, positional("EXPR", completes="model")] = None,
    k: HitCount = 10,
    profile: Profile = None,
    ranking: Ranking = None,
) -> Shown:
    """Find documents like another one, by a fitted graph or by its best terms.

    EXPR is a fitted graph, such as near(lsi), or a representation, such as lsi(e=50), which compares the text of the
    document. Without EXPR, a fitted graph is taken; without a graph, the 25 best terms of the document are the query. The
    document itself is left out. In the shell, its best terms become the last query; for a representation, its text does.

    Examples:
        sublex similar demo birds-05
    """
    from sublex.pipeline.likeness import graphs, like_document

    index = context.index
    graph = _graph(context, ranker) if ranker else next(iter(graphs(index)), None)
    if graph:
        return _near(context, docno, graph, k, profile, ranking)
    query = index.document(docno).contents if ranker else like_document(index, docno).text
    asked = Asked(query, ranker or ranking, k, profile, weighted=not ranker, without=docno)
    return context.ask(search, **asked._asdict())


def _graph(context: OperationContext, expression: str) -> str | None:
    """Return the graph of near documents that an expression names; None for an expression of another kind."""
    from sublex.language.expression import Call

    written = context.index.written_out(expression)
    is_graph = isinstance(written, Call) and written.name.lower() == "near"
    return context.meaning(expression) if is_graph else None


def _near(context: OperationContext, docno: str, graph: str, k: int, profile: str | None, ranking: str | None) -> Shown:
    """Return the nearest documents of a document in a graph as Shown. Its best terms become the last query, for passages too."""
    from sublex.contracts.base import Query
    from sublex.display.hits import NO_EXTRAS, hits
    from sublex.pipeline.likeness import graphs, like_document
    from sublex.pipeline.pipeline import Answer

    index = context.index
    context.prepare("analyze", index)
    with context.step(f"Looked into {graph}"):
        found = index.similar(docno, k, graph)
    query = like_document(index, docno) if index.store & {"text", "terms"} else Query("", ())
    answer = Answer(query, found, 0.0)
    context.remember(query=query, answer=answer, used=ranking, found=found, like=docno)
    shown = hits(index, answer, context.extras or NO_EXTRAS)
    others = [other for other in graphs(index) if other != graph]
    also = f"; also fitted: {', '.join(others)}" if others else ""
    note = f"The documents nearest to {docno} in {graph}, with their cosines{also}."
    result = Shown(lambda: shown.lines, lambda: {"graph": graph, "hits": shown.data}, shown.head, shown.rows, [note])
    result.step = similar.step({"docno": docno, "ranker": graph, "k": k, "profile": profile}, index.path)
    return result


def versus_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `versus`, which shows rankings side by side."""
    rankers = compared(given["rankers"], given["ranking"])
    return f"zip({', '.join(search_code({**given, 'ranker': ranker}) for ranker in rankers)})"


def compared(rankers: tuple[str, ...], ranking: str | None) -> tuple[str, ...]:
    """Return the rankers to compare. A single ranker is compared with `ranking`, the expression of the session."""
    return (ranking or "BM25", *rankers) if len(rankers) == 1 else rankers


@operation(faces=("shell", "service"), python=versus_code, prints="rows", forms=("table", "json", "csv"))
def versus(context: OperationContext, rankers: Rankers, asked: Asked, ranking: Ranking = None) -> Shown:
    """Show the rankings of several expressions for the last query side by side.

    Put an expression with blanks in quotes: :versus BM25 'PL2 + 0.3*dcot'. The others are compared with the first. With one
    expression, the first is that of the session.
    """
    from sublex.display.versus import versus as shown
    from sublex.pipeline.side_by_side import NamedRanking

    give(context, asked)
    index, query = context.index, read_query(context.index, asked)
    rankings = []
    pipelines = [context.pipeline(ranker, asked.profile) for ranker in compared(rankers, ranking)]
    context.say(*dict.fromkeys(note for pipeline in pipelines for note in pipeline.chosen))
    for pipeline in pipelines:
        found = answered(index, query, pipeline, asked.k, asked.without)
        rankings.append(NamedRanking(str(pipeline), found.hits.docnos))
    return shown(rankings, context.width)
