"""Columns: those of an index are those that a plain reading of the stored fields gives, whatever was done to the index."""

from __future__ import annotations

import dataclasses
import datetime
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import manifest_of, write_manifest
from strategies import CHARACTERS, examples

import sublex
from sublex.building.columns import read_columns
from sublex.building.segment_builder import SegmentBuilder
from sublex.contracts.base import Document, Report
from sublex.errors import IndexCorrupt, InputError, MissingExtra
from sublex.index.check import check
from sublex.index.directory import Directory
from sublex.index.format import FolderWriter
from sublex.index.schema import as_json
from sublex.pipeline.index import Index
from sublex.readers import batch

SMALL = settings(max_examples=examples(80))
KINDS = {"year": "int", "weight": "float", "day": "date", "category": "text", "tags": "text"}
ASKED = "year:int, weight:float,day:date, category ,tags:text"
WHOLE = st.integers(-(2**63), 2**63 - 1)
DAYS = st.dates().map(str)
TIMES = st.datetimes(timezones=st.none() | st.just(datetime.UTC)).map(datetime.datetime.isoformat)
TEXTS = st.sampled_from(["cs.IR", "cs.CL", " padded ", "", "é", "𝄞", "z"]) | st.text(CHARACTERS, max_size=4)
SINGLE: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-3, 3) | WHOLE | st.integers(-9, 9).map(lambda n: f" {n} ") | st.sampled_from([2000.0, "-0", "7.0"]),
    "float": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9) | st.sampled_from(["1e3", "-.5", " 2.", -0.0]),
    "date": DAYS | TIMES | st.sampled_from(["2015", "2015-03", 2015, "2015-03-14", " 2016 "]),
    "text": TEXTS | st.integers(-3, 3) | st.booleans() | st.sampled_from([1.5, 2.0]),
}  # fmt: skip


def field(kind: str) -> st.SearchStrategy[Any]:
    """A field of a document: one value, several values, or none."""
    single = SINGLE[kind]
    return st.none() | single | single | st.lists(st.none() | single, max_size=4)


@st.composite
def collections(draw: st.DrawFn, prefix: str, least: int = 0) -> list[Document]:
    """Documents with any values in the fields of `KINDS`, and some without these fields."""
    fields = st.fixed_dictionaries({}, optional={name: field(kind) for name, kind in KINDS.items()})
    given = draw(st.lists(fields, min_size=least, max_size=8))
    return [Document(f"{prefix}{k}", "whale", "", {"other": {"a": [1]}, **each}) for k, each in enumerate(given)]


def full(docno: str = "full") -> Document:
    """Return a document that has a value in every column, so that the columns exist."""
    fields = {"year": 2015, "weight": 0.5, "day": "2015-03-14", "category": "cs.IR", "tags": ["b", "a"]}
    return Document(docno, "ship", "", fields)


def stored(index: Index) -> dict[str, dict[str, list[Any]]]:
    """Return the values of each live document by column, as the index has them; check the form of the columns."""
    found: dict[str, dict[str, list[Any]]] = {}
    dead = np.concatenate([segment.dead for segment in index.snapshot.segments])
    for name, kind in index.snapshot.columns.items():
        column = index.snapshot.column(name)
        assert (column.kind, column.docs) == (kind, len(dead))
        assert column.values.dtype == {"int": np.int64, "float": np.float64}.get(kind, np.int32)
        words = list(column.words)
        assert words == sorted(set(words)) and (kind == "text" or not words)
        starts = np.arange(len(dead) + 1) if column.starts is None else column.starts
        for doc in np.flatnonzero(~dead).tolist():
            values = column.values[starts[doc] : starts[doc + 1]].tolist()
            if kind == "text":
                values = [words[value] for value in values]
            if kind == "date":
                values = [datetime.date(1970, 1, 1) + datetime.timedelta(value) for value in values]
            found.setdefault(index.docno(doc), {})[name] = values
    return found


def assert_right(index: Index, documents: list[Document], kinds: dict[str, str] = KINDS) -> None:
    expected = {
        document.docno: {name: naive.column_values(document.fields.get(name), kind) for name, kind in kinds.items()}
        for document in documents
    }
    assert dict(index.snapshot.columns) == kinds
    assert stored(index) == expected
    assert check(index.path) == []


