"""Tests of the plugin laki: fitting, scores, explanations, labels, filter, commands, determinism, and hostile input."""

from __future__ import annotations

import csv
import io
import json
from copy import copy
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from command import invoke
from scipy.sparse import csr_array
from shared import load_stored, stored_by

import sublex
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError
from sublex.estimators.phrases.lexicon import Lexicon
from sublex.estimators.phrases.phrase_list import NAMES
from sublex.index.check import check
from sublex.pipeline.index import Index
from sublex.testing import CHECKS, Subject
from sublex_laki import representation
from sublex_laki.candidates import are_named
from sublex_laki.estimator import concentration, encode
from sublex_laki.estimator.network import network_of
from sublex_laki.keyphrases import Keyphrases
from sublex_laki.representation import LAKIRepresentation
from sublex_laki.similarity import vectors_of_model
from sublex_laki.units import Units

WATER = (
    "river shore boat mud reed heron bridge stream lake pond dam canal ferry trout salmon willow harbour tide".split()
)
MONEY = "loan teller coin deposit vault branch client broker bond stock dividend pension audit tax ledger fund rent debt".split()
PAPER = "weights=similarity, iterations=10, inference=gibbs"
PHRASES = {"otter colony": WATER, "flood plain": WATER, "credit union": MONEY, "interest rate": MONEY}


