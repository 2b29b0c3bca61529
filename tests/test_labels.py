"""What people decide about the labels of fitted models: kept by a commit, followed everywhere, and safe to read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from child import at_change, kill_self, run
from command import Done
from hypothesis import given
from hypothesis import strategies as st
from shared import manifest_of, write_manifest

import sublex
from sublex.contracts.labels import find_label
from sublex.errors import IndexCorrupt, InputError, SublexError
from sublex.index.check import check
from sublex.index.entries import ACTIONS, LabelDecision, LabelRef, fault_of_name
from sublex.pipeline.index import Index
from sublex.representations.label_decisions import applied, hash_of

LDA = "lda(k=6, iterations=40)"
TEXT = "cranes by the river"
SOURCE = {
    "Birds": "bird crane nest wing",
    "Money": "bank money loan coin",
    "Ice hockey": "puck rink skates goalkeeper hockey",
}


@pytest.fixture(scope="module")
def sourcelda(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The expression of a model with labels."""
    path = tmp_path_factory.mktemp("source") / "themes.jsonl"
    path.write_text("".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in SOURCE.items()))
    return f'sourcelda("{path}", k=8, model=mixture, iterations=100)'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, built_demo: Path, sourcelda: str) -> Path:
    """The path of an index of the demo collection with two models, which tests only copy."""
    folder = tmp_path_factory.mktemp("labels") / "demo"
    index = sublex.build(sublex.open(built_demo).documents(), folder)
    index.fit(LDA)
    index.fit(sourcelda)
    return folder


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Index:
    """A copy of the index that a test may change."""
    return sublex.open(shutil.copytree(made, tmp_path / "demo"))


def label_of(index: Index, model: str, number: int) -> str:
    """Return the label of a topic in an index that is opened anew."""
    return sublex.open(index.path).representation(model).labels[number]


# Following decisions.


def test_a_new_name_is_shown_everywhere_and_stays(index):
    old = index.representation(LDA).labels
    docs = index.search(TEXT, f"BM25 >> topic(2, of={LDA})", k=252)
    before = index.run({"1": TEXT}, f"BM25 >> {LDA}").metadata["data"]["models"][LDA]
    states = index.label(LDA, "rename", 2, "Cranes and rivers")
    assert states == index.labels(LDA) and [state.number for state in states if state.decision == "renamed"] == [2]
    labels = index.representation(LDA).labels
    assert labels[2] == label_of(index, LDA, 2) == "Cranes and rivers"
    assert [*labels[:2], *labels[3:]] == [*old[:2], *old[3:]]
    named = index.search(TEXT, f'BM25 >> topic("cranes_AND rivers", of={LDA})', k=252)
    assert np.array_equal(named.docs, docs.docs)
    facets = index.facets(index.search(TEXT, k=252), LDA)
    assert [f.label for f in facets if f.number == 2] == ["Cranes and rivers"]
    shares = index.representation(LDA).label_shares(np.arange(252)).toarray()[:, 2]
    doc = int(shares.argmax())
    docno = index.snapshot.docno(doc)
    assert "Cranes and rivers" in {mark.label for mark in index.marks(TEXT, docno, LDA)}
    title = index.snapshot.stored(doc).title
    names = [part.label for part in index.explain(title, docno, LDA).parts]
    assert any(name.startswith("topic Cranes and rivers (") for name in names)
    card = index.card(LDA)
    assert next(topic for topic in card["topics"] if topic["topic"] == 2)["label"] == "Cranes and rivers"
    assert card["decisions on labels"] == "1 renamed"
    page = index.fitted_model(LDA).page()
    assert page.index("<h2>Cranes and rivers<span>") < min(page.index(f"<h2>Topic {k}<span>") for k in (0, 1, 3, 4, 5))
    after = index.run({"1": TEXT}, f"BM25 >> {LDA}").metadata["data"]["models"][LDA]
    assert after == f"{before}, labels {card['hash of the decisions']}"
    by_filter = index.run({"1": TEXT}, f"BM25 >> topic(2, of={LDA})").metadata["data"]["models"]
    assert card["hash of the decisions"] in by_filter[LDA]
    assert (
        index.representation(LDA).fingerprint == index.fitted[index.representation(LDA).card()["model"]].model.checksum
    )
    assert check(index.path) == []