@pytest.mark.parametrize(
    ("kind", "given", "values"),
    [
        ("int", [1, "2", 3.0, " +4 ", "5.0", [7, "6", 7, None, ""], None, "", [], "1e2", -(2**63), str(2**63 - 1)],
         [[1], [2], [3], [4], [5], [6, 7], [], [], [], [100], [-(2**63)], [2**63 - 1]]),
        ("float", [1, "2.5", -0.0, ".5", "1e-3", float("nan"), "3.", 2**53 + 1],
         [[1.0], [2.5], [0.0], [0.5], [0.001], [], [3.0], [2.0**53]]),
        ("date", ["1969-12-31", "1970-01-01T23:59:59.5-08:00", "1970-02", "1971", 1971, "19700103", 19700104, "1970-01-05 10:00Z",
                  ["1970-01-03", "1970-01-02"], "0001-01-01", "9999-12-31", "\n1970-01-01 "],
         [[-1], [0], [31], [365], [365], [2], [3], [4], [1, 2], [-719162], [2932896], [0]]),
        ("text", ["b", " a ", True, False, 3, 1.5, 2.0, ["z", "b", "z"], "ä", "\ud800", "  "],
         [["b"], ["a"], ["true"], ["false"], ["3"], ["1.5"], ["2.0"], ["b", "z"], ["ä"], ["\ufffd"], []]),
    ],
)  # fmt: skip
def test_values_are_read_as_their_type_means_them(tmp_path, kind, given, values):
    documents = [{"id": f"{k}", "text": "a", "it": value} for k, value in enumerate(given)]
    column = sublex.build(documents, tmp_path / "index", columns={"it": kind}).snapshot.column("it")
    starts = np.arange(len(given) + 1) if column.starts is None else column.starts
    parts = [column.values[a:b].tolist() for a, b in zip(starts, starts[1:], strict=False)]
    assert ([[column.words[code] for code in part] for part in parts] if kind == "text" else parts) == values


@pytest.mark.parametrize(
    ("kind", "values", "wanted"),
    [
        ("int", ["2015-03-14", "2016"], "date"), ("int", ["2015-03-14", "7"], "text"),
        ("int", ["2015-03-14"], "date"), ("float", ["2015-03"], "date"),
        ("int", ["2.5", 1], "float"),
        ("date", ["7.5"], "float"), ("date", [70000], "int"), ("int", ["x"], "text"), ("int", ["y" * 500], "text"),
    ],
)  # fmt: skip
def test_a_column_of_one_other_type_is_told_which(tmp_path, kind, values, wanted):
    documents = [{"id": f"d{k}", "text": "a", "it": value} for k, value in enumerate(values)]
    with pytest.raises(InputError, match=f"or build the index with it:{wanted}[.]$"):
        sublex.build(documents, tmp_path / "index", columns={"it": kind})


