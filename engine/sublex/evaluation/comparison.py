"""Systems side by side: measured on the same topics, tested against each other, and told apart or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.evaluation import measures, sentences
from sublex.evaluation.doubts import doubts
from sublex.evaluation.evaluation import Evaluation, data_frame, evaluate
from sublex.evaluation.systems import System
from sublex.statistics import intervals, significance
from sublex.statistics.power import check_level
from sublex.statistics.significance import Pair
from sublex.tables import Table

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics


class Plan(NamedTuple):
    """How systems are told apart."""

    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 0


USUAL = Plan()


class Comparison:
    """Systems on the same judged topics; the first measure that is not a count is the one that sentences speak of."""

    def __init__(
        self,
        systems: Sequence[System],
        evaluations: Sequence[Evaluation],
        qrels: Qrels,
        topics: Topics | None = None,
        index: Index | None = None,
        plan: Plan = USUAL,
        notes: Sequence[str] = (),
    ):
        self.systems, self.evaluations, self.qrels, self.topics = tuple(systems), tuple(evaluations), qrels, topics
        self.index, self.plan, self.notes = index, plan, tuple(notes)
        self.names = tuple(system.name for system in systems)
        first = evaluations[0]
        self.measures, self.qids = first.measures, first.qids
        self.tested = tuple(name for name, counts in zip(first.measures, first.counts, strict=True) if not counts)
        self.main = self.tested[0]
        self._pairs: dict[str, list[Pair]] = {}

    def scores(self, measure: str) -> np.ndarray:
        """Systems by topics."""
        return np.stack([evaluation[measure] for evaluation in self.evaluations])

    def mean(self, measure: str) -> np.ndarray:
        """Each system's figure over all topics."""
        return np.array([evaluation.mean[measure] for evaluation in self.evaluations])

    def pairs(self, measure: str | None = None) -> list[Pair]:
        """Every two systems, tested, and corrected for the number of pairs."""
        name = measure or self.main
        if name not in self._pairs:
            several = len(self.systems) > 1
            scores = self.scores(name)
            self._pairs[name] = significance.compare_all(scores, self.names, *self.plan) if several else []
        return self._pairs[name]

    @cached_property
    def intervals(self) -> dict[str, np.ndarray]:
        """Where the mean of each system may lie, low and high, for each measure tested."""
        level = 1 - self.plan.alpha
        return {name: intervals.bootstrap(self.scores(name), level, seed=self.plan.seed) for name in self.tested}

    def letters(self, measure: str | None = None) -> list[sentences.Letters]:
        """Each system's own letter, a, b, c in their order, and the letters of the systems that it beats."""
        found = sentences.letters(self.pairs(measure))
        return [found.get(name, sentences.Letters("a", ())) for name in self.names]

    def sentences(self, measure: str | None = None) -> list[str]:
        """What the tests say, a sentence a pair."""
        return [sentences.sentence(pair, measure or self.main) for pair in self.pairs(measure)]

    def headlines(self) -> list[str]:
        """The sentences about the best system, which are what most people want to know."""
        best = self.names[int(self.mean(self.main).argmax())]
        return [text for pair, text in zip(self.pairs(), self.sentences(), strict=True) if best in (pair.a, pair.b)]

    def table(self) -> Table:
        """Systems by measures: the best of a column bold, and after a figure the letters of the systems that it beats."""
        columns, bold = [], set()
        for place, measure in enumerate(self.measures, 2):
            means = self.mean(measure)
            if measure not in self.tested:
                columns.append([f"{mean:.0f}" for mean in means])
                continue
            bold |= {(row, place) for row in np.flatnonzero(means == means.max()).tolist()}
            beaten = [str(letters) for letters in self.letters(measure)]
            width = max(map(len, beaten))
            columns.append(
                [
                    f"{mean:.4f} {won:<{width}}" if width else f"{mean:.4f}"
                    for mean, won in zip(means, beaten, strict=True)
                ]
            )
        own = [letters.own for letters in self.letters()]
        return Table(["", "system", *self.measures], list(zip(own, self.names, *columns, strict=True)), 2, bold)

    def to_pandas(self) -> Any:
        """A DataFrame with a row a system."""
        values = [[evaluation.mean[name] for name in self.measures] for evaluation in self.evaluations]
        return data_frame(values, list(self.names), "system", list(self.measures))

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {mean:.4f}" for name, mean in zip(self.names, self.mean(self.main), strict=True))
        return f"<{self.main} over {len(self.qids):,} topics: {figures}>"

    def _repr_html_(self) -> str:
        return self.table().html()


def compare(
    systems: Sequence[System],
    qrels: Qrels,
    topics: Topics | None = None,
    names: Iterable[str] = measures.DEFAULTS,
    index: Index | None = None,
    plan: Plan = USUAL,
    notes: Sequence[str] = (),
) -> Comparison:
    """Measure systems on the judged topics, or on those of them that `topics` has, and compare them."""
    if not systems:
        raise InputError("There is nothing to compare; name a ranker with -r or a run file.")
    seen: set[str] = set()
    for system in systems:
        if system.name in seen:
            raise InputError(f"{system.name} comes twice; compare each system once.")
        seen.add(system.name)
    check_level(plan.alpha)
    judged, notes = _asked(qrels, topics, notes)
    chosen = measures.parse(names)
    if all(map(measures.is_count, chosen)):
        raise InputError("Counts alone cannot be compared; name a measure such as AP too.")
    notes = [*notes, *doubts(systems, judged, topics, index)]
    evaluations = [evaluate(judged, system.run, chosen, system.name) for system in systems]
    found = Comparison(systems, evaluations, judged, topics, index, plan, notes)
    # A test that does not exist is refused now, not when its result is asked for.
    found.pairs()
    return found


def _asked(qrels: Qrels, topics: Topics | None, notes: Sequence[str]) -> tuple[Qrels, Sequence[str]]:
    """The judgements of the topics that were asked, and what is left out."""
    if topics is None:
        return qrels, notes
    asked = {topic.qid for topic in topics}
    qids = [qid for qid in qrels if qid in asked]
    if not qids:
        near = "; ".join(
            f"{name} have {', '.join(ids[:3])}"
            for name, ids in (("the topics", [t.qid for t in topics]), ("the qrels", qrels.qids))
        )
        raise InputError(f"No topic is judged, as topics and qrels have no id in common: {near}.")
    left = len(qrels) - len(qids)
    if left:
        notes = [*notes, f"{left:,} of {len(qrels):,} judged topics are not among the topics and are left out."]
    return qrels.only(qids), notes
