"""The operation that chooses documents to judge: pool."""

from __future__ import annotations

from typing import Annotated, Literal

from sublex.forms.lines import Shown, figures
from sublex.forms.tables import Table
from sublex.operations.context import Context
from sublex.operations.declaring import File, Needs, operation, option
from sublex.operations.evaluating import FIGURES, read_systems
from sublex.operations.parameters import Contradictions, Runs
from sublex.tools.messages import counted


@operation(needs=Needs.NOTHING, faces=("cli", "service"), forms=FIGURES, file=File((".tsv", ".txt"), metavar="FORM"))
def pool(
    context: Context,
    runs: Runs,
    depth: Annotated[int | None, option(least=1)] = None,
    budget: Annotated[int | None, option(least=1)] = None,
    method: Literal["depth", "front", "change"] = "depth",
    qrels: Annotated[str | None, option(metavar="FILE", completes="file", given="judgements")] = None,
    contradictions: Contradictions = "error",
) -> Shown:
    """Choose documents of run files to judge next, as a form.

    A person replaces each ? of the form by a grade; in the shell, :qrels FILE and then :judge --form FORM add the judgements to a file.

    Args:
        depth: Look at the first N documents of each topic of each run.
        budget: Choose N documents without a judgement in all, shared among the topics.
        method: Choose by the best rank in any run, by move to front, which prefers runs that gave relevant documents, or by how
            much a judgement could change the difference between two runs.
        qrels: The judgements that are there already.
        output: Write the form to this file.

    Examples:
        sublex pool bm25.run pl2.run --depth 10 -o form.tsv
        sublex pool bm25.run pl2.run --budget 50 --method change --qrels qrels.txt
    """
    import sublex
    from sublex.evaluation.pooling import form_text, pool_notes
    from sublex.evaluation.pooling import pool as chosen_of

    context.prepare("number-terms read-runs")
    with context.step(f"Read {counted(len(runs), 'run')}"):
        systems = read_systems(runs)
        judged = sublex.read_qrels(qrels, contradictions) if qrels is not None else None
    chosen = chosen_of(systems, judged if judged is not None else {}, method, depth, budget)
    rows = [[each.qid, each.docno, "?" if each.grade is None else str(each.grade), each.why] for each in chosen]
    shown = figures(Table(["topic", "document", "grade", "why"], rows, 4), lambda: [each._asdict() for each in chosen])
    unjudged = sum(each.grade is None for each in chosen)
    notes = [*(note for system in systems for note in system.run.notes), *(judged.notes if judged is not None else ())]
    notes += pool_notes(systems, judged)
    shown.notes = [*notes, f"{counted(unjudged, 'document')} to judge, and {len(chosen) - unjudged:,} judged."]
    shown.files = dict.fromkeys((".tsv", ".txt"), lambda: form_text(chosen))
    shown.about = f"is a form: {counted(unjudged, 'document')} to judge, and {len(chosen) - unjudged:,} judged"
    return shown
