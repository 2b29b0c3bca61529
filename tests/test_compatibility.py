"""An index written by an earlier version opens, ranks as it did then, and can be changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from shared import manifest_of
from test_positions import stored

import sublex
from sublex.contracts.operators import within
from sublex.index.check import check

GOLDEN = Path(__file__).parent / "golden" / "index-0.1"
POSITIONS = Path(__file__).parent / "golden" / "index-positions"
FIELDS = Path(__file__).parent / "golden" / "index-fields"
TOPICS = Path(__file__).parents[1] / "queries" / "demo" / "topics.trec"
# This model was fitted as `lsi(e=8)`, when weighting=tfidf was the default.
OLD = "lsi(e=8, weighting=tfidf)"
WRITTEN = json.loads((GOLDEN / "rankings.json").read_text(encoding="utf-8"))


@pytest.fixture
def index(tmp_path: Path) -> sublex.pipeline.index.Index:
    """A copy of the index that version 0.1.0.dev0 wrote: two segments, deletions, and a fitted LSI model."""
    shutil.copytree(GOLDEN / "index", tmp_path / "index")
    return sublex.open(tmp_path / "index")


@pytest.mark.parametrize("expression", WRITTEN["rankings"])
def test_an_index_of_an_earlier_version_ranks_as_it_did(index, expression):
    run = index.run(sublex.read_topics(TOPICS), expression, k=5)
    for qid, hits in WRITTEN["rankings"][expression].items():
        assert list(run[qid]) == [docno for docno, _ in hits]
        assert list(run[qid].values()) == pytest.approx([score for _, score in hits], rel=1e-6)


def test_an_index_of_an_earlier_version_is_sound_and_can_be_changed(index):
    assert index.fingerprint == WRITTEN["fingerprint"]
    assert check(index.path) == []
    for text in ("lsi(e=8)", "BM25 >> lsi(e=8)"):
        with pytest.raises(
            sublex.SublexError, match=r"lsi\(e=8\) was fitted .* another default, or .* Run: sublex fit"
        ):
            index.search("cranes", text)
    index.add([{"id": "new", "text": "Cranes nest by the river."}])
    with pytest.raises(sublex.SublexError, match="does not cover 1 document .* --update"):
        index.search("cranes river", OLD)
    index.fit(OLD)
    assert "new" in [hit.docno for hit in index.search("cranes river", OLD, k=len(index))]
    index.merge()
    index.fit(OLD)
    assert check(index.path) == [] and index.search("cranes", f"BM25 >> {OLD}")


def test_an_index_without_positions_keeps_the_first_format_which_earlier_versions_read(index, tmp_path):
    index.add([{"id": "new", "text": "Cranes nest by the river."}])
    new = sublex.build([{"id": "new", "text": "Cranes nest by the river."}], tmp_path / "new")
    assert manifest_of(index.path)["format"] == manifest_of(new.path)["format"] == 1


def test_an_index_with_positions_of_an_earlier_version_has_them_still_and_keeps_them(tmp_path):
    written = json.loads((POSITIONS / "positions.json").read_text(encoding="utf-8"))
    shutil.copytree(POSITIONS / "index", tmp_path / "index")
    index = sublex.open(tmp_path / "index")
    assert index.fingerprint == written["fingerprint"] and check(index.path) == []

    def assert_kept(expected: dict[str, dict[str, list[int]]]) -> None:
        # Earlier versions refuse this format, so they cannot drop the positions.
        assert manifest_of(index.path)["format"] == 2
        assert check(index.path) == []
        found = {docno: {term: p[term] for term in written["terms"] if term in p} for docno, p in stored(index).items()}
        assert found == expected

    assert_kept(written["positions"])
    index.add([{"id": "new", "title": "River", "text": "Cranes nest by the river."}])
    expected = written["positions"] | {"new": {"river": [0, 105], "crane": [101]}}
    assert_kept(expected)
    index.merge()
    assert_kept(expected)
    index.merge(reorder=True)
    assert_kept(expected)


def test_an_index_with_fields_and_columns_of_an_earlier_version_has_them_still_and_keeps_them(tmp_path):
    written = json.loads((FIELDS / "fields.json").read_text(encoding="utf-8"))
    shutil.copytree(FIELDS / "index", tmp_path / "index")
    index = sublex.open(tmp_path / "index")
    assert index.fingerprint == written["fingerprint"]
    for expression, rankings in written["rankings"].items():
        for text, expected in rankings.items():
            hits = index.search(text, expression, 5, language="query")
            assert hits.docnos == [docno for docno, _ in expected]
            assert hits.scores.tolist() == pytest.approx([score for _, score in expected], rel=1e-6)

    def assert_kept(columns: dict[str, dict[str, list]], more: dict[str, str]) -> None:
        # Earlier versions refuse this format, so they cannot drop fields and columns.
        assert manifest_of(index.path)["format"] == 3
        assert check(index.path) == [] and index.fields == ("title", "text", "theme")
        assert sorted(index.columns.items()) == sorted(
            {"theme": "text", "year": "int", "seen": "date", "height": "float", "tags": "text"}.items()
        )
        for field, by_term in written["frequencies"].items():
            for term, expected in by_term.items():
                docs, tfs = index.postings(within(field, term))
                found = {index.docno(doc): tf for doc, tf in zip(docs, tfs.tolist(), strict=True)}
                assert found == expected | ({"new": 1} if more.get(field) == term else {})
        found = {docno: {} for docno in columns}
        for docno, values in found.items():
            for name in index.columns:
                column = index.snapshot.column(name).rows(np.array([index.snapshot.doc(docno)]))
                if given := [column.shown(value) for value in column.values]:
                    values[name] = given
        assert found == columns

    assert_kept(written["columns"], {})
    index.add(
        [{"id": "new", "title": "River", "text": "Birds nest.", "theme": "old", "year": 2024, "tags": ["a", "river"]}]
    )
    columns = written["columns"] | {"new": {"theme": ["old"], "year": [2024], "tags": ["a", "river"]}}
    more = {"title": "river", "text": "bird", "theme": "old"}
    assert_kept(columns, more)
    for reorder in (False, True):
        index.merge(reorder=reorder)
        assert_kept(columns, more)
