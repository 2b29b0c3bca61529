"""Tests of what people are shown of a text: phrases too rare for the network, and strengths. Expectations are worked by hand."""

from __future__ import annotations

import json
from math import exp, log, log1p
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command import invoke
from scipy.sparse import csr_array

import sublex
from sublex.contracts.base import Break, Document, TextWords
from sublex.estimators.phrases.lexicon import Lexicon
from sublex_laki.estimator import weighed
from sublex_laki.nearness import LatentFacts, Nearness, Odds
from sublex_laki.rare import BASE, WEIGHTS, ChunkedWords, chunks, read_words, written
from sublex_laki.shown import (
    ABOUT,
    EVIDENCE,
    LEAST_SHOWN,
    ODDS,
    PLACE,
    RELATED,
    START,
    ShownKeyphrase,
    _latent,
    distinct,
    of_texts,
    without_parts,
)

# What a made model knows of words: how likely each begins and ends a phrase, its idf and its residual idf.
KNOWN = {
    "sparse": (0.9, 0.1, 4.0, 0.5), "random": (0.8, 0.2, 3.0, 0.4), "graph": (0.5, 0.9, 2.0, 0.6), "has": (0.1, 0.2, 1.0, 0.1),
    "rapid": (0.7, 0.2, 5.0, 0.2), "is": (0.1, 0.1, 0.5, 0.0),
}  # fmt: skip


def phrases(stops: tuple[str, ...] = ("the", "of")) -> Any:
    """Return what `read_words` reads of a model of phrases. Stop words follow the known words."""
    table = np.array([*KNOWN.values(), *[(0.5, 0.5, 0.2, 0.0)] * len(stops)], np.float32)
    lexicon = Lexicon(KNOWN, stops)
    return SimpleNamespace(
        lexicon=lexicon, word_begins=table[:, 0], word_ends=table[:, 1], word_idf=table[:, 2], word_residual=table[:, 3]
    )


def read(text: str, model: Any = None, stops: tuple[str, ...] = ("the", "of")) -> tuple[ChunkedWords, TextWords]:
    """Return the words of a text: a comma stands alone, and a hyphen joins two words."""
    model, surfaces, breaks, wall = model or phrases(stops), [], [], Break.START
    for part in text.replace(",", " , ").split():
        if part == ",":
            wall = Break.COMMA
            continue
        for k, word in enumerate(part.split("-")):
            surfaces.append(word)
            breaks.append(Break.HYPHEN if k else wall)
            wall = Break(0)
    terms = ["" if word in stops else word.casefold() for word in surfaces]
    ends = np.array([len(surfaces)])
    texts = TextWords(surfaces, terms, np.arange(len(surfaces), dtype=np.int32), np.array(breaks, np.uint16), ends)
    units = np.array([model.lexicon.unit(*pair) for pair in zip(surfaces, terms, strict=True)], np.int32)
    return read_words(model, units, texts), texts


def found(text: str) -> list[str]:
    words, texts = read(text)
    return [written(texts, *span) for chunk in chunks(words, 0, len(texts.words)) for span in chunk.spans]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("the sparse random graph", ["sparse random graph"]),
        ("sparse-random graph, graph", ["sparse-random graph", "graph"]),
        ("sparse graph of the graph", ["sparse graph", "graph"]),
        ("graph has sparse graph", ["graph", "sparse graph"]),
        ("graph rapid", ["graph"]),
        ("rapid", []),
        ("12 graph", ["graph"]),
        ("graph 12", ["graph 12"]),
        ("1984, 12 12", []),
        ("Erdős graph", ["Erdős graph"]),
        ("sparse random sparse random sparse graph", ["random sparse random sparse graph"]),
        ("sparse-of-the-random graph of graph", ["sparse-of-the-random graph", "graph"]),
        ("random-is-sparse graph", ["random-is-sparse graph"]),
        ("sparse-of graph", ["graph"]),
        ("sparse of-the graph", ["graph"]),
        ("graph-of-sparse random sparse graph", ["sparse random sparse graph"]),
        ("", []),
    ],
)
def test_phrases_stand_between_walls_stop_words_and_words_that_do_neither(text, expected):
    assert found(text) == expected


def test_an_analyzer_without_stop_words_has_common_words_for_them():
    words, texts = read("graph is graph", phrases(()), ())
    assert [chunk.terms for chunk in chunks(words, 0, len(texts.words))] == [("graph",)]
    assert words.outside.tolist() == [False, True, False]


