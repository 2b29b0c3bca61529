"""Tests of the plugin lda: scores against their definitions, explanations, the card, its page, the command line and hostile input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from command import Done
from scipy.sparse import csr_array
from scipy.spatial.distance import jensenshannon

import sublex
from sublex.contracts.base import Document, Query, QueryTerm
from sublex.contracts.labels import find_label
from sublex.contracts.stored import DeclarationMismatch, Sizes
from sublex.errors import InputError, SublexError
from sublex.pipeline.index import Index
from sublex_lda import PARAMS
from sublex_lda.representation import LDARepresentation

MODEL = "lda(k=6, iterations=40)"
TEXT = "cranes by the river"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory, built_demo: Path) -> Index:
    """An index of the demo collection with two models, which tests only read."""
    folder = tmp_path_factory.mktemp("lda") / "demo"
    index = sublex.build(sublex.open(built_demo).documents(), folder)
    index.fit(MODEL)
    index.fit("lda(k=3, method=variational, iterations=20)")
    return index


def shares(index: Index, expression: str = MODEL) -> np.ndarray:
    """Return the shares of topics in all documents, dense."""
    rows = index.representation(expression).view.rows().toarray().astype(float)
    return rows / rows.sum(axis=1, keepdims=True)


def test_rows_of_a_model_hold_no_zeros(fitted):
    # A row is divided by its sum, so a stored row of zeros is damage.
    model = fitted.representation(MODEL)
    rows = model.view.rows().copy()
    declared = model.model.row_values._replace(shape=rows.shape)
    Sizes().check(rows, declared)
    rows.data[:] = 0
    with pytest.raises(DeclarationMismatch):
        Sizes().check(rows, declared)


# Scores.


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cosine", "js"])
def test_documents_are_ranked_by_the_topics_that_they_share_with_the_query(fitted, kind):
    model = fitted.representation(f"{MODEL[:-1]}, score={kind})")
    encoded = model.query(fitted.query(TEXT))
    assert encoded.shares.sum() == pytest.approx(1)
    rows = shares(fitted)
    if kind == "cosine":
        expected = rows @ encoded.shares / np.linalg.norm(rows, axis=1) / np.linalg.norm(encoded.shares)
    else:
        expected = [1 - jensenshannon(row, encoded.shares, base=2) ** 2 for row in rows]
    np.testing.assert_allclose(model.scores(encoded), expected, rtol=1e-5)


def test_the_likelihood_is_the_mixture_written_out(fitted):
    model = fitted.representation(f"{MODEL[:-1]}, score=likelihood, share=0.4, mu=50)")
    estimator, vocabulary = model.model.estimator, model.vocabulary.terms
    weights = {"crane": 1.0, "river": 2.5}
    terms = tuple(QueryTerm(term, weight) for term, weight in weights.items())
    scores = model.scores(model.query(Query(TEXT, terms)))
    counts = fitted.corpus.matrix().toarray()[:, [fitted.corpus.vocabulary.index(term) for term in vocabulary]]
    rows, tokens = model.view.rows().toarray().astype(float), counts.sum(axis=1)
    np.testing.assert_allclose(rows.sum(axis=1), tokens, rtol=1e-5)
    theta = (rows + estimator.alpha_) / (tokens + estimator.alpha_.sum())[:, None]
    expected = np.zeros(len(counts))
    for term, weight in weights.items():
        word = vocabulary.index(term)
        by_words = (counts[:, word] + 50 * counts[:, word].sum() / counts.sum()) / (tokens + 50)
        expected += weight * np.log(0.4 * theta @ estimator.phi_[word] + 0.6 * by_words)
    np.testing.assert_allclose(scores, expected, rtol=1e-5)


def test_a_query_of_one_word_has_the_topics_of_this_word(fitted):
    model = fitted.representation(MODEL)
    word = model.vocabulary.numbers["river"]
    phi, alpha = model.model.estimator.phi_[word], model.model.estimator.alpha_
    encoded = model.query(Query("river", (QueryTerm("river", 1.0),)))
    np.testing.assert_allclose(encoded.shares, phi * alpha / (phi @ alpha))
    odd = model.query(Query("river", (QueryTerm("river", 3.0), QueryTerm("crane", -1.0))))
    assert odd.words.tolist() == [word]


@pytest.mark.parametrize("kind", ["cosine", "js", "likelihood"])
def test_explanations_name_topics_by_their_words_and_add_up(fitted, kind):
    expression = f"{MODEL[:-1]}, score={kind})"
    model = fitted.representation(expression)
    encoded = model.query(fitted.query(TEXT))
    for doc in (0, 100, 250):
        tree = model.explain(encoded, doc)
        assert sum(part.value for part in tree.parts) == pytest.approx(tree.value)
        assert tree.value == pytest.approx(float(model.scores(encoded, np.array([doc]))[0]), rel=1e-5)
        if kind == "likelihood":
            assert {part.label for part in tree.parts} == {"crane", "river"}
            assert all(part.evidence["mostly"].startswith("topic ") for part in tree.parts)
        else:
            assert re.fullmatch(r"topic \d: \w+(, [\w']+){3}", tree.parts[0].label)
            assert 0 <= tree.parts[0].evidence["in the document"] <= 1


# Labels: the filter by topic.


def test_topic_keeps_the_hits_whose_share_of_the_topic_suffices(fitted):
    theta = shares(fitted)[:, 4]
    hits = fitted.search("the river", f"BM25 >> topic(4, of={MODEL})", k=252)
    before = fitted.search("the river", "BM25", k=252)
    assert hits.docs.tolist() == [doc for doc in before.docs if theta[doc] >= 0.2]
    assert 0 < len(hits) < len(before)
    more = fitted.search("the river", f"BM25 >> topic(4, of={MODEL}, share=0.5)", k=252)
    assert set(more.docs) == {doc for doc in before.docs if theta[doc] >= 0.5}
    # Nothing is found, and the filter still checks what it was given.
    assert not len(fitted.search("zyzzyva", f"BM25 >> topic(4, of={MODEL})"))
    tree = fitted.explain("the river", hits.docnos[0], f"BM25 >> topic(4, of={MODEL})")
    assert tree.parts[0].label == f"topic(4, {MODEL}) keeps it"


def test_topic_reaches_the_stages_before_it(fitted):
    topic = f"topic(4, of={MODEL})"
    hits = fitted.search("the river", f"zscore(BM25) >> {topic}", k=252)
    among = fitted.search("the river", f"zscore(BM25 >> {topic})", k=252)
    assert hits.docnos == among.docnos and hits.scores.tolist() == among.scores.tolist()
    assert abs(float(hits.scores.mean())) < 1e-6 and len(hits) > 2
    first = fitted.search("the river", "BM25", k=20)
    assert fitted.search("the river", f"BM25 % 20 >> {topic}", k=252).docs.tolist() == [
        doc for doc in first.docs if shares(fitted)[doc, 4] >= 0.2
    ]


def test_a_topic_is_named_by_its_label_whatever_its_case(fitted):
    labels = fitted.representation(MODEL).labels
    assert len(labels) == 6
    expected = fitted.search("the river", f"BM25 >> topic(2, of={MODEL})").docnos
    for name in (labels[2], labels[2].upper(), labels[2].replace(" ", "_"), "2"):
        assert fitted.search("the river", f'BM25 >> topic("{name}", of={MODEL})').docnos == expected


@pytest.mark.parametrize(
    ("topic", "of", "message"),
    [
        ("6", MODEL, r"has no topic 6; its topics have the numbers 0 to 5\.$"),
        ('"xyzzy"', MODEL, r"has no topic xyzzy; to list them, run: sublex card INDEX "),
        ("true", MODEL, "topic: True names no topic; write its number"),
        ('" "', MODEL, "topic: ' ' names no topic; write its number"),
        ("[1, 2]", MODEL, r"topic: \(1, 2\) names no topic; write its number"),
        ("1", "BM25", "BM25 is not a model that is fitted to an index; name one"),
        ("1", "lda(k=7)", r"No lda\(k=7\) in demo; fitted: .* Run: sublex fit .*demo 'lda\(k=7\)'"),
    ],
)
def test_an_unknown_topic_and_an_unfitted_model_cost_a_sentence(fitted, topic, of, message):
    with pytest.raises(SublexError, match=message):
        fitted.search("zyzzyva", f"BM25 >> topic({topic}, of={of})")


def test_the_nearest_label_is_named(fitted):
    label = fitted.representation(MODEL).labels[3]
    for part in (label.split(", ")[1], label[:-1], f"{label}x"):
        with pytest.raises(InputError, match=f"did you mean {label}"):
            find_label(part, [label, "Natural gas"], "topic", MODEL)
    with pytest.raises(InputError, match="several topics NATURAL_GAS; write one of their numbers: 0 and 2"):
        find_label("NATURAL_GAS", ["Natural gas", "Coffee", "natural  gas"], "topic", MODEL)
    with pytest.raises(InputError, match=f"{re.escape(MODEL)} has no topic ''; to list them"):
        find_label("", ["Coffee"], "topic", MODEL)
    with pytest.raises(InputError, match="names no topics"):
        find_label("gas", [], "topic", "lsi(e=5)")


def test_a_run_records_the_model_that_a_filter_names(fitted):
    pipeline = fitted.pipeline(f"BM25 >> topic(1, of={MODEL})")
    assert pipeline.models[MODEL].startswith(fitted.representation(MODEL).fingerprint)


# Facets and marks.


def test_facets_count_the_hits_that_the_filter_keeps(fitted):
    hits = fitted.search("the river", k=100)
    facets = fitted.facets(hits, MODEL)
    assert [facet.docs for facet in facets] == sorted((facet.docs for facet in facets), reverse=True)
    assert {facet.label for facet in facets} <= set(fitted.representation(MODEL).labels)
    kept = {n: len(fitted.search("the river", f"BM25 >> topic({n}, of={MODEL})", k=100)) for n in range(6)}
    assert {facet.number: facet.docs for facet in facets} == {n: number for n, number in kept.items() if number}
    assert fitted.facets(hits.first(0), MODEL) == []
    assert fitted.labelled_models(f"BM25 + 0.1*{MODEL} >> topic(1, of=lda(k=3, method=variational, iterations=20))") == [
        MODEL, "lda(k=3, method=variational, iterations=20)",
    ]  # fmt: skip


def test_labels_are_made_once_for_an_open_index(fitted, monkeypatch):
    made = []
    monkeypatch.setattr(LDARepresentation, "labels", lambda self, view: made.append(1) or [str(k) for k in range(6)])
    index = sublex.open(fitted.path)
    for score in ("cosine", "js"):
        assert index.facets(index.search("river"), f"{MODEL[:-1]}, score={score})")
        assert index.representation(MODEL).labels[3] == "3"
    assert len(made) == 1


def test_hits_of_another_generation_are_refused(fitted, tmp_path):
    other = sublex.build([Document("a", "river"), Document("b", "river bank")], tmp_path / "other")
    other.fit("lsi(e=1, min_df=1)")
    with pytest.raises(InputError, match=r"has no labels to count; name a model that has"):
        other.facets(other.search("river"), "lsi(e=1, min_df=1)")
    with pytest.raises(InputError, match=r"The hits are \['river'\] \(list\); give what search returned, or a query"):
        fitted.facets(["river"], MODEL)
    with pytest.raises(InputError, match="another generation of .*demo, or another index; search again"):
        fitted.facets(other.search("river"), MODEL)


def test_marks_name_the_most_probable_topic_of_each_word(fitted):
    model = fitted.representation(MODEL)
    docno = "birds-05"
    marks = fitted.marks(TEXT, docno, MODEL)
    doc = fitted.snapshot.doc(docno)
    known = {term for term in fitted.analyze(fitted.document(docno).contents) if term in model.vocabulary.numbers}
    assert {mark.terms for mark in marks} == {(term,) for term in known}
    theta = shares(fitted)[doc]
    for mark in marks:
        chances = theta * model.model.estimator.phi_[model.vocabulary.numbers[mark.terms[0]]]
        assert mark.number == chances.argmax()
        assert mark.weight == pytest.approx(chances.max() / chances.sum())
        assert mark.label == model.labels[mark.number]


def test_search_prints_facets(demo: Callable[..., Done]):
    assert demo("fit", "demo", "lda(k=3, iterations=20)").code == 0
    code, output, messages = demo("search", "demo", TEXT, "-k", "1", "--facets", "2", "--of", "lda(k=3, iterations=20)")
    assert (code, messages) == (0, "")
    hit, _, _, title, head, *rows = output.splitlines()
    assert "birds-05" in hit
    assert re.fullmatch(r"All \d+ documents found, by the labels of lda\(k=3, iterations=20\):", title)
    assert head.split() == ["documents", "number", "label"]
    assert len(rows) == 2
    found = json.loads(
        demo(
            "search", "demo", TEXT, "-r", "BM25 >> lda(k=3, iterations=20)", "--facets", "3", "--format", "json"
        ).output
    )
    assert found["of"] == "lda(k=3, iterations=20)"
    assert len(found["hits"]) == 10 < found["counted"]
    assert all(0 < facet["documents"] <= found["counted"] for facet in found["facets"])
    for arguments, message in (
        (("--facets", "3"), "No model in BM25 has labels to count; name a fitted one: --of 'lda(k=3, iterations=20)'"),
        (("--of", "lda(k=3)"), "--of names a column or the model of --facets"),
        (("--facets", "3", "--of", "lda(k=3, iterations=20)", "--format", "csv"), "This result has no form csv"),
        (("--facets", "3", "--of", "BM25"), "BM25 is not a single fitted model"),
    ):
        code, output, messages = demo("search", "demo", TEXT, *arguments)
        assert (code, output) == (2, "")
        assert message in messages


# Rows, the card, the page.


@pytest.mark.parametrize("expression", [MODEL, "lda(k=3, method=variational, iterations=20)"])
def test_rows_are_sparse_and_encode_writes_theta(fitted, expression, tmp_path):
    from sublex.representations.export import export

    model = fitted.representation(expression)
    rows = model.view.rows()
    assert hasattr(rows, "indptr")
    assert rows.dtype == np.float32
    export(fitted.snapshot, model, None, tmp_path / "theta.npz")
    with np.load(tmp_path / "theta.npz") as file:
        theta = csr_array((file["data"], file["indices"], file["indptr"]), shape=file["shape"])
    np.testing.assert_allclose(theta.toarray(), shares(fitted, expression), rtol=1e-5)
    phi = model.model.word_vectors()
    assert phi.shape == (len(model.vocabulary), theta.shape[1])
    np.testing.assert_allclose(phi.sum(axis=0), 1)


def test_the_card_lists_topics_with_words_and_live_documents(fitted, tmp_path):
    card = fitted.card(MODEL)
    topics = json.loads(json.dumps(card["topics"]))
    assert sorted(topic["topic"] for topic in topics) == list(range(6))
    assert [topic["share"] for topic in topics] == sorted((topic["share"] for topic in topics), reverse=True)
    assert sum(topic["share"] for topic in topics) == pytest.approx(1, abs=0.001)
    model = fitted.representation(MODEL).model
    first = topics[0]
    best = np.argsort(-model.estimator.phi_[:, first["topic"]], kind="stable")[:8]
    assert first["words"] == [fitted.corpus.surface(model.vocabulary[word]) for word in best]
    theta = shares(fitted)[:, first["topic"]]
    assert theta[fitted.snapshot.doc(first["documents"][0])] > np.quantile(theta, 0.95)
    # A deleted document is not shown.
    copy = sublex.build(fitted.documents(), tmp_path / "copy")
    copy.fit(MODEL, fitted.path)
    copy.delete([first["documents"][0]])
    assert copy.card(MODEL)["topics"][0]["documents"][0] == first["documents"][1]


class Tags(HTMLParser):
    """Reads a page: its text, the addresses that it names, and the tags left open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_shows_every_topic_and_needs_no_other_file(tmp_path):
    documents = [
        Document(
            f"<b>{n}</b>",
            f"bank money loan {n % 3}" if n % 2 else "river <script>alert(1)</script> water",
            f"Title & {n}",
        )
        for n in range(12)
    ]
    index = sublex.build(documents, tmp_path / "index")
    model = "lda(k=2, iterations=20, max_df=1)"
    index.fit(model)
    page = index.fitted_model(model).page()
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert not tags.addresses
    assert "<script" not in page
    assert "url(" not in page
    text = " ".join(tags.words)
    assert {"money", "river", "water"} <= set(text.split())
    assert "Topic 0" in text and "Topic 1" in text
    assert re.search(r"<b>\d+</b>: Title & \d+", text)


