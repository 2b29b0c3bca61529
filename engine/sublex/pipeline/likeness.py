"""Find documents like a given document: by a query of the terms that describe it best, or by a fitted graph."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from sublex.contracts.base import Query, QueryTerm
from sublex.errors import InputError, UnknownDocument
from sublex.pipeline.weighted import query_of
from sublex.representations.graph import LoadedGraph
from sublex.representations.neighbours import NO_NEIGHBOUR, STORED
from sublex.retrieval.hits import Hits
from sublex.tools.messages import Message, Step

if TYPE_CHECKING:
    from sublex.pipeline.index import Index

# The number of terms in a query for documents like another document.
TERMS = 25


def like_document(index: Index, docno: str, terms: int = TERMS) -> Query:
    """Return the best terms of a document as a weighted query: those with the largest tf · ln(N / df)."""
    counts = _counts(index, docno)
    number = index.statistics.docs
    weights = {}
    for term, tf in counts.items():
        known = index.snapshot.term(term)
        if known and known.df < number:
            weights[term] = tf * float(np.log(number / known.df))
    best = sorted(weights, key=lambda term: (-weights[term], term))[:terms]
    most = weights[best[0]] if best else 1.0
    return query_of(QueryTerm(term, round(weights[term] / most, 4)) for term in best)


def graphs(index: Index) -> list[str]:
    """Return the expressions of the graphs of near documents that are fitted to an index, in alphabetical order."""
    outdated = index.outdated_models()
    return sorted(
        entry.expression
        for name, entry in index.fitted.items()
        if entry.expression.startswith("near(") and name not in outdated
    )


def nearest_documents(index: Index, docno: str, k: int, graph: str | None = None) -> Hits:
    """Return the k nearest documents of a document in a graph, with their cosines as scores.

    There are fewer if the graph keeps fewer near documents of this document. Without `graph`, the first of `graphs` is
    taken.
    """
    known = graphs(index)
    if graph is None and not known:
        raise InputError(
            Message(f"{index.path} has no graph of near documents; run: ", Step("fit", index.path, "near(lsi)"))
        )
    loaded = index.fitted_model(known[0] if graph is None else graph)
    if not isinstance(loaded, LoadedGraph):
        raise InputError(f"{loaded.name} is no graph of near documents; name one such as near(lsi).")
    doc = loaded.snapshot.doc(docno)
    if doc is None:
        raise UnknownDocument(f"No document {docno or repr(docno)} in {index.path}.")
    found, cosines = loaded.neighbours(np.array([doc], np.int32), min(k, STORED))
    is_there = found[0] != NO_NEIGHBOUR
    return Hits(loaded.snapshot, found[0][is_there].astype(np.int32), cosines[0][is_there])


def _counts(index: Index, docno: str) -> dict[str, int]:
    """Return the terms of a document with their frequencies, from the stored terms or else from the stored text."""
    if "terms" not in index.store:
        return Counter(index.analyze(index.document(docno).contents))
    doc = index.doc(docno)
    if doc is None:
        raise UnknownDocument(f"No document {docno or repr(docno)} in {index.path}.")
    segment, local = index.snapshot.place(doc)
    _, ordinals, tfs = segment.terms_of(np.array([local]))
    return {segment.terms.text(term): tf for term, tf in zip(ordinals.tolist(), tfs.tolist(), strict=True)}
