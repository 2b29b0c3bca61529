"""Tests of the plugin sourcelda: knowledge sources good and bad, labels in cards, explanations, filters, facets and marks."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from command import Done
from scipy.sparse import csc_array, csr_array
from shared import load_stored, stored_by

import sublex
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, InputError, SublexError
from sublex.pipeline.index import Index
from sublex.testing import CHECKS, Subject
from sublex_sourcelda.enriching import K1, B, enrich, scores_of
from sublex_sourcelda.evidence import TYPICAL, association, held_out, typical
from sublex_sourcelda.knowledge import count_lines, read_knowledge

TEXTS = {
    "Birds": "birds bird nest nests wing wings feathers swift swallow crane cranes heron flock eggs migration perch song",
    "Money_and_banks": "bank banks money loan loans interest savings coins currency notes credit branch accounts lending",
    "Ships": "ship ships harbour port cargo deck hull crew sailors crane containers dock vessel voyage",
    "Stars": "sky star stars moon planet telescope orbit night comet light galaxy eclipse astronomers",
    "Ice hockey": "puck rink skates goalkeeper hockey",
}
TEXT = "cranes by the river"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge source of texts."""
    path = tmp_path_factory.mktemp("source") / "themes.jsonl"
    path.write_text("".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in TEXTS.items()))
    return path


@pytest.fixture(scope="module")
def model(source: Path) -> str:
    """The expression of the model that the tests fit."""
    return f'sourcelda("{source}", k=3, model=mixture, iterations=60, enrich=0, evidence=0, likeness=0.4)'


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory, built_demo: Path, model: str) -> Index:
    """An index of the demo collection with a model, which tests only read."""
    folder = tmp_path_factory.mktemp("sourcelda") / "demo"
    index = sublex.build(sublex.open(built_demo).documents(), folder)
    index.fit(model)
    return index


# Knowledge sources.


def analyze(text: str) -> list[str]:
    """Return the words of a text without an s at their end; a word with a hyphen becomes two."""
    return [word.removesuffix("s") for word in text.lower().replace("-", " ").split()]


def read(path: Path, text: str | bytes, vocabulary: tuple[str, ...] = ("gold", "mine", "oil")):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_knowledge(path, vocabulary, analyze)


def test_counts_and_texts_are_read_alike(tmp_path):
    found = read(
        tmp_path / "counts", "\nGold_rush gold 3 mines 2 gold-mine 1 zinc 9\n\noil oils 4 gold 0\nzinc zinc 3\n"
    )
    assert found.labels == ["Gold rush", "oil"]
    assert found.counts.toarray().tolist() == [[4, 3, 0], [0, 0, 4]]
    # A word with the count 0 is stored: CTM counts it among the words of the topic.
    assert found.counts.nnz == 4
    assert found.unknown == ["zinc"]
    texts = [("Gold_rush", "gold golds mines Gold zinc gold-mine mine"), ("oil", "oil oil oils oil"), ("zinc", "zinc")]
    lines = "\n".join(json.dumps({"label": label, "text": text, "id": 7}) for label, text in texts)
    again = read(tmp_path / "texts", b"\xef\xbb\xbf" + lines.encode())
    assert (again.labels, again.unknown) == (found.labels, found.unknown)
    assert again.counts.toarray().tolist() == found.counts.toarray().tolist()


def test_words_that_no_document_has_are_counted(tmp_path):
    """`gold` and `oil` are known, `zinc` is in documents without being in the vocabulary, and `lead` and `tin` are nowhere."""
    path = tmp_path / "source"
    path.write_text("a gold 1 tin 2 zinc 1 lead 3\nb oil 1\n")
    vocabulary = ("gold", "mine", "oil")
    assert read_knowledge(path, vocabulary, analyze, others={"zinc"}).missing.tolist() == [2, 0]
    assert read_knowledge(path, vocabulary, analyze).missing.tolist() == [3, 0]