def test_scores_do_not_depend_on_names(index):
    before = index.search(TEXT, f"BM25 >> {LDA}", k=50)
    index.label(LDA, "rename", 1, "Another name")
    index.label(LDA, "merge", 1, 2)
    after = index.search(TEXT, f"BM25 >> {LDA}", k=50)
    assert np.array_equal(before.docs, after.docs) and np.array_equal(before.scores, after.scores)


def test_merged_labels_are_one_with_the_documents_of_both(index):
    plain = index.representation(LDA).label_shares(np.arange(252)).toarray()
    index.label(LDA, "rename", 0, "Whole")
    index.label(LDA, "merge", "whole", 3, 5)
    model = index.representation(LDA)
    shares = model.label_shares(np.arange(252)).toarray()
    whole = plain[:, [0, 3, 5]].sum(axis=1)
    for number in (0, 3, 5):
        np.testing.assert_allclose(shares[:, number], whole, rtol=1e-6)
    np.testing.assert_allclose(shares[:, [1, 2, 4]], plain[:, [1, 2, 4]], rtol=1e-6)
    counts = {facet.number: facet.docs for facet in model.facets(np.arange(252))}
    assert counts[0] == (whole >= 0.2).sum() and not counts.keys() & {3, 5}
    every = index.search("the of and a in", k=252)
    for wanted in ("Whole", "3"):
        kept = index.search("the of and a in", f'BM25 >> topic("{wanted}", of={LDA})', k=252)
        assert set(kept.docs) == {doc for doc in every.docs if whole[doc] >= 0.2}
    for doc in np.argsort(-plain[:, 3])[:3].tolist():
        marks = index.marks(TEXT, index.snapshot.docno(doc), LDA)
        assert not {mark.number for mark in marks} & {3, 5}
        assert {mark.label for mark in marks if mark.number == 0} == {"Whole"}


def test_a_rejected_label_is_shown_by_its_words_wherever_labels_are_shown(index, sourcelda):
    number = index.representation(sourcelda).labels.index("Birds")
    index.label(sourcelda, "reject", "Birds")
    assert label_of(index, sourcelda, number).startswith("unlabelled: ")
    card = json.dumps(index.card(sourcelda))
    page = index.fitted_model(sourcelda).page()
    assert "Birds" not in page and '"Birds"' not in card
    labels = {facet.label for facet in index.facets(index.search("birds", k=252), sourcelda)}
    assert labels and "Birds" not in labels
    with pytest.raises(InputError, match="no topic"):
        index.search("birds", f'BM25 >> topic("Birds", of={sourcelda})')
    # With other parameters of the stage query it is the same model.
    strict = f"{sourcelda[:-1]}, likeness=0.01)"
    assert "Birds" not in index.representation(strict).labels
    index.label(sourcelda, "undo", "Birds")
    assert label_of(index, sourcelda, number) == "Birds"


def test_an_accepted_label_is_shown_though_little_speaks_for_it(index, sourcelda):
    strict = f"{sourcelda[:-1]}, evidence=1)"
    assert not any("Birds" in label for label in index.representation(strict).labels)
    with pytest.raises(InputError, match="has no label to accept; give it one by rename"):
        index.label(strict, "accept", 0)
    index.label(strict, "accept", "birds")
    assert "Birds" in index.representation(strict).labels
    states = {state.number: state for state in index.labels(strict)}
    number = index.representation(strict).labels.index("Birds")
    assert states[number].decision == "accepted" and states[number].proposed == "Birds"
    assert index.labels(strict)[0].number == number or index.labels(strict)[0].proposed


def test_the_last_decision_is_taken_back_first(index):
    before = index.representation(LDA).labels
    index.label(LDA, "rename", 1, "One")
    index.label(LDA, "rename", 1, "Two")
    index.label(LDA, "undo")
    assert index.representation(LDA).labels[1] == "One"
    index.label(LDA, "undo")
    assert index.representation(LDA).labels == before
    assert "labels" not in manifest_of(index.path)
    with pytest.raises(InputError, match="there is nothing to undo"):
        index.label(LDA, "undo")


# Staying.


