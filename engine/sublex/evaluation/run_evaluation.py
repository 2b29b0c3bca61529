"""Measure one run against relevance judgements: a value for every judged topic and measure, and the means.

ir-measures computes the values; it calls the code of trec_eval for the measures that trec_eval has. Some input would
crash that code, so this module refuses or changes it. A judged topic that the run lacks counts as a topic without hits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.contracts.base import LARGEST_SCORE
from sublex.errors import InputError
from sublex.evaluation.measures import DEFAULT_MEASURES, is_count, parse_measures
from sublex.forms.frames import data_frame
from sublex.forms.parts import InParts, Part
from sublex.forms.tables import Table
from sublex.tools.hints import resolve_hints
from sublex.tools.strings import Strings
from sublex.trec.columns import Columns
from sublex.trec.ids import refuse_faulty
from sublex.trec.qrels import LARGEST_GRADE

if TYPE_CHECKING:
    from ir_measures import Measure

# Judgements or a run: a dictionary from topics to dictionaries from docnos to grades or scores.
NumbersByTopic = Mapping[str, Mapping[str, Any]]

# Topics per call of ir-measures. Larger groups take more memory and are no faster.
GROUP = 1000


class Evaluation(InParts):
    """The measures of one run: `values[topic, measure]`, float64, for the judged topics `qids`.

    `measures` are the names of the measures. `counts` says for each measure whether it is summed over topics and not
    averaged. `missing` are the judged topics without a hit in the run.
    """

    def __init__(
        self, name: str, measures: Sequence[Measure], qids: Sequence[str], values: np.ndarray, missing: Sequence[str]
    ):
        self.name, self.qids, self.values, self.missing = name, tuple(qids), values, tuple(missing)
        self.measures = tuple(map(str, measures))
        self.counts = tuple(map(is_count, measures))

    @cached_property
    def mean(self) -> dict[str, float]:
        """The mean of each measure over all judged topics, by name. A measure that counts has the sum."""
        return self.means_of(np.ones(len(self.qids), bool))

    def means_of(self, topics: np.ndarray) -> dict[str, float]:
        """Return the mean of each measure over the topics for which a mask is true. A measure that counts has the sum."""
        sums = self.values[topics].sum(axis=0)
        means = np.where(self.counts, sums, sums / max(1, int(np.count_nonzero(topics))))
        return dict(zip(self.measures, means.tolist(), strict=True))

    def __getitem__(self, measure: str) -> np.ndarray:
        """Return the value of one measure for each topic, in the order of `qids`."""
        return self.values[:, self.measures.index(self._computed(measure))]

    def mean_of(self, measure: str) -> float:
        """Return the mean of one measure over all judged topics. A measure that counts has the sum."""
        return self.mean[self._computed(measure)]

    def _computed(self, measure: str) -> str:
        if measure not in self.measures:
            raise InputError(f"{measure} was not computed; there are {', '.join(self.measures)}.")
        return measure

    def topics(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Yield the id and the measures of each topic."""
        for qid, row in zip(self.qids, self.values.tolist(), strict=True):
            yield qid, dict(zip(self.measures, row, strict=True))

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each topic and a column for each measure; pandas must be installed.

        The index of the DataFrame has the topic ids; its name is `qid`.
        """
        return data_frame(dict(zip(self.measures, self.values.T, strict=True)), ("qid", self.qids))

    def parts(self) -> list[Part]:
        """Return the table of the means."""
        return [Table(["run", *self.measures], [[self.name, *format_values(self.mean.values(), self.counts)]])]

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value:.4f}" for name, value in self.mean.items())
        return f"<{self.name}: {figures} over {len(self.qids):,} topics>"


def evaluate(
    qrels: NumbersByTopic,
    run: NumbersByTopic,
    measures: Iterable[str | Measure] = DEFAULT_MEASURES,
    name: str | None = None,
    topics: Iterable[str] | None = None,
) -> Evaluation:
    """Measure a run on every judged topic, or on the judged topics named in `topics`.

    A topic that the run lacks counts as a topic without hits. The name of the evaluation is `name`, or the tag of the
    run if `name` is None. Raise InputError for grades or scores that trec_eval's code cannot handle.
    """
    chosen = parse_measures(str(measure) for measure in measures)
    qids = list(qrels if topics is None else topics)
    if not qids:
        raise InputError("There are no judged topics; give judgements of at least one topic.")
    values = np.empty((len(qids), len(chosen)))
    judgements_of, hits_of = _topic_reader(qrels), _topic_reader(run)
    missing: list[str] = []
    for begin in range(0, len(qids), GROUP):
        group = qids[begin : begin + GROUP]
        hits = {qid: hits_of(qid) if qid in run else {} for qid in group}
        values[begin : begin + len(group)] = _compute(chosen, {qid: judgements_of(qid) for qid in group}, hits)
        missing += [qid for qid, docs in hits.items() if not docs]
    return Evaluation(name or getattr(run, "tag", "") or "run", chosen, qids, values, missing)


def format_values(values: Iterable[float], counts: Iterable[bool], digits: int = 4) -> list[str]:
    """Return values as text: counts as whole numbers, other measures with `digits` decimals."""
    return [f"{value:.0f}" if counted else f"{value:.{digits}f}" for value, counted in zip(values, counts, strict=True)]


def _topic_reader(table: NumbersByTopic) -> Callable[[str], dict[str, Any]]:
    """Return a function that takes a topic's id and returns a new dictionary from its docnos to their numbers."""
    if not isinstance(table, Columns):
        return lambda qid: _checked_copy(qid, table[qid])
    refuse_faulty(table.docnos, "document")
    # All docnos are decoded once, so that a docno is one Python string in all topics that have it.
    names = table.docnos.tolist()

    def read(qid: str) -> dict[str, Any]:
        docs, values = table.topic(qid)
        return dict(zip(map(names.__getitem__, docs.tolist()), values.tolist(), strict=True))

    return read


