"""Encoders in the engine: Python functions, the user's own file of encoders, and what an index may not name."""

from __future__ import annotations

import json
import shutil
import sys
import types
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import sublex
from sublex.contracts.base import Folder, Param
from sublex.contracts.encoders import Encoded
from sublex.contracts.hookspecs import hookimpl
from sublex.errors import IndexProblem, InputError, PluginError, UnknownName
from sublex.index import manifest as manifests
from sublex.index.lock import locked
from sublex.language import plugins
from sublex.language.encoding import encoded, identity_of
from sublex.language.known_encoders import (
    encoder_by_identity,
    encoder_of,
    encoders_path,
    forget_encoder,
    keep_encoder,
    known_encoders,
)


def lengths(texts, role):
    return [[len(text), text.count("a")] for text in texts]


def test_a_function_that_returns_rows_is_an_encoder():
    made = sublex.encoder(lengths).make()
    found = encoded(made, "lengths", ["banana", ""], "document")
    assert made.kind == "dense" and found.rows.dtype == np.float32 and found.rows.tolist() == [[6, 3], [0, 0]]
    assert str(sublex.encoder(lengths)).startswith("encoder(lengths@")


def test_a_function_may_return_weights_or_matrices_and_gets_the_role():
    weights = sublex.encoder(
        lambda texts, role: [{word: 1.5, role: 2} for word in texts], kind="sparse", name="w"
    ).make()
    found = encoded(weights, "w", ["b", "a"], "query")
    assert found.terms == ["a", "b", "query"] and found.rows.toarray().tolist() == [[0, 1.5, 2], [1.5, 0, 2]]
    late = sublex.encoder(lambda texts, role: [np.ones((len(text), 2)) for text in texts], kind="late", name="m").make()
    assert encoded(late, "m", ["abc", "", "d"], "query").sizes.tolist() == [3, 0, 1]


def test_the_identity_follows_the_code_or_the_version():
    def other(texts, role):
        return [[len(text), text.count("b")] for text in texts]

    def identity(*given, **options):
        return identity_of(sublex.encoder(*given, **options).make(), "f")

    assert identity(lengths) == identity(lengths)
    found = {
        identity(lengths),
        identity(other, name="lengths"),
        identity(lengths, kind="late"),
        identity(lengths, version=2),
    }
    assert len(found) == 4


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([[1, 2], [3]], "of different lengths"), ([["x"], ["y"]], "rows that are no numbers"), ([1.0, 2.0], "has to give one of 2"),
        ([[1.0]], "shape .1, 1. for 2 texts"), ([[np.nan], [1]], "no finite number"), ([[1e300], [1]], "no finite number"),
    ],
)  # fmt: skip
def test_a_function_that_returns_anything_else_is_refused(given, sentence):
    made = sublex.encoder(lambda texts, role: given, name="wrong", version=1).make()
    with pytest.raises(PluginError, match=f"wrong.*{sentence}"):
        encoded(made, "wrong", ["a", "b"], "query")


def test_what_is_no_encoder_costs_a_sentence(built_demo):
    for given, sentence in [((7,), "not a value of type int"), ((lambda a: a,), r"takes a function f\(texts, role\)")]:
        with pytest.raises(InputError, match=sentence):
            sublex.encoder(*given)
    with pytest.raises(InputError, match="kind='wide' is no kind of vectors"):
        sublex.encoder(lengths, kind="wide")
    with pytest.raises(InputError, match="encodes texts and scores no documents"):
        sublex.open(built_demo).search("crane", "BM25" >> sublex.encoder(lengths))
    with pytest.raises(UnknownName, match=r"encoder\(…\) stands for a Python object"):
        sublex.parse("encoder(lengths)")


# The user's own encoders.


class Reading:
    """An encoder that reads a file of its folder."""

    kind = "dense"

    def __init__(self, folder, times=1):
        self.folder, self.times = folder, times

    @property
    def identity(self):
        try:
            with open(f"{self.folder}/model") as file:
                return f"{len(file.read()) * self.times:032x}"
        except OSError:
            raise InputError(f"There is no folder {self.folder}.") from None

    def encode(self, texts, role):
        return Encoded(np.ones((len(texts), 1), np.float32))

    def about(self):
        return {"runtime": "none at all"}


class Pairs:
    """A reranker that names an encoder."""

    batch = None

    def __init__(self, encoder):
        self.encoder = encoder

    def scores(self, query, texts):
        return [self.encoder.values["times"] * len(text) for text in texts]


@pytest.fixture
def loaded(monkeypatch, tmp_path):
    """The registry, with an encoder `reading` and a reranker `pairs`, and a model in the working directory."""
    params = [Param("folder", Folder, ...), Param("times", int, 1)]
    module = types.ModuleType("plugin_reading")
    module.sublex_api = 3
    module.register_encoders = hookimpl(lambda register: register("reading", Reading, params))
    module.register_rerankers = hookimpl(
        lambda register: register("pairs", Pairs, [Param("encoder", sublex.Expression, ...)])
    )
    monkeypatch.setitem(sys.modules, "plugin_reading", module)
    points = [point for point in plugins.entry_points(group=plugins.GROUP) if point.value.startswith(plugins.BUILT_IN)]
    real = plugins.Registry([*points, EntryPoint("reading", "plugin_reading", plugins.GROUP)])
    monkeypatch.setattr(plugins, "load", lambda *given: real)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model").write_text("abc")
    return real