def test_decisions_outlive_a_refit_and_an_update_and_a_rebuild(index):
    index.label(LDA, "rename", 4, "Kept")
    index.add([sublex.Document("new", "cranes and rivers and birds")])
    assert label_of(index, LDA, 4) == "Kept"
    index.forget(LDA)
    assert index.snapshot.manifest.labels.keys() == {LDA}
    index.delete("new")
    index.fit(LDA)
    assert label_of(index, LDA, 4) == "Kept"
    again = sublex.build(sublex.open(index.path).documents(), index.path, overwrite=True)
    again.fit(LDA)
    assert label_of(again, LDA, 4) == "Kept"
    again.forget(LDA, labels=True)
    assert "labels" not in manifest_of(index.path)


def test_decisions_are_taken_by_other_models_and_come_with_copied_ones(index, sourcelda, made, tmp_path):
    index.label(sourcelda, "reject", "Birds")
    index.label(sourcelda, "rename", "Money", "Banks")
    other = sourcelda.replace("k=8", "k=7")
    index.fit(other)
    index.label(other, "take", sourcelda)
    assert "Banks" in index.representation(other).labels and "Birds" not in index.representation(other).labels
    copy = sublex.build(index.documents(), tmp_path / "copy")
    copy.fit(sourcelda, source=index.path)
    assert "Banks" in copy.representation(sourcelda).labels
    for words, message in (((), "takes the expression"), ((LDA,), "nothing to take"), ((other,), "nothing to take")):
        with pytest.raises(InputError, match=message):
            index.label(other, "take", *words)


def test_a_decision_finds_its_label_by_text_when_numbers_change():
    reject = LabelDecision("reject", LabelRef(0, "Birds"))
    assert applied([reject], ["Birds", "x"]).named == {0: None}
    assert applied([reject], ["x", "Birds"]).named == {1: None}
    for texts in (["x"], [], ["x", "Birds", "Birds"]):
        assert applied([reject], texts).named == {} and applied([reject], texts).lost == [reject]
    # Of several labels with the text, the one with the number is meant.
    assert applied([reject], ["Birds", "Birds"]).named == {0: None}


def test_what_follows_a_label_to_another_number_is_taken_back_there(index):
    """As after a refit that numbers topics anew: the decision about topic 3 was made when it was topic 0."""
    text = index.representation(LDA).proposals[3].text
    made = [{"action": "rename", "label": {"number": 0, "text": text}, "name": "Moved"}]
    write_manifest(index.path, manifest_of(index.path) | {"labels": {LDA: made}})
    again = sublex.open(index.path)
    assert again.representation(LDA).labels[3] == "Moved"
    again.label(LDA, "undo", "Moved")
    assert "Moved" not in again.representation(LDA).labels and "labels" not in manifest_of(index.path)


def test_labels_that_are_merged_are_not_merged_again(index):
    index.label(LDA, "merge", 0, 1, 2)
    before = manifest_of(index.path)
    for again in ((0, 1), (1, 2), (2, 0)):
        with pytest.raises(InputError, match="are merged already"):
            index.label(LDA, "merge", *again)
    assert manifest_of(index.path) == before


# Reading what anybody may have written.

decisions = st.builds(
    LabelDecision,
    st.sampled_from(ACTIONS),
    st.builds(LabelRef, st.integers(0, 6), st.sampled_from("abcdef")),
    st.none() | st.text(min_size=1, max_size=5),
    st.none() | st.builds(LabelRef, st.integers(0, 6), st.sampled_from("abcdef")),
)


@given(st.lists(decisions, max_size=30), st.lists(st.sampled_from("abcdef"), max_size=6))
def test_any_decisions_leave_every_label_with_one_whole(given, texts):
    found = applied(given, texts)
    assert not found.merged.keys() & set(found.merged.values())
    numbers = set(range(len(texts)))
    assert {*found.merged, *found.merged.values(), *found.named, *found.done} <= numbers
    assert len(hash_of(given)) == 16


GOOD = {"action": "rename", "label": {"number": 1, "text": "x"}, "name": "Name"}