def _checked_copy(qid: str, numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the grades or scores of one topic. Raise InputError if trec_eval's code cannot handle them."""
    if not isinstance(qid, str) or not all(isinstance(docno, str) for docno in numbers):
        raise InputError(f"Topic {qid!r} has an id or a docno that is not a string; make all ids strings.")
    refuse_faulty(Strings.of([qid]), "topic")
    refuse_faulty(Strings.of(numbers), "document")
    numeric = all(isinstance(number, (int, float, np.number)) for number in numbers.values())
    if not numeric or not all(-LARGEST_SCORE <= number <= LARGEST_SCORE for number in numbers.values()):
        raise InputError(f"Topic {qid} has a grade or score that is not a finite float32 number; correct it.")
    return dict(numbers)


def _compute(measures: Sequence[Measure], qrels: dict[str, dict], run: dict[str, dict]) -> np.ndarray:
    """Return the values as a matrix with a row for each topic and a column for each measure.

    A topic without hits has zeros, except for numbers of relevant documents. The function may add one judgement to a
    topic of `qrels`.
    """
    import ir_measures

    rows = {qid: row for row, qid in enumerate(qrels)}
    columns = {measure: column for column, measure in enumerate(measures)}
    values = np.zeros((len(rows), len(columns)))
    for qid, grades in qrels.items():
        _guard_grades(qid, grades)
    # trec_eval's code writes out of bounds for an empty ranking.
    ranked = {qid: hits for qid, hits in run.items() if hits}
    # A measure with its own gains is computed in a separate call. In a shared call, the other measures would use its
    # gains too.
    separate = [[measure] for measure in measures if "gains" in measure.params]
    together = [measure for measure in measures if "gains" not in measure.params]
    for group in [*separate, together] if together else separate:
        try:
            for metric in ir_measures.iter_calc(group, qrels, ranked):
                values[rows[metric.query_id], columns[metric.measure]] = metric.value
        except (ValueError, ArithmeticError, TypeError, KeyError) as error:
            raise InputError(f"{', '.join(map(str, group))} cannot be computed for this run: {error}.") from None
    for measure, column in columns.items():
        if measure.NAME == "NumRel":
            # The number of relevant documents depends on the judgements alone, so it is not 0 for topics without hits.
            level = measure["rel"]
            values[:, column] = [sum(grade >= level for grade in grades.values()) for grades in qrels.values()]
    return values


def _guard_grades(qid: str, grades: dict[str, Any]) -> None:
    """Raise InputError for grades that trec_eval's code cannot handle.

    Add a judgement if all grades of the topic are negative.
    """
    if not all(isinstance(grade, (int, np.integer)) for grade in grades.values()):
        raise InputError(f"Topic {qid} has a grade that is not a whole number; write whole numbers.")
    highest = max(grades.values(), default=-1)
    if highest > LARGEST_GRADE:
        raise InputError(f"Topic {qid} has a grade of {highest:,}; the highest grade allowed is {LARGEST_GRADE:,}.")
    if highest < 0:
        # trec_eval's code writes out of bounds if all grades are negative. No document has the empty docno, so this
        # judgement changes no measure.
        grades[""] = 0


resolve_hints(__name__)