def test_the_facts_about_a_phrase_are_these():
    words, texts = read("graph, the sparse random graph, sparse random graph")
    one, other = chunks(words, 0, len(texts.words))
    # The largest idf is that of "rapid", 5. Unknown words would have it too.
    # The text has "graph" three times, and "sparse" and "random" twice.
    assert one.facts == pytest.approx([0, 0, 2 / 5, 0.6, 0.5, 0.9, 0, log(3)], rel=1e-6)
    assert other.spans == [(2, 5), (5, 8)]
    often = (log(2) + log(2) + log(3)) / 3
    assert other.facts == pytest.approx([1, log1p(2), 3 / 5, 0.5, 0.9, 0.9, log(2), often], rel=1e-6)
    odds = BASE + sum(weight * fact for weight, fact in zip(WEIGHTS.values(), other.facts, strict=True))
    assert other.strength == pytest.approx(1 / (1 + exp(-odds)))
    assert [*WEIGHTS] == ["several", "place", "idf", "residual", "begins", "ends", "times", "returns"]
    # A stop word within a compound has no term, and adds nothing to the means.
    compound = chunks(read("sparse-of-random graph")[0], 0, 4)[0]
    assert compound.terms == ("sparse", "random", "graph")
    assert compound.facts == pytest.approx([1, 0, 3 / 5, 0.5, 0.9, 0.9, 0, 0])
    unknown = chunks(read("Erdős")[0], 0, 1)[0]
    assert unknown.facts == pytest.approx([0, 0, 1, 0, 0.5, 0.5, 0, 0])


def item(text: str, strength: float) -> ShownKeyphrase:
    return ShownKeyphrase(text, tuple(text.split()), strength, None, True)


def test_what_says_nearly_the_same_is_left_out():
    def kept(*texts: str, strength: float = 0.4) -> list[str]:
        return [shown.name for shown in distinct([item(text, strength) for text in texts])]

    assert kept("random graph", "graph", "sparse random graph", "graph random", "random graph") == [
        "random graph",
        "graph random",
    ]
    assert kept("graph", "random graph") == ["graph", "random graph"], "a phrase says more than one of its words"
    assert kept("graph", "random graph", strength=0.5) == ["random graph"], "unless the text is likely about the phrase"
    listed = [item(text, 0.9) for text in ("graph", "random graph", "random", "sparse random graph")]
    assert [shown.name for shown in without_parts(listed)] == ["graph", "random graph", "sparse random graph"]


# In a fitted model.


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    chance = np.random.default_rng(3)
    fields = (
        "river shore boat mud reed heron stream lake pond".split(),
        "loan teller coin vault client broker bond".split(),
    )
    own = (("otter colony", "flood plain"), ("credit union", "interest rate"))
    documents = []
    for k in range(160):
        parts = [" and ".join(part) for part in chance.choice(fields[k % 2], (2, 3), replace=False)]
        parts += chance.choice(own[k % 2], chance.integers(0, 3), replace=False).tolist()
        documents.append(Document(f"d{k}", ", ".join(parts), ""))
    file = tmp_path_factory.mktemp("list") / "phrases.txt"
    file.write_text("otter colony\nflood plain\ncredit union\ninterest rate\n", encoding="utf-8")
    index = sublex.build(documents, tmp_path_factory.mktemp("shown") / "index")
    model = f'laki(phrases=phrases(support=3, list="{file}"), max_df=1, width=4)'
    index.fit(model)
    return SimpleNamespace(index=index, model=model)


TEXT = "the boat and the otter colony, zyzzyva moth and the river, otter colony"


def listed(fitted: SimpleNamespace, more: str, text: str = TEXT) -> list[dict[str, Any]]:
    expression = fitted.model[:-1] + f", {more})"
    done = invoke("keyphrases", fitted.index.path, expression, text, "--perhaps", "--format", "json", "-n", "50")
    assert done.code == 0, done.messages
    rows: list[dict[str, Any]] = json.loads(done.output)
    return rows


