"""Tests of parameters: a call is matched with the declared parameters, its values are checked, and it is printed one way."""

from __future__ import annotations

import math
import re
import types
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex import Expression, parse
from sublex.contracts.base import Param
from sublex.contracts.hookspecs import hookimpl
from sublex.errors import InputError, PluginError, SublexError, UnknownName
from sublex.language import plugins
from sublex.language.expression import Call
from sublex.language.parameters import matched
from sublex.language.parser import parse_call
from sublex.trec import given_tables, given_topics

BM25 = [
    Param("k1", float, 1.2, range=(0, math.inf)),
    Param("b", float, 0.75, range=(0, 1)),
    Param("idf", str, "lucene", range=("lucene", "robertson")),
]
COMPONENTS: dict[str, list[Param]] = {
    "BM25": BM25,
    "RM3": [Param("docs", int, 10, range=(1, 1000)), Param("terms", int, 10)],
    "JM": [Param("weight", float, 0.1, range=(0, 1), open=True), Param("mu", float, 1, range=(0, math.inf), open=True)],
    "topic": [Param("label", str, ...), Param("least", float, 0)],
    "lsi": [Param("e", int, 100), Param("seed", int, 0)],
    "fisher": [Param("k", int, 8), Param("words", Expression, "lsi(e=100)"), Param("also", Expression, None)],
    "mix": [Param("fields", tuple, (), range=("title", "text")), Param("any", object, None)],
    "rank-1": [],
}


def registry(monkeypatch: pytest.MonkeyPatch | None = None, **modules: dict[str, list[Param]]) -> plugins.Registry:
    """Return a registry with a plugin for each keyword, which registers rankers that do nothing."""
    import sys

    points = []
    for plugin, declared in modules.items():

        @hookimpl
        def register_rankers(register, declared=declared):
            for name, params in declared.items():
                register(name, lambda **values: values, params)

        module = types.ModuleType(f"declared_{plugin}")
        vars(module).update(sublex_api=3, register_rankers=register_rankers)
        sys.modules[module.__name__] = module
        points.append(EntryPoint(plugin, module.__name__, plugins.GROUP))
    return plugins.Registry(points)


REGISTRY = registry(made=COMPONENTS)


def resolved(text: str) -> plugins.Component:
    return REGISTRY.resolve("component", parse_call(text) if "=" in text else parse(text))


@pytest.mark.parametrize(
    ("given", "printed"),
    {
        "BM25": "BM25",
        "BM25(k1=1.2, b=0.75)": "BM25",
        "BM25(b=0.4, k1=0.9)": "BM25(k1=0.9, b=0.4)",
        "BM25(0.9, 0.4)": "BM25(k1=0.9, b=0.4)",
        "BM25(0.9, idf=robertson)": "BM25(k1=0.9, idf=robertson)",
        "BM25(k1=7)": "BM25(k1=7)",
        "BM25(k1=7.0)": "BM25(k1=7)",
        "BM25(k1=inf)": "BM25(k1=inf)",
        "made:BM25(b=1)": "BM25(b=1)",
        "RM3(terms=10, docs=3)": "RM3(docs=3)",
        'topic("natural gas")': 'topic("natural gas")',
        'topic(least=0.5, label="natural gas")': 'topic("natural gas", least=0.5)',
        "fisher(words=lsi)": "fisher",
        "fisher(words=lsi(e=100, seed=0), k=8)": "fisher",
        "fisher(words=lsi(seed=1, e=50))": "fisher(words=lsi(e=50, seed=1))",
        'fisher(words="lsi(50)")': "fisher(words=lsi(e=50))",
        "fisher(also=0.5*BM25(b=0.75) + lsi(7))": "fisher(also=0.5*BM25 + lsi(e=7))",
        "mix(fields=[title, text], any=3)": "mix(fields=[title, text], any=3)",
        "mix(fields=[])": "mix",
        "zscore(BM25(k1=1.2))": "zscore(BM25)",
        "zscore(x=BM25(b=1))": "zscore(BM25(b=1))",
        "rank(BM25(1.0) >> RM3(3) >> BM25(1)) + 2*rank-1() % 20": "rank(BM25(k1=1) >> RM3(docs=3) >> BM25(k1=1)) + 2*rank-1 % 20",
    }.items(),
)
def test_a_print_has_what_differs_from_the_defaults_in_the_declared_order(given: str, printed: str) -> None:
    canonical = REGISTRY.resolve_all(parse(given))
    assert str(canonical) == printed
    assert REGISTRY.resolve_all(parse(printed)) == canonical


