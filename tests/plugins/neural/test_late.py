"""Tests of `late` beyond its scores, which tests/test_given_matrices.py has: explanations, cards, filters and encoders."""

from __future__ import annotations

import numpy as np
import pytest
import tiny_models as models
from tiny_models import CLS, PIECES, SEP, numbers, write

import sublex
from sublex.errors import IndexProblem, InputError
from sublex.index.check import check

QUERY = np.array([[1, 0, 2], [0, 3, -1]], np.float32)
# Products with the rows of the query: d0 has 1 and 5, -1 and -4; d1 has 2 and 2, 6 and 6.
MATRICES = {"d0": [[1, -1, 0], [1, 2, 2]], "d1": [[0, 2, 1], [2, 2, 0]], "d2": [[-1, 0, 0]]}


@pytest.fixture
def index(tmp_path):
    """Four documents, three of them with a matrix, and the matrix of one query."""
    texts = ["crane bird", "crane river", "river", "crane"]
    index = sublex.build([{"id": f"d{k}", "text": text} for k, text in enumerate(texts)], tmp_path / "i")
    index.add_vectors("c", MATRICES)
    return index.with_queries({"c": {"crane": QUERY}})


def test_an_explanation_has_the_pairs_that_make_the_score(index):
    # By hand: d0 has max(1, 5) + max(-3, 4), d1 max(2, 2) + max(5, 6), and d2 -1 + 0.
    assert {hit.docno: hit.score for hit in index.search("crane", "late(c)")} == {"d0": 9, "d1": 8, "d2": -1}
    tree = index.explain("crane", "d1", "late(c)")
    assert tree.value == 8 and "largest products of 2 query tokens with 2 document tokens" in tree.label
    # Of equal products the first one counts.
    pairs = [(part.value, part.label) for part in tree.parts]
    assert pairs == [(2, "query token 1 ↔ document token 1"), (6, "query token 2 ↔ document token 2")]
    assert "no opinion on this document" in str(index.explain("crane", "d3", "BM25 + late(c)"))


def test_stages_blends_and_filters_take_late(index):
    rescored = index.search("crane", "BM25 % 100 >> late(c)")
    assert [(hit.docno, hit.score) for hit in rescored][:2] == [("d0", 9), ("d1", 8)] and "d2" not in rescored.docnos
    weighted = index.search("crane", "raw(BM25) + 0.5*raw(late(c))")
    words = {hit.docno: hit.score for hit in index.search("crane", "BM25")}
    scores = {hit.docno: hit.score for hit in weighted}
    assert scores["d0"] == pytest.approx(words["d0"] + 4.5, rel=1e-6)
    found = index.with_queries({"c": {"river": QUERY}}).search("+river", "late(c)", language="query")
    assert [(hit.docno, hit.score) for hit in found] == [("d1", 8), ("d2", -1)]


def test_a_card_counts_matrices_and_rows(index):
    card = index.card("late(c)")
    wanted = {
        "dimensions": 3,
        "stored as": "float32",
        "documents with a matrix": 3,
        "documents without": 1,
        "rows of matrices": 5,
    }
    assert {name: card[name] for name in wanted} == wanted
    with pytest.raises(InputError, match="find"):
        index.search("crane", "late(c, find=approximate)")
    with pytest.raises(IndexProblem, match="has no vectors d"):
        index.fit("late(d)")


def test_an_index_of_ciff_postings_takes_matrices(index, tmp_path):
    index.to_ciff(tmp_path / "x.ciff")
    other = sublex.from_ciff(tmp_path / "x.ciff", tmp_path / "ciff", analyzer="english")
    other.add_vectors("c", MATRICES)
    hits = other.search("crane", "late(c)", queries={"c": {"crane": QUERY}})
    assert {hit.docno: hit.score for hit in hits} == {"d0": 9, "d1": 8, "d2": -1} and not check(other.path)


# Encoders of queries.


def max_sim(query, matrix):
    return (np.asarray(query, np.float64) @ np.asarray(matrix, np.float64).T).max(axis=1).sum()


def unit(text, vectors):
    """Return the rows of a text's pieces, those at the ends included, each of length 1."""
    rows = vectors[[CLS, *numbers(text), SEP]].astype(np.float64)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_the_pieces_of_an_onnx_model_are_compared_and_named(tmp_path, monkeypatch):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    vectors = models.table(seed=3)
    files = {"tokenizer.json": models.tokenizer(), "model.onnx": models.token_model(vectors).SerializeToString()}
    (tmp_path / "m").mkdir()
    encoder = f'onnx("{write(tmp_path / "m", files)}", pooling=tokens)'
    texts = ["the cranes fly", "a quiet river", "bird over water"]
    index = sublex.build([{"id": f"d{k}", "text": text} for k, text in enumerate(texts)], tmp_path / "i")
    matrices = {f"d{k}": unit(text, vectors) for k, text in enumerate(texts)}
    index.add_vectors("c", matrices, encoder=encoder)
    query = "cranes by the river"
    wanted = {docno: max_sim(unit(query, vectors), matrix) for docno, matrix in matrices.items()}
    for expression in ("late(c)", f"late(c, encoder={encoder})"):
        found = {hit.docno: hit.score for hit in index.search(query, expression)}
        assert found == pytest.approx(wanted, abs=1e-5)
    tree = index.explain(query, "d1", "late(c)")
    assert [part.label.split(" ↔ ")[0] for part in tree.parts] == [
        f"query token {place} {PIECES[piece]}" for place, piece in enumerate([CLS, *numbers(query), SEP], 1)
    ]
    assert sum(part.value for part in tree.parts) == pytest.approx(tree.value)
    # An encoder of rows cannot answer for matrices.
    other = encoder.replace("tokens", "mean")
    with pytest.raises(InputError, match="gives dense vectors, and c are late vectors"):
        index.search(query, f"late(c, encoder={other}, other_encoder=true)")
