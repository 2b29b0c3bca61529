"""Operations that measure rankings: eval, compare, tune."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from sublex.errors import InputError
from sublex.forms.lines import Shown, figures
from sublex.operations.context import OperationContext
from sublex.operations.declaring import File, Needs, operation, option, positional
from sublex.operations.parameters import (
    AllowUncovered,
    Collapse,
    Contradictions,
    Fields,
    GroupCount,
    GroupedBy,
    JudgedFeedback,
    JudgementFile,
    Language,
    Measures,
    Profile,
    QueryVectors,
    Rankers,
    Ranking,
    Residual,
    RunHits,
    Runs,
    Seed,
    TopicFile,
    WeightedTopics,
    Workers,
)  # fmt: skip
from sublex.operations.searching import compared, language_of
from sublex.tools.messages import Step, counted, shell_word

if TYPE_CHECKING:
    from sublex.evaluation.grouping import Grouping
    from sublex.evaluation.systems import System
    from sublex.pipeline.pipeline import Pipeline
    from sublex.studies.from_comparison import ComparedSystems
    from sublex.trec.qrels import Qrels
    from sublex.trec.runs import Run
    from sublex.trec.topics import Topics

FIGURES = ("table", "json", "csv", "markdown", "latex")
# The default number of hits for a topic in a run, and the default number of groups of numbers.
RUN_HITS, GROUPS = 1000, 3


class Loaded(NamedTuple):
    """The topics, judgements and runs that a face has loaded, and the expression of a session.

    A command line names all of these.
    """

    loaded_topics: Annotated[Any, option(hidden=True, remembered=True)] = None
    loaded_qrels: Annotated[Any, option(hidden=True, remembered=True)] = None
    ranking: Ranking = None
    # The systems of run files that were given to a server; a session has none.
    loaded_runs: Annotated[tuple[Any, ...], option(hidden=True)] = ()

    def files(self) -> tuple[str, str] | None:
        """Return the files of topics and judgements; None if the topics or the judgements do not come from a file."""
        files = tuple(loaded.path for loaded in (self.loaded_topics, self.loaded_qrels) if loaded and loaded.path)
        return (files[0], files[1]) if len(files) == 2 else None


def compare_code(given: Mapping[str, Any]) -> str:
    """Return Python code that compares rankers on the loaded files; "" if no files are loaded."""
    from sublex.language.names import given_name

    files = Loaded(given["loaded_topics"], given["loaded_qrels"]).files()
    rankers: list[Any] | dict[str, Any] = list(given["rankers"] or [given["ranking"]])
    named = [given_name(ranker) or (ranker, ranker) for ranker in rankers]
    if any(name != ranker for name, ranker in named):
        rankers = dict(named)
    rule = given["contradictions"]
    options = "" if rule == "error" else f", contradictions={rule!r}"
    language = language_of(given["language"], given.get("weighted", False))
    options += "" if language == "plain" else f", language={language!r}"
    vectors = dict(text.split("=", 1) for text in given["queries"])
    options += f", queries={vectors!r}" if vectors else ""
    options += f", collapse={given['collapse']!r}" if given["collapse"] else ""
    options += "".join(f", {name}={given[name]!r}" for name in ("judged", "residual") if given.get(name))
    options += f", by={list(given['by'])!r}, groups={given['groups']!r}" if given["by"] else ""
    return f"sublex.compare(index, {files[0]!r}, {files[1]!r}, {rankers!r}{options}).table()" if files else ""


def _compare_step(
    context: OperationContext,
    loaded: Loaded,
    rankers: Sequence[str],
    contradictions: str,
    language: str,
    queries: tuple[str, ...],
    by: tuple[str, ...] = (),
    groups: int = GROUPS,
    collapse: str = "",
    judged: str = "",
    residual: str = "",
) -> Step | None:
    """Return the comparison of rankers on the loaded files as a step of the command line; None without files."""
    files = None if loaded.loaded_runs else loaded.files()
    rule = None if contradictions == "error" else contradictions
    read = None if language == "plain" else language
    if files is None:
        return None
    options = {"contradictions": rule, "language": read, "queries": queries or None, "collapse": collapse or None}
    options |= {"judged": judged or None, "residual": residual or None}
    grouped = {"by": by, "groups": None if groups == GROUPS else groups} if by else {}
    return Step("compare", context.path, *files, r=tuple(rankers), **options, **grouped)


@operation("eval", Needs.NOTHING, forms=FIGURES, python=compare_code)  # fmt: skip
def measure(
    context: OperationContext,
    qrels: JudgementFile,
    runs: Runs,
    loaded: Loaded,
    measures: Measures = (),
    contradictions: Contradictions = "error",
    by_topic: Annotated[bool, option("-q", "--by-topic")] = False,
    by: GroupedBy = (),
    groups: GroupCount = GROUPS,
    topics: Annotated[str, option(metavar="FILE", completes="file", given="topics")] = "",
    collapse: Collapse = "",
    residual: Residual = "",
    rankers: Annotated[
        tuple[str, ...], option("--ranker", metavar="EXPR", completes="expression", bare=True, hidden=True)
    ] = (),
    language: Annotated[str, option(hidden=True, remembered=True)] = "plain",
    queries: Annotated[tuple[str, ...], option(hidden=True, remembered=True)] = (),
    judged: Annotated[str, option(hidden=True, remembered=True)] = "",
) -> Shown:
    """Measure run files by relevance judgements.

    Figures are means over all judged topics. A judged topic that is not in a run counts as one without hits. In the shell,
    the loaded topics are run by the expressions, or by that of the session, and measured by the loaded judgements.

    Args:
        by_topic: Show the figures of each topic too.
        topics: The topic file, which --by length and fields of topics need.

    Examples:
        sublex eval qrels.txt bm25.run pl2.run -m AP -m nDCG@10
        sublex eval qrels.txt bm25.run -m AP --by relevant
        sublex eval qrels.txt bm25.run --by-topic --format csv
    """
    import sublex
    from sublex.display.evaluation import evaluation_json, evaluation_table, slices_json, slices_table
    from sublex.evaluation.collapsing import collapsed
    from sublex.evaluation.input_warnings import input_warnings
    from sublex.evaluation.residual import flattered_runs, needed
    from sublex.evaluation.residual import residual as without
    from sublex.evaluation.run_evaluation import evaluate
    from sublex.evaluation.systems import meanings
    from sublex.forms.parts import part_lines

    names = _measures(measures)
    context.prepare("number-terms read-runs")
    judgements, notes, asked = loaded.loaded_qrels, list[str](), list[str]()
    seen = sublex.read_qrels(residual) if residual else None
    if judgements is None:
        with context.step(f"Read {qrels}"):
            judgements = sublex.read_qrels(qrels, contradictions)
        with context.step(f"Read {counted(len(runs), 'run')}"):
            systems = read_systems(runs)
        notes = [str(judgements), *judgements.notes, *(note for system in systems for note in system.run.notes)]
        notes += input_warnings(systems, judgements)
    else:
        context.give_queries(queries)
        context.give_judged(judged)
        named = rankers or (() if loaded.loaded_runs else (loaded.ranking,))
        pipelines = [context.system(ranker) for ranker in named]
        notes = _notes_of(pipelines, loaded.loaded_topics)
        most = needed(RUN_HITS, seen)
        systems = [_run(context, loaded.loaded_topics, pipeline, most, language=language) for pipeline in pipelines]
        notes += _flattered(judged, residual)
        asked = _written(pipelines, named)
        systems += loaded.loaded_runs
    notes += [] if judged or residual else flattered_runs(systems, "--residual QRELS")
    systems, judgements, left_out = without(systems, judgements, seen, RUN_HITS if loaded.loaded_qrels else None)
    systems, judgements, said = collapsed(systems, judgements, collapse)
    notes += [*left_out, *said]
    with context.step("Measured the runs"):
        found = [evaluate(judgements, system.run, names, system.name) for system in systems]
        groupings = _groupings(context, by, groups, systems, judgements, loaded.loaded_topics or topics)
    data = [
        {**evaluation_json(evaluation, by_topic), **({"expression": system.expression} if system.expression else {})}
        for evaluation, system in zip(found, systems, strict=True)
    ]
    if groupings:
        data = [{**each, "slices": slices_json(one, groupings)} for each, one in zip(data, found, strict=True)]
    tables = [lambda digits: evaluation_table(found, by_topic, digits)]
    if groupings:
        tables.append(lambda digits: slices_table(found, groupings, digits))
    below = meanings(systems)
    shown = figures(
        tables[-1](4),
        lambda: data,
        lambda: tables[-1](10),
        notes,
        lambda: part_lines([*(table(4) for table in tables), below]),
    )
    shown.step = _compare_step(
        context, loaded, asked, contradictions, language, queries, by, groups,
        collapse, judged, residual,
    )  # fmt: skip
    return shown


def _flattered(judged: str, residual: str) -> list[str]:
    """Return a sentence on rankings that learned from judgements, unless the judged documents are left out."""
    from sublex.evaluation.residual import FLATTERED

    return [FLATTERED.format(residual=f"--residual {shell_word(judged)}")] if judged and not residual else []


def _groupings(
    context: OperationContext,
    by: Sequence[str],
    groups: int,
    systems: Sequence[System],
    judgements: Qrels,
    topics: Topics | str,
) -> list[Grouping]:
    """Return the groups of judged topics that the user asks for."""
    import sublex
    from sublex.evaluation.grouping import grouping
    from sublex.evaluation.topic_properties import Facts

    if not by:
        return []
    given = sublex.read_topics(topics) if topics and isinstance(topics, str) else topics or None
    if given:
        known = {topic.qid for topic in given}
        if missing := [qid for qid in judgements if qid not in known]:
            raise InputError(
                f"Topic {missing[0]} is judged and is not among the topics; name the file of all judged topics."
            )
    facts = Facts(list(judgements), systems, judgements, given, context.index if context.has_index else None)
    return [grouping(each, facts, groups) for each in by]


def _measures(given: Sequence[str]) -> list[str]:
    from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures

    return [str(measure) for measure in parse_measures(given or DEFAULT_MEASURES)]


def read_systems(paths: Sequence[str]) -> list[System]:
    """Read run files.

    A run is named by its tag. If it has no tag, or the same tag as another run, it is named by its path.
    """
    import sublex
    from sublex.evaluation.systems import System

    runs = [(path, sublex.read_run(path)) for path in paths]
    tags = [run.tag for _, run in runs]
    return [
        System(run.tag if run.tag and tags.count(run.tag) == 1 else path, run, expression=_behind(run))
        for path, run in runs
    ]


def _behind(run: Run) -> str:
    """Return the expression that made a run, if its tag is another name; else ""."""
    from sublex.trec.metadata import EXPRESSION, value_at
    from sublex.trec.run_names import tag_of

    expression = value_at(run.metadata, EXPRESSION)
    return expression if isinstance(expression, str) and run.tag not in ("", tag_of(expression)) else ""


def _run(context: OperationContext, topics: Topics, pipeline: Pipeline, k: int, **options: Any) -> System:
    from sublex.evaluation.systems import run_system

    with context.step(f"Ran {pipeline}"), context.progress(pipeline.label, "topics", len(topics)) as advance:
        return run_system(context.index, topics, pipeline, k, progress=advance, cache=context.stores_runs, **options)


@operation(
    needs=Needs.NOTHING,
    forms=FIGURES,
    file=File((".html", ".htm")),
    python=compare_code,
)
def compare(
    context: OperationContext,
    files: Annotated[
        tuple[str, ...], positional("[INDEX TOPICS] QRELS [RUN]...", completes="index or file", remembered=True)
    ],
    loaded: Loaded,
    rankers: Rankers = (),
    measures: Measures = (),
    contradictions: Contradictions = "error",
    k: RunHits = RUN_HITS,
    fields: Fields = "title",
    test: Literal["t", "randomisation", "wilcoxon"] = "t",
    correction: Literal["holm", "bonferroni", "bh", "none", "tukey"] = "holm",
    alpha: float = 0.05,
    seed: Seed = 0,
    by: GroupedBy = (),
    groups: GroupCount = GROUPS,
    collapse: Collapse = "",
    fresh: bool = False,
    workers: Workers = None,
    profile: Profile = None,
    allow_uncovered: AllowUncovered = False,
    language: Language = "plain",
    weighted: WeightedTopics = False,
    queries: QueryVectors = (),
    judged: JudgedFeedback = "",
    residual: Residual = "",
    save_study: Annotated[str, option(metavar="FILE", completes="file")] = "",
) -> Shown:
    """Compare rankers on an index, run files, or both.

    Every system is measured on the judged topics and tested against the others. The first system is the baseline. The
    runs of rankers are stored with the index and used again. In the shell, the loaded topics are run, and a single
    expression is compared with that of the session.

    Args:
        rankers: A ranker, or NAME=EXPR, which also gives it a name; may be given several times.
        test: The significance test of two systems.
        correction: The correction for the number of pairs. tukey replaces the test by Tukey's HSD.
        alpha: The significance level.
        seed: Seed of random numbers in tests and intervals.
        fresh: Run every ranker again, also if its run is stored.
        save_study: Also write the comparison as a study to this file, such as animals.toml.
        output: Write the report, one HTML page, to this file.

    Examples:
        sublex compare demo topics.trec qrels.txt -r BM25 -r PL2 -o report.html
        sublex compare demo topics.trec qrels.txt -r BM25 -r PL2 --by length
        sublex compare qrels.txt bm25.run pl2.run
    """
    import sublex
    from sublex.display.comparison import comparison
    from sublex.evaluation.collapsing import collapsed
    from sublex.evaluation.comparison import Plan, compare
    from sublex.evaluation.residual import flattered_runs, needed
    from sublex.evaluation.residual import residual as without
    from sublex.pipeline.query_forms import topics_notes
    from sublex.report.page import render_page
    from sublex.studies.from_comparison import ComparedSystems

    language = language_of(language, weighted)
    names, topics, judgements, paths = _measures(measures), loaded.loaded_topics, loaded.loaded_qrels, list[str]()
    if judgements is None:
        index_name, topic_file, qrels, *paths = _roles(files, rankers)
        if index_name:
            context.open(index_name, allow_uncovered)
        judgements = sublex.read_qrels(qrels, contradictions)
        topics = topic_file and sublex.read_topics(topic_file, fields)
        notes = [*judgements.notes, *(topics.notes if topics else ())]
    else:
        is_own = rankers == (loaded.ranking or "BM25",)
        rankers, notes = rankers if loaded.loaded_runs or is_own else compared(rankers, loaded.ranking), []
    if context.has_index:
        context.give_queries(queries)
        context.give_judged(judged)
    elif judged:
        raise InputError("Run files do not learn from --judged; name an index, topics and rankers with -r.")
    index, seen = context.index if context.has_index else None, sublex.read_qrels(residual) if residual else None
    saved = ComparedSystems(
        index.path if index else None, topics.path if topics else "", judgements.path, rankers, paths,
        "+".join(topics.used) if topics else "", contradictions, language, collapse, profile,
        {"measures": names, "test": test, "correction": correction, "alpha": alpha, "seed": seed, "k": k, "by": by, "groups": groups},
    )  # fmt: skip
    if save_study:
        beyond = [("--queries", queries), ("--judged", judged), ("--residual", residual)]
        _check_study(saved, save_study, next((name for name, given in beyond if given), ""))
    context.prepare("analyze search number-terms", index)
    pipelines = [context.system(ranker, profile) for ranker in rankers] if index else []
    said = _notes_of(pipelines, topics)
    most = needed(k, seen)
    systems, run_notes = _read_runs(paths, [pipeline.label for pipeline in pipelines], most)
    systems += loaded.loaded_runs
    if topics:
        systems = [
            _run(context, topics, p, most, workers=workers, fresh=fresh, language=language) for p in pipelines
        ] + systems
        said += [] if loaded.loaded_topics or not index else topics_notes(topics, index, language)
    flattered = [] if judged or residual else flattered_runs(systems, "--residual QRELS")
    systems, judgements, unseen = without(systems, judgements, seen, k)
    systems, judgements, left_out = collapsed(systems, judgements, collapse)
    said += [*_flattered(judged, residual), *flattered, *unseen, *left_out]
    plan = Plan(test, correction, alpha, seed)
    with context.step("Measured and tested the systems"):
        done = compare(systems, judgements, topics or None, names, index, plan, [*notes, *run_notes], by, groups)
    shown = comparison(done)
    shown.notes, shown.step = (
        [*said, *done.notes],
        _compare_step(
            context, loaded, _written(pipelines, rankers), contradictions, language, queries, by, groups, collapse,
            judged, residual,
        ),
    )  # fmt: skip
    shown.files = {".html": lambda: render_page(done, context.command_line)}
    if save_study:
        shown.notes = [*shown.notes, save_comparison(save_study, saved)]
    return shown


def _written(pipelines: Sequence[Pipeline], rankers: Sequence[str | None]) -> list[str]:
    """Return the rankers as a command line has them: NAME=EXPR as the user wrote it, and the other ones by their labels."""
    from sublex.language.names import given_name

    return [
        str(ranker) if given_name(ranker) else pipeline.label
        for pipeline, ranker in zip(pipelines, rankers, strict=False)
    ]


def _notes_of(pipelines: Sequence[Pipeline], topics: Topics | str | None) -> list[str]:
    """Return the notes on the pipelines of systems, and on learned models that know the topics."""
    from sublex.language.learned import notes_on_topics

    texts = [topic.text for topic in topics] if topics and not isinstance(topics, str) else []
    notes = [note for each in pipelines for note in (*each.notes, *notes_on_topics(each.expression, texts))]
    return [*dict.fromkeys(notes)]


def _check_study(saved: ComparedSystems, file: str, beyond: str) -> None:
    """Raise InputError if a comparison cannot be written as a study. Call this before any ranker runs.

    `beyond` names an option that no study has; it is empty without such an option.
    """
    from sublex.studies.from_comparison import check_savable
    from sublex.studies.write_study import check_study_path

    check_savable(saved)
    check_study_path(file)
    if beyond:
        raise InputError(f"A study cannot have {beyond} yet; leave --save-study or {beyond} out.")


def save_comparison(file: str, saved: ComparedSystems) -> str:
    """Write a comparison as a study, and return a sentence with the command to run it."""
    from sublex.studies.from_comparison import study_of_comparison
    from sublex.studies.write_study import write_study

    text, sentence = study_of_comparison(file, saved)
    write_study(file, text)
    return sentence


def _roles(files: Sequence[str], rankers: Sequence[str]) -> tuple[str, ...]:
    """Divide arguments into the index, the topics, the judgements and the runs.

    Index and topics may be empty. The arguments are QRELS RUN... if there are no rankers and the first argument is a
    file or a data set. Otherwise they are INDEX TOPICS QRELS RUN...
    """
    from sublex.readers.irds import PREFIX

    if (Path(files[0]).is_file() or files[0].startswith(PREFIX)) and not rankers:
        files = ("", "", *files)
    elif len(files) < 3:
        raise InputError("Name INDEX TOPICS QRELS and rankers with -r, or QRELS and run files.")
    if not rankers and not files[3:]:
        raise InputError("There is nothing to compare; name rankers with -r, or run files after the qrels.")
    return tuple(files)


def _read_runs(paths: Sequence[str], taken: Sequence[str], k: int) -> tuple[list[System], list[str]]:
    """Read run files and keep the first k hits of each topic, as for rankers.

    Return the systems, and notes for the user. No system gets a name in `taken`, which has the names of the rankers.
    """
    systems: list[System] = []
    notes: list[str] = []
    for path, system in zip(paths, read_systems(paths), strict=True):
        run = system.run.top(k)
        notes += run.notes
        if len(run.docs) < len(system.run.docs):
            notes.append(f"{path}: the first {k:,} hits of each topic count (-k).")
        systems.append(system._replace(name=path if system.name in taken else system.name, run=run))
    return systems, notes


@operation(faces=("cli", "service"), forms=FIGURES, is_long=True)
def tune(
    context: OperationContext,
    topics: TopicFile,
    qrels: JudgementFile,
    expression: Annotated[str, positional(completes="expression")],
    measure: Annotated[str, option("-m", "--measure")] = "AP",
    contradictions: Contradictions = "error",
    folds: int = 5,
    search: Literal["grid", "random"] = "grid",
    steps: int = 5,
    samples: int = 50,
    seed: Seed = 0,
    k: RunHits = RUN_HITS,
    fields: Fields = "title",
    workers: Workers = None,
    profile: Profile = None,
    language: Language = "plain",
    weighted: WeightedTopics = False,
    query_vectors: QueryVectors = (),
) -> Shown:
    """Choose the parameters of EXPRESSION by cross-validation.

    EXPRESSION has ranges in place of numbers: {0..1} is an interval, {1,2,4} a list. The names better and best stand for
    ranges around their learned weights. Every setting is run on the judged topics. Each fold's topics are measured by
    the setting that is best on all other topics, so the cross-validated figure tells what tuning gains on new topics.

    Args:
        measure: The measure to maximise, named as for sublex eval.
        folds: Number of folds; the topics of each are held out once.
        search: Try all combinations, or a random sample of them.
        steps: Grid: numbers to try of each interval {a..b}.
        samples: Random search: number of settings to try.
        seed: Seed of the folds and of the random search.

    Examples:
        sublex tune demo topics.trec qrels.txt "BM25(k1={0.4..2}, b={.3,.5})"
        sublex tune demo topics.trec qrels.txt "PL2 + {0..1}*BM25" -m nDCG@10
    """
    import sublex
    from sublex.display.tuning import tuned
    from sublex.language.names import to_tune
    from sublex.language.parser import parse
    from sublex.operations.running import run
    from sublex.pipeline.query_forms import topics_notes

    language = language_of(language, weighted)
    context.give_queries(query_vectors)
    index = context.index
    context.prepare("analyze search", index)
    queries, judgements = sublex.read_topics(topics, fields), sublex.read_qrels(qrels, contradictions)
    # A built-in name, such as best, is tuned around its learned weights. If it were written out, it would have no
    # range.
    if not to_tune(parse(expression), index.names, index.registry)[1]:
        expression = context.meaning(expression)
    context.say(
        str(queries), *queries.notes, str(judgements), *judgements.notes, *topics_notes(queries, index, language)
    )
    with context.step("Ran and measured the settings"), context.progress(expression, "queries") as advance:
        tuning = sublex.tune(
            index, queries, judgements, expression, measure, folds=folds, search=search, steps=steps, samples=samples, seed=seed,
            k=k, workers=workers, profile=profile, progress=advance,
            language=language,
        )  # fmt: skip
    best = {"topics": topics, "rankers": (tuning.best.setting.text,), "k": k, "fields": fields, "profile": profile}
    best["language"], best["queries"] = language, query_vectors
    command = str(run.step(best, context.name))
    return tuned(tuning, command, tuning.left_out(len(queries)))
