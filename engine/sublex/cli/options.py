"""Arguments and options that several commands share, so that they have the same name, type and help everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sublex.cli import completion
from sublex.errors import InputError
from sublex.faces.output import CSV

Decorator = Callable[[Any], Any]

index_argument = click.argument("name", metavar="INDEX", shell_complete=completion.indexes)
expressions_argument = click.argument(
    "expressions", nargs=-1, required=True, metavar="EXPR...", shell_complete=completion.expressions
)
topics_argument = click.argument("topics", shell_complete=completion.files)
qrels_argument = click.argument("qrels", shell_complete=completion.files)
runs_argument = click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=completion.files)

reader_option = click.option(
    "--reader",
    metavar="READER",
    shell_complete=completion.named("reader"),
    show_default="detected",
    help="The format of the documents, such as jsonl or 'jsonl(id=NAME, text=NAME)'.",
)
strict_option = click.option("--strict", is_flag=True, help="Stop at the first malformed record.")
reorder_option = click.option(
    "--reorder",
    is_flag=True,
    help="Put similar documents next to each other, for quicker searches; hits stay the same.",
)
workers_option = click.option(
    "--workers", type=click.IntRange(1), metavar="N", show_default="all cores", help="Number of threads."
)
profile_option = click.option(
    "--profile",
    metavar="PROFILE",
    shell_complete=completion.profiles,
    show_default="the index's",
    help="Defaults of the rankers: sublex, anserini, terrier or pisa.",
)
weighted_option = click.option(
    "--weighted",
    is_flag=True,
    help="QUERY is terms of the index with weights, as in 'crane^1 river^0.5'. Expanders give such queries.",
)
uncovered_option = click.option(
    "--allow-uncovered",
    is_flag=True,
    help="Rank with fitted models that do not cover all documents. They have no opinion on the others.",
)


def _refuse_empty(context: click.Context, option: click.Parameter, given: Any) -> Any:
    """Return the expression or the expressions of an option. Raise InputError if one is empty."""
    texts = (given,) if isinstance(given, str) else given or ()
    if not all(text.strip() for text in texts):
        raise InputError("The expression after -r is empty; write for example -r BM25, or leave -r out.")
    return given


ranker_option = click.option(
    "-r",
    "--ranker",
    metavar="EXPR",
    shell_complete=completion.expressions,
    show_default="BM25",
    callback=_refuse_empty,
    help="The ranker, such as 'BM25 >> RM3 >> BM25'.",
)
rankers_option = click.option(
    "-r",
    "--ranker",
    "rankers",
    metavar="EXPR",
    shell_complete=completion.expressions,
    multiple=True,
    callback=_refuse_empty,
    help="A ranker; may be given several times.",
)
measures_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    show_default="AP nDCG@10 P@10 R@1000 RR Bpref NumRet NumRel",
    help="A measure of ir-measures or trec_eval; may be given several times.",
)
fields_option = click.option(
    "--fields",
    default="title",
    show_default=True,
    metavar="FIELDS",
    help="The fields of a topic that form its query, as in title+desc.",
)
metadata_option = click.option(
    "--metadata",
    type=click.Choice(("sidecar", "header", "none")),
    default="sidecar",
    show_default=True,
    help="Describe a run in a second file, RUN.yaml; in # lines at its head; or not at all.",
)


def memory_option(default: str, text: str) -> Decorator:
    """Return the option --memory: a size such as 512MB or 2GB."""
    return click.option("--memory", default=default, show_default=True, metavar="SIZE", help=text)


def hits_option(default: int) -> Decorator:
    """Return the option -k: the number of documents that a query returns at most."""
    return click.option(
        "-k",
        type=click.IntRange(1),
        default=default,
        show_default=True,
        metavar="N",
        help="Maximum number of documents per query.",
    )


def seed_option(default: int | None, text: str, shown: str = "") -> Decorator:
    """Return the option --seed, a whole number from 0; `shown` is the default in the help, if `default` is None."""
    return click.option(
        "--seed", type=click.IntRange(0), default=default, show_default=shown or True, metavar="N", help=text
    )


def format_option(*choices: str) -> Decorator:
    """Return the option --format; the first choice is the default. Where there is csv, there is spreadsheet."""
    names = [name for choice in choices for name in (CSV if choice == "csv" else (choice,))]
    text = "Output format." + " spreadsheet is CSV without formulas." * ("csv" in choices)
    return click.option("--format", "form", type=click.Choice(names), default=names[0], show_default=True, help=text)


def examples(*commands: str) -> Any:
    """Return the end of a command's help: command lines that can be typed as they stand."""
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
