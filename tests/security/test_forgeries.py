"""Forged indexes: no process dies, no exception comes out of a command, and no answer is wrong without a message.

`.ci/run` tries many more of them; see `forgeries.py`.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Mapping
from typing import Annotated, NamedTuple

import forgeries
import numpy as np
import pytest
from shared import manifest_of, write_manifest

import sublex
from sublex.errors import IndexCorrupt, SublexError
from sublex.estimators import word_sums
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
    with pytest.raises(schema.Mismatch, match=message):
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
    with pytest.raises(IndexCorrupt, match="do not fit each other"):
        word_sums.stored_numbers({"name": value}, "name", (2,), "f", 0)


@pytest.mark.parametrize("value", [None, "ab", {"a": 1}, ["a", 1], ["a", None], ["a", "a"], ["\ud800"]])
def test_stored_texts_are_distinct_and_can_be_written(value):
    with pytest.raises(IndexCorrupt, match="do not fit each other"):
        word_sums.stored_texts({"name": value}, "name")
    assert word_sums.stored_texts({"name": ["a", "é\U0001f600"]}, "name") == ["a", "é\U0001f600"]


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
