"""The hooks: what a plugin may implement. Each registers objects under names; nothing is chosen by being installed."""

from collections.abc import Callable
from typing import Any

import pluggy

hookspec = pluggy.HookspecMarker("sublex")
hookimpl = pluggy.HookimplMarker("sublex")

Register = Callable[..., None]


@hookspec
def register_readers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each collection format; `factory()` gives a `Reader`."""


@hookspec
def register_analyzers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each analyzer; `factory(**params)` gives an `Analyzer`."""


@hookspec
def register_rankers(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each weighting model; `factory(**params)` gives a `Ranker`."""


@hookspec
def register_expanders(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each way to expand queries; `factory(**params)` gives an `Expander`."""


@hookspec
def register_filters(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each way to keep or drop what was found; `factory(**params)` gives a `Filter`."""


@hookspec
def register_representations(register: Register) -> None:
    """Call `register(name, factory, params=[])` for each fitted model; `factory(**params)` gives a `Representation`."""


@hookspec
def register_commands(cli: Any) -> None:
    """Add commands to the command line: `cli` is the click group that `sublex` runs."""
