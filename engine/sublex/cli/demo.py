"""The command `demo`, which shows the main functions of Sublex on the demo collection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

import sublex
from sublex.contracts.base import Explanation
from sublex.errors import InputError
from sublex.faces.output import print_figures, print_table, say, show
from sublex.faces.progress import progress
from sublex.forms.lines import Shown
from sublex.index.lookup import index_home
from sublex.operations import Needs, OperationContext, operation, option
from sublex.operations.parameters import OverwriteFile
from sublex.tools.demo_collection import demo_folder
from sublex.tools.messages import command_line, shell_word

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison
    from sublex.pipeline.index import Index

RANKERS = ("TFIDF", "BM25", "PL2", "BM25 >> RM3 >> BM25")
MEASURES = ("AP", "nDCG@10", "P@10", "R@1000", "RR")
# Words of the demo collection that have several senses.
AMBIGUOUS = ("crane", "bank", "seal", "pitch", "mercury")
# Fitted models, and a query. Each model finds a document that contains no word of the query.
MODELS = ("fisher(k=4)", "dcot")
QUERY = "river floods"
# A model of word senses, and a query of one word that has several senses. The demo collection is too small for
# near=contexts.
SENSES = "swg(topics=lda(k=8), near=edges, rho=0.1)"
WORD = "mercury"


@operation(needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def demo(
    context: OperationContext,
    output: Annotated[str, option("-o", "--output", metavar="FILE", completes="file")] = "demo.html",
    overwrite: OverwriteFile = False,
) -> Shown:
    """Index, rank, compare and report the demo collection.

    The index is called demo. The last lines name commands to try next.

    Args:
        output: Write the report to FILE.

    Examples:
        sublex demo
        sublex demo -o report.html
    """
    from sublex.report.page import check_report_path

    check_report_path(output, overwrite)
    collection, path = demo_folder(), index_home() / "demo"
    topics, qrels = collection / "topics.trec", collection / "qrels.txt"
    _check_replaceable(path, collection / "documents.jsonl")
    context.prepare("analyze order-terms build read-json search demo")
    index = sublex.build(collection / "documents.jsonl", path, overwrite=True, say=say)
    statistics = index.statistics
    show(f"Indexed {statistics.docs:,} documents with {statistics.tokens:,} tokens to {path}")
    click.echo("\nWords with several senses in the collection:")
    terms = [index.snapshot.term(term) for word in AMBIGUOUS for term in index.analyze(word)]
    print_table([(term.surface, term.df, term.cf) for term in terms if term], ("word", "documents", "occurrences"))
    comparison = _compare(index, topics, qrels)
    _write_report(comparison, topics, qrels, output, overwrite)
    click.echo()
    show(f"The report is {output}: topic by topic, curves, agreement. Open it in a browser.")
    _search_beyond_words(index)
    _search_by_sense(index)
    _print_commands(topics, qrels)
    return Shown(list)


def _check_replaceable(path: Path, documents: Path) -> None:
    """Raise InputError if an index exists whose documents are not those of the demo."""
    if (path / "index.json").exists():
        known = {json.loads(line)["id"] for line in documents.read_text(encoding="utf-8").splitlines()}
        if not known.issuperset(sublex.open(path).snapshot.all_docnos.tolist()):
            raise InputError(
                f"{path} holds documents of your own, which the demo would replace; move or remove it first."
            )


def _compare(index: Index, topics: Path, qrels: Path) -> Comparison:
    """Run the rankers on the demo's topics, and print a comparison."""
    from sublex.evaluation.comparison import compare
    from sublex.evaluation.systems import run_system

    queries = sublex.read_topics(topics)
    click.echo(
        f"\n{len(RANKERS)} rankers on {len(queries)} topics; the letters after a figure are the systems it beats:"
    )
    with progress("Ranking", "rankers", len(RANKERS)) as advance:
        systems = []
        for ranker in RANKERS:
            systems.append(run_system(index, queries, index.pipeline(ranker)))
            advance(len(systems))
    comparison = compare(systems, sublex.read_qrels(qrels), queries, MEASURES, index)
    print_figures(comparison.table())
    for sentence in comparison.headlines():
        click.echo(f"* {sentence}")
    return comparison


def _write_report(comparison: Comparison, topics: Path, qrels: Path, output: str, overwrite: bool) -> None:
    from sublex.report.page import write_report

    rankers = [word for ranker in RANKERS for word in ("-r", ranker)]
    command = ["sublex", "compare", "demo", str(topics), str(qrels), *rankers, "-o", output]
    write_report(comparison, output, command_line(command), overwrite)


def _search_beyond_words(index: Index) -> None:
    """Fit two models. For each, print a document that it finds although the document contains no word of the query."""
    click.echo("\nFitted models find documents without the words of the query:")
    matching = {hit.docno for hit in index.search(QUERY, "BM25", k=1000)}
    for expression in MODELS:
        index.fit(expression)
        pipeline = index.pipeline(expression)
        hit = next(hit for hit in index.search(QUERY, pipeline, k=1000) if hit.docno not in matching)
        reasons = ", ".join(_largest_parts(index.explain(QUERY, hit.docno, pipeline)))
        title = index.document(hit.docno).title
        click.echo(f"* {expression} ranks {hit.docno}, {title!r}, at {hit.rank} for {QUERY!r}, by the words {reasons}")


def _search_by_sense(index: Index) -> None:
    """Fit word graphs, and print the first documents for an ambiguous word before and after choosing its sense."""
    click.echo(f"\nWord graphs learn the senses of a word, and you choose one. The first documents for {WORD!r}:")
    index.fit(SENSES)
    graphs: Any = index.fitted_model(SENSES).model.graphs
    number = graphs.numbers[index.analyze(WORD)[0]]
    rankings = [("BM25 alone", "BM25")]
    for sense in graphs.senses(number):
        near = [index.snapshot.term(graphs.vocabulary[word]) for word, _ in graphs.neighbours(number, sense.topic, 3)]
        words = ", ".join(term.surface for term in near if term)
        rankings.append((f"as in {words}", f'{SENSES[:-1]}, senses=["{WORD}:{sense.topic}"]) >> BM25'))
    for label, expression in rankings:
        titles = [index.document(hit.docno).title for hit in index.search(WORD, expression, k=2)]
        show(f"* {label}: {'; '.join(titles)}")


def _largest_parts(tree: Explanation) -> list[str]:
    """Return the words or prototypes that add most to a score, at most four."""
    values: dict[str, float] = {}
    for part in tree.parts:
        for leaf in part.parts or (part,):
            if not leaf.label[0].isdigit():
                values[leaf.label] = values.get(leaf.label, 0.0) + leaf.value
    return sorted(values, key=values.__getitem__, reverse=True)[:4]


def _print_commands(topics: Path, qrels: Path) -> None:
    """Print commands to try next."""
    click.echo("\nTry next:")
    files = command_line([str(topics), str(qrels)])
    for command in (
        "shell demo",
        "search demo 'cranes by the river'",
        "explain demo 'cranes by the river' river-08",
        "search demo 'river floods' -r 'PL2 + 0.3*fisher(k=4)'",
        "explain demo 'cranes by the river' river-08 -r dcot",
        f"senses demo bank '{SENSES}'",
        f"run demo {shell_word(str(topics))} -r BM25 -r 'BM25 >> RM3 >> BM25' -o runs",
        f"compare demo {files} -r BM25 -r 'BM25(k1=0.9, b=0.4)' -r DPH -o report.html",
        "info demo",
        "terms demo 'cran*'",
        "analyze --index demo 'The cranes were craning'",
    ):
        show(f"  sublex {command}")
