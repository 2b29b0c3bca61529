"""The commands that exchange indexes with other engines as CIFF files: ciff export, ciff import."""

from __future__ import annotations

from typing import Any

import click

from sublex.cli import completion
from sublex.cli.commands.index import report
from sublex.cli.lookup import open_index
from sublex.cli.options import examples, format_option, index_argument, workers_option
from sublex.cli.steps import step, verbose_option
from sublex.faces.compiling import say_if_compiling
from sublex.faces.interrupts import reporting_interrupts
from sublex.faces.output import print_help, print_json, print_table, say, show
from sublex.faces.progress import progress
from sublex.index.lookup import index_path

file_argument = click.argument("file", metavar="FILE", shell_complete=completion.files)


@click.group(
    invoke_without_command=True,
    epilog=examples("sublex ciff export demo demo.ciff.gz", "sublex ciff import copy demo.ciff.gz --analyzer english"),
)
@click.pass_context
def ciff(context: click.Context) -> None:
    """Write and read CIFF files, in which engines exchange postings.

    CIFF is the Common Index File Format: Anserini, PISA, Terrier, JASS, OldDog and others read or write it.
    """
    print_help(context)


@ciff.command("export", epilog=examples("sublex ciff export demo demo.ciff", "sublex ciff export demo demo.ciff.gz"))
@index_argument
@file_argument
@workers_option
@format_option("table", "json")
@verbose_option
def export_file(name: str, file: str, workers: int | None, form: str) -> None:
    """Write an index as a CIFF file.

    FILE is compressed if its name ends in .gz; - is standard output, not compressed. It holds terms, postings, document
    lengths and docnos. Deleted documents are left out, and the others are numbered anew. CIFF carries no texts, no
    written forms of words and no analyzer; the description in the file names the analyzer for people.
    """
    from sublex.other_engines.ciff.write_ciff import write_ciff
    from sublex.tools.arguments import threads

    snapshot = open_index(name, allow_uncovered=True).snapshot
    say_if_compiling("order-terms export")
    with step(f"Wrote {file}"), progress(f"Writing {file}", "terms") as advance:
        done = write_ciff(snapshot, "/dev/stdout" if file == "-" else file, threads(workers), advance)
    say(
        f"Left out, for CIFF does not carry it: texts, written forms of words, and the analyzer {snapshot.analyzer_expression}."
    )
    if file == "-":
        return
    if form == "json":
        counts = {"documents": done.docs, "terms": done.terms, "postings": done.postings, "deleted": done.deleted}
        print_json({"file": file, **counts, "bytes": done.nbytes})
        return
    show(f"File {file}")
    rows = [("documents", done.docs), ("terms", done.terms), ("postings", done.postings), ("bytes", done.nbytes)]
    print_table([*rows, ("deleted documents (left out)", done.deleted)])


@ciff.command(
    "import",
    epilog=examples(
        "sublex ciff export demo demo.ciff.gz",
        "sublex ciff import copy demo.ciff.gz --profile anserini",
    ),
)
@index_argument
@file_argument
@click.option(
    "--analyzer",
    metavar="ANALYZER",
    shell_complete=completion.named("analyzer"),
    show_default="the profile's",
    help="The analyzer that made the terms of the file, such as 'english(stop=none)'; queries go through it.",
)
@click.option(
    "--profile",
    metavar="PROFILE",
    shell_complete=completion.profiles,
    show_default="sublex, if an analyzer is given",
    help="Defaults of the rankers, and of the analyzer: sublex, anserini, terrier or pisa.",
)
@workers_option
@click.option("--overwrite", is_flag=True, help="Replace an existing index when the new one is finished.")
@format_option("table", "json")
@verbose_option
def import_file(name: str, file: str, form: str, **options: Any) -> None:
    """Make an index from a CIFF file.

    FILE may be compressed; - is standard input. The new index ranks as any other, and models that read terms can be
    fitted to it. It has no texts, since CIFF carries none. CIFF carries no analyzer either: --analyzer or --profile
    names the one that made the terms.
    """
    from sublex.building.writer import existing_index
    from sublex.language import plugins
    from sublex.other_engines.ciff.ciff_file import CiffFile
    from sublex.other_engines.ciff.read_ciff import analyzer_for, read_ciff

    path, registry = index_path(name), plugins.load()
    existing_index(path, options["overwrite"])
    with CiffFile(file) as source:
        options["analyzer"] = analyzer_for(source, options["analyzer"], options["profile"], registry)
        say_if_compiling("analyze number-terms import")
        with step(f"Made {path}"), progress(f"Reading {file}", "terms") as advance, reporting_interrupts(path):
            summary = read_ciff(path, source, progress=advance, registry=registry, **options)
    report(path, summary, form)
