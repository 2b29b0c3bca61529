"""The experiments on Source-LDA: the archive, and their figures on small data whose answer is known."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from sublex.contracts.experiments import Experiment, ExperimentWork
from sublex.errors import InputError
from sublex_sourcelda.experiments import (
    GraphicalExample,
    IntegratedLambda,
    LambdaCurves,
    LambdaSmoothing,
    LikelihoodBySweep,
    ReutersLabels,
    SourceSpread,
    WikiTopics,
    data_of,
    js,
    nearest_sources,
    read,
)

WORK = ExperimentWork(None, 1, lambda *given: None, lambda *given: None)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """An archive in which documents of two kinds of words come from two sources of these words."""
    chance = np.random.default_rng(0)
    topics = {"left": [f"a{k}" for k in range(5)], "right": [f"b{k}" for k in range(5)]}
    documents, keys = [], []
    for number in range(40):
        name = ("left", "right")[number % 2]
        documents.append(" ".join(chance.choice(topics[name], 20)))
        keys.append(" ".join([str(number % 2)] * 20))
    source = "\n".join(f"{name} {' '.join(f'{word} 10' for word in words)}" for name, words in topics.items())
    files = {
        "graphical/corpus.dat": documents, "graphical/ks.dat": [source], "graphical/phi.dat": [source],
        "integrate/corpus.dat": documents, "integrate/key.dat": keys, "reuters/input.dat": documents, "reuters/ks.dat": [source],
        # The sources of `integrate` are lines 101 to 200.
        "wiki/ks_src.dat": ["other x 1"] * 100 + [source], "wiki/ks_bijective.dat": [source], "wiki/key.dat": keys,
    }  # fmt: skip
    path = tmp_path_factory.mktemp("archive") / "source-lda.tar.xz"
    with tarfile.open(path, "w:xz") as made:
        for name, lines in files.items():
            data = "\n".join(lines).encode()
            entry = tarfile.TarInfo(f"source-lda/{name}")
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    return str(path)


def test_the_divergence_is_that_of_scipy():
    p, q = np.random.default_rng(0).dirichlet(np.ones(5), (2, 3))
    assert js(p, q) == pytest.approx([jensenshannon(a, b) ** 2 for a, b in zip(p, q, strict=True)])


def test_topics_that_are_their_sources_are_found(archive):
    made = GraphicalExample(archive=archive, sweeps=30, seeds=1, chains=2)
    assert isinstance(made, Experiment) and made.units == ("seed 0",)
    found = made.measure("seed 0", WORK)
    # EDA keeps the sources, which are the truth here.
    assert (
        found["EDA"] == [pytest.approx(0, abs=1e-9)]
        and found["Source-LDA"][0] < 0.01
        and 0 <= found["CTM"][0] < np.log(2)
    )


def test_tokens_of_documents_on_one_topic_get_the_right_one(archive):
    made = IntegratedLambda(archive=archive, sweeps=30, seeds=2, lambdas=(1.0,))
    found = made.measure("seed 1", WORK)
    assert list(found) == ["mean .5, deviation 1", "lambda 1"]
    # A document has 20 tokens of its topic, and alpha is 25 for each of two topics; the topic has five words of equal chance.
    share = (20 + 25) / (20 + 50)
    assert found["lambda 1"][0] > 0.95 and found["lambda 1"][1] == pytest.approx(5 / share, rel=0.03)
    right = WikiTopics(archive=archive, sweeps=30, seeds=1, mixed=False).measure("seed 0", WORK)
    # Beta is 20 for each of 10 words, so EDA leaves some tokens to the other topic; by chance half of them would be right.
    assert right["Source-LDA"][0] > 0.95 and right["EDA"][0] > 0.8


def test_the_smoothing_of_lambda_makes_divergence_a_line(archive):
    found = LambdaSmoothing(archive=archive, sources=1).measure("new draws", WORK)
    assert 0 <= found["with g"][0] < found["without g"][0]


def test_labelled_topics_are_counted(archive):
    found = ReutersLabels(archive=archive, sweeps=20, seeds=1, k=2).measure("seed 0", WORK)
    assert 1 <= found["Source-LDA"][0] <= 2


def test_a_wrong_archive_costs_a_sentence(archive, tmp_path):
    with pytest.raises(InputError, match=r"has no text source-lda/none\.dat"):
        read(archive, "none.dat")
    (tmp_path / "x.tar").write_text("x")
    with pytest.raises(InputError, match="is not the archive of the data of Source-LDA"):
        read(tmp_path / "x.tar", "key.dat")
    with pytest.raises(InputError, match="lambdas has 2; give numbers from 0 to 1"):
        IntegratedLambda(archive=archive, sweeps=20, seeds=1, lambdas=(2,))


def test_the_likelihood_by_sweep_is_that_of_one_chain_and_rises(archive):
    made = LikelihoodBySweep(archive=archive, seeds=2, after=(30, 1, 10))
    assert made.cases == ("sweep 1", "sweep 10", "sweep 30") and made.units == ("seed 0", "seed 1")
    found = made.measure("seed 1", WORK)
    again = LikelihoodBySweep(archive=archive, seeds=2, after=(10,)).measure("seed 1", WORK)
    assert found["sweep 10"] == again["sweep 10"] and found["sweep 30"][0] >= found["sweep 1"][0]
    # Each of 800 tokens has a probability of at most a fifth: the five words of a topic are equally likely.
    assert found["sweep 30"][0] < 800 * np.log(1 / 5)
    with pytest.raises(InputError, match="after has 0; give numbers of sweeps"):
        LikelihoodBySweep(archive=archive, seeds=1, after=(0,))


def test_topics_of_documents_are_compared_in_falling_order(archive, tmp_path):
    found = WikiTopics(archive=archive, sweeps=30, seeds=1, mixed=False).measure("seed 0", WORK)
    # A document has one topic. Source-LDA smooths it by alpha, 25 for each of two topics, on 20 tokens.
    one, smoothed = np.array([[1.0, 0.0]]), np.array([[45 / 70, 25 / 70]])
    expected = 40 * (jensenshannon(one[0], smoothed[0]) ** 2)
    right, apart, coherence = found["Source-LDA"]
    assert right > 0.95 and apart == pytest.approx(expected, rel=0.1) and coherence <= 1
    # The archive of the mixed model has no other sources here, but topics without a label.
    with tarfile.open(archive) as files:
        texts = {member.name: files.extractfile(member).read() for member in files}
    texts["source-lda/wiki/ks_src.dat"] = texts["source-lda/wiki/ks_bijective.dat"]
    with tarfile.open(tmp_path / "mixed.tar", "w") as made:
        for name, data in texts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            made.addfile(entry, io.BytesIO(data))
    made = WikiTopics(archive=str(tmp_path / "mixed.tar"), sweeps=40, seeds=1, mixed=True)
    mixed = made.measure("seed 0", WORK)
    assert list(mixed) == ["Source-LDA", "EDA", "CTM", "LDA"]
    assert all(0 <= right <= 1 and apart >= 0 and -1 <= coherence <= 1 for right, apart, coherence in mixed.values())


def test_labels_by_retrieval_are_those_of_the_nearest_source(archive):
    data = data_of(archive, "reuters/input.dat", "reuters/ks.dat")
    phi = np.zeros((len(data.words), 2))
    for word, number in {word: number for number, word in enumerate(data.words)}.items():
        phi[number, 0 if word.startswith("b") else 1] = 1 / 5
    assert [data.labels[k] for k in nearest_sources(data.sources, phi).tolist()] == ["right", "left"]


def test_the_divergence_falls_with_lambda_and_evenly_with_g(archive):
    made = LambdaCurves(archive=archive, sources=2, steps=4)
    assert made.cases == ("0", "0.25", "0.5", "0.75", "1")
    found = np.array(list(made.measure("source 2", WORK).values()))
    assert (np.diff(found, axis=0) < 0.01).all() and found[0, 0] > found[-1, 0]
    steps = np.diff(found[:, 1])
    assert np.abs(steps - steps.mean()).max() < 0.2 * abs(steps.mean())
    spread = SourceSpread(archive=archive, sources=2).measure("source 1", WORK)
    values = [value for (value,) in spread.values()]
    assert values == sorted(values)
    # At lambda 1 the mean of the curve lies within the quartiles that are drawn from the same Dirichlet distribution.
    assert values[0] < LambdaCurves(archive=archive, sources=1, steps=2).measure("source 1", WORK)["1"][0] < values[-1]
    with pytest.raises(InputError, match="has 2 sources of Reuters, and not 3"):
        SourceSpread(archive=archive, sources=3).measure("source 3", WORK)
