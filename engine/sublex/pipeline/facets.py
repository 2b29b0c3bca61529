"""Facets: how many of the documents found have each value of a column, or each label of a fitted model."""

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
    says whether these are all documents found, and not only the first ones.
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
    """Return the facets of a column or a fitted model of the documents that a pipeline finds for a query.

    Documents have to meet `condition`, too; but for the facets of a column, its parts that read this column alone do not
    count, so that a user who chose a value sees what other values would give. Labels, and columns if the pipeline has
    more than rankers, expanders and filters, are counted in the first 1,000 documents. The document `without` is left out.
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
    """Raise InputError for a name that is neither a column nor a component's, unless it is most like the name of a model."""
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
    """Return the best `most` documents that a pipeline finds when no stage keeps fewer."""
    with one_search():
        return pipeline.scorer.start(State(query, depth=max(most, DEPTH))).find(most).first(most)
