"""Write features for other programs: as SVMlight or LETOR lines, CSV, or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sublex.errors import InputError
from sublex.forms.frames import arrow
from sublex.tools.files import replace_file
from sublex.tools.outputs import expect_output, write_output

if TYPE_CHECKING:
    from sublex.learning.features import Features

# The endings of lines in the format of SVMlight, which LETOR's data sets have too.
LINES = (".letor", ".svm", ".svmlight", ".txt")
# The endings of tables with a line of names.
TABLES = (".csv", ".parquet")


def feature_lines(table: Features) -> Iterator[str]:
    """Yield the lines of a file in the format of SVMlight: `GRADE qid:N 1:VALUE 2:VALUE … # QID DOCNO`.

    N is the topic's id if all ids are whole numbers; otherwise topics are numbered from 1 on. Lines with # at the
    beginning name the features. Values are printed in full, so that they are read back exactly.
    """
    assert table.grades is not None
    yield f"# candidates: {table.candidates}\n"
    yield from (f"# {number}: {name}\n" for number, name in enumerate(table.names, 1))
    numeric = all(qid.isascii() and qid.isdecimal() and str(int(qid)) == qid for qid in table.groups)
    numbers = {qid: qid if numeric else str(number) for number, qid in enumerate(table.groups, 1)}
    rows = zip(table.grades.tolist(), table.qids, table.docnos, table.values.tolist(), strict=True)
    for grade, qid, docno, values in rows:
        pairs = " ".join(f"{number}:{value!r}" for number, value in enumerate(values, 1))
        yield f"{grade} qid:{numbers[qid]} {pairs} # {qid} {docno}\n"


def csv_text(table: Features) -> str:
    """Return the table as CSV; the first line has the names of the columns."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    columns = table.columns
    writer.writerow(columns)
    writer.writerows(zip(*(_plain(column) for column in columns.values()), strict=True))
    return written.getvalue()


def _plain(column: Any) -> Any:
    return column.tolist() if hasattr(column, "tolist") else column


def parquet_bytes(table: Features) -> Any:
    """Return a buffer with the table as Parquet. The name of the candidates' expression is in the metadata of the file."""
    pyarrow = arrow()
    data = pyarrow.table(table.columns)
    data = data.replace_schema_metadata({"sublex.candidates": table.candidates})
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(data, sink)
    return sink.getvalue()


def expect_feature_file(path: Path, overwrite: bool, has_grades: bool) -> None:
    """Raise InputError, before any work is done, for a file that features cannot be written to."""
    ending = path.suffix.lower()
    if ending not in (*LINES, *TABLES):
        raise InputError(
            f"{path} does not end in {', '.join((*LINES, *TABLES)[:-1])} or {TABLES[-1]}; choose one of these."
        )
    if ending in LINES and not has_grades:
        raise InputError("Lines for training have a grade each; give QRELS, or write .csv or .parquet.")
    if ending == ".parquet":
        arrow()
    expect_output(path, overwrite)


def write_features(table: Features, path: Path) -> None:
    """Write a table to a file in the format that its ending names. `expect_feature_file` must have accepted the path."""
    ending = path.suffix.lower()
    if ending == ".parquet":
        replace_file(path, parquet_bytes(table))
    elif ending == ".csv":
        write_output(path, csv_text(table))
    else:
        write_output(path, "".join(feature_lines(table)))
