"""Compares indexes with `naive.py`: after building, adding, deleting and merging, and through the corpus view."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from strategies import ALL, ODD_DOCNOS, collections, docnos, documents, every, examples

import sublex
from sublex.building import merge_kernels, term_merge, writer
from sublex.building.build_settings import BuildSettings
from sublex.building.document_source import DocumentSource, source_of
from sublex.building.duplicates import Duplicates
from sublex.building.inverter import Inverter
from sublex.building.memory_segment import MemorySegment
from sublex.building.segment_builder import SegmentBuilder
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index.check import check
from sublex.index.entries import AnalyzerEntry, AnalyzerSettings
from sublex.language import plugins
from sublex.pipeline.index import Index
from sublex.readers import batch
from sublex.readers.batch import encode
from sublex.tools.strings import Strings

pytestmark = pytest.mark.usefixtures("plugins_loaded_once")

DEMO = Path(__file__).resolve().parents[1] / "queries" / "demo"
ENGLISH = plugins.load().make("analyzer", "english")
SMALL = settings(max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture(scope="module")
def demo_documents() -> list[Document]:
    """Return the demo collection, read with the standard library only."""
    records = map(json.loads, (DEMO / "documents.jsonl").read_text(encoding="utf-8").splitlines())
    return [Document(r["id"], r["text"], r["title"], {"theme": r["theme"]}) for r in records]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """Return an index of the demo collection."""
    return sublex.build(DEMO / "documents.jsonl", tmp_path_factory.mktemp("demo") / "index")


@pytest.fixture(scope="module")
def demo_naive(demo_documents: list[Document]) -> naive.Inverted:
    """Return the naive index of the demo collection."""
    return naive.invert(demo_documents, ENGLISH)


def described(made) -> AnalyzerEntry:
    """Return the manifest's entry for the analyzer of build settings."""
    return AnalyzerEntry(AnalyzerSettings(**made.analyzer.settings()), made.analyzer.versions())


def whole(text: str) -> str:
    """Return a text as an index stores it: halves of surrogate pairs are replaced."""
    return encode(text).decode()


def postings(index: Index, term: str) -> dict[str, int]:
    """Return the frequencies of a term by docno."""
    docs, tfs = index.postings(term)
    assert (np.diff(docs) > 0).all(), f"the documents of {term!r} do not ascend"
    return {index.docno(doc): tf for doc, tf in zip(docs.tolist(), tfs.tolist(), strict=True)}


def columns(index: Index) -> Iterator[tuple[str, int, int]]:
    """Yield docno, length and number of distinct terms of every live document, in order."""
    for segment in index.snapshot.segments:
        for doc in np.flatnonzero(~segment.dead).tolist():
            yield segment.docno(doc), int(segment.lengths[doc]), int(segment.uniques[doc])