# Values that are not of a type, with the type that they and the others of the column have. True equals 1, and is no number.
LIKELY = {
    ("int", "1.5"): "float", ("int", str(2**63)): "float", ("int", "1e+300"): "float", ("int", f'"{-(2**63) - 1}"'): "float",
    ("date", "2015.5"): "float", ("date", "201503"): "int", ("date", '"0000"'): "int", ("date", "1426291200000"): "int",
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", 1.5), ("int", "n.d."), ("int", True), ("int", 2**63), ("int", "1_000"), ("int", "1,000"), ("int", {"a": 1}), ("int", [[1]]),
        ("int", "٣"), ("int", 1e300), ("int", str(-(2**63) - 1)), ("float", "1,5"), ("float", "inf"), ("float", "nan"), ("float", False),
        ("float", "1e999"), ("float", 10**400), ("date", "14.3.2015"), ("date", "2015-02-30"), ("date", "2015-13"), ("date", 201503),
        ("date", 1426291200000), ("date", "2015-03-14 noon"), ("date", "2015-03T10"), ("date", 2015.5), ("date", True), ("date", "0000"),
        ("text", {"a": 1}), ("text", [["a"]]),
    ],
)  # fmt: skip
def test_a_value_of_another_type_refuses_the_column_with_counts_and_first_documents(tmp_path, kind, value):
    right = {"int": 7, "float": 0.5, "date": "2015", "text": "x"}[kind]
    documents = [{"id": "empty", "text": "a"}]
    documents += [{"id": f"d{k}", "text": "a", "it": value if k in (1002, 1004) else right} for k in range(1500)]
    named = {"int": "whole numbers", "float": "numbers", "date": "dates", "text": "texts"}[kind]
    wider = LIKELY.get((kind, json.dumps(value)), "text")
    remedy = "leave out the column" if kind == "text" else f"build the index with it:{wider}"
    shown, first = (
        json.dumps(each, ensure_ascii=False) for each in (value if not isinstance(value, list) else value[0], right)
    )
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    for memory in ("1GB", "16MB"):
        with pytest.raises(InputError) as error:
            sublex.build(documents, tmp_path / "index", columns={"it": kind}, memory=memory)
        assert str(error.value) == (
            f"Of 1,500 values of the column it:{kind}, 1,498 are {named}, the first {first} in document d0, and 2 are not, "
            f"the first {shown} in document d1002; nothing was indexed: correct the values, or {remedy}."
        )
        assert not (tmp_path / "index" / "index.json").exists()


def test_an_addition_is_refused_as_a_build_is_and_need_not_have_the_columns(tmp_path):
    index = sublex.build([full()], tmp_path / "index", columns=ASKED)
    before = index.generation
    sentence = (
        "^Of 2 values of the column year:int, 1 are whole numbers, the first 3 in document a, and 1 are not, the first"
    )
    with pytest.raises(InputError, match=sentence):
        index.add([Document("a", "crane", "", {"year": 3}), Document("b", "crane", "", {"year": "x"})])
    assert sublex.open(index.path).generation == before
    index.add([Document("a", "crane")])
    assert_right(index, [full(), Document("a", "crane")])
    index.add([Document("a", "crane", "", {"year": 3})], "last")
    assert_right(index, [full(), Document("a", "crane", "", {"year": 3})])
    # The value of a document that is left out is never looked at.
    index.add([Document("a", "crane", "", {"year": "x"})], "first")


def test_a_column_that_no_document_has_is_refused_with_the_fields_that_there_are(tmp_path):
    given = [{"id": "a", "text": "x", "year": "", "theme": 1}, {"id": "b", "text": "x", "date": None}]
    for name, fields in (("yaer", "date, theme, year"), ("year", "date, theme, year")):
        with pytest.raises(InputError) as error:
            sublex.build(given, tmp_path / "index", columns=name)
        assert str(error.value) == (
            f"No document has a value in the stored field {name}, so it makes no column and nothing was indexed; "
            f"the stored fields are {fields}."
        )
        assert not (tmp_path / "index" / "index.json").exists()
    with pytest.raises(InputError, match="nothing was indexed; the documents have no stored fields"):
        sublex.build([Document("a", "b")], tmp_path / "index", columns="year")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ("year:long", r"The column year has the type 'long' \(str\); the types are int, float, date, text\."),
        ("year:", r"The column year has the type ''"),
        ({"year": 3}, r"The column year has the type 3 \(int\)"),
        ("9a", r"'9a' \(str\) is no name of a column; a name begins with a letter"),
        ("a b", r"'a b' \(str\) is no name of a column; .* rename it in the documents, or by a reader .* as in csv\(rename="),
        ("year:int,Not", r"A column cannot have the name Not, which has another meaning in conditions"),
        ("x" * 201, r"'xxx.* is no name of a column"),
        ({3: "int"}, r"3 \(int\) is no name of a column"),
        ("year,year:int", r"The column year is named twice; name it once\."),
        (7, r"The columns are 7 \(int\); give names and types, such as 'year:int,category'\."),
        ("or,year", r"A column cannot have the name or, which has another meaning in conditions; give the field another name\."),
        ("a..b:int", r"A column cannot have the name a\.\.b, "),
        ([7], r"A column is 7 \(int\); give a name and a type, such as 'year:int'\."),
        ({"id": "paper", "text": "abstract"}, r"say by roles=\{'id': 'paper', 'text': 'abstract'\} which fields hold the id"),
    ],
)  # fmt: skip
def test_columns_that_are_none_are_refused_in_a_sentence(tmp_path, columns, sentence):
    with pytest.raises(InputError, match=sentence):
        sublex.build([full()], tmp_path / "index", columns=columns)
    assert not (tmp_path / "index").exists()


