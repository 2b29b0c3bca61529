"""Check a study: run it again in a separate folder, and find the figures that differ from the earlier ones."""

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
    """Run a study again.

    Return the new results, the figures that moved beyond their tolerance, and whether there was a lock. The new figures
    are compared with those in `study.lock`, and with those that the study file expects. No other earlier result is
    read. The new run is made in the folder `check` of the study's folder, which is removed at the end; after a killed
    check, the next one resumes it. If there is no lock, the study was never finished: it is then run in its own folder,
    and its results stay.
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
