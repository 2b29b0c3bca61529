"""Train a learned model by cross-validation. Each fold is ranked by a model that learned from the other folds' topics."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sublex.errors import InputError, contract
from sublex.language.expression import Chain, Expression, chain, ranges, walk
from sublex.language.learned import LearnedModel
from sublex.learning.features import Features, features
from sublex.pipeline.index import Index
from sublex.retrieval.hits import Hits
from sublex.tuning.judge import Judge
from sublex.tuning.result import Fold, ScoredSetting, Setting, Training

Progress = Callable[[int, int], None]


def model_to_train(tree: Expression) -> LearnedModel | None:
    """Return the learned model at the end of an expression; None if there is none.

    Raise InputError if an expression has a model in another place, or ranges beside the model.
    """
    models = [node for node in walk(tree) if isinstance(node, LearnedModel)]
    if not models or ranges(tree):
        return None
    last = tree.stages[-1] if isinstance(tree, Chain) else None
    if len(models) > 1 or last is not models[0]:
        raise InputError(
            "To train a model, put it at the end of the expression and name no other, as in 'BM25 % 200' >> sublex.learned(model, […])."
        )
    if not callable(getattr(models[0].thing, "fit", None)):
        raise InputError(
            f"{type(models[0].thing).__name__} has no method fit, so it cannot be trained; write a range to tune, as in BM25(b={{0..1}})."
        )
    return models[0]


def trained(
    index: Index,
    tree: Expression,
    model: LearnedModel,
    texts: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    parts: Sequence[np.ndarray],
    judge: Judge,
    unused: tuple[str, ...],
    workers: int | None,
    profile: str | None,
    language: str,
    progress: Progress,
) -> Training:
    """Return the scores of models on topics from which they did not learn.

    `tree` is the expression that ends with `model`. `texts` has the texts of the judged topics by id, and `parts` the
    places of the topics of each fold among them. `unused` are judged topics that were not given.
    """
    assert isinstance(tree, Chain)
    before, qids = chain(tree.stages[:-1]), list(texts)
    table = features(
        index, list(texts.items()), qrels, model.parts, before,
        workers=workers or 1, profile=profile, language=language, progress=progress,
    )  # fmt: skip
    held_out, folds = np.empty(len(qids)), []
    for part in parts:
        others = np.setdiff1d(np.arange(len(qids)), part)
        known = [qids[topic] for topic in others]
        learned = fitted(model, table.of_topics(known), [texts[qid] for qid in known])
        scores = _scores(index, table, learned, qids, judge)
        held_out[part] = scores[part]
        setting = _setting(before, learned)
        folds.append(
            Fold(tuple(qids[t] for t in part), setting, float(scores[others].mean()), float(scores[part].mean()))
        )
    final = fitted(model, table, list(texts.values()))
    best = ScoredSetting(_setting(before, final), _scores(index, table, final, qids, judge))
    first = ScoredSetting(Setting(str(before), table.candidates, {}, before), _scores(index, table, None, qids, judge))
    return Training(
        str(tree), str(judge.measure), "training", (), tuple(qids), unused, (best.setting,), best.by_topic[None, :],
        tuple(folds), held_out, best, first, (), language,
    )  # fmt: skip


def fitted(model: LearnedModel, table: Features, topics: Sequence[str] = ()) -> LearnedModel:
    """Return a copy of a model that learned from the rows of a table. It remembers the texts of the topics."""
    assert table.grades is not None
    fresh = copy.deepcopy(model.thing)
    takes = inspect.signature(fresh.fit).parameters
    sizes = {"group": table.sizes} if "group" in takes else {}
    if not sizes and "qid" in takes:
        sizes = {"qid": np.repeat(np.arange(len(table.sizes)), table.sizes)}  # type: ignore[dict-item]
    if not len(table):
        raise InputError(
            "No candidates were found for the topics to learn from; the ranker before the model finds nothing."
        )
    with contract(model.kind, model.name):
        fresh.fit(table.values, table.grades, **sizes)
    return model.with_model(fresh, topics)


def _setting(before: Expression, model: LearnedModel) -> Setting:
    whole = chain((before, model))
    return Setting(str(whole), str(whole), {}, whole)


def _scores(index: Index, table: Features, model: LearnedModel | None, qids: Sequence[str], judge: Judge) -> np.ndarray:
    """Return the measure of each topic `qids` for its candidates in `table`, ranked by a model.

    If `model` is None, they stay in the order of retrieval.
    """
    rankings = []
    for qid in qids:
        rows = table.groups.get(qid, slice(0, 0))
        docnos = table.docnos[rows]
        docs = np.array([index.doc(docno) for docno in docnos], np.int32)
        scores = -np.arange(len(docs), dtype=np.float64)
        if model is not None and len(docs):
            scores = model.scores(table.values[rows], docnos)
        rankings.append(Hits.ranked(index.snapshot, docs, scores).first(judge.depth))
    return judge.scores(rankings)