def test_columns_are_named_in_a_text_a_list_or_a_mapping(tmp_path):
    ways: list[Any] = [ASKED, ASKED.split(","), KINDS, {**KINDS}.items() and dict(KINDS)]
    made = [dict(sublex.build([full()], tmp_path / f"{k}", columns=way).snapshot.columns) for k, way in enumerate(ways)]
    assert made == [KINDS] * len(ways)
    named = sublex.build([Document("a", "b", "", {"größe.in-m_2": 1})], tmp_path / "named", columns="größe.in-m_2:int")
    assert named.snapshot.column("größe.in-m_2").values.tolist() == [1]


def test_who_asks_for_no_columns_gets_the_bytes_and_the_format_of_before(tmp_path):
    without, empty = (sublex.build([full()], tmp_path / name, columns=given) for name, given in (("a", ()), ("b", "")))
    assert manifest_of(without.path) == manifest_of(empty.path)
    assert manifest_of(without.path)["format"] == 1 and "columns" not in manifest_of(without.path)
    assert not [name for name, _ in without.snapshot.segments[0].folder if name.startswith("column")]
    typed = sublex.build([full()], tmp_path / "c", columns="year:int", store="positions")
    assert manifest_of(typed.path)["format"] == 3
    other = sublex.build([full()], tmp_path / "d", columns="year:text", store="positions")
    plain = sublex.build([full()], tmp_path / "e", store="positions")
    assert len({typed.fingerprint, other.fingerprint, plain.fingerprint}) == 3


def test_an_unknown_column_is_refused_in_a_sentence(tmp_path):
    index = sublex.build([full()], tmp_path / "index", columns="year:int,category")
    with pytest.raises(
        InputError, match=r"No column yaer; did you mean year\? The columns are category \(text\), year \(int\)\."
    ):
        index.snapshot.column("yaer")
    with pytest.raises(InputError, match=r"No column year: .* sublex index … --columns year"):
        sublex.build([full()], tmp_path / "plain").snapshot.need_column("year")


def test_columns_do_not_need_stored_texts_and_read_files(tmp_path):
    file = tmp_path / "papers.jsonl"
    file.write_text(
        '{"id": "a", "text": "crane", "year": 1999}\n{"id": "b", "text": "crane", "year": [2001, "2000"]}\n'
    )
    index = sublex.build(file, tmp_path / "index", columns="year:int", store="none")
    assert stored(index) == {"a": {"year": [1999]}, "b": {"year": [2000, 2001]}}


@SMALL
@given(collections("a", 1), collections("b"), collections("c"), st.data())
def test_columns_follow_their_documents_through_every_change(first, second, third, data):
    with tempfile.TemporaryDirectory() as place, mock.patch.object(batch, "BATCH_BYTES", 150):
        store, memory = (
            data.draw(st.sampled_from(["none", "text,terms,positions"])),
            data.draw(st.sampled_from([1, 1 << 30])),
        )
        left = [full(), *first]
        with mock.patch("sublex.building.indexing.parse_size", int):
            index = sublex.build(
                left, Path(place) / "index", columns=ASKED, store=store, memory=memory, reorder=data.draw(st.booleans())
            )
            assert_right(index, left)
            for more in (second, third):
                if more:
                    index.add(more, memory=memory)
                    left = left + more
                    assert_right(index, left)
        if gone := data.draw(st.sets(st.sampled_from(range(len(left))), max_size=len(left) - 1)):
            index.delete([left[k].docno for k in sorted(gone)])
            left = [document for k, document in enumerate(left) if k not in gone]
            assert_right(index, left)
        index.merge(reorder=data.draw(st.booleans()))
        assert_right(index, left)
        (segment,) = index.snapshot.segments
        for name in index.snapshot.columns:
            column = segment.column(name)
            assert set(range(len(column.words))) <= set(column.values.tolist())


