"""The built-in filters `where`, which keeps documents by their columns, and `sort`, which orders hits; and the smoother `near`.

A filter takes documents and a `sublex.contracts.base.Context`, and says which documents to keep. A smoother computes new
scores of hits from their scores and those of the documents near them.
"""

from sublex.contracts.base import Param
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3


@hookimpl
def register_filters(register: Register) -> None:
    """Register the built-in filters."""
    from sublex.filters.sort import Sort
    from sublex.filters.where import Where

    condition = "The condition on columns, as in year >= 2015 and category in (cs.IR, cs.CL)."
    register("where", Where, [Param("condition", str, ..., help=condition)])
    by = Param("column", str, ..., help="The column whose values order the hits.")
    register("sort", Sort, [by, Param("descending", bool, False, help="Whether the greatest values come first.")])


@hookimpl
def register_smoothers(register: Register) -> None:
    """Register the built-in smoother."""
    from sublex.filters.near import PARAMS, Near

    register("near", Near, PARAMS)
