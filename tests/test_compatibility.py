"""An index written by an earlier version opens, ranks as it did then, and can be changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import sublex
from sublex.index.check import check

GOLDEN = Path(__file__).parent / "golden" / "index-0.1"
TOPICS = Path(__file__).parents[1] / "queries" / "demo" / "topics.trec"
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
    index.add([{"id": "new", "text": "Cranes nest by the river."}])
    assert "new" in [hit.docno for hit in index.search("cranes river", "lsi(e=8)", k=len(index))]
    index.merge()
    assert check(index.path) == [] and index.search("cranes", "BM25 >> lsi(e=8)")
