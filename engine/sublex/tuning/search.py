"""Tuning: every setting of an expression with ranges is run once over the judged topics, and chosen by cross-validation.

Each fold's topics are measured by the setting that is best on all others, so that no topic is judged by what it helped to choose.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sublex import plugins, profiles
from sublex.base import Query
from sublex.errors import IndexProblem, InputError
from sublex.expression import Expression, fill
from sublex.messages import command
from sublex.parser import parse
from sublex.pipeline.compose import Composer
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import GROUP
from sublex.pipeline.stages import Memo, Scorer, Work
from sublex.retrieval.hits import Hits
from sublex.tuning import space as space
from sublex.tuning.judge import Judge
from sublex.tuning.result import DIGITS, Fold, Scored, Setting, Tuning
from sublex.workers import Workers

SEARCHES = ("grid", "random")
Progress = Callable[[int, int], None]


def tune(
    index: Index,
    topics: Iterable[Sequence],
    qrels: Mapping[str, Mapping[str, int]],
    expression: str | Expression,
    measure: str = "AP",
    folds: int = 5,
    search: str = "grid",
    steps: int = 5,
    samples: int = 50,
    seed: int = 0,
    k: int = 1000,
    workers: int | None = None,
    profile: str | None = None,
    progress: Progress = lambda done, total: None,
) -> Tuning:
    """Find the best setting of an expression with ranges, and what tuning is worth on topics that it has not seen.

    An interval `{a..b}` gives `steps` evenly spaced numbers to a grid, and any number of it to a random search of `samples` settings.
    """
    for name, least, number in (("k", 1, k), ("seed", 0, seed), ("workers", 1, workers or 1)):
        if number < least:
            raise InputError(f"{name}={number} should be at least {least}.")
    tree = parse(expression) if isinstance(expression, str) else expression
    asked = _judged(topics, qrels)
    qids = tuple(asked)
    parts = split(len(qids), folds, seed)
    composer, defaults = Composer(index, plugins.load()), profiles.profile(profile or index.profile).defaults
    slots = space.slots(tree, composer.registry, defaults)
    if search not in SEARCHES:
        raise InputError(f"No search {search}; there are {', '.join(SEARCHES)}.")
    numbers = space.grid(slots, steps) if search == "grid" else space.sample(slots, samples, seed)
    plan = _plan(tree, slots, numbers, composer, defaults)
    lacking = dict.fromkeys(name for canonical in plan.runs.values() for name in composer.unfitted(canonical))
    if len(lacking) > 1:
        raise IndexProblem(
            f"{len(lacking)} models that this tries are not fitted; run: {command('fit', index.path, *lacking)}"
        )
    judge = Judge(index, qrels, qids, measure, k)
    queries = [index.query(text) for text in asked.values()]
    scores = _run(plan, composer, defaults, queries, judge, workers or os.cpu_count() or 1, progress)

    held_out, chosen = _cross_validated(plan, scores, parts, qids)
    fitted = _best(plan, scores, np.arange(len(qids)))
    return Tuning(
        str(tree), str(judge.measure), search, tuple(slot.name for slot in slots), qids,
        tuple(qid for qid in qrels if qid not in asked), plan.settings, scores[: len(plan.settings)], chosen, held_out,
        Scored(plan.settings[fitted], scores[fitted]),
        plan.default and Scored(plan.default, scores[plan.places[plan.default.expression]]),
        space.at_end(slots, tuple(plan.settings[fitted].values.values())),
    )  # fmt: skip


def split(topics: int, folds: int, seed: int) -> list[np.ndarray]:
    """The topics of each fold, ascending: shuffled, and as equal in number as can be."""
    if folds < 2:
        raise InputError(f"folds={folds} should be at least 2: one to choose by and one to measure.")
    if topics < folds:
        raise InputError(f"{topics} judged topics are too few for {folds} folds; take fewer folds.")
    return [np.sort(part) for part in np.array_split(np.random.default_rng([seed, 0]).permutation(topics), folds)]


def _cross_validated(
    plan: _Plan, scores: np.ndarray, parts: Sequence[np.ndarray], qids: Sequence[str]
) -> tuple[np.ndarray, tuple[Fold, ...]]:
    """What each topic scores by the setting that is best outside its fold, and the folds."""
    held_out, folds = np.empty(len(qids)), []
    for part in parts:
        others = np.setdiff1d(np.arange(len(qids)), part)
        best = _best(plan, scores, others)
        held_out[part] = scores[best, part]
        means = float(scores[best, others].mean()), float(held_out[part].mean())
        folds.append(Fold(tuple(qids[topic] for topic in part), plan.settings[best], *means))
    return held_out, tuple(folds)


def _best(plan: _Plan, scores: np.ndarray, topics: np.ndarray) -> int:
    """The setting whose mean over the topics is highest, the preferred one of several."""
    means = np.round(scores[plan.preferred][:, topics].mean(axis=1), DIGITS)
    return plan.preferred[int(np.argmax(means))]


def _judged(topics: Iterable[Sequence], qrels: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """The texts of the topics that have judgements."""
    found: dict[str, str] = {}
    for topic in topics:
        if topic[0] in found:
            raise InputError(f"Topic {topic[0]} comes twice; give each topic once.")
        if topic[0] in qrels:
            found[topic[0]] = topic[1]
    if not found:
        raise InputError("None of these topics has judgements; see whether topics and qrels belong together.")
    return found


class _Plan(NamedTuple):
    """What is run, by expression, in an order that changes rankers rarely; and the settings with who goes before whom in a tie."""

    runs: dict[str, Expression]
    places: dict[str, int]
    settings: tuple[Setting, ...]
    preferred: list[int]
    default: Setting | None


def _plan(
    tree: Expression,
    slots: Sequence[space.Slot],
    numbers: Iterable[Sequence[float]],
    composer: Composer,
    defaults: plugins.Defaults,
) -> _Plan:
    """Settings that print the same expression are one; among equals the nearest to the defaults is preferred, then the first."""
    runs: dict[str, Expression] = {}
    order: dict[str, tuple] = {}
    settings: list[Setting] = []
    away: list[float] = []
    for values in numbers:
        filled = fill(tree, values)
        canonical = composer.registry.canonical(filled, defaults)
        if (name := str(canonical)) in runs:
            continue
        runs[name] = canonical
        order[name] = (0, *(value for slot, value in zip(slots, values, strict=True) if slot.parameter))
        settings.append(Setting(str(filled), name, {s.name: v for s, v in zip(slots, values, strict=True)}))
        away.append(space.distance(slots, values))
    default = _default(space.without_ranges(tree, composer.registry), slots, composer, defaults)
    if default and str(default[1]) not in runs:
        runs[str(default[1])], order[str(default[1])] = default[1], (1,)
    places = {name: place for place, name in enumerate(runs)}
    preferred = sorted(range(len(settings)), key=lambda place: (away[place], place))
    sorted_runs = {name: runs[name] for name in sorted(runs, key=order.__getitem__)}
    return _Plan(sorted_runs, places, tuple(settings), preferred, default and default[0])


def _default(
    plain: Expression, slots: Sequence[space.Slot], composer: Composer, defaults: plugins.Defaults
) -> tuple[Setting, Expression] | None:
    """What holds without the ranges; nothing where one of them stands for what must be given, or where that is not fitted."""
    try:
        canonical = composer.registry.canonical(plain, defaults)
        composer.compose(canonical, defaults)
    except (InputError, IndexProblem):
        return None
    values = {slot.name: slot.default for slot in slots if slot.default is not None}
    return Setting(str(plain), str(canonical), values), canonical


def _run(
    plan: _Plan,
    composer: Composer,
    defaults: plugins.Defaults,
    queries: Sequence[Query],
    judge: Judge,
    workers: int,
    progress: Progress,
) -> np.ndarray:
    """The score of each run on each topic."""
    groups = [queries[begin : begin + GROUP] for begin in range(0, len(queries), GROUP)]
    scores, memo = np.empty((len(plan.runs), len(queries))), Memo()
    with Workers(min(workers, len(groups))) as pool:
        for done, (name, canonical) in enumerate(plan.runs.items()):
            scorer = composer.compose(canonical, defaults, memo)
            composer.sweep()
            memo.turn()
            found: list[Hits] = []
            for hits in pool.map(partial(_found, scorer, judge.depth), groups):
                found += hits
                progress(done * len(queries) + len(found), scores.size)
            scores[plan.places[name]] = judge.scores(found)
    return scores


def _found(scorer: Scorer, depth: int, queries: Sequence[Query]) -> list[Hits]:
    return [scorer.found(Work(query), depth).first(depth) for query in queries]
