"""Operations that make run files: run, fuse."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sublex.errors import InputError, SublexError
from sublex.forms.lines import Shown, line, sentence
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, option
from sublex.operations.parameters import (
    AllowUncovered,
    Fields,
    JudgedFeedback,
    Language,
    Launcher,
    Metadata,
    OverwriteFile,
    Partial,
    Profile,
    QueryVectors,
    Rankers,
    Residual,
    RunHits,
    Runs,
    TopicFile,
    WeightedTopics,
    Workers,
)  # fmt: skip
from sublex.operations.searching import language_of
from sublex.tools.messages import counted, shell_word
from sublex.tools.outputs import expect_folder

if TYPE_CHECKING:
    from sublex.pipeline.pipeline import Pipeline
    from sublex.trec.topics import Topics

# Endings of files in other formats. A user who names a file with such an ending does not mean a folder.
OTHER_FILES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", ".html", ".md", ".yaml", ".xml", ".qrels")


def run_code(given: Mapping[str, Any]) -> str:
    """Return Python code for a call of `run`, which makes a run for each ranker."""
    from sublex.language.names import given_name

    chosen = language_of(given["language"], given["weighted"])
    language = "" if chosen == "plain" else f", language={chosen!r}"
    vectors = dict(text.split("=", 1) for text in given["queries"])
    language += f", queries={vectors!r}" if vectors else ""
    language += f", judged={given['judged']!r}" if given["judged"] else ""
    rankers = [named[1] if (named := given_name(ranker)) else ranker for ranker in given["rankers"]]
    after = f".without(sublex.read_qrels({given['residual']!r}))" if given["residual"] else ""
    return f"[index.run({given['topics']!r}, ranker{language}){after} for ranker in {rankers!r}]"


@operation(
    faces=("cli",),
    forms=("table",),
    python=run_code,
)
def run(
    context: OperationContext,
    topics: TopicFile,
    rankers: Rankers = (),
    k: RunHits = 1000,
    output: Annotated[str, option("-o", "--output", metavar="PATH", completes="file")] = ".",
    tag: Annotated[str | None, option(shown="the name or the expression")] = None,
    fields: Fields = "title",
    metadata: Metadata = "sidecar",
    workers: Workers = None,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    overwrite: OverwriteFile = False,
    language: Language = "plain",
    weighted: WeightedTopics = False,
    queries: QueryVectors = (),
    judged: JudgedFeedback = "",
    residual: Residual = "",
    launcher: Launcher = "embedded",
    partial: Partial = False,
) -> Shown:
    """Run a topic file and write a TREC run for each ranker.

    The files in a folder are named after their rankers, as in BM25.run. TOPICS may have any usual format: TREC, TSV, CSV, JSON lines.
    Without -r, the ranker is BM25. If a ranker is wrong, the others are run all the same, and the exit code is 2.

    Args:
        rankers: A ranker, or NAME=EXPR, which also gives it a name; may be given several times.
        output: Write the runs to this folder, or the run of one ranker to a file, such as bm25.run or bm25.run.gz.
        tag: The tag of the run, the last column of its lines.

    Examples:
        sublex run demo topics.trec -r BM25 -r "BM25 >> RM3 >> BM25" -o runs
        sublex run demo topics.trec -r PL2 -o pl2.run.gz --tag mine
    """
    import sublex
    from sublex.evaluation.residual import FLATTERED
    from sublex.pipeline.query_forms import forms_notes
    from sublex.pipeline.running import run_path
    from sublex.trec.run_writer import check_run_place

    _check_tag(tag, rankers)
    language = language_of(language, weighted)
    context.give_queries(queries)
    context.give_judged(judged)
    seen = sublex.read_qrels(residual) if residual else None
    context.launch(launcher, partial)
    index = context.index
    context.prepare("analyze search write-runs", index)
    with context.step(f"Read {topics}"):
        asked = sublex.read_topics(topics, fields)
    context.say(str(asked), *asked.notes, *forms_notes(asked, index, language))
    if judged and not residual:
        context.say(FLATTERED.format(residual=f"--residual {shell_word(judged)}"))
    pipelines, failures = _compose(context, rankers or (None,), profile)
    place = place_of_run(output, len(pipelines))
    options = {
        "k": k,
        "where": metadata,
        "workers": workers,
        "tag": tag or "",
        "overwrite": overwrite,
        "language": language,
        "seen": seen,
    }
    for pipeline in pipelines:
        check_run_place(run_path(place, pipeline), metadata, overwrite)
    # Only the first run tells which words no document contains, because they are the same for all runs.
    notes = [True] + [False] * len(pipelines)
    done = (
        write_run(context, asked, pipeline, place, notes=first, **options)
        for pipeline, first in zip(pipelines, notes, strict=False)
    )
    left = [line(text, indent=0) for text in done if not context.show(text)]
    lost = [f"Shards {', '.join(index.lost_shards)} did not answer, so the runs lack their documents."]
    return Shown(lambda: left, code=2 * bool(failures), notes=lost if index.lost_shards else ())


def write_run(
    context: OperationContext, topics: Topics, pipeline: Pipeline, place: Path, *, notes: bool = False, **options: Any
) -> str:
    """Run topics by a pipeline, write the run, and return the sentence that says where it is and how long it took.

    With `notes`, say which words of the topics no document contains.
    """
    from sublex.pipeline.running import write

    with context.step(f"Ran {pipeline}"), context.progress(pipeline.label, "topics", len(topics)) as advance:
        done = write(context.index, topics, pipeline, output=place, progress=advance, **options)
    if notes:
        context.say(*done.notes)
    if done.replaced:
        context.say(f"The {done.path} that was there {done.replaced}; it is replaced.")
    return f"{done.path}  {done.times}"


def _check_tag(tag: str | None, rankers: Sequence[str]) -> None:
    """Raise InputError for a tag that a run cannot have, and for a tag that several runs would share."""
    from sublex.trec.run_writer import check_word

    if tag is not None:
        check_word(tag, "tag")
        if len(rankers) > 1:
            raise InputError(f"--tag {tag} would name {len(rankers)} runs; give one ranker, or leave --tag out.")


def place_of_run(output: str, runs: int) -> Path:
    """Return the place of a number of runs: a file for one, or a folder."""
    from sublex.trec.run_names import is_run_file

    if output == "-":
        raise InputError("sublex run writes files; name a file or a folder with -o.")
    path = Path(output)
    if not is_run_file(path):
        if path.suffix.lower() in OTHER_FILES and not output.endswith(os.sep) and not path.is_dir():
            raise InputError(
                f"A run is written in TREC's format, which {path.suffix} is not; name {path.stem}.run, or a folder by {output}/"
            )
        return path
    if output.endswith(os.sep):
        if path.exists():
            raise InputError(f"{output} is a file; name a folder with -o.")
        path.mkdir(parents=True)
    elif runs > 1:
        raise InputError(
            f"{output} is a file for one run, and there are {runs}; name a folder, such as {path.stem}{os.sep}"
        )
    return path


def _compose(
    context: OperationContext, rankers: Sequence[str | None], profile: str | None
) -> tuple[list[Pipeline], int]:
    """Return the distinct pipelines of the rankers, and the number of rankers that failed, each with a message."""
    pipelines: dict[str, Pipeline] = {}
    failures = 0
    for ranker in rankers:
        try:
            pipeline = context.system(ranker, profile)
        except SublexError as error:
            failures += 1
            context.report(error)
            continue
        if str(pipeline) in pipelines:
            context.say(f"{ranker} is the same as {pipelines[str(pipeline)].label}, which is run once.")
        pipelines.setdefault(str(pipeline), pipeline)
    context.say(*(f"{each.name} stands for {each}." for each in pipelines.values() if each.name))
    context.say(*dict.fromkeys(note for pipeline in pipelines.values() for note in pipeline.notes))
    return list(pipelines.values()), failures


@operation(needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def fuse(
    context: OperationContext,
    runs: Runs,
    method: Literal["rrf", "combsum", "combmnz", "weighted"] = "rrf",
    weights: Annotated[str | None, option(metavar="W,W,...")] = None,
    normalise: Annotated[Literal["minmax", "zscore", "rank", "rrf", "raw"] | None, option(shown="minmax")] = None,
    k: RunHits = 1000,
    output: Annotated[
        str | None, option("-o", "--output", metavar="FILE", completes="file", shown="standard output")
    ] = None,
    metadata: Metadata = "sidecar",
    overwrite: OverwriteFile = False,
) -> Shown:
    """Fuse several run files into one.

    Args:
        method: Add up reciprocal ranks (rrf), scores (combsum), scores multiplied by the number of runs that found the
            document (combmnz), or weighted scores.
        weights: For weighted: one number for each run, such as .7,.3.
        normalise: How the scores of each topic are normalised; not for rrf.
        output: Write the fused run to FILE; .gz compresses it.

    Examples:
        sublex fuse bm25.run pl2.run -o both.run
        sublex fuse bm25.run pl2.run --method weighted --weights .7,.3
    """
    import sublex
    from sublex.trec.fuse import fuse, fusion_notes
    from sublex.trec.metadata import to_comments
    from sublex.trec.run_writer import check_run_place, run_lines, write_run

    if output not in (None, "-"):
        expect_folder(output)
        check_run_place(Path(output), metadata, overwrite)
    context.prepare("number-terms read-runs write-runs")
    with context.step("Read the runs"):
        parts = [sublex.read_run(path) for path in runs]
    notes = [note for part in parts for note in part.notes]
    with context.step("Fused the runs"):
        fused = fuse(parts, method, _numbers(weights), normalise, k)
    notes += fusion_notes(parts, runs)
    about = {**fused.metadata, "implementation": {"software": "sublex", "version": sublex.__version__}}
    if output in (None, "-"):
        head = [to_comments(about)] if metadata == "header" else []
        return Shown(list, notes=notes, forms={"table": lambda: [*head, *run_lines(fused.rows(), fused.tag)]})
    hits = counted(write_run(output, fused.rows(), fused.tag, about, metadata, overwrite), "hit")
    topics = counted(len(fused), "topic")
    return sentence(f"Fused {len(runs)} runs of {topics} into {output}: {hits}, tag {fused.tag}", notes=notes)


def _numbers(weights: str | None) -> list[float] | None:
    if weights is None:
        return None
    try:
        return [float(weight) for weight in weights.split(",")]
    except ValueError:
        raise InputError(f"--weights {weights} is not a list of numbers; write for example .7,.3.") from None
