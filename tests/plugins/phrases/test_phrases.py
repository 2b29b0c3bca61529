"""Tests of the plugin phrases: fitting, the list and its way back, the expander, determinism, and hostile input."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc

import pytest
from command import invoke
from shared import DEMO
from test_phrase_mining import collection

import sublex
from sublex.contracts.base import Query, QueryTerm
from sublex.contracts.operators import ordered, synonyms, window
from sublex.errors import IndexProblem, InputError
from sublex.index.check import check
from sublex.pipeline.index import Index
from sublex_phrases import read_list as read_list_module
from sublex_phrases.read_list import read_list

MODEL = "phrases(support=5)"


def documents() -> list[dict[str, str]]:
    return [
        {"id": f"d{k}", "text": text.replace(" - ", "-").replace("( ", "(").replace(" )", ")")}
        for k, text in enumerate(collection())
    ]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index with phrases, which tests only read."""
    index = sublex.build(documents(), tmp_path_factory.mktemp("phrases") / "talk")
    index.fit(MODEL)
    return index


def listed(index: Index, *options: str) -> list[dict]:
    done = invoke("phrases", index.path, MODEL, "--format", "json", *options)
    assert done.code == 0, done.messages
    return json.loads(done.output)


def test_phrases_are_fitted_without_rows_and_the_index_stays_sound(fitted):
    found = fitted.fitted_model(MODEL).model.phrases
    assert "balpha1x bbeta1x bgamma1x" in found.names
    assert not list(check(fitted.path))
    card = invoke("card", fitted.path, MODEL)
    assert "phrases of several words" in card.output and "best:" in card.output


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_the_model_is_the_same_for_any_number_of_workers(fitted, tmp_path, workers):
    other = sublex.build(documents(), tmp_path / "i")
    other.fit(MODEL, workers=workers)
    first, second = (index.fitted_model(MODEL).model.phrases.values() for index in (fitted, other))
    for name, value in first.items():
        assert (value == second[name]) is True or (value == second[name]).all(), name


def test_a_phrase_is_listed_with_quality_features_forms_and_abbreviations(fitted):
    rows = {row["phrase"]: row for row in listed(fitted)}
    row = rows["balpha1x bbeta1x bgamma1x"]
    assert row["words"] == 3 and 0.5 <= row["quality"] <= 1 and row["mentions"] <= row["count"] * 2
    assert row["forms"]["balpha1x bbeta1x bgamma1x"] > 5 and {"concordance", "kept", "bracketed"} <= set(row)
    several, one = listed(fitted, "--words", "several"), listed(fitted, "--words", "one")
    assert len(several) + len(one) == len(rows) and several[0]["words"] > 1 and all(row["words"] == 1 for row in one)
    sheet = invoke("phrases", fitted.path, MODEL, "-n", "1", "--format", "spreadsheet").output
    assert f"{several[0]['phrase']} (" in sheet
    table = invoke("phrases", fitted.path, MODEL, "-n", "2").output.splitlines()
    assert table[0].split() == ["phrase", "quality", "mentions", "abbreviations", "other", "forms"] and len(table) == 3


def test_phrases_whose_words_only_share_a_stem_are_two(tmp_path):
    texts = collection()
    for k in range(0, 120, 2):
        texts[k] += " . computer science , computational science . computer science"
    index = sublex.build([{"id": str(k), "text": text} for k, text in enumerate(texts)], tmp_path / "i")
    (tmp_path / "list.txt").write_text("computer science\ncomputational science\n")
    assert index.analyze("computer") == index.analyze("computational")
    for forms, names in (
        ("inflections", {"computer science", "computational science"}),
        ("stems", {"computer science"}),
    ):
        model = f'phrases(support=5, list="{tmp_path / "list.txt"}", forms={forms})'
        index.fit(model)
        found = sublex.open(index.path).fitted_model(model).model.phrases
        assert {*found.names} == names
        mentions = dict(zip(found.names, found.mentions.tolist(), strict=True))
        assert mentions["computer science"] == (120 if forms == "inflections" else 180)


