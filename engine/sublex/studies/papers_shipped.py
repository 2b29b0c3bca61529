"""The studies of papers that come with Sublex."""

from __future__ import annotations

from pathlib import Path

from sublex.errors import InputError
from sublex.tools.messages import unknown

PAPERS = Path(__file__).parent / "papers"
QUICK = "-quick"


def papers() -> list[str]:
    """Return the names of the papers that have a study."""
    return sorted(path.stem for path in PAPERS.glob("*.toml") if not path.stem.endswith(QUICK))


def study_file_of(paper: str, quick: bool) -> Path:
    """Return the study file of a paper. Raise InputError for a paper that has none."""
    if paper not in papers():
        raise InputError(unknown("study of the paper", paper, papers()))
    return PAPERS / f"{paper}{QUICK * quick}.toml"
