"""Features: the scores of candidates by several expressions, in a table with a row for each candidate of each topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from sublex.contracts.base import Query
from sublex.errors import InputError
from sublex.forms.frames import data_frame
from sublex.language import profiles
from sublex.language.expression import Expression, operand
from sublex.language.learned import check_parts
from sublex.pipeline.compose import Composer
from sublex.pipeline.index import Index
from sublex.pipeline.stages.cached import Cache
from sublex.pipeline.stages.learned import feature_rows
from sublex.pipeline.stages.stage import Scorer, State
from sublex.tools.messages import counted
from sublex.tools.workers import Workers

# Topics that a thread takes at a time.
GROUP = 16
Progress = Callable[[int, int], None]
Judgements = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, eq=False)
class Features:
    """The candidates of topics with their features.

    Row i belongs to the topic `qids[i]` and the document `docnos[i]`, and `values[i]` (float64) has its features, whose
    expressions are `names`. The rows of a topic stand together, best candidates first. `grades` (int64) are the judgements, 0
    for a document without one and for negative grades; it is None if there are no judgements. `judged` says which rows have a
    judgement. `empty` are the topics for which nothing was found.
    """

    candidates: str
    names: tuple[str, ...]
    qids: tuple[str, ...]
    docnos: tuple[str, ...]
    values: np.ndarray
    grades: np.ndarray | None
    judged: np.ndarray | None
    empty: tuple[str, ...] = ()

    @cached_property
    def groups(self) -> dict[str, slice]:
        """The rows of each topic."""
        counts = Counter(self.qids)
        ends = np.cumsum([*counts.values()]).tolist()
        return {qid: slice(end - counts[qid], end) for qid, end in zip(counts, ends, strict=True)}

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each topic, in their order: the `group` of LightGBM and XGBoost."""
        return [part.stop - part.start for part in self.groups.values()]

    def of_topics(self, qids: Iterable[str]) -> Features:
        """Return the rows of some topics."""
        chosen = [self.groups[qid] for qid in qids if qid in self.groups]
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(part.start, part.stop) for part in chosen)])
        return Features(
            self.candidates,
            self.names,
            tuple(self.qids[row] for row in rows.tolist()),
            tuple(self.docnos[row] for row in rows.tolist()),
            self.values[rows],
            None if self.grades is None else self.grades[rows],
            None if self.judged is None else self.judged[rows],
        )

    @property
    def columns(self) -> dict[str, Any]:
        """The table by columns: qid, docno, grade where there are judgements, and a column for each feature."""
        grades = {} if self.grades is None else {"grade": self.grades}
        named = {"qid": list(self.qids), "docno": list(self.docnos), **grades}
        return named | {name: self.values[:, column] for column, name in enumerate(self.names)}

    def to_pandas(self) -> Any:
        """Return the table as a DataFrame. pandas must be installed."""
        return data_frame(self.columns)

    @property
    def notes(self) -> list[str]:
        """Sentences about topics without rows, and about rows without judgements."""
        found = []
        if self.empty:
            found.append(f"Nothing was found for {counted(len(self.empty), 'topic')}; the first is {self.empty[0]}.")
        if self.judged is not None and len(self.judged):
            share = f"{np.count_nonzero(~self.judged) / len(self.judged):.0%}"
            found.append(f"{share} of the candidates have no judgement and count as not relevant.")
        return found

    def __len__(self) -> int:
        return len(self.qids)

    def __str__(self) -> str:
        topics, features = counted(len(self.groups), "topic"), counted(len(self.names), "feature")
        return f"{counted(len(self), 'row')} of {topics} with {features}: {', '.join(self.names)}"

    def __repr__(self) -> str:
        return f"<Features: {self}>"


def features(
    index: Index,
    topics: Iterable[Sequence[Any]],
    qrels: Judgements | None,
    parts: Iterable[str | Expression],
    candidates: str | Expression,
    *,
    workers: int = 1,
    profile: str | None = None,
    language: str = "plain",
    progress: Progress = lambda done, total: None,
) -> Features:
    """Return the features of the candidates of topics. `sublex.features` documents the parameters."""
    composer, defaults = Composer(index.snapshot), profiles.profile(profile or index.profile).defaults
    given = [operand(part, ">>") for part in parts]
    check_parts(given)
    finder, *scorers = (composer.read(each, defaults).expression for each in (operand(candidates, ">>"), *given))
    cache = Cache()
    first, *rest = (composer.compose(each, defaults, cache) for each in (finder, *scorers))
    if not first.finds:
        raise InputError(f"{finder} finds no documents by itself; name a ranker that does, as in BM25 % 200.")
    asked = [(str(qid), text) for qid, text, *_ in topics]
    if len({qid for qid, _ in asked}) < len(asked):
        raise InputError("A topic comes twice; give each topic once.")
    queries = index.queries(asked, language)
    groups = [range(begin, min(begin + GROUP, len(asked))) for begin in range(0, len(asked), GROUP)]
    found: list[tuple[np.ndarray, np.ndarray]] = []
    with Workers(max(1, min(workers, len(groups)))) as pool:
        for rows in pool.map(partial(_rows_of_all, first, rest, queries), groups):
            found += rows
            progress(len(found), len(asked))
    return _table(index, str(finder), tuple(map(str, given)), [qid for qid, _ in asked], found, qrels)


def _rows_of_all(
    first: Scorer, rest: Sequence[Scorer], queries: Sequence[Query], group: Sequence[int]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the candidates and their features for each of the queries whose places in `queries` are in `group`.

    `first` finds the candidates, and the scores by each of `rest` are the features.
    """
    return [_rows(first, rest, queries[number]) for number in group]


def _rows(first: Scorer, rest: Sequence[Scorer], query: Query) -> tuple[np.ndarray, np.ndarray]:
    state = first.run(State(query))
    assert state.hits is not None
    docs = state.hits.docs
    return docs, feature_rows([scorer.start(state) for scorer in rest], docs)


def _table(
    index: Index,
    candidates: str,
    names: tuple[str, ...],
    qids: Sequence[str],
    found: Sequence[tuple[np.ndarray, np.ndarray]],
    qrels: Judgements | None,
) -> Features:
    docs = np.concatenate([np.empty(0, np.int32), *(docs for docs, _ in found)])
    docnos = tuple(index.snapshot.all_docnos.take(docs).tolist())
    topic = tuple(qid for qid, (docs, _) in zip(qids, found, strict=True) for _ in range(len(docs)))
    values = np.concatenate([np.empty((0, len(names))), *(rows for _, rows in found)])
    empty = tuple(qid for qid, (docs, _) in zip(qids, found, strict=True) if not len(docs))
    if qrels is None:
        return Features(candidates, names, topic, docnos, values, None, None, empty)
    grades = [qrels.get(qid, {}).get(docno) for qid, docno in zip(topic, docnos, strict=True)]
    judged = np.array([grade is not None for grade in grades], np.bool_)
    counts = np.array([max(0, grade or 0) for grade in grades], np.int64)
    return Features(candidates, names, topic, docnos, values, counts, judged, empty)
