"""Indexes that are joined and split: the hits, scores and texts of one index, whatever parts it was made of."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from command import invoke

import sublex
from sublex.contracts.base import Document
from sublex.errors import IndexProblem, InputError
from sublex.index.check import check

OPTIONS = {"store": "text,terms,positions", "fields": "title,text", "columns": "theme,number:int"}
RANKERS = (
    "BM25", "PL2", "TFIDF", "DirichletLM", "BM25F", "DPH", "BM25 >> RM3(docs=3, terms=5) >> BM25", "BM25 + 0.3*DLH13",
    'BM25 >> where("theme = b")', "SDM >> BM25",
)  # fmt: skip
WORDS = "crane river whale seal law stone rope bird mast deed harbour tide lamp wax brick net oak sail fog gull".split()


def documents(number: int = 90) -> list[Document]:
    """Return documents in which each of the words occurs now and then."""
    chance = np.random.default_rng(7)
    made = []
    for k in range(number):
        text = " ".join(chance.choice(WORDS, size=chance.integers(0, 30)))
        made.append(
            Document(f"d{k}", text, " ".join(chance.choice(WORDS, size=2)), {"theme": "abc"[k % 3], "number": k})
        )
    return made


def hits_of(index: sublex.Index, ranker: str) -> list[tuple[str, float]]:
    """Return all hits of some queries."""
    rows = []
    for text in ("crane river", "whale seal law", "gull", "fog fog mast"):
        hits = index.search(text, ranker, k=100)
        rows += list(zip(hits.docnos, np.asarray(hits.scores).tolist(), strict=True))
    return rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> sublex.Index:
    """One index of all documents, without some that were deleted."""
    index = sublex.build(documents(), tmp_path_factory.mktemp("whole") / "index", **OPTIONS)
    index.delete(["d3", "d40", "d41", "d89"])
    return index


@pytest.mark.slow
@pytest.mark.parametrize("ends", [(90,), (45, 90), (1, 2, 90), (10, 30, 31, 88, 90)])
def test_a_joined_index_scores_as_one_that_was_built_whole(tmp_path, whole, ends):
    parts = []
    for begin, end in zip((0, *ends), ends, strict=False):
        part = sublex.build(documents()[begin:end], tmp_path / f"part-{end}", **OPTIONS)
        gone = [docno for docno in ("d3", "d40", "d41", "d89") if docno in part]
        if 0 < len(gone) < len(part):
            part.delete(gone)
        parts.append(part)
    joined = sublex.join(parts, tmp_path / "joined")
    for docno in ("d3", "d40", "d41", "d89"):
        if docno in joined:
            joined.delete([docno])
    assert check(tmp_path / "joined") == []
    assert joined.statistics == whole.statistics
    for ranker in RANKERS:
        assert hits_of(joined, ranker) == hits_of(whole, ranker), ranker
    assert joined.document("d17") == whole.document("d17")
    assert list(joined.snapshot.column("number").rows(np.arange(3)).values) == [0, 1, 2]


def test_the_order_of_the_parts_is_that_of_their_documents(tmp_path):
    for name in "ab":
        sublex.build([{"id": f"{name}{k}", "text": "crane"} for k in range(3)], tmp_path / name)
    joined = sublex.join([tmp_path / "b", str(tmp_path / "a")], tmp_path / "joined")
    assert joined.snapshot.all_docnos.tolist() == ["b0", "b1", "b2", "a0", "a1", "a2"]
    assert joined.built is not None and joined.built.indexed == 6


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 5, 86])
def test_a_split_index_comes_back_when_its_parts_are_joined(tmp_path, whole, number):
    places = [tmp_path / f"part-{k}" for k in range(number)]
    done = []
    parts = whole.split(places, progress=done.append)
    sizes = [len(part) for part in parts]
    assert sum(sizes) == done[-1] == 86 and max(sizes) - min(sizes) <= 1
    assert all(check(place) == [] for place in places[:5])
    assert [doc for part in parts for doc in part.snapshot.all_docnos] == [
        f"d{k}" for k in range(90) if k not in (3, 40, 41, 89)
    ]
    joined = sublex.join(parts, tmp_path / "joined")
    assert joined.statistics == whole.statistics
    for ranker in RANKERS[:: 1 if number == 2 else 4]:
        assert hits_of(joined, ranker) == hits_of(whole, ranker), ranker


def test_a_part_is_the_index_that_would_be_built_of_its_documents(tmp_path, whole):
    first, second = whole.split([tmp_path / "first", tmp_path / "second"])
    kept = [document for document in documents() if document.docno not in ("d3", "d40", "d41", "d89")]
    for part, own in ((first, kept[:43]), (second, kept[43:])):
        built = sublex.build(own, tmp_path / f"built-{own[0].docno}", **OPTIONS)
        assert part.fingerprint == built.fingerprint


def test_an_index_of_several_segments_is_split_across_them(tmp_path):
    index = sublex.build(documents()[:20], tmp_path / "index", **OPTIONS)
    index.add(documents()[20:50])
    index.delete(["d19", "d20", "d49"])
    parts = index.split([tmp_path / "a", tmp_path / "b", tmp_path / "c"])
    docnos = [part.snapshot.all_docnos.tolist() for part in parts]
    assert [docno for each in docnos for docno in each] == [f"d{k}" for k in range(50) if k not in (19, 20, 49)]
    assert [len(each) for each in docnos] == [15, 16, 16]


def test_the_lengths_that_another_engine_stated_go_with_the_documents(tmp_path):
    sublex.build(documents(), tmp_path / "index")
    assert invoke("ciff", "export", str(tmp_path / "index"), str(tmp_path / "a.ciff")).code == 0
    copy = sublex.from_ciff(tmp_path / "a.ciff", tmp_path / "copy", profile="sublex")
    joined = sublex.join(copy.split([tmp_path / "a", tmp_path / "b"]), tmp_path / "joined")
    assert joined.statistics == copy.statistics and hits_of(joined, "BM25") == hits_of(copy, "BM25")


def test_the_summary_names_the_documents_without_terms(tmp_path):
    texts = {"a": "crane", "b": "", "c": "the", "d": "river"}
    parts = [
        sublex.build([Document(docno, texts[docno]) for docno in docnos], tmp_path / docnos) for docnos in ("ab", "cd")
    ]
    joined = sublex.join(parts, tmp_path / "joined")
    assert joined.built.empty == ["b", "c"] and joined.built.indexed == 4
    parts[0].delete(["b"])
    assert sublex.join(parts, tmp_path / "again").built.empty == ["c"]


def test_models_stay_behind_and_a_note_names_them(tmp_path, index):
    index.fit("lsi(e=5)")
    first, second = index.split([tmp_path / "first", tmp_path / "second"])
    assert not first.snapshot.fitted and first.built is not None
    assert first.built.notes == {"Models are not taken along: lsi(e=5); fit them again with sublex fit": 1}
    first.fit("lsi(e=4)")
    with pytest.warns(sublex.SublexWarning, match=r"lsi\(e=4\); fit them again"):
        assert not sublex.join([first, second], tmp_path / "joined").snapshot.fitted


def test_each_mistake_costs_a_sentence_and_leaves_nothing(tmp_path):
    index = sublex.build(documents()[:4], tmp_path / "index")
    other = sublex.build(documents()[4:8], tmp_path / "other")
    plain = sublex.build(documents()[8:9], tmp_path / "plain", analyzer="english(stop=none)")
    bare = sublex.build(documents()[9:10], tmp_path / "bare", store="terms")
    same = sublex.build(documents()[2:3], tmp_path / "same")
    new = tmp_path / "new"
    for parts, words in (
        ([], "There is nothing to join"),
        ([index, plain], "plain was built otherwise than .*index: the analyzer"),
        ([index, bare], "the stored parts"),
        ([index, other, same], "Document d2 is in .*index and in .*same; delete it from one of them"),
        ([index, index], "Document d0 is twice in .*index"),
        ([index, tmp_path / "absent"], "No index at .*absent"),
    ):
        with pytest.raises((InputError, IndexProblem), match=words):
            sublex.join(parts, new)
        assert not new.exists()
    with pytest.raises(InputError, match="cannot be a part of itself"):
        sublex.join([index, other], tmp_path / "index", overwrite=True)
    with pytest.raises(IndexProblem, match="already an index"):
        sublex.join([index, other], tmp_path / "plain")
    for places, words in (
        ([new], "at least two indexes"),
        ([new, new], "named twice"),
        ([new, tmp_path / "index"], "named twice"),
        ([new / f"{k}" for k in range(5)], "has 4 documents, too few for 5 parts"),
        ([new, tmp_path / "plain"], "already an index"),
    ):
        with pytest.raises((InputError, IndexProblem), match=words):
            index.split(places)
        assert not new.exists()
    assert len(sublex.open(tmp_path / "index")) == 4 and len(sublex.open(tmp_path / "plain")) == 1


def test_a_damaged_part_is_refused_and_a_link_in_it_is_not_followed(tmp_path):
    first = sublex.build(documents()[:5], tmp_path / "first")
    sublex.build(documents()[5:9], tmp_path / "second")
    (segment,) = (tmp_path / "second" / "segments").iterdir()
    file = segment / "postings.npy"
    shutil.move(file, tmp_path / "away.npy")
    os.symlink(tmp_path / "away.npy", file)
    with pytest.raises(sublex.SublexError, match="symbolic link"):
        sublex.join([first, tmp_path / "second"], tmp_path / "new")
    file.unlink()
    with pytest.raises(sublex.SublexError, match="missing"):
        sublex.join([first, tmp_path / "second"], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_damaged_bytes_are_not_copied(tmp_path):
    first = sublex.build(documents()[:5], tmp_path / "first")
    sublex.build(documents()[5:9], tmp_path / "second")
    (file,) = (tmp_path / "second" / "segments").glob("*/texts.npy")
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    with pytest.raises(sublex.SublexError, match=r"texts\.npy is damaged between bytes"):
        sublex.join([first, tmp_path / "second"], tmp_path / "new")
    assert not (tmp_path / "new" / "index.json").exists()


@pytest.mark.parametrize("other", ["link", "deep/../whole"])
def test_an_index_is_known_by_each_of_its_paths(tmp_path, other):
    """A part that is the index itself by another path would take the place of the documents that are not yet written."""
    index = sublex.build(documents()[:9], tmp_path / "whole")
    sublex.build(documents()[9:20], tmp_path / "more")
    (tmp_path / "deep").mkdir()
    os.symlink(tmp_path / "whole", tmp_path / "link")
    with pytest.raises(InputError, match="named twice"):
        index.split([tmp_path / other, tmp_path / "new"], overwrite=True)
    with pytest.raises(InputError, match="cannot be a part of itself"):
        sublex.join([tmp_path / "whole", tmp_path / "more"], tmp_path / other, overwrite=True)
    with pytest.raises(InputError, match="named twice"):
        index.split([tmp_path / "new", tmp_path / "deep" / ".." / "new"])
    assert not (tmp_path / "new").exists() and len(sublex.open(tmp_path / "whole")) == 9


def test_an_index_is_replaced_when_it_is_asked_for(tmp_path):
    for name, begin in (("a", 0), ("b", 5), ("old", 10)):
        sublex.build(documents()[begin : begin + 5], tmp_path / name)
    joined = sublex.join([tmp_path / "a", tmp_path / "b"], tmp_path / "old", overwrite=True)
    assert joined.generation == 2 and len(joined) == 10
    assert len(list((tmp_path / "old" / "segments").iterdir())) == 2


def test_the_commands_tell_what_they_made(demo):
    done = demo("split", "demo", "first", "second", "--format", "json")
    assert [row["documents"] for row in json.loads(done.output)] == [126, 126]
    again = demo("split", "demo", "first", "second")
    assert "already an index" in again.messages and again.code
    both = demo("join", "both", "first", "second")
    assert both.code == 0 and "252" in both.output and Path("indexes/both/index.json").is_file()
    assert demo("search", "both", "crane", "--format", "json").output.replace('"both"', '"demo"') == (
        demo("search", "demo", "crane", "--format", "json").output
    )
    assert demo("join", "more", "frist", "second").messages.startswith(
        "sublex: No index at indexes/frist; did you mean first?"
    )
