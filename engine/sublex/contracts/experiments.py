"""The contract of experiments: what a plugin measures in a study besides rankings, such as classification or likelihood."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable


class ExperimentWork(NamedTuple):
    """The second argument of `Experiment.measure`: the index that the study names, or None, and means for the work.

    `workers` is the number of threads. `vectors(model)` returns the vectors of all documents of the index by a fitted
    model, in the order of the documents; `vectors(model, texts)` returns those of texts. Call `progress(done, total,
    unit)` often; it may raise an exception to end the work.
    """

    index: Any
    workers: int
    vectors: Callable[..., Any]
    progress: Callable[..., None]


@runtime_checkable
class Experiment(Protocol):
    """An experiment. A plugin registers it by `register_experiments`, and a study names it with its parameters.

    * `cases` are the names of what is compared, such as models.
    * `measures` are the names of the figures of a case.
    * `units` are the names of repetitions, such as draws or seeds. A case's figure is the mean over the units. All cases
      are measured on the same units, so two cases are compared by a paired test.
    * `needs_index` says whether the study has to name an index.

    Making an experiment reads no files. A parameter of the type `Resource` is the path of a file, and models among the
    parameters, of the type `sublex.Expression`, are fitted to the index before the experiment begins.
    """

    @property
    def cases(self) -> Sequence[str]: ...

    @property
    def measures(self) -> Sequence[str]: ...

    @property
    def units(self) -> Sequence[str]: ...

    @property
    def needs_index(self) -> bool: ...

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the figures of each case on a unit, in the order of `measures`.

        The figures depend on the parameters, the unit, the files and the index alone. They are finite numbers.
        """
        ...