def test_a_compressed_source_is_read_too(tmp_path):
    found = read(tmp_path / "counts.gz", gzip.compress(b"gold gold 3\n"))
    assert found.labels == ["gold"]
    assert count_lines(tmp_path / "counts.gz") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no labels; write a label"),
        ("\n \n", "holds no labels"),
        ("gold gold 1\nGOLD mine 1\n", "source:2: line 1 has the label GOLD already; join the two, or rename one"),
        ("a_b gold 1\n\na_b oil 1\n", "source:3: line 1 has the label a b already"),
        ("gold gold 1 mine\n", "source:1: after the label, words and whole counts must take turns"),
        ("gold gold 1.5\n", "words and whole counts must take turns"),
        ("gold gold -1\n", "words and whole counts must take turns"),
        ("gold gold 99999999999\n", "words and whole counts must take turns"),
        ("gold gold ²\n", "words and whole counts must take turns"),
        ("copper tin 2\n", "has none of the 3 words of the documents; is it in their language"),
        ("gold gold 0\n", "has none of the 3 words"),
        ("gold\n", "has none of the 3 words"),
        ('{"label": "gold", "text": "gold"}\ngold gold 1\n', "source:2: the line is no JSON object, but the first"),
        ('{"label": "gold"}\n', "source:1: a JSON object with the texts label and text is needed"),
        ('{"label": 3, "text": "gold"}\n', "a JSON object with the texts label and text is needed"),
        ('{"label": " _ ", "text": "gold"}\n', "source:1: the label is empty; name the topic"),
        ("{" * 100_000, "source:1: the line is no JSON object"),
        (b"gold gold 1\n\xff\xfe oil 1\n", "source:2: the line is not in UTF-8"),
        (b"\x00" * (1 << 26), "source:1: the line has more than 64 MB"),
    ],
)  # fmt: skip
def test_an_unsuitable_source_costs_a_sentence(tmp_path, text, message):
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path / "source", text)
    assert len(str(error.value)) < 300 and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("documents", "changes", "message"),
    [
        (1, "", "topics are learned from several documents; add some more"),
        (30, ", max_df=1, min_df=1, k=50", "topics are more than the 6 words; lower k, or leave out some sources"),
        (30, ", min_df=40", "no word is in 40 or more of 30 documents"),
    ],
)
def test_an_unsuitable_index_costs_a_sentence(tmp_path, source, documents, changes, message):
    texts = ["bank money loan", "cranes ship star"]
    index = sublex.build([Document(f"d{n}", texts[n % 2]) for n in range(documents)], tmp_path / "index")
    with pytest.raises(SublexError, match=message):
        index.fit(f'sourcelda("{source}"{changes})')
    with pytest.raises(SublexError, match=r"nowhere|no resource|Cannot read"):
        index.fit("sourcelda(nowhere)")


# Labels.


def test_topics_have_the_labels_of_their_texts(fitted, model):
    found = fitted.representation(model)
    labels = found.labels
    assert len(labels) == 8
    assert set(labels[3:]) == {label.replace("_", " ") for label in TEXTS}
    for number, label in enumerate(labels):
        words = fitted.card(model)["topics"]
        topic = next(one for one in words if one["topic"] == number)
        if label.startswith("unlabelled: "):
            assert topic["label"] == "(unlabelled)"
            assert label.removeprefix("unlabelled: ").split(", ") == topic["words"][:4]
        else:
            assert topic["label"] == label
            assert topic["likeness"] >= 0.4
    birds = found.label_shares(np.arange(252))[:, [labels.index("Birds")]].toarray()[:, 0]
    docs = [fitted.snapshot.docno(int(doc)) for doc in np.argsort(-birds)[:8]]
    assert sum(docno.startswith("birds") for docno in docs) >= 6


def test_a_topic_that_is_unlike_its_text_loses_the_label_without_a_new_fit(fitted, model):
    likeness = fitted.representation(model).model.likeness
    # The middle of the topics with a text, of which some stay labelled and some do not.
    strict = model.replace("likeness=0.4", f"likeness={np.median(likeness[3:])}")
    unlike = likeness < np.median(likeness[3:])
    assert 3 < unlike.sum() < 8
    assert [label.startswith("unlabelled: ") for label in fitted.representation(strict).labels] == unlike.tolist()
    assert fitted.representation(strict).fingerprint == fitted.representation(model).fingerprint
    card = fitted.card(strict)
    assert (card["labelled topics"], card["unlabelled topics"]) == (8 - unlike.sum(), unlike.sum())
    assert card["topics at first"] == 8
    texts = fitted.representation(strict).model.texts
    lost = {text for text, is_unlike in zip(texts, unlike, strict=True) if text is not None and is_unlike}
    absent = card["labels that are not shown"]
    assert {row["label"] for row in absent} == lost
    assert all(row["why"] for row in absent)


