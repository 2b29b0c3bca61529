"""Check a study: run it once more beside its results, and find the figures that moved."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from sublex.errors import InputError
from sublex.language.plugins import Registry
from sublex.studies.places import StudyPlaces
from sublex.studies.results import StudyResult
from sublex.studies.run_study import run_study
from sublex.studies.store import CHECK, StudyStore
from sublex.studies.study_lock import MovedFigure, moved, read_lock
from sublex.studies.study_plans import Study


def check_study(
    study: Study,
    store: StudyStore,
    places: StudyPlaces,
    registry: Registry,
    watch: Any = None,
    workers: int | None = None,
) -> tuple[StudyResult, list[MovedFigure], bool]:
    """Return the results of a new run, the figures that moved beyond their tolerance, and whether there is a lock.

    Figures are compared with those in `study.lock`, and with those that the study expects. Nothing of the earlier results is read but
    the lock. The new run is made in a folder `check` within that of the study, which is removed at the end; a check that was killed
    goes on from there. Without a lock, the new run is the first one, and stays.
    """
    store.check()
    lock: Mapping[str, Any] | None = read_lock(store)
    if lock is None:
        if not any(table.expected for table in study.tables):
            raise InputError(
                f"There is no finished study in {store.folder}, and the file expects no figures, so there is nothing to compare "
                "with; run the study first."
            )
        result = run_study(study, store, places, registry, watch, workers)
        return result, moved(result, None), False
    again = StudyStore(store.folder / CHECK)
    result = run_study(study, again, places, registry, watch, workers)
    found = moved(result, lock)
    again.check()
    shutil.rmtree(again.folder)
    return result, found, True
