"""What a run is worth by measures: for each judged topic, and over all of them, found or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError, MissingExtra
from sublex.evaluation import measures as known
from sublex.tables import Table
from sublex.trec.columns import Columns
from sublex.trec.qrels import LARGEST_GRADE

if TYPE_CHECKING:
    from ir_measures import Measure

Judged = Mapping[str, Mapping[str, Any]]

# So many topics are handed to trec_eval's code at once: enough that calls cost nothing, few enough for memory.
GROUP = 1000
LARGEST_SCORE = float(np.finfo(np.float32).max)


class Evaluation:
    """One run's measures: `values[topic, measure]` for the judged topics `qids`; `missing` are those without any hit."""

    def __init__(
        self, name: str, measures: Sequence[Measure], qids: Sequence[str], values: np.ndarray, missing: Sequence[str]
    ):
        self.name, self.qids, self.values, self.missing = name, tuple(qids), values, tuple(missing)
        self.measures = tuple(map(str, measures))
        self.counts = tuple(map(known.is_count, measures))

    @cached_property
    def mean(self) -> dict[str, float]:
        """Each measure over all judged topics: the mean, or the sum where it counts."""
        sums = self.values.sum(axis=0)
        means = np.where(self.counts, sums, sums / max(1, len(self.qids)))
        return dict(zip(self.measures, means.tolist(), strict=True))

    def __getitem__(self, measure: str) -> np.ndarray:
        """One measure by topic, in the order of `qids`."""
        if measure not in self.measures:
            raise InputError(f"{measure} was not computed; there are {', '.join(self.measures)}.")
        return self.values[:, self.measures.index(measure)]

    def topics(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Each topic with its measures."""
        for qid, row in zip(self.qids, self.values.tolist(), strict=True):
            yield qid, dict(zip(self.measures, row, strict=True))

    def to_pandas(self) -> Any:
        """A DataFrame with a row a topic."""
        return data_frame(self.values, list(self.qids), "topic", list(self.measures))

    def _repr_html_(self) -> str:
        return Table(["run", *self.measures], [[self.name, *cells(self.mean.values(), self.counts)]]).html()

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value:.4f}" for name, value in self.mean.items())
        return f"<{self.name}: {figures} over {len(self.qids):,} topics>"


def evaluate(
    qrels: Judged,
    run: Judged,
    measures: Iterable[str | Measure] = known.DEFAULTS,
    name: str | None = None,
    topics: Iterable[str] | None = None,
) -> Evaluation:
    """Measure a run on every judged topic, or those of them named; one that the run lacks counts as one with nothing found."""
    chosen = known.parse(str(measure) for measure in measures)
    qids = list(qrels if topics is None else topics)
    if not qids:
        raise InputError("There are no judged topics to measure by.")
    values = np.empty((len(qids), len(chosen)))
    judged, found = _by_topic(qrels), _by_topic(run)
    missing: list[str] = []
    for begin in range(0, len(qids), GROUP):
        group = qids[begin : begin + GROUP]
        hits = {qid: found(qid) if qid in run else {} for qid in group}
        values[begin : begin + len(group)] = _measured(chosen, {qid: judged(qid) for qid in group}, hits)
        missing += [qid for qid, docs in hits.items() if not docs]
    return Evaluation(name or getattr(run, "tag", "") or "run", chosen, qids, values, missing)


def cells(values: Iterable[float], counts: Iterable[bool], digits: int = 4) -> list[str]:
    """Measures as people read them."""
    return [f"{value:.0f}" if counted else f"{value:.{digits}f}" for value, counted in zip(values, counts, strict=True)]


def _by_topic(table: Judged) -> Any:
    """Topic to plain dictionary; docnos that many topics share are one Python string."""
    if not isinstance(table, Columns):
        return lambda qid: _plain(qid, table[qid])
    names = table.docnos.tolist()

    def topic(qid: str) -> dict[str, Any]:
        docs, values = table.topic(qid)
        return dict(zip(map(names.__getitem__, docs.tolist()), values.tolist(), strict=True))

    return topic


def _plain(qid: str, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """A topic of a plain dictionary, if it is what trec_eval's code takes."""
    if not isinstance(qid, str) or not all(isinstance(docno, str) for docno in numbers):
        raise InputError(f"Topic {qid!r} or one of its documents is not named by a string; ids are text.")
    numeric = all(isinstance(number, (int, float, np.number)) for number in numbers.values())
    if not numeric or not all(-LARGEST_SCORE <= number <= LARGEST_SCORE for number in numbers.values()):
        raise InputError(f"Topic {qid} has a grade or a score that is not a number of float32.")
    return dict(numbers)


def _measured(measures: Sequence[Measure], qrels: dict[str, dict], run: dict[str, dict]) -> np.ndarray:
    """Topics by measures."""
    import ir_measures

    rows = {qid: row for row, qid in enumerate(qrels)}
    columns = {measure: column for column, measure in enumerate(measures)}
    values = np.zeros((len(rows), len(columns)))
    # trec_eval's code writes where it should not when a ranking is empty, or when all grades of a topic are negative.
    ranked = {qid: hits for qid, hits in run.items() if hits}
    for qid, judged in qrels.items():
        if not all(isinstance(grade, (int, np.integer)) for grade in judged.values()):
            raise InputError(f"Topic {qid} has a grade that is not a whole number.")
        highest = max(judged.values(), default=-1)
        if highest > LARGEST_GRADE:
            raise InputError(f"Topic {qid} has a grade of {highest:,}; measures take none above {LARGEST_GRADE:,}.")
        if highest < 0:
            # No document has the empty docno, so this changes no measure.
            judged[""] = 0
    # One that has gains of its own would lend them to the others.
    apart = [[measure] for measure in measures if "gains" in measure.params]
    together = [measure for measure in measures if "gains" not in measure.params]
    for group in [*apart, together] if together else apart:
        try:
            for metric in ir_measures.iter_calc(group, qrels, ranked):
                values[rows[metric.query_id], columns[metric.measure]] = metric.value
        except (ValueError, ArithmeticError, TypeError, KeyError) as error:
            raise InputError(f"{', '.join(map(str, group))} cannot be computed for this run: {error}.") from None
    for measure, column in columns.items():
        if measure.NAME == "NumRel":
            # It is a matter of the judgements alone, also where a run found nothing.
            level = measure["rel"]
            values[:, column] = [sum(grade >= level for grade in judged.values()) for judged in qrels.values()]
    return values


def data_frame(values: Any, index: Sequence[str], index_name: str, columns: Sequence[str]) -> Any:
    """A DataFrame, where pandas is installed."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("A DataFrame", "pandas") from None
    return pandas.DataFrame(values, pandas.Index(index, name=index_name), columns)
