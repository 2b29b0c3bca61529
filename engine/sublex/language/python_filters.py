"""Filters that a user writes in Python without a plugin: functions from a document to true or false, and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError, PluginError, contract
from sublex.language.python_parts import SharedPart, check_called, make_part
from sublex.tools.messages import cut, in_short, near_names

if TYPE_CHECKING:
    from sublex.contracts.base import Context, Filter
    from sublex.language.functions import StoredDocument


class PythonFilter(SharedPart):
    """A Python function `f(document)` that says which documents to keep. `sublex.keep` documents it.

    `thing` is the function, or an object with the method `keep` of `sublex.contracts.base.Filter`. One thread at a time
    calls the function or method.
    """

    word = "keep"

    def make(self) -> Filter:
        return ObjectFilter(self) if is_filter(self.thing) else FunctionFilter(self)


class ObjectFilter:
    """A user's object with the method `keep`. One thread at a time calls it."""

    def __init__(self, part: PythonFilter):
        self.part, self.per_document = part, getattr(part.thing, "per_document", False)

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return whether the object keeps each of the documents."""
        with self.part.call() as thing:
            kept: np.ndarray = thing.keep(docs, context)
            return kept


class FunctionFilter:
    """A user's function `f(document)` as a filter. One thread at a time calls it."""

    per_document = True

    def __init__(self, part: PythonFilter):
        self.part = part

    def keep(self, docs: np.ndarray, context: Context) -> np.ndarray:
        """Return whether the function keeps each of the documents."""
        documents = context.documents(docs)
        with self.part.call():
            return np.array([self._keeps(document) for document in documents], bool)

    def _keeps(self, document: StoredDocument) -> bool:
        asked = f"{self.part}, asked about the document {document.docno},"
        with contract("filter", asked):
            try:
                answer = self.part.thing(document)
            except KeyError as error:
                field = error.args[0] if error.args else None
                if isinstance(field, str) and document.has_text and field not in document.fields:
                    names = (
                        f"It has the fields {near_names(field, document.fields)}"
                        if document.fields
                        else "It has no fields"
                    )
                    raise PluginError(
                        f"The filter {asked} failed (KeyError: {cut(repr(field))}). {names}; for documents without a field, "
                        f"ask before: {cut(repr(field))} in document.fields and …"
                    ) from error
                raise
            except TypeError as error:
                if "NoneType" not in str(error):
                    raise
                raise PluginError(
                    f"The filter {asked} failed ({in_short(error)}); if a field may be missing or None, ask before, as in "
                    "document.fields.get('year') is not None and …"
                ) from error
        if not isinstance(answer, (bool, np.bool_)):
            shown = cut(repr(answer)) if isinstance(answer, (str, int, float, type(None))) else type(answer).__name__
            raise PluginError(f"The filter {asked} gave {shown}; it has to give True or False.")
        return bool(answer)


def keep(function: Callable[..., Any], name: str | None = None, version: object = None) -> PythonFilter:
    """Return a filter as a part of an expression. `sublex.keep` documents the parameters."""
    if not callable(function) and not is_filter(function):
        raise InputError(f"sublex.keep takes a function f(document), not a value of type {type(function).__name__}.")
    if not is_filter(function):
        check_called("keep", function, "document")
    return make_part(PythonFilter, "filter", function, name, version)


def is_filter(thing: object) -> bool:
    """Return whether an object has the method `keep`, as filters do."""
    return callable(getattr(thing, "keep", None)) and not isinstance(thing, type)
