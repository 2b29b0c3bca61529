"""Tests of the plugin sourcelda: knowledge sources good and bad, labels in cards, explanations, filters, facets and marks."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from command import Done
from shared import load_stored, stored_by

import sublex
from sublex.contracts.base import Document
from sublex.errors import IndexCorrupt, InputError, SublexError
from sublex.pipeline.index import Index
from sublex.testing import CHECKS, Subject
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
    return f'sourcelda("{source}", k=3, model=mixture, iterations=60)'


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
    strict = f"{model[:-1]}, likeness={np.median(likeness[3:])})"
    unlike = likeness < np.median(likeness[3:])
    assert 3 < unlike.sum() < 8
    assert [label.startswith("unlabelled: ") for label in fitted.representation(strict).labels] == unlike.tolist()
    assert fitted.representation(strict).fingerprint == fitted.representation(model).fingerprint
    card = fitted.card(strict)
    assert (card["labelled topics"], card["unlabelled topics"]) == (8 - unlike.sum(), unlike.sum())
    assert card["topics at first"] == 8
    texts = fitted.representation(strict).model.texts
    lost = {text for text, is_unlike in zip(texts, unlike, strict=True) if text is not None and is_unlike}
    assert {part.partition(" (")[0] for part in card["labels below likeness"].split(", ")} == lost


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
    assert code == 0 and "documents by the labels of sourcelda(themes" in output
    code, output, messages = demo("fit", "demo", "sourcelda(thmes)")
    assert (code, output) == (2, "") and "thmes" in messages


def test_match_puts_the_topics_of_two_models_side_by_side(demo: Callable[..., Done], source):
    assert demo("resource", "add", "demo", "themes", str(source)).code == 0
    models = "sourcelda(themes, k=2, model=mixture, iterations=20)", "lda(k=3, iterations=20, min_df=3)"
    assert demo("fit", "demo", *models).code == 0
    rows = json.loads(demo("match", "demo", *models, "--format", "json").output)
    assert len(rows) == 7
    assert [row["overlap"] for row in rows] == sorted((row["overlap"] for row in rows), reverse=True)
    assert sum(row["partner"] != "" for row in rows) == 3 and {"Birds", "Ships"} <= {row["topic"] for row in rows}
    own = json.loads(demo("match", "demo", models[0], models[0], "--format", "json").output)
    assert all(row["overlap"] == 1 and row["topic"] == row["partner"] for row in own)
    code, output, messages = demo("match", "demo", models[0], "BM25")
    assert (code, output) == (2, "") and "BM25" in messages
