"""Suggestions for words that no document contains: the nearest word, of several the most frequent, as it is written."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sublex
from sublex.index.spelling import latex_words, near_strings, nearest_term, suggestions
from sublex.pipeline.missing_words import corrections, missing_notes


def distance(a: str, b: str) -> int:
    """Return the number of characters to insert, delete or replace, or of neighbours to swap, between two words."""
    table = [[i + j if not i * j else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


def near(words: list[str], wanted: str, limit: int) -> dict[str, int]:
    """Return the words that are found near a word, with their distances."""
    data = np.frombuffer("".join(words).encode(), np.uint8)
    starts = np.cumsum([0, *map(len, words)])
    numbers, distances = near_strings(data, starts, np.frombuffer(wanted.encode(), np.uint8), limit)
    return {words[k]: int(d) for k, d in zip(numbers, distances, strict=True)}


words = st.text(st.sampled_from("abcd"), min_size=3, max_size=9)


@given(st.lists(words, min_size=1, max_size=60, unique=True), words, st.sampled_from([1, 2]))
def test_distances_are_those_of_the_definition_and_every_word_with_one_edit_is_found(known, wanted, limit):
    expected = {word: distance(word, wanted) for word in known if distance(word, wanted) <= limit}
    found = near(known, wanted, limit)
    assert found == {word: expected[word] for word in found}
    # A beginning with two edits may be missed; a word that begins alike is not.
    sure = {word for word, edits in expected.items() if edits < 2 or word[0] == wanted[0]}
    assert sure <= found.keys()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    texts = [
        "Crystalline lenses, crystalline!",
        "A crystal",
        "The cranes dance",
        "tour de France",
        "tours",
        "naïve Überzug",
    ]
    texts += ["statistics", "static", "status"] + 3 * ["station"] + ["GmbH rcat"]
    documents = [{"id": str(k), "text": text} for k, text in enumerate(texts)]
    made = sublex.build(documents[:4], tmp_path_factory.mktemp("spelling") / "index")
    made.add(documents[4:])
    return made


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cristalline lenses", {"cristalline": "Crystalline"}),
        ("Cristallines dancing", {"Cristallines": "Crystalline"}),
        ("tuor", {"tuor": "tour"}),
        ("rcanes krane cane", {"rcanes": "cranes", "krane": "cranes", "cane": "cranes"}),
        ("statoin", {"statoin": "station"}),
        ("naive", {"naive": "naïve"}),
        ("crane the xq zyzzyva 2024 tour2", {}),
        # Two edits make crane of crater, but the words do not look alike.
        ("crater", {}),
        ("", {}),
    ],
)
def test_unknown_words_get_the_nearest_word_as_documents_write_it(index, query, expected):
    assert {word: term.surface.lower() for word, term in suggestions(index.snapshot, query).items()} == {
        word: surface.lower() for word, surface in expected.items()
    }


def test_a_word_of_deleted_documents_is_not_suggested(tmp_path):
    made = sublex.build([{"id": "a", "text": "whale"}, {"id": "b", "text": "seal"}], tmp_path / "index")
    assert nearest_term(made.snapshot, "whael", 5).term == "whale"
    made.delete(["a"])
    assert nearest_term(made.snapshot, "whael", 5) is None


def test_search_suggests_on_standard_error_and_still_searches(demo):
    code, output, messages = demo("search", "demo", "cranes rivver", "-k", "1")
    assert code == 0 and "birds" in output and messages == 'No document contains "rivver"; did you mean river?\n'
    code, output, messages = demo("search", "demo", "rivver", "--format", "json")
    assert (code, json.loads(output)) == (0, {"hits": [], "missing": ["rivver"]}) and "did you mean river?" in messages
    assert demo("search", "demo", "rivver")[2].count("\n") == 1
    assert demo("search", "demo", "river crane")[2] == ""


SPELLINGS = {
    "a": r"The Schr\"odinger equation of Erwin Schr\"{o}dinger",
    "b": "Gödel numbers and Lévy flights; Lévy areas",
    "c": "Erdos numbers and an equation",
    "d": "An odinger is not a word",
    "e": "A modelable zebra is able to model",
    "f": "A model of an able body",
    "g": "A table without an e",
}


@pytest.fixture(scope="module")
def spellings(tmp_path_factory):
    """An index of two segments. It has names such as Erdős written as in LaTeX, with accents, and without accents."""
    documents = [{"id": docno, "text": text} for docno, text in SPELLINGS.items()]
    made = sublex.build(documents[:3], tmp_path_factory.mktemp("spellings") / "index")
    made.add(documents[3:])
    return made


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("Schrödinger equation", 'No document contains "Schrödinger"; did you mean Schr odinger? '
         r'An index with latex=true reads Schr\"odinger as one word.'),
        ("Schrodinger", 'No document contains "Schrodinger"; did you mean Schr odinger? '
         r"An index with latex=true and fold=true reads Schr\'odinger as one word."),
        ("Godel", 'No document contains "Godel"; did you mean Gödel? An index with fold=true finds both.'),
        ("Levy", 'No document contains "Levy"; did you mean Lévy? An index with fold=true finds both.'),
        ("erdős", 'No document contains "erdős"; did you mean erdos? An index with fold=true finds both.'),
        ("Gödl", 'No document contains "Gödl"; did you mean Gödel?'),
        ("modelables", None),
        ("Ångström or qwghlm, the zyzzyva", 'No document contains "Ångström" or "qwghlm" or "zyzzyva".'),
        # The pieces are in the index, but not in one document.
        ("tablé", 'No document contains "tablé"; did you mean table? An index with fold=true finds both.'),
        ("numbér", 'No document contains "numbér"; did you mean number? An index with fold=true finds both.'),
        ("the of equations", None),
    ],
)  # fmt: skip
def test_a_word_that_no_document_has_is_always_said(spellings, query, note):
    missing = spellings.snapshot.missing(spellings.query(query))
    notes = missing_notes(missing, corrections(spellings.snapshot, missing))
    assert notes == ([note] if note else [])


def test_an_index_that_folds_and_reads_latex_finds_all_spellings(tmp_path):
    documents = [{"id": docno, "text": text} for docno, text in SPELLINGS.items()]
    made = sublex.build(documents, tmp_path / "index", analyzer="english(fold=true, latex=true)")
    for query, docnos in {
        "Schrödinger": ["a"], "Schrodinger": ["a"], r'Schr\"odinger': ["a"], "Godel": ["b"], "LEVY": ["b"], "Erdős": ["c"],
    }.items():  # fmt: skip
        found = made.search(query)
        assert (found.docnos, found.missing) == (docnos, [])
    assert made.search("Erdős zyzzyva").missing == ["zyzzyva"]


def test_a_corrected_word_of_a_deleted_document_is_none(tmp_path):
    documents = [{"id": docno, "text": text} for docno, text in SPELLINGS.items()]
    made = sublex.build(documents, tmp_path / "index")
    made.delete(["a", "b"])
    missing = made.snapshot.missing(made.query("Schrödinger Gödel Schr Lévy"))
    assert list(missing.values()) == ["Schrödinger", "Gödel", "Schr", "Lévy"]
    assert not corrections(made.snapshot, missing)


def test_words_after_the_name_of_a_field_are_no_latex(tmp_path):
    index = sublex.build([{"id": "1", "text": "a title stem"}], tmp_path / "index", fields="text")
    assert latex_words(index.snapshot, "title:stem") is None
