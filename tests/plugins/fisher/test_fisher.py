"""Tests of the Fisher vector: the paper's identities, equation 8 by definition, scores from norms, and files of word vectors."""

from __future__ import annotations

import subprocess
import sys

import naive
import numpy as np
import pytest
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators import blocks
from sublex_fisher import model
from sublex_fisher.model import Fisher
from sublex_lsi.model import LSI
from sublex_vectors.reader import read_vectors


def counts(docs=120, words=60, seed=0, density=0.2):
    """Return small random counts with an empty document and a word in no document."""
    chance = np.random.default_rng(seed)
    made = chance.poisson(2, (docs, words)) * (chance.random((docs, words)) < density)
    made[5], made[:, 7] = 0, 0
    return csr_array(made.astype(np.int32))


def embedding(words=60, e=5, seed=0):
    """Return word vectors around three centres."""
    chance = np.random.default_rng(seed)
    return chance.normal(size=(3, e))[chance.integers(3, size=words)] * 2 + chance.normal(size=(words, e))


def fitted(matrix=None, words=None, **options):
    return Fisher(embedding() if words is None else words, **{"k": 3, "starts": 2} | options).fit(
        counts() if matrix is None else matrix
    )


def literal(fisher, row, weights=None):
    """Return the vector of a document by equation 8, word by word."""
    theta, mu, variances = fisher.mixture[:3]
    points = [fisher.x[w] for w, tf in zip(row.indices, row.data, strict=True) for _ in range(tf)]
    if weights is None:
        return naive.fisher_vector(points, theta, mu, variances)
    words = [w for w, tf in zip(row.indices, row.data, strict=True) for _ in range(tf)]
    return sum(weights[w] * naive.fisher_vector([fisher.x[w]], theta, mu, variances) for w in words)


@pytest.mark.parametrize("variance", [False, True])
def test_documents_are_equation_8_taken_literally(variance):
    matrix = counts()
    fisher = fitted(variance=variance)
    made = fisher.transform(matrix)
    for doc in (0, 1, 50):
        np.testing.assert_allclose(made[doc], literal(fisher, matrix[[doc]])[: fisher.width], atol=1e-10)
    assert not made[5].any()


def test_rare_words_may_count_for_more():
    matrix = counts()
    fisher = fitted(idf=True)
    df = (matrix.toarray() > 0).sum(axis=0)
    expected = literal(fisher, matrix[[3]], np.log(120 / np.maximum(df, 1)))[: fisher.width]
    np.testing.assert_allclose(fisher.transform(matrix[[3]])[0], expected, atol=1e-10)


def test_one_gaussian_is_a_whitened_sum():
    matrix, words = counts(), embedding()
    tf = matrix.toarray().astype(float)
    share = tf.sum(axis=0) / tf.sum()
    mean = share @ words
    white = (words - mean) / np.sqrt(share @ (words - mean) ** 2)
    np.testing.assert_allclose(fitted(k=1).transform(matrix), tf @ white, atol=2e-12)


@pytest.mark.parametrize("k", [1, 3, 6])
def test_at_the_maximum_of_the_likelihood_all_occurrences_together_are_nothing(k):
    fisher = fitted(k=k)
    total = fisher.counts @ fisher.word_map(np.arange(60)) / fisher.counts.sum()
    assert np.abs(total).max() < 4e-4


def test_the_scale_of_the_words_dimensions_does_not_matter():
    matrix = counts()
    lsi = LSI(10).fit(matrix)
    one, two = fitted(matrix, lsi.vectors), fitted(matrix, lsi.vectors * lsi.values)
    a, b = one.transform(matrix), two.transform(matrix)
    np.testing.assert_allclose(a, b, atol=1e-11 * np.abs(a).max())
    np.testing.assert_allclose(one.scores(np.ones(60), matrix), two.scores(np.ones(60), matrix), atol=1e-12)


@pytest.mark.slow
def test_it_is_scikit_images_block_of_means_times_the_number_of_words():
    """Compare with the formula of skimage.feature.fisher_vector 0.26, and with the function itself."""
    # These packages take a second to import, which only this test has to spend.
    from skimage.feature import fisher_vector
    from sklearn.mixture import GaussianMixture

    matrix = counts()
    fisher = fitted(variance=True)
    shares, means, variances = fisher.mixture[:3]
    row = matrix[[3]]
    points = np.repeat(fisher.x[row.indices], row.data, axis=0)

    gamma = fisher.mixture.posteriors(points)
    n = len(points)
    held, sums, squares = gamma.mean(axis=0)[:, None], gamma.T @ points / n, gamma.T @ points**2 / n
    by_mean = (sums - held * means) / (np.sqrt(shares)[:, None] * np.sqrt(variances))
    by_sigma = -squares - held * means**2 + held * variances + 2 * sums * means
    by_sigma /= np.sqrt(2) * np.sqrt(shares)[:, None] * variances
    made = fisher.transform(row)[0]
    np.testing.assert_allclose(made, n * np.concatenate((by_mean.ravel(), -by_sigma.ravel())), atol=1e-10)
    theirs = GaussianMixture(len(shares), covariance_type="diag")
    theirs.weights_, theirs.means_, theirs.covariances_ = shares, means, variances
    theirs.precisions_cholesky_ = 1 / np.sqrt(variances)
    found = fisher_vector(points, theirs)[len(shares) :]
    np.testing.assert_allclose(made, n * np.concatenate((found[:15], -found[15:])), atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"idf": True}, {"variance": True}, {"power": 0.5}, {"k": 1}, {"l2": True}])