@pytest.mark.parametrize("kind", ["cosine", "js", "likelihood"])
def test_explanations_name_topics_by_label_share_and_words_and_add_up(fitted, model, kind):
    found = fitted.representation(f"{model[:-1]}, score={kind})")
    encoded = found.query(fitted.query("a loan from the bank"))
    shares = found.label_shares(np.arange(252))[:, [found.labels.index("Money and banks")]].toarray()[:, 0]
    doc = int(shares.argmax())
    assert fitted.snapshot.docno(doc).startswith("money")
    tree = found.explain(encoded, doc)
    assert sum(part.value for part in tree.parts) == pytest.approx(tree.value)
    assert tree.value == pytest.approx(float(found.scores(encoded, np.array([doc]))[0]), rel=1e-5)
    names = [part.evidence["mostly"] if kind == "likelihood" else part.label for part in tree.parts]
    assert any(re.fullmatch(r"topic Money and banks \([01]\.\d\d\): [\w', ]+", name) for name in names)


def test_filters_facets_and_marks_work_by_label(fitted, model):
    share = fitted.representation(model)
    number = share.labels.index("Birds")
    kept = fitted.search("birds", f'BM25 >> topic("BIRDS", of={model}, share=0.1)', k=252).docs
    theta = share.label_shares(np.arange(252))[:, [number]].toarray()[:, 0]
    assert set(kept) == {doc for doc in fitted.search("birds", k=252).docs if theta[doc] >= 0.1}
    assert len(kept)
    with pytest.raises(InputError, match="did you mean Birds"):
        fitted.search("river", f'BM25 >> topic("Bird", of={model})')
    facets = {facet.label: facet.docs for facet in fitted.facets(fitted.search("birds", k=252), model)}
    shares = share.label_shares(fitted.search("birds", k=252).docs).toarray()
    assert facets == {share.labels[k]: n for k, n in enumerate((shares >= 0.2).sum(axis=0).tolist()) if n}
    assert facets
    marks = fitted.marks(TEXT, "birds-01", model)
    assert {mark.label for mark in marks if mark.terms in (("nest",), ("wing",), ("bird",))} <= {"Birds"}
    assert all(0 < mark.weight <= 1 for mark in marks)


def test_the_page_shows_labels_safely(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("<script>alert(1)</script> bank 9 money 5\nRivers river 8 water 9\n")
    texts = ["bank money loan", "river water flood"]
    index = sublex.build([Document(f"d{n}", texts[n % 2], "Title") for n in range(12)], tmp_path / "index")
    model = f'sourcelda("{source}", model=bijective, iterations=20, max_df=1, closeness=1, spread=0)'
    index.fit(model)
    assert list(index.representation(model).labels) == ["<script>alert(1)</script>", "Rivers"]
    page = index.fitted_model(model).page()
    assert "<h2>Rivers<span>" in page and "&lt;script&gt;" in page and "<script" not in page


# Labels of a few words.

# Words of three topics, and words that occur anywhere.
TOPICS = [[f"{name}{number}" for number in range(30)] for name in ("fish", "star", "coin")]
NOISE = [f"word{number}" for number in range(150)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Index, str]:
    """An index of documents about one topic each, and a source with short labels for two topics and for none."""
    rng = np.random.default_rng(4)
    documents = [
        Document(f"{topic}-{number}", " ".join([*rng.choice(TOPICS[topic], 12), *rng.choice(NOISE, 18)]))
        for topic in range(3)
        for number in range(100)
    ]
    folder = tmp_path_factory.mktemp("planted")
    lines = {
        "Fish": "fish1 fish2 fish3 fish4",
        "Stars": "star1 star2 star3",
        "Mixed": "word1 star5 coin7 fish9",
        "Half": "coin1 absent1 absent2 absent3",
        "Nothing": "coin2 rare1",
    }
    documents.append(Document("rare", "rare1 word3"))
    documents.append(Document("rare again", "rare1 word4"))
    source = folder / "labels.jsonl"
    source.write_text("".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in lines.items()))
    return sublex.build(
        documents, folder / "index"
    ), f'sourcelda("{source}", k=3, model=mixture, iterations=60, max_df=0.4)'


