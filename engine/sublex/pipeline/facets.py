"""Facets: the values of a column or the labels of a fitted model, and how many of the documents found have each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sublex.contracts.base import Facet, Query, ValueCount
from sublex.contracts.columns import Column, check, without_column
from sublex.contracts.fields import is_name
from sublex.contracts.operators import Condition
from sublex.pipeline.stages.finder import one_search
from sublex.pipeline.stages.stage import DEPTH, State
from sublex.tools.messages import nearest

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline
    from sublex.retrieval.hits import Hits


class Facets(NamedTuple):
    """The facets of one column or model, the most frequent first.

    `counted` is the number of documents that were counted, and `missing` the number of those without a value. `is_all`
    is false if only the first of the documents found were counted.
    """

    of: str
    facets: list[Facet] | list[ValueCount]
    counted: int
    missing: int
    is_all: bool
    of_column: bool


def facets_of(
    index: Index,
    query: Query,
    pipeline: Pipeline,
    of: str,
    condition: Condition | None = None,
    without: int | None = None,
) -> Facets:
    """Return the facets of a column or a fitted model, counted in the documents that a pipeline finds for a query.

    The documents must also meet `condition`. The facets of a column ignore the parts of the condition that read only
    this column: a user who chose a value then sees how many documents the other values have. Labels are counted in the
    first 1,000 documents. So are columns, if the pipeline has more than rankers, expanders and filters. The document
    `without` is left out.
    """
    is_column = of in index.snapshot.columns
    check(condition, index.snapshot)
    left = without_column(condition, of) if is_column else condition
    if left is not None:
        parts = (left,) if query.condition is None else (query.condition, left)
        query = query._replace(condition=Condition("all", parts))
    is_all = is_column and pipeline.finds_all
    most = max(1, len(index)) if is_all else DEPTH + (without is not None)
    hits = _found(pipeline, query, most).without(without)
    counted, is_all = len(hits), is_all or len(hits) < DEPTH
    if not is_column:
        return Facets(of, index.facets(hits, of), counted, 0, is_all, False)
    column = index.snapshot.column(of).rows(hits.docs)
    return Facets(of, value_counts(column), counted, missing_in(column), is_all, True)


def refuse_unknown(index: Index, of: str) -> None:
    """Raise InputError if a name is neither a column nor a component, unless it resembles only the name of a model.

    Such a name passes here, because the error that it raises later suggests the model.
    """
    columns, models = index.snapshot.columns, index.registry.names("representation")
    known = {*columns, *index.snapshot.names, *map(str.casefold, index.registry.names("component"))}
    if not is_name(of) or of in known or of.casefold() in known:
        return
    if nearest(of, columns) or not nearest(of, models):
        index.snapshot.need_column(of)


def value_counts(column: Column) -> list[ValueCount]:
    """Return the values of a column with their numbers of documents: most frequent first, equal ones ascending."""
    values, counts = column.counts()
    order = np.argsort(-counts, kind="stable")
    return [ValueCount(column.shown(values[place]), int(counts[place])) for place in order.tolist()]


def missing_in(column: Column) -> int:
    """Return the number of documents without a value."""
    return 0 if column.starts is None else int(np.count_nonzero(np.diff(column.starts) == 0))


def _found(pipeline: Pipeline, query: Query, most: int) -> Hits:
    """Return the best documents that a pipeline finds. Each stage keeps up to `most` of them."""
    with one_search():
        return pipeline.scorer.start(State(query, depth=max(most, DEPTH))).find(most).first(most)