def test_an_index_without_texts_has_cards_and_pages_too(tmp_path):
    documents = [Document(f"d{n}", "bank money loan" if n % 2 else "river water bank", "Title") for n in range(12)]
    index = sublex.build(documents, tmp_path / "index", store=["terms"])
    index.fit("lda(k=2, iterations=20, max_df=1)")
    assert "d3" in index.fitted_model("lda(k=2, iterations=20, max_df=1)").page()


def test_the_command_card_prints_topics_and_writes_pages(demo: Callable[..., Done]):
    assert demo("fit", "demo", "lda(k=3, iterations=20)", "lsi(e=2)").code == 0
    code, output, messages = demo("card", "demo", "lda(k=3, iterations=20)")
    assert (code, messages) == (0, "")
    head, *rows = output.partition("topics:\n")[2].splitlines()
    assert head.split() == ["topic", "share", "coherence", "words", "documents"]
    assert len(rows) == 3
    assert "{" not in output
    code, output, _ = demo("card", "demo", "lda(k=3, iterations=20)", "-o", "topics.html")
    assert (code, output) == (0, "topics.html shows lda(k=3, iterations=20)\n")
    assert Path("topics.html").read_text().count("<article") == 3
    # The page may be written anew, and nothing else is overwritten.
    assert demo("card", "demo", "lda(k=3, iterations=20)", "-o", "topics.html").code == 0
    Path("notes.html").write_text("mine")
    for arguments, message in (
        (
            ("lda(k=3, iterations=20)", "-o", "notes.html"),
            "notes.html is there, and nothing shows that Sublex wrote it",
        ),
        (("lda(k=3, iterations=20)", "-o", "notes.txt"), "notes.txt does not end in .html"),
        (("lsi(e=2)", "-o", "new.html"), "lsi(e=2) has no page; leave out -o to print its card"),
        (("-o", "new.html"), "Name the model that the page shows"),
    ):
        code, _, messages = demo("card", "demo", *arguments)
        assert code == 2
        assert message in messages
    assert Path("notes.html").read_text() == "mine"
    assert not Path("new.html").exists()


