"""Show facets: the labels that a fitted model gives to documents found, with the number of documents that have each."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from sublex.display.card import expressions_of
from sublex.errors import InputError, SublexError
from sublex.forms.lines import Shown, line, table_lines
from sublex.tools.messages import command, counted

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


def labelled_model(
    index: Index, pipeline: Pipeline, how: str = "--of ", quoted: Callable[[str], str] = shlex.quote
) -> str:
    """Return the only model of a pipeline that names topics or keyphrases; raise InputError if there is not exactly one.

    `how` is the part of a command that names a model, for the message, and `quoted` quotes the model as that command needs.
    """
    models = index.labelled_models(pipeline)
    if len(models) == 1:
        return models[0]
    if models:
        raise InputError(f"{pipeline} has several models with labels; name one, for example {how}{quoted(models[0])}.")
    fitted = next(labelled_models(index), "")
    advice = (
        f"name a fitted one: {how}{quoted(fitted)}" if fitted else f"fit one: {command('fit', index.path, 'lda(k=20)')}"
    )
    raise InputError(f"No model in {pipeline} has labels to count; {advice}.")


def labelled_models(index: Index) -> Iterator[str]:
    """Yield the fitted models of an index that have labels, by their expressions."""
    for entry in index.fitted.values():
        for expression in expressions_of(entry):
            # An expander has no labels, and a model that cannot be loaded is no advice.
            with suppress(SublexError):
                if index.representation(expression).labels:
                    yield expression
