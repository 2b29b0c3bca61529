"""Choose the fitted model whose labels, such as topics, are counted in the documents found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from sublex.errors import InputError, SublexError
from sublex.representations.stored_models import expressions_of
from sublex.tools.messages import Message, Step

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline


def labelled_model(index: Index, pipeline: Pipeline, naming: Callable[[str], object]) -> str:
    """Return the only model of a pipeline that names topics or keyphrases.

    Raise InputError if there is not exactly one. The message suggests models. For each, `naming` takes its expression
    and returns the text or the `Step` by which a user chooses it.
    """
    models = index.labelled_models(pipeline)
    if len(models) == 1:
        return models[0]
    if models:
        several = f"{pipeline} has several models with labels; name one, for example "
        raise InputError(Message(several, naming(models[0]), "."))
    columns = sorted(index.snapshot.columns)
    if columns:
        raise InputError(
            Message(f"No model in {pipeline} has labels to count; name a column: ", naming(columns[0]), ".")
        )
    fitted = next(_fitted(index), "")
    advice = ("name a fitted one: ", naming(fitted)) if fitted else ("fit one: ", Step("fit", index.path, "lda(k=20)"))
    raise InputError(Message(f"No model in {pipeline} has labels to count; ", *advice, "."))


def _fitted(index: Index) -> Iterator[str]:
    """Yield the fitted models of an index that have labels, by their expressions."""
    for entry in index.fitted.values():
        for expression in expressions_of(entry):
            # Expanders have no labels. A model that cannot be loaded must not be suggested.
            with suppress(SublexError):
                if index.representation(expression).labels:
                    yield expression
