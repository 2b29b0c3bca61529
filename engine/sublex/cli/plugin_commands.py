"""What commands of plugins may use of the command line: open an index, name a model, print records, write files, show progress.

A plugin imports these names from here, and nothing else of `sublex.cli`. `docs/plugins.md` has an example.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import Decorator, examples, format_option, index_argument, seed_option, workers_option
from sublex.cli.output import print_json, print_records, print_table, say, show
from sublex.cli.progress import progress
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.forms.values import to_json

if TYPE_CHECKING:
    from sublex.contracts.base import Document
    from sublex.pipeline.index import Index
    from sublex.representations.loaded import LoadedModel

__all__ = [
    "check_output", "examples", "fitted_model", "format_option", "index_argument", "model_argument", "open_index", "output_option",
    "print_json", "print_records", "print_table", "progress", "read_documents", "say", "say_if_compiling", "seed_option", "show", "step",
    "to_json", "verbose_option", "workers_option", "write_output",
]  # fmt: skip

# Files of these kinds are replaced as any output is. Other kinds, such as pages, are replaced only if Sublex wrote them.
DATA = (".csv", ".tsv", ".json", ".jsonl")

# The endings of a page.
PAGES = (".html", ".htm")

# The argument that names a fitted model, which the function gets as `expression`.
model_argument = click.argument("expression", metavar="EXPR", shell_complete=completion.expressions)


def output_option(text: str, required: bool = False) -> Decorator:
    """Return the option -o, the path of a file to write, which the function gets as `output`; `text` is its help."""
    return click.option("-o", "--output", required=required, metavar="FILE", shell_complete=completion.files, help=text)


def fitted_model(index: Index, expression: str, kind: type, otherwise: str) -> LoadedModel:
    """Return the fitted model that a user names. Its `model` is the plugin's object, of the class `kind`, and its `view` has the rows.

    Raise `InputError` for a model of another class. `otherwise` ends the sentence, as in "has no word graphs; name a fitted swg".
    """
    found = index.fitted_model(expression)
    if not isinstance(found.model, kind):
        raise InputError(f"{expression} {otherwise.rstrip('.')}.")
    return found


def read_documents(index: Index, file: str, reader: str | None = None) -> list[Document]:
    """Return the documents of a file in any format of a collection; a line on standard error counts malformed records.

    The reader is the one that recognises the file, or the one that the user names, as in --reader tsv. Raise `InputError` for a file
    without documents.
    """
    from sublex.building.document_source import source_of
    from sublex.contracts.base import Report
    from sublex.tools.messages import counted

    report = Report()
    sources = source_of(file, index.snapshot.registry, reader, False).sources
    documents = [document for source, _, own in sources for document in own.read(source, report)]
    if report.problems:
        say(
            f"{counted(len(report.problems), 'record')} of {file} left out as malformed, the first {report.problems[0]}."
        )
    if not documents:
        raise InputError(f"{file} holds no document.")
    return documents


def check_output(output: str, *endings: str) -> str:
    """Return the ending of a file that is to be written, such as ".html", before the work for it is done.

    Raise `InputError` for an ending that is not among `endings`, and for a file that cannot be written. A file that exists
    is replaced if it has data, such as .csv, or if it holds `sublex.forms.pages.PAGE_MARK`, so that no page of a user is lost.
    """
    from sublex.report.page import check_report_path

    ending = Path(output).suffix
    if endings and ending not in endings:
        listed = " or ".join([", ".join(endings[:-1]), endings[-1]] if endings[1:] else endings)
        raise InputError(
            f"{output} does not end in {listed}; choose {'one of these' if endings[1:] else 'this ending'}."
        )
    if ending not in DATA:
        check_report_path(output)
    elif Path(output).is_dir() or not os.access(Path(output).parent, os.W_OK):
        raise InputError(f"Cannot write {output}; choose another place.")
    return ending


def write_output(output: str, text: str) -> None:
    """Write a text to a file that `check_output` accepted, in one step: the file has all of it or is unchanged."""
    from sublex.report.page import write_page

    write_page(output, text)