@pytest.mark.parametrize(
    ("text", "sentence"),
    {
        "BM25(idff=a)": "BM25 has no parameter idff; did you mean idf? It takes k1, b, idf.",
        "BM25(volume=1)": "BM25 has no parameter volume; it takes k1, b, idf.",
        "rank-1(k=1)": "rank-1 has no parameter k; it takes none.",
        "BM25(1, 1, lucene, 4)": "BM25 was given too many values (4); it takes k1, b, idf.",
        "rank-1(1)": "rank-1 was given too many values (1); it takes none.",
        "BM25(1, k1=2)": "BM25 gives k1 twice, by its place and by its name; drop one.",
        "BM25(b=1.5)": "BM25: b=1.5 lies outside 0 to 1.",
        "BM25(k1=-1)": "BM25: k1=-1 should be at least 0.",
        "BM25(k1=two)": "BM25: k1=two has to be a number.",
        "BM25(k1=true)": "BM25: k1=true has to be a number.",
        "BM25(k1={0..1})": "BM25: k1={0..1} is a range; ranges are for sublex tune, so write a number there.",
        "BM25(k1=lsi(e=5))": "BM25: k1=lsi(e=5) is an expression; put it in quotes if it is a text.",
        "BM25(idf=a + b)": "BM25: idf=a + b is an expression; put it in quotes if it is a text.",
        "BM25(idf=okapi)": "BM25: idf=okapi is none of lucene, robertson.",
        "RM3(docs=2.0)": "RM3: docs=2.0 has to be a whole number.",
        "RM3(docs=0)": "RM3: docs=0 lies outside 1 to 1000.",
        "JM(weight=0)": "JM: weight=0 lies outside 0 to 1, both excluded.",
        "JM(weight=1.0)": "JM: weight=1.0 lies outside 0 to 1, both excluded.",
        "JM(mu=0)": "JM: mu=0 should be above 0.",
        "topic": "topic needs the parameter label, as in topic(label=…).",
        "topic(least=1)": "topic needs the parameter label, as in topic(label=…).",
        "mix(fields=title)": "mix: fields=title has to be a list, as in [a, b].",
        "mix(fields=[title, body])": "mix: fields=body is none of title, text.",
        "mix(any=a(1))": "mix: any=a(1) is an expression; put it in quotes if it is a text.",
        "fisher(words=7)": "fisher: words=7 has to be an expression.",
        "fisher(words=lsi(e=x))": "lsi: e=x has to be a whole number.",
        "zscore": "zscore needs the parameter x, as in zscore(x=…).",
        "zscore(BM25, lsi)": "zscore takes one expression; to add up several, write zscore(BM25) + zscore(lsi).",
        "minmax(0.5)": "minmax: x=0.5 has to be an expression.",
    }.items(),
)
def test_a_value_that_does_not_fit_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        REGISTRY.resolve_all(parse(text))
    assert str(caught.value) == sentence


def test_an_unknown_component_is_named_wherever_it_stands() -> None:
    for text in (
        "BM52",
        "BM25 >> BM52",
        "zscore(0.5*BM52 + BM25)",
        "fisher(words=BM52)",
        "fisher(also=BM25 % 5 >> BM52)",
    ):
        with pytest.raises(UnknownName, match="No component BM52; did you mean BM25\\? There are: BM25, JM"):
            REGISTRY.resolve_all(parse(text))


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="has to be a number"):
        REGISTRY.build("ranker", "topic", {"label": "a", "least": math.nan})


