"""Open the index that a user names on the command line: by a path, or by a bare name in the index home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

import sublex
from sublex.cli.steps import step
from sublex.errors import SublexError
from sublex.faces.output import say
from sublex.index.lookup import existing_path

if TYPE_CHECKING:
    from sublex.index.attachment import Attachment
    from sublex.pipeline.index import Index


def open_index(name: str, allow_uncovered: bool = False) -> Index:
    """Open the index of this name or path. With `allow_uncovered`, its fitted models may lack documents."""
    path = existing_path(name)
    with step(f"Opened {path}"):
        index = sublex.open(path, allow_uncovered)
    context = click.get_current_context(silent=True)
    if index.attachment and context:
        context.with_resource(_saying_why_not(index.attachment))
    return index


@contextmanager
def _saying_why_not(attachment: Attachment) -> Iterator[None]:
    """Say at the end of a command why the foreign index behind the index cannot be read, unless the error of the command says it."""
    try:
        yield
    except SublexError as error:
        if str(error) == attachment.problem:
            raise
        say(*filter(None, [attachment.problem]))
        raise
    say(*filter(None, [attachment.problem]))
