"""A component's parameters are declared once: where it is registered, or as the fields of a dataclass."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import pytest

from sublex.contracts.base import Param, Resource
from sublex.language import plugins
from sublex.language.expression import Expression
from sublex.language.parameters import Declared
from sublex.language.parser import parse
from sublex_dcot.model import DCoT
from sublex_fisher.model import Fisher
from sublex_laki.estimator import encode, learn, structure, unit_vectors
from sublex_lda.model import LDA
from sublex_lsi.model import LSI
from sublex_phrases.mining import mine
from sublex_sourcelda.model import SourceLDA
from sublex_swg.graph import word_graph

REGISTRY = plugins.load()
BUNDLED = [
    pytest.param(registration, id=f"{kind}-{name}")
    for kind in plugins.KINDS
    for name in REGISTRY.names(kind)
    for registration in [REGISTRY.find(kind, name)]
    if registration.kind == kind and registration.params
]
# What a user would give for parameters that have no default.
GIVEN = {Resource: "a file", Expression: "lsi", str: "text", object: "text", int: 1, float: 1.0, tuple: ()}


def value_of(param: Param) -> Any:
    """Return the default, as the engine passes it on."""
    value = GIVEN[param.type] if param.default is ... else param.default
    return parse(value) if param.type is Expression and isinstance(value, str) else value


@pytest.mark.parametrize("registration", BUNDLED)
def test_constructors_repeat_no_default(registration: plugins.Registration) -> None:
    component = type(registration.factory(**{param.name: value_of(param) for param in registration.params}))
    if not issubclass(component, Declared):
        # None says that nothing was given; readers are made without parameters in other places, too.
        own = signature(component).parameters.values()
        assert [parameter.name for parameter in own if parameter.default not in (Parameter.empty, None)] == []


@pytest.mark.parametrize(
    ("module", "method", "names"),
    [
        ("sublex_lsi", LSI, {}),
        ("sublex_dcot", DCoT, {}),
        ("sublex_fisher", Fisher, {"words": None}),
        ("sublex_lda", LDA, {}),
        ("sublex_sourcelda", SourceLDA, {"closeness": "mu", "spread": "sigma", "mu": None}),
        ("sublex_phrases", mine, {"good": None}),
        ("sublex_swg", word_graph, {}),
        ("sublex_laki", structure, {"links": "most", "most": None}),
        ("sublex_laki", learn, {"sweeps": None, "most": None}),
        ("sublex_laki", unit_vectors, {}),
        ("sublex_laki", encode, {"inference": "method"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_methods_used_alone_have_the_declared_defaults(
    module: str, method: Callable[..., Any], names: dict[str, str | None]
) -> None:
    own, compared = signature(method).parameters, 0
    for param in import_module(module).PARAMS:
        name = names.get(param.name, param.name)
        if name in own:
            assert own[name].default == param.default, f"{param.name} of {module} and {name} of {method.__name__}"
            compared += 1
    assert compared