@pytest.mark.parametrize(
    "broken",
    [
        [],
        {"lda(k=2": [GOOD]},
        {LDA: {}},
        {LDA: [GOOD | {"action": "erase"}]},
        {LDA: [GOOD | {"label": 3}]},
        {LDA: [GOOD | {"label": {"number": -1, "text": "x"}}]},
        {LDA: [GOOD | {"label": {"number": 1, "text": "x" * 10_001}}]},
        {LDA: [GOOD | {"label": {"number": 1, "text": "\ud800"}}]},
        {LDA: [GOOD | {"name": ""}]},
        {LDA: [GOOD | {"name": "x" * 81}]},
        {LDA: [GOOD | {"name": "red\x1b[31m"}]},
        {LDA: [GOOD | {"name": "a\nb"}]},
        {LDA: [GOOD | {"name": "\u202egnp.exe"}]},
        {LDA: [GOOD | {"name": "7"}]},
        {LDA: [GOOD | {"name": None}]},
        {LDA: [GOOD | {"into": 4}]},
    ],
)
def test_decisions_that_are_none_are_refused(index, broken):
    write_manifest(index.path, manifest_of(index.path) | {"labels": broken})
    with pytest.raises(IndexCorrupt, match=r"index\.json is damaged: labels"):
        sublex.open(index.path)


@pytest.mark.parametrize(
    "given",
    [
        [GOOD],
        [GOOD | {"action": "merge"}],
        [{"action": "rename", "label": {"number": 2**31 - 1, "text": ""}}],
        [{"action": "reject", "label": {"number": 2, "text": "\x1b[31m\nred \u202e"}}],
        [{"action": "accept", "label": {"number": 0, "text": ""}}] * 20,
    ],
)
def test_decisions_about_labels_that_do_not_exist_change_nothing(index, given):
    before = index.representation(LDA).labels
    write_manifest(index.path, manifest_of(index.path) | {"labels": {LDA: given, "BM25": given}})
    again = sublex.open(index.path)
    assert again.representation(LDA).labels == before
    assert "that the model does not have" in again.card(LDA)["decisions on labels"]
    assert again.card(LDA)["decisions on labels"].isprintable()


def test_a_name_that_nobody_wrote_is_no_name(index):
    """A decision without a name, which only a forger writes, leaves a topic by its words."""
    text = index.representation(LDA).proposals[0].text
    forged = [{"action": action, "label": {"number": 0, "text": text}} for action in ("rename", "accept")]
    before = index.representation(LDA).labels
    write_manifest(index.path, manifest_of(index.path) | {"labels": {LDA: forged}})
    again = sublex.open(index.path)
    assert again.representation(LDA).labels == before and not any(each.decision for each in again.labels(LDA))


def test_a_page_shows_names_safely(index):
    index.label(LDA, "rename", 0, "<script>alert(1)</script>")
    page = index.fitted_model(LDA).page()
    assert "&lt;script&gt;" in page and "<script" not in page


@pytest.mark.slow
def test_a_decision_that_is_killed_is_made_or_not(index, tmp_path):
    copies = [shutil.copytree(index.path, tmp_path / str(number)) for number in range(6)]
    made = set()
    for number, copy in enumerate(copies):

        def work(copy: Path = copy, number: int = number) -> None:
            at_change(number + 1, kill_self)
            sublex.open(copy).label(LDA, "rename", 0, "New")

        run(work)
        found = sublex.open(copy).representation(LDA).labels[0]
        assert found in ("New", index.representation(LDA).labels[0]) and check(copy) == []
        made.add(found == "New")
        sublex.open(copy).label(LDA, "rename", 1, "Later")
        assert label_of(sublex.open(copy), LDA, 1) == "Later"
    assert made == {False, True}


# Mistakes.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rename", 1), "rename takes a label and its new name"),
        (("rename", 1, "a", "b"), "rename takes a label and its new name"),
        (("merge", 1), "merge takes a label and the labels that become parts"),
        (("merge", 1, 1), "got one label twice"),
        (("reject",), "reject takes one label or more"),
        (("reject", 1), "has no label to reject; it is shown by its words already"),
        (("accept", 99), "has no topic 99; its topics have the numbers 0 to 5"),
        (("erase", 1), "is nothing to do with labels; choose one of accept, rename, merge, reject, undo, take"),
        (("rename", 1, ""), "has 0 characters; give it 1 to 80"),
        (("rename", 1, "x" * 81), "has 81 characters"),
        (("rename", 1, "a\u202eb"), "characters that cannot be seen"),
        (("rename", 1, "12"), "is a number"),
    ],
)
def test_a_mistake_costs_one_sentence_and_changes_nothing(index, arguments, message):
    generation = index.generation
    with pytest.raises(SublexError, match=message) as error:
        index.label(LDA, *arguments)
    assert "\n" not in str(error.value)
    assert sublex.open(index.path).generation == generation