def shares_of(index: Index, model: str) -> dict[str, float]:
    """Return the share of all tokens that each label has."""
    found = index.representation(model).model
    tokens = np.asarray(found.estimator.word_topics_.sum(axis=0)).ravel()
    return {text: tokens[k] / tokens.sum() for k, text in enumerate(found.texts) if text}


def test_short_labels_hold_the_documents_that_they_name(planted):
    index, model = planted
    said: list[str] = []
    index.fit(model, say=said.append)
    index.fit(f"{model[:-1]}, enrich=0)")
    labels = index.representation(model).labels
    assert {"Fish", "Stars"} <= set(labels)
    assert not {"Mixed", "Half", "Nothing"} & {label.removeprefix("probably ") for label in labels}
    found = index.representation(model)
    for label, topic in (("Fish", "0"), ("Stars", "1")):
        shares = found.label_shares(np.arange(300))[:, [labels.index(label)]].toarray()[:, 0]
        best = [index.snapshot.docno(int(doc)) for doc in np.argsort(-shares)[:50]]
        assert all(docno.startswith(f"{topic}-") for docno in best)
    # A third of the documents is about each; three or four words of thirty are all that a label gets without more words.
    rich, poor = shares_of(index, model), shares_of(index, f"{model[:-1]}, enrich=0)")
    assert min(rich["Fish"], rich["Stars"]) > 0.1 > 2 * max(poor["Fish"], poor["Stars"])
    assert said[1].startswith("4 of 5 labels have fewer than 10 known words") and "enrich=0" in said[1]
    assert said[2].startswith("Nothing has fewer than 5 documents with two of the label's words; a label needs")
    card = index.card(model)
    assert card["labels with words of documents"] == "4 of 5"
    absent = {row["label"]: row for row in card["labels that are not shown"]}
    assert absent.keys() == {"Mixed", "Half", "Nothing"}
    assert (
        absent["Half"]["known words"] == "1 of 4" and "few of its words are in the documents" in absent["Half"]["why"]
    )
    assert "hardly a document holds two of its words" in absent["Nothing"]["why"]
    assert "its topic took other words" in absent["Mixed"]["why"]
    assert [bool(topic["label"] != "(unlabelled)") for topic in card["topics"]] == [True] * 2 + [False] * 6


def test_all_labels_are_shown_as_in_the_paper_if_the_user_wants(planted):
    index, model = planted
    index.fit(model)
    everything = f"{model[:-1]}, evidence=0)"
    assert set(index.representation(everything).labels[3:]) == {"Fish", "Stars", "Mixed", "Half", "Nothing"}
    assert index.representation(everything).fingerprint == index.representation(model).fingerprint
    assert not [
        label for label in index.representation(f"{model[:-1]}, evidence=1)").labels if label[:10] != "unlabelled"
    ]


def test_a_label_between_the_limits_is_probable(planted):
    index, model = planted
    index.fit(model)
    found = deepcopy(index.representation(model).model)
    topic = found.texts.index("Fish")
    for evidence, label, words in ((0.31, "Fish", "sure"), (0.25, "probably Fish", "probably"), (0.19, "", "doubtful")):
        found.evidence[topic] = evidence
        assert found._own_label(topic) == label
        view = index.representation(model).view
        assert found.proposals(view)[topic].confidence == words
        assert found._name(topic, view, 0.5).startswith(
            f"topic {label} (0.50)" if label else f"topic {topic} (unlabelled)"
        )


def test_words_without_a_probability_are_not_listed(planted):
    index, model = planted
    own = f"{model[:-1]}, enrich=0)"
    index.fit(own)
    topics = {topic["topic"]: topic["words"] for topic in index.card(f"{own[:-1]}, evidence=0)")["topics"]}
    texts = index.representation(own).model.texts
    assert sorted(topics[texts.index("Stars")]) == ["star1", "star2", "star3"]
    assert topics[texts.index("Half")] == ["coin1"]
    assert "star4" not in index.fitted_model(own).page().partition("<h2>Stars")[2].partition("</article>")[0]


