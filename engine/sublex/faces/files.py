"""Write results to the files that users name. A file that Sublex did not write is replaced only if the user says so."""

from __future__ import annotations

from pathlib import Path

from sublex.errors import InputError
from sublex.forms.lines import Shown, sentence
from sublex.tools.outputs import expect_output, write_output


def check_output(output: str, *endings: str, overwrite: bool = False) -> str:
    """Return the ending of a file that is to be written, such as ".html", before the work for it is done.

    Raise `InputError` for an ending that is not among `endings`, for a file that cannot be written, and for one that may not
    be replaced, as `sublex.tools.outputs` says. `overwrite` replaces any file.
    """
    ending = Path(output).suffix
    if endings and ending not in endings:
        listed = " or ".join([", ".join(endings[:-1]), endings[-1]] if endings[1:] else endings)
        raise InputError(
            f"{output} does not end in {listed}; choose {'one of these' if endings[1:] else 'this ending'}."
        )
    expect_output(output, overwrite)
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
