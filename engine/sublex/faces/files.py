"""Write results to the files that users name. A file that Sublex did not write is not replaced, unless it has data."""

from __future__ import annotations

import os
from pathlib import Path

from sublex.errors import InputError
from sublex.forms.lines import Shown, sentence
from sublex.tools.arguments import expect_folder

# Existing files with these endings are replaced. Other files, such as pages, are replaced only if Sublex wrote them.
DATA = (".csv", ".tsv", ".json", ".jsonl")


def check_output(output: str, *endings: str) -> str:
    """Return the ending of a file that is to be written, such as ".html", before the work for it is done.

    Raise `InputError` for an ending that is not among `endings`, and for a file that cannot be written. A file that exists
    is replaced if it has data, such as .csv, or if it holds `sublex.forms.pages.PAGE_MARK`, so that no page of a user is lost.
    """
    from sublex.report.page import check_report_path

    expect_folder(output)
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


def write_file(shown: Shown, output: str, ending: str) -> tuple[Shown, str]:
    """Write the file of a result to `output`, a path that `check_output` accepted. Return what to show, and a message.

    If the result has `about`, a sentence about the file is shown in place of the result, and the message is empty.
    Otherwise the result itself is shown, and the message names the file. Raise `InputError` if the result makes no
    file.
    """
    make = shown.files.get(ending) or next(iter(shown.files.values()), None)
    if make is None:
        raise InputError("This result has no page; leave -o out, or name the one thing that the page shows.")
    write_output(output, make())
    if shown.about:
        return sentence(f"{output} {shown.about}", notes=shown.notes), ""
    return shown, f"The report is {output}"


def write_output(output: str, text: str) -> None:
    """Write a text to a file that `check_output` accepted, in one step: the file has all of it or is unchanged."""
    from sublex.report.page import write_page

    write_page(output, text)