# Odd and hostile input.


def test_unknown_words_and_documents_without_known_words_have_no_opinion(tmp_path):
    documents = [Document(f"d{n}", "bank money loan" if n % 2 else "river water shore") for n in range(12)]
    index = sublex.build([*documents, Document("empty", "zyzzyva")], tmp_path / "index")
    for kind in ("cosine", "js", "likelihood"):
        model = f"lda(k=2, iterations=20, max_df=1, score={kind})"
        index.fit(model)
        assert len(index.search("money", model, k=99)) == 12
        assert not index.search("zyzzyva", model)
        # Half of the documents are about money, and they come first.
        assert {int(hit.docno[1:]) % 2 for hit in index.search("loan", model, k=6)} == {1}


@pytest.mark.slow
@pytest.mark.parametrize("parameters", ["k=1", "k=50", "k=50, method=variational", "k=3, learn_alpha=asymmetric"])
@pytest.mark.parametrize("number", [1, 3])
def test_few_documents_are_no_trouble(tmp_path, parameters, number):
    index = sublex.build([Document(f"d{n}", "bank money loan") for n in range(number)], tmp_path / "index")
    model = f"lda({parameters}, iterations=20, min_df=1, max_df=1)"
    index.fit(model)
    assert len(index.search("money", model)) == number
    assert index.card(model)["terms"] == 3
    assert "money" in index.fitted_model(model).page()