def document_terms(index: Index) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield docno and term frequencies of every live document, as the component of document terms has them."""
    for segment in index.snapshot.segments:
        names = [term.decode() for term in segment.terms.list()]
        for doc in np.flatnonzero(~segment.dead).tolist():
            counts, terms, tfs = segment.document_terms(doc, doc + 1)
            assert counts.tolist() == [len(terms)]
            yield segment.docno(doc), {names[t]: tf for t, tf in zip(terms.tolist(), tfs.tolist(), strict=True)}


def assert_statistics(index: Index, expected: naive.Inverted) -> None:
    """Check every number, term and posting that scores depend on."""
    found = [(docno, terms.total(), len(terms)) for docno, terms in expected.documents.items()]
    tokens = sum(length for _, length, _ in found)
    assert list(columns(index)) == found
    assert len(index) == len(found)
    assert index.statistics == (len(found), tokens, sum(unique for *_, unique in found))
    assert index.statistics.mean_length == (tokens / len(found) if found else 0)
    names = sorted(expected.postings, key=str.encode)
    df = {term: len(found) for term, found in expected.postings.items()}
    cf = {term: sum(found.values()) for term, found in expected.postings.items()}
    assert [(term.term, term.df, term.cf) for term in index.terms()] == [(name, df[name], cf[name]) for name in names]
    for name in names:
        assert postings(index, name) == expected.postings[name], f"the postings of {name!r}"
        assert index.term(name)[:3] == (name, df[name], cf[name])
    for name in ("", "unheardof", "zzzz", "\uffff", "\ud800"):
        assert index.term(name) is None
        assert not len(index.postings(name).docs)


def assert_documents(index: Index, given: Sequence[Document]) -> None:
    """Check that every document is found by its docno, and that its text is the one given."""
    assert [index.docno(doc) for doc in index.corpus.docs] == [d.docno for d in given]
    for document in given:
        doc = index.doc(document.docno)
        assert document.docno in index
        assert index.docno(doc) == document.docno
        if "text" in index.store:
            expected = Document(document.docno, whole(document.text), whole(document.title), dict(document.fields))
            assert index.document(document.docno) == expected
            assert index.corpus.raw(doc) == expected.contents
    for docno in ("", "no such docno", "?\ud800", "\U0010ffff" * 3, "\ud800"):
        assert index.doc(docno) is None
        assert docno not in index
    if "text" in index.store:
        assert [document.docno for document in index.documents()] == [d.docno for d in given]


def assert_same(index: Index, given: Iterable[Document]) -> None:
    """Check that everything in an index equals what `naive.py` computes from the documents."""
    given = list(given)
    expected = naive.invert(given, ENGLISH)
    assert_statistics(index, expected)
    assert_documents(index, given)
    if "terms" in index.store:
        assert list(document_terms(index)) == list(expected.documents.items())


def assert_surfaces(index: Index, expected: naive.Inverted) -> None:
    """Check that the surface of every term is its most frequent raw form."""
    assert {t.term: t.surface for t in index.terms()} == {term: expected.surface(term) for term in expected.postings}


def folder() -> Any:
    """Return a temporary folder for one example of a property; a fixture would be shared by all examples."""
    return tempfile.TemporaryDirectory(prefix="sublex-test-")


# Building.


def test_an_index_of_the_demo_collection_equals_naive(demo, demo_documents, demo_naive):
    assert_same(demo, demo_documents)
    assert_surfaces(demo, demo_naive)
    assert check(demo.path) == []


def test_bm25_over_the_index_ranks_the_demo_collection_as_over_naive_postings(demo, demo_naive):
    lengths = {docno: length for docno, length, _ in columns(demo)}
    titles = re.findall(r"<title>(.*)", (DEMO / "topics.trec").read_text(encoding="utf-8"))
    assert len(titles) == 30
    found = 0
    for title in titles:
        query = demo.analyze(title)
        expected = naive.bm25(query, demo_naive.lengths, lambda term: demo_naive.postings.get(term, {}))
        assert naive.bm25(query, lengths, lambda term: postings(demo, term)) == expected, title
        found += len(expected)
    assert found > 300


def test_bm25_of_two_documents_is_the_formula_worked_by_hand():
    """N = 2, df = 1: idf = ln 2; tf = 2, length 3, mean 2: tf / (tf + 1.2 (.25 + .75 * 3 / 2)) = 2 / 3.65."""
    index = naive.invert([Document("a", "whale whale ship"), Document("b", "ship")], ENGLISH)
    hits = naive.bm25(["whale"], index.lengths, lambda term: index.postings.get(term, {}))
    assert hits == [("a", pytest.approx(np.log(2) * 2 / 3.65, rel=1e-6))]
    both = naive.bm25(["ship"], {"a": 1, "b": 1}, lambda term: {"a": 1, "b": 1})
    assert [hit.docno for hit in both] == ["b", "a"]


@SMALL
@given(collections(), st.sampled_from([1, 2]))
def test_an_index_of_any_collection_equals_naive(given, workers):
    with folder() as place:
        index = sublex.build(given, place, workers=workers)
        assert_same(index, given)
        assert_surfaces(index, naive.invert(given, ENGLISH))
        assert check(index.path) == []


def test_a_term_of_many_documents_is_found_in_all_of_them(tmp_path):
    given = [
        Document(str(k), "whale " * (1 + k % 3) + ("ship " if k % 7 == 0 else "") + f"unique{k}") for k in range(1000)
    ]
    assert_same(sublex.build(given, tmp_path / "index"), given)


def test_docnos_of_any_kind_are_found_and_shown(tmp_path):
    given = [Document(docno, f"text {k}") for k, docno in enumerate(dict.fromkeys(ODD_DOCNOS))]
    assert_documents(sublex.build(given, tmp_path / "index"), given)


def test_mappings_and_documents_may_be_given_alike(tmp_path):
    first = sublex.build([{"id": 1, "title": "T", "text": "whale", "year": 1851}], tmp_path / "a")
    second = sublex.build([Document("1", "whale", "T", {"year": 1851})], tmp_path / "b")
    assert first.document("1") == second.document("1")
    assert first.fingerprint == second.fingerprint


@pytest.mark.parametrize(
    "bad",
    [
        {}, {"id": "a"}, {"text": "no id"}, {"id": "", "text": "x"}, {"id": "a", "text": 7}, {"id": None, "text": "x"},
        {"id": float("nan"), "text": "x"}, {"id": np.float64(5.5), "text": "x"}, {"id": True, "text": "x"},
        Document(5.5, "x"), Document("", "x"), Document("a", 7), Document("a", "x", "", 5),
    ],
)  # fmt: skip
def test_a_malformed_document_is_left_out_and_counted_and_stops_a_strict_build(tmp_path, bad):
    given = [{"id": "a", "text": "b"}, bad, {"id": "c", "text": "d"}]
    with pytest.raises(InputError, match="Document 2 cannot be indexed: "):
        sublex.build(given, tmp_path / "index", strict=True)
    sentence = (
        r"1 document of 3 left out: 1 for a fault \(documents:2: .*\); the attribute `built` of the index lists them"
    )
    with pytest.warns(sublex.SublexWarning, match=sentence) as warned:
        index = sublex.build(iter(given), tmp_path / "index")
    assert warned[0].filename == __file__
    assert (index.built.read, index.built.indexed, list(index.snapshot.all_docnos)) == (2, 2, ["a", "c"])
    assert [(problem.file, problem.line) for problem in index.built.problems] == [("documents", 2)]
    with pytest.warns(sublex.SublexWarning, match=r"1 document of 2 left out: .*; the returned summary lists them"):
        assert len(index.add([{"id": "e", "text": "f"}, bad]).problems) == 1
    with pytest.raises(InputError, match="Document 1 cannot be indexed: "):
        index.add([bad], strict=True)


@pytest.mark.parametrize("bad", ["path", 7, ("b", "text")])
def test_what_is_no_document_at_all_stops_every_build(tmp_path, bad):
    with pytest.raises(InputError, match="Document 2 cannot be indexed: it is neither a Document nor a mapping"):
        sublex.build([{"id": "a", "text": "b"}, bad], tmp_path / "index")


def test_missing_values_are_empty_and_numbers_of_numpy_are_numbers(tmp_path):
    missing = [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT]
    given = [{"id": np.int64(k), "title": value, "text": value, "year": value} for k, value in enumerate(missing)]
    given += [
        Document(np.int16(7), None, float("nan")),
        {"id": 8, "text": "x", "a": np.float32(2.5), "b": np.arange(2)},
        {"id": 9, "text": "x", "a": [np.int64(3), {"b": np.float32(0.5), "c": np.array(["y", None])}]},
    ]
    index = sublex.build(given, tmp_path / "index")
    assert [index.document(str(k)) for k in range(5)] == [Document(str(k), "", "", {"year": None}) for k in range(5)]
    assert index.document("7") == Document("7", "") and index.document("8").fields == {"a": 2.5, "b": [0, 1]}
    assert index.document("9").fields == {"a": [3, {"b": 0.5, "c": ["y", None]}]}


@pytest.mark.parametrize("bad", ["a\0", "\ud800", "a\udfff"])
def test_documents_in_memory_with_ids_that_are_none_are_left_out(tmp_path, bad):
    with pytest.warns(sublex.SublexWarning, match="2 documents of 3 left out: 2 for a fault"):
        index = sublex.build(
            [{"id": bad, "text": "x"}, Document(bad, "x"), {"id": "a", "text": "x"}], tmp_path / "index"
        )
    assert index.docno(0) == "a" and len(index) == 1


FRAME = pd.DataFrame(
    {"paper_id": [4, 2, 4], "abstract": ["a crane", None, "again"], "heading": ["A", "B", "C"], "id": "x"}
)
ROLES = {"id": "paper_id", "text": "abstract", "title": "heading"}


@pytest.mark.parametrize(
    "given", [FRAME, FRAME.to_dict("records"), (row._asdict() for row in FRAME.itertuples(index=False))],
    ids=["frame", "dictionaries", "generator"],
)  # fmt: skip
def test_roles_name_the_fields_of_documents_in_memory(tmp_path, given):
    with pytest.warns(sublex.SublexWarning, match=r"1 document of 3 left out: 1 for a docno that came before \(4\); "):
        index = sublex.build(given, tmp_path / "index", roles=ROLES)
    assert list(index.documents()) == [Document("4", "a crane", "A", {"id": "x"}), Document("2", "", "B", {"id": "x"})]
    assert index.built.duplicate == ["4"] and set(index.built.fields) == {
        "docno=paper_id", "text=abstract", "title=heading"
    }  # fmt: skip
    assert repr(index.built) == "<3 read, 2 indexed, 1 duplicate, 0 malformed>"
    _, read, indexed, *_ = str(index.built).split("\n")
    assert read.split() == ["read", "3"] and indexed.split() == ["indexed", "2"]
    assert "Fields: docno from paper_id; text from abstract; title from heading." in str(index.built)
    assert "<td>duplicate docno</td><td>1</td><td>4</td>" in index.built._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # The user chose what becomes of duplicates.
        summary = index.add(
            [{"paper_id": "4", "abstract": "new"}], "last", roles={"id": "paper_id", "text": "abstract"}
        )
    assert summary.indexed == 1 and index.document("4").text == "new"


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        (FRAME, {"roles": {"id": "paper"}}, "The DataFrame has no column paper; it has paper_id, abstract, heading, id."),
        (FRAME, {"roles": {"docno": "id"}}, "roles= names 'docno' (str), and a document has only id, text, title; write id."),
        (FRAME, {"roles": {"body": "id"}}, "roles= names 'body' (str), and a document has only id, text, title; write text."),
        (FRAME, {"roles": {"year": "id"}}, "roles= names 'year' (str), and a document has only id, text, title; leave it out."),
        (
            pd.DataFrame({"ID": ["a"], "Text": ["b"]}), {},
            "The DataFrame has the columns ID, Text, and none for the id; name it, as in roles={'id': 'ID', 'text': 'Text'}.",
        ),
        (
            pd.DataFrame({"id": ["a"], "passages": ["b"]}), {},
            "The DataFrame has the columns id, passages, and none for the text; name it, as in roles={'text': '…'}.",
        ),
        (
            pd.DataFrame({"docno": ["a"], "text": ["b"]}).set_index("docno"), {},
            "name it, as in roles={'id': '…'}. docno is its index; df.reset_index() makes it a column.",
        ),
        (
            ["crane", "river"], {},
            "No file or folder crane; to index texts, give documents, as in [{'id': '1', 'text': 'crane'}].",
        ),
        ("A crane.", {}, "No file or folder A crane.; to index texts, give documents, as in [{'id': '1', 'text': 'A crane.'}]."),
        (["crane.jsonl", "river"], {}, "No file or folder crane.jsonl."),
        (FRAME, {"roles": ["id"]}, "The roles are ['id'] (list); give a dictionary such as {'id': 'paper_id'}."),
        (FRAME, {"roles": {"id": 0}}, "The role id is 0 (int); give a text."),
        (FRAME, {"reader": "jsonl(id=paper_id)"}, "reader='jsonl(id=paper_id)' names the format of files, and Python code"),
        ([Document("a", "b")], {"roles": ROLES}, "Document 1 is a sublex.Document, in which roles= has no meaning"),
        (str(DEMO), {"roles": ROLES}, "roles= names the fields of documents that Python code gives; for files, name"),
        ([{"a": 1}, {}], {}, "There is no document to index; the first of 2 malformed records is documents:1: no id: the"),
    ],
    ids=str,
)  # fmt: skip
def test_roles_and_readers_that_do_not_fit_are_refused_in_a_sentence(tmp_path, given, options, sentence):
    built = sublex.build([{"id": "a", "text": "b"}], tmp_path / "there")
    for make in (lambda: sublex.build(given, tmp_path / "index", **options), lambda: built.add(given, **options)):
        with pytest.raises(InputError) as error:
            make()
        assert sentence in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "index" / "index.json").exists() and len(built) == 1


def test_columns_of_a_data_frame_may_have_numbers_for_names(tmp_path):
    frame = pd.DataFrame([["a", "crane"], ["b", "tower"]])
    index = sublex.build(frame, tmp_path / "index", roles={"id": 0, "text": 1})
    assert list(index.documents()) == [Document("a", "crane"), Document("b", "tower")]


def test_a_warning_says_which_of_several_fields_is_the_text(tmp_path):
    given = [{"id": str(k), "abstract": "a", "text": "t", "contents": "c"} for k in range(3)] + [
        {"id": "x", "text": "t"}
    ]
    sentence = r"The text is the field contents, not text or abstract; choose by roles={'text': …} \(3 times\)."
    with pytest.warns(sublex.SublexWarning, match=sentence):
        index = sublex.build(given, tmp_path / "index")
    assert index.document("0").text == "c" and "The text is the field contents" in str(index.built)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen = sublex.build(given[:3], tmp_path / "chosen", roles={"text": "contents"})
    assert chosen.document("0") == Document("0", "c", "", {"abstract": "a", "text": "t"})


def test_a_field_that_json_cannot_hold_is_named_with_its_document(tmp_path):
    given = [{"id": "a", "text": "b", "year": 1851, "words": {"c"}}]
    for made in (given, pd.DataFrame(given), [Document("a", "b", "", {"year": 1851, "words": {"c"}})]):
        with pytest.raises(InputError) as error:
            sublex.build(made, tmp_path / "index", workers=2)
        assert str(error.value) == ("Document a has a field that JSON cannot hold: words is {'c'} (set); make it text.")
    with pytest.raises(InputError, match=r"wait is .*5.* \(timedelta64\); make it text"):
        sublex.build([{"id": "a", "text": "b", "wait": np.timedelta64(5, "ns")}], tmp_path / "index")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (date(1851, 10, 18), "1851-10-18"),
        (datetime(1851, 10, 18, 7, 30), "1851-10-18T07:30:00"),
        (pd.Timestamp("1851-10-18 07:30"), "1851-10-18T07:30:00"),
        (pd.Timestamp("1851-10-18 07:30", tz="UTC"), "1851-10-18T07:30:00+00:00"),
        (np.datetime64("1851-10-18"), "1851-10-18"),
        (np.datetime64("1851-10-18T07:30:10", "ns"), "1851-10-18T07:30:10"),
        (np.datetime64("1851-10-18T07:30:00.250", "ns"), "1851-10-18T07:30:00.25"),
        (np.array(["1851-10-18", "NaT"], "datetime64[ns]"), ["1851-10-18T00:00:00", None]),
        ([date(1851, 10, 18), pd.NaT], ["1851-10-18", None]),
        (np.datetime64("NaT"), None),
    ],
    ids=repr,
)
def test_dates_and_times_are_stored_as_iso_texts(tmp_path, value, stored):
    for number, made in enumerate([{"id": "a", "text": "b", "day": value}, Document("a", "b", "", {"day": value})]):
        index = sublex.build([made], tmp_path / str(number))
        assert index.document("a").fields == {"day": stored}


def test_a_column_of_times_is_stored_as_iso_texts(tmp_path):
    frame = pd.DataFrame({"id": ["a", "b"], "text": "c", "day": pd.to_datetime(["1851-10-18", None])})
    index = sublex.build(frame, tmp_path / "index")
    assert [document.fields["day"] for document in index.documents()] == ["1851-10-18T00:00:00", None]


def test_a_float_that_is_whole_is_an_id(tmp_path):
    index = sublex.build(pd.DataFrame({"id": [1.0, 2.0, 3.5], "text": "b"}), tmp_path / "index")
    assert [document.docno for document in index.documents()] == ["1", "2"]
    assert "id is a fraction" in str(index.built)
    index.add([Document(np.float32(7.0), "c"), {"id": -0.0, "text": "d"}, {"id": 2.0**53, "text": "e"}])
    assert [document.docno for document in index.documents()] == ["1", "2", "7", "0"]


def test_every_kind_of_white_space_in_docnos_is_listed(tmp_path):
    odd = ["a\u00a0b", "a\u3000b", "\u2003"]
    index = sublex.build([Document("é", "x")], tmp_path / "index")
    outcome = index.add([Document(docno, "x") for docno in ["plain", "東京", *odd]])
    assert outcome.white_space == odd


def test_the_first_of_two_documents_of_one_docno_is_indexed(tmp_path):
    given = [Document("a", "whale"), Document("b", "ship"), Document("a", "harpoon"), Document("a", "whale ship")]
    index = sublex.build(given, tmp_path / "index")
    assert_same(index, given[:2])
    assert check(index.path) == []
    assert_surfaces(index, naive.invert(given[:2], ENGLISH))
    listed = (tmp_path / "index" / "last-build.tsv").read_text()
    assert listed == "duplicate docno\ta\nduplicate docno\ta\n"


def test_terms_are_listed_by_pattern(demo, demo_naive):
    for pattern in ("*", "bank*", "b?nk", "*ing", "[ab]*", "[!a-y]*", "", "*\u00e9*", "bank", "*[*]*"):
        wanted = re.compile(
            re.sub(r"\[!", "[^", pattern).replace("?", ".").replace("*", ".*").replace("[.*]", "[*]"), re.DOTALL
        )
        expected = sorted(term for term in demo_naive.postings if wanted.fullmatch(term))
        assert [term.term for term in demo.terms(pattern)] == expected, pattern


def test_the_top_terms_are_those_in_the_most_documents(demo, demo_naive):
    best = sorted(demo_naive.postings, key=lambda term: (-len(demo_naive.postings[term]), term))[:25]
    assert [term.term for term in demo.top_terms(25)] == best


def test_an_index_knows_how_many_terms_and_bytes_it_has(tmp_path, demo):
    assert demo.vocabulary_size == len(demo.corpus.vocabulary)
    index = sublex.build([Document("a", "whale ship"), Document("b", "whale")], tmp_path / "index")
    index.add([Document("c", "whale boat")])
    index.delete("a")
    assert index.vocabulary_size == len(index.corpus.vocabulary) == 2
    assert "derived" not in index.nbytes()
    index.store_impacts(["BM25"])
    held = sum(
        f.stat().st_size for f in index.path.rglob("*") if f.is_file() and f.name not in ("lock", "last-build.tsv")
    )
    assert sum(index.nbytes().values()) == held


def test_numbers_of_documents_that_are_not_there_are_refused(demo):
    for doc in (-1, len(demo), 1 << 40):
        with pytest.raises(InputError, match=rf"doc={doc} should be|No document has the number {doc} in "):
            demo.docno(doc)
    with pytest.raises(InputError, match="No document no such docno in "):
        demo.document("no such docno")


# Optional parts.


@pytest.mark.slow
@pytest.mark.parametrize(
    "store",
    ["none", ("text",), "terms,positions", "text,terms", "positions", "terms", "text", ()][: None if ALL else 4],
)
def test_what_is_stored_changes_nothing_else(tmp_path, demo_documents, demo, store):
    index = sublex.build(demo_documents, tmp_path / "index", store=store)
    assert_same(index, demo_documents)
    assert [*index.terms()] == [*demo.terms()]
    assert check(index.path) == []
    index.add([Document("new", "a whale")])
    index.delete(["new", "sea-01"])
    index.merge()
    assert_same(index, [document for document in demo_documents if document.docno != "sea-01"])


def test_an_index_without_stored_parts_says_how_to_rebuild_it(tmp_path):
    index = sublex.build([Document("a", "whale")], tmp_path / "bare", store="none")
    lacking = {
        "text": [lambda: index.document("a"), lambda: list(index.documents()), lambda: index.corpus.raw(0)],
        "terms": [lambda: next(index.corpus.blocks()), lambda: index.corpus.matrix()],
    }
    lacking["text"].append(lambda: index.corpus.sequence(0))
    for part, asked in lacking.items():
        for ask in asked:
            with pytest.raises(IndexProblem) as error:
                ask()
            assert f"without stored {part}" in str(error.value)
            assert f"sublex index {index.path} SOURCE… --overwrite --store {part}" in str(error.value)
    with pytest.raises(IndexProblem, match="--store terms,text"):
        sublex.build([Document("a", "whale")], tmp_path / "half", store="terms").document("a")


def test_parts_that_nothing_can_store_are_refused(tmp_path):
    with pytest.raises(InputError, match="Cannot store places; there are text, terms, positions, or none"):
        sublex.build([Document("a", "whale")], tmp_path / "index", store="text,places")
    assert not (tmp_path / "index").exists()


# The same bytes.


def contents(path: Path) -> dict[str, bytes]:
    """Return the bytes of every file of an index, except the lock and the list of the last build."""
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and file.name not in ("lock", "last-build.tsv")]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def built(
    place: Path,
    given: DocumentSource,
    workers: int,
    memory: int,
    store: frozenset[str] = frozenset(writer.STORED_PARTS),
) -> dict[str, bytes]:
    """Build an index with any number of bytes of memory and return its files."""
    made = BuildSettings(ENGLISH, store, workers, memory, "first")
    writer.create(place, given, made, described(made), "sublex", lambda docs: None)
    assert check(place) == []
    return contents(place)


def from_file(path: Path) -> DocumentSource:
    """Return the document source for a file of JSON lines."""
    return source_of(path, plugins.load(), None, False)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make batches of about ten documents, so a small collection has many."""
    monkeypatch.setattr(batch, "BATCH_BYTES", 8_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "documents"])
