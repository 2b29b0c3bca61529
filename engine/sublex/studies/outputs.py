"""Write the results of a study: the measures by topic, the report and, after all else, the lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from sublex.errors import InputError, MissingExtra
from sublex.forms.frames import arrow
from sublex.forms.tables import as_csv
from sublex.studies.page import study_page
from sublex.studies.results import StudyResult
from sublex.studies.store import StudyStore
from sublex.studies.study_lock import write_lock
from sublex.tools.files import hash_of, replace_file, replacing
from sublex.tools.outputs import write_output

# The names of the files of figures, without their endings.
MEASURES, EXPERIMENTS, REPORT = "measures", "experiments", "report.html"


def write_outputs(store: StudyStore, result: StudyResult) -> None:
    """Write the measures by topic, the figures of experiments by unit, the report, and the lock."""
    if result.sets:
        _write_columns(store, MEASURES, result.columns())
    if result.experiments:
        _write_columns(store, EXPERIMENTS, result.experiment_columns())
    write_output(store.folder / REPORT, study_page(result))
    write_lock(store, result)


def _write_columns(store: StudyStore, name: str, columns: Mapping[str, Any]) -> None:
    """Write columns as CSV, and as Parquet where pyarrow is installed."""
    rows = list(zip(*columns.values(), strict=True))
    text, csv, parquet = as_csv(list(columns), rows), f"{name}.csv", f"{name}.parquet"
    _write(store, csv, lambda: replace_file(store.folder / csv, text.encode()))
    try:
        pyarrow = arrow()
    except MissingExtra:
        pyarrow = None
    if pyarrow is not None:
        table = pyarrow.table(columns)

        def write_parquet() -> None:
            with replacing(store.folder / parquet) as file:
                pyarrow.parquet.write_table(table, file)

        _write(store, parquet, write_parquet)


def _write(store: StudyStore, name: str, write: Callable[[], None]) -> None:
    """Write a file in a format that cannot have a seal. Raise InputError if a file is there that no study wrote.

    A record has the hash of the file in place of the seal.
    """
    path, record = store.folder / name, store.record("output", name)
    if os.path.lexists(path):
        own = record is not None and not os.path.islink(path) and hash_of(path) in record.data.get("hashes", [])
        if not own and not (record is not None and record.data.get("writing")):
            raise InputError(f"{path} is not as a study wrote it; move it away, and run the study again.")
    # After this record, a file counts as written by a study, even if the process is killed before the record of its
    # hash.
    store.keep("output", name, {}, [], {"writing": True}, 0.0)
    write()
    store.keep("output", name, {}, [], {"hashes": [hash_of(path)]}, 0.0)