def test_an_encoder_of_the_user_has_a_name_a_whole_path_and_a_hash(loaded, tmp_path):
    kept = keep_encoder(loaded, encoder_of("reading(m, times=2)", loaded), "mine")
    assert kept == (f"{6:032x}", f'reading("{tmp_path}/m", times=2)', "mine") and known_encoders() == [kept]
    component, made = encoder_by_identity(f"{6:032x}", loaded)
    assert str(component) == kept.expression and made.identity == kept.identity
    assert encoder_of("mine", loaded).values == component.values
    # The same name for another encoder, and another name for the same one.
    other = keep_encoder(loaded, encoder_of("reading(m)", loaded), "mine")
    assert [each.name for each in known_encoders()] == ["", "mine"] and encoder_of("mine", loaded).values["times"] == 1
    assert keep_encoder(loaded, encoder_of("reading(m)", loaded)) == other
    assert forget_encoder("mine") == other and forget_encoder(kept.identity).name == "" and known_encoders() == []


def test_an_expression_may_name_an_encoder_of_the_user(loaded, built_demo):
    keep_encoder(loaded, encoder_of("reading(m, times=3)", loaded), "mine")
    index = sublex.open(built_demo)
    hits = index.search("crane", "BM25 % 5 >> pairs(mine)", k=1)
    assert hits.scores[0] == 3 * len(index.document(hits.docnos[0]).contents)
    forget_encoder("mine")
    with pytest.raises(UnknownName, match="No component mine"):
        sublex.open(built_demo).search("crane", "BM25 % 5 >> pairs(mine)")


def test_metadata_have_the_hash_of_an_encoder_and_what_runs_it(loaded, built_demo):
    text = str(sublex.open(built_demo).pipeline("BM25 % 5 >> pairs(reading(m))").models)
    assert f"{3:032x} by" in text and "runtime none at all" in text


def test_a_model_that_changes_is_hashed_again_and_refused_by_its_old_hash(loaded, tmp_path, built_demo):
    keep_encoder(loaded, encoder_of("reading(m)", loaded), "mine")
    index = sublex.open(built_demo)
    before = index.pipeline("BM25 % 5 >> pairs(mine)")
    assert index.pipeline("BM25 % 5 >> pairs(mine)") is before
    (tmp_path / "m" / "model").write_text("another model")
    assert index.pipeline("BM25 % 5 >> pairs(mine)") is not before
    with pytest.raises(InputError, match="have changed since you added it"):
        encoder_by_identity(f"{3:032x}", loaded)


def test_an_index_can_name_no_folder_but_an_encoder_of_the_user(loaded, built_demo, tmp_path):
    shutil.copytree(built_demo, tmp_path / "copy")
    index = sublex.open(tmp_path / "copy")
    with pytest.raises(InputError, match="an expression that an index brings can name no folder"):
        index.name("bad", 'BM25 >> pairs(reading("/somewhere"))')
    keep_encoder(loaded, encoder_of("reading(m, times=3)", loaded), "mine")
    index.name("good", "BM25 % 5 >> pairs(mine)")
    assert sublex.open(tmp_path / "copy").search("crane", "good").docnos
    # The folder is refused when the name is read, too: another program may have written it.
    entry = manifests.read_manifest(tmp_path / "copy")
    names = dict(entry.names) | {"good": 'BM25 >> pairs(reading("/somewhere"))'}
    with locked(tmp_path / "copy", "name"):
        manifests.commit(tmp_path / "copy", entry.next(names=names))
    with pytest.raises(InputError, match="an expression that an index brings can name no folder"):
        sublex.open(tmp_path / "copy").search("crane", "good")


def test_an_unknown_hash_or_name_costs_a_sentence(loaded):
    with pytest.raises(InputError, match="You have no encoder with the hash 00000000000000ff; add the one that made"):
        encoder_by_identity("0" * 14 + "ff" + "0" * 16, loaded)
    with pytest.raises(InputError, match="You have no encoder 'nope'; to list yours: sublex encoder list"):
        forget_encoder("nope")
    with pytest.raises(InputError, match="BM25 % 3 is no encoder; name one"):
        encoder_of("BM25 % 3", loaded)
    with pytest.raises(InputError, match="has another meaning|is a component"):
        keep_encoder(loaded, encoder_of("reading(m)", loaded), "BM25")


@pytest.mark.parametrize("data", ["{", "{}", '[{"path": 1}]', '[{"identity": 1, "expression": "x"}]', "[" * 100_000])
def test_a_damaged_file_of_encoders_costs_a_sentence(loaded, data):
    encoders_path().parent.mkdir(parents=True)
    encoders_path().write_text(data)
    with pytest.raises(InputError, match=r"Cannot read .*encoders.json, the list of your encoders; move it away"):
        known_encoders()


def test_the_commands_keep_list_and_remove_encoders(loaded, command):
    assert command("encoder", "list").output == "You have no encoders.\n"
    assert command("encoder", "add", "mine", "reading(m)").code == 0
    assert "mine" in command("encoder", "list").output
    assert json.loads(command("encoder", "list", "--format", "json").output)[0]["name"] == "mine"
    assert command("encoder", "remove", "mine").code == 0
    assert "has no parameter" in command("encoder", "add", "x", "reading(m, pooling=cls)")[2]


def test_a_reranker_needs_texts(loaded, tmp_path):
    index = sublex.build([{"id": "a", "text": "crane"}], tmp_path / "bare", store=())
    with pytest.raises(IndexProblem, match="reads .*texts"):
        index.search("crane", "BM25 >> pairs(reading(m))")
