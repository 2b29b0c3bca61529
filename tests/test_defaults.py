"""A component's parameters are declared once: where it is registered, or as the fields of a dataclass."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any

import pytest

from sublex.contracts.base import Folder, Param, Resource
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
GIVEN = {
    Resource: "a file",
    Folder: "a folder",
    Expression: "lsi",
    str: "text",
    object: "text",
    int: 1,
    float: 1.0,
    tuple: (),
}


def value_of(param: Param) -> Any:
    """Return the default, as the engine passes it on."""
    given = "year = 2000" if param.name == "condition" else GIVEN.get(param.type)
    value = given if param.default is ... else param.default
    if param.name == "encoder":
        return REGISTRY.resolve("encoder", parse('onnx("a folder")'))
    return parse(value) if param.type is Expression and isinstance(value, str) else value


@pytest.mark.parametrize("registration", BUNDLED)
def test_constructors_repeat_no_default(registration: plugins.Registration) -> None:
    component = type(registration.factory(**{param.name: value_of(param) for param in registration.params}))
    if not issubclass(component, Declared):
        # None says that nothing was given; readers are made without parameters in other places, too.
        own = signature(component).parameters.values()
        assert [parameter.name for parameter in own if parameter.default not in (Parameter.empty, None)] == []


def another(param: Param) -> Any:
    """Return a value of the parameter that differs from its default."""
    if param.type is bool or param.default is ...:
        return not param.default if param.type is bool else value_of(param)
    if param.type is str and param.range:
        return next(choice for choice in param.range if choice != param.default)
    return param.default / 2 if param.type is float else param.default + 1 if param.type is int else value_of(param)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("lsi", "min_df find"),
        ("dcot", "max_df words find"),
        ("fisher", "words find"),
        ("vectors", "file idf find"),
        ("lda", "min_df max_df score=kind share mu"),
        (
            "sourcelda",
            "source enrich min_df max_df evidence=least_evidence likeness=least_likeness score=kind share mu"
            " closeness=estimator.mu spread=estimator.sigma",
        ),
    ],
)
def test_a_representation_keeps_each_parameter_or_hands_it_to_its_estimator(name: str, kept: str) -> None:
    """`kept` names the parameters that the representation keeps, each with the attribute if this has another name."""
    registration = REGISTRY.find("representation", name)
    values = {param.name: another(param) for param in registration.params}
    made = registration.factory(**values)
    places = dict((word.split("=") * 2)[:2] for word in kept.split())
    assert {param: attrgetter(places.get(param, f"estimator.{param}"))(made) for param in values} == values


def test_fisher_vectors_with_a_power_have_norm_1() -> None:
    registration = REGISTRY.find("representation", "fisher")
    values = {param.name: value_of(param) for param in registration.params}
    assert [registration.factory(**values | {"power": power}).estimator.l2 for power in (1.0, 0.5)] == [False, True]


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
        # By default the plugin learns nothing by EM, and infers each keyphrase alone, without these functions.
        ("sublex_laki", learn, {"sweeps": None, "most": None, "iterations": None}),
        ("sublex_laki", unit_vectors, {}),
        ("sublex_laki", encode, {"inference": None}),
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
