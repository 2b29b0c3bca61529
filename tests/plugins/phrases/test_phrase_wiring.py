"""Tests of how the steps of mining are put together: what quality does in segmentation, and what each step is given."""

from __future__ import annotations

import numpy as np
import pytest
from test_phrase_mining import STOPS, collection, text_of

import sublex
from sublex.contracts.base import Query, QueryTerm
from sublex.estimators.phrases.lexicon import COMMON_SHARE
from sublex.estimators.phrases.phrase_list import NAMES
from sublex_phrases import PARAMS, make, mining, segmentation
from sublex_phrases.mining import mine
from sublex_phrases.ngrams import frequent
from sublex_phrases.quality import BEST_SHARE, ENOUGH, RANKED, _best
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


def test_the_features_of_a_phrase_are_those_counted_place_by_place():
    text = text_of(*collection(texts=150))
    found = mine(text, support=5)
    rows = {
        tuple(row[row >= 0].tolist()): (int(count), dict(zip(NAMES, values, strict=False)))
        for row, count, values in zip(found.ngrams.sequences(), found.ngrams.counts, found.table.tolist(), strict=True)
    }
    units, begins = text.units.tolist(), [0, *text.ends.tolist()[:-1]]
    texts = [set(units[begin:end]) for begin, end in zip(begins, text.ends.tolist(), strict=True)]
    idf = {unit: np.log(len(texts) / sum(unit in each for each in texts)) for unit in set(units)}
    is_stop = {unit: text.lexicon.words[unit] in STOPS for unit in idf}
    chosen = [sequence for sequence in rows if len(sequence) > 1]
    for sequence in [chosen[k] for k in np.random.default_rng(0).choice(len(chosen), 25, replace=False)]:
        count, row = rows[sequence]
        size, own = len(sequence), [idf[unit] for unit in sequence]
        common = [is_stop[unit] or idf[unit] <= -np.log(COMMON_SHARE) for unit in sequence]
        expected = {
            "words": size, "mean_idf": np.mean(own), "least_idf": min(own), "largest_idf": max(own), "first_idf": own[0],
            "last_idf": own[-1], "stops": np.mean(common), "first_stop": float(is_stop[sequence[0]]),
            "last_stop": float(is_stop[sequence[-1]]),
            "of_prefix": count / rows[sequence[:-1]][0], "of_suffix": count / rows[sequence[1:]][0],
        }  # fmt: skip
        longer = {"right": [], "left": []}
        for other, (times, _) in rows.items():
            if len(other) == size + 1:
                longer["right"] += [times] if other[:-1] == sequence else []
                longer["left"] += [times] if other[1:] == sequence else []
        for side, each in longer.items():
            expected[side] = max(each, default=0) / count
            # The entropy of the next unit, if each occurrence that no frequent extension has is one of a kind.
            shares = [times / count for times in each] + [1 / count] * (count - sum(each))
            expected[f"{side}_choice"] = -sum(share * np.log(share) for share in shares)
        assert {name: row[name] for name in expected} == pytest.approx(expected), sequence


def test_terms_are_added_to_a_query_with_the_weight_that_is_asked_for(tmp_path):
    texts = collection()
    texts = [text + " convolutional kernel machine ( CKM ) works" for text in texts[:40]] + texts[40:]
    index = sublex.build([{"id": str(k), "text": text} for k, text in enumerate(texts)], tmp_path / "i")
    index.fit("phrases(support=5)")

    def added(*terms: QueryTerm) -> dict[str, float]:
        found = index.pipeline("phrases(support=5, weight=0.7) >> BM25").answer(Query("", terms), 5).query.terms
        return {term.term: term.weight for term in found if term.origin != "query"}

    words = [index.analyze(word)[0] for word in ("convolutional", "kernel", "machine")]
    assert added(QueryTerm("ckm", 2.0)) == pytest.approx(dict.fromkeys(words, 1.4))
    # A phrase is as heavy as its lightest word.
    assert added(
        *(QueryTerm(word, weight) for word, weight in zip(words, (3.0, 0.5, 2.0), strict=True))
    ) == pytest.approx({"ckm": 0.35})
    card = index.card("phrases(support=5)")
    phrases = index.fitted_model("phrases(support=5)").model.phrases
    sizes = [len(name.split()) for name in phrases.names]
    assert card["phrases of several words"] == sum(size > 1 for size in sizes)
    assert card["single words"] == sum(size == 1 for size in sizes)


def test_without_examples_the_best_sequences_are_those_with_the_largest_sum_of_ranks():
    table = np.random.default_rng(0).integers(0, 9, (400, len(NAMES))).astype(float)
    table[:, [NAMES.index("first_stop"), NAMES.index("last_stop")]] = np.random.default_rng(1).random((400, 2)) < 0.3
    sums = np.zeros(400)
    for name, weight in RANKED.items():
        values = sorted(set(table[:, NAMES.index(name)]))
        sums += [weight * values.index(value) / (len(values) - 1) for value in table[:, NAMES.index(name)]]
    stops = table[:, NAMES.index("first_stop")] + table[:, NAMES.index("last_stop")] > 0
    order = [row for row in np.lexsort((np.arange(400), -sums)).tolist() if not stops[row]]
    number = max(ENOUGH, int(BEST_SHARE * 400))
    assert _best(table).tolist() == sorted(order[:number]) and number == 40
