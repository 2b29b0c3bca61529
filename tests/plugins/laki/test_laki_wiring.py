"""Tests of how LAKI's parts are put together. What they expect is worked by hand, from the formulas of the paper."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import sublex
from sublex.contracts.base import Document
from sublex.errors import InputError
from sublex.pipeline.index import Index
from sublex_laki import PARAMS, make, operations, representation
from sublex_laki.estimator import encode, evidence, structure, unit_vectors
from sublex_laki.estimator.certainty import facts_of_phrases
from sublex_laki.estimator.network import Network, network_of
from sublex_laki.keyphrases import Keyphrases

# The leaks of the network of one keyphrase below, of the keyphrase and of its units.
PRIOR, LEAK = 0.2, 0.1


def one_keyphrase(*weights: float) -> Network:
    """Return a network of one keyphrase with links to units. The first unit mentions the keyphrase."""
    leaks = np.array([PRIOR, *[LEAK] * len(weights)])
    return network_of(csr_array([[0.0, *weights]]), leaks, np.array([0]))


def chance_of(weights: list[float], counts: list[int]) -> float:
    """Return the probability of the keyphrase given the counts of its units, by equation 1. Each copy of a unit is a child of its own."""
    odds = np.expm1(PRIOR)
    for weight, count in zip(weights, counts, strict=True):
        present = (1 - np.exp(-LEAK - weight)) / (1 - np.exp(-LEAK))
        odds *= present**count if count else np.exp(-weight)
    return odds / (1 + odds)


# Inference.


@pytest.mark.parametrize("method", ["propagation", "gibbs"])
def test_each_copy_of_a_unit_speaks_for_its_keyphrase(method):
    weights = [0.4, 0.3]
    for counts in ([1, 1], [3, 1], [0, 7]):
        found = encode(one_keyphrase(*weights), csr_array([counts]), method=method).toarray()[0, 0]
        assert found == pytest.approx(chance_of(weights, counts), abs=2e-3), counts


def with_params(network: Network, **params: Any) -> Any:
    """Return a representation with a network, made with some parameters and the defaults of all others."""
    made = make(**{param.name: param.default for param in PARAMS} | params)
    made.network = network
    return made


def test_cap_bounds_the_link_from_a_keyphrase_to_its_own_unit_and_no_other():
    links = np.zeros((2, 6))
    # The keyphrases are mentioned by the units 1 and 2; one leads to the other, and both to units of other keyphrases.
    links[0] = 0, 2.5, 2.0, 3.0, 0.2, 2.2
    links[1] = 0, 0, 1.9, 0.5, 2.4, 2.1
    network = network_of(csr_array(links), np.full(6, 0.1), np.array([1, 2]))
    capped = with_params(network, cap=0.7).capped
    expected = links.copy()
    expected[0, 2 + 1], expected[1, 2 + 2] = 0.7, 0.7
    assert capped.children.toarray() == pytest.approx(expected)
    assert capped.leaks == pytest.approx(0.1)
    assert network.children.toarray() == pytest.approx(links), "what was learned stays"


@pytest.mark.parametrize("inference", ["propagation", "gibbs"])
def test_texts_are_inferred_with_the_capped_weight(inference):
    model = with_params(one_keyphrase(3.0, 2.0), cap=0.6, absent="all", inference=inference)
    for counts in ([0, 2], [1, 0], [1, 1]):
        found = model.encode_units(csr_array([counts]), 0.0).toarray()[0, 0]
        assert found == pytest.approx(chance_of([0.6, 2.0], counts), abs=4e-3), counts


def test_what_evokes_a_keyphrase_is_inferred_with_the_capped_weight():
    counts = [1, 1]
    model = with_params(one_keyphrase(3.0, 2.0), cap=0.6, absent="all", inference="gibbs")
    found = model.evoked(csr_array([counts])).toarray()[0]
    # The keyphrase is on, and its link is one of those that turn the unit on.
    for unit, weight in enumerate((0.6, 2.0)):
        share = (1 - np.exp(-weight)) / (1 - np.exp(-LEAK - weight))
        assert found[unit] == pytest.approx(chance_of([0.6, 2.0], counts) * share, abs=0.03)


def test_a_short_text_is_read_as_a_part_only_if_it_is_told_to():
    # The usual text has five units, and this one has one; then only a fifth of each absent unit's weight counts.
    weights, counts = [0.4] + 11 * [2.0], [1] + 11 * [0]
    model = with_params(one_keyphrase(*weights), cap=100, absent="all", inference="propagation")
    assert model.encode_units(csr_array([counts]), 0.0).toarray()[0, 0] == pytest.approx(
        chance_of(weights, counts), abs=2e-3
    )
    part = with_params(one_keyphrase(*weights), cap=100, absent="part", inference="propagation")
    part.usual_length = 5.0
    odds = np.expm1(PRIOR) * (1 - np.exp(-LEAK - 0.4)) / (1 - np.exp(-LEAK)) * np.exp(-11 * 2.0 / 5)
    assert part.encode_units(csr_array([counts]), 0.0).toarray()[0, 0] == pytest.approx(odds / (1 + odds), abs=2e-3)


def test_a_chain_has_as_many_sweeps_as_are_asked_for_and_forgets_a_tenth_of_them():
    network = one_keyphrase(0.4, 0.3)
    rows = csr_array(np.repeat([[1.0, 0], [0, 1], [2, 3]], 5, axis=0) + np.arange(15)[:, None])
    for sweeps, counted in ((1, 1), (10, 9), (20, 18)):
        found = encode(network, rows, method="gibbs", estimate="samples", sweeps=sweeps).toarray() * counted
        assert found == pytest.approx(np.round(found), abs=1e-9), sweeps
        assert (found % 1 < 1e-9).all() and found.max() <= counted


def test_the_seed_of_evidence_draws_its_chain():
    network = one_keyphrase(0.4, 0.3)
    found = [evidence(network, csr_array([[1.0, 1.0]]), sweeps=30, seed=seed).toarray().tolist() for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


def test_a_broader_keyphrase_comes_with_the_probability_that_it_turns_the_other_on():
    links = np.zeros((2, 4))
    links[0, 1], links[0, 2], links[1, 3] = 0.7, 1.0, 1.0
    network = network_of(csr_array(links), np.full(4, 0.1), np.array([0, 1]))
    units = SimpleNamespace(name=lambda unit, surface: "", names=lambda numbers, surface: ["network", "sensor network"])
    ((name, weight),) = Keyphrases(network, units, str).broader(1)  # type: ignore[arg-type]
    assert name == "network" and weight == pytest.approx(1 - np.exp(-0.7))


# Structure.


def test_a_network_knows_units_to_which_nothing_leads():
    counts, vectors = np.ones((3, 5)), np.array([[1.0, 0], [1, 0], [0, 1], [0, 0], [0, 0]])
    network = structure(csr_array(counts), [0, 1], vectors)
    assert (network.keyphrases, network.units, len(network.leaks)) == (2, 5, 7)


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"alpha": 1.5}, {"beta": 0.0}, {"beta": 1.5}, {"most": 0}])
def test_a_network_without_sense_is_refused(wrong):
    with pytest.raises(InputError, match="must be"):
        structure(csr_array(np.ones((3, 3))), [0, 1], np.ones((3, 2)), **wrong)


# Vectors.


def test_vectors_have_the_cosines_of_rooted_singular_values():
    counts = np.random.default_rng(0).poisson(0.6, (40, 6)).astype(float)
    n, by_context, by_unit = counts.sum(), counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    with np.errstate(divide="ignore"):
        values = np.maximum(np.log(counts * n / (by_context * by_unit)), 0)
    _, singular, right = np.linalg.svd(values, full_matrices=False)

    def cosines(power: float) -> np.ndarray:
        vectors = right.T * singular**power
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors @ vectors.T

    found = unit_vectors(csr_array(counts), 6)
    assert found @ found.T == pytest.approx(cosines(0.5), abs=1e-4)
    for other in (0, 1):
        assert np.abs(cosines(other) - cosines(0.5)).max() > 0.02
    fewer = unit_vectors(csr_array(counts), 3)
    assert fewer.shape == (6, 3)
    # A random start decides the last digits.
    many = csr_array(np.random.default_rng(1).poisson(0.3, (300, 200)).astype(float))
    drawn = [unit_vectors(many, 5, seed).tobytes() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


# Fitting.


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, str]:
    """An index with two phrases, and an expression of a model that learns nothing and takes similarities from a file.

    "open water" is in 20 of 300 documents and "deep lake" in 10, of which 6 have both. The cosine of the phrases is .8, that of
    "open water" and "reed" .6, that of "deep lake" and "reed" .96, and that of "open water" and "mud" .28.
    """
    folder = tmp_path_factory.mktemp("linked")
    texts = ["an open water, reed" for _ in range(14)]
    texts += ["an open water, a deep lake" for _ in range(6)]
    texts += ["a deep lake, mud" for _ in range(4)] + ["reed, mud" for _ in range(6)]
    # Words in a large share of the documents are no units.
    texts += [f"other{k % 90}" for k in range(270)]
    index = sublex.build([Document(f"d{k}", text) for k, text in enumerate(texts)], folder / "index", analyzer="plain")
    (folder / "phrases.txt").write_text("open water\ndeep lake\n", encoding="utf-8")
    lines = "open_water 1 0\ndeep_lake .8 .6\nreed .6 .8\nmud .28 .96\nopen 1 0\nwater 1 0\ndeep .8 .6\nlake .8 .6\n"
    (folder / "vectors.txt").write_text(lines, encoding="utf-8")
    phrases, words = folder / "phrases.txt", folder / "vectors.txt"
    return (
        index,
        f'phrases=phrases(support=2, list="{phrases}"), words=vectors("{words}"), max_df=1, weights=similarity',
    )


def links_of(linked: tuple[Index, str], options: str) -> set[tuple[str, str]]:
    """Return the links of a network by names. A keyphrase and its own unit have different names."""
    index, given = linked
    expression = f"laki({given}, {options})"
    index.fit(expression)
    model = index.representation(expression).model
    network: Network = model.network
    units = [model.units.name(unit, str) for unit in range(network.units)]
    names = [f"{units[unit].upper()}" for unit in network.phrases.tolist()] + units
    return {(names[a], names[b]) for a, b in zip(*network.children.tocoo().coords, strict=True)}


OWN = {("OPEN WATER", "open water"), ("DEEP LAKE", "deep lake")}
BETWEEN = {("OPEN WATER", "DEEP LAKE")}
LAKE = {("DEEP LAKE", "open water"), ("OPEN WATER", "deep lake"), ("DEEP LAKE", "reed"), ("DEEP LAKE", "mud")}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # Six of the ten documents of "deep lake" have "open water".
        ("alpha=.6, beta=.7", OWN | BETWEEN | LAKE),
        ("alpha=.61, beta=.7", OWN | LAKE),
        ("alpha=.6, beta=.85", OWN | {("DEEP LAKE", "reed")}),
        ("alpha=.6, beta=.5", OWN | BETWEEN | LAKE | {("OPEN WATER", "reed")}),
        ("alpha=.6, beta=.2", OWN | BETWEEN | LAKE | {("OPEN WATER", "reed"), ("OPEN WATER", "mud")}),
        ("alpha=.6, beta=.2, links=2", OWN | BETWEEN | {("OPEN WATER", "deep lake"), ("DEEP LAKE", "reed")}),
    ],
)
def test_alpha_beta_and_links_decide_which_nodes_are_linked(linked, options, expected):
    assert links_of(linked, options) == expected


def test_max_df_leaves_out_keyphrases_of_many_documents(linked):
    index, given = linked
    expression = f"laki({given})".replace("max_df=1", "max_df={}")
    index.fit(expression.format(20 / 300))
    with pytest.raises(InputError, match="fewer than 2 keyphrases"):
        index.fit(expression.format(19 / 300))


def test_units_to_which_texts_do_not_come_back_are_no_keyphrases(index: Index, monkeypatch: pytest.MonkeyPatch):
    asked: list[tuple[np.ndarray, np.ndarray, float]] = []

    def all_but_first(matrix: csr_array, candidates: np.ndarray, share: float) -> np.ndarray:
        asked.append((matrix.sum(axis=0), candidates.copy(), share))
        kept = np.ones(len(candidates), bool)
        kept[np.flatnonzero(candidates)[0]] = False
        return kept

    monkeypatch.setattr(representation, "come_back", all_but_first)
    expression = "laki(phrases=phrases(support=3), again=0.25, max_df=1, width=2, named=0, focus=0)"
    index.fit(expression)
    ((counts, candidates, share),) = asked
    model = index.representation(expression).model
    assert share == 0.25 and len(counts) == len(candidates)
    phrases = model.units.phrases
    assert candidates[: len(phrases)].all() and not candidates[len(phrases) :].any()
    names = [model.units.name(unit, str) for unit in model.network.phrases.tolist()]
    assert sorted(names) == sorted(phrases.names[1:])
    # What is no keyphrase stays a unit.
    assert phrases.names[0] in [model.units.name(unit, str) for unit in range(len(model.units))]


def test_workers_and_seed_reach_the_vectors(index: Index, monkeypatch: pytest.MonkeyPatch):
    given: list[tuple[Any, ...]] = []
    real = representation.decomposed
    monkeypatch.setattr(
        representation, "decomposed", lambda counts, *asked: given.append(asked) or real(counts, *asked)
    )
    index.fit("laki(phrases=phrases(support=3), max_df=1, width=7, seed=11, named=0, focus=0)", workers=3)
    assert given == [(7, 11, 3)]
    model = with_params(one_keyphrase(1.0))
    assert model.depends() == (model.params.phrases,)


def test_texts_of_a_file_are_read_in_blocks_one_after_another(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(operations, "BLOCK", 2)
    told: list[tuple[int, int]] = []
    context = SimpleNamespace(progress=lambda *about: nullcontext(lambda *counts: told.append(counts)))
    reader = SimpleNamespace(rows=lambda words: [[f"{word} read"] for word in words])
    found = SimpleNamespace(inputs=SimpleNamespace(of_documents=lambda block: [each.docno for each in block]))
    documents = [Document(name, "") for name in "abcde"]
    rows = operations._read(context, reader, found, documents, True)  # type: ignore[arg-type]
    assert rows == [(document, [f"{document.docno} read"]) for document in documents]
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_keyphrase_leads_to_the_units_that_say_most_about_it():
    # Unit 0 is the keyphrase, in 10 of 400 documents. Unit 1 is in 8 of these and in 80 others, unit 2 in 6 of these alone.
    counts = np.zeros((400, 3))
    counts[:10, 0] = counts[:8, 1] = counts[10:90, 1] = counts[:6, 2] = 1
    # By their number unit 1 comes first; times the logarithm of how much more usual it is there, unit 2 does:
    # 8 log(.607 / .22) = 8.1 and 6 log(.405 / .015) = 19.8.
    found = structure(csr_array(counts), np.array([0]), np.eye(3), most=2)
    nodes = np.repeat(np.arange(len(found.leaks)), np.diff(found.starts))
    assert sorted(nodes - found.keyphrases) == [0, 2]


def test_the_facts_about_keyphrases_are_rarity_and_two_ranks():
    counts = np.zeros((40, 3))
    counts[:1, 0] = counts[:16, 1] = 1
    counts[:2, 1] = 3
    rarity, again, alike = facts_of_phrases(csr_array(counts), np.array([0, 1]), np.array([3.0, 2.0]))
    assert rarity == pytest.approx([np.log(40), np.log(40 / 16)])
    # Four documents are added, one of which comes back: (0 + 1) / (1 + 4) is above (2 + 1) / (16 + 4).
    assert again.tolist() == alike.tolist() == [0.75, 0.25]
