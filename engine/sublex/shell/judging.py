"""Write a judgement into a file of judgements in TREC's format, in one atomic step."""

from __future__ import annotations

from pathlib import Path

from sublex.errors import InputError
from sublex.tools.files import replace_file
from sublex.tools.outputs import expect_replaceable
from sublex.tools.strings import Strings
from sublex.trec.ids import refuse_faulty


def write_judgement(path: Path, qid: str, docno: str, grade: int) -> None:
    """Add a judgement to a file, or change the grade of the one that is there. Other lines stay as they are.

    Raise InputError for a file that is not in TREC's format, or that cannot be written.
    """
    if docno.split() != [docno]:
        raise InputError(f"{docno!r} holds white space, which separates the columns of judgements.")
    refuse_faulty(Strings.of([docno]), "document")
    expect_replaceable(path, overwrite=True)
    try:
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    wanted, new = (qid.encode(), docno.encode()), f"{qid} 0 {docno} {grade}\n".encode()
    kept = []
    for line in lines:
        cells = line.split()
        if cells and not line.startswith(b"#") and len(cells) != 4:
            raise InputError(f"{path} is not in TREC's format; Sublex writes judgements only to such a file.")
        if len(cells) != 4 or (cells[0], cells[2]) != wanted:
            kept.append(line if line.endswith(b"\n") else line + b"\n")
        elif new:
            kept.append(new)
            new = b""
    try:
        replace_file(path, b"".join([*kept, new]))
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}.") from None
