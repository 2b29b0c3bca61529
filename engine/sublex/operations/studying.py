"""Operations on studies: study, study new."""

from __future__ import annotations

import os
from typing import Annotated

from sublex.errors import InputError
from sublex.forms.lines import Shown, sentence
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, option, positional
from sublex.operations.evaluating import FIGURES
from sublex.operations.parameters import OverwriteFile, Workers
from sublex.tools.messages import Step

StudyFile = Annotated[str, positional("FILE", completes="file")]
Folder = Annotated[str | None, option(metavar="DIR", completes="file")]


@operation(needs=Needs.NOTHING, faces=("cli", "shell"), forms=FIGURES, python="sublex.study({file})")
def study(
    context: OperationContext,
    file: StudyFile,
    out: Annotated[str | None, option(metavar="DIR", completes="file", shown="FILE-study, next to FILE")] = None,
    plan: bool = False,
    check: bool = False,
    collections: Folder = None,
    allow: Annotated[tuple[str, ...], option(metavar="DIR", completes="file")] = (),
    download: bool = False,
    workers: Workers = None,
) -> Shown:
    """Run a study, an experiment in one file.

    FILE names collections, topics, systems and tables. Runs, measures, a report and study.lock, a record of all
    figures, go to one folder. Results that are there already are kept, so a study that was killed can be resumed, and a
    changed line of FILE runs again only what depends on it. If a system fails, the others are run all the same, and the
    exit code is 2. A study reads files below its own folder alone, unless you allow more.

    Args:
        out: The folder of the results.
        plan: Only list what the study reads and what it would do, with estimates of time and size.
        check: Run all of it again, and say which figures moved beyond their tolerance; the exit code is 1 if any did.
        collections: Look up files in this folder, too.
        allow: Let the study read files below this folder; may be given several times.
        download: Let the study read data sets of ir_datasets, which may be downloaded.

    Examples:
        sublex study new animals.toml --topics topics.trec
        sublex study animals.toml --plan
        sublex study animals.toml
        sublex study animals.toml --check
    """
    return _study(context, file, out, plan, check, collections, allow, download, workers)


def _study(
    context: OperationContext, file: str, out: str | None, plan: bool, check: bool, collections: str | None,
    allow: tuple[str, ...], download: bool, workers: int | None, brief: bool = False,
) -> Shown:  # fmt: skip
    """Run, check or plan a study; `brief` shows its tables and verdicts without comparisons."""
    from sublex.display.study import checked, planned
    from sublex.display.study import study as shown
    from sublex.studies.begin import begin_study
    from sublex.studies.check import check_study
    from sublex.studies.plan import plan_study
    from sublex.studies.run_study import run_study
    from sublex.tools.arguments import threads

    if plan and check:
        raise InputError("--plan only says what would be done, and --check does it; leave one of them out.")
    asked, store, places = begin_study(file, out, collections, allow, download)
    if plan:
        return planned(plan_study(asked, store, places, context.registry, workers))
    context.prepare("analyze order-terms build read-json search number-terms read-runs write-runs")
    if check:
        return checked(*check_study(asked, store, places, context.registry, context, threads(workers)))
    return shown(run_study(asked, store, places, context.registry, context, threads(workers)), brief)


@operation(needs=Needs.NOTHING, faces=("cli",), forms=FIGURES)
def reproduce(
    context: OperationContext,
    paper: Annotated[str, positional("PAPER")],
    collections: Annotated[str | None, option(metavar="DIR", completes="file", shown="$SUBLEX_COLLECTIONS")] = None,
    out: Annotated[str | None, option(metavar="DIR", completes="file", shown="PAPER-study")] = None,
    quick: bool = False,
    plan: bool = False,
    check: bool = False,
    workers: Workers = None,
) -> Shown:
    """Run the study of a paper, and say which of its results hold.

    The study comes with Sublex. Each result that open data can test becomes a row with a verdict: as published,
    better, same order, or disagrees. The others say why they cannot be tested. PAPER is dcot, fisher, laki, sourcelda or
    swg. The study is like any other: it resumes, and leaves a folder, whose report has the comparisons too.

    Args:
        collections: The folder of collections; --plan lists the files that are looked for.
        out: The folder of the results.
        quick: Run a smaller study, on fewer collections.
        plan: Only list what the study reads and what it would do, with estimates of time and size.
        check: Run all of it again, and say which figures moved beyond their tolerance; the exit code is 1 if any did.

    Examples:
        sublex reproduce fisher --collections collections --quick --plan
    """
    from sublex.studies.papers_shipped import study_file_of

    file, folder = study_file_of(paper, quick), collections or os.environ.get("SUBLEX_COLLECTIONS")
    if not folder:
        raise InputError("Name the folder of the collections by --collections, or by $SUBLEX_COLLECTIONS.")
    place = out or f"{file.stem}-study"
    return _study(context, str(file), place, plan, check, folder, (), False, workers, brief=True)


@operation(name="study new", needs=Needs.NOTHING, faces=("cli",), forms=("table",))
def new(
    context: OperationContext,
    file: StudyFile,
    documents: Annotated[tuple[str, ...], option(metavar="PATH", completes="file", shown="documents.jsonl")] = (),
    topics: Annotated[str, option(metavar="FILE", completes="file")] = "topics.txt",
    qrels: Annotated[str, option(metavar="FILE", completes="file")] = "qrels.txt",
    rankers: Annotated[
        tuple[str, ...], option("-r", "--ranker", metavar="EXPR", completes="expression", shown="BM25, PL2")
    ] = (),
    overwrite: OverwriteFile = False,
) -> Shown:
    """Write a study file to change and run.

    Paths in a study file begin in its own folder.

    Args:
        documents: The documents, a path or irds:NAME; may be given several times.
        topics: The topic file.
        qrels: The judgements.
        rankers: A system; may be given several times.

    Examples:
        sublex study new animals.toml --topics topics.trec
    """
    from sublex.studies.new_study import folders_to_allow, new_study
    from sublex.studies.write_study import write_study

    documents = documents or ("documents.jsonl",)
    write_study(file, new_study(file, documents, topics, qrels, rankers or ("BM25", "PL2")), overwrite)
    step = Step("study", file, allow=folders_to_allow(file, (*documents, topics, qrels)))
    return sentence(f"{file} is written; change it, and run it: {step}")
