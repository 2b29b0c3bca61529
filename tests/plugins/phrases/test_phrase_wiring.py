"""Tests of how the steps of mining are put together: what quality does in segmentation, and what each step is given."""

from __future__ import annotations

import numpy as np
import pytest
from test_phrase_mining import collection, text_of

from sublex_phrases import PARAMS, make, mining, segmentation
from sublex_phrases.mining import mine
from sublex_phrases.ngrams import frequent
from sublex_phrases.segmentation import rectify, segment, weights


def test_a_weight_is_the_sum_of_the_logarithms_of_the_paper():
    text = text_of("a b c", "a b", "b c", "a")
    ngrams = frequent(text, 1, 3)
    counts = np.arange(len(ngrams.parents)) % 4 + 0.0
    quality = np.linspace(0.1, 1, len(counts))
    found = weights(ngrams, counts, quality, 0.7)
    longest = int(ngrams.lengths.max())
    total = sum(np.exp(-0.7 * k) for k in range(longest))
    assert longest == 3 and len(counts) == 6
    for node, length in enumerate(ngrams.lengths.tolist()):
        count = max(counts[node], 0.5) if length == 1 else counts[node]
        of_length = counts[ngrams.lengths == length].sum()
        if not count:
            assert found[node] == -np.inf
            continue
        prior = np.exp(-0.7 * (length - 1)) / total
        assert found[node] == pytest.approx(np.log(count / of_length) + np.log(prior) + np.log(quality[node])), node


def node_of(text, ngrams, words: str) -> int:
    """Return the node of words that are separated by blanks."""
    (node,) = ngrams.nodes([tuple(text.lexicon.unit(word, word) for word in words.split())])
    return node


@pytest.mark.parametrize("better, worse", [("x y", "y z"), ("y z", "x y")])
def test_of_two_phrases_that_share_a_word_segmentation_takes_the_better(better, worse):
    # Both phrases occur equally often, and so do their first and last words.
    text = text_of(*["x y z"] * 30, *["x y , z"] * 5, *["x , y z"] * 5)
    ngrams = frequent(text, 2, 2)
    assert ngrams.counts[node_of(text, ngrams, "x y")] == ngrams.counts[node_of(text, ngrams, "y z")]
    quality = np.ones(len(ngrams.parents))
    quality[node_of(text, ngrams, better)], quality[node_of(text, ngrams, worse)] = 0.9, 0.5
    good = np.array([node_of(text, ngrams, better), node_of(text, ngrams, worse)])
    done = rectify(text, ngrams, quality, good, 1, ngrams.counts)
    assert done.counts[node_of(text, ngrams, better)] == 35
    # Of the other phrase, the five places are left where it stands alone.
    assert done.counts[node_of(text, ngrams, worse)] == 5


def test_a_later_round_uses_the_counts_of_the_round_before(monkeypatch):
    text = text_of(*["x y z"] * 30, *["x y , z"] * 5, *["x , y z"] * 5)
    ngrams = frequent(text, 2, 2)
    quality = np.ones(len(ngrams.parents))
    quality[node_of(text, ngrams, "x y")] = 0.9
    quality[node_of(text, ngrams, "y z")] = 0.5
    given = []
    real = segmentation.weights
    monkeypatch.setattr(
        segmentation, "weights", lambda n, counts, *more: given.append(counts.copy()) or real(n, counts, *more)
    )
    good = np.array([node_of(text, ngrams, "x y")])
    first = rectify(text, ngrams, quality, good, 1, ngrams.counts)
    assert all((counts == ngrams.counts).all() for counts in given)
    given.clear()
    rectify(text, ngrams, quality, good, 2, ngrams.counts)
    assert (given[0] == ngrams.counts).all() and (given[-1] == first.counts).all()


def test_segmentation_of_mining_weighs_sequences_by_their_quality(monkeypatch):
    text = text_of(*collection(texts=150))
    given, judged = [], []
    real_rectify, real_judge = mining.rectify, mining.judge

    def judge(*asked):
        result = real_judge(*asked)
        judged.append(result)
        return result

    def rectified(text, ngrams, quality, good, rounds, counts, run):
        given.append((quality.copy(), good, rounds, counts.copy()))
        return real_rectify(text, ngrams, quality, good, rounds, counts, run)

    monkeypatch.setattr(mining, "judge", judge)
    monkeypatch.setattr(mining, "rectify", rectified)
    found = mine(text, support=5)
    assert len(given) == len(judged) == 2 and [rounds for _, _, rounds, _ in given] == [3, 1]
    for (quality, good, _, _), (own, known) in zip(given, judged, strict=True):
        assert (quality == own).all() and (good == known).all()
        assert len(np.unique(quality[found.ngrams.lengths > 1])) > 5
    assert (given[0][3] == found.ngrams.counts).all() and (given[1][3] != found.ngrams.counts).any()


def test_the_last_segmentation_has_the_chosen_phrases_alone():
    text = text_of(*collection(texts=150))
    found = mine(text, support=5, quality=0.6)
    several = found.ngrams.lengths > 1
    chosen = found.nodes[found.ngrams.lengths[found.nodes] > 1]
    assert (found.judged[chosen] >= 0.6).all()
    finite = np.flatnonzero(several & np.isfinite(found.weights))
    assert {*chosen.tolist(), *found.aliases} >= {*finite.tolist()} or (found.judged[finite] >= 0.6).all()
    counts = segment(text, found.ngrams, found.weights).counts
    alone = [k for k, node in enumerate(found.nodes.tolist()) if k not in found.aliases.values()]
    assert found.mentions[alone].tolist() == counts[found.nodes[alone]].tolist()


def test_parameters_of_an_expression_reach_mining(index, monkeypatch):
    from sublex_phrases import expander

    given = []
    real = expander.mine
    monkeypatch.setattr(expander, "mine", lambda *asked: given.append(asked) or real(*asked))
    index.fit("phrases(support=3, quality=0.4)")
    assert given[0][1:3] == (3, 0.4) and given[0][4] is None
    made = make(**{param.name: param.default for param in PARAMS} | {"weight": 0.8, "support": 4, "quality": 0.9})
    assert (made.weight, made.support, made.quality, made.is_listed) == (0.8, 4, 0.9, False)
