"""Commands that rank: search, explain, run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import sublex
from sublex.base import Explanation
from sublex.cli.output import (
    clean,
    emit,
    folded,
    format_option,
    index_path,
    progress,
    say,
    say_if_compiling,
    say_uncovered,
    show_json,
)
from sublex.errors import SublexError

if TYPE_CHECKING:
    from sublex.pipeline.pipeline import Answer, Pipeline

profile_option = click.option(
    "--profile", help="Ranking defaults: sublex, anserini, terrier, pisa.  [default: the index's]"
)
uncovered_option = click.option(
    "--allow-uncovered", is_flag=True, help="Rank by models that lack documents; they have no opinion on these."
)
ranker_option = click.option("-r", "--ranker", metavar="EXPR", help="How to rank, for example 'BM25 >> RM3 >> BM25'.")


@click.command()
@click.argument("index")
@click.argument("query")
@ranker_option
@click.option("-k", default=10, show_default=True, type=click.IntRange(1), help="How many documents at most.")
@profile_option
@uncovered_option
@format_option("table", "json", "csv", "trec")
def search(
    index: str, query: str, ranker: str | None, k: int, profile: str | None, allow_uncovered: bool, form: str
) -> None:
    """Find the documents that fit QUERY best."""
    say_if_compiling()
    opened = sublex.open(index_path(index), allow_uncovered)
    say_uncovered(opened.pipeline(ranker, profile))
    answer = opened.answer(query, ranker, k, profile)
    hits = list(answer.hits)
    if form == "trec":
        from sublex.trec.run_names import tag_of
        from sublex.trec.run_writer import run_lines

        tag = tag_of(str(opened.pipeline(ranker, profile)))
        for lines in run_lines([("1", answer.hits.docnos, answer.hits.scores)], tag):
            click.echo(lines.tobytes(), nl=False)
        return
    if form != "table":
        head = ("rank", "score", "docno", "title", "passage")
        # A score in its shortest form as float32.
        scores = [float(str(score)) for score in answer.hits.scores]
        pairs = zip(hits, scores, strict=True)
        emit(form, head, [(hit.rank, score, hit.docno, *_shown(opened, answer, hit.doc)[:2]) for hit, score in pairs])
        return
    for hit in hits:
        title, text, spans = _shown(opened, answer, hit.doc)
        click.echo(
            f"{hit.rank:>3}  {hit.score:<9.6g} {click.style(clean(hit.docno), bold=True)}  {clean(title)}".rstrip()
        )
        if text:
            click.echo(folded(f"     {_marked(text, spans)}", 5))
    if not hits:
        words = " or ".join(term.term for term in answer.query.terms)
        alone = ranker is None or not opened.pipeline(ranker, profile).models
        found = f"holds {words}" if alone else f"is found by {ranker} for {words}"
        if not words:
            found = "is found: the analyzer leaves no word of the query"
        say(f"Nothing in {opened.path} {found}.")


def _shown(opened: Any, answer: Answer, doc: int) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    """Title, passage and matched words of a document, where texts are stored."""
    if "text" not in opened.store:
        return "", "", ()
    from sublex.pipeline.passages import passage

    document = opened.snapshot.stored(doc)
    found = passage(document.text, opened.analyzer, answer.query.weights())
    return document.title, found.text, found.spans


def _marked(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    parts, at = [], 0
    for begin, end in spans:
        parts += [clean(text[at:begin]), click.style(clean(text[begin:end]), bold=True)]
        at = end
    return "".join([*parts, clean(text[at:])])


@click.command()
@click.argument("index")
@click.argument("query")
@click.argument("docno")
@ranker_option
@profile_option
@uncovered_option
@format_option("table", "json")
def explain(
    index: str, query: str, docno: str, ranker: str | None, profile: str | None, allow_uncovered: bool, form: str
) -> None:
    """Take apart what DOCNO scores for QUERY, found or not."""
    say_if_compiling()
    opened = sublex.open(index_path(index), allow_uncovered)
    tree = opened.explain(query, docno, ranker, profile)
    if form == "json":
        show_json(_as_json(tree))
        return
    facts = dict(tree.evidence)
    rank, found = facts.pop("rank"), facts.pop("found")
    where = f"at rank {rank:,} of {found:,}" if rank else f"not among the {found:,} found"
    click.echo(f"{clean(docno)} is {where} by {opened.pipeline(ranker, profile)}\n")
    _draw(tree._replace(evidence=facts), 0)


def _draw(node: Explanation, depth: int) -> None:
    """A line a node; what is shown and not added stands in brackets."""
    value = "" if node.kind == "evidence" and not node.value else f"{node.value + 0:.6g}"
    value = f"({value})" if node.kind == "evidence" and value else value
    sign = {"product": "product of", "scaled": "factor times, plus offset"}.get(node.kind, "") if node.parts else ""
    facts = "; ".join(f"{name} {_fact(fact)}" for name, fact in node.evidence.items())
    line = (
        f"{value:>12}  {'  ' * depth}{node.label}" + (f" ({sign})" if sign else "") + (f"  [{facts}]" if facts else "")
    )
    click.echo(folded(clean(line.rstrip()), 16 + 2 * depth))
    for part in node.parts:
        _draw(part, depth + 1)


def _fact(fact: Any) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{key} {_fact(value)}" for key, value in fact.items())
    if isinstance(fact, (list, tuple)):
        return ", ".join(map(_fact, fact))
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def _as_json(node: Explanation) -> dict[str, Any]:
    value = node.value if abs(node.value) != float("inf") else None
    parts = [_as_json(part) for part in node.parts]
    return {"value": value, "label": node.label, "kind": node.kind, "evidence": dict(node.evidence), "parts": parts}


@click.command()
@click.argument("index")
@click.argument("topics")
@click.option(
    "-r", "--ranker", "rankers", metavar="EXPR", multiple=True, help="How to rank; may be given several times."
)
@click.option("-k", default=1000, show_default=True, type=click.IntRange(1), help="How many documents a topic at most.")
@click.option("-o", "--output", default=".", show_default=True, metavar="DIR", help="Where the runs are written.")
@click.option("--fields", default="title", show_default=True, help="What of a topic is the query, as in title+desc.")
@click.option(
    "--metadata", type=click.Choice(("sidecar", "header", "none")), default="sidecar", show_default=True,
    help="What made the run: in a file beside it, in # lines at its head, or nowhere.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(1), help="Threads.  [default: all cores]")
@profile_option
@uncovered_option
@click.pass_context
def run(
    context: click.Context, index: str, topics: str, rankers: tuple[str, ...], k: int, output: str, fields: str,
    metadata: str, workers: int | None, profile: str | None, allow_uncovered: bool,
) -> None:  # fmt: skip
    """Run the queries of TOPICS and write a TREC run for each -r."""
    from sublex.pipeline.running import write

    say_if_compiling()
    opened = sublex.open(index_path(index), allow_uncovered)
    asked = sublex.read_topics(topics, fields)
    say(str(asked))
    for note in asked.notes:
        say(note)
    made: dict[str, Pipeline] = {}
    failed = False
    for ranker in rankers or (None,):
        try:
            pipeline = opened.pipeline(ranker, profile)
            if str(pipeline) in made:
                say(f"{ranker} is {pipeline} again, and is run once.")
            say_uncovered(pipeline)
            made[str(pipeline)] = pipeline
        except SublexError as error:
            failed = True
            click.echo(f"sublex: {error}", err=True)
    for pipeline in made.values():
        with progress(str(pipeline), "topics", len(asked)) as advance:
            done = write(opened, asked, pipeline, k, Path(output), metadata, workers, advance)
        if done.replaced:
            say(f"The {done.path} that was there {done.replaced}; it is replaced.")
        click.echo(f"{done.path}  {done.times}")
    if failed:
        context.exit(2)