def test_rare_phrases_are_listed_unless_only_the_network_is_asked(fitted):
    shown = listed(fitted, "strong=0")
    strengths = [row["strength"] for row in shown]
    assert len(set(strengths)) > 1 and strengths == sorted(strengths, reverse=True)
    rows = {row["keyphrase"]: row for row in shown}
    assert rows["zyzzyva moth"]["mentioned"] == "yes" and rows["zyzzyva moth"]["evoked by"] == ""
    alone = listed(fitted, "strong=0, shown=network")
    assert "otter colony" in {row["keyphrase"] for row in alone} and "zyzzyva moth" not in {
        row["keyphrase"] for row in alone
    }
    loaded = fitted.index.representation(fitted.model)
    counts = loaded.model.units.of_texts(loaded.inputs.of_texts([TEXT]))
    stored = dict(zip(loaded.labels, loaded.model.encode_units(counts).toarray()[0].tolist(), strict=True))
    for row in alone:
        assert row["strength"] == pytest.approx(stored[row["keyphrase"]], abs=1e-4), (
            "the network's are those of the rows"
        )


def test_the_strength_of_a_mention_follows_its_place_and_the_rest_of_the_text(fitted):
    loaded = fitted.index.representation(fitted.model)
    model, counts = loaded.model, loaded.model.units.of_texts(loaded.inputs.of_texts([TEXT]))
    k = loaded.labels.index("otter colony")
    network, chance = model.network, float(model.encode_units(counts)[[0], [k]][0])
    # The evidence of the other units, by the definition: each unit of the text adds 1 + log(n) times the logarithm of how much
    # more likely the keyphrase makes it, and the units that it lacks subtract their weights, in part in a short text.
    row, evidence, present, total = counts.toarray()[0], 0.0, 0.0, 0.0
    for unit in range(network.units):
        node = network.keyphrases + unit
        for link in range(network.starts[node], network.starts[node + 1]):
            if network.parents[link] == k and unit != network.phrases[k]:
                weight, leak = network.weights[link], network.leaks[node]
                total += weight
                if row[unit]:
                    present += weight
                    ratio = (1 - exp(-leak - weight)) / (1 - exp(-leak))
                    evidence += (1 + log(row[unit])) * log(ratio)
    evidence -= min(1.0, np.count_nonzero(row) / model.usual_length) * (total - present)
    # Four words stand before the first "otter colony": the, boat, and, the.
    odds = START + ODDS * log(chance / (1 - chance)) + PLACE * log1p(4) + EVIDENCE * evidence
    shown = {row["keyphrase"]: row["strength"] for row in listed(fitted, "strong=0")}
    assert shown["otter colony"] == pytest.approx(1 / (1 + exp(-odds)), abs=1e-4)
    fitted.index.fit(fitted.model[:-1] + ", inference=propagation)")
    by_propagation = {row["keyphrase"]: row["strength"] for row in listed(fitted, "strong=0, inference=propagation")}
    other = fitted.index.representation(fitted.model[:-1] + ", inference=propagation)").model.encode_units(counts)
    assert by_propagation["otter colony"] == pytest.approx(float(csr_array(other)[[0], [k]][0]), abs=1e-4)


def logistic(odds: float) -> float:
    return 1 / (1 + exp(-odds))


def latent_by_hand(
    fitted: SimpleNamespace, text: str, shared: float, name: str = "flood plain"
) -> tuple[float, float, int]:
    """Return how likely a text is about a keyphrase that it does not mention, and related to it, if the network says .2; and the
    number of the keyphrase. Vectors and strengths are those of the model, and the rest is by the formula.
    """
    loaded = fitted.index.representation(fitted.model)
    model, network = loaded.model, loaded.model.network
    k = loaded.labels.index(name)
    texts = loaded.inputs.of_texts([text])
    own = model.vectors[network.phrases[k]].astype(float)
    whole = np.zeros_like(own)
    for unit, number in enumerate(model.units.of_texts(texts).toarray()[0]):
        whole += (1 + log(number)) * model.vectors[unit] if number else 0.0

    def cosine(first: np.ndarray, second: np.ndarray) -> float:
        return float(first @ second) / float(np.linalg.norm(first) * np.linalg.norm(second))

    near = [
        row["strength"]
        * cosine(own, model.vectors[network.phrases[loaded.labels.index(row["keyphrase"])]].astype(float))
        for row in listed(fitted, "strong=0, related=1", text)
        if row["keyphrase"] in loaded.labels and row["mentioned"] == "yes"
    ]
    facts = (log(0.2 / 0.8), shared, cosine(own, whole), max(near, default=0.0))
    about, related = (
        logistic(odds.start + sum(weight * fact for weight, fact in zip(odds[1:], facts, strict=True)))
        for odds in (ABOUT, RELATED)
    )
    return about, related, k


