"""Compare systems: measure them on the same judged topics, and test each pair of them for a difference.

`compare` takes runs that exist already (see `systems`) and returns a `Comparison`, which the command line and the report show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.evaluation.grouping import GROUPS, By, grouping
from sublex.evaluation.input_warnings import input_warnings
from sublex.evaluation.measures import DEFAULT_MEASURES, is_count, parse_measures
from sublex.evaluation.run_evaluation import Evaluation, evaluate
from sublex.evaluation.slices import Slices
from sublex.evaluation.systems import System, meanings
from sublex.evaluation.topic_properties import Facts
from sublex.evaluation.unjudged import DifferenceBounds, bounds
from sublex.forms.frames import data_frame
from sublex.forms.parts import InParts, Part, parts_markdown
from sublex.forms.tables import Table
from sublex.statistics import sentences
from sublex.statistics.intervals import bootstrap
from sublex.statistics.power import check_level
from sublex.statistics.significance import Pair, compare_all
from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topics


class Plan(NamedTuple):
    """A plan for tests: the name of the test, the correction for several pairs, the level, and the seed of random numbers."""

    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 0


DEFAULT_PLAN = Plan()


class SystemSummary(NamedTuple):
    """The result of one system by the main measure.

    `interval` is None if there is only one topic. `pair` is the test of the first system (`pair.a`) against this system
    (`pair.b`), and None for the first system itself. `milliseconds` is the mean time per topic, and None for a run read
    from a file.
    """

    name: str
    letter: str
    mean: float
    interval: tuple[float, float] | None
    pair: Pair | None
    milliseconds: float | None


class Comparison(InParts):
    """Systems measured on the same judged topics, and the tests between them.

    `measures` are all measures. `tested` are the measures with tests; counts, which are sums, have none. `main` is the
    first of `tested`; the sentences are about this measure. `qids` are the judged topics, and `notes` the warnings
    about the input. `slices` are the comparisons for groups of topics that the caller asked for.
    """

    def __init__(
        self,
        systems: Sequence[System],
        evaluations: Sequence[Evaluation],
        qrels: Qrels,
        topics: Topics | None = None,
        index: Index | None = None,
        plan: Plan = DEFAULT_PLAN,
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
        self.slices: tuple[Slices, ...] = ()

    def sliced(self, by: By, groups: int = GROUPS) -> Slices:
        """Return the comparison for groups of topics.

        `by` is the name of a property: "length" of the query, "df" or "clarity" of its words, the number of "relevant"
        documents, the share of "judged" documents, or the "agreement" of the systems. It may also be a field of the
        topics, a fitted model with labels, such as "lda(k=20)", or a dictionary from ids of topics to groups. If the
        values are numbers, they are divided into `groups` groups.
        """
        facts = Facts(self.qids, self.systems, self.qrels, self.topics, self.index)
        return Slices(self, grouping(by, facts, groups))

    def scores(self, measure: str) -> np.ndarray:
        """Return the values of a measure as a matrix of systems by topics."""
        return np.stack([evaluation[measure] for evaluation in self.evaluations])

    def mean(self, measure: str) -> np.ndarray:
        """Return the mean (for a count, the sum) of a measure for each system."""
        return np.array([evaluation.mean_of(measure) for evaluation in self.evaluations])

    def pairs(self, measure: str | None = None) -> list[Pair]:
        """Return the tests of all pairs of systems by a measure, corrected for the number of pairs.

        If `measure` is None, the tests are by the main measure.
        """
        name = measure or self.main
        if name not in self._pairs:
            several = len(self.systems) > 1
            self._pairs[name] = compare_all(self.scores(name), self.names, *self.plan) if several else []
        return self._pairs[name]

    @cached_property
    def intervals(self) -> dict[str, np.ndarray]:
        """The bootstrap intervals of means for each tested measure. A row per system has the low and the high end."""
        level = 1 - self.plan.alpha
        return {name: bootstrap(self.scores(name), level, seed=self.plan.seed) for name in self.tested}

    def letters(self, measure: str | None = None) -> list[sentences.Letters]:
        """Return for each system its letter (a, b, c in order) and the letters of the systems that it beats."""
        letters = sentences.letters(self.pairs(measure))
        return [letters.get(name, sentences.Letters("a", ())) for name in self.names]

    def sentences(self, measure: str | None = None) -> list[str]:
        """Return a sentence about each pair of systems: the result of its test."""
        return [sentences.sentence(pair, measure or self.main) for pair in self.pairs(measure)]

    def headlines(self) -> list[str]:
        """Return the sentences about the system with the highest mean of the main measure."""
        best = self.names[int(self.mean(self.main).argmax())]
        return [text for pair, text in zip(self.pairs(), self.sentences(), strict=True) if best in (pair.a, pair.b)]

    def bounds(self) -> list[DifferenceBounds]:
        """Return the bounds within which unjudged documents could change the differences of the best system to the others."""
        return self._bounds

    @cached_property
    def _bounds(self) -> list[DifferenceBounds]:
        best = int(self.mean(self.main).argmax())
        return [bounds(self, best, other) for other in range(len(self.systems)) if other != best]

    def summaries(self) -> list[SystemSummary]:
        """Return the summary of each system by the main measure."""
        against_first = {pair.b: pair for pair in self.pairs() if pair.a == self.names[0]}
        ends = [(float(low), float(high)) for low, high in self.intervals[self.main]]
        columns = zip(self.systems, self.letters(), self.mean(self.main).tolist(), ends, strict=True)
        return [
            SystemSummary(
                system.name, letters.letter, mean, interval if np.isfinite(interval).all() else None,
                against_first.get(system.name), system.mean_milliseconds,
            )
            for system, letters, mean, interval in columns
        ]  # fmt: skip

    def table(self) -> Table:
        """Return a table of systems by measures.

        The best mean of each tested measure is bold. The letters of the systems that a system beats follow its mean.
        """
        columns, bold = [], set()
        for place, measure in enumerate(self.measures, 2):
            means = self.mean(measure)
            if measure not in self.tested:
                columns.append([f"{mean:.0f}" for mean in means])
                continue
            bold |= {(row, place) for row in np.flatnonzero(means == means.max()).tolist()}
            columns.append(_with_letters(means, [str(letters) for letters in self.letters(measure)]))
        own = [letters.letter for letters in self.letters()]
        return Table(["", "system", *self.measures], list(zip(own, self.names, *columns, strict=True)), 2, bold, True)

    def against_first(self) -> Table:
        """Return a table of the main measure with a row for each system.

        A row has the mean with its interval, the test against the first system, and the mean time of a topic.
        """
        head = ["", "system", self.main, f"{100 - 100 * self.plan.alpha:g} % interval", "difference",
                "corrected p", "better/same/worse", "ms a topic"]  # fmt: skip
        rows = []
        for row in self.summaries():
            pair = row.pair
            rows.append(
                [
                    row.letter,
                    row.name,
                    f"{row.mean:.4f}",
                    f"{row.interval[0]:.4f} to {row.interval[1]:.4f}" if row.interval else "-",
                    _signed(-pair.difference) if pair else "-",
                    sentences.p_cell(pair.corrected) if pair else "-",
                    f"{pair.losses}/{pair.ties}/{pair.wins}" if pair else "-",
                    f"{row.milliseconds:.3g}" if row.milliseconds is not None else "-",
                ]
            )
        return Table(head, rows, 2)

    def parts(self) -> list[Part]:
        """Return the table of measures, the table of tests against the first system, and the sentences about the best one.

        Before the sentences stands what the names of systems stand for. Sentences about unjudged documents and the parts
        of the slices follow.
        """
        slices = [part for each in self.slices for part in each.parts()]
        unjudged = tuple(each.sentence() for each in self.bounds())
        named = meanings(self.systems)
        return [self.table(), self.against_first(), named, tuple(self.headlines()), unjudged, *slices]

    def markdown(self) -> str:
        """Return the tables and the sentences in GitHub's Markdown."""
        return parts_markdown(self.parts())

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each system; pandas must be installed.

        The first columns have the mean (for a count, the sum) of each measure. Further columns follow for each tested
        measure, such as AP. `AP low` and `AP high` are the ends of the interval of the mean. `AP difference` is the
        difference to the first system. `AP p` and `AP corrected p` come from the test against the first system. The
        columns about the first system are empty in its own row.
        """
        columns = {name: self.mean(name) for name in self.measures}
        for measure in self.tested:
            low, high = self.intervals[measure].T
            columns |= {f"{measure} low": low, f"{measure} high": high}
            against_first = {pair.b: pair for pair in self.pairs(measure) if pair.a == self.names[0]}
            tests = [against_first.get(name) for name in self.names]
            for column, values in (
                ("difference", [np.nan if pair is None else -pair.difference for pair in tests]),
                ("p", [np.nan if pair is None else pair.p for pair in tests]),
                ("corrected p", [np.nan if pair is None else pair.corrected for pair in tests]),
            ):
                columns[f"{measure} {column}"] = np.array(values)
        return data_frame(columns, ("system", self.names))

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {mean:.4f}" for name, mean in zip(self.names, self.mean(self.main), strict=True))
        return f"<{self.main} over {len(self.qids):,} topics: {figures}>"


def compare(
    systems: Sequence[System],
    qrels: Qrels,
    topics: Topics | None = None,
    names: Iterable[str] = DEFAULT_MEASURES,
    index: Index | None = None,
    plan: Plan = DEFAULT_PLAN,
    notes: Sequence[str] = (),
    by: Iterable[By] = (),
    groups: int = GROUPS,
    measure: Callable[..., Evaluation] = evaluate,
) -> Comparison:
    """Measure systems on the judged topics by the measures `names`, and test all pairs of them.

    If `topics` are given, only the judged ones among them count. With `index`, docnos are checked and documents can be
    shown. `by` and `groups` ask for slices, as `Comparison.sliced` describes them. `measure` is a function like
    `evaluate`; a caller that kept measures gives a function that returns them. Raise InputError if `systems` is empty,
    if two systems have the same name, or if all measures are counts. Raise it also for an unknown measure, test or
    correction.
    """
    if not systems:
        raise InputError("There is nothing to compare; give a ranker or a run.")
    seen: set[str] = set()
    for system in systems:
        if system.name in seen:
            raise InputError(
                f"Two systems have the name {system.name}; "
                "compare each system once, and give different systems different names."
            )
        seen.add(system.name)
    check_level(plan.alpha)
    judged, dropped = (qrels, []) if topics is None else _select_topics(qrels, topics)
    measures = parse_measures(names)
    if all(map(is_count, measures)):
        raise InputError("Counts alone cannot be compared; add a measure such as AP.")
    notes = [*notes, *dropped, *input_warnings(systems, judged, topics, index)]
    evaluations = [measure(judged, system.run, measures, system.name) for system in systems]
    comparison = Comparison(systems, evaluations, judged, topics, index, plan, notes)
    # The pairs are computed now, so that an unknown test or correction is refused before anything is shown.
    comparison.pairs()
    comparison.slices = tuple(comparison.sliced(each, groups) for each in by)
    return comparison


def _signed(value: float) -> str:
    text = f"{value:+.4f}"
    return text if float(text) else "0"


def _with_letters(means: np.ndarray, letters: Sequence[str]) -> list[str]:
    """Return the means, each followed by its letters. All cells are equally wide, so the decimal points align."""
    width = max(map(len, letters))
    if not width:
        return [f"{mean:.4f}" for mean in means]
    return [f"{mean:.4f} {text:<{width}}" for mean, text in zip(means, letters, strict=True)]


def _select_topics(qrels: Qrels, topics: Topics) -> tuple[Qrels, list[str]]:
    """Return the judgements of these topics, and a note if other topics are judged too.

    Raise InputError if no topic is judged.
    """
    wanted = [topic.qid for topic in topics]
    known = set(wanted)
    qids = [qid for qid in qrels if qid in known]
    if not qids:
        raise InputError(
            f"Topics and qrels have no id in common: the topics have {', '.join(wanted[:3])}; "
            f"the qrels have {', '.join(qrels.qids[:3])}. Give the topics that were judged."
        )
    left = len(qrels) - len(qids)
    notes = [f"{left:,} of {len(qrels):,} judged topics are not among the topics and are left out."] if left else []
    return qrels.only(qids), notes


resolve_hints(__name__)
