"""Positions: those in an index are those that a plain count of the documents' words gives, whatever was done to the index."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import DEMO, manifest_of, write_manifest
from strategies import collections as some_documents
from strategies import examples

import sublex
from sublex.analysis.tokens import located_terms, tokenize
from sublex.building import term_merge
from sublex.building.inverter import Inverter, count_terms
from sublex.building.vocabulary import TokenVocabulary
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index.check import check
from sublex.index.directory import Directory
from sublex.index.format import FolderWriter
from sublex.index.schema import as_json
from sublex.index.segment import Segment
from sublex.language.plugins import load as registry
from sublex.pipeline.index import Index
from sublex.readers import batch

SMALL = settings(max_examples=examples(60))
ALL = "text,terms,positions"
ODD = [
    Document("a", "the whale and the state-of-the-art whale", "The Whale"),
    Document("b", "", "A title alone, twice: a title"),
    Document("c", "no title, and wi-fi foo_bar:baz 3.14"),
    Document("d", "the of and", "of the"),
    Document("e", "whale " * 700 + "the " * 70_000 + "whale"),
    Document("f", "Schr\\\\\"odinger's cat\n\nwhale", "\n"),
    Document("g", ""),
    Document("h", "鯨は大きい whale", "鯨"),
]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """The documents of the demo collection."""
    lines = map(json.loads, DEMO.read_text(encoding="utf-8").splitlines())
    return [Document(line["id"], line["text"], line["title"]) for line in lines]


def stored(index: Index) -> dict[str, dict[str, list[int]]]:
    """Return the positions of each term by live document, as the index has them."""
    found: dict[str, dict[str, list[int]]] = {}
    for segment in index.snapshot.segments:
        assert segment.has_positions
        for doc in np.flatnonzero(~segment.dead).tolist():
            found[segment.docno(doc)] = {}
        docs, tfs = segment.postings(0, len(segment.terms))
        positions = segment.positions(0, len(segment.terms))
        assert positions.dtype == np.int32
        terms = np.repeat(np.arange(len(segment.terms)), segment.df).tolist()
        for term, doc, part in zip(terms, docs.tolist(), np.split(positions, np.cumsum(tfs))[:-1], strict=True):
            if not segment.dead[doc]:
                found[segment.docno(doc)][segment.terms.text(term)] = part.tolist()
    return found


def counted(index: Index, documents: Iterable[Document]) -> dict[str, dict[str, list[int]]]:
    """Return the positions of each term by document, counted in the documents themselves."""
    return {
        document.docno: naive.positions(
            *(
                [terms for _, _, terms in located_terms(index.analyzer, part)]
                for part in (document.title, document.text)
            )
        )
        for document in documents
    }


def assert_right(index: Index, documents: Iterable[Document]) -> None:
    assert stored(index) == counted(index, documents)
    assert check(index.path) == []


@pytest.mark.slow
@pytest.mark.parametrize("analyzer", ["english", "english(stop=none, stem=none)", "english(latex=true)", "plain"])
def test_positions_are_those_of_the_words(tmp_path, documents, analyzer):
    given = documents + ODD
    assert_right(sublex.build(given, tmp_path / "index", store=ALL, analyzer=analyzer), given)


def test_positions_of_a_real_collection_are_those_of_its_words(collections, tmp_path):
    index = sublex.build(collections / "scifact" / "corpus.jsonl", tmp_path / "index", store=ALL)
    documents = list(index.documents())
    assert len(documents) > 3_000 and any(document.title for document in documents)
    assert_right(index, documents)
    index.merge(reorder=True)
    assert_right(index, documents)


def test_the_text_begins_100_positions_after_the_title(tmp_path):
    documents = [Document("a", "whale the sea", "The whale"), Document("b", "wi-fi, whale")]
    index = sublex.build(documents, tmp_path / "index", store="positions")
    assert stored(index) == {"a": {"whale": [1, 102], "sea": [104]}, "b": {"wi": [0], "fi": [1], "whale": [2]}}


def test_several_terms_are_gathered_in_any_order(tmp_path, documents):
    index = sublex.build(documents, tmp_path / "index", store="positions")
    (segment,) = index.snapshot.segments
    terms = np.random.default_rng(1).permutation(len(segment.terms))[:300]
    _, tfs = segment.gather(terms)
    expected = np.concatenate([segment.positions(term, term + 1) for term in terms.tolist()])
    assert segment.gather_positions(terms).tolist() == expected.tolist()
    assert segment.gather_positions(terms, tfs).tolist() == expected.tolist()
    assert segment.gather_positions(terms[:0]).tolist() == []


def test_an_index_without_positions_says_how_to_rebuild_it(tmp_path, documents):
    index = sublex.build(documents, tmp_path / "index")
    assert not any(segment.has_positions for segment in index.snapshot.segments)
    with pytest.raises(IndexProblem) as error:
        index.snapshot.need("positions", "phrases are found by")
    assert str(error.value) == (
        f"{index.path} was built without stored positions, which phrases are found by; "
        f"rebuild it: sublex index {index.path} SOURCE… --overwrite --store positions,terms,text"
    )


@pytest.mark.slow
def test_positions_follow_their_documents_through_every_change(tmp_path, documents):
    left = documents + ODD
    index = sublex.build(left, tmp_path / "index", store=ALL)
    new = [Document("new", "a whale by the river of whales", "Whales"), Document("newer", "the harpoon")]
    index.add(new)
    assert "positions" in index.store
    left = left + new
    assert_right(index, left)
    gone = {document.docno for document in left[::7]} | {"newer", "e"}
    index.delete(sorted(gone))
    left = [document for document in left if document.docno not in gone]
    assert_right(index, left)
    index.merge()
    assert_right(index, left)
    index.delete([left[5].docno])
    del left[5]
    index.merge(reorder=True)
    assert_right(index, left)


@SMALL
@given(some_documents(most=12), some_documents(0, 6), st.sampled_from([1, 2]), st.data())
def test_positions_of_any_collection_are_right_whatever_is_done_to_it(given, more, number, data):
    added = [document._replace(docno=f"new {document.docno}") for document in more]
    parts = mock.patch.multiple(term_merge, WINDOW_TERMS=1, LEAST_TERMS=number, RANGE_POSTINGS=number)
    with tempfile.TemporaryDirectory() as place, parts, mock.patch.object(batch, "BATCH_BYTES", 100):
        index = sublex.build(given + given[::3], Path(place) / "index", store=ALL, reorder=data.draw(st.booleans()))
        assert [*index.terms()] == [*sublex.build(given, Path(place) / "without").terms()]
        left = list(given)
        if added:
            index.add(added)
            left += added
        if gone := data.draw(st.sets(st.sampled_from(range(len(left))), max_size=len(left) - 1)):
            index.delete([left[k].docno for k in sorted(gone)])
            left = [document for k, document in enumerate(left) if k not in gone]
        assert_right(index, left)
        index.merge(reorder=data.draw(st.booleans()))
        assert_right(index, left)


def test_the_memory_of_a_batch_counts_its_positions():
    analyzer, contents = registry().make("analyzer", "english"), b"whale and whale " * 1000 + bytes(16)
    tokens = tokenize(np.frombuffer(contents, np.uint8), np.array([len(contents) - 16]))
    vocabulary = TokenVocabulary(analyzer)
    numbers = vocabulary.number(np.frombuffer(contents, np.uint8), tokens)
    given = tokens, np.ones(1, np.bool_), numbers, vocabulary.token_terms()
    without, counts = count_terms(*given), count_terms(*given, np.array([[0, tokens.ends[0]]]), has_positions=True)
    assert without.positions is None and counts.positions is not None
    assert counts.position_size == 2 and len(counts.positions) == 2 * 2000
    assert counts.nbytes >= without.nbytes + 2 * 2000
    sizes = []
    for made, has_positions in ((without, False), (counts, True)):
        with FolderWriter(Directory(Path(tempfile.mkdtemp()) / "folder")) as folder:
            inverter = Inverter(analyzer, folder, has_positions)
            inverter.vocabulary.number(np.frombuffer(contents, np.uint8), tokens)
            inverter.add(made, numbers)
            sizes.append(inverter.nbytes)
    # Besides the positions themselves, writing needs memory for their numbers, gaps and code.
    assert sizes[1] >= sizes[0] + (2 + 8) * 2000


def test_positions_that_do_not_fit_the_lexicon_are_damage_before_memory_is_taken(tmp_path):
    """Each forgery has right checksums. The collection frequencies of two terms would ask for more memory than any machine has."""
    index = sublex.build([Document("a", "whale whale ship")], tmp_path / "index", store="positions")

    def forged(**values: list[int]) -> None:
        (segment,) = index.snapshot.segments
        folder = index.path / "segments" / segment.name
        arrays = {name: component.all().copy() for name, component in segment.folder}
        arrays |= {
            name: np.array(found, np.uint64 if name == "cf" else arrays[name].dtype) for name, found in values.items()
        }
        shutil.copytree(index.path, tmp_path / "forged", dirs_exist_ok=True)
        shutil.rmtree(tmp_path / "forged" / "segments" / segment.name)
        with FolderWriter(Directory(tmp_path / "forged" / folder.relative_to(index.path))) as writer:
            for name, array in arrays.items():
                writer.put(name, array)
            entry = writer.finish()
        manifest = manifest_of(index.path)
        manifest["segments"][0]["data"] = as_json(entry)
        write_manifest(tmp_path / "forged", manifest)
        (segment,) = sublex.open(tmp_path / "forged").snapshot.segments
        with pytest.raises(IndexCorrupt, match="rebuild the index"):
            segment.positions(0, 2)
        assert any("000001/position" in problem for problem in check(tmp_path / "forged"))

    for cf in ([1, 3], [2, 1], [1, 2**40], [2**53, 2**53], [1, 2 + 128], [0, 2], [2**53, 2]):
        forged(cf=cf)
    forged(position_widths=[0])
    forged(position_widths=[1])
    forged(position_tail_sizes=[1, 1])
    forged(position_tail_sizes=[0, 3])
    forged(position_tail_sizes=[2, 1])
    forged(position_tails=[2, 0])
    forged(position_tails=[2, 0, 0x80])
    forged(positions=[0])


def test_merging_decodes_each_posting_list_once_and_takes_no_memory_for_forged_frequencies(tmp_path, monkeypatch):
    words = " ".join(f"w{number}" for number in range(20_000))
    index = sublex.build([Document("a", words)], tmp_path / "index", store="positions", analyzer="plain")
    index.add([Document("b", "w1 w2")])
    read, ranges = Segment.postings, []

    def forged(segment, begin, end):
        ranges.append((segment.name, begin, end))
        docs, tfs = read(segment, begin, end)
        return docs, np.full_like(tfs, most) if most else tfs

    monkeypatch.setattr(Segment, "postings", forged)
    most = 2**31 - 1
    # The positions of these frequencies would fill 160 TiB, more than any process can address.
    with pytest.raises(IndexCorrupt, match="rebuild the index"):
        index.merge()
    most = 0
    ranges.clear()
    index.merge()
    assert len(ranges) == len(set(ranges)) == 2