@pytest.mark.parametrize("store", [(), ("text",), ("positions",), writer.STORED_PARTS], ids="+".join)
def test_the_same_bytes_come_of_any_number_of_workers_and_any_memory(
    tmp_path, demo_documents, small_batches, kind, store
):
    number = count()
    changed = [d._replace(text=f"other{k} {d.text}") for k, d in enumerate(demo_documents[:99])]
    with_duplicates = [*demo_documents[:150], *changed, *demo_documents[100:]]

    def made(workers: int, memory: int) -> dict[str, bytes]:
        given = from_file(DEMO / "documents.jsonl") if kind == "file" else DocumentSource(documents=with_duplicates)
        return built(tmp_path / str(next(number)), given, workers, memory, frozenset(store))

    expected = made(1, 1 << 30)
    others = [(3, 1), (2, 700_000), (3, 900_000), (2, 1 << 30), (1, 1), (2, 1), (1, 700_000), (3, 1 << 30)]
    for workers, memory in others[: len(others) // every(2)]:
        found = made(workers, memory)
        assert list(found) == list(expected)
        differ = [name for name in found if found[name] != expected[name]]
        assert not differ, f"{workers} workers and {memory} bytes of memory change {differ}"


def test_memory_this_small_does_spill(tmp_path, demo_documents, small_batches):
    names = set()

    def look(docs: int) -> None:
        names.update(folder.name for folder in (tmp_path / "index" / "building").iterdir())

    made = BuildSettings(ENGLISH, frozenset(), 1, 1, "first")
    writer.create(tmp_path / "index", DocumentSource(documents=demo_documents), made, described(made), "sublex", look)
    assert {"spill-0000", "spill-0009", "journal.json"} <= names


@SMALL
@given(collections(most=12), collections(0, 6), st.sampled_from([1, 2, 3]), st.sampled_from([1, 1 << 17, 1 << 30]))
def test_any_collection_gives_the_same_bytes_spilled_or_not(given, more, workers, memory):
    given = given + more + given[::4]
    with folder() as place, mock.patch.object(batch, "BATCH_BYTES", 100):
        expected = built(Path(place) / "a", DocumentSource(documents=given), 1, 1 << 30)
        assert built(Path(place) / "b", DocumentSource(documents=given), workers, memory) == expected


@SMALL
@given(collections(most=12), collections(0, 6), st.sampled_from([1, 2]), st.sampled_from([1, 3, 50]))
def test_the_sizes_of_windows_and_ranges_change_no_byte_of_merged_spills(given, more, workers, number):
    given = given + more + given[::4]
    windows = mock.patch.multiple(term_merge, WINDOW_TERMS=1, LEAST_TERMS=number, RANGE_POSTINGS=number)
    with folder() as place, mock.patch.object(batch, "BATCH_BYTES", 100), windows:
        expected = built(Path(place) / "a", DocumentSource(documents=given), 1, 1 << 30)
        assert built(Path(place) / "b", DocumentSource(documents=given), workers, 1) == expected


@SMALL
@given(collections(most=9), collections(1, 6), st.data(), st.sampled_from([1, 2, 30]))
def test_the_sizes_of_windows_and_ranges_change_nothing_in_merged_segments(given, more, data, number):
    more = [document for document in more if document.docno not in {old.docno for old in given}]
    windows = mock.patch.multiple(term_merge, WINDOW_TERMS=1, LEAST_TERMS=number, RANGE_POSTINGS=number)
    with folder() as place:
        one, other = Path(place) / "one", Path(place) / "other"
        index = sublex.build(given, one)
        if more:
            index.add(more, duplicates="first")
        docs = sorted({document.docno for document in [*given, *more]})
        index.delete(data.draw(st.lists(st.sampled_from(docs), unique=True)))
        shutil.copytree(one, other)
        index.merge()
        with windows:
            sublex.open(other).merge()
        assert contents(one) == contents(other)


def test_a_merge_refuses_a_segment_whose_terms_do_not_ascend(tmp_path, monkeypatch):
    index = sublex.build([Document("a", "whale ship")], tmp_path / "index")
    index.add([Document("b", "whale ship")])
    segments = index.snapshot.segments
    assert segments[1].terms.list() == [b"ship", b"whale"]
    monkeypatch.setattr(segments[1].terms, "part", lambda begin, end: Strings.of(["whale", "ship"]))
    with pytest.raises(IndexCorrupt, match=re.escape(f"The terms of {segments[1].path} do not ascend; rebuild")):
        term_merge.count_live_terms(segments)


def test_a_merge_of_spills_finds_nothing_of_them_in_memory(tmp_path, demo_documents, small_batches, monkeypatch):
    found, merge_spills = [], SegmentBuilder._merge_spills

    def look(*given: Any) -> Any:
        found.append([item for item in gc.get_objects() if type(item) is Inverter and item.docs])
        return merge_spills(*given)

    monkeypatch.setattr(SegmentBuilder, "_merge_spills", look)
    gc.collect()
    built(tmp_path / "index", DocumentSource(documents=demo_documents), 2, 1)
    assert found == [[]]


def test_the_table_of_docnos_counts_while_a_segment_grows(tmp_path, demo_documents, small_batches, monkeypatch):
    sizes: list[int] = []
    monkeypatch.setattr(Duplicates, "nbytes", property(lambda table: 10_000 * table._docnos.size))
    monkeypatch.setattr(Inverter, "nbytes", property(lambda inverter: 10_000 * inverter.docs))
    write = MemorySegment.write
    monkeypatch.setattr(
        MemorySegment, "write", lambda one, *given, **more: (sizes.append(one.docs), write(one, *given, **more))[1]
    )
    # Documents and docnos take as much each, so a first segment of all documents would take twice the memory.
    built(tmp_path / "index", DocumentSource(documents=demo_documents), 1, 10_000 * len(demo_documents))
    assert sizes[0] < 0.6 * len(demo_documents)


def test_the_fingerprint_follows_documents_analysis_and_deletions_only(tmp_path):
    given = [Document("a", "whales swim"), Document("b", "a ship")]
    first = sublex.build(given, tmp_path / "a")
    assert sublex.build(given, tmp_path / "elsewhere", workers=3, memory="16MB").fingerprint == first.fingerprint
    assert sublex.build(given[::-1], tmp_path / "b").fingerprint != first.fingerprint
    assert sublex.build(given, tmp_path / "c", analyzer="plain").fingerprint != first.fingerprint
    before = first.fingerprint
    first.delete("b")
    assert first.fingerprint != before


def test_an_index_says_nothing_of_host_path_time_or_workers(tmp_path):
    sublex.build([Document("a", "whale")], tmp_path / "one", workers=1)
    sublex.build([Document("a", "whale")], tmp_path / "two", workers=2, memory="64MB")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


# Add, delete, merge.


class Changes(RuleBasedStateMachine):
    """After any sequence of changes, the index equals a fresh build of the same documents."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = folder()
        self.place = Path(self.folder.name)
        self.model: dict[str, Document] = {}
        self.index: Index | None = None

    @initialize(given=collections(most=6), store=st.sampled_from(["text,terms", "text,terms", "none"]))
    def build(self, given: list[Document], store: str) -> None:
        self.index = sublex.build(given, self.place / "index", store=store, workers=1)
        self.model = {document.docno: document for document in given}

    def known(self, data: st.DataObject) -> st.SearchStrategy[str]:
        """Return a strategy for docnos, most of them in the index."""
        return st.one_of(st.sampled_from(sorted(self.model)), docnos()) if self.model else docnos()

    @rule(
        data=st.data(), duplicates=st.sampled_from(["error", "first", "last", "last"]), workers=st.sampled_from([1, 2])
    )
    def add(self, data: st.DataObject, duplicates: str, workers: int) -> None:
        given = data.draw(st.lists(documents(self.known(data)), min_size=1, max_size=5))
        repeated = len({d.docno for d in given}) < len(given) or any(d.docno in self.model for d in given)
        before = self.index.generation
        try:
            outcome = self.index.add(given, duplicates=duplicates, workers=workers)
        except InputError as error:
            assert duplicates == "error"
            assert repeated
            assert "is there twice" in str(error)
            assert self.index.generation == sublex.open(self.index.path).generation == before
            return
        assert not (repeated and duplicates == "error")
        assert outcome.read == len(given)
        size = len(self.model)
        for document in given:
            if duplicates == "last":
                self.model.pop(document.docno, None)
            self.model.setdefault(document.docno, document)
        new = sum(any(d is document for d in given) for document in self.model.values())
        assert outcome.indexed == new
        assert duplicates == "last" or new == len(self.model) - size

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        wanted = data.draw(st.lists(self.known(data), min_size=1, max_size=4))
        if all(docno in self.model for docno in wanted):
            self.index.delete(wanted)
            for docno in wanted:
                self.model.pop(docno, None)
        else:
            with pytest.raises(InputError, match="so nothing was deleted"):
                self.index.delete(wanted)

    @rule(workers=st.sampled_from([1, 2]))
    def merge(self, workers: int) -> None:
        self.index.merge(workers)
        assert len(self.index.snapshot.segments) == 1
        assert self.index.snapshot.segments[0].live == self.index.snapshot.segments[0].docs == len(self.model)

    @rule()
    def open_again(self) -> None:
        self.index = sublex.open(self.index.path)

    @invariant()
    def everything_equals_naive(self) -> None:
        if self.index:
            assert_same(self.index, self.model.values())
            assert check(self.index.path) == []

    def teardown(self) -> None:
        if self.index and self.model:
            fresh = sublex.build(self.model.values(), self.place / "fresh", store=",".join(self.index.store) or "none")
            assert self.index.statistics == fresh.statistics
            self.index.merge()
            assert_merged_as_fresh(self.index, fresh)
        self.folder.cleanup()


def assert_merged_as_fresh(index: Index, fresh: Index) -> None:
    """Check that a merged index has the bytes of a fresh one, except for texts (other blocks) and surfaces (other counts)."""
    ours, theirs = (contents(i.snapshot.segments[0].path) for i in (index, fresh))
    free = {"texts.npy", "text_sizes.npy", "text_counts.npy", "surfaces.npy", "surface_sizes.npy", "checksums.npy"}
    assert set(ours) == set(theirs)
    assert not [name for name in ours if name not in free and ours[name] != theirs[name]]


Changes.TestCase.settings = settings(
    SMALL, max_examples=examples(60), stateful_step_count=10, report_multiple_bugs=False
)
test_any_sequence_of_changes_leaves_what_a_fresh_build_would = Changes.TestCase


@pytest.mark.slow
def test_the_demo_collection_added_in_parts_equals_one_build(tmp_path, demo, demo_documents):
    index = sublex.build(demo_documents[:100], tmp_path / "index")
    index.add(demo_documents[100:101])
    index.add(demo_documents[101:])
    assert len(index.snapshot.segments) == 3
    assert index.statistics == demo.statistics
    assert_same(index, demo_documents)
    assert [t[:3] for t in index.top_terms(50)] == [t[:3] for t in demo.top_terms(50)]
    index.merge()
    assert_merged_as_fresh(index, demo)


def test_terms_that_no_live_document_holds_are_gone(tmp_path):
    index = sublex.build([Document("a", "whale ship"), Document("b", "ship")], tmp_path / "index")
    index.delete("a")
    assert index.term("whale") is None
    assert [term.term for term in index.terms()] == index.corpus.vocabulary == ["ship"]
    assert [term.term for term in index.top_terms()] == ["ship"]


def test_all_documents_may_be_deleted_and_others_added(tmp_path):
    index = sublex.build([Document("a", "whale"), Document("b", "ship")], tmp_path / "index")
    index.delete(["a", "b"])
    assert_same(index, [])
    index.add([Document("a", "ship ship")])
    assert_same(index, [Document("a", "ship ship")])
    index.delete("a")
    index.merge()
    assert_same(index, [])
    assert check(index.path) == []
    index.add([Document("c", "whale")])
    assert_same(index, [Document("c", "whale")])
    index.merge()
    assert_same(index, [Document("c", "whale")])


def test_merging_touches_no_memory_for_terms_that_no_live_document_holds(tmp_path, monkeypatch):
    index = sublex.build([Document("a", "whale"), Document("b", "whale ship")], tmp_path / "index")
    index.delete(["a", "b"])
    # Python checks the bounds that a compiled kernel does not.
    monkeypatch.setattr("sublex.building.merge_kernels.merge_postings", merge_kernels.merge_postings.py_func)
    index.merge()
    assert len(index) == len(index.snapshot.segments[0].terms) == 0


def test_the_newer_text_of_a_docno_wins_within_one_input_too(tmp_path):
    index = sublex.build([Document("a", "one"), Document("b", "two")], tmp_path / "index")
    outcome = index.add(
        [Document("a", "three"), Document("c", "four"), Document("a", "five"), Document("c", "six")], duplicates="last"
    )
    assert outcome.indexed == 2
    assert_same(index, [Document("b", "two"), Document("a", "five"), Document("c", "six")])


def test_adding_nothing_new_keeps_the_generation(tmp_path):
    index = sublex.build([Document("a", "one")], tmp_path / "index")
    outcome = index.add([Document("a", "two")], duplicates="first")
    assert (outcome.read, outcome.indexed, outcome.duplicate) == (1, 0, ["a"])
    assert index.generation == 1
    assert len(index.snapshot.segments) == 1


def test_a_merge_of_one_whole_segment_changes_nothing(tmp_path):
    index = sublex.build([Document("a", "one")], tmp_path / "index")
    before = contents(index.path)
    index.merge()
    assert contents(index.path) == before


def test_a_rule_for_duplicates_that_does_not_exist_is_refused(tmp_path):
    index = sublex.build([Document("a", "one")], tmp_path / "index")
    with pytest.raises(InputError, match="There is no rule newest .* choose one of error, first, last"):
        index.add([Document("a", "two")], duplicates="newest")


@pytest.mark.slow
def test_an_open_reader_keeps_its_generation_while_writers_go_on(tmp_path, demo_documents):
    first = demo_documents[:60]
    sublex.build(first, tmp_path / "index")
    readers = [(sublex.open(tmp_path / "index"), first)]
    index = sublex.open(tmp_path / "index")
    index.add(demo_documents[60:90])
    readers.append((sublex.open(tmp_path / "index"), demo_documents[:90]))
    index.delete([document.docno for document in demo_documents[:20]])
    readers.append((sublex.open(tmp_path / "index"), demo_documents[20:90]))
    index.delete([demo_documents[70].docno])
    index.merge()
    readers.append((sublex.open(tmp_path / "index"), [*demo_documents[20:70], *demo_documents[71:90]]))
    sublex.build(demo_documents[:5], tmp_path / "index", overwrite=True)
    assert [reader.generation for reader, _ in readers] == [1, 2, 3, 5]
    for reader, expected in readers:
        assert_same(reader, expected)
    assert_same(sublex.open(tmp_path / "index"), demo_documents[:5])
    assert len(list((tmp_path / "index" / "segments").iterdir())) == 1


# The corpus view.


@pytest.fixture(scope="module")
def changed(tmp_path_factory, demo_documents) -> tuple[Index, list[Document]]:
    """Return an index of the demo collection in three segments with a third deleted, and the documents that are left."""
    index = sublex.build(demo_documents[:100], tmp_path_factory.mktemp("changed") / "index")
    index.add(demo_documents[100:110])
    index.add(demo_documents[110:])
    index.delete([document.docno for document in demo_documents[::3]])
    return index, [document for k, document in enumerate(demo_documents) if k % 3]


def counts(expected: naive.Inverted) -> np.ndarray:
    """Return the dense matrix of term counts, with the terms in order of their bytes."""
    names = sorted(expected.postings, key=str.encode)
    return np.array([[expected.postings[term].get(docno, 0) for term in names] for docno in expected.documents])


def test_the_corpus_view_shows_live_documents_only(changed):
    index, left = changed
    expected = naive.invert(left, ENGLISH)
    corpus = index.corpus
    assert [index.docno(doc) for doc in corpus.docs] == [document.docno for document in left]
    assert corpus.lengths.tolist() == list(expected.lengths.values())
    assert corpus.vocabulary == sorted(expected.postings, key=str.encode)
    assert corpus.has == {"text", "terms"}
    assert (corpus.matrix().toarray() == counts(expected)).all()


@pytest.mark.parametrize("rows", [1, 7, 100, 168, 1000])
def test_blocks_of_any_size_are_the_rows_of_the_matrix(changed, rows):
    index, left = changed
    whole = index.corpus.matrix()
    blocks = list(index.corpus.blocks(rows))
    assert [block.shape[0] for block in blocks] == [min(rows, len(left) - k) for k in range(0, len(left), rows)]
    assert {block.shape[1] for block in blocks} == {whole.shape[1]}
    assert (np.concatenate([block.toarray() for block in blocks]) == whole.toarray()).all()
    assert all(block.has_sorted_indices for block in blocks)


@SMALL
@given(collections(2, 8), st.integers(1, 9), st.data())
def test_the_matrix_of_any_collection_equals_naive(given, rows, data):
    cut = data.draw(st.integers(1, len(given) - 1))
    doomed = data.draw(st.sets(st.sampled_from([document.docno for document in given])))
    with folder() as place:
        index = sublex.build(given[:cut], place, workers=1)
        index.add(given[cut:])
        if doomed:
            index.delete(doomed)
        expected = naive.invert([document for document in given if document.docno not in doomed], ENGLISH)
        found = [block.toarray() for block in index.corpus.blocks(rows)]
        dense = counts(expected).reshape(len(expected.documents), len(expected.postings))
        assert (np.concatenate([dense[:0], *found]) == dense).all()
        assert index.corpus.matrix().shape == dense.shape


def test_a_matrix_that_does_not_fit_the_memory_is_refused(demo):
    with pytest.raises(SublexError, match="read it by blocks"):
        demo.corpus.matrix(memory=1000)


def test_a_vocabulary_is_recoded_into_another(changed, demo):
    index, _ = changed
    corpus, other = index.corpus, demo.corpus.vocabulary
    recoded = corpus.recode(other)
    assert [other[number] for number in recoded] == corpus.vocabulary
    assert corpus.recode([]).tolist() == [-1] * len(corpus.vocabulary)
    assert corpus.recode(["zzz", corpus.vocabulary[3]]).tolist()[2:5] == [-1, 1, -1]


def test_a_sequence_has_every_word_with_its_term_and_the_pauses(tmp_path):
    text = "The whale-ships, of Nantucket; don't 東京都 sail.\n\nThen it stops"
    index = sublex.build([Document("a", text, "A title")], tmp_path / "index")
    found = index.corpus.sequence(0)
    assert [tuple(token) for token in found] == [
        ("A", "", False), ("title", "titl", False),
        ("The", "", False), ("whale", "whale", False), ("ships", "ship", True), ("of", "", True), ("Nantucket", "nantucket", False),
        ("don't", "don't", True), ("東京", "東京", False), ("京都", "京都", False), ("sail", "sail", False),
        ("Then", "", True), ("it", "", False), ("stops", "stop", False),
    ]  # fmt: skip


@SMALL
@given(collections(most=5))
def test_the_terms_of_a_sequence_are_those_of_the_document(given):
    with folder() as place:
        index = sublex.build(given, place, workers=1)
        for doc, (docno, expected) in enumerate(document_terms(index)):
            terms = [token.term for token in index.corpus.sequence(doc) if token.term]
            assert {term: terms.count(term) for term in terms} == expected, docno
            assert sorted(terms) == sorted(index.corpus.analyze(index.corpus.raw(doc)))
        assert list(index.corpus.sequences()) == [index.corpus.sequence(doc) for doc in index.corpus.docs]


def test_a_term_is_shown_as_people_write_it(changed):
    index, _ = changed
    assert [index.corpus.surface(term) for term in ("ani", "compani")] == ["any", "company"]
    assert index.corpus.surface("no such term") == "no such term"


# The analyzer is part of the index.


@pytest.mark.parametrize("profile", ["sublex", "anserini", "terrier", "pisa"])
def test_the_analyzer_of_a_profile_is_replayed(tmp_path, demo_documents, profile):
    built = sublex.build(demo_documents[:50], tmp_path / "index", profile=profile)
    index = sublex.open(tmp_path / "index")
    assert str(index.analyzer) == str(built.analyzer)
    assert index.profile == profile
    expected = naive.invert(demo_documents[:50], built.analyzer)
    assert {term.term for term in index.terms()} == set(expected.postings)
    for document in demo_documents[:50]:
        assert sorted(set(index.analyze(document.contents))) == sorted(expected.documents[document.docno])


def test_a_list_of_stop_words_is_kept_with_the_index(tmp_path):
    (tmp_path / "words.txt").write_text("whale\nship\n")
    path = json.dumps(str(tmp_path / "words.txt"))
    sublex.build(
        [Document("a", "the whale and ships")], tmp_path / "index", analyzer=f"english(stop={path}, stem=none)"
    )
    (tmp_path / "words.txt").unlink()
    index = sublex.open(tmp_path / "index")
    assert index.analyze("The whale and the ships") == ["the", "and", "the", "ships"]
    index.add([Document("b", "a ship or ships")])
    assert [(term.term, term.df) for term in index.terms()] == [
        ("a", 1),
        ("and", 1),
        ("or", 1),
        ("ships", 2),
        ("the", 1),
    ]


def test_a_list_of_stop_words_may_have_a_name_that_is_not_utf8(tmp_path):
    path = tmp_path / os.fsdecode(b"st\xffp.txt")
    path.write_text("whale\n")
    built = sublex.build([Document("a", "a whale")], tmp_path / "index", analyzer=f'english(stop="{path}")')
    assert [term.term for term in built.terms()] == ["a"]
    assert sublex.open(tmp_path / "index").fingerprint == built.fingerprint


def test_what_is_added_is_analysed_as_what_is_there(tmp_path):
    index = sublex.build([Document("a", "Whales")], tmp_path / "index", analyzer="plain")
    index.add([Document("b", "The Whales")])
    assert [term.term for term in index.terms()] == ["the", "whales"]


# Opening.


def test_opening_reads_no_component_until_it_is_asked_for(tmp_path):
    sublex.build([Document("a", "whale"), Document("b", "ship")], tmp_path / "index")
    for name in ("terms", "tails", "texts", "docnos"):
        file = tmp_path / "index" / "segments" / "000001" / f"{name}.npy"
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)
    index = sublex.open(tmp_path / "index")
    assert index.statistics == (2, 2, 2)
    for ask, name in (
        (lambda: index.term("whale"), "terms"),
        (lambda: index.snapshot.segments[0].postings(0, 1), "tails"),
        (lambda: index.doc("a"), "docnos"),
        (lambda: index.snapshot.segments[0].texts.raw(0), "texts"),
    ):
        with pytest.raises(IndexCorrupt, match=f"{name}.npy is damaged"):
            ask()


@pytest.mark.parametrize(
    "what", ["import sublex", "import sublex.cli as c, sys; sys.argv = ['sublex', '--help']; c.run()"]
)
def test_neither_numba_nor_scipy_is_loaded_before_it_is_needed(what):
    code = f"""if True:
        import sys
        try:
            {what}
        except SystemExit:
            pass
        print(sorted({{"numba", "scipy", "sklearn", "torch", "llvmlite"}} & set(sys.modules)), "sublex" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[] True"
