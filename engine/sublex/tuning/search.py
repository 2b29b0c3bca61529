"""The search for the best setting of an expression with ranges, with cross-validation over topics.

Every setting is run once on all judged topics. For each fold, the setting that is best on the other topics is measured on the topics of
the fold. So a topic never helps to choose the setting that is measured on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import Query
from sublex.errors import IndexProblem, InputError, warn
from sublex.language import profiles
from sublex.language.expression import Blend, Expression, Range, Weighted, fill, operand
from sublex.language.names import to_tune
from sublex.language.plugins import Defaults
from sublex.pipeline.compose import Composer
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import GROUP
from sublex.pipeline.query_forms import notes_of_all
from sublex.pipeline.stages.cached import Cache
from sublex.pipeline.stages.stage import Scorer, State
from sublex.retrieval.hits import Hits
from sublex.tools.arguments import threads
from sublex.tools.messages import Message, Step, counted
from sublex.tools.workers import Workers
from sublex.tuning import space
from sublex.tuning.judge import Judge
from sublex.tuning.result import DIGITS, Fold, ScoredSetting, Setting, Tuning
from sublex.tuning.training import model_to_train, trained

SEARCHES = ("grid", "random")
Progress = Callable[[int, int], None]


def tune(
    index: Index,
    topics: Iterable[Sequence],
    qrels: Mapping[str, Mapping[str, int]],
    expression: str | Expression,
    measure: str = "AP",
    *,
    folds: int = 5,
    search: str = "grid",
    steps: int = 5,
    samples: int = 50,
    seed: int = 0,
    k: int = 1000,
    workers: int | None = None,
    profile: str | None = None,
    progress: Progress = lambda done, total: None,
    language: str = "plain",
) -> Tuning:
    """Find the best setting of an expression with ranges, and estimate its score on other topics by cross-validation.

    `sublex.tune` documents the parameters.
    """
    for name, least, number in (("k", 1, k), ("seed", 0, seed), ("workers", 1, workers or 1)):
        if number < least:
            raise InputError(f"{name}={number} should be at least {least}.")
    composer, defaults = Composer(index.snapshot), profiles.profile(profile or index.profile).defaults
    asked, learned = to_tune(operand(expression, ">>"), index.names, composer.registry)
    tree, notes = composer.meant(asked, defaults)
    warn(notes)
    _refuse_lone_weights(tree)
    texts = _judged(topics, qrels)
    qids = tuple(texts)
    parts = split(len(qids), folds, seed)
    if model := model_to_train(tree):
        judge = Judge(index, qrels, qids, measure, k)
        unused = tuple(qid for qid in qrels if qid not in texts)
        return trained(index, tree, model, texts, qrels, parts, judge, unused, workers, profile, language, progress)
    tuned_ranges, plan = _planned(tree, learned, composer, defaults, search, steps, samples, seed)
    unfitted = dict.fromkeys(name for resolved in plan.runs.values() for name in composer.unfitted(resolved))
    if len(unfitted) > 1:
        tried = f"{len(unfitted)} models that this expression tries are not fitted; run: "
        raise IndexProblem(Message(tried, Step("fit", index.path, *unfitted)))
    judge = Judge(index, qrels, qids, measure, k)
    queries = index.queries(texts.items(), language)
    warn(notes_of_all(texts.items(), queries))
    scores = _run(plan, composer, defaults, queries, judge, threads(workers), progress)

    held_out, chosen = _cross_validated(plan, scores, parts, qids)
    best = _best(plan, scores, np.arange(len(qids)))
    return Tuning(
        str(tree), str(judge.measure), search, tuple(tuned.name for tuned in tuned_ranges), qids,
        tuple(qid for qid in qrels if qid not in texts), plan.settings, scores[: len(plan.settings)], chosen, held_out,
        ScoredSetting(plan.settings[best], scores[best]),
        plan.default and ScoredSetting(plan.default, scores[plan.rows[plan.default.expression]]),
        space.at_end(tuned_ranges, tuple(plan.settings[best].values.values())), language,
    )  # fmt: skip


def settings_of(
    index: Index,
    expression: str | Expression,
    search: str,
    steps: int,
    samples: int,
    seed: int,
    profile: str | None = None,
) -> list[Expression]:
    """Return the resolved expressions of the settings that `tune` tries for an expression with ranges.

    The expression of the defaults is included if it can run.
    """
    composer, defaults = Composer(index.snapshot), profiles.profile(profile or index.profile).defaults
    asked, learned = to_tune(operand(expression, ">>"), index.names, composer.registry)
    tree, _ = composer.meant(asked, defaults)
    return list(_planned(tree, learned, composer, defaults, search, steps, samples, seed)[1].runs.values())


def _refuse_lone_weights(node: Any, is_part: bool = False) -> None:
    """Raise InputError for a range as the weight of a ranker outside a blend. Such a weight changes no ranking."""
    if isinstance(node, Weighted) and isinstance(node.weight, Range) and min(node.weight.values) >= 0 and not is_part:
        inner, other = node.expression, "PL2" if str(node.expression) != "PL2" else "BM25"
        raise InputError(
            f"A weight of {inner} alone changes no ranking; blend it with another, as in {other} + {node}."
        )
    for child in node.children() if isinstance(node, Expression) else ():
        _refuse_lone_weights(child, isinstance(node, Blend))


def split(topics: int, folds: int, seed: int) -> list[np.ndarray]:
    """Return the numbers of the topics of each fold, ascending.

    Topics are distributed at random to folds of about equal size.
    """
    if folds < 2:
        raise InputError(f"folds={folds} should be at least 2: one fold to choose by and one to measure.")
    if topics < folds:
        few = f"{counted(topics, 'judged topic')} {'is' if topics == 1 else 'are'} too few"
        raise InputError(f"{few} for {folds} folds; take fewer folds.")
    return [np.sort(part) for part in np.array_split(np.random.default_rng([seed, 0]).permutation(topics), folds)]


def _judged(topics: Iterable[Sequence], qrels: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """Return the text of each topic that has judgements, by topic id."""
    texts: dict[str, str] = {}
    for topic in topics:
        if topic[0] in texts:
            raise InputError(f"Topic {topic[0]} comes twice; give each topic once.")
        if topic[0] in qrels:
            texts[topic[0]] = topic[1]
    if not texts:
        raise InputError("None of these topics has judgements; check that topics and qrels belong together.")
    return texts


class _Plan(NamedTuple):
    """The pipelines to run and the settings to choose from.

    `runs` maps printed forms to resolved expressions. They are ordered so that neighbours mostly share a ranker. `rows`
    has the row of each run in the scores. `preferred` lists the settings in the order that decides ties. `default` is
    the setting of the expression without its ranges.
    """

    runs: dict[str, Expression]
    rows: dict[str, int]
    settings: tuple[Setting, ...]
    preferred: list[int]
    default: Setting | None


def _planned(
    tree: Expression,
    learned: Sequence[float],
    composer: Composer,
    defaults: Defaults,
    search: str,
    steps: int,
    samples: int,
    seed: int,
) -> tuple[list[space.TunedRange], _Plan]:
    """Return the ranges of the expression `tree`, and the plan of the search for their numbers.

    The search starts from the numbers `learned`, or without them from the defaults.
    """
    tuned_ranges = space.ranges_of(tree, composer.registry, defaults)
    if learned:
        tuned_ranges = [tuned._replace(default=number) for tuned, number in zip(tuned_ranges, learned, strict=True)]
    if search not in SEARCHES:
        raise InputError(f"No search {search}; there are {', '.join(SEARCHES)}.")
    numbers = space.grid(tuned_ranges, steps) if search == "grid" else space.sample(tuned_ranges, samples, seed)
    start = fill(tree, learned) if learned else space.without_ranges(tree, composer.registry)
    return tuned_ranges, _plan(tree, start, tuned_ranges, numbers, composer, defaults)


def _plan(
    tree: Expression,
    start: Expression,
    tuned_ranges: Sequence[space.TunedRange],
    numbers: Iterable[Sequence[float]],
    composer: Composer,
    defaults: Defaults,
) -> _Plan:
    """Return the plan of a search.

    `numbers` has the numbers of each setting, one for each of `tuned_ranges`, the ranges of `tree`. `start` is the expression
    with the default numbers. Settings with the same printed form count as one. If settings have equal means, the one
    nearest to the defaults wins. If they are equally near, the first wins.
    """
    runs: dict[str, Expression] = {}
    order: dict[str, tuple] = {}
    settings: list[Setting] = []
    distances: list[float] = []
    for values in numbers:
        filled = fill(tree, values)
        resolved = composer.read(filled, defaults).expression
        if (name := str(resolved)) in runs:
            continue
        runs[name] = resolved
        order[name] = (0, *(value for tuned, value in zip(tuned_ranges, values, strict=True) if tuned.parameter))
        numbers_by_name = {tuned.name: value for tuned, value in zip(tuned_ranges, values, strict=True)}
        settings.append(Setting(str(filled), name, numbers_by_name, resolved))
        distances.append(space.distance(tuned_ranges, values))
    default = _default(start, tuned_ranges, composer, defaults)
    if default and str(default[1]) not in runs:
        runs[str(default[1])], order[str(default[1])] = default[1], (1,)
    rows = {name: row for row, name in enumerate(runs)}
    preferred = sorted(range(len(settings)), key=lambda number: (distances[number], number))
    sorted_runs = {name: runs[name] for name in sorted(runs, key=order.__getitem__)}
    return _Plan(sorted_runs, rows, tuple(settings), preferred, default and default[0])


def _default(
    plain: Expression, tuned_ranges: Sequence[space.TunedRange], composer: Composer, defaults: Defaults
) -> tuple[Setting, Expression] | None:
    """Return the setting of `plain`, the expression with default numbers, and its resolved expression.

    Return None if the expression cannot run: a range stood for a required value, or a model is not fitted.
    """
    try:
        resolved = composer.registry.resolve_all(plain, defaults)
        composer.compose(resolved, defaults)
    except (InputError, IndexProblem):
        return None
    values = {tuned.name: tuned.default for tuned in tuned_ranges if tuned.default is not None}
    return Setting(str(plain), str(resolved), values, resolved), resolved


def _run(
    plan: _Plan,
    composer: Composer,
    defaults: Defaults,
    queries: Sequence[Query],
    judge: Judge,
    workers: int,
    progress: Progress,
) -> np.ndarray:
    """Return the measure of each run (row) on each topic (column)."""

    def rank(scorer: Scorer, group: Sequence[Query]) -> list[Hits]:
        return [scorer.start(State(query)).find(judge.depth).first(judge.depth) for query in group]

    groups = [queries[begin : begin + GROUP] for begin in range(0, len(queries), GROUP)]
    scores, cache = np.empty((len(plan.runs), len(queries))), Cache()
    with Workers(min(workers, len(groups))) as pool:
        for done, (name, resolved) in enumerate(plan.runs.items()):
            scorer = composer.compose(resolved, defaults, cache)
            composer.release_unused()
            cache.turn()
            rankings: list[Hits] = []
            for group in pool.map(partial(rank, scorer), groups):
                rankings += group
                progress(done * len(queries) + len(rankings), scores.size)
            scores[plan.rows[name]] = judge.scores(rankings)
    return scores


def _cross_validated(
    plan: _Plan, scores: np.ndarray, parts: Sequence[np.ndarray], qids: Sequence[str]
) -> tuple[np.ndarray, tuple[Fold, ...]]:
    """Return each topic's score under the setting that is best outside the topic's fold, and the folds.

    `scores` are those of the runs by topic. `parts` has the places of the topics of each fold in `qids`.
    """
    held_out, folds = np.empty(len(qids)), []
    for part in parts:
        others = np.setdiff1d(np.arange(len(qids)), part)
        best = _best(plan, scores, others)
        held_out[part] = scores[best, part]
        means = float(scores[best, others].mean()), float(held_out[part].mean())
        folds.append(Fold(tuple(qids[topic] for topic in part), plan.settings[best], *means))
    return held_out, tuple(folds)


def _best(plan: _Plan, scores: np.ndarray, topics: np.ndarray) -> int:
    """Return the position of the setting with the highest mean over `topics`.

    If settings have equal means, the first in `plan.preferred` wins.
    """
    means = np.round(scores[plan.preferred][:, topics].mean(axis=1), DIGITS)
    return plan.preferred[int(np.argmax(means))]