def test_a_latent_keyphrase_is_strong_by_its_words_and_by_vectors_of_text_and_mentions(fitted):
    loaded = fitted.index.representation(fitted.model)
    model, phrases = loaded.model, loaded.model.units.phrases
    lexicon = phrases.lexicon
    idf = {word: float(phrases.word_idf[lexicon.unit(word, word)]) for word in ("flood", "plain")}
    for text, share in (
        ("otter colony and shore, otter colony, flood, plain boat", 1.0),
        ("otter colony and lake, flood, boat, credit union", idf["flood"] / sum(idf.values())),
        ("credit union, loan", 0.0),
    ):
        about, related, k = latent_by_hand(fitted, text, share)
        texts = loaded.inputs.of_texts([text])
        counts, chances = model.units.of_texts(texts), csr_array([[0.2] * len(loaded.labels)])
        # A mention has the strength of the model.
        mentioned = counts[:, model.network.phrases].toarray() > 0
        chances = csr_array(np.where(mentioned, model.encode_units(counts).toarray(), chances.toarray()))
        evidence = weighed(model.network, counts, model.length)
        for least in (related - 1e-4, related + 1e-4):
            items = next(
                of_texts(model.keyphrases(loaded.view), texts, counts, chances, evidence, model.nearness, least)
            )
            latent = [item for item in items if item.keyphrase == k and not item.mentioned]
            if least > related or about < LEAST_SHOWN:
                assert not latent, text
            else:
                assert latent[0].strength == pytest.approx(about, abs=1e-4), text


def test_the_lengths_of_stored_vectors_are_the_idf_of_units(fitted):
    loaded = fitted.index.representation(fitted.model)
    model, documents = loaded.model, [f"{document.title} {document.text}" for document in fitted.index.documents()]
    df = (model.units.of_texts(loaded.inputs.of_texts(documents)).toarray() > 0).sum(axis=0)
    assert np.linalg.norm(model.vectors, axis=1) == pytest.approx(np.log(len(documents) / df), rel=1e-4)


def test_nearness_is_a_cosine_with_the_text_and_with_what_it_mentions():
    found = Nearness(np.array([[2.0, 0.0], [0.0, 3.0], [0.0, -1.0], [4.0, 4.0]]), np.array([3, 1, 2]))
    # The text has unit 0 once and unit 1 three times: (2, 3 (1 + log 3)).
    counts = csr_array([[1.0, 3.0, 0.0, 0.0]])
    alike, near = found.of([0, 2], counts, [1, 2], [0.5, 0.25])
    x, y = 2.0, 3 * (1 + log(3))
    assert alike == pytest.approx([(x + y) / (2 * (x * x + y * y)) ** 0.5, -y / (x * x + y * y) ** 0.5])
    # Keyphrase 0 has cosines of 2 ** -0.5 and its negative with keyphrases 1 and 2; keyphrase 2 has -1 and 1.
    assert near == pytest.approx([0.5 * 2**-0.5, 0.25])
    alone = found.of([1], counts, [], [])
    assert alone[1].tolist() == [0.0] and alone[0] == pytest.approx([y / (x * x + y * y) ** 0.5])


def test_log_odds_are_sums_of_the_facts():
    facts = LatentFacts(np.array([-1.0]), np.array([0.5]), np.array([0.25]), np.array([0.125]))
    assert Odds(0.5, 1, 2, 4, 8).chances(facts) == pytest.approx([logistic(0.5 - 1 + 1 + 1 + 1)])


def test_latent_keyphrases_that_are_hardly_related_are_listed_only_if_asked_for(fitted):
    names = [
        {
            row["keyphrase"]
            for row in listed(fitted, f"strong=0{more}", "otter colony, flood")
            if row["mentioned"] == "no"
        }
        for more in (", related=0", "", ", related=1")
    ]
    assert names == [{"flood plain"}, set(), set()]


def test_a_single_word_that_the_text_has_in_a_longer_phrase_is_no_latent_keyphrase():
    items = [
        ShownKeyphrase(" ".join(terms), terms, 0.2, k, False)
        for k, terms in enumerate([("graph",), ("random", "graph")])
    ]
    for shared, kept in (((1.0, 1.0), ["random graph"]), ((0.0, 0.6), ["graph", "random graph"])):
        facts = LatentFacts(np.zeros(2), np.array(shared), np.ones(2), np.ones(2))
        assert [item.name for item in _latent(items, facts, 0.5)] == kept


def test_the_shown_parameter_has_two_values(fitted):
    done = invoke("keyphrases", fitted.index.path, fitted.model[:-1] + ", shown=everything)", TEXT)
    assert done.code == 2 and "shown" in done.messages
