"""Operations that measure rankings: eval, compare, tune."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from sublex.errors import InputError
from sublex.forms.lines import Line, Shown, figure_lines, figures, line
from sublex.operations.context import Context
from sublex.operations.declaring import File, Needs, operation, option, positional
from sublex.operations.parameters import (
    AllowUncovered,
    Fields,
    JudgementFile,
    Measures,
    Profile,
    Rankers,
    RunHits,
    Runs,
    TopicFile,
    Workers,
)
from sublex.operations.searching import Ranking
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sublex.evaluation.systems import System
    from sublex.pipeline.pipeline import Pipeline
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics
    from sublex.tuning.result import Scored, Setting, Tuning

FIGURES = ("table", "json", "csv", "markdown", "latex")
# Hits of a topic in a run, unless the user asks for another number.
RUN_HITS = 1000

# What a session has loaded; on the command line the files are named.
LoadedTopics = Annotated[Any, option(hidden=True, remembered=True, help="Topics that are loaded.")]
LoadedQrels = Annotated[Any, option(hidden=True, remembered=True, help="Judgements that are loaded.")]


def compare_code(given: Mapping[str, Any]) -> str:
    """Return a comparison of rankers on files as code; empty if topics or judgements come from no file."""
    topics, qrels = given["loaded_topics"], given["loaded_qrels"]
    if not topics or not qrels or not topics.path or not qrels.path:
        return ""
    rankers = list(given["rankers"] or [given["ranking"]])
    return f"sublex.compare(index, {topics.path!r}, {qrels.path!r}, {rankers!r}).table()"


@operation("eval", Needs.NOTHING, forms=FIGURES, python=compare_code, examples=(
    "sublex eval qrels.txt bm25.run pl2.run -m AP -m nDCG@10",
    "sublex eval qrels.txt bm25.run --by-topic --format csv",
))  # fmt: skip
def measure(
    context: Context,
    qrels: JudgementFile,
    runs: Runs,
    measures: Measures = (),
    by_topic: Annotated[bool, option("-q", "--by-topic", help="Show the figures of each topic too.")] = False,
    rankers: Annotated[
        tuple[str, ...], option(metavar="EXPR", completes="expression", bare=True, hidden=True, help="Rankers to run.")
    ] = (),
    loaded_topics: LoadedTopics = None,
    loaded_qrels: LoadedQrels = None,
    ranking: Ranking = None,
) -> Shown:
    """Measure run files by relevance judgements.

    Figures are means over all judged topics. A judged topic that is not in a run counts as one without hits. In the shell,
    the loaded topics are run by the expressions, or by that of the session, and measured by the loaded judgements.
    """
    import sublex
    from sublex.display.evaluation import evaluation_json, evaluation_table
    from sublex.evaluation.input_warnings import input_warnings
    from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures
    from sublex.evaluation.run_evaluation import evaluate

    names = [str(measure) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    context.prepare("number-terms read-runs")
    notes: list[str] = []
    if loaded_qrels is None:
        with context.step(f"Read {qrels}"):
            judgements = sublex.read_qrels(qrels)
        with context.step(f"Read {counted(len(runs), 'run')}"):
            systems = read_systems(runs)
        notes = [str(judgements), *judgements.notes, *(note for system in systems for note in system.run.notes)]
        notes += input_warnings(systems, judgements)
    else:
        judgements = loaded_qrels
        pipelines = [context.pipeline(ranker or None) for ranker in rankers or (ranking,)]
        systems = [_run(context, loaded_topics, pipeline, RUN_HITS) for pipeline in pipelines]
    with context.step("Measured the runs"):
        found = [evaluate(judgements, system.run, names, system.name) for system in systems]
    shown = figures(
        evaluation_table(found, by_topic),
        lambda: [evaluation_json(evaluation, by_topic) for evaluation in found],
        lambda: evaluation_table(found, by_topic, 10),
        notes,
    )
    if loaded_qrels is not None:
        compared = {"rankers": tuple(each.name for each in found)}
        shown.step = _compare_step(context, {**compared, "loaded_topics": loaded_topics, "loaded_qrels": judgements})
    return shown


def read_systems(paths: Sequence[str]) -> list[System]:
    """Read run files. A run is named by its tag, or by its path if another run has the same tag or it has none."""
    import sublex
    from sublex.evaluation.systems import System

    runs = [(path, sublex.read_run(path)) for path in paths]
    tags = [run.tag for _, run in runs]
    return [System(run.tag if run.tag and tags.count(run.tag) == 1 else path, run) for path, run in runs]


def _run(context: Context, topics: Topics, pipeline: Pipeline, k: int, **options: Any) -> System:
    from sublex.evaluation.systems import run_system

    with context.step(f"Ran {pipeline}"), context.progress(str(pipeline), "topics", len(topics)) as advance:
        return run_system(context.index, topics, pipeline, k, progress=advance, **options)


class Files(NamedTuple):
    """The files of a comparison: an index with topics, or neither; judgements; and runs."""

    index_name: str | None
    topics: str | None
    qrels: str
    runs: Sequence[str]


@operation(
    needs=Needs.NOTHING,
    forms=FIGURES,
    file=File((".html", ".htm"), "Write the report, one HTML page, to this file."),
    python=compare_code,
    examples=(
        "sublex compare demo topics.trec qrels.txt -r BM25 -r PL2 -o report.html",
        "sublex compare qrels.txt bm25.run pl2.run",
    ),
)
def compare(
    context: Context,
    files: Annotated[
        tuple[str, ...], positional("[INDEX TOPICS] QRELS [RUN]...", completes="index or file", remembered=True)
    ],
    rankers: Rankers = (),
    measures: Measures = (),
    k: RunHits = RUN_HITS,
    fields: Fields = "title",
    test: Annotated[
        Literal["t", "randomisation", "wilcoxon"], option(help="The significance test of two systems.")
    ] = "t",
    correction: Annotated[
        Literal["holm", "bonferroni", "bh", "none", "tukey"],
        option(help="The correction for the number of pairs. tukey replaces the test by Tukey's HSD."),
    ] = "holm",
    alpha: Annotated[float, option(metavar="LEVEL", help="The significance level.")] = 0.05,
    seed: Annotated[int, option(metavar="N", least=0, help="Seed of random numbers in tests and intervals.")] = 0,
    fresh: Annotated[bool, option(help="Run every ranker again, also if its run is stored.")] = False,
    workers: Workers = None,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    loaded_topics: LoadedTopics = None,
    loaded_qrels: LoadedQrels = None,
    ranking: Ranking = None,
) -> Shown:
    """Compare rankers on an index, run files, or both.

    Every system is measured on the judged topics and tested against the others. The first system is the baseline. The
    runs of rankers are stored with the index and used again. In the shell, the loaded topics are run, and a single
    expression is compared with that of the session.
    """
    import sublex
    from sublex.display.comparison import comparison
    from sublex.evaluation.comparison import Plan, compare
    from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures
    from sublex.pipeline.query_forms import topics_notes
    from sublex.report.page import render_page

    names = [str(measure) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    given = Files(None, None, "", ())
    if loaded_qrels is None:
        given = _files(files, rankers)
        if given.index_name:
            context.open(given.index_name, allow_uncovered)
    elif len(rankers) == 1:
        rankers = (ranking or "BM25", *rankers)
    context.prepare("analyze search number-terms", context.index if context.has_index else None)
    judgements: Qrels = loaded_qrels or sublex.read_qrels(given.qrels)
    topics: Topics | None = loaded_topics or (sublex.read_topics(given.topics, fields) if given.topics else None)
    pipelines = [context.pipeline(ranker, profile) for ranker in rankers] if context.has_index else []
    systems, notes = _read_runs(given.runs, [str(pipeline) for pipeline in pipelines], k)
    if topics is not None:
        systems = [_run(context, topics, p, k, workers=workers, fresh=fresh) for p in pipelines] + systems
    read = [*judgements.notes, *(topics.notes if topics else ())] if loaded_qrels is None else []
    plan, index = Plan(test, correction, alpha, seed), context.index if context.has_index else None
    with context.step("Measured and tested the systems"):
        compared = compare(systems, judgements, topics, names, index, plan, [*read, *notes])
    from sublex.display.uncovered import uncovered_notes

    said = [note for pipeline in pipelines for note in uncovered_notes(pipeline)]
    said += [*topics_notes(topics or ()), *compared.notes] if loaded_qrels is None else compared.notes
    table = compared.table()
    own = comparison(compared)
    shown = figures(table, lambda: own.data, notes=said)
    step = _compare_step(context, {"rankers": rankers, "loaded_topics": topics, "loaded_qrels": judgements})
    page = {".html": lambda: render_page(compared, context.command_line)}
    return Shown(
        lambda: own.lines, lambda: own.data, table.head, table.rows, said, forms=shown.forms, files=page, step=step
    )


def _compare_step(context: Context, given: Mapping[str, Any]) -> Any:
    """Return the step that compares rankers on the command line; None if topics or judgements come from no file."""
    from sublex.tools.messages import Step

    topics, qrels = given["loaded_topics"], given["loaded_qrels"]
    if not topics or not topics.path or not qrels.path or not context.has_index:
        return None
    return Step("compare", context.path, topics.path, qrels.path, r=given["rankers"])


def _files(files: Sequence[str], rankers: Sequence[str]) -> Files:
    """Return the arguments by their roles.

    They are QRELS RUN... if there are no rankers and the first one is a file or a data set, and INDEX TOPICS QRELS RUN... otherwise.
    """
    from sublex.readers.irds import PREFIX

    if (Path(files[0]).is_file() or files[0].startswith(PREFIX)) and not rankers:
        given = Files(None, None, files[0], files[1:])
    elif len(files) >= 3:
        given = Files(files[0], files[1], files[2], files[3:])
    else:
        raise InputError("Name INDEX TOPICS QRELS and rankers with -r, or QRELS and run files.")
    if not rankers and not given.runs:
        raise InputError("There is nothing to compare; name rankers with -r, or run files after the qrels.")
    return given


def _read_runs(paths: Sequence[str], taken: Sequence[str], k: int) -> tuple[list[System], list[str]]:
    """Read run files and keep the first k hits of each topic, as for rankers.

    Returns the systems, none with a name that is `taken` by a ranker, and notes for the user.
    """
    from sublex.evaluation.systems import System

    systems: list[System] = []
    notes: list[str] = []
    for path, system in zip(paths, read_systems(paths), strict=True):
        run = system.run.top(k)
        notes += run.notes
        if len(run.docs) < len(system.run.docs):
            notes.append(f"{path}: the first {k:,} hits of each topic count (-k).")
        systems.append(System(path if system.name in taken else system.name, run))
    return systems, notes


@operation(
    faces=("cli",),
    forms=FIGURES,
    examples=(
        'sublex tune demo topics.trec qrels.txt "BM25(k1={0.4..2}, b={.3,.5})"',
        'sublex tune demo topics.trec qrels.txt "PL2 + {0..1}*BM25" -m nDCG@10',
    ),
)
def tune(
    context: Context,
    topics: TopicFile,
    qrels: JudgementFile,
    expression: Annotated[str, positional("EXPRESSION", completes="expression")],
    measure: Annotated[
        str, option("-m", "--measure", metavar="MEASURE", help="The measure to maximise, named as for sublex eval.")
    ] = "AP",
    folds: Annotated[int, option(metavar="N", help="Number of folds; the topics of each are held out once.")] = 5,
    search: Annotated[
        Literal["grid", "random"], option(help="Try all combinations, or a random sample of them.")
    ] = "grid",
    steps: Annotated[int, option(metavar="N", help="Grid: numbers to try of each interval {a..b}.")] = 5,
    samples: Annotated[int, option(metavar="N", help="Random search: number of settings to try.")] = 50,
    seed: Annotated[int, option(metavar="N", least=0, help="Seed of the folds and of the random search.")] = 0,
    k: RunHits = RUN_HITS,
    fields: Fields = "title",
    workers: Workers = None,
    profile: Profile = None,
) -> Shown:
    """Choose the parameters of EXPRESSION by cross-validation.

    EXPRESSION has ranges in place of numbers: {0..1} is an interval, {1,2,4} a list. Every setting is run on the judged
    topics. Each fold's topics are measured by the setting that is best on all other topics, so the cross-validated figure
    tells what tuning gains on new topics.
    """
    import sublex
    from sublex.operations.running import run
    from sublex.pipeline.query_forms import topics_notes

    index = context.index
    context.prepare("analyze search", index)
    queries, judgements = sublex.read_topics(topics, fields), sublex.read_qrels(qrels)
    context.say(str(queries), *queries.notes, str(judgements), *judgements.notes, *topics_notes(queries))
    with context.step("Ran and measured the settings"), context.progress(expression, "queries") as advance:
        tuning = sublex.tune(
            index, queries, judgements, expression, measure, folds=folds, search=search, steps=steps, samples=samples, seed=seed,
            k=k, workers=workers, profile=profile, progress=advance,
        )  # fmt: skip
    left_out = (
        (len(queries) - len(tuning.qids), "topics have no judgements"),
        (len(tuning.unused), "judged topics are not among the topics"),
    )
    notes = [f"{count:,} {problem} and are left out." for count, problem in left_out if count]
    best = {"topics": topics, "rankers": (tuning.best.setting.text,), "k": k, "fields": fields, "profile": profile}
    command = str(run.step(best, context.name))
    exact = figures(tuning.table(4, figures=True), lambda: None, lambda: tuning.table(10, figures=True))
    return Shown(
        lambda: _tuning_lines(tuning, command), lambda: _as_json(tuning, command), notes=notes, forms=exact.forms
    )


def _tuning_lines(tuning: Tuning, command: str) -> Iterator[Line]:
    """Yield what each fold chose, the figures to compare, the means of the settings, and the command to run the best."""
    size = f"{counted(len(tuning.settings), 'setting')}, {len(tuning.qids):,} topics, {len(tuning.folds)} folds"
    yield line(f"{tuning.expression} by {tuning.measure}: {size}")
    yield line()
    yield from figure_lines(tuning.table())
    yield line()
    for figure in tuning.figures():
        yield line(f"{figure.name:<20}{figure.value:.4f}  {figure.description}")
    yield line()
    yield from figure_lines(tuning.settings_table())
    if tuning.at_end:
        names = " and ".join(tuning.at_end)
        yield line()
        yield line(f"The best setting has {names} at an end of its range; a wider range may hold a better one.")
    yield line()
    yield line(f"Run it: {command}")


def _as_json(tuning: Tuning, command: str) -> dict[str, Any]:
    def scored(best: Scored) -> dict[str, Any]:
        return {**_setting(best.setting), "score": best.score}

    return {
        "expression": tuning.expression, "measure": tuning.measure, "search": tuning.search,
        "topics": tuning.qids, "unused": tuning.unused,
        "cross-validated": tuning.cross_validated, "best on all topics": scored(tuning.best),
        "defaults": scored(tuning.default) if tuning.default else None,
        "folds": [
            {"topics": fold.qids, **_setting(fold.setting), "training": fold.training, "held out": fold.held_out}
            for fold in tuning.folds
        ],
        "settings": [
            {**_setting(setting), "score": mean} for setting, mean in zip(tuning.settings, tuning.means.tolist(), strict=True)
        ],
        "command": command,
    }  # fmt: skip


def _setting(setting: Setting) -> dict[str, Any]:
    return {"setting": setting.text, "expression": setting.expression, "values": setting.values}
