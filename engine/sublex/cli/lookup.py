"""Open the index that a user names on the command line: by a path, or by a bare name in the index home."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sublex
from sublex.cli.output import say
from sublex.cli.steps import step
from sublex.index.lookup import existing_path

if TYPE_CHECKING:
    from sublex.pipeline.index import Index


def open_index(name: str, allow_uncovered: bool = False) -> Index:
    """Open the index of this name or path. With `allow_uncovered`, its fitted models may lack documents."""
    path = existing_path(name)
    with step(f"Opened {path}"):
        index = sublex.open(path, allow_uncovered)
    if index.attachment and index.attachment.problem:
        say(index.attachment.problem)
    return index
