"""Tests of word vectors from files on an index, and of resources, which are identified by content and not by place."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import sublex as engine
import sublex_vectors.reader
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.index.check import check
from sublex.representations import fitting, resources

WORDS = ("cranes", "crane", "river", "rivers", "bird", "seal", "bank", "unheard", "river bank")


@pytest.fixture
def file(tmp_path):
    """A file of vectors of words as written, the most frequent first, and the vectors by word."""
    random = np.random.default_rng(1)
    made = {word: random.standard_normal(4) for word in WORDS}
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, row.tolist()))}\n" for word, row in made.items()))
    return path, made


def test_a_score_is_the_cosine_of_sums_of_vectors(index, file):
    path, made = file
    expression = f'vectors("{path}")'
    index.fit(expression)
    vectors = {
        "crane": made["cranes"],
        "river": made["river"],
        "bird": made["bird"],
        "seal": made["seal"],
        "bank": made["bank"],
    }
    docs = {docno: index.analyze(index.document(docno).contents) for docno in map(str, index.snapshot.all_docnos)}
    idf = {term: np.log(len(docs) / sum(term in terms for terms in docs.values())) for term in vectors}

    def vector(terms):
        return sum((idf[t] * vectors[t] for t in terms if t in vectors), np.zeros(4))

    query = vector(["crane", "bank", "crane"])
    found = {hit.docno: hit.score for hit in index.search("cranes bank crane", expression, k=300)}
    expected = {
        docno: query @ vector(terms) / np.linalg.norm(query) / np.linalg.norm(vector(terms))
        for docno, terms in docs.items()
        if set(terms) & set(vectors)
    }
    assert found == pytest.approx(expected, abs=1e-5)
    best = next(iter(found))
    tree = index.explain("cranes bank crane", best, expression)
    assert tree.value == pytest.approx(found[best], abs=1e-6)
    assert index.card(expression)["terms"] == 5 and index.card(expression)["dimensions"] == 4


def test_fisher_takes_the_vectors_of_a_file(index, file):
    index.add_resource("given", file[0])
    index.fit("fisher(k=2, words=vectors(given))")
    assert index.card("fisher(k=2, words=vectors(given))")["terms"] == 5
    assert index.card("vectors(given)")["resources"] == ["given"]
    assert len(index.search("cranes by the river", "fisher(k=2, words=vectors(given))", k=5)) == 5


def test_texts_of_several_terms_get_the_vectors_that_the_file_has_for_them(index, file):
    path, made = file
    index.fit(f'vectors("{path}")')
    model = index.representation(f'vectors("{path}")').model
    job = SimpleNamespace(resource={model.file: path}.__getitem__, progress=lambda done, total, unit: None)
    texts = [("river", "bank"), ("seal",), ("seal", "bank"), ("river", "bank")]
    found = model.vectors_of_texts(texts, str.split, job)
    np.testing.assert_array_equal(found[[0, 1, 3]], [made["river bank"], made["seal"], made["river bank"]])
    assert np.isnan(found[2]).all()


def test_a_search_notices_that_a_file_in_its_expression_has_changed(index, file):
    path, _ = file
    content, expression = path.read_text(), f'BM25 + fisher(k=2, words=vectors("{path}"))'
    index.fit(f'fisher(k=2, words=vectors("{path}"))')
    before, ready = index.search("cranes", expression).scores.tolist(), index.pipeline(expression)
    assert index.pipeline(expression) is ready
    path.write_text(f"{content}word 1 2 3 4\n")
    for search in (lambda: index.search("cranes", expression), lambda: index.card(f'vectors("{path}")')):
        with pytest.raises(IndexProblem, match="or a file that has changed since"):
            search()
    path.write_text(content)
    assert index.search("cranes", expression).scores.tolist() == before
    path.unlink()
    assert index.search("cranes", expression).scores.tolist() == before


def test_the_same_content_is_the_same_model_wherever_it_lies(index, file, tmp_path):
    path, _ = file
    index.fit(f'vectors("{path}")')
    generation = index.generation
    other = tmp_path / "elsewhere.txt"
    other.write_bytes(path.read_bytes())
    index.fit(f'vectors("{other}")')
    assert index.generation == generation and len(index.fitted) == 1
    index.add_resource("here", path)
    assert (
        index.search("cranes", "vectors(here)", k=3).docnos == index.search("cranes", f'vectors("{path}")', k=3).docnos
    )
    other.write_text("crane 1 2\n")
    with pytest.raises(IndexProblem, match="fitted: vectors"):
        index.search("cranes", f'vectors("{other}")')
    path.unlink()
    index = engine.open(index.path)
    assert len(index.search("cranes", f'vectors("{path}")', k=3)) == 3
    index.add([{"id": "new", "text": "A crane by the river."}])
    assert "new" in index.search("cranes", f'vectors("{path}")', k=300).docnos
    with pytest.raises(InputError, match="No file .* and demo has no resource of that name"):
        index.search("cranes", f'vectors("{path}x")')
    assert len(index.search("cranes", "vectors(here)", k=3)) == 3
    index.forget(next(iter(index.fitted)))
    assert not index.fitted


def test_a_resource_stays_while_models_need_it(index, file, tmp_path):
    path, _ = file
    index.add_resource("given", path)
    index.add_resource("given", path)
    other = tmp_path / "other.txt"
    other.write_text("crane 1 2\n")
    with pytest.raises(IndexProblem, match="has another file as resource given"):
        index.add_resource("given", other)
    for name in ("a b", "../up", "1", ""):
        with pytest.raises(InputError, match="cannot be called"):
            index.add_resource(name, path)
    with pytest.raises(InputError, match="is no file"):
        index.add_resource("folder", tmp_path)
    index.fit("vectors(given)")
    with pytest.raises(IndexProblem, match=r"vectors\(given\) was fitted with given"):
        index.remove_resource("given")
    index.add([{"id": "new", "text": "the cranes of the river bank"}])
    assert "new" in index.search("cranes", "vectors(given)", k=300).docnos
    index.merge()
    assert engine.open(index.path).resources["given"].file == "vectors.txt"
    index.forget("vectors(given)")
    index.remove_resource("given")
    assert not index.resources and not list((index.path / "resources").iterdir())
    with pytest.raises(IndexProblem, match="has no resource given; it has none"):
        index.remove_resource("given")


def test_resources_by_the_command_line(sublex, index, file):
    path, _ = file
    packed = path.with_suffix(".txt.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert sublex("resource", "add", str(index.path), "packed", str(packed))[0] == 0
    assert sublex("fit", str(index.path), "vectors(packed)")[0] == 0
    code, output, _ = sublex("resource", "list", str(index.path), "--format", "json")
    assert [row["file"] for row in json.loads(output)] == ["vectors.txt.gz"]
    assert "packed" in sublex("resource", "list", str(index.path))[1]
    code, _, said = sublex("resource", "remove", str(index.path), "packed")
    assert code == 2 and "was fitted with packed; forget it first" in said
    code, _, said = sublex("fit", str(index.path), "vectors(nothing)")
    assert code == 2 and "No file 'nothing', and demo has no resource of that name" in said
    code, _, said = sublex("fit", str(index.path), "vectors(3)")
    assert code == 2 and "has to be a path in quotes or the name of a resource" in said


def test_words_that_are_not_in_the_file_have_no_opinion(index, file):
    index.fit(f'vectors("{file[0]}")')
    assert len(index.search("zebra", f'vectors("{file[0]}")')) == 0


def test_a_damaged_resource_makes_no_model_and_can_be_mended(index, file):
    path, _ = file
    index.add_resource("given", path)
    kept = index.path / "resources" / "given" / "vectors.txt"
    kept.write_text("crane 9 9 9 9\n")
    with pytest.raises(
        IndexCorrupt, match=r"is missing or damaged; add the same file again: sublex resource add \S+ given FILE"
    ):
        index.fit("vectors(given)")
    index.add_resource("given", path)
    index.fit("vectors(given)")
    assert index.card("vectors(given)")["terms"] == 5
    assert [found.name for found in kept.parent.iterdir()] == ["vectors.txt"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_around_the_commit_leaves_all_or_nothing(index, file, monkeypatch, when):
    real = fitting.commit

    def commit(root, new):
        if when == "after":
            real(root, new)
        raise KeyboardInterrupt

    for work, what in ((("add_resource", "given", file[0]), "resources"), (("fit", "vectors(given)"), "fitted")):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(fitting, "commit", commit)
            patched.setattr(resources, "commit", commit)
            getattr(engine.open(index.path), work[0])(*work[1:])
        assert check(index.path) == [] and len(getattr(engine.open(index.path), what)) == (when == "after")
        getattr(engine.open(index.path), work[0])(*work[1:])
    assert len(engine.open(index.path).search("cranes", "vectors(given)", k=3)) == 3


def test_the_same_content_is_the_same_model_within_another(index, file, tmp_path):
    path, _ = file
    index.fit(f'fisher(k=2, words=vectors("{path}"))')
    other = tmp_path / "elsewhere.txt"
    other.write_bytes(path.read_bytes())
    assert index.search("cranes", f'fisher(k=2, words=vectors("{other}"))', k=3)


def test_vectors_of_words_are_written_for_use_elsewhere(sublex, index, file, tmp_path):
    index.fit(f'vectors("{file[0]}", idf=false)')
    some = tmp_path / "some.txt"
    some.write_text('{"id": "a", "text": "cranes cranes"}\nbroken\n{"id": "a", "text": "the river"}\n')
    call = ("encode", str(index.path), f'vectors("{file[0]}", idf=false)')
    code, output, said = sublex(*call, str(some), "-o", str(tmp_path / "some.npz"), "--reader", "jsonl")
    assert code == 0 and "2 documents" in output and "1 record of" in said and "came before" in said
    rows = np.load(tmp_path / "some.npz")["rows"]
    np.testing.assert_allclose(rows, [2 * file[1]["cranes"], file[1]["river"]])
    assert sublex(*call, "-o", str(tmp_path / "all.npz"))[0] == 0
    assert np.load(tmp_path / "all.npz")["rows"].shape == (252, 4)


@pytest.mark.parametrize("first", ["", "9 400\n"])
def test_how_much_memory_vectors_take_is_known_from_the_first_line(index, tmp_path, first):
    path = tmp_path / "wide.txt"
    path.write_text(first + "".join(f"{word} {' '.join(['1'] * 400)}\n" for word in WORDS))
    need = 8 * 2 * 400 * len(index.corpus.vocabulary)
    with pytest.raises(InputError, match=f"takes {need >> 20} MB and memory allows {(need >> 20) - 1}; allow more"):
        index.fit(f'vectors("{path}")', memory=need - (1 << 20))
    index.fit(f'vectors("{path}")', memory=need + 400 * 16 * len(index.corpus.vocabulary))


def test_a_header_that_claims_many_numbers_takes_no_memory(tmp_path):
    (tmp_path / "x.vec").write_text("2 10000\ncrane 1 2\n")
    tracemalloc.start()
    with pytest.raises(InputError, match="2 numbers where the vectors have 10000"):
        sublex_vectors.reader.read_vectors(tmp_path / "x.vec", [f"term{k}" for k in range(1000)])
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_reading_a_small_file_can_be_stopped(file):
    path, _ = file

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sublex_vectors.reader.read_vectors(path, ["river"], progress=stop)