def test_resolved_things_are_equal_when_name_and_values_are() -> None:
    one, other = REGISTRY.resolve("ranker", parse_call("BM25(b=1, k1=2)")), resolved("BM25(2.0, 1.0)")
    assert one == other and hash(one) == hash(other) and str(one) == "BM25(k1=2, b=1)"
    assert one != resolved("BM25(2)") and resolved("RM3") != resolved("lsi")
    assert one.values == {"k1": 2.0, "b": 1.0, "idf": "lucene"} and type(one.values["k1"]) is float
    assert one.make() == one.values


def test_an_object_is_made_from_places_and_names() -> None:
    assert REGISTRY.build("ranker", "RM3", {"terms": 5}, [3]) == {"docs": 3, "terms": 5}
    assert REGISTRY.build("ranker", "mix", {"fields": ["title"]})["fields"] == ("title",)
    words = REGISTRY.make("ranker", "fisher(words=lsi(e=50, seed=0))")["words"]
    assert words == Call("lsi", (), {"e": 50})


def test_a_profile_gives_defaults_that_are_printed() -> None:
    anserini: dict[str, dict[str, Any]] = {"BM25": {"k1": 0.9, "b": 0.4}}
    tree = parse("BM25 >> RM3 >> BM25(b=0.75) >> zscore(BM25(k1=2))")
    again = REGISTRY.resolve_all(tree, anserini)
    assert str(again) == "BM25(k1=0.9, b=0.4) >> RM3 >> BM25(k1=0.9) >> zscore(BM25(k1=2, b=0.4))"
    assert REGISTRY.resolve_all(again) == again
    assert str(REGISTRY.resolve_all(parse("fisher"), {"lsi": {"seed": 7}})) == "fisher(words=lsi(seed=7))"


def test_a_name_that_two_plugins_have_keeps_its_plugin_in_print() -> None:
    both = registry(one={"BM25": BM25}, two={"BM25": BM25, "PL2": []})
    assert str(both.resolve_all(parse("two:BM25(b=1) + two:PL2"))) == "two:BM25(b=1) + PL2"
    with pytest.raises(UnknownName, match="Several plugins offer the component BM25; write one:BM25 or two:BM25"):
        both.resolve_all(parse("BM25"))


@given(st.floats(0, 100) | st.integers(0, 100), st.floats(0, 1), st.sampled_from(["lucene", "robertson"]))
def test_a_print_keeps_every_value(k1: float, b: float, idf: str) -> None:
    one = REGISTRY.resolve("ranker", Call("BM25", (k1,), {"idf": idf, "b": b}))
    again = REGISTRY.resolve("ranker", parse_call(str(one)))
    assert again == one and again.values == {"k1": float(k1), "b": b, "idf": idf}


@pytest.mark.parametrize(
    ("kind", "name", "most"),
    [("component", "BM52", 5), ("ranker", "nope", 5), ("analyzer", "englsh", 5), ("reader", "jsnl", 5), ("backend", "lucen", 8)],
)  # fmt: skip
def test_an_unknown_name_lists_five_near_ones_and_names_the_command_that_lists_all(kind, name, most):
    registry = plugins.load()
    names = registry.names(kind)
    with pytest.raises(UnknownName) as raised:
        registry.find(kind, name)
    listed, _, rest = str(raised.value).partition("here are: ")[2].partition(" and ")
    assert len(listed.split(", ")) <= most and set(listed.rstrip(".").split(", ")) <= {
        *names,
        "minmax",
        "zscore",
        "rank",
        "rrf",
        "raw",
    }
    if len(names) > 8:
        assert rest.endswith(" others (sublex components lists all).") and len(listed.split(", ")) == 5