def test_scores_are_cosines_of_vectors(options):
    matrix = counts()
    fisher = fitted(**options)
    query = np.zeros(60)
    query[[1, 2, 9]] = 1, 2, 1
    vectors, asked = fisher.transform(matrix), fisher.transform(csr_array(query[None]))[0]
    sizes = np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked)
    expected = np.divide(vectors @ asked, sizes, out=np.zeros(120), where=sizes > 0)
    np.testing.assert_allclose(fisher.scores(query, matrix), expected, atol=1e-12)
    norms = fisher.norms(matrix)
    every = fisher.scores(query, matrix, norms, workers=3)
    some = np.array([119, 5, 17])
    assert fisher.scores(query, matrix[some], norms[some]).tolist() == every[some].tolist()
    if options.get("l2"):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), (norms > 0) * 1.0)


def test_power_keeps_the_sign():
    plain, rooted = fitted().transform(counts()), fitted(power=0.5).transform(counts())
    np.testing.assert_allclose(np.sign(plain) * rooted**2, plain, atol=1e-12)


def test_a_power_leaves_the_vectors_of_single_words_alone():
    words = np.arange(60)
    np.testing.assert_array_equal(fitted(power=0.5).word_map(words), fitted().word_map(words))


def test_the_mixture_has_as_many_starts_as_the_parameter_says_and_counts_them():
    seen = []
    fisher = Fisher(embedding(), k=3, starts=4).fit(counts(), progress=lambda done, total: seen.append((done, total)))
    assert len(fisher.likelihoods) == 4 and set(seen) == {(start, 4) for start in range(4)}


@pytest.mark.parametrize("options", [{}, {"idf": True}, {"variance": True}])
def test_shares_of_word_pairs_add_up_to_the_score(options):
    matrix = counts()
    fisher = fitted(**options)
    query = np.zeros(60)
    query[[1, 2, 9]] = 1, 2, 1
    shares = fisher.shares(query, matrix[[11]])
    assert shares.values.shape == (3, matrix[[11]].nnz)
    assert shares.values.sum() == pytest.approx(fisher.scores(query, matrix[[11]])[0], rel=1e-12)
    phi = fisher.word_map(np.array([1, 2, 9]))
    own = fisher.word_map(matrix[[11]].indices)
    norm = fisher.norms(matrix[[11]])[0] * fisher.norms(csr_array(query[None]))[0]
    np.testing.assert_allclose(shares.values[1, 0], 2 * matrix[[11]].data[0] * (phi[1] @ own[0]) / norm, rtol=1e-12)


def test_gaussians_are_named_by_their_words():
    fisher = fitted()
    names, shares = fisher.topics(4)
    dense = np.zeros((60, 3))
    for word in range(60):
        held = slice(fisher.gammas.begins[word], fisher.gammas.begins[word + 1])
        dense[word, fisher.gammas.of[held]] = fisher.gammas.values[held]
    weights = dense * fisher.counts[:, None]
    assert names[:, 0].tolist() == weights.argmax(axis=0).tolist()
    np.testing.assert_allclose(shares[:, 0], weights.max(axis=0) / weights.sum(axis=0))
    assert (np.diff(shares) <= 0).all()
    many, _ = fisher.topics(100)
    assert (many[:, -1] == -1).all() and 7 not in many


def test_words_may_be_an_lsi():
    matrix = counts()
    lsi = LSI(6)
    by_itself = Fisher(lsi, k=3).fit(matrix)
    assert lsi.vectors.ndim == 1  # What was given stays as it was.
    beforehand = Fisher(LSI(6).fit(matrix), k=3).fit(matrix)
    assert by_itself.transform(matrix).tobytes() == beforehand.transform(matrix).tobytes()


@pytest.mark.slow
def test_the_same_bytes_for_any_number_of_workers_and_from_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 64)
    monkeypatch.setattr(model, "WORDS_PER_BLOCK", 64)
    matrix, words = counts(300, 300, density=0.05), embedding(300)
    made = [fitted(matrix, words, k=4).fit(matrix, workers=n) for n in (1, 2, 3)]
    made.append(Fisher(words, k=4, starts=2).fit(lambda: (matrix[i : i + 100] for i in range(0, 300, 100)), 2))
    found = [(f.norms(matrix, n).tobytes(), f.gammas.values.tobytes()) for n, f in enumerate(made)]
    assert len(set(found)) == 1
    assert fitted(matrix, words, k=4, seed=1).norms(matrix).tobytes() != found[0][0]