@SMALL
@given(collections("a", 4), st.sampled_from([1, 2, 3]), st.sampled_from([1, 2000, 1 << 30]))
def test_columns_give_the_same_bytes_spilled_or_not(given, workers, memory):
    def built(path: Path, workers: int, memory: int) -> dict[str, bytes]:
        sublex.build([*given, full()], path, columns=ASKED, workers=workers, memory=memory)
        return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*.*")}

    sizes = mock.patch("sublex.building.indexing.parse_size", int)
    with tempfile.TemporaryDirectory() as place, mock.patch.object(batch, "BATCH_BYTES", 100), sizes:
        assert built(Path(place) / "a", 1, 1 << 30) == built(Path(place) / "b", workers, memory)


@pytest.mark.slow
def test_columns_count_as_memory_and_spill(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "BATCH_BYTES", 100_000)
    spills: list[int] = []
    merge_spills = SegmentBuilder._merge_spills
    monkeypatch.setattr(
        SegmentBuilder, "_merge_spills", lambda self, w: (spills.append(len(self._spills)), merge_spills(self, w))[1]
    )
    documents = [Document(f"{k}", "a", "", {"it": f"{k:0100}"}) for k in range(100_000)]
    sublex.build(documents, tmp_path / "without", memory="16MB")
    assert not spills
    index = sublex.build(documents, tmp_path / "with", memory="16MB", columns="it")
    assert spills and spills[0] > 1
    column = index.snapshot.column("it")
    assert len(column.words) == 100_000 and column.words[99_999] == f"{99_999:0100}"
    assert column.values.tolist() == [*range(100_000)]


# Damage and forgeries.


def forged(index: Index, place: Path, **values: Any) -> Index:
    """Return a copy of an index with other values of components, None for none, and right checksums."""
    (segment,) = index.snapshot.segments
    arrays = {name: component.all().copy() for name, component in segment.folder}
    arrays |= {
        name: np.array(v, arrays[name].dtype if name in arrays else np.uint8) if isinstance(v, list) else v
        for name, v in values.items()
    }
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(index.path, place)
    shutil.rmtree(place / "segments" / segment.name)
    with FolderWriter(Directory(place / "segments" / segment.name)) as writer:
        for name, array in arrays.items():
            if array is not None:
                writer.put(name, array)
        entry = writer.finish()
    manifest = manifest_of(index.path)
    manifest["segments"][0]["data"] = as_json(entry)
    write_manifest(place, manifest)
    return sublex.open(place)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"column0_values": [0, 1, 2]}, "cat"),
        ({"column0_values": [0]}, "cat"),
        ({"column0_values": [1, 0]}, "cat"),
        ({"column0_values": [0, 0]}, "cat"),
        ({"column0_values": [0, 2]}, "cat"),
        ({"column0_values": np.array([0, 1], np.int8)}, "cat"),
        ({"column0_values": np.array([0, 2**64 - 1], np.uint64)}, "cat"),
        ({"column0_counts": [2, 1]}, "cat"),
        ({"column0_counts": [2, 0, 0]}, "cat"),
        ({"column0_counts": np.array([2, 2**64 - 2], np.uint64)}, "cat"),
        ({"column0_words": [*b"ba"]}, "cat"),
        ({"column0_words": [*b"aa"]}, "cat"),
        ({"column0_words": [255, 255]}, "cat"),
        ({"column0_words": None}, "cat"),
        ({"column0_word_sizes": [1, 2]}, "cat"),
        ({"column1_values": [2**31 - 1, 0]}, "day"),
        ({"column1_values": [-(2**31), 0]}, "day"),
        ({"column1_values": [0, 1, 2]}, "day"),
        ({"column2_values": [float("nan"), 0]}, "w"),
        ({"column2_values": [float("inf"), 0]}, "w"),
        ({"column2_values": np.array([0, 0], np.int64)}, "w"),
        ({"column3_values": np.array([0.0, 0.0])}, "year"),
        ({"column3_values": None}, "year"),
        ({"columns": [*b"cat:textday:datew:floatyear:flat"]}, "year"),
        ({"columns": [*b"cat:textday:datew:floatyears:int"]}, "year"),
        ({"columns": [*b"day:datecat:textw:floatyear:int"]}, "year"),
        ({"columns": [*b"cat:textday:datew:floatyear/int"]}, "year"),
        ({"column_sizes": [8, 8, 7, 9]}, "year"),
    ],
)  # fmt: skip
def test_columns_that_contradict_themselves_are_damage(tmp_path, values, column):
    given = [
        Document("a", "x", "", {"cat": ["a", "b"], "day": "2015", "w": 0.5, "year": 1}),
        Document("b", "x", "", {"cat": None, "day": "2016", "w": 1.5, "year": 2}),
    ]
    index = sublex.build(given, tmp_path / "index", columns="cat,day:date,w:float,year:int")
    assert set(forged(index, tmp_path / "same").snapshot.columns) == {"cat", "day", "w", "year"}
    other = forged(index, tmp_path / "forged", **values)
    with pytest.raises(IndexCorrupt, match="rebuild the index"):
        other.snapshot.column(column)
    assert check(other.path)
    with pytest.raises(IndexCorrupt, match="rebuild the index"):
        other.merge(reorder=True)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": {"year": "long"}}, {"columns": {"9": "int"}}, {"columns": ["year"]}, {"columns": {}}, {"format": 1}, {"format": 2},
        {"columns": {"year": "float"}}, {"columns": {"yaer": "int"}}, {"columns": {"year": "int", "more": "int"}},
    ],
)  # fmt: skip
def test_a_manifest_that_does_not_fit_the_columns_is_damage(tmp_path, change):
    index = sublex.build([full()], tmp_path / "index", columns="year:int")
    manifest = manifest_of(index.path)
    write_manifest(index.path, manifest | change)
    problems = check(index.path)
    assert problems and "rebuild the index" in problems[0]
    with pytest.raises(IndexCorrupt, match="rebuild the index"):
        snapshot = sublex.open(index.path).snapshot
        snapshot.column(next(iter(snapshot.columns)))