def test_the_page_has_topics_with_labels_first(planted):
    index, model = planted
    index.fit(model)
    page = index.fitted_model(model).page()
    assert re.findall(r"<h2>(\w+)", page)[:2] in (["Fish", "Stars"], ["Stars", "Fish"])
    assert page.count("(unlabelled)<span>") == 6


def test_evidence_is_the_mean_of_two_npmi():
    """By hand: of 8 documents, the word 0 is in 4; the word 1, the best of the topic, is in 4; both are in 3."""
    counts = np.zeros((8, 4), int)
    counts[:4, 0] = counts[1:5, 1] = 1
    counts[:, 2] = 1
    columns = csr_array(counts).tocsc()

    def npmi(both: int, first: int, second: int) -> float:
        return math.log(both / 8 / (first / 8 * second / 8)) / -math.log(both / 8)

    assert association(columns, np.array([0]), [1])[0] == pytest.approx(npmi(3, 4, 4))
    assert association(columns, np.array([0]), [])[0] == -1
    assert association(columns, np.array([0]), [3])[0] == -1
    assert association(columns, np.array([0]), [3], lenient=True)[0] == 0
    # The topic has both tokens of the words 1 and 2 in documents 1 to 3 and 5; there the word 0 is in 1 to 3.
    document, word = np.repeat([1, 2, 3, 5], 2), np.tile([1, 2], 4)
    lengths = np.bincount(columns.indices, columns.data, 8)
    assert held_out(columns, lengths, np.array([0]), document, word)[0] == pytest.approx(npmi(3, 4, 4))
    # Tokens of the word itself do not count: with them alone, no document has the topic.
    assert held_out(columns, lengths, np.array([1]), np.array([1, 2]), np.array([1, 1]))[0] == -1


def test_words_come_from_documents_that_hold_two_words_of_a_label():
    counts = np.zeros((40, 12), int)
    counts[:10, :2] = 1  # The label's words 0 and 1, with the words 2 and 3.
    counts[:10, 2:4] = 2
    counts[10:30, 0] = 1  # The word 0 alone, with the word 4.
    counts[10:30, 4] = 5
    counts[:, 5] = 1
    sources = csr_array(np.array([[1, 1] + [0] * 10, [0] * 6 + [1, 1] + [0] * 4, [1] * 3 + [0] * 9]))
    found = enrich(csr_array(counts), sources, 3)
    assert found.known.tolist() == [2, 2, 3] and found.matching.tolist() == [10, 0, 10]
    assert found.added.tolist() == [2, 0, 0]
    assert np.flatnonzero(found.counts.toarray()[0]).tolist() == [0, 1, 2, 3]
    # The weight of a typical word is its part of the divergence of the ten documents, of 7 words each, from all, of 220. Word 5
    # is less frequent there than elsewhere. The label's own words have .3 of the sum besides, and the sum is 200.
    parts = [here / 7 * math.log(here / 7 / (usual / 220)) for here, usual in ((1, 30), (1, 10), (2, 20), (2, 20))]
    total = [0.7 * part / sum(parts) + (0.15 if word < 2 else 0) for word, part in enumerate(parts)]
    assert found.counts.toarray()[0, :4].tolist() == [math.ceil(200 * value) for value in total]
    # Sources with enough words, and those that no document matches, stay as they are.
    assert found.counts.toarray()[1:].tolist() == sources.toarray()[1:].tolist()
    assert enrich(csr_array(counts), sources, 0).counts.toarray().tolist() == sources.toarray().tolist()


def test_documents_of_a_label_are_ranked_by_bm25():
    counts = np.array([[3, 1, 0], [0, 2, 4], [1, 0, 1], [0, 0, 5]])
    lengths = counts.sum(axis=1)
    scores, hits = scores_of(csc_array(counts), lengths, np.array([0, 1]))
    expected = np.zeros(4)
    for word in (0, 1):
        df = int((counts[:, word] > 0).sum())
        idf = math.log(1 + (4 - df + 0.5) / (df + 0.5))
        for doc in range(4):
            tf = counts[doc, word]
            expected[doc] += idf * tf / (tf + K1 * (1 - B + B * lengths[doc] / lengths.mean()))
    assert scores == pytest.approx(expected) and hits.tolist() == [2, 1, 1, 0]


