"""The operation `label`, by which people decide about the labels of a fitted model."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from sublex.errors import InputError
from sublex.forms.lines import Shown, records
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, positional
from sublex.operations.parameters import Model

HEAD = ("number", "label", "decision", "model's label", "confidence", "words", "documents")


def label_code(given: Any) -> str:
    """Return Python code for a call of `label`: for the list of labels, or for a decision."""
    if given["action"] == "list":
        return f"index.labels({given['expression']!r})"
    arguments = ", ".join(map(repr, (given["expression"], given["action"], *given["labels"])))
    return f"index.label({arguments})"


@operation(
    needs=Needs.MODEL,
    forms=("table", "json", "csv"),
    python=label_code,
    prints="rows",
    changes=lambda given: given["action"] != "list",
)
def label(
    context: OperationContext,
    expression: Model,
    action: Annotated[
        Literal["list", "accept", "rename", "merge", "reject", "undo", "take"], positional("ACTION")
    ] = "list",
    labels: Annotated[tuple[str, ...], positional("LABEL")] = (),
) -> Shown:
    """List the labels of a fitted model, or decide about them.

    Labels are given by text or number. ACTION is one of:

    list: show all labels, with what the model proposes. accept: the labels are right. rename LABEL NAME: give a label
    another name. merge LABEL PART: the first label takes the documents of the others. reject: the labels are wrong and
    never shown again; their topics are shown by their words. undo: take back the last decision, or all about the labels
    given. take EXPR: add the decisions about another model's labels.

    After a decision, the labels that it changed are shown. Each decision is one commit. Facets, filters, explanations
    and cards follow it. Decisions stay when the model is fitted again.

    Examples:
        sublex label demo "lda(k=20)"
        sublex label demo "lda(k=20)" rename 3 "Cranes and rivers"
        sublex label demo "lda(k=20)" reject "Cranes and rivers"
        sublex label demo "lda(k=20)" undo
    """
    if action == "list":
        if labels:
            raise InputError(
                "list takes no label; to decide about it, write accept, rename, merge or reject before it."
            )
        return records(HEAD, context.index.labels(expression))
    before = context.index.labels(expression)
    with context.changing():
        after = context.index.label(expression, action, *labels)
    return records(HEAD, [row for row in after if row not in before] or after)
