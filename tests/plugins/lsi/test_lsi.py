"""Tests of LSI: its vectors, scores from norms, and shares of pairs of words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex_lsi import PARAMS
from sublex_lsi.model import LSI


def counts(docs=80, words=50, seed=0, density=0.2):
    """Return small random counts with an empty document and a word in no document."""
    chance = np.random.default_rng(seed)
    made = chance.poisson(2, (docs, words)) * (chance.random((docs, words)) < density)
    made[5], made[:, 7] = 0, 0
    return csr_array(made.astype(np.int32))


def cosine(a, b):
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / size if size else 0.0


WEIGHTINGS = ("count", "tfidf", "logtfidf")


def weighted(matrix, weighting):
    """Return the matrix that is decomposed, dense, by the formula."""
    tf = matrix.toarray().astype(float)
    df = (tf > 0).sum(axis=0)
    idf = np.where(df > 0, np.log(len(tf) / np.maximum(df, 1)), 0)
    damped = np.where(tf > 0, 1 + np.log(np.maximum(tf, 1)), 0)
    return {"count": tf, "tfidf": tf * idf, "logtfidf": damped * idf}[weighting]


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_words_and_documents_are_those_of_the_dense_svd(weighting):
    matrix = counts()
    lsi = LSI(50, weighting).fit(matrix)
    plain = weighted(matrix, weighting)
    left, values, right = np.linalg.svd(plain, full_matrices=False)
    rank = len(lsi.values)
    np.testing.assert_allclose(lsi.values, values[:rank], rtol=1e-9)
    np.testing.assert_allclose(lsi.vectors @ lsi.vectors.T, right[:rank].T @ right[:rank], atol=1e-9)
    np.testing.assert_allclose(lsi.transform(matrix) @ lsi.vectors.T, plain, atol=1e-9)
    np.testing.assert_allclose(lsi.norms(matrix), np.linalg.norm(left * values, axis=1), atol=1e-9)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_scores_are_cosines_of_vectors(weighting):
    matrix = counts()
    lsi = LSI(10, weighting).fit(matrix)
    query = np.zeros(50)
    query[[1, 2, 9]] = 1, 2.5, 1
    vectors, asked = lsi.transform(matrix), lsi.transform(csr_array(query[None]))[0]
    expected = [cosine(asked, vector) for vector in vectors]
    np.testing.assert_allclose(lsi.scores(query, matrix), expected, atol=1e-13)
    assert lsi.scores(query, matrix)[5] == 0


def test_reranking_gives_the_scores_of_the_whole_collection():
    matrix = counts(600)
    lsi = LSI(10).fit(matrix)
    norms, query = lsi.norms(matrix), np.eye(50)[3] + np.eye(50)[4]
    every = lsi.scores(query, matrix, norms, workers=2)
    some = np.array([599, 5, 17])
    assert lsi.scores(query, matrix[some], norms[some]).tolist() == every[some].tolist()


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_shares_of_word_pairs_add_up_to_the_score(weighting):
    matrix = counts()
    lsi = LSI(10, weighting).fit(matrix)
    query = np.zeros(50)
    query[[1, 2, 9]] = 1, 2.5, 1
    shares = lsi.shares(query, matrix[[11]])
    assert shares.query.tolist() == [1, 2, 9] and shares.document.tolist() == matrix[[11]].indices.tolist()
    assert shares.values.sum() == pytest.approx(lsi.scores(query, matrix[[11]])[0], rel=1e-12)
    assert not lsi.shares(query, matrix[[5]]).values.size


def test_rows_of_length_one_are_what_unit_decomposes():
    matrix = counts()
    plain = weighted(matrix, "logtfidf")
    norms = np.linalg.norm(plain, axis=1, keepdims=True)
    values = np.linalg.svd(plain / np.where(norms > 0, norms, 1))[1]
    np.testing.assert_allclose(LSI(50, "logtfidf", unit=True).fit(matrix).values[:30], values[:30], rtol=1e-9)


def test_unit_brings_every_row_to_length_one_and_leaves_empty_rows_empty():
    # The first word is in all documents, so that its idf is 0. Row 1 has nothing else. The row of a rare idf is short.
    matrix = csr_array(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 0]]))
    norms = [1, 0, 1, 1]
    assert 0 < np.log(4 / 3) < 1, "the first row has a length below 1 before it is scaled"
    fitted = LSI(3, "tfidf", unit=True).fit(matrix)
    assert np.isfinite(fitted.values).all() and np.isfinite(fitted.vectors).all()
    # The squares of the singular values add up to those of the rows' lengths.
    assert (fitted.values**2).sum() == pytest.approx(sum(norms))


@pytest.mark.slow
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_the_same_bytes_for_any_number_of_workers_and_from_blocks(weighting):
    matrix = counts(9000, density=0.1)
    made = [LSI(8, weighting).fit(matrix, workers=n) for n in (1, 2, 3)]
    made.append(LSI(8, weighting).fit(lambda: (matrix[i : i + 4096] for i in range(0, 9000, 4096)), workers=2))
    vectors = [(lsi.vectors.tobytes(), lsi.norms(matrix, n).tobytes()) for n, lsi in enumerate(made)]
    assert len(set(vectors)) == 1
    assert LSI(8, weighting, seed=1).fit(matrix).vectors.tobytes() != vectors[0][0]


def test_more_dimensions_than_the_rank_are_not_made():
    lsi = LSI(200).fit(counts(20))
    assert lsi.vectors.shape[1] == len(lsi.values) < 20


def test_parameters_make_an_equal_estimator():
    lsi = LSI(7, "tfidf", seed=3)
    again = LSI(**lsi.get_params())
    assert again.get_params() == {"e": 7, "weighting": "tfidf", "unit": False, "seed": 3}


def test_unknown_words_and_empty_queries_score_nothing():
    matrix = counts()
    lsi = LSI(10).fit(matrix)
    assert not lsi.scores(np.zeros(50), matrix).any()
    assert np.abs(lsi.scores(np.eye(50)[7], matrix)).max() < 1e-9
    assert lsi.scores(np.eye(50)[1], matrix[:0]).shape == (0,)


@pytest.mark.parametrize("matrix", [csr_array((0, 5)), csr_array((5, 0)), csr_array((3, 4))])
def test_a_matrix_of_nothing_is_refused(matrix):
    with pytest.raises(InputError, match="no words are left"):
        LSI(2).fit(matrix)


def test_wrong_use_is_one_sentence():
    with pytest.raises(InputError, match="weighting=bm25"):
        LSI(2, "bm25").fit(counts())
    with pytest.raises(InputError, match="not fitted"):
        LSI(2).transform(counts())
    with pytest.raises(InputError, match="30 columns where the model knows 50"):
        LSI(2).fit(counts()).scores(np.ones(50), counts(words=30))
    with pytest.raises(InputError, match="every word stands in all"):
        LSI(2, "tfidf").fit(np.ones((3, 4)))


# What an expression's parameters reach.


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_as_many_dimensions_are_kept_as_are_asked_for_those_with_the_largest_values(weighting):
    matrix = counts()
    lsi = LSI(4, weighting).fit(matrix)
    _, values, right = np.linalg.svd(weighted(matrix, weighting), full_matrices=False)
    assert lsi.vectors.shape == (50, 4) and len(lsi.values) == 4
    # The decomposition begins at random, and few steps are needed to be this close.
    np.testing.assert_allclose(lsi.values, values[:4], rtol=1e-3)
    np.testing.assert_allclose(lsi.vectors @ lsi.vectors.T, right[:4].T @ right[:4], atol=0.05)


def test_parameters_of_an_expression_reach_the_decomposition(index):
    index.fit("lsi(e=3, weighting=count, unit=true, min_df=20)")
    model = index.representation("lsi(e=3, weighting=count, unit=true, min_df=20)").model
    matrix, words = index.corpus.matrix().toarray().astype(float), list(index.corpus.vocabulary)
    kept = [word for number, word in enumerate(words) if (matrix[:, number] > 0).sum() >= 20]
    assert sorted(model.vocabulary) == sorted(kept) and 10 < len(kept) < len(words)
    rows = matrix[:, [words.index(word) for word in model.vocabulary]]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.linalg.svd(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0), compute_uv=False)
    np.testing.assert_allclose(model.estimator.values, values[:3], rtol=1e-3)
    assert index.card("lsi(e=3, weighting=count, unit=true, min_df=20)")["dimensions"] == 3


def test_the_defaults_are_those_of_the_pages():
    defaults = {param.name: param.default for param in PARAMS}
    assert (defaults["e"], defaults["weighting"], defaults["unit"], defaults["seed"]) == (100, "logtfidf", False, 0)