def test_an_index_whose_format_is_too_low_for_its_columns_is_damage(tmp_path):
    index = sublex.build([full()], tmp_path / "index")
    write_manifest(index.path, manifest_of(index.path) | {"columns": {"year": "int"}, "format": 3})
    with pytest.raises(IndexCorrupt, match=r"segments\[0\] lacks the component columns"):
        sublex.open(index.path)


# Columns as tables.


def some(path: Path) -> Index:
    """Return an index with single, several and missing values of each type, and a deleted document."""
    pairs = {"one": [1, 2, 2**53 + 1], "few": [None, 3, None], "all": [[2, 1], None, 3]}
    given = [
        Document(
            f"d{k}", "whale", "",
            {f"{kind}_{name}": _as(kind, values[k]) for name, values in pairs.items() for kind in ("int", "float", "date", "text")},
        )
        for k in range(3)
    ]  # fmt: skip
    columns = {f"{kind}_{name}": kind for name in pairs for kind in ("int", "float", "date", "text")}
    index = sublex.build([Document("gone", "x"), *given], path, columns=columns)
    index.delete(["gone"])
    return index


def _as(kind: str, value: Any) -> Any:
    if isinstance(value, list) or value is None:
        return value and [_as(kind, each) for each in value]
    return {"int": value, "float": value / 2, "date": f"{1500 + value % 1000}-01-02", "text": f"w{value}"}[kind]


def test_documents_become_a_data_frame_with_their_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    documents = some(tmp_path / "index").documents()
    frame = documents.to_pandas()
    assert len(documents) == 3 and frame["docno"].tolist() == ["d0", "d1", "d2"] and len(frame.columns) == 13
    assert frame["int_one"].dtype == "int64" and frame["int_one"].tolist() == [1, 2, 2**53 + 1]
    assert frame["int_few"].dtype == "Int64" and frame["int_few"].tolist() == [pd.NA, 3, pd.NA]
    assert frame["int_all"].tolist() == [[1, 2], [], [3]]
    assert frame["float_one"].tolist() == [0.5, 1.0, (2**53 + 1) / 2] and frame["float_few"].isna().tolist() == [
        True,
        False,
        True,
    ]
    assert frame["date_one"].dt.year.tolist() == [1501, 1502, 2493] and frame["date_few"].isna().tolist() == [
        True,
        False,
        True,
    ]
    assert frame["date_all"].tolist() == [
        [datetime.date(1501, 1, 2), datetime.date(1502, 1, 2)],
        [],
        [datetime.date(1503, 1, 2)],
    ]
    assert frame["text_one"].tolist() == ["w1", "w2", f"w{2**53 + 1}"] and frame["text_few"].isna().tolist() == [
        True,
        False,
        True,
    ]
    assert frame["text_all"].tolist() == [["w1", "w2"], [], ["w3"]]


