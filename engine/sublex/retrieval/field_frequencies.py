"""The frequencies of terms in fields, for rankers that declare `fields`.

Frequencies are int32 arrays with a row for each field of the ranker and a column for each posting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sublex.contracts.base import FieldStatistics, Ranker, Statistics
from sublex.contracts.operators import Operator, OperatorKind, synonyms, within
from sublex.errors import PluginError
from sublex.index.offsets import starts_of
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
    """Return the frequencies of words in fields: a row for each field, a column for each posting of the words.

    `terms` has the ordinals of the words. The postings are those of `segment.gather(terms)`, in the same order, and
    `tfs` has the frequencies that it returns.
    """
    return np.stack([segment.field_tfs(field, terms, tfs) for field in fields])


def of_operators(
    table: TermTable, k: int, fields: Sequence[str], operators: Sequence[Operator], counts: np.ndarray, docs: np.ndarray
) -> np.ndarray:
    """Return the frequencies of operators in fields: a row for each field, a column for each posting in segment k.

    `counts` has the number of postings of each operator, and `docs` the document of each posting, one operator after
    the other.
    """
    parts = [[_within(field, operator) for operator in operators] for field in fields]
    there = [part for own in parts for part in own if part is not None]
    known = table.operators.find(there)
    assert known is not None
    tfs = np.zeros((len(fields), len(docs)), np.int32)
    for row, own in zip(tfs, parts, strict=True):
        for part, begin, count in zip(own, starts_of(counts).tolist(), counts.tolist(), strict=False):
            number = -1 if part is None else known.number_of[part]
            if number >= 0:
                found, frequencies, _ = known.postings(np.array([number]), k)
                row[begin + np.searchsorted(docs[begin : begin + count], found)] = frequencies
    return tfs


def _within(field: str, part: str) -> Any:
    """Return an operator that stands for the occurrences of the term `part` in a field.

    None if all parts of `part` are restricted to other fields.
    """
    if not isinstance(part, Operator) or part.fields <= {field}:
        return within(field, part)
    if part.kind is not OperatorKind.SYNONYMS:
        return None
    parts = [own for own in (_within(field, inner) for inner in part.parts) if own is not None]
    return synonyms(parts) if parts else None


def field_postings(table: TermTable, k: int, fields: Sequence[str], term: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents of segment k that hold a term, ascending, and the term's frequencies in fields."""
    if isinstance(term, Operator):
        docs, _ = table.postings(term, k)
        return docs, of_operators(table, k, fields, [term], np.array([len(docs)]), docs)
    segment = table.segment(k)
    ordinal = segment.find(term)
    terms = np.array([] if ordinal is None else [ordinal], np.int64)
    docs, tfs = segment.gather(terms)
    return docs, of_words(segment, fields, terms, tfs)
