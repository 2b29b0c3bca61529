"""The operation that finds near duplicates: duplicates."""

from __future__ import annotations

from sublex.forms.lines import Shown, figures
from sublex.forms.parts import part_lines
from sublex.forms.tables import Table
from sublex.operations.context import OperationContext
from sublex.operations.declaring import operation


@operation(forms=("table", "json", "csv"), python="index.duplicates({threshold}, {width})")
def duplicates(context: OperationContext, threshold: float = 0.8, width: int = 3) -> Shown:
    """Find groups of documents whose texts are nearly the same.

    Two documents are alike if the Jaccard coefficient of their sets of runs of words, in title and text, is at least
    the threshold. A group holds all documents that such pairs join.

    Args:
        threshold: The least Jaccard coefficient of a pair, from 0.3 to 1.
        width: Words of a run.

    Examples:
        sublex duplicates demo
        sublex duplicates demo --threshold 0.5 --format csv
    """
    from sublex.pipeline.near_duplicates import near_duplicates

    index = context.index
    context.prepare("duplicates", index)
    with context.step("Compared the documents"), context.progress("Reading", total=len(index)) as advance:
        found = near_duplicates(index, threshold, width, advance)
    rows = [[docno, f"{n}", f"{group.least:.3f}"] for n, group in enumerate(found.groups, 1) for docno in group.docnos]
    table = Table(["document", "group", "least"], rows, 1)
    return figures(table, found.to_json, lines=lambda: part_lines(found.parts()))
