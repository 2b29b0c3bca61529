"""The frequencies of terms in fields, for rankers that declare `fields`.

Frequencies are int32 arrays with a row for each field of the ranker and a column for each posting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sublex.contracts.base import FieldStatistics, Ranker, Statistics
from sublex.errors import PluginError
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.retrieval.term_table import TermTable


def fields_of(ranker: Ranker) -> tuple[str, ...]:
    """Return the names of the fields that a ranker reads; an empty tuple if it reads whole documents."""
    fields: Any = getattr(ranker, "fields", ())
    if isinstance(fields, str) or not all(isinstance(field, str) for field in fields):
        raise PluginError(f"The ranker {ranker} has fields={fields!r}; write a tuple of names, as in ('title',).")
    return tuple(fields)


def statistics_for(ranker: Ranker, snapshot: Snapshot) -> Any:
    """Return the statistics of the collection as a ranker gets them: `Statistics`, or `FieldStatistics`.

    Raise InputError for a field that the index does not have.
    """
    fields, whole = fields_of(ranker), snapshot.statistics
    for field in fields:
        snapshot.need_field(field)
    if not fields:
        return whole
    means = {field: Statistics(whole.docs, snapshot.field_tokens(field), 0).mean_length for field in fields}
    return FieldStatistics(*whole, means)


def of_words(segment: Segment, fields: Sequence[str], terms: np.ndarray, tfs: np.ndarray) -> np.ndarray:
    """Return the frequencies of words in fields, for the postings in the order of `segment.gather(terms)`.

    `tfs` has the frequencies that `gather` returns.
    """
    return np.stack([segment.field_tfs(field, terms, tfs) for field in fields])


def field_postings(table: TermTable, k: int, fields: Sequence[str], term: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents of segment k that hold a term, ascending, and the term's frequencies in fields."""
    segment = table.segment(k)
    ordinal = segment.find(term)
    terms = np.array([] if ordinal is None else [ordinal], np.int64)
    docs, tfs = segment.gather(terms)
    return docs, of_words(segment, fields, terms, tfs)