@pytest.mark.slow
def test_an_edited_list_is_given_back(fitted, tmp_path):
    text = invoke("phrases", fitted.path, MODEL, "--format", "csv").output
    rows = list(csv.DictReader(io.StringIO(text)))[:6]
    file = tmp_path / "edited.csv"
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["phrase", "quality"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows([*rows, {"phrase": "no such phrase", "quality": "0.9"}])
    index = sublex.build(documents(), tmp_path / "i")
    expression = f'phrases(list="{file}")'
    index.fit(expression)
    done = invoke("phrases", index.path, expression, "--format", "json")
    assert {row["phrase"].casefold() for row in json.loads(done.output)} == {row["phrase"].casefold() for row in rows}
    assert {row["quality"] for row in json.loads(done.output)} <= {float(row["quality"]) for row in rows}
    assert re.search(r"of the list, not found +1\n", invoke("card", index.path, expression).output)


@pytest.mark.slow
def test_good_phrases_of_the_user_are_learned_from(fitted, tmp_path):
    file = tmp_path / "good.txt"
    file.write_text("\n".join(row["phrase"] for row in listed(fitted, "--words", "several")[:30]))
    index = sublex.build(documents(), tmp_path / "i")
    index.fit(f'phrases(support=5, good="{file}")')
    assert len(index.fitted_model(f'phrases(support=5, good="{file}")').model.phrases)


def test_queries_get_what_abbreviations_stand_for_and_abbreviations(tmp_path):
    texts = collection()
    texts = [text + " convolutional kernel machine ( CKM ) works" for text in texts[:40]] + texts[40:]
    index = sublex.build([{"id": str(k), "text": text} for k, text in enumerate(texts)], tmp_path / "i")
    index.fit(MODEL)

    def added(text: str) -> dict[str, float]:
        terms = index.answer(text, f"{MODEL} >> BM25").query.terms
        return {term.term: term.weight for term in terms if term.origin != "query"}

    words = {index.analyze(word)[0] for word in ("convolutional", "kernel", "machine")}
    assert added("the CKM of today") == dict.fromkeys(words, 0.3)
    assert added("convolutional kernel machines") == {"ckm": 0.3}
    assert added("machine kernel convolutional") == added("") == {}
    assert added("CKM convolutional kernel machine") == {}
    # The words of a phrase operator are a phrase, and those of other operators are not.
    expand, terms = index.fitted_model(MODEL).model.expand, index.analyze("convolutional kernel machine")
    phrase = expand(Query("", (QueryTerm(ordered(terms), 3.0),)), None)
    assert phrase.terms[1:] == (("ckm", pytest.approx(0.3), phrase.terms[1].origin),)
    near = Query("", (QueryTerm(window(terms, 12)),))
    assert expand(near, None) == near
    either = expand(Query("", (QueryTerm(synonyms(["ckm", "svm"])),)), None)
    assert [term.weight for term in either.terms[1:]] == [0.15] * 3
    terms = index.answer("CKM", "phrases(support=5, weight=0) >> BM25").query.terms
    assert [term.term for term in terms] == ["ckm"]


@pytest.mark.slow
def test_an_index_without_text_and_a_small_one_are_refused(tmp_path):
    index = sublex.build(documents()[:9], tmp_path / "i", store=["terms"])
    with pytest.raises(IndexProblem, match="without stored text"):
        index.fit("phrases")
    small = sublex.build(documents()[:2], tmp_path / "small")
    with pytest.raises(InputError, match="too small for phrases"):
        small.fit("phrases")
    demo = sublex.build(DEMO, tmp_path / "demo")
    with pytest.raises(InputError, match=r"write phrases\(support=4\)"):
        demo.fit("phrases")
    demo.fit("phrases(support=4)")


def test_mistakes_cost_a_sentence(fitted, tmp_path):
    assert "is not a single fitted model" in invoke("phrases", fitted.path, "BM25").messages
    (tmp_path / "none.txt").write_text("wombat tango\n")
    with pytest.raises(InputError, match="none of the phrases in"):
        fitted.fit(f'phrases(list="{tmp_path / "none.txt"}")')
    with pytest.raises(InputError, match="leave one out"):
        fitted.fit(f'phrases(list="{tmp_path / "none.txt"}", good="{tmp_path / "none.txt"}")')
    with pytest.raises(InputError, match="support"):
        fitted.fit("phrases(support=1)")


@pytest.mark.parametrize(
    "content, expected",
    [
        ("big data\n\nIoT\n", [("big data", 1.0), ("IoT", 1.0)]),
        ('quality,phrase\n.5,"big, data"\n,x\n', [("big, data", 0.5), ("x", 1.0)]),
        ('["big data", {"phrase": "x", "quality": 0.25, "more": 1}]', [("big data", 1.0), ("x", 0.25)]),
        ("\ufeffphrase\nbig data\n", [("big data", 1.0)]),
        ("big data\r\nIoT\rx\n", [("big data", 1.0), ("IoT", 1.0), ("x", 1.0)]),
        ("big\x0bdata\nI\x85o\u2028T\x1c", [("big\x0bdata", 1.0), ("I\x85o\u2028T\x1c", 1.0)]),
        ("quality,phrase\x85\n.5,x", [("quality,phrase\x85", 1.0), (".5,x", 1.0)]),
        ("phrase\nbig\x85data\n", [("big\x85data", 1.0)]),
        ("x" * 131_072, [("x" * 131_072, 1.0)]),
    ],
)
def test_lists_are_read(tmp_path, content, expected):
    file = tmp_path / "list"
    file.write_text(content, encoding="utf-8")
    assert [tuple(phrase) for phrase in read_list(file)] == expected


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "lists no phrase"),
        (b"\n \n", "lists no phrase"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b'["a", 3]', "item 2 is neither"),
        (b'["a"', "begins like JSON"),
        (b"[" * 100_000, "begins like JSON"),
        (b"phrase,quality\na,much\n", ":2: the quality much"),
        (b"phrase,quality\na,2\n", "quality 2"),
        (b"phrase,quality\na,nan\n", "quality nan"),
        (b'[{"phrase": "a", "quality": [1]}]', "item 1: the quality"),
        (b"x" * 131_073, r"list:1: the phrase has more than 131,072 characters; shorten it, or leave it out\.$"),
        (b"x\n" + b"y" * 131_073 + b"\nz", r"list:2: the phrase has more than 131,072 characters"),
        (b'["x", "' + b"y" * 131_073 + b'"]', r"list, item 2: the phrase has more than 131,072 characters"),
        (
            b"phrase\nx\n" + b"y" * 131_073 + b"\n",
            r"list:3: the line cannot be read as CSV: .*; is a quote not closed\?$",
        ),
        (b'phrase\nx\n"' + b"y\n" * 70_000, r"list:3: the line cannot be read as CSV: .*; is a quote not closed\?$"),
    ],
)
def test_a_bad_list_is_refused(tmp_path, content, message):
    file = tmp_path / "list"
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_list(file)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_bomb_of_line_ends_is_refused_before_it_is_split(tmp_path, monkeypatch, end):
    monkeypatch.setattr(read_list_module, "MOST_PHRASES", 1000)
    file = tmp_path / "list"
    file.write_bytes(end.encode() * 1000 + b"x")
    assert len(read_list(file)) == 1
    file.write_bytes(end.encode() * 1001 + b"x")
    with pytest.raises(InputError, match="has more than 1,000 phrases; keep those that matter"):
        read_list(file)


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_characters_that_end_no_line_of_a_file_cost_no_memory(tmp_path, monkeypatch, end):
    """`str.splitlines` makes a text of each of them."""
    monkeypatch.setattr(read_list_module, "MOST_BYTES", 1 << 23)
    file = tmp_path / "list"
    file.write_text("x\n" + end * 2_000_000, encoding="utf-8")
    tracemalloc.start()
    with pytest.raises(InputError, match="list:2: the phrase has more than 131,072 characters"):
        read_list(file)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < (1 << 23) + 8 * file.stat().st_size


def test_a_bomb_of_json_items_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(read_list_module, "MOST_PHRASES", 1000)
    file = tmp_path / "list"
    file.write_text("[" + "{}," * 8001 + '"x"]')
    with pytest.raises(InputError, match="has more than 1,000 phrases"):
        read_list(file)
