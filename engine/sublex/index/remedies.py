"""Parts of messages: the commands that remove a damaged model of an index, and make the model again."""

from __future__ import annotations

from pathlib import Path

from sublex.tools.messages import Step


def fit_again(root: Path, name: str, expression: str) -> tuple[object, ...]:
    """Return the parts of a message with the commands that forget a model and fit it again.

    `name` is the model's expression or its name on disk.
    """
    return Step("forget", root, name), ", then: ", Step("fit", root, expression)


def add_again(root: Path, vectors: str) -> tuple[object, ...]:
    """Return the parts of a message with the commands that remove vectors and add them again.

    `vectors` is their name.
    """
    return Step("vectors remove", root, vectors), ", then: ", Step("vectors add", root, vectors), " FILE"