def test_the_most_typical_words_of_a_text_have_the_largest_tf_idf():
    # So many words of one document come before a frequent word that all but one document have, though the text has this
    # ten times as often.
    words, counts = np.arange(TYPICAL + 1), np.array([10.0] + [1.0] * TYPICAL)
    df = np.array([999] + [1] * TYPICAL)
    assert typical(words, counts, df, 1000)[0].tolist() == [*range(1, TYPICAL + 1)]
    # 10 · log(1000 / 500) = 6.93 is above log(1000 / 2) = 6.21, where shares without logarithms would say 20 and 500.
    df = np.array([500] + [2] * TYPICAL)
    assert typical(words, counts, df, 1000)[0].tolist() == [*range(TYPICAL)]


# Storage.


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("phi", lambda x: x[:-1]),
        ("phi", lambda x: x * np.nan),
        ("phi", lambda x: x * 0),
        ("alpha", lambda x: -x),
        ("texts", lambda x: x[:-1]),
        ("likeness", lambda x: x[:-1]),
        ("evidence", lambda x: x[:-1]),
        ("evidence", lambda x: x + 2),
        ("evidence", lambda x: x * np.nan),
        ("labels_read", lambda x: x[:-1]),
        ("known", lambda x: x - 10**6),
        ("matching", lambda x: x[:-1]),
        ("added", lambda x: x.astype(np.float64)),
        ("missing", lambda x: x[:-1]),
        ("word_topics", lambda x: x * 0),
    ],
)
def test_a_stored_model_whose_parts_do_not_fit_is_refused(fitted, model, name, broken):
    found = fitted.representation(model).model
    values = stored_by(found)
    load_stored(deepcopy(found), values)
    values[name] = broken(values[name])
    with pytest.raises(IndexCorrupt):
        load_stored(deepcopy(found), values)


@pytest.fixture(scope="module")
def subject(source, tmp_path_factory):
    """The representation, fitted once for all the checks that only read."""
    return Subject(f'sourcelda("{source}", k=6, iterations=30)', tmp_path_factory.mktemp("subject"))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_plugin_holds_the_contract(subject, check):
    check(subject)


def test_the_command_line_fits_shows_and_counts(demo: Callable[..., Done], source):
    assert demo("resource", "add", "demo", "themes", str(source)).code == 0
    model = "sourcelda(themes, k=2, model=mixture, iterations=20)"
    assert demo("fit", "demo", model).code == 0
    code, output, _ = demo("card", "demo", model)
    assert code == 0 and "label" in output and "Birds" in output
    code, output, _ = demo("search", "demo", TEXT, "-k", "1", "-r", f"BM25 >> {model}", "--facets", "2")
    assert code == 0 and "documents found, by the labels of sourcelda(themes" in output
    code, output, messages = demo("fit", "demo", "sourcelda(thmes)")
    assert (code, output) == (2, "") and "thmes" in messages


def test_match_puts_the_topics_of_two_models_side_by_side(demo: Callable[..., Done], source):
    assert demo("resource", "add", "demo", "themes", str(source)).code == 0
    models = "sourcelda(themes, k=2, model=mixture, iterations=20, evidence=0)", "lda(k=3, iterations=20, min_df=3)"
    assert demo("fit", "demo", *models).code == 0
    rows = json.loads(demo("match", "demo", *models, "--format", "json").output)
    assert len(rows) == 7
    assert [row["overlap"] for row in rows] == sorted((row["overlap"] for row in rows), reverse=True)
    assert sum(row["partner"] != "" for row in rows) == 3 and {"Birds", "Ships"} <= {row["topic"] for row in rows}
    own = json.loads(demo("match", "demo", models[0], models[0], "--format", "json").output)
    assert all(row["overlap"] == 1 and row["topic"] == row["partner"] for row in own)
    code, output, messages = demo("match", "demo", models[0], "BM25")
    assert (code, output) == (2, "") and "BM25" in messages
