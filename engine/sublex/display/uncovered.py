"""Say which fitted models of a pipeline do not cover all documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.pipeline.pipeline import Pipeline


def uncovered_notes(pipeline: Pipeline) -> list[str]:
    """Return a sentence for each fitted model of a pipeline that does not cover all documents."""
    return [
        f"{name} has no opinion on {counted(documents, 'document')} that it does not cover."
        for name, documents in pipeline.uncovered.items()
    ]
