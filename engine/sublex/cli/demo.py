"""`sublex demo`: the whole job on the demo collection, and what to try next."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sublex.base import Explanation
from sublex.cli.output import draw, home, progress, say, say_if_compiling, table
from sublex.errors import InputError

if TYPE_CHECKING:
    from sublex.pipeline.index import Index

RANKERS = ("TFIDF", "BM25", "PL2", "BM25 >> RM3 >> BM25")
FITTED = ("fisher(k=4)", "dcot")
# What none of the words of this query says.
BENEATH = "river floods"


def folder() -> Path:
    """Where the demo collection is: in the installed package, or in a checkout's `queries/demo`."""
    package = Path(__file__).parents[1]
    for place in (package / "demo", package.parents[1] / "queries" / "demo"):
        if (place / "documents.jsonl").is_file():
            return place
    raise InputError("The demo collection is not installed with this copy of Sublex.")


def _spare(path: Path, documents: Path) -> None:
    """Refuse to replace an index of anything but the demo's documents."""
    import sublex

    if (path / "index.json").exists():
        known = {json.loads(line)["id"] for line in documents.read_text(encoding="utf-8").splitlines()}
        if not known.issuperset(sublex.open(path).snapshot.all_docnos.tolist()):
            raise InputError(
                f"{path} holds documents of your own, which the demo would replace; move or remove it first."
            )


@click.command()
@click.option(
    "-o", "--output", default="demo.html", show_default=True, metavar="FILE", help="Where the report is written."
)
def demo(output: str) -> None:
    """Index, rank, compare and report the demo collection."""
    import sublex
    from sublex.evaluation.comparison import compare
    from sublex.evaluation.systems import run_system
    from sublex.report.page import check_report_path, write_report

    check_report_path(output)
    collection, path = folder(), home() / "demo"
    _spare(path, collection / "documents.jsonl")
    say_if_compiling()
    index = sublex.build(collection / "documents.jsonl", path, overwrite=True, say=say)
    s = index.statistics
    click.echo(f"Indexed {s.docs:,} documents with {s.tokens:,} tokens to {path}")
    click.echo("\nWords with several senses in it:")
    found = [index.term(term) for word in ("crane", "bank", "seal", "pitch", "mercury") for term in index.analyze(word)]
    table([(t.surface, t.df, t.cf) for t in found if t], ("word", "documents", "occurrences"))
    topics, qrels = collection / "topics.trec", collection / "qrels.txt"
    asked = sublex.read_topics(topics)
    click.echo(
        f"\nIts {len(asked)} topics by {len(RANKERS)} rankers; after a figure, the letters of the systems that it beats:"
    )
    with progress("Ranking", "rankers", len(RANKERS)) as advance:
        systems = []
        for ranker in RANKERS:
            systems.append(run_system(index, asked, index.pipeline(ranker)))
            advance(len(systems))
    comparison = compare(systems, sublex.read_qrels(qrels), asked, ["AP", "nDCG@10", "P@10", "R@1000", "RR"], index)
    draw(comparison.table())
    for sentence in comparison.headlines():
        click.echo(f"* {sentence}")
    command = ["sublex", "compare", "demo", str(topics), str(qrels)]
    for ranker in RANKERS:
        command += ["-r", ranker]
    write_report(comparison, output, shlex.join([*command, "-o", output]))
    click.echo(f"\nThe report is {output}: topic by topic, curves, agreement. Open it in a browser.")
    _beneath(index)
    click.echo("\nTry next:")
    _try_next(topics, qrels)


def _beneath(index: Index) -> None:
    """Fit two representations, and show what they find without the words."""
    click.echo("\nBeneath the words:")
    words = {hit.docno for hit in index.search(BENEATH, "BM25", k=1000)}
    for expression in FITTED:
        index.fit(expression)
        hit = next(hit for hit in index.search(BENEATH, expression, k=1000) if hit.docno not in words)
        named = _evoked(index.explain(BENEATH, hit.docno, expression))
        click.echo(
            f"* {expression} ranks {hit.docno}, {index.document(hit.docno).title!r}, at {hit.rank} for {BENEATH!r}, "
            f"of which it has no word, because of {', '.join(named)}"
        )


def _evoked(tree: Explanation) -> list[str]:
    """The words of the document, or the prototypes, that add most."""
    added: dict[str, float] = {}
    for part in tree.parts:
        for leaf in part.parts or (part,):
            if not leaf.label[0].isdigit():
                added[leaf.label] = added.get(leaf.label, 0.0) + leaf.value
    return sorted(added, key=added.__getitem__, reverse=True)[:4]


def _try_next(topics: Path, qrels: Path) -> None:
    files = f"{shlex.quote(str(topics))} {shlex.quote(str(qrels))}"
    for command in (
        "search demo 'cranes by the river'",
        "explain demo 'cranes by the river' river-08",
        "search demo 'river floods' -r 'PL2 + 0.3*fisher(k=4)'",
        "explain demo 'cranes by the river' river-08 -r dcot",
        f"run demo {shlex.quote(str(topics))} -r BM25 -r 'BM25 >> RM3 >> BM25' -o runs",
        f"compare demo {files} -r BM25 -r 'BM25(k1=0.9, b=0.4)' -r DPH -o report.html",
        "info demo",
        "terms demo 'cran*'",
        "analyze --index demo 'The cranes were craning'",
    ):
        click.echo(f"  sublex {command}")
