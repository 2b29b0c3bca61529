"""The hooks that a plugin may implement. Each registers objects under names.

Users choose a registered object by its name. Installing a plugin alone changes no result.
"""

from collections.abc import Callable
from typing import Any

import pluggy

hookspec = pluggy.HookspecMarker("sublex")
hookimpl = pluggy.HookimplMarker("sublex")

# `register(name, factory, params=[])`. The engine calls `factory` with a value for every declared `sublex.contracts.base.Param`.
Register = Callable[..., None]


@hookspec
def register_readers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each collection format; `factory(**params)` returns a `Reader`."""


@hookspec
def register_analyzers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each analyzer; `factory(**params)` returns an `Analyzer`."""


@hookspec
def register_rankers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each ranker; `factory(**params)` returns a `Ranker`."""


@hookspec
def register_expanders(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each expander; `factory(**params)` returns an `Expander`."""


@hookspec
def register_filters(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each filter; `factory(**params)` returns a `Filter`."""


@hookspec
def register_representations(register: Register) -> None:
    """Call `register(name, factory, params=[])` per representation; `factory(**params)` returns a `Representation`."""


@hookspec
def register_smoothers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each smoother; `factory(**params)` returns a `Smoother`."""


@hookspec
def register_retrievers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each retriever; `factory(**params)` returns a `Retriever`."""


@hookspec
def register_encoders(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each encoder; `factory(**params)` returns an `Encoder`."""


@hookspec
def register_rerankers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each reranker; `factory(**params)` returns a `Reranker`."""


@hookspec
def register_backends(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each back end; `factory(**params)` returns a `Backend`."""


@hookspec
def register_experiments(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each experiment; `factory(**params)` returns an `Experiment`."""


@hookspec
def register_operations(register: Callable[[Any], None]) -> None:
    """Call `register(operation)` for each operation, made by `sublex.operations.operation`.

    The operation is then a command of `sublex` and of the shell. Both commands follow from the signature of its
    function.
    """


@hookspec
def register_panels(register: Callable[[Any], None]) -> None:
    """Call `register(panel)` for each `sublex.contracts.panels.Panel`, a view of the page of `sublex serve`.

    The panel shows what the operations of the plugin answer.
    """
