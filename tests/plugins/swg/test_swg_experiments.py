"""The experiment on sparse word graphs: counts in the format of lda-c, and the edges of named topics."""

from __future__ import annotations

import numpy as np
import pytest

from sublex.contracts.experiments import Experiment, ExperimentWork
from sublex.errors import InputError
from sublex_swg import experiments
from sublex_swg.experiments import TopicEdges, read_corpus
from sublex_swg.lda_c import variational_em

WORK = ExperimentWork(None, 1, lambda *given: None, lambda *given: None)
WORDS = ["bank", "money", "loan", "river", "water", "fish"]


@pytest.fixture
def files(tmp_path):
    """Counts of documents about money or about water, in which bank-money and river-water always come together."""
    chance, lines = np.random.default_rng(0), []
    for number in range(60):
        first = 0 if number % 2 else 3
        words = (
            [first, first + 1, *([first + 2] if chance.random() < 0.5 else [])]
            if chance.random() < 0.7
            else [first + 2]
        )
        lines.append(f"{len(words)} {' '.join(f'{word}:{chance.integers(2, 5)}' for word in words)}")
    (tmp_path / "ap.dat").write_text("\n".join(lines) + "\n")
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return str(tmp_path / "ap.dat"), str(tmp_path / "vocab.txt")


def experiment(files, **given):
    options = {
        "rho": 0.5,
        "seeds": 2,
        "iterations": 5,
        "strongest": ["Money: bank-money"],
        "neighbours": ["Money: money-bank"],
    }
    return TopicEdges(counts=files[0], vocabulary=files[1], **{**options, **given})


def test_words_that_always_come_together_have_the_strongest_edge(files, monkeypatch):
    monkeypatch.setattr(experiments, "TOPICS", 1)
    made = experiment(files)
    assert isinstance(made, Experiment) and made.cases == ("Money",) and made.units == ("seed 0", "seed 1")
    edges, documents, named, joined, shown = made.measure("seed 0", WORK)["Money"]
    assert edges > 0 and documents > 0 and named == joined == shown == 1
    far = experiment(files, neighbours=["Money: bank-river"]).measure("seed 0", WORK)["Money"]
    assert far[3:] == [0, 0]


def test_counts_are_those_of_the_file(files):
    corpus = read_corpus(*files)
    with open(files[0]) as lines:
        for row, line in enumerate(lines):
            counts = dict(entry.split(":") for entry in line.split()[1:])
            assert corpus.counts[[row]].toarray()[0].tolist() == [float(counts.get(str(word), 0)) for word in range(6)]
    assert corpus.words == WORDS and corpus.counts.shape == (60, 6)


def test_topics_by_variational_em_raise_the_bound(files):
    counts = read_corpus(*files).counts
    bounds = [variational_em(counts, 2, 0, iterations).bound for iterations in (1, 3, 10)]
    assert bounds == sorted(bounds) and bounds[0] < bounds[-1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strongest": ["Money bank"]}, "strongest has 'Money bank'; write a topic and edges"),
        ({"neighbours": ["War: bank-money"]}, "name different topics"),
        ({"strongest": ["Money: bank-coin"]}, "coin is no word of"),
    ],
)
def test_a_mistake_costs_a_sentence(files, given, message):
    with pytest.raises(InputError, match=message):
        experiment(files, **given).measure("seed 0", WORK)


def test_a_damaged_file_costs_a_sentence(files):
    with open(files[0], "a") as file:
        file.write("1 9:1\n")
    with pytest.raises(InputError, match="line 61: '9:1' is no word:count of a vocabulary of 6 words"):
        read_corpus(*files)
