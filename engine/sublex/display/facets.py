"""Show facets: the labels that a fitted model gives to documents found, with the number of documents that have each."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from sublex.display.lines import Shown, line, table_lines
from sublex.errors import InputError
from sublex.messages import counted

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline
    from sublex.retrieval.hits import Hits

HEAD = ("documents", "number", "label")
# Documents found in which labels are counted, at least; a retrieval finds as many candidates for the stages after it.
DEPTH = 1000


def facets(index: Index, hits: Hits, model: str, number: int) -> Shown:
    """Return the most frequent labels of a model in the hits as Shown, at most `number` of them."""
    rows = [(facet.docs, facet.number, facet.label) for facet in index.facets(hits, model)[:number]]
    title = line(f"{counted(len(hits), 'document')} by the labels of {model}:")
    objects = [dict(zip(HEAD, row, strict=True)) for row in rows]
    data = {"of": model, "counted": len(hits), "facets": objects}
    return Shown(lambda: [title, *table_lines(rows, HEAD)], lambda: data, HEAD, rows)


def labelled_model(index: Index, pipeline: Pipeline, how: str = "--of ") -> str:
    """Return the only model of a pipeline that names topics or keyphrases; raise InputError if there is not exactly one.

    `how` is the part of a command that names a model, for the message.
    """
    models = index.labelled_models(pipeline)
    if len(models) == 1:
        return models[0]
    found = f"{pipeline} has several models with labels" if models else f"No model in {pipeline} has labels to count"
    raise InputError(f"{found}; name one, for example {how}{shlex.quote(models[0] if models else 'lda(k=20)')}.")
