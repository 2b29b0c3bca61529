"""The operation that shows where rankings disagree: disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from sublex.errors import InputError
from sublex.forms.lines import Shown
from sublex.operations.context import OperationContext
from sublex.operations.declaring import File, operation, option
from sublex.operations.evaluating import FIGURES
from sublex.operations.parameters import (
    AllowUncovered,
    Contradictions,
    Fields,
    Language,
    Profile,
    QueryVectors,
    Rankers,
    Ranking,
    TopicFile,
)
from sublex.operations.searching import compared
from sublex.tools.messages import Step


def disagree_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `disagree` on the loaded topics; "" if the topics do not come from a file."""
    topics, judgements = given["loaded_topics"], given["judgements"]
    path = topics.path if topics else given["topics"]
    rankers = list(compared(given["rankers"], given["ranking"]))
    qrels = judgements.path if judgements else given["qrels"]
    options = f", {qrels!r}" if qrels else ""
    changed = {
        "number": 10,
        "documents": 5,
        "depth": 100,
        "measure": "AP",
        "language": "plain",
        "contradictions": "error",
    }
    options += "".join(f", {name}={given[name]!r}" for name, default in changed.items() if given[name] != default)
    vectors = dict(text.split("=", 1) for text in given["queries"])
    options += f", queries={vectors!r}" if vectors else ""
    return f"sublex.disagree(index, {path!r}, {rankers[0]!r}, {rankers[1]!r}{options})" if path else ""


@operation(forms=FIGURES, file=File((".html", ".htm")), python=disagree_code)
def disagree(
    context: OperationContext,
    topics: TopicFile,
    rankers: Rankers = (),
    qrels: Annotated[str | None, option(metavar="FILE", completes="file", given="judgements", remembered=True)] = None,
    number: Annotated[int, option("-n", least=1)] = 10,
    documents: Annotated[int, option(least=1)] = 5,
    depth: Annotated[int, option(least=2)] = 100,
    measure: Annotated[str, option("-m", "--measure")] = "AP",
    contradictions: Contradictions = "error",
    fields: Fields = "title",
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    language: Language = "plain",
    queries: QueryVectors = (),
    loaded_topics: Annotated[Any, option(hidden=True, remembered=True)] = None,
    judgements: Annotated[Any, option(hidden=True, remembered=True)] = None,
    ranking: Ranking = None,
) -> Shown:
    """Show where rankings differ most, by topic and by document.

    The first ranking is compared with each of the others. Each document has its ranks and the words or topics that move it:
    how much more they raise it in the second ranking than in the first, in standard deviations of the scores. With
    judgements, the table says which ranking is right. In the shell, the loaded topics are run, and a single expression is
    compared with that of the session.

    Args:
        qrels: Relevance judgements, which say which ranking is right.
        number: Topics to show.
        documents: Documents to show of each topic.
        depth: Documents of each ranking to compare.
        measure: The measure of both rankings on each topic, if there are judgements.
        output: Write the tables as an HTML page to this file.

    Examples:
        sublex disagree demo topics.trec -r BM25 -r "BM25 >> RM3 >> BM25"
        sublex disagree demo topics.trec -r BM25 -r PL2 --qrels qrels.txt -n 3
    """
    import sublex
    from sublex.display.disagreement import disagreements
    from sublex.evaluation.disagreement import Wanted, disagreement
    from sublex.evaluation.measures import parse_measures
    from sublex.pipeline.query_forms import topics_notes

    context.give_queries(queries)
    named = compared(rankers, ranking)
    if len(rankers) < (1 if ranking else 2):
        raise InputError("Name two rankings or more with -r.")
    (chosen, *more) = map(str, parse_measures([measure]))
    if more:
        raise InputError(f"{measure} stands for several measures; name one.")
    notes: list[str] = []
    if loaded_topics is None:
        loaded_topics = sublex.read_topics(topics, fields)
        notes += loaded_topics.notes
        if qrels is not None:
            judgements = sublex.read_qrels(qrels, contradictions)
            notes += judgements.notes
    if judgements is None and chosen != "AP":
        notes.append(f"{chosen} needs judgements; name their file by --qrels.")
    index = context.index
    context.prepare("analyze search explain number-terms", index)
    first, *others = [context.pipeline(ranker, profile) for ranker in named]
    notes += dict.fromkeys(note for pipeline in (first, *others) for note in pipeline.notes)
    notes += topics_notes(loaded_topics, index, language)
    wanted = Wanted(number, documents, depth, chosen)
    found = []
    for other in others:
        label = f"{other} against {first}"
        with context.step(f"Compared {label}"), context.progress(label, "topics") as advance:
            found.append(disagreement(index, loaded_topics, (first, other), judgements, wanted, language, advance))
    shown = disagreements(found)
    shown.notes = notes
    if loaded_topics.path:
        changed = {
            "n": (number, 10), "documents": (documents, 5), "depth": (depth, 100), "measure": (chosen, "AP"),
            "language": (language, "plain"), "queries": (queries, ()), "contradictions": (contradictions, "error"),
        }  # fmt: skip
        shown.step = Step(
            "disagree", context.path, loaded_topics.path, r=tuple(map(str, (first, *others))),
            qrels=judgements.path if judgements is not None and judgements.path else None,
            **{name: given for name, (given, default) in changed.items() if given != default},
        )  # fmt: skip
    return shown
