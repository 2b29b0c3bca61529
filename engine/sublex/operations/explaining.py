"""Operations that explain results: the parts of a score, the order of two documents, and the absence of a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from sublex.errors import InputError
from sublex.forms.lines import Shown
from sublex.operations.context import OperationContext
from sublex.operations.declaring import operation, option
from sublex.operations.parameters import Asked, Docno
from sublex.operations.searching import call_code, give, read_query, reading_notes


def explain_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `explain`: for one explanation, or for those of two documents."""
    codes = [call_code("explain", given, repr(docno)) for docno in (given["docno"], given["versus"]) if docno]
    return codes[0] if len(codes) == 1 else f"({', '.join(codes)})"


@operation(python=explain_code)
def explain(
    context: OperationContext,
    asked: Asked,
    docno: Docno,
    versus: Annotated[str | None, option(metavar="OTHER", completes="docno", bare=True, word="vs")] = None,
    why_not: bool = False,
) -> Shown:
    """Show how the score of a document for QUERY is computed.

    The parts of a score are indented below it, and their own parts below them. A value is the sum of its parts, unless
    its line names another operation. A value in brackets is evidence and is not added. The document need not be among
    the hits. With another document, the parts that make the difference of their scores are shown. With --why-not, -k is
    the number of first hits among which the document should be.

    Args:
        versus: Show what makes the difference to the score of another document.
        why_not: Show why the document is not among the first hits, and what brings it in.

    Examples:
        sublex explain demo "cranes by the river" birds-05 -r PL2
    """
    from sublex.display.explanation import explanation
    from sublex.pipeline.judged import judged_notes
    from sublex.pipeline.missing_words import corrections, left_out_notes, missing_notes

    give(context, asked)
    index, pipeline = context.index, context.pipeline(asked.ranker, asked.profile)
    context.prepare("analyze search explain", index, once=not pipeline.expands)
    if versus is not None and why_not:
        raise InputError("Name two documents with --versus, and not --why-not besides.")
    if versus == docno:
        raise InputError(f"Both are {docno}; name two documents.")
    query = read_query(index, asked)
    with context.step(f"Explained by {pipeline}"):
        tree = index.explain(query, docno, pipeline)
        if versus is not None:
            from sublex.display.difference import difference

            shown = difference(tree, index.explain(query, versus, pipeline), (docno, versus), asked.query)
        elif why_not:
            from sublex.display.absence import absence as shown_absence
            from sublex.pipeline.absence import absence

            shown = shown_absence(absence(index, query, docno, pipeline, asked.k), pipeline)
        else:
            shown = explanation(tree, docno, pipeline, bool(query.terms))
    missing = index.snapshot.missing(query) if pipeline.reads_plain_words else {}
    shown.notes = [*pipeline.chosen, *judged_notes(pipeline, [query]), *reading_notes(context, asked, query, pipeline)]
    shown.notes += missing_notes(missing, corrections(index.snapshot, missing))
    shown.notes += left_out_notes(pipeline.left_out(query), missing.values())
    return shown


@operation(faces=("shell", "service"))
def why_not(context: OperationContext, docno: Docno, asked: Asked) -> Shown:
    """Show why a document is not among the hits of the last query.

    The result has its rank, its words, its rank after each stage, and the depth or the weight of a part that brings it in.
    """
    return context.ask(explain, docno=docno, why_not=True, **asked._asdict())
