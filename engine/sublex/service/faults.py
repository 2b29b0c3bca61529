"""Find the parameter of a request that an error is about. This is done only after an error, to save time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sublex.errors import SublexError, UnknownDocument, UnknownTopic
from sublex.service.problems import Refused, problem_of

if TYPE_CHECKING:
    from sublex.service.context import RequestContext
    from sublex.service.fields import RequestField

# For each class of errors about an unknown name: the fields that may hold the name.
HOLDERS: dict[type[SublexError], tuple[str, ...]] = {
    UnknownDocument: ("docno", "versus", "docnos"), UnknownTopic: ("topic",),
}  # fmt: skip


def at_fault(
    error: SublexError, fields: Iterable[RequestField], values: Mapping[str, Any], context: RequestContext
) -> Refused:
    """Return an error as a refusal. If a field of the request causes it, the refusal names this parameter."""
    refused = problem_of(error)
    if "parameter" not in refused.more:
        found = (field.name for field in fields if _is_at_fault(error, field, values[field.name], context))
        name = next(found, "")
        if name:
            refused.more["parameter"] = name
    return refused


def _is_at_fault(error: SublexError, field: RequestField, value: Any, context: RequestContext) -> bool:
    texts = [each for each in (value if field.many else (value,)) if isinstance(each, str) and each]
    if field.is_expression:
        return any(_failure(text, context) == str(error) for text in texts)
    holders = HOLDERS.get(type(error), ())
    return field.name in holders and any(text in str(error) for text in texts)


def _failure(text: str, context: RequestContext) -> str:
    """Return the message of the error that an expression raises by itself; "" for a sound one."""
    try:
        context.pipeline(text)
    except SublexError as error:
        return str(error)
    return ""
