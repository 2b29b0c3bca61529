"""Python functions and PyTerrier transformers as parts of an expression: the nodes that score documents by calling them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sublex.contracts.base import Document
from sublex.errors import InputError, PluginError, contract
from sublex.forms.frames import data_frame
from sublex.language.given_scores import finite_scores
from sublex.language.python_parts import PythonPart, called, check_called, make_part
from sublex.tools.arguments import whole


class StoredDocument:
    """A document as a function of the user gets it. Title, text and fields are read from the index on first use.

    `has_text` says whether the index stores texts; if not, reading a title, a text or fields raises IndexProblem.
    """

    def __init__(self, docno: str, read: Callable[[], Document], has_text: bool = True):
        self.docno, self._read, self.has_text = docno, read, has_text

    @cached_property
    def _stored(self) -> Document:
        return self._read()

    @property
    def title(self) -> str:
        """The title; empty when there is none."""
        return self._stored.title

    @property
    def text(self) -> str:
        """The text, without the title."""
        return self._stored.text

    @property
    def fields(self) -> Mapping[str, Any]:
        """The other values that are stored with the document, by name."""
        return self._stored.fields

    @property
    def contents(self) -> str:
        """The title, a newline, the text, and the other fields that are searched. Without title, it begins with the text."""
        return self._stored.contents

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f'a document has docno, title, text, contents and fields, not {name}; for a field, write document.fields["{name}"]'
        )

    def __getitem__(self, name: object) -> Any:
        raise TypeError(
            f"a document is no dictionary; write document.docno, document.text, or document.fields[{name!r}] for a field"
        )

    def __repr__(self) -> str:
        return f"<StoredDocument {self.docno}>"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Function(PythonPart):
    """A Python function `f(query, documents)` that scores documents. `sublex.rerank` documents the attributes.

    One thread at a time calls the function.
    """

    word = "rerank"
    batch: int | None = None
    cache: Path | None = None

    @property
    def code(self) -> str:
        """The hash of the code, or the user's version in its place. The cache keeps scores under this text."""
        return self.identity.version or self.identity.digest

    @property
    def thing_called(self) -> str:
        """The name of the function in explanations."""
        return f"Python {self.kind}"

    def evidence(self, query: str, document: StoredDocument) -> Mapping[str, Any]:
        """Return the evidence that explanations show beside a score. A function has none, so it is empty."""
        return {}

    def scores(self, query: str, documents: Sequence[StoredDocument], before: np.ndarray | None) -> np.ndarray:
        """Return the function's scores of documents as float64; -inf for a document that it does not score.

        `before` has the documents' scores from the stage before; it is None if there is no such stage.
        """
        with self.call() as thing, contract(self.kind, called(self, query)):
            given = thing(query, list(documents))
        return finite_scores(self, given, [document.docno for document in documents])


class Transformer(Function):
    """A PyTerrier transformer that scores or drops documents: an object with a method `transform(DataFrame) -> DataFrame`."""

    def scores(self, query: str, documents: Sequence[StoredDocument], before: np.ndarray | None) -> np.ndarray:
        if before is not None and not np.isfinite(before).all():
            return self._among_hits(query, documents, before)
        with self.call() as thing, contract(self.kind, called(self, query)):
            given = thing.transform(_frame(query, documents, before))
        with contract(self.kind, self.name):
            docnos, values = self._columns(given)
        scores = finite_scores(self, values, docnos)
        by_docno = dict(zip(docnos, scores.tolist(), strict=True))
        unknown = by_docno.keys() - {document.docno for document in documents}
        if unknown or len(by_docno) < len(docnos):
            reason = f"{min(unknown)}, which it did not get" if unknown else "a document twice"
            raise PluginError(
                f"The transformer {self.name} gave {reason}; a stage scores or drops the documents it gets."
            )
        return np.array([by_docno.get(document.docno, -np.inf) for document in documents])

    def _columns(self, given: Any) -> tuple[list[str], Any]:
        """Return the docnos and the scores of the frame that the transformer returned."""
        columns = list(getattr(given, "columns", ()))
        if "docno" in columns and "score" in columns:
            return [str(docno) for docno in given["docno"]], given["score"]
        shown = (
            f"a frame with the columns {', '.join(map(str, columns))}" if columns else f"a value of type {_type(given)}"
        )
        raise PluginError(f"The transformer {self.name} gave {shown}; a stage needs the columns docno and score.")

    def _among_hits(self, query: str, documents: Sequence[StoredDocument], before: np.ndarray) -> np.ndarray:
        """Return the scores of documents; -inf for a document that is not among the hits of the stage before."""
        scores, places = np.full(len(documents), -np.inf), np.flatnonzero(np.isfinite(before))
        if len(places):
            scores[places] = self.scores(query, [documents[place] for place in places.tolist()], before[places])
        return scores


def _frame(query: str, documents: Sequence[StoredDocument], before: np.ndarray | None) -> Any:
    """Return the documents as a PyTerrier frame: qid, query and docno, the stored texts, and known scores and ranks."""
    number = len(documents)
    columns: dict[str, Any] = {"qid": ["1"] * number, "query": [query] * number}
    columns["docno"] = [document.docno for document in documents]
    if documents and documents[0].has_text:
        columns |= {name: [getattr(document, name) for document in documents] for name in ("title", "text")}
    if before is not None:
        ranks = np.empty(len(before), np.int64)
        ranks[np.argsort(-before, kind="stable")] = np.arange(len(before))
        columns |= {"score": before.astype(np.float64), "rank": ranks}
    return data_frame(columns)


def rerank(
    function: Callable[[str, list[StoredDocument]], Any],
    name: str | None = None,
    version: object = None,
    batch: int = 100,
    cache: str | os.PathLike[str] | None = None,
) -> Function:
    """Return a function as a part of an expression. `sublex.rerank` documents the parameters."""
    if is_transformer(function):
        if cache is not None:
            raise InputError("The scores of a transformer are not cached; leave out cache=.")
        return transformer(function, name, version)
    if not callable(function):
        raise InputError(f"sublex.rerank takes a function f(query, documents), not a value of type {_type(function)}.")
    check_called("rerank", function, "query", "documents")
    folder = None if cache is None else Path(cache)
    part = make_part(Function, "function", function, name, version, batch=whole(batch, "batch"), cache=folder)
    part.refuse_cache(cache)
    return part


def transformer(made: Any, name: str | None = None, version: object = None) -> Transformer:
    """Return a PyTerrier transformer as a part of an expression. `sublex.pyterrier.stage` documents the parameters."""
    if not is_transformer(made):
        raise InputError(f"A value of type {_type(made)} is no transformer: it has no method transform(frame).")
    return make_part(Transformer, "transformer", made, name, version)


def is_transformer(thing: object) -> bool:
    """Return whether an object has the method of PyTerrier's transformers."""
    return callable(getattr(thing, "transform", None)) and not isinstance(thing, type)


def _type(thing: object) -> str:
    return type(thing).__name__
