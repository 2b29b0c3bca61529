"""Operations that explain results: how a score is computed, why one document is above another, and why a document is absent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from sublex.errors import InputError
from sublex.forms.lines import Shown
from sublex.operations.context import Context
from sublex.operations.declaring import operation, option
from sublex.operations.parameters import AllowUncovered, Docno, HitCount, Profile, Query, Ranker, Weighted
from sublex.operations.searching import call_code, read_query


def explain_code(given: Mapping[str, Any]) -> str:
    """Return an explanation, or two of them, as code."""
    codes = [call_code("explain", given, repr(docno)) for docno in (given["docno"], given.get("versus")) if docno]
    return codes[0] if len(codes) == 1 else f"({', '.join(codes)})"


@operation(examples=('sublex explain demo "cranes by the river" birds-05 -r PL2',), python=explain_code)
def explain(
    context: Context,
    query: Query,
    docno: Docno,
    ranker: Ranker = None,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    weighted: Weighted = False,
    versus: Annotated[
        str | None,
        option(
            metavar="OTHER", completes="docno", bare=True, word="vs",
            help="Show what makes the difference to the score of another document.",
        ),
    ] = None,
    why_not: Annotated[
        bool, option(help="Show why the document is not among the first hits, and what brings it in.")
    ] = False,
    k: HitCount = 10,
) -> Shown:  # fmt: skip
    """Show how the score of a document for QUERY is computed.

    A score is the sum of the parts that are indented below it, and each part in turn, unless its line names another
    operation. A value in brackets is evidence and is not added. The document need not be among the hits. With another
    document, the parts that make the difference of their scores are shown. With --why-not, -k is the number of hits among
    which the document is missed.
    """
    from sublex.display.difference import difference
    from sublex.display.explanation import explanation
    from sublex.pipeline.query_forms import query_notes

    index, pipeline = context.index, context.pipeline(ranker, profile)
    context.prepare("analyze search explain", index, once=not pipeline.expands)
    if versus is not None and why_not:
        raise InputError("Name two documents with --versus, and not --why-not besides.")
    if versus == docno:
        raise InputError(f"Both are {docno}; name two documents.")
    asked = read_query(index, query, weighted)
    notes = [] if weighted else query_notes(index, query, pipeline)
    with context.step(f"Explained by {pipeline}"):
        tree = index.explain(asked, docno, pipeline)
        if versus is not None:
            shown = difference(tree, index.explain(asked, versus, pipeline), (docno, versus), query)
        elif why_not:
            from sublex.display.absence import absence as shown_absence
            from sublex.pipeline.absence import absence

            shown = shown_absence(absence(index, asked, docno, pipeline, k), pipeline)
        else:
            shown = explanation(tree, docno, pipeline, bool(asked.terms))
    shown.notes = notes
    return shown


@operation(faces=("shell",))
def why_not(
    context: Context,
    query: Query,
    docno: Docno,
    ranker: Ranker = None,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    weighted: Weighted = False,
    k: HitCount = 10,
) -> Shown:
    """Show why a document is not among the hits of the last query.

    The result has its rank, its words, its rank after each stage, and the depth or the weight of a part that brings it in.
    """
    given = {"ranker": ranker, "profile": profile, "allow_uncovered": allow_uncovered, "weighted": weighted, "k": k}
    return context.ask(explain, query=query, docno=docno, why_not=True, **given)
