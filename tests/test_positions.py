"""Positions: those in an index are those that a plain count of the documents' words gives, whatever was done to the index."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from unittest import mock

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared import DEMO
from strategies import collections, examples

import sublex
from sublex.analysis.tokens import located_terms
from sublex.building import term_merge
from sublex.contracts.base import Document
from sublex.errors import IndexProblem
from sublex.index.check import check
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


@pytest.mark.parametrize("analyzer", ["english", "english(stop=none, stem=none)", "english(latex=true)", "plain"])
def test_positions_are_those_of_the_words(tmp_path, documents, analyzer):
    given = documents + ODD
    assert_right(sublex.build(given, tmp_path / "index", store=ALL, analyzer=analyzer), given)


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
@given(collections(most=12), collections(0, 6), st.sampled_from([1, 2]), st.data())
def test_positions_of_any_collection_are_right_whatever_is_done_to_it(given, more, number, data):
    added = [document._replace(docno=f"new {document.docno}") for document in more]
    parts = mock.patch.multiple(term_merge, WINDOW_TERMS=1, LEAST_TERMS=number, RANGE_POSTINGS=number)
    with tempfile.TemporaryDirectory() as place, parts, mock.patch.object(batch, "BATCH_BYTES", 100):
        index = sublex.build(given, Path(place) / "index", store=ALL, reorder=data.draw(st.booleans()))
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
