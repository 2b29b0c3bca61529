"""Write results to the files that users name. A file that Sublex did not write is replaced only if the user asks for it."""

from __future__ import annotations

from pathlib import Path

from sublex.errors import InputError
from sublex.forms.lines import Shown, sentence
from sublex.tools.outputs import expect_output, write_output


def check_output(output: str, *endings: str, overwrite: bool = False) -> str:
    """Check a file before the work for it begins, and return its ending, such as ".html".

    Raise `InputError` for an ending that is not in `endings`, and for a file that cannot be written or may not be
    replaced. `sublex.tools.outputs` says which files may be replaced; `overwrite` allows any.
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

    If the result has `about`, show a sentence about the file in place of the result, without a message. Otherwise show
    the result itself, and a message that names the file. Raise `InputError` if the result makes no file.
    """
    make = shown.files.get(ending) or next(iter(shown.files.values()), None)
    if make is None:
        raise InputError("This result has no page; leave -o out, or name the one thing that the page shows.")
    write_output(output, make())
    if shown.about:
        return sentence(f"{output} {shown.about}", notes=shown.notes), ""
    return shown, f"The report is {output}"