def test_documents_become_a_parquet_file_with_their_columns(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    index, file = some(tmp_path / "index"), tmp_path / "out.parquet"
    index.documents().to_parquet(file)
    table = pyarrow.parquet.read_table(file)
    types = {
        name: str(table.schema.field(name).type) for name in ("docno", "int_few", "float_one", "date_few", "text_few")
    }
    assert types == {
        "docno": "string",
        "int_few": "int64",
        "float_one": "double",
        "date_few": "date32[day]",
        "text_few": "string",
    }
    made = table.to_pydict()
    assert made["docno"] == ["d0", "d1", "d2"] and made["int_one"] == [1, 2, 2**53 + 1]
    assert made["int_few"] == [None, 3, None] and made["text_few"] == [None, "w3", None]
    assert made["date_few"] == [None, datetime.date(1503, 1, 2), None] and made["float_few"] == [None, 1.5, None]
    assert made["int_all"] == [[1, 2], [], [3]] and made["text_all"] == [["w1", "w2"], [], ["w3"]]
    assert made["date_all"] == [[datetime.date(1501, 1, 2), datetime.date(1502, 1, 2)], [], [datetime.date(1503, 1, 2)]]
    with pytest.raises(InputError, match="replace it by --overwrite"):
        index.documents().to_parquet(file)
    index.documents("int_few, text_all").to_parquet(file, overwrite=True)
    assert pyarrow.parquet.read_table(file).column_names == ["docno", "int_few", "text_all"]
    with pytest.raises(InputError, match="Cannot write"):
        index.documents().to_parquet(tmp_path / "nowhere" / "out.parquet")


def test_tables_of_documents_need_no_texts_and_name_columns_that_there_are(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    index = sublex.build([full()], tmp_path / "index", columns=ASKED, store="none")
    assert index.documents("year").to_pandas().to_dict("list") == {"docno": ["full"], "year": [2015]}
    assert index.documents(["tags", "day"]).columns == ["tags", "day"]
    with pytest.raises(InputError, match="No column yaer; did you mean year"):
        index.documents("yaer")
    with pytest.raises(InputError, match=r"The columns are 3 \(int\); give names, such as 'year,category'\."):
        index.documents(3)
    plain = sublex.build([full()], tmp_path / "plain")
    assert plain.documents().to_pandas().to_dict("list") == {"docno": ["full"]}
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="Parquet needs an optional part; to install it: "):
        index.documents().to_parquet(tmp_path / "out.parquet")


def test_fields_that_cannot_be_read_are_refused_with_their_document():
    made = batch.pack(
        [Document("a", "x", "", {"year": 1}), Document("b", "x"), Document("c", "x", "", {"year": 2})], Report()
    )
    read = read_columns(made, np.array([True, True, True]), {"year": "int"})
    assert (read.columns["year"].counts.tolist(), read.columns["year"].values.tolist()) == ([1, 0, 1], [1, 2])
    for fields in (b'{"year": 3', b"[" * 90_000, b'{"a":1},{"b":2}'):
        extra, ends = batch.arena([b'{"year": 1}', b"", fields])
        odd = dataclasses.replace(made, extra=extra, extra_ends=ends)
        with pytest.raises(InputError, match=r"The fields of document c cannot be read \(.*\); nothing was indexed\.$"):
            read_columns(odd, np.array([True, True, True]), {"year": "int"})
        assert read_columns(odd, np.array([True, True, False]), {"year": "int"}).columns["year"].values.tolist() == [1]
