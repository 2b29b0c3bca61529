"""Find the terms that describe a document best, as a query for documents like it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from sublex.contracts.base import Query, QueryTerm
from sublex.pipeline.weighted import query_of

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


def _counts(index: Index, docno: str) -> dict[str, int]:
    """Return the terms of a document with their frequencies, from the stored terms or else from the stored text."""
    if "terms" not in index.store:
        return Counter(index.analyze(index.document(docno).contents))
    doc = index.doc(docno)
    assert doc is not None
    segment, local = index.snapshot.place(doc)
    _, ordinals, tfs = segment.terms_of(np.array([local]))
    return {segment.terms.text(term): tf for term, tf in zip(ordinals.tolist(), tfs.tolist(), strict=True)}