def test_two_labels_cannot_have_one_name_and_models_without_labels_are_refused(index):
    index.label(LDA, "rename", 1, "One")
    with pytest.raises(InputError, match="Label 1 of .* is called one already; merge the two"):
        index.label(LDA, "rename", 2, "one")
    index.fit("lsi(e=5)")
    with pytest.raises(InputError, match="has no labels that people can name; name a fitted lda or sourcelda"):
        index.labels("lsi(e=5)")


@given(st.text(max_size=90))
def test_a_name_is_one_visible_line(name):
    if not fault_of_name(name):
        assert name == name.strip() and name.isprintable() and 0 < len(name) <= 80 and not name.isdecimal()


def test_probably_may_be_left_out():
    labels = ["probably Birds", "Probably Ships", "Ships"]
    assert find_label("birds", labels, "topic", "m") == find_label("probably birds", labels, "topic", "m") == 0
    assert find_label("ships", labels, "topic", "m") == 2 and find_label("probably ships", labels, "topic", "m") == 1


# The command line.


def test_the_command_line_lists_and_decides(demo: Callable[..., Done]):
    assert demo("fit", "demo", LDA).code == 0
    rows = json.loads(demo("label", "demo", LDA, "--format", "json").output)
    assert len(rows) == 6 and {row["decision"] for row in rows} == {""}
    done = demo("label", "demo", LDA, "rename", "3", "Cranes", "--format", "json")
    assert done.code == 0
    assert [(row["number"], row["label"]) for row in json.loads(done.output)] == [(3, "Cranes")]
    assert "Cranes" in demo("card", "demo", LDA).output
    assert "Cranes" in demo("search", "demo", TEXT, "--facets", "6", "--of", LDA).output
    code, output, messages = demo("label", "demo", LDA, "list", "3")
    assert (code, output) == (2, "") and "list takes no label" in messages
    code, output, messages = demo("label", "demo", LDA, "rename", "3")
    assert (code, output) == (2, "") and "rename takes a label and its new name" in messages
    code, output, _ = demo("forget", "demo", LDA)
    assert code == 0 and "what people decided about labels stays for the next fit" in " ".join(output.split())
    code, output, messages = demo("fit", "demo", LDA)
    assert code == 0 and "what people decided about its labels stays: 1 renamed" in " ".join(
        (output + messages).split()
    )
    assert demo("forget", "demo", LDA, "--labels").code == 0
    assert "labels" not in manifest_of(Path("indexes/demo"))


def test_the_shell_reads_an_expression_with_blanks(index, capsys):
    from sublex.shell.commands import built_in
    from sublex.shell.session import Session
    from sublex.shell.settings import ShellSettings

    session = Session(lambda: sublex.open(index.path), index.path, built_in(), ShellSettings(bars=False))
    session.run(f':label {LDA} rename 3 "Cranes and rivers"')
    assert label_of(index, LDA, 3) == "Cranes and rivers"


@pytest.mark.parametrize("other", ["cranes_AND  rivers", "probably Cranes", "unlabelled: x", None, 7])
def test_no_two_labels_can_be_meant_by_one_name(index, other):
    index.label(LDA, "rename", 3, "Cranes and rivers")
    before = manifest_of(index.path)
    with pytest.raises(InputError, match="is called|says how sure|is no name"):
        index.label(LDA, "rename", 4, other)
    assert manifest_of(index.path) == before


def test_what_is_decided_already_is_no_decision(index, sourcelda):
    shown = [each.number for each in index.labels(sourcelda) if each.label and each.proposed][:1]
    index.label(sourcelda, "reject", *shown)
    with pytest.raises(InputError, match="This label is rejected already"):
        index.label(sourcelda, "reject", *shown)
    other = "lda(k=6, iterations=41)"
    index.fit(other)
    index.label(LDA, "rename", 1, "One")
    index.label(other, "take", LDA)
    with pytest.raises(InputError, match="are taken already"):
        index.label(other, "take", LDA)
