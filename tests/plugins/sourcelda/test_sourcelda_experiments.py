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
    LambdaSmoothing,
    ReutersLabels,
    WikiTopics,
    js,
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
    right = WikiTopics(archive=archive, sweeps=30, seeds=1).measure("seed 0", WORK)
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