def test_unknown_parameters_and_values_list_near_ones():
    for text, said in (
        ("BM25(variant=lucen)", "There are: lucene, "), ("lda(topics=3)", "t takes "), ("sourcelda(wors=3)", "t takes "),
    ):  # fmt: skip
        with pytest.raises(SublexError) as raised:
            plugins.load().resolve("component", parse_call(text))
        listed = str(raised.value).partition(said)[2].partition(" and ")[0].split(", ")
        assert said in str(raised.value) and len(listed) <= 5 and str(raised.value).endswith(" others.")


@pytest.mark.parametrize(
    ("text", "unused", "used"),
    [
        (
            "sourcelda(source=x, model=mixture, closeness=0.5)",
            "closeness has no effect with model=mixture",
            "model=bijective",
        ),
        ("sourcelda(source=x, model=mixture, spread=0.5)", "spread has no effect with model=mixture", "model=full"),
        ("sourcelda(source=x, model=eda, points=5)", "points has no effect with model=eda", "model=full"),
        ("sourcelda(source=x, model=bijective, k=5)", "k has no effect with model=bijective", "model=mixture"),
        ("sourcelda(source=x, model=bijective, betas=5)", "betas has no effect with model=bijective", "model=ctm"),
        ("sourcelda(source=x, score=js, mu=5)", "mu has no effect with score=js", "score=likelihood"),
        ("lda(score=cosine, share=0.5)", "share has no effect with score=cosine", "score=likelihood"),
        ("lda(score=js, mu=5)", "mu has no effect with score=js", "score=likelihood"),
        (
            "laki(inference=propagation, sweeps=50)",
            "sweeps has no effect with inference=propagation",
            "inference=gibbs",
        ),
        ("laki(inference=propagation, swaps=1)", "swaps has no effect with inference=propagation", "inference=gibbs"),
    ],
)
def test_a_parameter_without_an_effect_is_refused(text: str, unused: str, used: str) -> None:
    """As in the message, a value that is the default is harmless, and with `used` the parameter has an effect."""
    registry = plugins.load()
    with pytest.raises(InputError, match=f": {unused}.*; leave it out\\.$"):
        registry.resolve("component", parse_call(text))
    name = used.partition("=")[0]
    if used:
        registry.resolve("component", parse_call(re.sub(rf"{name}=\w+", used, text)))
    parameter = unused.partition(" ")[0]
    declared = next(p for p in registry.find("component", text.partition("(")[0]).params if p.name == parameter)
    registry.resolve("component", parse_call(re.sub(rf"{parameter}=[\d.]+", f"{parameter}={declared.default}", text)))


def test_rows_of_many_columns_are_named_by_the_nearest() -> None:
    row = {f"column{number}": number for number in range(50)} | {"quid": "1"}
    for read in (lambda: given_tables.qrels_of([row]), lambda: given_topics.topics_of([row])):
        with pytest.raises(InputError) as raised:
            read()
        assert "quid" in str(raised.value) and "and 46 others;" in str(raised.value)


def test_a_parameter_depends_on_a_parameter_that_is_declared():
    registry = plugins.load()
    param = Param("a", int, 1, stage="query", only=("b", (1,)), help="x")
    with pytest.raises(PluginError, match="a parameter of x has an effect only with b, which is no parameter of x"):
        registry._register(registry.plugins[0], "ranker", "x", object, [param])


def test_a_value_of_a_profile_is_not_blamed_on_the_user():
    params = [Param("a", int, 1, only=("b", ("x",))), Param("b", str, "x", range=("x", "y"))]
    assert matched(Call("r", (), {"b": "y"}), params, lambda inner: inner, {"a": 5}) == {"a": 5, "b": "y"}
    with pytest.raises(InputError, match="r: a has no effect with b=y; leave it out"):
        matched(Call("r", (), {"b": "y", "a": 5}), params, lambda inner: inner, {})