def texts(number: int = 200, seed: int = 0) -> list[Document]:
    """Return documents about water and about money: words of the field, and one or two of its phrases in most."""
    chance, found = np.random.default_rng(seed), []
    for k in range(number):
        field = (WATER, MONEY)[k % 2]
        parts = [" and ".join(part) for part in chance.choice(field, (2, 3), replace=False)]
        phrases = [phrase for phrase, own in PHRASES.items() if own is field]
        parts += list(chance.choice(phrases, chance.integers(0, 3), replace=False))
        found.append(Document(f"d{k}", ", ".join(parts), "A title" if k % 3 else ""))
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An expression whose phrases are those of `PHRASES`."""
    file = tmp_path_factory.mktemp("list") / "phrases.txt"
    file.write_text("\n".join(PHRASES), encoding="utf-8")
    return f'laki(phrases=phrases(support=3, list="{file}"), max_df=1, width=4, {PAPER}, sweeps=500)'


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory, model: str) -> Index:
    """An index with keyphrases, which tests only read."""
    index = sublex.build(texts(), tmp_path_factory.mktemp("laki") / "fields")
    index.fit(model)
    return index


@pytest.fixture(scope="module")
def found(fitted: Index, model: str) -> SimpleNamespace:
    """The loaded representation, its model, and its keyphrases."""
    loaded = fitted.representation(model)
    return SimpleNamespace(loaded=loaded, model=loaded.model, keyphrases=loaded.model.keyphrases(loaded.view))


def chances(fitted: Index, found: SimpleNamespace, text: str) -> dict[str, float]:
    query = found.loaded.query(fitted.query(text))
    return dict(zip(found.keyphrases.names, query.chances.tolist(), strict=True))


# The model.


def test_the_keyphrases_are_the_phrases_and_a_text_is_about_those_of_its_field(fitted, found):
    assert set(found.keyphrases.names) == set(PHRASES) and not list(check(fitted.path))
    assert found.model.perplexities[-1] < found.model.perplexities[0]
    mentioned = chances(fitted, found, "the otter colony")
    assert mentioned["otter colony"] > 0.5 and mentioned["credit union"] < 0.05
    latent = chances(fitted, found, "a loan, the teller, a coin, the deposit, a vault, the client")
    assert min(latent["credit union"], latent["interest rate"]) > 4 * max(latent["otter colony"], latent["flood plain"])
    assert max(latent["credit union"], latent["interest rate"]) > 0.1, "no keyphrase is mentioned, but some are meant"


def test_a_short_text_evokes_less_if_all_units_that_it_lacks_count(found):
    whole = copy(found.model)
    whole.params = SimpleNamespace(**vars(whole.params) | {"absent": "all"})
    whole.__dict__.pop("length", None)
    counts = found.model.units.of_texts(found.loaded.view.words(0))
    counts.data[1:] = 0
    part, full = (one.encode_units(counts, 0.0).sum() for one in (found.model, whole))
    assert full < 0.9 * part and whole.length == 0
    lengths = np.diff(found.model.units.of_texts(found.loaded.inputs.of_documents(texts())).indptr)
    assert found.model.length == pytest.approx(lengths.mean(), rel=0.3)


def test_silhouettes_have_the_words_of_the_field(found):
    for number, phrase in enumerate(found.keyphrases.names):
        items = found.keyphrases.silhouette(number, 6)
        own = {*PHRASES[phrase], *(other for other in PHRASES if PHRASES[other] is PHRASES[phrase])}
        assert items[0].name == phrase or items[0].name in own
        assert sum(item.name in own for item in items) >= len(items) - 1
        assert all(0 < item.weight <= 1 for item in items)


def test_near_duplicates_are_left_out_of_a_silhouette():
    words = ["neural network", "neural networks", "training"]
    units = SimpleNamespace(name=lambda unit, surface: words[unit], names=lambda numbers, surface: [])
    network = network_of(csr_array(np.array([[0.0, 3.0, 2.0, 1.0]])), np.full(4, 0.1), np.array([0]))
    items = Keyphrases(network, units, str).silhouette(0, 3)  # type: ignore[arg-type]
    assert [item.name for item in items] == ["neural network", "training"]
    assert items[1].weight == pytest.approx(1 - np.exp(-1))


def test_rows_are_the_probabilities_of_the_estimator(fitted, found):
    view, model = found.loaded.view, found.model
    counts = model.units.of_texts(view.words(7))
    # The weight of a link from a keyphrase to its own unit is at most 1, the default of cap.
    network, weights = model.network, model.network.weights.copy()
    for node in range(network.keyphrases, len(network.leaks)):
        for link in range(network.starts[node], network.starts[node + 1]):
            if network.phrases[network.parents[link]] == node - network.keyphrases:
                weights[link] = min(weights[link], 1.0)
    assert (weights != network.weights).any()
    expected = encode(
        network.with_values(weights, network.leaks), counts, sweeps=500, length=model.length, method="gibbs"
    ).toarray()[0]
    expected[expected < 0.05] = 0
    np.testing.assert_allclose(view.rows(np.array([7])).toarray()[0], expected, rtol=1e-6)


def test_scores_are_cosines_and_explanations_say_why(fitted, found):
    query = found.loaded.query(fitted.query("otter colony"))
    scores = found.loaded.scores(query)
    rows = found.loaded.view.rows().toarray()
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query.chances)
    np.testing.assert_allclose(
        scores[lengths > 0], (rows @ query.chances)[lengths > 0] / lengths[lengths > 0], rtol=1e-5
    )
    best = int(scores.argmax())
    tree = found.loaded.explain(query, best)
    assert sum(part.value for part in tree.parts) == pytest.approx(scores[best], rel=1e-5)
    part = tree.parts[0]
    assert part.label == "otter colony" and part.evidence["in the query"] > 0.5
    assert (
        part.evidence["mentioned in"].startswith("query") and "otter colony" in part.evidence["evoked in the query by"]
    )
    assert "otter colony" in part.evidence["silhouette"]


def test_a_phrase_is_cut_at_a_break_by_fit_encoding_and_query_alike(fitted, found):
    for text, expected in (("otter colony", 1), ("otter-colony", 1), ("otter. Colony", 0), ("otter (colony)", 0)):
        counts = found.model.units.of_texts(found.loaded.inputs.query(fitted.query(text)))
        assert [found.model.units.name(unit, str) for unit in counts.indices].count("otter colony") == expected, text


def test_a_text_without_known_units_has_no_opinion(fitted, found, model):
    for text in ("zyzzyva", "the of and", ""):
        assert np.isneginf(found.loaded.scores(found.loaded.query(fitted.query(text)))).all()
    assert not fitted.search("zyzzyva", model)
    assert fitted.search("loan", f"BM25 + 0.3*{model}")[0].score > 0


@pytest.mark.slow
def test_documents_without_units_have_no_opinion_and_deleted_ones_are_not_found(tmp_path, model):
    index = sublex.build([*texts(), Document("empty", ""), Document("odd", "zyzzyva")], tmp_path / "i")
    index.fit(model)
    index.add([Document("new", "otter colony by the river"), Document("void", "")])
    index.delete(["d0"])
    index.merge()
    docnos = [hit.docno for hit in index.search("otter colony", model, k=500)]
    assert "new" in docnos and not {"d0", "empty", "odd", "void"} & set(docnos)


def test_the_directed_graph_has_broader_and_narrower_keyphrases():
    links = np.zeros((2, 4))
    links[0, 1], links[0, 2], links[1, 3] = 0.7, 1.0, 1.0
    network = network_of(csr_array(links), np.full(4, 0.1), np.array([0, 1]))
    names = ["network", "sensor network"]
    units = SimpleNamespace(name=lambda unit, surface: names[unit], names=lambda numbers, surface: names)
    keyphrases = Keyphrases(network, units, str)  # type: ignore[arg-type]
    assert [item.name for item in keyphrases.broader(1)] == ["network"] and not keyphrases.broader(0)
    assert keyphrases.narrower(0)[0] == ("sensor network", pytest.approx(1 - np.exp(-0.7)))


def test_inference_without_chance_and_swaps_find_the_same_keyphrases(fitted, found, model):
    index = fitted
    for changes in ("propagation", "gibbs, swaps=2", "gibbs, most=2"):
        other = model.replace("inference=gibbs", f"inference={changes}")
        if changes == "propagation":
            other = other.replace(", sweeps=500", "")
        index.fit(other)
        hits = [hit.docno for hit in index.search("otter colony", other, k=5)]
        assert all(int(docno[1:]) % 2 == 0 for docno in hits)


def test_each_parameter_reaches_the_method(index, monkeypatch):
    given: dict[str, tuple[list[Any], dict[str, Any]]] = {}

    def spied(name: str) -> Any:
        real = getattr(representation, name)
        return lambda *args, **named: given.setdefault(name, (list(args), named)) and real(*args, **named)

    for name in (
        "come_back",
        "are_named",
        "decomposed",
        "concentration",
        "odds_of_mentions",
        "structure",
        "learn",
        "encode",
        "calibrate",
        "certain",
    ):
        monkeypatch.setattr(representation, name, spied(name))
    fit = "again=0.5, named=0.3, focus=0.01, width=12, weights=similarity, alpha=0.4, beta=0.2, links=7, iterations=2, seed=3"
    index.fit(
        f"laki(phrases=phrases(support=3), max_df=0.3, {fit}, inference=gibbs, sweeps=50, swaps=1, absent=all, most=9)"
    )
    assert given["come_back"][0][2] == 0.5 and given["decomposed"][0][1:3] == [12, 3]
    assert given["are_named"][0][1] == 0.3 and len(given["concentration"][0][1])
    assert given["structure"][1].items() >= {"weights": "similarity", "alpha": 0.4, "beta": 0.2, "most": 7}.items()
    assert given["learn"][1].items() >= {"iterations": 2, "seed": 3}.items()
    with pytest.raises(InputError, match="fewer than 2 keyphrases"):
        index.fit("laki(phrases=phrases(support=3), max_df=0.3, again=0.5, named=0.3, focus=1000)")
    asked = {"method": "gibbs", "most": 9, "sweeps": 50, "swaps": 1, "length": 0.0, "seed": 3}
    assert given["encode"][1] == asked and "certain" not in given
    index.fit("laki(phrases=phrases(support=3), max_df=0.3, again=0.5)")
    loaded = index.representation("laki(phrases=phrases(support=3), max_df=0.3, again=0.5)").model
    network, _, curve, odds, length = given["certain"][0]
    assert (network.weights == loaded.network.weights).all() and length == loaded.length > 0
    assert (curve.chances == loaded.curve.chances).all() and (odds == loaded.odds).all()
    # The focus of a keyphrase stands at its place in the network, where the most frequent one comes first.
    matrix, phrases, _, _, focus = given["odds_of_mentions"][0]
    assert focus.tolist() == concentration(given["concentration"][0][0], phrases).tolist()
    assert (np.diff(phrases) < 0).any() and len(set(focus.tolist())) > 1 and matrix.shape[0] == len(index.corpus.docs)
    # Every tenth document is held out for the curve.
    assert given["calibrate"][0][1].shape[0] == -(-len(index.corpus.docs) // 10)


def test_each_keyphrase_alone_finds_those_of_the_field_and_a_common_unit_makes_none_certain(tmp_path, model):
    others = [Document(f"o{k}", "granite and basalt" if k % 2 else "quartz, slate") for k in range(400)]
    index = sublex.build([*texts(400), *others], tmp_path / "i")
    alone = model.replace(f"{PAPER}, sweeps=500", "absent=all")
    index.fit(alone)
    loaded = index.representation(alone)
    names = loaded.model.keyphrases(loaded.view).names

    def found(text: str) -> dict[str, float]:
        return dict(zip(names, loaded.query(index.query(text)).chances.tolist(), strict=True))

    latent = found("a loan, the teller, a coin, the deposit, a vault, the client")
    assert min(latent["credit union"], latent["interest rate"]) > 4 * max(latent["otter colony"], latent["flood plain"])
    # Half of the texts of the field mention a phrase of it, so no other word of the field makes it sure.
    assert 0.2 < latent["credit union"] < 0.8 and found("loan")["credit union"] < 0.8
    once, often = found("otter colony"), found("otter colony, otter colony, otter colony")
    assert once["flood plain"] < once["otter colony"] < often["otter colony"] < 1
    evoked = loaded.model.evoked(loaded.model.units.of_texts(loaded.inputs.of_texts(["a loan, the teller"])))
    assert evoked[[names.index("credit union")]].nnz == 2 and not evoked[[names.index("otter colony")]].sum() > 0.1


def test_a_unit_gets_the_models_own_vector_or_the_mean_of_those_of_its_words(found):
    units = found.model.units.kept(np.flatnonzero([len(terms) == 2 for terms in found.model.units.terms])[:1])
    model = SimpleNamespace(vocabulary=list(units.terms[0]), word_vectors=lambda: np.array([[2.0, 0], [0, 2.0]]))
    given: list[object] = []

    def vectors() -> list[list[float]]:
        return vectors_of_model(units, model, "m", "the job", "the analyzer").tolist()  # type: ignore[arg-type]

    assert vectors() == [[1, 1]]
    model.vectors_of_texts = lambda *asked: given.append(asked) or np.array([[np.nan, np.nan]])
    assert vectors() == [[1, 1]] and given == [(units.terms, "the analyzer", "the job")]
    model.vectors_of_texts = lambda *asked: np.array([[5.0, 6.0]])
    assert vectors() == [[5, 6]]


@pytest.mark.slow
def test_similarities_may_come_from_another_model_or_from_a_file_with_phrases(tmp_path, model):
    file = tmp_path / "vectors.txt"
    lines = [f"{word} {int(word in WATER)} {int(word in MONEY)} 0" for word in (*WATER, *MONEY)]
    lines += ["otter_colony 1 0 0", "flood 1 0 0", "credit_union 0 1 0", "interest 0 1 0", "plain 1 0 0", "rate 0 1 0"]
    file.write_text("\n".join(lines), encoding="utf-8")
    index = sublex.build(texts(), tmp_path / "i")
    phrases = model[len("laki(phrases=") : model.index(", max_df")]
    expression = model.replace("max_df=1, width=4", f'max_df=1, words=vectors("{file}")')
    index.fit(expression)
    keyphrases = index.representation(expression).model.keyphrases(index.representation(expression).view)
    for number, phrase in enumerate(keyphrases.names):
        others = {*PHRASES[phrase], *PHRASES} - {phrase}
        assert {item.name for item in keyphrases.silhouette(number, 5)} <= {*others, phrase}
    with pytest.raises((InputError, PluginError), match="has no word vectors"):
        index.fit(model.replace("max_df=1, width=4", f"max_df=1, words={phrases}"))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_the_bytes_are_the_same_for_any_number_of_workers(fitted, tmp_path, model, workers):
    index = sublex.build(texts(), tmp_path / "i")
    index.fit(model, workers=workers)
    (name,) = (name for name, entry in index.fitted.items() if entry.expression.startswith("laki"))
    assert index.fitted[name].model.checksum == fitted.fitted[name].model.checksum
    (rows,) = index.fitted[name].rows
    parts = [next(iter(i.fitted[name].rows[rows].segments.values())).data for i in (index, fitted)]
    assert parts[0] == parts[1]


# Labels.


def test_filters_facets_and_marks_work_by_keyphrase(fitted, found, model):
    every = fitted.search("river loan", "BM25", k=200)
    kept = fitted.search("river loan", f'BM25 >> keyphrase("Otter Colony", of={model}, share=0.95)', k=200)
    rows = found.loaded.view.rows().toarray()[:, found.keyphrases.names.index("otter colony")]
    assert {hit.docno for hit in kept} == {hit.docno for hit in every if rows[int(hit.docno[1:])] >= 0.95}
    assert 0 < len(kept) < len(every)
    normalised = fitted.search(
        "river loan", f'zscore(BM25) >> keyphrase("Otter Colony", of={model}, share=0.95)', k=200
    )
    assert normalised.docnos == kept.docnos and abs(float(normalised.scores.mean())) < 1e-6
    facets = found.loaded.facets(np.arange(200))
    assert {facet.label for facet in facets} <= set(PHRASES) and facets[0].docs >= facets[-1].docs > 0
    doc = int(kept[0].docno[1:])
    marks = {mark.terms: mark for mark in found.loaded.marks(found.loaded.query(fitted.query("river")), doc)}
    assert any(mark.label in PHRASES and PHRASES[mark.label] is WATER for mark in marks.values())


def test_a_keyphrase_is_named_by_any_form_and_an_unknown_one_is_refused(fitted, found, model):
    number = found.keyphrases.names.index("otter colony")
    assert found.keyphrases.number("OTTER_colony", model) == number == found.keyphrases.number(str(number), model)
    with pytest.raises(InputError, match="did you mean otter colony"):
        fitted.search("river", f'BM25 >> keyphrase("oter colony", of={model})')
    with pytest.raises(InputError, match="names no keyphrase"):
        fitted.search("river", f'BM25 >> keyphrase("", of={model})')


def test_the_card_and_the_page_show_silhouettes(fitted, found, model, tmp_path):
    card = fitted.card(model)
    rows = card["most documents"]
    assert card["keyphrases"] == 4 and {row["keyphrase"] for row in rows} == set(PHRASES)
    # The keyphrases that most documents are about come first.
    strong = dict(zip(found.keyphrases.names, (found.loaded.view.rows() >= 0.7).sum(axis=0).tolist(), strict=True))
    counts = [row["documents"] for row in rows]
    assert (
        counts == [strong[row["keyphrase"]] for row in rows] == sorted(counts, reverse=True) and counts[0] > counts[-1]
    )
    headings = [line[4:-5] for line in fitted.representation(model).page().splitlines() if line.startswith("<h2>")]
    assert headings == [row["keyphrase"] for row in rows]
    page = tmp_path / "page.html"
    assert invoke("card", fitted.path, model, "-o", page).code == 0
    assert "<h2>otter colony</h2>" in page.read_text(encoding="utf-8")


# Commands.


def test_keyphrases_of_a_text_are_listed_and_those_that_it_does_not_mention_are_marked(fitted, model, tmp_path):
    text = "an otter colony, by the river and the shore and the lake"
    done = invoke("keyphrases", fitted.path, model, text, "--format", "json")
    rows = {row["keyphrase"]: row for row in json.loads(done.output)}
    assert rows["otter colony"]["mentioned"] == "yes" and "otter colony" in rows["otter colony"]["evoked by"]
    latent = json.loads(invoke("keyphrases", fitted.path, model, text, "--latent", "--format", "json").output)
    assert latent and all(row["mentioned"] == "no" for row in latent) and latent[0]["keyphrase"] == "flood plain"
    table = invoke("keyphrases", fitted.path, model, text, "-n", "1").output.splitlines()
    assert table[0].split() == ["keyphrase", "about", "it", "strength", "mentioned", "evoked", "by"] and len(table) == 2
    nothing = invoke("keyphrases", fitted.path, model, "12 34")
    assert nothing.code == 0 and "no keyphrase: the model knows none" in nothing.output
    latent = invoke("keyphrases", fitted.path, model, "zyzzyva", "--latent")
    assert "laki(related=0)" in latent.output
    page = tmp_path / "page.html"
    assert invoke("keyphrases", fitted.path, model, "the <b>otter colony</b>", "-o", page).code == 0
    written = page.read_text(encoding="utf-8")
    assert '<td class="mentioned">otter colony</td>' in written and "&lt;b&gt;" in written


def test_keyphrases_of_a_document_are_those_of_its_text(fitted, model):
    docno = next(each.docno for each in fitted.documents() if "otter colony" in each.text)
    document = fitted.document(docno)
    text = f"{document.title} {document.text}".strip()
    given, asked = (
        invoke("keyphrases", fitted.path, model, *args, "--perhaps", "--format", "json")
        for args in ((text,), ("--docno", docno))
    )
    assert asked.code == 0 and json.loads(asked.output) == json.loads(given.output) != []
    assert "No document nobody" in invoke("keyphrases", fitted.path, model, "--docno", "nobody").messages
    for args in ((), ("text", "--docno", docno)):
        assert "or a document with --docno" in invoke("keyphrases", fitted.path, model, *args).messages


def test_weak_keyphrases_are_listed_only_if_asked_for_and_as_perhaps(fitted, found, model):
    text = "an otter colony, by the river and the shore and the lake"
    counts = found.model.units.of_texts(found.loaded.inputs.of_texts([text]))
    strengths = dict(zip(found.keyphrases.names, found.model.encode_units(counts).toarray()[0].tolist(), strict=True))
    limit = round((strengths["otter colony"] + strengths["flood plain"]) / 2, 3)
    assert strengths["flood plain"] < limit < strengths["otter colony"]

    def listed(*options: str, strong: float = limit) -> list[tuple[str, str]]:
        # The limit is no part of what is fitted or stored.
        expression = model[:-1] + f", strong={strong})"
        done = invoke("keyphrases", fitted.path, expression, text, *options, "--format", "json")
        assert done.code == 0, done.messages
        return [(row["keyphrase"], row["about it"]) for row in json.loads(done.output)]

    assert listed() == [("otter colony", "yes")]
    both = [("otter colony", "yes"), ("flood plain", "perhaps")]
    assert listed("--perhaps")[:2] == both and listed("--latent")[:1] == both[1:]
    assert listed(strong=0.0)[:2] == [(name, "yes") for name, _ in both]
    expression = model[:-1] + ", strong=1)"
    none = invoke("keyphrases", fitted.path, expression, text)
    assert none.code == 0 and "no strong keyphrase; --perhaps" in none.output
    assert invoke("keyphrases", fitted.path, model[:-1] + ", strong=2)", text).code == 2


def test_the_default_limit_of_strong_keyphrases_is_that_of_the_verdicts(found, fitted, model):
    assert found.model.least_share == 0.7
    done = invoke("keyphrases", fitted.path, model, "the otter colony and a loan", "--perhaps", "--format", "json")
    rows = json.loads(done.output)
    assert {row["about it"] for row in rows} == {"yes", "perhaps"}
    assert all((row["about it"] == "yes") == (row["strength"] >= 0.7) for row in rows)


def test_facets_marks_filters_and_explanations_follow_the_limit(fitted, found, model):
    docs, rows = np.arange(200), found.loaded.view.rows().toarray()
    strong = fitted.representation(model[:-1] + ", strong=0.95)")
    expected = {name: int(n) for name, n in zip(found.keyphrases.names, (rows >= 0.95).sum(axis=0), strict=True) if n}
    assert {facet.label: facet.docs for facet in strong.facets(docs)} == expected
    assert {f.label: f.docs for f in found.loaded.facets(docs)} == {
        name: int(n) for name, n in zip(found.keyphrases.names, (rows >= 0.7).sum(axis=0), strict=True)
    }
    for limit, expression in ((0.7, model), (0.95, model[:-1] + ", strong=0.95)")):
        kept = fitted.search("river loan", f'BM25 >> keyphrase("otter colony", of={expression})', k=200)
        column = rows[:, found.keyphrases.names.index("otter colony")]
        every = fitted.search("river loan", "BM25", k=200)
        assert {h.docno for h in kept} == {h.docno for h in every if column[int(h.docno[1:])] >= limit}
    query = found.loaded.query(fitted.query("the otter colony and a loan"))
    best = int(rows[:, found.keyphrases.names.index("flood plain")].argmax())
    tree = found.loaded.explain(query, best)
    for part in tree.parts:
        name = part.label.removeprefix("perhaps ")
        k = found.keyphrases.names.index(name)
        assert (name == part.label) == (min(query.chances[k], rows[best, k]) >= 0.7)
    assert any(part.label.startswith("perhaps ") for part in tree.parts)
    assert strong.marks(query, best) and {mark.label for mark in strong.marks(query, best)} <= {
        name for name, value in zip(found.keyphrases.names, rows[best].tolist(), strict=True) if value >= 0.95
    }
    assert not fitted.representation(model[:-1] + ", strong=1)").marks(query, int((rows < 1).all(axis=1).argmax()))


def test_keyphrases_of_many_texts_are_those_of_each_alone(fitted, model, tmp_path):
    file = tmp_path / "texts.jsonl"
    some = [*texts(70, seed=5), Document("none", "zyzzyva")]
    file.write_text(
        "\n".join(json.dumps({"id": d.docno, "title": d.title, "text": d.text}) for d in some), encoding="utf-8"
    )
    done = invoke("keyphrases", fitted.path, model, "--file", file, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.output)))
    assert {row["docno"] for row in rows} <= {d.docno for d in some[:-1]} and len({row["docno"] for row in rows}) > 60
    alone = invoke("keyphrases", fitted.path, model, some[2].text, "--format", "csv").output
    if not some[2].title:
        mine = [row for row in rows if row["docno"] == "d2"]
        assert [row["strength"] for row in mine] == [row["strength"] for row in csv.DictReader(io.StringIO(alone))]


def test_a_file_may_need_a_reader(fitted, model, tmp_path):
    file = tmp_path / "texts"
    file.write_text("a\tthe otter colony\nb\tzyzzyva\n", encoding="utf-8")
    done = invoke("keyphrases", fitted.path, model, "--file", file, "--reader", "tsv", "-n", "1", "--format", "json")
    assert [(row["docno"], row["keyphrase"]) for row in json.loads(done.output)] == [("a", "otter colony")]
    shown = invoke("keyphrases", fitted.path, model, "--file", file, "--reader", "tsv").output
    assert shown.splitlines()[-1] == "Texts without a keyphrase to list: 1 of 2."
    assert "or a document with --docno" in invoke("keyphrases", fitted.path, model, "otter", "--reader", "tsv").messages


def test_a_silhouette_is_listed_and_drawn(fitted, model, tmp_path):
    done = invoke("silhouette", fitted.path, model, "OTTER COLONY", "--format", "json", "-n", "3")
    rows = json.loads(done.output)
    assert rows[0]["relation"] == "silhouette" and 0 < rows[0]["probability"] <= 1
    page = tmp_path / "page.html"
    assert invoke("silhouette", fitted.path, model, "0", "-o", page).code == 0
    assert page.read_text(encoding="utf-8").count("<article>") == 1


def test_the_graph_of_keyphrases_is_exported(fitted, found, model, tmp_path):
    links = found.keyphrases.network.hierarchy.tocoo()
    assert invoke("hierarchy", fitted.path, model, "-o", tmp_path / "g.csv").code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "g.csv").read_text(encoding="utf-8"))))
    names = found.keyphrases.names
    assert [(row["broader"], row["narrower"]) for row in rows] == [
        (names[a], names[b]) for a, b in zip(*links.coords, strict=True)
    ]
    assert invoke("hierarchy", fitted.path, model, "-o", tmp_path / "g.graphml").code == 0
    root = ElementTree.parse(tmp_path / "g.graphml").getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(list(root.iter(f"{space}node"))) == 4 and len(list(root.iter(f"{space}edge"))) == links.nnz
    documents = [node[1].text for node in root.iter(f"{space}node")]
    assert documents == [str(n) for n in (found.loaded.view.rows() >= 0.7).sum(axis=0).tolist()]


def test_mistakes_of_commands_cost_one_sentence(fitted, model, tmp_path):
    (tmp_path / "mine.html").write_text("a page of my own", encoding="utf-8")
    for arguments, message in (
        (("keyphrases", fitted.path, model), "or a document with --docno"),
        (("keyphrases", fitted.path, model, "a", "--file", "b"), "or a document with --docno"),
        (("keyphrases", fitted.path, model, "--file", "nofile"), "No file or folder nofile"),
        (("keyphrases", fitted.path, model, "a", "-o", tmp_path / "mine.html"), "mine.html"),
        (("keyphrases", fitted.path, "laki(width=7)", "a"), "No laki(width=7)"),
        (("silhouette", fitted.path, model, "oter colony"), "did you mean otter colony"),
        (("silhouette", fitted.path, model, "9"), "no keyphrase 9"),
        (("hierarchy", fitted.path, model, "-o", tmp_path / "x.txt"), "does not end in .graphml or .csv"),
    ):
        done = invoke(*arguments)
        assert done.code == 2 and message in done.messages and done.messages.count("\n") == 1, done.messages


# Mistakes and damage.


def test_unsuitable_collections_cost_a_sentence(tmp_path, model):
    index = sublex.build([Document("a", "otter colony"), Document("b", "a river")], tmp_path / "small")
    with pytest.raises((InputError, PluginError), match="phrases"):
        index.fit("laki")
    with pytest.raises((InputError, PluginError), match="fewer than 2 keyphrases in 2 documents"):
        index.fit(model)
    with pytest.raises((InputError, PluginError), match="has no phrases"):
        sublex.build(texts(), tmp_path / "i").fit("laki(phrases=lsi(e=1))")
    bare = sublex.build(texts(), tmp_path / "bare", store=["terms"])
    with pytest.raises(IndexProblem, match="without stored text"):
        bare.fit(model)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("units", lambda a: a + 10**6), ("units", lambda a: a[::-1]), ("units", lambda a: a[:-1]), ("units", lambda a: a - 9),
        ("units", lambda a: a.astype(float)), ("network_starts", lambda a: a[:-1]), ("network_parents", lambda a: a + 100),
        ("network_weights", lambda a: a * np.nan), ("network_leaks", lambda a: -a), ("network_phrases", lambda a: a * 0 - 1),
        ("network_phrases", lambda a: a + 4), ("phrases_sequences", lambda a: a + 10**6),
        ("phrases_word_phrases", lambda a: a[:-1]),
    ],
)  # fmt: skip
def test_a_stored_model_whose_parts_do_not_fit_is_refused(found, name, change):
    values = stored_by(found.model)
    values[name] = change(values[name])
    with pytest.raises(IndexCorrupt):
        load_stored(LAKIRepresentation(**vars(found.model.params)), values)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return Subject("laki(phrases=phrases(support=3), max_df=1, iterations=2)", tmp_path_factory.mktemp("laki"))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_the_plugin_holds_the_contract(subject, check):
    check(subject)


def test_names_of_things_may_be_keyphrases():
    phrases = SimpleNamespace(lengths=np.array([1, 1, 2, 2, 2]), features=np.zeros((5, len(NAMES)), np.float32))
    phrases.features[:, NAMES.index("named")] = 0.5, 0.3, 0.3, 0.3, 0.1
    phrases.features[:, NAMES.index("hyphened")] = 0, 0, 0.2, 0.9, 0
    assert are_named(phrases, 0.4).tolist() == [True, False, True, False, False]
    assert are_named(phrases, 0.0).all()


def test_a_phrase_is_named_as_it_is_written_and_not_as_another_word_with_that_stem():
    # "rational" is the stem of "rationale", and the phrase "rational" has the stem "ration".
    lexicon = Lexicon(["ration", "rational"], [], [["rations"]], [0])
    phrases = SimpleNamespace(lexicon=lexicon, names=["rational"], __len__=lambda: 1)
    phrases = type("Phrases", (SimpleNamespace,), {"__len__": lambda self: 1})(**vars(phrases))
    units = Units(phrases, np.array([0, 1, 2, 3]))
    written = {"ration": "rational", "rational": "rationale"}
    assert units.names([0, 1, 2, 3], written.__getitem__) == ["rational", "rational", "rationale", "rations"]
