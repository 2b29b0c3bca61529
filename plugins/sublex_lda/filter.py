"""The filter `topic`: it keeps the documents in which a topic of a fitted model has at least a given share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sublex.contracts.base import Context
from sublex.contracts.fitted import share_of_label
from sublex.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from sublex import Expression


class TopicFilter:
    """Keeps the documents in which the topic `topic` has at least the share `share`.

    `of` is a model that names its topics, such as `lda`.
    """

    per_document = True

    def __init__(self, *, topic: str | int, of: Expression, share: float):
        if not isinstance(topic, (str, int)) or isinstance(topic, bool) or not str(topic).strip():
            raise InputError(f"topic: {topic!r} names no topic; write its number, or its label in quotes.")
        self.topic, self.of, self.share = topic, of, share

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return for each of `docs` whether the topic has at least the share `share` in the document."""
        return share_of_label(context.model(self.of), self.topic, docs, "topic") >= self.share
