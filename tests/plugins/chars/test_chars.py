"""Tests of `chars`: BM25 over character n-grams by its definition, misspelt queries, explanations, parameters and damaged models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from shared import load_stored

import sublex
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.representations import list_files
from sublex.testing import CHECKS, Subject
from sublex_chars import make
from sublex_chars.model import NGramCounter, NGramSpace, ngrams

# The default of k1.
K1 = 1.2
# Pieces of words, so that many words share n-grams.
STEMS = ["index", "retriev", "rank", "quer", "ström", "weigh", "cluster", "x"]
ENDINGS = ["", "s", "ing", "ed", "er", "al", "ings"]
STOP = ["the", "of"]


def written(seed: int) -> str:
    """Return a random text, with words in upper case and stop words."""
    chance = np.random.default_rng(seed)
    words = [
        str(chance.choice(STOP)) if chance.random() < 0.2 else str(chance.choice(STEMS)) + str(chance.choice(ENDINGS))
        for _ in range(int(chance.integers(0, 30)))
    ]
    return " ".join(word.upper() if chance.random() < 0.2 else word for word in words)


TEXTS = {f"d{k}": written(k) for k in range(60)}
QUERIES = ["retrieving of rankings", "Indexs quering quering", "strömal", "the", "zyzzyva", "weighed clusters x"]


def built(path, texts: Mapping[str, str] = TEXTS, **options):
    documents = [sublex.Document(docno, text) for docno, text in texts.items()]
    return sublex.build(documents, path, **{"store": "text"} | options)


# The definition, from texts to scores, without arrays.


def cut(word: str, n: int) -> list[str]:
    """Return the n-grams of a word that is marked at both ends, or the marked word if it is shorter."""
    marked = "_" + word.lower() + "_"
    if len(marked) <= n:
        return [marked]
    return ["".join(letters) for letters in zip(*(marked[k:] for k in range(n)), strict=False)]


def bag(text: str, n: int) -> Counter[str]:
    return Counter(gram for word in text.split() if word.lower() not in STOP for gram in cut(word, n))


def short(length: int) -> int:
    """Return a length of which all binary digits after the fourth are 0."""
    digits = f"{length:b}"
    return int(digits[:4] + "0" * len(digits[4:]), 2)


def defined(
    query: str, fitted: Sequence[str], texts: Mapping[str, str], n: int, min_df: int, k1: float, b: float
) -> dict[str, float]:
    """Return the scores of texts by BM25 over n-grams, whose statistics come from the texts that were fitted."""
    bags = [bag(text, n) for text in fitted]
    df = Counter(gram for each in bags for gram in each)
    known = {gram for gram in df if df[gram] >= min_df}
    mean = sum(count for each in bags for gram, count in each.items() if gram in known) / len(bags)
    scores = {}
    for docno, text in texts.items():
        own = {gram: count for gram, count in bag(text, n).items() if gram in known}
        score, found = 0.0, False
        for gram, qtf in bag(query, n).items():
            if gram in own:
                idf = math.log(1 + (len(bags) - df[gram] + 0.5) / (df[gram] + 0.5))
                pivot = 1 - b + b * short(sum(own.values())) / mean
                score += qtf * idf * own[gram] / (own[gram] + k1 * pivot)
                found = True
        if found:
            scores[docno] = score
    return scores


def found(index, query: str, expression: str) -> dict[str, float]:
    return {hit.docno: hit.score for hit in index.search(query, expression, k=1000)}


@pytest.mark.parametrize(
    ("expression", "n", "min_df", "k1", "b"),
    [
        ("chars", 5, 2, K1, 0.75),
        ("chars(n=3, min_df=4, k1=0.5, b=0.2)", 3, 4, 0.5, 0.2),
        ("chars(n=9, min_df=1, k1=0, b=1)", 9, 1, 0, 1),
        ("chars(n=4, min_df=1, b=0)", 4, 1, K1, 0),
    ],
)
def test_scores_are_those_of_the_definition(tmp_path, expression, n, min_df, k1, b):
    index = built(tmp_path / "i")
    index.fit(expression)
    for query in QUERIES:
        expected = defined(query, list(TEXTS.values()), TEXTS, n, min_df, k1, b)
        assert found(index, query, expression) == pytest.approx(expected, rel=1e-5), query


def test_scores_are_those_of_the_definition_over_segments_deletions_and_merges(tmp_path, monkeypatch):
    monkeypatch.setattr(list_files, "LEAST_WEIGHTS", 100)
    names = list(TEXTS)
    first = {name: TEXTS[name] for name in names[:35]}
    index = built(tmp_path / "i", first)
    index.fit("chars")
    for begin, end in ((35, 50), (50, 60)):
        index.add([sublex.Document(name, TEXTS[name]) for name in names[begin:end]])
    gone = {"d3", "d40", "d59"}
    left = {name: text for name, text in TEXTS.items() if name not in gone}
    for change, texts in ((lambda: None, TEXTS), (lambda: index.delete(sorted(gone)), left), (index.merge, left)):
        change()
        for query in QUERIES:
            expected = defined(query, list(first.values()), texts, 5, 2, K1, 0.75)
            assert found(index, query, "chars") == pytest.approx(expected, rel=1e-5), query
            best = [(hit.docno, hit.score) for hit in index.search(query, "chars", k=3)]
            assert best == list(found(index, query, "chars").items())[:3], query


def test_it_rescores_blends_and_obeys_filters(tmp_path):
    index = built(tmp_path / "i")
    index.fit("chars")
    query, every = "retrieving of rankings", found(index, "retrieving of rankings", "chars")
    candidates = found(index, query, "BM25")
    assert found(index, query, "BM25 >> chars") == {name: every[name] for name in every if name in candidates}
    part = sublex.keep(lambda document: document.docno in ("d1", "d8", "d9", "d20"), name="wanted", version=1)
    filtered = index.search(query, sublex.parse("chars") >> part, k=2)
    assert [hit.docno for hit in filtered] == [name for name in every if name in ("d1", "d8", "d9", "d20")][:2]
    blended = found(index, query, "BM25 + 0.5*chars")
    assert set(blended) == set(every) | set(candidates) and blended != candidates


def test_an_index_is_fitted_to_its_live_documents_alone(tmp_path):
    index = built(tmp_path / "i", TEXTS | {"odd": "xylophones xylophones xylophones", "odd2": "xylophones"})
    index.delete(["odd", "odd2"])
    index.fit("chars")
    for query in QUERIES:
        expected = defined(query, list(TEXTS.values()), TEXTS, 5, 2, K1, 0.75)
        assert found(index, query, "chars") == pytest.approx(expected, rel=1e-5)
    assert not found(index, "xylophones", "chars")


def test_a_misspelt_query_finds_its_document(tmp_path):
    texts = {
        "optics": "photographic lenses and their aberrations",
        "music": "symphonic orchestras",
        "more": "photographic symphonic aberrations orchestras lenses",
    }
    index = built(tmp_path / "i", texts)
    index.fit("chars(n=4, min_df=1)")
    assert not found(index, "fotografic abberation", "BM25")
    hits = index.search("fotografic abberation", "chars(n=4, min_df=1)")
    assert hits[0].docno == "optics" and {hit.docno for hit in hits} == {"optics", "more"}


def test_an_explanation_names_the_words_that_share_n_grams(tmp_path):
    texts = {"a": "Retrieval retrieved the ranking", "b": "retrievals", "c": "rankings of"}
    index = built(tmp_path / "i", texts)
    index.fit("chars(n=5)")
    tree = index.explain("retrieving of ranks zyzzyva", "a", "chars")
    assert tree.value == pytest.approx(found(index, "retrieving of ranks zyzzyva", "chars")["a"], rel=1e-6)
    assert tree.evidence["no n-gram in this document"] == ["zyzzyva"]
    parts = {part.label: {sub.label: sub for sub in part.parts} for part in tree.parts}
    assert set(parts) == {"retrieving", "ranks"} and set(parts["ranks"]) == {"ranking"}
    values = [part.value for part in index.explain("ranks retrieving", "a", "chars").parts]
    assert len(set(values)) == 2 and values == sorted(values, reverse=True)
    assert (
        parts["retrieving"]["retrieval"].evidence["shared"] == "_retr retri etrie triev rieve"
        or parts["retrieving"]["retrieval"].evidence["shared"] == "_retr retri etrie triev"
    )
    # Two documents of three have each of these n-grams; in `a` two words have them, one after the other.
    shared = [gram for gram in cut("retrieving", 5) if bag(texts["a"], 5)[gram] == 2 and bag(texts["b"], 5)[gram]]
    idf, length = math.log(1 + 1.5 / 2.5), dict.fromkeys(texts, 0)
    bags = {name: bag(text, 5) for name, text in texts.items()}
    df = Counter(gram for each in bags.values() for gram in each)
    length = {name: sum(count for gram, count in each.items() if df[gram] > 1) for name, each in bags.items()}
    pivot = 0.25 + 0.75 * short(length["a"]) / (sum(length.values()) / 3)
    each = len(shared) * idf * 2 / (2 + K1 * pivot) / 2
    for word in ("retrieval", "retrieved"):
        assert parts["retrieving"][word].value == pytest.approx(each, rel=1e-6)
    assert "_retr retri etrie triev" in str(tree)


def test_many_words_of_a_document_are_added_up(tmp_path):
    many = " ".join(f"retriev{ending}" for ending in "abcdefghijkl")
    index = built(tmp_path / "i", {"a": many, "b": "retrieving"})
    index.fit("chars")
    (part,) = index.explain("retrieving", "a", "chars").parts
    assert [sub.label for sub in part.parts][-1] == "4 other words" and len(part.parts) == 9
    assert sum(sub.value for sub in part.parts) == pytest.approx(part.value)


def test_the_card_states_the_size(tmp_path, monkeypatch):
    monkeypatch.setattr(list_files, "LEAST_WEIGHTS", 100)
    index = built(tmp_path / "i")
    index.fit("chars(n=4)")
    bags = [bag(text, 4) for text in TEXTS.values()]
    df = Counter(gram for each in bags for gram in each)
    known = {gram for gram in df if df[gram] >= 2}
    card = index.card("chars(n=4)")
    assert card["n-grams"] == len(known)
    assert card["bytes of the rows"] > 0 and card["bytes of the model"] > 0
    lists = sum(file.stat().st_size for file in index.path.glob("representations/*/*/*/lists/**/*") if file.is_file())
    assert card["bytes of the lists"] == lists > 0
    sizes = [len(known & set(each)) for each in bags]
    assert card["distinct n-grams of a document, on average"] == pytest.approx(sum(sizes) / len(sizes), abs=0.06)
    total = sum(count for each in bags for gram, count in each.items() if gram in known)
    assert card["length of a document in n-grams, on average"] == pytest.approx(total / len(bags), abs=0.06)


def test_vectors_are_weights_with_n_grams_as_names(tmp_path):
    index = built(tmp_path / "i", {"a": "ranking ranked", "b": "ranks"})
    index.fit("chars(n=5, k1=1, b=0)")
    loaded = index.representation("chars(n=5, k1=1, b=0)")
    assert list(loaded.column_names) == ["_rank", "ranks"] or list(loaded.column_names) == ["_rank"]
    block = next(iter(loaded.inputs.blocks(index.snapshot.segments[0])))
    assert loaded.vectors(block).toarray()[:, 0].tolist() == pytest.approx([2 / 3, 1 / 2])


def test_texts_without_n_grams_and_n_grams_in_no_text_keep_their_rows_and_columns():
    grams = sorted({*ngrams("ab", 3), *ngrams("zz", 3)})
    space = NGramSpace(3, grams, np.array([3, 3, 1, 1]), 5, 2.0)
    # Three texts: ab; ab qq; and one without words.
    counts = space.counts(["ab", "qq"], np.array([0, 0, 1]), np.array([1, 3, 3]))
    weights = space.weights(counts, 1.2, 0.75)
    known = [gram in ngrams("ab", 3) for gram in grams]
    assert counts.toarray().tolist() == [known, known, [False] * 4] and sum(known) == 2
    # Each text has the mean length, so k1 counts as it is.
    assert weights.toarray() == pytest.approx(counts.toarray() / 2.2)


def test_counts_reach_their_largest_number_and_no_further():
    counter = NGramCounter(5)
    counter.read(["aa"], np.zeros(700, np.int32), np.array([700]))
    space = counter.space(1)
    rows = space.counts(["aa"], np.zeros(1401, np.int32), np.array([700, 701, 1401]))
    assert rows.toarray().tolist() == [[255], [1], [255]] and space.mean_length == 700


@pytest.mark.parametrize(
    ("word", "n", "expected"),
    [
        ("Cat", 5, ["_cat_"]),
        ("a", 5, ["_a_"]),
        ("cats", 5, ["_cats", "cats_"]),
        ("ÉCOLE", 3, ["_éc", "éco", "col", "ole", "le_"]),
    ],
)
def test_words_are_cut_with_marks_at_their_ends(word, n, expected):
    assert ngrams(word, n) == expected


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("chars(n=0)", "n=0"),
        ("chars(n=21)", "n=21"),
        ("chars(k1=-1)", "k1=-1"),
        ("chars(b=2)", "b=2"),
        ("chars(min_df=0)", "min_df=0"),
        ("chars(min_df=100)", "no n-gram is in 100 or more of 60 documents; lower min_df"),
    ],
)
def test_bad_values_cost_a_sentence(tmp_path, expression, message):
    index = built(tmp_path / "i")
    with pytest.raises(InputError) as caught:
        index.fit(expression)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert not index.fitted


def test_an_index_without_text_costs_a_sentence(tmp_path):
    index = built(tmp_path / "i", store="terms")
    with pytest.raises(IndexProblem, match=r"stores? no text|text"):
        index.fit("chars")
    assert not index.fitted


def test_other_values_of_k1_and_b_share_the_model(tmp_path):
    index = built(tmp_path / "i")
    index.fit("chars")
    index.fit("chars(k1=0.3, b=0)")
    assert len(index.fitted) == 1
    assert found(index, "ranking", "chars") != found(index, "ranking", "chars(k1=0.3, b=0)")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("grams", []),
        ("grams", ["_rank", "_rank"]),
        ("grams", ["_rank", 7]),
        ("df", np.array([0, 1], np.int32)),
        ("df", np.array([1], np.int32)),
        ("docs", np.array([0])),
        ("docs", np.array([-3])),
        ("mean_length", np.array([0.0])),
        ("mean_length", np.array([math.nan])),
    ],
)
def test_a_damaged_model_costs_a_sentence(name, value):
    model = make(n=5, min_df=1, k1=K1, b=0.75)
    values = {
        "grams": ["_rank", "ranks"],
        "df": np.array([2, 1], np.int32),
        "docs": np.array([3]),
        "mean_length": np.array([2.5]),
    }
    load_stored(model, values)
    assert model.space.grams == ["_rank", "ranks"] and model.space.docs == 3
    damaged = values | {name: value} | ({"df": np.zeros(0, np.int32)} if name == "grams" and not value else {})
    with pytest.raises(IndexCorrupt) as caught:
        load_stored(model, damaged)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_chars_hold_the_contract(check, tmp_path):
    check(Subject("chars", tmp_path / "subject"))


def test_exported_weights_of_documents_and_queries_rank_as_the_model_does(tmp_path, command):
    index = built(tmp_path / "i")
    index.fit("chars(n=3)")
    topics = tmp_path / "topics.tsv"
    topics.write_text("".join(f"{number}\t{query}\n" for number, query in enumerate(QUERIES)))
    for file, more in (("d.npz", ()), ("q.npz", ("--topics", topics))):
        assert command("encode", index.path, "chars(n=3)", *more, "-o", tmp_path / file).code == 0
    index = sublex.open(index.path)
    index.add_vectors("c", tmp_path / "d.npz")
    own = index.run(topics, "chars(n=3)")
    theirs = index.run(topics, "sparse(c)", queries={"c": tmp_path / "q.npz"})
    for number in range(len(QUERIES)):
        assert dict(theirs[str(number)]) == pytest.approx(dict(own[str(number)]), rel=1e-5)
    assert sum(len(own[str(number)]) for number in range(len(QUERIES))) > 100