def test_a_collection_without_suitable_words_is_refused_in_a_sentence(tmp_path):
    index = sublex.build([Document("d", "bank money loan")], tmp_path / "index")
    with pytest.raises(
        SublexError, match="no word is in 2 or more of 1 documents and in no more than 10% of them; lower min_df"
    ):
        index.fit("lda(k=2)")
    for wrong in ("lda(k=0)", "lda(alpha=0)", "lda(score=euclid)", "lda(method=em)"):
        with pytest.raises(InputError):
            index.fit(wrong)


def test_the_score_is_chosen_without_a_new_fit(fitted):
    before = fitted.fitted
    found = {
        kind: fitted.search(TEXT, f"{MODEL[:-1]}, score={kind})", k=252) for kind in ("cosine", "js", "likelihood")
    }
    assert fitted.fitted == before
    assert len({tuple(hit.docno for hit in hits) for hits in found.values()}) == 3


def test_the_defaults_are_those_of_the_page():
    defaults = {param.name: param.default for param in PARAMS}
    page = (Path(__file__).parents[3] / "docs" / "topics.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith("`lda(k="))
    for name, value in re.findall(r"(\w+)=([\w.]+)", line):
        shown = (
            {False: "no", True: "yes"}.get(defaults[name]) if isinstance(defaults[name], bool) else str(defaults[name])
        )
        assert shown == value, name
