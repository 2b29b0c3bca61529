"""Show facets: the labels that a fitted model gives to documents found, with the number of documents that have each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sublex.forms.lines import Shown, line, table_lines
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.contracts.fitted import Facet

HEAD = ("documents", "number", "label")


def facets(found: Sequence[Facet], model: str, documents: int) -> Shown:
    """Return the most frequent labels of a model as Shown. `documents` is the number of documents that were counted."""
    rows = [(facet.docs, facet.number, facet.label) for facet in found]
    title = line(f"{counted(documents, 'document')} by the labels of {model}:")
    objects = [dict(zip(HEAD, row, strict=True)) for row in rows]
    data = {"of": model, "counted": documents, "facets": objects}
    return Shown(lambda: [title, *table_lines(rows, HEAD)], lambda: data, HEAD, rows)