@pytest.mark.parametrize("absent", [np.nan, 0])
def test_words_without_a_vector_are_as_if_they_were_not_there(absent):
    matrix, words = counts(), embedding()
    words[10:20] = absent
    fisher = fitted(matrix, words)
    left = matrix.toarray()
    left[:, 10:20] = 0
    np.testing.assert_array_equal(fisher.transform(matrix), fisher.transform(csr_array(left)))
    assert not fisher.word_map(np.arange(10, 20)).any()
    assert not fisher.scores(np.eye(60)[12], matrix).any()


def test_more_gaussians_than_words_are_not_made():
    fisher = fitted(counts(words=8), embedding(8), k=50)
    assert len(fisher.mixture.shares) <= 7
    assert np.isfinite(fisher.transform(counts(words=8))).all()


def test_a_dimension_that_is_the_same_for_all_words_adds_nothing():
    words = embedding()
    words[:, 2] = 0.1
    fisher = fitted(words=words)
    assert np.abs(fisher.transform(counts()).reshape(120, 3, 5)[:, :, 2]).max() < 1e-9


def test_empty_rows_and_no_rows_are_fine():
    fisher = fitted()
    assert fisher.transform(counts()[:0]).shape == (0, 15)
    assert fisher.scores(np.ones(60), counts()[[5]]).tolist() == [0.0]
    assert not fisher.scores(np.zeros(60), counts()).any()
    assert not fisher.shares(np.ones(60), counts()[[5]]).values.size


def test_parameters_make_an_equal_estimator():
    words = embedding()
    fisher = Fisher(words, k=4, idf=True, seed=9)
    assert Fisher(**fisher.get_params()).get_params() == fisher.get_params()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fisher(embedding()).transform(counts()), "not fitted"),
        (lambda: Fisher(embedding(9)).fit(counts()), "9 words have vectors, but the matrix has 60"),
        (lambda: Fisher(np.ones(60)).fit(counts()), "a row for each word"),
        (lambda: Fisher(np.full((60, 2), np.nan)).fit(counts()), "no word of the documents has a vector"),
        (lambda: Fisher(embedding()).fit(csr_array((3, 60))), "no word of the documents has a vector"),
        (lambda: Fisher(embedding(), power=0).fit(counts()), "power=0"),
        (lambda: Fisher(embedding(), k=0).fit(counts()), "k=0"),
        (lambda: fitted(power=0.5).shares(np.ones(60), counts()[[0]]), "no sum over words"),
        (lambda: fitted().scores(np.ones(3), counts()), "one row of 60"),
    ],
)
def test_wrong_use_is_one_sentence(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert str(error.value).count(". ") == 0


# Files of word vectors.


def written(tmp_path, text):
    path = tmp_path / "vectors.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_vectors_are_put_in_the_order_of_the_vocabulary(tmp_path):
    path = written(tmp_path, "3 2\nb 1 2\nsee 3e-1 -4\na 5 6 \n")
    found = read_vectors(path, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(found, [[5, 6], [1, 2], [np.nan] * 2, [np.nan] * 2])


def test_the_first_line_may_be_missing_and_words_may_be_anything(tmp_path):
    path = written(tmp_path, "b 1 2\n\nnew york 3 4\n\xff 0 0\nb 9 9\nété 5 6\r\n".encode())
    path.write_bytes(path.read_bytes() + b"\xff\xfe 1 1\n")
    found = read_vectors(path, ["été", "new york", "b"])
    assert found.tolist() == [[5, 6], [3, 4], [1, 2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no word vectors"),
        ("5 2\n", ":1: the file ends after 0 words, but its first line says 5"),
        ("2 2\na 1 2\n", ":2: the file ends after 1 words, but its first line says 2"),
        ("a\n", ":1: a word and its numbers are needed"),
        ("1 3\na 1 2\n", ":2: 2 numbers where the vectors have 3"),
        ("b 1 2\na 1\n", ":2: 1 numbers where the vectors have 2"),
        ("b 1 2\na 1 2 3\n", ":2: 3 numbers where the vectors have 2"),
        ("b 1 2\na 1_0 2\n", ":2: 1_0 is no number"),
        ("b 1 2\na 1e200 2\n", ":2: the vector holds numbers that are not finite, or not below 1e.100"),
        ("1 99999999999\na 1 2\n", ":2: vectors of 99,999,999,999 numbers; 10,000 are the most"),
        ("b 1 2\na 1 x\n", ":2: x is no number"),
        ("b 1 2\na 1 inf\n", ":2: the vector holds numbers that are not finite"),
        ("b 1 2\n", "a vector for none of the 1 terms"),
    ],
)
def test_a_faulty_file_is_named_with_its_line(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        read_vectors(path, ["a"])
    assert str(error.value).startswith(str(path))


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="Cannot read"):
        read_vectors(tmp_path / "none", ["a"])


def test_the_plugins_modules_import_nothing_heavy():
    code = "import sys, sublex_lsi, sublex_fisher, sublex_vectors, sublex.estimators; print({'numpy', 'scipy', 'numba'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
