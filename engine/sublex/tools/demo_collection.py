"""Find the demo collection, which comes with Sublex."""

from __future__ import annotations

from pathlib import Path

from sublex.errors import InputError


def demo_folder() -> Path:
    """Return the folder of the demo collection: in the installed package, or in the `queries` of a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "demo", package.parents[1] / "queries" / "demo"):
        if (folder / "documents.jsonl").is_file():
            return folder
    raise InputError("The demo collection is not installed with this copy of Sublex.")
