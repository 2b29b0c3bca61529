"""Tests of `terms`: cosines of tf·idf by their definition, explanations, changes of the index, mistakes and damaged models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from scipy.sparse import csr_array
from shared import load_stored, texts

import sublex
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.testing import CHECKS, Subject
from sublex_terms import make
from sublex_terms.model import idf, norms, weighted

TEXTS = {f"d{n:02}": text for n, text in enumerate(texts(40, 3, 12))}
QUERIES = ("w0 w3", "w1 w1 w2 w9", "w39", "w0 zyzzyva")


def weights_of(text: str, fitted: Mapping[str, str], min_df: int) -> dict[str, float]:
    """Return (1 + ln tf) · ln(N / df) for each word of a text that enough of the documents of the fit have, but not all."""
    df = Counter(word for own in fitted.values() for word in set(own.split()))
    return {
        word: (1 + math.log(tf)) * math.log(len(fitted) / df[word])
        for word, tf in Counter(text.split()).items()
        if min_df <= df[word] < len(fitted)
    }


def cosines(query: str, documents: Mapping[str, str], fitted: Mapping[str, str], min_df: int) -> dict[str, float]:
    """Return the cosine of a query with each document that shares a known word with it, by docno."""
    own, found = weights_of(query, fitted, min_df), {}
    for docno, text in documents.items():
        other = weights_of(text, fitted, min_df)
        if own.keys() & other.keys():
            product = math.fsum(own[word] * other[word] for word in own.keys() & other.keys())
            found[docno] = product / math.hypot(*own.values()) / math.hypot(*other.values())
    return found


def found(index: sublex.Index, query: str, ranker: str) -> dict[str, float]:
    return {hit.docno: hit.score for hit in index.search(query, ranker, k=1000)}


@pytest.fixture
def index(tmp_path):
    return sublex.build([{"id": docno, "text": text} for docno, text in TEXTS.items()], tmp_path / "index")


@pytest.mark.parametrize("min_df", [1, 2, 5])
def test_scores_are_those_of_the_definition(index, min_df):
    ranker = f"terms(min_df={min_df})"
    index.fit(ranker)
    for query in QUERIES:
        wanted = cosines(query, TEXTS, TEXTS, min_df)
        assert found(index, query, ranker) == pytest.approx(wanted, rel=1e-6), query
        # Few documents are scored by their own terms, and not by posting lists.
        few = found(index, query, f"BM25 % 3 >> {ranker}")
        assert few.items() <= found(index, query, ranker).items()


def test_words_and_weights_are_those_of_the_fit(index):
    """Documents that come later neither change the weights nor bring in words."""
    index.fit("terms")
    later = {f"e{n:02}": text + " fresh" for n, text in enumerate(texts(30, 8, 12))}
    index.add([{"id": docno, "text": text} for docno, text in later.items()])
    index.delete(["d03", "e05"])
    left = {docno: text for docno, text in (TEXTS | later).items() if docno not in ("d03", "e05")}
    for merged in (False, True):
        for query in (*QUERIES, "w3 fresh"):
            assert found(index, query, "terms") == pytest.approx(cosines(query, left, TEXTS, 2), rel=1e-6)
        assert not found(index, "fresh", "terms")
        if not merged:
            index.merge(reorder=True)


def test_an_explanation_has_a_part_for_each_shared_word(index):
    index.fit("terms")
    query = "w1 w1 w2 w9"
    for docno, score in found(index, query, "terms").items():
        tree = index.explain(query, docno, "terms")
        assert tree.value == pytest.approx(score, rel=1e-6)
        shared = {"w1", "w2", "w9"} & set(TEXTS[docno].split())
        (whole,) = [tree] if {part.label for part in tree.parts} == shared else tree.parts
        assert {part.label for part in whole.parts} == shared
        for part in whole.parts:
            assert part.value == pytest.approx(math.prod(factor.value for factor in part.parts))


def test_vectors_can_be_exported(index, command, tmp_path):
    index.fit("terms")
    assert command("encode", index.path, "terms", "-o", tmp_path / "vectors.npz").code == 0
    stored = np.load(tmp_path / "vectors.npz", allow_pickle=False)
    assert len(stored.files) > 2


def test_weights_and_norms_without_an_index():
    counts = csr_array(np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    idfs = idf(np.array([1, 2, 4]), 8)
    wanted = np.array(
        [[math.log(8), 0, (1 + math.log(3)) * math.log(2)], [0, 0, 0], [0, (1 + math.log(2)) * math.log(4), 0]]
    )
    np.testing.assert_allclose(weighted(counts, idfs).toarray(), wanted)
    np.testing.assert_allclose(norms(weighted(counts, idfs)), np.linalg.norm(wanted, axis=1))


def test_an_index_without_frequent_words_costs_a_sentence(tmp_path):
    alone = sublex.build([{"id": "a", "text": "one two"}, {"id": "b", "text": "three"}], tmp_path / "alone")
    with pytest.raises(InputError, match="no word is in 2 or more of 2 documents, but not in all; lower min_df"):
        alone.fit("terms")
    same = sublex.build([{"id": "a", "text": "one"}, {"id": "b", "text": "one"}], tmp_path / "same")
    with pytest.raises(InputError, match="no word is in 1 or more of 2 documents, but not in all"):
        same.fit("terms(min_df=1)")


def test_an_index_without_terms_costs_a_sentence(tmp_path):
    bare = sublex.build([{"id": "a", "text": "one two"}, {"id": "b", "text": "two"}], tmp_path / "bare", store="text")
    with pytest.raises((InputError, IndexProblem), match="terms"):
        bare.fit("terms(min_df=1)")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vocabulary", ["a", "a"]),
        ("vocabulary", ["a"]),
        ("idfs", np.array([0.0, 1.0])),
        ("idfs", np.array([-1.0, 1.0])),
        ("idfs", np.array([np.nan, 1.0])),
        ("idfs", np.array([1.0])),
    ],
)
def test_damaged_models_are_refused(name, value):
    values = {"vocabulary": ["a", "b"], "idfs": np.array([0.5, 1.0])}
    model = make(min_df=2)
    load_stored(model, values)
    assert list(model.vocabulary) == ["a", "b"]
    with pytest.raises(IndexCorrupt) as caught:
        load_stored(model, values | {name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_terms_hold_the_contract(check, tmp_path):
    check(Subject("terms", tmp_path / "subject"))
