"""Begin a study: read its file, and find its folder and the places that it may read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sublex.errors import InputError
from sublex.studies.places import StudyPlaces
from sublex.studies.store import StudyStore
from sublex.studies.study_file import read_study, study_of
from sublex.studies.study_plans import Study
from sublex.tools.arguments import file_path

# The end of the name of a study's folder, after the name of the study file.
ENDING = "-study"


def begin_study(
    study: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str] | None = None,
    collections: str | os.PathLike[str] | None = None,
    allow: Iterable[str | os.PathLike[str]] = (),
    download: bool = False,
) -> tuple[Study, StudyStore, StudyPlaces]:
    """Return a study, its folder, and the places that it may read."""
    if isinstance(study, Mapping):
        asked = study_of(study)
        if out is None:
            raise InputError("A study in a dictionary needs a folder for its results; give out=…")
    else:
        asked = read_study(file_path(study, "The study"))
    folder = Path(file_path(out, "The folder of the study")) if out is not None else default_folder(asked)
    allowed = [
        file_path(each, "A folder to allow") for each in ([allow] if isinstance(allow, (str, os.PathLike)) else allow)
    ]
    return asked, StudyStore(folder), StudyPlaces(asked.folder, collections, allowed, download)


def default_folder(study: Study) -> Path:
    """Return the folder of a study if the user names none. It lies next to the study file."""
    path = Path(study.file)
    return path.with_name(f"{path.stem}{ENDING}")
